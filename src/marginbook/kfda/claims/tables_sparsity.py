"""Claims about retained samples: by the cut for calling a coefficient zero, over q, for several classes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from ...claims import Evidence, Rival, claim, decide, share
from ...claims.printed_tables import paired
from ..paper.printed import PAPER_TABLES, TINY, printed
from .tables import nothing

if TYPE_CHECKING:
    import pandas as pd

#: cuts that somebody may use without a second thought, relative to the largest coefficient
USUAL = (1e-3, 1e-6)
#: of the curves: this many points of error are given away for fewer samples
TOLERANCE = 1.0
#: exponents of the curves, the sparsest first
EXPONENTS = ("q=0.25", "q=0.5", "q=0.75", "q=1")


def stored(table: str, *, paper_sets: bool = True) -> pd.DataFrame | None:
    """Return the results of one of our own experiments; None before any."""
    frame = PAPER_TABLES.results(table)
    if frame is None or not paper_sets:
        return frame
    kept = frame[frame["dataset"].isin(printed().errors.index)]
    return None if kept.empty else kept


def by_cut() -> pd.DataFrame | None:
    """Return the share of retained samples for every cut.

    Returns
    -------
    DataFrame or None
        `dataset`, `method`, `split`, `rho`, `cut`, `stopped` and `long` (NRS in percent of the iteration that
        stops where the paper does, and of the longer one, with that cut), `exact` (of the solver with exact
        zeros), `sample` (100 / n: what one sample weighs), `excess` (relative, of J where the paper stops).
    """
    import pandas as pd

    frame = stored("cuts")
    if frame is None:
        return None
    rows = []
    for line in frame.to_dict("records"):
        lists = {
            name: json.loads(line[name])
            for name in ("rho", "cuts", "nrs_stopped", "nrs_long", "nrs_exact", "excess_stopped")
        }
        for k, rho in enumerate(lists["rho"]):
            for at, cut in enumerate(lists["cuts"]):
                rows.append(
                    (
                        line["dataset"],
                        line["method"],
                        line["split"],
                        rho,
                        cut,
                        lists["nrs_stopped"][k][at],
                        lists["nrs_long"][k][at],
                        lists["nrs_exact"][k],
                        100 / line["n_train"],
                        lists["excess_stopped"][k],
                    )
                )
    names = ["dataset", "method", "split", "rho", "cut", "stopped", "long", "exact", "sample", "excess"]
    return pd.DataFrame(rows, columns=names)


def at_cut(frame: pd.DataFrame, cut: float) -> pd.DataFrame:
    """Return the lines of one cut, one per data set, method, partition and rho."""
    lines = frame[np.isclose(frame["cut"], cut, rtol=1e-6, atol=0)]
    return lines.set_index(["dataset", "method", "split", "rho"]).sort_index()


@claim(
    "kfda/cuts",
    kind="ours",
    where="Section 4",
    statement="where the paper stops, the number of retained samples hangs on the cut below which a "
    "coefficient is called zero for q = 1, and hardly for q = 0.5",
    notebook="kfda/05_error_and_sparsity#kfda-cuts",
    depends=("results/kfda/cuts.csv",),
)
def check_cuts() -> Evidence:
    """Compare the retained samples for two usual cuts, and with those of exact zeros."""
    frame = by_cut()
    claimed = "the same to one sample in most cases for q = 0.5, and in few for q = 1"
    if frame is None:
        return nothing(claimed, "cuts")
    coarse, fine = (at_cut(frame, cut) for cut in USUAL)
    gap = fine["stopped"] - coarse["stopped"]
    same = gap <= coarse["sample"] + TINY
    alike = {str(method): float(part.mean()) for method, part in same.groupby(level="method")}
    told = []
    for method, lines in frame.groupby("method"):
        averages = lines.groupby("cut")[["stopped", "long"]].mean().sort_index(ascending=False)
        shown = ", ".join(
            f"{cut:.0e} {row.stopped:.1f}"
            for cut, row in zip(averages.index, averages.itertuples(), strict=True)
        )
        nearest = (lines["stopped"] - lines["exact"]).abs().groupby(lines["cut"]).mean()
        told.append(
            f"{method}, mean NRS by cut: {shown}; exact zeros {lines['exact'].mean():.1f}; nearest to these "
            f"is the cut {nearest.idxmin():.0e}, {nearest.min():.1f} points off"
        )
    ratios = fine["stopped"].groupby(level="method").mean() / coarse["stopped"].groupby(
        level="method"
    ).mean().clip(lower=TINY)
    full, half = alike["kFDA-1"], alike["kFDA-0.5"]
    return Evidence(
        decide(full < 0.5 < half),
        f"the same to one sample for {USUAL[0]:.0e} and {USUAL[1]:.0e}: for q = 1 {100 * full:.0f} % of "
        f"{len(same) // 2} cases, for q = 0.5 {100 * half:.0f} %; on average the finer cut retains "
        f"{ratios['kFDA-1']:.2f} and {ratios['kFDA-0.5']:.2f} times as many",
        claimed,
        min(0.5 - full, half - 0.5),
        f"{'. '.join(told)}. The iteration never reaches zero, the paper states no cut. It stops at a "
        "relative change of J of 1e-5, with J above the exact solver's by "
        f"{100 * coarse['excess'].median():.2g} % in the median. Cuts are relative to the largest "
        "coefficient.",
        {"sets": int(frame["dataset"].nunique()), "cells": len(same)},
    )


def curve(dataset: str | None = None) -> pd.DataFrame | None:
    """Return error and retained share along rho, means over the partitions.

    Returns
    -------
    DataFrame or None
        `dataset`, `method` (such as "q=0.5"), `rho`, `mcr`, `nrs`, and `mcr_warm`, `nrs_warm` of the other
        start, nan for q = 1; in percent.
    """
    import pandas as pd

    frame = stored("curves", paper_sets=dataset is None)
    if frame is None:
        return None
    if dataset is not None:
        frame = frame[frame["dataset"] == dataset]
    rows = []
    for line in frame.to_dict("records"):
        rhos = json.loads(line["rho"])
        sides = {
            name: json.loads(line[name]) if isinstance(line.get(name), str) else [np.nan] * len(rhos)
            for name in ("mcr", "nrs", "mcr_warm", "nrs_warm")
        }
        rows += [
            (line["dataset"], line["method"], rho, *(sides[name][k] for name in sides))
            for k, rho in enumerate(rhos)
        ]
    table = pd.DataFrame(rows, columns=["dataset", "method", "rho", "mcr", "nrs", "mcr_warm", "nrs_warm"])
    return table.groupby(["dataset", "method", "rho"], sort=False).mean().reset_index()


def needed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the fewest retained samples with which each q comes near to the least error of q = 1.

    Parameters
    ----------
    frame : DataFrame
        As from `curve`.

    Returns
    -------
    DataFrame
        Data sets down, exponents across: the least mean NRS among the rho whose mean error is at most
        `TOLERANCE` points above the least of q = 1; nan where no rho is.
    """
    import pandas as pd

    rows = {}
    for name, part in frame.groupby("dataset", sort=False):
        lasso = part[part["method"] == "q=1"]
        if lasso.empty:
            continue
        limit = lasso["mcr"].min() + TOLERANCE
        near = part[part["mcr"] <= limit + TINY]
        rows[str(name)] = near.groupby("method")["nrs"].min().to_dict()
    return pd.DataFrame.from_dict(rows, orient="index").reindex(columns=list(EXPONENTS))


