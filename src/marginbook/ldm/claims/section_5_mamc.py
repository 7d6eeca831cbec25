"""What Section 5 says of MAMC, the machine of the largest average margin, as measurements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from ...claims import Evidence, Rival, at_most, claim, decide
from ...kernels import Kernel, gram
from ..model.whitening import WhitenedGram
from ..peers.mamc import solve_mamc
from ..solvers.dual import active_set
from .problems import ACCURATE, Problem, described, problems


@claim(
    "ldm/mamc-special",
    kind="statement",
    where="Section 5, second paragraph",
    statement="MAMC is the special case of LDM in which the margin variance is assumed to be zero",
    notebook="ldm/01_margins_and_model#ldm-mamc-special",
    rivals=(
        Rival("no hinge loss, but a variance of weight 1", {"lambda1": 1.0}),
        Rival("C = 0.01 in the place of C = 0", {"least": 0.01}),
        Rival("a bound on the way to the limit that is 2 % smaller", {"factor": 0.98}),
    ),
)
def check_average_margin(lambda1: float = 0.0, least: float = 1e-14, factor: float = 1.0) -> Evidence:
    """Compare directions under three readings: variance 0, no variance term, neither term nor loss.

    Parameters
    ----------
    lambda1, least : float
        Weight of the variance, and C, of the corrected statement.
    factor : float
        Of the bound on the distance to the limit of large lambda2.
    """
    dropped = forced = count = 0
    alone = limit = 0.0
    lambda2, C = 2.0**-2, 10.0
    for problem in islice(problems(seed=44, repeats=4), 0, None, 4):
        mamc = solve_mamc(problem.G @ problem.y, problem.y, float(np.diagonal(problem.G).mean()))
        target = problem.F @ mamc.coefficients
        H = WhitenedGram(problem.G, problem.y).hessian(0.0)
        w = _weights(problem, H, lambda2, C)
        dropped += _angle(w, target) <= 1e-6
        forced += _angle(_without_variance(problem, lambda2, C), target) <= 1e-6
        # C = 0 leaves nothing to optimise, beta' = lambda2/m e; the solvers want C > 0
        bare = H if lambda1 == 0 else WhitenedGram(problem.G, problem.y).hessian(lambda1)
        alone = max(alone, _angle(_weights(problem, bare, lambda2, least, lambda1), target))
        lengths = np.sqrt(np.diagonal(problem.G))
        mean = problem.F @ problem.y / len(problem.y)
        for large in (1e2, 1e5, 1e8):
            left = np.linalg.norm(_weights(problem, H, large, C) / large - mean)
            limit = max(limit, float(left / (factor * C * lengths.sum() / large + 1e-12 * lengths.max())))
        count += 1
    # short features of one sign, all of them at the upper bound: there the bound is reached
    short = np.array([[1e-3, 2e-3, 3e-3]])
    tiny = Problem(short.T, np.ones(3), "linear", short.T @ short, short)
    w = _weights(tiny, tiny.G, 1.0, C)
    limit = max(limit, float((w[0] - short.mean()) / (factor * C * short.sum())))
    good = alone <= 1e-6 and limit <= 1.0 + 1e-9
    return Evidence(
        verdict=decide(max(dropped, forced) == count, good),
        measured=f"w has the direction of MAMC in {forced} of {count} problems if the variance must be 0, in "
        f"{dropped} if lambda1 = 0, and to {at_most(alone, 1e-6)} in all if also C = 0; with C = {C:g}, the "
        f"distance of w/lambda2 from MAMC is at most {limit:.2f} times the bound C sum|x_i|/lambda2",
        claimed="the same direction",
        slack=float(max(dropped, forced) - count),
        why="The variance of MAMC's margins need not be 0, and requiring it to be 0 is another condition. "
        "To obtain MAMC, drop the variance term and the hinge loss: lambda1 = 0 and C = 0; or lambda1 = 0 "
        "and, in the limit, lambda2/C to infinity.",
        sizes=described(count) | {"lambda2": lambda2, "C": C},
        seeds=(44,),
        reach=min(limit, 1.0),
    )


def _weights(problem: Problem, H: np.ndarray, lambda2: float, C: float, lambda1: float = 0.0) -> np.ndarray:
    return np.asarray(problem.F @ active_set(H, problem.y, lambda1, lambda2, C, tol=1e-12).alpha)


def _angle(w: np.ndarray, target: np.ndarray) -> float:
    """Return the distance of two directions; 1 where `w` is zero and has none."""
    length = np.linalg.norm(w)
    return 1.0 if length < 1e-9 else float(np.linalg.norm(w / length - target))


def _without_variance(problem: Problem, lambda2: float, C: float) -> np.ndarray:
    """Solve (5) by cvxpy with the constraint that all margins are equal."""
    import cvxpy as cp

    w, level = cp.Variable(len(problem.F)), cp.Variable()
    cost = 0.5 * cp.sum_squares(w) - lambda2 * level + C * len(problem.y) * cp.pos(1 - level)
    cp.Problem(cp.Minimize(cost), [cp.multiply(problem.y, problem.F.T @ w) == level]).solve(
        solver=cp.CLARABEL, **ACCURATE
    )
    return np.asarray(w.value)


def _balanced(original: Any) -> Callable[..., Any]:
    def solve(f: np.ndarray, y: np.ndarray, scale: float) -> Any:
        weights = np.where(y > 0, 1 / np.sum(y > 0), 1 / np.sum(y < 0))
        return replace(original(f, y, scale), coefficients=y * weights)

    return solve


@claim(
    "ldm/mamc-trivial",
    kind="statement",
    where="Section 5, second paragraph",
    statement="MAMC degenerates to a trivial solution when the classes are of unequal size",
    notebook="ldm/01_margins_and_model#ldm-mamc-trivial",
    rivals=(
        Rival("enough from 0.98 of max k / min k on", {"factor": 0.98}),
        Rival("where one class is more than five times the other", {"factor": None}),
        Rival("a MAMC that counts each class alike", swaps={"ldm.peers.mamc.solve_mamc": _balanced}),
    ),
)
def check_trivial(factor: float | None = 1.0) -> Evidence:
    """Count problems where all points get one label, by sizes and by the range of the kernel.

    Parameters
    ----------
    factor : float, optional
        Of max k / min k in the corrected condition; None takes 5 in the place of all of it.
    """
    rng = np.random.default_rng(45)
    unequal, unequal_trivial, equal, equal_trivial, beyond, beyond_trivial = 0, 0, 0, 0, 0, 0
    kernels: tuple[Kernel, ...] = ("linear", *(("rbf", {"gamma": g}) for g in (0.03, 0.3, 3.0, 30.0)))
    larger = (20, 24, 60, 200)
    for _ in range(6):
        for n in larger:
            y = np.repeat([1.0, -1.0], [n, 20])
            centres = rng.uniform(0.2, 0.8, size=(2, 3))
            X = np.clip(np.repeat(centres, [n, 20], axis=0) + 0.1 * rng.normal(size=(n + 20, 3)), 0.0, 1.0)
            for kernel in kernels:
                K = gram(kernel, X)
                trivial = _is_trivial(K, y)
                equal, equal_trivial = equal + (n == 20), equal_trivial + (trivial and n == 20)
                unequal, unequal_trivial = unequal + (n > 20), unequal_trivial + (trivial and n > 20)
                if n > 20 * _needed(K, factor):
                    beyond, beyond_trivial = beyond + 1, beyond_trivial + trivial
    # two values of the kernel, 1 in a class and k across: just beyond the ratio, and just short of it
    for k in (1 / 1.49, 1 / 1.51):
        y = np.repeat([1.0, -1.0], [30, 20])
        K = np.where(y[:, None] == y, 1.0, k)
        if 20 * _needed(K, factor) < 30:
            beyond, beyond_trivial = beyond + 1, beyond_trivial + _is_trivial(K, y)
    return Evidence(
        verdict=decide(unequal_trivial == unequal, beyond_trivial == beyond > 0),
        measured=f"one label for all points in {unequal_trivial} of {unequal} problems with unequal classes "
        f"and in {equal_trivial} of {equal} with equal ones; in {beyond_trivial} of the {beyond} in which "
        "n_+ / n_- > max k / min k > 0",
        claimed="in all problems with unequal classes",
        slack=float(unequal_trivial - unequal),
        why="'Trivial' is read as one label for all points. Up to a factor, f(x) is n_+ times the mean of "
        "k(x, .) over the positive class minus n_- times that over the negative one. So the larger class "
        "takes all points as soon as the sizes differ by more than the kernel values do. Unequal sizes are "
        f"not sufficient in {unequal - unequal_trivial} problems and not necessary in {equal_trivial}: at "
        "equal sizes, a class nearer to the origin can lose all its points.",
        sizes={"problems": unequal + equal, "n_+": list(larger), "n_-": 20, "kernels": len(kernels)},
        seeds=(45,),
    )


def _needed(K: np.ndarray, factor: float | None) -> float:
    """Return the ratio of the sizes beyond which all points go to the larger class."""
    if factor is None:
        return 5.0
    return factor * K.max() / K.min() if K.min() > 0 else np.inf


def _is_trivial(K: np.ndarray, y: np.ndarray) -> bool:
    """Say whether the library's MAMC gives all points one label."""
    coefficients = solve_mamc(K @ y, y, float(np.diagonal(K).mean())).coefficients
    signs = np.sign(K @ coefficients)
    return bool(np.all(signs == signs[0]))
