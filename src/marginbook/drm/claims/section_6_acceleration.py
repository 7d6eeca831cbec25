"""The claims of Section VI-E on the accelerated method: its rate, and what the rate is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.special import j1

from ...claims import Evidence, Rival, at_most, claim, decide, short, times
from ..model.operators import DenseSystem, System
from ..solvers.first_order import accelerated, proximal_point
from ..solvers.iteration import Iterates, objective_values
from .convergence_problems import EPS, trials
from .counted_arithmetic import degree
from .section_6_costs import per_iteration

ITERATIONS = 100
#: iterations of the quadratics that attain the bound, and how many of these there are
HARD, CURVATURES = 400, 60
#: where the Bessel function J_1 is largest, and the sharp constant of APG on quadratics
PEAK = 1.8411837813406593
SHARP = 2 * float(j1(PEAK)) ** 2
#: the backtracking of `_hardest_search`: where b starts, and how much of the largest eigenvector there is
SHORT, LITTLE = 0.99, 0.05
#: what must be reached of the bound with backtracking: 98 % of what those runs reach in the limit
SEARCHED = 0.98 * SHORT * SHARP / 2 / (1 + LITTLE**2)


def _without_momentum(solver: Callable[..., Iterates]) -> Callable[..., Iterates]:
    """Return a swap of the solver: it restarts in every iteration."""

    def plain(
        system: System, Kx: np.ndarray, *, b: float, backtracking: bool = False, **options: Any
    ) -> Iterates:
        for name in ("eta", "restart"):
            options.pop(name, None)
        return proximal_point(system, Kx, c=max(b - system.beta, 0.0), **options)

    return plain


@claim(
    "drm/thm-VI.4",
    kind="proof",
    where="Theorem VI.4",
    statement="from any start Algorithm 6 converges in function values to the minimum with a rate of "
    "$O(1/t^2)$; an iteration costs $O(pn^2)$ with a general kernel and $O(pn)$ with the linear "
    "kernel",
    notebook="drm/02_algorithms#drm-thm-vi-4",
    rivals=(
        Rival("an exponent 2 % larger", {"power": 2.04}),
        Rival("a rate of O(1/t)", {"power": 1.0}),
        Rival("a constant 2 % smaller", {"constant": 0.98 * SHARP}),
        Rival("0.7 b for the constant", {"constant": 0.7}),
        Rival("O(n) with the linear kernel", {"degrees": {"linear": (1, 0), "general": (2, 1)}}),
        Rival("O(n^2) with any kernel", {"degrees": {"linear": (1, 1), "general": (2, 0)}}),
        Rival("O(p n^1.96) with any kernel", {"degrees": {"linear": (1, 1), "general": (1.96, 1)}}),
        Rival("no momentum", swaps={"drm.solvers.first_order.accelerated": _without_momentum}),
        Rival(
            "beta 2 % larger in the gradient", swaps={"drm.model.operators.System.apply_ridged": times(1.02)}
        ),
        Rival("a quarter of the constant with backtracking", {"backtracked": 0.5}),
    ),
)
def check_accelerated(
    constant: float = SHARP,
    power: float = 2.0,
    backtracked: float = 2.0,
    degrees: Mapping[str, tuple[float, float]] = MappingProxyType({"linear": (1, 1), "general": (2, 1)}),
) -> Evidence:
    """Compare f with the bound at every iteration, also where it is attained; and count an iteration."""
    worst, cited, count = -np.inf, 0.0, 0
    for trial in trials(seed=26, repeats=2):
        system = trial.system
        lipschitz, lanczos = trial.largest + system.beta, system.safe_eigenvalue() + system.beta
        variants = ((lanczos, False, 2.0), (4 * lipschitz, False, 2.0), (1.01 * system.beta, True, 2.0))
        for b, backtracking, eta in variants:
            found = accelerated(
                system,
                trial.Kx,
                max_iter=ITERATIONS,
                tol=0.0,
                start=trial.start,
                record=True,
                b=b,
                backtracking=backtracking,
                eta=eta,
            )
            gap = np.array(found.objective_path) - objective_values(system, trial.optimum, trial.Kx)
            largest = max(b, eta * lipschitz) if backtracking else b
            scale = largest * trial.distance**2 / np.arange(1.0, len(gap) + 1)[:, None] ** 2
            # a constant b has the sharp constant; one that grows has that of the cited proof
            bound = (backtracked if backtracking else constant) * scale
            worst = max(
                worst, float(((gap - bound) / trial.rounding)[1:].max()), float((-gap / trial.rounding).max())
            )
            cited = max(cited, float((gap / (2 * scale))[1:].max()))
            count += 3
    reached, sooner = _hardest(constant, power)
    searched = _hardest_search(backtracked)
    counted = _degrees()
    costs = all(counted[kernel] == degrees[kernel] for kernel in counted)
    return Evidence(
        verdict=decide(
            worst <= 1.0
            and 0.98 <= reached <= 1.0
            and sooner <= 1.0
            and SEARCHED <= searched <= 1.0
            and costs
        ),
        measured=f"f - f* is at most {constant:.4f} b |w_0 - w*|^2/(t+1)^{power:g}, and reaches "
        f"{100 * reached:.1f} % of that; with backtracking it is at most {backtracked:g} eta L "
        f"|w_0 - w*|^2/(t+1)^2, of which {100 * searched:.1f} % is reached; the multiplications of an "
        f"iteration have the degrees {counted['general']} in n and p with a general kernel, "
        f"{counted['linear']} with the linear kernel",
        claimed=f"O(1/t^{power:g}); the degrees {degrees['general']} and {degrees['linear']}",
        slack=min(
            1.0 - worst,
            1.0 - reached,
            reached - 0.98,
            1.0 - sooner,
            1.0 - searched,
            searched - SEARCHED,
            short(costs, 1),
        ),
        why="The paper states no constant. The proof it cites has the constant 2, of which "
        f"{100 * max(cited, reached * constant / 2):.0f} % is reached. For quadratics 2 max J_1^2 = "
        f"{SHARP:.4f} takes its place, where J_1 is Bessel's function; whether it can be lowered, {HARD} "
        "iterations from starts along single eigenvectors show. With backtracking, b is at most eta times "
        "the Lipschitz constant, and the constant 2 is checked; the most of it is reached where b starts "
        "just too small. The degrees are exact, from differences of the counts; with a general kernel they "
        "are those of the first iteration, which forms Q.",
        sizes={"runs": count, "iterations": [ITERATIONS, HARD], "curvatures": CURVATURES},
        seeds=(26,),
        reach=min(reached, 1.0),
    )


def _hardest(constant: float, power: float) -> tuple[float, float]:
    """Return the largest share of the bound in the last tenth of many iterations, and in all of them.

    From a start at distance 1 along the eigenvector of lambda the gap at t tends to 2 b J_1(s)^2/t^2 with
    s = t sqrt(lambda/b), so that each curvature is the worst at a time of its own.
    """
    t = np.geomspace(2.0, HARD, CURVATURES)
    curvature = np.minimum((PEAK / t) ** 2, 0.9)
    beta = 1e-12
    system = DenseSystem(np.diag(curvature), (1,) * CURVATURES, 0.0, beta)
    run = accelerated(
        system,
        np.zeros((CURVATURES, CURVATURES)),
        max_iter=HARD,
        tol=0.0,
        start=np.eye(CURVATURES),
        record=True,
        b=1.0,
    )
    times_of = np.arange(1.0, HARD + 2)[:, None]
    with np.errstate(over="ignore"):  # of an iteration that diverges
        shares = (np.array(run.objective_path) / (constant * times_of**-power)).max(axis=1)[1:]
    return float(shares[-HARD // 10 :].max()), float(shares.max())


def _hardest_search(constant: float) -> float:
    """Return the largest share of the bound in runs whose backtracking makes b twice what it need be, nearly.

    The Lipschitz constant is 1. A start along the eigenvector of a small eigenvalue, with a little of that of
    the largest, makes b = 0.99 grow to 1.98 at once; then the gap tends to 2 b J_1(s)^2/t^2 as in `_hardest`.
    """
    curvature = (PEAK / np.geomspace(HARD / 5, HARD, CURVATURES)) ** 2
    n, eta = CURVATURES + 1, 2.0
    system = DenseSystem(np.diag(np.append(curvature, 1.0)), (1,) * n, 0.0, 1e-12)
    start = np.vstack([np.eye(CURVATURES), np.full((1, CURVATURES), LITTLE)])
    run = accelerated(
        system,
        np.zeros((n, CURVATURES)),
        max_iter=HARD,
        tol=0.0,
        start=start,
        record=True,
        b=SHORT,
        backtracking=True,
        eta=eta,
    )
    bound = constant * eta * (1 + LITTLE**2) / np.arange(1.0, HARD + 2)[:, None] ** 2
    with np.errstate(over="ignore"):  # of an iteration that diverges
        return float((np.array(run.objective_path) / bound)[1:].max())


def _degrees() -> dict[str, tuple[float, float]]:
    """Return the exact degrees in n and in p of what one iteration multiplies, with the set-up of Q."""

    def cost(kernel: str, n: int, p: int) -> int:
        row = next(r for r in per_iteration(n, p, 2) if (r.algorithm, r.kernel) == ("APG", kernel))
        return row.described + row.setup if row.same else 0

    return {
        kernel: (
            degree([cost(kernel, n, 2) for n in (4, 8, 12, 16, 20)]),
            degree([cost(kernel, 8, p) for p in (1, 2, 3, 4)]),
        )
        for kernel in ("linear", "general")
    }


@claim(
    "drm/quadratic-wording",
    kind="statement",
    where="Section I, contribution 5, and the end of the second paragraph of Section VI-B",
    statement="APG converges at a rate no worse than linear, and in fact quadratically",
    notebook="drm/02_algorithms#drm-quadratic-wording",
    rivals=(
        Rival("linear for quadratic", {"order": 1.0}),
        Rival("corrected, the square of the rate", {"exponent": 2.0}),
        Rival("corrected, the rate of a restart", {"root": 2.0}),
        Rival("no momentum", swaps={"drm.solvers.first_order.accelerated": _without_momentum}),
        Rival(
            "beta 2 % larger in the gradient", swaps={"drm.model.operators.System.apply_ridged": times(1.02)}
        ),
    ),
)
def check_wording(order: float = 2.0, exponent: float = 1.0, root: float = 1.0) -> Evidence:
    r"""Measure :math:`e_{t+1}/e_t^2`, which quadratic convergence bounds, and compare with a linear rate."""
    growth, steps, excess, restarted, faster, count = 0.0, 0, -np.inf, 0.0, 0.0, 0
    for trial in trials(seed=27, repeats=2):
        if (
            not 1.2 <= trial.kappa <= 100
        ):  # below, everything is fast; above, plain APG does not arrive in time
            continue
        b = trial.largest + trial.system.beta
        height = objective_values(trial.system, trial.optimum, trial.Kx)
        gaps = []
        for restart in (False, True):
            found = accelerated(
                trial.system,
                trial.Kx,
                max_iter=6 * ITERATIONS,
                tol=0.0,
                start=trial.start,
                record=True,
                b=b,
                restart=restart,
            )
            gaps.append(np.array(found.objective_path) - height)
        linear = (1 - trial.kappa ** (-1 / root)) ** (exponent * np.arange(len(gaps[0])))
        for plain, again in zip(*(gap.T for gap in gaps), strict=True):
            # the gap oscillates: what is left for good from t on
            left = np.maximum.accumulate((plain / plain[0])[::-1])[::-1]
            first, last = int(np.argmax(left < 1e-2)), int(np.argmax(left < 1e-8))
            excess = max(
                excess,
                float(np.maximum(plain / plain[0] - linear, -plain / plain[0]).max())
                / (64 * EPS * trial.kappa),
            )
            if last and trial.kappa >= 4:
                ratios = left[1:] / np.maximum(left[:-1], 1e-150) ** order
                early, late = (ratios[(left[1:] > end / 500) & (left[1:] <= end)] for end in (0.2, 2e-7))
                growth = max(growth, float(late.max(initial=0.0) / early.max(initial=1e-300)))
                steps = max(steps, last - first)
                arrived = int(np.argmax(again < 1e-8 * again[0]))
                restarted = max(restarted, (arrived or np.inf) / (np.sqrt(trial.kappa) * np.log(1e8)))
                faster = max(faster, last / (arrived or np.inf))
            count += 1
    return Evidence(
        verdict=decide(growth <= 10.0 and excess <= 1.0, excess <= 1.0 and faster >= 1.5),
        measured=f"while the gap falls from 1e-2 to 1e-8, the ratio e_(t+1)/e_t^{order:g} grows by a factor "
        f"of up to {growth:.0e}, over up to {steps} iterations; the gap exceeds the bound of linear "
        f"convergence by at most {at_most(excess, 1.0)} times the rounding allowed, and with a restart it "
        f"falls as far in up to {faster:.0f} times fewer iterations",
        claimed="a bounded ratio; about two iterations; corrected, a linear rate of "
        + ("(1 - 1/kappa)^t" if root == exponent == 1 else f"(1 - kappa^(-1/{root:g}))^({exponent:g}t)"),
        slack=float(np.log10(10.0 / max(growth, EPS))),
        why="Quadratic convergence, e_(t+1) <= C e_t^2, doubles the digits in every iteration. Theorem VI.4 "
        "proves only f_t - f* <= C/t^2. For 'no worse than linear' the paper gives no argument. The "
        "corrected statement, also checked at every t: on a strongly convex quadratic f_t - f* is at most (1 "
        "- 1/kappa)^t (f_0 - f*), with kappa = b/lambda_min. A restart replaces kappa by its square root: "
        f"the gap falls to 1e-8 within {restarted:.2f} sqrt(kappa) log(1e8) iterations. Slack is in powers "
        "of ten.",
        sizes={"runs": count, "kappa": [1.2, 100], "iterations": 6 * ITERATIONS},
        seeds=(27,),
    )
