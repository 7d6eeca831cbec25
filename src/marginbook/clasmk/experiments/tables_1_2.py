"""How one entry of Table 1 is measured: error, dimension and seconds of one method on one fold."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...kernels import Kernel
from ..estimators.lssvm import LSSVMClassifier
from ..model.kernel_sets import paper_kernels
from ..peers.single_kernel import SubspaceKernelTransformer
from .data import Row, rows_seed, scaled, setting_of
from .lssvm_chosen import ChosenLSSVM
from .timed import TRANSFORMERS, transformer, warm_up

#: the eight kernels as the table calls them
SINGLE: dict[str, Kernel] = dict(
    zip(
        (
            "poly (8)",
            "poly (12)",
            "poly (24)",
            "poly (48)",
            "RBF (1)",
            "RBF (0.5)",
            "RBF (0.1)",
            "RBF (0.05)",
        ),
        paper_kernels("table-1"),
        strict=True,
    )
)


def measure_table(
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
    """Learn features by one method, and an LS-SVM in them.

    Parameters
    ----------
    X_train, y_train, X_test, y_test : (n, p), (n,), (m, p), (m,) arrays
    method : str
        One of `SINGLE`, or of :data:`marginbook.clasmk.experiments.timed.TRANSFORMERS`.
    settings : mapping
        ``scaling`` (once or by data set), ``tol``, ``eta``, ``threshold``, ``C`` of the first number,
        ``C_grid`` of the second and ``choice_rows``, with how many rows at most it chooses.
    seed : not used; what is random goes by data set and training rows, so that all methods share it
    dataset : str

    Returns
    -------
    dict
        ``error`` of the test rows in %, with the C of the settings; ``error_loo``, with the C of the grid
        that leave-one-out prefers, ``C_loo``, and its ``loo_error``; ``n_features``; ``n_kernels``, how many
        are in use; ``weights``, (C, K) as JSON, None for one kernel; ``objective``; ``kept``, kernels that
        are not truncated. Processor seconds: ``basis_seconds``, of the subspaces, ``weights_seconds``, of the
        solver, ``statistics_seconds``, of the rest of the learning, ``classifier_seconds``. ``n_train``,
        ``n_test``.
    """
    A, B = scaled(X_train, X_test, setting_of(settings, "scaling", dataset))
    shared = rows_seed(dataset, X_train)
    warm_up()
    row: Row = {"weights": None, "objective": None, "kept": 1, "n_kernels": 1}
    began = time.process_time()
    if method in SINGLE:
        model: Any = SubspaceKernelTransformer(SINGLE[method], tol=settings["tol"]).fit(A)
        row |= {
            "basis_seconds": time.process_time() - began,
            "weights_seconds": 0.0,
            "statistics_seconds": 0.0,
        }
    elif method in TRANSFORMERS:
        model = transformer(method, list(SINGLE.values()), settings, shared)
        model.fit(A, y_train)
        row |= {
            "basis_seconds": model.basis_seconds_,
            "weights_seconds": model.weights_seconds_,
            "statistics_seconds": model.learn_seconds_ - model.basis_seconds_,
            "weights": json.dumps(model.weights_.round(6).tolist()),
            "objective": float(model.objective_),
            "kept": len(model.kept_kernels_),
            "n_kernels": int(np.count_nonzero(model.weights_.any(axis=0))),
        }
    else:
        raise ValueError(f"unknown method {method!r}; choose from {', '.join([*SINGLE, *TRANSFORMERS])}")
    Z, T = model.transform(A), model.transform(B)
    began = time.process_time()
    fixed = LSSVMClassifier(C=float(settings["C"])).fit(Z, y_train)
    row["classifier_seconds"] = time.process_time() - began
    chosen = ChosenLSSVM(settings["C_grid"], settings["choice_rows"], random_state=shared).fit(Z, y_train)
    return {
        "error": 100 * float(np.mean(fixed.predict(T) != y_test)),
        "error_loo": 100 * float(np.mean(chosen.predict(T) != y_test)),
        "C_loo": chosen.C_,
        "loo_error": 100 * (1 - chosen.loo_accuracy_),
        "n_features": Z.shape[1],
        **row,
        "n_train": len(y_train),
        "n_test": len(y_test),
    }
