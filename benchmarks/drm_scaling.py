"""How the time of each DRM solver grows with n, p and g; on real data where it is there, as Figure 1 does.

Run: python benchmarks/drm_scaling.py [--quick]
Writes benchmarks/results/drm-scaling.csv: seconds at each size; slopes of log-log lines are what to compare.
"""

from __future__ import annotations

import argparse
import csv
import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from drm import classes_in_space, median_seconds
from rich.console import Console
from rich.progress import track
from rich.table import Table
from threadpoolctl import threadpool_limits

from marginbook.datasets import available, load
from marginbook.drm import DRMClassifier
from marginbook.drm.iterative import accelerated, gradient_descent, proximal_point
from marginbook.drm.leave_one_out import leave_one_out
from marginbook.drm.operators import LinearSystem
from marginbook.drm.solvers import closed_form
from marginbook.kernels import gram

OUT = Path(__file__).parent / "results" / "drm-scaling.csv"
ALGORITHMS = {"GD": gradient_descent, "PPA": proximal_point, "APG": accelerated}

#: one line of a figure: what is timed, the axis, the sizes, and the action at a size
Line = tuple[str, str, tuple[int, ...], Callable[[int], Callable[[], object]]]


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


def lines(quick: bool) -> list[Line]:
    """Return what is measured on generated data."""
    top = 3 if quick else 5
    widths, classes = tuple(10 * 2**i for i in range(top)), tuple(2 * 2**i for i in range(top))
    small = tuple(250 * 2**i for i in range(top))
    large = tuple(12_500 * 2**i for i in range(top))
    return [
        ("closed form", "n", small, lambda n: fit_closed(n, 10)),
        ("closed form", "p", tuple(500 * 4**i for i in range(top)), lambda p: fit_closed(300, p)),
        ("leave-one-out, all n fits", "n", small, all_left_out),
        ("one-pass fit", "n", large, lambda n: fit_one_pass(n, 20, 5)),
        ("one-pass fit", "p", widths, lambda p: fit_one_pass(20_000, p, 5)),
        ("one-pass fit", "g", classes, lambda g: fit_one_pass(20_000, 20, g)),
        ("one-pass predict", "n", large, lambda n: predict_one_pass(n, 20, 5)),
        (
            "one-pass predict",
            "p",
            widths,
            lambda p: predict_one_pass(5_000, p, 5),
        ),
        (
            "one-pass predict",
            "g",
            classes,
            lambda g: predict_one_pass(5_000, 20, g),
        ),
    ]


def figure_1(name: str, quick: bool) -> Iterator[Line]:
    """Figure 1 of the paper: time of one test point after 50 iterations, alpha = 1e-3, beta = 1e4."""
    data = load(name)
    X, y = np.asarray(data.X), np.unique(np.asarray(data.y), return_inverse=True)[1]
    X = X / np.where(np.abs(X).max(axis=0) > 0, np.abs(X).max(axis=0), 1.0)
    train = np.flatnonzero(~data.test_mask)
    points = X[data.test_mask][:5]
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
        yield f"{algorithm} on {name}", "n", sizes, lambda n, a=algorithm: action(n, a)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="three sizes each; nothing is written")
    quick = parser.parse_args().quick
    console = Console(width=130)
    rows: list[tuple[str, str, int, float]] = []
    with threadpool_limits(1):
        todo = lines(quick)
        for name in ("ijcnn1", "shuttle"):
            if name in available():
                todo += figure_1(name, quick)
            else:
                console.print(f"Figure 1 waits for data: `marginbook data fetch {name}`")
        for what, axis, sizes, action in track(todo, "measuring", console=console):
            for size in sizes:
                repeat = 5 if " on " in what else 1  # seconds of one test point
                rows.append((what, axis, size, median_seconds(action(size), 3) / repeat))
    table = Table("what", "axis", "sizes", "seconds", "slope", title="DRM: one thread, log-log slopes")
    for what, axis in dict.fromkeys((what, axis) for what, axis, *_ in rows):
        size, seconds = np.array([row[2:] for row in rows if row[:2] == (what, axis)]).T
        slope = np.polyfit(np.log(size[-3:]), np.log(seconds[-3:]), 1)[0]
        span = f"{size[0]:,.0f} … {size[-1]:,.0f}", f"{seconds[0]:.2g} … {seconds[-1]:.2g}"
        table.add_row(what, axis, *span, f"{slope:.2f}")
    console.print(table)
    if quick:
        return
    with OUT.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["what", "x", "value", "seconds", "python", "numpy", "machine"])
        for what, axis, size, seconds in rows:
            place = (platform.python_version(), np.__version__, platform.machine())
            writer.writerow([f"{what}, {axis}", axis, size, f"{seconds:.4g}", *place])


if __name__ == "__main__":
    sys.exit(main())
