"""Two methods compared on every data set, split by split: by how much one leads, and whether it wins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..experiments.equivalence import mean_interval
from ..experiments.stats import corrected_resampled_t, paired_t
from .printed_tables import LEVEL

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

OUTCOMES = ("win", "tie", "loss")
#: the paired t-test takes splits as independent, the corrected one allows for rows that they share
TESTS = ("paired", "corrected")


def contest(
    scores: pd.DataFrame,
    first: str | int,
    second: str | int,
    *,
    overlap: float | Mapping[str, float],
    higher_is_better: bool = True,
) -> pd.DataFrame:
    """Compare two methods on every data set, with both tests.

    Parameters
    ----------
    scores : DataFrame
        (data set, split) down, methods across.
    first, second : str or int
        Columns of it.
    overlap : float or mapping
        Rows that test for each that trains, of random splits; 0 for draws that share none, whose corrected
        test is the paired one. By data set where it differs.
    higher_is_better : bool

    Returns
    -------
    DataFrame
        By data set: `splits` (that both have), `difference` (mean of first minus second), `deviation` (of
        the differences, n - 1), `low` and `high` (its 90 % interval, of the corrected test),
        `p_paired`, `p_corrected`, and the outcomes `paired` and `corrected`: "win", "tie" or "loss" of the
        first. A data set with fewer than two splits is left out.
    """
    import pandas as pd

    columns = ["splits", "difference", "deviation", "low", "high", "p_paired", "p_corrected", *TESTS]
    rows: dict[str, dict[str, Any]] = {}
    if {first, second} <= set(scores.columns):
        for name, part in scores[[first, second]].dropna().groupby(level="dataset", sort=False):
            a, b = (part[method].to_numpy(float) for method in (first, second))
            if len(a) < 2:
                continue
            plain = corrected = paired_t(a, b)
            share = overlap[str(name)] if isinstance(overlap, Mapping) else overlap
            if share:
                corrected = corrected_resampled_t(a, b, n_train=1, n_test=share)
            low, high = mean_interval((a - b).round(9), overlap=share)  # 1e-17 is no difference
            ahead = plain.mean_difference if higher_is_better else -plain.mean_difference
            rows[str(name)] = {
                "splits": len(a),
                "difference": plain.mean_difference,
                "deviation": float(np.std(a - b, ddof=1)),
                "low": low,
                "high": high,
                "p_paired": plain.p_value,
                "p_corrected": corrected.p_value,
                "paired": outcome(ahead, plain.p_value),
                "corrected": outcome(ahead, corrected.p_value),
            }
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("dataset")


def outcome(ahead: float, p: float) -> str:
    """Return "win", "loss", or "tie" where being `ahead` is not significant."""
    if p >= LEVEL or ahead == 0:
        return "tie"
    return "win" if ahead > 0 else "loss"


def holm(p: ArrayLike) -> np.ndarray:
    """Return the p-values of several tests, adjusted so that all can be read together (Holm 1979).

    >>> holm([0.01, 0.04, 0.03]).round(6).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p, dtype=float)
    order = np.argsort(values, kind="stable")
    raised = np.maximum.accumulate(values[order] * (len(values) - np.arange(len(values))))
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(raised, 1.0)
    return adjusted


def outcome_counts(outcomes: Iterable[str]) -> str:
    """Return how often each outcome is there, as papers write it.

    >>> outcome_counts(["win", "tie", "win"])
    '2/1/0'
    """
    found = list(outcomes)
    return "/".join(str(found.count(name)) for name in OUTCOMES)
