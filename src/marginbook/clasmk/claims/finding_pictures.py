"""The pictures of the findings, and the small computations that their sentences share with them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.kernel_sets import poly, rbf
from ..model.objective import diagonals
from ..model.statistics import Separation, separation
from ..model.subspaces import fit_subspaces
from ..paper.printed import LAYERS, PAPER_TABLES
from ..solvers.dinkelbach import dinkelbach
from .beyond_signs import flipped, kernel_change
from .idea_picture import draw_idea
from .real_rows import real_rows
from .section_2_theorem_2_use import best_sharper
from .tables import LEAST, LOCAL, START, means_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZE = (6.4, 3.4)
#: the picture at the head of the chapter
idea = draw_idea
#: widths of the two kernels on the half-moons
MOON_WIDTHS = (0.6, 0.05)


@dataclass(frozen=True)
class Moons:
    """One kernel on two half-moons: the share of held-out energy, the ratio, and the shading of a grid."""

    energy: float
    ratio: float
    rows: np.ndarray
    labels: np.ndarray
    shade: np.ndarray


def grid_of_moons() -> tuple[np.ndarray, np.ndarray]:
    """Return the coordinates of the columns and of the rows of the shading."""
    return np.linspace(-1.6, 2.6, 169), np.linspace(-1.1, 1.6, 109)


@cache
def moons() -> tuple[Moons, ...]:
    """Return the half-moons under a wide and under a narrow kernel; half of the rows make the subspaces."""
    from sklearn.datasets import make_moons

    X, y = make_moons(160, noise=0.08, random_state=0)
    basis = np.arange(len(X)) % 2 == 0
    points = np.stack(np.meshgrid(*grid_of_moons()), axis=-1).reshape(-1, 2)
    found = []
    for kernel in rbf(MOON_WIDTHS):
        subspaces = fit_subspaces(X[basis], y[basis], [kernel], tol=0.01)
        measured = separation(subspaces, X[~basis], y[~basis], combine="concat")
        n, d = diagonals(measured.numerator), diagonals(measured.denominator)
        shade = (subspaces[0][0].coordinates(points) ** 2).sum(axis=1)
        found.append(
            Moons(
                float(measured.energy.mean()),
                float(n.sum() / d.sum()),
                X[basis],
                y[basis],
                shade.reshape(len(grid_of_moons()[1]), -1),
            )
        )
    return tuple(found)


def draw_moons() -> Figure:
    """Draw the energy in the subspace of one class, for a wide and for a narrow kernel."""
    import matplotlib.pyplot as plt

    from ...base.plotting import COLOURS

    fig, axes = plt.subplots(1, 2, sharey=True, figsize=(SIZE[0], 2.7))
    wide, narrow = moons()
    titles = f"wide: ratio {wide.ratio:.2f}", "narrow: ratio near 0"
    for ax, one, title in zip(axes, (wide, narrow), titles, strict=True):
        ax.contourf(*grid_of_moons(), one.shade, levels=np.linspace(0, 1, 11), cmap="Greys", vmax=1.8)
        for code, colour in enumerate(("blue", "vermilion")):
            # small, so that the dots of a narrow kernel show around them
            ax.plot(*one.rows[one.labels == code].T, ".", ms=2, color=COLOURS[colour])
        ax.set(title=f"{title},\nenergy of new points {one.energy:.3f}", aspect="equal")
        ax.set(xticks=[], yticks=[])
        ax.grid(False)
    return fig


def draw_equal_weights() -> Figure:
    """Draw accuracy in one layer with learned and with equal weights, a row for each set of Table 4."""
    import matplotlib.pyplot as plt

    from ...base.plotting import COLOURS

    frame = means_of("layer-solvers", "accuracy")
    assert frame is not None
    learned, equal = (frame[f"{LAYERS[0]}: {name}"] for name in (LEAST, START))
    names = (equal - learned).sort_values(kind="stable").index
    at = np.arange(len(names))
    fig, ax = plt.subplots(figsize=(SIZE[0], 4.0))
    ax.hlines(at, learned[names], equal[names], color="#999999", lw=1.5)
    ax.plot(learned[names], at, "s", color=COLOURS["vermilion"], label="learned")
    ax.plot(equal[names], at, "o", color=COLOURS["blue"], label="equal")
    ax.set_yticks(at, names)
    ax.set(xlabel="accuracy, %", xlim=(60, 101))
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)  # a narrow picture has no free corner
    return fig


def draw_early_end() -> Figure:
    """Draw the error over the ratio on pendigits, a point for each fold and solver."""
    import matplotlib.pyplot as plt

    rows = PAPER_TABLES.results("solvers")
    assert rows is not None
    rows = rows[rows["dataset"] == "pendigits-test"]
    fig, ax = plt.subplots(figsize=SIZE)
    names = {
        LEAST: "global minimum",
        LOCAL[1]: "interior point",
        LOCAL[2]: "SLSQP",
        LOCAL[0]: "interior point, stopped",
        START: "equal weights",
    }
    for (solver, name), style in zip(names.items(), "Dos^v", strict=True):
        part = rows[rows["method"] == solver]
        ax.semilogx(part["ratio"], part["error"], style, ms=6, mfc="none", mew=1.4, label=name)
    ax.set(xlabel="ratio, as a multiple of its minimum", ylabel="error, %", ylim=(-0.5, None))
    ax.legend(loc="upper right")
    return fig


def draw_theorem_two() -> Figure:
    """Draw the three bounds of Theorem 2 for four classes, without noise and with means of all energy."""
    import matplotlib.pyplot as plt

    from ...base.plotting import COLOURS

    C, lam = 4, np.linspace(0, 0.99, 100)
    energy = 1 + (C - 1) * lam
    fig, ax = plt.subplots(figsize=SIZE)
    ax.axhspan(-2.1, 0, color="#f2dede", zorder=0)
    ax.plot(lam, np.ones_like(lam), color=COLOURS["black"], lw=1.2, label="constant repaired: always 1")
    ax.plot(lam, [best_sharper(C, value)[1] for value in lam], color=COLOURS["blue"], label="ours")
    ax.plot(lam, (1 - energy) / (1 - energy / C), "--", color=COLOURS["vermilion"], label="printed")
    ax.text(0.98, -1.9, "no probability is here", ha="right", color="#8a3b3b")
    ax.set(xlabel=r"overlap $\lambda$", ylabel="bound on a probability", ylim=(-2.1, 1.5))
    ax.legend(loc="lower right", bbox_to_anchor=(1, 0.1))
    return fig


@cache
def _signs() -> tuple[tuple[str, Separation, str], ...]:
    rows = real_rows("wdbc", 0, 120)
    pair = rows.subspaces(rbf([8.0]) + poly([1]))
    measured, other = rows.separation(pair), rows.separation(flipped(pair, 0, 0))
    return (
        ("added", measured, "sum"),
        ("one sign changed", other, "sum"),
        ("side by side", measured, "concat"),
    )


@cache
def sign_minima() -> tuple[float, float, float, float]:
    """Return the least ratio added, with one sign changed, and side by side; and how far the kernel moves."""
    least = [dinkelbach(of.numerator, of.denominator, combine=combine) for _, of, combine in _signs()]
    rows = real_rows("wdbc", 0, 120)
    pair = rows.subspaces(rbf([8.0]) + poly([1]))
    moved = kernel_change(rows.X["new"], pair, flipped(pair, 0, 0), least[0].weights, "sum")
    one, two, three = (float(found.objective) for found in least)
    return one, two, three, moved


def ratios(of: Separation, combine: str, steps: np.ndarray) -> np.ndarray:
    """Return the ratio of two classes and two kernels over the first weight of each, (steps, steps)."""
    s = np.stack([np.sqrt(steps), np.sqrt(1 - steps)], axis=-1)

    def part(forms: Any) -> np.ndarray:
        forms = np.asarray(forms)
        if combine == "concat":
            forms = forms * np.eye(2)
        first, second = (np.einsum("ai,ij,aj->a", s, form, s) for form in forms)
        return np.asarray(first[None, :] + second[:, None])

    return np.asarray(part(of.numerator) / part(of.denominator))


def draw_signs() -> Figure:
    """Draw the ratio over two weights: coordinates added, with one sign changed, and side by side."""
    import matplotlib.pyplot as plt

    from ...base.plotting import COLOURS

    steps = np.linspace(0, 1, 61)
    fig, axes = plt.subplots(1, 3, sharey=True, figsize=(SIZE[0], 3.0))
    for ax, (name, of, combine) in zip(axes, _signs(), strict=True):
        least = dinkelbach(of.numerator, of.denominator, combine=combine)
        ax.contour(steps, steps, ratios(of, combine, steps), levels=14, colors="#999999", linewidths=0.8)
        star = {"color": COLOURS["vermilion"], "markersize": 14, "clip_on": False, "zorder": 3}
        ax.plot(*least.weights[:, 0], "*", **star)
        ax.set(title=f"{name}:\n{least.objective:.2f}", aspect="equal", xlim=(0, 1), ylim=(0, 1))
        ax.set(xticks=[0, 0.5, 1], xticklabels=["0", "½", "1"], xlabel="weight, class 1")
    axes[0].set(ylabel="weight, class 2", yticks=[0, 0.5, 1], yticklabels=["0", "½", "1"])
    return fig
