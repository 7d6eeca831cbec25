"""How much of a table hangs on a sentence that the paper does not contain: all its readings, side by side.

`PaperTables.readings` of a room has the readings of its tables; page, command and ledger take the best of
them through :func:`marginbook.experiments.compare.compare`. A room whose tables have several readings has
a module ``claims/side_by_side.py`` with a function `side_by_side`, which returns a list of `ReadAs`; the book
finds it there.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ..base.rooms import papers
from .cell_verdicts import agreeing

if TYPE_CHECKING:
    from .printed_tables import PaperTables

#: what stands in the place of a verdict on a reading that has not been run
NOT_STORED = "not stored"

R = TypeVar("R", bound=Hashable)


class ReadAs(NamedTuple):
    """One reading of one table.

    Attributes
    ----------
    table, reading : str
    agree, tested : int
        Cells that agree with ours under this reading, and those that were compared; 0 of 0 is not stored.
    distance : float
        Mean distance of our means from the printed ones, in points; nan where nothing is printed.
    verdict : str
        On the table under this reading, or `NOT_STORED`.
    """

    table: str
    reading: str
    agree: int
    tested: int
    distance: float
    verdict: str


def best(scores: Mapping[R, tuple[int, int]]) -> R:
    """Return the reading with the largest share of agreeing parts, the first of equals.

    Parameters
    ----------
    scores : mapping
        Of each reading, how many parts agree, of how many.
    """

    def share(reading: R) -> float:
        agreeing, tested = scores[reading]
        return agreeing / tested if tested else 0.0

    return max(scores, key=share)


def told(scores: Mapping[R, tuple[int, int]], missing: Iterable[str] = ()) -> str:
    """Return in words which reading agrees best, how far the others are, and which have not been stored."""
    chosen = best(scores)
    counts = {reading: "{} of {}".format(*score) for reading, score in scores.items()}
    others = "; ".join(f"{reading}: {counts[reading]}" for reading in scores if reading != chosen)
    text = f"{chosen}: {counts[chosen]} agree." + (f" The others: {others}." if others else "")
    absent = "; ".join(missing)
    return text + (f" Not stored: {absent}." if absent else "")


def of_tables(tables: PaperTables, points: float = 1.0) -> list[ReadAs]:
    """Return how well every reading of the room's tables agrees with the print; empty before any results.

    Parameters
    ----------
    tables : PaperTables
    points : float
        What a printed unit is, in points.
    """
    rows = []
    for table in tables.readings:
        if (stored := tables.measured(table)) is None:
            continue
        calibration = tables.calibration(table)
        for reading, results in tables.as_read(table, stored).items():
            if results is None:
                rows.append(ReadAs(table, reading, 0, 0, float("nan"), NOT_STORED))
                continue
            tested = tables.tested(table, results)
            distance = points * float(tested["difference"].abs().mean())
            agree, number = agreeing(tested)
            verdict = str(calibration.judge(agree, number))
            rows.append(ReadAs(table, reading, agree, number, distance, verdict))
    return rows


def all_readings() -> dict[str, list[ReadAs]]:
    """Return the readings of every room that has several, by room; the best of a table comes first."""
    found = {}
    for key, room in papers().items():
        name = f"{room.package}.claims.side_by_side"
        if find_spec(name):
            rows: list[ReadAs] = import_module(name).side_by_side()
            found[key] = sorted(
                rows,
                # of equals the first, as in `best`: page and evidence name the same one
                key=lambda row: (row.table, -row.agree / max(row.tested, 1), not row.tested),
            )
    return found
