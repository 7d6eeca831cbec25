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
ALT = "Minutes of commands (orange bars) and of stages of make test (blue); the table has them."
CAPTION = "Minutes of the commands that one calls (orange), and of the stages of `make test` (blue)."
HEADINGS = ["stage", "what it does", "minutes", "CPU minutes", "tests"]
WITHOUT_CPU = [name for name in HEADINGS if name != "CPU minutes"]
#: folders of tests that are shown, those that take most
SHOWN = 10
#: targets that readers call; the others are stages of `make test`
COMMANDS = ("book", "test", "check")


@dataclass(frozen=True)
class Stage:
    """One target of the Makefile, measured; the attributes are the columns of the file."""

    stage: str
    what: str
    wall_seconds: float
    cpu_seconds: float | None  # of all that ran on the machine; None where it was not counted
    tests: int
    machine: str
    commit: str


def write(folder: Path) -> None:
    """Write ``checking.md``, and the figure where there is something to draw."""
    stages = read(resource("results", "ci", "stages.csv"))
    where = where_unit_goes(resource("results", "ci", "folders.csv"))
    folder.joinpath("checking.md").write_text(costs(stages) + where, encoding="utf-8")
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
                float(row["cpu_seconds"]) if row.get("cpu_seconds") else None,
                int(row["tests"] or 0),
                row["machine"],
                row["commit"],
            )
            for row in csv.DictReader(file)
        ]


def costs(stages: Sequence[Stage]) -> str:
    """Return what the commands took, the table and the figure; without stages, how to measure them."""
    if not stages:
        return "Not measured on this checkout; `make stages` measures it.\n"
    counted = any(each.cpu_seconds is not None for each in stages)
    rows = [
        [
            f"`make {each.stage}`",
            plain(each.what),
            _minutes(each.wall_seconds),
            *([_minutes(each.cpu_seconds)] if counted else []),
            f"{each.tests:,}" if each.tests else NOTHING,
        ]
        for each in stages
    ]
    took = [f"`make {each.stage}` {_minutes(each.wall_seconds)}" for each in stages if each.stage in COMMANDS]
    where, at = _distinct(each.machine for each in stages), _distinct(each.commit for each in stages)
    told = f"Measured on {where}, at commit {at}. Minutes: {', '.join(took)}.\n"
    if counted:
        told += "CPU minutes are those of all that ran on the machine.\n"
    headings, widths = (HEADINGS, [18, 44, 12, 14, 12]) if counted else (WITHOUT_CPU, [20, 52, 14, 14])
    shown = table(headings, rows, widths=widths)
    return f"{told}\n{shown}\n```{{figure}} /book/_generated/{FIGURE}\n:alt: {ALT}\n\n{CAPTION}\n```\n"


def where_unit_goes(path: Path) -> str:
    """Return which folders take most of `make unit`, nothing if that is not stored."""
    if not path.is_file():
        return ""
    with path.open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    whole = sum(float(each["seconds"]) for each in found)
    rows = [
        [f"`{each['folder']}`", _minutes(float(each["seconds"])), f"{int(each['tests']):,}"]
        for each in found[:SHOWN]
    ]
    told = f"Where `make unit` goes: {_minutes(whole)} minutes, the sum over its processes. "
    told += f"Of {len(found)} folders those that take most:\n" if len(found) > SHOWN else "By folder:\n"
    return f"\n{told}\n{table(['folder', 'minutes', 'tests'], rows, widths=[60, 20, 20])}"


def draw(stages: Sequence[Stage], path: Path) -> None:
    """Draw the minutes of commands and of the stages of `make test`, the first one on top."""
    import matplotlib.pyplot as plt  # only where a book is built

    with plt.rc_context(STYLE):  # type: ignore[arg-type]
        figure, axis = plt.subplots(figsize=(6.4, 1.2 + 0.5 * len(stages)))
        minutes = [each.wall_seconds / 60 for each in stages]
        colours = [COLOURS["orange" if each.stage in COMMANDS else "blue"] for each in stages]
        axis.barh([each.stage for each in stages], minutes, 0.6, color=colours)
        axis.invert_yaxis()
        axis.grid(axis="y", visible=False)
        axis.set_xlabel("minutes")
        figure.savefig(path, metadata={"Software": None})
        plt.close(figure)


def _minutes(seconds: float | None) -> str:
    return NOTHING if seconds is None else f"{seconds / 60:.1f}"


def _distinct(values: Iterable[str]) -> str:
    return plain(" and ".join(dict.fromkeys(values)))
