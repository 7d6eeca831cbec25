"""Claims about the DRM that the paper does not make: what makes it fast, and what limits it."""

from __future__ import annotations

import numpy as np

from ..claims import Evidence, claim, decide
from .estimators import DRMClassifier
from .leave_one_out import leave_one_out
from .objective import class_products, class_slices, dissimilarity, system_matrix
from .one_pass import ClassMoments, linear_maps
from .problems import Problem, described, problems


@claim(
    "drm/one-pass",
    where="Section VI-A (beyond the paper)",
    statement=r"for the linear kernel the closed form is exact in one pass over the data, for any $n$: "
    r"$\psi_i=T_ix$ with $T_i$ of size $p\times p$",
    notebook="drm/01_the_model#drm-one-pass",
)
def check_one_pass() -> Evidence:
    """Compare the maps of the one-pass form with the dense formula over fourteen orders of magnitude."""
    worst, count = 0.0, 0
    exponents = (-6, -3, 0, 3, 8)
    for problem in problems(seed=6, repeats=1, kernels=("linear",)):
        y = np.repeat(np.arange(len(problem.sizes)), problem.sizes)
        for alpha in (10.0**e for e in exponents):
            for beta in (10.0**e for e in exponents):
                maps = linear_maps(
                    ClassMoments.empty(len(problem.sizes), problem.X.shape[1], alpha, beta).add(problem.X, y)
                )
                w = _extended_solution(problem, alpha, beta)
                dense = np.stack([problem.X[b].T @ w[b] for b in class_slices(problem.sizes)])
                worst = max(worst, float(np.abs(maps.T @ problem.x - dense).max() / np.abs(dense).max()))
                count += 1
    tolerance = 1e-9
    return Evidence(
        decide(worst <= tolerance),
        f"largest relative difference of the projections {worst:.1e}",
        "0",
        tolerance - worst,
        "The p x p maps of one pass give the projections of the n x n system, solved in extended precision, "
        "over the whole square of parameters. Remark 2.3 calls the exact solution impractical for large n.",
        {"problems": count, "alpha, beta": [f"1e{e}" for e in exponents]},
        (6,),
    )


def _extended_solution(problem: Problem, alpha: float, beta: float) -> np.ndarray:
    """Solve (13) by elimination in extended precision: alpha |x|^2 / beta costs the system 14 digits."""
    X = problem.X.astype(np.longdouble)
    M = system_matrix(X @ X.T, problem.sizes, alpha, beta)
    right = X @ problem.x.astype(np.longdouble)
    for k in range(len(right) - 1):  # positive definite: no pivoting
        factor = M[k + 1 :, k] / M[k, k]
        M[k + 1 :, k:] -= factor[:, None] * M[k, k:]
        right[k + 1 :] -= factor * right[k]
    for k in reversed(range(len(right))):
        right[k] = (right[k] - M[k, k + 1 :] @ right[k + 1 :]) / M[k, k]
    return right.astype(float)


@claim(
    "drm/loo",
    where="Section VII-A (beyond the paper)",
    statement=r"all $n$ leave-one-out fits follow from one inverse, at every $(\alpha,\beta)$",
    notebook="drm/01_the_model#drm-leave-one-out",
)
def check_leave_one_out() -> Evidence:
    """Compare with the loop that trains n times."""
    worst, count = 0.0, 0
    for problem in problems(seed=7, repeats=2):
        for alpha, beta in ((0.0, 1.0), (1e-3, 1e-3), (1.0, 0.1), (1e3, 1e-3), (1e3, 1e3)):
            fast = leave_one_out(problem.K, problem.sizes, alpha, beta).delta
            slow = _naive_leave_one_out(problem.K, problem.sizes, alpha, beta)
            finite = np.isfinite(slow)
            if (finite != np.isfinite(fast)).any():
                worst = np.inf
            worst = max(worst, float(np.abs(fast[finite] - slow[finite]).max() / np.abs(slow[finite]).max()))
            count += 1
    tolerance = 1e-8
    return Evidence(
        decide(worst <= tolerance),
        f"largest relative difference of the dissimilarities {worst:.1e}",
        "0",
        tolerance - worst,
        "The fast formula and n trainings give the same dissimilarities, also where a class vanishes "
        "with its only example.",
        described(count) | {"parameters": 5},
        (7,),
    )


def _naive_leave_one_out(K: np.ndarray, sizes: tuple[int, ...], alpha: float, beta: float) -> np.ndarray:
    labels = np.repeat(np.arange(len(sizes)), sizes)
    delta = np.full((len(labels), len(sizes)), np.inf)
    for k in range(len(labels)):
        keep = np.delete(np.arange(len(labels)), k)
        counts = np.bincount(labels[keep], minlength=len(sizes))
        present = np.flatnonzero(counts)
        inner, Kx = K[np.ix_(keep, keep)], K[keep, k : k + 1]
        w = np.linalg.solve(system_matrix(inner, counts[present], alpha, beta), Kx)
        products = class_products(inner, counts[present], w)
        delta[k, present] = dissimilarity(counts[present], Kx, w, *products)[0]
    return delta


@claim(
    "drm/homogeneous",
    where="Equations (10) and (13), linear kernel (beyond the paper)",
    statement=r"linear DRM is a homogeneous quadratic classifier, $\delta_i(x)=x^\top R_ix$: "
    r"$x$, $-x$ and $cx$ get the same label; a constant feature cures it",
    notebook="drm/01_the_model#drm-homogeneous",
)
def check_homogeneous() -> Evidence:
    """Check the quadratic form, and fit two classes that lie on opposite sides of the origin."""
    worst, changed, count = 0.0, 0, 0
    rng = np.random.default_rng(9)
    for problem in problems(seed=8, repeats=1, kernels=("linear",)):
        if len(problem.sizes) < 2 or problem.X.shape[1] < 2:
            continue
        y = np.repeat(np.arange(len(problem.sizes)), problem.sizes)
        model = DRMClassifier(1.0, 0.1, "linear", solver="closed").fit(problem.X, y)
        maps = DRMClassifier(1.0, 0.1, "linear", solver="one-pass").fit(problem.X, y).maps_
        Z = rng.normal(size=(20, problem.X.shape[1]))
        quadratic = np.einsum("mp,gpq,mq->mg", Z, maps.R, Z)
        worst = max(worst, float(np.abs(model.dissimilarity(Z) - quadratic).max() / np.abs(quadratic).max()))
        changed += int(sum((model.predict(Z) != model.predict(c * Z)).sum() for c in (-1.0, 3.0, -0.01)))
        count += 1
    half = rng.normal(size=(100, 2)) * 0.3 + [2.0, 1.0]
    X, y = np.vstack([half, -half]), np.repeat([0, 1], 100)
    plain = DRMClassifier(1.0, 0.1, "linear").fit(X, y).score(X, y)
    cured = DRMClassifier(1.0, 0.1, "linear", fit_intercept=True).fit(X, y).score(X, y)
    good = worst <= 1e-9 and changed == 0 and plain <= 0.5 and cured == 1.0
    return Evidence(
        decide(good),
        f"quadratic form to {worst:.1e}; {changed} labels changed by c; accuracy on mirrored classes "
        f"{plain:.2f}, with a constant feature {cured:.2f}",
        "0; 0; at most 0.5; 1",
        1e-9 - worst,
        "On two classes that mirror each other at the origin any homogeneous rule gets exactly half right.",
        {"problems": count, "test points": 20 * count, "mirrored points": 200},
        (8, 9),
    )
