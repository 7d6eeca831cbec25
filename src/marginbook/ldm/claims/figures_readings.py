"""What the figures leave open, and what came out under each reading of it."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from ...claims.read_as import NOT_STORED
from ..paper.printed import PAPER_TABLES
from ..paper.readings import LDM, SVM

if TYPE_CHECKING:
    import pandas as pd

KERNELS = ("linear", "rbf")
#: whether margins are divided by |w|: the columns of the results, and in words
LENGTHS = {"margin_": "margins as in (1)", "unit_": "margins divided by the length of w"}


class FigureOne(NamedTuple):
    """One reading of Figure 1: the kernel, our methods in the place of its two, and the kind of margins."""

    kernel: str
    ldm: str
    svm: str
    prefix: str

    def __str__(self) -> str:
        return f"{self.kernel} kernel, {LDM[self.ldm]}, {SVM[self.svm]}, {LENGTHS[self.prefix]}"

    @property
    def pair(self) -> tuple[str, str]:
        """The names of the two methods in the results."""
        return f"{self.ldm}({self.kernel})", f"{self.svm}({self.kernel})"


FIGURE_1 = tuple(FigureOne(*parts) for parts in product(KERNELS, LDM, SVM, LENGTHS))


def bound(figure: str, name: str) -> float:
    """Return a threshold of ours on a figure, which prints no numbers: from the protocol."""
    return float(PAPER_TABLES.protocol(figure).thresholds[name])


def machine_of(method: str) -> str:
    """Return the machine of a method of Figure 3: "LDM(4)" of "LDM(4)(rbf)"."""
    return method.rpartition("(")[0]


def calm(ranges: pd.Series[float], machine: str, most: float) -> tuple[int, int]:
    """Return how many of the curves of a machine move by at most `most` points, and how many there are.

    Parameters
    ----------
    ranges : Series
        In points; the first level of the index is the method.
    machine : str
    most : float
    """
    own = ranges[[machine_of(str(name[0])) == machine for name in ranges.index]]
    return int((own <= most).sum()), len(own)


def not_stored(found: set[str]) -> str:
    """Return in words which of the two variances no result of a figure has; "" where both are there."""
    missing = [words for machine, words in LDM.items() if machine not in found]
    return f" {NOT_STORED.capitalize()}: {', '.join(missing)}." if missing else ""
