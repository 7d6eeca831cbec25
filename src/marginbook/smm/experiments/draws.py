"""Simulated sets as the experiments know data: a row names a draw, and the measure draws the matrices.

Tens of draws of matrices would be hundreds of megabytes; two rows for each draw, its number with 0 for
training and its number with 1 for tests, say the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial

import numpy as np

from ...datasets.dataset import Dataset
from .generators import Draw, Truth, setting

#: draws of each set, at most
N_DRAWS = 100
#: one factor at a time around the centre, which comes first; then the other truths
NAMES = (
    "logit-n400-d20-r2",
    "logit-n100-d20-r2",
    "logit-n200-d20-r2",
    "logit-n800-d20-r2",
    "logit-n1600-d20-r2",
    "logit-n400-d5-r2",
    "logit-n400-d10-r2",
    "logit-n400-d40-r2",
    "logit-n400-d20-r1",
    "logit-n400-d20-r5",
    "step-n400-d20-r2",
    "bumps-n400-d6x2-r1",
    "bumps-n400-d6x2-r2",
)


def drawn(name: str) -> Dataset:
    """Return a simulated set: rows (number of the draw, 0 to train or 1 to test), one split per draw.

    Parameters
    ----------
    name : str
        As `marginbook.smm.experiments.generators.setting` reads it.
    """
    setting(name)
    X = np.array([(number, part) for number in range(1, N_DRAWS + 1) for part in (0, 1)], dtype=float)
    splits = tuple((np.array([row]), np.array([row + 1])) for row in range(0, 2 * N_DRAWS, 2))
    return Dataset(
        X,
        X[:, 1].astype(int),
        name,
        source="synthetic",
        sha256=hashlib.sha256(name.encode()).hexdigest(),
        official_splits=splits,
        feature_names=("draw", "part"),
        target_names=("train", "test"),
        notes="a row names a draw; the measure draws the matrices",
    )


def draws_of(name: str, X_train: np.ndarray, n_test: int) -> tuple[Draw, Draw, Draw]:
    """Return the training, tuning and test draw that a training row of `drawn` names.

    Parameters
    ----------
    name : str
    X_train : (1, 2) array
    n_test : int
        Samples of the test draw; the other two have the n of the name.

    Raises
    ------
    ValueError
        It is not one row of a set that `drawn` made.
    """
    found, rows = setting(name), np.asarray(X_train)
    if rows.shape != (1, 2) or rows[0, 1] != 0:
        raise ValueError(f"{name}: training rows {rows.tolist()}, wanted one row (number of the draw, 0)")
    truth = Truth(found.family, found.shape, found.rank, int(rows[0, 0]))
    return truth.draw(found.n, "train"), truth.draw(found.n, "tune"), truth.draw(n_test, "test")


#: the simulated sets of the experiments
DATASETS: dict[str, Callable[[], Dataset]] = {name: partial(drawn, name) for name in NAMES}
