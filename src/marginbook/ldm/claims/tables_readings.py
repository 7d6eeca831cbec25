"""What the printed columns SVM and LDM can have been, and what the margin terms weigh in the printed grid.

In (5) the hinge losses are summed and multiplied by C, which is 10 or more; mean and variance of the margins
are averages, multiplied by at most 1/4. Where the losses do not vanish they are the larger by a factor of m.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...claims import Evidence, claim, share
from ...claims.printed_tables import TESTED, paired
from ..paper.printed import KINDS, PAPER_TABLES, printed_counts
from .tables_wins import contest, nothing, scores, win_tie_loss

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
            "win_tie_loss": win_tie_loss(contest(wide, first, second)["paired"]),
        }
    return pd.DataFrame.from_dict(rows, orient="index")


@claim(
    "ldm/margin-weight",
    kind="experiment",
    where="Equation (5), Section 4.1",
    statement=r"in the printed grid of $C$, $\lambda_1$ and $\lambda_2$, mean and variance of the margins "
    "make a better classifier of the SVM",
    notebook="ldm/04_regular_data#ldm-margin-weight",
    depends=tuple(f"results/ldm/{table}.csv" for table in REGULAR),
)
def check_margin_weight() -> Evidence:
    """Ask whether LDM wins over the SVM of the same form as often as it is printed to win over the SVM."""
    parts, measured, told, sets = [], [], [], 0
    for table in REGULAR:
        wide, found = scores(table), weights(table)
        if wide is None or "C" not in found.index:
            continue
        lines = contest(wide, *WEIGHTS["C"])
        wins, _, losses = (list(lines["paired"]).count(name) for name in ("win", "tie", "loss"))
        printed_wins = printed_counts(table)["SVM"][0]
        # as often as printed, in the share of the sets that have been run
        parts += [wins >= math.ceil(printed_wins * len(lines) / 20), wins > losses]
        measured.append(f"{KINDS[table]} {win_tie_loss(lines['paired'])}")
        sets = max(sets, len(lines))
        for label, row in found.to_dict("index").items():
            first, second = WEIGHTS[str(label)]
            means = wide.groupby(level="dataset")[[first, second]].mean()
            p = paired(means[first], means[second])[4]
            told.append(
                f"{KINDS[table]}: {first} over {second} {row['mean']:+.2f} points (at most "
                f"{row['largest']:.2f} on a set, p = {p:.2g}, {row['win_tie_loss']}), the same accuracy in "
                f"{100 * row['equal']:.0f} % of the splits"
            )
        told += [
            f"the printed {row.column} is reproduced by {row.method} in {row.agree} of {row.tested} cells"
            for row in readings(table).itertuples()
        ]
    if not parts:
        return nothing("12/8/0 and 10/10/0")
    return Evidence(
        share(sum(parts), len(parts)),
        f"LDM over the SVM without an intercept, win/tie/loss: {', '.join(measured)}",
        "12/8/0 and 10/10/0",
        None,
        "The sum of the losses is multiplied by C = 10 or more, the two averages by at most 1/4. With C/m, "
        "the mean of the losses, they weigh more, and with the double sum on the left of (4) the variance "
        f"weighs m squared times as much: LDM(4). {'; '.join(told)}. Parts, for each kernel: as many wins "
        "as printed, and more wins than losses.",
        {"sets": sets},
    )
