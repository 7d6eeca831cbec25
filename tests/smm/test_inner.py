"""The choice among the solvers of one block, and the one that knows inner products only."""

from __future__ import annotations

import numpy as np
import pytest

from marginbook.smm.model.objective import LOSSES, conjugate_sum
from marginbook.smm.solvers import block
from marginbook.smm.solvers.block import solve_inner
from marginbook.smm.solvers.block_gram import gram_machine
from marginbook.smm.solvers.hinge_active_set import active_set
from marginbook.smm.solvers.hinge_block import solve_hinge_block
from marginbook.smm.solvers.oracle import by_cvxpy


def problem(n=40, p=6, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, p))
    return Z, np.where(Z[:, 0] + rng.standard_normal(n) > 0, 1.0, -1.0), rng.random(n)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("free", [False, True])
def test_the_gap_is_that_of_the_multipliers(loss, free):
    Z, y, weight = problem()
    found = solve_inner(Z, y, lam=0.1, loss=loss, sample_weight=weight, fit_intercept=free)
    combined = (found.multipliers * y) @ Z
    dual = conjugate_sum(found.multipliers, loss=loss, sample_weight=weight) - combined @ combined / 0.4
    assert found.converged
    assert found.objective - dual == pytest.approx(found.dual_gap, abs=1e-15)
    value = by_cvxpy(Z, y, lam=0.1, loss=loss, sample_weight=weight, fit_intercept=free)[2]
    assert found.objective == pytest.approx(value, abs=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_one_class_with_a_free_intercept_is_fitted_by_it(loss, sign):
    Z, y, _ = problem()
    found = solve_inner(Z, y, lam=0.1, loss=loss, sample_weight=(y == sign) * 1.0, fit_intercept=True)
    assert found.objective < 1e-15
    assert not found.weights.any()
    assert np.sign(found.intercept) == sign


@pytest.mark.parametrize("free", [False, True])
def test_no_weight_at_all_gives_zero(free):
    Z, y, _ = problem()
    for loss in LOSSES:
        found = solve_inner(Z, y, lam=0.1, loss=loss, sample_weight=np.zeros(40), fit_intercept=free)
        assert found.objective == 0.0
        assert not found.weights.any()
        assert found.intercept == 0.0


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("p", [3, 90])
def test_inner_products_are_enough(loss, p):
    Z, y, weight = problem(30, p)
    a = solve_inner(Z, y, lam=0.05, loss=loss, sample_weight=weight, fit_intercept=True)
    b = gram_machine(Z @ Z.T, y, lam=0.05, loss=loss, sample_weight=weight, fit_intercept=True, tol=1e-9)
    assert b.objective == pytest.approx(a.objective, rel=1e-8)
    np.testing.assert_allclose(Z.T @ b.weights, a.weights, atol=2e-4)


@pytest.mark.parametrize("free", [False, True])
def test_a_gap_that_the_interior_point_leaves_open_is_closed_by_another_method(free, monkeypatch):
    Z, y, _ = problem()
    left = []

    def early(*values):
        left.append(solve_hinge_block(*values, max_iter=3))
        return left[-1]

    monkeypatch.setattr(block, "solve_hinge_block", early)
    found = solve_inner(Z, y, lam=0.1, fit_intercept=free)
    assert 1e-4 < left[0].dual_gap / left[0].objective < 0.9
    assert found.converged
    assert found.dual_gap <= 1e-9 * found.objective


def test_what_the_active_set_calls_solved_was_computed_anew():
    """Beside the first multiplier, which falls to 0, the second loss of 1 is lost to rounding."""
    huge = 2.0**60
    h, C, c = np.array([-huge, 1.0]), np.array([2 * huge, 2.0]), np.array([huge, 0.0])
    R, index = np.eye(2), np.zeros(2, dtype=np.int64)
    _, changes, solved = active_set(np.ones((2, 1)), h, C, c, R, index, 1, 0.0, 1e-10, 10)
    assert (c.tolist(), changes, solved) == ([0.0, 1.0], 2, True)


def test_bad_input_is_named():
    Z, y, _ = problem()
    with pytest.raises(ValueError, match="wanted \\(n, p\\)"):
        solve_inner(Z[0], y, lam=1.0)
    with pytest.raises(ValueError, match="loss must be one of"):
        solve_inner(Z, y, lam=1.0, loss="huber")
