"""Statistics on tables of scores: paired tests of two methods, rank tests of many, ranks and their diagram.

Scores of two methods are paired by split; tables of many methods hold one row per data set (or split) and
one column per method. Rank 1 is the best, everywhere.
"""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from ..base.parameters import real
from .signed_ranks import signed_rank_test

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Scores = NDArray[np.float64]


@dataclass(frozen=True)
class TestResult:
    """Outcome of a test.

    Attributes
    ----------
    statistic, p_value : float
        The p-value is two-sided.
    df : float or tuple of float
        Degrees of freedom; nan where there are none.
    n : int
        Pairs, or rows of the table.
    mean_difference : float
        Mean of first minus second; nan for tests of many methods.
    """

    __test__ = False  # not a test case of pytest

    statistic: float
    p_value: float
    df: float | tuple[float, float]
    n: int
    mean_difference: float = float("nan")


def paired_t(a: ArrayLike, b: ArrayLike) -> TestResult:
    """Student's paired t-test; right for independent pairs, too sure of itself for overlapping splits.

    Parameters
    ----------
    a, b : array of shape (n,)
        Scores of two methods on the same splits.

    See Also
    --------
    corrected_resampled_t
    """
    return _t_test(*_pairs(a, b, least=2), overlap=0.0)


def corrected_resampled_t(a: ArrayLike, b: ArrayLike, *, n_train: float, n_test: float) -> TestResult:
    r"""Nadeau and Bengio's t-test, for random splits of one data set, whose training parts overlap.

    .. math:: t = \frac{\bar d}{\sqrt{(1/n + n_2/n_1)\, s_d^2}}, \qquad n - 1 \text{ degrees of freedom}

    where

    - :math:`\bar d, s_d^2` are mean and variance (divisor n - 1) of the n differences,
    - :math:`n_1, n_2` are the rows that train and that test in each split.

    Parameters
    ----------
    a, b : array of shape (n,)
        Scores of two methods on the same splits.
    n_train, n_test : float
        Sizes of the two parts; only their ratio matters.

    References
    ----------
    Nadeau and Bengio (2003), Inference for the generalization error, Machine Learning 52, 239-281.

    Examples
    --------
    >>> result = corrected_resampled_t([0.81, 0.79, 0.84], [0.78, 0.77, 0.80], n_train=90, n_test=10)
    >>> round(result.statistic, 3), round(result.p_value, 3)
    (4.5, 0.046)
    """
    if not (0 < real(n_train) < np.inf and 0 < real(n_test) < np.inf):
        raise ValueError(f"n_train = {n_train!r} and n_test = {n_test!r}, but both must be positive numbers")
    return _t_test(*_pairs(a, b, least=2), overlap=n_test / n_train)


def _t_test(a: Scores, b: Scores, overlap: float) -> TestResult:
    difference = a - b
    n, mean = len(difference), float(difference.mean())
    if np.ptp(difference) == 0:  # no spread at all: t is infinite, or 0/0 where the methods agree
        statistic, p_value = (0.0, 1.0) if mean == 0 else (float(np.copysign(np.inf, mean)), 0.0)
    else:
        # by a power of two, so that no square leaves double precision and no digit changes
        unit = np.ldexp(difference, -int(np.frexp(np.abs(difference).max())[1]))
        statistic = float(unit.mean() / np.sqrt((1 / n + overlap) * unit.var(ddof=1)))
        p_value = float(2 * stats.t.sf(abs(statistic), n - 1))
    return TestResult(statistic, p_value, float(n - 1), n, mean)


def wilcoxon(a: ArrayLike, b: ArrayLike) -> TestResult:
    """Wilcoxon's signed-rank test of two methods over several data sets.

    Equal scores share their ranks between the signs (Demšar 2006); without them and with few pairs the
    p-value is exact. When all pairs are equal it is 1.
    """
    a, b = _pairs(a, b, least=2)
    n, mean = len(a), float(np.mean(a - b))
    if np.all(a == b):
        return TestResult(0.0, 1.0, float("nan"), n, mean)
    return TestResult(*signed_rank_test(a - b), float("nan"), n, mean)


def friedman(scores: ArrayLike) -> TestResult:
    """Friedman's test that all methods rank alike, with the chi-square statistic corrected for ties.

    Parameters
    ----------
    scores : array of shape (n, k)
        One row per data set, one column per method; at least 3 methods and 2 rows.
    """
    table = _table(scores, least_columns=3)
    if np.all(np.ptp(table, axis=1) == 0):
        return TestResult(0.0, 1.0, float(table.shape[1] - 1), len(table))
    found = stats.friedmanchisquare(*table.T)
    return TestResult(float(found.statistic), float(found.pvalue), float(table.shape[1] - 1), len(table))


def iman_davenport(scores: ArrayLike) -> TestResult:
    r"""Iman and Davenport's F form of Friedman's test, which is less conservative.

    .. math:: F = \frac{(n - 1)\chi^2}{n(k - 1) - \chi^2}, \quad k - 1 \text{ and } (k - 1)(n - 1)
        \text{ degrees of freedom}

    where :math:`\chi^2` is the statistic of `friedman`, for n data sets and k methods.

    References
    ----------
    Demšar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7, 1-30.
    """
    table = _table(scores, least_columns=3)
    n, k = table.shape
    chi2 = friedman(table).statistic
    rest = n * (k - 1) - chi2
    df = (float(k - 1), float((k - 1) * (n - 1)))
    # every row ranks the methods alike: the rest is 0 up to rounding
    statistic = float("inf") if rest <= 1e-12 * n * k else (n - 1) * chi2 / rest
    return TestResult(statistic, float(stats.f.sf(statistic, *df)), df, n)


