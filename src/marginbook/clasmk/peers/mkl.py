"""MKLClassifier: a support vector machine on a learned weighted sum of kernels."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...kernels import Kernel
from ..solvers.mkl import combine, learn_weights
from .several_kernels import SeveralKernels


class MKLClassifier(SeveralKernels):
    r"""l1 multiple kernel learning (the problem of SimpleMKL, Rakotomamonjy et al. 2008).

    .. math:: \min_{d\ge0,\,\sum_kd_k=1}\ \sum_u\max_{0\le a\le C,\,y_u^\top a=0}
       1^\top a-\tfrac12\sum_kd_k\,(y_ua)^\top K_k(y_ua),

    with one output u per class against the others, one for two classes, and the same weights d for all
    outputs: a class has no kernels of its own.

    Parameters
    ----------
    kernels : list of kernels, default=None
        As in :mod:`marginbook.kernels`. None is the paper's 13 for Table 4, which suit standardised features.
    C : float, default=1.0
        Weight of the hinge losses, in [1e-8, 1e8].
    tol : float, default=1e-3
        The relative duality gap at which to stop. libsvm computes in single precision, which limits it to
        about 1e-6.
    max_iter : int, default=100
        Sets of weights for which machines are trained.
    normalised : bool, default=True
        Whether to take :math:`k(x,z)/\sqrt{k(x,x)k(z,z)}`; otherwise kernels of large values are preferred.

    Attributes
    ----------
    classes_ : (n_classes,) array
    kernels_ : list of K kernels
    weights_ : (K,) array
        :math:`d`.
    dual_gap_ : float
        Objective less its lower bound, relative to the objective: how far from the least one these weights
        and machines may be at most.
    objective_ : float
    objective_path_ : (n_iter_,) array
        The best one after each set of weights.
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
    >>> model = MKLClassifier(kernels).fit(scale(X), y)
    >>> model.weights_.round(2), model.dual_gap_ < 1e-3
    (array([0.38, 0.35, 0.27]), True)
    """

    def __init__(
        self,
        kernels: list[Kernel] | None = None,
        C: float = 1.0,
        *,
        tol: float = 1e-3,
        max_iter: int = 100,
        normalised: bool = True,
    ):
        self.kernels = kernels
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.normalised = normalised

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows `X`, (n, p), and labels `y`, (n,).

        Raises
        ------
        ValueError
            For one class, parameters out of range, and a row that cannot be normalised.

        Warns
        -----
        ConvergenceWarning
            If the gap is above `tol` after `max_iter` sets of weights.
        """
        X, signs = self._started(X, y)
        grams = self._grams(X, None, np.arange(len(self.kernels_)))
        found = learn_weights(grams, signs, self.C, tol=self.tol, max_iter=self.max_iter)
        if found.gap > self.tol:
            warnings.warn(
                f"the relative duality gap is {found.gap:.1e} after {found.n_iter} sets of weights, wanted "
                f"{self.tol:.1e}; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        self._keep(X, found.weights, found.machines)
        self.dual_gap_, self.n_iter_ = found.gap, found.n_iter
        self.objective_path_ = np.array([value for value, _ in found.path])
        return self

    def _joined(self, grams: list[np.ndarray], weights: np.ndarray) -> np.ndarray:
        return combine(grams, weights)
