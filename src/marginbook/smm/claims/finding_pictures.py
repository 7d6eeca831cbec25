"""The pictures of the findings, from stored results or computations of a second."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit

from ..estimators.regression import outwards
from ..experiments.generators import Truth
from ..model.aggregation import count_rule
from ..model.objective import decision_values, objective, weights_for
from ..solvers.block_descent import low_rank_svm
from ..solvers.solution import LowRankSolution
from .idea_problem import LAM, LEVEL, LEVELS, RANK, SCALE, idea_problem
from .section_3_descent import kinked
from .stored_results import LOGISTIC, PATH, PLATT, VECTOR_PATH, VECTOR_PLATT, by_draw, by_size, means

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

#: of the pictures
SIZE = (6.4, 3.4)
#: names of the sets of real matrices, for readers
NAMES = {
    "digits-3-8": "digits, 3 or 8",
    "digits-4-9": "digits, 4 or 9",
    "usps-3-8": "USPS, 3 or 8",
    "usps-4-9": "USPS, 4 or 9",
    "eeg": "EEG",
    "brain-vsplot": "brain, orientation",
    "brain-iq": "brain, IQ",
    "digits-parity": "products of digits",
    "digits-8x8": "digits, 8 x 8",
    "usps": "USPS, 16 x 16",
}


def idea() -> Figure:
    """Draw the truth, what rank 1 learns of it, and the probability that nine level sets add up to."""
    import matplotlib.pyplot as plt
    from matplotlib.colors import LinearSegmentedColormap

    from ...base.plotting import COLOURS

    problem, sets = idea_problem(), idea_sets()
    chosen = sets[round(LEVEL * LEVELS) - 1]
    figure, axes = plt.subplot_mosaic([["truth", "p"], ["learned", "p"]], figsize=SIZE, width_ratios=(1, 4))
    learned = chosen.coef / np.linalg.norm(chosen.coef)
    most = float(np.abs(problem.truth).max())
    colours = LinearSegmentedColormap.from_list("signs", [COLOURS["vermilion"], "white", COLOURS["blue"]])
    for name, B in (("truth", problem.truth), ("learned", learned)):
        axes[name].imshow(B, cmap=colours, vmin=-most, vmax=most)
        axes[name].set(title=name, xticks=[], yticks=[])
        axes[name].grid(visible=False)
    axis = axes["p"]
    decisions = np.column_stack([decision_values(one.coef, one.intercept, problem.new) for one in sets])
    estimate, inside = count_rule(decisions), decisions[:, round(LEVEL * LEVELS) - 1] > 0
    score = logit(problem.probability) / SCALE
    line, exact = np.linspace(-2.5, 2.5, 400), logit(np.arange(1, LEVELS) / LEVELS) / SCALE
    axis.axvspan(float(logit(LEVEL)) / SCALE, 2.5, color=COLOURS["sky"], alpha=0.2, lw=0)
    axis.plot(line, (0.5 + (line[:, None] > exact).sum(axis=1)) / LEVELS, color="#999999", lw=1.0)
    axis.plot(line, expit(SCALE * line), color=COLOURS["black"])
    for side, colour, marker in ((True, "blue", "o"), (False, "vermilion", "s")):
        own = inside == side
        axis.plot(score[own], estimate[own], marker, color=COLOURS[colour], ms=4.5, mew=0)
    axis.set(xlabel="score of a new matrix by the truth", xlim=(-2.5, 2.5), ylim=(0, 1))
    axis.set_title("estimated probability")
    return figure


@cache
def idea_sets() -> list[LowRankSolution]:
    """Return the level sets of the first figure, lowest first, by Algorithm 1 from the middle outwards."""
    problem, found = idea_problem(), dict[int, LowRankSolution]()
    for h, neighbour in outwards(LEVELS - 1):
        found[h] = low_rank_svm(
            problem.X,
            problem.y,
            rank=RANK,
            lam=LAM,
            sample_weight=weights_for((h + 1) / LEVELS, problem.y),
            fit_intercept=True,
            method="alternation",
            start=None if neighbour is None else found[neighbour],
        )
    return [found[h] for h in range(LEVELS - 1)]


def errors_by_size() -> Figure:
    """Draw the test error over the size of the matrices, with and without a bound on the rank."""
    import matplotlib.pyplot as plt

    from ...base.plotting import COLOURS

    figure, axis = plt.subplots(figsize=SIZE)
    frame, best = by_draw("dimension", "error"), by_draw("dimension", "bayes_error")
    if frame is not None and best is not None:
        found = means(frame)
        found["least possible"] = means(best).mean(axis=1)
        found = by_size(found, "d")
        for method, name, style, colour in (
            (VECTOR_PLATT, "vector SVM", "s--", "vermilion"),
            (PLATT, "low rank", "o-", "blue"),
            ("least possible", "least possible", ":", "black"),
        ):
            axis.semilogx(found[method], style, color=COLOURS[colour], label=name)
        axis.set_xticks(found.index, [f"{d} x {d}" for d in found.index])
        axis.minorticks_off()
        axis.legend()
    axis.set(xlabel="size of a matrix", ylabel="test error, %", ylim=(0, 50))
    return figure


def leads(pairs: dict[str, pd.DataFrame]) -> Figure:
    """Draw differences of the error with their intervals.

    Parameters
    ----------
    pairs : dict of DataFrame
        By name: what `marginbook.smm.claims.as_good_as.within` returns.
    """
    import matplotlib.pyplot as plt

    from ...base.plotting import COLOURS

    figure, axis = plt.subplots(figsize=(6.4, 3.9))
    looks = zip(pairs.items(), ("blue", "orange"), ("o", "s"), (-0.15, 0.15), strict=True)
    for (name, lines), colour, marker, shift in looks:
        at = np.arange(len(lines)) + shift
        mean = lines["difference"].to_numpy()
        ends = np.abs(lines[["low", "high"]].to_numpy().T - mean)
        axis.errorbar(mean, at, xerr=ends, fmt=marker, color=COLOURS[colour], label=name, elinewidth=1.6)
        axis.set_yticks(range(len(lines)), [NAMES.get(str(key), str(key)) for key in lines.index])
    axis.axvline(0, color=COLOURS["black"], lw=0.9)
    axis.set_xticks([-10, -5, 0, 5])
    axis.set_xlabel("error, low rank minus vector, points")
    axis.invert_yaxis()
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def bound_and_objective() -> Figure:
    """Draw the objective of a fit of rank 2 and two lower bounds, over the penalty."""
    import matplotlib.pyplot as plt

    from ...base.plotting import COLOURS

    train = Truth("logit", (8, 8), 2, 1).draw(200, "train")
    lams = np.geomspace(0.01, 1, 9)
    found: dict[str, list[float]] = {
        "objective of the fit": [],
        "bound from the fit alone": [],
        "best bound found": [],
    }
    for lam in lams:
        for steps in (0, 400):
            fit = low_rank_svm(
                train.X,
                train.y,
                rank=2,
                lam=lam,
                loss="logistic",
                n_restarts=2,
                bound_iter=steps,
                random_state=0,
            )
            if steps:
                found["objective of the fit"].append(fit.objective)
            found["best bound found" if steps else "bound from the fit alone"].append(fit.lower_bound)
    figure, axis = plt.subplots(figsize=SIZE)
    for (name, values), style, colour in zip(
        found.items(), ("o-", ":", "s--"), ("blue", "black", "vermilion"), strict=True
    ):
        axis.semilogx(lams, values, style, color=COLOURS[colour], label=name)
    axis.set(xlabel=r"penalty $\lambda$", ylabel="objective", ylim=(0, None))
    axis.set_xticks([0.01, 0.1, 1], ["0.01", "0.1", "1"])
    axis.legend()
    return figure


def valley() -> Figure:
    """Draw the objective around a point where both blocks are optimal and the pair is not."""
    import matplotlib.pyplot as plt

    from ...base.plotting import COLOURS

    example, lam = kinked(Fraction(3, 10)).astype(float), 0.1
    grid = np.linspace(-0.3, 0.6, 91)
    value = np.array(
        [[objective(np.outer([1, t], [1, s]), 0.0, example, np.ones(3), lam=lam) for s in grid] for t in grid]
    )
    lowest = np.unravel_index(value.argmin(), value.shape)
    figure, axis = plt.subplots(figsize=(6.4, 3.6))
    heights = value.min() + (value.max() - value.min()) * np.linspace(0.02, 0.9, 16) ** 2
    axis.contour(grid, grid, value, levels=heights, colors="#888888", linewidths=0.8)
    axis.axhline(0, color=COLOURS["blue"], ls="--", label="only $V$ moves")
    axis.axvline(0, color=COLOURS["vermilion"], ls="-.", label="only $U$ moves")
    axis.plot(0, 0, "o", color=COLOURS["black"], markersize=8, label="alternation stops")
    axis.plot(
        grid[lowest[1]], grid[lowest[0]], "*", color=COLOURS["green"], markersize=14, label="lowest here"
    )
    axis.set(xlabel="$s$", ylabel="$t$", aspect="equal")
    axis.legend(loc="center left", bbox_to_anchor=(1.05, 0.5))
    return figure


def levels_and_logistic() -> Figure:
    """Draw the printed estimate beside the count, and errors of the count beside logistic regression."""
    import matplotlib.pyplot as plt

    from ...base.plotting import COLOURS

    figure, (left, right) = plt.subplots(1, 2, figsize=(6.4, 3.6))
    p, H = np.linspace(0, 1, 1001), 5
    inside = p[:, None] > np.arange(1, H + 1) / H
    left.plot([0, 1], [0, 1], color="#999999", lw=0.8)
    left.plot(p, (~inside).mean(axis=1), "-.", color=COLOURS["vermilion"], label="as printed")
    left.plot(p, count_rule(np.where(inside[:, :-1], 1.0, -1.0)), color=COLOURS["green"], label="corrected")
    left.set(xlabel="true probability", ylabel="estimate", title=f"exact sets, {H} cells")
    left.legend(loc="upper center", fontsize=9)
    frame = by_draw("sample-size", "mae")
    if frame is not None:
        found = by_size(means(frame), "n")
        for (method, name), style in zip(
            ((VECTOR_PATH, "vector, 19 fits"), (PATH, "low rank, 19 fits"), (LOGISTIC, "logistic, 1 fit")),
            ("s--", "o-", "^-."),
            strict=True,
        ):
            right.loglog(found.index, found[method], style, label=name)
        right.set_xticks(found.index, [str(n) for n in found.index])
        right.set_yticks([0.05, 0.1, 0.2, 0.3], ["0.05", "0.1", "0.2", "0.3"])
        right.minorticks_off()
        right.legend(loc="lower left", fontsize=9)
    right.set(xlabel="training matrices", title="mean absolute error")
    return figure
