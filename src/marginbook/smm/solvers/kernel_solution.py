r"""A low-rank decision function of matrices whose rows live in a feature space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...kernels import Kernel
from ..model.row_kernels import as_rows, row_gram_times, validate_same_shape


@dataclass(frozen=True)
class KernelSolution:
    r"""A :math:`B=UV^\top` of rank at most r with :math:`V=\sum_sh_s^\top C_s`, a combination of mapped rows.

    Attributes
    ----------
    kernel : str, (str, dict) or callable
        Between rows, see :mod:`marginbook.smm.model.row_kernels`.
    U : (d1, r) array
        Orthonormal columns.
    C : (N, r) array
        The coefficients of V, one row for each mapped row.
    rows : (N, d2) array
        The rows that V combines: all n d1 rows of the training matrices, one matrix after the other, or m
        landmarks among them.
    places : (N,) array of int
        The number of each row in its matrix.
    shape : (int, int)
        d1 and d2.
    intercept : float
    multipliers : (n,) array
        c of the last block that was solved.
    objective : float
    lower_bound : float
        No B of rank at most r has a smaller objective.
    block_gap : float
        No change of the last block alone is better by more.
    objective_path : (k,) array
        The objective after each block of the winning start, beginning with the start itself.
    n_iter : int
        Sweeps, each over both blocks, of the winning start.
    converged : bool
        Whether the relative change by a sweep met the tolerance and the last block was solved.
    start : str
        Which start won: ``"given"``, ``"full"``, ``"relaxed"``, ``"random-0"``, ...
    method : str
        ``"gram"``: all rows, through their Gram matrix; ``"features"``: explicit features by landmarks.
    missed : float
        The share of the squared norms of the mapped rows that the landmarks miss; 0 for ``"gram"``. The
        objective and the bound of ``"features"`` belong to the problem without that share.
    """

    kernel: Kernel
    U: np.ndarray
    C: np.ndarray
    rows: np.ndarray
    places: np.ndarray
    shape: tuple[int, int]
    intercept: float
    multipliers: np.ndarray
    objective: float
    lower_bound: float
    block_gap: float
    objective_path: np.ndarray
    n_iter: int
    converged: bool
    start: str
    method: str = "gram"
    missed: float = 0.0

    @property
    def global_gap(self) -> float:
        """The objective minus its lower bound over all B of the rank, 0 for a global optimum."""
        return max(0.0, self.objective - self.lower_bound)

    def decision(self, X: ArrayLike) -> np.ndarray:
        r"""Return f of new matrices.

        .. math:: f(X)=\langle B,h(X)\rangle+b=\operatorname{tr}\Bigl(U^\top\sum_sk(X,s)\,C_s\Bigr)+b

        Parameters
        ----------
        X : (m, d1, d2) array

        Returns
        -------
        (m,) array
        """
        return decisions_of([self], X)[:, 0]


def decisions_of(solutions: Sequence[KernelSolution], X: ArrayLike) -> np.ndarray:
    """Return f of new matrices by several solutions in the same rows, whose kernel is computed once.

    Parameters
    ----------
    solutions : sequence of KernelSolution
        At least one, of one kernel, all combinations of the same rows.
    X : (m, d1, d2) array

    Returns
    -------
    (m, len(solutions)) array
    """
    first, many = solutions[0], len(solutions)
    rows, places = as_rows(X)
    validate_same_shape(first.shape, np.shape(X)[1:])
    C = np.hstack([each.C for each in solutions])
    images = row_gram_times(first.kernel, rows, places, first.rows, first.places, C)
    images = images.reshape(len(rows) // first.shape[0], first.shape[0], many, -1)
    U = np.stack([each.U for each in solutions], axis=1)
    return np.asarray(np.einsum("najk,ajk->nj", images, U)) + [each.intercept for each in solutions]
