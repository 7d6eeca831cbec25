r"""The claim of Section VI-C about the constant c of the proximal point iteration: bounds, and Lanczos."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ...claims import Evidence, Rival, at_most, claim, decide, returns, short, times
from ..model.operators import DenseSystem, LinearSystem, System
from .convergence_problems import EPS
from .problems import problems


@claim(
    "drm/eq-20",
    kind="proof",
    where="Equation (20), and the two sentences after it",
    statement=r"$\sigma_{\max}(Q)$ is at most $\|K\|_2+\alpha\|H-B\|_2$, and this at most "
    r"$\min\{\mathrm{Tr}K,\|K\|_\infty\}+\alpha\max_ik(x_i,x_i)$; "
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
        verdict=decide(good),
        measured=f"each inequality of the chain has a slack of at least -{at_most(-links, 1e-12)} sigma_max; "
        f"(20) is up to {loosest:.1f} times sigma_max; Lanczos is accurate to {at_most(accuracy, 1e-3)} "
        f"after {min(products)} to {max(products)} products, n = 600",
        claimed="slack at least 0; (20) much larger than sigma_max; any accuracy at little cost",
        slack=min(links + tolerance, 1e-3 - accuracy, short(safe, 1), 50.5 - max(products)),
        why="Every inequality of the chain is checked separately. Lanczos approaches sigma_max from below, "
        "so c adds a margin of ten times its tolerance. Each of its products costs as much as one iteration, "
        "once for all test points.",
        sizes={"problems": count, "Lanczos problems": len(products)},
        seeds=(23, 24),
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
