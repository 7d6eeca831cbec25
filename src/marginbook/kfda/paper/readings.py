"""What Tables 1 and 2 leave open: what is tested on a partition, and which coefficients count as zero."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

#: what is tested on a partition: a machine trained on it, or the one classifier of a realisation
PROTOCOLS = ("refit", "fixed")
#: of these the reading of the text whose errors agree with more printed cells; the page of results shows it
SHOWN = "fixed"
#: what counts as retained: what is not exactly zero, or what is above a share of the largest coefficient
CUTS = (None, 1e-3, 1e-6)
#: what is tested on a partition, in words
IN_WORDS = {
    "refit": "classifiers refitted on every partition",
    "fixed": "one classifier, tested on all partitions",
}
#: columns of the results with the samples above each cut where the paper's iteration stops
AT_CUTS = ("cuts", "retained_cuts_refit", "retained_cuts_fixed")


@dataclass(frozen=True)
class Reading:
    """One reading of a table: what is tested, and the cut for zero (None: exact zeros)."""

    protocol: str
    cut: float | None = None

    def __str__(self) -> str:
        cut = "exact zeros" if self.cut is None else f"zero below {self.cut:.0e} of the largest"
        return f"{IN_WORDS[self.protocol]}, {cut}"


def readings_of(
    frame: pd.DataFrame, protocols: Sequence[str] = PROTOCOLS
) -> tuple[list[Reading], list[Reading]]:
    """Return the readings that results have been stored for, and the others."""
    every = [Reading(protocol, cut) for protocol in protocols for cut in CUTS]
    stored = {None, *stored_cuts(frame)}
    return [one for one in every if one.cut in stored], [one for one in every if one.cut not in stored]


def stored_cuts(frame: pd.DataFrame) -> set[float]:
    """Return the cuts at which the samples have been counted in every result of an iterative method."""
    if not set(AT_CUTS) <= set(frame.columns):
        return set()
    iterated = frame.loc[frame["method"].isin(["kFDA-1", "kFDA-0.5"]), "cuts"]
    found = [set(json.loads(text)) if isinstance(text, str) else set() for text in iterated]
    return set.intersection(*found) if found else set()


def with_cut(frame: pd.DataFrame, cut: float | None) -> pd.DataFrame:
    """Return stored results whose retained samples are those above a cut where the paper's iteration stops.

    Methods whose zeros are exact keep theirs.

    Parameters
    ----------
    frame : DataFrame
        As from `marginbook.kfda.experiments.columns.results`.
    cut : float or None
        One of `stored_cuts`, or None for exact zeros.
    """
    if cut is None:
        return frame
    refit, fixed = frame["retained_refit"].tolist(), frame["retained_fixed"].tolist()
    for at, line in enumerate(frame[list(AT_CUTS)].to_dict("records")):
        if isinstance(line["cuts"], str):
            place = json.loads(line["cuts"]).index(cut)
            refit[at] = np.array(json.loads(line["retained_cuts_refit"])[place], dtype=float)
            fixed[at] = float(json.loads(line["retained_cuts_fixed"])[place])
    return frame.assign(retained_refit=refit, retained_fixed=fixed)


def by_words(results: pd.DataFrame) -> dict[str, pd.DataFrame | None]:
    """Return stored results under each reading, by its words; None for one that is not stored.

    What compares one metric reads the errors of the protocol `SHOWN`: those of another stand in their place.
    """
    stored, absent = readings_of(results)
    found: dict[str, pd.DataFrame | None] = {}
    for reading in stored:
        frame = with_cut(results, reading.cut)
        kept = [
            text if isinstance(text, str) else json.dumps(text.tolist()) for text in frame["retained_refit"]
        ]
        errors = frame[f"errors_{reading.protocol}"]
        found[str(reading)] = frame.assign(retained_refit=kept, **{f"errors_{SHOWN}": errors})
    return found | {str(reading): None for reading in absent}
