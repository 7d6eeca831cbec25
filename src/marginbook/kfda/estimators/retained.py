"""Which training rows a fitted classifier keeps, also over the machines of several classes, as a score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.multiclass import OneVsOneClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted


@dataclass(frozen=True, eq=False)
class Retained:
    """The training rows of which a classifier needs the kernel.

    Attributes
    ----------
    indices : (r,) array of int
        Rows that at least one of the machines retains, in order: the kernel values that a prediction takes.
    per_machine : (n_machines,) array of int
        Rows that each machine retains: the coefficients that it stores.
    n_rows : int
        Training rows in all.
    """

    indices: np.ndarray
    per_machine: np.ndarray
    n_rows: int

    @property
    def total(self) -> int:
        """Coefficients of all machines together; a row counts for each machine that retains it."""
        return int(self.per_machine.sum())

    @property
    def fraction(self) -> float:
        """The rows that any machine retains, as a share of all."""
        return len(self.indices) / self.n_rows


def retained_by(model: Any, y: Any = None) -> Retained:
    """Return which training rows a fitted classifier retains, over all the machines that it is made of.

    Parameters
    ----------
    model : estimator
        Fitted: a classifier with ``retained_`` (those of `marginbook.kfda`) or ``support_`` (scikit-learn's
        SVC), or a OneVsRestClassifier, OneVsOneClassifier or OutputCodeClassifier of such, or a pipeline or
        search that ends in one of these.
    y : (N,) labels of the training rows, optional
        Only OneVsOneClassifier needs them, which trains each machine on the rows of two classes.

    Examples
    --------
    >>> from marginbook.kfda import SparseKFDAClassifier, retained_by
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.multiclass import OneVsRestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> kept = retained_by(OneVsRestClassifier(SparseKFDAClassifier(q=0.5, gamma=0.25)).fit(X, y))
    >>> kept.per_machine.tolist(), kept.total, len(kept.indices)
    ([4, 5, 4], 13, 13)

    Raises
    ------
    ValueError
        For a model that is none of these; for OneVsOneClassifier without `y`; as its subclass NotFittedError
        for one that is not fitted.
    """
    model = final_step(model)
    if not hasattr(model, "estimators_"):
        indices, n_rows = _rows_of(model)
        return Retained(indices, np.array([len(indices)]), n_rows)
    if isinstance(model, OneVsOneClassifier):
        parts = _pairs(model, y)
        found = [
            part[_rows_of(final_step(one))[0]] for part, one in zip(parts, model.estimators_, strict=True)
        ]
        n_rows = int(max(part.max() for part in parts)) + 1
    else:
        each = [_rows_of(final_step(one)) for one in model.estimators_]
        found, n_rows = [indices for indices, _ in each], max(number for _, number in each)
    counts = np.array([len(indices) for indices in found])
    return Retained(np.unique(np.concatenate(found)).astype(int), counts, n_rows)


def retained_fraction(model: Any, X: Any = None, y: Any = None) -> float:
    """Return the share of its training rows that a fitted classifier retains, in [0, 1]: NRS as a fraction.

    Called as a scorer is, but smaller is better; `X` and `y`, the test rows, play no part.
    """
    return retained_by(model).fraction


def neg_retained_fraction(model: Any, X: Any = None, y: Any = None) -> float:
    """Return minus :func:`retained_fraction`: a scorer, larger is better."""
    return -retained_fraction(model)


def final_step(model: Any) -> Any:
    """Return the classifier at the end of a pipeline or a search, or `model` itself."""
    while True:
        if isinstance(model, Pipeline):
            model = model.steps[-1][1]
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        else:
            return model


def _rows_of(model: Any) -> tuple[np.ndarray, int]:
    """Return the rows that one machine retains, and of how many."""
    if hasattr(model, "retained_"):
        return model.retained_, len(model.dual_coef_)
    if hasattr(model, "support_") and hasattr(model, "shape_fit_"):
        return np.sort(model.support_), model.shape_fit_[0]
    if type(model).__name__ == "_ConstantPredictor":  # scikit-learn's, where a machine got one class
        return np.empty(0, dtype=int), 0
    if hasattr(model, "fit"):
        check_is_fitted(model, msg="%(name)s is not fitted; call fit, which finds the rows that it retains")
    raise ValueError(
        f"{type(model).__name__} has neither retained_ nor support_, which say what rows it needs; give a "
        "sparse kernel machine, such as SparseKFDAClassifier"
    )


def _pairs(model: OneVsOneClassifier, y: Any) -> list[np.ndarray]:
    """Return for each machine of `model` the rows of its two classes."""
    if y is None and model.pairwise_indices_ is not None:
        return list(model.pairwise_indices_)
    if y is None:
        raise ValueError(
            "OneVsOneClassifier trains on parts of the rows; give their labels: retained_by(model, y)"
        )
    labels, n_classes = np.asarray(y), len(model.classes_)
    pairs = [
        np.flatnonzero(np.isin(labels, model.classes_[[i, j]]))
        for i in range(n_classes)
        for j in range(i + 1, n_classes)
    ]
    wanted = [_rows_of(final_step(one))[1] for one in model.estimators_]
    if wanted != [len(part) for part in pairs]:
        raise ValueError(f"y has {len(labels)} labels, which are not those that the model was fitted to")
    return pairs
