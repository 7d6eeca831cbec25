"""What the peers share: two classes of matrices, told apart by a linear function of the entries."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from ...base.labels import binary_signs
from ..estimators.matrix_input import validate_matrices, validate_training


class MatrixClassifier(ClassifierMixin, BaseEstimator):
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
        for state in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, state)
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        X, y = validate_training(self, X, y, shape=self.shape)
        self.classes_, signs = binary_signs(y, type(self).__name__)
        weights = sample_weights(sample_weight, X, signs, type(self).__name__)
        return X, signs, weights, class_factors(self.class_weight, self.classes_, signs, weights)

    def decision_function(self, X: Any) -> np.ndarray:
        r"""Return :math:`\langle B,X\rangle+b` of the matrices `X`, (n, d1, d2) or (n, p).

        Returns
        -------
        (n,) array
            Above 0 for ``classes_[1]``.
        """
        check_is_fitted(self, "coef_")
        X = validate_matrices(self, X)
        return np.asarray(X.reshape(len(X), -1) @ self.coef_.ravel() + self.intercept_)

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


def class_factors(
    class_weight: Any, classes: np.ndarray, signs: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Return the weight of the class of each sample, (n,).

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        "balanced" makes both classes weigh the same, with the sample weights, and the total what it was.
    classes : (2,) array
    signs : (n,) array of -1 and 1
    weights : (n,) array
    """
    if isinstance(class_weight, str) and class_weight == "balanced":
        halves = np.array([weights[signs < 0].sum(), weights[signs > 0].sum()])
        factors = weights.sum() / (2 * halves)
    else:
        labels = np.where(signs > 0, classes[1], classes[0])
        factors = compute_class_weight(class_weight, classes=classes, y=labels)
    if not (np.isfinite(factors) & (factors > 0)).all():
        raise ValueError(f"class_weight gives the weights {factors}, wanted finite weights > 0")
    return np.asarray(factors[(signs > 0).astype(int)])
