"""The steps of Algorithm 2, compiled: over CSR rows at O(nnz) a step, and over dense rows as they stand.

The functions take arrays and scalars only; ``.py_func`` of each is the same code without compilation.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# below this scale the sparse vectors are multiplied out: the average is a difference of two vectors whose
# sizes grow with the inverse of the scale
_SMALL = 1e-3


@njit(cache=True)
def sgd_steps(
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    y: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    v: np.ndarray,
    u: np.ndarray,
    scalars: np.ndarray,
    t: int,
    t0: int,
    gamma0: float,
    curvature: float,
    lambda1: float,
    lambda2: float,
    hinge: float,
) -> None:
    r"""Take one step for each pair in `first` and `second`; O(nnz) a step.

    The iterate is :math:`w=sv` and the average :math:`\bar w=q(u+rv)`: shrinking w and mixing w into the
    average change the scalars (s, q, r) only, and adding :math:`kx_i` to v subtracts :math:`rkx_i` from u.

    Parameters
    ----------
    data, indices, indptr : arrays of a CSR matrix, `indices` unsigned
    y : (m,) array of -1.0 and +1.0
    first, second : (n,) arrays of rows i and j
    v, u : (d,) arrays, scalars : (3,) array of s, q, r
        The state, updated in place.
    t, t0 : int
        Steps taken before, and the step after which the average begins.
    gamma0, curvature, lambda1, lambda2 : float
    hinge : float
        m C.
    """
    s, q, r = scalars
    for n in range(first.size):
        t += 1
        i, j = first[n], second[n]
        label = y[i]
        inner = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            inner += data[k] * v[indices[k]]
        inner *= s
        pull = -lambda2 * label
        if label * inner < 1.0:
            pull -= hinge * label
        if lambda1 > 0.0:
            other = 0.0
            for k in range(indptr[j], indptr[j + 1]):
                other += data[k] * v[indices[k]]
            pull += 4.0 * lambda1 * (inner - label * y[j] * s * other)
        eta = gamma0 * (1.0 + curvature * gamma0 * t) ** (-2.0 / 3.0)
        s *= 1.0 - eta
        if abs(s) < _SMALL:
            for k in range(v.size):
                u[k] += r * v[k]
                v[k] *= s
            s, r = 1.0, 0.0
        if pull != 0.0:
            change = -eta * pull / s
            back = r * change
            for k in range(indptr[i], indptr[i + 1]):
                v[indices[k]] += change * data[k]
                u[indices[k]] -= back * data[k]
        if t > t0 + 1:
            q *= 1.0 - 1.0 / (t - t0)
            r += s / ((t - t0) * q)
        elif t == t0 + 1:
            q, r = 1.0, s
    scalars[0], scalars[1], scalars[2] = s, q, r


@njit(cache=True)
def sgd_steps_dense(
    X: np.ndarray,
    y: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    w: np.ndarray,
    average: np.ndarray,
    t: int,
    t0: int,
    gamma0: float,
    curvature: float,
    lambda1: float,
    lambda2: float,
    hinge: float,
) -> None:
    """Take the steps of :func:`sgd_steps` on a C-ordered array, with `w` and `average` as they are."""
    for n in range(first.size):
        t += 1
        i, j = first[n], second[n]
        label = y[i]
        inner = 0.0
        other = 0.0
        for k in range(w.size):
            inner += X[i, k] * w[k]
        if lambda1 > 0.0:
            for k in range(w.size):
                other += X[j, k] * w[k]
        pull = 4.0 * lambda1 * (inner - label * y[j] * other) - lambda2 * label
        if label * inner < 1.0:
            pull -= hinge * label
        eta = gamma0 * (1.0 + curvature * gamma0 * t) ** (-2.0 / 3.0)
        mixing = 1.0 / max(1, t - t0)
        for k in range(w.size):
            w[k] -= eta * (w[k] + pull * X[i, k])
            average[k] += mixing * (w[k] - average[k])
