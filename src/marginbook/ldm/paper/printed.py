"""The tables of this paper as printed: means, deviations, marks, summary rows, and what they leave open."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

from scipy.stats import t as student

from ...claims import Verdict, decide
from ...claims.cell_verdicts import layout
from ...claims.printed_tables import PaperTables
from .readings import by_words

if TYPE_CHECKING:
    import pandas as pd


def other_versions() -> dict[str, str]:
    """Return the sets whose public version has other features than Table 1 prints, each with both numbers."""
    from ...datasets.registry import entry

    found = ((str(name), int(line["p"]), entry(str(name))) for name, line in sizes().to_dict("index").items())
    return {
        name: f"{p} features printed, {public.p} in the public set"
        for name, p, public in found
        if public.available and public.p != p
    }


def printed_names() -> dict[str, str]:
    """Return the names of Table 1 by data set."""
    return {str(name): str(printed_name) for name, printed_name in sizes()["printed_name"].items()}


#: the tables of accuracies, and what each is about
KINDS = {"table-2": "linear", "table-3": "rbf", "table-4": "large"}
PAPER_TABLES = PaperTables(
    "ldm",
    own="LDM",
    other_data=other_versions,
    printed_names=printed_names,
    readings={table: partial(by_words, table) for table in KINDS},
)
#: splits behind a printed mean
SPLITS = {"table-2": 30, "table-3": 30, "table-4": 10}
#: what the marks of the tables mean; a method is compared with the SVM
MARKS = {"better than SVM": "win", "worse than SVM": "loss"}
#: significance of the paper's tests
LEVEL = 0.05
#: half a unit of the last printed digit
ROUNDING = 0.0005
OUTCOMES = ("win", "tie", "loss")


@dataclass(frozen=True)
class Printed:
    """One table of accuracies as printed: data sets down, methods across.

    Attributes
    ----------
    means, deviations : DataFrame
        A number that is not printed is nan.
    marks : DataFrame
        Of each method against the SVM: "win", "tie", "loss"; "" for the SVM and where nothing is printed.
    """

    means: pd.DataFrame
    deviations: pd.DataFrame
    marks: pd.DataFrame

    def cell(self, dataset: str, method: str) -> tuple[float, float]:
        """Return mean and deviation of one cell."""
        mean, std = (side[method].to_dict()[dataset] for side in (self.means, self.deviations))
        return float(mean), float(std)

    def sets(self, method: str) -> list[str]:
        """Return the data sets for which a number of `method` is printed."""
        return [str(name) for name in self.means.index[self.means[method].notna()]]


def printed(table: str) -> Printed:
    """Return one of the printed tables of accuracies."""
    found = _printed(table)
    return Printed(found.means.copy(), found.deviations.copy(), found.marks.copy())


@cache  # every claim about a table asks for it, some of them for each column
def _printed(table: str) -> Printed:
    frame = PAPER_TABLES.numbers(table)
    blank = frame["mean"].isna() | (frame["method"] == "SVM")
    outcome = frame["note"].map(MARKS).fillna("tie").mask(blank, "")
    frame = frame.assign(outcome=outcome)
    means, deviations, marks = (layout(frame, value) for value in ("mean", "std", "outcome"))
    return Printed(means, deviations, marks)


def summary(table: str, row: str) -> dict[str, str]:
    """Return a row below one of the tables, by method: ``"average"`` or ``"LDM w/t/l"``."""
    import pandas as pd

    frame = pd.read_csv(PAPER_TABLES.paper / "summary.csv", dtype=str, keep_default_na=False)
    rows = frame[(frame["table"] == table) & (frame["row"] == row)]
    return {str(name): str(value) for name, value in zip(rows["method"], rows["value"], strict=True)}


def printed_counts(table: str) -> dict[str, tuple[int, int, int]]:
    """Return the printed wins, ties and losses of the LDM against each method that has them."""
    found = {}
    for method, text in summary(table, "LDM w/t/l").items():
        if text != "N/A":
            win, tie, loss = map(int, text.split("/"))
            found[method] = (win, tie, loss)
    return found


def sizes() -> pd.DataFrame:
    """Return Table 1: `printed_name`, `scale` ("regular" or "large"), `n`, `p` by data set."""
    import pandas as pd

    return pd.read_csv(PAPER_TABLES.paper / "table-1.csv").set_index("dataset")


def possible_outcomes(
    first: tuple[float, float],
    second: tuple[float, float],
    n: int,
    *,
    overlap: float = 0.0,
    level: float = LEVEL,
) -> set[str]:
    r"""Return which outcomes a paired t-test can have had, given only two printed means and deviations.

    The statistic is :math:`t = \bar d / (s_d \sqrt{1/n + r})`, where r is 0 for Student's test and the ratio
    of test to training rows for the corrected one. Of the difference d of two paired scores only

    .. math:: |s_1 - s_2| \le s_d \le s_1 + s_2

    is known (a correlation of 1 and of -1); the means and deviations are known to half a unit of their last
    digit.

    Parameters
    ----------
    first, second : (mean, standard deviation)
        Of two methods on the same `n` splits.
    n : int
    overlap : float
        r; 1 for random halves.
    level : float
        Two-sided.

    Returns
    -------
    set of str
        Of "win", "tie", "loss", as seen from the first.

    Examples
    --------
    >>> sorted(possible_outcomes((0.9, 0.01), (0.8, 0.01), 30))
    ['win']
    >>> sorted(possible_outcomes((0.81, 0.03), (0.80, 0.03), 30))
    ['tie', 'win']
    """
    (mean, std), (other_mean, other_std) = first, second
    difference = mean - other_mean
    least, most = max(abs(std - other_std) - 2 * ROUNDING, 0.0), std + other_std + 2 * ROUNDING
    limit = float(student.ppf(1 - level / 2, n - 1)) * math.sqrt(1 / n + overlap)
    tiny = 1e-12  # a difference of printed decimals is not exact
    found = set()
    for outcome, lead in (("win", difference), ("loss", -difference)):
        if lead + 2 * ROUNDING > tiny and lead + 2 * ROUNDING > limit * least:
            found.add(outcome)
    if max(abs(difference) - 2 * ROUNDING, 0.0) <= limit * most + tiny:
        found.add("tie")
    return found


def by_possibility(possible: int, certain: int, tested: int) -> Verdict:
    """Return the verdict on `tested` statements that rounded numbers allow, or even prove.

    What they only allow is *undecided*: other digits, or the scores of the splits, would tell.

    >>> str(by_possibility(4, 4, 4)), str(by_possibility(4, 3, 4)), str(by_possibility(3, 3, 4))
    ('holds', 'undecided', 'fails')
    """
    if possible == tested > certain:
        return Verdict.UNDECIDED
    return decide(possible == tested)
