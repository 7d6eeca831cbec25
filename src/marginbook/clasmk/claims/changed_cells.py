"""What rivals of claims about printed tables change: one cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

Swaps = Mapping[str, Callable[[Any], Any]]


def cell(table: str, row: str, column: str, number: float, what: str = "mean") -> Swaps:
    """Return the swaps that put `number` in a cell of Table 1 or 4, of its means or deviations ("std")."""

    def swap(original: Callable[..., pd.DataFrame]) -> Callable[..., pd.DataFrame]:
        def reader(name: str, value: str = "mean") -> pd.DataFrame:
            frame = original(name, value).copy()
            if (name, value) == (table, what):
                frame.loc[row, column] = number
            return frame

        return reader

    return {"clasmk.paper.printed.printed": swap}


def second(dataset: str, method: str, number: float | str, column: str = "seconds") -> Swaps:
    """Return the swaps that put `number` in a cell of Table 2, or another name for a "method"."""

    def swap(original: Callable[[], pd.DataFrame]) -> Callable[[], pd.DataFrame]:
        def reader() -> pd.DataFrame:
            frame = original().copy()
            frame.loc[(frame["dataset"] == dataset) & (frame["method"] == method), column] = number
            return frame

        return reader

    return {"clasmk.paper.printed.seconds": swap}


def size(table: str, name: str, number: int, column: str) -> Swaps:
    """Return the swaps that put `number` in a cell of Table 2, 3 or 5: "printed_p", "printed_n"."""

    def swap(original: Callable[[], pd.DataFrame]) -> Callable[[], pd.DataFrame]:
        def reader() -> pd.DataFrame:
            frame = original().copy()
            frame.loc[(frame["table"] == table) & (frame["printed_name"] == name), column] = number
            return frame

        return reader

    return {"clasmk.paper.printed.sizes": swap}
