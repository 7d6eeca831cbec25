"""The pictures of the findings: from stored results, or from a computation of a second."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ...kernels import gram
from ..model.objective import Problem, midpoint, objective, targets
from ..solvers.irls import majorize_minimize, ridge_start
from ..solvers.lasso import lasso
from ..solvers.majorise_minimise import shrinking_mm
from .beyond_minima import STARTS
from .figures import ESTIMATE, POWER, RHO, line_objective, line_sequence, line_surrogate
from .figures import STARTS as LINE_STARTS
from .fixed_points import resting_point
from .local_minima import Minimum, local_minima
from .printed_deviations import spreads
from .problems import small_problems
from .section_3_stopping import clouds
from .tables_sparsity import by_cut

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: of every picture, in inches
SIZE = (6.4, 3.4)
#: a printed deviation of 0.0 is drawn at half a unit of its last digit
LEAST = 0.025
#: steps that are drawn of a run
STEPS = 2000
#: weights of the example of five points
FIVE = {"q": 0.5, "rho": 0.05}


def _panels(columns: int = 1, **options: Any) -> tuple[Figure, Any]:
    import matplotlib.pyplot as plt

    return plt.subplots(1, columns, figsize=SIZE, **options)


#: of the picture of the idea, and of the explorable at its start: power, penalty and width of the kernel; the
#: points A and B among the forty; the coefficients of A and B from which the steps start
IDEA, PAIR, BEGIN = {"q": 0.5, "rho": 0.1, "gamma": 2.0}, (5, 9), (0.5, 1.5)
#: levels of J above its minimum, in units of its fall from zero
LEVELS = (0.02, 0.08, 0.2, 0.4, 0.7, 1, 1.4, 2, 3, 5, 8)


def idea_points() -> tuple[np.ndarray, np.ndarray]:
    """Return forty points, (40, 2), and which are positive, (40,), with which the explorable starts, too."""
    from sklearn.datasets import make_moons

    X, labels = make_moons(40, noise=0.15, random_state=1)
    order = np.lexsort((X[:, 0], labels))
    return X[order].round(3), labels[order] == 0


def idea() -> Figure:
    """Draw forty points with those that are kept, and the steps where only A and B may be kept."""
    from ...base.plotting import COLOURS

    X, positive = idea_points()
    q, rho, gamma = IDEA.values()
    K, yhat = gram(("rbf", {"gamma": gamma}), X), targets(positive)
    omega = shrinking_mm(Problem(K, yhat), q, rho).omega
    fig, (left, right) = _panels(2, width_ratios=(3, 2))
    for side, colour, marker in ((positive, "blue", "o"), (~positive, "vermilion", "s")):
        left.plot(*X[side].T, marker, color=COLOURS[colour], ms=4)
    kept = omega[1:] != 0
    left.plot(*X[kept].T, "o", ms=10, mfc="none", mec="black")
    for place, name in zip(PAIR, "AB", strict=True):
        colour, marker = ("blue", "o") if positive[place] else ("vermilion", "s")
        left.plot(*X[place], marker, color=COLOURS[colour], mec="black", ms=7)
        left.annotate(name, X[place], xytext=(5, -13), textcoords="offset points", weight="bold")
    across, up = np.meshgrid(np.linspace(-1.6, 2.5, 124), np.linspace(-1.15, 1.65, 86))
    values = omega[0] + gram(("rbf", {"gamma": gamma}), np.c_[across.flat, up.flat], X) @ omega[1:]
    left.contour(across, up, values.reshape(across.shape), levels=[midpoint(20, 20)], colors=COLOURS["green"])
    left.set(title=f"{kept.sum()} of {len(X)} points are kept", xticks=[], yticks=[], aspect="equal")
    left.grid(False)
    _draw_two(right, Problem(K[:, PAIR[1:]], yhat, K[:, PAIR[0]]), q, rho)
    return fig


def _draw_two(ax: Axes, problem: Problem, q: float, rho: float) -> None:
    """Draw the level lines of J over two coefficients, its minima, and the steps from the start."""
    from ...base.plotting import COLOURS

    found = local_minima(problem, q, rho)
    sides = np.linspace(-0.35, 2.85, 161)
    J = np.array([[objective(problem, np.array([a, b]), q, rho) for a in sides] for b in sides])
    lowest = found[0].objective
    levels = lowest + (problem.energy / 2 - lowest) * np.array(LEVELS)
    ax.contour(sides, sides, J, levels=levels, colors="#999999", linewidths=0.7)
    names = {(): "neither", (0,): "A", (1,): "B", (0, 1): "A and B"}
    for one in found:
        ax.plot(*one.omega, "o", color="black", mfc="white", ms=6)
        ax.annotate(
            names[one.support], (one.omega[0], one.omega[1]), xytext=(6, 6), textcoords="offset points"
        )
    run = majorize_minimize(problem, q, rho, start=BEGIN, record=True)
    assert run.omega_path is not None
    ax.plot(*np.transpose(run.omega_path), ".-", color=COLOURS["green"], ms=5)
    ax.plot(*BEGIN, "o", color="black", ms=8)
    ax.set(title="A and B only", xlabel="coefficient of A", ylabel="coefficient of B", aspect="equal")
    ax.set(xticks=[0, 1, 2], yticks=[0, 1, 2])
    ax.grid(False)


def three_machines() -> Figure:
    """Draw the same data with a ridge, with q = 1 and with q = 1/2, and circle what each retains."""
    from sklearn.datasets import make_moons

    from ...base.plotting import COLOURS

    X, labels = make_moons(60, noise=0.2, random_state=1)
    positive = labels == 1
    kernel = ("rbf", {"gamma": 2.0})
    problem = Problem(gram(kernel, X), targets(positive))
    machines = {
        "ridge": ridge_start(problem, 0.02),
        "$q=1$": lasso(problem, 0.03).omega,
        r"$q=\frac{1}{2}$": shrinking_mm(problem, 0.5, 0.03).omega,
    }
    across, up = np.meshgrid(np.linspace(-1.6, 2.6, 120), np.linspace(-1.1, 1.6, 90))
    grid = np.column_stack([np.ones(across.size), gram(kernel, np.column_stack([across.flat, up.flat]), X)])
    threshold = midpoint(int(positive.sum()), int((~positive).sum()))
    fig, axes = _panels(3, sharex=True, sharey=True)
    for ax, (name, omega) in zip(axes, machines.items(), strict=True):
        for side, colour, marker in ((positive, "blue", "o"), (~positive, "vermilion", "s")):
            ax.scatter(*X[side].T, s=12, color=COLOURS[colour], marker=marker)
        kept = omega[1:] != 0
        ax.scatter(*X[kept].T, s=70, facecolors="none", edgecolors="black", linewidths=1.0)
        ax.contour(across, up, (grid @ omega).reshape(across.shape), levels=[threshold], colors="black")
        ax.set(title=f"{name}: {kept.sum()} of {len(X)}", xticks=[], yticks=[])
        ax.grid(False)
    return fig


def printed_deviations() -> Figure:
    """Draw the printed deviations of Table 1 against one classifier's, and against refitted ones'."""
    from ...base.plotting import COLOURS

    frame = spreads().dropna(subset=["refit"])
    fig, axes = _panels(2, sharex=True, sharey=True)
    titles = {"fixed": "one classifier", "refit": "trained anew each time"}
    for ax, (law, title) in zip(axes, titles.items(), strict=True):
        ax.plot(frame[law], frame["printed"].clip(lower=LEAST), "o", color=COLOURS["blue"], alpha=0.7)
        ax.plot([0.02, 6], [0.02, 6], color="black", lw=0.8)
        ax.set(xscale="log", yscale="log", xlim=(0.02, 6), ylim=(0.015, 6), title=title)
        ax.set_xlabel("± predicted, points")
    axes[0].set_ylabel("± printed, points")
    return fig


def cuts() -> Figure:
    """Draw the mean share of retained rows over the cut for zero, where the paper stops."""
    from ...base.plotting import COLOURS

    frame = by_cut()
    assert frame is not None
    fig, ax = _panels()
    for method, colour, marker, label in (
        ("kFDA-1", "blue", "o", "$q=1$"),
        ("kFDA-0.5", "vermilion", "s", r"$q=\frac{1}{2}$"),
    ):
        line = frame[frame["method"] == method].groupby("cut")["stopped"].mean()
        ax.plot(line, marker=marker, color=COLOURS[colour], label=label)
    ax.set(xscale="log", ylim=(0, None), xlabel="called zero below (share of the largest coefficient)")
    ax.set_ylabel("rows retained, %")
    ax.invert_xaxis()
    ax.legend()
    return fig


@dataclass(frozen=True)
class Stopped:
    """A run of (8): J above its limit, relative, at every step, and the step at which the paper stops."""

    excess: np.ndarray
    stop: int


@cache
def stopped_early() -> Stopped:
    """Run (8) with q = 1/2 on a problem on which the paper's rule stops it near a saddle."""
    problem, rho = list(clouds())[8]
    stop, run = (majorize_minimize(problem, 0.5, rho, tol=tol, max_iter=STEPS) for tol in (1e-5, 0.0))
    limit = resting_point(problem, 0.5, rho, max_iter=20_000)
    assert limit is not None
    lowest = objective(problem, limit, 0.5, rho)
    return Stopped(np.asarray(run.objective_path) / lowest - 1, stop.n_iter)


