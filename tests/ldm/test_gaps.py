"""The gaps that the solvers sum on their way, and the warnings of those that miss their tolerance."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from marginbook.kernels import KernelOverflow
from marginbook.ldm.estimators.selection_grid import first_best, warn_of_gaps
from marginbook.ldm.estimators.training import warn_of_gap
from marginbook.ldm.model.linear import Certificate
from marginbook.ldm.model.objective import kkt_residual, relative_gap
from marginbook.ldm.solvers.active_set_gram import _gaps
from marginbook.ldm.solvers.box_qp import certify, resting_violations
from marginbook.ldm.solvers.box_steps import violations
from marginbook.ldm.solvers.leave_one_out_bound import _gap_terms


def plain(compiled: Any) -> Callable[..., Any]:
    """Return what is compiled as the Python that it was: here it has a few rows."""
    return getattr(compiled, "py_func", compiled)


@pytest.mark.parametrize("lambda1", [0.0, 0.6])
@pytest.mark.parametrize("seed", range(3))
def test_the_gap_of_the_active_set_is_that_of_the_weighted_machine(lambda1: float, seed: int) -> None:
    """Its rows are scaled by their weights, and u is beta for positive rows, C - beta for the others."""
    rng = np.random.default_rng(seed)
    m, lambda2, C = 9, 0.4, 0.7
    X, y = rng.normal(size=(m, 3)), np.where(np.arange(m) % 3 == 0, -1.0, 1.0)
    weights = rng.integers(1, 4, m).astype(float)
    total = weights.sum()
    c, b = 4 * lambda1 / total, lambda2 / total
    beta, delta = C * rng.choice([0.0, 0.3, 1.0], m), rng.normal(size=m) * (lambda1 > 0)
    delta -= weights @ delta / total
    certificate = Certificate(X, y, lambda1, lambda2, C, weights)
    w = X.T @ (y * weights * (beta + b - delta))
    margins = y * (X @ w)
    objective, gap = certificate.gap(w, weights * beta, weights * delta)
    u, towards = np.where(y > 0, beta, C - beta), np.empty(m)
    grad = weights * (X @ w - y)
    found = plain(_gaps)(y, weights, u, delta, grad, c, b, C, lambda1, lambda2, towards)
    assert found[2] == pytest.approx(objective, rel=1e-12)
    assert found[0] + found[1] == pytest.approx(gap, rel=1e-12)
    hinge = np.where(margins > 1, beta, C - beta) * np.abs(margins - 1)
    assert found[0] == pytest.approx(weights @ hinge, rel=1e-12)
    mean = weights @ margins / total
    np.testing.assert_allclose(towards, c * (margins - mean) - delta, atol=1e-12)


def test_the_gap_of_a_box_is_what_the_best_corner_gains() -> None:
    """The linear function with the slopes g falls most towards the corner where each variable can."""
    x, g = np.array([0.2, 0.7, 1.2, 0.5, 0.9]), np.array([3.0, -2.0, 0.25, 0.0, -0.5])
    lower, upper = 0.2, 1.2
    corner = np.where(g > 0, lower, upper)
    gains = (x - corner) * g
    gap, primal = plain(certify)(x, g, lower, upper)
    assert gap == pytest.approx(gains.sum())
    # f + gap is the primal value; f = x'Hx / 2 - sum x + lower-order terms, with Hx = g + 1
    assert primal == pytest.approx(0.5 * x @ (g + 1) - lower * (g + 1).sum() + np.maximum(-g, 0).sum())
    basic, out = np.array([False, True, False, False, False]), np.full(5, np.nan)
    assert plain(resting_violations)(x, g, lower, upper, basic, out) == pytest.approx(0.25)
    np.testing.assert_allclose(out, np.where(basic, 0.0, gains), atol=1e-15)
    np.testing.assert_allclose(violations(x - lower, g, np.full(5, upper - lower)), gains, atol=1e-15)
    basic[2] = True
    assert plain(resting_violations)(x, g, lower, upper, basic, out) == pytest.approx(0.15)
    basic[:] = True
    assert plain(resting_violations)(x, g, lower, upper, basic, out) == 0.0


def test_each_example_adds_to_the_gap_what_its_multiplier_misses() -> None:
    margins, beta = np.array([1.5, 0.5, 1.0, 3.0, -1.0]), np.array([0.2, 0.2, 0.3, 0.0, 0.5])
    np.testing.assert_allclose(_gap_terms(margins, beta, 0.5), [0.1, 0.15, 0.0, 0.0, 0.0], atol=1e-15)


def test_the_residual_is_how_far_a_projected_step_goes() -> None:
    """The box is [0.1, 1.1]; steps go to 0.6, to 0.3, and to -0.9, which is outside."""
    shifted, margins = np.array([0.1, 0.5, 1.1]), np.array([0.5, 1.2, 3.0])
    assert kkt_residual(shifted, margins, 0.3, 1.0) == pytest.approx(1.0)
    assert kkt_residual(shifted, np.array([0.5, 1.2, 1.0]), 0.3, 1.0) == pytest.approx(0.5)
    assert kkt_residual(shifted, np.array([1.5, 0.2, -1.0]), 0.3, 1.0) == pytest.approx(0.6)


def test_a_gap_is_relative_to_the_objective_or_to_one() -> None:
    np.testing.assert_allclose(
        relative_gap(np.array([3.0, 3.0, 3.0]), np.array([0.5, -6.0, 2.0])), [3.0, 0.5, 1.5]
    )


def test_grid_points_above_the_tolerance_are_counted() -> None:
    with pytest.warns(ConvergenceWarning, match=r"2 of 4 grid points .* tol=1\.00e-03, up to 5\.00e-02"):
        warn_of_gaps(np.array([1e-3, 2e-3, 5e-2, 0.0]), 1e-3)
    with pytest.warns(ConvergenceWarning, match="1 of 2 grid points has a relative"):
        warn_of_gaps(np.array([1e-3, 5e-2]), 1e-3)
    with pytest.warns(ConvergenceWarning, match="1 of 1 grid point has a relative"):
        warn_of_gaps(np.array([5e-2]), 1e-3)
    with pytest.warns(UserWarning, match="1 of 2 grid points has a fold whose score is undefined; choose"):
        assert first_best(np.array([np.nan, 0.5])) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_gaps(np.array([1e-3, 0.0]), 1e-3)


def ended(**changes: Any) -> Any:
    return SimpleNamespace(
        **({"objective": -4.0, "dual_gap": 1.0, "n_iter": 7, "converged": False} | changes)
    )


@pytest.mark.parametrize(
    ("solver", "max_iter", "ways"),
    [
        ("cvxpy", 7, "raise tol, or"),
        ("dcd", 7, "raise max_iter or tol,"),
        ("dcd", 8, "more would not help: raise"),
    ],
)
def test_a_gap_that_misses_is_told_with_what_helps(solver: str, max_iter: int, ways: str) -> None:
    told = rf"after 7 iterations at the relative duality gap 2\.50e-01 > tol=1\.00e-03; {ways}"
    with pytest.warns(ConvergenceWarning, match=told):
        warn_of_gap(ended(), 1e-3, solver, max_iter)
    with pytest.warns(ConvergenceWarning, match="stopped after 1 iteration at the relative"):
        warn_of_gap(ended(n_iter=1), 1e-3, solver, max_iter)
    with pytest.warns(ConvergenceWarning, match=r"gap 1\.00e\+00 >"):  # of a small objective as it is
        warn_of_gap(ended(objective=0.5), 1e-3, solver, max_iter)


def test_a_solution_that_is_no_number_is_refused_and_one_that_converged_is_not_told() -> None:
    for changes in ({"objective": np.inf}, {"dual_gap": np.nan}):
        with pytest.raises(KernelOverflow, match="beyond double precision"):
            warn_of_gap(ended(converged=True, **changes), 1e-3, "dcd", 9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_gap(ended(converged=True), 1e-3, "dcd", 9)
