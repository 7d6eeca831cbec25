"""How often a run in which the names mean nothing does as well as ours: for claims of a few parts.

What a text reads off a figure is a few statements, such as which of three curves is the lowest on most sets.
There are no printed cells on which a rule could be tried (:mod:`marginbook.claims.calibration`). So the names
of what is compared are exchanged in the stored results, on every data set apart: each way to do so is a wrong
run. The share of them that do as well as ours stands beside the verdict. Where more than one in twenty do,
the data cannot tell, and the verdict is *undecided*.

All ways are counted, none is drawn, so that the share is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from ..experiments.equivalence import LEVEL
from .evidence import Verdict, share_by_chance
from .levels import MISSED
from .open_parts import judged

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    #: scores of many runs from the sums of their columns, (runs, columns) -> (runs,)
    Score = Callable[[np.ndarray], np.ndarray]

#: relative difference of two scores that is rounding
TINY = 1e-9
#: sums that are kept at most: 32 megabytes for each column
MOST = 2**22


@dataclass(frozen=True)
class Ways:
    """Sums over the data sets for all ways to exchange names on each.

    Attributes
    ----------
    sums : array of shape (k, columns)
        Different ways with the same whole numbers are one row.
    shares : array of shape (k,)
        Of all ways, those that a row stands for.
    ours : array of shape (columns,)
        Nothing exchanged.
    """

    sums: np.ndarray
    shares: np.ndarray
    ours: np.ndarray

    def as_well(self, score: Score = lambda sums: sums[:, 0]) -> float:
        """Return the share of the ways with a score at least as high as ours."""
        own = float(score(self.ours[None])[0])
        least = own - TINY * max(abs(own), 1.0) if np.isfinite(own) else own
        return min(float(self.shares[score(self.sums) >= least].sum()), 1.0)


def all_ways(options: Sequence[ArrayLike]) -> Ways:
    """Add up over the data sets, in all ways to take one option of each.

    Parameters
    ----------
    options : sequence of arrays of shape (options,) or (options, columns)
        Of each data set, what it adds under every exchange of the names; the first is that of none. Whole
        numbers with the same sum are kept once, so that hundreds of sets are no problem; other numbers need a
        sum for every way, whose number grows like a power of the number of sets.

    Raises
    ------
    ValueError
        If more than `MOST` sums would have to be kept.

    Examples
    --------
    A coin exchanges two methods on each of four sets, and one has led on all: one way in sixteen is as good.

    >>> all_ways([[1, 0]] * 4).as_well()
    0.0625
    """
    tables = [np.reshape(option, (len(np.asarray(option)), -1)) for option in options]
    tables = [table.astype(int) if table.dtype == bool else table for table in tables]  # they add up
    sums = np.zeros((1, tables[0].shape[1]), dtype=tables[0].dtype)
    shares: np.ndarray = np.ones(1)
    for table in tables:
        if (table == table[0]).all():
            sums = sums + table[0]
            continue
        if len(sums) * len(table) > MOST:
            raise ValueError(
                f"the ways to exchange names on {len(tables)} sets have more than {MOST} sums; round what "
                "the sets add to whole units and pass integers, of which equal sums are kept once"
            )
        sums = (sums[:, None] + table[None]).reshape(-1, table.shape[1])
        shares = np.repeat(shares / len(table), len(table))
        if sums.dtype.kind in "iu":
            sums, place = np.unique(sums, axis=0, return_inverse=True)
            shares = np.bincount(place.ravel(), weights=shares)
    return Ways(sums, shares, np.sum([table[0] for table in tables], axis=0))


def turned(differences: ArrayLike) -> list[np.ndarray]:
    """Return the options of two methods that a coin exchanges on each set: the signs of all differences turn.

    Parameters
    ----------
    differences : array of shape (sets,) or (sets, columns)
        nan where a set is not compared.
    """
    found = np.asarray(differences, dtype=float)
    table = np.nan_to_num(found.reshape(len(found), -1))
    return [np.stack([row, -row]) for row in table]


def lows(differences: ArrayLike, level: float = LEVEL) -> Score:
    """Return the score of `turned`: lower ends of the intervals of means, (runs, columns).

    They are those of :func:`marginbook.experiments.equivalence.mean_interval`: minus infinity where a column
    has fewer than two numbers. The squares of the differences do not depend on their signs, so that the sum
    of a column has all that is needed.
    """
    found = np.asarray(differences, dtype=float)
    found = found.reshape(len(found), -1)
    number = (~np.isnan(found)).sum(axis=0)
    squares = np.nansum(found**2, axis=0)
    enough = number >= 2
    number = np.maximum(number, 2)
    point = stats.t.ppf(1 - level, number - 1)

    def score(sums: np.ndarray) -> np.ndarray:
        mean = sums / number
        variance = np.maximum(squares - number * mean**2, 0.0) / (number - 1)
        return np.where(enough, mean - point * np.sqrt(variance / number), -np.inf)

    return score


def percent(rate: float) -> str:
    """Return a share in words.

    >>> percent(0.4167), percent(0.00926), percent(1e-9), percent(1.0)
    ('42 %', '0.93 %', 'less than 0.0001 %', '100 %')
    """
    return "less than 0.0001 %" if rate < 1e-6 else f"{float(f'{100 * rate:.2g}'):g} %"


@dataclass(frozen=True)
class WrongRuns:
    """The rate of wrong runs of one claim.

    Attributes
    ----------
    rate : float
        Of all ways to exchange the names, those that do as well as ours.
    exchanged : str
        What is exchanged, and where: "the names of the algorithms are exchanged on each set".
    alike : str
        What it is to do as well: "as many parts hold".
    """

    rate: float
    exchanged: str
    alike: str

    @property
    def too_many(self) -> bool:
        """Whether wrong runs do as well in more than one case of twenty, so that the data cannot tell."""
        return self.rate > MISSED

    def judge(self, agreeing: int, tested: int) -> Verdict:
        """Return the verdict, undecided where wrong runs do as well in more than one case of twenty."""
        return share_by_chance(agreeing, tested, self.rate, MISSED)

    def judge_open(self, parts: Iterable[str]) -> Verdict:
        """Return the verdict on parts that are shown, open or refuted, undecided as in `judge`."""
        verdict = judged(parts)
        passed = verdict in (Verdict.REPRODUCED, Verdict.PARTLY)
        return Verdict.UNDECIDED if passed and self.too_many else verdict

    def __str__(self) -> str:
        most = f"{100 * MISSED:g} %"
        told = f", which is more than {most}: the data cannot tell" if self.too_many else ""
        return f"If {self.exchanged}, {self.alike} in {percent(self.rate)} of all exchanges{told}."
