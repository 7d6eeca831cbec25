"""The certificates of the kernel weights against their definitions, at points that are no solutions."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from marginbook.clasmk.model.objective import kkt_residual
from marginbook.clasmk.solvers import mkl_two_layer
from marginbook.clasmk.solvers.mkl_two_layer import learn_layer
from marginbook.clasmk.solvers.solution import Weights
from marginbook.clasmk.solvers.sphere_steps import descend, lower_bound, multiplier
from marginbook.clasmk.solvers.svm_outputs import OutputSVMs

from .kernel_problem import layer_objective as value
from .kernel_problem import problem as sized

problem = partial(sized, n=24)


def forms(seed: int, size: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three classes, four kernels; `size` decides whether N or F D has the largest entry."""
    rng = np.random.default_rng(seed)
    N, D = (rng.normal(size=(3, 4, 6)) for _ in range(2))
    N, D = N @ N.transpose(0, 2, 1), D @ D.transpose(0, 2, 1)
    N[:, :2, :2] += size * np.array([[1.0, -1.0], [-1.0, 1.0]])
    weights = rng.random((3, 4))
    weights[1, 2] = 0.0
    return weights / weights.sum(axis=1, keepdims=True), N, D


@pytest.mark.parametrize("size", [0.0, 100.0])
def test_the_residual_is_how_far_a_projected_step_moves_a_root(size: float) -> None:
    weights, N, D = forms(1, size)
    s = np.sqrt(weights)
    value = sum(s[c] @ N[c] @ s[c] for c in range(3)) / sum(s[c] @ D[c] @ s[c] for c in range(3))
    kappa = max(np.abs(N).max(), value * np.abs(D).max())
    assert (kappa == N.max()) == (size > 0)
    worst = 0.0
    for c in range(3):
        q = (N[c] - value * D[c]) @ s[c]
        g = q - (q @ s[c]) * s[c]
        worst = max(worst, np.abs(s[c] - np.maximum(s[c] - g / kappa, 0.0)).max())
    assert kkt_residual(weights, N, D) == pytest.approx(worst, rel=1e-10)


def test_the_gap_of_the_linear_program_is_of_all_classes() -> None:
    weights, N, D = forms(2, 0.0)
    n, d = (np.array([np.diag(form) for form in each]) for each in (N, D))
    value = (n * weights).sum() / (d * weights).sum()
    kappa = max(np.abs(N).max(), value * np.abs(D).max())
    gap = sum((n - value * d)[c] @ weights[c] - (n - value * d)[c].min() for c in range(3))
    assert kkt_residual(weights, N, D, combine="concat") == pytest.approx(gap / kappa, rel=1e-10)


def test_forms_of_zero_are_stationary() -> None:
    N, D = np.zeros((2, 2, 2)), np.array([np.eye(2)] * 2)
    assert kkt_residual(np.full((2, 2), 0.5), N, D) == 0.0


@pytest.mark.parametrize(
    ("objective", "bound", "gap"), [(4.0, 3.0, 0.25), (4.0, 1.0, 0.75), (0.0, 0.0, 0.0), (0.5, None, None)]
)
def test_the_gap_is_relative_to_the_objective(
    objective: float, bound: float | None, gap: float | None
) -> None:
    found = Weights(np.ones((1, 1)), objective, bound, 0.0, 1, True, np.array([objective]))
    assert found.gap == gap
    assert (found.n_nodes, found.n_evaluations) == (0, 0)


def test_the_gap_of_machines_is_relative_to_their_value() -> None:
    nothing = np.zeros(1)
    machines = OutputSVMs(nothing, nothing, nothing, value=10.0, dual_sum=8.0, energy=2.0, C=1.0)
    assert machines.inner_gap == pytest.approx(0.3)  # 10 - (8 - 2 / 2)


def bounds(Q: np.ndarray, s: np.ndarray) -> list[float]:
    """Return the smallest eigenvalue of Q - M for each M that the bound may take."""
    M = multiplier(Q, s)
    outside = np.outer(s == 0, s == 0) & ~np.eye(len(Q), dtype=bool)
    positive = np.where(np.eye(len(Q)) == 0, np.maximum(Q, 0.0), 0.0)
    taken = (M, np.where(outside, positive, M), np.zeros_like(Q), positive)
    return [float(np.linalg.eigvalsh(Q - each)[0]) for each in taken]


def test_a_bound_is_the_target_where_one_of_four_matrices_proves_it() -> None:
    v = np.array([1.0, 1.0, -1.0])
    cases = [(np.outer(v, v), np.array([1.0, 0.0, 0.0]))]  # without a positive entry it is indefinite
    for seed in range(30):
        rng = np.random.default_rng(seed)
        Q = rng.normal(size=(5, 5))
        Q = Q + Q.T + (seed % 3) * np.diag(rng.random(5))
        start = 1e-3 + (np.maximum(rng.normal(size=5), 0.0) if seed % 2 else rng.random(5))
        cases.append((Q, descend(Q, start / np.linalg.norm(start))[0]))
    first = set()
    for Q, s in cases:
        found = bounds(Q, s)
        order = np.argsort(found)
        if found[order[-1]] - found[order[-2]] > 1e-6:
            first.add(int(order[-1]))
        best = max(found)
        assert lower_bound(Q, s, best - 1e-9) == best - 1e-9
        assert lower_bound(Q, s, best + 1e-9) == pytest.approx(max(found[:3]), abs=1e-12)
    assert first == {0, 1, 2, 3}


def test_a_bound_leaves_room_for_rounding() -> None:
    Q, s = np.diag([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 0.0])
    assert lower_bound(Q[:1, :1], s[:1], 0.5) == 1.0
    assert 0 < 1.0 - lower_bound(Q, s, 1.0) < 1e-13
    assert lower_bound(Q, s, 1.0 - 1e-13) == 1.0 - 1e-13
    large = 1e3 * Q
    assert 1e-14 < 1e3 - lower_bound(large, s, 1e3) < 1e-10


@pytest.mark.parametrize("reg", [0.5, 3.0])
def test_the_residual_of_two_layers_is_that_of_the_objective(reg: float) -> None:
    """At the start, whose slopes are taken by central differences; each machine has its box of C."""
    grams, signs, _, _ = problem(classes=3)
    found = learn_layer(grams, signs, 2.0, reg=reg, max_iter=1)
    at, step = found.weights, 1e-3
    slopes = np.array(
        [
            (value(grams, at + move, signs, 2.0, reg) - value(grams, at - move, signs, 2.0, reg)) / (2 * step)
            for move in step * np.eye(len(at))
        ]
    )
    projected = np.maximum(at - slopes / value(grams, at, signs, 2.0, reg), 0.0)
    assert found.residual > 1e-2
    assert found.residual == pytest.approx(np.abs(at - projected).max(), rel=1e-3)


def test_without_exact_machines_their_own_gap_is_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    grams, signs, _, _ = problem(classes=2)
    exact = learn_layer(grams, signs, 2.0, max_iter=1).residual
    monkeypatch.setattr(mkl_two_layer, "polish", lambda *_: None)
    rough = []
    for gap in (0.0, 0.25):  # that of libsvm's machines is too small beside the residual to be told from it
        monkeypatch.setattr(OutputSVMs, "inner_gap", gap)
        rough.append(learn_layer(grams, signs, 2.0, max_iter=1).residual)
    assert rough[0] == pytest.approx(exact, rel=1e-3)
    assert rough[1] - rough[0] == pytest.approx(0.25)
