"""scikit-learn estimators of the DRM: parameters and validation here, mathematics in the solvers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from ..kernels import Kernel, gram, kernel_name, parse_kernel
from .objective import class_products, dissimilarity
from .one_pass import CHUNK, ClassMoments, linear_maps
from .solvers import check_parameters, closed_form

SOLVERS = ("auto", "closed", "one-pass")

#: training points whose own optimality is measured for the certificate of the closed form
PROBES = 32


def _takes_chunks(estimator: DRMClassifier) -> bool:
    return kernel_name(estimator.kernel) == "linear" and estimator.solver != "closed"


class DRMClassifier(ClassifierMixin, BaseEstimator):
    r"""Discriminative ridge machine.

    For a test point x the weights of the training examples solve

    .. math::
       w^\star=\arg\min_w\ \tfrac12w^\top(K+\alpha(H-B)+\beta I)w-w^\top K_x=(K+\alpha(H-B)+\beta I)^{-1}K_x,

    and the predicted class has the smallest dissimilarity

    .. math::
       \delta_i=(w|_{C_i})^\top K(w|_{C_i})+(w|_{\bar C_i})^\top K(w|_{\bar C_i})-2(w|_{C_i})^\top K_x,

    where K is the n x n Gram matrix, H its diagonal, B the block diagonal of :math:`K^i/n_i` over the classes
    :math:`C_i`, and :math:`K_x=[k(x,x_j)]_j`. Source: Peng & Cheng, equations (10) to (13), Algorithm 2.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the within-class dissimilarity, at least 0; 0 is kernel ridge regression.
    beta : float, default=1.0
        Weight of the ridge, above 0.
    kernel : {"linear", "poly", "rbf", "precomputed"}, (name, parameters) or callable, default="rbf"
        Parameters given as a pair win over `gamma`, `degree`, `coef0`.
    gamma : float, default=None
        Of "rbf" and "poly"; None is 1 / n_features for "rbf" and 1 for "poly".
    degree : float, default=3
    coef0 : float, default=1.0
    solver : {"auto", "closed", "one-pass"}, default="auto"
        "one-pass" is exact, for the linear kernel, with time and memory independent of n in prediction;
        "auto" takes it for the linear kernel when there are more examples than features.
    fit_intercept : bool, default=False
        Append a constant feature. Without it the linear DRM cannot tell x from -x: ``drm/homogeneous``.
    tol : float, default=1e-6
        Largest certificate that passes without a ConvergenceWarning.

    Attributes
    ----------
    classes_ : (g,) array
    n_features_in_ : int
    solver_ : str
        The solver that "auto" chose.
    kkt_residual_ : float
        Certificate: the share of the gradient of (12) left at the solution. All test points at once for
        "one-pass", the worst of up to 32 training points for "closed".
    maps_ : LinearMaps
        Of "one-pass": the matrices that take a test point to its class projections.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> DRMClassifier(alpha=0.1, beta=0.1, kernel="rbf").fit(X, y).score(X, y)  # doctest: +ELLIPSIS
    0.9933...
    """

    def __init__(
        self,
        alpha: float = 1.0,
        beta: float = 1.0,
        kernel: Kernel = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1.0,
        solver: str = "auto",
        fit_intercept: bool = False,
        tol: float = 1e-6,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.tol = tol

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows `X`, (n, p), or the (n, n) Gram matrix for "precomputed", and labels `y`, (n,).

        Raises
        ------
        ValueError
            For fewer than two classes, parameters out of range, or a system beyond double precision.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        name, _ = self._check(X)
        for state in ("moments_", "maps_"):  # of an earlier fit or partial_fit
            self.__dict__.pop(state, None)
        self.classes_, codes = np.unique(y, return_inverse=True)
        check_classification_targets(self.classes_)  # the labels once each: the rows may be millions
        if len(self.classes_) < 2:
            raise ValueError(f"DRMClassifier needs at least 2 classes, got one class: {self.classes_[0]}")
        self.solver_ = self.solver
        if self.solver == "auto":
            self.solver_ = "one-pass" if name == "linear" and X.shape[0] > X.shape[1] else "closed"
        if self.solver_ == "one-pass":
            self._start_moments(X.shape[1])
            self._solve_moments(X, codes)
        else:
            self._fit_closed(X, codes)
        self._warn()
        return self

    @available_if(_takes_chunks)
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Take in more rows; the result equals one fit to all of them.

        Present only for the linear kernel, and not for ``solver="closed"``.

        Parameters
        ----------
        X : (m, p) array or CSR matrix
        y : (m,) labels
        classes : (g,) array
            All labels that will ever come; required in the first call.
        """
        first = not hasattr(self, "moments_")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, reset=first)
        self._check(X)
        if first and classes is None:
            raise ValueError("the first call of partial_fit needs classes: all labels that will ever come")
        known = self.classes_ if classes is None else unique_labels(classes)
        if len(known) < 2:
            raise ValueError(f"DRMClassifier needs at least 2 classes, got one class: {known[0]}")
        if not first and not np.array_equal(known, self.classes_):
            raise ValueError(
                f"classes {known.tolist()} differ from those of the first call: {self.classes_.tolist()}"
            )
        strangers = np.setdiff1d(y, known)
        if strangers.size:
            raise ValueError(f"label {strangers[0]} is not among the classes {known.tolist()}")
        if first:
            self.classes_, self.solver_ = known, "one-pass"
            self._start_moments(X.shape[1])
        elif self._settings() != (self.moments_.alpha, self.moments_.beta, self.moments_.G.shape[1]):
            raise ValueError(
                "alpha, beta or fit_intercept changed since the first call of partial_fit; call fit"
            )
        self._solve_moments(X, np.searchsorted(self.classes_, y))
        self._warn()
        return self

    def dissimilarity(self, X: Any) -> np.ndarray:
        """Return the (m, g) dissimilarities of eq. (10) for rows `X`, (m, p), columns as in `classes_`."""
        check_is_fitted(self, "classes_")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        if self.solver_ == "one-pass":
            return self.maps_.dissimilarity(X, self.fit_intercept)
        delta = np.empty((X.shape[0], len(self.classes_)))
        for start in range(0, X.shape[0], CHUNK):
            Kx = self._cross_gram(X[start : start + CHUNK])
            W = self._form.weights(Kx)
            products = class_products(self._gram, self._sizes, W)
            delta[start : start + CHUNK] = dissimilarity(self._sizes, Kx, W, *products)
        return delta

    def decision_function(self, X: Any) -> np.ndarray:
        """Return minus the dissimilarities, (m, g); for two classes (m,), positive for the second."""
        delta = self.dissimilarity(X)
        return delta[:, 0] - delta[:, 1] if delta.shape[1] == 2 else -delta

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of smallest dissimilarity for each row of `X`, (m, p)."""
        delta = self.dissimilarity(X)
        return self.classes_[np.argmin(delta, axis=1)]

    def _check(self, X: Any) -> tuple[str | Callable[..., Any], dict[str, Any]]:
        check_parameters(self.alpha, self.beta)
        if self.solver not in SOLVERS:
            raise ValueError(f"unknown solver {self.solver!r}; choose from {', '.join(SOLVERS)}")
        name, parameters = parse_kernel(self.kernel)
        if isinstance(self.kernel, str) and name in ("rbf", "poly"):
            parameters = {"gamma": self.gamma if name == "rbf" or self.gamma is not None else 1.0}
            if name == "poly":
                parameters |= {"degree": self.degree, "coef0": self.coef0}
        if self.solver == "one-pass" and name != "linear":
            raise ValueError(f"solver 'one-pass' needs kernel='linear', got {name!r}; use solver='closed'")
        if name == "precomputed" and self.fit_intercept:
            raise ValueError(
                "fit_intercept=True has no meaning for kernel='precomputed'; add 1 to the kernel"
            )
        if (name == "precomputed" or callable(name)) and sparse.issparse(X):
            raise ValueError("a precomputed or callable kernel needs dense data; call X.toarray()")
        return name, parameters

    def _settings(self) -> tuple[float, float, int]:
        return float(self.alpha), float(self.beta), self.n_features_in_ + int(self.fit_intercept)

    def _warn(self) -> None:
        if not self.kkt_residual_ <= self.tol:
            warnings.warn(
                f"the certificate {self.kkt_residual_:.2e} misses tol={self.tol:.2e}: the system is too "
                "badly conditioned for double precision; raise beta or scale the data",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _start_moments(self, n_features: int) -> None:
        size = n_features + int(self.fit_intercept)
        self.moments_ = ClassMoments.empty(len(self.classes_), size, float(self.alpha), float(self.beta))

    def _solve_moments(self, X: Any, codes: np.ndarray) -> None:
        self.maps_ = linear_maps(self.moments_.add(X, codes, self.fit_intercept))
        self.kkt_residual_ = self.maps_.kkt_residual

    def _fit_closed(self, X: Any, codes: np.ndarray) -> None:
        name, parameters = self._check(X)
        self._kernel = name if callable(name) else (name, parameters)
        self._order = np.argsort(codes, kind="stable")
        self._sizes = np.bincount(codes)
        if name == "precomputed":
            if X.shape[0] != X.shape[1]:
                raise ValueError(f"kernel='precomputed' needs a square matrix, got shape {X.shape}")
            self._gram = X[np.ix_(self._order, self._order)]
        else:
            self._train = self._augmented(X[self._order])
            self._gram = gram(self._kernel, self._train)
        self._form = closed_form(self._gram, self._sizes, float(self.alpha), float(self.beta))
        probes = np.unique(np.linspace(0, len(codes) - 1, PROBES).astype(int))
        self.kkt_residual_ = self._form.certificate(self._gram[:, probes])

    def _cross_gram(self, X: Any) -> np.ndarray:
        if isinstance(self._kernel, tuple) and self._kernel[0] == "precomputed":
            return X[:, self._order].T
        return gram(self._kernel, self._train, self._augmented(X))

    def _augmented(self, X: Any) -> Any:
        if not self.fit_intercept:
            return X
        ones = np.ones((X.shape[0], 1))
        return sparse.csr_matrix(sparse.hstack([X, ones])) if sparse.issparse(X) else np.hstack([X, ones])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        try:
            name = kernel_name(self.kernel)
        except ValueError:  # fit says what is wrong with it
            name = ""
        tags.input_tags.sparse = name not in ("precomputed", "callable")
        tags.input_tags.pairwise = name == "precomputed"
        # a homogeneous classifier must fail on classes that lie on one ray: claim drm/homogeneous
        tags.classifier_tags.poor_score = name == "linear" and not self.fit_intercept
        return tags
