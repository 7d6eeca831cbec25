r"""The claims on Algorithm 1: the steps of coordinate descent, and what they lead to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from ...claims import Evidence, Rival, at_most, claim, decide, returns, short
from ..model.objective import kkt_residual
from ..solvers.dual import coordinate_descent
from .problems import PARAMETERS, Problem, described, problems
from .section_3_dual import GAP, direct_hessian, printed_dual

EPS = float(np.finfo(float).eps)


def _short(original: Callable[..., Any]) -> Callable[..., Any]:
    def ends_early(H: np.ndarray, *arguments: Any, **options: Any) -> Any:
        found = original(H, *arguments, **options)
        return replace(found, beta=0.99 * found.beta)

    return ends_early


def _heavy_mean(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda H, y, l1, l2, C, **options: original(H, y, l1, 2 * l2, C, **options)


@claim(
    "ldm/alg-1",
    kind="proof",
    where="Algorithm 1",
    statement=r"each step of Algorithm 1 minimises (13) in closed form, and $\beta$ converges to a solution "
    "of (12)",
    notebook="ldm/02_duals_and_solvers#ldm-alg-1",
    rivals=(
        Rival("steps 2 % longer", {"stretch": 1.02}),
        Rival("steps 2 % shorter", {"stretch": 0.98}),
        Rival("steps that are not clipped at C", {"top": np.inf}),
        Rival("clipped at C/2", {"top": 0.5}),
        Rival("a gradient without its -1", {"target": 0.0}),
        Rival("a solver that ends at 99 % of beta", swaps={"ldm.solvers.dual.coordinate_descent": _short}),
        Rival("twice lambda2", swaps={"ldm.solvers.dual.coordinate_descent": _heavy_mean}),
        Rival("a duality gap of 0", swaps={GAP: returns(0.0)}),
    ),
)
def check_coordinate_descent(stretch: float = 1.0, top: float = 1.0, target: float = 1.0) -> Evidence:
    """Follow the algorithm line by line, the compiled one to the end; compare rates with Gauss-Seidel's.

    Parameters
    ----------
    stretch : float
        By what each step is multiplied.
    top : float
        Upper bound of the box over C.
    target : float
        What is taken from a margin to make the gradient.
    """
    rise = apart = gap = residual = missed = -np.inf
    passes, count, rated, slower = 0, 0, 0, 0.0
    for problem in islice(problems(seed=60, repeats=2), 0, None, 2):
        for lambda1, lambda2, C in PARAMETERS:
            H = direct_hessian(problem.G, problem.y, lambda1)
            beta, values, off = line_by_line(problem, lambda1, lambda2, C, 10, stretch, top, target)
            missed = max(missed, off)
            scale = EPS * len(beta) * (np.abs(values).max() + C * len(beta))
            rise = max(rise, float(np.diff(values).max() / scale))
            same = coordinate_descent(H, problem.y, lambda1, lambda2, C, tol=0.0, max_iter=10)
            apart = max(apart, float(np.abs(same.beta - beta).max() / C))
            found = coordinate_descent(
                H, problem.y, lambda1, lambda2, C, tol=1e-9, max_iter=200_000, record=True
            )
            gap = max(gap, found.dual_gap / max(1.0, abs(found.objective)))
            left = kkt_residual(found.shifted, found.margins, lambda2, C)
            residual = max(residual, left / max(1.0, float(np.abs(found.margins).max())))
            passes = max(passes, found.n_iter)
            rates = rate_per_pass(H, problem.y, (lambda1, lambda2, C))
            if rates is not None:
                slower, rated = max(slower, float(np.log(rates[1]) / np.log(rates[0]))), rated + 1
            count += 1
    tolerance = 1e-8
    elsewhere = f"; line by line, ten passes end {apart:.2g} C from the compiled ones" if apart > 1e-6 else ""
    return Evidence(
        verdict=decide(
            rise <= 64
            and missed <= 1e-9
            and apart <= 1e-6
            and gap <= tolerance
            and residual <= 1e-5
            and slower <= 1.1
            and rated > 0
        ),
        measured=f"a step misses the minimum of (13) by at most {at_most(missed, 1e-9)} of its gradient's "
        f"scale, and f rises by at most {at_most(rise, 64.0)} times its rounding; after up to {passes} "
        f"passes the duality gap is at most {at_most(gap, tolerance)} of the objective, and the optimality "
        f"conditions of (12) are violated by at most {at_most(residual, 1e-5)}; log rho^2 is at most "
        f"{slower:.2f} times the log of the factor measured for a pass{elsewhere}",
        claimed="each step the minimum; a solution in the limit",
        slack=min(
            64 - rise,
            1e-9 - missed,
            1e-6 - apart,
            tolerance - gap,
            1e-5 - residual,
            1.1 - slower,
            short(rated, 1),
        ),
        why="Once the active bounds no longer change, a pass is a Gauss-Seidel pass on the free part of H. "
        "It shrinks f - f* by the square of its spectral radius rho, so convergence is linear, but slow "
        "where H is nearly singular. Writing A = (I + PG)^{-1}Y instead of Q^{-1}GY avoids the inverse of Q. "
        "Where h_ii = 0 the gradient is -1, and the step goes to C.",
        sizes=described(count) | {"rates": rated},
        seeds=(60,),
    )


def line_by_line(
    problem: Problem,
    lambda1: float,
    lambda2: float,
    C: float,
    passes: int,
    stretch: float = 1.0,
    top: float = 1.0,
    target: float = 1.0,
) -> tuple[np.ndarray, np.ndarray, float]:
    r"""Run Algorithm 1 as its lines say, with :math:`A=(I+PG)^{-1}Y`.

    The gradient is :math:`e_i^\top YG\alpha-1`, and :math:`\alpha` is kept current by columns of A.

    Parameters
    ----------
    problem : Problem
    lambda1, lambda2, C : float
    passes : int
    stretch, top, target : float
        1 as printed, see `check_coordinate_descent`.

    Returns
    -------
    beta : (m,) array
    values : (1 + passes m,) array
        f after every step.
    missed : float
        By how much the derivative of (13) after a step has the wrong sign, over its largest size.
    """
    G, y, m = problem.G, problem.y, len(problem.y)
    P = 4 * lambda1 / m * (np.eye(m) - np.outer(y, y) / m)
    A = np.linalg.solve(np.eye(m) + P @ G, np.diag(y))
    H = y[:, None] * (G @ A)
    beta, alpha = np.zeros(m), lambda2 / m * A.sum(axis=1)
    values, missed, size = [0.0], 0.0, 1.0
    for _ in range(passes):
        for i in range(m):
            gradient = y[i] * (G[i] @ alpha) - target
            old = beta[i]
            # h_ii = 0 leaves the quotient undefined: f then falls with the slope -1 up to C
            step = -gradient / H[i, i] * stretch if H[i, i] > 0 else C
            beta[i] = min(max(old + step, 0.0), top * C)
            alpha += (beta[i] - old) * A[:, i]
            values.append(printed_dual(H, beta, lambda2))
            slope = H[i] @ (beta + lambda2 / m) - 1
            size = max(size, abs(slope), abs(gradient))
            below, above = max(slope, 0.0) * (beta[i] > 0), max(-slope, 0.0) * (beta[i] < C)
            missed = max(missed, below, above)
    return beta, np.array(values), float(missed / size)


def spectral_radius(H: np.ndarray) -> float:
    r"""Return the factor of a Gauss-Seidel pass for `H`: the largest modulus, below 1, of the eigenvalues of
    :math:`-(L+D)^{-1}U`. Those equal to 1 belong to directions in which the quadratic is constant."""
    lower = np.tril(H)
    moduli = np.abs(np.linalg.eigvals(-np.linalg.solve(lower, H - lower)))
    return float(moduli[moduli < 1 - 1e-9].max(initial=0.0))


def rate_per_pass(
    H: np.ndarray, y: np.ndarray, parameters: tuple[float, float, float]
) -> tuple[float, float] | None:
    r"""Return measured and predicted factor by which a pass shrinks f - f* near the minimum, or None.

    The prediction is :math:`\rho^2` of a Gauss-Seidel pass over the variables between their bounds. It needs
    two of those or more, bounds that hold firmly, and a minimum that is known to many digits.
    """
    lambda1, lambda2, C = parameters
    best = coordinate_descent(H, y, lambda1, lambda2, C, tol=1e-15, max_iter=3000)
    distance = np.minimum(best.beta, C - best.beta)
    free = distance > 0
    rho = spectral_radius(H[np.ix_(free, free)]) if free.sum() > 1 else 0.0
    held = np.abs(best.margins - 1)[~free].min(initial=np.inf)
    settled = best.dual_gap <= 1e-12 * max(1.0, abs(best.objective))
    if not settled or not 0.1 < rho < 0.97 or held < 1e-4 or distance[free].min() < 1e-4 * C:
        return None
    size = 1e-2 * min(float(distance[free].min()), float(held) / np.abs(H).sum(axis=1).max())
    start = best.shifted + size * free * np.random.default_rng(0).uniform(-1, 1, len(free))

    def height(passes: int) -> float:  # of f above its minimum, without cancellation
        now = coordinate_descent(H, y, lambda1, lambda2, C, tol=0.0, max_iter=passes, start=start)
        error = now.shifted - best.shifted
        return float(error @ H @ error)

    first = 3
    last = first + max(3, int(np.log(1e-6) / np.log(rho**2)))
    end, begin = height(last), height(first)
    return float((end / begin) ** (1 / (last - first))) if begin > 0 else np.inf, rho**2
