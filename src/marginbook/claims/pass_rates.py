"""How often the rule for cells passes faithful and wrong runs of a table, and the verdict that follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scipy import stats

from .evidence import Verdict
from .levels import MISSED


@dataclass(frozen=True)
class Shifts:
    """What the rule says of runs whose means are all off by a multiple of their deviation.

    Attributes
    ----------
    rates : dict
        By multiple, the share of the cells that agree.
    deviation : float
        One multiple, the median over the cells, in the unit of the table.
    of_splits : bool
        Whether it is of the splits; False where there is one split only, whose score has a standard error.
    """

    rates: Mapping[float, float]
    deviation: float
    of_splits: bool = True

    @property
    def word(self) -> str:
        return "standard deviation" if self.of_splits else "standard error"


@dataclass(frozen=True)
class Calibration:
    """Shares of cells that agree when our own results stand in for the print, the best reading taken.

    Attributes
    ----------
    faithful : float
        One half of the splits, the other as the print.
    wrong : float
        All splits, another method's column as the print.
    shifted : float
        All splits, means that are all a standard deviation of the splits off, with the noise of a re-run, as
        the print; nan where there is one split only.
    measured : bool
        False where `faithful` is what the rule promises, as there are too few splits to halve.
    readings : int
        Of how many readings the best is taken.
    uncharged : (float, float, float)
        The first three with the reading that the print was made with, and no other.
    wrong_tables : tuple of float
        Of each whole table of wrong columns, the share of its cells that agree.
    shifts : Shifts, optional
        Shifts of other sizes.
    """

    faithful: float
    wrong: float
    shifted: float
    measured: bool = True
    readings: int = 1
    uncharged: tuple[float, float, float] | None = None
    wrong_tables: tuple[float, ...] = ()
    shifts: Shifts | None = None

    def needed(self, tested: int) -> int:
        """Return how many of `tested` cells must agree: nineteen in twenty faithful re-runs have as many."""
        return int(stats.binom.ppf(MISSED, tested, self.faithful))

    def judge(self, agreeing: int, tested: int) -> Verdict:
        """Return the verdict on a table of which `agreeing` of `tested` cells agree.

        It is *undecided* where a wrong run, or one whose means are all a standard deviation of the splits
        off, would have enough of them, too, in more than one case of twenty; *partly* asks for more than half
        of the cells, and for more than a wrong run has.
        """
        if tested == 0:
            return Verdict.NOT_TESTABLE
        if agreeing >= self.needed(tested):
            rates = [rate for rate in (self.wrong, self.shifted) if rate == rate]
            slips_through = max(self.passed(tested), *(self.slips(rate, tested) for rate in rates))
            return Verdict.UNDECIDED if slips_through > MISSED else Verdict.REPRODUCED
        return Verdict.PARTLY if agreeing > tested * max(0.5, self.wrong) else Verdict.NOT_REPRODUCED

    def slips(self, rate: float, tested: int) -> float:
        """Return how often a table passes if each of its `tested` cells agrees with probability `rate`."""
        return float(stats.binom.sf(self.needed(tested) - 1, tested, rate))

    def noticed(self, tested: int) -> float | None:
        """Return the smallest shift, a multiple, with which at most one table in twenty passes, or None."""
        rates = {} if self.shifts is None else self.shifts.rates
        return next((by for by, rate in rates.items() if self.slips(rate, tested) <= MISSED), None)

    def passed(self, tested: int) -> float:
        """Return the share of the tables of wrong columns that have as many agreeing cells as are needed."""
        enough = self.needed(tested) / tested
        return sum(share >= enough for share in self.wrong_tables) / max(len(self.wrong_tables), 1)

    def told(self, tested: int) -> str:
        """Return the rates in words, and which wrong tables would have passed as one of `tested` cells."""
        number = len(self.wrong_tables)
        passed = round(self.passed(tested) * number)
        parts = [str(self), f"of {number} tables of wrong columns, {passed} would pass" if number else ""]
        if self.shifts is not None:
            word, least = self.shifts.word, self.noticed(tested)
            if self.shifted == self.shifted:
                off = f"{100 * self.slips(self.shifted, tested):.0f} %"
                parts.append(f"with all means a {word} off, {off} of the tables would pass")
            limit = max(self.shifts.rates) if least is None else least
            size = f"{limit:g} {word}s ({limit * self.shifts.deviation:.2g} in the median)"
            told = f"the smallest shift of all means that the table would show is {size}"
            parts.append(f"a shift of all means by {size} would not show" if least is None else told)
        return "; ".join(filter(None, parts))

    def __str__(self) -> str:
        how = "" if self.measured else " (as the rule promises: there are too few splits to measure it)"
        charge = ""
        if self.uncharged is not None and self.readings > 1:
            alone = ", ".join(f"{100 * rate:.0f}" for rate in self.uncharged if rate == rate)
            charge = f", each time in the best of {self.readings} readings (without that choice {alone} %)"
        shifted = (
            f", {100 * self.shifted:.0f} % where the means are a standard deviation off"
            if self.shifted == self.shifted
            else ""
        )
        return (
            f"{100 * self.faithful:.0f} % of the cells of a faithful re-run{how}, {100 * self.wrong:.0f} % "
            f"where another method's column stands for the printed one{shifted}{charge}"
        )
