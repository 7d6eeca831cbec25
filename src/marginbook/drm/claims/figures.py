"""The claims about the figures: speed and convergence (1 to 3), the worth of the within-class term (4, 5).

The figures print no numbers. What the text reads off them is checked on ours.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.project import resource
from ...claims import Evidence, Rival, claim, share
from .results import LEVEL, not_run, paired, protocol, results

if TYPE_CHECKING:
    import pandas as pd

SCALING = ("benchmarks", "results", "drm-scaling.csv")
ALGORITHMS = ("GD", "PPA", "APG")
#: share of the first distance to the optimum at which an algorithm has arrived
ARRIVED = 1e-6
#: a slope of time over n, in logarithms, this near to 1 is linear
SLOPE = 0.2
#: a curve is "almost always" above at this share of its points
ALMOST = 0.9
#: "a few iterations"
FEW = 10
#: "a few tens": what Figure 1 fixes
TENS = 50
#: columns of the convergence results: iterations at a beta
PER_BETA = "iterations_"


@claim(
    "drm/fig-1",
    kind="experiment",
    where="Figure 1, and Section VII-A4, second paragraph",
    statement="the time of a test point is linear in n for all three algorithms; APG takes most, PPA least",
    notebook="drm/04_large_data#drm-fig-1",
    depends=("/".join(SCALING),),
)
def check_fig_1() -> Evidence:
    """Read slopes and order from the committed benchmark: 50 iterations, alpha = 1e-3, beta = 1e4."""
    lines = _times()
    sets = [name for name in lines if set(ALGORITHMS) <= set(lines[name])]
    if not sets:
        missing = f"{'/'.join(SCALING)} has no times of the algorithms: `python benchmarks/drm_scaling.py`."
        return Evidence(share(0, 0), "nothing", "slope 1; APG most, PPA least", None, missing, {"sets": 0})
    slopes, parts, told = [], [], []
    for name in sets:
        last = {}
        for algorithm in ALGORITHMS:
            n, seconds = np.array(sorted(lines[name][algorithm].items())).T
            slopes.append(float(np.polyfit(np.log(n), np.log(seconds), 1)[0]))
            parts.append(abs(slopes[-1] - 1) <= SLOPE)
            last[algorithm] = float(seconds[-1])
        order = sorted(last, key=lambda algorithm: last[algorithm])
        parts += [order[0] == "PPA", order[-1] == "APG"]
        told.append(f"{name}: {', '.join(f'{a} {1000 * last[a]:.3g} ms' for a in order)}")
    return Evidence(
        share(sum(parts), len(parts)),
        f"time grows like n^{min(slopes):.2f} to n^{max(slopes):.2f}; {sum(parts)} of {len(parts)} hold",
        "n^1; APG most, PPA least",
        SLOPE - max(abs(slope - 1) for slope in slopes),
        f"For each set: three slopes within {SLOPE} of 1, the cheapest and the dearest algorithm at the "
        f"largest n. Per test point, {'; '.join(told)}.",
        {"sets": len(sets), "iterations": 50},
    )


def _times() -> dict[str, dict[str, dict[float, float]]]:
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
    statement="on most sets GD needs the fewest iterations and PPA the most; an iteration of GD costs more",
    notebook="drm/04_large_data#drm-fig-2",
    depends=("results/drm/fig-3.csv",),
)
def check_fig_2() -> Evidence:
    """Count iterations until the objective is near its exact minimum, on the path of one test point."""
    table = _convergence()
    if not table:
        return Evidence(share(0, 0), "nothing", "GD fewest, PPA most", None, not_run("fig-3"), {"sets": 0})
    needed = {
        name: {a: arrival(rows[a]["objective_path"]) for a in ALGORITHMS} for name, rows in table.items()
    }
    # two that never arrive are not equal: which of them would be first is not known
    known = [count for count in needed.values() if list(count.values()).count(math.inf) <= 1]
    fewest = sum(count["GD"] == min(count.values()) for count in known)
    most = sum(count["PPA"] == max(count.values()) for count in known)
    dearer = sum(
        rows["GD"]["multiplications_printed"] > rows["PPA"]["multiplications_printed"]
        for rows in table.values()
    )
    sets = len(table)
    told = "; ".join(f"{name}: {_listed(count)}" for name, count in needed.items())
    stops = "; ".join(
        f"{name}: {_listed({a: rows[a]['iterations'] for a in ALGORITHMS})}" for name, rows in table.items()
    )
    return Evidence(
        share(sum((2 * fewest > sets, 2 * most > sets, dearer == sets)), 3),
        f"GD needs the fewest on {fewest} of {sets}, PPA the most on {most}; GD's iteration costs more on "
        f"{dearer}",
        "most sets; most sets; all",
        float(min(fewest, most) - sets / 2),
        f"Iterations until f - f* is {ARRIVED:.0e} of what it was, ties counting for the claim, a set on "
        f"which two never arrive for neither side: {told}. By the paper's rule of stopping: {stops}. Costs "
        "are the printed multiplications, counted.",
        {"sets": sets},
    )


def arrival(path: str) -> float:
    """Return the first iteration at which a stored path of f(w_t) - f* is at its end; inf if there is none.

    >>> arrival("[1.0, 0.1, 1e-9, 1e-9]")
    2
    """
    gap = np.array(json.loads(path), dtype=float)
    there = np.flatnonzero(gap <= ARRIVED * gap[0])
    return int(there[0]) if len(there) else math.inf


def _listed(count: dict[str, Any]) -> str:
    return ", ".join(f"{algorithm} {value:g}" for algorithm, value in count.items())


@claim(
    "drm/fig-3",
    kind="experiment",
    where="Figure 3, and Section VII-A4, third paragraph",
    statement="the larger beta, the fewer iterations of GD, PPA and APG; a few suffice where it is large",
    notebook="drm/04_large_data#drm-fig-3",
    depends=("results/drm/fig-3.csv",),
)
def check_fig_3() -> Evidence:
    """Follow the iterations over beta, for each set and algorithm, by the paper's rule of stopping."""
    table = _convergence()
    if not table:
        return Evidence(share(0, 0), "nothing", "fewer; a few", None, not_run("fig-3"), {"sets": 0})
    parts, ends, left = [], [], []
    names = next(iter(table.values()))[ALGORITHMS[0]]
    betas = sorted((name.removeprefix(PER_BETA) for name in names if name.startswith(PER_BETA)), key=float)
    for rows in table.values():
        for algorithm in ALGORITHMS:
            row = rows[algorithm]
            counts = np.array([row[PER_BETA + beta] for beta in betas])
            parts += [bool((np.diff(counts) <= 0).all()), bool(counts[-1] <= FEW)]
            ends.append((counts[0], counts[-1]))
            left.append(row[f"kkt_residual_{betas[-1]}"])
    first, last = (max(values) for values in zip(*ends, strict=True))
    return Evidence(
        share(sum(parts), len(parts)),
        f"{sum(parts)} of {len(parts)} hold; at most {first:g} iterations at beta = {betas[0]}, at "
        f"most {last:g} at {betas[-1]}",
        f"never more iterations with larger beta; at most {FEW} at the largest",
        float(FEW - last),
        "For each set and algorithm: mean iterations never rise with beta, and are few at the largest. The "
        "rule that stops them looks at the length of a step, and with large beta all weights are small: the "
        f"relative gradient left there is up to {max(left):.1e}.",
        {"sets": len(table), "betas": len(betas)},
    )


