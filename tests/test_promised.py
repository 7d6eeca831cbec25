"""What is public stays so: the list under version control, and the two steps in which a name goes."""

from __future__ import annotations

import difflib
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from marginbook.base.project import resource

from . import promised

CHANGES = Path(__file__).resolve().parents[1] / "CHANGELOG.md"
GONE, KEPT = promised.stored()[1], promised.stored()[0]


def leaving() -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return the old names of the page, each with what to take instead and since which version it warns."""
    page = resource("book", "api", "index.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(marginbook[^`]*|\$[^`]*)` \| (.+?) \| (\d+)\.(\d+)\.(\d+) \|$", page, re.M)
    return {old: (new, tuple(map(int, since))) for old, new, *since in rows}


def objections(gone: str, rows: dict[str, tuple[str, tuple[int, ...]]], changes: str) -> list[str]:
    """Return why a name was not allowed to go."""
    found, [(*version, name)] = [], promised.GONE.findall(gone)
    last = tuple(map(int, version))
    if promised.in_two_steps(name) and not (name in rows and rows[name][1] <= last):
        found.append(
            f"{name} went without a warning: keep it, let it raise FutureWarning, list it in "
            "book/api/index.md, and take it out after a release"
        )
    newer = re.split(rf"^## \[?{re.escape('.'.join(version))}\b", changes, flags=re.M)[0]
    words = re.findall(r"[\w-]+", name.removeprefix("$ marginbook"))
    words = words[-2:] if name.endswith(")") else words[-1:]
    if not any(
        all(re.search(rf"(?<!\w){re.escape(w)}\b", entry) for w in words) for entry in newer.split("\n- ")
    ):
        found.append(f"{name} is gone, and no entry of CHANGELOG.md above {'.'.join(version)} says so")
    return found


def test_the_list_has_what_the_code_has():
    now = promised.surface()
    diff = "\n".join(difflib.unified_diff(KEPT, now, "tests/promised.txt", "the code", lineterm="", n=0))
    lost = "".join(f"\n  {each}" for each in promised.broken(KEPT, now))
    assert not diff, (
        f"what is public differs from the list; if it is meant, call: {promised.COMMAND}\n{diff}"
        + (f"\nold calls would miss:{lost}" if lost else "")
    )


@pytest.mark.parametrize("line", GONE)
def test_what_is_gone_was_allowed_to_go(line):
    assert objections(line, leaving(), CHANGES.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "name", [name for name in leaving() if not any(line.endswith(f": {name}") for line in GONE)]
)
def test_an_old_name_still_works_and_warns(name):
    value: Any = importlib.import_module("marginbook")
    for part in name.partition("(")[0].split(".")[1:]:
        inside = f"{getattr(value, '__name__', '')}.{part}"
        value = getattr(value, part, None) or importlib.import_module(inside)
    assert "FutureWarning" in inspect.getsource(getattr(value, "fget", value)), f"{name} does not warn"


CHANGELOG = "## Unreleased\n\n- `LDMClassifier` has no `width`.\n- `load` is gone.\n\n## 1.1.0\n\n- `find`\n"
TABLE = {
    "marginbook.LDMClassifier(width)": ("gamma", (1, 1, 0)),
    "marginbook.datasets.load": ("get", (1, 2, 0)),
}


@pytest.mark.parametrize(
    ("gone", "wrong"),
    [
        ("marginbook.LDMClassifier(width)", []),
        ("marginbook.datasets.load", ["without a warning"]),  # it began to warn later
        ("marginbook.LDMClassifier(C)", ["without a warning", "no entry"]),
        ("marginbook.ldm.solvers.load", []),
        ("marginbook.ldm.solvers.find", ["no entry"]),  # the entry is an older one
        ("$ marginbook data load", ["without a warning"]),
    ],
)
def test_a_name_goes_in_two_steps_and_with_an_entry(gone, wrong):
    found = objections(f"gone after 1.1.0: {gone}", TABLE, CHANGELOG)
    assert len(found) == len(wrong)
    assert all(part in text for part, text in zip(wrong, found, strict=True))


@pytest.mark.parametrize(
    ("before", "now", "missed"),
    [
        ("f(a, b=1)", "f(a, b=1, c=2, *, d=3)", []),
        ("f(a, *, b=1)", "f(a, b=1)", []),
        ("f(a)", "f(a=0)", []),
        ("f(a, b=1)", "f(a, b=2)", ["f(b)"]),
        ("f(a, b=1)", "f(a, b)", ["f(b)"]),
        ("f(a, b=1)", "f(a, *, b=1)", ["f(b)"]),
        ("f(a, b=1)", "f(a, c=0, b=1)", ["f(b)"]),
        ("f(a, b)", "f(a, /, b)", ["f(a)"]),
        ("f(a, b=1)", "f(a)", ["f(b)"]),
        ("f(a)", "f(a, b)", ["f(b)"]),
        ("f(*a, **b)", "f(*a)", ["f(b)"]),
        ("f(a)", "g(a)", ["f"]),
        ("C.coef_", "C.coef_", []),
        ("C.coef_", "C.coef_()", ["C.coef_"]),
        ("$ run --out", "$ run --to", ["$ run --out"]),
    ],
)
def test_what_an_old_call_would_miss(before, now, missed):
    assert promised.broken([before], [now]) == missed


def test_what_leaves_the_code_stays_in_the_list(tmp_path, monkeypatch):
    monkeypatch.setattr(promised, "FILE", tmp_path / "promised.txt")
    for version, surface in (
        ("0.9.0", ["a", "b"]),
        ("0.9.0", ["b(x)"]),
        ("1.0.0", ["b(x)", "c"]),
        ("1.1.0", ["b()"]),
    ):
        monkeypatch.setattr(promised, "__version__", version)
        monkeypatch.setattr(promised, "surface", lambda found=surface: found)
        promised.main()
    assert promised.stored() == (["b()"], ["gone after 1.1.0: b(x)", "gone after 1.1.0: c"])
