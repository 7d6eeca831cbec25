"""What every measure shares: the data sets of the paper, how rows are scaled, seeds, and lists as text."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ...base.parameters import validate_choice
from ...base.splits import stratified_folds
from ...datasets.dataset import Dataset
from ...experiments.fold import Fold, Settings, rows_seed
from ...experiments.splits import seed_of

#: sets of Table 1, here with ten stratified folds
FOLDED = ("banana", "pendigits-test", "optdigits", "phoneme")
FOLDS = 10
#: what Table 4 calls by a name that the registry has for another set
SOURCES = {"breast": "wdbc", "ionosphere": "ionosphere-keel"}
#: the registry's set of three classes behind Table 4's thyroid, and its class of healthy patients
THYROID, NORMAL = "ann-thyroid", 3


def scaled(X_train: np.ndarray, X_test: np.ndarray, how: str) -> tuple[np.ndarray, np.ndarray]:
    """Scale the rows (n, p) and (m, p) by what the first of them say.

    Parameters
    ----------
    X_train, X_test : arrays
    how : {"none", "standard", "unit-range", "unit-length"}
        Nothing; each feature to mean 0 and deviation 1, or to [0, 1] (constant features to 0); or each row to
        length 1, a zero row staying as it is.
    """
    validate_choice("scaling", how, ("none", "standard", "unit-range", "unit-length"))
    X_train, X_test = (np.asarray(X, dtype=float) for X in (X_train, X_test))
    if how == "none":
        return X_train, X_test
    if how == "unit-length":
        lengths = [np.linalg.norm(X, axis=1, keepdims=True) for X in (X_train, X_test)]
        first, second = (np.where(length > 0, length, 1.0) for length in lengths)
        return X_train / first, X_test / second
    if how == "standard":
        shift, spread = X_train.mean(axis=0), X_train.std(axis=0)
    else:
        shift, spread = X_train.min(axis=0), np.ptp(X_train, axis=0)
    constant = spread <= 1e-12 * np.maximum(np.abs(shift), 1.0)
    factor = np.where(constant, 0.0, 1.0 / np.where(constant, 1.0, spread))
    return (X_train - shift) * factor, (X_test - shift) * factor


def scaled_fold(fold: Fold, how: str) -> Fold:
    """Return the fold with `scaled` rows, and with the seed that all methods on its training rows share."""
    A, B = scaled(fold.X_train, fold.X_test, how)
    return replace(fold, X_train=A, X_test=B, seed=rows_seed("clasmk", fold.dataset, fold.X_train))


def as_text(values: Iterable[float], digits: int | None = None) -> str:
    """Return numbers as a JSON list, for a cell of a table; `digits` after the point."""
    return json.dumps([float(value) if digits is None else round(float(value), digits) for value in values])


def setting_of(settings: Settings, name: str, dataset: str) -> Any:
    """Return a setting that the protocol states once, or by data set."""
    value = settings[name]
    return value[dataset] if isinstance(value, Mapping) else value


def registered(name: str) -> Dataset:
    """Return a set of the registry; by name, as its parser is no part of what a result depends on."""
    found: Dataset = importlib.import_module("marginbook.datasets").load(name)
    return found


def remade(found: Dataset, name: str, **changes: Any) -> Dataset:
    """Return `found` under another `name`, with `changes`; without any folds or test part of its own."""
    fields = {
        "X": np.asarray(found.X, dtype=float),
        "y": found.y,
        "source": found.source,
        "sha256": found.sha256,
        "feature_names": found.feature_names,
        "target_names": found.target_names,
        "notes": found.notes,
    }
    return Dataset(name=name, **{**fields, **changes})


def folded(name: str) -> Dataset:
    """Return a set of Table 1 with ten stratified folds, whose shuffle is seeded by its name."""
    found = registered(name)
    folds = stratified_folds(found.y, FOLDS, seed_of("clasmk", name))
    splits = tuple((np.sort(train), np.sort(test)) for train, test in folds)
    return remade(found, name, official_splits=splits)


def renamed(name: str) -> Dataset:
    """Return a set under the name that Table 4 has for it."""
    return remade(registered(SOURCES[name]), name)


def thyroid() -> Dataset:
    """Return the thyroid set of 7200 rows with two classes: normal, and the two kinds of illness together."""
    found = registered(THYROID)
    y = np.asarray(found.y)
    if NORMAL not in y:
        raise ValueError(
            f"{THYROID} has the classes {np.unique(y).tolist()}, wanted one of them to be {NORMAL}"
        )
    codes = np.where(y == NORMAL, 0, 1)
    return remade(found, "thyroid", y=codes, target_names=("normal", "not normal"), notes="two classes")


#: the room's own sets; those of the registry that have the same names come without folds, or are others
DATASETS: dict[str, Callable[[], Dataset]] = {
    **{name: partial(folded, name) for name in FOLDED},
    **{name: partial(renamed, name) for name in SOURCES},
    "thyroid": thyroid,
}
