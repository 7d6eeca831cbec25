"""How one entry of the study of real matrices is measured: a method on one random split."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...experiments.splits import seed_of
from .methods import method_of
from .real_pairs import scaled
from .scores import probability_scores
from .selection import choose_by_folds
from .simulation import Row, of_levels


def measure_matrices(
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
    """Choose by cross-validation in the training samples, fit to all of them, and score the test labels.

    Parameters
    ----------
    X_train, y_train, X_test, y_test : (n, d1, d2), (n,), (m, d1, d2), (m,) arrays
    method : str
        One of `marginbook.smm.experiments.methods.METHODS`.
    settings : mapping
        Grids, ``folds``, ``n_levels``, ``tuning_levels``; see `methods`.
    seed : not used; what is random goes by set and training samples, so that all methods share it
    dataset : str

    Returns
    -------
    dict
        ``error`` in %, ``brier``, ``log_loss``, ``ece`` of the probabilities; ``error_sign``, of the
        machine's own sign; of a path ``brier_count``, ``brier_interval``, ``brier_isotonic``, ``crossed``,
        ``crossing_pairs``; ``chosen``, JSON; ``brier_cv``; ``gap``, a share of the objective; ``converged``;
        ``n_train``, ``n_test``; processor ``seconds`` and ``seconds_choice``.
    """
    found = method_of(method)
    classes = np.unique(np.concatenate([y_train, y_test]))
    if len(classes) != 2:
        raise ValueError(f"{dataset} has the classes {classes.tolist()}, wanted two")
    y, positive = np.where(y_train == classes[1], 1, -1), (y_test == classes[1]).astype(float)
    A, B = scaled(X_train, X_test)
    shared = seed_of("smm", dataset, hashlib.sha256(np.ascontiguousarray(A).tobytes()).hexdigest())
    began = time.process_time()
    choice = choose_by_folds(found, A, y, settings, shared)
    chosen_in = time.process_time() - began
    began = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        machine = found.fit(A, y, choice.point, settings, shared)
    seconds = time.process_time() - began
    judged = machine.judge(B)
    scores = probability_scores(judged.probability, positive)
    row: Row = {name: scores[name] for name in ("error", "brier", "log_loss", "ece")}
    row["error_sign"] = 100 * float(np.mean((judged.decision > 0) != (positive == 1)))
    path = of_levels(judged, positive, int(settings["n_levels"]))
    row |= {
        name: value for name, value in path.items() if name.split("_")[0] in ("brier", "crossed", "crossing")
    }
    return row | {
        "chosen": json.dumps(choice.point, sort_keys=True),
        "brier_cv": choice.brier,
        "gap": machine.gap,
        "converged": int(not any(issubclass(each.category, ConvergenceWarning) for each in caught)),
        "n_train": len(y),
        "n_test": len(positive),
        "seconds": seconds,
        "seconds_choice": chosen_in,
    }
