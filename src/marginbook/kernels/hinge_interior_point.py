r"""A quadratic form plus weighted hinge losses, by a primal-dual interior point: ten to thirty systems.

.. math::
    \min_{w,b}\ \tfrac12w^\top Qw-q^\top w+\sum_iC_i(1-m_i)_+,\qquad m_i=a_i^\top w+y_ib,\quad a_i=y_iz_i,

with Q positive definite, C positive, and b = 0 where there is no intercept. The dual is

.. math::
    \max_c\ \mathbf 1^\top c-\tfrac12(q+A^\top c)^\top Q^{-1}(q+A^\top c),\qquad 0\le c_i\le C_i,\quad
    y^\top c=0\text{ where the intercept is free},

and the conditions of both are :math:`m_i-1=s_i-\xi_i`, :math:`Qw=q+A^\top c`, :math:`y^\top c=0`,
:math:`c_is_i=0`, :math:`(C_i-c_i)\xi_i=0` with :math:`s,\xi\ge0`. Predictor and corrector share the factor of
:math:`Q+A^\top D^{-1}A`, p x p, or, for :math:`Q=\rho I` and no more samples than features, of
:math:`D+AA^\top/\rho`, n x n, with :math:`D_i=s_i/c_i+\xi_i/(C_i-c_i)`. That w is kept beside c, and not
computed from it, matters for small Q: the sum :math:`A^\top c` cancels.

Source: S. Mehrotra, On the implementation of a primal-dual interior point method, SIAM Journal on
Optimization 2, 1992.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cholesky
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf, dpotrs

#: share of the way to the boundary that a step may go
BOUNDARY = 0.995
#: a step this short is the last
SHORTEST = 1e-10
#: steps after which one that improves nothing is the last
PATIENCE = 30


class Iterate(NamedTuple):
    """w (p,), b, multipliers c (n,), their room to C, slacks s and losses xi: the last four positive."""

    w: np.ndarray
    b: float
    c: np.ndarray
    room: np.ndarray
    s: np.ndarray
    xi: np.ndarray

    def moved(self, step: Iterate, size: float) -> Iterate:
        """Return the point `size` along `step`."""
        return Iterate(
            self.w + size * step.w,
            self.b + size * step.b,
            self.c + size * step.c,
            self.room + size * step.room,
            self.s + size * step.s,
            self.xi + size * step.xi,
        )

    def reach(self, step: Iterate) -> float:
        """Return the length, at most 1, at which the first of the positive numbers is 0."""
        ratios = (float(np.max(-new / old)) for old, new in zip(self[2:], step[2:], strict=True))
        return 1.0 / max(1.0, *ratios)

    def complementarity(self) -> float:
        """Return the mean of the products that are 0 at the optimum."""
        return (float(self.c @ self.s) + float(self.room @ self.xi)) / (2 * len(self.c))


class HingeProgram:
    """The problem above.

    Parameters
    ----------
    A : (n, p) array
        Rows :math:`y_iz_i`, n >= 1.
    C : (n,) array, positive
    Q : float or (p, p) array, positive definite
        A number stands for its multiple of the identity.
    q : (p,) array, optional
        0 by default.
    y : (n,) array of -1 and +1, both present, optional
        With it the intercept is free.
    """

    def __init__(
        self,
        A: np.ndarray,
        C: np.ndarray,
        Q: float | np.ndarray,
        q: np.ndarray | float = 0.0,
        y: np.ndarray | None = None,
    ) -> None:
        self.A, self.C, self.Q, self.q, self.y = A, C, Q, q, y
        self.factor = cholesky(Q, lower=True) if isinstance(Q, np.ndarray) else None
        self.gram = None
        if not isinstance(Q, np.ndarray) and len(C) <= A.shape[1]:
            self.gram = dsyrk(1.0 / Q, A.T, trans=1, lower=1)

    def curved(self, w: np.ndarray) -> np.ndarray:
        """Return Q w."""
        return self.Q @ w if isinstance(self.Q, np.ndarray) else self.Q * w

    def uncurved(self, v: np.ndarray) -> np.ndarray:
        """Return Q^-1 v."""
        return solve(self.factor, v) if self.factor is not None else v / self.Q

    def minimiser(self, c: np.ndarray) -> np.ndarray:
        """Return the w that minimises the Lagrangian of `c`, refined once."""
        right = self.q + c @ self.A
        w = self.uncurved(right)
        return w + self.uncurved(right - self.curved(w))

    def value(self, w: np.ndarray, c: np.ndarray) -> tuple[float, float]:
        """Return the objective at `w`, without an intercept, and its distance to the lower bound of `c`.

        The distance is a sum of what each sample and the slope lack, so that its digits do not cancel.
        """
        short, Qw = 1.0 - self.A @ w, self.curved(w)
        hinge = np.maximum(short, 0.0)
        slope = Qw - self.q - c @ self.A
        gap = 0.5 * float(slope @ self.uncurved(slope)) + float((self.C * hinge - c * short).sum())
        return 0.5 * float(w @ Qw) - float(np.sum(self.q * w)) + float(self.C @ hinge), gap

    def start(self) -> Iterate:
        """Return w = 0 and multipliers in the middle of their box, balanced between the classes.

        The w of these multipliers would be huge where C is, and take twice as many steps to come back.
        """
        c, ones = 0.5 * self.C, np.ones(len(self.C))
        if self.y is not None:
            positive = self.y > 0
            sums = float(c[positive].sum()), float(c[~positive].sum())
            c = c * np.where(positive, min(1.0, sums[1] / sums[0]), min(1.0, sums[0] / sums[1]))
        return Iterate(np.zeros(self.A.shape[1]), 0.0, c, self.C - c, ones, ones)

    def iterates(self, most: int) -> Iterator[Iterate]:
        """Yield the iterates after each of up to `most` steps, fewer where rounding ends them."""
        at = self.start()
        mu = at.complementarity()
        for _ in range(most):
            with np.errstate(all="ignore"):
                try:
                    newton = _Newton(self, at)
                except LinAlgError:
                    return
                affine = newton.step(-at.c * at.s, -at.room * at.xi)
                after = at.moved(affine, at.reach(affine)).complementarity()
                centre = mu * min(1.0, max(after / mu, 0.0) ** 3)
                step = newton.step(
                    centre - at.c * at.s - affine.c * affine.s,
                    centre - at.room * at.xi - affine.room * affine.xi,
                )
                size = at.reach(step)
                at = at.moved(step, BOUNDARY * size)
                mu = at.complementarity()
            if not (size > 0 and mu > 0 and np.isfinite(at.w).all()):
                return
            yield at
            if size < SHORTEST:
                return

    def minimise(
        self, enough: Callable[[float, float], bool], most: int
    ) -> tuple[np.ndarray, np.ndarray, float, int]:
        """Minimise without an intercept.

        Parameters
        ----------
        enough : callable
            Of an objective and its gap: True stops.
        most : int
            Most steps.

        Returns
        -------
        w : (p,) array
            The minimiser of the Lagrangian of `c`.
        c : (n,) array
        gap : float
            The smallest that was met, of `w` and `c`.
        n_iter : int
            Systems that were factorised.
        """
        start = self.start()
        w, c, least, steps = start.w, start.c, np.inf, 0
        for steps, at in enumerate(self.iterates(most), 1):
            lowest = self.minimiser(at.c)
            objective, gap = self.value(lowest, at.c)
            if gap < least:
                w, c, least = lowest, at.c, gap
                if enough(objective, gap):
                    break
            elif steps > PATIENCE:
                break
        return w, c, least, steps


class _Newton:
    """The linear system in one iterate, for several right-hand sides."""

    def __init__(self, program: HingeProgram, at: Iterate) -> None:
        self.program, self.at = program, at
        A, y = program.A, program.y
        self.inverse = 1.0 / (at.s / at.c + at.xi / at.room)
        self.residual = A @ at.w - 1.0 - at.s + at.xi
        self.residual_w = program.curved(at.w) - program.q - at.c @ A
        if y is not None:
            self.residual += at.b * y
        if program.gram is not None:
            K = program.gram.copy(order="F")
            K.flat[:: len(K) + 1] += 1.0 / self.inverse
            self.factor, self.mixed = factorise(K), y
        else:
            rows = (A * np.sqrt(self.inverse)[:, None]).T
            if isinstance(program.Q, np.ndarray):
                H = dsyrk(1.0, rows, beta=1.0, c=program.Q, lower=1)
            else:
                H = dsyrk(1.0, rows, lower=1)
                H.flat[:: len(H) + 1] += program.Q
            self.factor, self.mixed = factorise(H), None if y is None else (self.inverse * y) @ A
        self.spread = None if self.mixed is None else solve(self.factor, self.mixed)

    def step(self, first: np.ndarray, second: np.ndarray) -> Iterate:
        """Return the step for which c s and (C - c) xi change by `first` and `second`, to first order."""
        at, program = self.at, self.program
        A, y = program.A, program.y
        q = -self.residual + first / at.c - second / at.room
        db = 0.0
        if program.gram is not None:
            dc = solve(self.factor, q + A @ program.uncurved(self.residual_w))
            if y is not None and self.spread is not None:
                db = (float(y @ dc) + float(y @ at.c)) / (float(y @ self.spread) or np.nan)
                dc = dc - db * self.spread
            dw = program.uncurved(dc @ A - self.residual_w)
        else:
            dw = solve(self.factor, (self.inverse * q) @ A - self.residual_w)
            if y is not None and self.mixed is not None and self.spread is not None:
                wanted = float(self.inverse @ (y * q)) + float(y @ at.c) - float(self.mixed @ dw)
                db = wanted / (float(self.inverse.sum()) - float(self.mixed @ self.spread) or np.nan)
                dw = dw - db * self.spread
                q = q - db * y
            dc = self.inverse * (q - A @ dw)
        return Iterate(dw, db, dc, -dc, (first - at.s * dc) / at.c, (second + at.xi * dc) / at.room)


def factorise(matrix: np.ndarray) -> np.ndarray:
    """Return the Cholesky factor of a matrix given by its lower triangle; more ridge if rounding needs it.

    Raises
    ------
    LinAlgError
        If no finite ridge helps: the matrix is not finite, or its diagonal nowhere positive.
    """
    factor, info = dpotrf(matrix, lower=1, clean=0)
    if info == 0:
        return np.asarray(factor)
    n = len(matrix)
    diagonal = matrix.flat[:: n + 1].copy()
    ridge = 1e-15 * float(diagonal.max())
    while 0 < ridge < np.inf:
        matrix.flat[:: n + 1] = diagonal + ridge
        factor, info = dpotrf(matrix, lower=1, clean=0)
        if info == 0:
            return np.asarray(factor)
        ridge *= 10.0
    raise LinAlgError("the matrix is not finite, or its diagonal nowhere positive")


def solve(factor: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the solution for a lower Cholesky factor."""
    return np.asarray(dpotrs(factor, right, lower=1)[0])
