"""Claims about who is ahead in our runs: the LDM against the SVM, split by split, and against every peer.

Two tests are used side by side. The paper's is Student's paired t-test over the splits, which takes them as
independent. They are not: each pair of random halves shares about half of its training rows. The corrected
resampled t-test allows for that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...claims import Evidence, Rival, claim, contests
from ...claims.changed_results import moved
from ...claims.contests import TESTS, outcome_counts
from ...claims.open_parts import at_least, judged, tally
from ...claims.wrong_runs import WrongRuns, all_ways
from ..paper.printed import KINDS, LEVEL, PAPER_TABLES, SPLITS, possible_outcomes, printed
from ..paper.readings import (
    AS_DERIVED,
    READINGS,
    Reading,
    as_read,
    available,
    best,
    best_parts,
    nearest,
)

if TYPE_CHECKING:
    import pandas as pd

RESULTS = tuple(f"results/ldm/{table}.csv" for table in KINDS)
METRIC = "accuracy"


def scores(table: str, *, paper_sets: bool = True, reading: Reading | None = None) -> pd.DataFrame | None:
    """Return our accuracies, a row for each data set and split, a column for each method; None before any.

    Parameters
    ----------
    table : str
    paper_sets : bool
        Leave out the stand-ins for sets that cannot be had.
    reading : Reading, optional
        Which methods stand in the columns "LDM" and "SVM"; by default those of these names.
    """
    frame = PAPER_TABLES.results(table)
    if frame is None:
        return None
    if reading is not None:
        frame = as_read(frame, reading)
    wide = frame.pivot(index=["dataset", "split"], columns="method", values=METRIC)
    if paper_sets:
        names = set(printed(table).means.index)
        wide = wide[[name in names for name in wide.index.get_level_values("dataset")]]
    return wide


#: of two methods on every data set: half of the rows train and half test
contest = partial(contests.contest, overlap=1.0)


def run_readings() -> list[Reading]:
    """Return the readings that a table of regular sets has been run under."""
    frames = [PAPER_TABLES.results(table) for table in KINDS]
    found = [available(frame) for frame in frames if frame is not None]
    return [reading for reading in READINGS if any(reading in some for some in found)]


def against_svm(reading: Reading = AS_DERIVED) -> dict[str, pd.DataFrame]:
    """Return the contests of LDM and SVM, by table, of the tables that have been run.

    On the large sets neither of them has an intercept: there the readings differ by the variance only.
    """
    found = {}
    for table in KINDS:
        results = PAPER_TABLES.results(table)
        if results is None:
            continue
        wide = scores(table, reading=nearest(results, reading))
        if wide is not None and len(lines := contest(wide, "LDM", "SVM")):
            found[table] = lines
    return found


def losses(lines: Mapping[str, pd.DataFrame], test: str = "paired") -> list[str]:
    """Return the sets on which the LDM is significantly worse."""
    return [f"{name} ({KINDS[t]})" for t, part in lines.items() for name in part.index[part[test] == "loss"]]


def margin(table: str) -> float:
    """Return by how much of accuracy a comparable machine may be less accurate: from the protocol."""
    return float(PAPER_TABLES.protocol(table).thresholds["comparable"])


def in_points(share: float) -> str:
    """Return a share of accuracy in words.

    >>> in_points(0.01), in_points(0.025)
    ('1 point', '2.5 points')
    """
    return f"{100 * share:g} point" + ("" if math.isclose(share, 0.01) else "s")


def not_worse(lines: Mapping[str, pd.DataFrame], margins: Mapping[str, float]) -> list[str]:
    """Return for each set whether the LDM is at most the margin less accurate: shown, open, or refuted."""
    return [
        at_least(low, high, -margins[table])
        for table, part in lines.items()
        for low, high in zip(part["low"], part["high"], strict=True)
    ]


@claim(
    "ldm/never-worse",
    kind="experiment",
    where="Sections 4.2 and 4.3, last sentence of each",
    statement="the win/tie/loss counts show that the LDM is always better than or comparable to the SVM, "
    "and never worse",
    notebook="ldm/04_regular_data#ldm-never-worse",
    depends=RESULTS,
    rivals=(
        Rival("comparable up to three points, which the data can tell", {"comparable": 0.03}),
        Rival(
            "an LDM that is four points less accurate",
            swaps=moved("ldm", tuple(KINDS), "LDM", "accuracy", by=-0.04),
        ),
    ),
)
def check_never_worse(comparable: float | None = None) -> Evidence:
    """Ask on every set of ours whether the LDM can be less accurate than the SVM by the margin.

    Parameters
    ----------
    comparable : float, default: that of the protocol
        The margin, as a share.
    """
    contests = {reading: against_svm(reading) for reading in run_readings()}
    if not any(contests.values()):
        return PAPER_TABLES.nothing("no loss", "table-2")
    margins = {table: margin(table) if comparable is None else comparable for table in KINDS}
    parts = {reading: not_worse(lines, margins) for reading, lines in contests.items()}
    reading, text = best_parts(parts)
    lines, found = contests[reading], parts[reading]
    worse = {test: losses(lines, test) for test in TESTS}
    counts = {
        test: ", ".join(f"{KINDS[table]} {outcome_counts(part[test])}" for table, part in lines.items())
        for test in TESTS
    }
    missing = [KINDS[table] for table in KINDS if table not in lines]
    points = ", ".join(in_points(value) for value in dict.fromkeys(margins.values()))
    lowest = min(float((part["low"] + margins[table]).min()) for table, part in lines.items())
    return Evidence(
        verdict=judged(found),
        measured=f"at most {points} less accurate than the SVM on {len(found)} sets: {tally(found)}; "
        f"significantly worse on {len(worse['paired'])} (win/tie/loss {counts['paired']})",
        claimed="never worse (12/8/0, 10/10/0, 6/6/0)",
        slack=100 * lowest,
        why=f"A set counts as comparable or better where the 90 % interval of the mean difference is above "
        f"minus {points} of accuracy, as worse where it is below, and else it is open. The margin is ours; "
        "that no difference was significant would not show that there is none. The interval is that "
        "of the corrected resampled t-test, which allows for the overlap of the splits. By paired t-tests "
        f"at 95 %, as in the paper, the LDM is worse on {', '.join(worse['paired']) or 'none'}; by the "
        f"corrected test ({counts['corrected']}) on {', '.join(worse['corrected']) or 'none'}. Even with "
        f"independent splits, the paired test would call {LEVEL * len(found) / 2:.1f} of {len(found)} true "
        f"ties losses. Slack is in points.{' Not run yet: ' + ', '.join(missing) + '.' if missing else ''}",
        sizes={"sets": len(found), "splits": int(max(part["splits"].max() for part in lines.values()))},
        reading=text,
    )


def as_marked(lines: Mapping[str, pd.DataFrame]) -> int:
    """Return on how many sets the outcome of our test is the one that is marked in the LDM's column."""
    return sum(
        int((printed(table).marks["LDM"].loc[part.index] == part["paired"]).sum())
        for table, part in lines.items()
    )


