"""Time the fast paths of the DRM beside the algorithm of the paper, LinearSVC and plain matrix products.

Run: python benchmarks/drm.py [--quick]
Writes benchmarks/results/drm.csv. A ratio, not a time, is what to compare between machines.
"""

from __future__ import annotations

import argparse
import csv
import platform
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_info, threadpool_limits

from marginbook.drm import DRMClassifier
from marginbook.drm.general import GeneralProblem, solve
from marginbook.drm.leave_one_out import leave_one_out
from marginbook.drm.objective import class_products, class_slices, dissimilarity, system_matrix
from marginbook.kernels import gram

OUT = Path(__file__).parent / "results" / "drm.csv"


def median_seconds(action: Callable[[], object], runs: int = 7) -> float:
    """Return the median time of `runs` calls after one that is not counted."""
    times = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return float(np.median(times[1:]))


def classes_in_space(n: int, p: int, g: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n points of g Gaussian classes, and their classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, g, n)
    return rng.normal(size=(n, p)) + rng.normal(size=(g, p))[y] * 1.5, y


def ppa_one_point(
    A: np.ndarray, y: np.ndarray, x: np.ndarray, alpha: float, beta: float, c: float
) -> np.ndarray:
    """Algorithm 5 of the paper: weights of one test point, matrix-free; rows of `A` are grouped by class."""
    sizes = np.bincount(y)
    blocks = class_slices(sizes)
    norms = np.einsum("ij,ij->i", A, A)
    Kx, w = A @ x, np.zeros(len(A))
    for _ in range(150):
        Qw = A @ (A.T @ w) + alpha * norms * w
        for block, size in zip(blocks, sizes, strict=True):
            Qw[block] -= (alpha / size) * (A[block] @ (A[block].T @ w[block]))
        step = (Kx - Qw + c * w) / (beta + c)
        moved = np.linalg.norm(step - w)
        w = step
        if moved <= 1e-5:
            break
    return w


def one_pass(n: int, n_test: int, runs: int) -> list[tuple[str, float, float]]:
    """Ratios of the one-pass linear DRM at the size of SensIT Vehicle: 50 features, 3 classes."""
    X, y = classes_in_space(n, 50, 3, 0)
    Z, _ = classes_in_space(n_test, 50, 3, 1)
    model = DRMClassifier(1e-3, 1e4, "linear", solver="one-pass")
    fit = median_seconds(lambda: model.fit(X, y), runs)
    predict = median_seconds(lambda: model.predict(Z), runs)
    order = np.argsort(y, kind="stable")
    A, labels = X[order], y[order]
    c = float(np.linalg.eigvalsh(A.T @ A)[-1] + 1e-3 * np.einsum("ij,ij->i", A, A).max())
    points = Z[:20]
    start = time.perf_counter()
    for point in points:
        ppa_one_point(A, labels, point, 1e-3, 1e4, c)
    ppa = (time.perf_counter() - start) / len(points) * n_test
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        svc = median_seconds(lambda: LinearSVC().fit(X, y), 1)
    product = median_seconds(lambda: X.T @ X, 3 * runs)
    size = f"n={n}, p=50, g=3"
    return [
        (
            f"one-pass fit + predict against the paper's PPA ({n_test} points, from 20), {size}",
            ppa / (fit + predict),
            1e4,
        ),
        (f"one-pass fit against LinearSVC, {size}", svc / fit, 20),
        (f"one-pass fit over one X.T @ X (at most), {size}", fit / product, 2.5),
    ]


def prediction(m: int, runs: int) -> list[tuple[str, float, float]]:
    """Ratio of predicting m points of 10 features in 10 classes to one product with 100 columns."""
    X, y = classes_in_space(5000, 10, 10, 2)
    Z, _ = classes_in_space(m, 10, 10, 3)
    model = DRMClassifier(1e-3, 1.0, "linear", solver="one-pass").fit(X, y)
    W = np.random.default_rng(0).normal(size=(10, 100))
    ours = median_seconds(lambda: model.predict(Z), runs)
    product = median_seconds(lambda: Z @ W, runs)
    return [(f"one-pass predict over one X @ W (at most), m={m}, p=10, g=10", ours / product, 10)]


