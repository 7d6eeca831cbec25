"""The list of packages in a release: complete, valid, and the same bytes each time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from marginbook.book import release, sbom
from marginbook.book.locked_packages import locked

from .scripts import ROOT

STAMP = 1_700_000_000
LOCK = """\
alpha==1.0 \\
    --hash=sha256:{0}
    # via
    #   marginbook (pyproject.toml)
    #   gamma
beta==2.0 ; python_version < '3.12' \\
    --hash=sha256:{0}
    # via alpha
beta==3.0 ; python_version >= '3.12' \\
    --hash=sha256:{0}
    # via alpha
gamma==4.0 \\
    --hash=sha256:{0}
    # via marginbook (pyproject.toml)
delta==5.0 \\
    --hash=sha256:{0}
    # via marginbook (pyproject.toml)
""".format("0" * 64)
PROJECT = """\
[project]
name = "marginbook"
license = "BSD-3-Clause"
dependencies = ["alpha>=1"]
optional-dependencies = { more = ["gamma[x]>=4"], test = ["marginbook[more]", "delta"] }
"""
LICENCES = """\
package,version,where,licence,kind,carries
alpha,1.0,,MIT,permissive,
beta,2.0,python_version < '3.12',BSD License,permissive,
beta,3.0,python_version >= '3.12',MIT OR GPL-3.0-only,permissive,GPL
gamma,4.0,,Apache-2.0,permissive,
delta,5.0,,MIT,permissive,
scripts,6.0,the pages,MIT,permissive,
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a checkout with a lock of five lines."""
    found = tmp_path / "home"
    (found / "results" / "supply").mkdir(parents=True)
    (found / "requirements.lock").write_text(LOCK)
    (found / "pyproject.toml").write_text(PROJECT)
    (found / "results" / "supply" / "licences.csv").write_text(LICENCES)
    return found


def written(home: Path, target: Path) -> dict[str, Any]:
    """Return the document of a checkout, checked against the schema of CycloneDX."""
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    sbom.write(home, target, STAMP)
    text = target.read_text(encoding="utf-8")
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    return json.loads(text)


def test_each_package_has_its_version_its_licence_and_who_installs_it(home: Path, tmp_path: Path) -> None:
    found = written(home, tmp_path / "one.cdx.json")
    assert found["metadata"]["timestamp"] == "2023-11-14T22:13:20+00:00"
    parts = {each["bom-ref"]: each for each in found["components"]}
    assert {ref: each["scope"] for ref, each in parts.items()} == {
        "alpha@1.0": "required",
        "beta@2.0": "required",
        "beta@3.0": "required",
        "gamma@4.0": "optional",
        "delta@5.0": "excluded",
        "scripts@6.0": "required",
    }
    assert parts["alpha@1.0"]["licenses"] == [{"license": {"id": "MIT"}}]
    assert parts["beta@2.0"]["licenses"] == [{"license": {"name": "BSD License"}}]
    assert parts["beta@3.0"]["licenses"] == [{"expression": "MIT OR GPL-3.0-only"}]
    told = {each["name"]: each["value"] for each in parts["beta@3.0"]["properties"]}
    assert told == {"marginbook:marker": "python_version >= '3.12'", "marginbook:copyleft-texts": "GPL"}
    needs = {each["ref"]: each.get("dependsOn", []) for each in found["dependencies"]}
    (library,) = [ref for ref in needs if ref.startswith("marginbook@")]
    assert needs[library] == ["alpha@1.0", "delta@5.0", "gamma@4.0"]
    assert needs["alpha@1.0"] == ["beta@2.0", "beta@3.0"]
    assert needs["gamma@4.0"] == ["alpha@1.0"]


def test_the_same_lock_gives_the_same_bytes_and_another_one_another_number(
    home: Path, tmp_path: Path
) -> None:
    first = written(home, tmp_path / "one.cdx.json")
    written(home, tmp_path / "two.cdx.json")
    assert (tmp_path / "one.cdx.json").read_bytes() == (tmp_path / "two.cdx.json").read_bytes()
    (home / "results" / "supply" / "licences.csv").write_text(LICENCES.replace("Apache-2.0", "MIT"))
    assert written(home, tmp_path / "three.cdx.json")["serialNumber"] != first["serialNumber"]


def test_all_that_is_locked_is_in_the_list_of_this_checkout(tmp_path: Path) -> None:
    found = written(ROOT, tmp_path / "one.cdx.json")
    parts = {(each["name"], each["version"]): each for each in found["components"]}
    assert parts.keys() >= {(each.name, each.version) for each in locked(ROOT / "requirements.lock")}
    assert all(each["licenses"] for each in parts.values())
    required = {name for (name, _), each in parts.items() if each["scope"] == "required"}
    assert {"numpy", "scipy", "scikit-learn", "numba", "joblib", "threadpoolctl"} <= required
    assert not required & {"jupyter-book", "cvxpy", "pytest", "click"}


def test_a_release_has_it_with_a_checksum(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("marginbook.base.packages.build", lambda *given: None)
    names = {path.name for path in release.make(home, tmp_path / "dist")}
    (name,) = [name for name in names if name.endswith(".cdx.json")]
    assert name in (tmp_path / "dist" / "SHA256SUMS").read_text()
