"""Tables 2 and 3, ours: what the overlap of the splits does to the printed wins."""

from __future__ import annotations

import numpy as np

from ...claims import Evidence, Rival, claim, decide
from ...claims.contests import holm
from ...claims.printed_tables import LEVEL
from ..paper.printed import KINDS, PAPER_TABLES
from .tables_wins import RESULTS, against_svm, printed_wins_left


@claim(
    "ldm/overlap",
    kind="ours",
    where="Captions of Tables 2 to 4, 'paired t-tests'; Section 4.1, 'random data partitions'",
    statement="at most half of the significant differences between LDM and SVM in our runs survive a test "
    "that allows for the overlap of the random splits",
    notebook="ldm/04_regular_data#ldm-overlap",
    depends=RESULTS,
    rivals=(
        Rival("splits that share no rows", {"overlap": 0.0}),
        Rival("nearly all are lost: at most one in ten remains", {"most": 0.1}),
    ),
)
def check_overlap(overlap: float = 1.0, most: float = 0.5) -> Evidence:
    """Count how many differences, significant by the paired t-test, the corrected test confirms.

    Parameters
    ----------
    overlap : float
        Ratio of test to training rows of a split; 0 for splits that share none.
    most : float
        The share that may remain.
    """
    lines = against_svm()
    if not lines:
        return PAPER_TABLES.nothing("at most half", "table-2")
    found, kept, told = 0, 0, []
    for table, part in lines.items():
        significant = part["paired"] != "tie"
        found += int(significant.sum())
        confirmed = (part["corrected"] if overlap else part["paired"]) != "tie"
        kept += int((confirmed & significant).sum())
        told.append(
            f"{KINDS[table]}: {int(significant.sum())} significant by the paired test, "
            f"{int(confirmed.sum())} by the corrected test; with Holm's correction for {len(part)} sets "
            f"{(holm(part['p_paired']) <= LEVEL).sum()} and {(holm(part['p_corrected']) <= LEVEL).sum()}"
        )
    left = [(KINDS[table], *printed_wins_left(table)) for table in KINDS]
    theirs = ", ".join(f"{can} of {wins} {kind} (at least {must})" for kind, wins, can, must in left)
    splits = int(max(part["splits"].max() for part in lines.values()))
    shrink = np.sqrt((1 / splits) / (1 / splits + overlap))
    return Evidence(
        verdict=decide(kept <= most * found),
        measured=f"{kept} of {found} remain significant",
        claimed=f"at most {most * found:g} of {found}",
        slack=float(most * found - kept),
        why=f"{'; '.join(told)}. With {splits} random halves the corrected statistic is {shrink:.2f} of the "
        "paired one, since the halves share rows and their scores are not independent. The splits behind "
        "the printed wins are not known. The printed deviations bound how many of the wins are significant "
        f"by the corrected test, at most: {theirs}.",
        sizes={"sets": sum(len(part) for part in lines.values()), "splits": splits},
    )
