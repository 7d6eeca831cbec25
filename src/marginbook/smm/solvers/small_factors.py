"""QR and singular values of matrices of some tens of rows, by LAPACK without the detours around it.

Descents factor thousands of such matrices, where the checks of ``numpy.linalg`` take longer than the sums.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dgeqrf, dgesdd, dorgqr

from ...kernels.decomposition import svd


def thin_qr(M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return Q, (d, r), and R, (r, r), of `M`, (d, r), d >= r."""
    factored, tau, _, _ = dgeqrf(M)
    r = M.shape[1]
    return dorgqr(factored, tau)[0], np.triu(factored[:r])


def complement(P: np.ndarray) -> np.ndarray:
    """Return orthonormal columns, (d, d - r), orthogonal to those of `P`, (d, r)."""
    d, r = P.shape
    factored, tau, _, _ = dgeqrf(P)
    whole = np.zeros((d, d), order="F")
    whole[:, :r] = factored
    return np.asarray(dorgqr(whole, tau)[0][:, r:])


def singular(M: np.ndarray, full: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return U, the singular values, and V' of `M`; square U and V' where `full`.

    Raises
    ------
    numpy.linalg.LinAlgError
        If an entry is not finite.
    """
    if M.size == 0 or not np.isfinite(M).all():  # LAPACK would say so on the standard output
        return svd(M, full)
    U, sizes, Vt, info = dgesdd(M, full_matrices=int(full))
    return (U, sizes, Vt) if info == 0 else svd(M, full)
