"""The lock, the list of licences and the page about both."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import tomllib
from pathlib import Path

import pytest

from marginbook.book import supply_page
from marginbook.book.locked_packages import locked

from .scripts import ROOT, script

LOCKS = ("requirements.lock", "requirements-lowest.lock")


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_package_has_hashes_and_nothing_comes_from_elsewhere(lock: str) -> None:
    text = (ROOT / lock).read_text()
    found = locked(ROOT / lock)
    starts = [line for line in text.splitlines() if line and line[0] not in "# "]
    assert len(found) == len(starts) > 100  # each line that starts a package is one with a version
    assert [each.name for each in found if not each.hashes] == []
    assert not re.search(r"https?://|git\+|file:|^--|^-e", text, flags=re.M)


@pytest.mark.parametrize("lock", LOCKS)
@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
@pytest.mark.parametrize("system", [("linux", "Linux"), ("darwin", "Darwin"), ("win32", "Windows")], ids=str)
def test_the_lock_has_one_version_for_each_python_and_system(
    lock: str, python: str, system: tuple[str, str]
) -> None:
    from packaging.markers import Marker

    where = {"python_version": python, "python_full_version": f"{python}.9", "sys_platform": system[0]}
    where |= {"platform_system": system[1], "os_name": "nt" if system[0] == "win32" else "posix"}
    where |= {"implementation_name": "cpython", "platform_python_implementation": "CPython"}
    chosen = [
        each.name for each in locked(ROOT / lock) if not each.marker or Marker(each.marker).evaluate(where)
    ]
    assert len(chosen) == len(set(chosen))
    assert {"numpy", "scipy", "scikit-learn", "numba", "jupyter-book"} <= set(chosen)


def test_every_dependency_has_a_lower_bound_and_the_lowest_lock_keeps_to_it() -> None:
    from packaging.requirements import Requirement

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [
        *project["dependencies"],
        *(x for extra in project["optional-dependencies"].values() for x in extra),
    ]
    lowest = supply_page.pins(ROOT / "requirements-lowest.lock")
    for line in lines:
        wanted = Requirement(line)
        if wanted.name == "marginbook":
            continue
        assert any(each.operator in (">=", "==") for each in wanted.specifier), f"{line}: no lower bound"
        if wanted.name in lowest:
            assert wanted.specifier.contains(lowest[wanted.name], prereleases=True), line


def test_every_locked_package_is_listed_with_its_licence() -> None:
    with (ROOT / "results" / "supply" / "licences.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    listed = {(row["package"], row["version"]) for row in rows}
    wanted = {(each.name, each.version) for each in locked(ROOT / "requirements.lock")}
    assert wanted - listed == set(), "run `make lock`"
    assert {name for name, _ in listed - wanted} == {"django-static-mathjax", "sphinx-revealjs"}
    assert [row["package"] for row in rows if row["kind"] == "unknown"] == []


def test_every_copyleft_licence_is_explained_and_nothing_else() -> None:
    rows = supply_page.licences(ROOT / "results" / "supply")
    flagged = {row["package"] for row in rows if row["kind"] != "permissive" or row["carries"]}
    assert flagged == set(tomllib.loads((ROOT / "supply" / "copyleft.toml").read_text()))


@pytest.mark.parametrize(
    ("licence", "kind"),
    [
        ("MIT", "permissive"),
        ("BSD-3-Clause AND MPL-2.0", "weak copyleft"),
        ("MIT OR GPL-3.0-or-later", "permissive"),
        ("GNU Lesser General Public License v3 (LGPLv3)", "weak copyleft"),
        ("GPL-3.0-only", "copyleft"),
        ("AGPL-3.0", "copyleft"),
        ("BSD License; GNU General Public License (GPL)", "copyleft"),
        ("", "unknown"),
    ],
)
def test_licences_are_told_apart(licence: str, kind: str) -> None:
    assert script("licences").kind(licence) == kind


def test_the_counts_are_those_of_the_report(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(
        '<testsuites><testsuite><testcase classname="a" name="one"/>'
        '<testcase classname="a" name="two"><failure/></testcase>'
        '<testcase classname="b" name="three"><skipped message="no Chromium"/></testcase>'
        '<testcase classname="b" name="four"><error/></testcase></testsuite></testsuites>'
    )
    assert script("unit_tests").counts(report) == {
        "passed": 1,
        "failed": 2,
        "skipped": 1,
        "failures": ["a::two", "b::four"],
        "skips": {"no Chromium": 1},
    }


def test_the_page_shows_what_was_measured_and_says_where_nothing_was(tmp_path: Path) -> None:
    run = {"python": "3.12.1", "system": "Linux", "machine": "x86_64", "lock": "requirements.lock"}
    run |= {
        "lock_sha256": "",
        "passed": 3071,
        "failed": 1,
        "skipped": 2,
        "failures": ["tests.a::b"],
        "skips": {"why_not": 2},
    }
    (tmp_path / "one.json").write_text(json.dumps(run))
    text = supply_page.tests(supply_page.outcomes(tmp_path), "")
    for piece in ("3.12.1", "3071", "`tests.a::b`", "why\\_not: 2"):
        assert piece in text
    assert "Nothing is stored" in supply_page.tests([], "`make versions`")
    supply_page.write(tmp_path)
    assert "`numpy`" in (tmp_path / "supply-bounds.md").read_text()
    assert "docutils" in (tmp_path / "supply-licences.md").read_text()


def test_an_outcome_of_an_older_lock_says_so_and_what_measures_it_again(tmp_path: Path) -> None:
    runs = []
    for name, python in (("requirements.lock", "3.12.1"), ("requirements-lowest.lock", "3.11.7")):
        (tmp_path / name).write_text(name)
        found = hashlib.sha256(name.encode()).hexdigest()
        runs.append({"python": python, "lock": name, "lock_sha256": found})
    assert supply_page.outdated(runs, tmp_path, supply_page._command) == ""
    (tmp_path / "requirements.lock").write_text("numpy==3")
    told = supply_page.outdated(runs, tmp_path, supply_page._command)
    assert "Python 3.12.1 with `requirements.lock` (`make versions PYTHON=python3.12`)." in told
    assert "3.11.7" not in told
    (tmp_path / "requirements-lowest.lock").unlink()
    assert "Python 3.11.7 with `requirements-lowest.lock` (`make lowest`)" in supply_page.outdated(
        runs, tmp_path, supply_page._command
    )


def test_the_commit_of_an_outcome_is_shown_where_it_is_stored() -> None:
    run = {"python": "3.12.1", "system": "Linux", "machine": "x", "lock": "requirements.lock"}
    run |= {"passed": 1, "failed": 0, "skipped": 0, "failures": [], "skips": {}}
    assert "commit" not in supply_page.tests([run], "")
    text = supply_page.tests([run, run | {"commit": "abc123"}], "")
    assert text.count("abc123") == 1


def test_stored_outcomes_are_whole_runs() -> None:
    for run in supply_page.outcomes(ROOT / "results" / "supply"):
        assert run["lock"] in LOCKS
        assert run["passed"] > 1000
        assert run["failed"] == len(run["failures"])
        assert run["skipped"] == sum(run["skips"].values())
