r"""The claims of the paper's theorems and propositions, each as a measurement.

Every check draws random problems (see ``problems``) and reports the worst of them. What the paper does not
say, and we do, is in ``beyond``.
"""

from __future__ import annotations

import numpy as np

from ..claims import Evidence, claim, decide
from .objective import between_matrix, class_slices, within_matrix
from .problems import KERNELS, SIZES, Problem, described, problems
from .solvers import closed_form

ROUND_OFF = 1e-12


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
        described(count),
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
        F = _features(problem.K)
        for alpha, beta in ((0.0, 0.1), (1.0, 1.0), (100.0, 0.01)):
            w = closed_form(problem.K, problem.sizes, alpha, beta).weights(problem.Kx[:, None])[:, 0]
            value, left = _written_out(F, problem, w, alpha, beta)
            gradient = max(gradient, float(np.abs(left).max() / np.abs(problem.Kx).max()))
            v = cp.Variable(len(w))
            cost = 0.5 * cp.sum_squares(F @ v) - problem.Kx @ v + beta / 2 * cp.sum_squares(v)
            for block in class_slices(problem.sizes):
                n_i = block.stop - block.start
                centred = np.eye(n_i) - 1.0 / n_i
                cost += alpha * 0.5 * cp.sum_squares(F[:, block] @ cp.diag(v[block]) @ centred)
            oracle = cp.Problem(cp.Minimize(cost))
            oracle.solve(solver=cp.CLARABEL)
            # the optimum is negative: positive means that the oracle found a lower value than the formula
            gap = max(gap, float((value - oracle.value) / abs(oracle.value)))
            count += 1
    tolerance = 1e-7
    return Evidence(
        decide(gap <= tolerance and gradient <= 1e-10),
        f"objective above the oracle's by at most {gap:.1e} of its value; gradient left {gradient:.1e}",
        "0 and 0",
        tolerance - gap,
        "An interior-point solver finds no lower value of (12), written as sums of squares over a feature "
        "factor of K without the matrix of the formula; and the gradient of those sums vanishes there.",
        described(count) | {"parameters": 3},
        (3,),
    )


def _features(K: np.ndarray) -> np.ndarray:
    """Return F with K = F'F: columns that stand for the examples in the kernel's feature space."""
    eigenvalues, U = np.linalg.eigh(K)
    kept = eigenvalues > 1e-15 * eigenvalues[-1]
    return np.sqrt(eigenvalues[kept])[:, None] * U[:, kept].T


def _written_out(
    F: np.ndarray, problem: Problem, w: np.ndarray, alpha: float, beta: float
) -> tuple[float, np.ndarray]:
    """Return the value of (12) and its gradient from the sums of squares that define S_w."""
    fit = F @ w
    value = 0.5 * fit @ fit - problem.Kx @ w + beta / 2 * w @ w
    gradient = F.T @ fit - problem.Kx + beta * w
    for block in class_slices(problem.sizes):
        points = F[:, block] * w[block]
        apart = points - points.mean(axis=1, keepdims=True)
        value += alpha * 0.5 * np.sum(apart**2)
        gradient[block] += alpha * np.sum(F[:, block] * apart, axis=0)
    return float(value), gradient


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
