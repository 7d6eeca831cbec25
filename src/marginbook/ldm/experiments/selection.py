r"""How the tables choose parameters: cross-validation on Gram matrices of the training half.

Every kernel machine of the tables decides by :math:`f(z)=\sum_i\alpha_ik(x_i,z)+b`, so that a whole grid of
its parameters is scored by one product of a block of the Gram matrix with the array of its coefficients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from ..model.widths import mean_distance
from .halves import Fold


@dataclass(frozen=True)
class Expansions:
    """The solutions of one machine at every point of its grid, in the order in which equals are preferred.

    Attributes
    ----------
    points : list of dict
        Parameters of each solution.
    alpha : (q, m) array
        Coefficients.
    intercept : (q,) array
    gap : float
        The largest relative duality gap among them; NaN where the machine has no certificate.
    """

    points: list[dict[str, float]]
    alpha: np.ndarray
    intercept: np.ndarray
    gap: float = float("nan")

    def decisions(self, K: np.ndarray) -> np.ndarray:
        """Return f of the rows of `K`, an (n, m) kernel block, for each solution: (n, q)."""
        found: np.ndarray = K @ self.alpha.T + self.intercept
        return found


#: fits a Gram matrix (m, m) with labels -1, +1 at all points of the grid that the settings state
Machine: TypeAlias = Callable[[np.ndarray, np.ndarray, Mapping[str, Any]], Expansions]


@dataclass(frozen=True)
class Block:
    """The Gram matrix of the training rows, (m, m), and the kernel block of the test rows, (n, m)."""

    parameters: dict[str, float]
    train: np.ndarray
    test: np.ndarray


@dataclass(frozen=True)
class Selected:
    """What cross-validation chose.

    Attributes
    ----------
    block : Block
        The kernel.
    point : dict
        The other parameters.
    score : float
        Share of the training rows that the folds' predictions got right.
    ties : int
        How many points, over all kernels, have that score.
    gap : float
        The largest relative duality gap met in the folds.
    """

    block: Block
    point: dict[str, float]
    score: float
    ties: int
    gap: float


def linear_block(X: np.ndarray, Z: np.ndarray) -> Iterator[Block]:
    """Yield the kernel x'z of training rows `X`, (m, p), and test rows `Z`, (n, p)."""
    G = X @ X.T
    yield Block({}, (G + G.T) / 2, Z @ X.T)


def rbf_blocks(X: np.ndarray, Z: np.ndarray, multiples: Sequence[float]) -> Iterator[Block]:
    r"""Yield :math:`\exp(-\lVert x-z\rVert^2/(2\sigma^2))` for the widths sigma = multiple x delta.

    Parameters
    ----------
    X, Z : (m, p), (n, p) arrays
    multiples : sequence of float
        In the order in which equals are preferred.

    Notes
    -----
    delta is the mean distance of two different training rows; 1 where all of them are the same point.
    """
    between, across = euclidean_distances(X, squared=True), euclidean_distances(Z, X, squared=True)
    between = (between + between.T) / 2
    delta = mean_distance(between)
    for multiple in multiples:
        bend = -1 / (2 * (multiple * delta) ** 2)
        yield Block({"width": float(multiple)}, np.exp(bend * between), np.exp(bend * across))


def select(
    machine: Machine,
    blocks: Iterator[Block],
    y: np.ndarray,
    folds: Sequence[Fold],
    settings: Mapping[str, Any],
) -> Selected:
    """Return the kernel and the point of the grid with the most correct predictions over all folds.

    The first of equals wins: kernels in the order of `blocks`, then points in the order of the machine.

    Parameters
    ----------
    machine : Machine
    blocks : iterator of Block
    y : (m,) array of -1, +1
    folds : (train, test) positions
    settings : mapping
        The grids, as the machine names them.
    """
    best: tuple[int, Block, dict[str, float]] | None = None
    ties, gap = 0, -np.inf
    for block in blocks:
        right: np.ndarray | int = 0
        for train, test in folds:
            found = machine(block.train[np.ix_(train, train)], y[train], settings)
            decisions = found.decisions(block.train[np.ix_(test, train)])
            right = right + np.sum((decisions > 0) == (y[test, None] > 0), axis=0)
            gap = np.fmax(gap, found.gap)
        counts = np.asarray(right)
        top = int(np.argmax(counts))
        if best is None or counts[top] > best[0]:
            best, ties = (int(counts[top]), block, found.points[top]), 0
        ties += int(np.sum(counts == best[0]))
    if best is None:
        raise ValueError("no kernel to choose from; settings['width'] must hold at least one multiple")
    tested = sum(len(test) for _, test in folds)
    return Selected(best[1], best[2], best[0] / tested, ties, float(gap) if np.isfinite(gap) else np.nan)


def at_point(settings: Mapping[str, Any], point: Mapping[str, float]) -> dict[str, Any]:
    """Return `settings` with every grid that `point` names cut down to the point."""
    return {**settings, **{name: [value] for name, value in point.items()}}
