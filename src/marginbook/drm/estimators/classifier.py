"""scikit-learn estimators of the DRM: parameters and validation here, mathematics in the solvers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, assert_all_finite
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from ...base.labels import validate_labels
from ...kernels import Kernel, gram, kernel_name, tidy
from ..solvers.one_pass import CHUNK, ClassMoments, linear_maps
from ..solvers.one_pass_dask import by_blocks, dask_moments, is_dask
from .parameters import validate_settings
from .prediction import build_machine, warn_of_certificate

#: training points whose own optimality is measured for the certificate of the kernel solvers
PROBES = 32
#: numbers that the kernel vectors of one batch of test points may hold
BATCH = 2**22


def _takes_chunks(estimator: DRMClassifier) -> bool:
    return kernel_name(estimator.kernel) == "linear" and estimator.solver in ("auto", "one-pass")


class DRMClassifier(ClassifierMixin, BaseEstimator):
    r"""Discriminative ridge machine.

    For a test point x the weights of the training examples solve

    .. math::
       w^\star=\arg\min_w\ \tfrac12w^\top(K+\alpha(H-B)+\beta I)w-w^\top K_x=(K+\alpha(H-B)+\beta I)^{-1}K_x,

    and the predicted class has the smallest dissimilarity

    .. math::
       \delta_i=(w|_{C_i})^\top K(w|_{C_i})+(w|_{\bar C_i})^\top K(w|_{\bar C_i})-2(w|_{C_i})^\top K_x,

    where K is the n x n Gram matrix, H its diagonal, B the block diagonal of :math:`K^i/n_i` over the classes
    :math:`C_i`, and :math:`K_x=[k(x,x_j)]_j`. Source: Peng & Cheng, equations (10)-(13), Algorithms 2 to 6.

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
    solver : {"auto", "closed", "one-pass", "gd", "ppa", "apg"}, default="auto"
        "one-pass" is exact, for the linear kernel, with time and memory independent of n in prediction, and
        takes Dask arrays; "auto" takes it for the linear kernel when there are more examples than features,
        and "closed" otherwise. The paper's iterations "gd" (Algorithm 3), "ppa" (4, 5) and "apg" (6, constant
        step) solve for each test point when it comes, for the linear kernel without an n x n matrix.
    fit_intercept : bool, default=False
        Append a constant feature. Without it the linear DRM cannot tell x from -x: ``drm/homogeneous``.
        With the rbf kernel it changes nothing, as distances stay.
    tol : float, default=1e-6
        Of "closed" and "one-pass": largest certificate that passes without a ConvergenceWarning. Of the
        iterations, as in the paper: a test point is done when a step of its weights is not longer. A test
        point that is not done after `max_iter` warns, and so does a certificate above the square root of
        `tol`, because steps are also short far from the optimum where the step size is.
    max_iter : int, default=150
        Of the iterations, per test point; the paper's value.

    Attributes
    ----------
    classes_ : (g,) array
    n_features_in_ : int
    solver_ : str
        The solver that "auto" chose.
    kkt_residual_ : float
        Certificate: the share of the gradient of (12) left at the solution. All test points at once for
        "one-pass", the worst of up to 32 training points for the others.
    n_iter_ : int
        Iterations, the most of those training points; 1 for "closed" and "one-pass".
    maps_ : LinearMaps
        Of "one-pass": the matrices that take a test point to its class projections.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> DRMClassifier(alpha=0.1, beta=0.1, kernel="rbf").fit(X, y).score(X, y)  # doctest: +ELLIPSIS
    0.9933...

    Three ways to the same predictions, of which one needs no iterations:

    >>> linear = {"alpha": 0.01, "beta": 10.0, "kernel": "linear", "fit_intercept": True}
    >>> exact = DRMClassifier(**linear).fit(X, y)
    >>> found = DRMClassifier(**linear, solver="gd", max_iter=2000).fit(X, y)
    >>> exact.solver_, exact.n_iter_, bool((exact.predict(X) == found.predict(X)).all())
    ('one-pass', 1, True)
    """

    classes_: np.ndarray
    moments_: ClassMoments

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
        max_iter: int = 150,
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
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows `X`, (n, p), or the (n, n) Gram matrix for "precomputed", and labels `y`, (n,).

        With the linear kernel and solver "auto" or "one-pass", `X` and `y` may be Dask arrays, also with
        blocks of unknown numbers of rows: one pass, block by block. Predictions of a Dask array are one.

        Raises
        ------
        ValueError
            For fewer than two classes, parameters out of range, or a system beyond double precision.
        """
        for state in ("moments_", "maps_"):  # of an earlier fit or partial_fit
            self.__dict__.pop(state, None)
        if is_dask(X):
            return self._fit_dask(X, y)
        # looking for NaN alone would cost a fifth of a one-pass fit, which meets them itself
        later = self.kernel == "linear" and self.solver in ("auto", "one-pass")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, ensure_all_finite=not later)
        X = tidy(X)
        name, _ = validate_settings(self, X)
        if y.dtype == object:  # other types have an order
            validate_labels(y)
        classes, codes = np.unique(y, return_inverse=True)
        self._set_classes(classes)
        self.solver_ = self.solver
        if self.solver == "auto":
            self.solver_ = "one-pass" if name == "linear" and X.shape[0] > X.shape[1] else "closed"
        if self.solver_ == "one-pass":
            self._start_moments(X.shape[1])
            self._solve_moments(X, codes)
        else:
            assert_all_finite(X.data if sparse.issparse(X) else X, input_name="X")
            self._fit_kernel(X, codes)
        return self

    @available_if(_takes_chunks)
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Take in more rows; the result equals one fit to all of them.

        Present only for the linear kernel with solver "auto" or "one-pass".

        Parameters
        ----------
        X : (m, p) array or CSR matrix
        y : (m,) labels
        classes : (g,) array
            All labels that will ever come; required in the first call.
        """
        if is_dask(X):
            raise ValueError("partial_fit takes no Dask array: fit does, block by block")
        first = not hasattr(self, "moments_")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, reset=first)
        X = tidy(X)
        validate_settings(self, X)
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
        return self

    def dissimilarity(self, X: Any) -> np.ndarray:
        """Return the (m, g) dissimilarities of eq. (10) for rows `X`, (m, p), columns as in `classes_`."""
        check_is_fitted(self, "classes_")
        if is_dask(X):
            return by_blocks(self.dissimilarity, X, len(self.classes_), np.float64)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        if self.solver_ == "one-pass":
            return self.maps_.dissimilarity(X, self.fit_intercept)
        return self._machine.dissimilarity(self._kernel_vectors(X))

    def decision_function(self, X: Any) -> np.ndarray:
        """Return minus the dissimilarities, (m, g); for two classes (m,), positive for the second."""
        delta = self.dissimilarity(X)
        return delta[:, 0] - delta[:, 1] if delta.shape[1] == 2 else -delta

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of smallest dissimilarity for each row of `X`, (m, p)."""
        if is_dask(X):
            return by_blocks(self.predict, X, None, self.classes_.dtype)
        delta = self.dissimilarity(X)
        return self.classes_[np.argmin(delta, axis=1)]

    def _settings(self) -> tuple[float, float, int]:
        return float(self.alpha), float(self.beta), self.n_features_in_ + int(self.fit_intercept)

    def _set_classes(self, classes: np.ndarray) -> None:
        # a few of each label instead of all rows, which may be millions: it is their type that is checked
        check_classification_targets(np.repeat(classes, 3))
        if len(classes) < 2:
            raise ValueError(f"DRMClassifier needs at least 2 classes, got one class: {classes[0]}")
        self.classes_ = classes

    def _start_moments(self, n_features: int) -> None:
        size = n_features + int(self.fit_intercept)
        self.moments_ = ClassMoments.empty(len(self.classes_), size, float(self.alpha), float(self.beta))

    def _solve_moments(self, X: Any, codes: np.ndarray) -> None:
        self._solve_maps(self.moments_.add(X, codes, self.fit_intercept))

    def _solve_maps(self, moments: ClassMoments) -> None:
        self.moments_, self.maps_ = moments, linear_maps(moments)
        self.n_iter_, self.kkt_residual_ = 1, self.maps_.kkt_residual
        warn_of_certificate(self.kkt_residual_, self.tol)

    def _fit_dask(self, X: Any, y: Any) -> Self:
        name, _ = validate_settings(self, X)
        if name != "linear" or self.solver not in ("auto", "one-pass"):
            raise ValueError(
                "a Dask array needs kernel='linear' and solver='auto' or 'one-pass', got "
                f"kernel={name!r} and solver={self.solver!r}; call X.compute()"
            )
        classes, moments = dask_moments(X, y, float(self.alpha), float(self.beta), self.fit_intercept)
        self._set_classes(classes)
        self.n_features_in_, self.solver_ = int(X.shape[1]), "one-pass"
        self.__dict__.pop("feature_names_in_", None)
        self._solve_maps(moments)
        return self

    def _fit_kernel(self, X: Any, codes: np.ndarray) -> None:
        name, parameters = validate_settings(self, X)
        self._kernel = name if callable(name) else (name, parameters)
        self._order = np.argsort(codes, kind="stable")
        if name == "precomputed":
            if X.shape[0] != X.shape[1]:
                raise ValueError(f"kernel='precomputed' needs a square matrix, got shape {X.shape}")
            self._train = X[np.ix_(self._order, self._order)]
        else:
            self._train = self._augmented(X[self._order])
        self._machine = build_machine(
            self._kernel,
            self._train,
            np.bincount(codes),
            (float(self.alpha), float(self.beta)),
            self.solver_,
            (self.tol, self.max_iter),
        )
        probes = np.unique(np.linspace(0, len(codes) - 1, PROBES).astype(int))
        self.n_iter_, self.kkt_residual_ = self._machine.probe(probes)

    def _kernel_vectors(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the kernel vectors of the rows of `X`, batch by batch."""
        width = max(1, min(CHUNK, BATCH // self._train.shape[0]))
        for start in range(0, X.shape[0], width):
            rows = X[start : start + width]
            if isinstance(self._kernel, tuple) and self._kernel[0] == "precomputed":
                yield rows[:, self._order].T
            else:
                yield gram(self._kernel, self._train, self._augmented(rows))

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
