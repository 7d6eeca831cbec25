"""How far the rule for the cells of a table can be trusted: measured on our own results.

A rule is only worth its verdict if a faithful re-run would pass it and a wrong one would not. So our results
stand in for the print: one half of the splits against the other (faithful), the column of another method
(wrong), and means that are all moved by a standard deviation of the splits (shifted). A table is *reproduced*
when as many cells agree as of a faithful re-run would; where a wrong or a shifted run would have as many, the
data cannot tell, and it is *undecided*.

With few splits no single cell can tell a shift of a standard deviation: the range of a difference of two
means of five splits is 1.5 of them. A whole table can, as not all cells of a shifted run stay within their
ranges. So a shifted run is one with the noise of a re-run, and it is asked whether its table would pass. How
small a shift the table would notice is measured, too.

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

from .cell_verdicts import TESTED, Scores, agreeing
from .pass_rates import Calibration, Shifts
from .read_as import best

if TYPE_CHECKING:
    import pandas as pd

    #: (printed, results, splits behind each printed mean) -> cells, as from `compare_cells`
    Compare = Callable[[pd.DataFrame, Scores, int], pd.DataFrame]

#: pairs of halves that are drawn
DRAWS = 12
#: what the rule promises where there are too few splits to measure it
NOMINAL = 0.95
#: shifts of all means that are tried, in standard deviations of the splits
SHIFTS = (0.125, 0.25, 0.375, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


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
    wrong, own_cells = [], {}
    scores = {name: Scores(ours) for name, ours in readings.items()}
    for name, ours in scores.items():
        cells = compare(printed, ours, 1)
        cells = own_cells[name] = cells[cells["verdict"].isin(TESTED)]
        wrong += [_meet(_as_print(printed, other), scores, name, compare) for other in _others(cells)]
    shifted = _shifted(printed, own_cells, scores, compare)
    first = next(iter(own_cells.values()))
    shifts = Shifts(
        {by: _share([met.best for met in kind]) for by, kind in shifted.items()},
        float(_deviations(printed, first, next(iter(scores.values())), compare)[0].median()),
        of_splits=_several(first),
    )
    kinds = (faithful, wrong, shifted[1.0])
    rates = [_share([met.best for met in kind]) for kind in kinds]
    alone = [_share([met.own for met in kind]) for kind in kinds]
    if not shifts.of_splits:
        rates[2] = alone[2] = float("nan")
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
        shifts,
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
        theirs = compare(printed, Scores(_part(readings[name], first, inside=True)), 1)
        own = {other: Scores(_part(results, first, inside=False)) for other, results in readings.items()}
        found.append(_meet(_as_print(printed, theirs[theirs["ours_n"] > 1]), own, name, compare))
    return found, bool(found)


def _part(results: pd.DataFrame, first: Mapping[str, set[int]], *, inside: bool) -> pd.DataFrame:
    kept = results[results["dataset"].isin(list(first))]
    of_first = [split in first[name] for name, split in zip(kept["dataset"], kept["split"], strict=True)]
    return kept[np.array(of_first, dtype=bool) == inside]


def _meet(
    print_and_splits: tuple[pd.DataFrame, int],
    readings: Mapping[str, Scores],
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


def _several(cells: pd.DataFrame) -> bool:
    """Return whether scores have a deviation over several splits."""
    return bool((cells["ours_std"] > 1e-12).any())  # of equal scores, the mean may differ in its last bits


def _deviations(
    printed: pd.DataFrame, cells: pd.DataFrame, results: Scores, compare: Compare
) -> tuple[pd.Series[float], pd.Series[float]]:
    """Return of each cell the deviation of a score, and the standard error of a difference of two means."""
    page, splits = _as_print(printed, cells)
    errors = compare(page, results, splits)["se"].set_axis(cells.index)
    return (cells["ours_std"].fillna(0.0) if _several(cells) else errors), errors


def _shifted(
    printed: pd.DataFrame,
    cells: Mapping[str, pd.DataFrame],
    readings: Mapping[str, Scores],
    compare: Compare,
) -> dict[float, list[_Met]]:
    """Let runs with all means off by one of `SHIFTS`, and the noise of a re-run, be the print."""
    found: dict[float, list[_Met]] = {by: [] for by in SHIFTS}
    names = list(readings)
    for draw in range(DRAWS):
        name = names[draw % len(names)]
        own = cells[name]
        deviations, errors = _deviations(printed, own, readings[name], compare)
        splits = int(own["ours_n"].median()) if len(own) else 1
        rng = np.random.default_rng([draw, len(own)])
        # both deviations are estimated: the difference of the means, over its error, is Student's
        noise = rng.standard_t(2 * splits - 2, len(own)) if splits > 1 else rng.standard_normal(len(own))
        for by in SHIFTS:
            moved = own.assign(ours_mean=own["ours_mean"] + by * deviations + noise * errors)
            found[by].append(_meet(_as_print(printed, moved), readings, name, compare))
    return found


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


def _agree(print_and_splits: tuple[pd.DataFrame, int], results: Scores, compare: Compare) -> tuple[int, int]:
    printed, splits = print_and_splits
    return agreeing(compare(printed, results, splits))


def _share(counts: Sequence[tuple[int, int]]) -> float:
    tested = sum(number for _, number in counts)
    return sum(agreeing for agreeing, _ in counts) / tested if tested else 0.0
