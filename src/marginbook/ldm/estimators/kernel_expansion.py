"""What the compared methods share: functions that are sums of kernels."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ...base.labels import binary_signs
from ...kernels import Kernel, gram, kernel_name, resolve_kernel, tidy

#: kernel values that one batch of rows may hold
BATCH = 2**22


class BinaryPeer(ClassifierMixin, BaseEstimator):
    """A classifier of two classes by the sign of a decision function."""

    classes_: np.ndarray

    def decision_function(self, X: Any) -> np.ndarray:
        """Return f for the rows of `X`, (n, p) -> (n,); positive means ``classes_[1]``."""
        raise NotImplementedError

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row of `X`, (n, p); where f is 0, the first one."""
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(int)]

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
    gamma: float | None
    degree: float
    coef0: float
    dual_coef_: np.ndarray
    coef_: np.ndarray
    intercept_: float

    #: what `fit` leaves only sometimes
    _STATE: ClassVar[tuple[str, ...]] = ("coef_", "_train")

    def _resolved(self) -> tuple[Any, str]:
        """Return the kernel, with `gamma`, `degree` and `coef0` where it was given by name, and its name."""
        kernel = resolve_kernel(self.kernel, self.gamma, self.degree, self.coef0)
        return kernel, kernel_name(kernel)

    def _validated(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        """Check what `fit` gets, set the classes, and return the rows and the signs."""
        for state in self._STATE:
            self.__dict__.pop(state, None)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        X = tidy(X)
        self._kernel, name = self._resolved()
        if name in ("precomputed", "callable") and sparse.issparse(X):
            raise ValueError("a precomputed or callable kernel needs dense data; call X.toarray()")
        if name == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(f"kernel='precomputed' needs a square matrix, got shape {X.shape}")
        self.classes_, signs = binary_signs(y, type(self).__name__)
        return X, signs

    def _keep(self, X: Any, dual_coef: np.ndarray, intercept: float) -> Self:
        """Keep what prediction needs: w for the linear kernel, else the rows with a coefficient."""
        self.dual_coef_, self.intercept_ = dual_coef, intercept
        name = kernel_name(self._kernel)
        self.support_ = np.flatnonzero(dual_coef)
        if name == "linear":
            self.coef_ = np.asarray(X.T @ dual_coef)
        elif name != "precomputed":
            self._train = X[self.support_]
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return f for the rows of `X`, (n, p), or (n, m) for "precomputed", -> (n,)."""
        check_is_fitted(self, "classes_")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        if hasattr(self, "coef_"):
            return np.asarray(X @ self.coef_) + self.intercept_
        if not hasattr(self, "_train"):
            return X @ self.dual_coef_ + self.intercept_
        return kernel_sums(self._kernel, X, self._train, self.dual_coef_[self.support_]) + self.intercept_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        try:
            name = kernel_name(self.kernel)
        except ValueError:  # fit says what is wrong with it
            name = ""
        tags.input_tags.sparse = name not in ("precomputed", "callable")
        tags.input_tags.pairwise = name == "precomputed"
        return tags


def kernel_sums(kernel: Kernel, X: Any, train: Any, coefficients: np.ndarray) -> np.ndarray:
    """Return ``sum_i c_i k(x_i, x)`` for the rows x of `X`, (n, p), without an (n, m) matrix: (n,)."""
    if train.shape[0] == 0:
        return np.zeros(X.shape[0])
    height = max(1, BATCH // train.shape[0])
    sums = [
        gram(kernel, X[start : start + height], train) @ coefficients
        for start in range(0, X.shape[0], height)
    ]
    return np.concatenate(sums)
