"""The whole minimisation: monotone, stationary, as good as the plain algorithm by cvxpy, and on odd input."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature

import numpy as np
import pytest
from scipy.optimize import brentq

from marginbook.smm.model.objective import LOSSES, combination, objective, weights_for
from marginbook.smm.solvers import block_descent, block_descent_one_start
from marginbook.smm.solvers.block import solve_inner
from marginbook.smm.solvers.block_descent import low_rank_svm
from marginbook.smm.solvers.block_descent_one_start import Descent
from marginbook.smm.solvers.block_problem import BlockProblem
from marginbook.smm.solvers.newton_joint import factors
from marginbook.smm.solvers.oracle import alternation_by_cvxpy, by_cvxpy
from marginbook.smm.solvers.starts import completed
from marginbook.smm.solvers.starts_smoothed import hinge_continuation, smooth_descent


def matrices(n=80, d1=5, d2=4, seed=0, rank=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d1, d2))
    B = rng.standard_normal((d1, rank)) @ rng.standard_normal((rank, d2))
    return X, np.where(X.reshape(n, -1) @ B.ravel() + rng.standard_normal(n) > 0.3, 1.0, -1.0)


def check(found, X, y, *, rank, **settings):
    value = objective(found.coef, found.intercept, X, y, **settings)
    assert found.objective == pytest.approx(value, rel=1e-9, abs=1e-14)
    assert (np.diff(found.objective_path) <= 0).all()
    assert found.objective_path[-1] == found.objective
    assert np.linalg.matrix_rank(found.coef, tol=1e-9 * max(1.0, np.abs(found.coef).max())) <= rank
    np.testing.assert_allclose(found.U @ found.V.T, found.coef, atol=1e-12)
    np.testing.assert_allclose(found.U.T @ found.U, found.V.T @ found.V, atol=1e-8)
    assert found.lower_bound <= found.objective * (1 + 1e-12) + 1e-15


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("method", ["joint", "alternation"])
@pytest.mark.parametrize("shape", [(80, 5, 4), (80, 2, 6), (10, 5, 5)])
def test_monotone_of_the_rank_and_with_its_certificate(loss, free, method, shape):
    X, y = matrices(*shape)
    weight = weights_for(0.3, y)
    settings = {"lam": 0.02, "loss": loss, "sample_weight": weight}
    rank = min(2, min(shape[1:]) - 1)
    found = low_rank_svm(X, y, rank=rank, fit_intercept=free, method=method, **settings)
    check(found, X, y, rank=rank, **settings)
    assert found.converged
    assert found.block_gap <= 2e-9 * found.objective


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("free", [False, True])
def test_plain_alternation_is_that_of_cvxpy(loss, free):
    X, y = matrices(50, 4, 3)
    settings = {"rank": 1, "lam": 0.05, "loss": loss, "fit_intercept": free}
    U, V = np.ones((4, 1)), np.array([[1.0], [0.5], [-1.0]])
    _, _, path = alternation_by_cvxpy(X, y, start=(U, V), max_iter=4, tol=0.0, **settings)
    found = low_rank_svm(X, y, start=(U, V), max_iter=4, tol=0.0, method="alternation", **settings)
    np.testing.assert_allclose(found.objective_path[1:9], path, rtol=1e-4)
    joint = low_rank_svm(X, y, start=(U, V), **settings)
    assert joint.objective <= path[-1] * (1 + 1e-6)


def test_the_alternation_by_cvxpy_ends_as_ours_does_by_default():
    ours, theirs = (signature(descend).parameters for descend in (low_rank_svm, alternation_by_cvxpy))
    assert {name: each.default for name, each in theirs.items()} == {
        name: ours[name].default for name in theirs
    }
    X, y = matrices(4, 3, 2)
    B, b, path = alternation_by_cvxpy(X, y, rank=1, lam=1.0, start=(X[0], X[0].T), max_iter=0)
    assert (np.abs(B).max(), b, len(path)) == (0, 0, 0)


def test_without_a_start_cvxpy_begins_with_the_solution_of_any_rank():
    X, y = matrices(20, 3, 2)
    options = {"rank": 1, "lam": 0.1, "max_iter": 1}
    _, _, path = alternation_by_cvxpy(X, y, **options)
    found = low_rank_svm(X, y, method="alternation", **options)
    np.testing.assert_allclose(found.objective_path[1:3], path, rtol=1e-4)


@pytest.mark.parametrize(("tol", "asked"), [(1e-3, 1e-9), (1e-8, 1e-10), (1e-12, 1e-12), (0.0, 1e-12)])
def test_a_block_has_a_hundredth_of_the_tolerance_but_no_more_than_rounding_leaves(monkeypatch, tol, asked):
    X, y = matrices(20, 4, 3)
    seen = []

    def recorded(*values, tol, **options):
        seen.append(tol)
        return solve_inner(*values, tol=tol, **options)

    monkeypatch.setattr(block_descent_one_start, "solve_inner", recorded)
    start = X[0, :, :1], X[0, :1].T
    low_rank_svm(X, y, rank=1, lam=0.1, start=start, tol=tol, max_iter=1, method="alternation")
    assert seen == [pytest.approx(asked, rel=1e-9, abs=0)] * 2


def test_multipliers_that_are_not_given_are_those_of_the_margins_of_the_start():
    X, y = matrices(40, 4, 3)
    w = np.random.default_rng(1).uniform(0.5, 2, 40)
    at = factors(X[0], np.eye(3)[:, :1], 0.1, X, y)
    given = np.where(at.margins < 1, w / 40, 0.0)
    assert ((at.margins > 1) & (at.margins < 2)).any()
    options = {"lam": 0.05, "sample_weight": w, "fit_intercept": True, "tol": 1e-6, "stages": 1}
    found, multipliers, _ = hinge_continuation(X, y, at, **options)
    wanted, of_them, _ = hinge_continuation(X, y, at, multipliers=given, **options)
    np.testing.assert_array_equal(multipliers, of_them)
    np.testing.assert_array_equal(found.coef, wanted.coef)


def test_a_smooth_start_ends_with_its_limit_of_steps():
    """Sixty by default: where classes are apart and nothing else costs, each step divides the loss by e."""
    X = np.random.default_rng(0).standard_normal((60, 3, 2))
    y = np.where(X[:, 0, 0] > 0, 1.0, -1.0)
    at = factors(np.outer([1, 0, 0], [1, 0]), np.eye(2)[:, :1], 0.0, X, y)
    weights = np.ones(60)
    for limit, options in ((60, {}), (7, {"max_iter": 7})):
        _, multipliers, steps = smooth_descent(
            X,
            y,
            at,
            lam=1e-90,
            loss="logistic",
            sample_weight=weights,
            fit_intercept=False,
            tol=1e-6,
            **options,
        )
        assert steps == limit
        assert multipliers.sum() > 0  # there was more to gain


def test_the_limit_is_stationary_for_both_blocks():
    X, y = matrices(120, 5, 5, 1)
    lam = 0.05
    found = low_rank_svm(X, y, rank=2, lam=lam, loss="logistic", tol=1e-12)
    M = combination(found.multipliers, X, y)
    P, Q = np.linalg.qr(found.V)[0], np.linalg.qr(found.U)[0]
    np.testing.assert_allclose(M @ P, 2 * lam * found.coef @ P, atol=1e-5)
    np.testing.assert_allclose(Q.T @ M, 2 * lam * Q.T @ found.coef, atol=1e-5)


def test_moving_both_blocks_is_at_least_as_good_for_the_hinge_loss():
    worse = 0
    for seed in range(4):
        X, y = matrices(100, 6, 6, seed)
        a = low_rank_svm(X, y, rank=2, lam=0.02, method="alternation")
        b = low_rank_svm(X, y, rank=2, lam=0.02, method="joint")
        assert b.objective <= a.objective * 1.01
        worse += b.objective < a.objective * (1 - 1e-5)
    assert worse >= 1  # the plain algorithm stops at kinks


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shape", [(40, 3, 5), (40, 5, 3), (30, 1, 6), (30, 6, 1)])
def test_full_rank_is_the_vector_machine(loss, shape):
    X, y = matrices(*shape)
    rank = min(shape[1:])
    found = low_rank_svm(X, y, rank=rank, lam=0.05, loss=loss, fit_intercept=True)
    w, _, value = by_cvxpy(X.reshape(shape[0], -1), y, lam=0.05, loss=loss, fit_intercept=True)
    assert found.objective == pytest.approx(value, abs=1e-7)
    assert found.global_gap <= 1e-8 * found.objective
    np.testing.assert_allclose(found.coef.ravel(), w, atol=2e-3)


@pytest.mark.parametrize("scale", [1.0, 1e-20, 1e20])
def test_orthonormal_columns_do_not_ask_for_a_unit(scale):
    rng = np.random.default_rng(0)
    factor, other = scale * rng.normal(size=(6, 2)), rng.normal(size=(3, 6))
    basis = completed(factor)
    np.testing.assert_allclose(basis.T @ basis, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(basis @ (basis.T @ factor), factor, atol=1e-12 * scale)
    deficient = np.c_[factor[:, 0], 2 * factor[:, 0]]
    basis = completed(deficient, other)
    np.testing.assert_allclose(basis.T @ basis, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(basis @ (basis.T @ deficient), deficient, atol=1e-12 * scale)


@pytest.mark.parametrize(("method", "wanted"), [("joint", 1e-2), ("alternation", 1e-4)])
def test_a_start_before_both_blocks_move_is_rough(monkeypatch, method, wanted):
    """Algorithm 1 alone begins where the machine without a rank is solved as it was asked to be."""
    asked = []

    class Asked(BlockProblem):
        def __init__(self, *values, tol, **others):
            asked.append(tol)
            super().__init__(*values, tol=tol, **others)

    def solve(*values, **options):
        asked.append(options["tol"])
        return solve_inner(*values, **options)

    monkeypatch.setattr(block_descent, "BlockProblem", Asked)
    monkeypatch.setattr(block_descent, "solve_inner", solve)
    X, y = matrices(30, 4, 3)
    low_rank_svm(X, y, rank=1, lam=0.05, method=method, tol=1e-4)
    assert asked == [wanted]


@pytest.mark.parametrize(("worse", "first"), [(99.5, 99.5), (100.5, 1.0)])
def test_of_a_start_a_hundred_times_worse_than_nothing_only_directions_are_taken(worse, first):
    X, y = matrices(40, 4, 3)
    U, V = np.ones((4, 1)), np.array([[1.0], [0.5], [-1.0]])

    def value(size):
        return objective(size * U @ V.T, 0.0, X, y, lam=0.05)

    size = brentq(lambda size: value(size) - worse, 0.0, 1e3)
    found = low_rank_svm(X, y, rank=1, lam=0.05, start=(size * U, V))
    assert value(0.0) == 1
    assert found.objective_path[0] == pytest.approx(first)


def test_the_rank_of_a_start_can_grow():
    X, y = matrices(100, 5, 4, 2)
    V = np.zeros((4, 2))
    V[0, 0] = 1.0
    for method in ("joint", "alternation"):
        found = low_rank_svm(X, y, rank=2, lam=0.01, start=(np.zeros((5, 2)), V), method=method)
        assert np.linalg.matrix_rank(found.coef) == 2
        assert found.start == "given"


def test_a_rank_grows_where_the_objective_falls():
    """The first coordinates, with which the basis would be filled up else, are zero in all matrices."""
    X, y = matrices(60, 4, 3, 3)
    X[:, 0], X[:, :, 0] = 0.0, 0.0
    start = np.zeros((4, 1)), np.zeros((3, 1))
    found = low_rank_svm(X, y, rank=1, lam=0.01, loss="squared_hinge", start=start, method="alternation")
    assert found.objective < 0.95 * found.objective_path[0]


def test_a_rank_grows_by_the_multipliers_of_the_step_before():
    """Those that come with the start see only the constant that the larger class has more of."""
    y = np.where(np.arange(40) < 10, 1.0, -1.0)
    X = np.zeros((40, 3, 3))
    X[:, 0, 0], X[:, 1, 1] = 10.0, y + 0.3 * np.random.default_rng(0).standard_normal(40)
    options = {"rank": 1, "lam": 0.05, "fit_intercept": True, "method": "alternation"}
    best = low_rank_svm(X, y, **options)
    U, V, c = np.zeros((3, 1)), np.eye(3)[:, 2:], np.full(40, 1 / 40)
    start = replace(best, U=U, V=V, coef=U @ V.T, intercept=-1.0, multipliers=c)
    found = low_rank_svm(X, y, start=start, **options)
    assert found.objective == pytest.approx(best.objective, rel=1e-6)
    assert found.objective < 0.5 * found.objective_path[0]


@pytest.mark.parametrize(("size", "better"), [(0.01, True), (-1.0, False)])
def test_what_is_cut_off_has_the_objective_that_goes_with_it(size, better):
    """Where it is worse than nothing, that is taken in its place, without an intercept."""
    X, y = matrices()
    descent = Descent(X, y, 2, 0.02, "hinge", np.ones(80), True)
    found = block_descent._cut(descent, size * np.tensordot(y, X, axes=1), 0.1, np.full(80, 1 / 160))
    assert found.objective == pytest.approx(descent.value(found.coef, found.b), rel=1e-12)
    assert (found.objective < descent.value(np.zeros((5, 4)), 0.0)) == found.coef.any() == better


@pytest.mark.parametrize("loss", LOSSES)
def test_the_minimiser_of_the_relaxation_is_a_start(loss):
    """A poor one as the only other, and a single sweep from each."""
    X, y = matrices(40, 4, 3)
    poor = np.eye(4)[:, 3:], np.eye(3)[:, 2:]
    options = {"rank": 1, "lam": 0.05, "loss": loss, "start": poor, "max_iter": 1, "method": "alternation"}
    found = low_rank_svm(X, y, bound_iter=60, **options)
    assert found.start == "relaxed"
    assert found.objective < 0.95 * low_rank_svm(X, y, **options).objective


def test_a_warm_start_is_never_worse_than_what_it_is_given():
    X, y = matrices(100, 5, 5, 3)
    first = low_rank_svm(X, y, rank=2, lam=0.02, fit_intercept=True)
    weight = weights_for(0.55, y)
    settings = {"lam": 0.02, "sample_weight": weight}
    warm = low_rank_svm(X, y, rank=2, fit_intercept=True, start=first, **settings)
    given = objective(first.coef, first.intercept, X, y, **settings)
    assert warm.objective <= given == pytest.approx(warm.objective_path[0])
    cold = low_rank_svm(X, y, rank=2, fit_intercept=True, **settings)
    assert warm.objective <= cold.objective * 1.01


def test_restarts_keep_the_best_and_end_when_it_is_proved():
    X, y = matrices(40, 4, 4, 4)
    one = low_rank_svm(X, y, rank=1, lam=0.003)
    many = low_rank_svm(X, y, rank=1, lam=0.003, n_restarts=6, random_state=0)
    same = low_rank_svm(X, y, rank=1, lam=0.003, n_restarts=6, random_state=0)
    assert many.objective <= one.objective
    assert many.objective == same.objective
    assert many.lower_bound >= one.lower_bound
    sure = low_rank_svm(X, y, rank=1, lam=5.0, n_restarts=3)
    assert sure.start == "full"
    assert sure.global_gap <= 1e-6 * sure.objective


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("lam", [1e-12, 1e-3, 1e6])
@pytest.mark.parametrize("kind", ["zero", "copies", "constant", "large", "separable", "single"])
def test_odd_input(loss, free, lam, kind):
    X, y = matrices(24, 4, 3, 5)
    if kind == "zero":
        X = np.zeros_like(X)
    elif kind == "copies":
        X, y = np.tile(X[:4], (6, 1, 1)), np.tile(y[:4], 6)
    elif kind == "constant":
        X[:, 1:] = 1.0
    elif kind == "large":
        X *= 1e4
    elif kind == "separable":
        y = np.where(X[:, 0, 0] > 0, 1.0, -1.0)
    else:
        X, y = X[:1], y[:1]
    for pi in (None, 0.0, 1.0):
        weight = weights_for(pi, y)
        found = low_rank_svm(
            X, y, rank=2, lam=lam, loss=loss, sample_weight=weight, fit_intercept=free, max_iter=8
        )
        assert np.isfinite(found.coef).all()
        nothing = objective(np.zeros(X.shape[1:]), 0.0, X, y, lam=lam, loss=loss, sample_weight=weight)
        assert found.objective <= nothing * (1 + 1e-12)
        assert found.lower_bound <= found.objective + 1e-9 * nothing
        if found.converged:  # with a penalty of 1e-12 rounding may leave a gap, and says so
            assert found.block_gap <= 1e-8 * max(found.objective, 1e-5 * nothing)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.ones((4, 2))}, "wanted \\(n, d1, d2\\)"),
        ({"X": np.full((4, 2, 2), np.nan)}, "not finite"),
        ({"rank": 3}, "between 1 and min\\(d1, d2\\) = 2, got 3"),
        ({"rank": 0}, "rank must be a whole number between 1 and .*, got 0"),
        ({"method": "both"}, "method must be one of"),
        ({"start": (np.ones((2, 2)), np.ones((2, 1)))}, "start has shapes"),
        ({"max_iter": 0}, "max_iter must be >= 1 and tol >= 0, got 0"),
        ({"lam": -1.0}, "lam must be a finite number > 0, got -1.0"),
        ({"y": np.array([1, 0, 1, 0])}, "wanted -1 and"),
    ],
)
def test_bad_input_is_named(change, message):
    given = {"X": np.ones((4, 2, 2)), "y": np.array([1, -1, 1, -1]), "rank": 1, "lam": 1.0} | change
    with pytest.raises(ValueError, match=message):
        low_rank_svm(given.pop("X"), given.pop("y"), **given)
