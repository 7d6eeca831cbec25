"""What the room's classifiers share: a sum of kernels, of which prediction needs only the retained rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ...base.labels import binary_classes
from ...base.parameters import validate_choice
from ...kernels import Kernel, gram, kernel_name, resolve_kernel, tidy
from .parameters import THRESHOLDS

#: kernel values that one batch of rows may hold
BATCH = 2**22
#: what a fit leaves beside the attributes that end with an underscore
_PRIVATE = ("_kernel", "_weights", "_direction", "_rows")


class KernelMachine(ClassifierMixin, BaseEstimator):
    r"""Two classes by the sign of :math:`b+\sum_i\alpha_ik(x_i,x)-\tau`; subclasses find alpha and b.

    The decision function is that difference in units of :math:`N^2/(2N_1N_2)`, half the distance of the two
    targets. Least squares with these targets then estimates :math:`2P(\text{positive}\mid x)-1`, whatever the
    sizes of the classes, so that machines of several classes can be compared.

    A subclass has the parameters `kernel`, `gamma`, `degree` and `coef0`, calls ``_validated`` and
    ``_training_gram`` at the beginning of ``fit`` and ``_keep`` at its end.

    Attributes
    ----------
    classes_ : (2,) array
        The second is the positive one.
    class_count_ : (2,) array of int
        Its training rows, and before them those of the first: N2, N1.
    coef_ : (N,) array, alpha
    intercept_ : float, b
    threshold_ : float, tau
    retained_ : (r,) array of int
        The training rows with a coefficient, in order.
    retained_fraction_ : float
        Their share, r / N.
    n_features_in_ : int
    """

    kernel: Kernel
    gamma: float | None
    degree: float
    coef0: float
    classes_: np.ndarray
    class_count_: np.ndarray
    coef_: np.ndarray
    intercept_: float
    threshold_: float
    n_features_in_: int

    def _validated(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        """Check what `fit` gets, drop what an earlier one left; return the rows and which are positive.

        Parameters
        ----------
        X : (N, d) array or sparse matrix, or the (N, N) matrix for "precomputed"
        y : (N,) labels
        """
        for state in [name for name in vars(self) if name.endswith("_") or name in _PRIVATE]:
            delattr(self, state)
        self._kernel: Kernel = resolve_kernel(self.kernel, self.gamma, self.degree, self.coef0)
        name = kernel_name(self._kernel)
        dense = name in ("precomputed", "callable")
        if dense and sparse.issparse(X):
            raise ValueError(
                f"kernel={self.kernel!r} does not take sparse data, of shape {X.shape}; call X.toarray()"
            )
        X, y = validate_data(self, X, y, accept_sparse=False if dense else "csr", dtype=np.float64)
        X = tidy(X)
        self.classes_, positive = binary_classes(y, type(self).__name__)
        if name == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(f"kernel='precomputed' needs a square matrix, got shape {X.shape}")
        self.class_count_ = np.bincount(positive, minlength=2)
        return X, positive

    def _training_gram(self, X: Any) -> np.ndarray:
        """Return ``[k(x_j, x_i)]`` of the rows of `X`, (N, d), or a precomputed `X` itself: (N, N)."""
        return gram(self._kernel, X)

    def _keep(self, X: Any, coef: np.ndarray, intercept: float, threshold: float) -> Self:
        """Keep the solution, and of the rows `X` what prediction needs: those with a coefficient."""
        self.coef_, self.intercept_, self.threshold_ = coef, float(intercept), float(threshold)
        self.retained_ = np.flatnonzero(coef)
        self.retained_fraction_ = len(self.retained_) / len(coef)
        self._weights = coef[self.retained_]
        name = kernel_name(self._kernel)
        if name == "linear":  # one vector instead of rows
            self._direction = np.asarray(X[self.retained_].T @ self._weights).ravel()
        elif name != "precomputed":
            self._rows = X[self.retained_]  # a copy
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return how far f is above the threshold, in half distances of the targets; > 0 is ``classes_[1]``.

        Parameters
        ----------
        X : (n, d) array or sparse matrix; (n, N) for "precomputed", of which only the retained columns count

        Returns
        -------
        (n,) array
        """
        check_is_fitted(self, "coef_")
        name = kernel_name(self._kernel)
        sparse_too = False if name in ("precomputed", "callable") else "csr"
        X = validate_data(self, X, accept_sparse=sparse_too, dtype=np.float64, reset=False)
        if name == "linear":
            sums = np.asarray(X @ self._direction)
        elif name == "precomputed":
            sums = X[:, self.retained_] @ self._weights
        else:
            sums = kernel_sums(self._kernel, X, self._rows, self._weights)
        n_negative, n_positive = self.class_count_
        unit = (n_negative + n_positive) ** 2 / (2.0 * n_negative * n_positive)
        return (sums + (self.intercept_ - self.threshold_)) / unit

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row of `X`, (n, d), or (n, N) for "precomputed"; at 0 the first one."""
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(int)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        try:
            name = kernel_name(self.kernel)
        except ValueError:  # fit says what is wrong with it
            name = ""
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = name not in ("precomputed", "callable")
        tags.input_tags.pairwise = name == "precomputed"
        return tags


def decision_threshold(kind: str, values: np.ndarray, positive: np.ndarray) -> float:
    r"""Return what f is compared with.

    Parameters
    ----------
    kind : {"midpoint", "means"}
        "midpoint" of the two targets, :math:`\tfrac N2(1/N_1-1/N_2)`, section 4 of the paper; "means" is the
        midpoint of the mean of f in either class, as Fisher's discriminant has it. Where f is constant it
        falls back on the former, which then says the larger class.
    values : (N,) array
        f on the training rows.
    positive : (N,) array of bool
    """
    validate_choice("threshold", kind, THRESHOLDS)
    if kind == "means" and values.min() < values.max():
        return 0.5 * float(values[positive].mean() + values[~positive].mean())
    n, n_positive = len(positive), int(positive.sum())
    return 0.5 * n * (1.0 / n_positive - 1.0 / (n - n_positive))


def kernel_sums(kernel: Kernel, X: Any, rows: Any, weights: np.ndarray) -> np.ndarray:
    """Return ``sum_i weights_i k(rows_i, x)`` for the rows x of `X`, batch by batch: (n,).

    Parameters
    ----------
    kernel : Kernel
    X : (n, d) array or CSR matrix
    rows : (r, d) array or CSR matrix
    weights : (r,) array
    """
    if rows.shape[0] == 0:
        return np.zeros(X.shape[0])
    height = max(1, BATCH // rows.shape[0])
    sums = [gram(kernel, X[start : start + height], rows) @ weights for start in range(0, X.shape[0], height)]
    return np.concatenate(sums)
