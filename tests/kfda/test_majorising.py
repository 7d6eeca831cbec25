"""The claims on majorisers, the iteration and zeros: what they come to, and that wrong formulas fail them."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from marginbook.claims import Verdict
from marginbook.kfda.claims import section_3_descent, section_3_zeros
from marginbook.kfda.claims import section_3_majorisers as majorising
from marginbook.kfda.claims import section_3_perturbed as perturbed
from marginbook.kfda.claims.problems import POWERS, samples, start
from marginbook.kfda.model.objective import Problem, objective, surrogate
from marginbook.kfda.solvers.irls import step_stable

from .test_theory import few


@pytest.fixture(autouse=True)
def _fewer(monkeypatch):
    for module in (section_3_descent, majorising, perturbed, section_3_zeros):
        monkeypatch.setattr(module, "samples", few)


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        (majorising.check_closure, Verdict.CORRECTED),
        (majorising.check_bound, Verdict.HOLDS),
        (majorising.check_range, Verdict.HOLDS),
        (majorising.check_convex, Verdict.CORRECTED),
        (majorising.check_surrogate, Verdict.CORRECTED),
    ],
)
def test_majorisers(check, verdict):
    assert check().verdict == verdict


def test_the_range_of_the_sum_is_read_as_it_agrees_best():
    assert majorising.check_range(readings=("N + 1",)).verdict == Verdict.HOLDS
    for arguments in ({"readings": ("N",)}, {"readings": ("m", "N")}, {"constant": Fraction(51, 50)}):
        assert majorising.check_range(**arguments).verdict == Verdict.FAILS


def test_a_product_of_majorisers_fails_where_one_function_is_negative():
    w = np.linspace(-3, 3, 13)
    upper, lower = 2 * w**2 - 2, w**2 - 2
    assert np.all(upper >= lower)
    assert np.all((-upper)[w != 0] < (-lower)[w != 0])


@settings(max_examples=60)
@given(st.integers(1, 12), st.integers(1, 24))
def test_the_polynomial_of_the_bound(b, a):
    q = min(Fraction(a, b), Fraction(2))
    terms = majorising.bound_polynomial(q)
    assert majorising.touches_only_at_one(terms)
    y = np.array([0.3, 0.9, 1.0, 1.2])
    x = y**q.denominator
    wanted = 0.5 * float(q) * x**2 + 1 - 0.5 * float(q) - x ** float(q)
    np.testing.assert_allclose(sum(float(c) * y**p for p, c in terms.items()) + 0 * y, wanted, atol=1e-12)


@pytest.mark.parametrize(
    "terms",
    [
        {4: Fraction(1, 4), 1: Fraction(-1), 0: Fraction(1)},  # not 0 at 1
        {2: Fraction(1), 1: Fraction(-3), 0: Fraction(2)},  # a simple root at 1, negative beyond
        {4: Fraction(-1), 2: Fraction(2), 0: Fraction(-1)},  # the negative of a square
    ],
)
def test_what_is_not_positive_is_not_proved(terms):
    assert not majorising.touches_only_at_one(terms)


def test_beyond_2_the_quadratic_is_no_bound():
    assert not majorising.touches_only_at_one(majorising.bound_polynomial(Fraction(5, 2)))


@settings(max_examples=60)
@given(
    st.sampled_from(POWERS),
    st.floats(-60, 60),
    st.floats(-60, 60),
    st.sampled_from([-1.0, 1.0]),
)
def test_the_bound_at_extreme_magnitudes(q, one, other, sign):
    problem = Problem(np.ones((1, 1)), np.array([1.0]))
    at, w = np.array([0.0, 10.0**one]), np.array([0.0, sign * 10.0**other])
    upper = surrogate(problem, w, at, q, 1.0)
    assert objective(problem, w, q, 1.0) <= upper * (1 + 1e-12)


def test_a_lower_quadratic_is_refuted(monkeypatch):
    right = majorising.surrogate
    monkeypatch.setattr(majorising, "surrogate", lambda *args: 0.999 * right(*args))
    assert majorising.check_bound().verdict == Verdict.FAILS
    assert majorising.check_surrogate().verdict == Verdict.FAILS


def test_a_surrogate_with_the_sign_turned_would_hold(monkeypatch):
    right = majorising.printed_surrogate
    monkeypatch.setattr(majorising, "printed_surrogate", lambda *args: -right(*args))
    monkeypatch.setattr(majorising, "omitted_constant", lambda *args: 0.0)
    assert majorising.check_surrogate().verdict == Verdict.HOLDS


# the iteration


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        (section_3_descent.check_descent, Verdict.HOLDS),
        (section_3_descent.check_display, Verdict.CORRECTED),
        (section_3_descent.check_same_map, Verdict.HOLDS),
    ],
)
def test_the_iteration(check, verdict):
    assert check().verdict == verdict


def test_a_step_too_long_is_no_descent(monkeypatch):
    right = section_3_descent.step_stable

    def longer(problem, omega, q, rho):
        return 3 * right(problem, omega, q, rho) - 2 * omega

    monkeypatch.setattr(section_3_descent, "step_stable", longer)
    assert section_3_descent.check_display().verdict == Verdict.FAILS
    assert section_3_descent.check_same_map().verdict == Verdict.FAILS
    monkeypatch.setattr(section_3_descent, "step_inverse", lambda p, w, q, rho: 1e3 * w)
    assert section_3_descent.check_descent().verdict == Verdict.FAILS


def test_exact_steps_are_those_in_floats():
    rng = np.random.default_rng(2)
    for design, yhat in section_3_descent.exact_problems(3, 6):
        omega = section_3_descent.exact_start(rng, design.shape[1])
        K, n = design[:, 1:].astype(float), len(yhat)
        problem = Problem(K, yhat.astype(float))
        after = section_3_descent.exact_step(design, yhat, omega, Fraction(n, 2))
        np.testing.assert_allclose(
            after.astype(float), step_stable(problem, omega.astype(float), 1.0, 0.5), rtol=1e-7
        )
        assert sum(yhat) == 0


@pytest.mark.parametrize("q", section_3_descent.EXACT_POWERS)
def test_both_exact_forms_are_those_in_floats(q):
    design, yhat = next(section_3_descent.exact_problems(4, 1))
    roots = section_3_descent.exact_start(np.random.default_rng(5), design.shape[1])
    inverse, stable = section_3_descent._both_steps(design, yhat, roots, q)
    assert np.all(inverse == stable)
    problem = Problem(design[:, 1:].astype(float), yhat.astype(float))
    omega = np.abs(roots.astype(float)) ** (2 * q.denominator)
    np.testing.assert_allclose(
        stable.astype(float), step_stable(problem, omega, float(q), 1 / 7), rtol=1e-5, atol=1e-12
    )


def test_zeros_stay_and_come_in_one_step_only_where_they_are_due():
    assert section_3_zeros.check_stays().verdict == Verdict.HOLDS
    evidence = section_3_zeros.check_finite()
    assert (evidence.verdict, evidence.slack > 0) == (Verdict.HOLDS, True)
    assert evidence.measured.startswith("a coefficient becomes exactly 0 in 0 of 144 exact steps")
    assert "in 24 of 24 where the columns of K sum to 0, and in 12 of 12 with" in evidence.measured
    for design, yhat in section_3_zeros.centred_designs(6, 6):
        assert np.all(design[:, 1:].sum(axis=0) == 0)
        assert sum(yhat) == 0


@pytest.mark.parametrize("asked", ["centred", "repeated", "floats"])
def test_zeros_come_where_a_column_is_orthogonal_and_by_underflow(asked, monkeypatch):
    monkeypatch.setattr(section_3_zeros, "STEPS", 60)
    assert section_3_zeros.check_finite(**{asked: True}).verdict == Verdict.FAILS


def test_the_exact_kernel_is_gaussian_and_orthogonal_to_targets_only_if_points_are_in_both_classes():
    for repeated in (False, True):
        for design, yhat in section_3_zeros.gaussian_designs(7, 6, repeated):
            K = design[:, 1:]
            assert np.all(K > 0)
            assert np.all(np.diagonal(K) == 1)
            eigenvalues = np.linalg.eigvalsh(K.astype(float))
            assert (eigenvalues[0] > 1e-3) == (not repeated)
            assert np.all(K @ yhat == 0) == repeated


def test_a_start_that_revives_zeros_fails(monkeypatch):
    right = section_3_zeros.majorize_minimize

    def reviving(problem, q, rho, *, start, **options):
        return right(problem, q, rho, start=start + 1e-3, **options)

    monkeypatch.setattr(section_3_zeros, "majorize_minimize", reviving)
    assert section_3_zeros.check_stays().verdict == Verdict.FAILS


def test_a_zero_in_a_general_step_fails(monkeypatch):
    right = section_3_zeros.exact_step

    def cutting(*args):
        after = right(*args)
        after[-1] = Fraction(0)
        return after

    monkeypatch.setattr(section_3_zeros, "exact_step", cutting)
    assert section_3_zeros.check_finite().verdict == Verdict.FAILS


# the perturbed penalty


def test_a_perturbed_penalty_is_still_majorised(monkeypatch):
    monkeypatch.setattr(perturbed, "STEPS", 100)
    monkeypatch.setattr(perturbed, "STAGES", 10)
    assert perturbed.check_perturbed().verdict == Verdict.HOLDS
    right = perturbed.perturbed_penalty
    monkeypatch.setattr(perturbed, "perturbed_penalty", lambda w, q, e: 1.1 * right(w, q, e))
    assert perturbed.check_perturbed().verdict == Verdict.FAILS


@pytest.mark.parametrize("q", [0.25, 0.5, 1.0, 1.5])
@pytest.mark.parametrize("epsilon", [1e-6, 1e-2, 3.0])
def test_the_perturbed_penalty_by_quadrature(q, epsilon):
    kink = epsilon ** (1 / (2 - q))
    for w in (0.03, 2.0):
        parts = [
            quad(lambda t: q * t / (t ** (2 - q) + epsilon), *ends)
            for ends in ((0, min(w, kink)), (min(w, kink), w))
        ]
        value = perturbed.perturbed_penalty(np.array([-w]), q, epsilon)[0]
        assert value == pytest.approx(sum(part for part, _ in parts), rel=1e-6)


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_the_distance_to_the_perturbed_penalty_is_approached_and_kept(q):
    w = 10.0 ** np.arange(-3, 6)
    short = w**q - perturbed.perturbed_penalty(w, q, 1e-3)
    bound = perturbed.distance_bound(q, 1e-3)
    assert np.all(short <= bound * (1 + 1e-6))
    assert short.max() > 0.2 * bound


def test_the_perturbed_step_revives_zeros_and_tends_to_the_printed_one():
    problem = next(iter(samples(10))).problem
    omega = start(problem, np.random.default_rng(0))
    np.testing.assert_allclose(
        perturbed.perturbed_step(problem, omega, 0.5, 0.1, 1e-14),
        step_stable(problem, omega, 0.5, 0.1),
        rtol=1e-6,
    )
    assert np.all(perturbed.perturbed_step(problem, 0 * omega, 0.5, 0.1, 0.1) != 0)
