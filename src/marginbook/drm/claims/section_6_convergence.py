r"""The claims of Section VI about gradient descent and the proximal point iteration.

Those about the accelerated method are in :mod:`marginbook.drm.claims.section_6_acceleration`, those about
costs in :mod:`marginbook.drm.claims.section_6_costs` and :mod:`marginbook.drm.claims.section_6_low_rank`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from ...claims import Evidence, Rival, at_most, claim, decide, returns, times
from ..model.operators import DenseSystem, LinearSystem, System
from ..solvers.first_order import gradient_descent, proximal_point
from ..solvers.iteration import Iterates, objective_values
from .convergence_problems import EPS, Trial, tight, trials
from .problems import problems

ITERATIONS = 100
Solver: TypeAlias = Callable[..., Iterates]
#: a bound is attained where this share of it is reached: less than 2 % are left
ATTAINED = 0.99
#: a rate that problems have in common is below this
COMMON = 0.99


@claim(
    "drm/thm-VI.1",
    kind="proof",
    where="Theorem VI.1",
    statement="from any start Algorithm 3 converges in function values to the unique minimum of $f$ with a "
    "linear rate",
    notebook="drm/02_algorithms#drm-thm-vi-1",
    rivals=(
        Rival("a rate with an exponent 2 % larger", {"power": 2.04}),
        Rival("the rate of half as many iterations", {"power": 1.0}),
        Rival("the square root of kappa", {"root": 2.0}),
        Rival("kappa 2 % smaller", {"kappa_times": 0.98}),
        Rival("beta 2 % larger in the gradient", swaps={"drm.model.operators.System.apply_ridged": times(1.02)}),
        Rival("a limit 2 % off", swaps={"drm.solvers.direct.ClosedForm.weights": times(1.02)}),
    ),
)
def check_gradient_descent(power: float = 2.0, root: float = 1.0, kappa_times: float = 1.0) -> Evidence:
    r"""Compare f with :math:`(\frac{\kappa-1}{\kappa+1})^{2t}` at every iteration; one of three starts attains it."""
    worst, reached, count, largest = -np.inf, 0.0, 0, 0.0
    for trial in trials(seed=20, repeats=2):
        found = gradient_descent(
            trial.system, trial.Kx, max_iter=ITERATIONS, tol=0.0, start=trial.start, record=True
        )
        gap = np.array(found.objective_path) - objective_values(trial.system, trial.optimum, trial.Kx)
        kappa = trial.kappa
        claimed = max(kappa_times * kappa, 1.0) ** (1 / root)
        bound = ((claimed - 1) / (claimed + 1)) ** (power * np.arange(len(gap)))[:, None]
        # in units of what rounding does to f; kappa enters because the start of a bad problem is far away
        excess = (gap / gap[0] - bound) / (64 * EPS * kappa)
        # no value is below the minimum, either
        worst = max(worst, float(excess[1:].max()), float((-gap / gap[0]).max() / (64 * EPS * kappa)))
        if kappa < 1e4:
            seen = np.flatnonzero((bound[:, 0] > 1e-4) & (bound[:, 0] < 0.5))  # where the exponent shows
            reached = max(reached, float(np.max(gap[seen] / gap[0] / bound[seen], initial=0.0)))
        count, largest = count + 3, max(largest, kappa)
    return Evidence(
        decide(worst <= 1.0 and reached >= ATTAINED),
        f"f - f* exceeds ((kappa-1)/(kappa+1))^(2t) times f_0 - f* at any of {ITERATIONS} iterations by at most "
        f"{at_most(worst, 1.0)} times the rounding allowed; it comes to {100 * reached:.4f} % of that bound",
        "a linear rate",
        1.0 - worst,
        "The theorem states the rate without its constant; this one follows from strong convexity and "
        "Kantorovich's inequality, and is attained from the worst start, so no better one is true. The "
        "argument that the paper gives: drm/thm-VI.1-proof. Allowed for rounding: 64 eps kappa (f_0 - f*).",
        {"runs": count, "iterations": ITERATIONS, "largest kappa": float(f"{largest:.1e}")},
        (20,),
        reach=min(reached, 1.0),
    )


@claim(
    "drm/thm-VI.1-proof",
    kind="proof",
    where="Theorem VI.1, proof",
    statement=r"the linear rate of gradient descent follows from a rate of $O(1/t)$ of its values",
    notebook="drm/02_algorithms#drm-thm-vi-1",
    rivals=(
        Rival("problems of one condition number alone", {"betas": (0.1,)}),
        Rival("mended, a step with an exponent 2 % larger", {"power": 2.04}),
        Rival("mended, kappa 2 % smaller", {"kappa_times": 0.98}),
        Rival("beta 2 % larger in the gradient", swaps={"drm.model.operators.System.apply_ridged": times(1.02)}),
    ),
)
def check_argument(
    betas: tuple[float, ...] = (1e-1, 1e-2, 1e-3, 1e-4), power: float = 2.0, kappa_times: float = 1.0
) -> Evidence:
    """Follow problems with one constant in O(1/t), and look at single steps, on which a proof can rest."""
    slowest, constant = 0.0, 0.0
    for beta in betas:
        system = DenseSystem(np.diag([1.0, 0.0]), (1, 1), 0.0, beta)
        start = np.array([[1 / (1 + beta)], [1 / beta]])  # the worst, for K_x = 0
        start /= np.linalg.norm(start)
        path = gradient_descent(
            system, np.zeros((2, 1)), max_iter=ITERATIONS, tol=0.0, record=True, start=start
        ).objective_path
        gap = np.array(path)[:, 0]
        constant = max(constant, float((np.arange(1, len(gap)) * gap[1:]).max()))
        slowest = max(slowest, float((gap[1:] / gap[:-1])[:5].max()))
    worst, reached = -np.inf, 0.0
    for trial in trials(seed=29, repeats=1):
        found = gradient_descent(trial.system, trial.Kx, max_iter=20, tol=0.0, start=trial.start, record=True)
        gap = np.array(found.objective_path) - objective_values(trial.system, trial.optimum, trial.Kx)
        kappa = max(kappa_times * trial.kappa, 1.0)
        step = ((kappa - 1) / (kappa + 1)) ** power
        excess = np.maximum(gap[1:] - step * gap[:-1], -gap[1:])  # no value is below the minimum, either
        worst = max(worst, float((excess / (64 * EPS * trial.kappa * gap[0])).max()))
        if 1.5 < trial.kappa < 1e4:
            reached = max(reached, float((gap[1] / gap[0]).max() / step))
    return Evidence(
        decide(slowest <= COMMON, worst <= 1.0 and reached >= ATTAINED),
        f"with f_t - f* at most {constant:.2f} |w_0 - w*|^2 / t in all of {len(betas)} problems, a step leaves up "
        f"to {100 * slowest:.2f} % of it",
        "one rate below 1",
        COMMON - slowest,
        "The problems Q = diag(1, 0) with beta falling to 1e-4 have one constant in O(1/t), and linear rates "
        f"as near to 1 as one likes (a rate below {COMMON:g} would do): O(1/t) is true of functions that are not "
        "strongly convex, too. True once corrected: since f is strongly convex, every single step multiplies "
        "f - f* by at most ((kappa-1)/(kappa+1))^2, by Kantorovich's inequality; that is what the theorem "
        f"needs, and it is attained to {100 * min(reached, 1.0):.2f} %.",
        {"problems": len(betas), "iterations": ITERATIONS},
        (29,),
        reach=min(reached, 1.0),
    )


def _constants(trial: Trial, share: float = 1.0) -> tuple[float, float, float]:
    """Three values of c: the largest eigenvalue, what Lanczos and a margin give, and (20); or a share of them."""
    three = (trial.largest * (1 + 64 * EPS), trial.system.safe_eigenvalue(), trial.system.bound())
    return three[0] * share, three[1] * share, three[2] * share


def _followed(trial: Trial, c: float) -> Iterates:
    """Run PPA for a fixed number of iterations and keep its paths."""
    return proximal_point(
        trial.system,
        trial.Kx,
        max_iter=ITERATIONS,
        tol=0.0,
        start=trial.start,
        record=True,
        optimum=trial.optimum,
        c=c,
    )


def _other_ridge(factor: float) -> Callable[[Solver], Solver]:
    """Return a swap of a solver: it solves with `factor` times beta, and forgets it afterwards."""

    def swap(solver: Solver) -> Solver:
        def solved(system: System, Kx: np.ndarray, **options: Any) -> Iterates:
            right = system.beta
            system.beta = factor * right
            try:
                return solver(system, Kx, **options)
            finally:
                system.beta = right

        return solved

    return swap


@claim(
    "drm/thm-VI.2",
    kind="proof",
    where="Theorem VI.2",
    statement=r"from any start Algorithm 4 gives values of $f$ that never increase and converge to the minimum, "
    r"and its points converge to $w^\star$",
    notebook="drm/02_algorithms#drm-thm-vi-2",
    rivals=(
        Rival("any c from 0.49 sigma_max", {"share": 0.49}),
        Rival("a fall of 2 % in every step", {"fall": 0.02}),
        Rival("a limit 2 % off", swaps={"drm.solvers.direct.ClosedForm.weights": times(1.02)}),
        Rival("beta counted twice", swaps={"drm.solvers.first_order.proximal_point": _other_ridge(2.0)}),
        Rival("beta 2 % smaller", swaps={"drm.solvers.first_order.proximal_point": _other_ridge(0.98)}),
    ),
)
def check_monotone(share: float = 1.0, fall: float = 0.0) -> Evidence:
    """Measure the largest rise of f in a step, and the distance that is left where the rate is fast."""
    rise, left, count, ended = -np.inf, 0.0, 0, 0
    for trial in trials(seed=21, repeats=2):
        for c in _constants(trial, share):
            found = _followed(trial, c)
            path = np.array(found.objective_path)
            lowest = objective_values(trial.system, trial.optimum, trial.Kx)
            steps = np.diff(path, axis=0) + fall * (path[:-1] - lowest)
            rise = max(rise, float((steps / trial.rounding).max()))
            count += 3
            if ((c - trial.smallest) / (c + trial.system.beta)) ** ITERATIONS < 1e-12:
                ended += 3
                left = max(left, float((found.distance_path[-1] / trial.distance).max()))
    tolerance = 1e-10
    return Evidence(
        decide(rise <= 1.0 and left <= tolerance and ended > 0),
        f"f rises by at most {at_most(rise, 1.0)} times the rounding allowed; distance left after "
        f"{ITERATIONS} iterations, where Theorem VI.3 promises 1e-12 of the first: at most "
        f"{at_most(left, tolerance)} of it",
        "no rise; 0 in the limit",
        1.0 - rise if left <= tolerance else None,
        "Three constants c for every problem: the largest eigenvalue itself, Lanczos with its margin, and "
        "the bound (20). Allowed for rounding: 64 eps (lambda_max |w|^2 + |w| max |K_x|). The condition c >= "
        "sigma_max is not the weakest one: f falls from c + beta = (sigma_max + beta)/2 on.",
        {"runs": count, "of them followed to the end": ended, "iterations": ITERATIONS},
        (21,),
    )


@claim(
    "drm/thm-VI.3",
    kind="proof",
    where="Theorem VI.3 and equation (19)",
    statement=r"$\|w^{(t)}-w^\star\|_2\le\|w^{(0)}-w^\star\|_2\bigl(\frac{c-\sigma_{\min}}{c+\beta}\bigr)^t$, so that "
    r"$\log\frac{\|w^{(0)}-w^\star\|_2}\epsilon/\log\frac{c+\beta}{c-\sigma_{\min}}$ bounds the number of iterations, which "
    r"for small $\frac{\sigma_{\min}+\beta}{c-\sigma_{\min}}$ is about "
    r"$\frac{c-\sigma_{\min}}{\sigma_{\min}+\beta}\log\frac{\|w^{(0)}-w^\star\|_2}\epsilon$",
    notebook="drm/02_algorithms#drm-thm-vi-3",
    rivals=(
        Rival("a rate with an exponent 2 % larger", {"power": 1.02}),
        Rival("the square of the rate", {"power": 2.0}),
        Rival("2 % fewer iterations", {"passages": 0.98}),
        Rival("the number rounded down", {"rounded": math.floor}),
        Rival("half of the short form", {"short_times": 0.5}),
        Rival("any c from 0.49 sigma_max", {"share": 0.49}),
        Rival("beta 2 % smaller", swaps={"drm.solvers.first_order.proximal_point": _other_ridge(0.98)}),
    ),
)
def check_contraction(
    power: float = 1.0,
    passages: float = 1.0,
    rounded: Callable[[float], int] = math.ceil,
    short_times: float = 1.0,
    share: float = 1.0,
) -> Evidence:
    """Compare distances with (19), first passages with the iteration bound, and that with its short form."""
    worst, late, short, stop, reached, count, counted = -np.inf, -np.inf, 0.0, 0.0, 0.0, 0, 0
    for trial in (tight(one) for one in trials(seed=22, repeats=2)):
        for c in _constants(trial, share):
            found = _followed(trial, c)
            distance = np.array(found.distance_path)
            rate = max(c - trial.smallest, 0.0) / (c + trial.system.beta)
            bound = rate ** (power * np.arange(len(distance)))[:, None] * distance[0]
            allowed = 64 * EPS * trial.kappa * (trial.distance + np.linalg.norm(trial.optimum, axis=0))
            worst = max(worst, float(((distance - bound) / allowed)[1:].max()))
            seen = bound > 1e6 * allowed
            reached = max(reached, float((distance / np.where(seen, bound, np.inf))[1:].max(initial=0.0)))
            count += 3
            x = (trial.smallest + trial.system.beta) / (c - trial.smallest) if c > trial.smallest else np.inf
            # log(1 + x) lies between x - x^2/2 and x: the short form is smaller, by a share of at most x/2
            if 1e-5 < x < 1:  # below, rounding decides
                short = max(short, abs(1 - short_times * np.log1p(x) / x) / (x / 2))
            for level in (0.5, 1e-2, 1e-5):
                exact = -passages * math.log(level) / math.log1p(x) if np.isfinite(x) else 1.0
                promised = rounded(exact)
                if 0 < promised <= ITERATIONS and abs(exact - round(exact)) > 1e-6:
                    below = distance <= level * distance[0] + allowed
                    late = max(late, float(np.where(below.any(axis=0), below.argmax(axis=0), np.inf).max()) - promised)
                    counted += 3
        stop = max(stop, _error_at_stop(trial))
    return Evidence(
        decide(worst <= 1.0 and reached >= ATTAINED and late == 0 and short <= 1.0),
        f"distances exceed (19) by at most {at_most(worst, 1.0)} times the rounding allowed and come to "
        f"{100 * reached:.2f} % of it; first passages at most {late:+.0f} iterations after the bound, rounded up; "
        f"short form lower by at most {short:.2f} x/2",
        "0; 0; about equal for small x",
        1.0 - worst if late <= 0 else None,
        "One of the starts has its error along the eigenvector of sigma_min, where (19) and the iteration "
        "bound are attained. The count must be rounded up to a whole number. The short form 1/x in place of "
        "1/log(1+x), x = (sigma_min + beta)/(c - sigma_min), is below the bound and so is none itself. And the "
        "bound is on the distance: when the paper's stop rule, a step of at most epsilon, ends the iteration, "
        f"the distance can be (c + beta)/(sigma_min + beta) epsilon; up to {stop:.0e} epsilon here.",
        {"runs": count, "passages": counted, "iterations": ITERATIONS},
        (22,),
        reach=min(reached, 1.0),
    )


def _error_at_stop(trial: Trial) -> float:
    """Return the largest distance, in units of epsilon, at which the stop rule of Algorithm 4 stops."""
    epsilon = 1e-3 * float(trial.distance.min())
    found = proximal_point(trial.system, trial.Kx, tol=epsilon, start=trial.start)
    left = np.linalg.norm(found.weights - trial.optimum, axis=0)[found.converged]
    return float(np.max(left, initial=0.0) / epsilon)


@claim(
    "drm/eq-20",
    kind="proof",
    where="Equation (20), and the two sentences after it",
    statement=r"$\sigma_{\max}(Q)\le\|K\|_2+\alpha\|H-B\|_2\le\min\{\mathrm{Tr}K,\|K\|_\infty\}+\alpha\max_ik(x_i,x_i)$; "
    r"Lanczos gives $\sigma_{\max}(Q)$ to any accuracy at little cost",
    notebook="drm/02_algorithms#drm-eq-20",
    rivals=(
        Rival("the trace or norm of K 2 % smaller", {"of_k": 0.98}),
        Rival("alpha 2 % smaller", {"of_h": 0.98}),
        Rival("without the within-class term", {"of_h": 0.0}),
        Rival("the mean of k(x_i, x_i) for the largest", {"largest": np.mean}),
        Rival("bound of the library 2 % smaller", swaps={"drm.model.operators.System.bound": times(0.98)}),
        Rival("Lanczos 2 % off", swaps={"drm.model.operators.System.largest_eigenvalue": times(0.98)}),
        Rival("no largest eigenvalue", swaps={"drm.model.operators.System.largest_eigenvalue": returns(0.0)}),
    ),
)
def check_eigenvalue_bounds(
    of_k: float = 1.0, of_h: float = 1.0, largest: Callable[[np.ndarray], float] = np.max
) -> Evidence:
    """Compare every link of (20) with eigenvalues, and count the products that Lanczos takes."""
    links, loosest, reached, count = np.inf, 0.0, 0.0, 0
    drawn = ((problem.K, problem.sizes) for problem in problems(seed=23, repeats=3))
    for K, sizes in (*drawn, *_tight_kernels()):
        for alpha in (0.0, 1.0, 100.0):
            system = DenseSystem(K, sizes, alpha, 1.0)
            within = system.Q - K  # alpha (H - B)
            spectral = [float(np.linalg.norm(S, 2)) for S in (system.Q, K, within)]
            ceilings = (
                of_k * min(np.trace(K), np.abs(K).sum(axis=1).max()),
                of_h * alpha * float(largest(np.diagonal(K))),
            )
            slacks = (
                spectral[1] + spectral[2] - spectral[0],
                ceilings[0] - spectral[1],
                ceilings[1] - spectral[2],
                -abs(system.bound() - sum(ceilings)),
                system.safe_eigenvalue() - spectral[0],
            )
            links = min(links, min(slacks) / spectral[0])
            loosest = max(loosest, system.bound() / spectral[0])
            reached = max(reached, spectral[0] / system.bound() if alpha else 0.0)
            count += 1
    products, accuracy, safe = _lanczos()
    tolerance = 64 * EPS
    good = links >= -tolerance and safe and accuracy <= 1e-3 and max(products) <= 50
    return Evidence(
        decide(good),
        f"smallest slack of a link -{at_most(-links, 1e-12)} of sigma_max or more; (20) up to {loosest:.1f} "
        f"times sigma_max; Lanczos to {at_most(accuracy, 1e-3)} with {min(products)} to {max(products)} "
        "products, n = 600",
        "at least 0; much larger; any accuracy at little cost",
        links + tolerance,
        "Every link of the chain is checked by itself. Lanczos comes from below, so c takes a margin of "
        "ten times its tolerance. Its products cost as much as as many iterations, once for all test "
        "points.",
        {"problems": count, "Lanczos problems": len(products)},
        (23, 24),
        reach=min(reached, 1.0),
    )


def _tight_kernels() -> Iterator[tuple[np.ndarray, tuple[int, ...]]]:
    """Yield kernels that come near to equality in (20), one in each branch of its minimum."""
    n = 120
    one = np.zeros((n, n))
    one[0, 0] = 1.0
    yield np.eye(n), (n,)  # the norm: Q = (1 + alpha (1 - 1/n)) I
    yield one, (n,)  # the trace: one example that is not 0
    z = np.append(2.0, np.ones(n - 1))
    yield np.outer(z, z), (1,) * n  # the trace alone: the norm is larger


def _lanczos() -> tuple[list[int], float, bool]:
    """Return the products of Lanczos on larger problems, its worst error, and whether c covers it."""
    rng = np.random.default_rng(24)
    products, accuracy, safe = [], 0.0, True
    for p, low in ((3, 0.1), (30, 0.1), (60, 3.0)):  # the last without any direction that stands out
        X = rng.normal(size=(600, p)) * rng.uniform(low, 3.0, size=p)
        for alpha in (0.0, 0.1, 10.0):
            for system in (
                LinearSystem(X, (400, 150, 50), alpha, 1.0),
                DenseSystem(np.exp(-0.2 * _squared_distances(X)), (400, 150, 50), alpha, 1.0),
            ):
                exact = float(np.linalg.eigvalsh(system.apply(np.eye(600)))[-1])
                found, cost = _counted_lanczos(system)
                products.append(cost)
                accuracy = max(accuracy, abs(found / exact - 1))
                safe = safe and system.safe_eigenvalue() >= exact
    return products, accuracy, safe


def _squared_distances(X: np.ndarray) -> np.ndarray:
    lengths = np.sum(X**2, axis=1)
    return np.asarray(np.maximum(lengths[:, None] + lengths - 2 * X @ X.T, 0.0))


def _counted_lanczos(system: System) -> tuple[float, int]:
    before = system.multiplications
    system.apply(np.ones((system.n, 1)))
    one = system.multiplications - before
    found = system.largest_eigenvalue()
    return found, (system.multiplications - before) // one - 1
