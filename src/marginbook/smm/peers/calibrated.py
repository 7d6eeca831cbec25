"""CalibratedSVMClassifier: decision values of a machine, turned into probabilities on samples left out."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from ...base.folds import validate_folds
from ...base.labels import validate_labels
from ...base.parameters import is_whole, validate_choice, validate_flags
from ...base.partial_fit import NoPartialFit
from ...base.refit import forget
from ...base.threads import on_few_threads
from ...base.weights import row_weights
from ..estimators.matrix_input import validate_matrices, validate_training
from .vector import VectorSVMClassifier

METHODS = ("sigmoid", "isotonic")
#: folds, where the smallest class has as many samples
FOLDS = 5


@dataclass(eq=False, repr=False)
class CalibratedSVMClassifier(NoPartialFit, ClassifierMixin, BaseEstimator):
    r"""Probabilities from a support vector machine, by a sigmoid (Platt 1999) or by isotonic regression.

    Each fold's machine, trained on the others, decides on the samples of the fold; with "sigmoid" the
    probability is :math:`1/(1+e^{af(X)+c})` with a and c of the largest likelihood, with "isotonic" the
    monotone function of f(X) of least squared error (Zadrozny & Elkan 2002). It is scikit-learn's
    ``CalibratedClassifierCV``, for matrices. :class:`~marginbook.smm.RegressionFunctionEstimator` trains a
    machine for every level instead.

    Read more in the :ref:`user guide <guide-calibratedsvmclassifier>` (``marginbook guide``).

    Parameters
    ----------
    estimator : classifier of matrices, default=None
        Any of `marginbook.smm` with ``decision_function``; None is
        :class:`~marginbook.smm.peers.vector.VectorSVMClassifier`. Where scikit-learn's metadata routing is
        on, it must ask for weights of rows, which `class_weight` makes, too:
        ``VectorSVMClassifier().set_fit_request(sample_weight=True)``.
    method : {"sigmoid", "isotonic"}, default="sigmoid"
    cv : int, splitter or iterable of splits, default=None
        None is 5 stratified folds, or as many as the smallest class has samples.
    ensemble : bool, default=True
        Whether to average the calibrated machines of all folds; otherwise one machine of all samples is
        calibrated by the values that the machines of the folds give.
    shape : (int, int), default=None
        d1 and d2 of matrices that come as rows of p numbers. The machine gets them as matrices.
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights of each class, in the machines and in what calibrates them: the probabilities
        are those of the classes so weighted.

    Attributes
    ----------
    classes_ : (n_classes,) array
    calibrated_ : CalibratedClassifierCV
    n_features_in_ : int
    matrix_shape_ : (int, int)

    Examples
    --------
    >>> from marginbook.datasets import make_low_rank
    >>> from marginbook.smm import CalibratedSVMClassifier
    >>> X, y, truth, _ = make_low_rank(1100, shape=(4, 4), rank=1, scale=2, random_state=0)
    >>> model = CalibratedSVMClassifier().fit(X[:1000], y[:1000])
    >>> float(abs(model.predict_proba(X[1000:])[:, 1] - truth[1000:]).mean().round(2))
    0.04
    """

    estimator: Any = None
    _: KW_ONLY
    method: str = "sigmoid"
    cv: Any = None
    ensemble: bool = True
    shape: tuple[int, int] | None = None
    class_weight: Any = None

    @on_few_threads
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to matrices `X`, (n, d1, d2) or (n, p), labels `y` and weights of the losses, each (n,).

        The weights are those of the machines, which have to take them, and of what calibrates. Samples of
        weight 0 are left out before folds are made of a number of folds; copies of one sample may be in
        several folds, so that weights and repetitions are not the same here.

        Raises
        ------
        ValueError
            For one class, a class of one sample where `cv` is None, and parameters out of range.
        """
        forget(self)
        validate_choice("method", self.method, METHODS)
        validate_flags(ensemble=self.ensemble)
        if not (self.estimator is None or hasattr(self.estimator, "fit")):
            raise ValueError(f"estimator must be None or a classifier, got {self.estimator!r}")
        X, y = validate_training(self, X, y, shape=self.shape)
        validate_labels(y)
        weights = row_weights(X, y, sample_weight, self.class_weight)
        if weights is not None and (self.cv is None or is_whole(self.cv)):
            X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
        classes, counts = np.unique(y, return_counts=True)
        if len(classes) == 1:
            raise ValueError(f"{type(self).__name__} needs 2 classes, got one class: {classes[0]}")
        cv, least = self.cv, int(counts.min())
        if cv is None:
            if least < 2:
                raise ValueError(
                    f"class {classes[counts.argmin()]} has one sample, wanted 2 or more to leave one out"
                )
            cv = min(FOLDS, least)
        elif isinstance(cv, list | tuple) and not cv:
            raise ValueError("cv is empty, wanted None, a number of folds or pairs of rows")
        elif is_whole(cv, 0) and not 2 <= cv <= least:
            raise ValueError(
                f"cv={cv} folds, wanted at least 2 and at most the {least} samples of the smallest class"
            )
        cv = validate_folds(cv, len(y))
        machine = VectorSVMClassifier() if self.estimator is None else clone(self.estimator)
        self.calibrated_ = CalibratedClassifierCV(
            machine, method=self.method, cv=cv, ensemble=bool(self.ensemble)
        ).fit(X, y, weights)
        self.classes_ = self.calibrated_.classes_
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, (n, n_classes), for `X`, (n, d1, d2) or (n, p)."""
        check_is_fitted(self, "calibrated_")
        return np.asarray(self.calibrated_.predict_proba(validate_matrices(self, X)))

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each matrix of `X`, (n, d1, d2) or (n, p)."""
        probabilities = self.predict_proba(X)
        return np.asarray(self.classes_[probabilities.argmax(axis=1)])

    def __sklearn_tags__(self) -> Tags:
        """Return the tags: matrices, of as many classes as the machine takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        known = hasattr(self.estimator, "__sklearn_tags__")  # else fit says what is wrong
        machine = self.estimator if known else VectorSVMClassifier()
        tags.classifier_tags.multi_class = get_tags(machine).classifier_tags.multi_class
        return tags
