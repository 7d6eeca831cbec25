r"""The support matrix machine (Luo et al. 2015): its objective, its dual, and the certificate of a solution.

.. math:: P(B,b)=\tfrac12\lVert B\rVert_F^2+\tau\lVert B\rVert_*
   +\sum_ic_i\bigl(1-y_i(\langle B,X_i\rangle+b)\bigr)_+

With :math:`M=\sum_i\beta_iX_i` and the soft-thresholding :math:`S_\tau` of singular values,

.. math:: \sup_B\,\langle M,B\rangle-\tfrac12\lVert B\rVert_F^2-\tau\lVert B\rVert_*
   =\tfrac12\lVert S_\tau(M)\rVert_F^2\quad\text{at}\quad B=S_\tau(M),

so that the dual is

.. math:: D(\beta)=\sum_iy_i\beta_i-\tfrac12\lVert S_\tau(M)\rVert_F^2,\qquad 0\le y_i\beta_i\le c_i,\qquad
   \textstyle\sum_i\beta_i=0\text{ (with an intercept)},

and :math:`P(B,b)-D(\beta)` bounds how far any :math:`(B,b)` is from the optimum, for every feasible
:math:`\beta`. It is taken relative to P.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import svd

#: share of the objective at B = 0 below which gaps are relative to it: a rounding of margins costs so much
FLOOR = 1e-12
#: relative differences of objectives that are rounding
ROUNDING = 4 * float(np.finfo(float).eps)
TINY = float(np.finfo(float).tiny)


def thin_svd(M: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the thin singular value decomposition of `M`, (d1, d2): (d1, k), (k,), (k, d2)."""
    try:
        U, sizes, Vt = np.linalg.svd(M, full_matrices=False)
    except np.linalg.LinAlgError:  # the faster driver gives up where the older one does not
        U, sizes, Vt = svd(M, full_matrices=False, lapack_driver="gesvd")
    return U, sizes, Vt


def soft_threshold(M: np.ndarray, tau: float) -> tuple[np.ndarray, np.ndarray]:
    r"""Return :math:`S_\tau(M)=U(\Sigma-\tau I)_+V^\top`, (d1, d2), and its singular values.

    It is the minimiser of :math:`\tfrac12\lVert B-M\rVert_F^2+\tau\lVert B\rVert_*`.

    Examples
    --------
    >>> soft_threshold(np.diag([3.0, 1.0]), 2.0)[0].round(12) + 0.0
    array([[1., 0.],
           [0., 0.]])
    """
    if tau == 0:
        return M, np.linalg.svd(M, compute_uv=False)
    U, sizes, Vt = thin_svd(M)
    shrunk = np.maximum(sizes - tau, 0.0)
    return (U * shrunk) @ Vt, shrunk


def best_intercept(fitted: np.ndarray, y: np.ndarray, costs: np.ndarray) -> float:
    r"""Return the middle of the minimisers b of :math:`\sum_ic_i(1-y_i(f_i+b))_+`.

    Parameters
    ----------
    fitted : (n,) array
        :math:`f_i=\langle B,X_i\rangle`.
    y : (n,) array of -1 and 1
        Both with positive costs.
    costs : (n,) array
    """
    corners = y - fitted
    order = np.argsort(corners, kind="stable")
    # the slope in b starts at minus the cost of the positive class and rises by a cost at each corner
    slope = np.cumsum(costs[order]) - costs[y > 0].sum()
    # sums of the same costs in another order differ by rounding
    slack = 1e-12 * costs.sum()
    first = int(np.argmax(slope >= -slack))
    last = int(np.argmax(slope > slack))
    return float(corners[order[first]] + corners[order[last]]) / 2


def best_factor(margins: np.ndarray, costs: np.ndarray, square: float, norm: float) -> float:
    r"""Return the minimiser t of :math:`\tfrac12t^2s+tr+\sum_ic_i(1-tm_i)_+` over :math:`t\ge0`.

    Parameters
    ----------
    margins, costs : (n,) arrays, m and c
    square, norm : float
        s > 0 and r.
    """
    helped = margins > 0
    corners = 1 / np.maximum(margins[helped], TINY)
    order = np.argsort(corners)
    corners, drops = corners[order], (costs * margins)[helped][order]
    # between two corners the slope is t s plus a constant, which rises by c m at a corner
    constant = norm - float((costs * margins)[~helped].sum()) - np.append(np.cumsum(drops[::-1])[::-1], 0.0)
    # the first corner behind which the slope is not negative ends the interval of the minimiser
    k = int(np.argmax(np.append(corners * square + constant[1:], np.inf) >= 0))
    best = max(-constant[k] / square, corners[k - 1] if k else 0.0)
    return float(min(best, corners[k]) if k < len(corners) else best)


