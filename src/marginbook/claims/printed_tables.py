"""The printed tables of a paper beside our results, and the questions that every claim about them asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import Evidence, Verdict
from .cell_verdicts import NOT_PRINTED, TESTED, layout
from .pass_rates import Calibration
from .printed_csv import read_numbers, read_printed
from .stored_tables import StoredTables

if TYPE_CHECKING:
    import pandas as pd

    from ..experiments.protocol import Protocol

#: a p-value below this is called significant
LEVEL = 0.05


@dataclass(frozen=True)
class PaperTables(StoredTables):
    """The tables of one room, judged; ``paper/printed.py`` of the room has them as ``PAPER_TABLES``."""

    def tested(self, table: str, ours: pd.DataFrame | None = None) -> pd.DataFrame:
        """Return those of `cells` that both sides have."""
        frame = self.cells(table, ours)
        return frame[frame["verdict"].isin(TESTED)]

    def not_run(self, table: str) -> str:
        """Say how results come into being."""
        command = f"marginbook experiment run {self.room}/{table} --profile paper"
        return f"There are no results yet: `{command}` makes them."

    def nothing(self, claimed: str, table: str) -> Evidence:
        """Return the evidence of a claim about a table without results."""
        return Evidence(
            verdict=Verdict.NOT_TESTABLE,
            measured="nothing",
            claimed=claimed,
            slack=None,
            why=self.not_run(table),
            sizes={"sets": 0},
        )

    def cells(self, table: str, ours: pd.DataFrame | None = None) -> pd.DataFrame:
        """Return the printed table beside `ours`; no result of ours is a cell `not-testable`.

        Parameters
        ----------
        table : str
        ours : DataFrame, default: the stored results

        Returns
        -------
        DataFrame
            Of :func:`marginbook.experiments.compare.compare`, as the page of results shows it: of the reading
            that agrees best, which ``attrs["reading"]`` names.
        """
        import pandas as pd

        from ..experiments.compare import compare

        plan = self.protocol(table)
        ours = self.measured(table) if ours is None else ours
        if ours is None:
            ours = pd.DataFrame(columns=["dataset", "method", plan.metric, *plan.better_of])
        return compare(plan, ours)

    def calibration(self, table: str) -> Calibration:
        """Return how often the rule for the cells passes a faithful re-run of the table, and a wrong one.

        The choice of the reading that agrees best is part of the rule: it is made again for each of them.
        """
        from ..experiments.compare import calibrated

        ours = self.measured(table)
        assert ours is not None, self.not_run(table)
        return calibrated(self.protocol(table), ours)

    def printed(self, table: str) -> pd.DataFrame:
        """Return the printed means as the paper lays them out: data sets down, methods across."""
        return layout(self.numbers(table), "mean")

    def rows(self, file: str) -> pd.DataFrame:
        """Return the cells of a printed table, one a row, as text: see `printed_csv.read_printed`."""
        return read_printed(self.paper / f"{file}.csv")

    def numbers(self, file: str) -> pd.DataFrame:
        """Return the cells of a printed table, one a row, as numbers, nan where none is printed."""
        return read_numbers(self.paper / f"{file}.csv")

    def judged(
        self, table: str, printed: pd.DataFrame, results: pd.DataFrame, **otherwise: Any
    ) -> pd.DataFrame:
        """Compare printed cells, as from `rows`, with results by the rule of a table.

        Parameters
        ----------
        table : str
        printed, results : DataFrame
        **otherwise
            Arguments of `cell_verdicts.compare_cells` for cells that are not those of its protocol.
        """
        from ..experiments.compare import rule

        return rule(self.protocol(table), **otherwise)(printed, results, None)

    def agreement(self, table: str, frame: pd.DataFrame | None = None) -> Evidence:
        """Compare every printed cell of what we ran with ours.

        Parameters
        ----------
        table : str
        frame : DataFrame, default: ``cells(table)``
        """
        plan = self.protocol(table)
        frame = self.cells(table) if frame is None else frame
        tested = frame[frame["verdict"].isin(TESTED)]
        printed = frame[frame["verdict"] != NOT_PRINTED]
        sizes = {"cells": len(printed), "tested": len(tested), "splits": plan.printed_splits}
        missing = unavailable(frame["dataset"].unique().tolist(), plan.datasets)
        missing += _without_results(frame, plan)
        if tested.empty:
            why = self.not_run(table) + missing
            return Evidence(
                verdict=Verdict.NOT_TESTABLE,
                measured="nothing",
                claimed="the printed means",
                slack=None,
                why=why,
                sizes=sizes,
            )
        agree = tested["verdict"] == TESTED[0]
        calibration = self.calibration(table)
        own = tested["method"].str.startswith(self.own)
        whose = self.own if isinstance(self.own, str) else "paper's methods"
        ours = f", {(agree & own).sum()} of {own.sum()} of the {whose}" if own.any() else ""
        off = tested[~agree]
        higher = int((off["direction"] == "ours higher").sum())
        by_method = Counter(off["method"])
        where = ", ".join(f"{method} {by_method[method]}" for method in dict.fromkeys(off["method"]))
        others = f"Cells that differ, by method: {where}. " if len(off) else ""
        differ = {name: why for name, why in self.other_data().items() if name in set(frame["dataset"])}
        if differ:
            names = self.printed_names()
            named = "; ".join(f"{names.get(name, name)}, {why}" for name, why in differ.items())
            others += f"Not tested, as the data differ: {named}. "
        needed = calibration.needed(len(tested))
        best = calibration.judge(len(tested), len(tested))
        if best != Verdict.REPRODUCED:
            others += (
                f"If all {len(tested)} cells agreed the verdict would be {best}: with these sets no result "
                "could be reproduced. "
            )
        return Evidence(
            verdict=calibration.judge(int(agree.sum()), len(tested)),
            measured=f"{agree.sum()} of {len(tested)} cells agree{ours}"
            + (f"; of the {len(off)} that differ, our mean is higher in {higher}" if len(off) else ""),
            claimed=f"the printed means: at least {needed} of {len(tested)} cells, as in a faithful re-run",
            slack=float((agree.sum() - needed) / len(tested)),
            why="A cell agrees when the means differ by no more than the 95 % range of a difference of two "
            f"such means. The printed ± is read as: {plan.plus_minus}. On our own results, the rule passes "
            f"{calibration.told(len(tested))}. {others}`marginbook experiment compare {self.room}/{table}` "
            "shows every cell. The slack is the share of cells that agree minus the share that 19 of 20 "
            f"faithful re-runs reach.{missing}",
            sizes=sizes,
            reading=str(frame.attrs.get("reading", "")),
        )


def unavailable(printed: Sequence[str], ran: Sequence[str]) -> str:
    """Name the data sets of a table that are not available, with their public homes; "" for none."""
    from ..datasets.registry import entry

    homes = [f"{name} ({entry(name).home})" for name in printed if name not in ran]
    return f" Not available: {', '.join(homes)}." if homes else ""


def _without_results(frame: pd.DataFrame, plan: Protocol) -> str:
    """Name the printed cells that the protocol plans and that have no result of ours, by method.

    A method without any is named with what the protocol says of it; one that lacks some, with their sets.
    """
    planned = frame[frame["method"].isin(plan.methods) & frame["dataset"].isin(plan.datasets)]
    planned = planned[planned["verdict"] != NOT_PRINTED]
    ran = planned.groupby("method", sort=False)["ours_n"].max() > 0
    told = []
    for name, rows in planned[planned["ours_n"] == 0].groupby("method", sort=False) if ran.any() else ():
        said = plan.not_stated.get(str(name), "")
        if ran[str(name)]:
            told.append(f"{name} on {', '.join(map(str, rows['dataset']))}")
        else:
            told.append(f"{name} ({said})" if said else str(name))
    return f" Not run: {'; '.join(told)}." if told else ""


def paired(a: pd.Series[float], b: pd.Series[float]) -> tuple[int, int, int, float, float]:
    """Compare two columns over the data sets that both have.

    Returns
    -------
    higher, lower, pairs : int
        How often a is higher than b, and lower, and of how many.
    mean : float
        Of a - b.
    p : float
        Two-sided, of Wilcoxon's signed-rank test; equal scores share their ranks between the signs.
    """
    from ..experiments.signed_ranks import signed_rank_test

    difference = (a - b).dropna().round(12)  # differences that are equal up to rounding share a rank
    if difference.empty or (difference == 0).all():
        return 0, 0, len(difference), 0.0, 1.0
    p = signed_rank_test(difference.to_numpy())[1]
    higher, lower = int((difference > 0).sum()), int((difference < 0).sum())
    return higher, lower, len(difference), float(difference.mean()), p
