"""The objective against the paper's formulas written out, and the certificates against what they promise."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginbook.ldm.model.objective import (
    coefficients,
    dual_gap,
    dual_objective,
    kkt_residual,
    margin_mean,
    margin_variance,
    primal_objective,
    relative_gap,
    squared_norm,
    validate_parameters,
    validate_signs,
)


def _problem(m=7, d=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(m) % 3 == 0, -1.0, 1.0)
    X = rng.normal(size=(m, d))
    return X, y, X @ X.T


def _hessian(G, y, lambda1):
    m = len(y)
    P = 4 * lambda1 / m * (np.eye(m) - np.outer(y, y) / m)
    return y[:, None] * (G @ np.linalg.inv(np.eye(m) + P @ G)) * y


def test_the_variance_term_is_the_right_hand_side_of_equation_4():
    X, y, _ = _problem()
    w = np.array([0.3, -1.0, 0.5])
    m = len(y)
    z = X.T @ y
    printed = 2 / m**2 * (m * w @ X.T @ X @ w - (w @ z) ** 2)
    margins = y * (X @ w)
    assert margin_variance(margins) == pytest.approx(printed)
    assert margin_variance(margins) == pytest.approx(2 * np.mean((margins - margins.mean()) ** 2))
    # the double sum of (4) is larger by m^2
    double = sum((a - b) ** 2 for a in margins for b in margins)
    assert double / m**2 == pytest.approx(printed)
    assert margin_mean(margins) == pytest.approx(w @ z / m)


def test_the_primal_is_equation_5_written_out():
    X, y, _ = _problem()
    w = np.array([0.3, -1.0, 0.5])
    margins = y * (X @ w)
    hinge = sum(max(0.0, 1 - g) for g in margins)
    expected = 0.5 * w @ w + 0.7 * margin_variance(margins) - 0.4 * margins.mean() + 3.0 * hinge
    assert primal_objective(margins, w @ w, 0.7, 0.4, 3.0) == pytest.approx(expected)


@given(st.integers(0, 10**6), st.floats(0, 50), st.floats(0, 50), st.floats(1e-3, 1e3))
@settings(max_examples=60)
def test_every_point_of_the_box_has_the_primal_point_and_the_gap_that_are_said(seed, lambda1, lambda2, C):
    X, y, G = _problem(seed=seed % 50)
    H = _hessian(G, y, lambda1)
    rng = np.random.default_rng(seed)
    shifted = lambda2 / len(y) + C * rng.choice([0.0, 1.0, rng.random()], size=len(y))
    margins = H @ shifted
    alpha = coefficients(shifted, margins, y, lambda1)
    w = X.T @ alpha
    size = 1 + np.abs(margins).max()
    np.testing.assert_allclose(y * (X @ w), margins, atol=1e-8 * size)
    assert squared_norm(shifted, margins, lambda1) == pytest.approx(w @ w, rel=1e-7, abs=1e-8 * size)
    F = primal_objective(margins, w @ w, lambda1, lambda2, C)
    D = dual_objective(shifted, margins, lambda2)
    gap = dual_gap(shifted, margins, lambda2, C)
    assert gap >= 0
    assert gap == pytest.approx(F - D, rel=1e-7, abs=1e-8 * (1 + abs(F)))
    assert relative_gap(gap, F) <= gap


def test_the_functions_take_stacks():
    _, y, G = _problem()
    H = _hessian(G, y, 0.5)
    stack = np.random.default_rng(1).random((4, 7)) + 0.2 / 7
    margins = stack @ H
    for row in range(4):
        one = (stack[row], margins[row])
        assert dual_gap(stack, margins, 0.2, 1.0)[row] == pytest.approx(dual_gap(*one, 0.2, 1.0))
        assert dual_objective(stack, margins, 0.2)[row] == pytest.approx(dual_objective(*one, 0.2))
        np.testing.assert_allclose(coefficients(stack, margins, y, 0.5)[row], coefficients(*one, y, 0.5))
        assert squared_norm(stack, margins, 0.5)[row] == pytest.approx(squared_norm(*one, 0.5))


def test_the_kkt_residual_tells_optimal_points_from_others():
    # H = I: the minimiser clips 1 to the box
    for lambda2, C in ((0.0, 0.5), (1.0, 0.5), (0.0, 2.0), (6.0, 1.0)):
        optimum = np.clip(np.ones(3), lambda2 / 3, C + lambda2 / 3)
        assert kkt_residual(optimum, optimum, lambda2, C) == 0
        assert dual_gap(optimum, optimum, lambda2, C) == pytest.approx(0, abs=1e-15)
        other = np.array([lambda2 / 3, C + lambda2 / 3, (optimum + 0.1 * C)[0]])
        assert kkt_residual(other, other, lambda2, C) > 0
        assert dual_gap(other, other, lambda2, C) > 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ((-1.0, 0.0, 1.0), "lambda1 must be a finite number >= 0, got -1.0"),
        ((0.0, np.nan, 1.0), "lambda2 must be a finite number >= 0, got nan"),
        ((0.0, "1", 1.0), "lambda2 must be a finite number >= 0, got '1'"),
        ((0.0, 0.0, 0.0), "C must be a finite number > 0, got 0.0"),
        ((0.0, 0.0, np.inf), "C must be a finite number > 0, got inf"),
        ((0.0, 0.0, True), "C must be a finite number > 0, got True"),
        *(
            (
                tuple(1e160 if k == place else 1.0 for k in range(3)),
                f"{name} must be at most 1e+100, beyond which squares overflow, got 1e+160; lower it, or "
                "scale the features",
            )
            for place, name in enumerate(("lambda1", "lambda2", "C"))
        ),
    ],
)
def test_parameters_out_of_range_are_named(parameters, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        validate_parameters(*parameters)


def test_labels_must_be_signs_and_one_for_each_row():
    with pytest.raises(ValueError, match=r"labels must be -1 or \+1, got \[0.0, 1.0\]"):
        validate_signs(np.array([0, 1]), 2)
    # of many, five are named
    with pytest.raises(ValueError, match=r"got \[0.0, 1.0, 2.0, 3.0, 4.0\]; encode"):
        validate_signs(np.arange(7), 7)
    with pytest.raises(ValueError, match=r"y has shape \(3,\), the Gram matrix asks for \(2,\)"):
        validate_signs(np.ones(3), 2)
