"""The CSV files of ``benchmarks/results``: written whole or not at all, and compared with committed ones."""

from __future__ import annotations

import csv
import io
import math
import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...base.project import resource
from .timing import at_most

Row = dict[str, str]
#: a ratio that is worse by more than this factor is reported
FACTOR = 1.5
#: parts of the name of a row that are measured too, and may come out differently in the next run
_MEASURED = re.compile(
    r", (?:at least|which ended)\b.*$|, gap [\d.e-]+, \d+ % support vectors|, \d+% retained|, (?:[\d,]+ "
    r")(?:passes|sweeps)\b|, \d+ and \d+ machines|, F [\d.]+ times theirs|, [\d.e+-]+ (?:above|below)\b|, "
    r"rank \d+(?=, n=)|, dimension \d+ against \d+| with \d+ retained samples"
)


def stored(name: str) -> list[Row]:
    """Return the rows of one table of ``benchmarks/results``; none if it is not there."""
    path = resource("benchmarks", "results", f"{name}.csv")
    return parsed(path.read_text(encoding="utf-8")) if path.is_file() else []


def parsed(text: str) -> list[Row]:
    """Return the rows of a CSV text."""
    return list(csv.DictReader(io.StringIO(text, newline="")))


def write(path: Path, rows: Sequence[Row]) -> None:
    """Replace a file by these rows at once: a reader sees the old table or the new one."""
    if not rows:
        raise ValueError(f"no rows for {path.name}; a table has at least one")
    columns = list(dict.fromkeys(name for row in rows for name in row))
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, columns, restval="", lineterminator="\n")
            table.writeheader()
            table.writerows(rows)
        os.chmod(part, 0o644)  # mkstemp leaves it to its owner alone
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


def committed(home: Path, path: Path) -> list[Row] | None:
    """Return the rows of a file as the last commit of the checkout has it, None where that is not known."""
    name = path.relative_to(home).as_posix()
    try:
        shown = subprocess.run(
            ["git", "-C", str(home), "show", f"HEAD:{name}"], capture_output=True, encoding="utf-8"
        )
    except FileNotFoundError:
        return None
    return parsed(shown.stdout) if shown.returncode == 0 else None


@dataclass(frozen=True)
class Regression:
    """A ratio that is worse than the committed one, and by which factor."""

    what: str
    committed: float
    measured: float
    factor: float

    def __str__(self) -> str:
        return (
            f"{self.what}: {self.measured:.3g}, committed {self.committed:.3g}, {self.factor:.2f} times worse"
        )


def regressions(old: Iterable[Row], new: Iterable[Row]) -> list[Regression]:
    """Return the rows of a table of ratios that are worse by more than `FACTOR`, the worst first.

    Rows are matched by their names, without what is measured in them; a row that only one table has is left
    out.
    """
    before = {name(row): _ratio(row) for row in old if _is_ratio(row)}
    found = []
    for row in new:
        was = before.get(name(row)) if _is_ratio(row) else None
        if was is None:
            continue
        now = _ratio(row)
        worse = now / was if at_most(row["what"]) else was / now
        worse = float("inf") if math.isnan(worse) else worse
        if worse > FACTOR:
            found.append(Regression(name(row), was, now, worse))
    return sorted(found, key=lambda each: -each.factor)


def name(row: Row) -> str:
    """Return what a row compares, without what was measured on the way; sizes in other columns are added."""
    sizes = "".join(f", {key}={float(row[key]):g}" for key in ("m", "C") if key in row)
    return _MEASURED.sub("", row["what"]) + sizes


def _is_ratio(row: Row) -> bool:
    return "what" in row and ("ratio" in row or ("value" in row and bool(row.get("goal"))))


def _ratio(row: Row) -> float:
    return float(row.get("ratio") or row["value"])
