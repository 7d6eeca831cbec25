r"""The claims of the paper's theorems and propositions, each as a measurement.

Every check draws random problems over kernels, class sizes (a class of one and duplicated points among them)
and parameters, and reports the worst of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..claims import Evidence, Verdict, claim, decide
from ..kernels import Kernel, gram
from .leave_one_out import leave_one_out
from .objective import (
    between_matrix,
    class_products,
    class_slices,
    dissimilarity,
    kkt_residual,
    system_matrix,
    within_matrix,
)
from .one_pass import ClassMoments, linear_maps
from .solvers import closed_form

KERNELS: tuple[Kernel, ...] = (
    "linear",
    ("rbf", {"gamma": 0.5}),
    ("poly", {"degree": 3, "coef0": 1.0}),
    ("poly", {"degree": 2, "coef0": 0.0}),
)
SIZES = ((5, 5), (7, 1), (12, 5, 3), (1, 1, 1), (4, 9, 2, 6), (30, 3))
ROUND_OFF = 1e-12


@dataclass(frozen=True)
class Problem:
    """A random training set, grouped by class, with one test point."""

    X: np.ndarray
    sizes: tuple[int, ...]
    kernel: Kernel
    K: np.ndarray
    Kx: np.ndarray
    x: np.ndarray


def problems(seed: int, repeats: int = 5, kernels: tuple[Kernel, ...] = KERNELS) -> Iterator[Problem]:
    """Yield random problems; in every second one the first two points are equal."""
    rng = np.random.default_rng(seed)
    for repeat in range(repeats):
        for sizes in SIZES:
            for kernel in kernels:
                p = int(rng.integers(1, 8))
                X, x = rng.normal(size=(sum(sizes), p)), rng.normal(size=(1, p))
                if repeat % 2:
                    X[1] = X[0]
                yield Problem(X, sizes, kernel, gram(kernel, X), gram(kernel, X, x)[:, 0], x[0])


def _described(count: int) -> dict[str, object]:
    return {"problems": count, "n": [sum(sizes) for sizes in SIZES], "kernels": len(KERNELS)}


@claim(
    "drm/prop-III.1",
    where="Proposition III.1",
    statement=r"$S_t(w)=S_w(w)+S_b(w)$ for every $w$",
    notebook="drm/01_the_model#drm-total-dissimilarity",
)
def check_decomposition() -> Evidence:
    """Compare the three sums, each written out as the paper defines it, in input space."""
    worst, count = 0.0, 0
    rng = np.random.default_rng(1)
    for problem in problems(seed=0, kernels=("linear",)):
        w = rng.normal(size=len(problem.X)) * 10.0 ** rng.integers(-3, 4)
        points = w[:, None] * problem.X
        mean = points.mean(axis=0)
        within = between = 0.0
        for block in class_slices(problem.sizes):
            own = points[block]
            within += 0.5 * np.sum((own - own.mean(axis=0)) ** 2)
            between += 0.5 * len(own) * np.sum((own.mean(axis=0) - mean) ** 2)
        total = 0.5 * np.sum((points - mean) ** 2)
        worst = max(worst, abs(total - within - between) / total)
        count += 1
    return Evidence(
        decide(worst <= ROUND_OFF),
        f"largest relative difference {worst:.1e}",
        "0",
        ROUND_OFF - worst,
        "The two sides agree to rounding on every problem, which the algebra in the notebook explains.",
        {"problems": count, "n": [sum(sizes) for sizes in SIZES]},
        (0, 1),
    )


def _smallest_eigenvalue(matrix: str) -> tuple[float, int]:
    worst, count = np.inf, 0
    build = {"H-B": within_matrix, "B-K/n": between_matrix}[matrix]
    for problem in problems(seed=2):
        S = build(problem.K, problem.sizes)
        worst = min(worst, float(np.linalg.eigvalsh(S)[0] / np.linalg.norm(problem.K, 2)))
        count += 1
    return worst, count


@claim(
    "drm/prop-IV.1",
    where="Proposition IV.1",
    statement=r"$H-B\succeq0$ for every positive semidefinite kernel",
    notebook="drm/01_the_model#drm-within-and-between",
)
def check_within_psd() -> Evidence:
    """Measure the smallest eigenvalue of H - B relative to the norm of K."""
    return _eigenvalue_evidence("H-B")


@claim(
    "drm/prop-IV.2",
    where="Proposition IV.2",
    statement=r"$B-\frac1nK\succeq0$ for every positive semidefinite kernel",
    notebook="drm/01_the_model#drm-within-and-between",
)
def check_between_psd() -> Evidence:
    """Measure the smallest eigenvalue of B - K/n relative to the norm of K."""
    return _eigenvalue_evidence("B-K/n")


def _eigenvalue_evidence(matrix: str) -> Evidence:
    worst, count = _smallest_eigenvalue(matrix)
    return Evidence(
        decide(worst >= -ROUND_OFF),
        f"smallest eigenvalue of {matrix}: {worst:.1e} of the norm of K",
        "at least 0",
        worst + ROUND_OFF,
        "No eigenvalue is negative beyond rounding, classes of one example and duplicated points included.",
        _described(count),
        (2,),
    )


@claim(
    "drm/eq-13",
    where="Equation (13)",
    statement=r"$w^\star=(K+\alpha(H-B)+\beta I)^{-1}K_x$ minimises (12)",
    notebook="drm/01_the_model#drm-closed-form",
)
def check_closed_form() -> Evidence:
    """Compare with an interior-point optimum of (12) as it is written, and measure the gradient."""
    import cvxpy as cp

    gap, gradient, count = -np.inf, 0.0, 0
    for problem in problems(seed=3, repeats=1):
        for alpha, beta in ((0.0, 0.1), (1.0, 1.0), (100.0, 0.01)):
            w = closed_form(problem.K, problem.sizes, alpha, beta).weights(problem.Kx[:, None])[:, 0]
            M = system_matrix(problem.K, problem.sizes, alpha, beta)
            gradient = max(gradient, kkt_residual(M, w[:, None], problem.Kx[:, None]))
            v = cp.Variable(len(w))
            eigenvalues, U = np.linalg.eigh(M)
            root = np.sqrt(np.clip(eigenvalues, 0, None))[:, None] * U.T
            oracle = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(root @ v) - problem.Kx @ v))
            oracle.solve(solver=cp.CLARABEL)
            ours = 0.5 * w @ M @ w - problem.Kx @ w
            # the optimum is negative: positive means that the oracle found a lower value than the formula
            gap = max(gap, (ours - oracle.value) / abs(ours))
            count += 1
    tolerance = 1e-7
    return Evidence(
        decide(gap <= tolerance and gradient <= 1e-10),
        f"objective above the oracle's by at most {gap:.1e} of its value; gradient left {gradient:.1e}",
        "0 and 0",
        tolerance - gap,
        "An independent interior-point solver finds no lower value of (12), and the gradient vanishes there.",
        _described(count) | {"parameters": 3},
        (3,),
    )


@claim(
    "drm/remark-1",
    where="Remark 1 and Section VI-A",
    statement=r"(4) contains least squares, ridge and lasso; with $\alpha=0$ the DRM is kernel ridge",
    notebook="drm/01_the_model#drm-special-cases",
)
def check_special_cases() -> Evidence:
    """Solve (4) as written in each special case and compare with scikit-learn's estimator of the name."""
    import cvxpy as cp
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.linear_model import Lasso, LinearRegression, Ridge

    rng = np.random.default_rng(4)
    worst: dict[str, float] = dict.fromkeys(("least squares", "ridge", "lasso", "kernel ridge"), 0.0)
    for _ in range(5):
        p, n, beta = 12, 6, 0.3
        A, x = rng.normal(size=(p, n)), rng.normal(size=p)
        w = cp.Variable(n)
        fit = 0.5 * cp.sum_squares(x - A @ w)
        cases = {
            "least squares": (0.0, LinearRegression(fit_intercept=False)),
            # rho(t) = t^2 without the half: beta |w|^2, so the estimator's penalty is 2 beta
            "ridge": (beta * cp.sum_squares(w), Ridge(2 * beta, fit_intercept=False)),
            "lasso": (beta * cp.norm1(w), Lasso(beta / p, fit_intercept=False, tol=1e-12, max_iter=10**6)),
        }
        for name, (penalty, estimator) in cases.items():
            cp.Problem(cp.Minimize(fit + penalty)).solve(solver=cp.CLARABEL)
            worst[name] = max(worst[name], float(np.abs(estimator.fit(A, x).coef_ - w.value).max()))
    for problem in problems(seed=5, repeats=1):
        for beta in (0.01, 1.0):
            w_drm = closed_form(problem.K, problem.sizes, 0.0, beta).weights(problem.Kx[:, None])[:, 0]
            # kernel ridge of the features of x on those of the examples: its dual is (K + beta I) w = K_x
            ridge = KernelRidge(alpha=beta, kernel="precomputed").fit(problem.K, np.eye(len(w_drm)))
            difference = np.abs(ridge.predict(problem.Kx[None])[0] - w_drm).max()
            worst["kernel ridge"] = max(worst["kernel ridge"], float(difference))
    tolerance = 1e-5
    largest = max(worst.values())
    return Evidence(
        decide(largest <= tolerance),
        "; ".join(f"{name} {value:.1e}" for name, value in worst.items()),
        "the same coefficients",
        tolerance - largest,
        "Each special case gives the coefficients of the estimator of its name, to the accuracy of the "
        "interior-point solver; the kernel ridge comparison is exact to rounding.",
        {"problems": 5, "p": 12, "n": 6, "kernel problems": len(SIZES) * len(KERNELS) * 2},
        (4, 5),
    )


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
        _described(count) | {"parameters": 5},
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
    from .estimators import DRMClassifier

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
        Verdict(decide(good)),
        f"quadratic form to {worst:.1e}; {changed} labels changed by c; accuracy on mirrored classes "
        f"{plain:.2f}, with a constant feature {cured:.2f}",
        "0; 0; at most 0.5; 1",
        1e-9 - worst,
        "On two classes that mirror each other at the origin any homogeneous rule gets exactly half right.",
        {"problems": count, "test points": 20 * count, "mirrored points": 200},
        (8, 9),
    )
