"""How one entry of Table 4 is measured: accuracy of CLASMK in one or two layers, or of a rival."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from ...base.parameters import validate_choice
from ..estimators.hierarchy import HierarchicalCLASMKClassifier
from ..model.kernel_sets import paper_kernels
from ..peers.mkl import MKLClassifier
from ..peers.two_layer import TwoLayerMKLClassifier
from .data import Row, as_text, rows_seed, scaled
from .lssvm_chosen import ChosenLSSVM
from .timed import HALF

#: widths of the Gaussian kernel in Table 4, for the plain SVM
WIDTHS = [2.0**i for i in range(-3, 7)]


def measure_benchmark(
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
    """Train one method on standardised rows and count what it gets right.

    Parameters
    ----------
    X_train, y_train, X_test, y_test : (n, p), (n,), (m, p), (m,) arrays
    method : str
        One of `METHODS`.
    settings : mapping
        ``tol``, ``eta``, ``threshold``, ``marginal`` of CLASMK; ``C_grid`` of the LS-SVM, chosen by
        leave-one-out with at most ``choice_rows`` rows; ``svm_C`` and ``folds`` of the other machines,
        chosen by cross-validation with at most ``cv_rows`` rows; ``mkl_tol``, ``mkl_max_iter``.
    seed : not used; what is random goes by data set and training rows, so that all methods share it
    dataset : str

    Returns
    -------
    dict
        ``accuracy`` of the test rows in %; ``C``; ``chosen``, JSON of what else was chosen or learned: the
        weights, the kernel; ``certificate``, the duality gap or residual of the multiple kernel machines;
        ``n_iter``; ``n_features``; ``n_layers``; ``marginal``, rows of the last layer; ``n_train``,
        ``n_test``.
    """
    validate_choice("method", method, METHODS)
    A, B = scaled(X_train, X_test, "standard")
    model, told = METHODS[method](A, y_train, settings, rows_seed(dataset, X_train))
    return {
        "accuracy": 100 * float(np.mean(model.predict(B) == y_test)),
        "C": None,
        "chosen": None,
        "certificate": None,
        "n_iter": None,
        "n_features": None,
        "n_layers": None,
        "marginal": None,
        **told,
        "n_train": len(y_train),
        "n_test": len(y_test),
    }


Trained = tuple[Any, Row]


def _layers(n_layers: int, truncation: Mapping[str, Any] | None = None) -> Callable[..., Trained]:
    def train(X: np.ndarray, y: np.ndarray, settings: Mapping[str, Any], seed: int) -> Trained:
        model = HierarchicalCLASMKClassifier(
            paper_kernels("table-4"),
            n_layers=n_layers,
            base=ChosenLSSVM(settings["C_grid"], settings["choice_rows"], random_state=seed),
            eps=0.0,
            random_state=seed,
            **{
                **{name: settings[name] for name in ("tol", "eta", "threshold", "marginal")},
                **(truncation or {}),
            },
        ).fit(X, y)
        return model, {
            "C": model.base_.C_,
            "chosen": json.dumps(model.weights_.round(4).tolist()),
            "n_features": int(model.n_features_per_layer_.sum()),
            "n_layers": model.n_layers_,
            "marginal": len(model.marginal_rows_[-1]),
        }

    return train


def _mkl(kind: type[Any]) -> Callable[..., Trained]:
    def train(X: np.ndarray, y: np.ndarray, settings: Mapping[str, Any], seed: int) -> Trained:
        def make(C: float) -> Any:
            return kind(
                paper_kernels("table-4"), C=C, tol=settings["mkl_tol"], max_iter=settings["mkl_max_iter"]
            )

        C = choose([(float(C), make) for C in settings["svm_C"]], X, y, settings, seed)
        model = make(C).fit(X, y)
        gap = model.dual_gap_ if kind is MKLClassifier else model.stationarity_
        return model, {
            "C": C, "chosen": as_text(model.weights_, 4), "certificate": float(gap), "n_iter": model.n_iter_,
        }  # fmt: skip

    return train


def _single(X: np.ndarray, y: np.ndarray, settings: Mapping[str, Any], seed: int) -> Trained:
    """Take the kernel whose LS-SVM has the best leave-one-out accuracy, the first of equals."""
    machines = [
        ChosenLSSVM(settings["C_grid"], settings["choice_rows"], kernel, normalised=True, random_state=seed)
        for kernel in paper_kernels("table-4")
    ]
    rows = machines[0].choice(len(y))
    trials = [machine.trial(X[rows], y[rows]) for machine in machines]
    best = int(np.argmax([trial.loo_accuracy_ for trial in trials]))
    model = machines[best].fit(X, y)
    return model, {"C": model.C_, "chosen": json.dumps(str(machines[best].kernel))}


def _svm(X: np.ndarray, y: np.ndarray, settings: Mapping[str, Any], seed: int) -> Trained:
    def make(point: tuple[float, float]) -> Any:
        return SVC(C=point[0], gamma=1 / point[1] ** 2)

    points = [(float(C), width) for width in reversed(WIDTHS) for C in settings["svm_C"]]
    C, width = choose([(point, make) for point in points], X, y, settings, seed)
    return make((C, width)).fit(X, y), {"C": C, "chosen": json.dumps({"sigma": width})}


def choose(
    candidates: Sequence[tuple[Any, Callable[[Any], Any]]],
    X: np.ndarray,
    y: np.ndarray,
    settings: Mapping[str, Any],
    seed: int,
) -> Any:
    """Return the point with the fewest errors in cross-validation, the first of equals.

    Parameters
    ----------
    candidates : sequence of (point, function that makes a classifier of it)
    X, y : (n, p) and (n,) arrays
        If n exceeds ``settings["cv_rows"]``, so many random rows are used.
    settings : mapping
        ``folds``, ``cv_rows``.
    seed : int
    """
    if len(candidates) == 1:
        return candidates[0][0]
    rows = np.random.default_rng(seed).permutation(len(y))[: int(settings["cv_rows"])]
    X, y = X[rows], y[rows]
    folds = StratifiedKFold(int(settings["folds"]), shuffle=True, random_state=seed)
    parts = list(folds.split(X, y))
    errors = [
        sum(int(np.sum(make(point).fit(X[fit], y[fit]).predict(X[held]) != y[held])) for fit, held in parts)
        for point, make in candidates
    ]
    return candidates[int(np.argmin(errors))][0]


METHODS: dict[str, Callable[..., Trained]] = {
    "CLASMK-ML": _layers(1),
    "2L-CLASMK-ML": _layers(2),
    "2L-CLASMK-ML half": _layers(2, HALF),
    "MKL": _mkl(MKLClassifier),
    "2L-MKL": _mkl(TwoLayerMKLClassifier),
    "single kernel LS-SVM": _single,
    "SVM": _svm,
}
