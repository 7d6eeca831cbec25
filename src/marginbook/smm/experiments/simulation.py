"""How one entry of the simulation study is measured: a method on one draw, against the known probability."""

from __future__ import annotations

import json

import numpy as np

from ...base.parameters import validate_choice
from ...experiments.fold import Fold, Row, Settings
from ...experiments.splits import seed_of
from ..model.aggregation import AGGREGATES, aggregate, crossings, levels
from .draws import draws_of
from .methods import METHODS
from .scores import best_scores, level_errors, probability_scores
from .selection import DrawnFold, Judged


def measure_simulation(fold: Fold, method: str, settings: Settings) -> Row:
    """Choose on the tuning draw, fit to the training draw, and compare with the truth on the test draw.

    Parameters
    ----------
    method : str
        One of `marginbook.smm.experiments.methods.METHODS`; ``", H=50"`` at its end sets ``n_levels``.
    settings : mapping
        Grids (``ranks``, ``lams``, ...), ``n_levels``, ``tuning_levels``, ``n_test``; see `methods`.

    Returns
    -------
    dict
        The scores of `probability_scores` and `best_scores`, and of the level path those of `of_levels`;
        ``error_sign``: expected error in % of the machine's own sign; ``level_error``: probability of the
        symmetric difference, mean over the levels, of the sets ``p_hat > h/H`` or of the path's own;
        ``chosen``, JSON; ``brier_tune``; ``gap``, a share of the objective; ``converged``; ``n_train``,
        ``n_test``; processor ``seconds`` of the final fit and ``seconds_choice`` of all trials.
    """
    name, stated = with_levels(method, settings)
    train, tune, test = draws_of(fold.dataset, fold.X_train, int(stated["n_test"]))
    validate_choice("method", name, METHODS)
    shared = seed_of("smm", fold.dataset, int(fold.X_train[0, 0]))
    drawn = DrawnFold(train.X, train.y, test.X, test.y, fold.dataset, shared, tune.X, tune.y)
    machine, told = METHODS[name](drawn, stated)
    judged, p = machine.judge(test.X), test.probability
    row: Row = {**probability_scores(judged.probability, p), **best_scores(p)}
    row["error_sign"] = 100 * float(np.mean(np.where(judged.decision > 0, 1 - p, p)))
    row |= of_levels(judged, p, int(stated["n_levels"]))
    row["brier_tune"] = told.pop("brier")
    return row | told | {"n_train": len(train.y), "n_test": len(test.y)}


def of_levels(judged: Judged, truth: np.ndarray, n_levels: int) -> Row:
    """Return ``level_error`` and ``level_errors``, JSON by level; of a path also how its rules and sets fare.

    Parameters
    ----------
    judged : Judged
    truth : (m,) array
        True probabilities, or 1 and 0.
    n_levels : int
        H of a method without levels of its own.

    Returns
    -------
    dict
        ``mae_count``, ``mae_interval``, ``mae_isotonic``, ``brier_...``; ``crossed``, the share of samples
        whose memberships are not monotone, ``crossing_pairs``, their pairs of levels per sample: all None
        without a path.
    """
    at = levels(n_levels)
    inside = judged.probability[:, None] > at if judged.levels is None else judged.levels > 0
    errors = level_errors(inside, truth, at)
    row: Row = {
        "level_error": float(errors.mean()),
        "level_errors": json.dumps([round(float(error), 6) for error in errors]),
    }
    for rule in AGGREGATES:
        scores = None
        if judged.levels is not None:
            scores = probability_scores(aggregate(judged.levels, rule), truth)
        for score in ("mae", "brier"):
            row[f"{score}_{rule}"] = None if scores is None else scores[score]
    report = None if judged.levels is None else crossings(judged.levels)
    row["crossed"] = None if report is None else report.share
    row["crossing_pairs"] = None if report is None else report.pairs / report.n_samples
    return row


def with_levels(method: str, settings: Settings) -> tuple[str, Settings]:
    """Return the method's name without ``", H=50"``, and the settings with that number of levels.

    >>> with_levels("vector SVM, levels, H=50", {"n_levels": 20})
    ('vector SVM, levels', {'n_levels': 50})
    """
    name, _, number = method.partition(", H=")
    if not number:
        return method, settings
    if not number.isdigit() or int(number) < 2:
        raise ValueError(f"unknown method {method!r}; H must be a whole number of at least 2")
    return name, {**settings, "n_levels": int(number)}
