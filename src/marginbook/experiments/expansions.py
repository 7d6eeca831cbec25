r"""Kernel machines at all points of a grid at once.

Where a machine decides by :math:`f(z)=\sum_i\alpha_ik(x_i,z)+b`, one product of a block of the Gram matrix
with the array of its coefficients scores the whole grid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ..base.splits import Split
from .fold import Point, Settings


@dataclass(frozen=True)
class Expansions:
    """The solutions of one machine at every point of its grid, in the order in which equals are preferred.

    Attributes
    ----------
    points : list of dict
        Parameters of each solution.
    alpha : (q, n) array
        Coefficients; exact zeros are samples that are not retained.
    offset : (q,) array
        Intercept less threshold: positive is what lies above 0.
    certificate : float
        The largest relative one among them (duality gap, or residual of stationarity); NaN without one.
    curvature : float
        The smallest eigenvalue that certifies a strict local minimum; NaN without one.
    """

    points: list[Point]
    alpha: np.ndarray
    offset: np.ndarray
    certificate: float = float("nan")
    curvature: float = float("nan")

    def decisions(self, K: np.ndarray) -> np.ndarray:
        """Return the decision values of the rows of `K`, an (m, n) kernel block: (m, q)."""
        found: np.ndarray = K @ self.alpha.T + self.offset
        return found

    def predict(self, K: np.ndarray) -> np.ndarray:
        """Return which rows of `K` are called positive, (m, q)."""
        return np.asarray(self.decisions(K) > 0)

    @property
    def retained(self) -> np.ndarray:
        """Number of samples with a coefficient that is not zero, (q,)."""
        return np.count_nonzero(self.alpha, axis=1)


#: the candidates of a grid: fits a Gram matrix (n, n), or rows, with labels (n,) at all points that the
#: settings state, and returns `Expansions` or what predicts like them
Candidates: TypeAlias = Callable[[Any, np.ndarray, Settings], Any]


def gram_parts(K: np.ndarray, train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the kernel blocks of one fold: of the rows that train, and of those that test with them."""
    return K[np.ix_(train, train)], K[np.ix_(test, train)]


def row_parts(X: Any, train: np.ndarray, test: np.ndarray) -> tuple[Any, Any]:
    """Return the rows of one fold that train and those that test, where a machine is linear in them."""
    return X[train], X[test]


def right_held_out(
    candidates: Candidates,
    K: Any,
    y: np.ndarray,
    folds: Sequence[Split],
    settings: Settings,
    parts: Callable[..., tuple[Any, Any]] = gram_parts,
) -> tuple[list[Point], np.ndarray, float]:
    """Return the points, how many rows each gets right when they are held out, and the largest certificate.

    Parameters
    ----------
    candidates : Candidates
    K : (n, n) Gram matrix, or rows (n, p)
    y : (n,) array
        Class numbers, or two classes as -1 and 1 or as False and True.
    folds : sequence of (train, test)
    settings : mapping
    parts : callable
        `gram_parts` or `row_parts`, by what `K` is.
    """
    right, certificate, found = np.zeros(1, dtype=int), float("nan"), None
    for train, test in folds:
        seen, held = parts(K, train, test)
        found = candidates(seen, y[train], settings)
        said = found.predict(held)
        truth = y > 0 if said.dtype == bool else y
        right = right + np.count_nonzero(said == truth[test, None], axis=0)
        certificate = float(np.fmax(certificate, found.certificate))
    return ([] if found is None else found.points), right, certificate


def at_point(settings: Settings, point: Mapping[str, Any]) -> dict[str, Any]:
    """Return `settings` with every grid that `point` names cut down to the point."""
    return {**settings, **{name: [value] for name, value in point.items()}}