def saddle() -> Figure:
    """Draw that run, with a dot where the paper stops."""
    from ...base.plotting import COLOURS

    run = stopped_early()
    fig, ax = _panels()
    ax.loglog(np.arange(1, len(run.excess) + 1), np.maximum(run.excess, 1e-16), color=COLOURS["blue"])
    ax.plot(run.stop + 1, run.excess[run.stop], "o", ms=9, color=COLOURS["vermilion"])
    ax.annotate(
        "the paper stops",
        (run.stop + 1, run.excess[run.stop]),
        xytext=(0, 12),
        textcoords="offset points",
        ha="center",
    )
    ax.set(xlabel="step + 1", ylabel="$J$ above its limit, relative", ylim=(1e-9, 10))
    return fig


@dataclass(frozen=True)
class End:
    """Where the iteration ends from one start."""

    kept: int
    objective: float


@dataclass(frozen=True)
class FivePoints:
    """All local minima of a problem of five points, the lowest first, and the ends from six starts."""

    minima: list[Minimum]
    ends: list[End]


@cache
def five_points() -> FivePoints:
    """List all local minima of the example, and run the iteration from every start."""
    problem = list(small_problems(43))[1]
    q, rho = FIVE["q"], FIVE["rho"]
    ends = []
    for start in STARTS.values():
        end = resting_point(problem, q, rho, start=start(problem, q, rho, np.random.default_rng(0)))
        assert end is not None
        ends.append(End(int(np.count_nonzero(end)), float(objective(problem, end, q, rho))))
    return FivePoints(local_minima(problem, q, rho), ends)


