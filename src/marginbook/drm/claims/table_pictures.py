"""Pictures of the printed tables beside ours, for the notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .stored_results import families

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def draw_leads(ax: Axes, tables: Mapping[str, pd.DataFrame], order: Sequence[str]) -> None:
    """Draw the lead of the DRM over the best other method on each data set, in points.

    Parameters
    ----------
    ax : Axes
    tables : mapping
        By source, scores with data sets down and methods across; the first is drawn hollow.
    order : sequence of str
        Data sets from the top down.
    """
    from ...base.plotting import COLOURS, MARKERS

    for number, (source, table) in enumerate(tables.items()):
        scores = families(table)
        leads = 100 * (scores["DRM"] - scores.drop(columns="DRM").max(axis=1))
        at = [place for place, name in enumerate(order) if name in leads.index]
        ax.plot(
            leads[[order[place] for place in at]],
            np.array(at) + 0.3 * (number - (len(tables) - 1) / 2),
            MARKERS[number],
            color=COLOURS["blue" if number else "black"],
            mfc=None if number else "white",
            label=source,
        )
    ax.axvline(0, color=COLOURS["black"], lw=1)
    ax.set_yticks(range(len(order)), order)
    ax.set_ylim(len(order) - 0.4, -0.6)


def draw_cells(ax: Axes, cells: pd.DataFrame, methods: Sequence[str]) -> None:
    """Draw, in a row for each method, how far our mean lies from the printed one on each data set.

    Parameters
    ----------
    ax : Axes
    cells : DataFrame
        Of :meth:`marginbook.claims.printed_tables.PaperTables.cells`.
    methods : sequence of str
        From the top down.
    """
    from ...base.plotting import COLOURS

    kinds = (("reproduced", "o", "blue", "agrees"), ("not-reproduced", "X", "vermilion", "does not"))
    for verdict, marker, colour, label in kinds:
        kept = cells[(cells["verdict"] == verdict) & cells["method"].isin(methods)]
        spread = 0.22 * (kept.groupby("method").cumcount() % 3 - 1)  # so that no dot hides another
        ax.plot(
            100 * (kept["ours_mean"] - kept["printed_mean"]),
            [list(methods).index(name) for name in kept["method"]] + spread,
            marker,
            color=COLOURS[colour],
            alpha=0.75,
            label=label,
        )
    ax.axvline(0, color=COLOURS["black"], lw=1)
    ax.set_yticks(range(len(methods)), methods)
    ax.set_ylim(len(methods) - 0.4, -0.6)
