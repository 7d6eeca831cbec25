"""What estimators, functions and parsers do with bad input, as tables; from the stored campaigns."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from ..base.project import resource
from ..base.public import public_estimators
from ..base.rooms import papers
from . import long_runs_page
from .myst import NOTHING, plain, table
from .stored import stored_rows

_OUTCOMES = (
    "examples",
    "certified",
    "warned",
    "answered",
    "input",
    "parameter",
    "problem",
    "fault",
    "slowest",
)
_PARSED = ("files", "right", "refused", "messages", "branches", "faults")
_CHECKED = ("passed", "skipped", "expected", "failed")
_SAID = {
    "input": "what was given as rows or labels",
    "parameter": "a parameter",
    "problem": "what the method cannot work with",
    "warned": "an answer without its certificate (a warning)",
}


def write(folder: Path) -> None:
    """Write ``bad-input.md`` from ``results/robustness``."""
    folder.joinpath("bad-input.md").write_text(page(), encoding="utf-8")
    fits = _rows("estimators")
    folder.joinpath("bad-input-found.md").write_text(_found(fits) if fits else "", encoding="utf-8")


def page() -> str:
    """Return all tables, or where nothing is stored the commands that measure them."""
    fits, calls, checks, files = (_rows(name) for name in ("estimators", "functions", "checks", "parsers"))
    if not (fits and calls and checks and files):
        return (
            "Something is not stored; `campaign`, `checks` and `fuzzing` of `tests.robustness` measure it.\n"
        )
    parts = ["## Estimators", "", _summary(fits, "fits", "estimators"), _since(fits), _outcomes(fits)]
    if hour := long_runs_page.fits_told():
        parts += [hour, ""]
    parts += ["## What is said", "", _messages(_rows("messages"))]
    parts += ["## Functions", "", _summary(calls, "calls", "functions"), _outcomes(calls)]
    parts += ["## The checks of scikit-learn", "", _checks(checks)]
    parts += ["## Files", "", _files(files)]
    return "\n".join(parts)


def _found(rows: Sequence[dict[str, str]]) -> str:
    fits, faults = (sum(int(row[name]) for row in rows) for name in ("examples", "fault"))
    return f"Of {fits:,} fits of {len(rows)} estimators to such input {faults:,} ended otherwise.\n"


def _summary(rows: Sequence[dict[str, str]], what: str, of: str) -> str:
    total = {name: sum(int(row[name]) for row in rows) for name in _OUTCOMES[:-1]}
    refused = total["input"] + total["parameter"] + total["problem"]
    place = rows[0]
    return (
        f"{total['examples']:,} {what} of {len(rows)} {of}: {total['certified']:,} certified, "
        f"{total['warned']:,} with a warning, {total['answered']:,} answered, {refused:,} refused by a "
        f"clear error, **{total['fault']:,} faults**. The slowest took "
        f"{max(float(row['slowest']) for row in rows):.1f} processor seconds. Python {place['python']}, "
        f"NumPy {place['numpy']}, SciPy {place['scipy']}, scikit-learn {place['sklearn']}"
        f"{at(place)}.\n"
    )


def at(row: dict[str, str]) -> str:
    """Return at which commit a row was measured, where that is stored."""
    return f", at commit {row['commit']}" if row.get("commit") else ""


def _since(rows: Sequence[dict[str, str]]) -> str:
    """Return which public estimators have no row, and which rows are of names that are no longer public."""
    measured, now = [row["name"] for row in rows], public_estimators()
    former = {new: name for name in measured if name not in now and (new := _name_now(name))}
    told = [
        f"`{name}` was measured under its old name, `{former[name]}`."
        if name in former
        else f"`{name}` has not been measured."
        for name in now
        if name not in measured
    ]
    told += [f"`{name}` is no longer public." for name in measured if name not in {*now, *former.values()}]
    return " ".join(told) + "\n" if told else ""


def _name_now(old: str) -> str | None:
    """Return the public name of an estimator that had another: the old class warns, and derives from it."""
    for room in papers():
        if known := getattr(import_module(f"marginbook.{room}"), old, None):
            return str(known.__bases__[0].__name__)
    return None


def _outcomes(rows: Sequence[dict[str, str]]) -> str:
    headings = [
        "name",
        "examples",
        "certified",
        "warned",
        "answered",
        "input",
        "parameter",
        "problem",
        "faults",
        "slowest, s",
    ]
    cells = [[f"`{row['name']}`", *(row[name] for name in _OUTCOMES)] for row in rows]
    # a column of one number says less than a sentence, and puts the last ones out of sight
    columns = list(zip(*cells, strict=True))
    same = {headings[k]: column[0] for k, column in enumerate(columns[:-1]) if k and len(set(column)) == 1}
    kept = [k for k, heading in enumerate(headings) if heading not in same]
    headings, cells = [headings[k] for k in kept], [[line[k] for k in kept] for line in cells]
    told = [f"{int(same.pop('examples')):,} examples"] if "examples" in same else []
    told += [f"{int(value):,} {heading}" for heading, value in same.items()]
    lead = f"Each has {', '.join(told)}.\n\n" if told else ""
    made = table(headings, cells, widths=[28, *[8] * (len(headings) - 1)], classes="sortable wide")
    return f"{lead}{made}"


def _messages(rows: Sequence[dict[str, str]]) -> str:
    cells = [[_SAID[row["kind"]], plain(row["message"]), row["count"]] for row in rows]
    return table(
        ["about", "for example", "times"], cells, widths=[26, 64, 10], classes="sortable wide cards said"
    )


def _checks(rows: Sequence[dict[str, str]]) -> str:
    total = {name: sum(int(row[name]) for row in rows) for name in _CHECKED}
    lead = (
        f"`check_estimator` of scikit-learn {rows[0]['sklearn']}{at(rows[0])} on {len(rows)} estimators: "
        f"{total['passed']:,} checks passed, {total['failed']:,} failed. "
        "Skipped are those that scikit-learn itself skips.\n"
    )
    cells = [
        [f"`{row['name']}`", *(row[name] for name in _CHECKED), plain(row["skips"]) or NOTHING]
        for row in rows
    ]
    return f"{lead}\n" + table(
        ["name", *_CHECKED, "what was skipped"], cells, widths=[28, 8, 8, 8, 8, 40], classes="sortable wide"
    )


def _files(rows: Sequence[dict[str, str]]) -> str:
    files, faults = (sum(int(row[name]) for row in rows) for name in ("files", "faults"))
    lead = (
        f"{files:,} files in {sum(int(row['seconds']) for row in rows)} seconds, grown by atheris "
        f"{rows[0]['atheris']} towards new branches of the parsers: **{faults} faults**.\n"
    )
    cells = [[f"`{row['format']}`", *(row[name] for name in _PARSED)] for row in rows]
    return f"{lead}\n" + table(["format", *_PARSED], cells, classes="sortable wide")


def _rows(name: str) -> list[dict[str, str]]:
    return stored_rows(resource("results", "robustness", f"{name}.csv"))
