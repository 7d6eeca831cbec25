"""How much of a table hangs on a sentence that the paper does not contain: all its readings, side by side.

A room whose tables can be read in several ways has a module ``claims/side_by_side.py`` with a function
`side_by_side`, which returns a list of `ReadAs`; the book finds it there.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

from ..base.rooms import papers


class ReadAs(NamedTuple):
    """One reading of one table.

    Attributes
    ----------
    table, reading : str
    agree, tested : int
        Cells that agree with ours under this reading, and those that were compared.
    distance : float
        Mean distance of our means from the printed ones, in points.
    verdict : str
        On the table under this reading.
    """

    table: str
    reading: str
    agree: int
    tested: int
    distance: float
    verdict: str


def all_readings() -> dict[str, list[ReadAs]]:
    """Return the readings of every room that has several, by room; the best of a table comes first."""
    found = {}
    for key, room in papers().items():
        name = f"{room.package}.claims.side_by_side"
        if find_spec(name):
            rows: list[ReadAs] = import_module(name).side_by_side()
            found[key] = sorted(
                rows, key=lambda row: (row.table, -row.agree / max(row.tested, 1), row.distance)
            )
    return found
