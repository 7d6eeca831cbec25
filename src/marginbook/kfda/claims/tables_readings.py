r"""Every reading of Tables 1 and 2 beside the print, and how far the rule for their cells can be trusted.

The text leaves two things open. What is tested on a partition: a machine that is trained on it, as in the
methodology "followed throughout", or the selected classifier, which is "applied to all test partitions". And
when a coefficient of an iteration that never reaches zero counts as zero. A cell agrees by
:func:`marginbook.claims.comparison.compare_cells`, with the spread over realisations of the choice that the
paper makes once; our five realisations, one against another, say how often a faithful run would agree.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...claims.calibration import Calibration
from ...claims.comparison import TESTED, Spread, compare_cells, read_printed
from ..experiments.columns import expand, results
from ..paper.printed import (
    CHOICES,
    KINDS,
    OWN,
    PAPER_TABLES,
    PROTOCOLS,
    RIVAL,
    SHOWN,
    choice_spreads,
    partitions,
    printed,
)

if TYPE_CHECKING:
    import pandas as pd

#: the two numbers of a cell: our column, and how the file of the printed ones ends
SIDES = {"mcr": "", "nrs": "-retained"}
#: columns that can come out again: of the published best there are numbers only
TESTABLE = (RIVAL, *OWN)
#: what counts as retained: what is not exactly zero, or what is above a share of the largest coefficient
CUTS = (None, 1e-3, 1e-6)
#: what is tested on a partition, in words
IN_WORDS = {
    "refit": "machines refitted on every partition",
    "fixed": "one classifier, tested on all partitions",
}


@dataclass(frozen=True)
class Reading:
    """One reading of a table: what is tested, and the cut for zero (None: exact zeros)."""

    protocol: str
    cut: float | None = None

    def __str__(self) -> str:
        cut = "exact zeros" if self.cut is None else f"zero below {self.cut:.0e} of the largest"
        return f"{IN_WORDS[self.protocol]}, {cut}"


def compared(
    table: str,
    ours: pd.DataFrame,
    side: str = "mcr",
    protocol: str = SHOWN,
    stored: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return the printed cells of a table beside ours, as `marginbook.claims.comparison.compare_cells` does.

    Parameters
    ----------
    table : {"table-1", "table-2"}
    ours : DataFrame
        As from `marginbook.kfda.experiments.columns.expand`.
    side : {"mcr", "nrs"}
    protocol : {"refit", "fixed"}
        Of `ours`.
    stored : DataFrame, default: all stored results
        What `ours` was expanded from: the spread of the choice is taken from it.
    """
    frame = read_printed(PAPER_TABLES.paper / f"{table}{SIDES[side]}.csv")
    frame = frame[frame["method"].isin(TESTABLE)]
    found = results() if stored is None else stored
    spreads = {} if found is None else choice_spreads(found, protocol, side)
    return compare_cells(
        frame, ours, metric=side, printed_splits=partitions(), higher_is_better=False, choices=spreads
    )


def with_cut(frame: pd.DataFrame, cut: float | None) -> pd.DataFrame:
    """Return stored results whose retained samples are those above a cut where the paper stops: an estimate.

    The tables were run with exact zeros. How much more a cut retains was measured for three values of rho at
    one width (``results/kfda/cuts.csv``): the ratio of the set and method, at the value nearest to the chosen
    one, is taken over.
    """
    shares = None if cut is None else PAPER_TABLES.results("cuts")
    if cut is None or shares is None:
        return frame
    ratios = _ratios(shares, cut)
    factors = [
        _nearest(ratios.get((str(line["dataset"]), str(line["method"]))), line["parameters"])
        for line in frame[["dataset", "method", "parameters"]].to_dict("records")
    ]
    n_train, changed = frame["n_train"].to_numpy(float), frame.copy()
    for name in ("retained_refit", "retained_fixed"):
        values = zip(frame[name], factors, n_train, strict=True)
        changed[name] = [np.minimum(counts * factor, most) for counts, factor, most in values]
    return changed


def _ratios(shares: pd.DataFrame, cut: float) -> dict[tuple[str, str], dict[float, float]]:
    """Return, by data set and method, rho -> samples above the cut over those that are exactly retained."""
    found: dict[tuple[str, str], dict[float, float]] = {}
    for key, part in shares.groupby(["dataset", "method"]):
        lines = part.to_dict("records")
        at = int(np.argmin(np.abs(np.log(json.loads(lines[0]["cuts"])) - np.log(cut))))
        rhos = json.loads(lines[0]["rho"])
        stopped = np.mean([np.array(json.loads(line["nrs_stopped"]))[:, at] for line in lines], axis=0)
        exact = np.mean([json.loads(line["nrs_exact"]) for line in lines], axis=0)
        ratios = {rho: s / e for rho, s, e in zip(rhos, stopped, exact, strict=True) if e > 0}
        found[str(key[0]), str(key[1])] = ratios
    return found


