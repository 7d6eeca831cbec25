"""What Figures 24 to 27 show: the weights that random parts of a data set lead to."""

from __future__ import annotations

import json

from ...experiments.fold import Fold, Row, Settings
from ..model.kernel_sets import paper_kernels
from .data import scaled_fold, setting_of
from .timed import transformer


def measure_weights(fold: Fold, method: str, settings: Settings) -> Row:
    """Learn the weights on the training rows.

    Parameters
    ----------
    method : str
        One of :data:`marginbook.clasmk.experiments.timed.TRANSFORMERS`.
    settings : mapping
        ``scaling`` and ``kernels`` (a name of :func:`marginbook.clasmk.model.kernel_sets.paper_kernels`),
        once or by data set; ``tol``, ``eta``, ``threshold``.

    Returns
    -------
    dict
        ``weights``, (C, K), and ``energy``, (C, K), of the held-out rows of each class in its subspaces, as
        JSON; ``kept``, JSON list of the kernels that are not truncated; ``objective``; ``largest``, the mean
        over classes of the largest weight; ``n_kernels``, ``n_classes``, ``n_train``.
    """
    fold = scaled_fold(fold, setting_of(settings, "scaling", fold.dataset))
    kernels = paper_kernels(setting_of(settings, "kernels", fold.dataset))
    model = transformer(method, kernels, settings, fold.seed).fit(fold.X_train, fold.y_train)
    return {
        "objective": float(model.objective_),
        "largest": float(model.weights_.max(axis=1).mean()),
        "weights": json.dumps(model.weights_.round(5).tolist()),
        "energy": json.dumps(model.energy_.round(5).tolist()),
        "kept": json.dumps([int(i) for i in model.kept_kernels_]),
        "n_kernels": len(kernels),
        "n_classes": len(model.classes_),
        "n_train": len(fold.y_train),
    }
