"""The printed ± beside what they can be: laws of a deviation over random partitions, and their likelihoods.

Each law predicts the deviation of a cell over R partitions; the printed one is that number times a chi
variable, rounded to one decimal.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import chi2

from ..paper.printed import PUBLISHED, RIVAL, ROUNDING, TINY, fixed_deviation, printed, sizes
from .printed_retained import PAIRS

if TYPE_CHECKING:
    import pandas as pd

#: what a printed ± can be
LAWS = {
    "fixed": "one classifier, tested on every partition",
    "others": "one classifier, tested on every partition but its own",
    "refit": "a classifier trained anew on every partition",
    "standard_error": "the standard error of the mean of refitted ones",
    "binomial": "the binomial deviation of one test part, as a bootstrap gives it",
}
#: relative uncertainty of what a law predicts: partitions may be stratified, a peer's spread is a peer's
UNCERTAINTY = 0.2
#: steps of the unknown error on the own test part, between the printed mean and the largest possible
STEPS = 41


def log_likelihood(
    shown: float,
    predicted: Any,
    partitions: int,
    *,
    outlier: Any = 0.0,
    uncertainty: float = UNCERTAINTY,
) -> float:
    r"""Return the logarithm of the probability that a deviation s is printed as `shown`.

    .. math:: P = \int p(\tau)\,P\big(|s-\mathrm{shown}|\le 0.05 \,\big|\, \sigma e^{\tau}\big)\,d\tau,
        \qquad \tau\sim N(0,\eta^2)

    where, with d = 0,

    .. math:: (R-1)\,s^2 \sim \sigma^2\chi^2_{R-1}, \qquad\text{else}\qquad
        (R-1)\,s^2 \sim \sigma^2\chi^2_{R-2} + \frac{R-1}{R}\,d^2.

    Parameters
    ----------
    shown : float
        In percent, with one decimal.
    predicted, outlier : float or array of the same shape
        :math:`\sigma>0`, and d: by how much one partition differs from the mean of the others. Of arrays
        the mean of the probabilities counts.
    partitions : int
        R.
    uncertainty : float
        :math:`\eta`.

    Examples
    --------
    >>> log_likelihood(0.1, 0.117, 100) > log_likelihood(0.1, 0.48, 100) + 10
    True
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(31)
    sigma = np.atleast_1d(predicted)[:, None] * np.exp(uncertainty * nodes)
    shift = np.broadcast_to(np.atleast_1d(outlier), len(sigma))[:, None] ** 2 * (partitions - 1) / partitions
    freedom = partitions - 1 - (shift > 0)
    edges = [max(shown - ROUNDING, 0.0), shown + ROUNDING]
    low, high = (
        chi2.cdf(np.maximum((partitions - 1) * edge**2 - shift, 0.0) / sigma**2, freedom) for edge in edges
    )
    inside = float(np.mean((high - low) @ weights) / math.sqrt(2 * math.pi))
    return math.log(max(inside, 1e-12))  # a floor keeps one impossible cell from deciding alone


def own_errors(mean: float, n_train: int, n_test: int, smaller_class: float) -> np.ndarray:
    """Return what the error on the test part of the own partition can be, in percent, evenly spaced.

    At least the printed mean, to which the others contribute with their share of training rows; at most
    what leaves no error among the training rows, and no more than a classifier without input makes.

    Parameters
    ----------
    mean : float
        Printed, in percent.
    n_train, n_test : int
    smaller_class : float
        Its share, in percent.
    """
    largest = min(mean * (n_train + n_test) / n_test, max(smaller_class, mean))
    return np.linspace(mean, largest, STEPS)


def spreads() -> pd.DataFrame:
    r"""Return each different printed cell of the paper's own classifiers beside what the laws predict.

    The spread of refitted classifiers is taken from the column kFDA_OLS of Table 1, whose numbers come from
    the work that proposed it, on the same partitions; for another error p it is scaled by
    :math:`\sqrt{p(1-p)}`. Two columns for the same q with equal error and NRS are one cell.

    Returns
    -------
    DataFrame
        `dataset`, `column`, `error`, `printed` (its ±), `partitions`, then for each of `LAWS` the predicted
        deviation ("fixed": the largest; "others" is the smallest that it can be), and `log_<law>` with the
        log-likelihood; nan where nothing is known.
    """
    import pandas as pd

    page = printed()
    errors, deviations = (side.to_dict() for side in (page.errors, page.deviations))
    retained = page.retained.to_dict()
    rows = []
    for name, line in sizes().to_dict("index").items():
        for pair in PAIRS:
            same = all(len({side[column][name] for column in pair}) == 1 for side in (errors, retained))
            for column in pair[:1] if same else pair:
                cell = {"dataset": name, "column": column, "error": errors[column][name]}
                cell |= {"printed": deviations[column][name], "partitions": int(line["n_partitions"])}
                peer = (errors[RIVAL][name], deviations[RIVAL][name]) if line["table"] == "table-1" else None
                rows.append(cell | _laws(cell, int(line["n_train"]), int(line["n_test"]), peer))
    return pd.DataFrame(rows)


