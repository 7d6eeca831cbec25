"""Labels of a fit: classes that have an order."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets


def check_labels(y: Any) -> None:
    """Raise ValueError unless `y`, (n,), holds labels of classes, all of them text or all of them numbers.

    >>> import numpy as np
    >>> check_labels(np.array(["a", 1], dtype=object))
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
