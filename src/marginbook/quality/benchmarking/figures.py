"""The figures of the performance page, from the stored tables: what was reached, and seconds against size."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...base.extras import naming_the_extra
from ...base.plotting import COLOURS, MARKERS, STYLE
from ...base.rooms import papers
from ...claims.errata import PAPERS
from .goals import Reached, goals, lines, reached
from .tables import Row, stored

with naming_the_extra():
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter


def write_all(folder: Path) -> list[str]:
    """Write a PNG of the goals and one of the lines of every room that has any; return their names."""
    import matplotlib as mpl

    names, drawn = [], [reached(goal, stored(goal.table)) for goal in goals()]
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        found = [each for each in drawn if each.values and not each.goal.x]
        figures = {"goals": goals_figure(found)} if found else {}
        for room in PAPERS:
            if rows := stored(f"{room}-scaling"):
                figures[f"scaling-{room}"] = scaling_figure(rows)
        for name, figure in figures.items():
            # all stand on one page, which more dots would make too heavy
            figure.savefig(folder / f"performance-{name}.png", dpi=150, metadata={"Software": None})
            names.append(f"performance-{name}.png")
    return names


def goals_figure(found: Sequence[Reached]) -> Figure:
    """Draw how many times better than its goal every row is, a line of dots for each goal."""
    figure = Figure(figsize=(6.4, 1.2 + 0.34 * len(found)))
    axes = figure.add_subplot()
    colours = {key: COLOURS[room.colour] for key, room in papers().items()}
    axes.axvline(1.0, color="black", linewidth=1.2)
    for place, each in enumerate(found):
        shares = [each.goal.share(value) for value in each.values]
        colour = colours[each.goal.room]
        axes.plot([min(shares), max(shares)], [place, place], color=colour, alpha=0.5)
        axes.plot(shares, [place] * len(shares), "o", color=colour, markersize=4, alpha=0.7)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_yticks(range(len(found)), [f"{each.goal.room} {number}" for number, each in numbered(found)])
    axes.invert_yaxis()
    axes.set_xlabel("times better than the goal (left of 1: missed)")
    return figure


def numbered(found: Sequence[Reached]) -> list[tuple[int, Reached]]:
    """Return each goal with its number in its room, as the page counts them."""
    rooms = {room: [goal for goal in goals() if goal.room == room] for room in PAPERS}
    return [(rooms[each.goal.room].index(each.goal) + 1, each) for each in found]


def scaling_figure(rows: Sequence[Row]) -> Figure:
    """Draw CPU seconds against size, a panel for each axis."""
    drawn = lines(rows)
    axes_of = list(dict.fromkeys(x for _, x in drawn))
    figure = Figure(figsize=(6.4, 4.6 * len(axes_of)))
    for panel, x in zip(figure.subplots(len(axes_of), squeeze=False)[:, 0], axes_of, strict=True):
        here = [(what, line) for (what, axis), line in drawn.items() if axis == x]
        for place, (what, (sizes, seconds)) in enumerate(here):
            colour = list(COLOURS.values())[place % len(COLOURS)]
            dash = "-" if place < len(COLOURS) else "--"
            panel.loglog(sizes, seconds, dash, marker=MARKERS[place % len(MARKERS)], color=colour, label=what)
        panel.set(xlabel=x, ylabel="CPU seconds")
        panel.minorticks_off()
        every = sorted({size for _, (sizes, _) in here for size in sizes})
        ticks = every[:: 1 + len(every) // 7]
        panel.set_xticks(ticks, [f"{size:,.0f}" for size in ticks])
        panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2, fontsize=9)
    return figure
