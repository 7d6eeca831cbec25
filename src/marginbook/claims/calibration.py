"""How far the rule for the cells of a table can be trusted: measured on our own results.

A rule is only worth its verdict if a faithful re-run would pass it and a wrong one would not. So our results
stand in for the print: one half of the splits against the other (faithful), the column of another method
(wrong), and means shifted by the standard deviation of the splits (shifted). Of a table it is *reproduced*
when as many cells agree as of a faithful re-run would; where a wrong run would have as many, the data cannot
tell, and it is *undecided*.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from .comparison import TESTED
from .evidence import Verdict

if TYPE_CHECKING:
    import pandas as pd

    #: (printed, results, splits behind each printed mean) -> cells, as from `compare_cells`
    Compare = Callable[[pd.DataFrame, pd.DataFrame, int], pd.DataFrame]

#: pairs of halves that are drawn
DRAWS = 12
#: of faithful re-runs, the share that may miss the number of agreeing cells that is asked for
MISSED = 0.05
#: what the rule promises where there are too few splits to measure it
NOMINAL = 0.95


@dataclass(frozen=True)
class Calibration:
    """Shares of cells that agree when our own results stand in for the print.

    Attributes
    ----------
    faithful : float
        One half of the splits, the other as the print.
    wrong : float
        All splits, another method's column as the print.
    shifted : float
        All splits, our mean shifted by the standard deviation of the splits as the print.
    measured : bool
        False where `faithful` is what the rule promises, as there are too few splits to halve.
    """

    faithful: float
    wrong: float
    shifted: float
    measured: bool = True

    def needed(self, tested: int) -> int:
        """Return how many of `tested` cells must agree: nineteen in twenty faithful re-runs have as many."""
        return int(stats.binom.ppf(MISSED, tested, self.faithful))

    def judge(self, agreeing: int, tested: int) -> Verdict:
        """Return the verdict on a table of which `agreeing` of `tested` cells agree.

        It is *undecided* where a wrong run, too, would have enough of them in more than one case of twenty;
        *partly* asks for more than half of the cells, and for more than a wrong run has.
        """
        if tested == 0:
            return Verdict.NOT_TESTABLE
        needed = self.needed(tested)
        if agreeing >= needed:
            slips_through = stats.binom.sf(needed - 1, tested, self.wrong)
            return Verdict.UNDECIDED if slips_through > MISSED else Verdict.REPRODUCED
        return Verdict.PARTLY if agreeing > tested * max(0.5, self.wrong) else Verdict.NOT_REPRODUCED

    def __str__(self) -> str:
        how = "" if self.measured else " (as the rule promises: there are too few splits to measure it)"
        return (
            f"{100 * self.faithful:.0f} % of cells agree in a faithful re-run{how}, {100 * self.wrong:.0f} % "
            f"with another method's column as the print, {100 * self.shifted:.0f} % with means shifted by a "
            "standard deviation"
        )


def calibrate(printed: pd.DataFrame, results: pd.DataFrame, compare: Compare) -> Calibration:
    """Measure how often a rule passes a faithful and a wrong re-run of a table.

    Parameters
    ----------
    printed : DataFrame
        As from `marginbook.claims.comparison.read_printed`; cells without a result of ours do not count.
    results : DataFrame
        One row per data set, method and split.
    compare : callable
        The rule: (printed, results, splits behind each printed mean) -> cells.
    """
    printed = printed[printed["mean"] != ""]
    ours = compare(printed, results, 1)
    ours = ours[ours["verdict"].isin(TESTED)]
    faithful, halved = _halves(printed, results, compare)
    return Calibration(
        faithful if halved else NOMINAL,
        _share([_agree(_as_print(printed, other), results, compare) for other in _others(ours)]),
        _share([_agree(_as_print(printed, _shifted(ours)), results, compare)]),
        halved,
    )


def _halves(printed: pd.DataFrame, results: pd.DataFrame, compare: Compare) -> tuple[float, bool]:
    splits = {str(name): np.unique(part["split"]) for name, part in results.groupby("dataset")}
    splits = {name: numbers for name, numbers in splits.items() if len(numbers) >= 4}
    found = []
    for draw in range(DRAWS if splits else 0):
        first = {}
        for name, numbers in splits.items():
            rng = np.random.default_rng([draw, zlib.crc32(name.encode())])
            first[name] = set(rng.permutation(numbers)[: len(numbers) // 2].tolist())
        kept = results[results["dataset"].isin(list(first))]
        inside = [split in first[name] for name, split in zip(kept["dataset"], kept["split"], strict=True)]
        theirs = compare(printed, kept[inside], 1)
        own = kept[~np.array(inside)]
        found.append(_agree(_as_print(printed, theirs[theirs["ours_n"] > 1]), own, compare))
    return (_share(found), True) if found else (float("nan"), False)


def _others(ours: pd.DataFrame) -> list[pd.DataFrame]:
    """Return our cells with the names of the methods turned by one, two, ... places."""
    methods = list(dict.fromkeys(ours["method"]))
    turned = []
    for by in range(1, len(methods)):
        names = dict(zip(methods, methods[by:] + methods[:by], strict=True))
        turned.append(ours.assign(method=ours["method"].map(names)))
    return turned


def _shifted(ours: pd.DataFrame) -> pd.DataFrame:
    return ours.assign(ours_mean=ours["ours_mean"] + ours["ours_std"].fillna(0.0))


def _as_print(printed: pd.DataFrame, cells: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Return our cells as a paper would print them, to as many digits, and the splits behind each."""
    keys = zip(printed["dataset"], printed["method"], strict=True)
    digits = {key: len(text.partition(".")[2]) for key, text in zip(keys, printed["mean"], strict=True)}
    most = max(digits.values(), default=0)
    frame = printed.iloc[: len(cells)].reset_index(drop=True).copy()
    frame["dataset"], frame["method"] = cells["dataset"].to_list(), cells["method"].to_list()
    ours = zip(frame["dataset"], frame["method"], cells["ours_mean"], strict=True)
    frame["mean"] = [f"{mean:.{digits.get((dataset, method), most)}f}" for dataset, method, mean in ours]
    frame["std"] = ["" if std != std else f"{std:.10g}" for std in cells["ours_std"]]
    return frame, int(cells["ours_n"].median()) if len(cells) else 1


def _agree(
    print_and_splits: tuple[pd.DataFrame, int], results: pd.DataFrame, compare: Compare
) -> tuple[int, int]:
    printed, splits = print_and_splits
    cells = compare(printed, results, splits)
    tested = cells[cells["verdict"].isin(TESTED)]
    return int((tested["verdict"] == TESTED[0]).sum()), len(tested)


def _share(counts: Sequence[tuple[int, int]]) -> float:
    tested = sum(number for _, number in counts)
    return sum(agreeing for agreeing, _ in counts) / tested if tested else 0.0
