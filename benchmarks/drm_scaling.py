"""How the time of each DRM solver grows with n, p and g; on real data where it is there, as Figure 1 does.

Run: python benchmarks/drm_scaling.py [--quick]
Writes benchmarks/results/drm-scaling.csv: seconds at each size; slopes of log-log lines are what to compare.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from drm import classes_in_space

from marginbook.datasets import available, load
from marginbook.drm import DRMClassifier
from marginbook.drm.model.operators import LinearSystem
from marginbook.drm.solvers import closed_form
from marginbook.drm.solvers.first_order import accelerated, gradient_descent, proximal_point
from marginbook.drm.solvers.leave_one_out import leave_one_out
from marginbook.kernels import gram
from marginbook.quality.benchmarking import Line, main

ALGORITHMS = {"GD": gradient_descent, "PPA": proximal_point, "APG": accelerated}
#: test points of a call of the paper's algorithms
POINTS = 5


def grouped(n: int, p: int, g: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows grouped by class, their classes and the class sizes."""
    X, y = classes_in_space(n, p, g, 5)
    order = np.argsort(y, kind="stable")
    return X[order], y[order], np.bincount(y)


def fit_closed(n: int, p: int) -> Callable[[], object]:
    X, _, sizes = grouped(n, p, 5)
    return lambda: closed_form(gram("linear", X), sizes, 1.0, 1.0).weights(X @ X[:1].T)


def all_left_out(n: int) -> Callable[[], object]:
    X, _, sizes = grouped(n, 10, 5)
    K = gram(("rbf", {"gamma": 0.05}), X)
    return lambda: leave_one_out(K, sizes, 1.0, 0.1)


def fit_one_pass(n: int, p: int, g: int) -> Callable[[], object]:
    X, y = classes_in_space(n, p, g, 6)
    return lambda: DRMClassifier(1e-3, 1.0, "linear", solver="one-pass").fit(X, y)


def predict_one_pass(n: int, p: int, g: int) -> Callable[[], object]:
    X, y = classes_in_space(n, p, g, 7)
    Z, _ = classes_in_space(20_000, p, g, 8)
    model = DRMClassifier(1e-3, 1.0, "linear", solver="one-pass").fit(X, y)
    return lambda: model.predict(Z)


def lines(quick: bool) -> Iterator[Line]:
    """Yield what is measured on generated data."""
    top = 3 if quick else 5
    widths, classes = tuple(10 * 2**i for i in range(top)), tuple(2 * 2**i for i in range(top))
    small = tuple(250 * 2**i for i in range(top))
    large = tuple(12_500 * 2**i for i in range(top))
    found: list[tuple[str, str, tuple[int, ...], Callable[[int], Callable[[], object]]]] = [
        ("closed form", "n", small, lambda n: fit_closed(n, 10)),
        ("closed form", "p", tuple(500 * 4**i for i in range(top)), lambda p: fit_closed(300, p)),
        ("leave-one-out, all n fits", "n", small, all_left_out),
        ("one-pass fit", "n", large, lambda n: fit_one_pass(n, 20, 5)),
        ("one-pass fit", "p", widths, lambda p: fit_one_pass(20_000, p, 5)),
        ("one-pass fit", "g", classes, lambda g: fit_one_pass(20_000, 20, g)),
        ("one-pass predict", "n", large, lambda n: predict_one_pass(n, 20, 5)),
        ("one-pass predict", "p", widths, lambda p: predict_one_pass(5_000, p, 5)),
        ("one-pass predict", "g", classes, lambda g: predict_one_pass(5_000, 20, g)),
    ]
    for what, axis, sizes, action in found:
        for size in sizes:
            yield Line(f"{what}, {axis}", axis, size, action(size))


def figure_1(name: str, quick: bool) -> Iterator[Line]:
    """Figure 1 of the paper: time of one test point after 50 iterations, alpha = 1e-3, beta = 1e4."""
    data = load(name)
    X, y = np.asarray(data.X), np.unique(np.asarray(data.y), return_inverse=True)[1]
    X = X / np.where(np.abs(X).max(axis=0) > 0, np.abs(X).max(axis=0), 1.0)
    train = np.flatnonzero(~data.test_mask)
    points = X[data.test_mask][:POINTS]
    rows = np.random.default_rng(0).permutation(train)
    sizes = tuple(len(rows) * k // 8 for k in ((1, 2, 3) if quick else (1, 2, 4, 6, 8)))

    def action(n: int, algorithm: str) -> Callable[[], object]:
        chosen = rows[:n]
        chosen = chosen[np.argsort(y[chosen], kind="stable")]
        counts = np.bincount(y[chosen])
        system = LinearSystem(X[chosen], counts[counts > 0], 1e-3, 1e4)
        Kx = system.kernel_vectors(points)
        largest = system.safe_eigenvalue()  # once for all test points, so not in the time of one
        known = {"PPA": {"c": largest}, "APG": {"b": largest + 1e4}}.get(algorithm, {})

        def run() -> None:
            for j in range(len(points)):  # one at a time, as the paper's algorithms treat them
                ALGORITHMS[algorithm](system, Kx[:, j : j + 1], max_iter=50, tol=0.0, **known)

        return run

    for algorithm in ALGORITHMS:
        for n in sizes:
            yield Line(f"{algorithm} on {name}, n", "n", n, action(n, algorithm), share=POINTS)


def measure(quick: bool) -> Iterator[Line]:
    """Yield all lines; those of Figure 1 where the data is fetched."""
    yield from lines(quick)
    for name in ("ijcnn1", "shuttle"):
        if name in available():
            yield from figure_1(name, quick)
        else:
            print(f"Figure 1 waits for data: `marginbook data fetch {name}`")


if __name__ == "__main__":
    main(measure)
