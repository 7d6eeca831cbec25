"""The kernel matrix of the training rows: formed once, in blocks, where the memory allows, and checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh_tridiagonal, lapack

from ...kernels import Kernel, KernelOverflow, gram, kernel_name, tidy
from ..model.blocks import LARGE

#: rows whose kernel values are formed at a time
HEIGHT = 256
#: an eigenvalue below minus this share of the largest is no rounding, also of entries in single precision
INDEFINITE = 1e-5
#: largest difference of two entries of a symmetric matrix that is rounding, relative to the largest entry
ASYMMETRY = 1e-8
#: products with a large matrix that look for a negative eigenvalue
LOOKS = 60


def training_design(kernel: Kernel, X: Any) -> np.ndarray:
    """Return ``[1 K]`` of the rows `X`, (N, d), or of a precomputed `X`, (N, N): (N, N+1), by columns.

    K is exactly symmetric unless precomputed, and is held once, without a copy beside it.

    Raises
    ------
    KernelOverflow
        If a kernel value is infinite or undefined.
    """
    n = X.shape[0]
    design = np.empty((n, n + 1), order="F")
    design[:, 0] = 1.0
    K = design.T[1:]  # the columns of K, as rows
    if kernel_name(kernel) == "precomputed":
        for start in range(0, n, HEIGHT):
            K[start : start + HEIGHT] = X[:, start : start + HEIGHT].T
    elif n <= LARGE:
        K[:] = gram(kernel, X)
    elif kernel_name(kernel) == "rbf" and not sparse.issparse(X):
        _fill_rbf(K, X, float(kernel[1]["gamma"]))  # type: ignore[index]
    else:
        X = tidy(X)
        for start in range(0, n, HEIGHT):
            stop = min(start + HEIGHT, n)
            K[start:stop, :stop] = gram(kernel, X[start:stop], X[:stop])
            corner = K[start:stop, start:stop]
            corner[:] = (corner + corner.T) / 2
            K[:start, start:stop] = K[start:stop, :start].T
    return design


def candidate_design(kernel: Kernel, X: Any, columns: np.ndarray) -> np.ndarray:
    """Return ``[1 K]`` with the kernel columns of the rows numbered `columns`, (m,), of `X`: (n, m+1)."""
    X = tidy(X)
    some, design = X[columns], np.empty((X.shape[0], len(columns) + 1), order="F")
    design[:, 0] = 1.0
    if kernel_name(kernel) == "precomputed":
        design[:, 1:] = X[:, columns]
        return design
    for start in range(0, X.shape[0], 8 * HEIGHT):
        design[start : start + 8 * HEIGHT, 1:] = gram(kernel, X[start : start + 8 * HEIGHT], some)
    return design


def _fill_rbf(K: np.ndarray, X: np.ndarray, gamma: float) -> None:
    """Fill `K`, (n, n), with exp(-gamma |x - z|^2): half of the exponentials, and no second matrix."""
    n = len(X)
    X = X - X.mean(axis=0)  # distances stay, and lose fewer digits
    with np.errstate(over="ignore", invalid="ignore"):
        norms = -gamma * np.einsum("ij,ij->i", X, X)
        doubled = (2.0 * gamma) * X
        if not np.isfinite(norms).all():
            raise KernelOverflow(
                f"kernel 'rbf' with {{'gamma': {gamma}}} is infinite or undefined on these data; scale "
                f"the features"
            )
        for start in range(0, n, HEIGHT):
            stop = min(start + HEIGHT, n)
            panel = K[start:stop, start:]
            np.matmul(doubled[start:stop], X[start:].T, out=panel)
            panel += norms[start:]
            panel += norms[start:stop, np.newaxis]
            np.minimum(panel, 0.0, out=panel)
            np.exp(panel, out=panel)
            corner = K[start:stop, start:stop]
            corner[:] = (corner + corner.T) / 2
            np.fill_diagonal(corner, 1.0)
            for left in range(stop, n, HEIGHT):
                right = min(left + HEIGHT, n)
                K[left:right, start:stop] = K[start:stop, left:right].T


def refuse_indefinite(K: np.ndarray, name: str) -> None:
    """Raise ValueError unless a precomputed `K`, (N, N), is symmetric and has no clearly negative eigenvalue.

    Up to 2,500 rows a Cholesky factor decides. Above, a Lanczos iteration of 60 products looks for a negative
    eigenvalue: what it finds is one, what it does not find is not proved away.

    Parameters
    ----------
    K : (N, N) array
    name : str
        Of the estimator, for the message.
    """
    n = len(K)
    size = asymmetry = 0.0
    for start in range(0, n, HEIGHT):
        panel = K[start : start + HEIGHT]
        size = max(size, float(np.abs(panel).max(initial=0.0)))
        asymmetry = max(asymmetry, float(np.abs(panel - K[:, start : start + HEIGHT].T).max(initial=0.0)))
    if asymmetry > ASYMMETRY * size:
        raise ValueError("K must be symmetric; give (K + K.T) / 2")
    if not 0 < size <= 1e100:
        return  # nothing to look at, or an overflow that has its own message
    if n <= LARGE:
        # the largest eigenvalue is at most the largest sum of a row, and the norm of a symmetric matrix
        largest = float(np.abs(K).sum(axis=1).max())
        shifted = K / largest
        shifted.flat[:: n + 1] += INDEFINITE
        negative = lapack.dpotrf(shifted, lower=1)[1] != 0
    else:
        negative = _finds_negative(K)
    if negative:
        raise ValueError(
            f"{name} needs a positive semidefinite kernel, and this one has negative eigenvalues; add a "
            "multiple of the identity, or take SparseKFDAClassifier, which does not need it"
        )


def _finds_negative(K: np.ndarray) -> bool:
    """Return whether a Lanczos iteration meets a clearly negative eigenvalue."""
    v, before, back = np.random.default_rng(0).normal(size=len(K)), np.zeros(len(K)), 0.0
    v /= np.linalg.norm(v)
    diagonal, beside = [], []
    for _ in range(LOOKS):
        w = K @ v - back * before
        diagonal.append(float(v @ w))
        w -= diagonal[-1] * v
        back = float(np.linalg.norm(w))
        if back <= 1e-12 * max(map(abs, diagonal)):
            break
        beside.append(back)
        before, v = v, w / back
    values = eigh_tridiagonal(diagonal, beside[: len(diagonal) - 1], eigvals_only=True)
    return bool(values[0] < -INDEFINITE * max(abs(values[0]), abs(values[-1])))
