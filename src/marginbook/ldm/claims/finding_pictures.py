"""The pictures of the chapter's findings, from stored results or from a computation of a second."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...base.project import resource
from ..model.whitening import WhitenedGram
from ..paper.printed import KINDS, printed
from ..solvers.dual import active_set
from ..solvers.leave_one_out_bound import bracket
from ..solvers.leave_one_out_exact import exact_leave_one_out
from .printed_theorem_3 import plane_points, printed_count, repelling_points
from .tables_readings import REGULAR, WEIGHTS
from .tables_wins import against_svm, scores

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from matplotlib.figure import Figure

#: two panels beside each other are readable on a phone
SIZE = (6.4, 3.4)
#: the readings of the weights, as a reader would call them
READINGS = {"C": "as printed, (6)", "C/m": "mean of the losses", "(4)": "double sum of (4)"}
#: a value of the printed grid: lambda1, lambda2, C
GRID_POINT = (2**-4, 2**-2, 10.0)


def measured(name: str) -> pd.DataFrame:
    """Return a stored table of measured times."""
    import pandas as pd

    return pd.read_csv(resource("benchmarks", "results", f"{name}.csv"))


def sparse_curves() -> pd.DataFrame:
    """Return the stored lines of the largest sparse problem with C = 10."""
    table = measured("ldm-sparse-curves")
    return table[(table["m"] == table["m"].max()) & (table["C"] == 10)]


def idea() -> Figure:
    """Draw forty points, the lines of SVM and LDM, and below each other the margins."""
    import matplotlib.pyplot as plt

    from ...base.plotting import COLOURS
    from ..estimators.classifier import LDMClassifier

    X, y = idea_points()
    fig, axes = plt.subplot_mosaic([["plane", "SVM"], ["plane", "LDM"]], figsize=SIZE, width_ratios=(3, 2))
    plane = axes["plane"]
    for sign, colour, marker in ((1, "blue", "o"), (-1, "vermilion", "s")):
        plane.plot(*X[y == sign].T, marker, color=COLOURS[colour], ms=5)
    bins = np.linspace(0, 2.2, 23).tolist()
    for name, lambda1, colour, style in (("SVM", 0.0, "black", "--"), ("LDM", 1000.0, "green", "-")):
        model = LDMClassifier(lambda1, 0.0, 100.0, kernel="linear", fit_intercept=True).fit(X, y)
        origin = float(model.decision_function(np.zeros((1, 2)))[0])
        w = model.decision_function(np.eye(2)) - origin
        plane.axline((0, -origin / w[1]), slope=-w[0] / w[1], color=COLOURS[colour], ls=style, label=name)
        axes[name].hist(y * model.decision_function(X) / np.linalg.norm(w), bins=bins, color=COLOURS[colour])
        axes[name].set(title=name, xlim=(0, 2.2), ylabel="points")
    axes["SVM"].sharex(axes["LDM"])
    axes["SVM"].tick_params(labelbottom=False)
    axes["LDM"].set_xlabel("distance from the line")
    plane.set(xlabel="first feature", ylabel="second feature", xlim=(-2.5, 2.5), ylim=(-2.2, 2.2))
    plane.legend(loc="lower left", ncols=2, handlelength=1.6)
    return fig


def idea_points() -> tuple[np.ndarray, np.ndarray]:
    """Return the forty points, (40, 2), and their labels, (40,), with which the explorable starts, too."""
    rng = np.random.default_rng(1)
    y = np.repeat([1.0, -1.0], 20)
    X = np.c_[rng.uniform(-2.2, 2.2, 40), y * (1.2 + 0.12 * rng.normal(size=40))]
    X[0], X[20] = (-1.0, 0.1), (1.0, -0.1)  # one point of each class comes close to the other class
    return X, y


def no_lead() -> Figure:
    """Draw the printed lead over the SVM, and that of the model as printed, on each regular set."""
    import matplotlib.pyplot as plt

    from ...base.plotting import COLOURS

    fig, axes = plt.subplots(1, 2, sharey=True, figsize=SIZE)
    for ax, table in zip(axes, REGULAR, strict=True):
        means = printed(table).means
        theirs = (100 * (means["LDM"] - means["SVM"])).sort_values(kind="stable")
        lead = leads(table, *WEIGHTS["C"]).reindex(theirs.index)
        at = np.arange(len(theirs))
        ax.axhline(0, color="black", lw=0.8)
        ax.plot(at, theirs, "D", color=COLOURS["black"], mfc="white", ms=5, label="printed")
        ax.plot(at, lead, "o", color=COLOURS["blue"], ms=5, label="re-run, neither has an intercept")
        ax.set(title=KINDS[table], xlabel=f"the {len(at)} data sets", xticks=[])
    axes[0].set_ylabel("LDM minus SVM, points")
    fig.legend(*axes[0].get_legend_handles_labels(), ncols=2, loc="outside upper center")
    return fig


def leads(table: str, first: str, second: str) -> pd.Series[float]:
    """Return the mean lead of one of our methods over another on each data set, in points."""
    wide = scores(table)
    if wide is None:
        raise FileNotFoundError(f"no results of {table}")
    return 100 * (wide[first] - wide[second]).groupby(level="dataset").mean()


def three_readings() -> Figure:
    """Draw the leads over the SVM of the same form, a row for each reading of the weights."""
    import matplotlib.pyplot as plt

    from ...base.plotting import COLOURS

    fig, axes = plt.subplots(1, 2, sharex=True, sharey=True, figsize=SIZE)
    colours = [COLOURS[name] for name in ("blue", "green", "vermilion")]
    for ax, table in zip(axes, REGULAR, strict=True):
        for at, ((label, pair), colour) in enumerate(zip(WEIGHTS.items(), colours, strict=True)):
            lead = leads(table, *pair)
            ax.plot(lead, np.full(len(lead), at), "o", color=colour, ms=7, alpha=0.45, label=label)
            ax.plot(lead.mean(), at, "|", color="black", ms=22, mew=2)
        ax.axvline(0, color="black", lw=0.8)
        ax.set(title=KINDS[table], xlabel="LDM minus SVM, points", ylim=(2.5, -0.5))
    axes[0].set(yticks=range(len(WEIGHTS)), yticklabels=[READINGS[label] for label in WEIGHTS])
    return fig


def rank_diagrams(means: Mapping[str, pd.DataFrame]) -> Figure:
    """Draw the average ranks, a panel for each kernel; a colour each for LDM, SVM and the others.

    Parameters
    ----------
    means : mapping of str to DataFrame
        By the title of a panel, mean accuracies, sets by methods.
    """
    import matplotlib.pyplot as plt

    from ...base.plotting import COLOURS
    from ...experiments.stats import critical_difference_diagram

    families = {"LDM": COLOURS["blue"], "SVM": COLOURS["vermilion"], "other methods": "#777777"}
    fig, axes = plt.subplots(len(means), 1, figsize=(6.4, 3.0 * len(means)), squeeze=False)
    for ax, (title, scored) in zip(axes.flat, means.items(), strict=True):
        ranks = critical_difference_diagram(scored, ax=ax)
        left = (len(ranks) + 1) // 2  # half of the labels are at the left, best first, the others worst first
        names = [*ranks.index[:left], *ranks.index[left:][::-1]]
        drawn = zip(names, ax.lines[-len(names) :], ax.collections[-len(names) :], strict=True)
        for name, elbow, marker in drawn:
            family = name[:3] if name[:3] in families else "other methods"
            elbow.set_color(families[family])
            marker.set_color(families[family])
        ax.set_title(title, pad=10)
        ax.grid(False)
    for family, colour in families.items():
        axes[0, 0].plot([], [], color=colour, label=family)
    fig.legend(*axes[0, 0].get_legend_handles_labels(), ncols=3, loc="outside upper center")
    return fig


def theorem_3() -> Figure:
    """Draw the eight repelling points' margins, seen and unseen; and both bounds as lambda2 grows."""
    import matplotlib.pyplot as plt

    from ...base.plotting import COLOURS

    seen, unseen, _ = repelling_margins()
    fig, (left, right) = plt.subplots(1, 2, figsize=SIZE, width_ratios=(2, 3))
    numbers = np.arange(1, len(seen) + 1)
    left.axhline(0, color="black", lw=0.8)
    left.plot(numbers, seen, "o", color=COLOURS["blue"], label="trained on")
    left.plot(numbers, unseen, "x", color=COLOURS["vermilion"], mew=2, ms=7, label="left out")
    left.set(xlabel="example", ylabel="its margin", title="eight examples", xticks=numbers[::2])
    left.legend(loc="center", frameon=True)
    X, y = plane_points()
    G, sweep = X @ X.T, 2.0 ** np.arange(-4, 8.1, 0.25)
    rows = []
    for weight in sweep:
        H = WhitenedGram(G, y).hessian(1.0)
        model = active_set(H, y, 1.0, weight, 1.0)
        errors = np.sum(exact_leave_one_out(G, y, 1.0, weight, 1.0) <= 0)
        rows.append((printed_count(H, model.beta, 1.0), errors, len(y) * bracket(G, y, model).error_bound))
    styles = (("vermilion", "-", 1.8), ("black", "-", 1.8), ("blue", "--", 2.5))
    names = ("Theorem 3", "true errors", "the new bound")
    for curve, name, (colour, style, width) in zip(np.array(rows).T, names, styles, strict=True):
        right.plot(sweep, curve, style, lw=width, color=COLOURS[colour], label=name, drawstyle="steps-mid")
    right.set(xscale="log", xlabel=r"$\lambda_2$", ylabel="leave-one-out errors of 8", ylim=(-0.2, 7.5))
    right.set_title("eight others")
    right.legend(loc="upper right")
    return fig


