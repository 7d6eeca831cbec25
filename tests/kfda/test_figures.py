"""The claims about the figures, and the mathematics of the one-dimensional problem."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from marginbook.claims import Verdict
from marginbook.kfda.claims import figures


def test_figures_are_reproduced():
    assert figures.check_priors().verdict == Verdict.REPRODUCED
    assert figures.check_two_minima().verdict == Verdict.REPRODUCED


def test_what_is_no_density_or_does_not_sharpen_is_not_reproduced(monkeypatch):
    monkeypatch.setattr(figures, "SMALL", (0.1, 2.0))  # beyond 1 the order turns
    assert figures.check_priors().verdict == Verdict.PARTLY
    monkeypatch.setattr(figures, "SMALL", (0.1,))
    right = figures.prior
    monkeypatch.setattr(figures, "prior", lambda w, q: 2 * right(w, q))
    assert figures.check_priors().verdict != Verdict.REPRODUCED


@pytest.mark.parametrize("estimate", [0.5, 1.5])
def test_data_below_the_threshold_do_not_give_the_picture(monkeypatch, estimate):
    monkeypatch.setattr(figures, "ESTIMATE", estimate)
    assert figures.check_two_minima().verdict != Verdict.REPRODUCED


def test_equal_starts_do_not_give_the_picture(monkeypatch):
    monkeypatch.setattr(figures, "STARTS", (5.0, 5.0))
    assert figures.check_two_minima().verdict != Verdict.REPRODUCED


@settings(max_examples=40)
@given(st.floats(0.1, 0.9), st.floats(0.1, 10.0))
def test_the_thresholds(q, strength):
    estimate, place = figures.turning_point(q, strength)
    stationary = minimize_scalar(
        lambda t: np.exp(t) + strength * q * np.exp(t * (q - 1)), bounds=(-30, 10), method="bounded"
    )
    assert estimate == pytest.approx(stationary.fun, rel=1e-6)
    assert place == pytest.approx(np.exp(stationary.x), rel=1e-2)
    even, broad = figures.breaking_even(q, strength)
    assert even > estimate
    assert broad > place
    here, zero = figures.line_objective(np.array([broad, 0.0]), even, q, strength)
    assert here == pytest.approx(zero)
    slope = broad - even + strength * q * broad ** (q - 1)
    assert slope == pytest.approx(0, abs=1e-9 * even)


@pytest.mark.parametrize("factor", [0.3, 0.98, 1.02, 3.0])
def test_the_number_of_minima_turns_at_the_threshold(factor):
    estimate, _ = figures.turning_point(0.25, 3.5)
    assert len(figures.minima(factor * estimate, 0.25, 3.5)) == (1 if factor < 1 else 2)


def test_the_parabola_touches_and_lies_above():
    w = np.linspace(-2, 6, 801)
    for at in (-1.0, 0.2, 3.0):
        gap = figures.line_surrogate(w, at, 3.0, 0.25, 3.5) - figures.line_objective(w, 3.0, 0.25, 3.5)
        assert gap.min() > -1e-9
        np.testing.assert_allclose(
            figures.line_surrogate(np.array([at]), at, 3.0, 0.25, 3.5),
            figures.line_objective(np.array([at]), 3.0, 0.25, 3.5),
        )


def test_the_sequence_is_the_map_written_out():
    w = 0.7
    path = figures.line_sequence(w, 3.0, 0.25, 3.5, 5)
    for value in path:
        assert value == pytest.approx(w)
        w = 3.0 / (1 + 3.5 * 0.25 * w ** (0.25 - 2))


def test_no_iterate_changes_the_side_of_the_barrier():
    barrier = figures._barrier(3.0)
    for factor in (0.5, 0.999, 1.001, 2.0):
        path = figures.line_sequence(factor * barrier, 3.0, 0.25, 3.5, 50)
        assert np.all((path > barrier) == (factor > 1))
