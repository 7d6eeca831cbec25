"""What the printed columns SVM and LDM can have been, and what the margin terms weigh in the printed grid.

In (5) the hinge losses are summed and multiplied by C, which is 10 or more; mean and variance of the margins
are averages, multiplied by at most 1/4. Where the losses do not vanish they are the larger by a factor of m.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...claims import Evidence, Rival, claim, decide
from ...claims.cell_verdicts import agreeing
from ...claims.open_parts import tally
from ...claims.printed_tables import TESTED, paired
from ..paper.printed import KINDS, PAPER_TABLES
from .tables import cells
from .tables_ranks import ranking
from .tables_wins import against_svm, as_marked, contest, losses, outcome_counts, scores

if TYPE_CHECKING:
    import pandas as pd

REGULAR = ("table-2", "table-3")
#: what a printed column can have been: a method of ours
CANDIDATES = {
    "SVM": ("SVM", "SVM-0", "SVM-0(C/m)"),
    "LDM": ("LDM", "LDM+1", "LDM(C/m)", "LDM(4)"),
}
#: LDM, and the same without its two terms: with the printed weight of the losses, with their mean, and with
#: the double sum on the left of (4), which is the variance times m squared
WEIGHTS = {"C": ("LDM", "SVM-0"), "C/m": ("LDM(C/m)", "SVM-0(C/m)"), "(4)": ("LDM(4)", "SVM-0")}


def readings(table: str) -> pd.DataFrame:
    """Return how many cells of a printed column each of our methods reproduces.

    Returns
    -------
    DataFrame
        Columns `column` (printed), `method` (ours), `agree`, `tested`, `distance` (the mean absolute
        difference of the means, in points).
    """
    import pandas as pd

    columns = ["column", "method", "agree", "tested", "distance"]
    ours = PAPER_TABLES.results(table)
    if ours is None:
        return pd.DataFrame(columns=columns)
    rows = []
    for column, methods in CANDIDATES.items():
        for method in methods:
            swapped = ours[ours["method"] == method].assign(method=column)
            cells = PAPER_TABLES.cells(table, swapped)
            cells = cells[(cells["method"] == column) & cells["verdict"].isin(TESTED)]
            if len(cells):
                agree = int((cells["verdict"] == TESTED[0]).sum())
                distance = 100 * float(cells["difference"].abs().mean())
                rows.append((column, method, agree, len(cells), distance))
    return pd.DataFrame(rows, columns=columns)


def weights(table: str) -> pd.DataFrame:
    """Compare LDM with itself at lambda1 = lambda2 = 0, for each reading of the weights.

    Returns
    -------
    DataFrame
        By "C", "C/m", "(4)", as far as they have been run: `sets`, `mean` (lead of the LDM in points),
        `largest` (absolute difference on a set, in points), `equal` (share of the splits with the same
        accuracy), `win_tie_loss` (paired t-tests).
    """
    import pandas as pd

    wide, rows = scores(table), {}
    for label, (first, second) in WEIGHTS.items():
        if wide is None or not {first, second} <= set(wide.columns):
            continue
        both = wide[[first, second]].dropna()
        gaps = 100 * (both[first] - both[second])
        means = gaps.groupby(level="dataset").mean()
        rows[label] = {
            "sets": len(means),
            "mean": float(means.mean()),
            "largest": float(means.abs().max()),
            "equal": float((gaps.abs() < 1e-9).mean()),
            "win_tie_loss": outcome_counts(contest(wide, first, second)["paired"]),
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def side_by_side() -> pd.DataFrame:
    """Return what each reading of the printed columns comes to in all claims that depend on it.

    Returns
    -------
    DataFrame
        A row for each reading that has been run; by table "cells" (that agree, of how many), "distance" (mean
        absolute difference from the printed LDM and SVM, in points), "order" (how many statements about who
        is ahead are shown, open, refuted), "w/t/l" (of LDM and SVM, paired t-tests); over all tables
        "losses" and "marks" (sets with the printed outcome).
    """
    import pandas as pd

    rows: dict[str, dict[str, str]] = {}
    for table in REGULAR:
        for reading, frame in cells(table).items():
            row = rows.setdefault(str(reading), {})
            tested = frame[frame["verdict"].isin(TESTED)]
            own = tested[tested["method"].isin(["LDM", "SVM"])]
            row[f"{KINDS[table]} cells"] = "{} of {}".format(*agreeing(frame))
            row[f"{KINDS[table]} distance"] = f"{100 * own['difference'].abs().mean():.2f}"
            ranks = ranking(table, reading)
            row[f"{KINDS[table]} order"] = tally(ranks.parts) if ranks else ""
            lines = against_svm(reading)
            row[f"{KINDS[table]} w/t/l"] = outcome_counts(lines[table]["paired"]) if table in lines else ""
            sets = sum(map(len, lines.values()))
            row["losses"], row["marks"] = (f"{n} of {sets}" for n in (len(losses(lines)), as_marked(lines)))
    return pd.DataFrame.from_dict(rows, orient="index")


@claim(
    "ldm/margin-weight",
    kind="ours",
    where="Equation (5); Section 4.1, last paragraph, the values of C, lambda1 and lambda2",
    statement="with the weights of (6) and the printed grid, the LDM has the same accuracy as the SVM "
    "without an intercept in at least nine of ten splits; with the double sum of (4), in less "
    "than half",
    notebook="ldm/04_regular_data#ldm-margin-weight",
    depends=tuple(f"results/ldm/{table}.csv" for table in REGULAR),
    rivals=(
        Rival("the double sum of (4) in the place of (6)", {"as_printed": "(4)"}),
        Rival("the mean of the losses in the place of their sum", {"as_printed": "C/m"}),
        Rival("in 95 of 100 splits and more", {"most": 0.95}),
    ),
)
def check_margin_weight(as_printed: str = "C", most: float = 0.9) -> Evidence:
    """Count the splits in which the LDM and the SVM of the same form are equally right.

    Parameters
    ----------
    as_printed : {"C", "C/m", "(4)"}
        Which weights count as those of (6).
    most : float
        The share of splits with the same accuracy.
    """
    measured, told, equal, sets = [], [], [], 0
    for table in REGULAR:
        wide, found = scores(table), weights(table)
        if wide is None or not {as_printed, "(4)"} <= set(found.index):
            continue
        shares = found["equal"].to_dict()
        equal.append((float(shares[as_printed]), float(shares["(4)"])))
        measured.append(f"{KINDS[table]} {100 * equal[-1][0]:.0f} % and {100 * equal[-1][1]:.0f} %")
        for label, row in found.to_dict("index").items():
            first, second = WEIGHTS[str(label)]
            means = wide.groupby(level="dataset")[[first, second]].mean()
            p, sets = paired(means[first], means[second])[4], max(sets, int(row["sets"]))
            told.append(
                f"{KINDS[table]}: {first} over {second} {row['mean']:+.2f} points (at most "
                f"{row['largest']:.2f} on a set, p = {p:.2g}, {row['win_tie_loss']}), the same accuracy in "
                f"{100 * row['equal']:.0f} % of the splits"
            )
        told += [
            f"{row.method} reproduces {row.agree} of {row.tested} cells of the printed {row.column}"
            for row in readings(table).itertuples()
        ]
    if not equal:
        return PAPER_TABLES.nothing("nine of ten; less than half", "table-2")
    room = min(min(same - most, 0.5 - other) for same, other in equal)
    return Evidence(
        verdict=decide(room >= 0),
        measured=f"the same accuracy in {', '.join(measured)} of the splits",
        claimed=f"at least {100 * most:g} % with (6), at most 50 % with (4)",
        slack=room,
        why="The sum of the losses is multiplied by C = 10 or more, the two averages by at most 1/4. "
        "LDM(C/m) takes the mean of the losses, so that mean and variance weigh more. LDM(4) takes the "
        "double sum on the left of (4), so that the variance weighs m squared times as much. "
        f"{'; '.join(told)}. The thresholds for both shares are ours.",
        sizes={"sets": sets},
    )
