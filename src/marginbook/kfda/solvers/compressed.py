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

from marginbook.kfda.model.objective import Problem

#: share of the rows from which a rank is too high to gain from
WORTH = 0.5
#: largest entry of D - QR, relative to the largest of D
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
        return self.columns @ self.columns.T

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
        columns = columns - columns.mean(axis=1, keepdims=True)
    return Compressed(columns, problem.yhat, 0.0, penalize_bias, True)


def _compress(problem: Problem, penalize_bias: bool) -> Compressed:
    exact = whole(problem, penalize_bias, slice(None))
    basis = _basis(problem.K)
    if basis is None:
        return _with_gram(exact, problem)
    if not penalize_bias:
        basis = basis - basis.mean(axis=0)
    q, _ = np.linalg.qr(basis)
    columns = exact.columns @ q
    if np.abs(columns @ q.T - exact.columns).max() > EXACT * np.abs(exact.columns).max():
        return _with_gram(exact, problem)
    yhat = q.T @ problem.yhat
    rest = problem.yhat - q @ yhat
    return Compressed(columns, yhat, 0.5 * float(rest @ rest), penalize_bias, False)


def _with_gram(exact: Compressed, problem: Problem) -> Compressed:
    """Let `exact` have the Gram matrix of the problem, if it is the same."""
    if exact.has_bias:
        exact.__dict__["gram"] = problem.gram
    return exact


def _basis(K: np.ndarray) -> np.ndarray | None:
    """Return columns that span those of [1 K], (N, rank), if K is a Gram matrix of low rank; else None."""
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
    basis = np.ones((n, rank + 1))
    basis[pivots - 1, 1:] = np.tril(factor[:, :rank])
    return basis
