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
from typing import TYPE_CHECKING

import numpy as np

from ...claims.comparison import TESTED, compare_cells, read_printed
from ..experiments.columns import expand, results
from ..paper.printed import KINDS, PAPER_TABLES, PROTOCOLS, SHOWN, choice_spreads, partitions
from .tables_calibration import SIDES, TESTABLE, count_agreeing, of_table, rates

if TYPE_CHECKING:
    import pandas as pd

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
            counts = {side: count_agreeing(cells) for side, cells in sides.items()}
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
