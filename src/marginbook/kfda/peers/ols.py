"""OLSKFDAClassifier: a kernel Fisher discriminant of few samples, chosen one by one."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

import numpy as np

from ...base.parameters import is_number, is_whole, validate_choice
from ...kernels import Kernel
from ..estimators.kernel_expansion import KernelMachine, decision_threshold
from ..estimators.parameters import THRESHOLDS
from ..model.objective import targets
from .ols_forward_selection import INTERCEPTS, orthogonal_least_squares

__all__ = ["OLSKFDAClassifier", "orthogonal_least_squares"]


class OLSKFDAClassifier(KernelMachine):
    r"""Kernel Fisher discriminant by orthogonal least squares (Billings & Lee 2002), for two classes.

    .. math::
       \min_{b,\alpha}\bigl\lVert\hat y-b1-K\alpha\bigr\rVert^2,\qquad\hat y_i=N/N_1\text{ or }-N/N_2,

    over the coefficients of a few samples, which a forward selection finds: the next kernel column is the one
    with the largest error reduction ratio

    .. math:: \mathrm{err}_j=\frac{(w_j^\top\hat y)^2}{w_j^\top w_j\;\hat y^\top\hat y},

    where :math:`w_j` is its part orthogonal to the columns chosen before. The coefficients are not penalised:
    the number of samples is what regularises.

    Parameters
    ----------
    n_terms : int, float or None, default=0.1
        Most samples to retain: a number >= 1, or a share of the training samples in (0, 1), of which the
        whole part is taken, at least 1. None is no bound.
    tolerance : float, default=0.0
        Stop before when :math:`1-\sum\mathrm{err}`, the share of the targets' energy that is not explained,
        is below it. With overlapping classes a small tolerance is met only by many samples, or never.
    kernel : {"linear", "poly", "rbf", "precomputed"}, (name, parameters) or callable, default="rbf"
        Parameters given as a pair win over `gamma`, `degree`, `coef0`.
    gamma : float, default=None
        Of "rbf" and "poly"; None is 1 / n_features for "rbf" and 1 for "poly".
    degree : float, default=3
    coef0 : float, default=1.0
    intercept : {"first", "candidate"}, default="first"
        Whether the intercept is there from the start, or has to be chosen like a kernel column.
    threshold : {"midpoint", "means"}, default="midpoint"
        What f is compared with: the midpoint of the two targets, as in the paper, or the midpoint of the
        means of f in either class.

    Attributes
    ----------
    classes_ : (2,) array
        The second is the positive one.
    class_count_ : (2,) array of int
    coef_ : (N,) array
        :math:`\alpha`; 0 for samples that were not chosen.
    intercept_ : float
        b.
    threshold_ : float
    order_ : (r,) array of int
        The chosen samples, the first choice first.
    error_reduction_ : (r,) array
        Their ratios.
    unexplained_ : float
        :math:`1-\sum\mathrm{err}`.
    retained_ : (r,) array of int
        The chosen samples in the order of the rows; without one whose coefficient came out as 0.
    retained_fraction_ : float
    stopped_ : {"tolerance", "max_terms", "exhausted"}
        "exhausted": the other kernel columns depend numerically on the chosen ones, or reduce nothing.
    residual_ : float
        Largest cosine of a chosen column and the residual, which least squares make 0.
    n_features_in_ : int

    See Also -------- marginbook.kfda.peers.ols_forward_selection.orthogonal_least_squares : the solutions of
    every number of terms.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = OLSKFDAClassifier(n_terms=10).fit(scale(X), y)
    >>> round(model.score(scale(X), y), 3), len(model.retained_), round(model.unexplained_, 3)
    (0.972, 10, 0.184)
    """

    def __init__(
        self,
        n_terms: float | None = 0.1,
        tolerance: float = 0.0,
        kernel: Kernel = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1.0,
        intercept: str = "first",
        threshold: str = "midpoint",
    ) -> None:
        self.n_terms = n_terms
        self.tolerance = tolerance
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.intercept = intercept
        self.threshold = threshold

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows `X`, (N, d), or the (N, N) Gram matrix for "precomputed", and labels `y`, (N,).

        Raises
        ------
        ValueError
            Unless there are two classes, and for parameters out of range.
        """
        validate_choice("intercept", self.intercept, INTERCEPTS)
        validate_choice("threshold", self.threshold, THRESHOLDS)
        if not (is_number(self.tolerance) and 0 <= self.tolerance <= 1):
            raise ValueError(f"tolerance must be a number in [0, 1], got {self.tolerance!r}")
        validate_terms(self.n_terms)
        X, positive = self._validated(X, y)
        K = self._training_gram(X)
        terms = orthogonal_least_squares(
            K,
            targets(positive),
            tolerance=self.tolerance,
            max_terms=terms_allowed(self.n_terms, len(positive)),
            intercept=self.intercept,
        )
        omega = terms.omega()
        self.order_ = terms.samples
        self.error_reduction_ = terms.err[terms.order > 0]
        self.unexplained_ = float(terms.unexplained[-1])
        self.stopped_, self.residual_ = terms.stopped, terms.residual
        fitted = omega[0] + K[:, self.order_] @ omega[1:][self.order_]
        return self._keep(X, omega[1:], omega[0], decision_threshold(self.threshold, fitted, positive))


def validate_terms(n_terms: Any) -> None:
    """Raise ValueError unless `n_terms` is None, a whole number >= 1 or a share in (0, 1)."""
    share = is_number(n_terms) and 0 < n_terms < 1
    if not (n_terms is None or is_whole(n_terms) or share):
        raise ValueError(
            f"n_terms must be a whole number >= 1, a share of the samples in (0, 1) or None, got {n_terms!r}"
        )


def terms_allowed(n_terms: float | None, n: int) -> int | None:
    """Return how many of `n` samples `n_terms` allows, or None where it sets no bound.

    >>> terms_allowed(0.1, 57), terms_allowed(0.1, 5), terms_allowed(8, 5), terms_allowed(None, 5)
    (5, 1, 8, None)
    """
    if n_terms is None or isinstance(n_terms, Integral):
        return None if n_terms is None else int(n_terms)
    return max(1, int(np.floor(n_terms * n + 1e-9)))  # 0.29 * 100 is 28.999999999999996
