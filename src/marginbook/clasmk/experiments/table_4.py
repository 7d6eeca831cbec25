"""How one entry of Table 4 is measured: accuracy of CLASMK in one or two layers, or of a rival."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.svm import SVC

from ...base.parameters import validate_choice
from ...base.splits import stratified_folds
from ...experiments.candidates import one_by_one, right_held_out, row_parts
from ...experiments.fold import Fold, Method, Row, Settings, Trained
from ..estimators.hierarchy import HierarchicalCLASMKClassifier
from ..model.kernel_sets import paper_kernels
from ..peers.mkl import MKLClassifier
from ..peers.two_layer import TwoLayerMKLClassifier
from .data import as_text, scaled_fold
from .lssvm_chosen import ChosenLSSVM
from .timed import HALF

#: widths of the Gaussian kernel in Table 4, for the plain SVM
WIDTHS = [2.0**i for i in range(-3, 7)]


def measure_benchmark(fold: Fold, method: str, settings: Settings) -> Row:
    """Train one method on standardised rows and count what it gets right.

    Parameters
    ----------
    method : str
        One of `METHODS`.
    settings : mapping
        ``tol``, ``eta``, ``threshold``, ``marginal`` of CLASMK; ``C_grid`` of the LS-SVM, chosen by
        leave-one-out with at most ``choice_rows`` rows; ``svm_C`` and ``folds`` of the other machines,
        chosen by cross-validation with at most ``cv_rows`` rows; ``mkl_tol``, ``mkl_max_iter``.

    Returns
    -------
    dict
        ``accuracy`` of the test rows in %; ``C``; ``chosen``, JSON of what else was chosen or learned: the
        weights, the kernel; ``certificate``, the duality gap or residual of the multiple kernel machines;
        ``n_iter``; ``n_features``; ``n_layers``; ``marginal``, rows of the last layer; ``n_train``,
        ``n_test``.
    """
    validate_choice("method", method, METHODS)
    fold = scaled_fold(fold, "standard")
    model, told = METHODS[method](fold, settings)
    return {
        "accuracy": 100 * float(np.mean(model.predict(fold.X_test) == fold.y_test)),
        "C": None,
        "chosen": None,
        "certificate": None,
        "n_iter": None,
        "n_features": None,
        "n_layers": None,
        "marginal": None,
        **told,
        "n_train": len(fold.y_train),
        "n_test": len(fold.y_test),
    }


def _layers(n_layers: int, truncation: Settings, fold: Fold, settings: Settings) -> Trained:
    model = HierarchicalCLASMKClassifier(
        paper_kernels("table-4"),
        n_layers=n_layers,
        base=ChosenLSSVM(settings["C_grid"], settings["choice_rows"], random_state=fold.seed),
        eps=0.0,
        random_state=fold.seed,
        **{**{name: settings[name] for name in ("tol", "eta", "threshold", "marginal")}, **truncation},
    ).fit(fold.X_train, fold.y_train)
    told = {
        "C": model.base_.C_,
        "chosen": json.dumps(model.weights_.round(4).tolist()),
        "n_features": int(model.n_features_per_layer_.sum()),
        "n_layers": model.n_layers_,
        "marginal": len(model.marginal_rows_[-1]),
    }
    return Trained(model, told)


def _mkl(kind: type[Any], fold: Fold, settings: Settings) -> Trained:
    def make(C: float) -> Any:
        return kind(paper_kernels("table-4"), C=C, tol=settings["mkl_tol"], max_iter=settings["mkl_max_iter"])

    X, y = fold.X_train, fold.y_train
    C = choose([float(C) for C in settings["svm_C"]], make, X, y, settings, fold.seed)
    model = make(C).fit(X, y)
    gap = model.dual_gap_ if kind is MKLClassifier else model.stationarity_
    told = {"C": C, "chosen": as_text(model.weights_, 4), "certificate": float(gap), "n_iter": model.n_iter_}
    return Trained(model, told)


def _single(fold: Fold, settings: Settings) -> Trained:
    """Take the kernel whose LS-SVM has the best leave-one-out accuracy, the first of equals."""
    grid, most = settings["C_grid"], settings["choice_rows"]
    machines = [
        ChosenLSSVM(grid, most, kernel, normalised=True, random_state=fold.seed)
        for kernel in paper_kernels("table-4")
    ]
    rows = machines[0].choice(len(fold.y_train))
    trials = [machine.trial(fold.X_train[rows], fold.y_train[rows]) for machine in machines]
    best = int(np.argmax([trial.loo_accuracy_ for trial in trials]))
    model = machines[best].fit(fold.X_train, fold.y_train)
    return Trained(model, {"C": model.C_, "chosen": json.dumps(str(machines[best].kernel))})


def _svm(fold: Fold, settings: Settings) -> Trained:
    def make(point: tuple[float, float]) -> Any:
        return SVC(C=point[0], gamma=1 / point[1] ** 2)

    points = [(float(C), width) for width in reversed(WIDTHS) for C in settings["svm_C"]]
    C, width = choose(points, make, fold.X_train, fold.y_train, settings, fold.seed)
    model = make((C, width)).fit(fold.X_train, fold.y_train)
    return Trained(model, {"C": C, "chosen": json.dumps({"sigma": width})})


def choose(
    points: list[Any], make: Callable[[Any], Any], X: np.ndarray, y: np.ndarray, settings: Settings, seed: int
) -> Any:
    """Return the point with the fewest errors in cross-validation, the first of equals.

    Parameters
    ----------
    points : list
    make : callable
        Returns the classifier of a point.
    X, y : (n, p) and (n,) arrays
        If n exceeds ``settings["cv_rows"]``, so many random rows are used.
    settings : mapping
        ``folds``, ``cv_rows``.
    seed : int
    """
    if len(points) == 1:
        return points[0]
    rows = np.random.default_rng(seed).permutation(len(y))[: int(settings["cv_rows"])]
    folds = stratified_folds(y[rows], int(settings["folds"]), seed)
    _, right, _ = right_held_out(one_by_one(points, make), X[rows], y[rows], folds, settings, row_parts)
    return points[int(np.argmax(right))]


#: the columns of the table
METHODS: dict[str, Method] = {
    "CLASMK-ML": partial(_layers, 1, {}),
    "2L-CLASMK-ML": partial(_layers, 2, {}),
    "2L-CLASMK-ML half": partial(_layers, 2, HALF),
    "MKL": partial(_mkl, MKLClassifier),
    "2L-MKL": partial(_mkl, TwoLayerMKLClassifier),
    "single kernel LS-SVM": _single,
    "SVM": _svm,
}