def naive_leave_one_out(K: np.ndarray, sizes: np.ndarray, alpha: float, beta: float, points: range) -> None:
    """Train once per left-out point, for the points given."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    for k in points:
        keep = np.delete(np.arange(len(labels)), k)
        counts = np.bincount(labels[keep], minlength=len(sizes))
        inner, Kx = K[np.ix_(keep, keep)], K[keep, k : k + 1]
        w = np.linalg.solve(system_matrix(inner, counts, alpha, beta), Kx)
        dissimilarity(counts, Kx, w, *class_products(inner, counts, w))


def loo(n: int, runs: int) -> list[tuple[str, float, float]]:
    """Ratios of exact leave-one-out to the loop, and to one dense solve."""
    X, y = classes_in_space(n, 10, 10, 4)
    order = np.argsort(y, kind="stable")
    K, sizes = gram(("rbf", {"gamma": 0.05}), X[order]), np.bincount(y)
    fast = median_seconds(lambda: leave_one_out(K, sizes, 1.0, 0.1, probes=32), 3 * runs)
    points = range(0, n, max(1, n // 30))
    slow = median_seconds(lambda: naive_leave_one_out(K, sizes, 1.0, 0.1, points), 1) / len(points) * n
    M = system_matrix(K, sizes, 1.0, 0.1)
    solve_all = median_seconds(lambda: np.linalg.solve(M, K), 3 * runs)
    solve_one = median_seconds(lambda: np.linalg.solve(M, K[:, 0]), 3 * runs)
    size = f"n={n}, g=10, 32 fits certified"
    return [
        (f"leave-one-out against the loop of n trainings, {size}", slow / fast, 100),
        (f"leave-one-out over one dense solve, n right-hand sides (at most), {size}", fast / solve_all, 6),
        (f"leave-one-out over one dense solve, one right-hand side (at most), {size}", fast / solve_one, 6),
    ]


def general(n: int, m: int, runs: int) -> list[tuple[str, float, float]]:
    """Ratios of the proximal solver to cvxpy for the two general models with a fast path."""
    X, y = classes_in_space(n, 10, 5, 9)
    Z, _ = classes_in_space(m, 10, 5, 10)
    order = np.argsort(y, kind="stable")
    kernel, sizes = ("rbf", {"gamma": 0.05}), tuple(np.bincount(y).tolist())
    K, Kx = gram(kernel, X[order]), gram(kernel, X[order], Z)
    rows = []
    for q, name in ((1, "(1,1)"), (2, "(2,1)")):
        problem = GeneralProblem(K, sizes, 0.1, 0.1, q, 1, "identity")
        # a new problem each time: its decomposition is part of the work
        ours = median_seconds(
            lambda q=q: solve(GeneralProblem(K, sizes, 0.1, 0.1, q, 1, "identity"), Kx), runs
        )
        # cvxpy compiles the problem in the first call, which median_seconds does not count
        oracle = median_seconds(lambda p=problem: solve(p, Kx[:, :5], "cvxpy"), 1) / 5 * m
        rows.append(
            (
                f"proximal solver of the {name} model against cvxpy ({m} points, from 5), n={n}",
                oracle / ours,
                1,
            )
        )
    return rows


def met(what: str, ratio: float, goal: float) -> str:
    """Say whether a ratio reaches its goal: an upper bound where the row says so, else a lower one."""
    return "yes" if (ratio <= goal if "at most" in what else ratio >= goal) else "no"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, for a look; nothing is written")
    quick = parser.parse_args().quick
    runs = 3 if quick else 7
    with threadpool_limits(
        1
    ):  # ratios of one thread: how many threads a product gets differs between libraries
        rows = one_pass(5_000 if quick else 78_823, 1_000 if quick else 19_705, runs)
        rows += prediction(20_000 if quick else 1_000_000, runs)
        rows += loo(120 if quick else 600, runs)
        rows += general(60 if quick else 300, 20 if quick else 50, runs)
        blas = ", ".join(f"{lib['internal_api']} {lib['version']}, 1 thread" for lib in threadpool_info())
    table = Table("what", "ratio", "goal", "met", title="DRM: medians, peers in the same process")
    for what, ratio, goal in rows:
        table.add_row(what, f"{ratio:,.1f}", f"{goal:,g}", met(what, ratio, goal))
    Console(width=130).print(table)
    if quick:
        return
    OUT.parent.mkdir(exist_ok=True)
    with OUT.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["what", "ratio", "goal", "met", "python", "numpy", "machine", "blas"])
        for what, ratio, goal in rows:
            place = (platform.python_version(), np.__version__, platform.machine(), blas)
            writer.writerow([what, f"{ratio:.4g}", f"{goal:,g}", met(what, ratio, goal), *place])


if __name__ == "__main__":
    sys.exit(main())
