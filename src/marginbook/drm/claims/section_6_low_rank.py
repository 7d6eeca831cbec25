r"""The claim that a low-rank kernel makes every kernel as cheap as the linear one (Proposition VI.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from sklearn.kernel_approximation import Nystroem

from ...claims import Evidence, Rival, at_most, claim, decide, short, times
from ...kernels import gram
from ..model.operators import DenseSystem, LinearSystem
from ..solvers.direct import closed_form
from ..solvers.first_order import accelerated, gradient_descent, proximal_point
from .counted_arithmetic import degree

RANKS = (5, 10, 20, 40, 80, 160)
#: the bound is nearly attained where this share of it is reached: less than 2 % are left
REACHED = 0.98


def approximation_error(
    exact: tuple[np.ndarray, np.ndarray],
    low: tuple[np.ndarray, np.ndarray],
    sizes: Sequence[int] | np.ndarray,
    alpha: float,
    beta: float,
) -> tuple[float, float]:
    r"""Return how far the weights of a low-rank kernel are from the exact ones, and a bound on that.

    With :math:`E=K-GG^\top\succeq0`, rows of G the features of the examples and z those of the test point,

    .. math:: \lVert w-w^\star\rVert\le\tfrac1\beta\bigl(\lVert K_x-Gz\rVert
              +(\lVert E\rVert+\alpha\max_iE_{ii})\lVert w\rVert\bigr),

    because (20) applied to E bounds what it changes in Q. Both are relative to the norm of the exact weights.

    Parameters
    ----------
    exact : (n, n) and (n, 1) arrays
        K and K_x.
    low : (n, r) and (1, r) arrays
        G and z.
    sizes : (g,) class sizes
    alpha, beta : float
    """
    (K, Kx), (G, z) = exact, low
    right = closed_form(K, sizes, alpha, beta).weights(Kx)
    w = closed_form(G @ G.T, sizes, alpha, beta).weights(G @ z.T)
    E = K - G @ G.T
    shift = np.abs(np.linalg.eigvalsh(E)).max() + alpha * np.abs(np.diagonal(E)).max()
    bound = (np.linalg.norm(Kx - G @ z.T) + shift * np.linalg.norm(w)) / beta
    length = np.linalg.norm(right)
    return float(np.linalg.norm(w - right) / length), float(bound / length)


def nearly_attained(
    n: int, alpha: float, beta: float
) -> Iterator[tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]]:
    r"""Yield exact and approximate kernels of one class for which the bound is nearly attained.

    Both have :math:`E=\varepsilon I` with a small :math:`\varepsilon`. In the first :math:`K_x=Gz`, so that
    only Q changes, by :math:`\varepsilon(1+\alpha-\alpha/n)I`; in the second G is 0, so that it does not
    matter, and :math:`K_x` is missed.
    """
    small, ones = 1e-3 * beta, np.ones((n, 1))
    g = 1e-3 * np.sqrt(beta / n) * ones
    yield (small * np.eye(n) + g @ g.T, g), (g, np.ones((1, 1)))
    yield (small * np.eye(n), ones), (0.0 * ones, np.ones((1, 1)))


@claim(
    "drm/prop-VI.3",
    kind="proof",
    where="Proposition VI.3",
    statement=r"with $K\approx G^\top G$, $G$ of size $r\times n$ and $r\ll n$, Algorithms 3, 5 and 6 apply "
    "to any kernel, at a cost of $O(rmn)$ for $m$ iterations",
    notebook="drm/02_algorithms#drm-prop-vi-3",
    rivals=(
        Rival("O(r^2 m n)", {"powers": (2, 1, 1)}),
        Rival("O(m n)", {"powers": (0, 1, 1)}),
        Rival("O(r m n^1.02)", {"powers": (1, 1, 1.02)}),
        Rival("O(r n) for all iterations", {"powers": (1, 0, 1)}),
        Rival("features 2 % too long", {"scale": 1.02}),
        Rival("set-up 2 % off", swaps={"drm.model.operators.LinearSystem.kernel_vectors": times(1.02)}),
        Rival("products 2 % off", swaps={"drm.model.operators.LinearSystem.apply": times(1.02)}),
        Rival("a bound 2 % smaller", {"bound_times": 0.98}),
        Rival("a bound 2 % larger, which is not nearly attained", {"bound_times": 1.02}),
    ),
)
def check_low_rank(
    powers: tuple[float, float, float] = (1, 1, 1), scale: float = 1.0, bound_times: float = 1.0
) -> Evidence:
    """Run the algorithms on Nystroem features: equality, multiplications, and the error against a bound."""
    rng = np.random.default_rng(28)
    X, sizes, alpha, beta = rng.normal(size=(160, 4)), (100, 40, 19, 1), 1.0, 0.1
    X[1] = X[0]
    x = rng.normal(size=(1, 4))
    same, excess, errors = 0.0, -np.inf, []
    full = _kernel(X, X)
    for rank in RANKS:
        features = Nystroem(kernel="rbf", gamma=0.3, n_components=rank, random_state=0).fit(X)
        G, z = features.transform(X), features.transform(x)
        low, dense = LinearSystem(scale * G, sizes, alpha, beta), DenseSystem(G @ G.T, sizes, alpha, beta)
        Kx, c = low.kernel_vectors(z), low.safe_eigenvalue()
        same = max(same, float(np.abs(Kx - G @ z.T).max()))
        for solver in (gradient_descent, partial(proximal_point, c=c), partial(accelerated, b=c + beta)):
            here, there = (solver(system, Kx, max_iter=20, tol=0.0).weights for system in (low, dense))
            same = max(same, float(np.abs(here - there).max() / np.abs(there).max()))
        error, bound = approximation_error((full, _kernel(X, x)), (G, z), sizes, alpha, beta)
        errors.append(error)
        excess = max(excess, error - bound_times * bound - 1e-9)
    reached = []
    for built in nearly_attained(len(X), alpha, beta):
        error, bound = approximation_error(*built, (len(X),), alpha, beta)
        reached.append(error / (bound_times * bound))
        excess = max(excess, error - bound_times * bound - 1e-9)
    degrees = (
        degree([_multiplications(40, r, 4) for r in (2, 4, 6, 8)]),
        degree([_multiplications(40, 3, m) for m in (2, 4, 6, 8)]),
        degree([_multiplications(n, 3, 4) for n in (20, 40, 60, 80)]),
    )
    each = (_multiplications(40, 8, 5) - _multiplications(40, 7, 5)) / (40 * 5)
    good = bool(same <= 1e-9 and excess <= 0 and errors[-1] <= 1e-4 < errors[0] and degrees == powers)
    good &= min(reached) >= REACHED
    return Evidence(
        verdict=decide(good),
        measured=f"the iterates are those with the matrix G'G to {at_most(same, 1e-9)}; PPA's "
        f"multiplications have the degrees {degrees} in r, m and n, {each:.2f} r n in each iteration; error "
        f"of w {errors[0]:.2f} at r=5, {errors[3]:.2f} at r=40, {at_most(errors[-1], 1e-4)} at r=n, above "
        f"the bound by at most {max(excess, 0.0):.1g}; where K and G are built so that the bound is tight, "
        f"the error is at least {100 * min(reached):.1f} % of it",
        claimed=f"the same iterates; the degrees {powers}; an error within the bound of (20), small at full "
        "rank",
        slack=min(
            1e-9 - same, -excess, 1e-4 - errors[-1], min(reached) - REACHED, short(degrees == powers, 1)
        ),
        why="The degrees are exact, from differences of the counts of the library's operators. The error of "
        "w depends on the approximation. By (20) it is below (|K_x - G'z| + (|E| + alpha max E_ii) |w|) / "
        "beta with E = K - G'G, which is 0 at full rank. Two pairs of K and G, one with an error in K alone "
        "and one with an error in K_x, show that the bound cannot be made much smaller. The features are "
        "Nyström features of an rbf kernel; the data have a duplicated point and a class of one point.",
        sizes={"n": 160, "ranks": list(RANKS), "iterations": 20},
        seeds=(28,),
        reach=min(max(reached), 1.0),
    )


def _multiplications(n: int, rank: int, iterations: int) -> int:
    """Return what PPA multiplies in so many iterations with a factor of this rank and two classes."""
    rng = np.random.default_rng(31)
    system = LinearSystem(rng.normal(size=(n, rank)), (n // 2, n - n // 2), 1.0, 0.1)
    Kx = system.kernel_vectors(rng.normal(size=(1, rank)))
    return proximal_point(system, Kx, max_iter=iterations, tol=0.0, c=10.0 * n).multiplications


def _kernel(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    return gram(("rbf", {"gamma": 0.3}), X, Z)
