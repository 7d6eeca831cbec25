"""The singular value decomposition, also where LAPACK's faster driver gives up."""

from __future__ import annotations

import numpy as np
from scipy import linalg


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
        U, sizes, Vt = np.linalg.svd(M, full_matrices=full)
    except np.linalg.LinAlgError:
        if not np.isfinite(M).all():
            raise
        U, sizes, Vt = linalg.svd(M, full_matrices=full, lapack_driver="gesvd")
    return U, sizes, Vt
