"""The realisations of the IDA benchmark (Raetsch): published splits of one set into train and test files."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..base.splits import Split
from .dataset import CorruptData
from .parsers import parse_text


def build_realisations(
    paths: Mapping[str, Path], name: str
) -> tuple[NDArray[np.float64], NDArray[np.int64], tuple[Split, ...]]:
    """Read all realisations and express each as indices into the rows of the first.

    Parameters
    ----------
    paths : dict of str to Path
        Parts ``{train,test}_{data,labels}_{number}``.
    name : str
        For messages.

    Returns
    -------
    X, y : ndarray of shape (n, p) and (n,)
        Training rows of realisation 1, then its test rows; labels -1 and 1.
    splits : tuple of (train, test)
        One per realisation, by number. Equal rows with equal labels are interchangeable.

    Raises
    ------
    CorruptData
        When a realisation does not consist of the rows of realisation 1.
    """
    numbers = sorted({int(re.split("_", part)[-1]) for part in paths})
    base: NDArray[np.float64] | None = None
    splits: list[Split] = []
    rows_at: dict[bytes, list[int]] = {}
    for number in numbers:
        train, test = (_read(paths, part, number, name) for part in ("train", "test"))
        rows = np.vstack([train, test])
        if base is None:
            base = rows
            gathered: dict[bytes, list[int]] = defaultdict(list)
            for i, row in enumerate(rows):
                gathered[row.tobytes()].append(i)
            rows_at = dict(gathered)
        waiting = {key: deque(places) for key, places in rows_at.items()}
        found = []
        for i, row in enumerate(rows):
            queue = waiting.get(row.tobytes())
            if not queue:
                raise CorruptData(
                    f"{name}: row {i + 1} of realisation {number} is not in realisation {numbers[0]}"
                )
            found.append(queue.popleft())
        if len(found) != len(base):
            raise CorruptData(f"{name}: realisation {number} has {len(found)} rows, wanted {len(base)}")
        index = np.array(found, dtype=np.intp)
        splits.append((np.sort(index[: len(train)]), np.sort(index[len(train) :])))
    if base is None:
        raise CorruptData(f"{name}: no realisation")
    return base[:, :-1].copy(), base[:, -1].astype(np.int64), tuple(splits)


def _read(paths: Mapping[str, Path], part: str, number: int, name: str) -> NDArray[np.float64]:
    """Return the rows of one file with the label as last column."""
    data, target = paths[f"{part}_data_{number}"], paths[f"{part}_labels_{number}"]
    X = np.column_stack(parse_text(data, delimiter=None).columns)
    y = np.column_stack(parse_text(target, delimiter=None).columns)
    if y.shape != (len(X), 1) or not np.isin(y, (-1, 1)).all():
        raise CorruptData(
            f"{target.name}: wanted {len(X)} labels -1 or 1, got shape {y.shape}; fetch the file again"
        )
    # Adding zero turns -0.0 into 0.0: the rows are compared by their bytes.
    return np.hstack([X, y]) + 0.0
