"""The figures of the study: ranks with critical differences, a heat map, and two scatters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..experiments.stats import critical_difference_diagram
from ..plotting import COLOURS, MARKERS
from .methods import METHODS
from .posteriors import better_matrix

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_LOOK = {"drm": "blue", "ldm": "vermilion", "kfda": "green", "clasmk": "purple", "smm": "orange", "": "black"}


def rank_diagram(table: pd.DataFrame, ax: Axes, title: str) -> pd.Series:
    """Draw average ranks, best at the left; a bar joins what Nemenyi's test does not tell apart.

    Parameters
    ----------
    table : DataFrame
        Sets by methods.
    """
    found = critical_difference_diagram(table, ax=ax)
    ax.set_title(title)
    return found


def probability_map(pairs: pd.DataFrame, order: list[str], ax: Axes) -> np.ndarray:
    """Draw in per cent how probable it is that the row's method is practically better than the column's.

    Parameters
    ----------
    pairs : DataFrame
        As of :func:`marginbook.study.posteriors.pairwise`.
    order : list of str
        Methods, the best first.
    """
    matrix = better_matrix(pairs, order)
    ax.imshow(np.nan_to_num(matrix), cmap="Blues", vmin=0, vmax=1)
    ax.grid(False)
    ax.set_xticks(range(len(order)), order, rotation=60, ha="right", fontsize=9)
    ax.set_yticks(range(len(order)), order, fontsize=9)
    for i, j in np.argwhere(np.isfinite(matrix)):
        value = matrix[i, j]
        shown = f"{100 * value:.0f}"
        ax.text(j, i, shown, ha="center", va="center", fontsize=9, color="white" if value > 0.6 else "black")
    ax.set(xlabel="than this one", ylabel="better is this one")
    return matrix


def scatter(told: pd.DataFrame, measure: str, ax: Axes, xlabel: str) -> None:
    """Draw mean accuracy over a measure on a logarithmic axis, one named mark for each method that has it.

    Parameters
    ----------
    told : DataFrame
        As of :func:`marginbook.study.rankings.summary`.
    measure : str
        A column of it.
    """
    shown = told[np.isfinite(told[measure])]
    papers = list(_LOOK)
    for name, row in shown.iterrows():
        paper = METHODS[str(name)].paper
        marker = MARKERS[papers.index(paper)]
        ax.plot(row[measure], row["accuracy"], marker, ms=7, color=COLOURS[_LOOK[paper]])
    _name_marks(shown, measure, ax)
    ax.set(xscale="log", xlabel=xlabel, ylabel="mean accuracy, %")
    ax.margins(x=0.2, y=0.12)


def _name_marks(shown: pd.DataFrame, measure: str, ax: Axes) -> None:
    """Write names beside the marks, each at least a line's height below the one above that is near it."""
    spread = max(float(np.ptp(shown["accuracy"])), 1e-9)
    line = 0.055 * spread
    placed: list[tuple[float, float]] = []
    for name, row in shown.sort_values("accuracy", ascending=False).iterrows():
        x, y = np.log10(row[measure]), float(row["accuracy"])
        for at, height in placed:
            if abs(at - x) < 0.6 and height - y < line:
                y = height - line
        placed.append((x, y))
        ax.annotate(
            str(name),
            (row[measure], row["accuracy"]),
            xytext=(10**x * 1.12, y),
            va="center",
            fontsize=9,
        )
