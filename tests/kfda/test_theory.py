"""The claims on Fisher and on where the iteration ends: what they come to, and what fails them."""

import itertools
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from marginbook.claims import Verdict
from marginbook.kfda.claims import section_2_fisher, section_2_limits
from marginbook.kfda.claims.problems import KERNELS, RHOS, SIZES, samples, start
from marginbook.kfda.claims.rational import rationals, solve_exactly
from marginbook.kfda.model.certificates import duality_gap
from marginbook.kfda.model.objective import Problem, gradient, objective, targets
from marginbook.kfda.solvers.irls import majorize_minimize


def few(seed, repeats=4, kernels=KERNELS):
    """Every 4th problem: all sizes and kernels come up."""
    return itertools.islice(samples(seed, repeats, kernels), 0, None, 4 if len(kernels) > 1 else 1)


@pytest.fixture(autouse=True)
def _fewer(monkeypatch):
    for module in (section_2_fisher, section_2_limits):
        monkeypatch.setattr(module, "samples", few)


def test_the_problems_have_every_kernel_and_what_makes_gram_matrices_singular():
    found = list(samples(0))
    assert len(found) == 4 * len(SIZES) * len(KERNELS)
    assert {len(s.positive) for s in found} == {sum(sizes) for sizes in SIZES}
    assert any(s.positive.sum() == 1 for s in found)
    assert sum(np.array_equal(s.X[0], s.X[1]) for s in found) == 2 * (len(SIZES) - 1) * len(KERNELS)
    ranks = [(np.linalg.matrix_rank(s.K), len(s.K)) for s in found]
    assert any(r < n for r, n in ranks)
    assert any(r == n for r, n in ranks)
    for s in found:
        np.testing.assert_allclose(s.problem.yhat.sum(), 0, atol=1e-12)
        np.testing.assert_array_equal(s.problem.K, s.K)


def test_starts_have_no_zeros():
    problem = next(iter(samples(1))).problem
    omega = start(problem, np.random.default_rng(0))
    assert omega.shape == (problem.n_coefficients,)
    assert np.all(omega != 0)


@settings(max_examples=40)
@given(st.integers(1, 5), st.integers(0, 2**16))
def test_exact_solutions(n, seed):
    rng = np.random.default_rng(seed)
    A, b = rng.integers(-3, 4, size=(n, n)), rng.integers(-3, 4, size=n)
    x = solve_exactly(rationals(A), rationals(b))
    assert (x is None) == (np.linalg.matrix_rank(A) < n)
    if x is not None:
        assert np.all(rationals(A) @ x == rationals(b))


def test_rationals_keep_floats_and_fractions_as_they_are():
    assert rationals([0.5, 3]).tolist() == [Fraction(1, 2), 3]
    assert rationals(np.array([[Fraction(1, 3)]], dtype=object))[0, 0] == Fraction(1, 3)


# Fisher


@pytest.mark.parametrize(
    "check",
    [section_2_fisher.check_fisher, section_2_fisher.check_span, section_2_fisher.check_kernel_fisher],
)
def test_section_2_holds(check):
    assert check().verdict == Verdict.HOLDS


def test_least_squares_is_the_direction_of_scikit_learns_lda():
    rng = np.random.default_rng(0)
    X, positive = rng.normal(size=(50, 4)) @ rng.normal(size=(4, 4)), np.arange(50) < 15
    X[positive] += 1
    lda = LinearDiscriminantAnalysis(solver="lsqr").fit(X, positive).coef_[0]
    assert section_2_fisher.angle(section_2_fisher.least_squares(X, targets(positive))[1:], lda) < 1e-8


def test_scatter_by_naive_loops():
    rng = np.random.default_rng(1)
    X, positive = rng.normal(size=(12, 3)), np.arange(12) % 3 == 0
    wanted = np.zeros((3, 3))
    for members in (X[positive], X[~positive]):
        for x in members:
            wanted += np.outer(x - members.mean(axis=0), x - members.mean(axis=0))
    np.testing.assert_allclose(section_2_fisher.within_scatter(X, positive), wanted)
    w = rng.normal(size=3)
    gap = w @ section_2_fisher.mean_difference(X, positive)
    quotient = 4 * 8 / 12 * gap**2 / (w @ wanted @ w)
    np.testing.assert_allclose(section_2_fisher.between_share(X @ w, positive), quotient / (1 + quotient))
    best = section_2_fisher.largest_share(X, positive)
    assert all(section_2_fisher.between_share(X @ v, positive) <= best for v in rng.normal(size=(50, 3)))


def test_other_targets_give_no_fisher_direction(monkeypatch):
    monkeypatch.setattr(section_2_fisher, "targets", lambda positive: np.arange(len(positive)) * 1.0)
    assert section_2_fisher.check_fisher().verdict == Verdict.FAILS
    assert section_2_fisher.check_kernel_fisher().verdict == Verdict.FAILS


