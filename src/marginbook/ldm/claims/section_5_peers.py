"""What Section 5 says of MDO and KM-OMD, the two other peers, as measurements."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np

from ...claims import Evidence, Rival, at_most, claim, decide, short
from ..model.whitening import WhitenedGram
from ..peers.km_omd_solver import solve_km_omd
from ..peers.mdo_descent import mdo_cost, mdo_objective, solve_mdo
from ..solvers.hard_margin import InfeasibleError, solve_hard_margin
from .problems import Problem, described, problems

#: constants of the cost: ours, as those that the paper recommends were not at hand
MDO = (100.0, 10.0)


def _convex(original: Any) -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    """Return a convex cost of margins in the place of that of MDO: the logistic loss."""

    def cost(margins: np.ndarray, a: float, b: float, width: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        return np.logaddexp(0.0, -margins), -1.0 / (1.0 + np.exp(margins))

    return cost


@claim(
    "ldm/mdo-not-convex",
    kind="statement",
    where="Section 5, first paragraph",
    statement="the objective function of MDO is non-convex, and it may get stuck in local minima",
    notebook="ldm/01_margins_and_model#ldm-mdo-not-convex",
    rivals=(
        Rival("a convex cost of the margins", swaps={"ldm.peers.mdo_descent.mdo_cost": _convex}),
        Rival("the part of the cost of wrong examples alone", {"signs": (-1.0,)}),
        Rival("minima whose objectives differ by a factor of 100", {"factor": 100.0}),
    ),
)
def check_mdo(signs: tuple[float, ...] = (-1.0, 1.0), factor: float = 1.01) -> Evidence:
    """Look for chords below the cost, and for descents that end in different minima.

    Parameters
    ----------
    signs : tuple of float
        Signs of the margins at which the cost is looked at.
    factor : float
        Between the objectives of two minima.
    """
    grid = np.linspace(0.0, 0.5, 101)
    margins = np.unique(np.concatenate([sign * grid for sign in signs]))
    cost = mdo_cost(margins, *MDO)[0]
    bend = float((cost[1:-1] - (cost[:-2] + cost[2:]) / 2).max())
    # three clusters at equal angles: every direction has one of them on the wrong side
    rng, sizes = np.random.default_rng(47), (9, 7, 5)
    angles = np.repeat([0.0, 2 * np.pi / 3, 4 * np.pi / 3], sizes) + 0.03 * rng.normal(size=sum(sizes))
    X, y = np.c_[np.cos(angles), np.sin(angles)], np.ones(len(angles))
    starts = [-np.array([np.cos(t), np.sin(t)]) for t in (0.1, 2.2, 4.3)]
    ends = [solve_mdo(X, y, *MDO, {"start": start}) for start in starts]
    values, slopes = [end.objective for end in ends], [end.gradient_norm for end in ends]
    around = [_lowest_near(X, y, end.coef) - end.objective for end in ends]
    ratio = max(values) / min(values)
    minimal = min(around) >= -1e-6 * max(values)
    return Evidence(
        verdict=decide(bend > 1e-6 and ratio >= factor and minimal),
        measured=f"the cost lies above a chord by up to {bend:.2g}; descents from {len(starts)} directions "
        f"end at the objectives {', '.join(f'{value:.3g}' for value in values)}; a small rotation lowers "
        f"{sum(change < -1e-6 * max(values) for change in around)} of them",
        claimed=f"not convex; local minima that differ by {100 * (factor - 1):.3g} % or more",
        slack=float(min(bend - 1e-6, ratio - factor, short(minimal, 1))),
        why="The term exp(-at^2) is concave near t = 0, and the sphere |w| = 1 is not a convex set. With "
        "three clusters at equal angles every direction misclassifies one of them; the starts differ by "
        "which one it is. The gradients at the end points are at most "
        f"{at_most(max(slopes), 1e-2)} per example.",
        sizes={"m": len(y), "starts": len(starts)},
        seeds=(47,),
    )


def _lowest_near(X: np.ndarray, y: np.ndarray, w: np.ndarray, angle: float = 0.02) -> float:
    """Return the smallest objective among directions in the plane that are turned by up to `angle`."""
    turns = np.linspace(-angle, angle, 21)
    turned = [np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]]) @ w for t in turns]
    return min(mdo_objective(v, X, y, *MDO)[0] for v in turned)


@claim(
    "ldm/km-omd-hard-margin",
    kind="statement",
    where="Section 5, third paragraph",
    statement="KM-OMD considers hard-margin only",
    notebook="ldm/01_margins_and_model#ldm-km-omd-hard-margin",
    rivals=(
        Rival("KM-OMD without a charge on the squared weights", {"penalties": (0.0,)}),
        Rival("corrected, with a charge of a hundredth in the place of none", {"corrected": 0.01}),
    ),
)
def check_km_omd(
    penalties: tuple[float, ...] = (1 / 10, 1 / 50, 1 / 100), corrected: float = 0.0
) -> Evidence:
    """Ask whether the machine is one for examples that no plane separates, where a hard margin has none.

    Parameters
    ----------
    penalties : tuple of float
        Charges on the squared weights: 1/C for the values of C that Section 4.1 chooses from.
    corrected : float
        The charge with which it does consider hard margins only.
    """
    soft = count = hard = bare = 0
    for problem in islice(problems(seed=46, repeats=4), 0, None, 2):
        lifted = problem.G + 1.0  # a constant feature: a plane anywhere
        try:
            solve_hard_margin(WhitenedGram(lifted, problem.y), 0.0, 0.0)
        except InfeasibleError:
            hard += 1
        else:
            continue
        bare += _softens(problem, corrected)
        for penalty in penalties:
            soft += _softens(problem, penalty)
            count += 1
    return Evidence(
        verdict=decide(count > 0 and soft == 0, hard > 0 and bare == 0),
        measured=f"on {hard} problems that no hyperplane separates, KM-OMD with the penalties "
        f"{', '.join(f'{p:g}' for p in penalties)} has a solution that misclassifies examples in {soft} of "
        f"{count} cases; with the penalty {corrected:g} it has a solution in {bare} of {hard}",
        claimed="none",
        slack=float(-soft),
        why="Where no hyperplane separates the classes, a hard margin has only the solution w = 0. Section "
        "4.1 chooses a regularization parameter C of KM-OMD from three values, as it does for the SVM; we "
        "take 1/C for its penalty on the squared weights. With the penalty, KM-OMD is up to its threshold "
        "the SVM with squared hinge loss, which has a soft margin; without it, the margin is hard. The "
        "sentence is about another paper's method, and no result of the LDM paper depends on it.",
        sizes=described(count) | {"charges": len(penalties)},
        seeds=(46,),
    )


def _softens(problem: Problem, penalty: float) -> bool:
    """Return whether KM-OMD with this charge has a plane, with examples on the wrong side of it."""
    found = solve_km_omd(problem.G, problem.y, penalty, tol=1e-9)
    weights = problem.y * found.gamma
    length = float(weights @ problem.G @ weights)
    size = float(np.diagonal(problem.G).mean())
    right = np.sign(problem.G @ weights - found.threshold) == problem.y
    return length > 1e-6 * size and not bool(np.all(right))
