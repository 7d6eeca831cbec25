"""What Figures 2 to 23 show: accuracy, dimension and seconds of the weights, layer by layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...experiments.fold import Fold, Row, Settings, rows_seed
from ..estimators.hierarchy import HierarchicalCLASMKClassifier
from ..estimators.lssvm import LSSVMClassifier
from ..model.kernel_sets import paper_kernels
from .data import as_text, scaled, setting_of
from .timed import HALF, TimedCLASMK, warm_up


class _TimedLayers(HierarchicalCLASMKClassifier):
    def _layer(self, number: int) -> TimedCLASMK:
        return TimedCLASMK(**super()._layer(number).get_params(deep=False))


def measure_kernels(fold: Fold, method: str, settings: Settings) -> Row:
    """Learn all layers with so many kernels as the method says, such as ``"K=17"``; see `measure_layers`.

    In ``"K=17 half"`` a kernel takes part if its subspaces hold half of the energy of held-out rows.
    """
    count = number_of(method, "K=")
    stated = truncating(method, settings)
    return measure_layers(fold, count, stated, len(fold.y_train))


def measure_sizes(fold: Fold, method: str, settings: Settings) -> Row:
    """Learn all layers on so many of the rows as the method says, such as ``"n=500"``, with 17 kernels.

    The rows of a smaller size are among those of a larger one. Where a method asks for more rows than
    there are, all are taken, and ``n_train`` says how many these are. See `measure_layers`.
    """
    size = number_of(method, "n=")
    stated = truncating(method, settings)
    return measure_layers(fold, 17, stated, size)


def truncating(method: str, settings: Settings) -> dict[str, Any]:
    """Return the settings with the truncation of a method: that stated, or half the energy."""
    return {"truncation": "sum", **settings, **(HALF if method.endswith(" half") else {})}


def number_of(method: str, prefix: str) -> int:
    """Return the number in a method's name.

    >>> number_of("K=17", "K=")
    17
    """
    method = method.removesuffix(" half")
    if not (method.startswith(prefix) and method[len(prefix) :].isdigit()):
        raise ValueError(f"unknown method {method!r}; wanted {prefix} and a whole number")
    return int(method[len(prefix) :])


def measure_layers(fold: Fold, n_kernels: int, settings: Settings, n_rows: int) -> Row:
    """Learn the layers and test after each.

    Parameters
    ----------
    n_kernels : int
        Of :func:`marginbook.clasmk.model.kernel_sets.paper_kernels`, "figures".
    settings : mapping
        ``scaling`` (once or by data set), ``n_layers``, ``tol``, ``eta``, ``truncation``, ``threshold``,
        ``marginal``, ``C`` of the LS-SVM, ``test_rows`` at most.
    n_rows : int
        Training rows, drawn at random.

    Returns
    -------
    dict
        JSON lists, one number a layer: ``accuracy`` in %, ``features`` so far, ``marginal`` rows that the
        layer was learned on, ``kept`` kernels, ``weights_seconds`` of the solver, ``basis_seconds``,
        ``n_iter`` of the solver and ``n_nodes`` of its search, ``change`` of the weights. ``accuracy_first``,
        ``accuracy_last``, ``accuracy_best``; ``n_layers``, how many there are in the end; ``stopped``;
        ``n_kernels``, ``n_train``, ``n_test``.
    """
    # of all training rows: a smaller size takes some of a larger one's
    seed = rows_seed("clasmk", fold.dataset, fold.X_train)
    X, y, Z, truth = fold.X_train, fold.y_train, fold.X_test, fold.y_test
    rows = np.sort(np.random.default_rng(seed).permutation(len(y))[:n_rows])
    tested = np.sort(np.random.default_rng(seed + 1).permutation(len(truth))[: int(settings["test_rows"])])
    A, B = scaled(X[rows], Z[tested], setting_of(settings, "scaling", fold.dataset))
    warm_up()
    model = _TimedLayers(
        paper_kernels("figures", n_kernels),
        base=LSSVMClassifier(C=float(settings["C"])),
        eps=0.0,
        random_state=seed,
        **{
            name: settings[name] for name in ("n_layers", "tol", "eta", "truncation", "threshold", "marginal")
        },
    ).fit(A, y[rows])
    accuracy = [100 * float(np.mean(found == truth[tested])) for found in model.staged_predict(B)]
    layers: Any = model.layers_
    return {
        "accuracy_first": accuracy[0],
        "accuracy_last": accuracy[-1],
        "accuracy_best": max(accuracy),
        "accuracy": as_text(accuracy, 4),
        "features": as_text(np.cumsum(model.n_features_per_layer_)),
        "marginal": as_text(len(found) for found in model.marginal_rows_),
        "kept": as_text(len(layer.kept_kernels_) for layer in layers),
        "weights_seconds": as_text((layer.weights_seconds_ for layer in layers), 6),
        "basis_seconds": as_text((layer.basis_seconds_ for layer in layers), 4),
        "n_iter": as_text(layer.n_iter_ for layer in layers),
        "n_nodes": as_text(layer.solution_.n_nodes for layer in layers),
        "change": as_text(model.weight_changes_, 6),
        "n_layers": model.n_layers_,
        "stopped": model.stopped_,
        "n_kernels": n_kernels,
        "n_train": len(rows),
        "n_test": len(tested),
    }
