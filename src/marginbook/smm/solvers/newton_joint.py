r"""Newton's method in both blocks at once, for smooth losses of matrices of fixed rank.

Around :math:`B=QSP^\top` (S diagonal) all matrices of rank r are

.. math::
    B(A,E)=(QS+A)(P+ES^{-1})^\top=B+\underbrace{AP^\top+QE^\top}_{\Delta}+AS^{-1}E^\top,\qquad E^\top P=0,

and with :math:`M=-\sum_i\varphi_i'(m_i)y_iX_i`, the part of the gradient that the loss has, the second-order
model of the objective is

.. math::
    \langle2\lambda B-M,\Delta\rangle+\lambda\lVert\Delta\rVert_F^2
    +\tfrac12\sum_iD_i\langle X_i,\Delta\rangle^2-\langle M,AS^{-1}E^\top\rangle .

With :math:`MP_\perp=L\Theta R^\top` and :math:`E=P_\perp e` the last term couples only the entries (l, k) of
:math:`L^\top A` and :math:`R^\top e`, by :math:`\theta_l/s_k`: the quadratic form without the loss consists
of 2 x 2 blocks, with the curvatures :math:`2\lambda\mp\theta_l/s_k`. They are positive where B belongs to the
largest singular values of :math:`M/2\lambda`; elsewhere the loss may make up for it, and if it does not the
negative ones are cut back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...kernels.decomposition import svd
from .newton import ARMIJO, HALVINGS, Loss, direction
from .small_factors import complement, singular, thin_qr

#: the least curvature beside 2 lam, where negative ones are cut back
SOFTEST = 0.1
#: a singular value below this share of the largest counts as zero: its direction of P is kept
NULL = 1e-7


@dataclass
class Factors:
    """A matrix Q diag(s) P' with orthonormal columns, the intercept, and the margins."""

    Q: np.ndarray
    s: np.ndarray
    P: np.ndarray
    b: float
    margins: np.ndarray

    @property
    def coef(self) -> np.ndarray:
        return (self.Q * self.s) @ self.P.T


def factors(coef: np.ndarray, P: np.ndarray, b: float, X: np.ndarray, y: np.ndarray) -> Factors:
    """Return the factors of a matrix whose rows are in the span of the orthonormal columns of P."""
    left, s, right = svd(coef @ P)
    margins = y * (X.reshape(len(X), -1) @ coef.ravel() + b)
    return Factors(left, s, P @ right.T, b, margins)


def joint_newton(
    X: np.ndarray,
    y: np.ndarray,
    loss: Loss,
    at: Factors,
    *,
    lam: float,
    fit_intercept: bool,
    tol: float,
    max_iter: int,
    proximity: float = 0.0,
) -> tuple[Factors, int]:
    r"""Return a point where a Newton step promises less than `tol` times the objective, and the steps taken.

    Parameters
    ----------
    X : (n, d1, d2) array
    y : (n,) array of -1 and +1
    loss : callable
        Of the margins: values, slopes and curvatures, each (n,).
    at : Factors
        The start.
    lam : float
    fit_intercept : bool
    tol : float
    max_iter : int
    proximity : float
        Curvature of a proximal term of the intercept.
    """
    n, d1, d2 = X.shape
    flat = X.reshape(n, -1)
    values, slopes, curvatures = loss(at.margins)
    centre = at.b
    total = (
        float(values.sum()) + lam * float(at.s @ at.s) + 0.5 * proximity * (at.b - centre) * (at.b - centre)
    )
    for iteration in range(max_iter):
        M = -((slopes * y) @ flat).reshape(d1, d2)
        frame = frame_of(M, at, lam)
        B = at.coef
        gradient = frame.features((2.0 * lam * B - M)[None])[0]
        gradient_b = float(y @ slopes) + proximity * (at.b - centre) if fit_intercept else 0.0
        J = np.flatnonzero(curvatures > 0)
        A = y[J, None] * frame.features(X[J])
        found = None
        for ridge in (frame.ridge, np.maximum(frame.ridge, SOFTEST * 2.0 * lam)):
            found = found or direction(
                A,
                y[J],
                curvatures[J],
                gradient,
                gradient_b,
                ridge=ridge,
                fit_intercept=fit_intercept,
                proximity=proximity,
            )
        assert found is not None  # the second form is positive definite
        step, step_b = found
        slope = float(gradient @ step) + gradient_b * step_b
        if not -slope > tol * abs(total):
            return at, iteration
        left, right = frame.blocks(step)
        inverse = frame.alive / np.where(frame.alive > 0, at.s, 1.0)
        bent = (left * inverse) @ right.T
        first = left @ at.P.T + at.Q @ right.T
        change, change_2 = y * (flat @ np.stack([first.ravel(), bent.ravel()], axis=1)).T
        change += y * step_b
        squares = (
            float(np.sum(B * B)),
            2.0 * float(np.sum(B * first)),
            float(np.sum(first * first)) + 2.0 * float(np.sum(B * bent)),
            2.0 * float(np.sum(first * bent)),
            float(np.sum(bent * bent)),
        )
        size = 1.0
        for _ in range(HALVINGS):
            margins = at.margins + size * change + size * size * change_2
            values, slopes, curvatures = loss(margins)
            new_b = at.b + size * step_b
            norm = sum(term * size**k for k, term in enumerate(squares))
            new_total = (
                float(values.sum()) + lam * norm + 0.5 * proximity * (new_b - centre) * (new_b - centre)
            )
            if new_total <= total + ARMIJO * size * slope:
                break
            size *= 0.5
        else:
            return at, iteration
        at = retracted(at, size * left, size * right * inverse, new_b, margins)
        total = new_total
    return at, max_iter


