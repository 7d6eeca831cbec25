"""A ridge discriminant, how well it solves its equations, and what its input must be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import lapack

from ...kernels.decomposition import svd

#: eigenvalues of K below this share of the largest, times N, count as 0 where mu = 0
ROUNDING = float(np.finfo(float).eps)
#: largest entry of K: sums of squares of its eigenvalues stay in double precision
LARGEST = 1e100
#: columns up to which singular values are found by Jacobi rotations
JACOBI = 200
#: rows of K that are looked at together
HEIGHT = 256


@dataclass(frozen=True, eq=False)
class FeatureKernel:
    """The matrix ``F @ F.T`` of features `F`, (N, r), which is not formed."""

    F: np.ndarray

    def __matmul__(self, v: np.ndarray) -> np.ndarray:
        """Return the product with `v`, (N,)."""
        return np.asarray(self.F @ (self.F.T @ v))

    def __len__(self) -> int:
        """Return N."""
        return len(self.F)

    @property
    def largest(self) -> float:
        """The largest entry in absolute value: it is on the diagonal."""
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.einsum("ij,ij->i", self.F, self.F).max(initial=0.0))


@dataclass(frozen=True)
class RidgeDiscriminant:
    r"""The solution for one amount of ridge, and how well it solves its linear system.

    Attributes
    ----------
    coef : (N,) array
        :math:`\alpha`, on the scale on which :math:`b+K\alpha` fits the targets.
    bias : float
        b.
    mu : float
    fitted : (N,) array
        :math:`b+K\alpha`.
    residual : float
        Of the equations :math:`K(\hat y-b1-K\alpha)=\mu\alpha`, :math:`1^\top(\hat y-b1-K\alpha)=0`: their
        norm relative to that of :math:`[1\ K]^\top\hat y`.
    """

    coef: np.ndarray
    bias: float
    mu: float
    fitted: np.ndarray
    residual: float


def discriminant(
    K: np.ndarray | FeatureKernel,
    yhat: np.ndarray,
    coef: np.ndarray,
    bias: float,
    mu: float,
    root: np.ndarray | None = None,
) -> RidgeDiscriminant:
    """Return the solution with its fit and the residual of its equations: three products with `K`.

    `root` is the column of the bias, 1 by default.
    """
    fitted = (bias if root is None else bias * root) + K @ coef
    left = yhat - fitted
    equations = np.append(K @ left - mu * coef, left.sum() if root is None else root @ left)
    # where K yhat = 0 the solution is 0, and what is left is measured by the targets; rounding is no size
    size, largest = float(np.linalg.norm(yhat)), largest_entry(K)
    scale = float(np.linalg.norm(K @ yhat))
    scale = scale if scale > ROUNDING * len(K) * largest * size else max(1.0, largest) * size
    return RidgeDiscriminant(coef, bias, float(mu), fitted, float(np.linalg.norm(equations)) / scale)


def largest_entry(K: np.ndarray | FeatureKernel) -> float:
    """Return the largest entry of `K` in absolute value; nan for one that is undefined."""
    if isinstance(K, FeatureKernel):
        return K.largest
    return max(float(K.max(initial=0.0)), -float(K.min(initial=0.0)))


def checked(
    K: np.ndarray | FeatureKernel, yhat: np.ndarray, root: np.ndarray | None = None, symmetric: bool = False
) -> tuple[Any, np.ndarray]:
    """Return `K` and `yhat` as arrays of floats, or raise ValueError for what does not fit.

    Where `symmetric`, K is known to be so.
    """
    yhat = np.asarray(yhat, dtype=float)
    if not isinstance(K, FeatureKernel):
        K = np.asarray(K, dtype=float)
        if K.ndim != 2 or K.shape[0] != K.shape[1]:
            raise ValueError(f"K must be a square matrix, got shape {K.shape}; give the Gram matrix")
    if yhat.shape != (len(K),):
        raise ValueError(f"yhat has shape {yhat.shape}, K asks for ({len(K)},): one target per row")
    largest = largest_entry(K)
    if not largest <= LARGEST:
        raise ValueError(
            f"K has entries that are undefined or above {LARGEST:.0e}, so that their squares overflow; scale "
            "the features"
        )
    if not (symmetric or isinstance(K, FeatureKernel)):
        for start in range(0, len(K), HEIGHT):
            panel = K[start : start + HEIGHT] - K[:, start : start + HEIGHT].T
            if float(np.abs(panel).max(initial=0.0)) > 1e-8 * largest:
                raise ValueError("K must be symmetric; give (K + K.T) / 2")
    total = yhat.sum() if root is None else root @ yhat
    size = np.abs(yhat).sum() if root is None else root @ np.abs(yhat)
    if not ((yhat > 0).any() and (yhat < 0).any() and abs(total) <= 1e-8 * size):
        raise ValueError("yhat must have N/N1 on class 1 and -N/N2 on class 2, which sum to 0")
    return K, yhat


def singular_values(F: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return left vectors, (N, r), singular values, (r,), and right vectors, (p, r), of `F`, (N, p).

    Up to `JACOBI` columns by one-sided Jacobi rotations, whose singular values have relative accuracy also
    where the columns are of very different sizes (Drmac & Veselic 2008); values of 0 are left out.
    """
    n, p = F.shape
    if p <= min(n, JACOBI):
        found, left, right, work, _, info = lapack.dgejsv(F, joba=0, jobu=0, jobv=0, jobr=0)
        values = found * (work[0] / work[1])
        if info == 0 and np.isfinite(values).all():
            kept = values > 0
            return left[:, :p][:, kept], values[kept], right[:, kept]
    left, values, rows = svd(F)
    kept = values > max(n, p) * ROUNDING * values.max(initial=0.0)
    return left[:, kept], values[kept], rows[kept].T


def validate_ridge(mu: float, above: bool = False) -> None:
    """Raise ValueError unless `mu` is a finite number >= 0, or > 0 where `above`."""
    if not (np.isfinite(mu) and (mu > 0 if above else mu >= 0)):
        raise ValueError(f"the ridge must be a finite number {'>' if above else '>='} 0, got {mu!r}")
