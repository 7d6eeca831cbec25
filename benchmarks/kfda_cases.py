"""The comparisons of `kfda.py` that have no goal: minima for q < 1, paths, accelerations, prediction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from kfda_peers import Data, refitting_selection, skglm_half, skglm_reweighted, textbook_selection
from sklearn.linear_model import lars_path_gram

from marginbook.kfda.estimators import SparseKFDAClassifier
from marginbook.kfda.estimators.kernel_machine import kernel_sums
from marginbook.kfda.model.certificates import smallest_curvature, stationarity
from marginbook.kfda.model.objective import Problem, objective
from marginbook.kfda.peers.ols_forward_selection import orthogonal_least_squares
from marginbook.kfda.solvers.irls import majorize_minimize
from marginbook.kfda.solvers.irls_accelerated import over_relaxed, squarem
from marginbook.kfda.solvers.lasso import lasso, lasso_path
from marginbook.kfda.solvers.majorise_minimise import shrinking_mm
from marginbook.kfda.solvers.oracle import oracle
from marginbook.kfda.solvers.paths import rho_path
from marginbook.quality.benchmarking import CPU, Ratio, Record, clock, compare

#: ten values of rho, and how many of them the homotopy of scikit-learn is asked for
GRID, LARS = np.logspace(-0.5, -5, 10), 8
#: stationarity up to which a point with positive curvature counts as a certified local minimum
STATIONARY = 1e-4
TERMS = 10


def solvers(rho: float) -> dict[str, Callable[[Problem], np.ndarray]]:
    """Return who minimises J for q = 1/2; the time of those that start at the lasso includes the lasso's."""
    return {
        "shrinking, from ridge": lambda p: shrinking_mm(p, 0.5, rho).omega,
        "shrinking, from the lasso": lambda p: shrinking_mm(p, 0.5, rho, start=lasso(p, rho).omega).omega,
        "(8) by its rule": lambda p: majorize_minimize(p, 0.5, rho).omega,
        "squarem": lambda p: squarem(p, 0.5, rho).omega,
        "over-relaxed": lambda p: over_relaxed(p, 0.5, rho).omega,
        "skglm L0.5, from zero": lambda p: skglm_half(p, rho),
        "skglm L0.5, from the lasso": lambda p: skglm_half(p, rho, lasso(p, rho).omega),
        "skglm reweighted L1": lambda p: skglm_reweighted(p, rho),
    }


def end(each: Data, rho: float, name: str) -> dict[str, Any]:
    """Return time, J, retained samples and certificate of one solver on one problem."""
    solver, problem = solvers(rho)[name], each.fresh()
    seconds, omega = clock(lambda: solver(each.fresh()))
    size = np.abs(omega[1:])
    still = stationarity(problem, omega, 0.5, rho)
    curvature = smallest_curvature(problem, omega, 0.5, rho)
    return {
        "set": each.name,
        "rho": f"{rho:g}",
        "solver": name,
        "seconds": f"{seconds[CPU]:.3g}",
        "objective": objective(problem, omega, 0.5, rho),
        "retained": int(np.sum(size > 1e-3 * size.max(initial=0.0))),  # (8) has no exact zeros
        "nonzero": np.count_nonzero(size),
        "stationarity": f"{still:.1e}",
        "curvature": f"{curvature:.2g}",
        "certified": "yes" if still <= STATIONARY and curvature > 0 else "no",
    }


def minima(each: Data, rho: float, runs: int) -> Iterator[Ratio | Record]:
    """q = 1/2: the time beside skglm's, and where every solver ends."""
    found = [end(each, rho, name) for name in solvers(rho)]
    least = min(one["objective"] for one in found)
    value = {one["solver"]: one["objective"] for one in found}
    size = f"q=0.5, rho={rho:g}, {each}"
    yield compare(
        f"time of shrinking over skglm's L0.5 from zero (at most), {size}",
        lambda: shrinking_mm(each.fresh(), 0.5, rho),
        lambda: skglm_half(each.fresh(), rho),
        runs,
    )
    quotient = value["shrinking, from ridge"] / value["skglm L0.5, from zero"]
    yield Ratio(f"J of shrinking from ridge over J of skglm's L0.5 from zero, {size}", value=quotient)
    for one in found:
        shown = {"objective": f"{one['objective']:.7g}", "excess": f"{one['objective'] / least - 1:.2e}"}
        yield Record("kfda-minima", {**one, **shown})


