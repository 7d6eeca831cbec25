"""NuclearNormSVMClassifier: the support matrix machine, whose penalty makes the rank small."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...base.memory import require_memory
from ...base.parameters import (
    validate_choice,
    validate_flags,
    validate_limits,
    validate_not_negative,
    validate_within,
)
from ...base.threads import on_few_threads
from ...base.user_line import user_level
from ..solvers.nuclear_admm import nuclear_admm
from ..solvers.nuclear_newton import nuclear_newton
from ..solvers.nuclear_norm import NuclearProblem
from ..solvers.nuclear_record import NuclearSolution
from .base import MatrixClassifier

#: each with the iterations that it has by default
SOLVERS: dict[str, tuple[Callable[..., NuclearSolution], int]] = {
    "newton": (nuclear_newton, 200),
    "admm": (nuclear_admm, 5000),
}
#: samples up to which Gram matrices are made, of which a fit holds three
MOST = 12_000
#: share of the largest singular value from which on one counts for the rank
RANK_CUT = 1e-9


@dataclass(eq=False, repr=False)
class NuclearNormSVMClassifier(MatrixClassifier):
    r"""Support matrix machine (Luo, Xie, Zhang & Li 2015): a spectral elastic net with the hinge loss.

    .. math:: \min_{B,b}\tfrac12\lVert B\rVert_F^2+\tau\lVert B\rVert_*
       +C\sum_iw_i\bigl(1-y_i(\langle B,X_i\rangle+b)\bigr)_+

    where :math:`X_i` is d1 x d2, :math:`w_i` its weight times that of its class, 1 unless given, and
    :math:`\lVert B\rVert_*` the sum of the singular values. The problem is convex: unlike the machine of
    fixed rank it has one solution B, at the price that all singular values shrink. With
    :math:`C=1/(2\lambda n)` and :math:`\tau=0` it is the machine of full rank. Feasible multipliers of the
    dual certify the solution. A fit needs the Gram matrix of the samples, (n, n), and more of its size:
    beyond 12,000 samples of positive weight there is a MemoryError.

    Read more in the :ref:`user guide <guide-nuclearnormsvmclassifier>` (``marginbook guide``).

    Parameters
    ----------
    tau : float, default=1.0
        :math:`\tau\ge0`. 0 is the linear support vector machine on vec(X).
    C : float, default=1.0
        Weight of the hinge losses, above 0.
    fit_intercept : bool, default=True
    class_weight : dict, "balanced" or None, default=None
        Factors of the losses of either class; {-1: pi, 1: 1 - pi} aims at the level pi.
    shape : (int, int), default=None
        d1 and d2 of matrices that come as rows of p = d1 d2 numbers; None takes such rows as p x 1 matrices.
    solver : {"newton", "admm"}, default="newton"
        Newton steps on the dual, or the paper's alternating directions with restarts. Both stop at the same
        certificate; the second takes longer for a small `tol`.
    tol : float, default=1e-6
        Duality gap at which to stop, relative to the objective or, where that is tiny beside the least one at
        B = 0, to 1e-12 times the latter: margins round, and each loss with them.
    max_iter : int, default=None
        Iterations; None is 200 for "newton" and 5000 for "admm".

    Attributes
    ----------
    classes_ : (2,) array
        The second is the positive one.
    coef_ : (d1, d2) array, B
    intercept_ : float, b
    singular_values_ : (min(d1, d2),) array
        Of B.
    rank_ : int
    multipliers_ : (n,) array
        :math:`0\le a_i\le C w_i`. B is the soft-thresholding of :math:`\sum_ia_iy_iX_i`, up to `tol` and a
        factor near 1.
    objective_, lower_bound_ : float
    dual_gap_ : float
        Their difference, relative as `tol` is.
    n_iter_ : int
    n_features_in_ : int
    matrix_shape_ : (int, int)

    Examples
    --------
    >>> from marginbook.datasets import make_low_rank
    >>> from marginbook.smm import NuclearNormSVMClassifier
    >>> sample = make_low_rank(200, shape=(8, 8), rank=1, scale=10.0, random_state=0)
    >>> model = NuclearNormSVMClassifier(tau=5.0, C=0.1).fit(sample.X, sample.y)
    >>> model.rank_, model.dual_gap_ < 1e-6
    (1, True)
    """

    tau: float = 1.0
    C: float = 1.0
    _: KW_ONLY
    fit_intercept: bool = True
    class_weight: Any = None
    shape: tuple[int, int] | None = None
    solver: str = "newton"
    tol: float = 1e-6
    max_iter: int | None = None

    @on_few_threads
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to matrices `X`, (n, d1, d2) or (n, p), labels `y` and weights of the losses, each (n,).

        Raises
        ------
        ValueError
            Unless there are two classes with positive weight; for parameters out of range.
        MemoryError
            For more than 12,000 samples of positive weight, or fewer where the machine has no room for them.

        Warns
        -----
        ConvergenceWarning
            If the gap is above `tol` after `max_iter` iterations, or when rounding lets it fall no more.
        """
        self._validate_parameters()
        X, signs, weights, factors = self._validated(X, y, sample_weight)
        weights = weights * factors
        used = np.flatnonzero(weights)
        require_memory(
            f"the Gram matrices of {len(used)} samples take",
            3 * len(used) ** 2,
            "take LowRankSVMClassifier, which needs none",
            most=3 * MOST**2,
        )
        problem = NuclearProblem(X[used], signs[used], self.C * weights[used], bool(self.fit_intercept))
        solve, most = SOLVERS[self.solver]
        found = solve(problem, float(self.tau), tol=self.tol, max_iter=self.max_iter or most)
        if not found.converged:
            warnings.warn(
                f"the relative duality gap is {found.dual_gap:.1e} after {found.n_iter} "
                f"iteration{'' if found.n_iter == 1 else 's'}, wanted {self.tol:.1e}: the objective is "
                f"{found.objective:.10g}, its lower bound "
                f"{found.lower_bound:.10g}; raise max_iter or tol, or centre and scale the matrices",
                ConvergenceWarning,
                stacklevel=user_level(),
            )
        self.coef_, self.intercept_ = found.coef, found.intercept
        self.singular_values_ = found.singular_values
        self.rank_ = int((found.singular_values > RANK_CUT * found.singular_values.max()).sum())
        self.multipliers_ = np.zeros(len(signs))
        self.multipliers_[used] = np.abs(found.multipliers)
        self.objective_, self.lower_bound_ = found.objective, found.lower_bound
        self.dual_gap_ = found.dual_gap
        self.n_iter_ = found.n_iter
        return self

    def _validate_parameters(self) -> None:
        validate_within("[0, 1e+08]", tau=self.tau)
        validate_within("[1e-08, 1e+08]", C=self.C)
        validate_flags(fit_intercept=self.fit_intercept)
        validate_choice("solver", self.solver, SOLVERS)
        validate_not_negative(tol=self.tol)
        validate_limits(max_iter=self.max_iter)
