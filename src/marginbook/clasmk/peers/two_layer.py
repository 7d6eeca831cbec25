"""TwoLayerMKLClassifier: a support vector machine on the exponential of a learned sum of kernels."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...base.parameters import is_number, validate_flags
from ...kernels import Kernel
from ..solvers.mkl_two_layer import exponential, learn_layer
from .several_kernels import SeveralKernels


class TwoLayerMKLClassifier(SeveralKernels):
    r"""Two-layer multiple kernel learning (after Zhuang, Tsang & Hoi 2011).

    .. math:: \min_{\mu\ge0}\ \sum_u\max_{0\le a\le C,\,y_u^\top a=0}
       1^\top a-\tfrac12(y_ua)^\top K(\mu)(y_ua)\ +\ \rho\sum_t\mu_t,\qquad
       k(x,z)=\exp\Bigl(\sum_t\mu_tk_t(x,z)\Bigr),

    with one output u per class against the others, one for two classes, and the same weights for all.
    Machines and weights are learned in turn; the problem is not convex, and a stationary point is found from
    equal weights. Of kernels with k(x, x) = 1 the new one has :math:`k(x,x)=e^{\sum\mu}`, so that large
    weights are also a large C; `reg` holds against it.

    Parameters
    ----------
    kernels : list of kernels, default=None
        As in :mod:`marginbook.kernels`. None is the paper's 13 for Table 4, which suit standardised features.
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
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> kernels = [("rbf", {"gamma": 1.0}), ("rbf", {"gamma": 0.01}), ("poly", {"degree": 2})]
    >>> model = TwoLayerMKLClassifier(kernels).fit(scale(X), y)
    >>> model.weights_.round(1), model.stationarity_ < 1e-3
    (array([0.6, 2.8, 0.7]), True)
    """

    def __init__(
        self,
        kernels: list[Kernel] | None = None,
        C: float = 1.0,
        *,
        reg: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = 100,
        normalised: bool = True,
        unit_diagonal: bool = False,
    ):
        self.kernels = kernels
        self.C = C
        self.reg = reg
        self.tol = tol
        self.max_iter = max_iter
        self.normalised = normalised
        self.unit_diagonal = unit_diagonal

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows `X`, (n, p), and labels `y`, (n,).

        Raises
        ------
        ValueError
            For one class, parameters out of range, a row that cannot be normalised, and kernels so large that
            their exponential overflows.

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
        X, signs = self._started(X, y)
        grams = self._grams(X, None, np.arange(len(self.kernels_)))
        found = learn_layer(grams, signs, self.C, reg=self.reg, tol=self.tol, max_iter=self.max_iter)
        if not np.isfinite(found.path[-1]):
            raise ValueError(
                f"F is {found.path[-1]} with reg = {self.reg:.1e} and C = {self.C:.1e}; scale the "
                "features, or bring both nearer to 1"
            )
        if found.residual > self.tol:
            warnings.warn(
                f"the residual is {found.residual:.1e} after {found.n_iter} sets of weights, wanted "
                f"{self.tol:.1e}; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=2,
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
