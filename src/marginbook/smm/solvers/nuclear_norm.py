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

from ...kernels.decomposition import svd
from .nuclear_multiples import best_multiple

#: share of the objective at B = 0 below which gaps are relative to it: a rounding of margins costs so much
FLOOR = 1e-12


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
    U, sizes, Vt = svd(M)
    shrunk = np.maximum(sizes - tau, 0.0)
    return (U * shrunk) @ Vt, shrunk


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


def nuclear_limit(problem: NuclearProblem) -> float:
    r"""Return a :math:`\tau` from which on B = 0: the spectral norm of M at multipliers optimal there.

    At B = 0 the optimal multipliers of the class of the smaller cost are all at their bound; those of the
    other are taken in proportion to their costs. It is the least such :math:`\tau` when both classes cost the
    same, for then no others are optimal; without an intercept always.
    """
    beta = problem.feasible(problem.y * problem.costs)
    return float(np.linalg.norm(problem.combine(beta), 2))
