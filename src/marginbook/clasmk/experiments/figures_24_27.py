"""What Figures 24 to 27 show: the weights that random parts of a data set lead to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..model.kernel_sets import paper_kernels
from .data import Row, rows_seed, scaled, setting_of
from .timed import transformer


def measure_weights(
    X_train: np.ndarray,
    y_train: np.ndarray,
    X_test: np.ndarray,
    y_test: np.ndarray,
    *,
    method: str,
    settings: Mapping[str, Any],
    seed: int,
    dataset: str,
) -> Row:
    """Learn the weights on the training rows.

    Parameters
    ----------
    X_train, y_train, X_test, y_test : (n, p), (n,), (m, p), (m,) arrays
    method : str
        One of :data:`marginbook.clasmk.experiments.timed.TRANSFORMERS`.
    settings : mapping
        ``scaling`` and ``kernels`` (a name of :func:`marginbook.clasmk.model.kernel_sets.paper_kernels`),
        once or by data set; ``tol``, ``eta``, ``threshold``.
    seed : not used; the split into rows for bases and for weights goes by data set and training rows
    dataset : str

    Returns
    -------
    dict
        ``weights``, (C, K), and ``energy``, (C, K), of the held-out rows of each class in its subspaces, as
        JSON; ``kept``, JSON list of the kernels that are not truncated; ``objective``; ``largest``, the mean
        over classes of the largest weight; ``n_kernels``, ``n_classes``, ``n_train``.
    """
    A, _ = scaled(X_train, X_test, setting_of(settings, "scaling", dataset))
    kernels = paper_kernels(setting_of(settings, "kernels", dataset))
    model = transformer(method, kernels, settings, rows_seed(dataset, X_train)).fit(A, y_train)
    return {
        "objective": float(model.objective_),
        "largest": float(model.weights_.max(axis=1).mean()),
        "weights": json.dumps(model.weights_.round(5).tolist()),
        "energy": json.dumps(model.energy_.round(5).tolist()),
        "kept": json.dumps([int(i) for i in model.kept_kernels_]),
        "n_kernels": len(kernels),
        "n_classes": len(model.classes_),
        "n_train": len(y_train),
    }
