r"""Steps of preconditioned conjugate gradients, on many right-hand sides at once.

With a residual r, the preconditioner C and the last direction :math:`p'`, a step goes along

.. math:: p=C^{-1}r+dp',\qquad d=\frac{r^\top C^{-1}r}{r'^\top C^{-1}r'},\qquad Cp=r+dCp'.

A column that is finished leaves, so that the others go on alone. What a system has to offer is a
:class:`Preconditioned`; when a column is finished, and what is done with its steps, say the solvers of
:mod:`marginbook.drm.solvers.conjugate_gradients`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np


class Preconditioned(Protocol):
    """A system and its preconditioner C, both divided from left and right by the root of D.

    Attributes
    ----------
    scale : (n, 1) array
        One over the root of D.
    slack : float
        Share of a squared residual that rounding in the preconditioner may hide.
    keeps_image : bool
        Whether `product` makes use of C P, which the iteration then carries along.
    """

    scale: np.ndarray
    slack: float
    keeps_image: bool

    def precondition(self, R: np.ndarray) -> np.ndarray:
        """Return the product of `R`, (n, m), with the inverse of C."""

    def product(self, P: np.ndarray, image: np.ndarray | None) -> np.ndarray:
        """Return the product of `P`, (n, m), with the system; `image` is C P where it is kept."""


def iterate(
    M: Preconditioned,
    right: np.ndarray,
    finished: Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray],
    move: Callable[[np.ndarray, np.ndarray], None] | None,
    max_iter: int,
) -> None:
    """Iterate on the columns of `right` until `finished` says so.

    Parameters
    ----------
    M : Preconditioned
    right : (n, m) array
    finished : callable
        (columns, values, rests, sizes) -> which of these columns are finished. Values are the products of a
        column with its iterate, rests those of its residual with the preconditioned one, sizes the squared
        lengths of residuals divided by the root of D.
    move : callable or None
        Gets columns and what is added to their iterates; None where nobody needs the iterates.
    max_iter : int
    """
    R = M.scale * right
    turned = M.precondition(R)
    P, image = turned.copy(), R.copy() if M.keeps_image else None
    rest, size = np.einsum("nm,nm->m", R, turned), np.einsum("nm,nm->m", R, R)
    values, active = np.zeros(len(rest)), np.arange(len(rest))
    for _ in range(max_iter):
        done = finished(active, values, rest, size)
        if done.any():
            kept = ~done
            R, P, rest, values, active = R[:, kept], P[:, kept], rest[kept], values[kept], active[kept]
            image = None if image is None else image[:, kept]
        if not active.size:
            return
        Q = M.product(P, image)
        curvature = np.einsum("nm,nm->m", P, Q)
        length = np.divide(rest, curvature, out=np.zeros_like(rest), where=curvature > 0)
        if move is not None:
            move(active, M.scale * (length * P))
        Q *= length
        R -= Q
        values = values + length * rest
        turned = M.precondition(R)
        size = np.einsum("nm,nm->m", R, R)
        after = size if turned is R else np.einsum("nm,nm->m", R, turned)
        further = np.divide(after, rest, out=np.zeros_like(rest), where=rest > 0)
        P *= further
        P += turned
        if image is not None:
            image *= further
            image += R
        rest = after
    finished(active, values, rest, size)
