"""From a name to arrays: the first source whose files are here, parsed, encoded and checked."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from ..base import at_hand
from . import cache
from .build import Arrays, build
from .dataset import CorruptData, Dataset, DatasetNotFetched, DatasetUnavailable
from .registry import Entry, Source, entry, registry


def load(name: str) -> Dataset:
    """Load a data set.

    Parameters
    ----------
    name : str
        A name or an alias of the registry (``marginbook data list``).

    Returns
    -------
    Dataset

    Raises
    ------
    UnknownDataset
        Suggests near names.
    DatasetNotFetched
        Says the command that fetches the set; its subclass `DatasetUnavailable` says where the set lives.
    CorruptData
        A file is altered, or shape and class counts are not those of the registry.

    Examples
    --------
    >>> from marginbook.datasets import load
    >>> iris = load("iris")
    >>> iris.X.shape, iris.target_names
    ((150, 4), ('setosa', 'versicolor', 'virginica'))
    """
    found = entry(name)
    if not found.available:
        raise DatasetUnavailable(f"{found.name} cannot be fetched: {found.reason}; its home is {found.home}")
    source = next((s for s in found.sources if is_here(s)), None)
    if source is None:
        raise _not_fetched(found)
    return load_source(found, source)


def is_here(source: Source) -> bool:
    """Return whether a source can be loaded from now: of a kind that may be, with its files in the cache."""
    return source.kind in at_hand.kinds() and (source.kind == "bundled" or cache.is_cached(source))


def _not_fetched(found: Entry) -> DatasetNotFetched:
    if not any(source.kind in at_hand.kinds() for source in found.sources):
        return DatasetNotFetched(
            f"{found.name} comes by URL, and {at_hand.VARIABLE} allows only {', '.join(at_hand.kinds())}"
        )
    return DatasetNotFetched(
        f"{found.name} is not on this machine; run `marginbook data fetch {found.name}`", found.name
    )


def load_source(found: Entry, source: Source) -> Dataset:
    """Load a set from one of its sources; hashes, shape and class counts are checked."""
    paths = {file.part: cache.verified(file) for file in source.files}
    arrays = build(found, source, paths)
    validate_sizes(found, arrays.X, arrays.y, source.describe())
    return Dataset(
        X=arrays.X,
        y=arrays.y,
        name=found.name,
        source=source.describe(),
        sha256=_digest(source, arrays),
        folds=arrays.folds,
        test_mask=arrays.test_mask,
        official_splits=arrays.splits,
        feature_names=arrays.feature_names,
        target_names=tuple(str(label) for label in np.unique(arrays.y)),
        notes=found.notes,
    )


def _digest(source: Source, arrays: Arrays) -> str:
    if len(source.files) == 1:
        return source.files[0].sha256
    if source.files:
        return hashlib.sha256("".join(file.sha256 for file in source.files).encode()).hexdigest()
    return hashlib.sha256(np.ascontiguousarray(arrays.X).tobytes() + arrays.y.tobytes()).hexdigest()


def validate_sizes(found: Entry, X: Any, y: NDArray, where: str) -> None:
    """Raise `CorruptData` when shape or class counts differ from the registry."""
    want = (found.n, *(found.shape or (found.p,)))
    if X.shape != want:
        raise CorruptData(f"{found.name} from {where}: got shape {X.shape}, wanted {want}")
    values = X.data if issparse(X) else X
    if not np.isfinite(values).all():
        raise CorruptData(f"{found.name} from {where}: got values that are missing or infinite")
    if len(y) != found.n:
        raise CorruptData(f"{found.name} from {where}: got {len(y)} labels, wanted {found.n}")
    if found.classes:
        labels, counts = np.unique(y, return_counts=True)
        got = {str(label): int(count) for label, count in zip(labels, counts, strict=True)}
        if got != dict(found.classes):
            raise CorruptData(
                f"{found.name} from {where}: got classes {_show(got)}, wanted {_show(found.classes)}"
            )


def _show(classes: Mapping[str, int]) -> str:
    items = [f"{label} {count}" for label, count in sorted(classes.items())]
    return ", ".join(items[:12]) + (f" and {len(items) - 12} more" if len(items) > 12 else "")


def available() -> list[str]:
    """Return the names of the sets that load right now, without fetching anything."""
    return [found.name for found in registry().values() if any(is_here(source) for source in found.sources)]
