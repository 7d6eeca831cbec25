"""What rivals of claims about experiments change: our stored results, or the print that they stand beside.

All of them are of one table of one room; whatever reads its results, or its print, sees the change.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.rooms import rooms
from .printed_csv import read_printed

if TYPE_CHECKING:
    import pandas as pd

    Change = Callable[[pd.DataFrame], pd.DataFrame]

Swaps = Mapping[str, Callable[[Any], Any]]


def in_results(room: str, tables: Sequence[str], change: Change) -> Swaps:
    """Return the swaps that let `change` have been done to the stored results of some tables of a room."""
    names = [f"{room}/{table}" for table in tables]

    def swap(original: Callable[..., pd.DataFrame]) -> Callable[..., pd.DataFrame]:
        def reader(experiment: str, *arguments: Any, **options: Any) -> pd.DataFrame:
            frame = original(experiment, *arguments, **options)
            return change(frame.copy()) if experiment in names else frame

        return reader

    return {"experiments.export.read_results": swap}


def renamed(room: str, tables: Sequence[str], names: Mapping[str, str]) -> Swaps:
    """Return the swaps that give methods other names: two of them exchanged, or turned by one place."""
    return in_results(
        room, tables, lambda frame: frame.assign(method=[names.get(m, m) for m in frame["method"]])
    )


def other_sets(room: str, tables: Sequence[str], names: Mapping[str, str]) -> Swaps:
    """Return the swaps that give data sets other names: two of them exchanged, or in another order."""
    return in_results(
        room, tables, lambda frame: frame.assign(dataset=[names.get(d, d) for d in frame["dataset"]])
    )


def turned(room: str, table: str) -> Swaps:
    """Return the swaps that take each printed method's column of ours as that of the next."""

    def change(frame: pd.DataFrame) -> pd.DataFrame:
        page = read_printed(rooms()[room].paper() / f"{table}.csv")
        methods = [name for name in dict.fromkeys(page["method"]) if name in set(frame["method"])]
        names = dict(zip(methods, [*methods[1:], *methods[:1]], strict=True))
        return frame.assign(method=[names.get(m, m) for m in frame["method"]])

    return in_results(room, [table], change)


def moved(
    room: str,
    tables: Sequence[str],
    methods: str | tuple[str, ...],
    columns: str | tuple[str, ...],
    *,
    by: float = 0.0,
    times: float = 1.0,
    within: tuple[float, float] = (-np.inf, np.inf),
) -> Swaps:
    """Return the swaps that multiply numbers of ours by `times` and add `by`, also those of JSON lists.

    Parameters
    ----------
    room, tables
    methods : str or tuple of str
    columns : str or tuple of str
        How the names of those begin that are changed.
    by, times : float
    within : (float, float)
        What the changed numbers are cut to: scores have a range.
    """

    def change(frame: pd.DataFrame) -> pd.DataFrame:
        rows = frame["method"].str.startswith(methods)
        for name in (str(name) for name in frame.columns if str(name).startswith(columns)):
            if frame[name].dtype.kind not in "biuf":
                frame[name] = frame[name].astype(object)
                texts = frame.loc[rows, name].map(lambda text: _list(text, times, by, within))
                frame.loc[rows, name] = texts
            else:
                frame[name] = frame[name].astype(float)
                frame.loc[rows, name] = (frame.loc[rows, name] * times + by).clip(*within)
        return frame

    return in_results(room, tables, change)


def _list(text: object, times: float, by: float, within: tuple[float, float]) -> object:
    if not isinstance(text, str):
        return text
    return json.dumps(np.clip(np.array(json.loads(text), dtype=float) * times + by, *within).tolist())


def exchanged(room: str, tables: Sequence[str], first: str, second: str) -> Swaps:
    """Return the swaps that exchange two columns of the stored results."""
    return in_results(
        room, tables, lambda frame: frame.assign(**{first: frame[second], second: frame[first]})
    )


def our_means(room: str, table: str, metric: str, digits: int = 4) -> Swaps:
    """Return the swaps that put our own means in the place of the printed ones."""

    def swap(original: Callable[[Path], pd.DataFrame]) -> Callable[[Path], pd.DataFrame]:
        def reader(path: Path) -> pd.DataFrame:
            from ..experiments.export import read_results

            page = original(path)
            if path.stem != table or path.parent != rooms()[room].paper():
                return page
            means = read_results(f"{room}/{table}").groupby(["dataset", "method"])[metric].mean()
            cells = zip(page["dataset"], page["method"], strict=True)
            return page.assign(mean=[_text(means.get(cell, np.nan), digits) for cell in cells])

        return reader

    return {"claims.printed_csv.read_printed": swap}


def _text(mean: float, digits: int) -> str:
    return "" if np.isnan(mean) else f"{mean:.{digits}f}"
