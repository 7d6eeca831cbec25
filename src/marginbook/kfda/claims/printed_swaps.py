"""Rivals that print another number: one cell of Tables 1 and 2, changed for all who read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def with_cell(side: str, dataset: str, column: str, value: float) -> Mapping[str, Callable[[Any], Any]]:
    """Return the swaps of a rival in which one printed cell is another.

    Parameters
    ----------
    side : {"errors", "deviations", "retained"}
    dataset, column : str
    value : float
        In percent.
    """

    def swap(original: Any) -> Any:
        def printed(*tables: str) -> Any:
            page = original(*tables)
            cells = getattr(page, side)
            if dataset in cells.index:
                cells.loc[dataset, column] = value
            return page

        return printed

    return {"kfda.paper.printed.printed": swap}


def with_mean(table: str, row: str, column: str, value: str) -> Mapping[str, Callable[[Any], Any]]:
    """Return the swaps of a rival in which one printed mean is another, as text."""

    def swap(original: Any) -> Any:
        def summary(of: str, name: str) -> dict[str, str]:
            found: dict[str, str] = original(of, name)
            return found | {column: value} if (of, name) == (table, row) else found

        return summary

    return {"kfda.paper.printed.summary": swap}
