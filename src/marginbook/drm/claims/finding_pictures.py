"""The pictures of the findings: stored results, and small computations that take a moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.project import resource
from ...claims.printed_tables import paired
from ...kernels import gram
from ..estimators import DRMClassifier
from ..model.objective import system_matrix
from .finding_numbers import NAMES, drm_and_ridge, table_five
from .stored_results import printed_table
from .table_5 import DRM_COLUMNS, SVM_COLUMNS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (6.4, 3.4)  # inches


def idea_points() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return three clouds, (42, 2), classes, (42,), and a test point, (2,), as the explorable has them."""
    rng = np.random.default_rng(3)
    centres = np.array([[2.4, 0.7], [0.5, 2.0], [-1.6, 1.1]])
    X = np.repeat(centres, 14, axis=0) + 0.25 * rng.normal(size=(42, 2))
    return X, np.repeat([0, 1, 2], 14), np.array([2.0, 1.15])


def idea() -> Figure:
    """Draw regions of the linear and of the Gaussian machine, with a test point's parts and its weights."""
    import matplotlib.pyplot as plt
    from matplotlib.colors import ListedColormap

    from ...base.plotting import COLOURS, MARKERS

    colours = [COLOURS[name] for name in ("blue", "vermilion", "green")]
    sides = (-3.4, 3.4, -2.4, 3.2)
    X, y, x = idea_points()
    figure, axes = plt.subplots(1, 2, figsize=SIZE, sharex=True, sharey=True)
    across, up = np.meshgrid(np.linspace(*sides[:2], 341), np.linspace(*sides[2:], 281))
    for ax, kernel, gamma in zip(axes, ("linear", "rbf"), (None, 1.0), strict=True):
        model = DRMClassifier(1.0, 10.0 if kernel == "linear" else 0.1, kernel, gamma=gamma).fit(X, y)
        label = model.predict(np.c_[across.ravel(), up.ravel()]).reshape(across.shape)
        ax.imshow(label, ListedColormap(colours), extent=sides, origin="lower", alpha=0.18)
        for one, (colour, marker) in enumerate(zip(colours, MARKERS, strict=False)):
            ax.plot(*X[y == one].T, marker, color=colour, ms=3.5, ls="")
        ax.plot(*x, "o", color=COLOURS["black"], ms=6)
        ax.set(title="linear" if kernel == "linear" else "Gaussian", xticks=[], yticks=[], aspect="equal")
        ax.grid(visible=False)
        if kernel == "linear":
            parts = np.asarray(model.maps_.T) @ x
            ax.plot(*(x + parts.sum(axis=0)) / 2, "*", color=COLOURS["black"], ms=11, mfc="white")
            for part, colour in zip(parts, colours, strict=True):
                arrow = {"arrowstyle": "-|>", "color": colour, "lw": 2.2, "shrinkA": 0, "shrinkB": 0}
                ax.annotate("", (part[0], part[1]), (0, 0), arrowprops=arrow)
        else:
            K = gram(("rbf", {"gamma": gamma}), X)
            Kx = gram(("rbf", {"gamma": gamma}), X, x[None])
            w = np.abs(np.linalg.solve(system_matrix(K, np.bincount(y), 1.0, 0.1), Kx)[:, 0])
            ax.scatter(*X.T, s=400 * w / w.max(), facecolors="none", edgecolors=np.array(colours)[y])
    return figure


