"""The tables of this paper as printed: errors, retained samples, rows of means, sizes, what a cell can be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from ...claims.comparison import layout, read_numbers
from ...claims.printed_tables import PaperTables

if TYPE_CHECKING:
    import pandas as pd

#: the two tables of results, and the benchmark each is about
KINDS = {"table-1": "IDA", "table-2": "UCI"}
#: the printed columns: the best result found in the literature, the paper's rival, and its own four
PUBLISHED, RIVAL = "published", "kFDA-OLS"
OWN = ("kFDA-1 min MCR", "kFDA-1 min NRS", "kFDA-0.5 min MCR", "kFDA-0.5 min NRS")
COLUMNS = (PUBLISHED, RIVAL, *OWN)
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
        errors = read_numbers(PAPER_TABLES.paper / f"{table}.csv")
        sides["errors"].append(layout(errors, "mean"))
        sides["deviations"].append(layout(errors, "std"))
        sides["retained"].append(layout(read_numbers(PAPER_TABLES.paper / f"{table}-retained.csv"), "mean"))
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


PAPER_TABLES = PaperTables("kfda", own="kFDA", splits=dict.fromkeys(KINDS, partitions))


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