def repelling_margins() -> tuple[np.ndarray, np.ndarray, float]:
    """Return the margins of the eight repelling examples, those when left out, and what Theorem 3 allows."""
    X, y = repelling_points(8)
    G = X @ X.T
    H = WhitenedGram(G, y).hessian(GRID_POINT[0])
    model = active_set(H, y, *GRID_POINT)
    return model.margins, exact_leave_one_out(G, y, *GRID_POINT), printed_count(H, model.beta, GRID_POINT[2])


def two_intervals() -> Figure:
    """Draw the linear contest of LDM and SVM with the interval of either test."""
    import matplotlib.pyplot as plt
    from scipy import stats

    from ...base.plotting import COLOURS

    lines = against_svm()["table-2"].sort_values("difference", kind="stable")
    width = 100 * stats.t.ppf(0.975, lines["splits"] - 1) * lines["deviation"]
    fig, ax = plt.subplots(figsize=SIZE)
    at, share = np.arange(len(lines)), 1 / lines["splits"]
    names = ("corrected for the overlap", "paired t-test, as in the paper")
    for extra, colour, lw, name in zip((1.0, 0.0), ("sky", "blue"), (2, 5), names, strict=True):
        half = width * np.sqrt(share + extra)
        centre = 100 * lines["difference"]
        ax.vlines(at, centre - half, centre + half, color=COLOURS[colour], lw=lw, label=name)
    ax.plot(at, 100 * lines["difference"], "o", color="white", mec=COLOURS["blue"], ms=4)
    ax.axhline(0, color="black", lw=0.8)
    ax.set(xlabel=f"the {len(lines)} data sets, linear kernels", ylabel="LDM minus SVM, points", xticks=[])
    fig.legend(ncols=2, loc="outside upper center")
    return fig