def retracted(at: Factors, left: np.ndarray, turned: np.ndarray, b: float, margins: np.ndarray) -> Factors:
    """Return the factors of (Q S + left)(P + turned)'."""
    Q, first = thin_qr(at.Q * at.s + left)
    P, second = thin_qr(at.P + turned)
    U, s, V_t = singular(first @ second.T)
    return Factors(Q @ U, s, P @ V_t.T, b, margins)


@dataclass
class Frame:
    """Coordinates in which the quadratic form without the loss is diagonal."""

    at: Factors
    L: np.ndarray  # (d1, d1)
    R: np.ndarray  # (d2, d2 - r), orthogonal to P
    alive: np.ndarray  # (r,) 1 where the singular value is not zero
    ridge: np.ndarray  # (q,) the diagonal: pairs of softer, then of stiffer coordinates, then the others

    @property
    def paired(self) -> int:
        return min(len(self.L), self.R.shape[1])

    def features(self, X: np.ndarray) -> np.ndarray:
        """Return the coordinates (k, q) of a stack of matrices (k, d1, d2)."""
        k, d1, d2 = X.shape
        rank, m = len(self.alive), self.paired
        # what is common to all matrices of the stack goes into the small factors
        L, R = self.L.copy(), self.R.copy()
        L[:, :m] *= np.sqrt(0.5)
        R[:, :m] *= np.sqrt(0.5)
        rows = (X.reshape(k * d1, d2) @ self.at.P).reshape(k, d1, rank).transpose(0, 2, 1)
        rows = (rows.reshape(k * rank, d1) @ L).reshape(k, rank, d1)
        columns = np.matmul((self.at.Q * self.alive).T, X).reshape(k * rank, d2)
        columns = (columns @ R).reshape(k, rank, d2 - rank)
        found = np.empty((k, rank * (d1 + d2 - rank)))
        softer, stiffer = (found[:, i * rank * m : (i + 1) * rank * m].reshape(k, rank, m) for i in (0, 1))
        np.add(rows[:, :, :m], columns[:, :, :m], out=softer)
        np.subtract(rows[:, :, :m], columns[:, :, :m], out=stiffer)
        rest = 2 * rank * m
        split = rest + rank * (d1 - m)
        found[:, rest:split] = rows[:, :, m:].reshape(k, split - rest)
        found[:, split:] = columns[:, :, m:].reshape(k, found.shape[1] - split)
        return found

    def blocks(self, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return A (d1, r) and E (d2, r) for a step (q,) in these coordinates."""
        m, rank = self.paired, len(self.alive)
        softer, stiffer = np.sqrt(0.5) * step[: 2 * m * rank].reshape(2, rank, m)
        rest = step[2 * m * rank :]
        split = (len(self.L) - m) * rank
        rows = np.hstack([softer + stiffer, rest[:split].reshape(rank, -1)])
        columns = np.hstack([softer - stiffer, rest[split:].reshape(rank, -1)])
        return self.L @ rows.T, (self.R @ columns.T) * self.alive


def frame_of(M: np.ndarray, at: Factors, lam: float) -> Frame:
    """Return the coordinates for the combination M(c) of the multipliers."""
    rank = len(at.s)
    away = complement(at.P)
    L, theta, R_t = singular(M @ away, full=True)
    alive = (at.s > NULL * at.s[0]).astype(float)
    coupling = np.outer(alive / np.where(alive > 0, at.s, 1.0), theta).ravel()
    alone = np.zeros((len(L) + R_t.shape[0] - 2 * len(theta)) * rank)
    ridge = 2.0 * lam + np.concatenate([-coupling, coupling, alone])
    return Frame(at, L, away @ R_t.T, alive, ridge)
