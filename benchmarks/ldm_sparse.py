"""Time the exact linear LDM on sparse data beside LIBLINEAR's SVM and the averaged SGD of the paper.

Run: python benchmarks/ldm_sparse.py [--case M C] [--quick]
Writes benchmarks/results/ldm-sparse.csv (ratios) and ldm-sparse-curves.csv (excess over the optimum against
CPU time); rows of other m or C are kept. Rows of the data are of unit length, as text is scaled, with
70 words each of a vocabulary whose frequencies fall as Zipf's law has it. Each solver minimises its own
problem; "excess" is the distance of its objective to a lower bound of that problem's optimum, as a share.
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

import numba
import numpy as np
import sklearn
from rich.console import Console
from rich.table import Table
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from marginbook.ldm.asgd import averaged_sgd
from marginbook.ldm.linear import LinearSolution, linear_coordinate_descent
from marginbook.ldm.linear_problem import linear_objective

OUT = Path(__file__).parent / "results"
RATIOS = ("m", "C", "what", "value", "goal", "met")
CURVES = ("m", "C", "solver", "passes", "seconds", "excess")
CASES = ((300_000, 1.0), (300_000, 10.0), (60_000, 100.0))
ACCURACY = 1e-3
LAMBDA = 2.0**-2  # the largest of the paper's grid
RATIO = f"exact LDM over LIBLINEAR's SVM, time to an excess of {ACCURACY:g} (at most)"
RATIO_CERTIFIED = f"exact LDM, stopping itself at a certified gap of {ACCURACY:g}, over the same (at most)"
RATIO_SGD = "averaged SGD, 5 passes, over exact LDM at the same objective (at least)"


def text_like(m: int, d: int, words: int, seed: int = 0, noise: float = 0.1) -> tuple[csr_matrix, np.ndarray]:
    """Return m documents of `words` words, tf-idf of unit length, and labels of a noisy linear rule."""
    rng = np.random.default_rng(seed)
    frequency = np.cumsum(1.0 / (np.arange(d) + 20.0))
    columns = np.searchsorted(frequency / frequency[-1], rng.random(m * words)).astype(np.int32)
    X = csr_matrix((np.ones(m * words), columns, np.arange(0, m * words + 1, words)), shape=(m, d))
    X.sum_duplicates()
    inverse = np.log((m + 1) / (np.bincount(X.indices, minlength=d) + 1)) + 1
    X.data = (1 + np.log(X.data)) * inverse[X.indices]
    X.data /= np.repeat(np.sqrt(np.add.reduceat(X.data**2, X.indptr[:-1])), np.diff(X.indptr))
    score = X @ rng.standard_t(3, size=d)
    score = score - score.mean()
    return X, np.where(score + noise * score.std() * rng.normal(size=m) > 0, 1.0, -1.0)


def seconds(action: Callable[[], object], runs: int) -> float:
    """Return the median CPU time of `runs` calls."""
    times = []
    for _ in range(runs):
        began = time.process_time()
        action()
        times.append(time.process_time() - began)
    return float(np.median(times))


def liblinear(X: csr_matrix, y: np.ndarray, C: float, passes: int) -> np.ndarray:
    """Return the SVM without intercept after some passes of LIBLINEAR (hinge, dual, shrinking)."""
    model = LinearSVC(loss="hinge", C=C, fit_intercept=False, tol=1e-12, max_iter=passes, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y).coef_.ravel()


def liblinear_curve(
    X: csr_matrix, y: np.ndarray, C: float, bound: float, most: int
) -> list[tuple[int, float, float]]:
    """Return (passes, seconds, excess), ascending, up to and including the first with the accuracy."""

    def point(passes: int) -> tuple[int, float, float]:
        began = time.process_time()
        w = liblinear(X, y, C, passes)
        took = time.process_time() - began
        return passes, took, linear_objective(X, y, w, 0.0, 0.0, C) / bound - 1

    curve = [point(1)]
    while curve[-1][2] > ACCURACY and curve[-1][0] < most:
        curve.append(point(2 * curve[-1][0]))
    below, reached = curve[-2][0], curve[-1][0]
    for _ in range(3):  # a first pass within an eighth of the last step
        if reached - below > 1:
            curve.append(point((below + reached) // 2))
            below, reached = (below, curve[-1][0]) if curve[-1][2] <= ACCURACY else (curve[-1][0], reached)
    return [each for each in sorted(curve) if each[0] <= reached]


def measure(m: int, C: float, runs: int) -> tuple[list[tuple], list[tuple]]:
    """Return the rows of the two tables for one C."""
    X, y = text_like(m, 47_000 if m > 10_000 else 3_000, 70)
    few = slice(0, 200)
    linear_coordinate_descent(X[few], y[few], LAMBDA, LAMBDA, C, max_iter=2)  # compiles
    averaged_sgd(X[few], y[few], LAMBDA, LAMBDA, C, n_passes=1)

    svm = linear_coordinate_descent(X, y, 0.0, 0.0, C, tol=1e-4, max_iter=2000)
    theirs = liblinear_curve(X, y, C, svm.objective - svm.dual_gap, 4 * svm.n_iter)
    exact = linear_coordinate_descent(X, y, LAMBDA, LAMBDA, C, tol=1e-4, max_iter=2000)
    bound = exact.objective - exact.dual_gap

    def ldm(passes: int, record: bool = False) -> LinearSolution:
        return linear_coordinate_descent(X, y, LAMBDA, LAMBDA, C, tol=1e-4, max_iter=passes, record=record)

    path = ldm(exact.n_iter, record=True).path
    before = seconds(lambda: ldm(0), runs)  # checks of the data, norms, and the certificate at the end
    ours = [(passes, before + took, value / bound - 1) for passes, took, value, _ in path]
    needed = next(passes for passes, _, excess in ours if excess <= ACCURACY)
    sgd = averaged_sgd(X, y, LAMBDA, LAMBDA, C, record=True)
    reached = sgd.objective / bound - 1
    as_sgd = next(passes for passes, _, excess in ours if excess <= reached)

    peer = seconds(lambda: liblinear(X, y, C, theirs[-1][0]), runs)
    own = seconds(lambda: ldm(needed), runs)
    certified = seconds(
        lambda: linear_coordinate_descent(X, y, LAMBDA, LAMBDA, C, tol=ACCURACY, max_iter=2000), runs
    )
    slow = seconds(lambda: averaged_sgd(X, y, LAMBDA, LAMBDA, C), runs)
    fast = seconds(lambda: ldm(as_sgd), runs)
    rows = [
        (RATIO, own / peer, 1.5),
        (RATIO_CERTIFIED, certified / peer, 1.5),
        (RATIO_SGD, slow / fast, 1.0),
        ("LIBLINEAR: passes", theirs[-1][0], ""),
        ("LIBLINEAR: CPU seconds", peer, ""),
        ("exact LDM: passes", needed, ""),
        ("exact LDM: CPU seconds", own, ""),
        ("averaged SGD: CPU seconds", slow, ""),
        ("averaged SGD: excess after 5 passes", reached, ""),
        ("exact LDM: CPU seconds to that excess", fast, ""),
    ]
    ratios = [(m, C, what, f"{value:.4g}", goal, met(what, value, goal)) for what, value, goal in rows]
    curves = [(m, C, "LIBLINEAR (SVM)", k, f"{took:.4g}", f"{excess:.4g}") for k, took, excess in theirs]
    curves += [(m, C, "exact LDM", k, f"{took:.4g}", f"{excess:.4g}") for k, took, excess in ours]
    curves += [
        (
            m,
            C,
            "averaged SGD (LDM)",
            k + 1,
            f"{slow * (k + 1) / len(sgd.path):.4g}",
            f"{value / bound - 1:.4g}",
        )
        for k, (_, value) in enumerate(sgd.path)
    ]
    return ratios, curves


def met(what: str, value: float, goal: float | str) -> str:
    """Say whether a ratio reaches its goal; nothing where there is none."""
    if goal == "":
        return ""
    return "yes" if (value <= float(goal) if "at most" in what else value >= float(goal)) else "no"


def merged(path: Path, columns: tuple[str, ...], new: list[tuple], m: int, C: float) -> None:
    """Write rows and environment in place of the file's rows with the same m and C."""
    place = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "scikit-learn": sklearn.__version__,
        "machine": f"{platform.machine()}, 1 thread",
    }
    rows = []
    if path.exists():
        with path.open(newline="", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if (int(row["m"]), float(row["C"])) != (m, C)]
    rows += [dict(zip(columns, map(str, row), strict=True)) | place for row in new]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*columns, *place], lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows, key=lambda row: (int(row["m"]), float(row["C"]))))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--case", nargs=2, metavar=("M", "C"), help="one number of rows and one C only")
    parser.add_argument("--runs", type=int, default=3, help="calls per median")
    parser.add_argument("--quick", action="store_true", help="a small size, for a look; nothing is written")
    given = parser.parse_args()
    cases = CASES if given.case is None else ((int(given.case[0]), float(given.case[1])),)
    if given.quick:
        cases = tuple((5_000, C) for _, C in cases)
    table = Table("m", "C", "what", "value", "goal", "met", title="Linear LDM, sparse: CPU time, one thread")
    for m, C in cases:
        with threadpool_limits(1):
            ratios, curves = measure(m, C, given.runs)
        for row in ratios:
            table.add_row(*map(str, row))
        if not given.quick:
            OUT.mkdir(exist_ok=True)
            merged(OUT / "ldm-sparse.csv", RATIOS, ratios, m, C)
            merged(OUT / "ldm-sparse-curves.csv", CURVES, curves, m, C)
    Console(width=150).print(table)


if __name__ == "__main__":
    sys.exit(main())