def _convergence() -> dict[str, dict[str, dict[str, Any]]]:
    """Return the results by set and algorithm, of sets that have all three; empty before any."""
    frame = results("fig-3")
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for row in frame.to_dict("records") if frame is not None else ():
        found.setdefault(str(row["dataset"]), {})[str(row["method"])] = {str(k): v for k, v in row.items()}
    return {name: rows for name, rows in found.items() if set(ALGORITHMS) <= set(rows)}


@claim(
    "drm/tens-of-iterations",
    kind="experiment",
    where="Section VII, second paragraph",
    statement="all three algorithms usually converge within a few tens of iterations",
    notebook="drm/04_large_data#drm-tens-of-iterations",
    depends=("results/drm/fig-3.csv", "results/drm/table-5.csv"),
    rivals=(
        Rival("within ten", {"tens": 10}),
        Rival("always", {"usually": 1.0}),
    ),
)
def check_tens(tens: int = TENS, usually: float = 0.5) -> Evidence:
    """Count the iterations by the paper's rule of stopping, over beta and with the parameters of Table V."""
    table, chosen = _convergence(), results("table-5")
    if not table:
        return Evidence(share(0, 0), "nothing", "usually", None, not_run("fig-3"), {"sets": 0})
    over = {
        algorithm: [
            float(value) <= tens
            for rows in table.values()
            for name, value in rows[algorithm].items()
            if name.startswith(PER_BETA)
        ]
        for algorithm in ALGORITHMS
    }
    shares = {algorithm: sum(few) / len(few) for algorithm, few in over.items()}
    parts = [value > usually or value == 1 for value in shares.values()]
    other = "not run"
    if chosen is not None and "iterations_mean" in chosen:
        means = {
            a: chosen.loc[chosen["method"] == f"DRM-{a}", "iterations_mean"].dropna() for a in ALGORITHMS
        }
        other = "; ".join(f"{a} {', '.join(f'{value:.0f}' for value in means[a])}" for a in ALGORITHMS)
    return Evidence(
        share(sum(parts), len(parts)),
        f"at most {tens} iterations: "
        + ", ".join(f"{algorithm} in {sum(few)} of {len(few)}" for algorithm, few in over.items()),
        "usually, all three",
        min(shares.values()) - usually,
        f"A step of at most 1e-5 ends the iteration. A few tens are at most {tens}: the paper's own number "
        "of iterations "
        "for Figure 1, said to guarantee convergence; usually is more than half of the sets and betas of "
        "Figure 3.",
        {"sets": len(table), "betas": len(over["GD"]) // len(table)},
        reading="Over the betas of Figure 3. With the parameters that cross-validation chooses for Table "
        "V, the mean "
        f"iterations are {other}.",
    )


@claim(
    "drm/fig-4",
    kind="experiment",
    where="Figure 4, and Section VII-C",
    statement="with all parameters by cross-validation the DRM is better than kernel ridge regression",
    notebook="drm/06_ablation#drm-fig-4",
    depends=("results/drm/table-8.csv",),
)
def check_fig_4() -> Evidence:
    """Test our results of Table VIII, for each kernel: ahead on most sets, and significantly."""
    frame = results("table-8")
    wanted = {f"{model}({kernel})" for model in ("DRM", "KRR") for kernel in "RP"}
    if frame is None or not wanted <= set(frame["method"]):
        return Evidence(share(0, 0), "nothing", "DRM above KRR", None, not_run("table-8"), {"sets": 0})
    groups = frame.groupby(["dataset", "method"])
    rules = {
        "paper": groups[list(protocol("table-8").better_of)].mean().max(axis=1).unstack(),
        "honest": groups["g_mean"].mean().unstack(),
    }
    tests = {
        (rule, kernel): paired(scores[f"DRM({kernel})"], scores[f"KRR({kernel})"])
        for rule, scores in rules.items()
        for kernel in "RP"
    }
    parts = []
    for kernel in "RP":
        higher, _, pairs, mean, p = tests["paper", kernel]
        parts += [2 * higher > pairs, mean > 0 and p < LEVEL]
    told = {
        rule: "; ".join(
            f"({kernel}) {higher} higher, {lower} lower of {pairs}, mean {mean:+.3f}, p = {p:.2g}"
            for (of, kernel), (higher, lower, pairs, mean, p) in tests.items()
            if of == rule
        )
        for rule in rules
    }
    return Evidence(
        share(sum(parts), len(parts)),
        ", ".join("({0}) higher on {1} of {3}".format(k, *tests["paper", k]) for k in "RP"),
        "DRM above KRR, both kernels",
        float(min(tests["paper", kernel][3] for kernel in "RP")),
        f"For each kernel: ahead on most sets, and Wilcoxon's p below {LEVEL}. By the paper's rule "
        f"{told['paper']}. With scaling chosen in training {told['honest']}. The DRM has seven values of "
        "alpha to choose from for each of KRR's tries. Slack is the smaller mean difference.",
        {"sets": tests["paper", "R"][2], "splits": 5},
    )


@claim(
    "drm/fig-5",
    kind="experiment",
    where="Figure 5, and Section VII-C",
    statement="at each beta, the others chosen best, the DRM is almost always above kernel ridge regression",
    notebook="drm/06_ablation#drm-fig-5",
    depends=("results/drm/fig-5.csv",),
)
def check_fig_5() -> Evidence:
    """Count the points of the curves, for both kernels and both readings of best."""
    frame = results("fig-5")
    counts = {} if frame is None else curve_counts(frame)
    if not counts:
        return Evidence(share(0, 0), "nothing", "almost always", None, not_run("fig-5"), {"sets": 0})
    shares = {key: count[0] / sum(count) for key, count in counts.items()}
    told = "; ".join(
        f"({kernel}) {reading} {above} above, {equal} equal, {below} below"
        for (kernel, reading), (above, equal, below) in counts.items()
    )
    by_reading = {
        reading: sum(value >= ALMOST for (_, at), value in shares.items() if at == reading)
        for reading in ("best", "chosen")
    }
    best = max(by_reading, key=lambda reading: by_reading[reading])
    own = [value for (_, at), value in shares.items() if at == best]
    return Evidence(
        share(by_reading[best], len(own)),
        ", ".join(f"({kernel}) {reading} {100 * value:.0f} %" for (kernel, reading), value in shares.items()),
        "almost always above",
        min(own) - ALMOST,
        f"Points are sets and betas, means over the folds: {told}. Almost always is at least "
        f"{100 * ALMOST:.0f} % of the "
        "points, and a point where both are equal is not above.",
        {"points": max(sum(count) for count in counts.values()), "splits": 5},
        reading=f"The other parameters {best}: 'best' is on the test fold, a choice that no user has, "
        "'chosen' by "
        f"leave-one-out. Almost always for {by_reading['best']} of {len(own)} kernels by the one, for "
        f"{by_reading['chosen']} by the other.",
    )


def curve_counts(frame: pd.DataFrame) -> dict[tuple[str, str], tuple[int, int, int]]:
    """Return, by kernel and reading, at how many (set, beta) the DRM is above, equal to, below kernel ridge.

    Parameters
    ----------
    frame : DataFrame
        Results of Figure 5: `best_...` and `chosen_...` for each beta.
    """
    counts = {}
    for kernel in "RP":
        drm, krr = (frame[frame["method"] == f"{model}({kernel})"] for model in ("DRM", "KRR"))
        for reading in ("best", "chosen"):
            wanted = [name for name in frame.columns if name.startswith(f"{reading}_")]
            means = (side.groupby("dataset")[wanted].mean() for side in (drm, krr))
            first, second = means
            gap = (first - second).to_numpy()
            gap = gap[~np.isnan(gap)]
            tiny = 1e-9  # means of equal scores may differ in the last bits
            above, below = int((gap > tiny).sum()), int((gap < -tiny).sum())
            if len(gap):
                counts[kernel, reading] = (above, len(gap) - above - below, below)
    return counts
