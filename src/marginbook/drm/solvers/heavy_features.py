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

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.sparse import csr_matrix

from ..model.operators import LinearSystem
from . import conjugate_gradients as plain

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
    """A form of the system for :func:`marginbook.drm.solvers.conjugate_gradients.conjugate_gradients`.

    Attributes
    ----------
    system : LinearSystem
    classes : list of ClassColumns
    scale, slack, keeps_image
        As in :class:`marginbook.drm.solvers.conjugate_gradients.Preconditioned`.
    """

    keeps_image = True

    def __init__(self, system: LinearSystem, classes: list[ClassColumns], slack: float) -> None:
        self.system, self.classes, self.slack = system, classes, slack
        self.scale = (1.0 / np.sqrt(plain.preconditioner(system)))[:, np.newaxis]

    @classmethod
    def of(cls, system: LinearSystem, least: float) -> Self | None:
        """Return the form of `system`; None where it does not pay, or rounding would take its digits.

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
        return cls(system, classes, 10 * largest / least * float(np.finfo(float).eps))

    def precondition(self, R: np.ndarray) -> np.ndarray:
        """Return the product of `R`, (n, m), with the inverse of C, by Woodbury's identity for each class."""
        self._count(R, sum(part.heavy.nnz + part.inverse.size for part in self.classes))
        own = [part.inverse @ (part.heavy.T @ R[part.block]) for part in self.classes]
        both = sum(own[1:], start=own[0])
        solved = R.copy()
        for part, found in zip(self.classes, own, strict=True):
            solved[part.block] -= part.heavy @ (part.coupling @ both - part.share * found)
        return solved

    def product(self, P: np.ndarray, image: np.ndarray | None) -> np.ndarray:
        """Return the product of `P`, (n, m), with the system, where `image` is C P."""
        assert image is not None, "the iteration keeps it"
        found = self.light_product(P)
        found += image
        return found

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
