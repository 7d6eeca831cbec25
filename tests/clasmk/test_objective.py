"""The separation ratio: against loops, finite differences, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from marginbook.clasmk.model.objective import (
    diagonals,
    gradient,
    kkt_residual,
    ratio,
    roots_gradient,
    validate_kernel_weights,
    validate_matrices,
)


def _matrices(seed: int, n_classes: int = 3, n_kernels: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(2, n_classes, n_kernels, n_kernels + 1))
    return A @ A.transpose(0, 2, 1), B @ B.transpose(0, 2, 1)


def _weights(seed: int, n_classes: int = 3, n_kernels: int = 4) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.ones(n_kernels), size=n_classes)


def test_ratio_is_that_of_loops():
    N, D = _matrices(0)
    nu = _weights(1)
    top = bottom = top_side = bottom_side = 0.0
    for c in range(3):
        for i in range(4):
            top_side += nu[c, i] * N[c, i, i]
            bottom_side += nu[c, i] * D[c, i, i]
            for j in range(4):
                top += np.sqrt(nu[c, i] * nu[c, j]) * N[c, i, j]
                bottom += np.sqrt(nu[c, i] * nu[c, j]) * D[c, i, j]
    assert ratio(nu, N, D) == pytest.approx(top / bottom, rel=1e-12)
    assert ratio(nu, N, D, combine="concat") == pytest.approx(top_side / bottom_side, rel=1e-12)


def test_without_cross_terms_both_combinations_agree():
    N, D = (stack * np.eye(4) for stack in _matrices(2))
    nu = _weights(3)
    assert ratio(nu, N, D) == pytest.approx(ratio(nu, N, D, combine="concat"), rel=1e-12)


@pytest.mark.parametrize("combine", ["sum", "concat"])
def test_gradient_in_the_weights(combine):
    N, D = _matrices(4)
    nu = _weights(5)
    along = np.random.default_rng(6).normal(size=nu.shape)
    along -= along.mean(axis=1, keepdims=True)  # within the simplices
    h = 1e-6
    slope = (ratio(nu + h * along, N, D, combine=combine) - ratio(nu - h * along, N, D, combine=combine)) / (
        2 * h
    )
    assert (gradient(nu, N, D, combine=combine) * along).sum() == pytest.approx(slope, rel=1e-6)


def test_gradient_in_the_roots():
    N, D = _matrices(7)
    s = np.sqrt(_weights(8))

    def value(roots):
        return np.einsum("ci,cij,cj", roots, N, roots) / np.einsum("ci,cij,cj", roots, D, roots)

    slopes = roots_gradient(s, N, D)
    for c, i in np.ndindex(*s.shape):
        step = np.zeros_like(s)
        step[c, i] = 1e-6
        assert slopes[c, i] == pytest.approx((value(s + step) - value(s - step)) / 2e-6, rel=1e-5, abs=1e-9)
    assert (slopes * s).sum() == pytest.approx(0, abs=1e-12)  # F does not change with the length of all


def test_slope_is_infinite_at_a_zero_weight():
    N, D = _matrices(9)
    nu = np.tile([0.0, 0.5, 0.25, 0.25], (3, 1))
    slopes = gradient(nu, N, D)
    assert np.isinf(slopes[:, 0]).all()
    assert np.isfinite(slopes[:, 1:]).all()


def test_residual_is_zero_at_stationary_points_only():
    # two uncoupled kernels: any single kernel is stationary, a mixture is not
    N = np.array([np.diag([1.0, 2.0]), np.diag([3.0, 1.0])])
    D = np.array([np.eye(2)] * 2)
    assert kkt_residual(np.array([[1.0, 0.0], [0.0, 1.0]]), N, D) == 0
    assert kkt_residual(np.array([[0.5, 0.5], [0.0, 1.0]]), N, D) > 0.05
    # in the roots the worse vertex is stationary too; as a linear program it is not
    worse = np.array([[0.0, 1.0], [0.0, 1.0]])
    assert kkt_residual(worse, N, D) == 0
    assert kkt_residual(worse, N, D, combine="concat") == pytest.approx(1 / 3)
    # a coupling that pulls the other kernel in
    N[0] = [[1.0, -0.5], [-0.5, 2.0]]
    assert kkt_residual(np.array([[1.0, 0.0], [0.0, 1.0]]), N, D) == pytest.approx(0.5 / 3)


def test_diagonals():
    N, _ = _matrices(10)
    assert np.array_equal(diagonals(N), [[N[c, i, i] for i in range(4)] for c in range(3)])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda N, D: (N[0], D), r"numerator has shape \(4, 4\), wanted \(C, K, K\)"),
        (lambda N, D: (N[:1], D[:1]), "numerator has 1 class, wanted at least 2"),
        (lambda N, D: (N[:2], D), r"numerator has shape \(2, 4, 4\) and denominator \(3, 4, 4\)"),
        (lambda N, D: (np.where(N.max() == N, np.nan, N), D), "numerator has entries that are not finite"),
        (lambda N, D: (N, D + np.triu(np.ones((4, 4)), 1)), "denominator has a matrix that is not symmetric"),
        (
            lambda N, D: (0 * N - 50 * np.eye(4), D),
            "numerator has a matrix with smallest eigenvalue -50,",
        ),
        (lambda N, D: (N, 0 * D), "all denominators are zero"),
    ],
)
def test_what_matrices_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        validate_matrices(*change(*_matrices(11)))


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_semidefinite_matrices_pass_at_any_scale(scale):
    a = np.arange(1.0, 5.0)
    rank_one = scale * np.array([np.outer(a, a)] * 2)
    N, _ = validate_matrices(rank_one, rank_one)
    assert np.array_equal(N, rank_one)


def test_what_weights_are_refused():
    with pytest.raises(ValueError, match=r"weights have shape \(2, 2\), wanted \(2, 3\)"):
        validate_kernel_weights(np.eye(2), 2, 3)
    with pytest.raises(ValueError, match="rows that sum to 1"):
        validate_kernel_weights([[0.5, 0.6], [1, 0]], 2, 2)
    with pytest.raises(ValueError, match="must be >= 0"):
        validate_kernel_weights([[-0.1, 1.1], [1, 0]], 2, 2)
    with pytest.raises(ValueError, match="unknown combine 'stack'; choose from sum, concat"):
        ratio(np.eye(2), np.array([np.eye(2)] * 2), np.array([np.eye(2)] * 2), combine="stack")
    zero_first = np.array([np.diag([0.0, 1.0])] * 2)
    with pytest.raises(ValueError, match="the denominator is zero in these weights"):
        ratio([[1, 0], [1, 0]], zero_first, zero_first)
