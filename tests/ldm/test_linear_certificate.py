"""The certificate of the linear LDM, with weights and a free constant, against the Lagrangian written out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from marginbook.kernels import KernelOverflow
from marginbook.ldm.model.linear import Certificate, LinearSolution, gap_scale

LAMBDA1, LAMBDA2, C = 0.7, 0.3, 0.4
COUNTS = np.array([1, 3, 2, 1, 2, 1, 4, 1])


class Case(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    beta: np.ndarray
    delta: np.ndarray


def case(seed: int = 0) -> Case:
    """Multipliers of the weighted rows; `delta` does not sum to zero."""
    rng = np.random.default_rng(seed)
    m = len(COUNTS)
    y = np.where(np.arange(m) % 3 == 0, -1.0, 1.0)
    return Case(rng.normal(size=(m, 3)), y, C * COUNTS * rng.random(m), rng.normal(size=m))


def weighted(constant: bool = False, lambda1: float = LAMBDA1, seed: int = 0) -> Certificate:
    X, y, _, _ = case(seed)
    return Certificate(X, y, lambda1, LAMBDA2, C, COUNTS.astype(float), constant)


def dual_value(features: np.ndarray, y: np.ndarray, beta: np.ndarray, delta: np.ndarray) -> float:
    """Return the least value of the Lagrangian over w, t, margins and slacks; `delta` is feasible.

    Each term of the variance is 2 lambda1 omega / M (gamma - t)^2, whose conjugate is delta^2 M / 8 lambda1
    omega.
    """
    total = COUNTS.sum()
    w = features.T @ (y * (beta + LAMBDA2 / total * COUNTS - delta))
    return float(beta.sum() - total / (8 * LAMBDA1) * np.sum(delta**2 / COUNTS) - 0.5 * w @ w)


def primal_value(features: np.ndarray, y: np.ndarray, w: np.ndarray) -> float:
    """Return (14) with each row repeated as often as it counts."""
    margins = np.repeat(y * (features @ w), COUNTS)
    hinge = np.maximum(1 - margins, 0).sum()
    return float(0.5 * w @ w + 2 * LAMBDA1 * margins.var() - LAMBDA2 * margins.mean() + C * hinge)


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_gap_and_bound_are_those_of_the_lagrangian(constant: bool, seed: int) -> None:
    X, y, beta, delta = case(seed)
    found = weighted(constant, seed=seed)
    features = np.column_stack([X, np.ones(len(y))]) if constant else X
    w = features.T @ (y * (beta + LAMBDA2 / COUNTS.sum() * COUNTS - delta))
    np.testing.assert_allclose(found.combined(found.alpha(beta, delta)), w)
    repaired = delta - delta.sum() / COUNTS.sum() * COUNTS
    lower = dual_value(features, y, beta, repaired)
    assert found.bound(w, beta, delta) == pytest.approx(lower, rel=1e-12)
    at = features.T @ (y * (beta + LAMBDA2 / COUNTS.sum() * COUNTS - repaired))
    for shift in (0.0, 2.0) if constant else (0.0,):
        w[-1] += shift  # a free constant need not be the one of the multipliers
        at[-1] += shift
        value, gap = found.gap(w, beta, delta)
        assert value == pytest.approx(primal_value(features, y, at), rel=1e-12)
        assert gap == pytest.approx(value - lower, rel=1e-12)
        assert found.bound(w, beta, delta) == pytest.approx(lower, rel=1e-12)


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("lambda1", [0.0, LAMBDA1])
def test_a_weight_counts_copies_of_a_row(constant: bool, lambda1: float) -> None:
    X, y, beta, delta = case()
    if not lambda1:
        delta = 0 * delta
    one = weighted(constant, lambda1)
    rows = np.repeat(np.arange(len(y)), COUNTS)
    other = Certificate(X[rows], y[rows], lambda1, LAMBDA2, C, constant=constant)
    parts = (beta / COUNTS)[rows], (delta / COUNTS)[rows]
    w = one.combined(one.alpha(beta, delta))
    if not lambda1:  # as in the support vector machine
        assert one.bound(w, beta, delta) == pytest.approx(beta.sum() - 0.5 * w @ w, rel=1e-12)
    np.testing.assert_allclose(other.combined(other.alpha(*parts)), w)
    assert one.gap(w, beta, delta) == pytest.approx(other.gap(w, *parts), rel=1e-12)
    assert one.bound(w, beta, delta) == pytest.approx(other.bound(w, *parts), rel=1e-12)
    assert one.mean(y) == pytest.approx(other.mean(y[rows]), rel=1e-12)
    for share in (0.0, 0.3, 1.0):
        assert one.stiffness(share) == pytest.approx(other.stiffness(share), rel=1e-12)
    ends = (one.solution(beta, delta, 5, 1.0, []), other.solution(*parts, 5, 1.0, []))
    for name in ("objective", "dual_gap", "relative_gap", "mean_margin", "coef"):
        np.testing.assert_allclose(getattr(ends[0], name), getattr(ends[1], name), rtol=1e-12)
    np.testing.assert_allclose(ends[0].beta[rows] / COUNTS[rows], ends[1].beta)
    assert (ends[0].total, ends[1].total) == (COUNTS.sum(), None)


@pytest.mark.parametrize("constant", [False, True])
def test_the_stiffness_is_the_curvature_of_the_dual_in_the_sum_of_delta(constant: bool) -> None:
    """Along the weights, which is how far the mean margin may be off: by second differences."""
    X, y, beta, delta = case()
    features = np.column_stack([X, np.ones(len(y))]) if constant else X
    step = COUNTS / COUNTS.sum()
    up, middle, down = (dual_value(features, y, beta, delta + k * step) for k in (1, 0, -1))
    assert weighted(constant).stiffness() == pytest.approx(2 * middle - up - down, rel=1e-9)
    bare = dual_value(X, y, beta, delta)
    low, high = (dual_value(X, y, beta, delta + k * step) for k in (-1, 1))
    if constant:  # a share of 0 leaves the constant feature out
        assert weighted(constant).stiffness(0.0) == pytest.approx(2 * bare - low - high, rel=1e-9)
        halfway = 0.5 * (weighted(constant).stiffness(0.0) + weighted(constant).stiffness(1.0))
        assert weighted(constant).stiffness(0.5) == pytest.approx(halfway)
    assert weighted(constant, lambda1=0.0).stiffness() == 0.0


def test_a_solution_has_multipliers_in_their_box_and_the_intercept_that_is_given() -> None:
    _, _, beta, delta = case()
    found = weighted(constant=True)
    wild = beta.copy()
    wild[:2] = -1.0, 2 * C * COUNTS[1]
    free = found.solution(wild, delta, 3, 1.0, [])
    assert (free.beta[0], free.beta[1]) == (0.0, C * COUNTS[1])
    assert abs(free.delta.sum()) < 1e-12
    assert free.coef[-1] == pytest.approx(free.alpha.sum(), rel=1e-12)
    fixed = found.solution(wild, delta, 3, 1.0, [], intercept=0.25)
    assert fixed.coef[-1] == 0.25
    # both are the objective less the same lower bound
    assert fixed.dual_gap - free.dual_gap == pytest.approx(fixed.objective - free.objective, rel=1e-9)


@pytest.mark.parametrize("constant", [False, True])
def test_a_tolerance_is_a_share_of_the_objective_or_of_its_value_at_zero(constant: bool) -> None:
    assert gap_scale(-7.0, 1.0, 9.0) == 7.0
    assert gap_scale(0.1, 0.05, 6.0) == pytest.approx(0.3)  # F(0) = m C
    assert gap_scale(0.1, 2.0, 6.0) == 1.0
    _, _, beta, delta = case()
    found = weighted(constant)
    end = found.solution(beta, delta, 3, 0.0, [])
    assert end.relative_gap == end.dual_gap / max(abs(end.objective), 1.0)
    for tol in (0.99, 1.01):
        assert found.solution(beta, delta, 3, tol * end.relative_gap, []).converged == (tol > 1)


@pytest.mark.parametrize("beyond", ["objective", "gap"])
def test_neither_objective_nor_gap_may_be_infinite(monkeypatch: pytest.MonkeyPatch, beyond: str) -> None:
    _, _, beta, delta = case()
    found = weighted()
    ends = (np.inf, 1.0) if beyond == "objective" else (1.0, np.inf)
    monkeypatch.setattr(found, "gap", lambda *_: ends)
    with pytest.raises(KernelOverflow, match="beyond double precision"):
        found.solution(beta, delta, 3, 1.0, [])


def test_rows_are_counted_where_no_weights_are() -> None:
    zeros = np.zeros(4)
    made = LinearSolution(
        coef=zeros, mean_margin=0.0, beta=zeros, delta=zeros, alpha=zeros, objective=0.1, dual_gap=0.02,
        n_iter=1, converged=False, lambda1=0.0, lambda2=0.0, C=0.05,
    )  # fmt: skip
    assert made.relative_gap == pytest.approx(0.1)  # of m C = 0.2
