"""What classifiers with several kernels share: rows, labels, Gram matrices of a fit, its decisions."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ...base.labels import encode_classes
from ...base.parameters import (
    validate_counts,
    validate_flags,
    validate_not_negative,
    validate_within,
)
from ...base.partial_fit import NoPartialFit
from ...base.refit import forget
from ...base.weights import ClassWeight, row_weights
from ...kernels import Kernel, gram, kernel_name, warn_of_scale
from ...kernels.validation import validate_data
from ..estimators.parameters import resolve_kernels
from ..model.normalised_kernels import SharedPairs
from ..solvers.svm_outputs import OutputSVMs

#: kernel values that one batch of rows may hold
BATCH = 2**22
#: rows among which it is asked whether the kernels tell rows apart
LOOKED_AT = 512


class SeveralKernels(NoPartialFit, ClassifierMixin, BaseEstimator):
    """Support vector machines, one output per class, on a function of several Gram matrices.

    A subclass has the parameters `kernels`, `C`, `tol`, `max_iter`, `normalised` and `class_weight`, calls
    ``_started`` at the beginning of ``fit`` and ``_keep`` at its end, and says in ``_joined`` how the kernels
    make one.
    """

    kernels: list[Kernel] | None
    C: float
    tol: float
    max_iter: int
    normalised: bool
    class_weight: ClassWeight
    classes_: np.ndarray
    kernels_: list[Kernel]
    weights_: np.ndarray
    support_: np.ndarray
    dual_coef_: np.ndarray
    intercept_: np.ndarray
    n_features_in_: int

    def _started(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Check what `fit` gets, (n, p) and (n,); return the rows that have a weight, signs and weights.

        The signs are those of the outputs, (n, m); weights are None where all are 1.
        """
        forget(self, "_rows", "_used")
        kernels = resolve_kernels(self.kernels)
        validate_within("[1e-08, 1e+08]", C=self.C)
        validate_flags(normalised=self.normalised)
        validate_not_negative(tol=self.tol)
        validate_counts(max_iter=self.max_iter)
        X, y = validate_data(self, X, y, dtype=np.float64)
        classes, codes = encode_classes(y, type(self).__name__)
        self.classes_, self.kernels_ = classes, kernels
        signs = np.where(codes[:, None] == np.arange(len(classes)), 1.0, -1.0)
        signs = signs[:, 1:] if len(classes) == 2 else signs
        weights = row_weights(X, y, sample_weight, self.class_weight)
        self._used = np.arange(len(X)) if weights is None else np.flatnonzero(weights)
        if weights is None:
            return X, signs, None
        return X[self._used], signs[self._used], weights[self._used]

    def _grams(self, X: np.ndarray, Z: np.ndarray | None, which: np.ndarray) -> list[np.ndarray]:
        """Return the Gram matrices of the rows of `X`, (n, p), and `Z`, (m, p), for the kernels `which`."""
        kernels = [self.kernels_[k] for k in which]
        if not self.normalised:
            return [gram(kernel, X, Z) for kernel in kernels]
        pairs = SharedPairs(X, Z)
        return [pairs.values(kernel) for kernel in kernels]

    def _keep(self, X: np.ndarray, weights: np.ndarray, machines: OutputSVMs) -> None:
        """Keep the `weights`, (K,), and the rows of `X`, (n, p), that have a coefficient in an output."""
        self.weights_ = weights
        support = np.flatnonzero(machines.beta.any(axis=1))
        self.support_ = self._used[support]
        self.dual_coef_ = np.ascontiguousarray((machines.beta[support] * machines.scale).T)
        self.intercept_ = machines.bias
        self.objective_ = machines.value
        self._rows = X[support]
        del self._used
        shares = weights if weights.any() else np.ones(len(weights))
        chosen = [self.kernels_[k] for k in np.flatnonzero(shares)]
        if all(kernel_name(kernel) == "rbf" for kernel in chosen):
            grams = [gram(kernel, X[:LOOKED_AT]) for kernel in chosen]
            warn_of_scale(chosen[0], np.average(grams, axis=0, weights=shares[shares != 0]))

    def _joined(self, grams: list[np.ndarray], weights: np.ndarray) -> np.ndarray:
        """Return the one kernel that `grams`, arrays (n, m), make with `weights`, one for each."""
        raise NotImplementedError

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the outputs for rows `X`, (n, p).

        Returns
        -------
        (n, n_classes) array, or (n,) for two classes: positive for ``classes_[1]``
        """
        check_is_fitted(self, "dual_coef_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        # one kernel of weight 0, if there is no other, for the shape
        used = np.flatnonzero(self.weights_) if self.weights_.any() else np.array([0])
        height = max(1, BATCH // max(1, len(self._rows)))
        parts = []
        for start in range(0, len(X), height):
            grams = self._grams(X[start : start + height], self._rows, used)
            parts.append(self._joined(grams, self.weights_[used]) @ self.dual_coef_.T)
        outputs = np.concatenate(parts) + self.intercept_
        return np.asarray(outputs.ravel() if outputs.shape[1] == 1 else outputs)

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row of `X`, (n, p)."""
        outputs = self.decision_function(X)
        codes = (outputs > 0).astype(int) if outputs.ndim == 1 else outputs.argmax(axis=1)
        return np.asarray(self.classes_[codes])
