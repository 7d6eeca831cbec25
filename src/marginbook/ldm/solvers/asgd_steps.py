"""The steps of Algorithm 2, compiled: over CSR rows at O(nnz) a step, and over dense rows as they stand.

The functions take arrays and scalars only; ``.py_func`` of each is the same code without compilation.
"""

from __future__ import annotations

import numpy as np

from ...base.compiled import njit

# below this scale the sparse vectors are multiplied out: the average is a difference of two vectors whose
# sizes grow with the inverse of the scale
_SMALL = 1e-3


@njit()
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


@njit()
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


@njit()
def sgd_steps_of_grid(
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    y: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    v: np.ndarray,
    u: np.ndarray,
    s: np.ndarray,
    r: np.ndarray,
    q: float,
    t: int,
    t0: int,
    gammas: np.ndarray,
    which: np.ndarray,
    curvature: float,
    lambda1: np.ndarray,
    lambda2: np.ndarray,
    hinge: np.ndarray,
) -> float:
    """Take the steps of :func:`sgd_steps` at g points of a grid at once, and return the new q.

    A row is read once for all points, and an entry of it meets g neighbours in memory; each point's sums have
    the order of :func:`sgd_steps`, so that their results are the same to the last bit.

    Parameters
    ----------
    v, u : (d, g) arrays, s, r : (g,) arrays, q : float
        The states, all but q updated in place; q depends on t alone.
    gammas : (e,) array
        The different first steps; ``which``, (g,), says which is whose.
    lambda1, lambda2, hinge : (g,) arrays
    """
    etas = np.empty(gammas.size)
    inner, other = np.empty(s.size), np.empty(s.size)
    change, back = np.empty(s.size), np.empty(s.size)
    for n in range(first.size):
        t += 1
        i, j = first[n], second[n]
        label = y[i]
        inner[:] = 0.0
        other[:] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            value, row = data[k], v[indices[k]]
            for g in range(s.size):
                inner[g] += value * row[g]
        for k in range(indptr[j], indptr[j + 1]):
            value, row = data[k], v[indices[k]]
            for g in range(s.size):
                other[g] += value * row[g]
        for e in range(gammas.size):
            etas[e] = gammas[e] * (1.0 + curvature * gammas[e] * t) ** (-2.0 / 3.0)
        for g in range(s.size):
            own = inner[g] * s[g]
            pull = -lambda2[g] * label
            if label * own < 1.0:
                pull -= hinge[g] * label
            if lambda1[g] > 0.0:
                pull += 4.0 * lambda1[g] * (own - label * y[j] * s[g] * other[g])
            eta = etas[which[g]]
            s[g] *= 1.0 - eta
            if abs(s[g]) < _SMALL:
                for k in range(v.shape[0]):
                    u[k, g] += r[g] * v[k, g]
                    v[k, g] *= s[g]
                s[g], r[g] = 1.0, 0.0
            change[g] = -eta * pull / s[g]
            back[g] = r[g] * change[g]
        for k in range(indptr[i], indptr[i + 1]):
            value, row, mean = data[k], v[indices[k]], u[indices[k]]
            for g in range(s.size):
                row[g] += change[g] * value
                mean[g] -= back[g] * value
        if t > t0 + 1:
            q *= 1.0 - 1.0 / (t - t0)
            for g in range(s.size):
                r[g] += s[g] / ((t - t0) * q)
        elif t == t0 + 1:
            q = 1.0
            r[:] = s
    return q


@njit()
def sgd_steps_of_grid_dense(
    X: np.ndarray,
    y: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    w: np.ndarray,
    average: np.ndarray,
    t: int,
    t0: int,
    gammas: np.ndarray,
    which: np.ndarray,
    curvature: float,
    lambda1: np.ndarray,
    lambda2: np.ndarray,
    hinge: np.ndarray,
) -> None:
    """Take the steps of :func:`sgd_steps_dense` at g points at once; `w` and `average` are (d, g)."""
    etas = np.empty(gammas.size)
    inner, other = np.empty(which.size), np.empty(which.size)
    pull = np.empty(which.size)
    eta = np.empty(which.size)
    for n in range(first.size):
        t += 1
        i, j = first[n], second[n]
        label = y[i]
        inner[:] = 0.0
        other[:] = 0.0
        for k in range(w.shape[0]):
            mine, its, row = X[i, k], X[j, k], w[k]
            for g in range(which.size):
                inner[g] += mine * row[g]
                other[g] += its * row[g]
        for e in range(gammas.size):
            etas[e] = gammas[e] * (1.0 + curvature * gammas[e] * t) ** (-2.0 / 3.0)
        for g in range(which.size):
            seen = other[g] if lambda1[g] > 0.0 else 0.0
            pull[g] = 4.0 * lambda1[g] * (inner[g] - label * y[j] * seen) - lambda2[g] * label
            if label * inner[g] < 1.0:
                pull[g] -= hinge[g] * label
            eta[g] = etas[which[g]]
        mixing = 1.0 / max(1, t - t0)
        for k in range(w.shape[0]):
            mine, row, mean = X[i, k], w[k], average[k]
            for g in range(which.size):
                row[g] -= eta[g] * (row[g] + pull[g] * mine)
                mean[g] += mixing * (row[g] - mean[g])
