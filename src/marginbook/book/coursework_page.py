"""The problem sets as a table: what they hold, the students' files to download, the slides of the chapter."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from ..coursework import ProblemSet, available
from ..coursework.exercises import KINDS
from ..coursework.packing import write_students
from .myst import NOTHING, table
from .slides import decks

HEADINGS = ["set", "for students", "slides", "exercises", "of each kind", "points"]


def write(folder: Path) -> None:
    """Write ``coursework.md``, and into ``coursework/`` the students' zips; the instructors' stay out."""
    sets = list(available().values())
    write_students(folder / "coursework", sets)
    rows = [_cells(problems) for problems in sets]
    text = table(HEADINGS, rows, widths=[28, 15, 12, 11, 24, 10], classes="")
    folder.joinpath("coursework.md").write_text(text, encoding="utf-8")


def _cells(problems: ProblemSet) -> list[str]:
    kinds = Counter(exercise.kind for exercise in problems.exercises)
    return [
        f"[{problems.title}]({problems.room}.md)",
        f"{{download}}`{problems.room}.zip <_generated/coursework/{problems.room}.zip>`",
        f'<a href="../slides/{problems.room}.html">slides</a>' if problems.room in decks() else NOTHING,
        str(len(problems.exercises)),
        "\\\n".join(f"{kinds[kind]} {kind.lower()}" for kind in KINDS if kinds[kind]),
        str(problems.points),
    ]
