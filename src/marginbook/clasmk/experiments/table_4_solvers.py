"""Table 4 by other solvers of (33): equal weights, and a local solver from there, as the paper's was."""

from __future__ import annotations

import json
from typing import Any, Self

import numpy as np

from ...experiments.fold import Fold, Row, Settings
from ..estimators.hierarchy import HierarchicalCLASMKClassifier
from ..model.kernel_sets import paper_kernels
from .data import scaled_fold
from .lssvm_chosen import ChosenLSSVM
from .table_1_solvers import SOLVERS, _Learner

#: layers of each column, and what the names of the methods have before their solver
LAYERS = {"CLASMK-ML": 1, "2L-CLASMK-ML": 2}


class _Local(_Learner):
    """One layer with the weights of one of `SOLVERS`."""

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows `X`, (n, p), and labels `y`, (n,)."""
        found, _ = self.fit_weights(X, y, self.method, 1000)
        self.solution_, self.n_iter_ = found, max(1, found.n_iter)
        return self

    method: str


class _LocalLayers(HierarchicalCLASMKClassifier):
    method: str

    def _layer(self, number: int) -> _Local:
        layer = _Local(**super()._layer(number).get_params(deep=False))
        layer.method = self.method
        return layer


def measure_layers_locally(fold: Fold, method: str, settings: Settings) -> Row:
    """Train one column of Table 4 with the weights of one solver, and count what it gets right.

    Parameters
    ----------
    method : str
        One of `LAYERS`, a colon, and one of :data:`marginbook.clasmk.experiments.table_1_solvers.SOLVERS`,
        such as ``"2L-CLASMK-ML: equal weights"``.
    settings : mapping
        Those of :func:`marginbook.clasmk.experiments.table_4.measure_benchmark`.

    Returns
    -------
    dict
        ``accuracy`` of the test rows in %, ``C``, ``weights`` of the layers as JSON, ``n_features``,
        ``n_train``, ``n_test``.
    """
    name, _, solver = method.partition(": ")
    if name not in LAYERS or solver not in SOLVERS:
        raise ValueError(
            f"unknown method {method!r}; choose one of {', '.join(LAYERS)}, a colon, and one of "
            f"{', '.join(SOLVERS)}"
        )
    fold = scaled_fold(fold, "standard")
    model = _LocalLayers(
        paper_kernels("table-4"),
        n_layers=LAYERS[name],
        base=ChosenLSSVM(settings["C_grid"], settings["choice_rows"], random_state=fold.seed),
        eps=0.0,
        random_state=fold.seed,
        **{key: settings[key] for key in ("tol", "eta", "threshold", "marginal")},
    )
    model.method = solver
    model.fit(fold.X_train, fold.y_train)
    return {
        "accuracy": 100 * float(np.mean(model.predict(fold.X_test) == fold.y_test)),
        "C": model.base_.C_,
        "weights": json.dumps(model.weights_.round(4).tolist()),
        "n_features": int(model.n_features_per_layer_.sum()),
        "n_train": len(fold.y_train),
        "n_test": len(fold.y_test),
    }
