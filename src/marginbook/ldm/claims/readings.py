"""The readings of the printed columns SVM and LDM, and which of them a verdict is of.

The text admits two of each. Its margin variance is the double sum on the left of (4), or the expression on
the right, with which (6) goes on and which is the sum divided by m squared. Its SVM, (2), has no intercept,
and the usual program for the regular sets, LIBSVM, has one. All four are in the stored results of these; on
the large sets neither side has an intercept, and the double sum has not been run.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

#: our methods that each of the two printed columns can be
LDM = {"LDM": "the variance as in (6)", "LDM(4)": "the double sum of (4)"}
SVM = {"SVM": "an SVM with an intercept", "SVM-0": "an SVM without"}


class Reading(NamedTuple):
    """Which of our methods stand for the printed columns."""

    ldm: str = "LDM"
    svm: str = "SVM"

    def __str__(self) -> str:
        return f"{LDM[self.ldm]}, {SVM[self.svm]}"


READINGS = tuple(Reading(*pair) for pair in product(LDM, SVM))
AS_DERIVED = READINGS[0]
ONE_RUN = (
    "One reading has been run: the variance as in (6), and on the large sets no intercept on either side."
)


def as_read(results: pd.DataFrame, reading: Reading) -> pd.DataFrame:
    """Return results in which the methods of a reading have the names of the printed columns."""
    others = {*LDM, *SVM} - set(reading)
    kept = results[~results["method"].isin(others)]
    return kept.assign(method=kept["method"].replace({reading.ldm: "LDM", reading.svm: "SVM"}))


def available(results: pd.DataFrame) -> list[Reading]:
    """Return the readings that have been run; of a table without any of them, the first."""
    methods = set(results["method"])
    return [reading for reading in READINGS if set(reading) <= methods] or [AS_DERIVED]


def best(scores: Mapping[Reading, tuple[int, int]]) -> tuple[Reading, str]:
    """Return the reading with the largest share of agreeing parts, the first of equals, and a text about it.

    Parameters
    ----------
    scores : mapping
        Of each reading, how many parts agree, of how many.
    """

    def share(reading: Reading) -> float:
        agreeing, tested = scores[reading]
        return agreeing / tested if tested else 0.0

    chosen = max(scores, key=share)
    told = {reading: "{} of {}".format(*score) for reading, score in scores.items()}
    others = "; ".join(f"{reading}: {told[reading]}" for reading in scores if reading != chosen)
    return chosen, f"{chosen}: {told[chosen]} agree. The others: {others}." if others else ONE_RUN
