"""Theorem 3 as printed, its two readings, and the claims on leave-one-out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from marginbook.ldm.printed_bounds import (
    counted_bound,
    printed_bound,
    repelling_points,
    restricted_leave_one_out,
)
from marginbook.ldm.retraining import exact_leave_one_out
from marginbook.ldm.solvers import active_set
from marginbook.ldm.whitening import WhitenedGram

CASES = [(0.0, 0.0, 1.0), (0.25, 0.25, 10.0), (30.0, 70.0, 0.1), (0.01, 5.0, 20.0)]


def machine(X, y, lambda1, lambda2, C):
    H = WhitenedGram(X @ X.T, y).hessian(lambda1)
    return H, active_set(H, y, lambda1, lambda2, C, tol=1e-12)


@pytest.mark.parametrize(("lambda1", "lambda2", "C"), CASES)
def test_restricted_machine_is_the_primal_without_one_hinge(lambda1, lambda2, C):
    import cvxpy as cp

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(9, 2)), np.where(np.arange(9) < 4, 1.0, -1.0)
    H, model = machine(X, y, lambda1, lambda2, C)
    found = restricted_leave_one_out(H, lambda2, C, start=model.shifted)
    for i in (0, 5):
        w = cp.Variable(2)
        margins = cp.multiply(y, X @ w)
        mean = cp.sum(margins) / 9
        hinge = cp.sum(cp.pos(1 - margins[np.delete(np.arange(9), i)]))
        value = cp.sum_squares(w) / 2 + 2 * lambda1 / 9 * cp.sum_squares(margins - mean)
        cp.Problem(cp.Minimize(value - lambda2 * mean + C * hinge)).solve(solver=cp.CLARABEL)
        assert_allclose(found[i], y[i] * X[i] @ w.value, atol=1e-4)


@pytest.mark.parametrize("m", [2, 3, 8])
@pytest.mark.parametrize(
    ("lambda1", "lambda2", "C"), [(0.0, 1.0, 10.0), (2**-2, 0.6, 100.0), (9.0, 70.0, 0.01)]
)
def test_repelling_points_are_all_misclassified_where_the_theorem_says_none(m, lambda1, lambda2, C):
    X, y = repelling_points(m)
    H, model = machine(X, y, lambda1, lambda2, C)
    assert printed_bound(H, model.beta, C) == 0.0
    assert_allclose(model.margins, lambda2 * m, rtol=1e-9)
    exact = exact_leave_one_out(X @ X.T, y, lambda1, lambda2, C)
    assert_allclose(exact, -3 * lambda2 * m, rtol=1e-6)
    # the restricted machines are the machine itself: no dual variable was positive
    assert_allclose(restricted_leave_one_out(H, lambda2, C, start=model.shifted), model.margins, rtol=1e-9)


def test_printed_bound_adds_up():
    H = np.diag([2.0, 3.0, 1.0, 1.0])
    beta = np.array([0.0, 0.5, 2.0, 0.25])
    assert printed_bound(H, beta, 2.0) == pytest.approx((3 * 0.75 + 1) / 4)
    assert counted_bound(H, beta, 2.0) == 0.5


def test_leave_one_out_needs_two_points():
    with pytest.raises(ValueError, match="at least 2 points, got m=1"):
        repelling_points(1)