def best_multiple(
    fitted: np.ndarray,
    y: np.ndarray,
    costs: np.ndarray,
    *,
    square: float,
    norm: float,
    fit_intercept: bool,
) -> tuple[float, float, float]:
    r"""Return the least objective found at (tB, b), with t and b.

    .. math:: \tfrac12t^2s+tr+\sum_ic_i\bigl(1-y_i(tf_i+b)\bigr)_+

    Tried are t = 1, the best t for that intercept, and the least without losses, each with its intercept.
    Expensive losses make much of margins that are too small in the eighth digit: a multiple of B that is as
    little larger may have none at all.

    Parameters
    ----------
    fitted, y, costs : (n,) arrays, f, y and c
    square, norm : float
        s and r.
    fit_intercept : bool
        Otherwise b = 0.
    """
    intercept = best_intercept(fitted, y, costs) if fit_intercept else 0.0
    tried = [(1.0, intercept)]
    if square > 0:
        factor = best_factor(y * (fitted + intercept), costs, square, norm)
        tried.append((factor, best_intercept(factor * fitted, y, costs) if fit_intercept else 0.0))
        least = float(fitted[y > 0].min(initial=np.inf))
        most = float(fitted[y < 0].max(initial=-np.inf))
        width = least - most if fit_intercept else 2 * min(least, -most)
        if 0 < width < np.inf:
            factor = 2 / width * (1 + ROUNDING)
            tried.append((factor, -factor * (least + most) / 2 if fit_intercept else 0.0))
    found = []
    for factor, b in tried:
        loss = float(np.maximum(0.0, 1 - y * (factor * fitted + b)) @ costs)
        found.append((factor * factor * square / 2 + factor * norm + loss, factor, b))
    return min(found)


@dataclass(frozen=True)
class NuclearProblem:
    r"""The data of one problem; the Gram matrix is computed once for a whole path.

    Attributes
    ----------
    X : (n, d1, d2) array
    y : (n,) array of -1 and 1
    costs : (n,) array
        :math:`c_i>0`.
    fit_intercept : bool
    gram : (n, n) array
        :math:`\langle X_i,X_j\rangle` of the centred matrices.
    centred : (n, d1, d2) array
        X; with an intercept less its `mean`, which cancels as multipliers sum to 0: it would only round.
    mean : (d1, d2) array
        0 without an intercept.
    """

    X: np.ndarray
    y: np.ndarray
    costs: np.ndarray
    fit_intercept: bool = True
    gram: np.ndarray = field(default_factory=lambda: np.empty(0))
    rows: np.ndarray = field(init=False)
    centred: np.ndarray = field(init=False)
    mean: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        """Flatten the matrices, and compute the Gram matrix unless it is given."""
        object.__setattr__(self, "rows", np.ascontiguousarray(self.X.reshape(len(self.X), -1)))
        mean = self.X.mean(axis=0) if self.fit_intercept else np.zeros(self.X.shape[1:])
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "centred", self.X - mean if self.fit_intercept else self.X)
        if not self.gram.size:
            rows = self.centred.reshape(len(self.X), -1)
            object.__setattr__(self, "gram", rows @ rows.T)

    @property
    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """The bounds of the signed multipliers, each (n,)."""
        return np.where(self.y > 0, 0.0, -self.costs), np.where(self.y > 0, self.costs, 0.0)

    @property
    def null_objective(self) -> float:
        """The least objective at B = 0."""
        if not self.fit_intercept:
            return float(self.costs.sum())
        return 2 * float(min(self.costs[self.y > 0].sum(), self.costs[self.y < 0].sum()))

    def combine(self, beta: np.ndarray) -> np.ndarray:
        r"""Return :math:`M=\sum_i\beta_iX_i`, (d1, d2), for `beta`, (n,)."""
        deviations = (beta @ self.centred.reshape(len(beta), -1)).reshape(self.X.shape[1:])
        return deviations + float(beta.sum()) * self.mean

    def fitted(self, B: np.ndarray) -> np.ndarray:
        r"""Return :math:`\langle B,X_i\rangle`, (n,)."""
        return self.rows @ B.ravel()

    def deviations(self, B: np.ndarray) -> np.ndarray:
        r"""Return :math:`\langle B,X_i\rangle`, (n,), less that of the mean."""
        return self.centred.reshape(len(self.y), -1) @ B.ravel()

    def feasible(self, beta: np.ndarray) -> np.ndarray:
        """Return multipliers in the box with the right sum, near `beta`, (n,), of any sum."""
        low, high = self.box
        beta = np.clip(beta, low, high)
        if not self.fit_intercept:
            return beta
        up, down = float(beta[self.y > 0].sum()), -float(beta[self.y < 0].sum())
        if up > down:
            beta[self.y > 0] *= down / up
        elif down > up:
            beta[self.y < 0] *= up / down
        return beta

    def primal(self, B: np.ndarray, sizes: np.ndarray, tau: float) -> tuple[float, float, float]:
        """Return the least objective of multiples of B with singular values `sizes`, the factor and b."""
        square, norm = float(sizes @ sizes), tau * float(sizes.sum())
        objective, factor, intercept = best_multiple(
            self.deviations(B), self.y, self.costs, square=square, norm=norm, fit_intercept=self.fit_intercept
        )
        return objective, factor, intercept - factor * float((B * self.mean).sum())

    def dual(self, beta: np.ndarray, sizes: np.ndarray) -> float:
        r"""Return D of a feasible `beta`, (n,); `sizes` are the singular values of :math:`S_\tau(M)`."""
        return float(self.y @ beta) - float(sizes @ sizes) / 2