def exchanged_wins(contests: Mapping[Reading, Mapping[str, pd.DataFrame]]) -> WrongRuns:
    """Count how often the marks agree as well if a coin exchanges the two machines on each set.

    Parameters
    ----------
    contests : mapping
        By reading, of which the best counts, as from `against_svm`.
    """
    other = {"win": "loss", "loss": "win", "tie": "tie"}
    readings = list(contests)
    options: dict[tuple[str, str], np.ndarray] = {}
    for k, lines in enumerate(contests.values()):
        for table, part in lines.items():
            marks = printed(table).marks["LDM"].to_dict()
            for name, outcome in zip(map(str, part.index), part["paired"], strict=True):
                agree = options.setdefault((table, name), np.zeros((2, len(readings)), dtype=int))
                agree[:, k] = outcome == marks[name], other[outcome] == marks[name]
    sets = np.array([sum(map(len, lines.values())) for lines in contests.values()])
    return WrongRuns(
        all_ways(list(options.values())).as_well(lambda sums: (sums / sets).max(axis=1)),
        "a coin exchanges the two machines on each set",
        f"as many outcomes agree with the marks in the best of {len(readings)} readings",
    )


@claim(
    "ldm/table-2-wins",
    kind="experiment",
    where="Tables 2 to 4, the marks of the column LDM",
    statement="the LDM is significantly better than the SVM on exactly the sets that are marked",
    notebook="ldm/04_regular_data#ldm-never-worse",
    depends=RESULTS,
    rivals=(
        Rival(
            "an LDM that is half a point less accurate",
            swaps=moved("ldm", tuple(KINDS), "LDM", "accuracy", by=-0.005),
        ),
    ),
)
def check_wins() -> Evidence:
    """Compare each mark in the LDM's column with the outcome of the same test on our runs."""
    contests = {reading: against_svm(reading) for reading in run_readings()}
    if not any(contests.values()):
        return PAPER_TABLES.nothing("the printed marks", "table-2")
    counted = {reading: sum(map(len, lines.values())) for reading, lines in contests.items()}
    reading, text = best({r: (as_marked(lines), counted[r]) for r, lines in contests.items()})
    lines, sets = contests[reading], counted[reading]
    agreed, turned, told = as_marked(lines), 0, []
    for table, part in lines.items():
        marks = printed(table).marks["LDM"].loc[part.index]
        turned += int(((marks == "win") & (part["paired"] == "loss")).sum())
        both = int(((marks == "win") & (part["paired"] == "win")).sum())
        told.append(
            f"{KINDS[table]}: printed {outcome_counts(marks)}, ours {outcome_counts(part['paired'])}, won in "
            f"both {both}"
        )
    wrong = exchanged_wins(contests)
    return Evidence(
        verdict=wrong.judge(agreed, sets),
        measured=f"the same outcome on {agreed} of {sets} sets; a printed win is a loss on {turned}",
        claimed=f"{sets} of {sets}",
        slack=float(agreed - sets),
        why=f"On the available sets, win/tie/loss by paired t-tests at 95 %: {'; '.join(told)}. {wrong}",
        sizes={"sets": sets},
        reading=text,
    )


def printed_wins_left(table: str) -> tuple[int, int, int]:
    """Return how many wins over the SVM are printed, and how many can be, and must be, wins if corrected."""
    page = printed(table)
    marks = page.marks["LDM"].to_dict()
    found = [
        possible_outcomes(page.cell(name, "LDM"), page.cell(name, "SVM"), SPLITS[table], overlap=1.0)
        for name in map(str, marks)
        if marks[name] == "win"
    ]
    return len(found), sum("win" in outcomes for outcomes in found), sum(o == {"win"} for o in found)
