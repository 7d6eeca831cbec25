"""The problem sets as a table: what they hold, and the students' files to download."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from ..coursework import ProblemSet, available
from ..coursework.packing import write_students
from ..exercises import KINDS
from .myst import table

HEADINGS = ["set", "exercises", *(kind.lower() for kind in KINDS), "points", "for students"]


def write(folder: Path) -> None:
    """Write ``coursework.md``, and into ``coursework/`` the students' zips; the instructors' stay out."""
    sets = list(available().values())
    write_students(folder / "coursework", sets)
    rows = [_cells(problems) for problems in sets]
    text = table(HEADINGS, rows, widths=[30, 12, 12, 14, 12, 8, 12], classes="")
    folder.joinpath("coursework.md").write_text(text, encoding="utf-8")


def _cells(problems: ProblemSet) -> list[str]:
    kinds = Counter(exercise.kind for exercise in problems.exercises)
    return [
        f"[{problems.title}]({problems.room}.md)",
        str(len(problems.exercises)),
        *(str(kinds[kind]) for kind in KINDS),
        str(problems.points),
        f"{{download}}`{problems.room}.zip <_generated/coursework/{problems.room}.zip>`",
    ]
