"""A printed table beside ours, one verdict per cell: the rule that every claim about a table uses."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
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
    "metric_mean", "metric_std", "column", "difference", "se", "verdict", "direction", "note",
]  # fmt: skip


class Spread(NamedTuple):
    """A standard deviation (n - 1) and the number of values behind it."""

    std: float
    n: int


class Term(NamedTuple):
    """A part of the variance of a difference, and its degrees of freedom: numbers, or arrays of cells."""

    variance: float | np.ndarray
    df: float | np.ndarray


def quantile(terms: Sequence[Term], level: float = 0.975) -> float | np.ndarray:
    """Return the point of Student's distribution for a sum of estimated variances (Welch, Satterthwaite).

    >>> print(f"{quantile([Term(1.0, 4), Term(1.0, 4)]):.3f}")  # two means of 5 splits, alike
    2.306
    """
    total = np.asarray(sum(term.variance for term in terms))
    with np.errstate(divide="ignore", invalid="ignore"):  # without a variance it is the normal one
        spent = sum((term.variance / total) ** 2 / term.df for term in terms)
        return np.where(spent > 0, special.stdtrit(1 / spent, level), special.ndtri(level))[()]


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
        (splits), `metric_mean`, `metric_std` (of `metric`), `column` (the one compared), `difference`
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
    cells = list(zip(printed["dataset"], printed["method"], strict=True))
    texts = printed["mean"].to_list()
    mean, std = (np.array([float(text or "nan") for text in printed[name]]) for name in ("mean", "std"))
    n = [
        printed_splits if isinstance(printed_splits, int) else int(printed_splits[dataset])
        for dataset, _ in cells
    ]
    columns = [_better(ours, cell, better_of or (metric,), higher_is_better) for cell in cells]
    ours_mean, ours_std, n_ours = _arrays(
        ours.mean_std_n(*cell, column) for cell, column in zip(cells, columns, strict=True)
    )
    metric_mean, metric_std, _ = _arrays(ours.mean_std_n(*cell, metric) for cell in cells)
    terms = _terms(
        (std, np.array(n)),
        (ours_mean, ours_std, n_ours),
        [(choices or {}).get(cell, Spread(0.0, 2)) for cell in cells],
        lambda k: ours.values(*cells[k], "test_rows") if "test_rows" in ours.columns else np.zeros(0),
    )
    se = np.sqrt(sum(term.variance for term in terms))
    difference = ours_mean - mean
    allowed = quantile(terms) * se + [_half_unit(text) for text in texts]
    others = [(other_data or {}).get(dataset, "") for dataset, _ in cells]
    judged = [_verdict(*cell) for cell in zip(mean, difference, allowed, others, strict=True)]
    found = {
        "dataset": printed["dataset"].to_list(), "method": printed["method"].to_list(), "printed_mean": mean,
        "printed_std": std, "printed_n": n, "ours_mean": ours_mean, "ours_std": ours_std,
        "ours_n": n_ours.astype(int), "metric_mean": metric_mean, "metric_std": metric_std,
        "column": columns, "difference": difference, "se": se, "verdict": [verdict for verdict, _ in judged],
        "direction": [direction for _, direction in judged],
        "note": ["; ".join(filter(None, notes)) for notes in zip(printed["note"], others, strict=True)],
    }  # fmt: skip
    return pd.DataFrame(found, columns=COLUMNS)


def _better(ours: Scores, cell: tuple[str, str], columns: Sequence[str], higher: bool) -> str:
    """Return the column with the better mean, of those with any number."""
    if len(columns) == 1:
        return columns[0]
    sides = {name: ours.mean_std_n(*cell, name) for name in columns}
    sign = 1 if higher else -1
    return max(sides, key=lambda name: sign * sides[name][0] if sides[name][2] else -math.inf)


def _arrays(found: Iterable[tuple[float, float, int]]) -> np.ndarray:
    """Return means, deviations and numbers of many cells, (3, cells)."""
    return np.array(list(found), dtype=float).reshape(-1, 3).T


def _terms(
    printed: tuple[np.ndarray, np.ndarray],
    ours: tuple[np.ndarray, np.ndarray, np.ndarray],
    choices: Sequence[Spread],
    tested: Callable[[int], np.ndarray],
) -> list[Term]:
    """Return what the variance of each difference is made of; nan for a cell without a result of ours.

    A spread that one side lacks is taken from the other. When both lack it, ours has the standard error of a
    share of the rows that `tested` gives by the number of a cell.
    """
    (std, n), (mean, ours_std, n_ours) = printed, ours
    lacks, ours_lacks = np.isnan(std), np.isnan(ours_std)
    sources = [
        (np.where(lacks, ours_std, std), np.where(lacks, n_ours, n), n),
        (np.where(ours_lacks, std, ours_std), np.where(ours_lacks, n, n_ours), n_ours),
    ]
    with np.errstate(divide="ignore", invalid="ignore"):
        variances = [spread**2 / number for spread, _, number in sources]
    dfs = [np.maximum(behind - 1.0, 1.0) for _, behind, _ in sources]
    for k in np.flatnonzero(lacks & ours_lacks & (n_ours > 0)):
        variances[0][k], variances[1][k] = _error_of_share(mean[k], tested(int(k))) ** 2, 0.0
        dfs[0][k] = dfs[1][k] = math.inf
    variances[0][n_ours == 0] = math.nan
    chosen = Term(
        np.array([2 * choice.std**2 for choice in choices]),
        np.array([choice.n - 1.0 for choice in choices]),
    )
    return [*map(Term, variances, dfs), chosen]


def _error_of_share(share: float, tested: np.ndarray) -> float:
    """Return the standard error of a share of as many rows; 0 where the results do not state them."""
    rows = float(np.nansum(tested))
    return math.sqrt(max(share * (1 - share), 0.0) / rows) if rows > 0 else 0.0


def _mean_std_n(column: np.ndarray) -> tuple[float, float, int]:
    values = column[~np.isnan(column)]
    mean = float(values.mean()) if len(values) else math.nan
    return mean, float(values.std(ddof=1)) if len(values) > 1 else math.nan, len(values)


def _verdict(printed: float, difference: float, allowed: float, other: str) -> tuple[str, str]:
    if math.isnan(printed):
        return NOT_PRINTED, ""
    if math.isnan(difference) or other:
        return str(Verdict.NOT_TESTABLE), ""
    # the last bits of a mean must not decide
    if abs(difference) <= allowed * (1 + 1e-9):
        return str(Verdict.REPRODUCED), ""
    return str(Verdict.NOT_REPRODUCED), "ours higher" if difference > 0 else "ours lower"


def _half_unit(text: str) -> float:
    digits = text.strip().partition(".")[2]
    return 0.5 * 10.0 ** -len(digits)  # of no text, too: a cell that is not printed meets no limit


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
