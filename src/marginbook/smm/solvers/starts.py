"""First bases of the row space for the block descent."""

from __future__ import annotations

import numpy as np

from ...kernels.decomposition import svd


def random_basis(d2: int, rank: int, rng: np.random.Generator) -> np.ndarray:
    """Return a (d2, rank) array with orthonormal columns, uniformly distributed."""
    basis: np.ndarray = np.linalg.qr(rng.standard_normal((d2, rank)))[0]
    return basis


def leading_rows(coef: np.ndarray, rank: int) -> np.ndarray:
    """Return the right singular vectors of the `rank` largest singular values, (d2, rank)."""
    return np.ascontiguousarray(svd(coef)[2][:rank].T)


def completed(factor: np.ndarray, other: np.ndarray | None = None) -> np.ndarray:
    """Return orthonormal columns that span those of `factor`, padded to the same number of columns.

    A factor of deficient rank is padded with directions of the row space of `other` (the gradient, say) and
    then of the coordinates, so that the rank can grow again.
    """
    d, rank = factor.shape
    left, sigma, _ = svd(factor)
    kept = int(np.sum(sigma > 1e-12 * max(float(sigma[0]), 1e-300))) if sigma.size else 0
    basis = left[:, :kept]
    if kept == rank:
        return np.ascontiguousarray(basis)
    if other is not None:
        rest = other - (other @ basis) @ basis.T
        _, sigma, right = svd(rest)
        fresh = right[: rank - kept][sigma[: rank - kept] > 1e-12 * max(float(sigma[0]), 1e-300)].T
        basis = np.hstack([basis, fresh])
    padded = np.hstack([basis, np.eye(d)])
    return np.ascontiguousarray(np.linalg.qr(padded)[0][:, :rank])
