"""What is stored for Figures 2 to 27: curves by kernels or rows, and weights from random parts."""

from __future__ import annotations

import json
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ...experiments.equivalence import mean_interval
from ..paper.printed import PAPER_TABLES
from .solver_of_paper import learned_by
from .tables import LEAST

if TYPE_CHECKING:
    import pandas as pd


def curves(table: str, solver: str = LEAST) -> pd.DataFrame | None:
    """Return the results of "layers" or "sizes" with lists as arrays; None without results.

    `number` is the number in the method's name, of kernels or rows; of sizes that a set does not have, all
    of its rows are taken, and only the first of equal ones is kept. The weights are those by a `solver`.
    """
    stored = PAPER_TABLES.results(table)
    frame = None if stored is None else learned_by(stored, solver)
    if frame is None or frame.empty:
        return None
    column = "n_kernels" if table == "layers" else "n_train"
    frame = frame.assign(number=frame[column])
    frame = frame[~frame["method"].str.endswith(" half")]  # a second look, not of the figures
    for name in ("accuracy", "features", "weights_seconds"):
        frame[name] = frame[name].map(lambda text: np.array(json.loads(text), dtype=float))
    return frame.drop_duplicates(["dataset", "split", "number"]).sort_values(["dataset", "number", "split"])


def nearest_curves(table: str, solver: str) -> tuple[pd.DataFrame | None, str]:
    """Return the curves with weights by a solver, and its name; without any, those of the global minimum."""
    frame = curves(table, solver)
    return (curves(table), LEAST) if frame is None else (frame, solver)


def bound(table: str, name: str) -> float:
    """Return a threshold of ours on figures, which print no numbers: from the protocol."""
    return float(PAPER_TABLES.protocol(table).thresholds[name])


def leads(frame: pd.DataFrame, first: float, second: float) -> dict[str, tuple[float, float]]:
    """Return by set the 90 % interval by which the accuracy at one number is above that at another.

    It is that of the corrected resampled t-test over the splits; a set that lacks one of them is left out.

    Parameters
    ----------
    frame : DataFrame
        As from `curves`.
    first, second : float
        Of kernels or rows; ``inf`` and ``-inf`` are the largest and the smallest number of each set.
    """
    found = {}
    for name, rows in frame.groupby("dataset", sort=False):
        least, most = rows["number"].min(), rows["number"].max()
        one, other = (
            rows[rows["number"] == min(max(at, least), most)].set_index("split") for at in (first, second)
        )
        apart = (one["accuracy_last"] - other["accuracy_last"]).dropna().round(9)
        if least < most and len(apart):
            overlap = float((one["n_test"] / one["n_train"]).mean())
            found[str(name)] = mean_interval(apart, overlap=overlap)
    return found


def by_number(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return means over the splits of a `column` of numbers: sets down, numbers across."""
    return frame.pivot_table(index="dataset", columns="number", values=column, sort=True)


def row_text(row: pd.Series[float], digits: int = 1) -> str:
    """Return a row of numbers as text, with what it counts before each."""
    return ", ".join(f"{name:.0f}: {value:.{digits}f}" for name, value in row.dropna().items())


def stability(solver: str = LEAST) -> dict[str, float] | None:
    """Return by set the mean correlation of the weights of CLASMK-ML from any two random parts; None without.

    The correlation is over all entries of the (C, K) matrices.
    """
    frame = drawn(solver)
    if frame is None:
        return None
    found = {}
    for name, rows in frame.groupby("dataset", sort=False):
        weights = [np.array(json.loads(text)).ravel() for text in rows["weights"]]
        if len(weights) > 1:
            found[str(name)] = float(np.mean([np.corrcoef(a, b)[0, 1] for a, b in combinations(weights, 2)]))
    return found or None


def drawn(solver: str = LEAST) -> pd.DataFrame | None:
    """Return the stored weights of CLASMK-ML from random parts, learned by a solver; None without any."""
    stored = PAPER_TABLES.results("heat-maps")
    if stored is None:
        return None
    frame = learned_by(stored, solver)
    frame = frame[frame["method"] == "CLASMK-ML"]
    return None if frame.empty else frame
