"""The columns of a lasso that may be in use: their Gram matrix, its factor, and the coefficients."""

from __future__ import annotations

import numpy as np

from marginbook.kernels.cholesky import column
from marginbook.kfda.solvers.lasso_active_set import DEPENDENT, ROUNDS, ROUNDS_PER_COLUMN, exchange
from marginbook.kfda.solvers.lasso_factor import enter


class WorkingSet:
    r"""Columns W of a design, with :math:`D_W^\top D_W`, in arrays that grow.

    Parameters
    ----------
    design : (N, p) array
        Its columns contiguous.

    Attributes
    ----------
    names : (m,) array of int
        The columns, in the order in which they joined.
    n_used : int
        How many of them are in use.
    """

    def __init__(self, design: np.ndarray) -> None:
        self.design = design
        self.names = np.empty(0, np.int64)
        self.inside = np.zeros(design.shape[1], bool)
        self.n_used = 0
        self._rows = np.empty((0, design.shape[0]))
        self._gram, self._factor = np.empty((0, 0)), np.empty((0, 0))
        self._basis = np.empty(0, np.int64)
        self._w, self._sign, self._used = np.empty(0), np.empty(0), np.empty(0, bool)

    def __len__(self) -> int:
        """Return the number m of columns."""
        return len(self.names)

    def join(self, columns: np.ndarray) -> None:
        """Add columns of the design; none of them may be there already."""
        m, new = len(self), len(self) + len(columns)
        if new > len(self._basis):
            self._reserve(min(max(new, 2 * len(self._basis), 64), self.design.shape[1]))
        self._rows[m:new] = self.design.T[columns]
        block = self._rows[m:new] @ self._rows[:new].T
        self._gram[m:new, :new] = block
        self._gram[:new, m:new] = block.T
        self.names = np.append(self.names, columns)
        self.inside[columns] = True

    def _reserve(self, capacity: int) -> None:
        for name in ("_gram", "_factor"):
            old = getattr(self, name)
            grown = np.zeros((capacity, capacity))
            grown[: len(old), : len(old)] = old
            setattr(self, name, grown)
        for name in ("_rows", "_basis", "_w", "_sign", "_used"):
            old = getattr(self, name)
            grown = np.zeros((capacity, *old.shape[1:]), old.dtype)
            grown[: len(old)] = old
            setattr(self, name, grown)

    def start(self, omega: np.ndarray) -> None:
        """Let an empty working set start from the coefficients that are not zero."""
        self.join(np.flatnonzero(omega))
        self._w[: len(self)] = omega[self.names]
        self.refactor()

    def refactor(self) -> None:
        """Factorise anew; coefficients of columns that depend on those of larger ones become zero.

        The factor of a set that has almost dependent columns loses digits with every exchange.
        """
        m = len(self)
        w, v = self._w[:m], np.empty(len(self._basis))
        self._used[:m] = False
        self.n_used = 0
        for i in np.argsort(-np.abs(w), kind="stable")[: np.count_nonzero(w)]:
            pivot = column(self._factor, self.n_used, self._gram, self._basis, i, v)
            if pivot <= DEPENDENT * self._gram[i, i]:
                w[i] = 0.0
                continue
            self.n_used = enter(self._factor, self.n_used, self._basis, i, v, pivot)
            self._used[i] = True
        self._sign[:m] = np.sign(w)

    def coefficients(self) -> np.ndarray:
        """Return the coefficients of all columns of the design, (p,)."""
        omega = np.zeros(self.design.shape[1])
        omega[self.names] = self._w[: len(self)]
        return omega

    def fit(self) -> np.ndarray:
        """Return D omega, (N,)."""
        used = self._basis[: self.n_used]
        fit: np.ndarray = self._w[used] @ self._rows[used]
        return fit

    def minimise(self, g: np.ndarray, limits: np.ndarray, within: float, value: float) -> int:
        """Minimise over the working set (:func:`~marginbook.kfda.solvers.lasso_active_set.exchange`).

        Parameters
        ----------
        g, limits : (p,) arrays
            :math:`D^\\top r` at the coefficients, and the weights of the penalty.
        within : float
            By how much a condition may be violated.
        value : float
            The objective at the coefficients.

        Returns
        -------
        int
            Number of solves.
        """
        m = len(self)
        there, limits = g[self.names], limits[self.names]
        # a round takes up to a multiple of m^3 operations: return to Python about once a second
        patience = max(1, int(8e9 / max(m, 1) ** 3))
        rounds, idle = 0, 0
        while idle >= 0 and rounds < ROUNDS + ROUNDS_PER_COLUMN * m:
            self.n_used, more, idle = exchange(
                self._gram,
                self._w[:m],
                there,
                limits,
                self._sign[:m],
                self._factor,
                self._basis,
                self.n_used,
                self._used[:m],
                within,
                value,
                patience,
                idle,
            )
            rounds += int(more)
        return rounds
