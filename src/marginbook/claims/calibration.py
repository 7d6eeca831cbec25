"""How far the rule for the cells of a table can be trusted: measured on our own results.

A rule is only worth its verdict if a faithful re-run would pass it and a wrong one would not. So our results
stand in for the print: one half of the splits against the other (faithful), the column of another method
(wrong), and means shifted by the standard deviation of the splits (shifted). Of a table it is *reproduced*
when as many cells agree as of a faithful re-run would; where a wrong run would have as many, the data cannot
tell, and it is *undecided*.

Who may choose among several readings of a table finds one that agrees more easily, by luck, too. That is
charged: each table that stands in for the print is compared with ours in every reading, and the one that
agrees best counts, as it does with the print.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from .cell_verdicts import TESTED, agreeing
from .evidence import Verdict
from .read_as import best

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
    """Shares of cells that agree when our own results stand in for the print, the best reading taken.

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
    readings : int
        Of how many readings the best is taken.
    uncharged : (float, float, float)
        The first three with the reading that the print was made with, and no other.
    wrong_tables : tuple of float
        Of each whole table of wrong columns, the share of its cells that agree.
    """

    faithful: float
    wrong: float
    shifted: float
    measured: bool = True
    readings: int = 1
    uncharged: tuple[float, float, float] | None = None
    wrong_tables: tuple[float, ...] = ()

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
            slips_through = max(float(stats.binom.sf(needed - 1, tested, self.wrong)), self.passed(tested))
            return Verdict.UNDECIDED if slips_through > MISSED else Verdict.REPRODUCED
        return Verdict.PARTLY if agreeing > tested * max(0.5, self.wrong) else Verdict.NOT_REPRODUCED

    def passed(self, tested: int) -> float:
        """Return the share of the tables of wrong columns that have as many agreeing cells as are needed."""
        enough = self.needed(tested) / tested
        return sum(share >= enough for share in self.wrong_tables) / max(len(self.wrong_tables), 1)

    def told(self, tested: int) -> str:
        """Return the rates in words, and how many wrong tables would have passed as one of `tested` cells."""
        number = len(self.wrong_tables)
        passed = round(self.passed(tested) * number)
        return f"{self}; of {number} tables of wrong columns, {passed} would pass" if number else str(self)

    def __str__(self) -> str:
        how = "" if self.measured else " (as the rule promises: there are too few splits to measure it)"
        charge = ""
        if self.uncharged is not None and self.readings > 1:
            alone = ", ".join(f"{100 * rate:.0f}" for rate in self.uncharged)
            charge = f", each time in the best of {self.readings} readings (without that choice {alone} %)"
        return (
            f"{100 * self.faithful:.0f} % of the cells of a faithful re-run{how}, {100 * self.wrong:.0f} % "
            f"where another method's column stands for the printed one, {100 * self.shifted:.0f} % where the "
            f"means are a standard deviation off{charge}"
        )


@dataclass(frozen=True)
class _Met:
    """Agreeing and tested cells of a table that stands in for the print: in the best reading, in its own."""

    best: tuple[int, int]
    own: tuple[int, int]


def calibrate(
    printed: pd.DataFrame, results: pd.DataFrame | Mapping[str, pd.DataFrame], compare: Compare
) -> Calibration:
    """Measure how often a rule passes a faithful and a wrong re-run of a table.

    Parameters
    ----------
    printed : DataFrame
        As from `marginbook.claims.printed_csv.read_printed`; cells without a result of ours do not count.
    results : DataFrame, or mapping
        One row per data set, method and split; by reading, where there are several.
    compare : callable
        The rule: (printed, results, splits behind each printed mean) -> cells.
    """
    readings = dict(results) if isinstance(results, Mapping) else {"": results}
    printed = printed[printed["mean"] != ""]
    faithful, measured = _halves(printed, readings, compare)
    wrong, shifted = [], []
    for name, ours in readings.items():
        cells = compare(printed, ours, 1)
        cells = cells[cells["verdict"].isin(TESTED)]
        wrong += [_meet(_as_print(printed, other), readings, name, compare) for other in _others(cells)]
        shifted.append(_meet(_as_print(printed, _shifted(cells)), readings, name, compare))
    kinds = (faithful, wrong, shifted)
    rates = [_share([met.best for met in kind]) for kind in kinds]
    alone = [_share([met.own for met in kind]) for kind in kinds]
    if not measured:
        rates[0] = alone[0] = NOMINAL
    return Calibration(
        rates[0],
        rates[1],
        rates[2],
        measured,
        len(readings),
        (alone[0], alone[1], alone[2]),
        tuple(_share([met.best]) for met in wrong),
    )


def _halves(
    printed: pd.DataFrame, readings: Mapping[str, pd.DataFrame], compare: Compare
) -> tuple[list[_Met], bool]:
    """Let one half of the splits be the print, in one reading after the other, and the other half ours."""
    first_reading = next(iter(readings.values()))
    splits = {str(name): np.unique(part["split"]) for name, part in first_reading.groupby("dataset")}
    splits = {name: numbers for name, numbers in splits.items() if len(numbers) >= 4}
    found = []
    for draw in range(DRAWS if splits else 0):
        first = {}
        for name, numbers in splits.items():
            rng = np.random.default_rng([draw, zlib.crc32(name.encode())])
            first[name] = set(rng.permutation(numbers)[: len(numbers) // 2].tolist())
        name = list(readings)[draw % len(readings)]
        theirs = compare(printed, _part(readings[name], first, inside=True), 1)
        own = {other: _part(results, first, inside=False) for other, results in readings.items()}
        found.append(_meet(_as_print(printed, theirs[theirs["ours_n"] > 1]), own, name, compare))
    return found, bool(found)


def _part(results: pd.DataFrame, first: Mapping[str, set[int]], *, inside: bool) -> pd.DataFrame:
    kept = results[results["dataset"].isin(list(first))]
    of_first = [split in first[name] for name, split in zip(kept["dataset"], kept["split"], strict=True)]
    return kept[np.array(of_first, dtype=bool) == inside]


def _meet(
    print_and_splits: tuple[pd.DataFrame, int],
    readings: Mapping[str, pd.DataFrame],
    own: str,
    compare: Compare,
) -> _Met:
    """Compare what stands in for the print, which is of the reading `own`, with ours in every reading."""
    counts = {name: _agree(print_and_splits, results, compare) for name, results in readings.items()}
    return _Met(counts[best(counts)], counts[own])


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
    return agreeing(compare(printed, results, splits))


def _share(counts: Sequence[tuple[int, int]]) -> float:
    tested = sum(number for _, number in counts)
    return sum(agreeing for agreeing, _ in counts) / tested if tested else 0.0
