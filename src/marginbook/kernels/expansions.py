"""Sums of kernels, what a machine with a kernel predicts by: without a matrix of all kernel values."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import Kernel, gram

#: kernel values that one batch of rows may hold
BATCH = 2**22


def kernel_sums(kernel: Kernel, X: Any, train: Any, coefficients: np.ndarray) -> np.ndarray:
    """Return ``sum_i c_i k(x_i, x)`` for the rows x of `X`, (n, p), without an (n, m) matrix: (n,).

    Of `coefficients` (m, k) the result is (n, k).
    """
    if train.shape[0] == 0:
        return np.zeros((X.shape[0], *coefficients.shape[1:]))
    height = max(1, BATCH // train.shape[0])
    sums = [
        gram(kernel, X[start : start + height], train) @ coefficients
        for start in range(0, X.shape[0], height)
    ]
    return np.concatenate(sums)
