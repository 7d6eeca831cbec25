r"""The linear systems of KM-OMD: a Gram matrix with a ridge, :math:`(G_F+\mathrm{diag}(r))V=E`.

:class:`StoredGram` factorises up to 3000 rows and iterates beyond, by conjugate gradients on all columns of E
at once; :class:`FeatureGram` has :math:`G=ZZ^\top` with few columns of Z. The preconditioner of the iteration
is :math:`BB^\top+\mathrm{diag}(r)+\epsilon I`, with :math:`BB^\top` what a few hundred of the rows know of G
(Nyström) and :math:`\epsilon` the mean of what they leave on the diagonal.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.linalg.lapack import dposv

from ...kernels.conjugate_gradients import conjugate_gradients, nystrom_factor, ridge_inverse

#: rows up to which a system is factorised
DIRECT = 3000
#: rows that the preconditioner knows
KNOWN = 500
#: steps of one iteration
STEPS = 300
#: share of the rows from which a product with all of G takes less than a copy of a part and products with it
WHOLE = 0.6


class Indefinite(ValueError):
    """The Gram matrix has an eigenvalue below zero."""

    def __init__(self) -> None:
        super().__init__("the kernel is not positive semidefinite on these data; choose another one")


class GramMatrix(Protocol):
    """What KM-OMD asks of a Gram matrix G, (m, m)."""

    m: int
    #: whether the systems are solved only up to the accuracy asked for
    iterates: bool

    def mean_diagonal(self) -> float:
        """Return the mean of k(x, x)."""

    def times(self, signed: np.ndarray) -> np.ndarray:
        """Return ``G @ signed``, (m,)."""

    def solve(
        self, index: np.ndarray, ridge: np.ndarray, right: np.ndarray, accuracy: float
    ) -> np.ndarray | None:
        """Return V, (n, k), for the rows `index`, (n,), with `ridge`, (n,), and E = `right`, (n, k).

        None where the system is singular; entries of the residual are at most `accuracy` if it `iterates`.
        """


class StoredGram:
    """Of a matrix `G`, (m, m), in memory."""

    def __init__(self, G: np.ndarray) -> None:
        self.G, self.m = np.asarray(G, dtype=float), len(G)
        self.iterates = self.m > DIRECT
        self.known: np.ndarray | None = None
        self.last: np.ndarray | None = None

    def mean_diagonal(self) -> float:
        """Return the mean of k(x, x)."""
        return float(np.trace(self.G)) / self.m

    def times(self, signed: np.ndarray) -> np.ndarray:
        """Return ``G @ signed``, (m,)."""
        index = np.flatnonzero(signed)
        # a product with few rows is cheaper than one with all, but the rows have to be copied
        few = 3 * len(index) < self.m
        return signed[index] @ self.G[index] if few else self.G @ signed

    def solve(
        self, index: np.ndarray, ridge: np.ndarray, right: np.ndarray, accuracy: float
    ) -> np.ndarray | None:
        """Return V; see :class:`GramMatrix`."""
        if len(index) > DIRECT:
            return self._iterated(index, ridge, right, accuracy)
        system = self.G.copy() if len(index) == self.m else self.G[np.ix_(index, index)]
        system[np.diag_indices_from(system)] += ridge
        # the transpose of a symmetric matrix is itself, in the order of columns that LAPACK wants
        _, v, info = dposv(system.T, np.asfortranarray(right), lower=1, overwrite_a=1)
        return None if info else np.asarray(v)

    def _iterated(
        self, index: np.ndarray, ridge: np.ndarray, right: np.ndarray, accuracy: float
    ) -> np.ndarray:
        """Return V by conjugate gradients on each column of `right`, from the last V."""
        if self.known is None:
            self.known = self._columns()
        B = self.known[index]
        left = np.maximum(np.diagonal(self.G)[index] - np.einsum("ij,ij->i", B, B), 0.0)
        whole = len(index) > WHOLE * self.m
        part = None if whole else self.G[np.ix_(index, index)]

        def times(V: np.ndarray) -> np.ndarray:
            # one by one they are as fast as memory is read
            product = np.column_stack([multiplied(v) + ridge * v for v in V.T])
            if (np.einsum("ij,ij->j", V, product) < 0).any():
                raise Indefinite
            return product

        def multiplied(v: np.ndarray) -> np.ndarray:
            if part is not None:
                return np.asarray(part @ v)
            full = np.zeros(self.m)
            full[index] = v
            return np.asarray((self.G @ full)[index])

        V = np.zeros(right.shape)
        if self.last is not None and self.last.shape[1] == right.shape[1]:
            V = self.last[index]
        step, _ = conjugate_gradients(
            times,
            ridge_inverse(B, ridge + left.mean()),
            right - times(V),
            lambda R: np.abs(R).max(axis=0) <= accuracy,
            STEPS,
        )
        V = V + step
        self.last = np.zeros((self.m, right.shape[1]))
        self.last[index] = V
        return V

    def _columns(self) -> np.ndarray:
        """Return B, (m, k): what a sample of the rows knows of G."""
        sample = np.sort(np.random.default_rng(0).choice(self.m, min(KNOWN, self.m), replace=False))
        B = nystrom_factor(np.asfortranarray(self.G[:, sample]), sample)
        if B is None:
            raise Indefinite
        return B


class FeatureGram:
    """Of features `Z`, (m, r): G = Z Z'."""

    iterates = False

    def __init__(self, Z: np.ndarray) -> None:
        self.Z, self.m = Z, len(Z)

    def mean_diagonal(self) -> float:
        """Return the mean of k(x, x)."""
        return float(np.einsum("ij,ij->", self.Z, self.Z)) / self.m

    def times(self, signed: np.ndarray) -> np.ndarray:
        """Return ``G @ signed``, (m,)."""
        return np.asarray(self.Z @ (signed @ self.Z))

    def solve(
        self, index: np.ndarray, ridge: np.ndarray, right: np.ndarray, accuracy: float
    ) -> np.ndarray | None:
        """Return V by the identity of Woodbury, refined twice; see :class:`GramMatrix`."""
        del accuracy
        if not (ridge > 0).all():
            return None
        Z = self.Z[index]
        scaled = Z / ridge[:, None]
        L = cholesky(np.eye(Z.shape[1]) + Z.T @ scaled, lower=True)

        def solved(E: np.ndarray) -> np.ndarray:
            half = solve_triangular(L, scaled.T @ E, lower=True)
            return np.asarray(E / ridge[:, None] - scaled @ solve_triangular(L.T, half))

        V = solved(right)
        for _ in range(2):
            V = V + solved(right - Z @ (Z.T @ V) - ridge[:, None] * V)
        return V
