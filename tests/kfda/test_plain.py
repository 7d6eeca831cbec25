"""The iterations (7) and (8) as printed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Lasso, Ridge

from marginbook.kfda.model.objective import Problem, objective, surrogate, targets
from marginbook.kfda.solvers.irls import majorize_minimize, ridge_start, step_inverse, step_stable


def rbf_problem(n=30, seed=0, width=1.0, n_positive=None):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    positive = X[:, 0] + 0.3 * rng.standard_normal(n) > 0
    if n_positive is not None:
        positive = np.arange(n) < n_positive
    K = np.exp(-((X[:, None] - X) ** 2).sum(-1) / (2 * width**2))
    return Problem(K, targets(positive))


@settings(max_examples=40)
@given(q=st.floats(0.2, 2.0), rho=st.floats(1e-3, 1.0), seed=st.integers(0, 99), bias=st.booleans())
def test_both_forms_are_one_map_that_minimises_the_majoriser(q, rho, seed, bias):
    problem = rbf_problem(12, seed)
    rng = np.random.default_rng(seed)
    omega = rng.uniform(0.1, 2, 13) * rng.choice([-1, 1], 13)
    new = step_stable(problem, omega, q, rho, penalize_bias=bias)
    np.testing.assert_allclose(new, step_inverse(problem, omega, q, rho, penalize_bias=bias), atol=1e-6)
    lowest = surrogate(problem, new, omega, q, rho, bias)
    assert objective(problem, new, q, rho, bias) <= objective(problem, omega, q, rho, bias) * (1 + 1e-12)
    for _ in range(5):
        other = new + 0.01 * rng.standard_normal(13)
        assert surrogate(problem, other, omega, q, rho, bias) >= lowest


def test_inverse_form_names_what_to_do_at_zero():
    problem = rbf_problem(6)
    with pytest.raises(ValueError, match="use \\(8\\)"):
        step_inverse(problem, np.zeros(7), 1.0, 0.1)


def test_zeros_stay():
    problem = rbf_problem()
    omega = np.ones(31)
    omega[[0, 4, 9]] = 0.0
    assert not majorize_minimize(problem, 0.5, 0.01, start=omega).omega[[0, 4, 9]].any()


@pytest.mark.parametrize("form", ["stable", "inverse"])
def test_q_2_is_ridge_regression_in_one_step(form):
    problem = rbf_problem()
    solution = majorize_minimize(problem, 2.0, 0.05, form=form, start=np.ones(31))
    peer = Ridge(alpha=2 * 0.05 * 30, fit_intercept=False).fit(problem.design, problem.yhat)
    np.testing.assert_allclose(solution.omega, peer.coef_, atol=1e-8)
    assert solution.n_iter == 2
    np.testing.assert_allclose(ridge_start(problem, 0.05), peer.coef_, atol=1e-8)


def test_unpenalised_bias_is_a_free_intercept():
    problem = rbf_problem(n_positive=5)
    solution = majorize_minimize(problem, 2.0, 0.05, penalize_bias=False)
    peer = Ridge(alpha=2 * 0.05 * 30).fit(problem.K, problem.yhat)
    np.testing.assert_allclose(solution.omega, [peer.intercept_, *peer.coef_], atol=1e-7)


def test_q_1_approaches_the_lasso():
    problem = rbf_problem()
    solution = majorize_minimize(problem, 1.0, 0.05, tol=1e-12, max_iter=20_000)
    peer = Lasso(alpha=0.05, fit_intercept=False, tol=1e-12, max_iter=200_000)
    peer.fit(problem.design, problem.yhat)
    assert solution.objective == pytest.approx(objective(problem, peer.coef_, 1.0, 0.05), rel=1e-6)


@pytest.mark.parametrize("q", [0.25, 0.5, 1.0, 1.5])
def test_objective_never_rises_and_the_record_is_complete(q):
    problem = rbf_problem()
    solution = majorize_minimize(problem, q, 0.02, record=True)
    assert solution.converged
    assert np.all(np.diff(solution.objective_path) <= 1e-12 * solution.objective)
    assert solution.omega_path.shape == (solution.n_iter + 1, 31)
    assert objective(problem, solution.omega_path[3], q, 0.02) == solution.objective_path[3]
    assert solution.retained_path[0] == 30
    last = abs(solution.objective_path[-2] / solution.objective - 1)
    assert last <= 1e-5


def test_iterations_end():
    solution = majorize_minimize(rbf_problem(), 1.0, 0.01, max_iter=3, tol=0.0)
    assert solution.n_iter == 3
    assert not solution.converged


def test_cut_is_relative_to_the_largest_kernel_coefficient():
    solution = majorize_minimize(rbf_problem(), 1.0, 0.1)
    size = np.abs(solution.omega[1:])
    assert len(solution.retained_above(0.5)) == np.sum(size > 0.5 * size.max())
    assert len(solution.retained) == np.count_nonzero(size)


def test_form_is_checked():
    with pytest.raises(ValueError, match='"stable" \\(8\\) or "inverse" \\(7\\)'):
        majorize_minimize(rbf_problem(4, n_positive=2), 1.0, 0.1, form="other")
