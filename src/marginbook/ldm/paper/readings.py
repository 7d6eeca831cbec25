"""The readings of the printed columns SVM and LDM, and which of them a verdict is of.

The text admits two of each. Its margin variance is the double sum on the left of (4), or the expression on
the right, with which (6) goes on and which is the sum divided by m squared. Its SVM, (2), has no intercept,
and the usual program for the regular sets, LIBSVM, has one; that for the large sets, LIBLINEAR, has none
unless it is asked, so that there neither side has an intercept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from ...claims import open_parts, read_as

if TYPE_CHECKING:
    import pandas as pd

#: our methods that each of the two printed columns can be
LDM = {"LDM": "the variance as in (6)", "LDM(4)": "the double sum of (4)"}
SVM = {"SVM": "an SVM with an intercept", "SVM-0": "an SVM without an intercept"}
#: the table whose SVM has no intercept in any reading
LARGE = "table-4"


class Reading(NamedTuple):
    """Which of our methods stand for the printed columns."""

    ldm: str = "LDM"
    svm: str = "SVM"

    def __str__(self) -> str:
        return f"{LDM[self.ldm]}, {SVM[self.svm]}"

    def on(self, table: str) -> str:
        """Return the reading of one table in words."""
        return f"{LDM[self.ldm]}, no intercept on either side" if table == LARGE else str(self)


READINGS = tuple(Reading(*pair) for pair in product(LDM, SVM))
AS_DERIVED = READINGS[0]


def readings_of(table: str) -> list[Reading]:
    """Return the readings that a table has."""
    return [reading for reading in READINGS if table != LARGE or reading.svm == AS_DERIVED.svm]


def as_read(results: pd.DataFrame, reading: Reading) -> pd.DataFrame:
    """Return results in which the methods of a reading have the names of the printed columns."""
    others = {*LDM, *SVM} - set(reading)
    kept = results[~results["method"].isin(others)]
    return kept.assign(method=kept["method"].replace({reading.ldm: "LDM", reading.svm: "SVM"}))


def available(results: pd.DataFrame) -> list[Reading]:
    """Return the readings that have been run; of a table without any of them, the first."""
    methods = set(results["method"])
    return [reading for reading in READINGS if set(reading) <= methods] or [AS_DERIVED]


def nearest(results: pd.DataFrame, reading: Reading) -> Reading:
    """Return the reading where the results have it, else that with their own SVM, else the first."""
    stored = available(results)
    return next((one for one in (reading, Reading(ldm=reading.ldm)) if one in stored), AS_DERIVED)


def by_words(table: str, results: pd.DataFrame) -> dict[str, pd.DataFrame | None]:
    """Return the results of a table under each reading, by its words; None where it has not been stored."""
    stored = available(results)
    return {
        reading.on(table): as_read(results, reading) if reading in stored else None
        for reading in readings_of(table)
    }


def in_words(reading: Reading, table: str | None = None) -> str:
    """Return a reading of one table in words, or, without a table, of all that it is about."""
    return str(reading) if table is None else reading.on(table)


def not_run(ran: Iterable[Reading], table: str | None = None) -> list[str]:
    """Return in words the readings, of one table or of all, that have not been run."""
    known = READINGS if table is None else readings_of(table)
    return [in_words(reading, table) for reading in known if reading not in set(ran)]


def best(scores: Mapping[Reading, tuple[int, int]]) -> tuple[Reading, str]:
    """Return the reading with the largest share of agreeing parts, the first of equals, and a text about all.

    Parameters
    ----------
    scores : mapping
        Of each reading, how many parts agree, of how many.
    """
    return read_as.best(scores), read_as.told(scores, not_run(scores))


def best_parts(parts: Mapping[Reading, Sequence[str]], table: str | None = None) -> tuple[Reading, str]:
    """Return the reading of whose parts most are shown, and a text about all; see `claims.open_parts.best`.

    Parameters
    ----------
    parts : mapping
        Of each reading, which parts are shown, open or refuted.
    table : str, optional
        That they are about, if it is one.
    """
    words = {in_words(reading, table): found for reading, found in parts.items()}
    return open_parts.best(parts), open_parts.told(words, not_run(parts, table))
