"""A claim about the printed shares of retained samples: means over a hundred machines, or counts of one?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...claims import Evidence, Rival, claim, decide
from ..paper.printed import OWN, PAPER_TABLES, RIVAL, count_of, printed, share_of_counts, sizes
from .printed_swaps import with_cell

if TYPE_CHECKING:
    import pandas as pd

#: each pair of printed columns comes from one value of q: the same machine where error and count are equal
PAIRS = (OWN[:2], OWN[2:])


def counts() -> pd.DataFrame:
    """Return every printed NRS as a count of training samples.

    Returns
    -------
    DataFrame
        `dataset`, `column`, `printed` (percent), `n_train`, `count` (nan where no integer fits), `chance`
        (that a number with one decimal is such a count), `repeats` (error and NRS are those of the other
        column for the same q, so that the cell says nothing new).
    """
    import pandas as pd

    page, rows = printed(), []
    chances = {n: share_of_counts(n) for n in set(sizes()["n_train"])}
    errors, retained = page.errors.to_dict(), page.retained.to_dict()
    for dataset, line in sizes().to_dict("index").items():
        n = int(line["n_train"])
        for column in (RIVAL, *OWN):
            twin = next((first for first, second in PAIRS if second == column), None)
            repeats = twin is not None and all(
                side[twin][dataset] == side[column][dataset] for side in (errors, retained)
            )
            percent = float(retained[column][dataset])
            found = count_of(percent, n)
            rows.append(
                (str(dataset), column, percent, n, math.nan if found is None else found, chances[n], repeats)
            )
    return pd.DataFrame(
        rows, columns=["dataset", "column", "printed", "n_train", "count", "chance", "repeats"]
    )


@claim(
    "kfda/printed-nrs",
    kind="ours",
    where="Tables 1 and 2, the rows of NRS",
    statement="each printed NRS in the paper's own columns is a whole number of training samples, as it is "
    "for one classifier; means over a hundred classifiers would rarely all be whole numbers",
    notebook="kfda/04_tables#kfda-printed-nrs",
    depends=("data_download/registry.toml",),
    rivals=[
        Rival("one cell a tenth of a percent off", swaps=with_cell("retained", "heart", OWN[0], 10.7)),
    ],
)
def check_printed_nrs() -> Evidence:
    """Ask of every printed NRS whether it is a whole number of samples, and how likely that is for a mean."""
    frame, level = counts(), float(PAPER_TABLES.protocol("table-1").thresholds["chance"])
    own = frame[frame["column"] != RIVAL]
    whole = own["count"].notna()
    fresh = own[~own["repeats"] & (own["chance"] < 1)]
    chance = math.prod(fresh["chance"].tolist()) if fresh["count"].notna().all() else 1.0
    rival = frame[frame["column"] == RIVAL]
    odd = rival[rival["count"].isna()]
    broken = ", ".join(f"{r.dataset} {r.printed} % of {r.n_train}" for r in odd.itertuples())
    few = own.loc[own["count"] <= 3, ["dataset", "count"]].drop_duplicates()
    smallest = ", ".join(f"{r.dataset} {r.count:.0f}" for r in few.itertuples())
    return Evidence(
        verdict=decide(bool(whole.all()) and chance < level),
        measured=f"{int(whole.sum())} of {len(own)} are a whole number of training samples; for means with "
        f"arbitrary decimals the probability of that is 10^{math.log10(chance):.0f}",
        claimed=f"all, with a probability below {level:g} for means",
        slack=float(level - chance),
        why=f"On {fresh['dataset'].nunique()} sets with a training size below 1000, a percentage with one "
        f"decimal need not be a whole number of samples. They have {len(fresh)} different cells, of which "
        f"{int(fresh['count'].notna().sum())} are. For one classifier the mean over the partitions is its "
        "own share. We considered other explanations. The mean number may have been rounded to a whole "
        "number before it became a percentage; then this test shows nothing, and the printed deviations "
        "must decide (kfda/printed-spread). Forward selection fixes the number of samples by "
        "cross-validation, so it is whole for every partition. This may explain kFDA_OLS, whose cells are "
        f"whole numbers on {len(rival) - len(odd)} of {len(rival)} sets (not {broken or 'none'}); but rho "
        "does not fix the number. No ± is printed beside any NRS in the paper's own columns. The smallest "
        f"numbers: {smallest} samples.",
        sizes={"cells": len(own), "different": len(fresh)},
    )
