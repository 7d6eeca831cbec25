r"""The claims on the dual of LDM: it is right, its matrix needs no inverse, and it is an SVM's.

With :math:`c=4\lambda_1/m`, :math:`P=c(I-yy^\top/m)` and :math:`b=\lambda_2/m`: :math:`H=YG(I+PG)^{-1}Y` and
:math:`\beta'=\beta+be`.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import numpy as np

from ...claims import Evidence, Rival, at_most, claim, decide, returns, short, times
from ..model.objective import coefficients, dual_gap
from ..model.whitening import WhitenedGram
from ..paper.printed import sizes
from ..solvers.dual import Solution, active_set
from .problems import PARAMETERS, Problem, by_cvxpy, described, problems, soft_value

GAP = "ldm.model.objective.dual_gap"


def printed_dual(H: np.ndarray, beta: np.ndarray, lambda2: float) -> float:
    r"""Return (12), :math:`f(\beta)=\frac12\beta^\top H\beta+(\frac{\lambda_2}mHe-e)^\top\beta`."""
    e = np.ones(len(beta))
    return float(0.5 * beta @ H @ beta + (lambda2 / len(beta) * (H @ e) - e) @ beta)


def omitted_constant(H: np.ndarray, lambda2: float) -> float:
    r"""Return :math:`\frac12(\lambda_2/m)^2e^\top He`, which (12) omits: their sum is minus the dual."""
    return float(0.5 * (lambda2 / len(H)) ** 2 * H.sum())


def printed_matrix(G: np.ndarray, y: np.ndarray, lambda1: float) -> np.ndarray:
    r"""Return Q of (8), :math:`\frac{4\lambda_1}{m^2}(mG^\top G-(Gy)(Gy)^\top)+G`."""
    m, Gy = len(y), G @ y
    return np.asarray(4 * lambda1 * (m * G.T @ G - np.outer(Gy, Gy)) / m**2 + G)


def direct_hessian(G: np.ndarray, y: np.ndarray, lambda1: float) -> np.ndarray:
    r"""Return :math:`H=YG(I+PG)^{-1}Y` by one solve with the m x m system, which always has a solution."""
    m = len(y)
    P = 4 * lambda1 / m * (np.eye(m) - np.outer(y, y) / m)
    H = y[:, None] * np.linalg.solve(np.eye(m) + G @ P, G) * y  # G (I + PG)^{-1} = (I + GP)^{-1} G
    return np.asarray((H + H.T) / 2)


def _fit(
    problem: Problem, lambda1: float, lambda2: float, C: float
) -> tuple[np.ndarray, Solution, np.ndarray]:
    """Return H, the solution and its w."""
    H = WhitenedGram(problem.G, problem.y).hessian(lambda1)
    found = active_set(H, problem.y, lambda1, lambda2, C, tol=1e-12)
    return H, found, problem.F @ found.alpha


@claim(
    "ldm/eq-12",
    kind="proof",
    where="Equations (9) to (12)",
    statement=r"(12) is the dual of (8), up to a constant, and its $\beta^\star$ gives the optimal $w$",
    notebook="ldm/02_duals_and_solvers#ldm-eq-12",
    rivals=(
        Rival("lambda2/m 2 % larger in (12)", {"mean": 1.02}),
        Rival("the sign of the lambda2 term turned", {"mean": -1.0}),
        Rival("4 lambda1 2 % larger in H", {"variance": 1.02}),
        Rival("2 lambda1 in the place of 4 lambda1", {"variance": 0.5}),
        Rival("no constant", {"constant": 0.0}),
        Rival(
            "a solver whose H is 2 % larger", swaps={"ldm.model.whitening.WhitenedGram.hessian": times(1.02)}
        ),
        Rival("a duality gap of 0", swaps={GAP: returns(0.0)}),
        Rival("a duality gap 2 % smaller", swaps={GAP: times(0.98)}),
    ),
)
def check_dual(mean: float = 1.0, variance: float = 1.0, constant: float = 1.0) -> Evidence:
    """Add the value of (6) and (12) with its constant, at the optimum and at random points of the box.

    At the optimum w is compared with that of an interior-point method for (6); at random points the
    difference of the two values is compared with the library's duality gap.

    Parameters
    ----------
    mean, variance, constant : float
        Factors of lambda2 and lambda1 in (12), and of the constant that it omits.
    """
    gap = apart = built = beside = -np.inf
    count, rng = 0, np.random.default_rng(54)
    for problem in islice(problems(seed=50, repeats=4), 0, None, 4):
        for lambda1, lambda2, C in PARAMETERS:
            H, found, w = _fit(problem, lambda1, lambda2, C)
            direct = direct_hessian(problem.G, problem.y, variance * lambda1)
            built = max(built, float(np.abs(H - direct).max() / np.abs(direct).max()))
            value = soft_value(problem.F, problem.y, w, lambda1, lambda2, C)
            dual = -printed_dual(direct, found.beta, mean * lambda2)
            dual -= constant * omitted_constant(direct, lambda2)
            gap = max(gap, abs(value - dual) / max(1.0, abs(value)))
            oracle, lowest = by_cvxpy(problem.F, problem.y, lambda1, lambda2, C)
            gap = max(gap, abs(value - lowest) / max(1.0, abs(value)))
            apart = max(apart, float(np.linalg.norm(oracle - w) / np.linalg.norm(oracle)))
            shifted = C * rng.uniform(size=len(H)) + lambda2 / len(H)
            margins = H @ shifted
            at = problem.F @ coefficients(shifted, margins, problem.y, lambda1)
            primal = soft_value(problem.F, problem.y, at, lambda1, lambda2, C)
            dual = -printed_dual(direct, shifted - lambda2 / len(H), mean * lambda2)
            dual -= constant * omitted_constant(direct, lambda2)
            told = float(dual_gap(shifted, margins, lambda2, C))
            beside = max(beside, abs(primal - dual - told) / max(1.0, abs(primal - dual)))
            count += 1
    tolerance = 1e-7
    return Evidence(
        verdict=decide(gap <= tolerance and apart <= 1e-3 and built <= 1e-9 and beside <= tolerance),
        measured="the values of (6), of the dual and of the oracle differ by at most "
        f"{at_most(gap, tolerance)}, relative; w differs by at most {at_most(apart, 1e-3)} of its length; at "
        "random points of the box the library's duality gap is the difference of (6) and the dual, to "
        f"{at_most(beside, tolerance)}",
        claimed="0",
        slack=min(tolerance - max(gap, beside), short(apart <= 1e-3, 1), short(built <= 1e-9, 1)),
        why="The constant is -(1/2)(lambda2/m)^2 e'He; subtracting the minimum of (12) from it gives the "
        "maximum of the dual. H is computed without the inverse of Q, so that singular Gram matrices can "
        "be among the problems.",
        sizes=described(count),
        seeds=(50, 54),
    )


@claim(
    "ldm/eq-8-singular",
    kind="proof",
    where="Equations (8) to (12), Algorithm 1",
    statement=r"$H=YGQ^{-1}GY$ with the invertible matrix $Q=G+\frac{4\lambda_1}{m^2}\bigl(mG^\top "
    r"G-(Gy)(Gy)^\top\bigr)$",
    notebook="ldm/02_duals_and_solvers#ldm-eq-8-singular",
    rivals=(
        Rival("independent points only", {"regular": True}),
        Rival("lambda1 2 % larger in Q", {"variance": 1.02}),
        Rival("a matrix that is 2 % larger", swaps={"ldm.model.whitening.WhitenedGram.hessian": times(1.02)}),
        Rival("values of (6) that are 2 % smaller", swaps={"ldm.claims.problems.soft_value": times(0.98)}),
    ),
)
def check_singular(regular: bool = False, variance: float = 1.0) -> Evidence:
    """Take ranks of Q in rationals; then compare the form without inverse with (8) and with the oracle.

    Parameters
    ----------
    regular : bool
        Only points that are independent.
    variance : float
        Factor of lambda1 in Q.
    """
    ranks, singular, count = _exact_ranks(regular)
    table_1 = sizes()
    table_1 = table_1[table_1["scale"] == "regular"]  # the large ones are left to Algorithm 2
    invertible = oracle = 0.0
    compared = 0
    for problem in islice(problems(seed=51, repeats=4), 0, None, 4):
        for lambda1, lambda2, C in PARAMETERS:
            H, _, w = _fit(problem, lambda1, lambda2, C)
            Q = printed_matrix(problem.G, problem.y, variance * lambda1)
            condition = np.linalg.cond(Q)
            if condition < 1e6:
                GY = problem.G * problem.y
                printed = GY.T @ np.linalg.solve(Q, GY)
                invertible = max(invertible, float(np.abs(printed - H).max() / np.abs(H).max()))
                compared += 1
            elif condition > 1e12:
                value = soft_value(problem.F, problem.y, w, lambda1, lambda2, C)
                lowest = by_cvxpy(problem.F, problem.y, lambda1, lambda2, C)[1]
                oracle = max(oracle, abs(value - lowest) / max(1.0, abs(lowest)))
    tolerance = 1e-8
    return Evidence(
        verdict=decide(singular == 0, ranks and max(invertible, oracle) <= tolerance and compared > 0),
        measured=f"Q is singular in {singular} of {count} problems, and has the rank of G in "
        f"{'all' if ranks else 'not all'}; the formula without the inverse gives the printed H to "
        f"{at_most(invertible, tolerance)} where Q is invertible, and the optimum to "
        f"{at_most(oracle, tolerance)} where it is not",
        claimed="invertible",
        slack=float(-singular),
        why="Q maps to 0 whatever G maps to 0, so Q is singular whenever G is. Two equal points are enough, "
        "or fewer features than training examples with the linear kernel, as on "
        f"{int((table_1['p'] < table_1['n'] // 2).sum())} of the {len(table_1)} regular sets of Table 1. "
        "H = YG(I + PG)^{-1}Y exists for every G, and equals the printed matrix where that exists. Ranks "
        "are computed for integer data in rational arithmetic.",
        sizes={"problems": count, "compared with (8)": compared, "parameters": len(PARAMETERS)},
        seeds=(51, 52),
    )


def _exact_ranks(regular: bool = False) -> tuple[bool, int, int]:
    """Return whether Q always has the rank of G, in how many problems that is below m, and their number.

    With `regular` only problems count in which the points are independent.
    """
    rng = np.random.default_rng(52)
    same, singular, count = True, 0, 0
    for m in (3, 5, 8):
        for d in (2, 5, 12):
            for twice in (False, True):
                X = rng.integers(-4, 5, size=(m, d)).astype(object)
                if twice:
                    X[1] = X[0]
                y = rng.choice([-1, 1], size=m).astype(object)
                G = X @ X.T
                Gy = G @ y
                if regular and exact_rank(G) < m:
                    continue
                for lambda1 in (0, 1, 8):
                    Q = 4 * lambda1 * (m * G @ G - np.outer(Gy, Gy)) + m * m * G  # m^2 times that of (8)
                    rank = exact_rank(Q)
                    same = same and rank == exact_rank(G)
                    singular += rank < m
                    count += 1
    return same, singular, count


def exact_rank(matrix: np.ndarray) -> int:
    """Return the rank of a matrix of integers by elimination in rationals.

    >>> exact_rank(np.array([[1, 2], [2, 4]]))
    1
    """
    rows = [[Fraction(int(v)) for v in row] for row in matrix]
    rank = 0
    for column in range(matrix.shape[1]):
        pivot = next((r for r in range(rank, len(rows)) if rows[r][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        head = rows[rank]
        for r in range(rank + 1, len(rows)):
            share = rows[r][column] / head[column]
            if share:
                rows[r] = [v - share * h for v, h in zip(rows[r], head, strict=True)]
        rank += 1
    return rank
