"""Labels of a fit: classes that have an order."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets


def validate_labels(y: Any) -> None:
    """Raise ValueError unless `y`, (n,), holds labels of classes, all of them text or all of them numbers.

    >>> import numpy as np
    >>> validate_labels(np.array(["a", 1], dtype=object))
    Traceback (most recent call last):
        ...
    ValueError: the labels have the types int, str, which have no order; make all text, or all numbers
    """
    if getattr(getattr(y, "dtype", None), "kind", "") == "O":
        kinds = {type(label) for label in np.ravel(y)}
        text = {kind for kind in kinds if issubclass(kind, str)}
        number = {kind for kind in kinds if issubclass(kind, int | float | np.number | np.bool_)}
        if kinds not in (text, number):
            found = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise ValueError(
                f"the labels have the types {found}, which have no order; make all text, or all numbers"
            )
    check_classification_targets(y)


def encode_classes(y: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes of the labels `y`, (n,), sorted, and the place of each label among them, (n,).

    Raises
    ------
    ValueError
        For labels that are no classes, or of one class only; `name` is that of the estimator.
    """
    validate_labels(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"{name} needs at least 2 classes, got one class: {classes[0]}")
    return classes, codes


def binary_classes(y: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the two classes of the labels `y`, (n,), sorted, and whether each label is the second, (n,).

    Raises
    ------
    ValueError
        For one class, more than two, or labels that are no classes; `name` is that of the estimator.
    """
    validate_labels(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) == 1:
        raise ValueError(f"{name} needs 2 classes, got one class: {classes[0]}")
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass, with "
            f"{len(classes)} classes; wrap {name} in OneVsRestClassifier or OneVsOneClassifier of "
            "sklearn.multiclass"
        )
    return classes, codes == 1


def binary_signs(y: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes as :func:`binary_classes` does, and signs, (n,): 1 for the second class, else -1."""
    classes, second = binary_classes(y, name)
    return classes, np.where(second, 1.0, -1.0)
