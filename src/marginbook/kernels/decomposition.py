"""Decompositions of matrices of any size: Ctrl-C is heard, also where a call of LAPACK takes minutes.

Those of SciPy hold the interpreter's lock until they end, those of NumPy do not. Small matrices are left to
SciPy, which copies less.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ..base.interruptible import LARGE, interruptible

#: rows of a block of an inverse
BLOCK = 64
#: columns for which a triangular system of a large matrix is solved at a time
COLUMNS = 256


def eigh(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues, ascending, and eigenvectors of a symmetric finite `matrix`, (n, n)."""
    if len(matrix) <= LARGE:
        values, vectors = linalg.eigh(matrix, driver="evd", check_finite=False)
    else:
        values, vectors = interruptible(np.linalg.eigh, matrix)
    return values, vectors


def smallest_eigenvalue(matrix: np.ndarray) -> float:
    """Return the smallest eigenvalue of a symmetric finite `matrix`, (n, n)."""
    if len(matrix) <= LARGE:
        return float(linalg.eigvalsh(matrix, subset_by_index=[0, 0])[0])
    return float(interruptible(np.linalg.eigvalsh, matrix)[0])


def cholesky(matrix: np.ndarray) -> np.ndarray:
    """Return the lower Cholesky factor of a symmetric finite `matrix`, (n, n), which may be overwritten.

    Raises
    ------
    numpy.linalg.LinAlgError
        If it is not positive definite.
    """
    if len(matrix) <= LARGE:
        return np.asarray(linalg.cholesky(matrix, lower=True, overwrite_a=True, check_finite=False))
    return np.asarray(interruptible(np.linalg.cholesky, matrix))


def cholesky_inverse(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the Cholesky factor of a positive definite `matrix`, (n, n), of any size, and its inverse.

    Of both only the lower triangle counts. The inverse is formed in blocks of matrix products.

    Raises
    ------
    numpy.linalg.LinAlgError
        If it is not positive definite.
    """
    factor = cholesky(matrix)
    n, F = len(factor), np.array(factor, order="C")
    starts = range(0, n, BLOCK)
    for start in reversed(starts):  # F becomes the inverse of the factor, from its last columns on
        part, below = slice(start, min(start + BLOCK, n)), slice(min(start + BLOCK, n), n)
        corner = linalg.solve_triangular(F[part, part], np.eye(len(F[part])), lower=True)
        F[below, part] = -(F[below, below] @ F[below, part]) @ corner
        F[part, part] = corner
        F[part, below] = 0.0
    for start in starts:  # and its upper half that of the matrix: the rows above `start` are used no more
        stop = min(start + BLOCK, n)
        F[:stop, start:stop] = F[start:, :stop].T @ F[start:, start:stop]
    return factor, F.T


def forward(factor: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return ``inverse(factor) @ right`` of a lower triangular `factor`, (n, n), and `right`, (n, k)."""
    if len(factor) <= LARGE:
        return np.asarray(linalg.solve_triangular(factor, right, lower=True, check_finite=False))
    found = np.empty(right.shape)
    for start in range(0, right.shape[1], COLUMNS):
        part = slice(start, start + COLUMNS)
        found[:, part] = linalg.solve_triangular(factor, right[:, part], lower=True, check_finite=False)
    return found


def product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return ``A @ B`` of matrices."""
    if A.shape[0] * A.shape[1] * B.shape[1] <= LARGE**3:
        return np.asarray(A @ B)
    return np.asarray(interruptible(np.matmul, A, B))


def svd(M: np.ndarray, full: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return U, the singular values, and V' of `M`, (d1, d2); square U and V' where `full`.

    Divide and conquer (gesdd) fails on some finite matrices, which ones depends on the processor and the
    number of threads; QR iteration (gesvd) takes longer and does not.

    Raises
    ------
    numpy.linalg.LinAlgError
        If an entry is not finite.
    """
    try:
        if min(M.shape) * M.size <= (LARGE // 2) ** 3:
            U, sizes, Vt = np.linalg.svd(M, full_matrices=full)
        else:
            U, sizes, Vt = interruptible(lambda: np.linalg.svd(M, full_matrices=full))
    except np.linalg.LinAlgError:
        if not np.isfinite(M).all():
            raise
        U, sizes, Vt = linalg.svd(M, full_matrices=full, lapack_driver="gesvd")
    return U, sizes, Vt
