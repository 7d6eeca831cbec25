"""The comparisons of `smm.py` that have no goal: the nuclear norm, kernels on rows, one block, vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from smm_peers import Problem, by_sklearn, loosest, nuclear_by_cvxpy, problem, sample

from marginbook.kernels import Kernel
from marginbook.quality.benchmarking import Ratio, compare
from marginbook.smm.solvers.block import solve_inner
from marginbook.smm.solvers.block_descent import low_rank_svm
from marginbook.smm.solvers.kernel_block_descent import low_rank_kernel_svm
from marginbook.smm.solvers.nuclear_admm import nuclear_admm
from marginbook.smm.solvers.nuclear_newton import nuclear_newton
from marginbook.smm.solvers.nuclear_norm import NuclearProblem, nuclear_limit

#: relative excess over the optimum that the comparisons of one block ask for
EXCESSES = (1e-3, 1e-6)
#: penalties of the nuclear norm, as shares of the least one that makes all coefficients zero
SHARES = (0.1, 0.4)
#: a linear kernel with few and with many columns, a polynomial with an explicit map, and one without any
ROW_KERNELS: tuple[tuple[str, Kernel, int, int, int], ...] = (
    ("linear", "linear", 50, 10, 20),
    ("linear", "linear", 50, 10, 400),
    ("quadratic", ("poly", {"degree": 2, "gamma": 1.0, "coef0": 0.0}), 100, 10, 20),
    ("quadratic", ("poly", {"degree": 2, "gamma": 1.0, "coef0": 0.0}), 100, 5, 40),
)
LANDMARKS = 200


def nuclear_norm(n: int, d: int, runs: int) -> Iterator[Ratio]:
    """Newton's method on the dual against alternating directions, to two gaps."""
    X, y = sample(n, d, d, 3)
    costs = np.full(n, 1 / (2 * 0.03 * n))
    limit = nuclear_limit(NuclearProblem(X, y, costs))
    for share in SHARES:
        for gap in (1e-3, 1e-6, 1e-9):
            options = {"tol": gap, "max_iter": 5000}
            newton = nuclear_newton(NuclearProblem(X, y, costs), share * limit, **options)
            admm = nuclear_admm(NuclearProblem(X, y, costs), share * limit, **options)
            if not newton.converged:
                raise RuntimeError(
                    f"Newton's method stopped at a gap of {newton.dual_gap:.1e}, wanted {gap:g}"
                )
            late = "" if admm.converged else f", which ended at a gap of {admm.dual_gap:.0e}"
            rank = int((newton.singular_values > 1e-6 * newton.singular_values.max()).sum())
            size = f"gap {gap:g}, tau {share:g} of the largest, rank {rank}, n={n}, {d}x{d}"
            yield compare(
                f"nuclear norm, Newton against ADMM, {size}{late}",
                lambda s=share, o=options: nuclear_newton(NuclearProblem(X, y, costs), s * limit, **o),
                lambda s=share, o=options: nuclear_admm(NuclearProblem(X, y, costs), s * limit, **o),
                runs,
            )


def nuclear_against_cvxpy(sizes: tuple[tuple[int, int], ...], runs: int) -> Iterator[Ratio]:
    """Newton's method against a semidefinite program."""
    for n, d in sizes:
        X, y = sample(n, d, d, 3)
        costs = np.full(n, 1 / (2 * 0.03 * n))
        tau = 0.3 * nuclear_limit(NuclearProblem(X, y, costs))
        program = nuclear_by_cvxpy(NuclearProblem(X, y, costs), tau)
        excess = nuclear_newton(NuclearProblem(X, y, costs), tau).objective / program - 1
        if not abs(excess) <= 1e-5:
            raise RuntimeError(f"Newton's method is {excess:.1e} from the program, wanted the same")
        yield compare(
            f"nuclear norm, Newton against cvxpy (Clarabel), n={n}, {d}x{d}",
            lambda X=X, y=y, c=costs, tau=tau: nuclear_newton(NuclearProblem(X, y, c), tau),
            lambda X=X, y=y, c=costs, tau=tau: nuclear_by_cvxpy(NuclearProblem(X, y, c), tau),
            runs,
        )


def quadratic_features(X: np.ndarray) -> np.ndarray:
    """Return features of rows whose inner products are squares of those of the rows."""
    first, second = np.triu_indices(X.shape[2])
    return X[:, :, first] * X[:, :, second] * np.where(first == second, 1.0, np.sqrt(2.0))


