"""Time the fast paths of the DRM beside the algorithm of the paper, LinearSVC and plain matrix products.

Run: python benchmarks/drm.py [--quick]
Writes benchmarks/results/drm.csv. A ratio, not a time, is what to compare between machines.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.svm import LinearSVC

from marginbook.drm import DRMClassifier
from marginbook.drm.model.objective import class_products, class_slices, dissimilarity, system_matrix
from marginbook.drm.solvers.general import GeneralProblem, solve
from marginbook.drm.solvers.leave_one_out import leave_one_out
from marginbook.kernels import gram
from marginbook.quality.benchmarking import Ratio, in_turns, main


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


def one_pass(n: int, n_test: int, runs: int) -> Iterator[Ratio]:
    """The one-pass linear DRM at the size of SensIT Vehicle: 50 features, 3 classes."""
    X, y = classes_in_space(n, 50, 3, 0)
    Z, _ = classes_in_space(n_test, 50, 3, 1)
    model = DRMClassifier(1e-3, 1e4, "linear", solver="one-pass")
    order = np.argsort(y, kind="stable")
    A, labels = X[order], y[order]
    c = float(np.linalg.eigvalsh(A.T @ A)[-1] + 1e-3 * np.einsum("ij,ij->i", A, A).max())
    points = Z[:20]

    def by_points() -> None:
        for point in points:
            ppa_one_point(A, labels, point, 1e-3, 1e4, c)

    size = f"n={n}, p=50, g=3"
    ours, ppa = in_turns(lambda: model.fit(X, y).predict(Z), by_points, runs=runs)
    what = f"one-pass fit + predict against the paper's PPA ({n_test} points, from {len(points)}), {size}"
    yield Ratio(what, ours, ppa * n_test / len(points))
    fit, svc, product = in_turns(
        lambda: model.fit(X, y), lambda: LinearSVC().fit(X, y), lambda: X.T @ X, runs=3 * runs
    )
    yield Ratio(f"one-pass fit against LinearSVC, {size}", fit, svc)
    yield Ratio(f"one-pass fit over one X.T @ X (at most), {size}", fit, product)


def prediction(m: int, runs: int) -> Iterator[Ratio]:
    """Predicting m points of 10 features in 10 classes beside one product with 100 columns."""
    X, y = classes_in_space(5000, 10, 10, 2)
    Z, _ = classes_in_space(m, 10, 10, 3)
    model = DRMClassifier(1e-3, 1.0, "linear", solver="one-pass").fit(X, y)
    W = np.random.default_rng(0).normal(size=(10, 100))
    times = in_turns(lambda: model.predict(Z), lambda: Z @ W, runs=runs)
    yield Ratio(f"one-pass predict over one X @ W (at most), m={m}, p=10, g=10", *times)


def naive_leave_one_out(K: np.ndarray, sizes: np.ndarray, alpha: float, beta: float, points: range) -> None:
    """Train once per left-out point, for the points given."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    for k in points:
        keep = np.delete(np.arange(len(labels)), k)
        counts = np.bincount(labels[keep], minlength=len(sizes))
        inner, Kx = K[np.ix_(keep, keep)], K[keep, k : k + 1]
        w = np.linalg.solve(system_matrix(inner, counts, alpha, beta), Kx)
        dissimilarity(counts, Kx, w, *class_products(inner, counts, w))


def loo(n: int, runs: int) -> Iterator[Ratio]:
    """Exact leave-one-out beside the loop, and beside one dense solve."""
    X, y = classes_in_space(n, 10, 10, 4)
    order = np.argsort(y, kind="stable")
    K, sizes = gram(("rbf", {"gamma": 0.05}), X[order]), np.bincount(y)
    points = range(0, n, max(1, n // 30))
    M = system_matrix(K, sizes, 1.0, 0.1)
    fast, slow, all_sides, one_side = in_turns(
        lambda: leave_one_out(K, sizes, 1.0, 0.1, probes=32),
        lambda: naive_leave_one_out(K, sizes, 1.0, 0.1, points),
        lambda: np.linalg.solve(M, K),
        lambda: np.linalg.solve(M, K[:, 0]),
        runs=runs,
    )
    size, over = f"n={n}, g=10, 32 fits certified", "leave-one-out over one dense solve"
    yield Ratio(f"leave-one-out against the loop of n trainings, {size}", fast, slow * n / len(points))
    yield Ratio(f"{over}, n right-hand sides (at most), {size}", fast, all_sides)
    yield Ratio(f"{over}, one right-hand side (at most), {size}", fast, one_side)


def general(n: int, m: int, runs: int) -> Iterator[Ratio]:
    """The proximal solver beside cvxpy for the two general models with a fast path."""
    X, y = classes_in_space(n, 10, 5, 9)
    Z, _ = classes_in_space(m, 10, 5, 10)
    order = np.argsort(y, kind="stable")
    kernel, sizes = ("rbf", {"gamma": 0.05}), tuple(np.bincount(y).tolist())
    K, Kx = gram(kernel, X[order]), gram(kernel, X[order], Z)
    for q, name in ((1, "(1,1)"), (2, "(2,1)")):
        problem = GeneralProblem(K, sizes, 0.1, 0.1, q, 1, "identity")
        solve(problem, Kx[:, :1], "cvxpy")  # compiles the problem; that is no part of the comparison
        ours, oracle = in_turns(
            # a new problem each time: its decomposition is part of the work
            lambda q=q: solve(GeneralProblem(K, sizes, 0.1, 0.1, q, 1, "identity"), Kx),
            lambda problem=problem: solve(problem, Kx[:, :5], "cvxpy"),
            runs=runs,
        )
        what = f"proximal solver of the {name} model against cvxpy ({m} points, from 5), n={n}"
        yield Ratio(what, ours, oracle * m / 5)


def measure(quick: bool) -> Iterator[Ratio]:
    """Yield all ratios."""
    runs = 2 if quick else 7
    yield from one_pass(5_000 if quick else 78_823, 1_000 if quick else 19_705, runs)
    yield from prediction(20_000 if quick else 1_000_000, runs)
    yield from loo(120 if quick else 600, runs)
    yield from general(60 if quick else 300, 20 if quick else 50, runs)


if __name__ == "__main__":
    main(measure)