def race() -> Figure:
    """Draw the excess of the objective over CPU seconds: kernels left, sparse rows right."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import NullFormatter

    from ...base.plotting import COLOURS

    fig, (left, right) = plt.subplots(1, 2, sharey=True, figsize=SIZE)
    kernel = measured("ldm-curves")
    kernel = kernel[(kernel["m"] == 500) & np.isclose(kernel["lambda1"], 2**-5)]
    sparse = sparse_curves()
    ours = {"active set": "ours", "Algorithm 1 as printed": "Algorithm 1", "cvxpy, primal": "cvxpy"}
    theirs = {"exact LDM": "ours", "LIBLINEAR (SVM)": "LIBLINEAR, SVM", "averaged SGD (LDM)": "Algorithm 2"}
    colours = ("blue", "orange", "vermilion")
    for ax, table, names in ((left, kernel, ours), (right, sparse, theirs)):
        for (solver, name), colour in zip(names.items(), colours, strict=True):
            line = table[table["solver"] == solver]
            excess, marker = line["excess"].clip(lower=1e-12), "s" if name == "cvxpy" else ""
            ax.loglog(line["seconds"], excess, marker=marker, color=COLOURS[colour], label=name)
        ax.set(xlabel="CPU seconds", ylim=(1e-13, 1e2))
        ax.xaxis.set_minor_formatter(NullFormatter())
    left.legend(loc="upper right")
    right.legend(loc="lower left")
    left.set(title="rbf kernel, 500 examples", ylabel="excess of the objective")
    right.set_title("sparse, 300,000 examples")
    return fig
