"""Would tests notice, or claims? ``results/mutants/`` as tables, and the mutants that change nothing."""

from __future__ import annotations

import shutil
from collections import defaultdict
from pathlib import Path

from ..base.project import resource
from .mutants_stored import (
    CLAIMS_CSV,
    CSV,
    EQUIVALENT,
    NOTICED,
    OF_CLAIMS,
    TESTS_CSV,
    ClaimRow,
    Key,
    Needed,
    Row,
    equivalents,
    fresh,
    history,
    outdated,
    read,
    read_needed,
)
from .myst import NOTHING, dropdown, plain, table

#: the heads of two sections, which are there once something is stored
OF_CLAIMS_HEAD = """
(mutants-claims)=
## Would the claims notice?

The rivals in [the ledger](claims.md) break a statement in ways that somebody thought of. Here its
claims meet what nobody thought of: a mutant of the models, solvers and estimators of a paper meets
those checks of its claims that run the changed line, the fastest first and without the cache, until one
notices it or checks that take a minute without it have run. It is *noticed* when a check comes to
another verdict, raises an error, or takes more than ten times as long.

*Numbers only*
: No verdict changes, but what a check measures, beyond rounding.

*Not noticed*
: Checks run the line, and say the same as without the mutant: a claim about this code could be sharper.

*No claim*
: No check runs the line; only tests could notice.

*Slow claims*
: Checks that take more than 20 seconds are not asked.

"""
NEEDED_HEAD = """
## Which tests are needed?

Above, the first test that fails settles it. Here every fast test that runs the line is asked, even
after one has failed, up to 30 seconds of tests. A test function counts once, with all its parameters.
If it is never the only one to notice, it is not necessarily superfluous: a mutant changes one operator
or number, and none of them breaks a law between two methods or a message to the user.

"""


def write(folder: Path) -> None:
    """Write the parts of the page, ``mutants-*.md``, and the file that it offers."""
    stored = resource("results", "mutants")
    rows, same = read(stored / CSV, Row), equivalents(stored / EQUIVALENT)
    met = [pair for pair in history(rows, resource()) if pair[1].key not in same]
    folder.joinpath("mutants-scores.md").write_text(scores(met, len(same)), encoding="utf-8")
    folder.joinpath("mutants-survivors.md").write_text(survivors(met) if rows else "", encoding="utf-8")
    folder.joinpath("mutants-equivalent.md").write_text(listed(same), encoding="utf-8")
    if rows:
        shutil.copyfile(stored / CSV, folder / CSV)
    needed = read_needed(stored / TESTS_CSV)
    folder.joinpath("mutants-needed.md").write_text(needed_tests(needed), encoding="utf-8")
    if needed:
        shutil.copyfile(stored / TESTS_CSV, folder / f"mutants-{TESTS_CSV}")
    by_claims = history(read(stored / CLAIMS_CSV, ClaimRow), resource())
    judged = [last for _, last in fresh(by_claims) if last.key not in same]
    folder.joinpath("mutants-claims.md").write_text(of_claims(judged), encoding="utf-8")
    if judged:
        shutil.copyfile(stored / CLAIMS_CSV, folder / f"mutants-{CLAIMS_CSV}")


