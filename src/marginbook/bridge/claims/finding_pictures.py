"""The pictures of the bridge's findings: a map of the family, and small computations on two clouds."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from . import examples

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (6.4, 3.4)  # inches
#: values of C in the picture of angles
COSTS = np.logspace(-4, 2, 25)
#: ridge of kernel ridge, and so of the DRM and the LDM, in the pictures
BETA = 0.3
#: of the first figure: kernel, ridge and C; what it shows of the plane; its lines, those below first
IDEA = {"gamma": 0.3, "beta": BETA, "C": 100.0}
IDEA_WINDOW = ((-3.5, 3.5), (-2.6, 2.6))
IDEA_LOOKS: dict[str, tuple[str, Any, float]] = {
    "kernel ridge": ("#98a2ad", "-", 6.0),
    "SVM": ("#e3b23c", "-", 6.0),
    "kFDA": ("black", "--", 1.6),
    "DRM": ("purple", ":", 2.4),
    "LDM": ("green", "-", 2.2),
}
#: where methods stand in the map, and whether they are old acquaintances
PLACES = {
    "kFDA": (1.1, 4.4, False),
    "DRM": (3.9, 4.4, False),
    "LDM": (6.6, 4.4, False),
    "SMM": (9.1, 4.4, False),
    "lasso": (0.8, 2.15, True),
    "kernel ridge": (3.9, 2.15, True),
    "SVM": (8.2, 2.15, True),
    "CLASK": (1.5, 0.1, False),
    "LS-SVM": (5.0, 0.1, False),
    "KM-OMD": (8.2, 0.1, False),
}
#: from, to, under which condition, and where on the way the condition is written
STEPS = (
    ("kFDA", "lasso", "$q=1$", 0.5),
    ("kFDA", "kernel ridge", "$q=2$", 0.48),
    ("DRM", "kernel ridge", "weights,\n" r"$\alpha=0$", 0.5),
    ("LDM", "kernel ridge", "no hinge", 0.45),
    ("LDM", "SVM", r"$\lambda_1=\lambda_2=0$", 0.62),
    ("SMM", "SVM", "full rank", 0.34),
    ("CLASK", "kernel ridge", "projected", 0.5),
    ("LS-SVM", "kernel ridge", "centred", 0.45),
    ("KM-OMD", "SVM", "squared hinge", 0.5),
)


def idea() -> Figure:
    """Draw five boundaries on the two clouds, and on how much of the plane each differs from the LDM."""
    import matplotlib.pyplot as plt

    from ...base.plotting import COLOURS

    X, y = idea_points()
    middles = (np.arange(140) + 0.5) / 140  # of cells, so that shares of cells are shares of the area
    across, up = np.meshgrid(*(low + middles * (high - low) for low, high in IDEA_WINDOW))
    pair = examples.at(X, y, np.column_stack([across.ravel(), up.ravel()]), IDEA["gamma"])
    values = examples.five(pair, IDEA["beta"], IDEA["C"])
    figure, (plane, bars) = plt.subplots(1, 2, figsize=SIZE, width_ratios=(3, 2))
    for name, (colour, line, width) in IDEA_LOOKS.items():
        shape = values[name].reshape(across.shape)
        colour = COLOURS.get(colour, colour)
        plane.contour(across, up, shape, [0.0], colors=colour, linestyles=line, linewidths=width)
        plane.plot([], [], line, color=colour, lw=width, label=name)
    _points(plane, pair, ("s", "o"))
    plane.set(xticks=[], yticks=[], xlim=IDEA_WINDOW[0], ylim=IDEA_WINDOW[1], aspect="equal")
    plane.grid(visible=False)
    plane.spines[:].set_visible(True)
    others = ["kernel ridge", "SVM", "DRM", "kFDA"]
    shares = [100 * np.mean((values[name] > 0) != (values["LDM"] > 0)) for name in others]
    bars.barh(others, shares, height=0.45, color="#59616b")
    bars.invert_yaxis()
    bars.set(xlabel="differs from the LDM,\n% of the plane", box_aspect=1)
    bars.grid(visible=False, axis="y")
    figure.legend(loc="outside upper center", ncols=5, fontsize=9, columnspacing=1.0, handlelength=1.6)
    return figure


def idea_points() -> tuple[np.ndarray, np.ndarray]:
    """Return the points, (36, 2), and their labels, (36,), with which the explorable starts, too."""
    pair = examples.two_clouds()
    # the order in which keys go from point to point: from left to right in each class
    order = np.lexsort((pair.X[:, 0], pair.y))
    return pair.X[order], pair.y[order]


def family() -> Figure:
    """Draw which method becomes which, and under which condition."""
    import matplotlib.pyplot as plt

    from ...base.plotting import COLOURS

    figure = plt.figure(figsize=SIZE, layout="none")
    ax = figure.add_axes((0, 0, 1, 1))
    for start, end, condition, share in STEPS:
        a, b = np.array(PLACES[start][:2]), np.array(PLACES[end][:2])
        arrow = {"arrowstyle": "-|>", "color": "#555555", "lw": 1.3, "shrinkA": 13, "shrinkB": 15}
        ax.annotate("", tuple(b), tuple(a), arrowprops=arrow)
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
        middle = a + share * (b - a)
        ax.text(middle[0], middle[1], condition, ha="center", va="center", fontsize=12.5, bbox=box)
    for name, (x, y, old) in PLACES.items():
        colour = COLOURS["blue"] if old else "#e8eef4"
        box = {"boxstyle": "round,pad=0.35", "facecolor": colour, "edgecolor": COLOURS["blue"]}
        ax.text(
            x, y, name, ha="center", va="center", fontsize=14, bbox=box, color="white" if old else "black"
        )
    ax.set(xlim=(0.1, 9.9), ylim=(-0.35, 4.85))
    ax.axis("off")
    return figure


def three_formulas(pair: examples.Pair | None = None, beta: float = BETA) -> Figure:
    """Draw three formulas that have one boundary, and the DRM's rule with the same weights.

    Parameters
    ----------
    pair : Pair, optional
        Two clouds in the plane.
    beta : float
        The ridge.
    """
    import matplotlib.pyplot as plt

    from ...base.plotting import COLOURS

    pair = examples.two_clouds() if pair is None else pair
    figure, (left, right) = plt.subplots(1, 2, figsize=SIZE, sharex=True, sharey=True)
    across, up, there = _grid(pair)
    fitted = {
        "kernel ridge": (examples.ridge(there, beta), "black", "-", 5.0),
        "LDM, no hinge": (examples.ldm_without_hinge(there, beta), "orange", "-", 2.2),
        "DRM weights": (examples.ridge_by_drm(there, beta), "blue", ":", 2.2),
    }
    for name, (values, colour, line, width) in fitted.items():
        shape = values.reshape(across.shape)
        left.contour(across, up, shape, [0.0], colors=COLOURS[colour], linestyles=line, linewidths=width)
        left.plot([], [], line, color=COLOURS[colour], lw=width, label=name)
    rule = examples.drm(there, beta).reshape(across.shape)
    plain = fitted["kernel ridge"][0].reshape(across.shape)
    right.contourf(across, up, (rule * plain < 0).astype(float), [0.5, 1.5], colors=["#bbbbbb"])
    right.contour(across, up, plain, [0.0], colors=COLOURS["black"], linewidths=2.2)
    right.contour(across, up, rule, [0.0], colors=COLOURS["vermilion"], linewidths=2.2)
    right.plot([], [], color=COLOURS["black"], lw=2.2, label="kernel ridge")
    right.plot([], [], color=COLOURS["vermilion"], lw=2.2, label="DRM's rule")
    for ax, title in ((left, "three formulas, one boundary"), (right, "same weights, another rule")):
        _points(ax, pair)
        ax.set(title=title, xticks=[], yticks=[])
        ax.grid(visible=False)
        ax.legend(fontsize=9.5, loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=2, columnspacing=1.0)
    return figure


def angles() -> Figure:
    """Draw the angles between the LDM and three simpler machines over C."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=SIZE)
    draw_angles(ax, COSTS, known_angles())
    return figure


