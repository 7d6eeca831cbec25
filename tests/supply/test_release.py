"""A release: the same bytes twice, checksums that hold, a wheel with what it needs and nothing else."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from marginbook import __version__
from marginbook.base import packages
from marginbook.book import release
from marginbook.datasets.cache import sha256_of

from ..git import git
from ..locales import IN_LOCALE, turkish
from ..settled import SETTLED

ROOT = Path(__file__).resolve().parents[2]
STAMP = 1_700_000_000
#: the first patches of Python 3.11 have no filters, and the later ones warn without
CAREFULLY: Any = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}

#: two settings of a machine
MACHINES = (
    {"folder": "plain", "umask": "0o022", "TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "1"},
    {
        "folder": "größer, mit Platz",
        "umask": "0o077",
        "TZ": "Asia/Kathmandu",
        "LC_ALL": "C",
    },
)


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    """Return the settings, the second in Turkish where that can be compiled."""
    first, second = MACHINES
    return [first, second | turkish(tmp_path_factory.mktemp("locale"))]


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
        f'[project]\nname = "marginbook"\nversion = "{__version__}"\nrequires-python = ">=3.11"\n'
    )
    pages = home / "_build" / "html"
    (pages / "_static").mkdir(parents=True)
    (pages / "index.html").write_text("<h1>one page</h1>")
    (pages / "_static" / "errata.json").write_text("{}")
    for readers in ("students", "instructors"):
        (home / "_build" / "coursework" / readers).mkdir(parents=True)
        (home / "_build" / "coursework" / readers / "drm.zip").write_bytes(readers.encode())
    return home


def unpack(archive: Path, folder: Path) -> Path:
    """Return what is in a source distribution, as git would have checked it out under another umask."""
    with tarfile.open(archive) as opened:
        opened.extractall(folder, **CAREFULLY)
    (home,) = folder.iterdir()
    (home / "PKG-INFO").unlink()  # which the build has added
    for path in home.rglob("*"):
        path.chmod(path.stat().st_mode & 0o700)
    return home


def on_machine(machine: dict[str, str], code: str, home: Path, out: Path) -> None:
    """Run code about `home` and `out` in a process with one of the settings, in its language."""
    environment = {name: text for name, text in os.environ.items() if name != "SOURCE_DATE_EPOCH"} | machine
    start = "import os, sys; from pathlib import Path; home, out = map(Path, sys.argv[1:]); os.umask"
    command = [sys.executable, "-c", f"{IN_LOCALE}{start}({machine['umask']}); {code}", str(home), str(out)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def commit(folder: Path) -> Path:
    """Make a folder a repository with one commit, of the time `STAMP`."""
    when = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), f"{STAMP} +0545")
    shutil.copy(ROOT / ".gitattributes", folder)
    (folder / ".git_archival.txt").write_text(
        "node: $Format:%H$\ntime: $Format:%ct$\n"
    )  # ours, before git fills it
    git(folder, "init", "--quiet")
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--message", "One", **when)
    return folder


def test_another_machine_builds_the_same_bytes(
    built: Path, machines: list[dict[str, str]], tmp_path: Path
) -> None:
    (archive,) = built.glob("*.tar.gz")
    home = unpack(archive, tmp_path / machines[1]["folder"])
    build = f"from marginbook.base import packages; packages.build(home, out, {STAMP})"
    on_machine(machines[1], build, home, tmp_path / "dist")
    names = sorted(path.name for path in built.iterdir())
    assert len(names) == 2
    assert names == sorted(path.name for path in (tmp_path / "dist").iterdir())
    for name in names:
        assert sha256_of(built / name) == sha256_of(tmp_path / "dist" / name), f"{name} differs"


def test_two_machines_make_the_same_release_of_a_commit(
    machines: list[dict[str, str]], tmp_path: Path
) -> None:
    committed = commit(small_checkout(tmp_path))
    for number, machine in enumerate(machines):
        home = tmp_path / machine["folder"]
        shutil.copytree(committed, home, copy_function=shutil.copy)  # with times of now
        make = "from marginbook.book import release; release.make(home, out)"
        on_machine(machine, make, home, tmp_path / str(number))
    first, second = ((tmp_path / name / "SHA256SUMS").read_text() for name in "01")
    assert len(first.splitlines()) == 7
    assert first == second
    about = json.loads((tmp_path / "1" / "provenance.json").read_text())
    assert about["source_date_epoch"] == STAMP
    assert len(about["commit"]) == 40


def test_an_archive_of_a_commit_knows_it_and_another_repository_around_it_does_not(tmp_path: Path) -> None:
    home = commit(small_checkout(tmp_path))
    known = release.provenance(home, release.commit_time(home))
    outer = tmp_path / "outer"
    archive = tmp_path / "archive.tar"
    git(home, "archive", "-o", str(archive), "HEAD")
    shutil.unpack_archive(archive, outer / "inside", **CAREFULLY)
    commit(outer)
    assert release.provenance(outer / "inside", release.commit_time(outer / "inside")) == known
    (outer / "inside" / ".git_archival.txt").unlink()
    assert release.commit_time(outer / "inside") == 315532800
    assert release.provenance(outer / "inside", 0)["commit"] == ""


def test_a_release_holds_what_is_built_and_its_checksums_hold(tmp_path: Path) -> None:
    home, out = small_checkout(tmp_path), tmp_path / "dist"
    files = {path.name for path in release.make(home, out)}
    assert {"SHA256SUMS", "provenance.json", "errata.json", f"marginbook-{__version__}-book.zip"} <= files
    assert {"coursework-students.zip", "coursework-instructors.zip"} <= files
    assert {f"marginbook-{__version__}.tar.gz", f"marginbook-{__version__}-py3-none-any.whl"} <= files
    lines = (out / "SHA256SUMS").read_text().splitlines()
    assert {line.split("  ")[1] for line in lines} == files - {"SHA256SUMS"}
    for line in lines:
        digest, name = line.split("  ")
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == digest
    about = json.loads((out / "provenance.json").read_text())
    assert about["version"] == __version__
    assert set(about["files"]) == files - {"SHA256SUMS", "provenance.json"}
    if shutil.which("sha256sum"):
        done = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=out, capture_output=True)
        assert done.returncode == 0


def test_a_release_has_the_two_pages_or_says_why_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, told = small_checkout(tmp_path), []
    release.make(home, tmp_path / "without", told.append)
    assert told == [
        "the findings on two pages are not in it as a PDF: the book is not built, or has no such page"
    ]
    (home / "_config.yml").write_text("sphinx: {config: {html_baseurl: https://example.org}}\n")
    asked = []

    def printed(html: Path, stamp: int, address: str) -> Path:
        asked.append(address)
        (html / "two.pdf").write_bytes(b"%PDF")
        return html / "two.pdf"

    monkeypatch.setattr(release, "print_summary", printed)
    files = {path.name for path in release.make(home, tmp_path / "with", told.append)}
    assert "two.pdf" in files
    assert asked == ["https://example.org/"]
    assert len(told) == 1
    with zipfile.ZipFile(tmp_path / "with" / f"marginbook-{__version__}-book.zip") as archive:
        assert "two.pdf" in archive.namelist()


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


def test_the_wheel_holds_code_data_and_results_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    tops = {name.split("/")[0] for name in names}
    assert tops == {"marginbook", f"marginbook-{__version__}.dist-info"}
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
