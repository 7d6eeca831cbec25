r"""The DRM objective, its matrices, and the certificate that a weight vector is optimal.

Notation of the paper (Peng & Cheng, Sections III to VI): `K` is the n x n Gram matrix with the examples
grouped by class, ``sizes = (n_1, ..., n_g)``; `H` is the diagonal of `K`, ``B = blockdiag(K^i / n_i)``,
``Q = K + alpha (H - B)``, and for a test point x the vector ``K_x = [k(x, x_j)]_j``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...base.parameters import is_number


def class_slices(sizes: Sequence[int] | np.ndarray) -> list[slice]:
    """Return the slice of each class in data that are grouped by class."""
    ends = np.cumsum(np.asarray(sizes, dtype=int))
    return [slice(int(end - size), int(end)) for size, end in zip(sizes, ends, strict=True)]


def within_matrix(K: np.ndarray, sizes: Sequence[int] | np.ndarray) -> np.ndarray:
    r"""Return H - B, the matrix of the within-class dissimilarity.

    :math:`S_w^\phi(w)=\frac12 w^\top(H-B)w`, where a class of one example contributes exactly 0.

    Parameters
    ----------
    K : (n, n) Gram matrix, grouped by class
    sizes : (g,) class sizes
    """
    W = np.zeros(K.shape)  # of floats, whatever K is made of
    for block in class_slices(sizes):
        W[block, block] = -K[block, block] / (block.stop - block.start)
    W[np.diag_indices_from(W)] += np.diagonal(K)
    return W


def between_matrix(K: np.ndarray, sizes: Sequence[int] | np.ndarray) -> np.ndarray:
    r"""Return B - K/n, the matrix of the between-class separability (eq. 7)."""
    S = -K / K.shape[0]
    for block in class_slices(sizes):
        S[block, block] += K[block, block] / (block.stop - block.start)
    return S


def system_matrix(
    K: np.ndarray, sizes: Sequence[int] | np.ndarray, alpha: float, beta: float = 0.0
) -> np.ndarray:
    r"""Return :math:`Q+\beta I=K+\alpha(H-B)+\beta I`.

    H - B is formed before it is multiplied by `alpha`, so a class of one example leaves exactly `beta`.
    """
    M = alpha * within_matrix(K, sizes)
    M += K
    M[np.diag_indices_from(M)] += beta
    return M


def objective(
    K: np.ndarray, sizes: Sequence[int] | np.ndarray, Kx: np.ndarray, w: np.ndarray, alpha: float, beta: float
) -> np.ndarray:
    r"""Return :math:`f(w)=\frac12w^\top(Q+\beta I)w-w^\top K_x` (eq. 12) for each column of `w`.

    Parameters
    ----------
    K : (n, n) Gram matrix, grouped by class
    sizes : (g,) class sizes
    Kx, w : (n,) or (n, m), one column a test point
    """
    return 0.5 * np.sum(w * (system_matrix(K, sizes, alpha, beta) @ w), axis=0) - np.sum(w * Kx, axis=0)


def kkt_residual(M: np.ndarray, W: np.ndarray, Kx: np.ndarray) -> float:
    r"""Return the largest :math:`\lVert Mw-K_x\rVert_\infty/\lVert K_x\rVert_\infty` over the columns.

    The numerator is the gradient of (12) at w, the denominator the gradient at 0: the certificate is the
    share of the gradient that the solver left over.
    """
    scale = np.abs(Kx).max(axis=0)
    residual = np.abs(M @ W - Kx).max(axis=0)
    return float(np.max(residual / np.where(scale > 0, scale, 1.0), initial=0.0))


def class_products(
    K: np.ndarray, sizes: Sequence[int] | np.ndarray, W: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return K W, and the array whose rows of class i are K^i W^i, in one sweep; both (n, m)."""
    own = np.empty_like(W)
    if len(sizes) > 3:  # the class blocks are small beside the whole
        for block in class_slices(sizes):
            own[block] = K[block, block] @ W[block]
        return K @ W, own
    KW = np.zeros_like(W)
    for block in class_slices(sizes):
        part = K[:, block] @ W[block]
        own[block] = part[block]
        KW += part
    return KW, own


def dissimilarity(
    sizes: Sequence[int] | np.ndarray, Kx: np.ndarray, W: np.ndarray, KW: np.ndarray, own: np.ndarray
) -> np.ndarray:
    r"""Return the class dissimilarities of eq. (10), one row a test point.

    :math:`\delta_i=(w|_{C_i})^\top K(w|_{C_i})+(w|_{\bar C_i})^\top K(w|_{\bar C_i})-2(w|_{C_i})^\top K_x`.

    Parameters
    ----------
    sizes : (g,) class sizes
    Kx, W : (n, m) kernel vectors and weights of m test points
    KW, own : (n, m)
        As :func:`class_products` returns them.

    Returns
    -------
    (m, g) array
    """
    # (w - w|i)' K (w - w|i) = w'Kw - 2 (w|i)'Kw + (w|i)'K(w|i)
    terms = W * (own - KW - Kx)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(int)
    return np.sum(W * KW, axis=0)[:, None] + 2 * np.add.reduceat(terms, starts, axis=0).T


def validate_parameters(alpha: float, beta: float) -> None:
    """Raise ValueError unless alpha >= 0 and beta > 0, both finite (the conditions of eq. 13)."""
    if not (is_number(alpha) and alpha >= 0):
        raise ValueError(f"alpha must be a finite number >= 0, got {alpha!r}")
    if not (is_number(beta) and beta > 0):
        raise ValueError(f"beta must be a finite number > 0, got {beta!r}")