def parts_and_times() -> Figure:
    """Draw how a test point is split into parts, and what an iteration costs beside one pass."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=SIZE)
    draw_parts(left)
    draw_times(right)
    return figure


def draw_parts(ax: Axes) -> None:
    """Draw three classes, a test point, its part of each class, and what the parts are compared with."""
    from ...base.plotting import COLOURS, MARKERS

    colours = [COLOURS[name] for name in ("blue", "vermilion", "green")]
    X, y, x = idea_points()
    model = DRMClassifier(1.0, 10.0, "linear").fit(X, y)
    parts = np.asarray(model.maps_.T) @ x
    star = (x + parts.sum(axis=0)) / 2
    for label, (colour, marker) in enumerate(zip(colours, MARKERS, strict=False)):
        ax.plot(*X[y == label].T, marker, color=colour, ms=3.5, alpha=0.45, ls="")
        ax.annotate(
            "",
            (parts[label, 0], parts[label, 1]),
            (0, 0),
            arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 2.2, "shrinkA": 0, "shrinkB": 0},
        )
    nearest = int(np.argmin(np.sum((parts - star) ** 2, axis=1)))
    ax.plot(*np.transpose([parts[nearest], star]), ":", color=COLOURS["black"], lw=1.4)
    ax.plot(*x, "o", color=COLOURS["black"], ms=7)
    ax.annotate("$x$", (x[0], x[1]), xytext=(6, 6), textcoords="offset points")
    ax.plot(*star, "*", color=COLOURS["black"], ms=11, mfc="white")
    ax.set(
        title="a point and its parts",
        xticks=[],
        yticks=[],
        aspect="equal",
        xlim=(-2.4, 3.2),
        ylim=(-0.6, 3.0),
    )
    ax.grid(visible=False)


def draw_times(ax: Axes) -> None:
    """Draw seconds for a test point over training rows, from the stored measurements."""
    import pandas as pd

    from ...base.plotting import COLOURS, MARKERS

    times = pd.read_csv(resource("benchmarks", "results", "drm-scaling.csv"))
    points = 20_000  # of one prediction in that benchmark
    named = {
        "GD": ("GD on shuttle, n", 1),
        "PPA": ("PPA on shuttle, n", 1),
        "APG": ("APG on shuttle, n", 1),
        "one pass": ("one-pass predict, n", points),
    }
    # the colours and markers of the notebooks
    for (name, (what, batch)), marker, colour in zip(named.items(), MARKERS, COLOURS.values(), strict=False):
        line = times[times["what"] == what].sort_values("value")
        ax.loglog(line["value"] / 1000, line["seconds"] / batch, marker=marker, color=colour, label=name)
    ax.set(title="seconds for a test point", xlabel="thousand training rows", ylim=(1e-8, 1))
    ax.set_xticks([5, 20, 100], ["5", "20", "100"])
    ax.minorticks_off()
    ax.legend(fontsize=10, loc="center left")


def large_sets() -> Figure:
    """Draw the accuracies of Table V, printed and ours."""
    import matplotlib.pyplot as plt

    from ...base.plotting import COLOURS

    printed, ours = 100 * printed_table("table-5").rename(index={"poker": "poker-split"}), table_five()
    figure, ax = plt.subplots(figsize=SIZE)
    for at, (name, row) in enumerate(ours.to_dict("index").items()):
        sides: list[tuple[float, Any, str, str]] = [
            (-0.18, printed[SVM_COLUMNS].loc[str(name)], "vermilion", "o"),
            (0.18, printed[DRM_COLUMNS].loc[str(name)], "blue", "s"),
        ]
        for shift, values, colour, marker in sides:
            ax.plot(
                values, [at + shift] * len(values), marker, color=COLOURS[colour], mfc="white", ms=8, mew=1.6
            )
        ax.plot(100 * row["svm"], at - 0.18, "o", color=COLOURS["vermilion"], ms=8)
        ax.plot(100 * row["DRM"], at + 0.18, "s", color=COLOURS["blue"], ms=8)
        ax.vlines(100 * row["majority"], at - 0.36, at + 0.36, color=COLOURS["black"], lw=2)
    for label, colour, marker in (("SVM", "vermilion", "o"), ("DRM", "blue", "s")):
        ax.plot([], [], marker, color=COLOURS[colour], ms=8, label=label)
    ax.plot([], [], color=COLOURS["black"], lw=2, label="most frequent class")
    ax.set_yticks(range(len(ours)), [NAMES[str(name)] for name in ours.index])
    ax.set(xlabel="accuracy in per cent (hollow: printed, filled: ours)", xlim=(25, 100), ylim=(2.6, -0.6))
    figure.legend(ncol=3, loc="outside upper center")
    return figure


def opposite_classes() -> Figure:
    """Draw the regions of the linear machine, without and with a constant feature."""
    import matplotlib.pyplot as plt

    from ...base.plotting import COLOURS

    clouds = np.random.default_rng(0).normal(size=(2, 60, 2)) * 0.35 + [1.4, 0.8]
    points, labels = np.r_[clouds[0], -clouds[1]], np.repeat([0, 1], 60)
    axis = np.linspace(-3, 3, 200)
    plane = np.stack(np.meshgrid(axis, axis), axis=-1)
    figure, axes = plt.subplots(1, 2, sharey=True, figsize=SIZE)
    for ax, constant in zip(axes, (False, True), strict=True):
        model = DRMClassifier(0.1, 0.1, "linear", fit_intercept=constant).fit(points, labels)
        regions = model.predict(plane.reshape(-1, 2)).reshape(200, 200)
        ax.contourf(axis, axis, regions, levels=1, colors=["#cfe3f2", "#f7ddc9"])
        for label, colour, marker in ((0, "blue", "o"), (1, "vermilion", "s")):
            ax.plot(*points[labels == label].T, marker, color=COLOURS[colour], ms=3, ls="")
        right = model.score(points, labels)
        ax.set(
            title=f"{'with' if constant else 'without'} a constant: {right:.0%} right",
            xticks=[],
            yticks=[],
            aspect="equal",
        )
    return figure


def leads_over_ridge() -> Figure:
    """Draw by how much the DRM is ahead of kernel ridge on each imbalanced set."""
    import matplotlib.pyplot as plt

    from ...base.plotting import COLOURS

    figure, ax = plt.subplots(figsize=SIZE)
    sides = drm_and_ridge()
    for at, (drm, ridge) in enumerate(sides.values()):
        leads = 100 * (drm - ridge).sort_values(kind="stable").to_numpy()
        spread = 0.16 * np.resize([-1, 0, 1], len(leads))  # so that no dot hides another
        ax.plot(leads, at + spread, "o", color=COLOURS["blue"], alpha=0.7, ms=7)
        mean = 100 * paired(drm, ridge)[3]
        ax.vlines(mean, at - 0.36, at + 0.36, color=COLOURS["vermilion"], lw=3)
        ax.annotate(
            f"mean {mean:+.0f}",
            (mean, at + 0.36),
            xytext=(4, -3),
            textcoords="offset points",
            color=COLOURS["vermilion"],
        )
    ax.axvline(0, color=COLOURS["black"], lw=1)
    ax.set_yticks(range(len(sides)), [f"{kernel}\nkernel" for kernel in sides])
    ax.set(xlabel="lead over the machine without the term, points of G-mean", ylim=(-0.6, len(sides) - 0.3))
    return figure


def minimum_points() -> Figure:
    """Draw the weight that is best for each beta, for three functions of the norm."""
    import matplotlib.pyplot as plt

    from ...base.plotting import COLOURS
    from .section_4_minimum_points import HALF_SQUARE, IDENTITY, SQRT
    from .section_4_minimum_points import minimum_points as best

    betas = np.linspace(0.002, 1.5, 500)
    figure, ax = plt.subplots(figsize=SIZE)
    penalties = (
        ("$t$", IDENTITY, "blue"),
        ("$t^2/2$", HALF_SQUARE, "vermilion"),
        (r"$\sqrt{t}$", SQRT, "green"),
    )
    for label, rho, colour in penalties:
        weights = [best(rho, beta)[0] for beta in betas]
        ax.plot(betas, weights, ".", ms=3, color=COLOURS[colour], label=r"$\rho(t)=$ " + label)
    ax.set(xlabel="β", ylabel="best weight")
    ax.legend(markerscale=3)
    return figure
