"""Section 3, ours: the dual of the LDM is that of a support vector machine with another matrix."""

from __future__ import annotations

from itertools import islice

import numpy as np

from ...claims import Evidence, Rival, at_most, claim, decide, short
from ..solvers.linear_cd import linear_coordinate_descent
from .problems import ACCURATE, PARAMETERS, Problem, by_cvxpy, described, problems
from .section_3_dual import direct_hessian


@claim(
    "ldm/svm-in-disguise",
    kind="ours",
    where="Equation (12)",
    statement=r"the dual of LDM is that of an SVM with the kernel $YHY$ and a box from $\lambda_2/m$ to "
    r"$C+\lambda_2/m$; $y_i\alpha_i=\beta'_i-\frac{4\lambda_1}m(\gamma_i-\bar\gamma)$",
    notebook="ldm/02_duals_and_solvers#ldm-svm-in-disguise",
    rivals=(
        Rival("a box from 0 to C", {"moved": 0.0}),
        Rival("a box moved by 10 % more", {"moved": 1.1}),
        Rival("4 lambda1 2 % larger in the kernel", {"variance": 1.02}),
        Rival("an SVM with a C that is 2 % larger", {"loss": 1.02}),
    ),
)
def check_disguise(moved: float = 1.0, variance: float = 1.0, loss: float = 1.0) -> Evidence:
    """Solve LDM with SVC, with a box-constrained program and with the separable form in (w, t).

    Parameters
    ----------
    moved, variance, loss : float
        Factors of lambda2/m, of lambda1 in the kernel, and of C.
    """
    whitened = boxed = separable = 0.0
    count = linear = 0
    for problem in islice(problems(seed=53, repeats=2), 0, None, 2):
        for lambda1, lambda2, C in PARAMETERS[1:]:
            H = direct_hessian(problem.G, problem.y, variance * lambda1)
            plain, _ = by_cvxpy(problem.F, problem.y, lambda1, 0.0, C)
            wanted = problem.y * (problem.F.T @ plain)
            whitened = max(whitened, _apart(_margins_by_svc(H, loss * C), wanted))
            w, value = by_cvxpy(problem.F, problem.y, lambda1, lambda2, C)
            margins = problem.y * (problem.F.T @ w)
            shifted = _box_program(H, moved * lambda2 / len(H), loss * C)
            boxed = max(boxed, _apart(H @ shifted, margins))
            c = 4 * lambda1 / len(H)
            alpha = problem.y * (shifted - c * (H @ shifted - np.mean(H @ shifted)))
            boxed = max(boxed, _apart(problem.y * (problem.G @ alpha), margins))
            if problem.kernel == "linear":
                found = linear_coordinate_descent(
                    problem.X, problem.y, lambda1, lambda2, C, tol=1e-10, max_iter=20000, random_state=0
                )
                t, lowest = _separable(problem, lambda1, lambda2, C)
                separable = max(
                    separable,
                    abs(lowest - value) / max(1.0, abs(value)),
                    abs(t - margins.mean()) / np.abs(margins).max() * 1e-3,
                    abs(found.objective - value) / max(1.0, abs(value)),
                )
                linear += 1
            count += 1
    tolerance = 1e-4
    return Evidence(
        verdict=decide(max(whitened, boxed) <= tolerance and separable <= 1e-7),
        measured=f"margins differ by at most {at_most(whitened, tolerance)} (SVC with the whitened kernel, "
        f"lambda2 = 0) and {at_most(boxed, tolerance)} (the shifted box, with alpha computed without an "
        f"inverse); the optimum of the separable form differs by at most {at_most(separable, 1e-7)}",
        claimed="the same classifier",
        slack=min(tolerance - max(whitened, boxed), short(separable <= 1e-7, 1)),
        why="The variance term changes the norm of w and thus the kernel; the mean term shifts the box. With "
        "a linear kernel, one more variable t, the mean margin, turns the objective into a sum over "
        "examples.",
        sizes=described(count) | {"parameters": len(PARAMETERS) - 1, "linear": linear},
        seeds=(53,),
    )


def _apart(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(one - other).max() / np.abs(other).max())


def _margins_by_svc(H: np.ndarray, C: float) -> np.ndarray:
    """Return the margins of SVC with kernel YHY; mirror images of the points take its intercept away.

    In the coordinates that H belongs to, all labels are 1.
    """
    from sklearn.svm import SVC

    mirrored = np.block([[H, -H], [-H, H]])
    labels = np.repeat([1.0, -1.0], len(H))
    model = SVC(C=C / 2, kernel="precomputed", tol=1e-7, max_iter=10**6).fit(mirrored, labels)
    return np.asarray(mirrored[: len(H), model.support_] @ model.dual_coef_[0])


def _box_program(H: np.ndarray, low: float, width: float) -> np.ndarray:
    """Minimise the SVM dual with matrix H over the box [low, low + width]."""
    import cvxpy as cp

    eigenvalues, U = np.linalg.eigh(H)
    root = np.sqrt(np.maximum(eigenvalues, 0.0))[:, None] * U.T
    beta = cp.Variable(len(H))
    cost = 0.5 * cp.sum_squares(root @ beta) - cp.sum(beta)
    cp.Problem(cp.Minimize(cost), [beta >= low, beta <= low + width]).solve(solver=cp.CLARABEL, **ACCURATE)
    return np.asarray(beta.value)


def _separable(problem: Problem, lambda1: float, lambda2: float, C: float) -> tuple[float, float]:
    """Minimise the sum over examples jointly in w and t; return t and the value."""
    import cvxpy as cp

    m = len(problem.y)
    w, t = cp.Variable(len(problem.F)), cp.Variable()
    margins = cp.multiply(problem.y, problem.F.T @ w)
    losses = 2 * lambda1 / m * (margins - t) ** 2 - lambda2 / m * margins + C * cp.pos(1 - margins)
    task = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + cp.sum(losses)))
    task.solve(solver=cp.CLARABEL, **ACCURATE)
    return float(np.asarray(t.value)), float(task.value)
