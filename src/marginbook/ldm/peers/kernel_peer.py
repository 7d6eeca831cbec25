"""What the compared methods share: functions that are sums of kernels."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ...base.labels import binary_signs
from ...base.partial_fit import NoPartialFit
from ...base.weights import ClassWeight, row_weights
from ...kernels import Kernel, kernel_name, tidy
from ...kernels.expansions import kernel_sums
from ...kernels.tags import tag_input
from ...kernels.validation import validate_data, validate_square
from ..estimators.class_signs import resolve_weighted


class BinaryPeer(NoPartialFit, ClassifierMixin, BaseEstimator):
    """A classifier of two classes by the sign of a decision function."""

    classes_: np.ndarray

    def decision_function(self, X: Any) -> np.ndarray:
        """Return f for the rows of `X`, (n, p) -> (n,); positive means ``classes_[1]``."""
        raise NotImplementedError

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row of `X`, (n, p); where f is 0, the first one."""
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(int)]

    def _row_weights(
        self, X: Any, signs: np.ndarray, sample_weight: Any, class_weight: ClassWeight = None
    ) -> np.ndarray | None:
        """Return what `row_weights` does, which is to know classes, and name them, as the user does."""
        labels = self.classes_[(signs > 0).astype(int)]
        return row_weights(X, labels, sample_weight, class_weight)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags


class KernelPeer(BinaryPeer):
    r"""A decision function :math:`f(x)=\sum_i c_ik(x_i,x)+b`; subclasses find c and b.

    Attributes
    ----------
    dual_coef_ : (m,) array, c
    intercept_ : float, b
    coef_ : (p,) array
        Of the linear kernel only.
    """

    kernel: Kernel
    gamma: float | str | None
    degree: float
    coef0: float
    dual_coef_: np.ndarray
    coef_: np.ndarray
    intercept_: float

    #: what `fit` leaves only sometimes
    _STATE: ClassVar[tuple[str, ...]] = ("coef_", "gamma_", "_train", "_expansion")

    def _validated(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[Any, np.ndarray]:
        """Check what `fit` gets, set the classes, and return the rows and the signs."""
        for state in self._STATE:
            self.__dict__.pop(state, None)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        X = tidy(X)
        self._kernel = resolve_weighted(self, X, sample_weight)
        name = kernel_name(self._kernel)
        if name in ("rbf", "poly"):
            gamma = self._kernel[1]["gamma"]
            self.gamma_ = float(1.0 / X.shape[1] if gamma is None else gamma)
        if name in ("precomputed", "callable") and sparse.issparse(X):
            raise ValueError("a precomputed or callable kernel needs dense data; call X.toarray()")
        if name == "precomputed":
            validate_square(X)
        self.classes_, signs = binary_signs(y, type(self).__name__)
        return X, signs

    def _present(self, X: Any, weights: np.ndarray | None) -> tuple[Any, Any]:
        """Return the rows of `X` with a weight, and which they are: all others count as absent."""
        if weights is None or weights.all():
            return X, slice(None)
        kept = np.flatnonzero(weights)
        rows = X[kept]
        return (rows[:, kept] if kernel_name(self._kernel) == "precomputed" else rows), kept

    def _keep(self, X: Any, dual_coef: np.ndarray, intercept: float) -> Self:
        """Keep what prediction needs: w for the linear kernel, else the rows with a coefficient."""
        self.dual_coef_, self.intercept_ = dual_coef, intercept
        name = kernel_name(self._kernel)
        self.support_ = np.flatnonzero(dual_coef)
        if name == "linear":
            self.coef_ = np.asarray(X.T @ dual_coef)
        elif name != "precomputed":
            self._train, self._expansion = X[self.support_], dual_coef[self.support_]
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return f for the rows of `X`, (n, p), or (n, m) for "precomputed", -> (n,).

        Of the linear kernel float32 rows have float32 values; other kernels are computed in float64.
        """
        check_is_fitted(self, "classes_")
        linear = hasattr(self, "coef_")
        kinds = [np.float64, np.float32] if linear else np.float64
        X = validate_data(self, X, accept_sparse="csr", dtype=kinds, reset=False)
        if linear:
            return np.asarray(X @ self.coef_.astype(X.dtype)) + X.dtype.type(self.intercept_)
        if not hasattr(self, "_train"):
            return X @ self.dual_coef_ + self.intercept_
        return kernel_sums(self._kernel, X, self._train, self._expansion) + self.intercept_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tag_input(tags, self.kernel)
        return tags
