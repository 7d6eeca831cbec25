"""How far the rule for the cells of Tables 1 and 2 can be trusted: our own realisations as the print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...claims.calibration import Calibration
from ...claims.comparison import TESTED, Spread, compare_cells
from ..experiments.columns import expand, results
from ..paper.printed import CHOICES, OWN, RIVAL, choice_spreads, printed

if TYPE_CHECKING:
    import pandas as pd

#: the two numbers of a cell: our column, and how the file of the printed ones ends
SIDES = {"mcr": "", "nrs": "-retained"}
#: columns that can come out again: of the published best there are numbers only
TESTABLE = (RIVAL, *OWN)


def of_table(table: str) -> pd.DataFrame | None:
    """Return the stored results behind the columns of a table; None before any."""
    stored = results(table)
    if stored is None:
        return None
    methods = {CHOICES[name][0] for name in TESTABLE}
    kept = stored[stored["dataset"].isin(printed(table).errors.index) & stored["method"].isin(methods)]
    return None if kept.empty else kept


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
        return count_agreeing(
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


def count_agreeing(cells: pd.DataFrame) -> np.ndarray:
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
