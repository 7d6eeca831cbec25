"""The pictures of the comparison's findings, from the stored results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .advice import OURS, REFERENCE, percent
from .finding_numbers import INGREDIENTS, WITH, WITHOUT, stored
from .posteriors import ROPE

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (6.4, 3.4)  # inches
#: differences further left are drawn at the edge
EDGE = -8.0


def idea() -> Figure:
    """Draw for each method of the papers how probable it is to be worse, the same, or better."""
    from ...base.plotting import COLOURS

    found = stored()
    order = sorted(OURS, key=lambda name: found.chance(name, "same"))
    figure, ax = _panel()
    start = np.zeros(len(order))
    parts = {"worse": COLOURS["vermilion"], "same": "#bbbbbb", "better": COLOURS["blue"]}
    for how, colour in parts.items():
        width = np.array([100 * found.chance(name, how) for name in order])
        ax.barh(order, width, left=start, color=colour, label=how, height=0.6)
        start += width
    ax.set(xlim=(0, 100), xlabel=f"probability, compared with the {REFERENCE}, %")
    ax.grid(visible=False, axis="y")
    ax.legend(ncol=3, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
    return figure


def against_reference() -> Figure:
    """Draw the papers' methods against the support vector machine, a row of dots for each."""
    found = stored()
    order = sorted(OURS, key=lambda name: found.lead(name, REFERENCE))
    rows = {name: found.accuracy[name] - found.accuracy[REFERENCE] for name in order}
    notes = {name: percent(found.chance(name, "better")) for name in order}
    figure, ax = _panel()
    rows_of_dots(ax, rows, notes, "better")
    ax.set_xlabel(f"accuracy minus that of the {REFERENCE}, points")
    return figure


def without_ingredient() -> Figure:
    """Draw each paper's method against the same without its ingredient."""
    found = stored()
    rows, notes = {}, {}
    for name, plain, _ in reversed(INGREDIENTS):
        label = f"{name} −\n{plain}"
        rows[label] = found.accuracy[name] - found.accuracy[plain]
        notes[label] = percent(found.pair(name, plain).same)
    figure, ax = _panel()
    rows_of_dots(ax, rows, notes, "same")
    ax.set_xlabel("difference in accuracy, points")
    return figure


def rows_of_dots(ax: Axes, rows: dict[str, pd.Series[float]], notes: dict[str, str], heading: str) -> None:
    """Draw differences as dots, a row for each method, from below, with the mean as a bar and a note."""
    from ...base.plotting import COLOURS

    ax.axvspan(-ROPE, ROPE, color="#dddddd", lw=0)
    ax.axvline(0, color=COLOURS["black"], lw=0.8)
    for at, differences in enumerate(rows.values()):
        # dots side by side instead of one upon the other: three heights in turn
        ordered = np.sort(differences.to_numpy())
        heights = at + 0.16 * (np.arange(len(ordered)) % 3 - 1)
        shown = np.maximum(ordered, EDGE)
        out = ordered < EDGE
        ax.plot(shown[~out], heights[~out], "o", ms=4, color=COLOURS["blue"], alpha=0.55, mew=0)
        ax.plot(shown[out], heights[out], "<", ms=5, color=COLOURS["blue"], alpha=0.55, mew=0)
        ax.plot(2 * [differences.mean()], [at - 0.36, at + 0.36], color=COLOURS["vermilion"], lw=3)
    side: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "va": "center", "annotation_clip": False}
    for at, note in enumerate(notes.values()):
        ax.annotate(note, (1.02, at), **side)
    ax.annotate(heading, (1.02, len(rows) - 0.4), **side)
    ax.set_yticks(range(len(rows)), list(rows))
    ax.set(xlim=(EDGE - 0.4, 4.5), ylim=(-0.6, len(rows) - 0.3))
    ax.grid(visible=False, axis="y")


def rows_and_accuracy() -> Figure:
    """Draw the rows that sparse kFDA needs, and its accuracy, against the support vector machine."""
    import matplotlib.pyplot as plt

    from ...base.plotting import COLOURS
    from .rankings import by_set

    found = stored()
    needed = by_set(found.rows, "needed")
    figure, (left, right) = plt.subplots(1, 2, figsize=SIZE)
    left.plot([0, 100], [0, 100], color=COLOURS["black"], lw=0.8)
    left.plot(needed[REFERENCE], needed["kFDA-0.5"], "o", color=COLOURS["blue"], ms=5, alpha=0.7, mew=0)
    left.set(
        title="training rows needed, %",
        xlabel=REFERENCE,
        ylabel="kFDA, q = ½",
        xlim=(0, 100),
        ylim=(0, 100),
        aspect="equal",
    )
    gain = (found.accuracy["kFDA-0.5"] - found.accuracy[REFERENCE]).to_numpy()
    right.axvspan(-ROPE, ROPE, color="#dddddd", lw=0)
    right.hist(gain, bins=np.arange(-3.0, 3.01, 0.5), color=COLOURS["blue"], alpha=0.8)
    right.set(title="accuracy, kFDA − SVM", xlabel="points", ylabel="data sets")
    return figure


def near_the_best() -> Figure:
    """Draw on how many sets a method, or a choice between methods, is within a point of the best."""
    from ...base.plotting import COLOURS

    found = stored()
    choices = {
        "all eleven": found.order,
        "SVM or forest": [REFERENCE, "random forest"],
        "kernel ridge": ["kernel ridge"],
        "SVM": [REFERENCE],
        "random forest": ["random forest"],
    }
    figure, ax = _panel()
    for at, names in enumerate(choices.values()):
        count = found.near(names)
        ax.barh(at, count, height=0.6, color=COLOURS["blue" if len(names) > 1 else "sky"])
        ax.annotate(str(count), (count, at), xytext=(5, 0), textcoords="offset points", va="center")
    ax.set_yticks(range(len(choices)), list(choices))
    ax.set(xlim=(0, len(found.accuracy)), xlabel=f"sets of {len(found.accuracy)} within a point of the best")
    ax.grid(visible=False, axis="y")
    return figure


def ringnorm() -> Figure:
    """Draw the accuracies of kernel machines with and without an intercept on ringnorm."""
    from ...base.plotting import COLOURS

    rows = stored().rows
    here = rows[rows["dataset"] == "ringnorm"].groupby("method")["accuracy"]
    order = sorted([*WITH, *WITHOUT], key=lambda name: float(here.mean()[name]))
    figure, ax = _panel()
    for at, name in enumerate(order):
        colour = COLOURS["blue" if name in WITH else "vermilion"]
        values = np.sort(here.get_group(name).to_numpy())
        heights = at + 0.12 * (np.arange(len(values)) % 3 - 1)
        ax.plot(values, heights, "o", ms=5, color=colour, alpha=0.55, mew=0)
        ax.plot(2 * [values.mean()], [at - 0.32, at + 0.32], color=colour, lw=3)
    ax.set_yticks(range(len(order)), order)
    ax.set_xlabel("accuracy on ringnorm, %")
    ax.grid(visible=False, axis="y")
    return figure


def _panel() -> tuple[Figure, Axes]:
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=SIZE)
