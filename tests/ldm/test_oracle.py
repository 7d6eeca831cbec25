"""The general solver against first-order conditions and problems solved by hand."""

import sys

import cvxpy as cp
import numpy as np
import pytest

from marginbook.ldm.estimators import training
from marginbook.ldm.model.objective import dual_objective, margin_variance, primal_objective
from marginbook.ldm.solvers.hard_margin import InfeasibleError, gram_features
from marginbook.ldm.solvers.oracle import hard_margin_oracle, soft_margin_oracle


def _problem(m=14, d=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(m) % 3 == 0, -1.0, 1.0)
    return rng.normal(size=(m, d)) + 0.8 * y[:, None], y


@pytest.mark.parametrize(("lambda1", "lambda2", "C"), [(0.0, 0.0, 1.0), (0.5, 0.2, 10.0), (20.0, 3.0, 0.1)])
def test_no_direction_goes_down_from_the_soft_optimum(lambda1, lambda2, C):
    X, y = _problem()
    found = soft_margin_oracle(X, y, lambda1, lambda2, C)

    def value(w):
        return primal_objective(y * (X @ w), w @ w, lambda1, lambda2, C)

    assert found.objective == pytest.approx(value(found.coef), abs=1e-6)
    np.testing.assert_allclose(found.margins, y * (X @ found.coef))
    np.testing.assert_allclose(X.T @ found.alpha, found.coef, atol=1e-9)
    for direction in np.random.default_rng(1).normal(size=(50, 3)):
        assert value(found.coef + 0.01 * direction) >= found.objective - 1e-7


def test_two_points_by_hand():
    # x = (1), (-1), y = +1, -1: both margins are w, the variance is 0; minimise w^2/2 - lambda2 w with w >= 1
    X, y = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    for lambda2, expected in ((0.0, 1.0), (0.5, 1.0), (3.0, 3.0)):
        assert hard_margin_oracle(X, y, 7.0, lambda2).coef[0] == pytest.approx(expected, abs=1e-5)
    # soft: w^2/2 - lambda2 w + 2 C (1 - w)_+
    assert soft_margin_oracle(X, y, 7.0, 0.1, 0.2).coef[0] == pytest.approx(0.5, abs=1e-5)


def test_a_gram_matrix_enters_through_its_features():
    X, y = _problem(m=10, d=3)
    F = gram_features(X @ X.T)
    assert F.shape == (10, 3)
    np.testing.assert_allclose(F @ F.T, X @ X.T, atol=1e-12)
    by_gram, by_features = soft_margin_oracle(F, y, 0.3, 0.1, 2.0), soft_margin_oracle(X, y, 0.3, 0.1, 2.0)
    np.testing.assert_allclose(by_gram.margins, by_features.margins, atol=1e-6)
    np.testing.assert_allclose(y * (X @ X.T @ by_gram.alpha), by_gram.margins, atol=1e-9)


def test_hard_margins_are_at_least_one_and_the_variance_term_shrinks_their_spread():
    X, y = _problem()
    X = X + 2.0 * y[:, None]
    narrow, wide = hard_margin_oracle(X, y, 100.0, 0.0), hard_margin_oracle(X, y, 0.0, 0.0)
    assert narrow.margins.min() > 1 - 1e-6
    assert margin_variance(narrow.margins) < margin_variance(wide.margins)


def test_data_that_no_hyperplane_separates_are_infeasible():
    with pytest.raises(InfeasibleError, match="no hyperplane through the origin separates the classes"):
        hard_margin_oracle(np.ones((2, 1)), np.array([1.0, -1.0]), 0.0, 0.0)
    with pytest.raises(InfeasibleError):
        hard_margin_oracle(gram_features(np.zeros((2, 2))), np.array([1.0, -1.0]), 0.0, 0.0)


def test_a_gram_matrix_of_zeros_costs_c_an_example():
    found = soft_margin_oracle(gram_features(np.zeros((3, 3))), np.array([1.0, -1, 1]), 1.0, 1.0, 2.0)
    assert found.objective == 6.0
    np.testing.assert_array_equal(found.margins, np.zeros(3))


def test_without_cvxpy_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    X, y = _problem()
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'marginbook\[oracle\]'"):
        soft_margin_oracle(X, y, 0.0, 0.0, 1.0)


def test_a_problem_that_the_general_solver_gives_up_says_what_to_do(monkeypatch):
    def gives_up(problem, **options):
        raise cp.SolverError("Solver 'CLARABEL' failed.")

    monkeypatch.setattr(cp.Problem, "solve", gives_up)
    with pytest.raises(ValueError, match="'failed'; scale the data"):
        soft_margin_oracle(np.eye(2), [1, -1], 1.0, 1.0, 1.0)


def test_a_dual_value_above_the_objective_by_rounding_leaves_no_gap(monkeypatch):
    X, y = _problem()
    monkeypatch.setattr(training, "dual_objective", lambda *found: dual_objective(*found) + 0.01)
    found = training.solve_on_gram(X @ X.T, y, (0.5, 0.2, 10.0), "cvxpy", 1e-6, 1)
    assert found.dual_gap == 0.0
    assert found.converged
