"""What every measure shares: standardised rows, widths of the kernel, folds, and the choice of a point."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from ...base.splits import Split, fillable_folds
from ...experiments.candidates import Candidates, right_held_out
from ...experiments.fold import Point, Row, Settings
from ...experiments.splits import seed_of


@dataclass(frozen=True)
class Standard:
    """The map of each feature to mean 0 and standard deviation 1 in training; constant features go to 0.

    Examples
    --------
    >>> import numpy as np
    >>> Standard.of(np.array([[1.0, 5.0], [3.0, 5.0]]))(np.array([[5.0, 7.0]]))
    array([[3., 0.]])
    """

    mean: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray) -> Standard:
        """Return the map that the training rows `X`, (n, p), define; the divisor of the variance is n."""
        # a constant feature may have a deviation that rounding made a little more than 0
        varies = np.ptp(X, axis=0) > 0
        return cls(X.mean(axis=0), np.divide(1.0, X.std(axis=0), out=np.zeros(X.shape[1]), where=varies))

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return the rows `X`, (m, p), mapped."""
        mapped: np.ndarray = (X - self.mean) * self.scale
        return mapped


def width_unit(n_features: int) -> float:
    r"""Return :math:`\sqrt{2p}`: the root mean square distance of two rows of p standardised features.

    It is the same in every partition of a set, so that a width chosen on one means the same on all.
    """
    return float(np.sqrt(2.0 * n_features))


def squared_distances(X: np.ndarray, Z: np.ndarray | None = None) -> np.ndarray:
    """Return squared distances of the rows of `X`, (m, p), and `Z`, (n, p): (m, n); symmetric without Z."""
    if Z is not None:
        across: np.ndarray = euclidean_distances(X, Z, squared=True)
        return across
    between = euclidean_distances(X, squared=True)
    return np.asarray((between + between.T) / 2)


def rbf(squared: np.ndarray, sigma: float) -> np.ndarray:
    r"""Return :math:`\exp(-d^2/(2\sigma^2))` of squared distances."""
    return np.asarray(np.exp(squared * (-0.5 / sigma**2)))


def positives(y: np.ndarray) -> np.ndarray:
    """Return which rows belong to the class that sorts last, the positive one.

    Raises
    ------
    ValueError
        Unless there are two classes.
    """
    classes = np.unique(y)
    if len(classes) != 2:
        raise ValueError(f"wanted labels of 2 classes, got {len(classes)}: {classes[:5].tolist()}")
    return np.asarray(y == classes[1])


def choosing_folds(labels: np.ndarray, n_folds: int, *parts: object) -> list[Split]:
    """Return the folds that choose, shuffled by a seed that depends on `parts`: see `fillable_folds`."""
    return fillable_folds(labels, n_folds, seed_of("kfda folds", *parts))


@dataclass(frozen=True)
class Choice:
    """What cross-validation chose.

    Attributes
    ----------
    multiple : float
        Width of the kernel over its unit.
    point : dict
        The other parameters.
    wrong : int
        Training rows that the folds' predictions got wrong.
    ties : int
        Points of the whole grid with as many.
    """

    multiple: float
    point: Point
    wrong: int
    ties: int

    def columns(self, unit: float, n: int) -> Row:
        """Return ``cv_error`` in % of n rows, ``parameters`` (JSON) and ``ties``; `unit` is the width's."""
        chosen = {"width": self.multiple, "sigma": self.multiple * unit, **self.point}
        parameters = json.dumps(chosen, sort_keys=True)
        return {"cv_error": 100 * self.wrong / n, "parameters": parameters, "ties": self.ties}


def choose(wrong: np.ndarray, multiples: Sequence[float], points: Sequence[Point]) -> Choice:
    """Return the point with the fewest errors; of equals the first of `points`, then the largest width.

    Parameters
    ----------
    wrong : (number of widths, number of points) array of int
    multiples : sequence of float
    points : sequence of dict
        The strongest regularisation first, which retains the fewest samples.
    """
    order = np.argsort(multiples)[::-1]
    by_point = wrong[order].T
    place, width = divmod(int(np.argmin(by_point)), len(order))  # of equals the first
    least = int(by_point[place, width])
    return Choice(
        float(multiples[order[width]]), dict(points[place]), least, int(np.count_nonzero(wrong == least))
    )


def cross_validate(
    candidates: Candidates, X: np.ndarray, y: np.ndarray, folds: Sequence[Split], settings: Settings
) -> Choice:
    """Return the choice over ``settings["width"]`` and the candidates' points by the folds' pooled errors.

    Parameters
    ----------
    candidates : Candidates
    X : (n, p) array
        Standardised training rows.
    y : (n,) array
        Class numbers, or True and False.
    folds : (train, test) positions
    settings : mapping
    """
    squared, unit = squared_distances(X), width_unit(X.shape[1])
    multiples = [float(multiple) for multiple in settings["width"]]
    points: list[Point] = []
    wrong = []
    for multiple in multiples:
        points, right, _ = right_held_out(candidates, rbf(squared, multiple * unit), y, folds, settings)
        wrong.append(len(y) - right)
    return choose(np.array(wrong), multiples, points)


def finite(value: float | None) -> float | None:
    """Return `value`, or None where it is NaN or infinite, as the curvature is without any coefficient."""
    return float(value) if value is not None and np.isfinite(value) else None


def listed(values: Iterable[Any]) -> str:
    """Return numbers, or lists of them, as compact JSON with 10 significant digits.

    >>> listed([1, 2 / 3, None, [1e-17 / 3, True]])
    '[1,0.6666666667,null,[3.333333333e-18,true]]'
    """
    return json.dumps([_short(value) for value in values], separators=(",", ":"))


def _short(value: Any) -> Any:
    if isinstance(value, list):
        return [_short(each) for each in value]
    return float(f"{value:.10g}") if isinstance(value, float) else value
