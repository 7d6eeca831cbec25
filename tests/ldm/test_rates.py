"""The claims on the two algorithms: what they come to, and that wrong steps fail them."""

import itertools
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from marginbook.claims import Verdict
from marginbook.ldm.claims import section_3_convergence as rates
from marginbook.ldm.claims import section_3_five_passes as five_passes
from marginbook.ldm.claims import section_3_stochastic as steps
from marginbook.ldm.claims.problems import problems
from marginbook.ldm.claims.section_3_dual import direct_hessian
from marginbook.ldm.solvers.asgd import averaged_sgd


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(
        rates, "problems", lambda seed, repeats: itertools.islice(problems(seed, repeats), 1, None, 4)
    )


@pytest.mark.usefixtures("few")
def test_coordinate_descent_goes_down_to_the_minimum_at_the_rate_of_gauss_and_seidel():
    evidence = rates.check_coordinate_descent()
    assert evidence.verdict == Verdict.HOLDS
    assert evidence.sizes["rates"] > 3


@pytest.mark.usefixtures("few")
def test_a_solver_that_stops_early_fails(monkeypatch):
    right = rates.coordinate_descent

    def early(*args, max_iter, **options):
        return right(*args, max_iter=min(max_iter, 10), **options)

    monkeypatch.setattr(rates, "coordinate_descent", early)
    assert rates.check_coordinate_descent().verdict == Verdict.FAILS


@pytest.mark.usefixtures("few")
def test_another_algorithm_than_the_printed_one_fails(monkeypatch):
    right = rates.line_by_line

    def with_twice_the_mean_term(problem, lambda1, lambda2, *rest):
        return right(problem, lambda1, 2 * lambda2, *rest)

    monkeypatch.setattr(rates, "line_by_line", with_twice_the_mean_term)
    assert rates.check_coordinate_descent().verdict == Verdict.FAILS


@pytest.mark.usefixtures("few")
def test_a_slower_rate_than_predicted_fails(monkeypatch):
    right = rates.spectral_radius
    monkeypatch.setattr(rates, "spectral_radius", lambda H: right(H) ** 1.3)
    assert rates.check_coordinate_descent().verdict == Verdict.FAILS


@pytest.mark.parametrize("singular", [False, True])
def test_the_spectral_radius_is_the_factor_of_a_pass(singular):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(3 if singular else 5, 5))
    H = A.T @ A
    x, lower = rng.normal(size=5), np.tril(H)
    heights = []
    for _ in range(400):
        x = x - np.linalg.solve(lower, H @ x)
        heights.append(np.sum((A @ x) ** 2))
    heights = [h for h in heights if h > 1e-24]
    measured = (heights[-1] / heights[len(heights) // 2]) ** (1 / (len(heights) - 1 - len(heights) // 2))
    np.testing.assert_allclose(measured, rates.spectral_radius(H) ** 2, rtol=0.02)


def test_a_point_of_zeros_goes_to_c():
    p = next(problems(0, 1, ("linear",)))
    X = p.X.copy()
    X[2] = 0.0
    zero = replace(p, X=X, G=X @ X.T, F=X.T)
    beta, values, missed = rates.line_by_line(zero, 0.25, 0.1, 5.0, passes=30)
    assert missed <= 1e-12
    assert beta[2] == 5.0
    assert np.diff(values).max() <= 1e-12
    found = rates.coordinate_descent(direct_hessian(zero.G, p.y, 0.25), p.y, 0.25, 0.1, 5.0)
    assert found.converged
    assert found.beta[2] == 5.0


def test_pairs_give_an_unbiased_gradient(monkeypatch):
    assert steps.check_unbiased().verdict == Verdict.HOLDS
    right = steps.stochastic_gradient

    def without_m(X, y, w, i, j, numbers, **options):
        return right(X, y, w, i, j, (*numbers[:2], numbers[2] / len(y)), **options)

    monkeypatch.setattr(steps, "stochastic_gradient", without_m)
    assert steps.check_unbiased().verdict == Verdict.FAILS


def test_one_example_for_both_is_biased(monkeypatch):
    """With i = j the variance term of (15) vanishes."""
    right = steps.stochastic_gradient

    def one_example(X, y, w, i, j, numbers, **options):
        return right(X, y, w, i, i, numbers, **options)

    monkeypatch.setattr(steps, "stochastic_gradient", one_example)
    assert steps.check_unbiased().verdict == Verdict.FAILS


def test_differences_of_the_objective_are_its_gradient():
    rng = np.random.default_rng(3)
    X, y, w = steps._rational_problem(rng, 5, 3)
    numbers = (Fraction(1, 4), Fraction(1, 2), Fraction(3))
    F, labels, v = X.astype(float), y.astype(float), w.astype(float)
    z = labels[:, None] * F
    margins = z @ v
    exact = v + 4 * 0.25 / 5 * z.T @ (margins - margins.mean()) - 0.5 * z.mean(axis=0)
    exact -= 3 * z[margins < 1].sum(axis=0)
    np.testing.assert_allclose(steps._slope(X, y, w, numbers).astype(float), exact, rtol=1e-12)


def test_the_compiled_steps_are_those_of_equation_15():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(6, 3)), rng.choice([-1.0, 1.0], size=6)
    lambda1, lambda2, C, gamma0 = 0.3, 0.2, 1.5, 0.01
    found = averaged_sgd(X, y, lambda1, lambda2, C, n_passes=1, gamma0=gamma0, random_state=5)
    draws = np.random.default_rng(5)
    first, second = draws.integers(0, 6, 6), draws.integers(0, 6, 6)
    w = np.zeros(3)
    for t, (i, j) in enumerate(zip(first, second, strict=True), start=1):
        step = gamma0 * (1 + gamma0 * t) ** (-2 / 3)
        gradient = 4 * lambda1 * X[i] * (X[i] @ w) - 4 * lambda1 * y[i] * X[i] * y[j] * (X[j] @ w)
        gradient += w - lambda2 * y[i] * X[i] - 6 * C * y[i] * X[i] * (y[i] * (X[i] @ w) < 1)
        for sparse in (False, True):
            taken = steps.stochastic_gradient(X, y, w, i, j, (lambda1, lambda2, C), sparse=sparse)
            np.testing.assert_allclose(taken, gradient, rtol=1e-10, atol=1e-12)
        w = w - step * gradient
    np.testing.assert_allclose(found.last, w, rtol=1e-10)


def test_five_passes_are_judged_by_objective_and_accuracy(monkeypatch):
    sets = [entry for entry in five_passes.binary_sets() if entry[0] != "generated"]
    assert [len(X) for _, X, _ in sets] == [569, 100, 130, 357]
    assert all(abs(X.min()) < 1e-12 and abs(X.max() - 1) < 1e-12 for _, X, _ in sets)
    assert five_passes.check_five_passes().verdict == Verdict.HOLDS
    right = five_passes.solve_linear

    def exact(X, y, lambda1, lambda2, C, **_):
        return right(X, y, lambda1, lambda2, C, tol=1e-6)

    def nothing(X, y, lambda1, lambda2, C, **_):
        return SimpleNamespace(coef=np.zeros(X.shape[1]), objective=C * len(y))

    for solver in (exact, nothing):  # nothing loses on every set: it is off on one side only
        monkeypatch.setattr(five_passes, "averaged_sgd", solver)
        assert five_passes.check_five_passes().verdict == Verdict.FAILS


def test_averaged_gradients_converge_to_the_minimum_of_their_own_weights():
    assert steps.check_convergence().verdict == Verdict.HOLDS
    assert steps.check_convergence(steps=(100,)).verdict == Verdict.FAILS
