"""The claim on accelerations of the iteration (8), in evaluations of its map."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...claims import Evidence, Rival, claim, decide
from ..model.objective import Problem, objective
from ..solvers.irls import majorize_minimize
from ..solvers.irls_accelerated import over_relaxed, squarem
from ..solvers.solution import Solution
from .fixed_points import linear_rate, resting_point
from .section_3_stopping import clouds

#: what is compared, the iteration itself first
MAPS = ("(8)", "t = 1.5", "t = 1.9", "squared extrapolation")
RELAXED = MAPS[1:3]
#: relative distance of J to its limit that is to be reached
NEAR = 1e-8


def run(method: str, problem: Problem, q: float, rho: float, max_iter: int = 1500) -> Solution:
    """Return the run of one of `MAPS` until rounding stops it."""
    if method == MAPS[0]:
        return majorize_minimize(problem, q, rho, tol=1e-13, max_iter=max_iter)
    if method == MAPS[3]:
        return squarem(problem, q, rho, tol=1e-13, max_iter=max_iter)
    return over_relaxed(problem, q, rho, relaxation=float(method[4:]), tol=1e-13, max_iter=max_iter)


def evaluations(solution: Solution, lowest: float) -> int | None:
    """Return after how many evaluations J was within `NEAR` of `lowest`, or None."""
    hits = np.flatnonzero(solution.objective_path <= lowest * (1 + NEAR))
    return int(hits[0]) if len(hits) else None


@claim(
    "kfda/acceleration",
    kind="ours",
    where="Section 3, last paragraph, third sentence, which names accelerations and leaves them out",
    statement="successive over-relaxation, which the paper names, and squared extrapolation, which it does "
    "not, reduce the evaluations of (8), in the median",
    notebook="kfda/03_rates_zeros_minima#kfda-acceleration",
    rivals=[
        Rival("under-relaxation does", {"relaxed": ("t = 0.5", "t = 0.98")}),
        Rival("no relaxation does", {"relaxed": ("t = 1.0",)}),
    ],
)
def check_acceleration(relaxed: Sequence[str] = RELAXED) -> Evidence:
    """Count evaluations until J is near the limit of each run; compare over-relaxation with its law."""
    counts: dict[tuple[float, str], list[int]] = {}
    shares: dict[tuple[float, str], list[float]] = {}
    methods = (MAPS[0], *relaxed, MAPS[3])
    law, missed, lower, count, rises, steps = [np.nan], 0, 0, 0, 0, 0
    for problem, rho in clouds(repeats=1):
        for q in (0.5, 0.75, 1.0):
            base = None
            for method in methods:
                solution = run(method, problem, q, rho)
                if method != MAPS[0]:
                    change = np.diff(solution.objective_path) / solution.objective
                    rises, steps = rises + int((change > 1e-12).sum()), steps + len(change)
                limit = resting_point(problem, q, rho, start=solution.omega)
                if limit is None:
                    missed += 1
                    continue
                lowest = objective(problem, limit, q, rho)
                needed = evaluations(solution, lowest)
                if needed is None:
                    missed += 1
                    continue
                if method == MAPS[0]:
                    base, first, rate = needed, lowest, linear_rate(problem, limit, q, rho)
                counts.setdefault((q, method), []).append(needed)
                if base is None:
                    continue
                if method != MAPS[0]:
                    shares.setdefault((q, method), []).append(needed / base)
                    lower += lowest < first * (1 - 1e-6)
                if method == "t = 1.5" and q == 1 and base > 100:
                    law.append(needed / base * np.log(1 - 1.5 * (1 - rate)) / np.log(rate))
            count += 1
    parts = []
    for q in (0.5, 0.75, 1.0):
        medians = [f"{np.median(counts[q, method]):.0f} by {method}" for method in methods]
        parts.append(f"q = {q:g}: " + ", ".join(medians))
    typical = {key: float(np.median(values)) for key, values in shares.items()}
    # of over-relaxation the best of the two, since nothing is said about t
    gain = 1 - max(min(typical[q, method] for method in relaxed) for q in (0.5, 0.75, 1.0))
    gain = min(gain, 1 - max(typical[q, MAPS[3]] for q in (0.5, 0.75, 1.0)))
    squared = {q: typical[q, MAPS[3]] for q in (0.5, 0.75, 1.0)}
    told = ", ".join(f"{share:.0%} for q = {q:g}" for q, share in squared.items())
    worse = [f"{method} for q = {q:g}" for (q, method), share in typical.items() if share >= 1]
    return Evidence(
        verdict=decide(gain > 0),
        measured="evaluations of (8)'s map until J is within 1e-8 of its limit, medians: "
        + "; ".join(parts)
        + f"; no gain in the median: {', '.join(worse) or 'none'}; for q = 1 over-relaxation with t = 1.5 "
        f"needs {np.nanmedian(law):.2f} times the predicted number of evaluations; {lower} runs for q < 1 "
        f"end in another, lower minimum; of all runs {missed} do not settle",
        claimed="fewer evaluations than (8)",
        slack=gain,
        why="The paper says that such accelerations have been suggested, and does not address them. "
        "Over-relaxation turns a factor k of the error into 1 - t(1-k), so slow components need 1/t of "
        "the steps. Where (8) is fast, over-relaxation is slow: a factor near 0 becomes 1 - t. Extrapolating "
        f"the logarithms estimates the rate, and takes {told} of the evaluations of (8), in the median. J "
        f"rises in {rises} of some {round(steps, -3)} steps of these methods, by more than 1e-12 of itself.",
        sizes={"problems": count, "N": 40, "q": [0.5, 0.75, 1.0]},
        seeds=(0, 1),
    )
