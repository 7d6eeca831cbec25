"""The page for instructors offers what students may have, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

from marginbook.book import coursework_page
from marginbook.coursework import available
from marginbook.coursework.packing import write_students


def test_the_table_counts_and_the_book_carries_the_students_files_only(tmp_path: Path) -> None:
    folder = tmp_path / "book"
    folder.mkdir()
    coursework_page.write(folder)
    written = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.*"))
    rooms = list(available())
    assert written == sorted(["coursework.md", *(f"coursework/{room}.zip" for room in rooms)])
    text = (folder / "coursework.md").read_text()
    for room, problems in available().items():
        row = text[text.index(f"[{problems.title}]") :]
        row = row[: row.find("\n* - ")]
        assert f"  - {{download}}`{room}.zip" in row
        assert f"  - {len(problems.exercises)}\n" in row
        assert f"  - {problems.points}" in row
        kinds = [int(number) for number in re.findall(r"(\d+) (?:derivation|programming|experiment)", row)]
        assert sum(kinds) == len(problems.exercises)
    for path in write_students(tmp_path / "again", available().values()):
        assert path.read_bytes() == (folder / "coursework" / path.name).read_bytes()