def scores(all_met: list[tuple[Row, Row]], left_out: int) -> str:
    """Return what share of the mutants the tests notice: in all, by room and by kind of file.

    Parameters
    ----------
    all_met : list of pairs
        The first and the last row of each mutant of each sample.
    left_out : int
        How many mutants change nothing.
    """
    if not all_met:
        return "Nothing is stored; `make mutants` measures it.\n"
    met = fresh(all_met)
    seeds = sorted({last.seed for _, last in met})
    by_kind = {
        check: [pair for pair in met if (pair[1].kind == "claims") == check] for check in (False, True)
    }
    of_checks = f", and {_share(by_kind[True])} of the checks of claims" if by_kind[True] else ""
    told = (
        f"The tests notice {_share(by_kind[False])} of the library{of_checks}, drawn with "
        f"seed{'s' if len(seeds) > 1 else ''} {', '.join(map(str, seeds))}. "
        f"Not counted: {left_out:,} that change nothing.\n"
    )
    if len(seeds) > 1:
        unseen = [(first, first) for first, last in by_kind[False] if last.seed == seeds[-1]]
        told += (
            "A survivor gets a test, so that the score of a sample rises above that of the whole. What to "
            "expect of a mutant that nobody has tried is what was noticed at first in the last sample: "
            f"{_share(unseen)} of the library.\n"
        )
    if twice := len(all_met) - len(met):
        told += f"{twice:,} of a later seed had been drawn with an earlier one; they count once.\n"
    if old := len(outdated((last for _, last in met), resource())):
        told += (
            f"Since {old:,} of them were tried, their file has changed, or the tests that decided; "
            "what no longer has its line is not counted.\n"
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


def survivors(met: list[tuple[Row, Row]]) -> str:
    """Return the mutants that nobody noticed, closed until a reader asks; the CSV has all of them."""
    left = [last for _, last in fresh(met) if last.outcome not in NOTICED]
    offered = f"{{download}}`All mutants (.csv) <_generated/{CSV}>`\n"
    if not left:
        return offered
    body = [
        [_place(row), *_change(row.before, row.after)]
        for row in sorted(left, key=lambda row: (row.file, row.line, row.after))
    ]
    text = table(["where", "the line", "became"], body, widths=[30, 35, 35], classes="")
    return f"{offered}\n{dropdown(f'{len(left):,} that no test noticed', text)}"


def of_claims(rows: list[ClaimRow]) -> str:
    """Return by room what its claims say of mutants, and those mutants that change no verdict."""
    if not rows:
        return ""
    met = [row for row in rows if row.outcome != "no claim"]
    noticed = sum(row.outcome in NOTICED for row in met)
    told = (
        f"Of {len(rows):,} mutants a check runs the line of {len(met):,}, "
        f"and a claim notices {noticed:,} of these{', ' + _interval(noticed, len(met)) if met else ''}.\n"
    )
    if old := len(outdated(rows, resource())):
        told += f"Since {old:,} of them were tried, their file has changed, or the claims that decided.\n"
    by_room = defaultdict(list)
    for row in rows:
        by_room[row.room].append(row)
    body = []
    for room, some in sorted(by_room.items()):
        counts = [sum(row.outcome in wanted for row in some) for wanted in _COLUMNS.values()]
        too_slow = max(row.left_out for row in some)
        body.append([plain(room), *(f"{count:,}" if count else NOTHING for count in (*counts, too_slow))])
    parts = [OF_CLAIMS_HEAD + told, table(["room", *_COLUMNS, "slow claims"], body, classes="sortable")]
    parts.append(f"{{download}}`All of them (.csv) <_generated/mutants-{CLAIMS_CSV}>`\n")
    for outcome, title in (("nothing", "that no claim noticed"), ("numbers", "seen in the numbers only")):
        left = sorted((row for row in rows if row.outcome == outcome), key=lambda row: (row.file, row.line))
        if left:
            parts.append(dropdown(f"{len(left):,} {title}", _judged(left)))
    return "\n".join(parts)


#: a test that met fewer mutants had no chance to show that it is needed
ENOUGH = 5


def needed_tests(tests: list[Needed], most: int = 40) -> str:
    """Return which tests notice what no other does, and those that do not, the slowest first."""
    if not tests:
        return ""
    noticed, alone = (sum(getattr(one, name) > 0 for one in tests) for name in ("noticed", "alone"))
    enough = [one for one in tests if one.met >= ENOUGH]
    spare = sorted((one for one in enough if not one.alone), key=lambda one: (-one.seconds, one.test))
    cost, whole = (sum(one.seconds for one in some) for some in (spare, tests))
    told = NEEDED_HEAD + (
        f"{tests[0].mutants:,} mutants of the sample with seed {tests[0].seed} met {len(tests):,} test "
        f"functions; {noticed:,} of these noticed one, {alone:,} one that no other did. {len(enough):,} met "
        f"at least {ENOUGH}, and {len(spare):,} of these noticed nothing alone: they take {cost:,.0f} of "
        f"{whole:,.0f} seconds of CPU.\n"
    )
    offered = f"{{download}}`All of them (.csv) <_generated/mutants-{TESTS_CSV}>`\n"
    if not spare:
        return f"{told}\n{offered}"
    body = [
        [f"`` {one.test} ``", f"{one.seconds:.2f}", f"{one.met:,}", f"{one.noticed:,}"]
        for one in spare[:most]
    ]
    headings = ["test", "seconds", "mutants met", "noticed"]
    shown = table(headings, body, widths=[64, 12, 12, 12], classes="sortable")
    title = f"The {len(body):,} slowest that noticed nothing alone"
    return f"{told}\n{dropdown(title, shown)}\n{offered}"


#: heading of a column -> outcomes that it counts
_COLUMNS = {
    "mutants": OF_CLAIMS,
    "noticed": NOTICED,
    "numbers only": ("numbers",),
    "not noticed": ("nothing",),
    "no claim": ("no claim",),
}


def _judged(rows: list[ClaimRow]) -> str:
    lines = [[_place(row), *_change(row.before, row.after), plain(row.how or _some(row))] for row in rows]
    headings = ["where", "the line", "became", "numbers" if rows[0].how else "claims that ran it"]
    return table(headings, lines, widths=[22, 26, 26, 26], classes="")


def _some(row: ClaimRow, most: int = 8) -> str:
    claims = row.claims.split()
    more = f" and {len(claims) - most} more" if len(claims) > most else ""
    return ", ".join(claims[:most]) + more


def listed(same: dict[Key, dict[str, str]]) -> str:
    """Return the equivalent mutants with the reasons, and what a second reading said of each."""
    if not same:
        return "None is listed.\n"
    lines = [
        [
            plain(one["file"].removeprefix("src/marginbook/")),
            *_change(one["line"], one["became"]),
            plain(one["reason"]),
            plain(one["read"]),
        ]
        for one in sorted(same.values(), key=lambda one: (one["file"], one["line"], one["became"]))
    ]
    headings = ["file", "the line", "became", "why nothing changes", "second reading"]
    return dropdown(f"All {len(lines):,}", table(headings, lines, widths=[18, 22, 22, 25, 13]))


def _place(row: Row) -> str:
    return plain(f"{row.file.removeprefix('src/marginbook/')}:{row.line}")


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


def _share(met: list[tuple[Row, Row]]) -> str:
    noticed = sum(last.outcome in NOTICED for _, last in met)
    of = f"{noticed:,} of {len(met):,} mutants"
    return f"{of} (95 % interval {_interval(noticed, len(met))})" if met else of


def _interval(hits: int, total: int) -> str:
    """Return Wilson's interval of 95 % for a share, in per cent."""
    from scipy import stats

    low, high = stats.binomtest(hits, total).proportion_ci(method="wilson")
    return f"{100 * low:.1f} to {100 * high:.1f} %"