@dataclass(frozen=True)
class NuclearSolution:
    r"""A solution of the support matrix machine with its certificate.

    Attributes
    ----------
    coef : (d1, d2) array, B
    intercept : float, b
    singular_values : (min(d1, d2),) array
        Of B.
    multipliers : (n,) array
        Feasible signed multipliers :math:`\beta`.
    objective : float
        P(B, b).
    lower_bound : float
        :math:`D(\beta)`.
    dual_gap : float
        Their difference, relative to the objective or, if that is more, to `FLOOR` times the least one at
        B = 0.
    gap_path : tuple of float
        The gap whenever it was computed.
    n_iter : int
    converged : bool
    """

    coef: np.ndarray
    intercept: float
    singular_values: np.ndarray
    multipliers: np.ndarray
    objective: float
    lower_bound: float
    dual_gap: float
    gap_path: tuple[float, ...]
    n_iter: int
    converged: bool


class Record:
    """The best primal point and the best dual point of a run, and the gap between them.

    Parameters
    ----------
    problem : NuclearProblem
    tau : float
    tol : float
        Relative gap that is asked for.
    """

    def __init__(self, problem: NuclearProblem, tau: float, tol: float) -> None:
        self.problem, self.tau, self.tol = problem, tau, tol
        self.objective, self.lower_bound = np.inf, -np.inf
        self.path: list[float] = []

    @property
    def gap(self) -> float:
        """The relative gap."""
        unit = max(self.objective, FLOOR * self.problem.null_objective)
        return max(0.0, self.objective - self.lower_bound) / unit

    def offer(self, B: np.ndarray, sizes: np.ndarray) -> None:
        """Keep the best multiple of B, (d1, d2), with singular values `sizes`, if no other was better."""
        objective, factor, intercept = self.problem.primal(B, sizes, self.tau)
        # a difference of roundings is no gain: B = 0 stays where it is optimal
        if objective < self.objective * (1 - ROUNDING):
            self.objective, self.coef, self.intercept = objective, factor * B, intercept
            self.sizes = factor * sizes

    def certify(self, beta: np.ndarray) -> bool:
        """Take feasible multipliers, (n,), and the B that they give; return whether the gap is small."""
        B, sizes = soft_threshold(self.problem.combine(beta), self.tau)
        bound = self.problem.dual(beta, sizes)
        if bound > self.lower_bound:
            self.lower_bound, self.beta = bound, beta.copy()
        self.offer(B, sizes)
        self.path.append(self.gap)
        return self.gap <= self.tol

    def solution(self, n_iter: int) -> NuclearSolution:
        """Return the best points after `n_iter` iterations."""
        return NuclearSolution(
            coef=self.coef,
            intercept=self.intercept,
            singular_values=self.sizes,
            multipliers=self.beta,
            objective=self.objective,
            lower_bound=self.lower_bound,
            dual_gap=self.gap,
            gap_path=tuple(self.path),
            n_iter=n_iter,
            converged=self.gap <= self.tol,
        )


def nuclear_limit(problem: NuclearProblem) -> float:
    r"""Return a :math:`\tau` from which on B = 0: the spectral norm of M at multipliers optimal there.

    At B = 0 the optimal multipliers of the class of the smaller cost are all at their bound; those of the
    other are taken in proportion to their costs. It is the least such :math:`\tau` when both classes cost the
    same, for then no others are optimal; without an intercept always.
    """
    beta = problem.feasible(problem.y * problem.costs)
    return float(np.linalg.norm(problem.combine(beta), 2))
