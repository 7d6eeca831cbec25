"""requirements.lock, pyproject.toml and environment.yml say the same.

Run as a script it prints environment.yml: `make lock` writes the file with it.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON = "3.11"
#: conda-forge's names where they differ from PyPI's
CONDA_NAMES = {"uv": "uv", "playwright": "playwright-python", "matplotlib": "matplotlib-base"}


def locked_versions() -> dict[str, str]:
    """Return name -> version of requirements.lock for the Python of environment.yml."""
    versions: dict[str, str] = {}
    for line in (ROOT / "requirements.lock").read_text().splitlines():
        match = re.match(r"([A-Za-z0-9_.-]+)(?:\[[^]]*\])?==([^ ;\\]+)\s*(?:;([^\\]*))?", line)
        if match and _applies(match[3] or ""):
            versions[match[1].lower()] = match[2]
    return versions


def _applies(marker: str) -> bool:
    from packaging.markers import Marker, default_environment

    return not marker.strip() or Marker(marker.strip()).evaluate(
        {**default_environment(), "python_version": PYTHON, "python_full_version": f"{PYTHON}.0"}
    )


def direct_dependencies() -> list[str]:
    """Return the names that pyproject.toml asks for, all extras together."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = list(project["dependencies"])
    for name, extra in project["optional-dependencies"].items():
        if name not in ("coursework", "mutants"):  # not locked; pyproject.toml says why
            wanted += [item for item in extra if not item.startswith("marginbook[")]
    return sorted({re.match(r"[A-Za-z0-9_.-]+", item)[0].lower() for item in wanted})


def environment() -> str:
    """Return the text of environment.yml: conda, with the versions of the lock."""
    versions = locked_versions()
    lines = [f"  - {CONDA_NAMES.get(name, name)}={versions[name]}" for name in direct_dependencies()]
    head = [
        "# written by `make lock`; the same versions as requirements.lock",
        "name: marginbook",
        "channels:",
    ]
    head += ["  - conda-forge", "dependencies:", f"  - python={PYTHON}", "  - pip", "  - make"]
    return "\n".join([*head, *lines, "  - pip:", "      - --editable .", ""])


def test_environment_file_agrees_with_the_lock() -> None:
    assert (ROOT / "environment.yml").read_text() == environment(), "run `make lock`"


def test_every_direct_dependency_is_locked_with_hashes() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    for name in direct_dependencies():
        assert re.search(rf"(?mi)^{re.escape(name)}==\S+[^\n]*\\\n\s+--hash=sha256:[0-9a-f]{{64}}", lock), (
            name
        )


def test_every_dependency_says_why() -> None:
    # tables of tools come after those of the project
    text = (ROOT / "pyproject.toml").read_text().partition("[project.scripts]")[0]
    blocks = re.findall(r'^    "(?!marginbook\[)[A-Za-z].*$', text, flags=re.M)
    dependencies = [line for line in blocks if "::" not in line]
    assert dependencies
    for line in dependencies:
        assert "#" in line, f"pyproject.toml: {line.strip()} has no reason beside it"


if __name__ == "__main__":
    sys.stdout.write(environment())
