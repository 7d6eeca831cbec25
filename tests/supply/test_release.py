"""A release: the same bytes twice, checksums that hold, a wheel with what it needs and nothing else."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from marginbook.base import packages
from marginbook.book import release

from ..settled import SETTLED

ROOT = Path(__file__).resolve().parents[2]
STAMP = 1_700_000_000


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with wheel and source distribution of this checkout."""
    folder = tmp_path_factory.mktemp("packages")
    packages.build(ROOT, folder, STAMP)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    """Return the wheel."""
    (found,) = built.glob("*.whl")
    return found


def small_checkout(folder: Path) -> Path:
    """Return a checkout with a package of one line and a built book of one page."""
    home = folder / "home"
    (home / "src" / "marginbook").mkdir(parents=True)
    (home / "src" / "marginbook" / "__init__.py").write_text('"""Small."""\n')
    (home / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "marginbook"\nversion = "0.1.0"\nrequires-python = ">=3.11"\n'
    )
    pages = home / "_build" / "html"
    (pages / "_static").mkdir(parents=True)
    (pages / "index.html").write_text("<h1>one page</h1>")
    (pages / "_static" / "errata.json").write_text("{}")
    for readers in ("students", "instructors"):
        (home / "_build" / "coursework" / readers).mkdir(parents=True)
        (home / "_build" / "coursework" / readers / "drm.zip").write_bytes(readers.encode())
    return home


@pytest.mark.long
def test_two_builds_give_the_same_bytes(built: Path, tmp_path: Path) -> None:
    packages.build(ROOT, tmp_path, STAMP)
    names = sorted(path.name for path in built.iterdir())
    assert len(names) == 2
    assert names == sorted(path.name for path in tmp_path.iterdir())
    for name in names:
        assert release.sha256(built / name) == release.sha256(tmp_path / name), f"{name} differs"


def test_a_release_holds_what_is_built_and_its_checksums_hold(tmp_path: Path) -> None:
    home, out = small_checkout(tmp_path), tmp_path / "dist"
    files = {path.name for path in release.make(home, out)}
    assert {"SHA256SUMS", "provenance.json", "errata.json", "marginbook-0.1.0-book.zip"} <= files
    assert {"coursework-students.zip", "coursework-instructors.zip"} <= files
    assert {"marginbook-0.1.0.tar.gz", "marginbook-0.1.0-py3-none-any.whl"} <= files
    lines = (out / "SHA256SUMS").read_text().splitlines()
    assert {line.split("  ")[1] for line in lines} == files - {"SHA256SUMS"}
    for line in lines:
        digest, name = line.split("  ")
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == digest
    about = json.loads((out / "provenance.json").read_text())
    assert about["version"] == "0.1.0"
    assert set(about["files"]) == files - {"SHA256SUMS", "provenance.json"}
    if shutil.which("sha256sum"):
        done = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=out, capture_output=True)
        assert done.returncode == 0


def test_a_release_can_be_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = small_checkout(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(STAMP))
    release.make(home, tmp_path / "one")
    (home / "_build" / "html" / "index.html").touch()  # another time stamp, the same page
    release.make(home, tmp_path / "two")
    assert (tmp_path / "one" / "SHA256SUMS").read_text() == (tmp_path / "two" / "SHA256SUMS").read_text()


def test_students_get_nothing_of_the_instructors(tmp_path: Path) -> None:
    home = small_checkout(tmp_path)
    release.make(home, tmp_path / "dist")
    with zipfile.ZipFile(tmp_path / "dist" / "coursework-students.zip") as archive:
        assert [archive.read(name) for name in archive.namelist()] == [b"students"]


def test_packages_that_cannot_be_built_are_reported(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="the packages cannot be built"):
        packages.build(tmp_path, tmp_path / "dist", STAMP)


@pytest.mark.long
def test_the_wheel_holds_code_data_and_results_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    tops = {name.split("/")[0] for name in names}
    assert tops == {"marginbook", "marginbook-0.1.0.dist-info"}
    shipped = "marginbook/_shipped/"
    assert {
        f"{shipped}data_download/registry.toml",
        f"{shipped}book/guide.md",
        "marginbook/cli/skeleton/room/paper/paper.toml.in",
        "marginbook/__init__.pyi",
        "marginbook/py.typed",
    } <= names
    for room in SETTLED:
        assert any(name.startswith(f"{shipped}results/{room}/") for name in names)
        assert f"marginbook/{room}/paper/protocol.toml" in names
        assert f"marginbook/{room}/paper/paper.toml" in names
    assert any(name.endswith("/claims/errata.toml") for name in names)
    unwanted = ("tests/", "notebooks/", ".ipynb", ".pyc", ".nbi", ".nbc")
    assert not [
        name
        for name in names
        if not name.startswith(("marginbook/notebooks/", "marginbook/cli/skeleton/"))
        and any(part in name for part in unwanted)
    ]
    assert wheel.stat().st_size < 6_000_000


@pytest.mark.long
def test_the_wheel_works_without_the_checkout(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    environment = {name: value for name, value in os.environ.items() if name != "MARGINBOOK_HOME"}
    environment |= {"PYTHONPATH": str(tmp_path / "installed"), "COLUMNS": "200"}
    code = (
        "import marginbook, marginbook.base.project as p; print(marginbook.__file__, p.root());"
        "from marginbook.cli import main; main(['data', 'list'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path / "installed"))
    assert done.stdout.splitlines()[0].endswith(" None")
    assert "banana" in done.stdout
