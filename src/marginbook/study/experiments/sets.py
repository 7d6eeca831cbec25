"""The data sets of the bench: those that the papers share, each one once, with stratified splits.

Half of the rows train, at most `TRAIN`; at most `TEST` of the others test. The sets that only one paper has
are there for their number: tests over data sets need many of them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.model_selection import train_test_split

from ...base.splits import Split
from ...datasets.dataset import Dataset
from ...experiments.splits import seed_of

#: rows of a split at most
TRAIN, TEST = 400, 2000
SPLITS = 10

#: the bench's name of a set -> its name in the registry, and the papers that use these data
SOURCES: dict[str, tuple[str, tuple[str, ...]]] = {
    "adult": ("a9a", ("ldm", "clasmk")),
    "australian": ("australian", ("ldm", "kfda", "clasmk")),
    "banana": ("banana", ("kfda", "clasmk")),
    "breast-cancer": ("breast-cancer", ("ldm", "kfda")),
    "chess": ("chess", ("kfda",)),
    "clean1": ("clean1", ("ldm",)),
    "diabetes": ("diabetes", ("kfda", "clasmk")),
    "flare-solar": ("flare-solar", ("kfda",)),
    "fourclass": ("fourclass", ("ldm",)),
    "german": ("german", ("ldm", "kfda", "clasmk")),
    "haberman": ("haberman", ("drm", "ldm")),
    "heart": ("heart", ("ldm", "kfda", "clasmk")),
    "ijcnn1": ("ijcnn1", ("drm", "ldm")),
    "image": ("image", ("kfda",)),
    "ionosphere": ("ionosphere", ("kfda", "clasmk")),
    "liver": ("liver", ("kfda", "clasmk")),
    "parkinsons": ("parkinsons", ("ldm",)),
    "phoneme": ("phoneme", ("clasmk",)),
    "ringnorm": ("ringnorm", ("kfda", "clasmk")),
    "sonar": ("sonar", ("ldm", "kfda", "clasmk")),
    "splice": ("splice", ("kfda",)),
    "thyroid": ("thyroid", ("drm", "kfda")),
    "tic-tac-toe": ("tic-tac-toe", ("drm",)),
    "titanic": ("titanic", ("kfda", "clasmk")),
    "twonorm": ("twonorm", ("kfda",)),
    "vehicle": ("vehicle", ("ldm",)),
    "vote": ("vote", ("ldm",)),
    "waveform": ("waveform", ("kfda",)),
    "wbc": ("wbc", ("kfda",)),
    "wdbc": ("wdbc", ("ldm", "kfda", "clasmk")),
}


def sizes(n_rows: int) -> tuple[int, int]:
    """Return how many rows of a set train and how many test.

    >>> sizes(208), sizes(7400)
    ((104, 104), (400, 2000))
    """
    n_train = min(n_rows // 2, TRAIN)
    return n_train, min(n_rows - n_train, TEST)


def stratified_split(y: np.ndarray, name: str, number: int) -> Split:
    """Return training and test rows, both sorted, of one stratified split; its seed is name and number."""
    n_train, n_test = sizes(len(y))
    train, test = train_test_split(
        np.arange(len(y)),
        train_size=n_train,
        test_size=n_test,
        random_state=seed_of("study", name, number),
        stratify=y,
    )
    return np.sort(train), np.sort(test)


def shared(name: str) -> Dataset:
    """Return a set of the bench with its splits in ``official_splits``.

    Raises
    ------
    ValueError
        Unless it has two classes.
    """
    # by name, so that the code of parsers is no part of what a result depends on: the data's own hash is
    found: Dataset = importlib.import_module("marginbook.datasets").load(SOURCES[name][0])
    X = found.X.toarray() if hasattr(found.X, "toarray") else np.asarray(found.X, dtype=float)
    y = np.asarray(found.y)
    if len(np.unique(y)) != 2:
        raise ValueError(f"{name} has {len(np.unique(y))} classes, wanted 2")
    return Dataset(
        X=X,
        y=y,
        name=name,
        source=found.source,
        sha256=found.sha256,
        official_splits=tuple(stratified_split(y, name, number) for number in range(1, SPLITS + 1)),
        feature_names=found.feature_names,
        target_names=found.target_names,
        notes=f"{SPLITS} stratified splits",
    )


#: the sets by the names that the protocol has for them
DATASETS: dict[str, Callable[[], Dataset]] = {name: partial(shared, name) for name in SOURCES}
