"""The claims about Figures 1 and 2, on which of the three algorithms is the fastest.

The figures print no numbers. What the text reads off them is checked on the seconds of our benchmark and on
our iterations.
"""

from __future__ import annotations

import json
import math
from itertools import permutations
from typing import Any, TypeAlias

import numpy as np

from ...base.project import resource
from ...claims import Evidence, Rival, claim, share, short
from ...claims.changed_results import renamed
from ...claims.wrong_runs import WrongRuns, all_ways
from .figures_3_iterations import ALGORITHMS, bound, convergence
from .stored_results import nothing

SCALING = ("benchmarks", "results", "drm-scaling.csv")
#: a wrong run of either figure
EXCHANGED = "the names of the three algorithms are exchanged on each set"
#: seconds by set, algorithm and n
Times: TypeAlias = dict[str, dict[str, dict[float, float]]]


@claim(
    "drm/fig-1",
    kind="experiment",
    where="Figure 1, and Section VII-A4, second paragraph",
    statement="the time per test point is linear in $n$ for all three algorithms; APG is the slowest, PPA "
    "the fastest",
    notebook="drm/04_large_data#drm-fig-1",
    depends=("/".join(SCALING),),
    rivals=(
        Rival(
            "seconds that grow with n as they are, times the root of n",
            swaps={"drm.claims.figures_1_2._times": lambda read: lambda: _grown_faster(read(), 0.5)},
        ),
    ),
)
def check_fig_1() -> Evidence:
    """Read slopes and order from the committed benchmark: 50 iterations, alpha = 1e-3, beta = 1e4."""
    lines = _times()
    sets = [name for name in lines if set(ALGORITHMS) <= set(lines[name])]
    if not sets:
        missing = f"{'/'.join(SCALING)} has no times of the algorithms: `python benchmarks/drm_scaling.py`."
        return Evidence(
            verdict=share(0, 0),
            measured="nothing",
            claimed="slope 1; APG slowest, PPA fastest",
            slack=None,
            why=missing,
            sizes={"sets": 0},
        )
    allowed = bound("slope")
    slopes, parts, told, options = [], [], [], []
    for name in sets:
        last = {}
        for algorithm in ALGORITHMS:
            n, seconds = np.array(sorted(lines[name][algorithm].items())).T
            slopes.append(float(np.polyfit(np.log(n), np.log(seconds), 1)[0]))
            parts.append(abs(slopes[-1] - 1) <= allowed)
            last[algorithm] = float(seconds[-1])
        order = sorted(last, key=lambda algorithm: last[algorithm])
        parts += [order[0] == "PPA", order[-1] == "APG"]
        options.append([(names[0] == "PPA") + (names[-1] == "APG") for names in permutations(order)])
        told.append(f"{name}: {', '.join(f'{a} {1000 * last[a]:.3g} ms' for a in order)}")
    wrong = WrongRuns(all_ways(options).as_well(), EXCHANGED, "as many parts hold")
    return Evidence(
        verdict=wrong.judge(sum(parts), len(parts)),
        measured=f"time grows like n^{min(slopes):.2f} to n^{max(slopes):.2f}; {sum(parts)} of {len(parts)} "
        "parts of the claim hold",
        claimed="n^1; APG slowest, PPA fastest",
        slack=min(allowed - max(abs(slope - 1) for slope in slopes), short(sum(parts), len(parts))),
        why=f"The parts, for each data set: each algorithm's slope is within {allowed:g} of 1, PPA is the "
        f"fastest at the largest n, and APG is the slowest. {wrong} Times per test point: "
        f"{'; '.join(told)}.",
        sizes={"sets": len(sets), "iterations": 50},
    )


def _grown_faster(lines: Times, power: float) -> Times:
    """Return seconds times a power of n."""
    return {
        name: {a: {n: s * n**power for n, s in points.items()} for a, points in own.items()}
        for name, own in lines.items()
    }