def row_kernels(runs: int) -> Iterator[Ratio]:
    """The machine from the Gram matrix of all rows against the one on explicit features of them."""
    for name, kernel, n, d1, d2 in ROW_KERNELS:
        X, y = sample(n, d1, d2, 2)
        options: dict[str, Any] = {"rank": 2, "lam": 0.03, "loss": "squared_hinge", "fit_intercept": True}

        def explicit(X: np.ndarray = X, y: np.ndarray = y, o: dict = options, name: str = name) -> Any:
            return low_rank_svm(X if name == "linear" else quadratic_features(X), y, **o)

        def implicit(X: np.ndarray = X, y: np.ndarray = y, o: dict = options, k: Kernel = kernel) -> Any:
            return low_rank_kernel_svm(X, y, kernel=k, **o)

        columns = d2 if name == "linear" else d2 * (d2 + 1) // 2
        quotient = implicit().objective / explicit().objective
        size = f"{name}, {columns} features of a row, n={n}, {d1}x{d2}"
        what = f"row kernel against explicit features, {size}, F {quotient:.4g} times theirs"
        yield compare(what, implicit, explicit, runs)
    for n in (50, 100, 200):
        X, y = sample(n, 8, 8, 2)
        options = {"rank": 2, "lam": 0.01, "loss": "squared_hinge", "kernel": ("rbf", {"gamma": 0.05})}

        def whole(X: np.ndarray = X, y: np.ndarray = y, o: dict = options) -> Any:
            return low_rank_kernel_svm(X, y, **o)

        def landmarks(X: np.ndarray = X, y: np.ndarray = y, o: dict = options) -> Any:
            return low_rank_kernel_svm(X, y, max_rows=1, max_features=LANDMARKS, **o)

        what = f"{LANDMARKS} landmarks against all {8 * n} rows, rbf, n={n}, 8x8"
        quotient = landmarks().objective / whole().objective
        yield compare(f"{what}, F {quotient:.4g} times theirs", landmarks, whole, runs)


def solved(p: Problem, Z: np.ndarray) -> Callable[[float], tuple[np.ndarray, float]]:
    """Return our solver of a block with features `Z`, by tolerance."""

    def solve(tol: float) -> tuple[np.ndarray, float]:
        found = solve_inner(Z, p.y, lam=p.lam, loss=p.loss, fit_intercept=p.fit_intercept, tol=tol)
        return found.weights, found.intercept

    return solve


def one_block(
    sizes: tuple[int, ...], d: int, rank: int, runs: int, what: str = "one block"
) -> Iterator[Ratio]:
    """Our convex solver against LIBSVM, LIBLINEAR and scikit-learn's logistic regression, equally accurate.

    With `rank` d the matrices are not projected: the machine on vectors.
    """
    peers = (
        ("hinge", True, "LIBSVM"),
        ("hinge", False, "LIBLINEAR"),
        ("squared_hinge", False, "LIBLINEAR"),
        ("logistic", True, "LogisticRegression"),
    )
    for excess in EXCESSES:
        for n in sizes:
            X, y = sample(n, d, d, 3)
            P = np.linalg.qr(np.random.default_rng(0).standard_normal((d, rank)))[0]
            Z = np.ascontiguousarray((X @ P if rank < d else X).reshape(n, -1))
            for loss, free, peer in peers:
                p = Problem(Z[:, :, None], y, 1, 0.01, loss, free)
                exact = solve_inner(Z, y, lam=p.lam, loss=loss, fit_intercept=free, tol=1e-11)
                least = exact.objective - exact.dual_gap
                mine, other = solved(p, Z), lambda tol, p=p, Z=Z: by_sklearn(Z, p.y, p, tol)

                def above(end: tuple[np.ndarray, float], p: Problem = p, least: float = least) -> float:
                    return p.value(end[0][:, None], end[1]) / least - 1

                tol, reached = loosest(mine, above, excess)
                if reached > excess:
                    raise RuntimeError(f"{what}, {p}: we are {reached:.1e} above, wanted {excess:g}")
                its, reached = loosest(other, above, excess, 8)
                late = "" if reached <= excess else f", which ended {reached:.0e} above"
                size = f"{p}, {Z.shape[1]} features, n={n}"
                yield compare(
                    f"{what} against {peer}, excess {excess:g}, {size}{late}",
                    lambda mine=mine, tol=tol: mine(tol),
                    lambda other=other, its=its: other(its),
                    runs,
                )


def rank_over_vectors(n: int, d: int, runs: int) -> Iterator[Ratio]:
    """The machine of rank 3 beside LIBSVM on vectors, whose one problem is convex."""
    for lam in (0.1, 0.03, 0.01):
        p = problem(n, d, d, 3, lam)
        yield compare(
            f"rank 3 over LIBSVM on vectors (at most), {p}, n={n}, {d}x{d}",
            lambda p=p: low_rank_svm(p.X, p.y, **p.settings),
            lambda p=p: by_sklearn(p.rows, p.y, p, 1e-4),
            runs,
        )
