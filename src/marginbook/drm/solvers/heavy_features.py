r"""Conjugate gradients on sparse rows whose frequent features are taken exactly and cost nothing twice.

:mod:`marginbook.drm.solvers.conjugate_gradients` preconditions by :math:`D+FF^\top`, with F the columns of
the heaviest features, and an iteration pays for F twice: in the preconditioner and in the product with
:math:`M=D+K-\alpha B`. Here F and the other columns L are kept apart. As :math:`K=FF^\top+LL^\top`, and the
blocks of B are sums alike,

.. math:: M=C+LL^\top-\alpha B_L,\qquad C=D+FF^\top-\alpha B_F,

and a direction :math:`p=C^{-1}r+dp'` has :math:`Cp=r+dCp'`, which is known: a product with M then multiplies
by L alone, and an iteration by each stored entry of the rows twice. With the lower bound :math:`\mu` of that
module, :math:`D-\alpha B\ge\mu D\ge\mu(D-\alpha B_F)`, hence :math:`M\ge\mu C`: its brackets hold for this C.
Source of the identity: Eisenstat, Efficient implementation of a class of preconditioned conjugate gradient
methods, 1981.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.sparse import csr_matrix

from ..model.operators import LinearSystem
from . import conjugate_gradients as plain
from .iteration import Iterates

#: multiplications in small dense matrices for one with a stored entry that take the same time
QUICK = 4.0


@dataclass(frozen=True)
class ClassColumns:
    """The rows of one class, their features apart.

    Products with the transposes go through the same rows in order: a sum for each heavy feature stays in the
    cache, and a transposed copy would be slower.

    Attributes
    ----------
    block : slice
        Their places among the rows.
    share : float
        alpha over the weight of the class; 0 for a class of one row.
    heavy, light : (k, h) and (k, l) CSR matrices
    inverse : (h, h) array
        Of ``I - share * heavy' heavy``.
    coupling : (h, h) array
        `inverse` times the inverse of ``I + sum_i inverse_i heavy_i' heavy_i`` over all classes.
    """

    block: slice
    share: float
    heavy: csr_matrix
    light: csr_matrix
    inverse: np.ndarray
    coupling: np.ndarray


class HeavyFeatures:
    """Solves (12) on sparse rows; in the variables of `system`, as the functions that it stands for.

    Attributes
    ----------
    system : LinearSystem
    classes : list of ClassColumns
    slack : float
        Share of a squared residual that rounding in the preconditioner may hide.
    least : float
        The lower bound of the eigenvalues.
    """

    def __init__(self, system: LinearSystem, classes: list[ClassColumns], slack: float, least: float) -> None:
        self.system, self.classes, self.slack, self.least = system, classes, slack, least
        self.diagonal = plain.preconditioner(system)
        self.scale = (1.0 / np.sqrt(self.diagonal))[:, np.newaxis]

    @classmethod
    def of(cls, system: LinearSystem, least: float) -> Self | None:
        """Return the solver of `system`; None where it does not pay, or rounding would take its digits.

        Parameters
        ----------
        system : LinearSystem
            Of sparse rows.
        least : float
            What :func:`~marginbook.drm.solvers.conjugate_gradients.eigenvalue_floor` returns.
        """
        scale = (1.0 / np.sqrt(plain.preconditioner(system)))[:, np.newaxis]
        blocks = list(zip(system.blocks, system.parts, strict=True))
        parts = [csr_matrix(part.multiply(scale[block])) for block, part in blocks]
        squares = np.sum([np.asarray(part.multiply(part).sum(axis=0)).ravel() for part in parts], axis=0)
        order = np.argsort(-squares, kind="stable")
        chosen, others = np.sort(order[: plain.HEAVY]), np.sort(order[plain.HEAVY :])
        others = others[squares[others] > 0]
        heavy = [csr_matrix(part[:, chosen]) for part in parts]
        # in each iteration the dense matrices of the classes stand against two products with F
        if 2 * len(parts) * len(chosen) ** 2 > QUICK * 2 * sum(own.nnz for own in heavy):
            return None
        unit, inner = np.eye(len(chosen)), [(own.T @ own).toarray() for own in heavy]
        largest = float(np.abs(unit + sum(inner)).sum(axis=1).max())
        if not largest <= plain.LARGEST * least:
            return None
        shares = np.where(system.sizes > 1, system.alpha / system.totals, 0.0)
        inverses = [np.linalg.inv(unit - share * own) for share, own in zip(shares, inner, strict=True)]
        total = np.linalg.inv(unit + sum(one @ own for one, own in zip(inverses, inner, strict=True)))
        classes = [
            ClassColumns(block, float(share), own, csr_matrix(part[:, others]), inverse, inverse @ total)
            for block, share, own, part, inverse in zip(
                system.blocks, shares, heavy, parts, inverses, strict=True
            )
        ]
        return cls(system, classes, 10 * largest / least * float(np.finfo(float).eps), least)

    def solve(self, Kx: np.ndarray, *, max_iter: int, tol: float) -> Iterates:
        """As :func:`~marginbook.drm.solvers.conjugate_gradients.conjugate_gradients`."""
        limit = self._limit(Kx, tol)
        W, n_iter, step = np.zeros_like(Kx), np.zeros(Kx.shape[1], dtype=int), np.zeros(Kx.shape[1])
        before = self.system.multiplications

        def finished(
            active: np.ndarray, values: np.ndarray, rest: np.ndarray, size: np.ndarray
        ) -> np.ndarray:
            done: np.ndarray = size <= limit[active]
            return done

        def move(active: np.ndarray, change: np.ndarray) -> None:
            W[:, active] += change
            n_iter[active] += 1
            step[active] = np.sqrt(_dots(change, change))

        self._run(Kx, finished, move, max_iter)
        spent = self.system.multiplications - before
        with self.system.uncounted():
            left = np.abs(self.system.gradient(W, Kx)).max(axis=0)
        scale = np.abs(Kx).max(axis=0)
        # where rounding stopped it, the residual of the recursion says more than there is
        return Iterates(
            W, n_iter, left <= 2 * tol * scale, step, left / np.where(scale > 0, scale, 1.0), spent
        )

    def bracketed_difference(
        self, Kx: np.ndarray, *, max_iter: int, tol: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """As :func:`~marginbook.drm.solvers.conjugate_gradients.bracketed_difference`."""
        m = Kx.shape[1]
        right = np.zeros((len(Kx), 2 * m))
        for i, part in enumerate(self.classes):
            right[part.block, i * m : (i + 1) * m] = Kx[part.block]
        limit = self._limit(Kx, tol)
        middle, done, left = np.zeros(m), np.zeros(m, dtype=bool), np.zeros(m)

        def finished(
            active: np.ndarray, values: np.ndarray, rest: np.ndarray, size: np.ndarray
        ) -> np.ndarray:
            half = len(active) // 2
            points = active[:half]
            low = values.reshape(2, half)
            width = ((rest + self.slack * size) / self.least).reshape(2, half)
            apart = (low[1] > low[0] + width[0]) | (low[0] > low[1] + width[1])
            middle[points] = 2 * (low[1] - low[0])
            left[points] = size.reshape(2, half).max(axis=0)
            done[points] = apart | (left[points] <= limit[points])
            return np.tile(done[points], 2)

        self._run(right, finished, None, max_iter)
        unit = self._limit(Kx, 1.0)
        return middle, done, np.zeros(m), np.sqrt(left / np.where(unit > 0, unit, 1.0))

    def precondition(self, R: np.ndarray) -> np.ndarray:
        """Return the product of `R`, (n, m), with the inverse of C, by Woodbury's identity for each class."""
        self._count(R, sum(part.heavy.nnz + part.inverse.size for part in self.classes))
        own = [part.inverse @ (part.heavy.T @ R[part.block]) for part in self.classes]
        both = sum(own[1:], start=own[0])
        solved = R.copy()
        for part, found in zip(self.classes, own, strict=True):
            solved[part.block] -= part.heavy @ (part.coupling @ both - part.share * found)
        return solved

    def light_product(self, P: np.ndarray) -> np.ndarray:
        """Return the product of `P`, (n, m), with M - C: that of the features that C leaves out."""
        self._count(P, sum(part.light.nnz for part in self.classes))
        sums = [part.light.T @ P[part.block] for part in self.classes]
        total = sum(sums[1:], start=sums[0])
        found = np.empty_like(P)
        for part, own in zip(self.classes, sums, strict=True):
            own *= -part.share
            own += total
            found[part.block] = part.light @ own
        return found

    def _count(self, V: np.ndarray, twice: int) -> None:
        self.system.multiplications += 2 * twice * V.shape[1]

    def _limit(self, Kx: np.ndarray, tol: float) -> np.ndarray:
        """Return bounds of r'r/D, (m,), below which no residual r is longer than `tol` max|Kx|."""
        found: np.ndarray = (tol * np.abs(Kx).max(axis=0)) ** 2 / self.diagonal.max()
        return found

    def _run(
        self,
        right: np.ndarray,
        finished: Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray],
        move: Callable[[np.ndarray, np.ndarray], None] | None,
        max_iter: int,
    ) -> None:
        """Iterate on the columns of `right` until `finished` of (columns, values, rests, sizes) says so.

        Values are the products of a column with its iterate, rests those of its residual with the
        preconditioned one, sizes the squared lengths of residuals divided by the root of D.
        """
        R = self.scale * right
        turned = self.precondition(R)
        P, CP = turned.copy(), R.copy()
        rest, size = _dots(R, turned), _dots(R, R)
        values, active = np.zeros(len(rest)), np.arange(len(rest))
        for _ in range(max_iter):
            done = finished(active, values, rest, size)
            if done.any():
                kept = ~done
                R, P, CP, rest = R[:, kept], P[:, kept], CP[:, kept], rest[kept]
                values, active = values[kept], active[kept]
            if not active.size:
                return
            Q = self.light_product(P)
            Q += CP
            length = _ratio(rest, _dots(P, Q))
            if move is not None:
                move(active, self.scale * (length * P))
            Q *= length
            R -= Q
            values = values + length * rest
            turned = self.precondition(R)
            size, after = _dots(R, R), _dots(R, turned)
            further = _ratio(after, rest)
            P *= further
            P += turned
            CP *= further
            CP += R
            rest = after
        finished(active, values, rest, size)


def _dots(U: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Return the inner products of columns, (m,)."""
    found: np.ndarray = np.einsum("nm,nm->m", U, V)
    return found


def _ratio(over: np.ndarray, under: np.ndarray) -> np.ndarray:
    """Return the quotients, 0 for those by what is not positive."""
    return np.divide(over, under, out=np.zeros_like(over), where=under > 0)