def _times() -> Times:
    """Return seconds by set, algorithm and n; empty where the benchmark has not been run."""
    import pandas as pd

    path, found = resource(*SCALING), {}  # type: ignore[var-annotated]
    for row in pd.read_csv(path).to_dict("records") if path.is_file() else ():
        algorithm, _, rest = str(row["what"]).partition(" on ")
        if algorithm in ALGORITHMS and row["x"] == "n":
            name = rest.partition(",")[0]
            found.setdefault(name, {}).setdefault(algorithm, {})[float(row["value"])] = float(row["seconds"])
    return found


@claim(
    "drm/fig-2",
    kind="experiment",
    where="Figure 2, and Section VII-A4, third paragraph",
    statement="on most sets GD needs the fewest iterations and PPA the most, but an iteration of GD costs "
    "more",
    notebook="drm/04_large_data#drm-fig-2",
    depends=("results/drm/fig-3.csv",),
    rivals=(Rival("GD and APG exchanged", swaps=renamed("drm", ["fig-3"], {"GD": "APG", "APG": "GD"})),),
)
def check_fig_2() -> Evidence:
    """Count iterations until the objective is near its exact minimum, on the path of one test point."""
    table = convergence()
    if not table:
        return nothing("GD fewest, PPA most", "fig-3")
    needed = {
        name: {a: arrival(rows[a]["objective_path"]) for a in ALGORITHMS} for name, rows in table.items()
    }
    costs = {
        name: {a: rows[a]["multiplications_printed"] for a in ALGORITHMS} for name, rows in table.items()
    }
    ways = all_ways(
        [
            [_as_told(needed[name], costs[name], *names) for names in permutations(ALGORITHMS)]
            for name in table
        ]
    )
    fewest, most, dearer = map(int, ways.ours)
    sets = len(table)

    def slack(counts: np.ndarray) -> np.ndarray:
        lacking = np.where(counts[:, 2] < sets, counts[:, 2] - float(sets), np.inf)
        return np.asarray(np.minimum(counts[:, :2].min(axis=1) - sets / 2, lacking))

    wrong = WrongRuns(ways.as_well(slack), EXCHANGED, "the slack is as large")
    told = "; ".join(f"{name}: {_listed(count)}" for name, count in needed.items())
    stops = "; ".join(
        f"{name}: {_listed({a: rows[a]['iterations'] for a in ALGORITHMS})}" for name, rows in table.items()
    )
    return Evidence(
        verdict=wrong.judge(sum((2 * fewest > sets, 2 * most > sets, dearer == sets)), 3),
        measured=f"GD needs the fewest on {fewest} of {sets}, PPA the most on {most}; GD's iteration costs "
        f"more on {dearer}",
        claimed="most sets; most sets; all",
        slack=min(float(min(fewest, most) - sets / 2), short(dearer, sets)),
        why=f"Iterations until f - f* has shrunk to {bound('near'):.0e} of its initial value: {told}. A tie "
        "counts for the claim; a set on which two algorithms never get there counts for neither side. "
        f"{wrong} "
        f"Iterations by the paper's stopping rule: {stops}. Costs are our counts of the multiplications in "
        "one iteration as printed.",
        sizes={"sets": sets},
    )


def _as_told(needed: dict[str, float], costs: dict[str, int], gd: str, ppa: str, apg: str) -> list[int]:
    """Return whether GD needs the fewest, PPA the most, and an iteration of GD costs more, by whose they are.

    Parameters
    ----------
    needed, costs : dict
        By algorithm, iterations on one set and multiplications in one of them.
    gd, ppa, apg : str
        The algorithms that have these names.
    """
    counts = [needed[a] for a in (gd, ppa, apg)]
    # two that never arrive are not equal: which of them would be first is not known
    known = counts.count(math.inf) <= 1
    told = known and counts[0] == min(counts), known and counts[1] == max(counts), costs[gd] > costs[ppa]
    return list(map(int, told))


def arrival(path: str) -> float:
    """Return the first iteration at which a stored path of f(w_t) - f* is at its end; inf if there is none.

    >>> arrival("[1.0, 0.1, 1e-9, 1e-9]")
    2
    """
    gap = np.array(json.loads(path), dtype=float)
    there = np.flatnonzero(gap <= bound("near") * gap[0])
    return int(there[0]) if len(there) else math.inf


def _listed(count: dict[str, Any]) -> str:
    return ", ".join(f"{algorithm} {value:g}" for algorithm, value in count.items())
