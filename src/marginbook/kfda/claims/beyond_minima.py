"""Claims about the minima for q < 1: zero, how one is certified, how many there are, which is found."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...claims import Evidence, Rival, claim, decide, short, times
from ..model.certificates import magnitude_bound, smallest_curvature, stationarity
from ..model.objective import Problem, objective
from ..solvers.irls import ridge_start, step_stable
from .beyond_magnitudes import one_column, stationary_points
from .fixed_points import resting_point
from .local_minima import Minimum, local_minima, no_return, zero_box
from .problems import SMALL_RHOS as RHOS
from .problems import small_problems
from .section_3_stopping import Q
from .swaps import plus

NOTEBOOK = "kfda/03_rates_zeros_minima"
CURVATURE = "kfda.model.certificates.smallest_curvature"
LOCAL = "kfda.claims.local_minima"


@claim(
    "kfda/zero-minimum",
    kind="ours",
    where="Section 2.1, from 'The choice of 0 < q < 1' on; Figure 2",
    statement=r"for $q<1$ and every $\rho>0$ the point $\omega=0$ is a strict local minimum, and (8) "
    "converges to it from every start near enough",
    notebook=f"{NOTEBOOK}#kfda-zero-minimum",
    rivals=[
        Rival("a box four times as wide", swaps={f"{LOCAL}.zero_box": times(4.0)}),
        Rival("a box of no return ten times as wide", swaps={f"{LOCAL}.no_return": times(10.0)}),
    ],
)
def check_zero_minimum() -> Evidence:
    """Draw points of the box, up to its faces; start (8) in the box of no return; compare q = 1."""
    rng = np.random.default_rng(40)
    higher = drawn = ended = started = convex = problems = lowest = 0
    widths = []
    for problem in small_problems(40):
        for q in Q:
            for rho in RHOS:
                box = zero_box(problem, q, rho)
                box = np.minimum(box, 1e6)
                at_zero = objective(problem, np.zeros(len(box)), q, rho)
                for _ in range(40):
                    inside = box * 10.0 ** rng.uniform(-3, 0, len(box)) * rng.choice([-1, 1], len(box))
                    inside *= rng.random(len(box)) < 0.5
                    if inside.any():
                        higher += objective(problem, inside, q, rho) > at_zero
                        drawn += 1
                near = 0.999 * np.minimum(no_return(problem, 0 * box, q, rho), 1e6)
                omega = near * rng.choice([-1, 1], len(box))
                for _ in range(200):
                    omega = step_stable(problem, omega, q, rho)
                ended += bool(np.abs(omega).max() < 1e-100)
                started += 1
                widths.append(near.min())
                lowest += local_minima(problem, q, rho)[0].support == ()
                convex += bool(np.abs(problem.correlations).max() <= rho * problem.n)
                problems += 1
    return Evidence(
        verdict=decide(higher == drawn and ended == started),
        measured=f"J exceeds J(0) at {higher} of {drawn} points of the box |omega_i| < (rho "
        f"N/|c_i|)^(1/(1-q)); from the box of no return, whose smallest half-width is {min(widths):.0e} to "
        f"{max(widths):.1g}, (8) converges to zero in {ended} of {started} runs; zero is the lowest of all "
        f"minima in {lowest} of {problems} problems; for q = 1 it would be a minimum in {convex}",
        claimed="always",
        slack=float(higher - drawn + ended - started + 1),
        why="J(omega) - J(0) is at least sum_i (rho N |omega_i|^q - |c_i omega_i|), and each term is "
        "positive in the box. So zero is a local minimum whatever the data; a small rho makes the box small "
        "but never empty. The box of no return replaces c_i by |d_i||yhat| and has a factor q.",
        sizes={"problems": problems, "N": 5, "q": list(Q), "rho": list(RHOS)},
        seeds=(40,),
    )


@claim(
    "kfda/certificate",
    kind="ours",
    where="Section 3, (8), for q < 1",
    statement="for $q<1$ a point that is stationary on its support, with a positive definite Hessian "
    r"there, is a strict local minimum of $J$ among all $\omega$; with a negative eigenvalue it "
    "is not a local minimum",
    notebook=f"{NOTEBOOK}#kfda-certificate",
    rivals=[
        Rival("with an eigenvalue above -0.02", swaps={CURVATURE: plus(0.02)}),
        Rival("with a negative definite Hessian", swaps={CURVATURE: times(-1.0)}),
    ],
)
def check_certificate() -> Evidence:
    """Perturb certified points in all coordinates; find them among all minima; go down from the others."""
    rng = np.random.default_rng(42)
    raised = tried = listed = certified = lower = saddles = 0
    for whole in small_problems(42):
        for q in Q:
            for rho in RHOS:
                near = [one_column(q, rho, 0.3, factor, magnitude_bound) for factor in (0.97, 1.03)]
                cases = [(one, np.array([0.0, size]), local_minima(one, q, rho)) for one, size in near]
                minima = local_minima(whole, q, rho)
                cases += [(whole, point, minima) for point in stationary_points(whole, q, rho, rng)]
                for problem, point, minima in cases:
                    curvature = smallest_curvature(problem, point, q, rho)
                    if abs(curvature) < 1e-6 or stationarity(problem, point, q, rho) > 1e-8:
                        continue
                    value = objective(problem, point, q, rho)
                    if curvature > 0:
                        certified += 1
                        listed += is_listed(point, minima)
                        # rounding hides what J gains beside a point whose curvature is nearly 0
                        for _ in range(10 if problem is whole else 0):
                            h = perturbation(problem, point, q, rho, rng, min(1.0, curvature))
                            raised += objective(problem, point + h, q, rho) > value
                            tried += 1
                    else:
                        saddles += 1
                        lower += descends(problem, point, q, rho)
    return Evidence(
        verdict=decide(raised == tried and listed == certified and lower == saddles),
        measured=f"J rises at {raised} of {tried} random neighbours of {certified} certified points, and "
        f"{listed} of these points are in the list of all minima; J decreases from {lower} of {saddles} "
        "points with a negative eigenvalue",
        claimed="a minimum if and only if the certificate is positive",
        slack=float(raised - tried + listed - certified + lower - saddles + 1),
        why="At zero the penalty has infinite slope, so leaving zero costs more than a better fit gains "
        "nearby. What remains is the smooth problem on the support. Two numbers, the residual of "
        "stationarity and the smallest eigenvalue, prove that a solver's answer is a local minimum. They "
        "do not prove that it is the lowest.",
        sizes={"certified": certified, "saddles": saddles, "N": 5, "q": list(Q), "rho": list(RHOS)},
        seeds=(42,),
    )


def perturbation(
    problem: Problem, omega: np.ndarray, q: float, rho: float, rng: np.random.Generator, curvature: float
) -> np.ndarray:
    """Return a random step that is small against the support's coefficients, and smaller still at zeros."""
    size = 1e-3 * curvature * np.abs(omega)
    zeros = omega == 0
    steep = np.abs(problem.design.T @ (problem.yhat - problem.design @ omega)) + np.sqrt(
        problem.squared_norms * problem.energy
    )
    # so near to zero the penalty wins against any slope of the fit
    size[zeros] = 0.5 * np.minimum((rho * problem.n / steep[zeros]) ** (1 / (1 - q)), 1.0)
    chosen = rng.random(len(omega)) < rng.uniform(0.2, 1.0)
    chosen[rng.integers(len(omega))] = True
    return size * rng.uniform(-1, 1, len(omega)) * chosen


