"""OLSKFDAClassifier: a kernel Fisher discriminant of few samples, chosen one by one."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np

from ...base.parameters import is_number, is_whole, validate_choice, validate_within
from ...base.weights import ClassWeight
from ...kernels import Kernel, kernel_name, warn_of_scale
from ..estimators.kernel_machine import KernelMachine
from ..estimators.rows import Rows
from ..estimators.training_gram import refuse_indefinite
from ..model.objective import targets
from .ols_forward_selection import INTERCEPTS, orthogonal_least_squares

__all__ = ["OLSKFDAClassifier", "orthogonal_least_squares"]


@dataclass(eq=False, repr=False)
class OLSKFDAClassifier(KernelMachine):
    r"""Kernel Fisher discriminant by orthogonal least squares (Billings & Lee 2002), for two classes.

    .. math::
       \min_{b,\alpha}\bigl\lVert\hat y-b1-K\alpha\bigr\rVert^2,\qquad\hat y_i=N/N_1\text{ or }-N/N_2,

    over the coefficients of a few samples, which a forward selection finds: the next kernel column is the one
    with the largest error reduction ratio

    .. math:: \mathrm{err}_j=\frac{(w_j^\top\hat y)^2}{w_j^\top w_j\;\hat y^\top\hat y},

    where :math:`w_j` is its part orthogonal to the columns chosen before. The coefficients are not penalised:
    the number of samples is what regularises. With weights :math:`w_i` of the samples both sums run over
    :math:`w_i` times their terms, and N, :math:`N_1` and :math:`N_2` are sums of weights: a sample of weight
    k counts as k equal ones. More than two classes: ``OneVsRestClassifier``, whose machines select samples
    independently, so that only the kernel values are common, with ``kernel="precomputed"``.

    Read more in the :ref:`user guide <guide-olskfdaclassifier>` (``marginbook guide``).

    Parameters
    ----------
    n_terms : int, float or None, default=0.1
        Most samples to retain: a number >= 1, or a share of the training samples in (0, 1), of which the
        whole part is taken, at least 1; of samples with weights of their own, a share of the sum of these.
        None is no bound. Each takes a product with all kernel columns: :math:`2N^2` operations.
    tolerance : float, default=0.0
        Stop before when :math:`1-\sum\mathrm{err}`, the share of the targets' energy that is not explained,
        is below it. With overlapping classes a small tolerance is met only by many samples, or never.
    kernel : {"linear", "poly", "rbf", "precomputed"}, (name, parameters) or callable, default="rbf"
        Parameters given as a pair win over `gamma`, `degree`, `coef0`. A precomputed matrix is symmetric and
        positive semidefinite. A callable gets two rows, each a vector, and returns a number (that of SVC gets
        two matrices).
    gamma : float, "scale", "auto" or None, default="scale"
        Of "rbf" and "poly"; "scale" is 1 / (n_features times the variance of all entries of X, where
        `sample_weight` counts), "auto" is 1 / n_features, None is 1 / n_features for "rbf" and 1 for "poly".
    degree : float, default=3
    coef0 : float, default=1.0
    intercept : {"first", "candidate"}, default="first"
        Whether the intercept is there from the start, or has to be chosen like a kernel column.
    threshold : {"midpoint", "means"}, default="midpoint"
        What f is compared with: the midpoint of the two targets, as Harrison & Pasupa have it, or the
        midpoint of the means of f in either class.
    n_components : int, default=None
        None: all samples are candidates, which takes N x N numbers. A number m: only m of them are, drawn at
        random, in O(N m) memory; the search among these is the same.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, times those of the samples.
    random_state : int, RandomState or None, default=None
        Draws the candidates.

    Attributes
    ----------
    classes_ : (2,) array
        The second is the positive one.
    class_count_ : (2,) array
        Samples of each class, or the sums of their weights.
    dual_coef_ : (N,) array
        :math:`\alpha`; 0 for samples that were not chosen.
    coef_ : (1, d) array
        Only of a linear kernel: the weights of the features in the decision function.
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
    gamma_ : float
        Of "rbf" and "poly", as used.
    n_features_in_ : int

    See Also
    --------
    marginbook.kfda.peers.ols_forward_selection.orthogonal_least_squares :
        The solutions of every number of terms.

    Examples
    --------
    >>> from marginbook.kfda import OLSKFDAClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = OLSKFDAClassifier(n_terms=10).fit(scale(X), y)
    >>> round(model.score(scale(X), y), 3), len(model.retained_), round(model.unexplained_, 3)
    (0.972, 10, 0.184)
    """

    n_terms: float | None = 0.1
    tolerance: float = 0.0
    kernel: Kernel = "rbf"
    gamma: float | str | None = "scale"
    degree: float = 3
    coef0: float = 1.0
    intercept: str = "first"
    threshold: str = "midpoint"
    n_components: int | None = None
    class_weight: ClassWeight = None
    random_state: Any = None

    def _validate_parameters(self) -> None:
        validate_choice("intercept", self.intercept, INTERCEPTS)
        validate_within("[0, 1]", tolerance=self.tolerance)
        validate_terms(self.n_terms)

    def _fit(self, rows: Rows) -> Self:
        design, columns = self._candidates(rows)
        K = design[:, 1:]
        if kernel_name(self._kernel) == "precomputed":
            refuse_indefinite(rows.X, type(self).__name__)
        warn_of_scale(self._kernel, K if columns is None else K[columns])
        yhat, root = targets(rows.positive, rows.own), rows.root
        if root is not None:
            design *= root[:, np.newaxis]
            yhat = root * yhat
        terms = orthogonal_least_squares(
            K,
            yhat,
            tolerance=self.tolerance,
            max_terms=terms_allowed(self.n_terms, rows.count),
            intercept=self.intercept,
            ones=root,
        )
        omega = terms.omega()
        chosen = terms.samples
        self.order_ = rows.names(chosen if columns is None else columns[chosen])
        self.error_reduction_ = terms.err[terms.order > 0]
        self.unexplained_ = float(terms.unexplained[-1])
        self.stopped_, self.residual_ = terms.stopped, terms.residual
        fitted = K[:, chosen] @ omega[1:][chosen]
        fitted = omega[0] + (fitted if root is None else fitted / root)
        return self._keep(rows, omega[1:], omega[0], fitted, columns)


def validate_terms(n_terms: Any) -> None:
    """Raise ValueError unless `n_terms` is None, a whole number >= 1 or a share in (0, 1)."""
    share = is_number(n_terms) and 0 < n_terms < 1
    if not (n_terms is None or is_whole(n_terms) or share):
        raise ValueError(
            f"n_terms must be a whole number >= 1, a share of the samples in (0, 1) or None, got {n_terms!r}"
        )


def terms_allowed(n_terms: float | None, n: float) -> int | None:
    """Return how many of `n` samples, or of the sum of their weights, `n_terms` allows, or None where it sets
    no bound.

    >>> terms_allowed(0.1, 57), terms_allowed(0.1, 5), terms_allowed(8, 5), terms_allowed(None, 5)
    (5, 1, 8, None)
    """
    if n_terms is None or isinstance(n_terms, Integral):
        return None if n_terms is None else int(n_terms)
    return max(1, int(np.floor(n_terms * n + 1e-9)))  # 0.29 * 100 is 28.999999999999996
