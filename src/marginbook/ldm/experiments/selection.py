"""How the tables choose parameters: cross-validation on Gram matrices of the training half."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from ...base.splits import Split
from ...experiments.candidates import Candidates, right_held_out
from ...experiments.fold import Point, Settings
from ..model.widths import mean_distance


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
    point: Point
    score: float
    ties: int
    gap: float

    def as_json(self) -> str:
        """Return all that was chosen, for a column."""
        return json.dumps({**self.block.parameters, **self.point}, sort_keys=True)


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


#: the kernels of the tables, by name: the blocks of training rows (m, p) and test rows (n, p)
KERNELS: dict[str, Callable[[np.ndarray, np.ndarray, Settings], Iterator[Block]]] = {
    "linear": lambda X, Z, settings: linear_block(X, Z),
    "rbf": lambda X, Z, settings: rbf_blocks(X, Z, settings["width"]),
}


def select(
    candidates: Candidates, blocks: Iterator[Block], y: np.ndarray, folds: Sequence[Split], settings: Settings
) -> Selected:
    """Return the kernel and the point of the grid with the most correct predictions over all folds.

    The first of equals wins: kernels in the order of `blocks`, then points in the order of the candidates.

    Parameters
    ----------
    candidates : Candidates
    blocks : iterator of Block
    y : (m,) array of -1, +1
    folds : (train, test) positions
    settings : mapping
        The grids, as the candidates name them.
    """
    best: tuple[int, Block, Point] | None = None
    ties, gap = 0, float("nan")
    for block in blocks:
        points, right, certificate = right_held_out(candidates, block.train, y, folds, settings)
        gap = float(np.fmax(gap, certificate))
        top = int(np.argmax(right))
        if best is None or right[top] > best[0]:
            best, ties = (int(right[top]), block, points[top]), 0
        ties += int(np.sum(right == best[0]))
    if best is None:
        raise ValueError("no kernel to choose from; settings['width'] must hold at least one multiple")
    tested = sum(len(test) for _, test in folds)
    return Selected(best[1], best[2], best[0] / tested, ties, gap if np.isfinite(gap) else float("nan"))