def _nearest(ratios: dict[float, float] | None, parameters: str) -> float:
    rho = json.loads(parameters).get("rho")
    if not ratios or rho is None:
        return 1.0
    return ratios[min(ratios, key=lambda other: abs(np.log(other / rho)))]


def calibration(protocol: str, side: str, stored: pd.DataFrame) -> tuple[np.ndarray, ...]:
    """Count the cells that agree when our own results stand in for the print.

    Parameters
    ----------
    protocol : {"refit", "fixed"}
    side : {"mcr", "nrs"}
    stored : DataFrame
        As from `of_table`.

    Returns
    -------
    faithful, wrong, shifted : (2,) arrays of int
        Agreeing cells and all. *Faithful*: the choice of one realisation as the print, that of another as
        ours, and the spread of the choice from all but the first. *Wrong*: the column of another method as
        the print. *Shifted*: our mean moved by the standard deviation over the partitions.
    """
    return (
        _faithful(stored, protocol, side),
        *(_stand_in(stored, protocol, side, wrong) for wrong in (True, False)),
    )


def of_table(table: str) -> pd.DataFrame | None:
    """Return the stored results behind the columns of a table; None before any."""
    stored = results(table)
    if stored is None:
        return None
    methods = {CHOICES[name][0] for name in TESTABLE}
    kept = stored[stored["dataset"].isin(printed(table).errors.index) & stored["method"].isin(methods)]
    return None if kept.empty else kept


class _StandIns:
    """Cells whose print is ours: what stands in for the print, and what is compared with it."""

    def __init__(self) -> None:
        self.page: list[tuple[str, str, str, str, str]] = []
        self.values: list[np.ndarray] = []
        self.spreads: dict[tuple[str, str], Spread] = {}
        self.splits: dict[str, int] = {}

    def add(
        self, name: str, method: str, mean: float, like: np.ndarray, ours: np.ndarray, choice: Spread
    ) -> None:
        """Add a cell: the printed mean, the values that its ± is of, ours, and the spread of the choice."""
        self.page.append((name, method, f"{mean:.1f}", f"{like.std(ddof=1):.10g}", ""))
        self.values.append(ours)
        self.spreads[name, method] = choice
        self.splits[name] = len(like)

    def count(self) -> np.ndarray:
        """Return how many cells agree, and of how many."""
        import pandas as pd

        if not self.page:
            return np.zeros(2, dtype=int)
        page = pd.DataFrame(self.page, columns=["dataset", "method", "mean", "std", "note"])
        lengths = [len(values) for values in self.values]
        keys = {name: np.repeat(page[name].to_numpy(object), lengths) for name in ("dataset", "method")}
        ours = pd.DataFrame(keys | {"x": np.concatenate(self.values)})
        return _count(
            compare_cells(
                page,
                ours,
                metric="x",
                printed_splits=self.splits,
                higher_is_better=False,
                choices=self.spreads,
            )
        )


def _faithful(frame: pd.DataFrame, protocol: str, side: str) -> np.ndarray:
    """Compare every realisation with the next one, as the print."""
    cells = _StandIns()
    for (dataset, method), rows in frame.groupby(["dataset", "method"], sort=False):
        columns = [_partitions(row, protocol, side) for row in rows.to_dict("records")]
        middles = np.array([column.mean() for column in columns])
        for one, theirs in enumerate(columns):
            rest = np.delete(middles, one)
            choice = Spread(float(np.std(rest, ddof=1)), len(rest))
            ours = columns[(one + 1) % len(columns)]
            cells.add(f"{dataset} {one}", str(method), float(middles[one]), theirs, ours, choice)
    return cells.count()


def _stand_in(frame: pd.DataFrame, protocol: str, side: str, wrong: bool) -> np.ndarray:
    """Compare our columns with those of other methods, or with themselves, shifted."""
    wide = expand(frame, protocol)
    spreads = choice_spreads(frame, protocol, side)
    found = {
        (str(dataset), str(method)): part[side].to_numpy(float)
        for (dataset, method), part in wide.groupby(["dataset", "method"])
    }
    cells = _StandIns()
    for (dataset, method), ours in found.items():
        others = [name for name in TESTABLE if CHOICES[name][0] != CHOICES[method][0]] if wrong else [method]
        for other in others:
            if (like := found.get((dataset, other))) is not None:
                mean = float(like.mean() if wrong else like.mean() + like.std(ddof=1))
                cells.add(f"{dataset} {other}", method, mean, like, ours, spreads[dataset, method])
    return cells.count()


