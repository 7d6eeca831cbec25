"""Printed tables beside our results, and the questions that every claim about them asks."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scipy.stats import wilcoxon

from ..claims import Evidence, share
from ..comparison import NOT_PRINTED, compare_cells, layout, read_printed
from ..project import resource

if TYPE_CHECKING:
    import pandas as pd

PAPER = Path(__file__).parent / "paper"
#: what `compare_cells` says of a cell that both sides have
TESTED = ("reproduced", "not-reproduced")
#: a p-value below this is called significant
LEVEL = 0.05
#: digits to which the paper prints, and to which scores are equal
DIGITS = 4


def protocol(table: str) -> dict[str, Any]:
    """Return one table of ``protocol.toml``."""
    found: dict[str, Any] = tomllib.loads((PAPER / "protocol.toml").read_text(encoding="utf-8"))[table]
    return found


def results(table: str) -> pd.DataFrame | None:
    """Return our stored results, one row per data set, method and split; None where there are none."""
    import pandas as pd

    path = resource("results", "drm", f"{table}.csv")
    return pd.read_csv(path) if path.is_file() else None


def not_run(table: str) -> str:
    """Say how results come into being."""
    return f"There are no results yet: `marginbook experiment run drm/{table} --profile paper` makes them."


def cells(table: str) -> pd.DataFrame:
    """Return the printed table beside our stored results; no result of ours is a cell `not-testable`.

    The last column of Table IX is the DRM without over-sampling: its results are those of Table VIII.
    """
    import pandas as pd

    plan = protocol(table)
    ours = results(table)
    if ours is None:
        columns = ["dataset", "method", plan["metric"], *plan.get("better_of", ())]
        ours = pd.DataFrame(columns=columns)
    elif table == "table-9" and (plain := results("table-8")) is not None:
        ours = pd.concat([ours, drm_column(plain)], ignore_index=True)
    return compare_cells(
        read_printed(PAPER / plan["printed"]),
        ours,
        metric=plan["metric"],
        better_of=plan.get("better_of", ()),
        printed_splits=plan["printed_splits"],
    )


def printed_table(table: str) -> pd.DataFrame:
    """Return the printed means as the paper lays them out: data sets down, methods across."""
    frame = read_printed(PAPER / f"{table}.csv")
    return layout(frame.assign(mean=frame["mean"].replace("", "nan").astype(float)), "mean")


def drm_column(plain: pd.DataFrame) -> pd.DataFrame:
    """Return the DRM's results for Table VIII in the columns of Table IX: 1 is rbf, 2 polynomial.

    The honest ``g_mean`` belongs to the kernel that leave-one-out prefers in that fold.
    """
    scores = ["cv_score_none", "cv_score_max_abs"]
    keyed = plain.set_index(["dataset", "split"])
    rbf, poly = (
        keyed[keyed["method"] == name].add_suffix(end) for name, end in (("DRM(R)", "_1"), ("DRM(P)", "_2"))
    )
    both = rbf.join(poly, how="inner")
    first, second = (both[[f"{score}_{k}" for score in scores]].max(axis=1) for k in (1, 2))
    column = both[[]].copy()
    # a kernel with which nothing could be solved has no score and is not preferred
    column["g_mean"] = both["g_mean_1"].where((first >= second) | second.isna(), both["g_mean_2"])
    for k in (1, 2):
        for scaling in ("none", "max_abs"):
            column[f"g_mean_{k}_{scaling}"] = both[f"g_mean_{scaling}_{k}"]
    return column.reset_index().assign(method="DRM")


def agreement(table: str) -> Evidence:
    """Compare every printed cell of what we ran with ours."""
    plan, frame = protocol(table), cells(table)
    tested = frame[frame["verdict"].isin(TESTED)]
    printed = frame[frame["verdict"] != NOT_PRINTED]
    sizes = {"cells": len(printed), "tested": len(tested), "splits": plan["printed_splits"]}
    missing = unavailable(frame["dataset"].unique().tolist(), plan["datasets"])
    if tested.empty:
        return Evidence(share(0, 0), "nothing", "the printed means", None, not_run(table) + missing, sizes)
    agree = tested["verdict"] == TESTED[0]
    drm = tested["method"].str.startswith("DRM")
    off = tested[~agree]
    higher = int((off["direction"] == "ours higher").sum())
    by_method = Counter(off["method"])
    where = ", ".join(f"{method} {by_method[method]}" for method in dict.fromkeys(off["method"]))
    others = f"The others by method: {where}. " if len(off) else ""
    return Evidence(
        share(int(agree.sum()), len(tested)),
        f"{agree.sum()} of {len(tested)} cells agree; of the DRM {(agree & drm).sum()} of {drm.sum()}; "
        f"of the {len(off)} others ours is higher in {higher}",
        "the printed means",
        float(agree.mean() - 1),
        "A cell agrees when the means differ by at most two standard errors of their difference; ± is: "
        f"{plan['plus_minus']}. {others}`marginbook experiment compare drm/{table}` shows every cell. "
        f"Slack is the share of cells that agree, minus 1.{missing}",
        sizes,
    )


def unavailable(printed: Sequence[str], ran: Sequence[str]) -> str:
    """Name the data sets of a table that cannot be had, with their public homes; "" where there are none."""
    from ..datasets.registry import entry

    homes = [f"{name} ({entry(name).home})" for name in printed if name not in ran]
    return f" Not to be had: {', '.join(homes)}." if homes else ""


def families(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of scores with one column per family: the better kernel, the better distance."""
    return table.T.groupby(table.columns.str.partition("(").get_level_values(0), sort=False).max().T


