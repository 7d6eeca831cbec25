"""Time the exact linear LDM on sparse data beside LIBLINEAR's SVM and the averaged SGD of the paper.

Run: python benchmarks/ldm_sparse.py [--quick]
Writes benchmarks/results/ldm-sparse.csv (ratios) and ldm-sparse-curves.csv (excess over the optimum against
CPU time). Rows of the data are of unit length, as text is scaled, with
70 words each of a vocabulary whose frequencies fall as Zipf's law has it. Each solver minimises its own
problem; "excess" is the distance of its objective to a lower bound of that problem's optimum, as a share.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from marginbook.ldm.model.linear import linear_objective
from marginbook.ldm.solvers.asgd import averaged_sgd
from marginbook.ldm.solvers.linear_cd import LinearSolution, linear_coordinate_descent
from marginbook.quality.benchmarking import CPU, Ratio, Record, clock, in_turns, main
from marginbook.quality.benchmarking.case_file import ratio_row

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
        (_, took), w = clock(lambda: liblinear(X, y, C, passes))
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


def curves(m: int, C: float, runs: int) -> Iterator[Record]:
    """Yield the rows of the two tables for one C."""
    X, y = text_like(m, 47_000 if m > 10_000 else 3_000, 70)
    few = slice(0, 200)
    linear_coordinate_descent(X[few], y[few], LAMBDA, LAMBDA, C, max_iter=2)  # compiles
    averaged_sgd(X[few], y[few], LAMBDA, LAMBDA, C, n_passes=1)

    svm = linear_coordinate_descent(X, y, 0.0, 0.0, C, tol=1e-4, max_iter=2000)
    theirs = liblinear_curve(X, y, C, svm.objective - svm.dual_gap, 4 * svm.n_iter)
    exact = linear_coordinate_descent(X, y, LAMBDA, LAMBDA, C, tol=1e-4, max_iter=2000, record=True)
    bound = exact.objective - exact.dual_gap

    def ldm(passes: int, tol: float = 1e-4) -> LinearSolution:
        return linear_coordinate_descent(X, y, LAMBDA, LAMBDA, C, tol=tol, max_iter=passes)

    before = clock(lambda: ldm(0))[0][CPU]  # checks of the data, norms, and the certificate at the end
    ours = [(passes, before + took, value / bound - 1) for passes, took, value, _ in exact.path]
    needed = next(passes for passes, _, excess in ours if excess <= ACCURACY)
    sgd = averaged_sgd(X, y, LAMBDA, LAMBDA, C, record=True)
    reached = sgd.objective / bound - 1
    as_sgd = next(passes for passes, _, excess in ours if excess <= reached)

    own, certified, peer, fast, slow = in_turns(
        lambda: ldm(needed),
        lambda: ldm(2000, tol=ACCURACY),
        lambda: liblinear(X, y, C, theirs[-1][0]),
        lambda: ldm(as_sgd),
        lambda: averaged_sgd(X, y, LAMBDA, LAMBDA, C),
        runs=runs,
    )
    size = {"m": m, "C": C}
    ratios = (Ratio(RATIO, own, peer), Ratio(RATIO_CERTIFIED, certified, peer), Ratio(RATIO_SGD, fast, slow))
    for row in (ratio_row("ldm-sparse", ratio) for ratio in ratios):
        row["value"] = row.pop("ratio")
        names = ("what", "value", "goal", "met", "least", "most", "runs")
        yield Record("ldm-sparse", size | {name: row[name] for name in names})
    for what, value in {
        "LIBLINEAR: passes": theirs[-1][0],
        "LIBLINEAR: CPU seconds": np.median(peer[:, CPU]),
        "exact LDM: passes": needed,
        "exact LDM: CPU seconds": np.median(own[:, CPU]),
        "averaged SGD: CPU seconds": (sgd_seconds := np.median(slow[:, CPU])),
        "averaged SGD: excess after 5 passes": reached,
        "exact LDM: CPU seconds to that excess": np.median(fast[:, CPU]),
    }.items():
        yield Record("ldm-sparse", size | {"what": what, "value": f"{value:.4g}", "goal": "", "met": ""})
    epoch = sgd_seconds / len(sgd.path)
    averaged = [(k, epoch * k, value / bound - 1) for k, (_, value) in enumerate(sgd.path, start=1)]
    names = ("LIBLINEAR (SVM)", "exact LDM", "averaged SGD (LDM)")
    for solver, points in zip(names, (theirs, ours, averaged), strict=True):
        for k, took, excess in points:
            point = {**size, "solver": solver, "passes": k, "seconds": f"{took:.4g}"}
            yield Record("ldm-sparse-curves", point | {"excess": f"{excess:.4g}"})


def measure(quick: bool) -> Iterator[Record]:
    """Yield all rows, by ascending size."""
    for m, C in sorted(CASES):
        yield from curves(5_000 if quick else m, C, 1 if quick else 3)


if __name__ == "__main__":
    main(measure)
