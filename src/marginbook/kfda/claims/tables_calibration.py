"""How far the rule for the cells of Tables 1 and 2 can be trusted: our own realisations as the print.

Each table has up to six readings, and the verdict is of the one that agrees best. Whatever stands in for the
print is therefore compared with ours in every reading, and its best counts: the choice is charged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...claims.cell_verdicts import TESTED, Spread
from ...claims.pass_rates import Calibration
from ..experiments.columns import expand, results
from ..paper.printed import CHOICES, OWN, PAPER_TABLES, RIVAL, choice_spreads, printed
from ..paper.readings import PROTOCOLS, Reading, readings_of, with_cut

if TYPE_CHECKING:
    import pandas as pd

#: the two numbers of a cell: our column, and how the file of the printed ones ends
SIDES = {"mcr": "", "nrs": "-retained"}
#: columns that can come out again: of the published best there are numbers only
TESTABLE = (RIVAL, *OWN)
#: whose rule judges the stand-ins; that of the other table is the same
RULE = "table-1"


class StandIn(NamedTuple):
    """A cell whose print is ours.

    Attributes
    ----------
    table : int
        The number of the whole table that it is a cell of.
    dataset, method : str
    mean : float
        What stands in for the printed mean.
    like, ours : array
        The values that its ± is of, and those that are compared with it.
    choice : Spread
    """

    table: int
    dataset: str
    method: str
    mean: float
    like: np.ndarray
    ours: np.ndarray
    choice: Spread


class Sides:
    """Our numbers of one side of the cells, "mcr" or "nrs", under one reading."""

    def __init__(self, stored: pd.DataFrame, reading: Reading, side: str) -> None:
        frame = with_cut(stored, reading.cut)
        wide = expand(frame, reading.protocol)
        #: by set and printed column, the values over the partitions of the choice that is reported
        self.chosen = {
            (str(dataset), str(method)): part[side].to_numpy(float)
            for (dataset, method), part in wide.groupby(["dataset", "method"])
        }
        self.spreads = choice_spreads(frame, reading.protocol, side)
        #: by set and method, the same of every realisation
        self.each = {
            (str(dataset), str(method)): [
                _partitions(row, reading.protocol, side) for row in rows.to_dict("records")
            ]
            for (dataset, method), rows in frame.groupby(["dataset", "method"], sort=False)
        }

    def faithful(self, ours: Sides, table: int) -> list[StandIn]:
        """Let one realisation of this reading be the print, the next one of `ours` is compared with it.

        The spread of the choice is from all realisations of `ours` but the one that is the print.
        """
        cells = []
        for (dataset, method), columns in self.each.items():
            others = ours.each[dataset, method]
            rest = np.delete([column.mean() for column in others], table)
            choice = Spread(float(np.std(rest, ddof=1)), len(rest))
            theirs, own = columns[table], others[(table + 1) % len(others)]
            cells.append(StandIn(table, dataset, method, float(theirs.mean()), theirs, own, choice))
        return cells

    def wrong(self, ours: Sides, table: int) -> list[StandIn]:
        """Let the column of another method of this reading be the print: `table` says which of the others."""
        cells = []
        for (dataset, method), own in ours.chosen.items():
            others = [name for name in TESTABLE if CHOICES[name][0] != CHOICES[method][0]]
            like = self.chosen.get((dataset, others[table % len(others)]))
            if like is not None:
                choice = ours.spreads[dataset, method]
                cells.append(StandIn(table, dataset, method, float(like.mean()), like, own, choice))
        return cells

    def shifted(self, ours: Sides, table: int) -> list[StandIn]:
        """Let this reading be the print, its means moved by the standard deviation over the partitions."""
        return [
            StandIn(
                table, *key, float(like.mean() + like.std(ddof=1)), like, ours.chosen[key], ours.spreads[key]
            )
            for key, like in self.chosen.items()
        ]


#: how a table comes to stand in for the print, and how many of each there are for every reading
KINDS = {"faithful": 5, "wrong": 3, "shifted": 1}


def of_table(table: str) -> pd.DataFrame | None:
    """Return the stored results behind the columns of a table; None before any."""
    stored = results(table)
    if stored is None:
        return None
    methods = {CHOICES[name][0] for name in TESTABLE}
    kept = stored[stored["dataset"].isin(printed(table).errors.index) & stored["method"].isin(methods)]
    return None if kept.empty else kept


def calibration(
    stored: pd.DataFrame, protocols: Sequence[str] = PROTOCOLS
) -> tuple[Calibration, dict[str, tuple[float, ...]]]:
    """Measure how often the rule passes our own results as the print, with the best of the stored readings.

    *Faithful*: the choice of one realisation as the print, that of another as ours. *Wrong*: the columns of
    other methods as the print. *Shifted*: our means moved by the standard deviation over the partitions.

    Parameters
    ----------
    stored : DataFrame
        As from `of_table`.
    protocols : sequence of str
        Of the readings that may be chosen from.

    Returns
    -------
    Calibration
        Over both numbers of a cell.
    alone : dict
        By side, the shares of agreeing cells of the three kinds in the reading that the print is of.
    """
    readings, _ = readings_of(stored, protocols)
    found = {side: {one: Sides(stored, one, side) for one in readings} for side in SIDES}
    best: dict[str, list[tuple[int, int]]] = {kind: [] for kind in KINDS}
    own: dict[str, dict[str, list[np.ndarray]]] = {side: {kind: [] for kind in KINDS} for side in SIDES}
    for kind, number in KINDS.items():
        for theirs in readings:
            # of each table, (agreeing, all) cells of both sides under every reading of ours
            met = {ours: np.zeros((number, 2), dtype=int) for ours in readings}
            for side, by_reading in found.items():
                for ours in _different(readings, side):
                    pairs = by_reading[theirs], by_reading[ours]
                    cells = [cell for k in range(number) for cell in getattr(pairs[0], kind)(pairs[1], k)]
                    counts = _count(cells, number)
                    for like in readings:
                        if like == ours or (side == "mcr" and like.protocol == ours.protocol):
                            met[like] += counts
                            if like == theirs:
                                own[side][kind].append(counts.sum(axis=0))
            for k in range(number):
                agreeing, of = max((met[ours][k] for ours in readings), key=_rate)
                best[kind].append((int(agreeing), int(of)))
    alone = {
        side: tuple(_rate(np.sum(counts, axis=0)) for counts in by_kind.values())
        for side, by_kind in own.items()
    }
    rates = [_rate(np.sum(counts, axis=0)) for counts in best.values()]
    both = [_rate(np.sum([*own["mcr"][kind], *own["nrs"][kind]], axis=0)) for kind in KINDS]
    wrong = tuple(_rate(counts) for counts in best["wrong"])
    found_rates = Calibration(
        rates[0], rates[1], rates[2], True, len(readings), (both[0], both[1], both[2]), wrong
    )
    return found_rates, alone


def _different(readings: Sequence[Reading], side: str) -> list[Reading]:
    """Return the readings with different numbers on a side: errors do not depend on the cut."""
    if side == "nrs":
        return list(readings)
    return list({one.protocol: one for one in reversed(readings)}.values())


def _count(cells: Sequence[StandIn], number: int) -> np.ndarray:
    """Return for each table how many cells agree, and how many there are, (number, 2)."""
    import pandas as pd

    names = [f"{cell.table} {cell.dataset}" for cell in cells]
    page = pd.DataFrame(
        {
            "dataset": names,
            "method": [cell.method for cell in cells],
            "mean": [f"{cell.mean:.1f}" for cell in cells],
            "std": [f"{cell.like.std(ddof=1):.10g}" for cell in cells],
            "note": "",
        }
    )
    lengths = [len(cell.ours) for cell in cells]
    keys = {name: np.repeat(page[name].to_numpy(object), lengths) for name in ("dataset", "method")}
    judged = PAPER_TABLES.judged(
        RULE,
        page,
        pd.DataFrame(keys | {"x": np.concatenate([cell.ours for cell in cells])}),
        metric="x",
        printed_splits={name: len(cell.like) for name, cell in zip(names, cells, strict=True)},
        choices={(name, cell.method): cell.choice for name, cell in zip(names, cells, strict=True)},
    )
    tables = judged["dataset"].str.partition(" ")[0].astype(int)
    return np.array([count_agreeing(judged[tables == k]) for k in range(number)])


def _partitions(row: Mapping[Any, Any], protocol: str, side: str) -> np.ndarray:
    """Return the numbers of one realisation on every partition, in percent."""
    if side == "mcr":
        return np.asarray(100 * row[f"errors_{protocol}"] / row["n_test"])
    kept = np.asarray(row[f"retained_{protocol}"], dtype=float)
    return np.broadcast_to(100 * kept / row["n_train"], len(row["errors_fixed"]))


def count_agreeing(cells: pd.DataFrame) -> np.ndarray:
    """Return how many cells of a comparison agree, and how many both sides have."""
    tested = cells[cells["verdict"].isin(TESTED)]
    return np.array([(tested["verdict"] == TESTED[0]).sum(), len(tested)], dtype=int)


def rates(
    table: str, protocols: Sequence[str] = PROTOCOLS
) -> tuple[Calibration, dict[str, tuple[float, ...]]]:
    """Return the calibration of a table over both numbers of a cell, and of each alone."""
    stored = of_table(table)
    assert stored is not None
    return calibration(stored, protocols)


def _rate(count: Any) -> float:
    return float(count[0] / count[1]) if count[1] else 0.0
