"""The resident memory of a fit at its peak, ours and a peer's, each in a process of its own.

Run: python benchmarks/memory.py [--quick]
Writes benchmarks/results/memory.csv, in MiB: the data; what is resident before the fit (Python, libraries,
data, compiled code); and the most during it. What is between the two is the fit's own. Imports are in the
functions, since every process makes its own: only those that its fit needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from marginbook.quality.benchmarking import Record, main, peak_of_fit

MIB = 2**20
#: what is fitted, by size: the bytes of the data, and who fits it
Fits = tuple[int, dict[str, Callable[[], object]]]


def drm_one_pass(n: int) -> Fits:
    from drm import classes_in_space
    from sklearn.svm import LinearSVC

    from marginbook.drm import DRMClassifier

    X, y = classes_in_space(n, 50, 3, 0)
    return X.nbytes, {
        "ours, one pass": lambda: DRMClassifier(1e-3, 1e4, "linear", solver="one-pass").fit(X, y),
        "LinearSVC": lambda: LinearSVC().fit(X, y),
    }


def ldm_kernel(m: int) -> Fits:
    from ldm_peers import LAMBDA, clarabel_dual, fit, problem
    from sklearn.svm import SVC

    from marginbook.ldm.model.whitening import WhitenedGram

    data = problem("waveform", m)
    found: dict[str, Callable[[], object]] = {
        "ours, active set": lambda: fit(data.gram, data.y, LAMBDA, 10.0),
        "SVC": lambda: SVC(C=10.0, gamma=data.kernel[1]["gamma"]).fit(data.X, data.y),
    }
    if m <= 1000:
        found["cvxpy, dual with our H"] = lambda: clarabel_dual(
            WhitenedGram(data.gram, data.y).hessian(LAMBDA), LAMBDA, 10.0
        )
    return data.X.nbytes, found


def ldm_linear(m: int) -> Fits:
    from ldm_sparse import LAMBDA, liblinear, text_like

    from marginbook.ldm.solvers.linear_cd import linear_coordinate_descent

    X, y = text_like(m, 47_000 if m > 10_000 else 3_000, 70)
    return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes, {
        "ours": lambda: linear_coordinate_descent(X, y, LAMBDA, LAMBDA, 1.0, tol=1e-3, max_iter=200),
        "LIBLINEAR": lambda: liblinear(X, y, 1.0, 20),
    }


def kfda(n: int) -> Fits:
    from kfda_peers import celer
    from kfda_peers import data as kfda_data

    from marginbook.kfda.solvers.lasso import lasso
    from marginbook.kfda.solvers.majorise_minimise import shrinking_mm

    each = kfda_data("waveform", n)
    return each.K.nbytes, {
        "ours, shrinking, q=0.5": lambda: shrinking_mm(each.fresh(), 0.5, 1e-2),
        "ours, lasso": lambda: lasso(each.fresh(), 1e-2),
        "celer": lambda: celer(each.fresh(), 1e-2, 1e-4),
    }


def clasmk_bases(n: int) -> Fits:
    import numpy as np
    from clasmk_peers import rows

    from marginbook.clasmk.model.kernel_sets import paper_kernels
    from marginbook.clasmk.model.subspaces import fit_subspaces

    X, codes = rows("optdigits", n)
    kernels = paper_kernels("figures")
    return X.nbytes, {
        "ours, by classes": lambda: fit_subspaces(X, codes, kernels, tol=1e-3),
        "all data at once": lambda: fit_subspaces(X, np.zeros(n, dtype=int), kernels, tol=1e-3),
    }


def smm(n: int) -> Fits:
    from smm_peers import by_sklearn, problem

    from marginbook.smm.solvers.block_descent import low_rank_svm
    from marginbook.smm.solvers.oracle import alternation_by_cvxpy

    p = problem(n, 20, 20, 3, 0.03)
    found: dict[str, Callable[[], object]] = {
        "ours, rank 3": lambda: low_rank_svm(p.X, p.y, **p.settings),
        "LIBSVM on vectors": lambda: by_sklearn(p.rows, p.y, p, 1e-3),
    }
    if n <= 1000:
        found["alternation by cvxpy"] = lambda: alternation_by_cvxpy(p.X, p.y, **p.settings)
    return p.X.nbytes, found


#: room, what is fitted, how, and the sizes: one to compile with, those to measure
CASES: tuple[tuple[str, str, Callable[[int], Fits], int, tuple[int, ...]], ...] = (
    ("drm", "linear machine, p=50, g=3", drm_one_pass, 200, (78_823,)),
    ("ldm", "rbf kernel", ldm_kernel, 60, (1000, 2000)),
    ("ldm", "sparse linear machine, 70 nonzeros a row", ldm_linear, 200, (300_000,)),
    ("kfda", "rbf kernel", kfda, 60, (1000, 2000)),
    ("clasmk", "bases of 17 kernels, 10 classes", clasmk_bases, 100, (1000,)),
    ("smm", "matrices of 20x20", smm, 60, (500, 16_000)),
)


def prepared(number: int, who: str, size: int) -> Callable[[], object]:
    """Return the fit of one case, after one on few rows, in which all is imported and compiled."""
    case = CASES[number]
    case[2](case[3])[1][who]()
    return case[2](size)[1][who]


def measure(quick: bool) -> Iterator[Record]:
    """Yield a row for each case, size and solver."""
    for number, (room, what, fits, small, sizes) in enumerate(CASES):
        for size in (2 * small,) if quick else sizes:
            data, actions = fits(size)
            for who in actions:
                if who == "LIBSVM on vectors" and size > 5000:  # minutes
                    continue
                found = peak_of_fit(prepared, number, who, size)
                yield Record(
                    "memory",
                    {
                        "room": room,
                        "what": what,
                        "rows": size,
                        "who": who,
                        "data": f"{data / MIB:.1f}",
                        "before": f"{found.before / MIB:.0f}",
                        "peak": f"{found.peak / MIB:.0f}",
                        "fit": f"{(found.peak - found.before) / MIB:.1f}",
                        "seconds": f"{found.seconds:.3g}",
                    },
                )


if __name__ == "__main__":
    main(measure)
