r"""Forward selection of kernel columns by orthogonal least squares (Chen, Billings & Luo 1989).

From the columns :math:`d_j` of :math:`D=[1\ K]` a term is chosen, one after the other, whose part
:math:`w_j` orthogonal to the terms so far takes most of the targets' energy,

.. math:: \mathrm{err}_j=\frac{(w_j^\top\hat y)^2}{w_j^\top w_j\;\hat y^\top\hat y},

its error reduction ratio: the decrease of
:math:`\min_\omega\lVert\hat y-D\omega\rVert^2/\lVert\hat y\rVert^2` when column j joins. Billings and Lee
(2002) take the targets of Fisher's discriminant. With :math:`w_j=\lVert w_j\rVert q_j` and the triangular R
with :math:`D_{\mathrm{chosen}}=QR`, the coefficients of the first k terms are
:math:`R_k^{-1}Q_k^\top\hat y`: one run serves every number of terms.
"""

from __future__ import annotations

import numpy as np

from ...base.parameters import is_whole, validate_choice, validate_within
from ..model.blocks import LARGE
from .ols_large_search import LargeSearch
from .ols_terms import OrthogonalTerms, Stop, Terms

EPS = float(np.finfo(float).eps)
#: candidates whose error reduction ratios differ relatively by less count as equal: the first is taken
TIE = 1e-9
#: share of its squared norm below which an orthogonal part is computed anew, for it is a difference
REFRESH = 1e-2
#: share of its squared norm up to which the orthogonal part of a column counts as none
DEPENDENCE = 1e-12
#: largest entry of K: sums of their squares stay in double precision
LARGEST = 1e100
INTERCEPTS = ("first", "candidate")


def orthogonal_least_squares(
    K: np.ndarray,
    yhat: np.ndarray,
    *,
    tolerance: float | None = None,
    max_terms: int | None = None,
    intercept: str = "first",
    dependence: float = DEPENDENCE,
    ones: np.ndarray | None = None,
) -> OrthogonalTerms:
    r"""Choose kernel columns one by one for the largest error reduction ratio: O(N M) for each.

    Parameters
    ----------
    K : (N, M) array
        Kernel columns.
    yhat : (N,) array
        Targets; N/N1 on class 1 and -N/N2 on class 2 for Fisher's discriminant.
    tolerance : float, optional
        Stop when :math:`1-\sum\mathrm{err}` is below it.
    max_terms : int, optional
        Stop with that many kernel columns; the intercept is not counted.
    intercept : {"first", "candidate"}
        Whether the column of ones is there from the start, or has to be chosen like the others. For targets
        that sum to 0 its ratio is 0 as long as it is alone.
    dependence : float
        A column is refused where :math:`w_j^\top w_j\le\mathrm{dependence}\cdot d_j^\top d_j`. Duplicates of
        a chosen column are refused thereby; of columns with the same ratio the first is chosen.
    ones : (N,) array, optional
        The column of the intercept, 1 by default: the roots of weights, by which the rows of K and the
        targets have been multiplied.

    Returns
    -------
    OrthogonalTerms

    Raises
    ------
    ValueError
        For shapes that do not fit, entries that are not finite, targets that are all 0, and parameters out of
        range.

    Notes
    -----
    The candidates stay as they are, and only their norms and their inner products with the residual are
    brought up to date, with one pass over them for a term. The orthogonal part of a candidate is formed where
    its norm has lost two digits, and that of the chosen column always, twice orthogonalised. Above 2,500
    columns :mod:`marginbook.kfda.peers.ols_large_search` makes the same choices without a second matrix.

    Examples
    --------
    >>> x = np.array([0.0, 0.2, 1.0, 1.3, 2.0])
    >>> K = np.exp(-((x[:, None] - x) ** 2))
    >>> terms = orthogonal_least_squares(K, np.array([2.5, 2.5, -5 / 3, -5 / 3, -5 / 3]), max_terms=3)
    >>> terms.samples.tolist(), terms.err.round(3).tolist()
    ([0, 4, 3], [0.0, 0.924, 0.069, 0.008])
    """
    K, yhat = _checked(K, yhat, tolerance, max_terms, intercept, dependence)
    ones = np.ones(len(yhat)) if ones is None else np.asarray(ones, dtype=float)
    limit = K.shape[1] if max_terms is None else max_terms
    goal = -1.0 if tolerance is None else tolerance
    stopped: Stop = "exhausted"
    if K.shape[1] > LARGE:
        large = LargeSearch(K, yhat, ones, dependence, TIE, REFRESH)
        stopped = large.run(limit, goal, intercept == "first")
        return large.result("exhausted" if stopped == "max_terms" and max_terms is None else stopped)
    search = _Search(K, yhat, ones, dependence)
    if intercept == "first":
        search.take(0)
    while True:
        if search.unexplained() < goal:
            stopped = "tolerance"
            break
        if sum(column > 0 for column in search.order) >= limit:
            stopped = "exhausted" if max_terms is None else "max_terms"
            break
        column = search.best()
        if column is None:
            break
        search.take(column)
    return search.result(stopped)


