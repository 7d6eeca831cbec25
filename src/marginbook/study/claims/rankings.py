"""Results as tables of sets by methods, and what rank tests say of them.

A table has one row per data set: the mean over its splits. Sets on which a method is missing are left out,
so that every comparison is on the same sets.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ...experiments import ExperimentError, load_protocol, read_results
from ...experiments.stats import average_ranks, critical_difference, friedman, iman_davenport, nemenyi
from ..experiments.candidates import CANDIDATES, points
from ..experiments.methods import METHODS

if TYPE_CHECKING:
    import pandas as pd

EXPERIMENT = "study/accuracy"
#: level of all tests
LEVEL = float(load_protocol(EXPERIMENT).thresholds["level"])


def results() -> pd.DataFrame | None:
    """Return the stored rows, one per set, split and method; None where nothing is stored."""
    try:
        return read_results(EXPERIMENT)
    except ExperimentError:
        return None


def by_set(rows: pd.DataFrame, measure: str = "accuracy") -> pd.DataFrame:
    """Return the means over splits of a `measure`: one row per set that all methods have, one column each.

    Parameters
    ----------
    rows : DataFrame
        As of `results`.
    measure : str
        A column of it.
    """
    present = [name for name in METHODS if name in set(rows["method"])]
    means = rows.pivot_table(index="dataset", columns="method", values=measure, aggfunc="mean", dropna=False)
    counts = rows.groupby("dataset")["method"].nunique()
    return means.loc[means.index.isin(counts.index[counts == len(present)]), present]


def complete(rows: pd.DataFrame) -> bool:
    """Return whether every task of the protocol is there."""
    return len(rows) == len(load_protocol(EXPERIMENT).tasks("paper"))


def ranks(table: pd.DataFrame) -> pd.Series:
    """Return the average ranks of the methods over the sets, the best first."""
    return average_ranks(table).sort_values(kind="stable")


def verdict(table: pd.DataFrame) -> dict[str, float]:
    """Return the tests that all methods rank alike, and how far two ranks must be apart.

    Returns
    -------
    dict
        ``chi2`` and ``p`` of Friedman's test, ``F`` and ``p_F`` of Iman and Davenport's form,
        ``difference``, the critical one of Nemenyi's test.
    """
    plain, form = friedman(table), iman_davenport(table)
    return {
        "chi2": plain.statistic,
        "p": plain.p_value,
        "F": form.statistic,
        "p_F": form.p_value,
        "difference": critical_difference(*table.shape, LEVEL),
    }


def not_told_apart(table: pd.DataFrame, method: str) -> list[str]:
    """Return the methods that Nemenyi's test does not tell from `method`, itself included, best first."""
    p_values = nemenyi(table)[method]
    return [str(name) for name in ranks(table).index if name == method or p_values[name] >= LEVEL]


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row per method, by average rank of accuracy.

    Columns ``accuracy`` and ``g_mean``, means over sets in %; ``rank`` and ``g_rank``, average ranks;
    ``needed``, median over sets of the share of training rows in %; ``tune``, ``fit`` and ``predict``, median
    processor seconds of tuning, of one fit and of 1000 predictions; ``missed``, % of all fits that missed
    their tolerance.
    """
    accuracy, g_mean = by_set(rows), by_set(rows, "g_mean")
    told = rows[rows["dataset"].isin(accuracy.index)]
    per_1000 = 1000 * told["predict_seconds"] / told["n_test"]
    groups = told.assign(predict=per_1000).groupby("method")
    found = {
        "accuracy": accuracy.mean(),
        "rank": average_ranks(accuracy),
        "g_mean": g_mean.mean(),
        "g_rank": average_ranks(g_mean),
        "needed": by_set(rows, "needed").median(),
        "tune": groups["tune_seconds"].median(),
        "fit": groups["fit_seconds"].median(),
        "predict": groups["predict"].median(),
        "missed": 100 * groups["missed_fits"].sum() / groups["n_fits"].sum(),
    }
    import pandas as pd

    return pd.DataFrame(found).loc[ranks(accuracy).index]


def edges(rows: pd.DataFrame) -> pd.DataFrame:
    """Return how often tuning chose one of the two lowest or two highest of the 16 values, in %.

    One row per method and parameter, columns ``low`` and ``high``; without any preference both are 12.5.
    """
    import pandas as pd

    found = {}
    for name, one in rows.groupby("method", sort=False):
        ranges = METHODS[str(name)].ranges
        chosen = pd.DataFrame([json.loads(text) for text in one["parameters"]])
        for parameter in ranges:
            values = sorted(point[parameter] for point in points(ranges, CANDIDATES))
            # results have six digits
            low, high = values[1] * (1 + 1e-5), values[-2] * (1 - 1e-5)
            shares = ((chosen[parameter] <= low).mean(), (chosen[parameter] >= high).mean())
            found[f"{name}: {parameter}"] = [100 * float(share) for share in shares]
    return pd.DataFrame.from_dict(found, orient="index", columns=["low", "high"])
