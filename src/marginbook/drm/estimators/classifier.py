"""scikit-learn estimators of the DRM: parameters and validation here, mathematics in the solvers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, assert_all_finite, check_random_state
from sklearn.utils.validation import check_is_fitted

from ...base.labels import validate_labels
from ...base.refit import forget
from ...base.threads import on_few_threads
from ...base.weights import ClassWeight, row_weights
from ...kernels import Kernel, tidy
from ...kernels.landmarks import Landmarks
from ...kernels.tags import tag_input
from ...kernels.validation import validate_data
from ..solvers.one_pass_dask import by_blocks, is_dask
from .chunks import FitsChunks
from .landmark_drm import LandmarkDRM
from .parameters import choose_solver, validate_settings
from .prediction import PointSolver, RowsWithSolver, Settings, defined, warn_of_certificate
from .training_kernel import TrainingRows, augmented

#: training points whose own optimality is measured for the certificate of the kernel solvers
PROBES = 32
#: the same of conjugate gradients, where each costs as much as a prediction
FEW = 8


@dataclass(eq=False, repr=False)
class DRMClassifier(FitsChunks, ClassifierMixin, BaseEstimator):
    r"""Discriminative ridge machine.

    For a test point x the weights of the training examples solve

    .. math::
       w^\star=\arg\min_w\ \tfrac12w^\top(K+\alpha(H-B)+\beta I)w-w^\top K_x=(K+\alpha(H-B)+\beta I)^{-1}K_x,

    and the predicted class has the smallest dissimilarity

    .. math::
       \delta_i=(w|_{C_i})^\top K(w|_{C_i})+(w|_{\bar C_i})^\top K(w|_{\bar C_i})-2(w|_{C_i})^\top K_x,

    where K is the n x n Gram matrix, H its diagonal, B the block diagonal of :math:`K^i/n_i` over the classes
    :math:`C_i`, and :math:`K_x=[k(x,x_j)]_j`. Source: Peng & Cheng, equations (10)-(13), Algorithms 2 to 6.

    With weights :math:`s_j\ge0` of the rows, of which :math:`N_i` is the sum over class i, a row of weight k
    counts as k equal rows, which share :math:`w_j` equally; weight 0 leaves the row out:

    .. math::
       w^\star=\arg\min_w\ \tfrac12w^\top Kw+\tfrac\alpha2\Bigl(\sum_j\frac{k(x_j,x_j)w_j^2}{s_j}
       -\sum_i\frac{(w|_{C_i})^\top K(w|_{C_i})}{N_i}\Bigr)+\tfrac\beta2\sum_j\frac{w_j^2}{s_j}-w^\top K_x.

    **Cost.** A kernel's exact fit is :math:`n^3/6` multiplications and one n x n array of doubles (0.8 GB for
    10,000 rows); a prediction is about :math:`n^2/2` for two classes and :math:`n^2` for more, where an SVM
    needs n. A pickle holds the training rows; its copy factors them again when it is first asked. With
    `n_components`, all is linear in n. With the linear kernel and n > p, nothing depends on n after a fit of
    one pass. Rows are taken as double precision.

    Read more in the :ref:`user guide <guide-drmclassifier>` (``marginbook guide``).

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the within-class dissimilarity, at least 0; 0 is kernel ridge regression.
    beta : float, default=1.0
        Weight of the ridge, above 0.
    kernel : {"linear", "poly", "rbf", "precomputed"}, (name, parameters) or callable, default="rbf"
        Parameters given as a pair win over `gamma`, `degree`, `coef0`. A callable gets two rows, each a
        vector, and returns a number (that of SVC gets two matrices).
    gamma : float, "scale", "auto" or None, default="scale"
        Of "rbf" and "poly"; "scale" is 1 / (n_features times the variance of all entries of X, where
        `sample_weight` and `class_weight` count), "auto" 1 / n_features. None is the latter for "rbf", and 1
        for "poly".
    degree : float, default=3
    coef0 : float, default=1.0
    solver : {"auto", "closed", "one-pass", "cg", "gd", "ppa", "apg"}, default="auto"
        "one-pass" is exact, for the linear kernel, with time and memory independent of n in prediction, and
        takes Dask arrays; "auto" takes it for the linear kernel when there are more examples than features
        (beyond 256 features: where it is also the cheaper one), and "closed" otherwise. "cg" solves each
        test point to `tol` by conjugate gradients when it comes, for the linear kernel without any n x n or
        p x p matrix; of two classes `predict` stops at a proof of the label. That takes some four
        iterations on two right-hand sides, each of two multiplications for a stored entry of the training
        rows (below 0.05 s a row at 90,000 rows with 20 entries), where a linear SVM needs one product.
        "auto" takes it for sparse rows of the linear kernel, more than 12,000 of more than 4,096 features.
        The paper's iterations "gd" (Algorithm 3), "ppa" (4, 5) and "apg" (6, constant step) solve for each
        test point when it comes, for the linear kernel without an n x n matrix.
    fit_intercept : bool, default=False
        Append a constant feature. Without it the linear DRM cannot tell x from -x: claim
        ``drm/homogeneous``. It changes no rbf kernel whose `gamma` is not None, as distances stay; None
        counts it as a feature.
    tol : float, default=1e-6
        Of "closed", "one-pass" and "cg": largest certificate that passes without a ConvergenceWarning; that
        of "closed" also says where rounding of the kernel values decides. Of the other iterations, as in the
        paper: a test point is done when a step of its weights is no longer than this. A test point that is
        not done after `max_iter` warns, and so does a certificate above the square root of `tol`, because
        steps are also short far from the optimum where the step size is.
    max_iter : int, default=150
        Of the iterations, per test point; the paper's value.
    n_components : int, default=None
        None is the exact model of the kernel. A number m is that of landmarks, drawn from the training rows:
        an **approximation**, the exact linear model on their features (:mod:`marginbook.kernels.landmarks`),
        which is solved in one pass whatever `solver` is. On 20 standardised features 500 give the exact
        labels of 98 % of the rows, 1,200 of 99 %; choice by pivoted Cholesky or k-means costs more than it
        gains. A pickle takes 16 m^2 bytes for two classes.
    class_weight : {class: number}, "balanced" or None, default=None
        Factor on the weight of each row of the class; "balanced" is n / (number of classes * rows of the
        class).
    random_state : int, RandomState or None, default=None
        Draws the landmarks.

    Attributes
    ----------
    classes_ : (g,) array
    n_features_in_ : int
    gamma_ : float
        Of "rbf" and "poly".
    solver_ : str
        The solver that "auto" chose.
    kkt_residual_ : float
        Certificate: the share of the gradient of (12) left at the solution. All test points at once for
        "one-pass" (with `n_components`, of the approximate problem), the worst of up to 32 training points
        for the others (8 for "cg").
    n_iter_ : int
        Iterations, the most of those training points; 1 for "closed" and "one-pass".
    maps_ : LinearMaps
        Of "one-pass" without `n_components`: the matrices that take a test point to its class projections.
    moments_ : ClassMoments
        Likewise: second moments and sizes of the classes, to which `partial_fit` adds further rows.

    Examples
    --------
    >>> from marginbook.drm import DRMClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> DRMClassifier(alpha=0.1, beta=0.1, kernel="rbf").fit(X, y).score(X, y)  # doctest: +ELLIPSIS
    0.9...

    Two ways to the same predictions, of which one needs no iterations:

    >>> linear = {"alpha": 0.01, "beta": 10.0, "kernel": "linear", "fit_intercept": True}
    >>> exact = DRMClassifier(**linear).fit(X, y)
    >>> found = DRMClassifier(**linear, solver="gd", max_iter=2000).fit(X, y)
    >>> exact.solver_, exact.n_iter_, bool((exact.predict(X) == found.predict(X)).all())
    ('one-pass', 1, True)
    """

    alpha: float = 1.0
    beta: float = 1.0
    kernel: Kernel = "rbf"
    gamma: float | str | None = "scale"
    degree: float = 3
    coef0: float = 1.0
    solver: str = "auto"
    fit_intercept: bool = False
    tol: float = 1e-6
    max_iter: int = 150
    n_components: int | None = None
    class_weight: ClassWeight = None
    random_state: Any = None

    @on_few_threads
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows `X`, (n, p), or the (n, n) Gram matrix for "precomputed", and labels `y`, (n,).

        With the linear kernel and solver "auto" or "one-pass", `X` and `y` may be Dask arrays, also with
        blocks of unknown numbers of rows, without weights: one pass, block by block. Predictions of a Dask
        array are one.

        Parameters
        ----------
        X, y
        sample_weight : (n,) array of numbers >= 0 or None
            A row of weight k counts as k equal rows.

        Raises
        ------
        ValueError
            For fewer than two classes, parameters out of range, or a system beyond double precision.
        MemoryError
            Where the n x n array is more than this machine has.
        """
        forget(self, "_trained", "_landmarks")  # of an earlier fit
        if is_dask(X):
            return self._fit_dask(X, y, sample_weight)
        # looking for NaN alone would cost a fifth of a one-pass fit, which meets them itself
        later = self.kernel == "linear" and self.solver in ("auto", "one-pass")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, ensure_all_finite=not later)
        X = tidy(X)
        if y.dtype == object:  # other types have an order
            validate_labels(y)
        classes, codes = np.unique(y, return_inverse=True)
        weights = row_weights(X, y, sample_weight, self.class_weight)
        name, parameters = validate_settings(self, X, weights)
        self._set_classes(classes)
        if "gamma" in parameters:
            self.gamma_ = float(1 / X.shape[1] if parameters["gamma"] is None else parameters["gamma"])
            parameters["gamma"] = self.gamma_  # left open, the constant feature would count in it
        self.solver_ = (
            choose_solver(self.solver, name, X, len(classes)) if self.n_components is None else "one-pass"
        )
        if self.solver_ == "one-pass" and self.n_components is None:
            moments = self._start_moments(X.shape[1], len(classes))
            self._solve_maps(moments.add(X, codes, self.fit_intercept, weights))
            return self
        assert_all_finite(X.data if sparse.issparse(X) else X, input_name="X")
        kernel = name if callable(name) else (name, parameters)
        if self.n_components is None:
            self._fit_kernel(kernel, X, codes, weights)
        else:
            self._fit_landmarks(kernel, X, codes, weights)
        return self

    def dissimilarity(self, X: Any) -> np.ndarray:
        """Return the (m, g) dissimilarities of eq. (10) for rows `X`, (m, p), columns as in `classes_`.

        Raises
        ------
        KernelOverflow
            If one is infinite or undefined: scale the features.
        """
        check_is_fitted(self, "kkt_residual_")
        if is_dask(X):
            return by_blocks(self.dissimilarity, X, len(self.classes_), np.float64)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        if hasattr(self, "_landmarks"):
            return defined(self._landmarks.dissimilarity(X))
        if self.solver_ == "one-pass":
            return defined(self.maps_.dissimilarity(X, self.fit_intercept))
        return defined(self._point_solver.dissimilarity(self._trained.batches(X)))

    def decision_function(self, X: Any) -> np.ndarray:
        """Return minus the dissimilarities, (m, g); for two classes (m,), positive for the second."""
        check_is_fitted(self, "kkt_residual_")
        return self._difference(X) if len(self.classes_) == 2 else -self.dissimilarity(X)

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of smallest dissimilarity for each row of `X`, (m, p)."""
        check_is_fitted(self, "kkt_residual_")
        if is_dask(X):
            return by_blocks(self.predict, X, None, self.classes_.dtype)
        if len(self.classes_) == 2:
            return self.classes_[(self._difference(X, sign=True) > 0).astype(int)]
        return self.classes_[np.argmin(self.dissimilarity(X), axis=1)]

    def _difference(self, X: Any, sign: bool = False) -> np.ndarray:
        """Return delta_0 - delta_1 of two classes, (m,); with `sign`, only its sign need be right."""
        if is_dask(X) or (self.solver_ == "one-pass" and not hasattr(self, "_landmarks")):
            delta = self.dissimilarity(X)
            return delta[:, 0] - delta[:, 1]
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        if hasattr(self, "_landmarks"):
            return defined(self._landmarks.difference(X))
        return defined(self._point_solver.difference(self._trained.batches(X), sign))

    @property
    def _point_solver(self) -> PointSolver:
        return self._trained.solver

    def _fit_kernel(self, kernel: Any, X: Any, codes: np.ndarray, weights: np.ndarray | None) -> None:
        rows = TrainingRows.fit(kernel, X, codes, weights, bool(self.fit_intercept))
        at = Settings(float(self.alpha), float(self.beta), self.solver_, float(self.tol), int(self.max_iter))
        self._trained = RowsWithSolver(rows, at)
        self.n_iter_, self.kkt_residual_ = self._trained.fit(FEW if self.solver_ == "cg" else PROBES)

    def _fit_landmarks(self, kernel: Any, X: Any, codes: np.ndarray, weights: np.ndarray | None) -> None:
        constant, rng = bool(self.fit_intercept), check_random_state(self.random_state)
        drawn = X if weights is None else X[weights > 0]
        landmarks = Landmarks.fit(kernel, augmented(drawn, constant), self.n_components or 1, rng)
        penalties = (float(self.alpha), float(self.beta))
        self._landmarks = LandmarkDRM.fit(landmarks, X, codes, penalties, weights, constant)
        self.n_iter_, self.kkt_residual_ = 1, self._landmarks.kkt_residual
        warn_of_certificate(self.kkt_residual_, self.tol)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        name = tag_input(tags, self.kernel)
        # a homogeneous classifier must fail on classes that lie on one ray: claim drm/homogeneous
        tags.classifier_tags.poor_score = name == "linear" and not self.fit_intercept
        return tags
