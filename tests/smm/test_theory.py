"""The claims on weighted losses and on the scheme: what they come to, and what changes them."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from marginbook.claims import Verdict
from marginbook.smm.claims import beyond_estimation, beyond_levels, beyond_targets, section_2_scheme
from marginbook.smm.claims import section_2_linear_class as linear_class
from marginbook.smm.claims import section_2_weighted_losses as pointwise
from marginbook.smm.model.aggregation import count_rule, levels
from marginbook.smm.model.objective import loss_values, weights_for
from marginbook.smm.solvers.block import solve_inner

from ..verdicts import corrected, holds


@pytest.fixture(autouse=True)
def _coarse(monkeypatch):
    monkeypatch.setattr(pointwise, "GRID", 14)
    monkeypatch.setattr(section_2_scheme, "GRID", 60)
    monkeypatch.setattr(section_2_scheme, "LEVELS", (2, 3, 10))
    monkeypatch.setattr(linear_class, "SCALES", (1.0, 4.0))


@pytest.mark.parametrize(
    "check",
    [
        pointwise.check_hinge,
        beyond_targets.check_other_targets,
        beyond_targets.check_level_set_risk,
        section_2_scheme.check_half_step,
        section_2_scheme.check_last_level,
    ],
)
def test_these_hold(check):
    holds(check)


@pytest.mark.parametrize(
    "check",
    [
        pointwise.check_general_losses,
        pointwise.check_expectation,
        section_2_scheme.check_printed_scheme,
        linear_class.check_intercept,
        linear_class.check_linear_class,
    ],
)
def test_these_are_corrected(check):
    corrected(check)


def test_a_wrong_weight_would_fail(monkeypatch):
    """With the weights of the classes exchanged the minimiser is not the sign of p - pi."""
    own = pointwise.weighted_risk
    for module in (pointwise, beyond_targets):
        monkeypatch.setattr(module, "weighted_risk", lambda loss, f, p, pi: own(loss, f, p, 1 - pi))
    assert pointwise.check_hinge().verdict == Verdict.FAILS
    assert beyond_targets.check_other_targets().verdict == Verdict.FAILS
    assert beyond_targets.check_level_set_risk().verdict == Verdict.FAILS


def test_a_wrong_count_would_fail(monkeypatch):
    monkeypatch.setattr(section_2_scheme, "count_rule", lambda f: count_rule(f) + 0.5 / (len(f[0]) + 1))
    assert section_2_scheme.check_printed_scheme().verdict == Verdict.FAILS
    assert section_2_scheme.check_half_step().verdict == Verdict.FAILS


@settings(max_examples=60)
@given(st.floats(0.02, 0.98), st.floats(0.02, 0.98))
def test_the_targets_minimise_the_librarys_losses(p, pi):
    targets = {
        "logistic": np.log((1 - pi) * p / (pi * (1 - p))),
        "squared_hinge": (p - pi) / (p + pi - 2 * p * pi),
    }
    for name, target in targets.items():

        def risk(f, name=name):
            return float(np.array([(1 - pi) * p, pi * (1 - p)]) @ loss_values(np.array([f, -f]), name))

        found = minimize_scalar(risk, bounds=(-12, 12), method="bounded", options={"xatol": 1e-9})
        assert risk(target) <= found.fun + 1e-12


@settings(max_examples=80)
@given(st.integers(0, 60), st.integers(2, 25))
def test_steps_in_closed_form(i, H):
    p = Fraction(i, 60)
    above = max(-(-p.numerator * H // p.denominator), 1) - 1  # ceil(pH) - 1, and 0 for p = 0
    steps = section_2_scheme.printed_estimate(p, H, complements=False)
    assert steps == Fraction(above, H)
    assert section_2_scheme.printed_estimate(p, H) == 1 - steps
    assert section_2_scheme.counts([p], H)[0] == pytest.approx((above + 0.5) / H, abs=1e-15)
    assert abs(section_2_scheme.counts([p], H)[0] - float(p)) <= 0.5 / H + 1e-15


def test_a_constant_entry_is_an_intercept():
    """Fits without an intercept of [z, 1] are those of z with one; with [z, 0] they are through 0."""
    with_entry = linear_class.population_fits(1.0, "logistic", fit_intercept=False, entry=1.0)
    with_one = linear_class.population_fits(1.0, "logistic", fit_intercept=True)
    np.testing.assert_allclose(with_entry, with_one, atol=1e-2)
    evidence = linear_class.check_intercept()
    assert "constant entry" in evidence.why
    assert linear_class.check_intercept(entry=0.0).verdict == Verdict.FAILS


def sets_without_an_intercept(loss, points, p, p_mirrored):
    """Return the level sets of population fits through 0, as strings of signs; -X is as likely as X."""
    X = np.concatenate([points, -points])
    P = np.concatenate([p, p_mirrored])
    y, mass = np.repeat([1.0, -1.0], len(X)), 2 * np.concatenate([P, 1 - P])
    sets = set()
    for pi in levels(10):
        weights = weights_for(float(pi), y, mass)
        found = solve_inner(np.tile(X, (2, 1)), y, lam=1e-4, loss=loss, sample_weight=weights, tol=1e-9)
        sets.add("".join("+" if value > 1e-3 else "-" for value in X @ found.weights))
    return sets


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_levels_share_a_set_without_an_intercept_if_x_and_y_can_both_be_turned(loss):
    points = np.array([[2.0, 2.0], [-1.0, 0.0], [-2.0, 2.0]])
    p = np.array([0.0, 0.35, 0.8])
    assert len(sets_without_an_intercept(loss, points, p, 1 - p)) == 1
    # -X as likely as X is not enough
    assert len(sets_without_an_intercept(loss, points, p, np.array([0.8, 0.85, 1.0]))) > 1


@pytest.mark.parametrize(
    "changed", [{"intercept": False}, {"level": 0.95}, {"b": -0.98}, {"b": 1.0}], ids=str
)
def test_the_last_level_is_empty_by_its_weights_and_the_intercept(changed):
    evidence = section_2_scheme.check_last_level(**changed)
    assert evidence.verdict == Verdict.FAILS
    assert evidence.slack < 0
    assert evidence != section_2_scheme.check_last_level()


@pytest.mark.parametrize("lam", [0.01, 0.3, 5.0])
def test_one_negative_matrix_is_solved_in_closed_form(lam):
    X = np.random.default_rng(0).normal(size=(3, 4))
    found = solve_inner(X.reshape(1, -1), np.array([-1.0]), lam=lam)
    np.testing.assert_allclose(
        section_2_scheme.one_negative(X, lam).ravel(), found.weights, rtol=1e-5, atol=1e-8
    )


def test_risks_of_fractions_are_exact():
    risk = pointwise.weighted_risk(pointwise.hinge, Fraction(1, 3), Fraction(1, 7), Fraction(2, 5))
    assert risk == Fraction(3, 5) * Fraction(1, 7) * Fraction(2, 3) + Fraction(2, 5) * Fraction(
        6, 7
    ) * Fraction(4, 3)


@pytest.mark.parametrize("scale", [0.5, 2.0])
def test_logistic_fits_with_data_without_end_are_the_truths_log_odds(scale):
    z, mass = linear_class.grid()
    assert mass.sum() == pytest.approx(1)
    assert mass @ z**2 == pytest.approx(1, abs=1e-6)
    f = linear_class.population_fits(scale, "logistic", fit_intercept=True)
    pi = np.arange(1, linear_class.H) / linear_class.H
    np.testing.assert_allclose(f, scale * z[:, None] - np.log(pi / (1 - pi)), atol=1e-3)


def test_a_hinge_that_found_the_level_sets_would_hold(monkeypatch):
    own = linear_class.population_fits
    monkeypatch.setattr(
        linear_class, "population_fits", lambda scale, loss, **kw: own(scale, "logistic", **kw)
    )
    assert linear_class.check_linear_class().verdict == Verdict.HOLDS


def test_no_built_law_exceeds_its_bound_and_the_rarest_comes_nearest():
    """One sample, of a matrix that is there with probability q, reaches 1 - q of the bound."""
    for q in (0.3, 0.1, 0.005):
        assert beyond_estimation.rare(q=q) == pytest.approx(1 - q)
        assert beyond_estimation.rare(q=q, pi=0.3) <= 1.0
    assert beyond_estimation.rare(beyond=1.02) > 1


def test_the_hardest_probability_comes_near_the_bound_as_levels_are_added():
    shares = [beyond_levels.hardest(H=H) for H in (10, 100, 1000)]
    assert shares == sorted(shares)
    assert 0.998 < shares[-1] < 1
    # the sum over the levels below 1, for which f = 0 costs 1 - h/H each, by hand
    cost = sum(1 - h / 10 for h in range(1, 10)) / 10
    assert shares[0] == pytest.approx((1 - 0.05) / (0.15 + np.sqrt(2 * cost)))