def _laws(
    cell: dict[str, Any], n_train: int, n_test: int, peer: tuple[float, float] | None
) -> dict[str, float]:
    mean, shown, times = cell["error"], cell["printed"], cell["partitions"]
    own = own_errors(mean, n_train, n_test, smaller_class(cell["dataset"]))
    rest = (times * mean - own) / (times - 1)  # the mean over the other partitions
    inner = np.array([fixed_deviation(value, n_train, n_test) for value in rest])
    refit = math.nan if peer is None else peer[1] * _scale(mean) / _scale(peer[0])
    found = {
        "fixed": math.sqrt(inner[-1] ** 2 + (own[-1] - rest[-1]) ** 2 / times),
        "others": fixed_deviation(mean, n_train, n_test),
        "refit": refit,
        "standard_error": refit / math.sqrt(times),
        "binomial": 100 * _scale(mean) / math.sqrt(n_test),
    }
    logs = {
        law: math.nan if math.isnan(sigma) else log_likelihood(shown, sigma, times)
        for law, sigma in found.items()
    }
    logs["fixed"] = log_likelihood(shown, inner, times, outlier=own - rest)
    return found | {f"log_{law}": logs[law] for law in LAWS}


def _scale(percent: float) -> float:
    return math.sqrt(percent / 100 * (1 - percent / 100))


def smaller_class(name: str) -> float:
    """Return the share of the smaller class of a data set, in percent."""
    from ...datasets.registry import entry

    counts = entry(name).classes.values()
    return 100 * min(counts) / sum(counts)


def odds(frame: pd.DataFrame, first: str = "fixed", second: str = "refit") -> pd.Series[float]:
    """Return the log-odds of two laws by data set, as one cell's worth: the mean over the set's cells.

    The cells of a set share their partitions, and mostly their errors; so they are not counted as several.
    """
    ratio = frame[f"log_{first}"] - frame[f"log_{second}"]
    found: pd.Series[float] = ratio.groupby(frame["dataset"], sort=False).mean().dropna()
    return found


def explained(frame: pd.DataFrame) -> pd.Series[bool]:
    """Return whether one classifier explains each cell, to 2.6 deviations of a deviation and rounding."""
    slack = 2.6 / np.sqrt(2 * (frame["partitions"] - 1))
    low, high = frame["others"] * (1 - slack), frame["fixed"] * (1 + slack)
    inside: pd.Series[bool] = (frame["printed"] + ROUNDING + TINY >= low) & (
        frame["printed"] - ROUNDING - TINY <= high
    )
    return inside


def implied_errors(*names: str) -> pd.DataFrame:
    r"""Return the error on unseen rows that a printed ± implies, if one classifier was tested everywhere.

    Of R partitions one is the classifier's own, and all its test rows are new to it. With the mean
    :math:`\bar e` of all and the deviation s,

    .. math:: s^2 \approx \sigma^2(\bar e) + \frac{d^2}{R}, \qquad
        e_\mathrm{own} = \bar e + \frac{R-1}{R}\,d,

    so that the excess over the deviation :math:`\sigma` of one classifier tells d. Only where R is small is
    the excess larger than the noise of s.

    Parameters
    ----------
    *names : str
        Data sets; default: those with 20 partitions.

    Returns
    -------
    DataFrame
        `dataset`, `column`, `printed` (mean), `low`, `high`: the implied error for s at the ends of its
        rounding and one deviation of its noise; `rival`, `published` (printed means of others).
    """
    import pandas as pd

    frame, page = spreads(), printed()
    wanted = frame["dataset"].isin(names) if names else frame["partitions"] < 100
    rows = []
    for line in frame[wanted].to_dict("records"):
        times = line["partitions"]
        noise = line["others"] / math.sqrt(2 * (times - 1))
        found = [
            line["error"]
            + (times - 1) / math.sqrt(times) * math.sqrt(max(edge**2 - line["others"] ** 2, 0.0))
            for edge in (max(line["printed"] - ROUNDING - noise, 0.0), line["printed"] + ROUNDING + noise)
        ]
        others = [page.errors[name].to_dict()[line["dataset"]] for name in (RIVAL, PUBLISHED)]
        rows.append((line["dataset"], line["column"], line["error"], *found, *others))
    return pd.DataFrame(rows, columns=["dataset", "column", "printed", "low", "high", "rival", PUBLISHED])