def whole_paths(each: Data, q: float, runs: int) -> Iterator[Ratio]:
    """Ten values of rho at once, against ten fits, from K on; for q = 1 also the homotopy of scikit-learn."""

    def solve(problem: Problem, rho: float) -> object:
        return lasso(problem, rho) if q == 1 else shrinking_mm(problem, q, rho)

    def path() -> object:
        return rho_path(each.fresh(), q, GRID)

    def apart() -> None:
        for rho in GRID:
            solve(each.fresh(), rho)

    def shared() -> None:
        problem = each.fresh()
        for rho in GRID:
            solve(problem, rho)

    def homotopy() -> object:
        p, least = each.fresh(), GRID[LARS - 1]
        return lars_path_gram(
            p.correlations, p.gram, n_samples=p.n, alpha_min=least, method="lasso", max_iter=5000
        )

    what = f"q={q:g}, {len(GRID)} values of rho by a path against {len(GRID)}"
    yield compare(f"{what} separate fits, {each}", path, apart, runs)
    yield compare(f"{what} fits on one Problem, {each}", path, shared, runs)
    if q == 1:
        what = f"lasso_path, {LARS} values of rho to {GRID[LARS - 1]:.1g}, against lars_path_gram, {each}"
        yield compare(what, lambda: lasso_path(each.fresh(), GRID[:LARS]), homotopy, runs)


def accelerations(each: Data, q: float, runs: int) -> Iterator[Ratio]:
    """The two accelerations against (8), all by the paper's rule."""
    rho = 1e-3
    for name, solver in (("squarem", squarem), ("over-relaxed", over_relaxed)):
        yield compare(
            f"{name} against (8), both by the paper's rule, q={q:g}, rho={rho:g}, {each}",
            lambda solver=solver: solver(each.fresh(), q, rho),
            lambda: majorize_minimize(each.fresh(), q, rho),
            runs,
        )


def prediction(each: Data, q: float, runs: int) -> Ratio:
    """The classifier, which keeps the retained samples, against the same sum over all samples."""
    gamma = 0.5 / each.sigma**2
    model = SparseKFDAClassifier(q=q, rho=1e-2, gamma=gamma).fit(each.X, each.positive)
    Z = np.tile(each.X, (4, 1))
    kept = f"{len(model.retained_)} retained samples"
    return compare(
        f"prediction of {len(Z)} rows with {kept} against all, q={q:g}, rho=0.01, {each}",
        lambda: model.decision_function(Z),
        lambda: kernel_sums(("rbf", {"gamma": gamma}), Z, each.X, model.dual_coef_) + model.intercept_,
        runs,
    )


def general_solver(each: Data, runs: int) -> Ratio:
    """The lasso against cvxpy, from K on."""
    return compare(
        f"lasso against cvxpy (Clarabel), q=1, rho=0.01, {each}",
        lambda: lasso(each.fresh(), 1e-2),
        lambda: oracle(each.fresh(), 1.0, 1e-2, max_threads=1),
        runs,
    )


def orthogonal(each: Data, runs: int) -> Iterator[Ratio]:
    """Forward selection against two loops that choose the same columns."""
    problem = each.fresh(design=True)

    def ours() -> list[int]:
        found = orthogonal_least_squares(problem.K, problem.yhat, max_terms=TERMS)
        return (found.samples + 1).tolist()

    for what, peer in (
        ("a fit per candidate", refitting_selection),
        ("the textbook's loop", textbook_selection),
    ):
        if ours() != peer(problem, TERMS):
            raise RuntimeError(f"orthogonal least squares and {what} choose different columns on {each}")
        what = f"orthogonal least squares, {TERMS} terms, against {what}, {each}"
        yield compare(what, ours, lambda peer=peer: peer(problem, TERMS), runs)
