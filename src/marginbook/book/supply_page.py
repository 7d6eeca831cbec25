"""What the book is built from: the lock, tests on other Pythons and with old versions, licences."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..base.project import root
from .myst import NOTHING, dropdown, plain, table
from .stored import stored_rows

_PIN = re.compile(r"^([\w.-]+)(?:\[[^]]*\])?==([^ ;\\]+)", flags=re.M)


def write(folder: Path) -> None:
    """Write ``supply-tests.md``, ``supply-wheel.md``, ``supply-bounds.md`` and ``supply-licences.md``."""
    home = root() or Path()
    runs, rows = outcomes(home / "results" / "supply"), licences(home / "results" / "supply")
    reasons = home / "supply" / "copyleft.toml"
    known = tomllib.loads(reasons.read_text(encoding="utf-8")) if reasons.is_file() else {}
    alone = outcomes(home / "results" / "wheel")
    pages = {
        "tests": tests(runs, "`make versions` and `make lowest` measure it") + outdated(runs, home, _command),
        "wheel": tests(alone, "`make alone` measures it") + outdated(alone, home, lambda run: "make alone"),
    }
    pages |= {"bounds": bounds(home, runs), "licences": licence_tables(rows, known)}
    for name, text in pages.items():
        folder.joinpath(f"supply-{name}.md").write_text(text, encoding="utf-8")


def outcomes(folder: Path) -> list[dict[str, Any]]:
    """Return the stored outcomes of the unit tests, oldest Python first."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    return sorted(
        found, key=lambda run: (run["system"], [int(n) for n in run["python"].split(".")], run["lock"])
    )


def licences(folder: Path) -> list[dict[str, str]]:
    """Return the rows of ``licences.csv``."""
    return stored_rows(folder / "licences.csv")


def tests(runs: list[dict[str, Any]], measured: str) -> str:
    """Return the table of outcomes, and the names of tests that failed; without any, how it is `measured`."""
    if not runs:
        return f"Nothing is stored; {measured}.\n"
    rows = [
        [
            f"{run['system']} {plain(run['machine'])}",
            run["python"],
            f"`{run['lock']}`",
            *(str(run[name]) for name in ("passed", "failed", "skipped")),
            run.get("commit") or NOTHING,
        ]
        for run in runs
    ]
    headings, widths = (
        ["system", "Python", "versions", "passed", "failed", "skipped"],
        [18, 12, 34, 12, 12, 12],
    )
    if any(run.get("commit") for run in runs):  # older runs did not say
        headings, widths = [*headings, "commit"], [*widths, 18]
    parts = [table(headings, [row[: len(headings)] for row in rows], widths=widths, classes="")]
    for run in runs:
        title = f"Python {run['python']}, {run['lock']}"
        if run["failures"]:
            names = "\n".join(f"- `{name}`" for name in run["failures"])
            parts.append(dropdown(f"What failed with {title}", names))
        if run["skips"]:
            why = "\n".join(
                f"- {plain(' '.join(text.split()))}: {count}" for text, count in run["skips"].items()
            )
            parts.append(dropdown(f"What was skipped with {title}, and why", why))
    return "\n".join(parts)


def outdated(runs: list[dict[str, Any]], home: Path, command: Callable[[dict[str, Any]], str]) -> str:
    """Return which outcomes are of an older lock than that of the checkout, and what measures them again."""
    told = []
    for run in runs:
        lock = home / run["lock"]
        now = hashlib.sha256(lock.read_bytes()).hexdigest() if lock.is_file() else ""
        if now != run["lock_sha256"]:
            told.append(f"Python {run['python']} with `{run['lock']}` (`{command(run)}`)")
    return f"\nThe versions have changed since these were measured: {'; '.join(told)}.\n" if told else ""


def _command(run: dict[str, Any]) -> str:
    if "lowest" in run["lock"]:
        return "make lowest"
    return f"make versions PYTHON=python{run['python'].rpartition('.')[0]}"


def bounds(home: Path, runs: list[dict[str, Any]]) -> str:
    """Return the table of what pyproject.toml asks for: the bound, the oldest tested, the locked version."""
    locked, lowest = (pins(home / name) for name in ("requirements.lock", "requirements-lowest.lock"))
    tested = {name for run in runs if run["lock"] == "requirements-lowest.lock" for name in run["packages"]}
    project = tomllib.loads((home / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    rows = []
    groups = {"library": project["dependencies"], **project["optional-dependencies"]}
    for group, lines in groups.items():
        for line in lines:
            name = re.split(r"[<>=!~;]", line)[0].strip()
            bound = line[len(name) :]
            if not name.startswith("marginbook["):
                low = lowest.get(name.lower(), NOTHING)
                rows.append(
                    [
                        f"`{name}`",
                        group,
                        f"`{bound}`" if bound else NOTHING,
                        low,
                        locked.get(name.lower(), NOTHING),
                    ]
                )
    note = "" if tested else "The oldest versions are resolved; no run with them is stored.\n"
    headings = ["package", "part", "asked for", "oldest", "locked"]
    return note + table(headings, rows, widths=[26, 18, 20, 18, 18])


def pins(lock: Path) -> dict[str, str]:
    """Return name -> version of a lock; for packages with several versions the first."""
    found: dict[str, str] = {}
    for name, version in _PIN.findall(lock.read_text(encoding="utf-8")):
        found.setdefault(name.lower(), version)
    return found


def licence_tables(rows: list[dict[str, str]], reasons: dict[str, str]) -> str:
    """Return the number of packages of each kind of licence, what is copyleft and why it may be, all rows."""
    if not rows:
        return "Nothing is stored; `make lock` lists the licences.\n"
    kinds = Counter(row["kind"] for row in rows)
    count = ", ".join(f"{number} {name}" for name, number in kinds.most_common())
    flagged = [row for row in rows if row["kind"] != "permissive" or row["carries"]]
    once = {row["package"]: row for row in flagged}
    copyleft = table(
        ["package", "licence", "texts in the wheel", "why it is no obstacle"],
        [
            [
                f"`{name}`",
                plain(row["licence"]),
                plain(row["carries"]) or NOTHING,
                plain(reasons.get(name, NOTHING)),
            ]
            for name, row in once.items()
        ],
        widths=[14, 26, 20, 40],
        classes="",
    )
    everything = table(
        ["package", "version", "only for", "licence as stated"],
        [
            [
                f"`{row['package']}`",
                plain(row["version"]),
                plain(row["where"]) or NOTHING,
                plain(row["licence"]),
            ]
            for row in rows
        ],
        widths=[26, 14, 24, 36],
    )
    names = f"{len(rows)} files of {len({row['package'] for row in rows})} packages: {count}.\n"
    return "\n".join([names, copyleft, dropdown("All packages with their licences", everything)])
