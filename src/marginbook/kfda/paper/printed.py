"""The tables of this paper as printed: errors, retained samples, rows of means, sizes, what a cell can be."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

from ...claims.cell_verdicts import Spread, layout
from ...claims.printed_tables import PaperTables
from .readings import SHOWN, by_words

if TYPE_CHECKING:
    import pandas as pd

#: the two tables of results, and the benchmark each is about
KINDS = {"table-1": "IDA", "table-2": "UCI"}
#: the printed columns: the best result found in the literature, the paper's rival, and its own four
PUBLISHED, RIVAL = "published", "kFDA-OLS"
OWN = ("kFDA-1 min MCR", "kFDA-1 min NRS", "kFDA-0.5 min MCR", "kFDA-0.5 min NRS")
K1, K1_SPARSE, HALF, HALF_SPARSE = OWN
COLUMNS = (PUBLISHED, RIVAL, *OWN)
#: our names of the rows, and how each is chosen: method, rule; "test error" has seen the test rows
CHOICES = {
    "kFDA-1 min MCR": ("kFDA-1", "error"),
    "kFDA-1 min NRS": ("kFDA-1", "retained"),
    "kFDA-0.5 min MCR": ("kFDA-0.5", "error"),
    "kFDA-0.5 min NRS": ("kFDA-0.5", "retained"),
    RIVAL: (RIVAL, "error"),
    "kFDA": ("kFDA", "error"),
    "SVM": ("SVM", "error"),
}
#: half a unit of the last printed digit, in percent
ROUNDING = 0.05
#: printed decimals are not exact in binary
TINY = 1e-9


@dataclass(frozen=True)
class Printed:
    """Printed cells, all in percent: data sets down, the six columns across.

    Attributes
    ----------
    errors, deviations : DataFrame
        Misclassification rate (MCR) and its ±; what is not printed is nan.
    retained : DataFrame
        Share of retained training samples (NRS); what is not printed is nan.
    """

    errors: pd.DataFrame
    deviations: pd.DataFrame
    retained: pd.DataFrame


def printed(*tables: str) -> Printed:
    """Return the cells of the tables named, one below the other; of both if none is named."""
    found = _printed(*tables)
    return Printed(found.errors.copy(), found.deviations.copy(), found.retained.copy())


@cache  # every claim about the tables asks for them, some of them for each column
def _printed(*tables: str) -> Printed:
    import pandas as pd

    sides: dict[str, list[pd.DataFrame]] = {"errors": [], "deviations": [], "retained": []}
    for table in tables or KINDS:
        errors = PAPER_TABLES.numbers(table)
        sides["errors"].append(layout(errors, "mean"))
        sides["deviations"].append(layout(errors, "std"))
        sides["retained"].append(layout(PAPER_TABLES.numbers(f"{table}-retained"), "mean"))
    return Printed(**{name: pd.concat(parts)[list(COLUMNS)] for name, parts in sides.items()})


def summary(table: str, row: str) -> dict[str, str]:
    """Return a row of means, by column: `row` is ``"MCR"`` or ``"NRS"``; Table 3 has no other rows."""
    import pandas as pd

    frame = pd.read_csv(PAPER_TABLES.paper / "means.csv", dtype=str, keep_default_na=False)
    rows = frame[(frame["table"] == table) & (frame["row"] == row)]
    return {str(name): str(value) for name, value in zip(rows["method"], rows["value"], strict=True)}


def sizes() -> pd.DataFrame:
    """Return what a data set is divided into, by data set.

    Returns
    -------
    DataFrame
        `printed_name`, `table`, `n_train` (printed in italics), `n_partitions` (of the text), and
        `n_pool`, `n_test`: the rows of the public set, which the paper does not print, and the rest.
    """
    return _sizes().copy()


@cache
def _sizes() -> pd.DataFrame:
    import pandas as pd

    from ...datasets.registry import entry

    frame = pd.read_csv(PAPER_TABLES.paper / "sets.csv").set_index("dataset")
    pool = [entry(str(name)).n for name in frame.index]
    return frame.assign(n_pool=pool).assign(n_test=lambda found: found["n_pool"] - found["n_train"])


def partitions() -> dict[str, int]:
    """Return the number of partitions behind a printed mean, by data set."""
    return {str(name): int(number) for name, number in sizes()["n_partitions"].items()}


def choice_means(frame: pd.DataFrame, protocol: str, side: str) -> pd.Series[float]:
    """Return the mean over the partitions of every single choice of the parameters, in percent.

    Parameters
    ----------
    frame : DataFrame
        Stored results, one row per data set, method and realisation; lists as JSON or arrays.
    protocol : {"refit", "fixed"}
    side : {"mcr", "nrs"}

    Returns
    -------
    Series
        With the index of `frame`.
    """
    if side == "mcr":
        counts, of = frame[f"errors_{protocol}"], frame["n_test"]
    else:
        counts, of = frame[f"retained_{protocol}"], frame["n_train"]
    found: pd.Series[float] = counts.map(_mean) * 100 / of
    return found


def _mean(counts: object) -> float:
    import numpy as np

    return float(np.mean(json.loads(counts) if isinstance(counts, str) else np.asarray(counts, dtype=float)))


def choice_spreads(frame: pd.DataFrame, protocol: str, side: str) -> dict[tuple[str, str], Spread]:
    """Return how the mean over the partitions varies with the realisation that chose, by set and column.

    The paper chooses the parameters on one of five realisations, once for all partitions: a run with
    other realisations would have another mean, and the spread over the partitions does not contain that.
    """
    found = {}
    values = choice_means(frame, protocol, side)
    for (dataset, method), part in values.groupby([frame["dataset"], frame["method"]]):
        if len(part) > 1:
            spread = Spread(float(part.std(ddof=1)), len(part))
            columns = (column for column, (name, _) in CHOICES.items() if name == method)
            found.update({(str(dataset), column): spread for column in columns})
    return found


PAPER_TABLES = PaperTables(
    "kfda",
    own="kFDA",
    splits=dict.fromkeys(KINDS, partitions),
    choices=dict.fromkeys(KINDS, partial(choice_spreads, protocol=SHOWN, side="mcr")),
    readings=dict.fromkeys(KINDS, by_words),
)


def count_of(percent: float, n: int) -> int | None:
    """Return the integer i for which 100 i / n rounds to the printed `percent`; None where there is none.

    Of several, which happens for n > 1000 only, the nearest. A half may have been rounded either way.

    >>> count_of(15.3, 400), count_of(15.3, 200)
    (61, None)
    """
    nearest = round(percent * n / 100)
    return nearest if abs(100 * nearest / n - percent) <= ROUNDING + TINY else None


def share_of_counts(n: int) -> float:
    """Return the share of the numbers 0.0, 0.1, ..., 100.0 that are counts of n, rounded.

    >>> share_of_counts(100), share_of_counts(1000)
    (0.1008991008991009, 1.0)
    """
    return sum(count_of(tenths / 10, n) is not None for tenths in range(1001)) / 1001


def fixed_deviation(percent: float, n_train: int, n_test: int) -> float:
    r"""Return the deviation, over random partitions, of the tested error of one classifier that stays.

    Of the :math:`N=n_1+n_2` rows a share p is misclassified; a test part is :math:`n_2` of them, drawn
    without putting back, so that its errors follow the hypergeometric law and

    .. math:: \sigma = \sqrt{\frac{p(1-p)}{n_2}\,\frac{n_1}{n_1+n_2-1}}.

    Parameters
    ----------
    percent : float
        100 p.
    n_train, n_test : int
        :math:`n_1, n_2`.

    Returns
    -------
    float
        In percent.

    Examples
    --------
    >>> round(fixed_deviation(9.8, 400, 4900), 3)
    0.117
    """
    p = percent / 100
    return 100 * math.sqrt(p * (1 - p) / n_test * n_train / (n_train + n_test - 1))