def _partitions(row: dict[Any, Any], protocol: str, side: str) -> np.ndarray:
    """Return the numbers of one realisation on every partition, in percent."""
    if side == "mcr":
        return np.asarray(100 * row[f"errors_{protocol}"] / row["n_test"])
    kept = np.asarray(row[f"retained_{protocol}"], dtype=float)
    return np.broadcast_to(100 * kept / row["n_train"], len(row["errors_fixed"]))


def _count(cells: pd.DataFrame) -> np.ndarray:
    tested = cells[cells["verdict"].isin(TESTED)]
    return np.array([(tested["verdict"] == TESTED[0]).sum(), len(tested)], dtype=int)


def rates(table: str, protocol: str) -> tuple[Calibration, dict[str, tuple[float, ...]]]:
    """Return the calibration of a table under a protocol, over both numbers of a cell, and of each alone."""
    stored = of_table(table)
    assert stored is not None
    sides = {side: calibration(protocol, side, stored) for side in SIDES}
    found = [np.sum([counts[k] for counts in sides.values()], axis=0) for k in range(3)]
    alone = {side: tuple(_share(count) for count in counts) for side, counts in sides.items()}
    faithful, wrong, shifted = (_share(count) for count in found)
    return Calibration(faithful, wrong, shifted), alone


def _share(count: np.ndarray) -> float:
    return float(count[0] / count[1]) if count[1] else 0.0


def readings(*tables: str, protocols: Sequence[str] = PROTOCOLS) -> pd.DataFrame:
    """Return all readings of the tables side by side.

    Parameters
    ----------
    *tables : str
        Default: both.
    protocols : sequence of str

    Returns
    -------
    DataFrame
        One row per table and reading, those that agree best first: `table`, `reading` (a `Reading`),
        `errors` and `retained` (cells that agree), `of` (tested of each), `agree` and `tested` (of both),
        `off_errors`, `off_retained` (mean distance from print, in points), `faithful`, `wrong`, `shifted`
        (the rates of `rates`), `needed` (cells that a faithful re-run reaches), `verdict`. Empty before any
        results. ``attrs["cells"]`` has the cells of each by (table, reading, side), ``attrs["rates"]`` what
        `rates` returns by (table, protocol).
    """
    import pandas as pd

    rows, kept, known = [], {}, {}
    for table in tables or KINDS:
        stored = of_table(table)
        if stored is None:
            continue
        known.update({(table, protocol): rates(table, protocol) for protocol in protocols})
        for reading in (Reading(protocol, cut) for protocol in protocols for cut in CUTS):
            frame = with_cut(stored, reading.cut)
            wide = expand(frame, reading.protocol)
            sides = {side: compared(table, wide, side, reading.protocol, frame) for side in SIDES}
            counts = {side: _count(cells) for side, cells in sides.items()}
            agree, tested = np.sum(list(counts.values()), axis=0).tolist()
            found = known[table, reading.protocol][0]
            rows.append(
                {
                    "table": table,
                    "reading": reading,
                    "errors": int(counts["mcr"][0]),
                    "retained": int(counts["nrs"][0]),
                    "of": int(counts["mcr"][1]),
                    "agree": agree,
                    "tested": tested,
                    "off_errors": distance(sides["mcr"]),
                    "off_retained": distance(sides["nrs"]),
                    "faithful": found.faithful,
                    "wrong": found.wrong,
                    "shifted": found.shifted,
                    "needed": found.needed(tested),
                    "verdict": str(found.judge(agree, tested)),
                }
            )
            kept.update({(table, reading, side): cells for side, cells in sides.items()})
    frame = pd.DataFrame(rows)
    if rows:
        frame = frame.sort_values(
            ["table", "agree", "off_errors", "off_retained"], ascending=[True, False, True, True]
        ).reset_index(drop=True)
    frame.attrs |= {"cells": kept, "rates": known}
    return frame


def distance(cells: pd.DataFrame) -> float:
    """Return the mean absolute difference of the cells that both sides have, in points."""
    both = cells[cells["verdict"].isin(TESTED)]
    return float(both["difference"].abs().mean()) if len(both) else float("nan")
