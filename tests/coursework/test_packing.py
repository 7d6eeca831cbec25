"""Two zips a set, in folders of their own, the same bytes on every run; the commands that write and mark."""

from __future__ import annotations

import ast
import csv
import io
import os
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import nbformat
import pytest
from packaging.requirements import Requirement

from marginbook import __version__
from marginbook.base import packages, progress
from marginbook.base.rooms import papers
from marginbook.coursework import ProblemSet, available, grading, packing, source, student, write
from marginbook.coursework.packing import WHEEL, wheel, write_students


def test_the_zips_hold_what_their_readers_need(toy: ProblemSet, tmp_path: Path) -> None:
    students, instructors = write(tmp_path, [toy])
    assert [path.relative_to(tmp_path).as_posix() for path in (students, instructors)] == [
        "students/toy.zip",
        "instructors/toy.zip",
    ]
    with zipfile.ZipFile(students) as archive:
        assert archive.namelist() == [
            "toy/toy.ipynb",
            "toy/README.md",
            "toy/requirements.txt",
            f"toy/{WHEEL}",
        ]
        assert "2 exercises, 5 points" in archive.read("toy/README.md").decode()
        assert "pip install -r requirements.txt" in archive.read("toy/README.md").decode()
    with zipfile.ZipFile(instructors) as archive:
        assert archive.namelist() == [
            "source/toy/toy.ipynb",
            "solutions/toy.ipynb",
            "points-toy.csv",
            "nbgrader_config.py",
            "README-toy.md",
        ]
        compile(archive.read("nbgrader_config.py"), "nbgrader_config.py", "exec")


def test_pip_installs_marginbook_from_the_unpacked_folder_without_an_index(
    toy: ProblemSet, tmp_path: Path
) -> None:
    (students,) = write_students(tmp_path, [toy])
    zipfile.ZipFile(students).extractall(tmp_path)
    folder, site = tmp_path / "toy", tmp_path / "site"
    own, *others = (folder / "requirements.txt").read_text().splitlines()
    assert [Requirement(line).name for line in others] == ["matplotlib", "jupyterlab"]
    (folder / "own.txt").write_text(own)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*command, "--target", str(site), "-r", "own.txt"], cwd=folder, check=True)
    code = "import marginbook; print(marginbook.__version__, marginbook.__file__, sep=chr(10))"
    shown = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.splitlines() == [__version__, str(site / "marginbook" / "__init__.py")]
    # no text that the exercises, with their solutions, are made from
    texts = [path.name for path in site.rglob("marginbook/**/*.*") if path.suffix in (".md", ".ipynb")]
    assert texts == ["guide.md"]


def test_the_requirements_bring_what_the_notebooks_import() -> None:
    with zipfile.ZipFile(io.BytesIO(wheel())) as archive:
        metadata = archive.read(f"marginbook-{__version__}.dist-info/METADATA").decode()
    needs = [Requirement(line) for line in Parser().parsestr(metadata).get_all("Requires-Dist", [])]
    brought = {need.name for need in needs if need.marker is None} | {"marginbook", "matplotlib"}
    names = {"sklearn": "scikit-learn"}
    for problems in available().values():
        cells = (cell.source for cell in student(problems).cells if cell.cell_type == "code")
        nodes = [node for cell in cells for node in ast.walk(ast.parse(cell))]
        imported = {each.name for node in nodes if isinstance(node, ast.Import) for each in node.names}
        imported |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
        tops = {name.partition(".")[0] for name in imported} - sys.stdlib_module_names
        assert "marginbook" in tops
        assert {names.get(name, name) for name in tops} <= brought, problems.room


def test_a_wheel_that_cannot_be_built_is_one_line(
    cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object) -> None:
        raise RuntimeError("the packages cannot be built: no hatchling")

    monkeypatch.setattr(packages, "build", broken)
    packing._wheel_of.cache_clear()
    shown = cli("coursework", "write", "kfda", "--out", str(tmp_path))
    assert (shown.exit_code, shown.output) == (1, "Error: the packages cannot be built: no hatchling\n")


def test_the_same_sources_give_the_same_bytes(toy: ProblemSet, tmp_path: Path) -> None:
    first = [path.read_bytes() for path in write(tmp_path / "a", [toy])]
    packing._wheel_of.cache_clear()
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


@pytest.mark.parametrize(
    ("name", "hint"), [("svm", "did you mean smm?"), ("x", f"there are {', '.join(papers())}")]
)
def test_an_unknown_set_names_those_near_it_or_all(cli, name: str, hint: str) -> None:
    shown = cli("coursework", "write", name)
    assert (shown.exit_code, shown.output) == (2, f"Error: no problem set {name!r}; {hint}\n")


def test_the_command_marks_a_file(cli, toy: ProblemSet, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(grading, "find", {"toy": toy}.__getitem__)
    path = tmp_path / "toy.ipynb"
    nbformat.write(source(toy), path)
    shown = cli("coursework", "grade", str(path))
    assert shown.exit_code == 0
    assert shown.stdout == f"  2 of 2  toy/double  right: doubled\n  3 of 3  toy/triple  \n  5 of 5  {path}\n"
    table = list(csv.DictReader(cli("coursework", "grade", str(path), "--csv").stdout.splitlines()))
    assert [row["earned"] for row in table] == ["2", "3"]


def test_a_file_that_takes_long_shows_how_far_it_is(
    cli, toy: ProblemSet, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(grading, "find", {"toy": toy}.__getitem__)
    monkeypatch.setattr(progress, "LINE_EVERY", 0.02)
    path = tmp_path / "toy.ipynb"
    nbformat.write(source(toy), path)
    shown = cli("coursework", "grade", str(path), "--csv")
    assert "toy.ipynb: 0/2, 0:00:0" in shown.stderr
    assert "toy.ipynb: 2/2, done in 0:00:" in shown.stderr
    assert len(shown.stdout.splitlines()) == 3


def test_a_file_that_is_no_submission_ends_with_2(cli, tmp_path: Path) -> None:
    path = tmp_path / "x.ipynb"
    nbformat.write(nbformat.v4.new_notebook(), path)
    shown = cli("coursework", "grade", str(path))
    assert shown.exit_code == 2
    assert "names no problem set" in shown.output
