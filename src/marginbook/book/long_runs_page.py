"""An hour of each: ``results/faults/long_runs.csv`` and ``long_run_ends.csv`` as a table and a figure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..base.plotting import COLOURS, STYLE
from ..base.project import resource
from .myst import table
from .stored import Row, stored_rows

#: the section of the page, which is there once the hours are stored
SECTION = """
(faults-hours)=
## An hour of each

What is small in a minute need not be small in an hour. Three things run side by side for sixty
minutes, then Ctrl-C ends them: `marginbook serve`, while a reader opens pages, starts runs of a
notebook with new parameters, cancels one in four, and sends requests that must be refused;
`marginbook experiment run` on a table by its paper's protocol; and fits of every estimator to
[bad input](bad_input.md) with seeds of their own, all in one process.

lost
: A run or a row that was there and is not, or is damaged.

ended wrongly
: An answer with another status than it should have, a run that neither finished nor was cancelled,
  a fit that is a fault by the rules of [the page on bad input](bad_input.md).

That page counts fits with fixed seeds, after the faults they found were corrected. This hour has other seeds,
and can find what those did not. It shows the code of the commit below: faults that were corrected since then
count until the hour is measured again.

Memory is that of the process itself, without what it starts, such as the kernels of `serve`. The last column
is the median slope of its second half: of all pairs of minutes, how fast it grew between the two. A leak that
rises steadily shows there. A single step, or garbage that waits to be collected, hardly moves it: compare
minute 30 with the most after it, and look at the figure.

{table}

```{figure} _generated/faults-hours.png
:name: faults-hours-figure
:alt: Memory of three processes over sixty minutes, one line each. The numbers are in the table above.

The memory of each process.
```
"""
#: minutes at the start and at the end that are compared
TEN = 10
#: what a run does, in a word
UNITS = {"serve": "requests", "experiment": "tasks", "fuzzing": "fits"}
#: the exit code after Ctrl-C
CTRL_C = "130"
_FOLDER = ("results", "faults")
_LINES = (COLOURS["blue"], COLOURS["vermilion"], COLOURS["black"])


def write(folder: Path) -> None:
    """Write ``faults-hours.md`` and ``faults-hours.png``."""
    minutes, ends = (
        stored_rows(resource(*_FOLDER, f"{name}.csv")) for name in ("long_runs", "long_run_ends")
    )
    folder.joinpath("faults-hours.md").write_text(listed(minutes, ends), encoding="utf-8")
    draw(minutes, folder / "faults-hours.png")


def growth(minutes: Sequence[Row]) -> float:
    """Return the median slope of a run's memory in its second half, in MiB an hour.

    That of the slopes between all pairs of minutes (Theil and Sen): garbage that is collected late makes
    steps, which a line by least squares would follow. A step that stays hardly moves it.
    """
    from scipy.stats import theilslopes

    half = minutes[len(minutes) // 2 :]
    if len(half) < 2:
        return 0.0
    time, memory = np.array([(float(row["minute"]), float(row["memory"])) for row in half]).T
    return 60 * float(theilslopes(memory, time)[0])


def listed(minutes: Sequence[Row], ends: Sequence[Row]) -> str:
    """Return the section: what each run did, and what it left; nothing before any hour is stored."""
    if not ends:
        return ""
    lines = []
    for end in ends:
        own = [row for row in minutes if row["run"] == end["run"]]
        half = len(own) // 2
        memory = [float(row["memory"]) for row in own]
        shown = (memory[min(len(own), TEN) - 1], memory[half - 1], max(memory[half:]), memory[-1])
        lines.append(
            [
                f"`{end['run']}`",
                f"{int(end['operations']):,} {end['what']}",
                *(end[name] for name in ("minutes", "lost", "faults", "left", "code")),
                *(f"{value:.0f}" for value in shown),
                f"{growth(own):+.1f}",
            ]
        )
    wrong = [
        f"{end[name]} {said}"
        for end in ends
        for name, said in (
            ("lost", f"lost by `{end['run']}`"),
            ("faults", f"of {int(end['operations']):,} {end['what']} ended wrongly"),
            ("left", f"left running by `{end['run']}`"),
        )
        if int(end[name])
    ]
    wrong += [f"exit code {end['code']} of `{end['run']}`" for end in ends if end["code"] != CTRL_C]
    told = "**" + ", ".join(wrong) + "**" if wrong else "nothing was lost, ended wrongly, or left running"
    machine, commit = ends[0]["machine"], ends[0]["commit"]
    headings = ["run", "did", "minutes", "lost", "ended wrongly", "processes left", "exit code"]
    headings += ["MiB after 10 minutes", "after half of them", "the most after that", "at the end"]
    headings += ["median slope, MiB per hour"]
    cells = table(headings, lines, classes="sortable wide")
    about = " ".join(
        [f"Side by side on {machine}, at commit {commit}: {told}.", pace(minutes), alone(minutes)]
    )
    return SECTION.replace("{table}", f"{about.strip()}\n\n{cells}")


def pace(minutes: Sequence[Row]) -> str:
    """Return in a sentence how much each run did a minute at the start and at the end."""
    told = []
    for name, own in _by_run(minutes):
        done = [int(row["operations"]) for row in own]
        if len(done) > 2 * TEN:
            first, last = done[TEN - 1] / TEN, (done[-1] - done[-1 - TEN]) / TEN
            told.append(f"`{name}` {_few(first)} and {_few(last)} {UNITS.get(name, 'operations')}")
    if not told:
        return ""
    return f"Done per minute, on average over the first and the last {TEN} minutes: {', '.join(told)}."


def alone(minutes: Sequence[Row]) -> str:
    """Return in a sentence which runs did their fits themselves, so that no process could be left."""
    names = [f"`{name}`" for name, own in _by_run(minutes) if not any(int(row["processes"]) for row in own)]
    return (
        f"No other process was started by {' and '.join(names)}: the memory includes the fits, and none "
        "could be left."
        if names
        else ""
    )


def _few(number: float) -> str:
    return f"{number:,.0f}" if number >= 1000 else f"{number:.1f}"


def _by_run(minutes: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    names = dict.fromkeys(row["run"] for row in minutes)
    return [(name, [row for row in minutes if row["run"] == name]) for name in names]


def fits_told() -> str:
    """Return in a sentence how many fits of bad input went wrong; nothing where none is stored."""
    ends = stored_rows(resource(*_FOLDER, "long_run_ends.csv"))
    for end in ends:
        if end["run"] == "fuzzing":
            return (
                f"In [an hour of other random input](#faults-hours), {int(end['faults']):,} of "
                f"{int(end['operations']):,} fits went wrong."
            )
    return ""


def draw(minutes: Sequence[Row], path: Path) -> None:
    """Draw the memory of each run over its minutes."""
    if not minutes:
        return
    import matplotlib.pyplot as plt  # only where a book is built

    with plt.rc_context(STYLE):  # type: ignore[arg-type]
        figure, axis = plt.subplots()
        for name, colour in zip(dict.fromkeys(row["run"] for row in minutes), _LINES, strict=False):
            own = [row for row in minutes if row["run"] == name]
            axis.plot(
                [float(row["minute"]) for row in own],
                [float(row["memory"]) for row in own],
                color=colour,
                label=name,
            )
        axis.set(xlabel="minutes", ylabel="memory of the process, MiB", ylim=(0, None))
        axis.legend(fontsize=9)
        figure.savefig(path, metadata={"Software": None})
        plt.close(figure)
