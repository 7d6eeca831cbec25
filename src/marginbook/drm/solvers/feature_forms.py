r"""The forms of :mod:`marginbook.drm.solvers.one_pass` for thousands of features: matrix products alone.

Where :math:`E_i=I-\frac{\alpha}{n_i}G_i` is far from singular, its Cholesky factor :math:`E_i=LL^\top` gives

.. math:: C_i=G_iE_i^{-1}=G_i+\tfrac{\alpha}{n_i}(L^{-1}G_i)^\top(L^{-1}G_i),

a sum of positive semidefinite matrices, so nothing cancels, in a fifth of the time of an eigendecomposition.
Elsewhere (classes of nearly collinear features) the eigendecomposition of ``linear_maps`` is taken.
"""

from __future__ import annotations

import numpy as np

from ...kernels.decomposition import cholesky, forward, product
from .one_pass import TINY, ClassMoments, linear_maps

#: a pivot below this share of 1 calls for an eigendecomposition
SMALLEST = 1e-4
#: random directions in which the class steps are looked at
PROBES = 16


def class_forms(moments: ClassMoments) -> tuple[np.ndarray, float]:
    """Return the forms R, (g, p, p), with ``delta_i(x) = x' R[i] x``, and the certificate; O(g p^3).

    The certificate is that of :class:`~marginbook.drm.solvers.one_pass.LinearMaps`, where the norms of the
    class steps are estimated from 16 random directions.
    """
    g, p, _ = moments.G.shape
    directions = np.random.default_rng(0).normal(size=(p, PROBES))
    T, worst = np.empty((g, p, p)), 0.0
    for i, G in enumerate(moments.G):
        share = moments.alpha / moments.sizes[i] if moments.sizes[i] else 0.0
        E = -share * G
        E[np.diag_indices(p)] += 1.0
        try:
            L = cholesky(E.copy())
        except np.linalg.LinAlgError:
            L = np.zeros((p, p))
        if np.diagonal(L).min() ** 2 < SMALLEST:
            maps = linear_maps(moments)
            return maps.R, maps.kkt_residual
        half = forward(L, G)
        T[i] = G + share * product(half.T, half)
        right = G @ directions
        step = np.linalg.norm(T[i] @ (E @ directions) - right) / max(float(np.linalg.norm(right)), TINY)
        worst = max(worst, float(step))
    total = T.sum(axis=0)
    total[np.diag_indices(p)] += 1.0
    L = cholesky(total)
    half = forward(L, np.eye(p))
    Y = product(half.T, half)
    for i in range(g):
        T[i] = product(T[i], Y)
    S = T.sum(axis=0)
    R = np.empty_like(T)
    own = [product(part.T, part) for part in T] if g == 2 else []
    for i, part in enumerate(T):
        if g == 2:
            R[i] = own[0] + own[1]
        else:
            rest = S - part
            R[i] = product(part.T, part) + product(rest.T, rest)
        R[i] -= part + part.T
    Y += S
    Y[np.diag_indices(p)] -= 1.0
    return R, max(worst, float(np.linalg.norm(Y) / np.sqrt(p)))
