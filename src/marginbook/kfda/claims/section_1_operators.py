"""The claim on more than two classes: how many operators there are with a penalty, and how many without."""

from __future__ import annotations

import numpy as np

from ...claims import Evidence, Rival, at_most, claim, decide, short
from ...kernels import gram
from ..model.objective import Problem, targets
from ..solvers.irls import majorize_minimize, ridge_start
from ..solvers.lasso import lasso
from .section_2_fisher import CUT
from .swaps import STEP, penalty_times

#: classes that are tried
CLASSES = (3, 4, 5, 7)
#: the penalty with a kernel
RHO = 1e-2


def operators(X: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the directions, (p, C), of least squares on the indicators of the C classes."""
    indicators = (labels[:, None] == np.unique(labels)).astype(float)
    design = np.column_stack([np.ones(len(X)), X])
    return np.asarray(np.linalg.lstsq(design, indicators, rcond=CUT)[0][1:])


def rank(directions: np.ndarray) -> int:
    """Return the rank, singular values below 1e-8 of the largest being rounding."""
    values = np.linalg.svd(directions, compute_uv=False)
    return int(np.sum(values > 1e-8 * values[0]))


def discriminant_space(X: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the directions, (p, C), that span Fisher's discriminant coordinates: S_W^{-1}(m_k - m)."""
    means = np.array([X[labels == name].mean(axis=0) for name in np.unique(labels)])
    centred = X - means[np.searchsorted(np.unique(labels), labels)]
    return np.asarray(np.linalg.solve(centred.T @ centred, (means - X.mean(axis=0)).T))


def apart(one: np.ndarray, other: np.ndarray, k: int) -> float:
    """Return the sine of the largest principal angle between the leading k directions of two spans."""
    first, second = (np.linalg.svd(directions)[0][:, :k] for directions in (one, other))
    return float(np.linalg.norm(second - first @ (first.T @ second), 2))


def penalised(problem: Problem, q: float, rho: float) -> np.ndarray:
    """Return the coefficients, (M + 1,), of one class: by (8), for q = 1 by the exact route, ridge for q = 2.

    Without a penalty they are those of least squares with the smallest norm.
    """
    if rho == 0:
        return np.asarray(np.linalg.lstsq(problem.design, problem.yhat, rcond=CUT)[0])
    if q == 1:
        return lasso(problem, rho, tol=1e-12).omega
    if q == 2:
        return majorize_minimize(problem, q, rho, start=ridge_start(problem, rho)).omega
    return majorize_minimize(problem, q, rho, tol=1e-14, max_iter=5000).omega


def smoother(problem: Problem, omega: np.ndarray, q: float, rho: float) -> np.ndarray:
    r"""Return the matrix H, (N, N), with fit = H targets, that belongs to the limit `omega` of (8).

    .. math:: H=D\Psi^2D^\top(D\Psi^2D^\top+\rho NqI)^{-1},\qquad\Psi^2=\operatorname{diag}|\omega_i|^{2-q}
    """
    weighted = (problem.design * np.abs(omega) ** (2 - q)) @ problem.design.T
    if rho == 0:  # weights do not matter any more
        weighted = problem.design @ problem.design.T
        return np.asarray(weighted @ np.linalg.pinv(weighted, rcond=CUT, hermitian=True))
    return np.asarray(np.linalg.solve(weighted + rho * problem.n * q * np.eye(problem.n), weighted))


def penalised_operators(
    X: np.ndarray, labels: np.ndarray, q: float, rho: float
) -> tuple[int, int, float, list[int]]:
    """Fit each class against the others with a kernel.

    Returns how many coefficient vectors and how many smoothers are independent, by how much the smoothers
    miss the fits, relative, and how many samples each class retains.
    """
    K = gram(("rbf", {"gamma": 1.0 / X.shape[1]}), X)
    coefficients, smoothers, off = [], [], 0.0
    kept: list[int] = []
    for name in np.unique(labels):
        problem = Problem(K, targets(labels == name))
        omega = penalised(problem, q, rho)
        H = smoother(problem, omega, q, rho)
        fit = problem.design @ omega
        off = max(off, float(np.linalg.norm(H @ problem.yhat - fit) / np.linalg.norm(problem.yhat)))
        coefficients.append(omega[1:])
        smoothers.append(H.ravel())
        kept.append(int(np.count_nonzero(np.abs(omega[1:]) > 1e-6 * np.abs(omega[1:]).max())))
    return rank(np.array(coefficients)), rank(np.array(smoothers)), off, kept


@claim(
    "kfda/operators",
    kind="statement",
    where="Section 1, third paragraph, second sentence; Section 5, last sentence",
    statement="except in the trivial case without parsimony, for $C>2$ classes the solution generates $C$ "
    "operators, and it is not yet clear how these can be related to the multinomial discriminant coordinates",
    notebook="kfda/05_error_and_sparsity#kfda-operators",
    rivals=[
        Rival("without a penalty, too", {"rho": 0.0}),
        Rival("with a ridge, too", {"powers": (2.0,)}),
        Rival("C - 1 operators with a penalty", {"fewer": 1}),
        Rival("C operators without a penalty as well", {"exception": 0}),
        Rival("without a penalty they span the coordinates of other classes", {"wrong_label": True}),
        Rival("steps that end elsewhere", swaps={STEP: penalty_times(1.02)}),
    ],
)
def check_operators(
    powers: tuple[float, ...] = (0.5, 1.0),
    rho: float = RHO,
    fewer: int = 0,
    exception: int = 1,
    wrong_label: bool = False,
) -> Evidence:
    """Count independent operators with a penalty; without one compare their span with Fisher's."""
    rng = np.random.default_rng(78)
    vectors = smoothers = count = cases = right = 0
    angle, missed = 0.0, 0.0
    shares: list[float] = []
    for c in CLASSES:
        for p in (2 * c, 20):
            for _ in range(3):
                labels = rng.permutation(np.repeat(np.arange(c), rng.integers(6, 20, size=c)))
                X = rng.normal(size=(len(labels), p)) + 2 * rng.normal(size=(c, p))[labels]
                named = labels.copy()
                named[0] = (named[0] + wrong_label) % c
                found, wanted = operators(X, labels), discriminant_space(X, named)
                right += rank(found) == c - exception
                angle = max(angle, apart(found, wanted, c - 1))
                count += 1
                for q in powers:
                    some, several, off, kept = penalised_operators(X, labels, q, rho)
                    vectors += some == c - fewer
                    smoothers += several == c - fewer
                    missed = max(missed, off)
                    shares += [one / len(labels) for one in kept]
                    cases += 1
    tolerance, near = 1e-8, 1e-4
    room = min(
        short(vectors, cases),
        short(smoothers, cases),
        short(right, count),
        tolerance - angle,
        near - missed,
    )
    claimed, unpenalised = ("C" if less == 0 else f"C - {less}" for less in (fewer, exception))
    return Evidence(
        verdict=decide(room >= 0),
        measured=f"with a penalty {claimed} of the classes' coefficient vectors are independent in {vectors} "
        f"of {cases} cases, and {claimed} of their smoother matrices in {smoothers}; these give the fits to "
        f"{at_most(missed, near)}. A class retains {np.mean(shares):.0%} of the samples on average. Without "
        f"a penalty {unpenalised} of the operators are independent in {right} of {count} problems, and the "
        "sine of the largest angle between their span and that of Fisher's coordinates is at most "
        f"{at_most(angle, tolerance)}",
        claimed=f"{claimed} operators with a penalty; the relation to the coordinates is open",
        slack=float(room),
        why="With a penalty the weights of (8) depend on the targets, so each class has a smoother of its "
        "own. The trivial case is known from optimal scoring: without a penalty one smoother serves all "
        "classes. The indicators sum to 1, which the intercept fits, so the C directions sum to 0. They are "
        "B = S_T^{-1} (class sums of centred rows); by Woodbury's identity S^{-1}(m_k - m) spans the same "
        "space for S = S_T and S = S_W. So their span is Fisher's, and an eigendecomposition of order C - 1 "
        "gives the coordinates (Hastie, Tibshirani and Buja, 1994). With a penalty we know of no such "
        "relation either.",
        sizes={"problems": count, "C": list(CLASSES), "q": list(powers), "rho": rho},
        seeds=(78,),
    )
