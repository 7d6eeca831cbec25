"""What a fit makes of labels and of the weights of rows, before any machine is trained."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from ...base.labels import binary_signs, encode_classes
from ...kernels import resolve_kernel


def class_signs(y: Any, name: str, many: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes of labels `y`, (m,), and signs, 1 where a class is that of the row and else -1.

    The signs are (1, m) for two classes, of the second, and (k, m) for k > 2 of them, where `many` allows
    that. Raises as :func:`marginbook.base.labels.encode_classes` and ``binary_signs`` do.
    """
    if not many:
        classes, signs = binary_signs(y, name)
        return classes, signs[np.newaxis]
    classes, codes = encode_classes(y, name)
    wanted = np.arange(1, 2) if len(classes) == 2 else np.arange(len(classes))
    return classes, np.where(codes == wanted[:, np.newaxis], 1.0, -1.0)


def resolve_weighted(model: Any, X: Any, sample_weight: Any) -> Any:
    """Return the kernel of `model` on rows `X`, (m, p); with weights of rows "scale" weighs their variance.

    A row of weight k then counts as k equal rows here too.
    """
    weights = None
    if sample_weight is not None:
        weights = np.array(_check_sample_weight(sample_weight, X, dtype=np.float64))
    return resolve_kernel(model.kernel, model.gamma, model.degree, model.coef0, X, weights)
