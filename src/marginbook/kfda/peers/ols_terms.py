"""What a forward selection returns: the terms in their order, and the solution for each number of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from scipy.linalg import solve_triangular

Stop: TypeAlias = Literal["tolerance", "max_terms", "exhausted"]


def certificate(chosen: np.ndarray, coef: np.ndarray, yhat: np.ndarray) -> float:
    """Return the largest cosine of a chosen column, (N, T), and the residual, and what rounding may hide of
    it.

    Columns that nearly depend on one another have large coefficients, whose products lose digits.
    """
    if not len(coef):
        return 0.0
    size = float(np.linalg.norm(yhat))
    left = yhat - chosen @ coef
    cosines = np.abs(chosen.T @ left) / (np.linalg.norm(chosen, axis=0) * size)
    rounding = np.finfo(float).eps * float(np.linalg.norm(np.abs(chosen) @ np.abs(coef))) / size
    return float(cosines.max() + rounding)


@dataclass(frozen=True, eq=False)
class OrthogonalTerms:
    r"""The chosen columns in their order, and the solution for each number of them.

    Attributes
    ----------
    order : (T,) array of int
        Columns of :math:`D=[1\ K]`: 0 is the intercept, i the kernel column i - 1.
    err : (T,) array
        Error reduction ratios; 0 for an intercept that comes first, since the targets sum to 0.
    triangle : (T, T) array
        R, upper triangular with positive diagonal.
    projections : (T,) array
        :math:`Q^\top\hat y`.
    n_columns : int
        Of D.
    refused : (...) array of int
        Columns that depend on the chosen ones numerically.
    residual : float
        Certificate of the last solution: the largest :math:`|d_j^\top r|/\lVert d_j\rVert\lVert\hat y\rVert`
        of the chosen columns, 0 at the least squares, plus the rounding of r.
    stopped : {"tolerance", "max_terms", "exhausted"}
        "exhausted": every other column is refused, or takes nothing off the error.
    """

    order: np.ndarray
    err: np.ndarray
    triangle: np.ndarray
    projections: np.ndarray
    n_columns: int
    refused: np.ndarray
    residual: float
    stopped: Stop

    @property
    def samples(self) -> np.ndarray:
        """The kernel columns among the terms, from 0, in their order."""
        return self.order[self.order > 0] - 1

    @property
    def unexplained(self) -> np.ndarray:
        """What each number of terms leaves of the targets' energy, from no term on, (T+1,)."""
        return np.maximum(1.0 - np.append(0.0, np.cumsum(self.err)), 0.0)

    def n_terms(self, n_samples: int) -> int:
        """Return how many terms, the intercept included, first have `n_samples` kernel columns.

        Raises
        ------
        ValueError
            If fewer were chosen.
        """
        if not 0 <= n_samples <= len(self.samples):
            raise ValueError(
                f"got n_samples={n_samples}, wanted at most {len(self.samples)}, where the selection "
                f"stopped ({self.stopped})"
            )
        if n_samples == 0:
            return int(len(self.order) > 0 and self.order[0] == 0)
        return int(np.flatnonzero(self.order > 0)[n_samples - 1]) + 1

    def omega(self, n_terms: int | None = None) -> np.ndarray:
        """Return bias and kernel coefficients, (M+1,), for the first `n_terms` terms, by default all."""
        k = len(self.order) if n_terms is None else n_terms
        if not 0 <= k <= len(self.order):
            raise ValueError(f"got n_terms={n_terms}, wanted 0 to {len(self.order)}")
        omega = np.zeros(self.n_columns)
        omega[self.order[:k]] = solve_triangular(self.triangle[:k, :k], self.projections[:k])
        return omega


class Terms:
    """The terms that a search has so far: those in `order`, with their `projections` and rows of R."""

    order: list[int]
    projections: list[float]
    factors: np.ndarray
    open: np.ndarray
    yhat: np.ndarray
    energy: float

    def _ended(self, chosen: np.ndarray, n_columns: int, stopped: Stop) -> OrthogonalTerms:
        """Return the terms with the certificate of their solution; `chosen`, (N, T), are their columns."""
        order, projections = np.array(self.order, dtype=int), np.array(self.projections)
        triangle = np.triu(self.factors[: len(order), order])
        coef = solve_triangular(triangle, projections) if len(order) else projections
        refused = ~self.open
        refused[order] = False
        err, residual = projections**2 / self.energy, certificate(chosen, coef, self.yhat)
        return OrthogonalTerms(
            order, err, triangle, projections, n_columns, np.flatnonzero(refused), residual, stopped
        )
