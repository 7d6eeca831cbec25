"""The linear LDM by an interior point: cvxpy over extreme parameters, and the choice of a method."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from marginbook.ldm.solvers.linear_cd import linear_coordinate_descent, solve_linear
from marginbook.ldm.solvers.linear_interior_point import linear_interior_point

from .test_linear import oracle, problem


@pytest.mark.parametrize(("m", "d"), [(40, 5), (12, 30), (150, 20)])
@pytest.mark.parametrize("lambda1", [0.0, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("C", [1e-6, 1.0, 30.0])
def test_equals_cvxpy_whatever_the_parameters(m, d, lambda1, C):
    X, y = problem(m, d)
    _, value = oracle(X, y, lambda1, 0.5, C)
    found = linear_interior_point(X, y, lambda1, 0.5, C, tol=1e-7)
    assert found.converged
    assert found.n_iter <= 30
    # the gap is the sharper certificate where Clarabel reaches its own limits
    assert found.objective - found.dual_gap <= value + 1e-6 * max(1, abs(value))
    assert found.objective == pytest.approx(value, rel=1e-6, abs=1e-7)


def test_a_huge_penalty_on_overlapping_classes():
    X, y = problem(150, 20)
    found = linear_interior_point(X, y, 1.0, 0.5, 1e6, tol=1e-7)
    assert found.converged
    assert (found.beta.max(), found.beta.min()) == pytest.approx((1e6, 0.0), abs=10.0)


@pytest.mark.parametrize("shape", [(50, 8), (10, 25)])
def test_is_coordinate_descent(shape):
    X, y = problem(*shape)
    one = linear_interior_point(csr_matrix(X), y, 2.0, 0.5, 0.3, tol=1e-10)
    other = linear_coordinate_descent(X, y, 2.0, 0.5, 0.3, tol=1e-11, max_iter=50_000)
    np.testing.assert_allclose(one.coef, other.coef, atol=1e-5)
    np.testing.assert_allclose(X.T @ one.alpha, one.coef, atol=1e-12)
    assert one.mean_margin == pytest.approx(other.mean_margin, abs=1e-5)


def test_zero_rows_duplicates_and_one_class():
    X, y = problem(20, 4)
    X = np.vstack([X, X, np.zeros((3, 4))])
    y = np.concatenate([y, y, [1, -1, 1]])
    for labels in (y, np.ones(43)):
        _, value = oracle(X, labels, 5.0, 0.5, 2.0)
        assert linear_interior_point(X, labels, 5.0, 0.5, 2.0).objective == pytest.approx(value, abs=1e-6)
    assert linear_interior_point(np.zeros((4, 2)), np.ones(4), 1.0, 1.0, 2.0).objective == pytest.approx(8.0)


def test_an_interior_point_that_was_asked_for_ends_where_it_stops():
    X, y = problem(60, 5)
    asked = solve_linear(X, y, 0.5, 0.5, 10.0, method="interior-point", max_iter=3)
    alone = linear_interior_point(X, y, 0.5, 0.5, 10.0, max_iter=3)
    assert not asked.converged
    assert asked.n_iter == 3
    np.testing.assert_array_equal(asked.coef, alone.coef)


def test_the_method_is_chosen_by_size():
    X, y = problem(60, 5)
    exact = solve_linear(X, y, 0.5, 0.5, 1e4)
    assert exact.converged
    assert exact.n_iter < 40
    slow = solve_linear(X, y, 0.5, 0.5, 1e4, method="coordinate-descent", max_iter=50)
    assert not slow.converged
    assert slow.objective > exact.objective
    with pytest.raises(ValueError, match="method must be"):
        solve_linear(X, y, 1, 1, 1, method="newton")
    rng = np.random.default_rng(0)
    wide = csr_matrix((np.ones(3000), rng.integers(0, 10**6, 3000), np.arange(0, 3001, 3)), (1000, 10**6))
    found = solve_linear(wide, np.where(rng.random(1000) < 0.5, 1, -1), 0.5, 0.5, 1.0)
    assert found.converged
    assert found.coef.shape == (10**6,)
