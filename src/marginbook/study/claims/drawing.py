"""The figures of the study: ranks with critical differences, a heat map, and two scatters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...base.extras import naming_the_extra
from ...base.plotting import COLOURS, MARKERS
from ...base.rooms import papers
from ...experiments.stats import critical_difference_diagram
from ..experiments.methods import METHODS
from .posteriors import better_matrix

with naming_the_extra():
    from matplotlib.ticker import LogLocator

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_LOOK = {key: room.colour for key, room in papers().items()} | {"": "black"}


def rank_diagram(table: pd.DataFrame, ax: Axes, title: str) -> pd.Series:
    """Draw average ranks, best at the left; a bar joins methods whose ranks Nemenyi's test does not separate.

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
        As of :func:`marginbook.study.claims.posteriors.pairwise`.
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
        As of :func:`marginbook.study.claims.rankings.summary`.
    measure : str
        A column of it.
    """
    shown = told[np.isfinite(told[measure])]
    order = list(_LOOK)
    for name, row in shown.iterrows():
        paper = METHODS[str(name)].paper
        marker = MARKERS[order.index(paper) % len(MARKERS)]
        ax.plot(row[measure], row["accuracy"], marker, ms=7, color=COLOURS[_LOOK[paper]])
    ax.set(xscale="log", xlabel=xlabel, ylabel="mean accuracy, %")
    ax.margins(x=0.08, y=0.08)
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter("")
    _name_at_the_side(shown, measure, ax)


def _name_at_the_side(shown: pd.DataFrame, measure: str, ax: Axes) -> None:
    """Write the names at the right, in the order of their heights, each joined to its mark by a thin line."""
    order = shown.sort_values("accuracy", kind="stable")
    low, high = ax.get_ylim()
    heights = [(value - low) / (high - low) for value in order["accuracy"]]
    line = min(0.085, 1 / len(order))
    for k in range(1, len(heights)):
        heights[k] = max(heights[k], heights[k - 1] + line)
    # what was pushed out at the top pushes back
    heights[-1] = min(heights[-1], 1.0)
    for k in range(len(heights) - 2, -1, -1):
        heights[k] = min(heights[k], heights[k + 1] - line)
    for (name, row), height in zip(order.iterrows(), heights, strict=True):
        ax.annotate(
            str(name),
            (row[measure], row["accuracy"]),
            xytext=(1.05, height),
            textcoords="axes fraction",
            va="center",
            fontsize=10,
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": "#999999", "lw": 0.6, "relpos": (0, 0.5)},
        )
