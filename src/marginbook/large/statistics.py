r"""What the LDM needs of the data besides the hinge: mean and covariance of the signed rows, from one pass.

With :math:`\tilde x_i=y_ix_i`, mean :math:`\bar p` and covariance V over all rows, the margins of w have
the mean :math:`w^\top\bar p` and the variance :math:`w^\top Vw`. Which of two labels is +1 is known only at
the end, so the pass keeps mean and scatter of each label's own rows; chunks join by the update of Chan, Golub
& LeVeque (1983), which subtracts nothing that is large.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .sources import Chunk
from .sums import Sum


class _Class:
    """Size, mean and scatter of the rows of one label."""

    def __init__(self, p: int) -> None:
        self.size, self.mean, self.scatter = 0, np.zeros(p), Sum()
        self._shift = Sum()

    def add(self, rows: np.ndarray) -> None:
        mean = rows.mean(axis=0)
        centred = rows - mean
        apart, both = mean - self.mean, self.size + len(rows)
        self.scatter.add(centred.T @ centred)
        self.scatter.add((self.size / both * len(rows)) * np.outer(apart, apart))
        self._shift.add(len(rows) / both * apart)
        self.size, self.mean = both, self._shift.value


@dataclass(frozen=True)
class Statistics:
    """Of the signed rows.

    Attributes
    ----------
    classes : (2,) array of labels, ascending; the second is +1
    m : int
    mean : (p,) array
    covariance : (p, p) array
        Divided by m.
    """

    classes: np.ndarray
    m: int
    mean: np.ndarray
    covariance: np.ndarray


class Collector:
    """Takes chunks in, gives their statistics.

    Parameters
    ----------
    constant : bool
        Append a feature that is 1 everywhere.
    """

    def __init__(self, constant: bool) -> None:
        self.constant = constant
        self._classes: dict[Any, _Class] = {}

    def add(self, chunk: Chunk) -> None:
        """Take in a chunk.

        Raises
        ------
        ValueError
            If a third label comes, or squares leave double precision.
        """
        for X, y in chunk.dense_parts():
            rows = with_constant(X, self.constant)
            for label in np.unique(y).tolist():
                if label not in self._classes and len(self._classes) == 2:
                    raise ValueError(
                        f"{chunk.place} holds the label {label!r} besides {sorted(self._classes)}; the LDM "
                        "separates two classes"
                    )
                with np.errstate(over="ignore", invalid="ignore"):
                    self._classes.setdefault(label, _Class(rows.shape[1])).add(rows[y == label])

    def total(self) -> Statistics:
        """Return the statistics of all rows.

        Raises
        ------
        ValueError
            For no rows, one label, and features whose squares leave double precision.
        """
        if len(self._classes) != 2:
            found = f"one class: {next(iter(self._classes))}" if self._classes else "no rows"
            raise ValueError(f"the LDM separates two classes, got {found}")
        low, high = sorted(self._classes)
        minus, plus = self._classes[low], self._classes[high]
        m = minus.size + plus.size
        mean = (plus.size * plus.mean - minus.size * minus.mean) / m
        covariance = (minus.scatter.value + plus.scatter.value) / m
        with np.errstate(over="ignore", invalid="ignore"):
            for size, centre in ((plus.size, plus.mean - mean), (minus.size, -minus.mean - mean)):
                covariance = covariance + size / m * np.outer(centre, centre)
        if not np.isfinite(covariance).all():
            raise ValueError(
                "squares of the features leave the range of double precision; scale the features"
            )
        return Statistics(np.array([low, high]), m, mean, covariance)


def with_constant(X: np.ndarray, constant: bool) -> np.ndarray:
    """Return rows with a last feature that is 1 everywhere if `constant`."""
    return np.hstack([X, np.ones((len(X), 1))]) if constant else X