def is_listed(point: np.ndarray, minima: list[Minimum]) -> bool:
    """Return whether `point` is one of the minima, to 1e-6 of its size."""
    scale = max(float(np.abs(point).max(initial=0.0)), 1e-9)
    return any(np.abs(point - minimum.omega).max() <= 1e-6 * scale for minimum in minima)


def descends(problem: Problem, point: np.ndarray, q: float, rho: float) -> bool:
    """Return whether J falls from a stationary point along the eigenvector of its smallest curvature."""
    kept = np.flatnonzero(point)
    psi = np.abs(point[kept]) ** (1 - q / 2)
    scaled = psi[:, None] * problem.gram[np.ix_(kept, kept)] * psi
    direction = psi * np.linalg.eigh(scaled)[1][:, 0]
    value = objective(problem, point, q, rho)
    for size in (1e-1, 1e-2, 1e-3):
        reach = size * np.min(np.abs(point[kept]) / np.maximum(np.abs(direction), 1e-300))
        for sign in (1, -1):
            step = np.zeros_like(point)
            step[kept] = sign * reach * direction
            if objective(problem, point + step, q, rho) < value:
                return True
    return False


def ridge(problem: Problem, q: float, rho: float, rng: np.random.Generator) -> np.ndarray:
    """The minimiser for q = 2."""
    return ridge_start(problem, rho)


def least_squares(problem: Problem, q: float, rho: float, rng: np.random.Generator) -> np.ndarray:
    """The shortest of the best fits, as far as they are determined to five digits."""
    return np.asarray(np.linalg.pinv(problem.design, rcond=1e-5) @ problem.yhat)


def at_random(problem: Problem, q: float, rho: float, rng: np.random.Generator) -> np.ndarray:
    """Normal numbers of the length of the least-squares solution."""
    omega = rng.normal(size=problem.n_coefficients)
    length = np.linalg.norm(least_squares(problem, q, rho, rng))
    return np.asarray(omega * length / np.linalg.norm(omega))


