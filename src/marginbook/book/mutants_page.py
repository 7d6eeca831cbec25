"""Would the tests notice? ``results/mutants/`` as tables of scores, and the mutants that change nothing."""

from __future__ import annotations

import csv
import shutil
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path

from ..base.project import resource
from .myst import NOTHING, dropdown, plain, table

CSV = "mutants.csv"
EQUIVALENT = "equivalent.toml"
#: what came out: a test failed, or took ten times its time; or nothing happened; or no test runs the line
NOTICED, OUTCOMES = ("killed", "timeout"), ("killed", "timeout", "survived", "no test")
Key = tuple[str, str, str, int]


@dataclass(frozen=True)
class Row:
    """One mutant and what came out; the attributes are the columns of the file.

    Attributes
    ----------
    seed : int
        Of the sample.
    file, room, kind : str
    line : int
        Its number when it was mutated.
    operator : str
        Cosmic Ray's name of the change.
    occurrence : int
        Which of the operator's mutants on lines with this text.
    before, after : str
        The line, and what it became.
    outcome, killed_by : str
        One of `OUTCOMES`, and the test that failed or took too long.
    tests, seconds : int, float
        How many tests it met, and how long that took.
    budget : float
        How many seconds of tests, as they take without it, it might meet; 0 if not all test files were asked.
    source, against : str
        Hashes of the file, and of the test that noticed, or of all tests if none did.
    """

    seed: int
    file: str
    room: str
    kind: str
    line: int
    operator: str
    occurrence: int
    before: str
    after: str
    outcome: str
    killed_by: str
    tests: int
    seconds: float
    budget: float
    source: str
    against: str

    @property
    def key(self) -> Key:
        return self.file, self.before, self.operator, self.occurrence


COLUMNS = [each.name for each in fields(Row)]


def write(folder: Path) -> None:
    """Write the parts of the page, ``mutants-*.md``, and the file that it offers."""
    stored = resource("results", "mutants")
    rows, same = read(stored / CSV), equivalents(stored / EQUIVALENT)
    folder.joinpath("mutants-scores.md").write_text(scores(rows, same), encoding="utf-8")
    folder.joinpath("mutants-survivors.md").write_text(survivors(rows, same), encoding="utf-8")
    folder.joinpath("mutants-equivalent.md").write_text(listed(same), encoding="utf-8")
    if rows:
        shutil.copyfile(stored / CSV, folder / CSV)


def read(path: Path) -> list[Row]:
    """Return the rows of a file in its order, none if it is not there."""
    if not path.is_file():
        return []
    whole: dict[str, type] = dict.fromkeys(("seed", "line", "occurrence", "tests"), int)
    kinds: dict[str, type] = whole | {"seconds": float, "budget": float}
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Row(**{name: kinds.get(name, str)(value) for name, value in row.items()})
            for row in csv.DictReader(file)
        ]


def equivalents(path: Path) -> dict[Key, dict[str, str]]:
    """Return the mutants of which someone judged that they change nothing that could be noticed."""
    if not path.is_file():
        return {}
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("mutant", [])
    return {(one["file"], one["line"], one["operator"], one["occurrence"]): one for one in entries}


def history(rows: Iterable[Row]) -> list[tuple[Row, Row]]:
    """Return for each mutant of each sample the first row and the last."""
    met: dict[tuple[int, Key], list[Row]] = defaultdict(list)
    for row in rows:
        met[row.seed, row.key].append(row)
    return [(some[0], some[-1]) for some in met.values()]


def scores(rows: list[Row], same: Iterable[Key]) -> str:
    """Return what share of the mutants the tests notice: in all, by room and by kind of file."""
    left_out = set(same)
    met = [pair for pair in history(rows) if pair[1].key not in left_out]
    if not met:
        return "Nothing is stored; `make mutants` measures it.\n"
    seeds = sorted({last.seed for _, last in met})
    noticed = sum(last.outcome in NOTICED for _, last in met)
    told = (
        f"The tests notice {noticed:,} of {len(met):,} mutants, {_interval(noticed, len(met))}, drawn with "
        f"{'the seeds' if len(seeds) > 1 else 'the seed'} {', '.join(map(str, seeds))}. "
        f"{len(left_out):,} that change nothing are not counted.\n"
    )
    parts = [told]
    for name, values in (
        ("seed", [str(last.seed) for _, last in met]),
        ("package", [last.room for _, last in met]),
        ("kind of file", [last.kind for _, last in met]),
    ):
        if name == "seed" and len(seeds) == 1:
            continue
        groups = defaultdict(list)
        for value, pair in zip(values, met, strict=True):
            groups[value].append(pair)
        lines = [_line(value, groups[value]) for value in sorted(groups)]
        headings = [name, "mutants", "noticed", "95 % interval", "at first", "time out", "no test"]
        parts.append(table(headings, lines, classes="sortable"))
    return "\n".join(parts)


def survivors(rows: list[Row], same: Iterable[Key]) -> str:
    """Return the mutants that nobody noticed, closed until a reader asks; the CSV has all of them."""
    left_out = set(same)
    left = [last for _, last in history(rows) if last.outcome not in NOTICED and last.key not in left_out]
    if not rows:
        return ""
    offered = f"{{download}}`All mutants (.csv) <_generated/{CSV}>`\n"
    if not left:
        return offered
    body = [
        [plain(f"{row.file.removeprefix('src/marginbook/')}:{row.line}"), *_change(row.before, row.after)]
        for row in sorted(left, key=lambda row: (row.file, row.line, row.after))
    ]
    text = table(["where", "the line", "became"], body, widths=[30, 35, 35], classes="")
    return f"{offered}\n{dropdown(f'{len(left):,} that no test noticed', text)}"


def listed(same: dict[Key, dict[str, str]]) -> str:
    """Return the equivalent mutants with the reasons."""
    if not same:
        return "None is listed.\n"
    lines = [
        [
            plain(one["file"].removeprefix("src/marginbook/")),
            *_change(one["line"], one["became"]),
            plain(one["reason"]),
        ]
        for one in sorted(same.values(), key=lambda one: (one["file"], one["line"], one["became"]))
    ]
    return table(["file", "the line", "became", "why nothing changes"], lines, widths=[20, 25, 25, 30])


def _change(before: str, after: str) -> list[str]:
    return [f"`` {before} ``", f"`` {after or '(nothing)'} ``"]


def _line(name: str, met: list[tuple[Row, Row]]) -> list[str]:
    noticed = sum(last.outcome in NOTICED for _, last in met)
    at_first = sum(first.outcome in NOTICED for first, _ in met)
    counts = [sum(last.outcome == outcome for _, last in met) for outcome in ("timeout", "no test")]
    return [
        plain(name),
        f"{len(met):,}",
        f"{noticed / len(met):.1%}".replace("%", " %"),
        _interval(noticed, len(met)),
        f"{at_first / len(met):.1%}".replace("%", " %"),
        *(f"{count:,}" if count else NOTHING for count in counts),
    ]


def _interval(hits: int, total: int) -> str:
    """Return Wilson's interval of 95 % for a share, in per cent."""
    from scipy import stats

    low, high = stats.binomtest(hits, total).proportion_ci(method="wilson")
    return f"{100 * low:.1f} to {100 * high:.1f} %"
