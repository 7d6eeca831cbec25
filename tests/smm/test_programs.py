"""Active sets and quadratic programs for the hinge loss, against the interior point and along levels."""

import numpy as np
import pytest

from marginbook.datasets import make_low_rank
from marginbook.smm.model.objective import combination, weights_for
from marginbook.smm.solvers.block_descent import low_rank_svm
from marginbook.smm.solvers.block_problem import BlockProblem
from marginbook.smm.solvers.hinge_active_set import confirmed, maximise
from marginbook.smm.solvers.hinge_interior_point import interior_point
from marginbook.smm.solvers.newton_joint import factors
from marginbook.smm.solvers.sequential_qp import carried, quadratic_programs


@pytest.mark.parametrize("p", [3, 12, 90])
@pytest.mark.parametrize("free", [False, True])
def test_a_block_from_the_neighbouring_level(p, free):
    rng = np.random.default_rng(p)
    Z = rng.normal(size=(60, p))
    Z[5] = Z[6]
    y = np.where(Z[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0)
    options = {"lam": 0.01, "fit_intercept": free, "tol": 1e-10}
    old = interior_point(BlockProblem(Z, y, sample_weight=weights_for(0.5, y), **options))
    weights = weights_for(0.4, y)
    wanted = interior_point(BlockProblem(Z, y, sample_weight=weights, **options))
    found = confirmed(
        BlockProblem(Z, y, sample_weight=weights, **options),
        start=(old.weights, old.intercept),
        multipliers=old.multipliers,
    )
    assert found.converged
    assert found.dual_gap <= 1e-10 * found.objective
    assert found.objective == pytest.approx(wanted.objective, rel=1e-9)


def test_multipliers_from_inside_are_soon_at_their_bounds_and_far_ones_are_left():
    rng = np.random.default_rng(7)
    Z = rng.normal(size=(600, 10))
    y = np.where(Z[:, 0] + rng.normal(size=600) > 0, 1.0, -1.0)
    options = {"lam": 0.01, "sample_weight": np.ones(600), "fit_intercept": True}
    old = interior_point(BlockProblem(Z, y, tol=1e-5, **options))
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
        assert maximise(A, np.ones(40), C, c, 500)
        losses = 1.0 - A @ (c @ A)
        inside = (c > 0) & (c < C)
        assert 0 < inside.sum() <= 6
        assert abs(losses[inside]).max() < 1e-6
        assert losses[(c == 0) & (C > 0)].max() < 1e-6
        assert losses[(c == C) & (C > 0)].min() > -1e-6
    assert not maximise(A, np.ones(40), C, np.zeros(40), 2)


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
