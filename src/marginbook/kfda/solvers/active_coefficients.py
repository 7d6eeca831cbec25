"""The coefficients that are still in play, the linear systems of their size, and a record of the way."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from marginbook.kfda.model.blocks import blocked_cholesky, gram_of
from marginbook.kfda.solvers.compressed import Compressed

#: coefficients per row from which the system with as many unknowns as rows is the cheaper one
DUAL_FROM = 1.9


class Active:
    r"""Coefficients that are not zero, with their columns; all of them are penalised.

    Parameters
    ----------
    source : Compressed
    index : (k,) array of int
        Places of the coefficients among the d of `source`, ascending.
    omega : (k,) array
    q, scale : float
        The exponent, and :math:`\rho N`.
    """

    def __init__(
        self, source: Compressed, index: np.ndarray, omega: np.ndarray, q: float, scale: float
    ) -> None:
        self.source, self.q, self.scale = source, q, scale
        self.index, self.omega = index, omega
        self._gram: np.ndarray | None = None
        if len(index) == len(source.columns):
            self.columns, self.norms = source.columns, source.norms
        else:
            self.columns, self.norms = source.columns[index], source.norms[index]

    def shrink(self, keep: np.ndarray) -> None:
        """Go on with the coefficients `keep`, a (k,) array of bool; the others become zero."""
        places = np.flatnonzero(keep)
        if len(places) == len(keep):
            return
        self.index, self.omega = self.index[places], self.omega[places]
        self.columns, self.norms = self.columns[places], self.norms[places]
        if self._gram is not None:
            self._gram = self._gram.take(places, 0).take(places, 1)

    def spread(self) -> np.ndarray:
        """Return all d coefficients."""
        omega = np.zeros(len(self.source.columns))
        omega[self.index] = self.omega
        return omega

    def residual(self) -> np.ndarray:
        """Return the residual, (p,)."""
        return self.source.yhat - self.omega @ self.columns

    def objective(self, omega: np.ndarray | None = None) -> float:
        """Return J with these coefficients, or with other (k,) values, all the rest being zero."""
        values = self.omega if omega is None else omega
        r = self.source.yhat - values @ self.columns
        size = np.abs(values)
        total = size.sum() if self.q == 1 else (size**self.q).sum()
        return self.source.lost + 0.5 * float(r @ r) + self.scale * float(total)

    def slopes(self) -> np.ndarray:
        r"""Return the slopes of the penalty, :math:`\rho Nq|\omega_i|^{q-1}\operatorname{sign}\omega_i`."""
        return self.scale * self.q * np.abs(self.omega) ** (self.q - 1.0) * np.sign(self.omega)

    def majorised(self) -> np.ndarray:
        r"""Return the next iterate of (8), (k,).

        With many more coefficients than rows, the same map in as many unknowns as rows:

        .. math:: \omega^+=\Psi^2D^\top(D\Psi^2D^\top+\rho NqI)^{-1}\hat y

        Where rounding spoils the system, it is solved as the least-squares problem that it stems from, at
        many times the price but without the squared condition number.
        """
        psi, ridge = np.abs(self.omega) ** (0.5 * (2.0 - self.q)), self.scale * self.q
        dual = len(psi) > DUAL_FROM * self.columns.shape[1]
        if dual:
            scaled = self.columns * psi[:, np.newaxis]
            solution = solve(gram_of(scaled.T), ridge, self.source.yhat)
        else:
            solution = solve(self._scaled_gram(psi), ridge, psi * (self.columns @ self.source.yhat))
        if solution is None:
            rows = np.vstack([(self.columns * psi[:, np.newaxis]).T, np.sqrt(ridge) * np.eye(len(psi))])
            right = np.concatenate([self.source.yhat, np.zeros(len(psi))])
            return psi * np.linalg.lstsq(rows, right, rcond=None)[0]
        return psi * (scaled @ solution if dual else solution)

    def newton(self, gradient: np.ndarray, damping: float = 0.0) -> np.ndarray | None:
        """Return Newton's step, (k,), or None if its matrix is not positive definite.

        Its system is that of (8) with q - 1 in the place of 1: the same scaling keeps it well conditioned.
        With a damping of 2 - q it is the step of (8).
        """
        psi = np.abs(self.omega) ** (0.5 * (2.0 - self.q))
        diagonal = self.scale * self.q * (self.q - 1.0 + damping)
        solution = solve(self._scaled_gram(psi), diagonal, psi * gradient)
        return None if solution is None else -psi * solution

    def gram(self) -> np.ndarray:
        """Return the Gram matrix of the columns, (k, k)."""
        if self._gram is None:
            if len(self.index) == len(self.source.columns):
                self._gram = self.source.gram
            elif "gram" in self.source.__dict__:
                self._gram = self.source.gram.take(self.index, 0).take(self.index, 1)
            else:
                self._gram = gram_of(self.columns)
        return self._gram

    def _scaled_gram(self, psi: np.ndarray) -> np.ndarray:
        matrix: np.ndarray = self.gram() * psi
        matrix *= psi[:, np.newaxis]
        return matrix


def solve(matrix: np.ndarray, diagonal: float, right: np.ndarray) -> np.ndarray | None:
    """Return the solution with `matrix`, which is overwritten, plus a multiple of the identity.

    None if that is not positive definite.
    """
    matrix.flat[:: len(right) + 1] += diagonal
    factor, info = blocked_cholesky(matrix.T)
    if info:
        return None
    solution: np.ndarray = lapack.dpotrs(factor, right, lower=1)[0]
    return solution


class Trail:
    """J and the number of coefficients after each iteration."""

    def __init__(self, limit: int) -> None:
        self.values: list[float] = []
        self.retained: list[int] = []
        self.limit = limit

    def add(self, active: Active, value: float | None = None) -> None:
        """Record where `active` is, with J there if known; or the best point so far again, if that is lower.

        That can only be so for q = 1, whose solver may begin on a guessed support above where it has been.
        """
        reached = active.objective() if value is None else value
        if self.values and not reached <= self.values[-1]:
            self.values.append(self.values[-1])
            self.retained.append(self.retained[-1])
            return
        bias = int(active.source.has_bias and len(active.index) > 0 and active.index[0] == 0)
        self.values.append(reached)
        self.retained.append(len(active.index) - bias)

    @property
    def ended(self) -> bool:
        """Whether as many iterations as allowed have been made."""
        return len(self.values) > self.limit

    @property
    def change(self) -> float:
        """Relative decrease of J in the last iteration."""
        return (self.values[-2] - self.values[-1]) / self.values[-1] if len(self.values) > 1 else np.inf
