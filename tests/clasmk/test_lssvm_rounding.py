"""LSSVMClassifier where double precision is short: it refines, warns or refuses, and is never silent."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning

from marginbook.clasmk import LSSVMClassifier
from marginbook.clasmk.estimators.least_squares_training import UNSOLVED
from marginbook.clasmk.solvers.least_squares import solve_kernel
from marginbook.clasmk.solvers.least_squares_errors import kkt_residual
from marginbook.clasmk.solvers.least_squares_refinement import refined

X, y = load_wine(return_X_y=True)  # not scaled
ROWS = np.random.default_rng(0).normal(size=(40, 5))
LABELS = (ROWS[:, 0] > 0).astype(int)
ADVICE = r"scale the features \(StandardScaler\), or lower C"


@pytest.mark.parametrize("weights", [None, np.linspace(0.1, 1.1, len(y))])
def test_equations_that_a_factor_leaves_open_are_refined(weights):
    model = LSSVMClassifier(C=1e8, kernel="poly")
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model.fit(X, y, weights)  # a factor alone leaves 6e-4
    assert model.kkt_residual_ < 3e-5
    targets = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    errors = model.dual_coef_.T / (1e8 if weights is None else 1e8 * weights[:, None])
    left = targets - model.decision_function(X) - errors
    assert np.abs(left).max() < 1e-4
    assert model.loo_accuracy_ == pytest.approx(
        np.average(model.loo_decision_.argmax(axis=1) == y, weights=weights)
    )


def test_refinement_that_does_not_help_changes_nothing():
    """Of weights over 18 powers of ten a step goes away from the solution."""
    weights = 10.0 ** np.random.default_rng(0).uniform(-12, 6, len(ROWS))
    K, targets = np.exp(ROWS @ ROWS.T), np.where(LABELS, 1.0, -1.0)[:, None]
    found = solve_kernel(K, targets, 1e12, weights)
    error = kkt_residual(K, targets, 1e12, found, weights)
    assert error > UNSOLVED
    closer, less = refined(K, targets, 1e12, found, error, weights)
    assert less <= error
    assert less == kkt_residual(K, targets, 1e12, closer, weights)


@pytest.mark.parametrize("solver", ["factor", "cg"])
def test_an_error_of_the_order_of_1e_4_is_told(solver):
    """With columns around 1e12, features of a few digits are left; no refinement brings them back."""
    model = LSSVMClassifier(C=1e4, solver=solver)
    with pytest.warns(ConvergenceWarning, match=rf"rounding leaves an error of .* wanted .*; {ADVICE}"):
        model.fit(ROWS + 1e12, LABELS)
    assert UNSOLVED < model.kkt_residual_ < 1e-3


@pytest.mark.parametrize(
    ("options", "rows"),
    [
        ({"kernel": "precomputed", "C": 1e12}, 1e300 * (ROWS @ ROWS.T)),
        ({"kernel": ("poly", {"degree": 8, "gamma": 1.0}), "C": 1e100}, 1e12 * X),
        ({"kernel": "linear", "solver": "cg", "C": 1e50}, 1e150 * ROWS[:, :1] * np.ones(50)),
    ],
)
def test_what_is_not_finite_is_refused(options, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(ValueError, match=f"coefficients are not finite: .* are too large; {ADVICE}"):
            LSSVMClassifier(**options).fit(rows, y if len(rows) == len(y) else LABELS)


def test_conjugate_gradients_without_a_preconditioner():
    """Rounding leaves the preconditioner's matrix indefinite: a warning, not LAPACK's words."""
    rows = ROWS * [1.0, 1e12, 1.0, 1.0, 1e-12]
    with pytest.warns(ConvergenceWarning, match="C=1e[+]100 is"):
        LSSVMClassifier(C=1e100, kernel="poly", solver="cg").fit(rows, LABELS)
