"""Two zips a set, in folders of their own, the same bytes on every run; the commands that write and mark."""

from __future__ import annotations

import csv
import zipfile
from pathlib import Path

import nbformat

from marginbook.coursework import ProblemSet, grading, source, write


def test_the_zips_hold_what_their_readers_need(toy: ProblemSet, tmp_path: Path) -> None:
    students, instructors = write(tmp_path, [toy])
    assert [path.relative_to(tmp_path).as_posix() for path in (students, instructors)] == [
        "students/toy.zip",
        "instructors/toy.zip",
    ]
    with zipfile.ZipFile(students) as archive:
        assert archive.namelist() == ["toy/toy.ipynb", "toy/README.md", "toy/requirements.txt"]
        assert "2 exercises, 5 points" in archive.read("toy/README.md").decode()
        assert archive.read("toy/requirements.txt").startswith(b"marginbook==")
    with zipfile.ZipFile(instructors) as archive:
        assert archive.namelist() == [
            "source/toy/toy.ipynb",
            "solutions/toy.ipynb",
            "points-toy.csv",
            "nbgrader_config.py",
            "README-toy.md",
        ]
        compile(archive.read("nbgrader_config.py"), "nbgrader_config.py", "exec")


def test_the_same_sources_give_the_same_bytes(toy: ProblemSet, tmp_path: Path) -> None:
    first = [path.read_bytes() for path in write(tmp_path / "a", [toy])]
    assert first == [path.read_bytes() for path in write(tmp_path / "b", [toy])]


def test_the_table_of_points(toy: ProblemSet, tmp_path: Path) -> None:
    _, instructors = write(tmp_path, [toy], written=4)
    with zipfile.ZipFile(instructors) as archive:
        rows = list(csv.DictReader(archive.read("points-toy.csv").decode().splitlines()))
    assert [(row["exercise"], row["check"], row["written"]) for row in rows] == [
        ("toy/double", "2", "4"),
        ("toy/triple", "3", "0"),
    ]


def test_the_command_writes_a_set(cli, tmp_path: Path) -> None:
    shown = cli("coursework", "write", "kfda", "--out", str(tmp_path))
    assert shown.exit_code == 0
    assert sorted(path.name for path in tmp_path.glob("*/*")) == ["kfda.zip", "kfda.zip"]
    assert len(shown.output.splitlines()) == 2


def test_an_unknown_set_names_the_known_ones(cli) -> None:
    shown = cli("coursework", "write", "svm")
    assert shown.exit_code == 2
    assert "no problem set 'svm'; choose from drm, ldm, kfda, clasmk, smm" in shown.output


def test_the_command_marks_a_file(cli, toy: ProblemSet, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(grading, "find", {"toy": toy}.__getitem__)
    path = tmp_path / "toy.ipynb"
    nbformat.write(source(toy), path)
    shown = cli("coursework", "grade", str(path))
    assert shown.exit_code == 0
    assert shown.output == f"  2 of 2  toy/double  right: doubled\n  3 of 3  toy/triple  \n  5 of 5  {path}\n"
    table = list(csv.DictReader(cli("coursework", "grade", str(path), "--csv").output.splitlines()))
    assert [row["earned"] for row in table] == ["2", "3"]


def test_a_file_that_is_no_submission_ends_with_2(cli, tmp_path: Path) -> None:
    path = tmp_path / "x.ipynb"
    nbformat.write(nbformat.v4.new_notebook(), path)
    shown = cli("coursework", "grade", str(path))
    assert shown.exit_code == 2
    assert "names no problem set" in shown.output
