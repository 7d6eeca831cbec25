"""TwoLayerMKLClassifier: a support vector machine on the exponential of a learned sum of kernels."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...base.parameters import is_number, validate_flags
from ...base.threads import on_few_threads
from ...base.user_line import user_level
from ...base.weights import ClassWeight
from ...kernels import Kernel
from ..solvers.half_stored import require_square
from ..solvers.mkl_two_layer import exponential, learn_layer
from .several_kernels import SeveralKernels

#: what a machine of several kernels of too many rows can be replaced by
INSTEAD = "fewer kernels or rows, or MKLClassifier"


@dataclass(eq=False, repr=False)
class TwoLayerMKLClassifier(SeveralKernels):
    r"""Two-layer multiple kernel learning (after Zhuang, Tsang & Hoi 2011).

    .. math:: \min_{\mu\ge0}\ \sum_u\max_{0\le a_i\le Cs_i,\,y_u^\top a=0}
       1^\top a-\tfrac12(y_ua)^\top K(\mu)(y_ua)\ +\ \rho\sum_t\mu_t,\qquad
       k(x,z)=\exp\Bigl(\sum_t\mu_tk_t(x,z)\Bigr),

    with one output u per class against the others, one for two classes, and the same weights for all. Row i
    has the weight :math:`s_i`, 1 unless given.
    Machines and weights are learned in turn; the problem is not convex, and a stationary point is found from
    equal weights. Of kernels with k(x, x) = 1 the new one has :math:`k(x,x)=e^{\sum\mu}`, so that large
    weights are also a large C; `reg` holds against it.

    Read more in the :ref:`user guide <guide-twolayermklclassifier>` (``marginbook guide``).

    Parameters
    ----------
    kernels : list of kernels, default=None
        As in :mod:`marginbook.kernels`. None is the 13 of Table 4 of Yu & McKelvey, which suit standardised
        features: rbf, :math:`\exp(-\lVert x-z\rVert^2/\sigma^2)` with :math:`\sigma=2^{-3},\dots,2^6`, so
        that gamma is :math:`1/\sigma^2`, and polynomials :math:`(1+x^\top z)^d` of degree d = 1, 2, 3.
    C : float, default=1.0
        Weight of the hinge losses, in [1e-8, 1e8].
    reg : float, default=1.0
        :math:`\rho>0`.
    tol : float, default=1e-3
        The residual at which to stop.
    max_iter : int, default=100
        Sets of weights for which machines are trained.
    normalised : bool, default=True
        Whether to take :math:`k_t(x,z)/\sqrt{k_t(x,x)k_t(z,z)}`.
    unit_diagonal : bool, default=False
        Whether to normalise the new kernel too, :math:`\exp(\sum_t\mu_t(k_t(x,z)-1))`: then the weights do
        not act as a larger C, and noise is overfitted less. With ``normalised=True`` only.
    class_weight : {class: number}, "balanced" or None, default=None
        Factor on the weight of each row of the class.

    Attributes
    ----------
    classes_ : (n_classes,) array
    kernels_ : list of T kernels
    weights_ : (T,) array
        :math:`\mu`.
    stationarity_ : float
        Largest entry of :math:`\mu-\max(\mu-\nabla F/F,0)`: 0 at a stationary point.
    objective_ : float
        F, with the penalty.
    objective_path_ : array
        F after each accepted step; it decreases.
    dual_coef_ : (n_outputs, n_support) array
    intercept_ : (n_outputs,) array
    support_ : (n_support,) array of int
        Rows with a coefficient in some output.
    n_iter_ : int
    n_features_in_ : int

    Examples
    --------
    >>> from marginbook.clasmk import TwoLayerMKLClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> kernels = [("rbf", {"gamma": 1.0}), ("rbf", {"gamma": 0.01}), ("poly", {"degree": 2})]
    >>> model = TwoLayerMKLClassifier(kernels).fit(scale(X), y)
    >>> model.weights_.round(1), model.stationarity_ < 1e-3
    (array([0.6, 2.8, 0.7]), True)
    """

    kernels: list[Kernel] | None = None
    C: float = 1.0
    _: KW_ONLY
    reg: float = 1.0
    tol: float = 1e-3
    max_iter: int = 100
    normalised: bool = True
    unit_diagonal: bool = False
    class_weight: ClassWeight = None

    @on_few_threads
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows `X`, (n, p), and labels `y`, (n,).

        Parameters
        ----------
        X : (n, p) array
        y : (n,) array
        sample_weight : (n,) array of numbers >= 0, optional
            A row of weight k counts as k equal rows, up to `tol`; weight 0 leaves the row out.

        Raises
        ------
        ValueError
            For one class, parameters out of range, a row that cannot be normalised, and kernels so large that
            their exponential overflows.
        MemoryError
            At once, if the Gram matrices would take more than half of the machine's memory.

        Warns
        -----
        ConvergenceWarning
            If the residual is above `tol` after `max_iter` sets of weights, or no step decreases F any more.
        """
        if not (is_number(self.reg) and self.reg > 0):
            raise ValueError(
                f"reg must be a finite number > 0, got {self.reg!r}; without it the weights grow for ever"
            )
        validate_flags(unit_diagonal=self.unit_diagonal)
        if self.unit_diagonal and not self.normalised:
            raise ValueError("unit_diagonal=True needs normalised=True, got False; set both")
        X, signs, weights = self._started(X, y, sample_weight)
        # the matrices of the kernels, and two on the way
        require_square(len(X), INSTEAD, 2 + len(self.kernels_))
        grams = self._grams(X, None, np.arange(len(self.kernels_)))
        found = learn_layer(
            grams, signs, self.C, reg=self.reg, tol=self.tol, max_iter=self.max_iter, row_weights=weights
        )
        if not np.isfinite(found.path[-1]):
            raise ValueError(
                f"F is {found.path[-1]} with reg = {self.reg:.1e} and C = {self.C:.1e}; scale the "
                "features, or bring both nearer to 1"
            )
        if found.residual > self.tol:
            warnings.warn(
                f"the residual is {found.residual:.1e} after {found.n_iter} "
                f"set{'' if found.n_iter == 1 else 's'} of weights, wanted "
                f"{self.tol:.1e}; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=user_level(),
            )
        self._keep(X, found.weights, found.machines)
        self.objective_ = found.path[-1]
        self.objective_path_ = np.array(found.path)
        self.stationarity_, self.n_iter_ = found.residual, found.n_iter
        return self

    def _grams(self, X: np.ndarray, Z: np.ndarray | None, which: np.ndarray) -> list[np.ndarray]:
        grams = super()._grams(X, Z, which)
        return [K - 1.0 for K in grams] if self.unit_diagonal else grams

    def _joined(self, grams: list[np.ndarray], weights: np.ndarray) -> np.ndarray:
        return exponential(grams, weights)