def test_a_solution_that_is_not_least_squares_fails(monkeypatch):
    right = section_2_fisher.least_squares
    monkeypatch.setattr(section_2_fisher, "least_squares", lambda *args: right(*args) ** 3)
    for check in (
        section_2_fisher.check_fisher,
        section_2_fisher.check_span,
        section_2_fisher.check_kernel_fisher,
    ):
        assert check().verdict == Verdict.FAILS


def test_constant_values_have_no_scatter_between_classes():
    assert section_2_fisher.between_share(np.ones(4), np.arange(4) < 2) == 0.0


# limits


@pytest.mark.parametrize(
    "check",
    [section_2_limits.check_lasso, section_2_limits.check_large_powers, section_2_limits.check_discarding],
)
def test_limits(check):
    assert check().verdict == Verdict.HOLDS


def test_an_iteration_that_ends_early_is_no_lasso(monkeypatch):
    right = section_2_limits.majorize_minimize

    def early(*args, **options):
        return right(*args, **(options | {"max_iter": 2}))

    monkeypatch.setattr(section_2_limits, "majorize_minimize", early)
    assert section_2_limits.check_lasso().verdict == Verdict.FAILS
    assert section_2_limits.check_large_powers().verdict == Verdict.FAILS


def test_unlucky_starts_have_no_zeros_and_are_needed_for_the_claim(monkeypatch):
    for design, yhat, first in section_2_limits.unlucky_starts(3, 5):
        assert np.all(first != 0)
        after = section_2_limits.exact_step(design, yhat, first, section_2_limits.UNLUCKY)
        assert after[2] == 0
        assert after[1] != 0
    beside = [(D, y, first * Fraction(101, 100)) for D, y, first in section_2_limits.unlucky_starts(74, 2)]
    monkeypatch.setattr(section_2_limits, "samples", few)
    monkeypatch.setattr(section_2_limits, "unlucky_starts", lambda *_: iter(beside))
    assert section_2_limits.check_lasso().verdict == Verdict.FAILS


def test_exact_zeros_would_be_parsimonious(monkeypatch):
    right = section_2_limits.majorize_minimize

    def cut(problem, q, rho, **options):
        found = right(problem, q, rho, **options)
        omega = np.where(np.abs(found.omega) < np.median(np.abs(found.omega)), 0.0, found.omega)
        return SimpleNamespace(
            omega=omega, objective=found.objective, retained_above=lambda c: np.flatnonzero(omega[1:])
        )

    monkeypatch.setattr(section_2_limits, "majorize_minimize", cut)
    assert section_2_limits.check_large_powers().verdict == Verdict.FAILS


@pytest.mark.parametrize("q", [1.2, 1.5, 2.0])
def test_the_gap_for_large_powers_is_a_bound(q):
    rng = np.random.default_rng(7)
    for sample in itertools.islice(samples(8), 0, 12, 3):
        problem = sample.problem
        peer = minimize(
            lambda w, p=problem: (objective(p, w, q, 0.1), gradient(p, w, q, 0.1)),
            np.zeros(problem.n_coefficients),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 200},
        )
        for omega in (peer.x, start(problem, rng), 0.5 * peer.x):
            gap = duality_gap(problem, omega, 0.1, q=q)
            assert gap >= objective(problem, omega, q, 0.1) - peer.fun - 1e-9
        best = majorize_minimize(problem, q, 0.1, tol=1e-14, max_iter=2000)
        assert duality_gap(problem, best.omega, 0.1, q=q) <= 1e-6 * best.objective
        assert best.objective <= peer.fun * (1 + 1e-9)


def test_the_gap_is_equal_to_the_excess_for_the_best_fit_with_a_larger_norm():
    problem = next(iter(samples(8))).problem
    best = majorize_minimize(problem, 1.0, 0.1, tol=1e-15, max_iter=10_000)
    wider, omega = section_2_limits.beside_the_minimum(problem, best.omega)
    np.testing.assert_allclose(wider.design @ omega, problem.design @ best.omega)
    excess = objective(wider, omega, 1.0, 0.1) - best.objective
    assert duality_gap(wider, omega, 0.1) == pytest.approx(excess, rel=1e-6)


def test_what_a_subset_leaves_unexplained():
    rng = np.random.default_rng(9)
    problem = Problem(rng.normal(size=(6, 6)), targets(np.arange(6) < 2))
    assert section_2_limits.unexplained(problem, []) == pytest.approx(1.0)
    assert section_2_limits.unexplained(problem, list(range(6))) < 1e-12
    one = section_2_limits.unexplained(problem, [2])
    f = np.polyval(np.polyfit(problem.K[:, 2], problem.yhat, 1), problem.K[:, 2])
    assert one == pytest.approx(np.sum((problem.yhat - f) ** 2) / problem.energy)


@pytest.mark.parametrize("rho", RHOS)
def test_ridge_that_kept_the_best_subset_would_fail_the_claim(rho, monkeypatch):
    monkeypatch.setattr(section_2_limits, "unexplained", lambda problem, columns: rho)
    assert section_2_limits.check_discarding().verdict == Verdict.FAILS