def lasso(problem: Problem, q: float, rho: float, rng: np.random.Generator) -> np.ndarray:
    """The minimiser for q = 1, zeros included."""
    omega = ridge_start(problem, rho)
    for _ in range(300):
        omega = step_stable(problem, omega, 1.0, rho)
    return np.where(np.abs(omega) > 1e-6 * np.abs(omega).max(), omega, 0.0)


def falling_power(problem: Problem, q: float, rho: float, rng: np.random.Generator) -> np.ndarray:
    """From the ridge solution, q falls from 1 in ten stages of a few steps each."""
    omega = ridge_start(problem, rho)
    for power in np.linspace(1.0, q, 10):
        for _ in range(10):
            omega = step_stable(problem, omega, float(power), rho)
    return omega


def rising_penalty(problem: Problem, q: float, rho: float, rng: np.random.Generator) -> np.ndarray:
    """From the ridge solution, rho rises to its value from a hundredth of it."""
    omega = ridge_start(problem, rho)
    for weight in rho * np.geomspace(1e-2, 1, 10):
        for _ in range(10):
            omega = step_stable(problem, omega, q, float(weight))
    return omega


#: share of the supports that "nearly so many" asks for
MANY = 0.8
Start = Callable[[Problem, float, float, np.random.Generator], np.ndarray]
#: where (8) may start
STARTS: dict[str, Start] = {
    "ridge": ridge,
    "least squares": least_squares,
    "random": at_random,
    "lasso": lasso,
    "falling q": falling_power,
    "rising rho": rising_penalty,
}


@claim(
    "kfda/many-minima",
    kind="ours",
    where="Section 2.1, from 'The choice of 0 < q < 1' on; Figure 2",
    statement="for $q<1$ there is at most one local minimum for each set of retained coefficients, so at "
    r"most $2^{N+1}$, and for small $\rho$ there are nearly as many; (8) from the ridge "
    "solution need not find the lowest",
    notebook=f"{NOTEBOOK}#kfda-many-minima",
    rivals=[Rival("on all supports", {"share": 1.0})],
)
def check_many_minima(share: float = MANY) -> Evidence:
    """Enumerate the minima over all supports and signs; see which one (8) finds from each start."""
    rng = np.random.default_rng(43)
    counts: dict[float, list[int]] = {rho: [] for rho in RHOS}
    excess: dict[str, list[float]] = {name: [] for name in STARTS}
    once = listed = limits = total = supports_in_all = 0
    for problem in small_problems(43):
        supports_in_all = 2**problem.n_coefficients
        for q in Q:
            for rho in RHOS:
                minima = local_minima(problem, q, rho)
                supports = [minimum.support for minimum in minima]
                once += len(supports) == len(set(supports))
                counts[rho].append(len(minima))
                best = minima[0].objective
                for name, make in STARTS.items():
                    limit = resting_point(problem, q, rho, start=make(problem, q, rho, rng))
                    if limit is not None:
                        excess[name].append(objective(problem, limit, q, rho) / best - 1)
                        listed += is_listed(limit, minima)
                        limits += 1
                total += 1
    found = {name: np.mean(np.array(values) <= 1e-6) for name, values in excess.items()}
    above = {name: np.mean(values) for name, values in excess.items()}
    ridge_misses = float(1 - found["ridge"])
    many = float(np.mean(counts[min(RHOS)])) / supports_in_all
    always = ", ".join(name for name in STARTS if found[name] == 1) or "none"
    return Evidence(
        verdict=decide(once == total and listed == limits and many >= share and ridge_misses > 0),
        measured=f"minima of {supports_in_all} supports: "
        + ", ".join(f"{np.mean(v):.0f} on average for rho = {rho:g}" for rho, v in counts.items())
        + f"; at most one per support in {once} of {total} problems; {listed} of {limits} limits of (8) are "
        "among them; share of cases in which a start leads to the lowest minimum: "
        + ", ".join(
            f"{name} {100 * found[name]:.0f} % (J {100 * above[name]:.0f} % too high)" for name in STARTS
        ),
        claimed=f"at most one per support; one on {100 * share:.0f} % of the supports for the smallest rho; "
        "no other limits",
        slack=min(ridge_misses, many - share, short(once, total), short(listed, limits)),
        why="In one orthant the points with a positive semidefinite Hessian form a convex set on which J is "
        "convex. Two orthants of a support cannot both contain a minimum, as the difference of the two "
        "gradients shows. So all minima of a small problem can be listed, and the lowest one is known. "
        f"Starts that lead to it in all cases: {always}.",
        sizes={"problems": total, "N": 5, "q": list(Q), "rho": list(RHOS)},
        seeds=(43,),
    )