def average_ranks(scores: pd.DataFrame, *, higher_is_better: bool = True) -> pd.Series:
    """Return each method's mean rank over the rows; rank 1 is the best, ties share the mean of theirs.

    Parameters
    ----------
    scores : DataFrame of shape (n, k)
        One row per data set, one column per method.
    higher_is_better : bool
        False for errors and losses.
    """
    _table(scores)
    return scores.rank(axis=1, ascending=not higher_is_better).mean(axis=0).rename("average rank")


def nemenyi(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the k × k p-values of Nemenyi's test, which compares all pairs after Friedman's."""
    import pandas as pd
    import scikit_posthocs

    found = scikit_posthocs.posthoc_nemenyi_friedman(_table(scores, least_columns=3))
    return pd.DataFrame(found.to_numpy(), index=scores.columns, columns=scores.columns)


def critical_difference(n_rows: int, n_methods: int, alpha: float = 0.05) -> float:
    r"""Return by how much two average ranks must differ for Nemenyi's test to tell the methods apart.

    .. math:: q_\alpha \sqrt{\frac{k(k + 1)}{6 n}}

    where :math:`q_\alpha` is the quantile of the studentized range for k methods, divided by :math:`\sqrt 2`.

    >>> round(critical_difference(14, 4), 2)
    1.25
    """
    for name, value, least in (("n_rows", n_rows, 1), ("n_methods", n_methods, 2)):
        if not (least <= real(value) < np.inf and real(value) == int(value)):
            raise ValueError(f"{name} must be a whole number >= {least}, got {reprlib.repr(value)}")
    if not 0 < real(alpha) < 1:
        raise ValueError(f"alpha must be a number in (0, 1), got {reprlib.repr(alpha)}")
    quantile = stats.studentized_range.ppf(1 - alpha, n_methods, np.inf) / np.sqrt(2)
    found = float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_rows)))
    if not np.isfinite(found):
        raise ValueError(f"no quantile for n_methods = {n_methods:.3g} and alpha = {alpha:.3g}; raise alpha")
    return found


def critical_difference_diagram(
    scores: pd.DataFrame, *, ax: Axes, higher_is_better: bool = True, alpha: float = 0.05
) -> pd.Series:
    """Draw the average ranks, with a bar over methods that Nemenyi's test does not tell apart.

    Parameters
    ----------
    scores : DataFrame of shape (n, k)
    ax : matplotlib.axes.Axes
        The best method, rank nearest to 1, is at the left.
    higher_is_better : bool
    alpha : float

    Returns
    -------
    Series
        The average ranks, best first.
    """
    import scikit_posthocs

    ranks = average_ranks(scores, higher_is_better=higher_is_better).sort_values(kind="stable")
    left, right = " {label} {rank:.1f} ", " {rank:.1f} {label} "  # the spaces keep letters off the lines
    drawn = scikit_posthocs.critical_difference_diagram(
        ranks, nemenyi(scores), alpha=alpha, ax=ax, label_fmt_left=left, label_fmt_right=right
    )
    for text in drawn["labels"]:  # a line may be pale, letters must not
        text.set_color("black")
    return ranks


def win_tie_loss(
    scores: pd.DataFrame, method: str, *, higher_is_better: bool = True, margin: float = 0.0
) -> pd.DataFrame:
    """Count on how many rows `method` beats, equals and loses to each other method.

    Parameters
    ----------
    scores : DataFrame of shape (n, k)
    method : str
        A column of `scores`.
    higher_is_better : bool
    margin : float
        Differences up to this are ties.

    Returns
    -------
    DataFrame
        Columns `win`, `tie`, `loss`; one row per other method.
    """
    import pandas as pd

    _table(scores)
    if method not in scores.columns:
        raise ValueError(f"no method {method!r}; there are {', '.join(map(str, scores.columns))}")
    if not 0 <= real(margin) < np.inf:
        raise ValueError(f"margin must be a number >= 0, got {reprlib.repr(margin)}")
    ahead = scores.rsub(scores[method], axis=0).drop(columns=method) * (1 if higher_is_better else -1)
    counts = {
        "win": (ahead > margin).sum(),
        "tie": (ahead.abs() <= margin).sum(),
        "loss": (ahead < -margin).sum(),
    }
    return pd.DataFrame(counts)


def _pairs(a: ArrayLike, b: ArrayLike, least: int) -> tuple[Scores, Scores]:
    first, second = _numbers(a), _numbers(b)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(
            f"scores of shapes {first.shape} and {second.shape}, but both must have the same (n,)"
        )
    if len(first) < least:
        raise ValueError(f"{len(first)} pairs of scores, but at least {least} are needed")
    _finite(np.stack([first, second]))
    return first, second


def _table(scores: Any, least_columns: int = 2) -> Scores:
    table = _numbers(scores)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < least_columns:
        raise ValueError(
            f"scores of shape {table.shape}, but rows are data sets (at least 2) and columns are methods "
            f"(at least {least_columns})"
        )
    _finite(table)
    return table


def _numbers(scores: Any) -> Scores:
    try:
        return np.asarray(scores, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"scores must be numbers, got {type(scores).__name__} with others") from None


def _finite(scores: Scores) -> None:
    bad = int(np.size(scores) - np.isfinite(scores).sum())
    if bad:
        raise ValueError(f"{bad} scores are NaN or infinite; drop the data sets that are not complete first")
