"""Table 4 by other solvers of (33): equal weights, and a local solver from there, as the paper's was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from ..estimators.hierarchy import HierarchicalCLASMKClassifier
from ..model.kernel_sets import paper_kernels
from .data import Row, rows_seed, scaled
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


def measure_layers_locally(
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
    """Train one column of Table 4 with the weights of one solver, and count what it gets right.

    Parameters
    ----------
    X_train, y_train, X_test, y_test : (n, p), (n,), (m, p), (m,) arrays
    method : str
        One of `LAYERS`, a colon, and one of :data:`marginbook.clasmk.experiments.table_1_solvers.SOLVERS`,
        such as ``"2L-CLASMK-ML: equal weights"``.
    settings : mapping
        Those of :func:`marginbook.clasmk.experiments.table_4.measure_benchmark`.
    seed : not used; what is random goes by data set and training rows
    dataset : str

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
    A, B = scaled(X_train, X_test, "standard")
    shared = rows_seed(dataset, X_train)
    model = _LocalLayers(
        paper_kernels("table-4"),
        n_layers=LAYERS[name],
        base=ChosenLSSVM(settings["C_grid"], settings["choice_rows"], random_state=shared),
        eps=0.0,
        random_state=shared,
        **{key: settings[key] for key in ("tol", "eta", "threshold", "marginal")},
    )
    model.method = solver
    model.fit(A, y_train)
    return {
        "accuracy": 100 * float(np.mean(model.predict(B) == y_test)),
        "C": model.base_.C_,
        "weights": json.dumps(model.weights_.round(4).tolist()),
        "n_features": int(model.n_features_per_layer_.sum()),
        "n_train": len(y_train),
        "n_test": len(y_test),
    }