def minima() -> Figure:
    """Draw the parabolas of Figure 2, and all minima of five points."""
    from ...base.plotting import COLOURS

    fig, (left, right) = _panels(2)
    w = np.linspace(-0.5, 5.5, 1201)
    left.plot(w, line_objective(w, ESTIMATE, POWER, RHO), color="black")
    for start, colour in zip(LINE_STARTS, ("vermilion", "blue"), strict=True):
        path = line_sequence(start, ESTIMATE, POWER, RHO, 60)
        for here in path[:4]:
            if here > 1e-3:
                bound = line_surrogate(w, here, ESTIMATE, POWER, RHO)
                left.plot(w, bound, color=COLOURS[colour], lw=0.7)
        left.plot(path, line_objective(path, ESTIMATE, POWER, RHO), "o", color=COLOURS[colour], ms=4)
    left.set(ylim=(4.0, 8.5), xlabel=r"$\omega$", ylabel="$J$", title="one coefficient, two starts")
    example = five_points()
    places = [len(one.support) for one in example.minima]
    right.plot(places, [one.objective for one in example.minima], "_", ms=14, color="black")
    for k, end in enumerate(example.ends):
        right.plot(end.kept + 0.1 * (k - 2.5), end.objective, "o", color=COLOURS["vermilion"], ms=5)
    right.set(xlabel="coefficients that are not zero", xticks=range(max(places) + 1), title="five points")
    right.set(yscale="log", ylim=(1.5, 12))
    right.set_yticks([2, 3, 5, 10], ["2", "3", "5", "10"])
    right.minorticks_off()
    return fig