@claim(
    "kfda/curves",
    kind="experiment",
    where="Section 5",
    statement="the choice of a smaller q aids parsimony with little or no degradation in performance",
    notebook="kfda/05_error_and_sparsity#kfda-curves",
    depends=("results/kfda/curves.csv",),
)
def check_curves() -> Evidence:
    """Ask, along rho, with how few samples each q comes within a point of the least error of q = 1."""
    frame = curve()
    if frame is None:
        return nothing("fewer samples with every smaller q", "curves")
    fewest = needed(frame)
    parts, told = [], []
    for q in EXPONENTS[:-1]:
        both = fewest[[q, "q=1"]]
        reached = both.dropna()
        fewer = int((reached[q] < reached["q=1"]).sum())
        parts += [*(both[q] < both["q=1"])]
        *_, p = paired(reached[q], reached["q=1"])
        told.append(
            f"{q}: fewer on {fewer} of {len(both)} sets, {reached[q].mean():.1f} against "
            f"{reached['q=1'].mean():.1f} % (p = {p:.1g}), out of reach on {len(both) - len(reached)}"
        )
    least = frame.groupby(["dataset", "method"])["mcr"].min().unstack()
    errors = ", ".join(f"{q} {least[q].mean():.1f}" for q in EXPONENTS if q in least)
    cold = frame[frame["method"] != "q=1"]
    moved = (cold["nrs"] - cold["nrs_warm"]).abs() > TINY
    return Evidence(
        share(sum(parts), len(parts)),
        f"fewer samples in {sum(parts)} of {len(parts)} comparisons with q = 1",
        f"{len(parts)} of {len(parts)}",
        float(sum(parts) - len(parts)),
        f"The fewest retained samples along rho at which the error is at most {TOLERANCE:.0f} point above "
        f"the least of q = 1. {'; '.join(told)}. Least mean error along rho, in %: {errors}. The least is "
        "taken with the test rows in sight, for every q alike. Another start (the solution of a smaller "
        f"rho) leads to another mean number of samples in {int(moved.sum())} of {len(moved)} points, "
        f"{(cold['nrs_warm'] - cold['nrs']).mean():+.1f} % on average, and to "
        f"{(cold['mcr_warm'] - cold['mcr']).mean():+.2f} points of error.",
        {"sets": len(fewest)},
    )


