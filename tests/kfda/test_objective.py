"""The problem of kFDA_q: targets, objective, gradient, majoriser."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginbook.kfda.model.objective import (
    Problem,
    gradient,
    midpoint,
    objective,
    residual,
    surrogate,
    targets,
    validate_coefficients,
    validate_parameters,
)


def small_problem(seed=0, n=12, m=5):
    rng = np.random.default_rng(seed)
    positive = np.arange(n) < n // 3
    return Problem(rng.standard_normal((n, m)), targets(positive)), rng


def test_targets_are_those_of_the_paper_and_sum_to_zero():
    yhat = targets(np.array([True, False, True, False, False]))
    np.testing.assert_allclose(yhat, [5 / 2, -5 / 3, 5 / 2, -5 / 3, -5 / 3])
    assert abs(yhat.sum()) < 1e-12
    assert midpoint(2, 3) == pytest.approx((5 / 2 - 5 / 3) / 2)


@pytest.mark.parametrize("positive", [np.ones(4, bool), np.zeros(4, bool)])
def test_a_missing_class_is_named(positive):
    with pytest.raises(ValueError, match="wanted both classes"):
        targets(positive)


def test_labels_that_are_no_truth_values_are_refused():
    with pytest.raises(ValueError, match="wanted an \\(N,\\) array of bool"):
        targets(np.array([1, -1]))
    with pytest.raises(ValueError, match="at least one of each class"):
        midpoint(0, 3)


@pytest.mark.parametrize("bad", [np.ones((3, 2)), np.full((4, 4), np.nan)])
def test_problem_refuses_other_shapes_and_missing_values(bad):
    with pytest.raises(ValueError, match=r"wanted|not finite"):
        Problem(bad, targets(np.array([True, False, True, False])))


def test_pieces_agree_with_loops():
    problem, rng = small_problem()
    omega = rng.standard_normal(6)
    columns = [np.ones(12), *problem.K.T]
    for i, a in enumerate(columns):
        assert problem.correlations[i] == pytest.approx(sum(a * problem.yhat))
        assert problem.squared_norms[i] == pytest.approx(sum(a * a))
        for j, b in enumerate(columns):
            assert problem.gram[i, j] == pytest.approx(sum(a * b))
    fitted = sum(w * column for w, column in zip(omega, columns, strict=True))
    value = 0.5 * sum((problem.yhat - fitted) ** 2) + 0.3 * 12 * sum(abs(w) ** 0.7 for w in omega)
    assert objective(problem, omega, 0.7, 0.3) == pytest.approx(value)
    without = value - 0.3 * 12 * abs(omega[0]) ** 0.7
    assert objective(problem, omega, 0.7, 0.3, penalize_bias=False) == pytest.approx(without)


def test_residual_of_a_sparse_vector_is_the_same():
    problem, _ = small_problem(m=11)
    omega = np.zeros(12)
    omega[[0, 7]] = 1.0, -2.0
    np.testing.assert_allclose(residual(problem, omega), problem.yhat - problem.design @ omega, atol=1e-12)


@pytest.mark.parametrize("q", [0.3, 1.0, 1.4, 2.0])
@pytest.mark.parametrize("penalize_bias", [True, False])
def test_gradient_by_finite_differences(q, penalize_bias):
    problem, rng = small_problem()
    omega = rng.standard_normal(6)
    exact = gradient(problem, omega, q, 0.2, penalize_bias)
    for i in range(6):
        step = np.zeros(6)
        step[i] = 1e-6
        rise = objective(problem, omega + step, q, 0.2, penalize_bias)
        fall = objective(problem, omega - step, q, 0.2, penalize_bias)
        assert exact[i] == pytest.approx((rise - fall) / 2e-6, rel=1e-5, abs=1e-5)


def test_gradient_is_undefined_at_zero_for_q_up_to_one():
    problem, _ = small_problem()
    assert np.isnan(gradient(problem, np.zeros(6), 1.0, 0.1)).all()
    free = gradient(problem, np.zeros(6), 0.5, 0.1, penalize_bias=False)
    assert np.isfinite(free[0])
    assert np.isnan(free[1:]).all()
    assert np.isfinite(gradient(problem, np.zeros(6), 1.5, 0.1)).all()


@settings(max_examples=60)
@given(
    q=st.floats(0.05, 2.0),
    rho=st.floats(1e-4, 10.0),
    seed=st.integers(0, 1000),
    penalize_bias=st.booleans(),
)
def test_surrogate_majorises_and_touches(q, rho, seed, penalize_bias):
    problem, rng = small_problem(seed)
    omega, at = rng.standard_normal((2, 6)) * 10.0 ** rng.uniform(-3, 2, (2, 6))
    value = objective(problem, omega, q, rho, penalize_bias)
    assert surrogate(problem, omega, at, q, rho, penalize_bias) >= value * (1 - 1e-12)
    touching = surrogate(problem, at, at, q, rho, penalize_bias)
    assert touching == pytest.approx(objective(problem, at, q, rho, penalize_bias), rel=1e-10)


def test_surrogate_at_a_zero_forbids_leaving_it():
    problem, _ = small_problem()
    at = np.array([1.0, 0, 1, 1, 1, 1])
    assert surrogate(problem, np.ones(6), at, 0.5, 0.1) == np.inf
    assert np.isfinite(surrogate(problem, 2 * at, at, 0.5, 0.1))
    assert np.isfinite(surrogate(problem, np.ones(6), at, 2.0, 0.1))


@pytest.mark.parametrize(("q", "rho"), [(0, 1), (2.5, 1), (1, 0), (1, np.inf), (1, True), ("1", 1)])
def test_parameters_out_of_range_are_refused(q, rho):
    with pytest.raises(ValueError, match="got"):
        validate_parameters(q, rho)


def test_coefficients_of_another_length_are_refused():
    problem, _ = small_problem()
    with pytest.raises(ValueError, match="wanted 6 finite numbers"):
        validate_coefficients(problem, np.ones(5))
