"""How results of SMM's experiments are compared: by draw or split, in pairs, with intervals."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import stats

from ...claims import contests
from ...claims.printed_tables import PaperTables
from ..experiments.generators import setting

if TYPE_CHECKING:
    import pandas as pd

TABLES = PaperTables("smm", own="low-rank")
#: the methods that claims are about
PATH, VECTOR_PATH = "low-rank SVM, levels", "vector SVM, levels"
PLATT, VECTOR_PLATT = "low-rank SVM, Platt", "vector SVM, Platt"
LOGISTIC, VECTOR_LOGISTIC = "low-rank logistic", "vector logistic"
NUCLEAR = "nuclear-norm SVM, Platt"
ROWS, RBF = "row-kernel SVM, levels", "rbf SVM, Platt"
#: how to read the names of the sets that are generated
NAMES = (
    "The name of a set gives its truth, the number n of samples, the size d of the matrices and the rank r "
    "of the truth."
)
#: draws of each set that a contest or a slope needs
LEAST = 2


class Slope(NamedTuple):
    """Mean of the slopes of single draws, with the ends of its 95 % interval (Student), and their number."""

    mean: float
    low: float
    high: float
    draws: int

    def __str__(self) -> str:
        return f"{self.mean:.2f} [{self.low:.2f}, {self.high:.2f}]"


def csv(table: str) -> str:
    """Return the file that a claim about `table` depends on."""
    return f"results/smm/{table}.csv"


def by_draw(table: str, column: str) -> pd.DataFrame | None:
    """Return a column of stored results: (data set, draw) down, methods across; None without results."""
    frame = TABLES.results(table)
    if frame is None or frame.empty or column not in frame:
        return None
    return frame.pivot_table(index=["dataset", "split"], columns="method", values=column, sort=False)


def with_methods(frame: pd.DataFrame | None, *names: str | int) -> pd.DataFrame | None:
    """Return the draws that have all of the methods `names`, without sets of fewer than `LEAST` draws."""
    if frame is None or not set(names) <= set(frame.columns):
        return None
    found = frame.dropna(subset=list(names))
    found = found[found.groupby(level="dataset", sort=False)[names[0]].transform("size") >= LEAST]
    return None if found.empty else found


def means(frame: pd.DataFrame) -> pd.DataFrame:
    """Return means over the draws: sets down, methods across."""
    return frame.groupby(level="dataset", sort=False).mean()


def size_of(name: str, what: str) -> int:
    """Return "n", "d" or "r" of a simulated set."""
    found = setting(name)
    return {"n": found.n, "d": found.shape[0], "r": found.rank}[what]


def by_size(frame: pd.DataFrame, what: str) -> pd.DataFrame:
    """Return `means` of simulated sets by their `size_of`, ascending, in the place of their names."""
    return frame.set_axis([size_of(str(name), what) for name in frame.index], axis=0).sort_index()


def slope(frame: pd.DataFrame, method: str, what: str) -> Slope | None:
    """Fit log of a score against log n (or d) on each draw; the slopes are independent of each other.

    Parameters
    ----------
    frame : DataFrame
        As of `by_draw`.
    method : str
    what : {"n", "d"}

    Returns
    -------
    Slope, or None with fewer than 2 draws that all of at least 3 sets have
    """
    table = frame[method].unstack("split").dropna(axis=1)
    if table.shape[0] < 3 or table.shape[1] < LEAST or (table <= 0).any(axis=None):
        return None
    x = np.log([size_of(str(name), what) for name in table.index])
    return interval(np.polyfit(x, np.log(table.to_numpy(float)), 1)[0])


def interval(values: np.ndarray) -> Slope:
    """Return the mean of independent `values`, (k,), with its 95 % interval of Student."""
    k = len(values)
    half = float(stats.t.ppf(0.975, k - 1) * np.std(values, ddof=1) / np.sqrt(k))
    mean = float(np.mean(values))
    return Slope(mean, mean - half, mean + half, k)


#: of two methods on every set, draw by draw; draws are independent, and less is better
contest = partial(contests.contest, overlap=0.0, higher_is_better=False)


def resampled_contest(frame: pd.DataFrame, first: str, second: str, sizes: pd.DataFrame) -> pd.DataFrame:
    """Compare two methods on every real set, whose random splits overlap.

    Parameters
    ----------
    frame : DataFrame
        As of `by_draw`.
    first, second : str
    sizes : DataFrame
        By set: `n_train` and `n_test`.

    Returns
    -------
    DataFrame
        As of `contest`, with `p_corrected` multiplied by the number of sets in the manner of Holm.
    """
    ratios = (sizes["n_test"] / sizes["n_train"]).to_dict()
    overlap = {str(name): float(ratio) for name, ratio in ratios.items()}
    found = contests.contest(frame, first, second, overlap=overlap, higher_is_better=False)
    found["p_corrected"] = contests.holm(found["p_corrected"])
    found["corrected"] = list(map(contests.outcome, -found["difference"], found["p_corrected"]))
    return found


def listed(values: pd.Series[float], digits: int = 3) -> str:
    """Return numbers as text, with the name of each before it."""
    return ", ".join(f"{name} {value:.{digits}f}" for name, value in values.items())


def tally(outcomes: pd.Series[str]) -> str:
    """Say how often "win", "tie" and "loss" are among `outcomes`."""
    count = outcomes.value_counts()
    return f"{count.get('win', 0)} won, {count.get('tie', 0)} tied, {count.get('loss', 0)} lost"
