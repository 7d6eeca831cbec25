"""The performance page: goals and what was reached, exponents, memory, machine; from the stored tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..base.rooms import papers
from ..claims.errata import PAPERS
from ..quality.benchmarking import figures
from ..quality.benchmarking.environment import PACKAGES
from ..quality.benchmarking.goals import FRAMES, NEAR, Reached, exponent, goals, lines, reached
from ..quality.benchmarking.tables import Row, stored
from .growth_tables import grid_section, growth_section, number_of
from .myst import NOTHING, dropdown, plain, table
from .waiting_tables import first_fits_section, sparse_linear_section

#: columns of ``environment.csv`` that the page shows, and their headings
MACHINE = {
    "file": "cases",
    "date": "date",
    "cpu": "processor",
    "cores": "cores",
    "load": "load before",
    "load_after": "load after",
    "seconds": "seconds",
}
#: how the papers call their methods
NAMES = {key: room.short for key, room in papers().items()}
VERSIONS = ("python", *PACKAGES, "blas")


def write(folder: Path) -> None:
    """Write the fragments of the page, and its figures, into a folder."""
    drawn = figures.write_all(folder)
    for name, text in {
        "found": goals_found(),
        "goals": goals_section(picture(drawn, "goals", GOALS_ALT, goals_caption())),
        "growth": growth_section(stored("growth")),
        "grid": grid_section(stored("growth-grid")),
        "sparse_linear": sparse_linear_section(stored("sparse_linear")),
        "first_fits": first_fits_section(stored("first_fits")),
        "scaling": scaling_section(drawn),
        "memory": memory_section(),
        "frames": frames_section(),
        "machine": machine_section(),
    }.items():
        folder.joinpath(f"performance-{name}.md").write_text(text, encoding="utf-8")


GOALS_ALT = (
    "One line of dots for each goal that is a ratio, on a logarithmic axis of how many times better than the "
    "goal a measurement is. A vertical line marks one; dots to its left miss the goal. The tables have the "
    "numbers."
)


def goals_caption() -> str:
    """Return the caption of the figure of the goals, which names those that it leaves out."""
    missing = [reached(goal, []) for goal in goals() if goal.x]
    left = ", ".join(f"{NAMES[each.goal.room]} {number}" for number, each in figures.numbered(missing))
    told = f" The goals about exponents are not drawn: {left}." if left else ""
    return f"How many times better than its goal each measurement is; left of 1 the goal is missed.{told}"


def picture(drawn: list[str], name: str, alt: str, caption: str) -> str:
    """Return a figure, if it was drawn."""
    file = f"performance-{name}.png"
    return (
        f"\n```{{figure}} /book/_generated/{file}\n:alt: {alt}\n\n{caption}\n```\n" if file in drawn else ""
    )


def goals_section(overview: str = "") -> str:
    """Return how many goals are met, an overview, and a table of the goals of each room."""
    found = [reached(goal, stored(goal.table)) for goal in goals()]
    parts = [goals_found() + overview]
    for room in PAPERS:
        if among := [each for each in found if each.goal.room == room]:
            parts.append(f"### {NAMES[room]}\n\n[All ratios](#bench-{room}).\n")
            headings = ["", "what", "peer", "goal", "reached: median (range)", "met"]
            cells = [goal_cells(number, each) for number, each in enumerate(among, start=1)]
            parts.append(table(headings, cells, widths=[4, 32, 22, 10, 20, 12], classes=""))
            parts += filter(None, (reason(number, each) for number, each in enumerate(among, start=1)))
    return "\n".join(parts)


def goals_found() -> str:
    """Return in a sentence how many goals are met."""
    found = [reached(goal, stored(goal.table)) for goal in goals()]
    measured = [each for each in found if each.values]
    whole = sum(each.met == len(each.values) for each in measured)
    part = sum(0 < each.met < len(each.values) for each in measured)
    waiting = f"; {len(found) - len(measured)} wait for a measurement" if len(measured) < len(found) else ""
    return (
        f"Of {len(found)} goals {whole} are met in every measurement, {part} in some, "
        f"{len(measured) - whole - part} in none{waiting}.\n"
    )


def reason(number: int, each: Reached) -> str:
    """Return in a paragraph why a goal is missed; nothing of one that is met, or not measured."""
    if not each.goal.why or each.met == len(each.values):
        return ""
    return f"**Goal {number}.** {plain(' '.join(each.goal.why.split()))}\n"


def goal_cells(number: int, each: Reached) -> list[str]:
    """Return the cells of one goal."""
    goal = each.goal
    bound = f"{'≥' if goal.at_most is None else '≤'} {goal.bound:,.10g}"
    what = f"{plain(goal.goal)}\\\n*{plain(goal.where)}*"
    if not each.values:
        return [str(number), what, plain(goal.peer), bound, NOTHING, "not measured"]
    count = len(each.values)
    met = "yes" if each.met == count else "no" if not each.met else f"{each.met} of {count}"
    told = number_of(each.median)
    if each.least != each.most:
        told += f" ({number_of(each.least)} to {number_of(each.most)})"
    return [str(number), what, plain(goal.peer), bound, told, met]


def scaling_section(drawn: list[str]) -> str:
    """Return the exponents of all lines, a table and a figure for each room."""
    parts = []
    for room in PAPERS:
        rows = stored(f"{room}-scaling")
        if not rows:
            continue
        cells = [
            [
                plain(what),
                f"${x}$" if len(x) == 1 else x,
                f"{sizes[0]:,.0f} to {sizes[-1]:,.0f}",
                f"{seconds[0]:.2g} to {seconds[-1]:.2g}",
                f"{slope:.2f}" if np.isfinite(slope := exponent(sizes, seconds)) else NOTHING,
            ]
            for (what, x), (sizes, seconds) in lines(rows).items()
        ]
        headings = ["what", "against", "sizes", "CPU seconds", "exponent"]
        shown = table(headings, cells, widths=[36, 12, 20, 18, 14], classes="")
        alt = f"CPU seconds against size on logarithmic axes, {NAMES[room]}; the table has ends and slopes."
        caption = f"{NAMES[room]}: CPU seconds against size. Parallel lines grow alike."
        shown += picture(drawn, f"scaling-{room}", alt, caption)
        parts.append(dropdown(f"{NAMES[room]}: {len(cells)} lines", shown))
    return "\n".join(parts) or "Nothing is stored; `make bench` measures it.\n"


def memory_section() -> str:
    """Return the peaks of the fits."""
    rows = stored("memory")
    if not rows:
        return "Nothing is stored; `make bench PAPER=memory` measures it.\n"
    headings = ["", "rows", "who", "data", "before", "peak", "the fit's own"]
    cells = [
        [
            f"{NAMES[row['room']]}, {plain(row['what'])}",
            f"{int(row['rows']):,}",
            plain(row["who"]),
            *(f"{float(row[key]):,.4g}" for key in ("data", "before", "peak", "fit")),
        ]
        for row in rows
    ]
    return table(headings, cells, widths=[24, 11, 21, 11, 11, 11, 11], classes="")


def frames_section() -> str:
    """Return how many frames of the explorables reach the goal, and all of them."""
    rows = stored("frames")
    if not rows:
        return "Nothing is stored; `make bench PAPER=frames` measures it.\n"
    least = min(rows, key=lambda row: float(row["rate"]))
    met = sum(row["met"] == "yes" for row in rows)
    headings = ["", "what moves", "points", "frames a second", "script time, ms: median", "95th percentile"]
    cells = [
        [
            NAMES.get(row["room"], row["room"].capitalize()),
            plain(row["what"]),
            row["points"] if row["points"] != "0" else NOTHING,
            f"{float(row['rate']):.0f}",
            *(f"{float(row[key]):.1f}" for key in ("median", "most")),
        ]
        for row in rows
    ]
    said = (
        f"{met} of {len(rows)} reach {FRAMES} frames a second within {1 - NEAR:.0%}; the slowest, "
        f"{plain(least['what'])} of {NAMES.get(least['room'], least['room'].capitalize())}, "
        f"{float(least['rate']):.0f}.\n\n"
    )
    return said + table(headings, cells, widths=[12, 32, 12, 16, 16, 12], classes="")


def machine_section() -> str:
    """Return on what each file was measured; versions that all files share stand once."""
    rows = stored("environment")
    if not rows:
        return "The stored tables were measured before processor and load were recorded.\n"
    cells = [[plain(row.get(key, "")) or NOTHING for key in MACHINE] for row in rows]
    parts = [table(list(MACHINE.values()), cells, classes="")]
    parts += [f"- {plain(name)} {_values(rows, name)}" for name in VERSIONS]
    return "\n".join(parts) + "\n"


def _values(rows: list[Row], name: str) -> str:
    return plain(" or ".join(dict.fromkeys(row[name] for row in rows if row.get(name)))) or NOTHING
