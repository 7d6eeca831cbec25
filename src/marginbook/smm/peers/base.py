"""What the peers share: two classes of matrices, separated by a linear function of the entries."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from ...base.labels import binary_signs
from ...base.partial_fit import NoPartialFit
from ...base.refit import forget
from ..estimators.base import class_weights
from ..estimators.matrix_input import linear_values, validate_matrices, validate_training


class MatrixClassifier(NoPartialFit, ClassifierMixin, BaseEstimator):
    r"""Two classes by the sign of :math:`\langle B,X\rangle+b`; subclasses find B and b.

    A subclass has the parameters `shape` and `class_weight`, calls ``_validated`` at the beginning of ``fit``
    and sets ``coef_``, (d1, d2), and ``intercept_``.
    """

    shape: tuple[int, int] | None
    class_weight: Any
    classes_: np.ndarray
    coef_: np.ndarray
    intercept_: float
    n_features_in_: int

    def _validated(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Check what ``fit`` gets and drop what an earlier one left.

        Parameters
        ----------
        X : (n, d1, d2) array, or (n, p)
        y : (n,) labels
        sample_weight : (n,) array or None

        Returns
        -------
        X : (n, d1, d2) array
        signs : (n,) array of -1 and 1
        weights : (n,) array
            Of the samples.
        factors : (n,) array
            Of their classes.
        """
        forget(self)
        X, y = validate_training(self, X, y, shape=self.shape)
        self.classes_, signs = binary_signs(y, type(self).__name__)
        weights = sample_weights(sample_weight, X, signs, type(self).__name__)
        codes = (signs > 0).astype(int)
        return X, signs, weights, class_weights(self.class_weight, self.classes_, codes, weights)

    def decision_function(self, X: Any) -> np.ndarray:
        r"""Return :math:`\langle B,X\rangle+b` of the matrices `X`, (n, d1, d2) or (n, p).

        Returns
        -------
        (n,) array
            Above 0 for ``classes_[1]``; of float32 matrices float32.
        """
        check_is_fitted(self, "coef_")
        return linear_values(self.coef_, self.intercept_, validate_matrices(self, X, single=True))

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each matrix of `X`, (n, d1, d2) or (n, p)."""
        values = self.decision_function(X)
        return np.asarray(self.classes_[(values > 0).astype(int)])

    def __sklearn_tags__(self) -> Tags:
        """Return the tags: matrices, of two classes only."""
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.classifier_tags.multi_class = False
        return tags


def sample_weights(sample_weight: Any, X: np.ndarray, signs: np.ndarray, name: str) -> np.ndarray:
    """Return the weights, (n,), ones for None; raise ValueError unless >= 0, and above 0 in both classes."""
    weights = np.asarray(_check_sample_weight(sample_weight, X.reshape(len(X), -1), dtype=np.float64))
    if (weights < 0).any():
        raise ValueError(
            f"sample_weight has negative entries, the least {weights.min():g}; wanted weights >= 0"
        )
    for sign in (-1, 1):
        if not weights[signs == sign].any():
            raise ValueError(f"{name} needs 2 classes, but the weights of one class are all 0")
    return weights
