"""How one entry of the study of real matrices is measured: a method on one random split."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...base.parameters import validate_choice
from ...experiments.fold import Fold, Row, Settings
from .methods import METHODS
from .real_pairs import scaled_fold
from .scores import probability_scores
from .simulation import of_levels


def measure_matrices(fold: Fold, method: str, settings: Settings) -> Row:
    """Choose by cross-validation in the training samples, fit to all of them, and score the test labels.

    Parameters
    ----------
    method : str
        One of `marginbook.smm.experiments.methods.METHODS`.
    settings : mapping
        Grids, ``folds``, ``n_levels``, ``tuning_levels``; see `methods`.

    Returns
    -------
    dict
        ``error`` in %, ``brier``, ``log_loss``, ``ece`` of the probabilities; ``error_sign``, of the
        machine's own sign; of a path ``brier_count``, ``brier_interval``, ``brier_isotonic``, ``crossed``,
        ``crossing_pairs``; ``chosen``, JSON; ``brier_cv``; ``gap``, a share of the objective; ``converged``;
        ``n_train``, ``n_test``; processor ``seconds`` and ``seconds_choice``.
    """
    validate_choice("method", method, METHODS)
    classes = np.unique(np.concatenate([fold.y_train, fold.y_test]))
    if len(classes) != 2:
        raise ValueError(f"{fold.dataset} has the classes {classes.tolist()}, wanted two")
    fold = scaled_fold(fold)
    y, positive = np.where(fold.y_train == classes[1], 1, -1), (fold.y_test == classes[1]).astype(float)
    machine, told = METHODS[method](replace(fold, y_train=y), settings)
    judged = machine.judge(fold.X_test)
    scores = probability_scores(judged.probability, positive)
    row: Row = {name: scores[name] for name in ("error", "brier", "log_loss", "ece")}
    row["error_sign"] = 100 * float(np.mean((judged.decision > 0) != (positive == 1)))
    path = of_levels(judged, positive, int(settings["n_levels"]))
    row |= {
        name: value for name, value in path.items() if name.split("_")[0] in ("brier", "crossed", "crossing")
    }
    row["brier_cv"] = told.pop("brier")
    return row | told | {"n_train": len(y), "n_test": len(positive)}
