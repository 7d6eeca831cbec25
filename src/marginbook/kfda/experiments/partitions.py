"""The data sets of the tables, each with the partitions that the paper's protocol asks for.

A set has 100 partitions (20 for Splice and Image) with the training size that the tables print. The first
are the realisations that the benchmark's authors published, as far as they are available; the others
are random. Three sets are drawn from the distributions of the originals and need no download.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
from sklearn.model_selection import train_test_split

from ...base.splits import Split
from ...datasets.dataset import Dataset
from ...datasets.generators import make_ringnorm, make_twonorm, make_waveform
from ...experiments.splits import seed_of

#: training rows of each set as the tables print them (in italics); all other rows test
TRAIN_SIZES = {
    "banana": 400,
    "breast-cancer": 200,
    "diabetes": 468,
    "german": 700,
    "heart": 170,
    "image": 1300,
    "ringnorm": 400,
    "flare-solar": 666,
    "splice": 1000,
    "thyroid": 140,
    "titanic": 150,
    "twonorm": 400,
    "waveform": 400,
    "credit-a": 327,
    "chess": 1598,
    "ionosphere": 176,
    "liver": 173,
    "sonar": 104,
    "wbc": 342,
    "wdbc": 285,
}
#: sets with another number of partitions than 100
PARTITIONS = {"splice": 20, "image": 20}
#: where a set comes from if the registry has it under another name, here with published realisations
SOURCES = {
    "banana": "banana-ida",
    "breast-cancer": "breast-cancer-ida",
    "german": "german-ida",
    "heart": "heart-ida",
    "image": "image-ida",
    "titanic": "titanic-ida",
    "twonorm": "twonorm-ida",
}
#: sets that are drawn: generator, rows of the pool, training rows (0: no partitions)
DRAWN: dict[str, tuple[Callable[..., tuple[np.ndarray, np.ndarray]], int, int]] = {
    "twonorm-drawn": (make_twonorm, 7400, 400),
    "ringnorm-drawn": (make_ringnorm, 7400, 400),
    "waveform-drawn": (make_waveform, 5000, 400),
    "waveform-3-drawn": (partial(make_waveform, n_classes=3), 1500, 0),
}


def partitioned(name: str) -> Dataset:
    """Return a set of the tables with all its partitions in ``official_splits``.

    Parameters
    ----------
    name : str
        One of `TRAIN_SIZES`.

    Raises
    ------
    DatasetNotFetched
        Its message names the set of the registry to fetch.
    """
    if name not in TRAIN_SIZES:
        raise ValueError(f"no set {name!r} in the tables; choose from {', '.join(TRAIN_SIZES)}")
    # by name, so that the code of parsers is no part of what a result depends on: the data's own hash is
    found: Dataset = importlib.import_module("marginbook.datasets").load(SOURCES.get(name, name))
    n_partitions = PARTITIONS.get(name, 100)
    return _with_partitions(found, name, found.official_splits, TRAIN_SIZES[name], n_partitions)


def drawn(name: str) -> Dataset:
    """Return a set that is drawn with a fixed seed; those of two classes have 100 random partitions."""
    generator, n_rows, n_train = DRAWN[name]
    X, y = generator(n_rows, random_state=seed_of("kfda", name))
    digest = hashlib.sha256(np.ascontiguousarray(X).tobytes() + y.astype(np.int64).tobytes()).hexdigest()
    labels = tuple(str(label) for label in np.unique(y))
    found = Dataset(X, y, name, source="synthetic", sha256=digest, target_names=labels, notes="drawn")
    return _with_partitions(found, name, (), n_train, 100) if n_train else found


def random_partition(name: str, number: int, n_rows: int, n_train: int) -> Split:
    """Return training and test rows, both sorted, of one random partition; its seed is name and number."""
    train, test = train_test_split(
        np.arange(n_rows), train_size=n_train, random_state=seed_of("kfda", name, number)
    )
    return np.sort(train), np.sort(test)


@lru_cache(maxsize=2)
def pool(name: str) -> Dataset:
    """Return the whole of a set with its partitions; the last two are kept, and are not to be changed."""
    return drawn(name) if name in DRAWN else partitioned(name)


def realisation(found: Dataset, X_train: np.ndarray, y_train: np.ndarray) -> int:
    """Return the number, from 1, of the partition whose training rows these are.

    Raises
    ------
    ValueError
        None of them has these rows: the pool is not the one that the rows were taken from.
    """
    for number, (train, _) in enumerate(found.official_splits, 1):
        if np.array_equal(found.y[train], y_train) and np.array_equal(found.X[train], X_train):
            return number
    raise ValueError(
        f"{found.name}: no partition has these {len(y_train)} training rows; give the sorted rows of one of "
        f"its {len(found.official_splits)} partitions"
    )


def _with_partitions(
    found: Dataset, name: str, official: tuple[Split, ...], n_train: int, n_partitions: int
) -> Dataset:
    n_rows = len(found.y)
    splits = [(np.sort(train), np.sort(test)) for train, test in official[:n_partitions]]
    if any(len(train) != n_train for train, _ in splits):
        sizes = sorted({len(train) for train, _ in splits})
        raise ValueError(f"{name}: the published realisations train {sizes} rows, the tables print {n_train}")
    splits += [
        random_partition(name, number, n_rows, n_train) for number in range(len(splits) + 1, n_partitions + 1)
    ]
    return Dataset(
        X=np.asarray(found.X, dtype=float),
        y=found.y,
        name=name,
        source=found.source,
        sha256=found.sha256,
        official_splits=tuple(splits),
        feature_names=found.feature_names,
        target_names=found.target_names,
        notes=f"{len(official[:n_partitions])} published and {n_partitions - len(official)} random partitions"
        if official
        else f"{n_partitions} random partitions",
    )


#: the room's own sets; those of the registry that have the same names come without partitions
DATASETS: dict[str, Callable[[], Dataset]] = {
    **{name: partial(partitioned, name) for name in TRAIN_SIZES},
    **{name: partial(drawn, name) for name in DRAWN},
}
