"""How one entry of Table 1 is measured: error, dimension and seconds of one method on one fold."""

from __future__ import annotations

import json
import time
from functools import partial

import numpy as np

from ...base.parameters import validate_choice
from ...experiments.fold import Fold, Method, Row, Settings, Trained
from ...kernels import Kernel
from ..estimators.lssvm import LSSVMClassifier
from ..model.kernel_sets import paper_kernels
from ..paper.readings import parts_of
from ..peers.single_kernel import SubspaceKernelTransformer
from .data import scaled_fold, setting_of
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


def measure_table(fold: Fold, method: str, settings: Settings) -> Row:
    """Learn features by one method, and an LS-SVM in them.

    Parameters
    ----------
    method : str
        One of `SINGLE`, or of :data:`marginbook.clasmk.experiments.timed.TRANSFORMERS`; with a scaling
        behind it, such as "poly (8), unit-range", that one for every set.
    settings : mapping
        ``scaling`` (once or by data set), ``tol``, ``eta``, ``threshold``, ``C`` of the first number,
        ``C_grid`` of the second and ``choice_rows``, with how many rows at most it chooses.

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
    name, scaling = parts_of(method)
    validate_choice("method", name, METHODS)
    fold = scaled_fold(fold, scaling or setting_of(settings, "scaling", fold.dataset))
    warm_up()
    model, told = METHODS[name](fold, settings)
    Z = model.transform(fold.X_train)
    return {
        **errors(Z, model.transform(fold.X_test), fold, settings),
        "n_features": Z.shape[1],
        "weights": None,
        "objective": None,
        "kept": 1,
        "n_kernels": 1,
        **told,
        "n_train": len(fold.y_train),
        "n_test": len(fold.y_test),
    }


def errors(Z: np.ndarray, T: np.ndarray, fold: Fold, settings: Settings) -> Row:
    """Return the columns of the LS-SVM in features `Z` of the training rows and `T` of the test rows."""
    began = time.process_time()
    fixed = LSSVMClassifier(C=float(settings["C"])).fit(Z, fold.y_train)
    seconds = time.process_time() - began
    chosen = ChosenLSSVM(settings["C_grid"], settings["choice_rows"], random_state=fold.seed)
    chosen.fit(Z, fold.y_train)
    return {
        "error": 100 * float(np.mean(fixed.predict(T) != fold.y_test)),
        "error_loo": 100 * float(np.mean(chosen.predict(T) != fold.y_test)),
        "C_loo": chosen.C_,
        "loo_error": 100 * (1 - chosen.loo_accuracy_),
        "classifier_seconds": seconds,
    }


def _single(kernel: Kernel, fold: Fold, settings: Settings) -> Trained:
    began = time.process_time()
    model = SubspaceKernelTransformer(kernel, tol=settings["tol"]).fit(fold.X_train)
    seconds = time.process_time() - began
    return Trained(model, {"basis_seconds": seconds, "weights_seconds": 0.0, "statistics_seconds": 0.0})


def _several(name: str, fold: Fold, settings: Settings) -> Trained:
    model = transformer(name, list(SINGLE.values()), settings, fold.seed).fit(fold.X_train, fold.y_train)
    return Trained(
        model,
        {
            "basis_seconds": model.basis_seconds_,
            "weights_seconds": model.weights_seconds_,
            "statistics_seconds": model.learn_seconds_ - model.basis_seconds_,
            "weights": json.dumps(model.weights_.round(6).tolist()),
            "objective": float(model.objective_),
            "kept": len(model.kept_kernels_),
            "n_kernels": int(np.count_nonzero(model.weights_.any(axis=0))),
        },
    )


#: the methods of the table: transformers that an LS-SVM follows
METHODS: dict[str, Method] = {
    **{name: partial(_single, kernel) for name, kernel in SINGLE.items()},
    **{name: partial(_several, name) for name in TRANSFORMERS},
}
