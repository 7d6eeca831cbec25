"""The candidates of a grid, and how many held-out rows each of them gets right."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from ..base.splits import Split
from .fold import Point, Settings


@dataclass(frozen=True)
class Expansions:
    r"""The solutions of one machine at every point of its grid, in the order in which equals are preferred.

    They decide by :math:`f(z)=\sum_i\alpha_ik(x_i,z)+b`: one product of a block of the Gram matrix with the
    array of coefficients scores the whole grid.

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


@dataclass(frozen=True)
class OneByOne:
    """Classifiers that share nothing, as `one_by_one` makes them; each is fitted when it predicts."""

    points: list[Any]
    make: Callable[[Any], Any]
    X: np.ndarray
    y: np.ndarray
    certificate: float = float("nan")

    def predict(self, Z: Any) -> np.ndarray:
        """Return the labels of the rows `Z` by each candidate, (m, q)."""
        return np.column_stack([self.make(at).fit(self.X, self.y).predict(Z) for at in self.points])


#: fits a Gram matrix (n, n), or rows, with labels (n,) at all points of the grid that the settings state;
#: returns `Expansions` or what else has ``points``, ``predict`` and ``certificate``
Candidates: TypeAlias = Callable[[Any, np.ndarray, Settings], Any]


def one_by_one(points: list[Any], make: Callable[[Any], Any]) -> Candidates:
    """Return the candidates that are the unfitted classifiers ``make(point)``."""
    return lambda X, y, settings: OneByOne(points, make, X, y)


def libsvm(K: np.ndarray, y: np.ndarray, points: list[Point], settings: Settings) -> Expansions:
    """Fit LIBSVM for the ``C`` of each point, with ``svm_tol`` and ``svm_max_iter`` of the settings."""
    alpha, offset = np.zeros((len(points), len(y))), np.zeros(len(points))
    limits = {"tol": settings["svm_tol"], "max_iter": settings["svm_max_iter"]}
    for k, point in enumerate(points):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the iteration limit is part of the protocol
            model = SVC(C=point["C"], kernel="precomputed", **limits).fit(K, y)
        alpha[k, model.support_], offset[k] = model.dual_coef_[0], model.intercept_[0]
    return Expansions(list(points), alpha, offset)


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