class _Search(Terms):
    """The candidates, what is known of their orthogonal parts, and the basis of the chosen ones."""

    def __init__(self, K: np.ndarray, yhat: np.ndarray, ones: np.ndarray, dependence: float) -> None:
        n, m = K.shape
        self.columns = np.empty((n, m + 1), order="F")
        self.columns[:, 0] = ones
        self.columns[:, 1:] = K
        self.yhat, self.left = yhat, yhat.copy()
        self.energy = float(yhat @ yhat)
        self.parts = self.columns.copy(order="F")  # orthogonal to the first `since` of the basis
        self.since = np.zeros(m + 1, dtype=int)
        self.norms = np.einsum("ij,ij->j", self.parts, self.parts)  # squared, of the orthogonal parts
        self.formed = self.norms.copy()  # squared, of `parts`
        self.least = dependence * self.norms
        self.inner = self.parts.T @ yhat
        self.open = self.norms > 0
        self.order: list[int] = []
        self.basis = np.empty((n, 8), order="F")
        self.factors = np.empty((8, m + 1))  # Q'D
        self.projections: list[float] = []

    def unexplained(self) -> float:
        """Return the share of the targets' energy that is left."""
        return float(self.left @ self.left) / self.energy

    def best(self) -> int | None:
        """Return the column with the largest error reduction ratio, or None where no column has any."""
        self._refuse()
        candidates = np.flatnonzero(self.open)
        if len(candidates) == 0:
            return None
        ratios = self.inner[candidates] ** 2 / (self.norms[candidates] * self.energy)
        largest = float(ratios.max())
        if largest <= len(self.left) * EPS**2:
            return None
        return int(candidates[np.argmax(ratios >= (1 - TIE) * largest)])

    def take(self, column: int) -> None:
        """Put `column` into the basis, and bring the candidates up to date, unless it is dependent."""
        t, self.open[column] = len(self.order), False
        basis, since = self.basis[:, :t], self.since[column]
        part = self.parts[:, column] - basis[:, since:] @ self.factors[since:t, column]
        factors = self.factors[:t, column].copy()
        for _ in range(2):
            again = basis.T @ part
            part -= basis @ again
            factors += again
        norm = float(np.linalg.norm(part))
        if norm**2 <= self.least[column]:
            self.norms[column] = 0.0
            return
        if t == self.basis.shape[1]:
            self.basis = np.concatenate([self.basis, np.empty_like(self.basis)], axis=1)
            self.basis = np.asfortranarray(self.basis)
            self.factors = np.concatenate([self.factors, np.empty_like(self.factors)])
        direction = part / norm
        projection = float(direction @ self.left)
        self.left -= projection * direction
        self.basis[:, t] = direction
        # the residual is orthogonal to the basis: its product with `parts` is that with the orthogonal parts
        products = self.parts.T @ np.column_stack([direction, self.left])
        self.factors[t], self.inner = products.T
        self.norms = np.maximum(self.norms - self.factors[t] ** 2, 0.0)
        self.factors[:t, column] = factors
        self.factors[t, column] = norm
        self.order.append(column)
        self.projections.append(projection)

    def _refuse(self) -> None:
        """Close the columns that depend on the basis; parts whose norms are not known well are formed."""
        columns = np.flatnonzero(self.open & (self.norms < REFRESH * self.formed))
        if len(columns):
            self._form(columns)
        self.open &= self.norms > self.least

    def _form(self, columns: np.ndarray) -> None:
        """Form the orthogonal parts of `columns`."""
        t = len(self.order)
        first = int(self.since[columns].min())
        pending = self.factors[first:t, columns]
        pending = pending * (np.arange(first, t)[:, None] >= self.since[columns])
        parts = self.parts[:, columns] - self.basis[:, first:t] @ pending
        self.parts[:, columns] = parts
        self.since[columns] = t
        self.norms[columns] = self.formed[columns] = np.einsum("ij,ij->j", parts, parts)
        self.inner[columns] = parts.T @ self.left

    def result(self, stopped: Stop) -> OrthogonalTerms:
        """Return the terms with the certificate of their solution."""
        self._refuse()
        return self._ended(self.columns[:, self.order], self.columns.shape[1], stopped)


def _checked(
    K: np.ndarray,
    yhat: np.ndarray,
    tolerance: float | None,
    max_terms: int | None,
    intercept: str,
    dependence: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return `K` and `yhat` as arrays of floats, or raise ValueError for what does not fit."""
    K, yhat = np.asarray(K, dtype=float), np.asarray(yhat, dtype=float)
    if K.ndim != 2 or yhat.shape != K.shape[:1]:
        raise ValueError(f"K has shape {K.shape} and yhat {yhat.shape}, wanted (N, M) and (N,)")
    if not (np.isfinite(K).all() and np.isfinite(yhat).all()):
        raise ValueError("K or yhat has entries that are not finite; remove or replace them first")
    if max(float(K.max(initial=0.0)), -float(K.min(initial=0.0))) > LARGEST:
        raise ValueError(
            f"K has entries above {LARGEST:.0e}, so that their squares overflow; scale the features"
        )
    if not yhat.any():
        raise ValueError("yhat is 0 everywhere, so there is nothing to explain; give targets of two classes")
    if tolerance is not None:
        validate_within("[0, 1]", meaning=" or None", tolerance=tolerance)
    if not (max_terms is None or is_whole(max_terms, 0)):
        raise ValueError(f"max_terms must be a whole number >= 0 or None, got {max_terms!r}")
    validate_choice("intercept", intercept, INTERCEPTS)
    validate_within("[0, 1)", dependence=dependence)
    return K, yhat
