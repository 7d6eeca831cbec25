"""The picture of the idea: forty points, weights of three kernels, and what these do to distances."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.embedding import Subspace
from ..model.features import FeatureMap
from ..model.kernel_sets import rbf
from ..model.objective import ratio
from ..model.statistics import Separation, separation
from ..model.subspaces import fit_subspaces
from ..solvers.dinkelbach import dinkelbach

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: of the three kernels, with which the explorable starts, too
WIDTHS = (2.0, 0.7, 0.6)
#: squared distance up to which a row counts as within the span of others
TOLERANCE = 0.01
CORNERS = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, np.sqrt(3.0)]])


def idea_points() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return forty points, (40, 2), their classes, (40,), and which of them span the subspaces, (40,)."""
    from sklearn.datasets import make_moons

    X, y = make_moons(40, noise=0.15, random_state=8)
    order = np.lexsort((X[:, 0], y))
    return X[order].round(3), y[order], np.arange(40) % 2 == 0


@dataclass(frozen=True)
class Weighing:
    """Subspaces of the classes, what they hold of new points, and the weights that are learned from it."""

    subspaces: list[list[Subspace]]
    measured: Separation
    equal: np.ndarray
    learned: np.ndarray

    def ratio(self, weights: np.ndarray) -> float:
        """Return the ratio of weights, (2, 3)."""
        return ratio(weights, self.measured.numerator, self.measured.denominator)

    def leads(self, weights: np.ndarray) -> np.ndarray:
        """Return how much nearer its own class is to each new point, on average over its points, (20,)."""
        X, y, basis = idea_points()
        Z = FeatureMap.of(self.subspaces, np.arange(len(WIDTHS)), weights, "sum")(X[~basis])
        apart, same = np.linalg.norm(Z[:, np.newaxis] - Z, axis=2), y[~basis, np.newaxis] == y[~basis]
        own = (apart * same).sum(axis=1) / (same.sum(axis=1) - 1)  # its distance from itself is zero
        return np.asarray((apart * ~same).sum(axis=1) / (~same).sum(axis=1) - own)


@cache
def weighing() -> Weighing:
    """Return the subspaces and the weights of the forty points."""
    X, y, basis = idea_points()
    subspaces = fit_subspaces(X[basis], y[basis], rbf(WIDTHS), tol=TOLERANCE)
    measured = separation(subspaces, X[~basis], y[~basis])
    learned = dinkelbach(measured.numerator, measured.denominator).weights
    return Weighing(subspaces, measured, np.full((2, 3), 1 / 3), learned)


def draw_idea() -> Figure:
    """Draw the points, how much nearer their own class is, and the ratio over the weights of each class."""
    import matplotlib.pyplot as plt

    from ...base.plotting import COLOURS

    X, y, basis = idea_points()
    found = weighing()
    layout: list[Any] = [["plane", "equal"], ["plane", "learned"], ["circles", "squares"]]
    fig, axes = plt.subplot_mosaic(layout, figsize=(6.4, 5.6), height_ratios=(1, 1, 2.2))
    plane = axes["plane"]
    for label, (colour, marker) in enumerate((("blue", "o"), ("vermilion", "s"))):
        plane.plot(*X[y == label].T, marker, color=COLOURS[colour], ms=4)
        plane.plot(*X[(y == label) & basis].T, "o", ms=9, mfc="none", mec=COLOURS[colour])
    plane.set(title="rings: they span the subspaces", xticks=[], yticks=[], aspect="equal")
    plane.grid(False)
    leads = {"equal": found.leads(found.equal), "learned": found.leads(found.learned)}
    ends = min(map(np.min, leads.values())), max(map(np.max, leads.values()))
    for (name, values), colour in zip(leads.items(), ("black", "green"), strict=True):
        ax, weights = axes[name], getattr(found, name)
        ax.hist(values, bins=np.linspace(*ends, 24).tolist(), color=COLOURS[colour])
        ax.axvline(0, color="black", lw=0.8)
        ax.set(title=f"{name} weights: ratio {found.ratio(weights):.3f}", yticks=[], ylim=(0, 6))
    axes["equal"].sharex(axes["learned"])
    axes["equal"].tick_params(labelbottom=False)
    axes["learned"].set_xlabel("mean distance to the other class\nminus that to its own")
    for side, name in enumerate(("circles", "squares")):
        draw_triangle(axes[name], found, side)
        axes[name].set_title(name)
    return fig


def draw_triangle(ax: Axes, found: Weighing, side: int) -> None:
    """Draw the ratio over the weights of one class, those of the other being the learned ones."""
    from ...base.plotting import COLOURS

    across, up = np.meshgrid(np.linspace(0, 2, 81), np.linspace(0, np.sqrt(3.0), 81))
    narrow = up / np.sqrt(3.0)
    middle = (across - narrow) / 2
    places = np.stack([1 - middle - narrow, middle, narrow], axis=-1)
    weights = found.learned.copy()
    values = np.full(across.shape, np.nan)
    for at in np.argwhere(places.min(axis=-1) >= -1e-9):
        inside = np.maximum(places[tuple(at)], 0)
        weights[side] = inside / inside.sum()
        values[tuple(at)] = found.ratio(weights)
    low, high = np.nanmin(values), np.nanmax(values)
    levels = low + (high - low) * (np.arange(1, 10) / 10) ** 2
    ax.contour(across, up, values, levels=levels, colors="#999999", linewidths=0.7)
    ax.fill(*CORNERS.T, fill=False, lw=0.8)
    way = np.array([found.equal[side], found.learned[side]]) @ CORNERS
    ax.plot(*way.T, color=COLOURS["green"])
    ax.plot(*way[0], "o", color="black", mfc="white", ms=6)
    ax.plot(*way[1], "*", color="black", mfc="white", ms=13, clip_on=False)
    for corner, text, shift, where in zip(
        CORNERS,
        ("wide", "middle", "narrow"),
        ((0, -14), (0, -14), (9, -2)),
        ("center",) * 2 + ("left",),
        strict=True,
    ):
        ax.annotate(text, corner, xytext=shift, textcoords="offset points", ha=where)
    ax.set(aspect="equal", xlim=(-0.3, 2.3), ylim=(-0.3, 1.9))
    ax.axis("off")