def by_scheme() -> pd.DataFrame | None:
    """Return means over the splits of the experiment with several classes, one line per set and method.

    Returns
    -------
    DataFrame or None
        `mcr`, `union` (rows that a prediction compares with), `single` (coefficients per machine),
        `machines`, `coefficients`, `n_train`, `n_classes`.
    """
    frame = PAPER_TABLES.results("multiclass")
    if frame is None:
        return None
    columns = {
        "mcr": "mcr",
        "kernels_per_row": "union",
        "n_coefficients": "coefficients",
        "n_machines": "machines",
        "n_train": "n_train",
        "n_classes": "n_classes",
    }
    found = frame.groupby(["dataset", "method"], sort=False)[list(columns)].mean().rename(columns=columns)
    return found.assign(single=found["coefficients"] / found["machines"])


@claim(
    "kfda/multiclass",
    kind="ours",
    where="Section 1",
    statement="for several classes, machines that are trained independently are not parsimonious together: "
    "one prediction needs more samples than one machine retains, on average more than twice as many",
    notebook="kfda/05_error_and_sparsity#kfda-multiclass",
    depends=("results/kfda/multiclass.csv",),
    rivals=[Rival("five times as many on average", {"factor": 5.0})],
)
def check_multiclass(factor: float = 2.0) -> Evidence:
    """Compare the union of the retained samples over all machines with what one of them retains."""
    frame = by_scheme()
    if frame is None:
        return nothing("more than one; twice on average", "multiclass")
    own = frame[frame.index.get_level_values("method").str.startswith("kFDA")]
    ratio = own["union"] / own["single"].where(own["single"] > 0)
    more, least = int((ratio > 2).sum()), float(ratio.min())
    told = []
    for method, part in frame.groupby(level="method", sort=False):
        times = (part["union"] / part["single"].where(part["single"] > 0)).mean()
        told.append(
            f"{method}: error {part['mcr'].mean():.1f} %, "
            f"{100 * (part['union'] / part['n_train']).mean():.0f} % of the training rows together, "
            f"{times:.1f} times one machine"
        )
    return Evidence(
        decide(least > 1 and ratio.mean() > factor),
        f"{least:.1f} times at least, {ratio.mean():.1f} times on average; more than twice in {more} of "
        f"{len(own)} cases",
        f"more than one; {factor:g} on average",
        min(least - 1, float(ratio.mean()) - factor),
        f"The paper says that it may be so. {'; '.join(told)}. A sample that several machines retain is "
        "compared with once. Cases: data sets, "
        "exponents, and the schemes one-versus-rest and one-versus-one.",
        {"sets": int(frame.index.get_level_values("dataset").nunique()), "cases": len(own)},
    )
