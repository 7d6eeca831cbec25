"""The fit of KFDAClassifier to more than two classes, each against the rest."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from ...kernels import kernel_name
from ...kernels.landmarks import Landmarks
from ..estimators.rows import Rows
from .ridge_classes import Discriminants, by_factor, by_features, by_iteration, by_spectrum, class_targets
from .ridge_limits import CLEAN, EIGEN, FALLBACK, FITTED, GAP
from .ridge_path import SingularScatterError
from .ridge_solution import checked

if TYPE_CHECKING:
    from .ridge import KFDAClassifier


def fit_classes(model: KFDAClassifier, rows: Rows, codes: np.ndarray) -> KFDAClassifier:
    """Fit each class against the rest; `codes`, (n,), are the places of the labels among the classes."""
    root, n_classes, (n, p) = rows.root, len(model.classes_), rows.X.shape
    given = Y = class_targets(codes, n_classes, rows.weights)
    column = 1.0 if root is None else root[:, np.newaxis]
    Y = Y if root is None else column * Y
    direction = columns = None
    if model.n_components is not None:
        drawn = check_random_state(model.random_state)
        landmarks = Landmarks.fit(model._kernel, rows.X, model.n_components, drawn)
        features = landmarks.transform(rows.X)
        found, weights, _ = by_features(features, Y, model.reg, root, "")
        coef, columns = landmarks.to_features @ weights, landmarks.places
    elif kernel_name(model._kernel) == "linear" and p < n and model.route != "fisher":
        X = rows.X.toarray() if sparse.issparse(rows.X) else rows.X
        found, direction, left_out = by_features(X, Y, model.reg, root, model.threshold)
        if left_out is not None:
            model.loo_decision_ = left_out
        coef = column * found.coef
    else:
        found = _classes_of_kernel(model, rows, Y)
        coef = column * found.coef
    model._judge(found.residual)
    model.residual_ = found.residual
    bias, fitted = found.bias, found.fitted / column
    if model.class_weight is not None:  # as for two classes
        wanted = class_targets(codes, n_classes, rows.own)
        unit = np.ptp(wanted, axis=0) / np.ptp(given, axis=0)
        shift = wanted.min(axis=0) - unit * given.min(axis=0)
        coef, bias, fitted = unit * coef, unit * bias + shift, unit * fitted + shift
        direction = None if direction is None else unit * direction
    return model._keep(rows, coef, bias, fitted, columns, direction)


def _classes_of_kernel(model: KFDAClassifier, rows: Rows, Y: np.ndarray) -> Discriminants:
    """Return the discriminants of the targets `Y`, (n, K), from the kernel matrix."""
    root, n = rows.root, len(Y)
    iterative = model.route == "cg" or (model.route == "auto" and n > EIGEN and model.reg > 0)
    K = model._kernel_matrix(rows, n if iterative else 3 * n)
    K, _ = checked(K, Y[:, 0], root, symmetric=kernel_name(model._kernel) != "precomputed")
    if iterative:
        found, n_iter = by_iteration(K, Y, model.reg, root)
        missed = ~(found.gaps <= GAP * found.values)
        if not (missed.any() and model.route == "auto" and n <= FALLBACK):
            model.gap_, model.n_iter_ = float(found.gaps.max()), max(1, n_iter)
            if missed.any():
                model._warn_of_gap(n_iter, float((found.gaps / found.values).max()))
            return found
    elif model.route == "fisher":
        return by_factor(K, Y, model.reg, root)
    elif model.route == "auto" and model.reg > 0:
        with suppress(SingularScatterError):
            found = by_factor(K, Y, model.reg, root)
            if (found.gaps <= CLEAN * found.values).all():
                return found
    found, rounding, left_out = by_spectrum(K, Y, model.reg, root, model.threshold)
    if left_out is not None:
        model.loo_decision_ = left_out
    model._judge(rounding, FITTED)
    return found
