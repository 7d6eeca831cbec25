"""What it costs to check everything: ``results/ci/stages.csv``, measured by ``make stages``."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..base.plotting import COLOURS, STYLE
from ..base.project import resource
from .myst import NOTHING, plain, table

FIGURE = "checking-stages.png"
ALT = "A pair of bars for each stage, minutes of wall clock and minutes of CPU; the table has the numbers."
HEADINGS = ["stage", "what it does", "minutes", "CPU minutes", "tests"]


@dataclass(frozen=True)
class Stage:
    """One target of the Makefile, measured; the attributes are the columns of the file."""

    stage: str
    what: str
    wall_seconds: float
    cpu_seconds: float
    tests: int
    machine: str
    commit: str


def write(folder: Path) -> None:
    """Write ``checking.md``, and the figure where there is something to draw."""
    stages = read(resource("results", "ci", "stages.csv"))
    folder.joinpath("checking.md").write_text(costs(stages), encoding="utf-8")
    if stages:
        draw(stages, folder / FIGURE)


def read(path: Path) -> list[Stage]:
    """Return the stages of a file, none if it is not there."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Stage(
                row["stage"],
                row["what"],
                float(row["wall_seconds"]),
                float(row["cpu_seconds"]),
                int(row["tests"] or 0),
                row["machine"],
                row["commit"],
            )
            for row in csv.DictReader(file)
        ]


def costs(stages: Sequence[Stage]) -> str:
    """Return the sums, the table and the figure; without stages, how to measure them."""
    if not stages:
        return "Not measured on this checkout; `make stages` measures it.\n"
    rows = [
        [
            f"`make {each.stage}`",
            plain(each.what),
            _minutes(each.wall_seconds),
            _minutes(each.cpu_seconds),
            f"{each.tests:,}" if each.tests else NOTHING,
        ]
        for each in stages
    ]
    wall = _minutes(sum(each.wall_seconds for each in stages))
    cpu = _minutes(sum(each.cpu_seconds for each in stages))
    where, at = _distinct(each.machine for each in stages), _distinct(each.commit for each in stages)
    told = f"All stages together took {wall} minutes and {cpu} minutes of CPU, on {where}, at commit {at}.\n"
    shown = table(HEADINGS, rows, widths=[18, 44, 12, 14, 12])
    return f"{told}\n{shown}\n```{{image}} /book/_generated/{FIGURE}\n:alt: {ALT}\n```\n"


def draw(stages: Sequence[Stage], path: Path) -> None:
    """Draw wall clock and CPU of each stage, the first one on top."""
    import matplotlib.pyplot as plt  # only where a book is built

    with plt.rc_context(STYLE):  # type: ignore[arg-type]
        figure, axis = plt.subplots(figsize=(6.4, 1.2 + 0.5 * len(stages)))
        places = range(len(stages))
        for shift, name, colour, seconds in (
            (-0.18, "wall clock", COLOURS["blue"], [each.wall_seconds for each in stages]),
            (0.18, "CPU", COLOURS["orange"], [each.cpu_seconds for each in stages]),
        ):
            axis.barh([k + shift for k in places], [s / 60 for s in seconds], 0.34, color=colour, label=name)
        axis.set_yticks(places, [each.stage for each in stages])
        axis.invert_yaxis()
        axis.grid(axis="y", visible=False)
        axis.set_xlabel("minutes")
        figure.legend(loc="outside lower center", ncols=2)
        figure.savefig(path, metadata={"Software": None})
        plt.close(figure)


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.1f}"


def _distinct(values: Iterable[str]) -> str:
    return plain(" and ".join(dict.fromkeys(values)))
