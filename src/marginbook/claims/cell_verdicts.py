"""A printed table beside ours, one verdict per cell: the rule that every claim about a table uses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import special

from . import Verdict

if TYPE_CHECKING:
    import pandas as pd

NOT_PRINTED = "not printed"
#: what `compare_cells` says of a cell that both sides have
TESTED = (str(Verdict.REPRODUCED), str(Verdict.NOT_REPRODUCED))
COLUMNS = [
    "dataset", "method", "printed_mean", "printed_std", "printed_n", "ours_mean", "ours_std", "ours_n",
    "honest_mean", "honest_std", "column", "difference", "se", "verdict", "direction", "note",
]  # fmt: skip


class Spread(NamedTuple):
    """A standard deviation (n - 1) and the number of values behind it."""

    std: float
    n: int


class Term(NamedTuple):
    """A part of the variance of a difference, and its degrees of freedom."""

    variance: float
    df: float


def quantile(terms: Sequence[Term], level: float = 0.975) -> float:
    """Return the point of Student's distribution for a sum of estimated variances (Welch, Satterthwaite).

    >>> round(quantile([Term(1.0, 4), Term(1.0, 4)]), 3)  # two means of 5 splits, alike
    2.306
    """
    total = sum(term.variance for term in terms)
    spent = sum((term.variance / total) ** 2 / term.df for term in terms) if total > 0 else 0.0
    return float(special.stdtrit(1 / spent, level) if spent > 0 else special.ndtri(level))


class Scores:
    """Results by data set and method; mean, deviation and number of a cell are computed once.

    Thousands of tables are compared with the same results to calibrate one.

    Parameters
    ----------
    results : DataFrame
        One row per data set, method and split.
    """

    def __init__(self, results: pd.DataFrame) -> None:
        self.columns = frozenset(map(str, results.columns))
        self._results = results
        groups: Mapping[Any, Any] = results.groupby(["dataset", "method"]).indices
        self._rows = {(str(dataset), str(method)): rows for (dataset, method), rows in groups.items()}
        self._values: dict[str, np.ndarray] = {}
        self._known: dict[tuple[str, str, str], tuple[float, float, int]] = {}

    def values(self, dataset: str, method: str, column: str) -> np.ndarray:
        """Return the numbers of a cell, one a split; none of a cell that was not run."""
        if column not in self._values:
            self._values[column] = self._results[column].to_numpy(float)
        return self._values[column][self._rows.get((dataset, method), slice(0))]

    def mean_std_n(self, dataset: str, method: str, column: str) -> tuple[float, float, int]:
        """Return the mean of a cell, the standard deviation (n - 1), and how many numbers there are."""
        key = dataset, method, column
        if key not in self._known:
            self._known[key] = _mean_std_n(self.values(*key))
        return self._known[key]


def compare_cells(
    printed: pd.DataFrame,
    results: pd.DataFrame | Scores,
    *,
    metric: str,
    better_of: Sequence[str] = (),
    printed_splits: int | Mapping[str, int],
    higher_is_better: bool = True,
    choices: Mapping[tuple[str, str], Spread] | None = None,
    other_data: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    r"""Return one row per printed cell: theirs, ours, and whether they agree.

    A cell is *reproduced* when

    .. math:: |\bar a - \bar b| \le t_\nu \sqrt{s_a^2 / n_a + s_b^2 / n_b + 2 s_c^2} + u / 2

    where

    - :math:`\bar a, s_a, n_a` are our mean, standard deviation (n - 1) and number of splits,
    - :math:`\bar b, s_b, n_b` are the printed ones,
    - :math:`s_c` is the standard deviation of the mean over repeated choices of the parameters, where both
      sides have chosen once for all splits; 0 where each split chooses for itself,
    - :math:`t_\nu` is the 97.5 % point of Student's distribution with Welch and Satterthwaite's degrees of
      freedom,
    - :math:`u` is one unit of the last printed digit of the mean (it was rounded).

    How often it passes a faithful re-run, and a wrong one: :mod:`marginbook.claims.calibration`. The splits
    are treated as independent; where both used the same folds this makes the interval too wide rather than
    too narrow. A standard deviation that is missing on one side (none printed, or one split only) is taken
    from the other. When both are missing and our results have a column ``test_rows``, the metric is a share
    of that many rows, and ours gets the standard error of a share, :math:`\sqrt{\bar a(1-\bar a)/m}`;
    otherwise only the rounding is allowed for.

    Parameters
    ----------
    printed : DataFrame
        As from `read_printed`.
    results : DataFrame or Scores
        One row per data set, method and split.
    metric : str
        Column of ours that is compared; with `better_of`, the one of those columns with the better mean is,
        as a paper that reports the better of several settings does it.
    printed_splits : int or mapping
        Number of splits behind a printed mean; by data set where it is not the same for all.
    higher_is_better : bool
        False for errors.
    choices : mapping, optional
        By data set and method, the spread of our mean over repeated choices of the parameters.
    other_data : mapping, optional
        Data sets whose public version is not the paper's, each with the reason: their cells are not-testable.

    Returns
    -------
    DataFrame
        `dataset`, `method`, `printed_mean`, `printed_std`, `printed_n`, `ours_mean`, `ours_std`, `ours_n`
        (splits), `honest_mean`, `honest_std` (of `metric`), `column` (the one compared), `difference`
        (ours - printed), `se` (of the difference), `verdict`, `direction` ("ours higher", "ours lower", ""),
        `note`. A verdict is `reproduced`, `not-reproduced`, `not-testable` (no result of ours), or
        "not printed".

    Raises
    ------
    KeyError
        The results lack a column that is to be compared.
    """
    import pandas as pd

    ours = results if isinstance(results, Scores) else Scores(results)
    for column in (metric, *better_of):
        if column not in ours.columns:
            raise KeyError(f"the results have no column {column!r}")
    sign = 1 if higher_is_better else -1
    rows = [
        _cell(
            row,
            ours,
            metric,
            better_of,
            printed_splits if isinstance(printed_splits, int) else int(printed_splits[row["dataset"]]),
            sign,
            (choices or {}).get((row["dataset"], row["method"]), Spread(0.0, 2)),
            (other_data or {}).get(row["dataset"], ""),
        )
        for row in printed.to_dict("records")
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _cell(
    printed: Mapping[Any, Any],
    ours: Scores,
    metric: str,
    better_of: Sequence[str],
    n_printed: int,
    sign: int,
    choice: Spread,
    other: str,
) -> dict[str, Any]:
    mean, std = float(printed["mean"] or "nan"), float(printed["std"] or "nan")
    cell = printed["dataset"], printed["method"]
    sides = {column: ours.mean_std_n(*cell, column) for column in better_of or (metric,)}
    column = max(sides, key=lambda name: sign * sides[name][0] if sides[name][2] else -math.inf)
    ours_mean, ours_std, n_ours = sides[column]
    honest_mean, honest_std, _ = ours.mean_std_n(*cell, metric)
    difference = ours_mean - mean
    # a spread that one side lacks is taken from the other; when both lack it the number is taken at its word
    spreads = [Spread(std, n_printed), Spread(ours_std, n_ours)]
    known = [spread for spread in spreads if not math.isnan(spread.std)]
    if n_ours and not known:
        tested = ours.values(*cell, "test_rows") if "test_rows" in ours.columns else np.zeros(0)
        terms = [Term(_error_of_share(ours_mean, tested) ** 2, math.inf)]
    elif n_ours:
        sources = [spread if spread in known else known[0] for spread in spreads]
        terms = [
            Term(source.std**2 / n, max(source.n - 1, 1))
            for source, n in zip(sources, (n_printed, n_ours), strict=True)
        ]
    else:
        terms = [Term(math.nan, math.inf)]
    terms.append(Term(2 * choice.std**2, choice.n - 1))
    se = math.sqrt(sum(term.variance for term in terms))
    verdict, direction = _verdict(mean, difference, quantile(terms) * se + _half_unit(printed["mean"]))
    if other and verdict != NOT_PRINTED:
        verdict, direction = str(Verdict.NOT_TESTABLE), ""
    return {
        "dataset": printed["dataset"], "method": printed["method"], "printed_mean": mean, "printed_std": std,
        "printed_n": n_printed, "ours_mean": ours_mean, "ours_std": ours_std, "ours_n": n_ours,
        "honest_mean": honest_mean, "honest_std": honest_std, "column": column, "difference": difference,
        "se": se, "verdict": verdict, "direction": direction,
        "note": "; ".join(filter(None, (printed["note"], other))),
    }  # fmt: skip


def _error_of_share(share: float, tested: np.ndarray) -> float:
    """Return the standard error of a share of as many rows; 0 where the results do not state them."""
    rows = float(np.nansum(tested))
    return math.sqrt(max(share * (1 - share), 0.0) / rows) if rows > 0 else 0.0


def _mean_std_n(column: np.ndarray) -> tuple[float, float, int]:
    values = column[~np.isnan(column)]
    mean = float(values.mean()) if len(values) else math.nan
    return mean, float(values.std(ddof=1)) if len(values) > 1 else math.nan, len(values)


def _verdict(printed: float, difference: float, allowed: float) -> tuple[str, str]:
    if math.isnan(printed):
        return NOT_PRINTED, ""
    if math.isnan(difference):
        return str(Verdict.NOT_TESTABLE), ""
    # the last bits of a mean must not decide
    if abs(difference) <= allowed * (1 + 1e-9):
        return str(Verdict.REPRODUCED), ""
    return str(Verdict.NOT_REPRODUCED), "ours higher" if difference > 0 else "ours lower"


def _half_unit(text: str) -> float:
    digits = text.strip().partition(".")[2]
    return 0.5 * 10.0 ** -len(digits) if text.strip() else 0.0


def layout(comparison: pd.DataFrame, value: str = "ours_mean") -> pd.DataFrame:
    """Return one column of a comparison as the paper lays it out: data sets down, methods across."""
    order = {axis: list(dict.fromkeys(comparison[axis])) for axis in ("dataset", "method")}
    table = comparison.pivot(index="dataset", columns="method", values=value)
    return table.loc[order["dataset"], order["method"]]


def agreeing(comparison: pd.DataFrame) -> tuple[int, int]:
    """Return how many cells agree, and how many could be compared."""
    tested = comparison[comparison["verdict"].isin(TESTED)]
    return int((tested["verdict"] == TESTED[0]).sum()), len(tested)


def counts(comparison: pd.DataFrame) -> dict[str, int]:
    """Return how many cells got each verdict, the most frequent first."""
    return {str(verdict): int(n) for verdict, n in comparison["verdict"].value_counts().items()}