def draw_angles(ax: Axes, costs: Any, found: dict[str, list[float]]) -> None:
    """Draw angles as of :func:`marginbook.bridge.claims.examples.angles`."""
    from ...base.plotting import COLOURS

    looks = zip(("blue", "vermilion", "green"), ("-", "--", ":"), strict=True)
    for (name, values), (colour, line) in zip(found.items(), looks, strict=True):
        ax.semilogx(costs, values, line, color=COLOURS[colour], label=name, lw=2.2)
    ax.set(xlabel="C", ylabel="angle to the LDM, degrees")
    ax.legend()


def targets() -> Figure:
    """Draw the output of kFDA over that of the LS-SVM on kernel columns."""
    import matplotlib.pyplot as plt

    from ...base.plotting import COLOURS

    machine, fisher, threshold = examples.fisher_and_machine(examples.two_clouds(), 0.5)
    figure, ax = plt.subplots(figsize=SIZE)
    ax.axvline(0, color="#555555", lw=1, ls="--")
    ax.axhline(threshold, color="#555555", lw=1, ls="--")
    up = machine > 0
    for side, colour, marker in ((up, "blue", "o"), (~up, "vermilion", "^")):
        ax.plot(machine[side], fisher[side], marker, color=COLOURS[colour], ms=6, alpha=0.7, mew=0)
    note: dict[str, Any] = {"textcoords": "offset points", "fontsize": 10.5}
    ax.annotate("kFDA's threshold", (machine.min(), threshold), xytext=(0, 5), **note)
    ax.annotate("LS-SVM's threshold", (0, fisher.min()), xytext=(6, 0), **note)
    ax.set(xlabel="output of the LS-SVM on kernel columns", ylabel="output of kFDA")
    return figure


