"""Active sets and quadratic programs for the hinge loss, against the interior point and along levels."""

import numpy as np
import pytest

from marginbook.datasets import make_low_rank
from marginbook.smm import LevelSetClassifier, RegressionFunctionEstimator
from marginbook.smm.model.objective import combination, weights_for
from marginbook.smm.solvers import block_descent_one_start, hinge_active_set, hinge_coarse, small_factors
from marginbook.smm.solvers.block_descent import low_rank_svm, start_gram
from marginbook.smm.solvers.block_problem import BlockProblem
from marginbook.smm.solvers.hinge_active_set import confirmed, maximise
from marginbook.smm.solvers.hinge_block import solve_hinge_block
from marginbook.smm.solvers.newton_joint import factors, frame_of
from marginbook.smm.solvers.sequential_qp import carried, quadratic_programs
from marginbook.smm.solvers.small_factors import complement, singular, thin_qr


@pytest.mark.parametrize("p", [3, 12, 90])
@pytest.mark.parametrize("free", [False, True])
def test_a_block_from_the_neighbouring_level(p, free):
    rng = np.random.default_rng(p)
    Z = rng.normal(size=(60, p))
    Z[5] = Z[6]
    y = np.where(Z[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0)
    options = {"lam": 0.01, "fit_intercept": free, "tol": 1e-10}
    old = solve_hinge_block(BlockProblem(Z, y, sample_weight=weights_for(0.5, y), **options))
    weights = weights_for(0.4, y)
    wanted = solve_hinge_block(BlockProblem(Z, y, sample_weight=weights, **options))
    found = confirmed(
        BlockProblem(Z, y, sample_weight=weights, **options),
        start=(old.weights, old.intercept),
        multipliers=old.multipliers,
    )
    assert found.converged
    assert found.dual_gap <= 1e-10 * found.objective
    assert found.objective == pytest.approx(wanted.objective, rel=1e-9)


def test_as_many_iterations_as_sets_are_looked_for(monkeypatch):
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(60, 3))
    y = np.where(Z[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0)
    options = {"lam": 0.01, "fit_intercept": True, "tol": 1e-10}
    old = solve_hinge_block(BlockProblem(Z, y, sample_weight=weights_for(0.5, y), **options))
    sets = []
    monkeypatch.setattr(hinge_active_set, "maximise", lambda *given: sets.append(1) or maximise(*given))
    moved = BlockProblem(Z, y, sample_weight=weights_for(0.4, y), **options)
    found = confirmed(moved, start=(old.weights, old.intercept), multipliers=old.multipliers)
    assert found.converged
    assert found.n_iter == len(sets) > 0


def test_multipliers_from_inside_are_soon_at_their_bounds_and_far_ones_are_left():
    rng = np.random.default_rng(7)
    Z = rng.normal(size=(600, 10))
    y = np.where(Z[:, 0] + rng.normal(size=600) > 0, 1.0, -1.0)
    options = {"lam": 0.01, "sample_weight": np.ones(600), "fit_intercept": True}
    old = solve_hinge_block(BlockProblem(Z, y, tol=1e-5, **options))
    share = 600 * old.multipliers
    assert ((share > 0) & (share < 1)).all()
    start = (old.weights, old.intercept)
    near = confirmed(BlockProblem(Z, y, tol=1e-9, **options), start=start, multipliers=old.multipliers)
    assert near.converged
    assert near.objective <= old.objective
    far = confirmed(BlockProblem(Z, y, tol=1e-9, **options), start=start, multipliers=np.full(600, 0.5 / 600))
    assert not far.converged
    assert far.n_iter == 0


def test_the_set_ends_where_no_loss_is_off():
    rng = np.random.default_rng(1)
    A, C = rng.normal(size=(40, 6)), np.full(40, 0.3)
    C[3] = 0.0
    for c in (np.zeros(40), C.copy(), 0.5 * C):
        assert maximise(A, np.ones(40), C, c, 500)[0]
        losses = 1.0 - A @ (c @ A)
        inside = (c > 0) & (c < C)
        assert 0 < inside.sum() <= 6
        assert abs(losses[inside]).max() < 1e-6
        assert losses[(c == 0) & (C > 0)].max() < 1e-6
        assert losses[(c == C) & (C > 0)].min() > -1e-6
    assert not maximise(A, np.ones(40), C, np.zeros(40), 2)[0]


@pytest.mark.parametrize("free", [False, True])
def test_programs_end_stationary_for_both_blocks(free):
    X, y, _, _ = make_low_rank(150, shape=(8, 6), rank=2, scale=4, random_state=0)
    y, lam = np.where(y == 1, 1.0, -1.0), 0.02
    old = low_rank_svm(X, y, rank=2, lam=lam, sample_weight=weights_for(0.5, y), fit_intercept=free)
    weights = weights_for(0.45, y)
    at = factors(old.coef, np.linalg.qr(old.V)[0], old.intercept, X, y)
    c = carried(at.margins, old.multipliers, weights / 150)
    assert (c >= 0).all()
    assert (c <= weights / 150).all()
    at, c, settled = quadratic_programs(
        X, y, at, c, lam=lam, sample_weight=weights, fit_intercept=free, tol=1e-12
    )
    assert settled
    M = combination(c, X, y)
    np.testing.assert_allclose(M @ at.P, 2 * lam * at.Q * at.s, atol=1e-5)
    np.testing.assert_allclose(at.Q.T @ M, 2 * lam * (at.P * at.s).T, atol=1e-5)
    if free:
        assert abs(c @ y) < 1e-5


def test_with_a_small_penalty_and_an_intercept_undecided_samples_are_on_the_margin():
    """The proximal term of their multipliers is a share of all squares, the intercept's with them."""
    X, y, _, _ = make_low_rank(150, shape=(8, 6), rank=2, scale=4, random_state=0)
    y, lam = np.where(y == 1, 1.0, -1.0), 1e-6
    old = low_rank_svm(X, y, rank=1, lam=lam, sample_weight=weights_for(0.5, y), fit_intercept=True)
    weights = weights_for(0.45, y)
    at = factors(old.coef, np.linalg.qr(old.V)[0], old.intercept, X, y)
    c = carried(at.margins, old.multipliers, weights / 150)
    at, c, settled = quadratic_programs(
        X, y, at, c, lam=lam, sample_weight=weights, fit_intercept=True, tol=1e-12
    )
    inside = (c > 0) & (c < weights / 150)
    assert settled
    assert inside.sum() >= 5
    np.testing.assert_allclose(at.margins[inside], 1.0, atol=5e-3)


@pytest.mark.parametrize("free", [False, True])
def test_levels_from_their_neighbours_are_as_good_as_from_nothing(free):
    X, y, _, _ = make_low_rank(200, shape=(8, 6), rank=2, scale=4, random_state=1)
    y, warm = np.where(y == 1, 1.0, -1.0), None
    for pi in (0.5, 0.4, 0.3, 0.2, 0.1, 0.05):
        options = {"rank": 2, "lam": 0.01, "sample_weight": weights_for(pi, y), "fit_intercept": free}
        warm = low_rank_svm(X, y, start=warm, **options)
        cold = low_rank_svm(X, y, **options)
        assert warm.converged
        assert warm.block_gap <= 2e-9 * warm.objective
        assert (np.diff(warm.objective_path) <= 0).all()
        assert warm.objective <= cold.objective * 1.02


def test_a_loop_in_turns_ends_where_one_call_does(monkeypatch):
    """Ctrl-C is heard between turns: the set, its factor and the multipliers go from one to the next."""
    rng = np.random.default_rng(3)
    for n, q in ((60, 5), (40, 40), (120, 11)):
        A, losses, C = rng.standard_normal((n, q)), rng.normal(1, 0.3, n), rng.uniform(0, 0.1, n)
        at_once, in_turns = (C * rng.integers(0, 3, n) / 2 for _ in range(2))
        in_turns[:] = at_once
        monkeypatch.setattr(hinge_active_set, "TURN", 3e8)
        assert maximise(A, losses, C, at_once, 10_000)[0]
        monkeypatch.setattr(hinge_active_set, "TURN", 1.0)
        assert maximise(A, losses, C, in_turns, 10_000)[0]
        np.testing.assert_allclose(in_turns, at_once, atol=1e-9)
        assert not maximise(A, losses, C, 0 * C, 1)[0]


def test_a_band_of_margins_is_cut_to_the_nearest(monkeypatch):
    """Thousands of multipliers inside their boxes would be a factor of thousands of rows."""
    rng = np.random.default_rng(4)
    A, losses, C = rng.standard_normal((200, 6)), rng.normal(1, 0.3, 200), np.full(200, 0.05)
    whole, cut = 0.5 * C, 0.5 * C
    assert maximise(A, losses, C, whole, 10_000)[0]
    monkeypatch.setattr(hinge_active_set, "LARGEST", 20)
    assert maximise(A, losses, C, cut, 10_000)[0]
    np.testing.assert_allclose(cut @ A, whole @ A, atol=1e-6)


def test_crowded_levels_end_where_new_fits_do(monkeypatch):
    """Of many samples a level is begun with wide bands again, whatever its neighbour was."""
    X, y, _, _ = make_low_rank(600, shape=(3, 2), rank=1, scale=1.0, random_state=0)
    path = RegressionFunctionEstimator(5, lam=0.01).fit(X, y)
    for h, level in enumerate(path.levels_):
        new = LevelSetClassifier(level, lam=0.01).fit(X, y)
        assert path.objective_[h] <= new.objective_ * (1 + 1e-4)
    monkeypatch.setattr(block_descent_one_start, "CROWDED", 10**9)
    near = RegressionFunctionEstimator(5, lam=0.01).fit(X, y)
    np.testing.assert_allclose(near.objective_, path.objective_, rtol=1e-4)


def test_coordinates_are_those_of_a_small_step():
    """Of no matrices there are none; <X, change> is the features' product with the step, to first order."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((8, 4, 3))
    Q, P = np.linalg.qr(rng.standard_normal((4, 2)))[0], np.linalg.qr(rng.standard_normal((3, 2)))[0]
    for s in ([2.0, 1.0], [2.0, 0.0]):
        at = factors(Q * s @ P.T, P, 0.0, X, np.ones(8))
        frame = frame_of(X.sum(axis=0), at, 0.1)
        assert frame.features(X[:0]).shape == (0, 10)
        step = rng.standard_normal(10)
        left, right = frame.blocks(step)
        first = left @ at.P.T + at.Q @ right.T
        np.testing.assert_allclose(frame.features(X) @ step, np.sum(X * first, axis=(1, 2)), atol=1e-12)


@pytest.mark.parametrize("shape", [(5, 3), (4, 4), (6, 1)])
def test_small_factors_are_those_of_numpy(shape):
    M = np.random.default_rng(6).standard_normal(shape)
    Q, R = thin_qr(M)
    np.testing.assert_allclose(Q @ R, M, atol=1e-14)
    np.testing.assert_allclose(Q.T @ Q, np.eye(shape[1]), atol=1e-14)
    away = complement(M)
    assert away.shape == (shape[0], shape[0] - shape[1])
    np.testing.assert_allclose(away.T @ np.hstack([M, away]), np.eye(*shape[:1])[shape[1] :], atol=1e-13)
    U, sizes, Vt = singular(M, full=True)
    np.testing.assert_allclose((U[:, : shape[1]] * sizes) @ Vt, M, atol=1e-13)
    assert singular(np.zeros((3, 0)), full=True)[0].shape == (3, 3)
    with pytest.raises(np.linalg.LinAlgError):
        singular(np.full(shape, np.nan))


def test_singular_values_that_did_not_converge_are_found_in_another_way(monkeypatch):
    """LAPACK then says how many are missing, and what it returns is worth nothing."""
    M = np.random.default_rng(6).standard_normal((5, 3))
    lost = (np.zeros((5, 3)), np.zeros(3), np.zeros((3, 3)))
    for missing in (1, 2):
        monkeypatch.setattr(small_factors, "dgesdd", lambda M, full_matrices, info=missing: (*lost, info))
        U, sizes, Vt = singular(M)
        np.testing.assert_allclose((U * sizes) @ Vt, M, atol=1e-13)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("p", [3, 90])
def test_a_rough_start_has_the_gap_that_was_asked_for(p, free, monkeypatch):
    """Its bound is below the optimum; where moves do not suffice an interior point goes on."""
    rng = np.random.default_rng(p)
    Z = rng.normal(size=(60, p))
    y = np.where(Z[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0)
    weights = rng.integers(0, 3, 60).astype(float)
    settings = {"lam": 0.01, "sample_weight": weights, "fit_intercept": free}
    best = solve_hinge_block(BlockProblem(Z, y, tol=1e-10, **settings))
    for rounds in (20, 1):
        monkeypatch.setattr(hinge_coarse, "ROUNDS", rounds)
        found = hinge_coarse.coarse(BlockProblem(Z, y, tol=1e-2, **settings), Z @ Z.T)
        assert found.dual_gap <= 1e-2 * found.objective
        assert found.objective - found.dual_gap <= best.objective * (1 + 1e-9)
        assert found.objective >= best.objective * (1 - 1e-9)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("p", [3, 90])
def test_a_rough_start_needs_no_interior_point(p, free, monkeypatch):
    """Its factors of p x p numbers are what the start is to save, in a few rounds of moves."""
    rng = np.random.default_rng(p)
    Z = rng.normal(size=(60, p))
    y = np.where(Z[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0)
    monkeypatch.delattr(hinge_coarse, "solve_hinge_block")
    problem = BlockProblem(Z, y, lam=0.1, sample_weight=np.ones(60), fit_intercept=free, tol=1e-2)
    found = hinge_coarse.coarse(problem, Z @ Z.T)
    assert found.converged


def test_classes_share_the_gram_matrix_of_the_start():
    X, _, _, _ = make_low_rank(90, shape=(5, 4), rank=2, scale=4.0, random_state=0)
    y = np.where(np.arange(90) % 2 > 0, 1.0, -1.0)
    options = {"rank": 1, "lam": 0.02, "fit_intercept": True}
    alone = low_rank_svm(X, y, **options)
    shared = low_rank_svm(X, y, gram=start_gram(X, "hinge"), **options)
    np.testing.assert_array_equal(shared.coef, alone.coef)
    assert start_gram(X, "logistic") is None
