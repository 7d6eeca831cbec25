"""KFDAClassifier: the kernel Fisher discriminant with a ridge, which retains every sample."""

from __future__ import annotations

import warnings
from typing import Any, Self

from sklearn.exceptions import ConvergenceWarning

from ...base.parameters import is_number, validate_choice
from ...kernels import Kernel
from ..estimators.kernel_expansion import KernelMachine, decision_threshold
from ..estimators.parameters import THRESHOLDS
from ..model.objective import targets
from .ridge_leave_one_out import leave_one_out
from .ridge_path import KernelSpectrum, fisher_discriminant

ROUTES = ("least-squares", "fisher")
#: relative residual of the equations above which a warning says so
RESIDUAL = 1e-4


class KFDAClassifier(KernelMachine):
    r"""Kernel Fisher discriminant of two classes with a ridge on the coefficients (Mika et al. 2003).

    .. math::
       \max_\alpha\frac{\alpha^\top(M_1-M_2)(M_1-M_2)^\top\alpha}{\alpha^\top(N_w+\mu I)\alpha},
       \qquad f(x)=b+\sum_i\alpha_ik(x_i,x),

    with the means :math:`M_j` of the kernel columns of either class and their scatter :math:`N_w` within the
    classes. The quotient leaves length and bias open; those of the penalised least squares with the same
    direction,

    .. math:: \min_{b,\alpha}\tfrac12\lVert\hat y-b1-K\alpha\rVert^2+\tfrac\mu2\lVert\alpha\rVert^2,
       \qquad\hat y_i=N/N_1\text{ or }-N/N_2,

    are taken. All samples are retained, but for coefficients that happen to be 0.

    Parameters
    ----------
    reg : float, default=1.0
        :math:`\mu\ge0`. It is on the scale of the squared eigenvalues of K: what is small for 100 samples is
        smaller still for 1000. 0, only with ``route="least-squares"``, is the shortest :math:`\alpha` that
        fits best.
    kernel : {"linear", "poly", "rbf", "precomputed"}, (name, parameters) or callable, default="rbf"
        Parameters given as a pair win over `gamma`, `degree`, `coef0`. A precomputed matrix is symmetric.
    gamma : float, default=None
        Of "rbf" and "poly"; None is 1 / n_features for "rbf" and 1 for "poly".
    degree : float, default=3
    coef0 : float, default=1.0
    route : {"least-squares", "fisher"}, default="least-squares"
        From one eigendecomposition of K, or from the Cholesky factor of :math:`N_w+\mu I`: the same
        discriminant. The second is faster for one `reg` and fails for a very small one.
    threshold : {"midpoint", "means"}, default="midpoint"
        What f is compared with: the midpoint of the two targets, as in the paper, or the midpoint of the
        means of f in either class, as in Fisher's discriminant. Both are the same for classes of equal size.

    Attributes
    ----------
    classes_ : (2,) array
        The second is the positive one.
    class_count_ : (2,) array of int
    coef_ : (N,) array
        :math:`\alpha`.
    intercept_ : float
        b.
    threshold_ : float
    retained_ : (r,) array of int
        Samples with a coefficient.
    retained_fraction_ : float
    loo_decision_ : (N,) array, of ``route="least-squares"`` with reg > 0
        What the discriminant of the other samples, with the same `reg`, decides on each training sample; nan
        for one that is alone in its class.
    residual_ : float
        Of the linear equations, relative to their right-hand side; above 1e-4 there is a
        ConvergenceWarning.
    n_features_in_ : int

    See Also
    --------
    marginbook.kfda.peers.ridge_path.ridge_path : many ridges for the price of one.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = KFDAClassifier(reg=0.1).fit(scale(X), y)
    >>> round(model.score(scale(X), y), 3), model.retained_fraction_, model.residual_ < 1e-10
    (0.989, 1.0, True)
    >>> int(((model.loo_decision_ > 0) != y).sum())  # errors on samples left out one by one
    13
    """

    def __init__(
        self,
        reg: float = 1.0,
        kernel: Kernel = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1.0,
        route: str = "least-squares",
        threshold: str = "midpoint",
    ) -> None:
        self.reg = reg
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.route = route
        self.threshold = threshold

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows `X`, (N, d), or the (N, N) Gram matrix for "precomputed", and labels `y`, (N,).

        Raises
        ------
        ValueError
            Unless there are two classes; for parameters out of range and a precomputed matrix that is not
            symmetric; for a `reg` too small for ``route="fisher"``.
        """
        validate_choice("route", self.route, ROUTES)
        validate_choice("threshold", self.threshold, THRESHOLDS)
        if not (is_number(self.reg) and self.reg >= 0):
            raise ValueError(f"reg must be a finite number >= 0, got {self.reg!r}")
        if self.route == "fisher" and self.reg == 0:
            raise ValueError(
                "route='fisher' needs reg > 0, got 0: the within-class scatter is singular; take "
                "route='least-squares'"
            )
        X, positive = self._validated(X, y)
        K, yhat = self._training_gram(X), targets(positive)
        if self.route == "fisher":
            found = fisher_discriminant(K, yhat, self.reg)
        else:
            spectrum = KernelSpectrum.of(K, yhat)
            found = spectrum.solve(self.reg)
            if self.reg > 0:
                self.loo_decision_ = leave_one_out(spectrum, self.reg, self.threshold)
        self.residual_ = found.residual
        if not found.residual <= RESIDUAL:
            warnings.warn(
                f"rounding leaves the equations a relative residual of {found.residual:.1e}, wanted at most "
                f"{RESIDUAL:.0e}; raise reg={self.reg!r}, or scale the features",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self._keep(
            X, found.coef, found.bias, decision_threshold(self.threshold, found.fitted, positive)
        )
