r"""The problem with as few rows as its rank needs, kept for all q and rho.

A smooth kernel has a Gram matrix of low rank to rounding. With an orthonormal basis Q of the span of the
columns, :math:`D=QR`, the residual splits into a part that no coefficient moves and one of rank-many rows:

.. math::
    \lVert\hat y-D\omega\rVert^2=\lVert Q^\top\hat y-R\omega\rVert^2+\lVert\hat y-QQ^\top\hat y\rVert^2 .
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from scipy.linalg import lapack

from marginbook.kfda.model.blocks import gram_of
from marginbook.kfda.model.objective import Problem

#: share of the rows from which a rank is too high to gain from
WORTH = 0.5
#: largest entry of D - QR, relative to the largest of D, as far as sums of a row tell
EXACT = 1e-11

_KEPT: WeakKeyDictionary[Problem, dict[bool, Compressed]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Compressed:
    r"""A problem in which every coefficient is penalised.

    Attributes
    ----------
    columns : (d, p) array
        The columns of R, as rows: d = M + 1, or d = M if the bias is not penalised, which then has been
        minimised out by centring.
    yhat : (p,) array
        :math:`Q^\top\hat y`.
    lost : float
        Half the squared norm of the part of the targets outside the span.
    has_bias : bool
        Whether the first coefficient is the bias.
    exact : bool
        Whether nothing was cut off.
    """

    columns: np.ndarray
    yhat: np.ndarray
    lost: float
    has_bias: bool
    exact: bool
    ridges: dict[float, np.ndarray] = field(default_factory=dict)

    @cached_property
    def gram(self) -> np.ndarray:
        """The Gram matrix of the columns, (d, d)."""
        return gram_of(self.columns)

    @cached_property
    def correlations(self) -> np.ndarray:
        """Inner products of columns and targets, (d,)."""
        return self.columns @ self.yhat

    @cached_property
    def norms(self) -> np.ndarray:
        """Norms of the columns, (d,)."""
        return np.sqrt(np.einsum("ij,ij->i", self.columns, self.columns))


def compressed(problem: Problem, penalize_bias: bool = True) -> Compressed:
    """Return the problem in few rows, the same object at every call."""
    kept = _KEPT.setdefault(problem, {})
    if penalize_bias not in kept:
        kept[penalize_bias] = _compress(problem, penalize_bias)
    return kept[penalize_bias]


def whole(problem: Problem, penalize_bias: bool, places: np.ndarray | slice) -> Compressed:
    """Return the problem with all its rows and the columns `places` of those of :func:`compressed`."""
    columns = problem.design.T[places] if penalize_bias else problem.design.T[1:][places]
    if not penalize_bias:
        columns = problem.centred(columns)
    return Compressed(columns, problem.yhat, 0.0, penalize_bias, True)


def _compress(problem: Problem, penalize_bias: bool) -> Compressed:
    exact = whole(problem, penalize_bias, slice(None))
    low = None if problem.ones is not None else _low_factor(problem.K)
    if low is None:
        return _with_gram(exact, problem)
    # of K = L L' the triangle of QR = [1 L yhat] is all that is needed, and Q is not: Q'K = R_L L'
    left = low - low.mean(axis=0) if not penalize_bias else np.column_stack([np.ones(len(low)), low])
    rank = left.shape[1]
    both = np.column_stack([left, problem.yhat])
    triangle = np.triu(lapack.dgeqrf(np.asfortranarray(both), overwrite_a=1)[0][: rank + 1])
    upper, yhat = triangle[:rank, :rank], triangle[:rank, rank].copy()
    columns = np.vstack([upper[:, 0], low @ upper[:, 1:].T]) if penalize_bias else low @ upper.T
    lost = 0.5 * float(triangle[rank, rank]) ** 2
    return Compressed(columns, yhat, lost, penalize_bias, False)


def _with_gram(exact: Compressed, problem: Problem) -> Compressed:
    """Let `exact` have the Gram matrix of the problem, if it is the same."""
    if exact.has_bias:
        exact.__dict__["gram"] = problem.gram
    return exact


def _low_factor(K: np.ndarray) -> np.ndarray | None:
    """Return L with ``L @ L.T = K`` to rounding, (N, rank), if K is a Gram matrix of low rank; else None."""
    n, m = K.shape
    if n != m or n < 8:
        return None
    limit = int(WORTH * n)
    # a leading block of full rank shows at an eighth of the price that the rank of all is too high
    if lapack.dpstrf(K[:limit, :limit], lower=1)[2] >= limit:
        return None
    factor, pivots, rank, _ = lapack.dpstrf(K, lower=1)
    if rank >= limit:
        return None
    low = np.empty((n, rank))
    low[pivots - 1] = np.tril(factor[:, :rank])
    # what is left of the diagonal bounds the rest only where K is positive semidefinite
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(n, 2))
    rest = np.abs(K @ signs - low @ (low.T @ signs)).max()
    return low if rest <= EXACT * n * np.abs(K).max() else None