def left_out() -> Figure:
    """Draw leave-one-out outputs by the formula over those of n fits."""
    import matplotlib.pyplot as plt

    from ...base.plotting import COLOURS, MARKERS

    found = examples.left_out(examples.two_clouds(), BETA)
    figure, ax = plt.subplots(figsize=SIZE)
    ends = (
        [float(values.min()) for values, _ in found.values()],
        [float(values.max()) for values, _ in found.values()],
    )
    line = [min(ends[0]), max(ends[1])]
    ax.plot(line, line, color="#555555", lw=1)
    for (name, (refitted, formula)), colour, marker in zip(
        found.items(), ("blue", "vermilion", "green"), MARKERS, strict=False
    ):
        ax.plot(refitted, formula, marker, color=COLOURS[colour], ms=6, alpha=0.6, mew=0, label=name)
    ax.set(xlabel="left-out output, 36 fits", ylabel="by the formula, one fit")
    ax.legend()
    return figure


@cache
def known_angles() -> dict[str, list[float]]:
    """Return the angles of the picture."""
    return examples.angles(examples.two_clouds(), 1.0, COSTS)


@cache
def disagreement() -> float:
    """Return the share of the new points on which the DRM's rule differs from kernel ridge."""
    pair = examples.two_clouds()
    return float(np.mean((examples.drm(pair, BETA) > 0) != (examples.ridge(pair, BETA) > 0)))


def _grid(pair: examples.Pair) -> tuple[np.ndarray, np.ndarray, examples.Pair]:
    low, high = pair.X.min(axis=0) - 0.5, pair.X.max(axis=0) + 0.5
    across, up = np.meshgrid(*(np.linspace(a, b, 120) for a, b in zip(low, high, strict=True)))
    _, settings = cast(tuple[str, dict[str, float]], pair.kernel)
    gamma = settings["gamma"]
    return across, up, examples.at(pair.X, pair.y, np.column_stack([across.ravel(), up.ravel()]), gamma)


def _points(ax: Axes, pair: examples.Pair, markers: tuple[str, str] = ("^", "o")) -> None:
    from ...base.plotting import COLOURS

    for sign, colour, marker in zip((-1, 1), ("vermilion", "blue"), markers, strict=True):
        ax.plot(*pair.X[pair.y == sign].T, marker, color=COLOURS[colour], ms=5, mew=0)