def leaders(table: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """Return the families that share the best score of each data set, at the digits that are printed."""
    family = families(table).round(DIGITS)
    best = family.eq(family.max(axis=1), axis=0)
    return {str(name): tuple(str(column) for column in row.index[row]) for name, row in best.iterrows()}


def lost(leading: dict[str, tuple[str, ...]], *, shared: bool) -> str:
    """Name the data sets that the DRM does not win, with who does; where `shared`, ties are won."""
    off = {
        name: best for name, best in leading.items() if ("DRM" not in best if shared else best != ("DRM",))
    }
    return ", ".join(f"{name} ({', '.join(best)})" for name, best in off.items()) or "none"


def won(leading: dict[str, tuple[str, ...]], *, shared: bool) -> int:
    """Count the data sets on which the DRM is best; where `shared`, one of the best."""
    return sum("DRM" in best if shared else best == ("DRM",) for best in leading.values())


def by_rule(table: str) -> dict[str, pd.DataFrame]:
    """Return our table by the paper's rule and by the honest one, without what was not run; {} before any."""
    frame, tables = cells(table), {}
    for rule, column in (("paper", "ours_mean"), ("honest", "honest_mean")):
        scores = layout(frame, column).dropna(axis=1, how="all").dropna(axis=0, how="all")
        if scores.empty:
            return {}
        tables[rule] = scores
    return tables


def paired(a: pd.Series[float], b: pd.Series[float]) -> tuple[int, int, int, float, float]:
    """Compare two columns over the data sets that both have.

    Returns
    -------
    higher, lower, pairs : int
        How often a is higher than b, and lower, and of how many.
    mean : float
        Of a - b.
    p : float
        Two-sided, of Wilcoxon's signed-rank test; equal scores share their ranks between the signs.
    """
    difference = (a - b).dropna().round(12)  # differences that are equal but for rounding share a rank
    if difference.empty or (difference == 0).all():
        return 0, 0, len(difference), 0.0, 1.0
    p = float(wilcoxon(difference, zero_method="zsplit").pvalue)
    higher, lower = int((difference > 0).sum()), int((difference < 0).sum())
    return higher, lower, len(difference), float(difference.mean()), p
