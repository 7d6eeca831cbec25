"""nbgrader itself makes our student's notebook from the source, and gives full marks and none."""

from __future__ import annotations

import os
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest

from marginbook.coursework import ProblemSet, available, source, student, write

api = pytest.importorskip("nbgrader.apps.api", reason="nbgrader is not installed: the extra coursework")


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "course"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path))
    # it calls alembic by its name
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    return folder


def open_course(folder: Path, problems: ProblemSet, written: int):
    from traitlets.config import PyFileConfigLoader

    for path in write(folder.parent / "zips", [problems], written):
        if path.parent.name == "instructors":
            zipfile.ZipFile(path).extractall(folder)
    config = PyFileConfigLoader("nbgrader_config.py", path=str(folder)).load_config()
    config.CourseDirectory.root = str(folder)
    return api.NbGraderAPI(config=config)


def without_checksum(node: nbformat.NotebookNode) -> list[tuple[str, str, dict]]:
    for cell in node.cells:
        cell.metadata.get("nbgrader", {}).pop("checksum", None)
    return [(cell.cell_type, cell.source, cell.metadata) for cell in node.cells]


@pytest.mark.parametrize("room", list(available()))
def test_the_release_is_the_students_notebook(course: Path, room: str) -> None:
    problems = available()[room]
    done = open_course(course, problems, written=2).generate_assignment(room)
    assert done["success"], done
    released = nbformat.read(course / "release" / room / f"{room}.ipynb", as_version=4)
    assert without_checksum(released) == without_checksum(student(problems, written=2))


def test_the_marks_are_full_and_none(course: Path, toy: ProblemSet) -> None:
    nbgrader = open_course(course, toy, written=0)
    assert nbgrader.generate_assignment("toy")["success"]
    for who, make in (("solved", source), ("starter", student)):
        folder = course / "submitted" / who / "toy"
        folder.mkdir(parents=True)
        nbformat.write(make(toy), folder / "toy.ipynb")
        done = nbgrader.autograde("toy", who)
        assert done["success"], done
    found = {item["student"]: item for item in nbgrader.get_submissions("toy")}
    assert {who: (item["score"], item["max_score"]) for who, item in found.items()} == {
        "solved": (5.0, 5.0),
        "starter": (0.0, 5.0),
    }
    assert not any(item["needs_manual_grade"] for item in found.values())
