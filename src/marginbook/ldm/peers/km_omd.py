"""KMOMDClassifier: direct optimisation of the margin distribution with kernels; see `km_omd_solver`."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...base.parameters import is_number, validate_counts, validate_not_negative
from ...kernels import Kernel, gram
from ..estimators.kernel_expansion import KernelPeer
from .km_omd_solver import solve_km_omd


class KMOMDClassifier(KernelPeer):
    r"""Kernel method for the direct optimisation of the margin distribution, for two classes.

    .. math::
       \gamma=\arg\min_{\gamma\in\Delta_+\times\Delta_-}\gamma^\top YGY\gamma+\tfrac1C\lVert\gamma\rVert^2,
       \qquad f(x)=\sum_iy_i\gamma_ik(x_i,x)-\tfrac12\gamma^\top GY\gamma .

    The threshold lies midway between the weighted means of the classes. Zhang & Zhou choose a parameter C of
    this method from 10, 50 and 100 without saying what it is; here it is the inverse of the charge on
    :math:`\lVert\gamma\rVert^2`, so that large values mean, as for an SVM, less regularisation.

    Parameters
    ----------
    C : float, default=1.0
        Above 0; infinity is allowed and gives the nearest points of the convex hulls.
    kernel : {"linear", "poly", "rbf", "precomputed"}, (name, parameters) or callable, default="rbf"
        Parameters given as a pair win over `gamma`, `degree`, `coef0`.
    gamma : float, default=None
        Of "rbf" and "poly"; None is 1 / n_features for "rbf" and 1 for "poly".
    degree : float, default=3
    coef0 : float, default=1.0
    tol : float, default=1e-6
        Relative gap that passes without a ConvergenceWarning.
    max_iter : int, default=1000
        Linear systems.

    Attributes
    ----------
    classes_ : (2,) array
    n_features_in_ : int
    dual_coef_ : (m,) array
        :math:`y_i\gamma_i`.
    support_ : (n_support,) array
        Where they are not 0.
    coef_ : (p,) array, of the linear kernel
    intercept_ : float
    objective_, dual_gap_ : float
    n_iter_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = KMOMDClassifier(C=10, kernel="linear").fit(scale(X), y)
    >>> round(model.score(scale(X), y), 3), model.dual_gap_ < 1e-6 * model.objective_
    (0.988, True)
    """

    def __init__(
        self,
        C: float = 1.0,
        kernel: Kernel = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1.0,
        tol: float = 1e-6,
        max_iter: int = 1000,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows `X`, (m, p), or the (m, m) Gram matrix for "precomputed", and labels `y`, (m,).

        Raises
        ------
        ValueError
            Unless there are two classes, and for parameters out of range.
        """
        X, signs = self._validated(X, y)
        if not (is_number(self.C, infinite=True) and np.finfo(float).tiny <= self.C):
            raise ValueError(
                f"C must be a number > 0 with a finite inverse (np.inf is the hard margin), got {self.C!r}"
            )
        validate_not_negative(tol=self.tol)
        validate_counts(max_iter=self.max_iter)
        found = solve_km_omd(gram(self._kernel, X), signs, 1 / self.C, tol=self.tol, max_iter=self.max_iter)
        self.objective_, self.dual_gap_, self.n_iter_ = found.objective, found.dual_gap, found.n_iter
        if not found.converged:
            warnings.warn(
                f"KM-OMD stopped at a gap of {found.dual_gap:.2g} at the objective {found.objective:.2g}, "
                f"relative tolerance {self.tol:.2g}; raise max_iter, {self.max_iter}, or lower C",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self._keep(X, signs * found.gamma, -found.threshold)
