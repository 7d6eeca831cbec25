"""The claim on samples that are equal: which of them the penalty retains, and which the iteration (8)."""

from __future__ import annotations

import numpy as np

from ...claims import Evidence, Rival, at_most, claim, decide, short
from ...kernels import gram
from ..model.certificates import smallest_curvature
from ..model.objective import Problem, objective, targets
from ..solvers.irls import majorize_minimize
from .fixed_points import newton, resting_point
from .local_minima import local_minima


def categorical(seed: int, n: int = 150) -> tuple[np.ndarray, np.ndarray]:
    """Return n samples with three coded features of 4, 2 and 2 values, (n, 3), and who is positive, (n,).

    There are at most 16 different points, so most samples have copies, in both classes.
    """
    rng = np.random.default_rng(seed)
    shares = ((0.4, 0.15, 0.15, 0.3), (0.05, 0.95), (0.2, 0.8))
    X = np.column_stack([rng.choice(len(share), n, p=share) for share in shares])
    chance = 0.15 + 0.5 * (X[:, 2] == 0) + 0.15 * (X[:, 0] == 1)
    return X.astype(float), rng.random(n) < chance


@claim(
    "kfda/equal-samples",
    kind="ours",
    where="Section 3, (8); Table 1, Titanic",
    statement="for $q<1$ no local minimum retains two equal samples, but (8) from the ridge solution "
    "treats them alike and may stop near a saddle point; for $q=1$ it retains every copy, "
    "although one would suffice",
    notebook="kfda/03_rates_zeros_minima#kfda-equal-samples",
    rivals=[Rival("a copy that is off by three tenths of a deviation", {"off": 0.3})],
)
def check_equal_samples(off: float = 0.0) -> Evidence:
    """Enumerate the minima of small problems with copies; stop (8) on coded features with many.

    Parameters
    ----------
    off : float
        By how much the copy differs from its original in each feature, whose deviation is 1.
    """
    both = dependent = minima = 0
    rng = np.random.default_rng(44)
    for _ in range(4):
        X = rng.normal(size=(5, 2))
        X[1] = X[0] + off
        problem = Problem(gram(("rbf", {"gamma": 0.5}), X), targets(np.arange(5) < 2))
        for q in (0.25, 0.5, 0.75):
            for rho in (1e-3, 0.05):
                for minimum in local_minima(problem, q, rho):
                    support = list(minimum.support)
                    both += 1 in support and 2 in support
                    rank = np.linalg.matrix_rank(problem.design[:, support]) if support else 0
                    dependent += bool(rank < len(support))
                    minima += 1
    saddles = stops = 0
    retained: dict[float, list[tuple[int, int, float, int]]] = {0.5: [], 1.0: []}
    alike = 0.0
    for seed in range(3):
        X, positive = categorical(seed)
        distinct = np.unique(X, axis=0, return_index=True)[1]
        full = Problem(gram(("rbf", {"gamma": 0.5}), X), targets(positive))
        single = Problem(full.K[:, distinct], full.yhat)
        for rho in (1e-3, 1e-2, 1e-1):
            for q in retained:
                stop = majorize_minimize(full, q, rho)
                kept = stop.retained_above(1e-3)
                limit = resting_point(single, q, rho)
                if limit is None:
                    continue
                for group in (np.flatnonzero((X[i] == X).all(axis=1)) for i in distinct):
                    a = stop.omega[1 + group]
                    alike = max(alike, float(np.ptp(a) / np.abs(stop.omega).max()))
                ratio = stop.objective / objective(single, limit, q, rho)
                retained[q].append((len(kept), int(np.count_nonzero(limit[1:])), ratio, full.n))
                if q < 1:
                    rest = stop.omega.copy()
                    rest[1:][np.setdiff1d(np.arange(full.n), kept)] = 0.0
                    found = newton(full, rest, q, rho)
                    stops += 1
                    saddles += found is not None and smallest_curvature(full, found, q, rho) < 0
    share = {q: 100 * np.array([(a / n, b / n) for a, b, _, n in rows]) for q, rows in retained.items()}
    same = max(abs(ratio - 1) for _, _, ratio, _ in retained[1.0])
    dearer = [ratio for _, _, ratio, _ in retained[0.5]]
    more = bool(np.all(share[1.0][:, 0] > share[1.0][:, 1]) and np.any(share[0.5][:, 0] > share[0.5][:, 1]))
    return Evidence(
        verdict=decide(both == dependent == 0 and saddles > 0 and more and same <= 1e-3 and alike <= 1e-3),
        measured=f"of {minima} minima {both} retain both copies, and {dependent} retain dependent columns; "
        f"with 150 samples at no more than 16 different points, (8) retains {ranges(share[1.0][:, 0])} % for "
        f"q = 1, where {ranges(share[1.0][:, 1])} % give the same J to {at_most(same, 1e-3)}; for q = 0.5 it "
        f"retains {ranges(share[0.5][:, 0])} %, with J {min(dearer):.2f} to {max(dearer):.2f} times that of "
        f"a minimum with {ranges(share[0.5][:, 1])} %, and stops near a saddle in {saddles} of {stops} runs; "
        f"copies differ by at most {at_most(alike, 1e-3)}",
        claimed="no copies in a minimum; equal coefficients for copies in (8)",
        slack=min(float(saddles), short(-both - dependent, 0), short(more, 1), 1e-3 - same, 1e-3 - alike),
        why="Two equal columns make the Gram matrix of the support singular, so the Hessian there has a "
        "negative eigenvalue. The step (8) maps equal coefficients of equal columns to equal ones. Only "
        "rounding separates them: a difference of 1e-16 grows by a factor 2 - q per step. For q = 1 their "
        "ratio never changes. Data sets with categorical features, such as Titanic, have many copies. "
        "Their printed shares of retained samples depend on what is done with copies.",
        sizes={"N": [5, 150], "minima": minima, "q": [0.25, 0.5, 0.75, 1.0]},
        seeds=(44, 0, 1, 2),
    )


def ranges(values: np.ndarray) -> str:
    """Return "smallest to largest" without decimals."""
    return f"{values.min():.0f} to {values.max():.0f}"
