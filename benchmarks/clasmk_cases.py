"""The comparisons of `clasmk.py` that have no goal: choice of kernels, leave-one-out, MKL."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from clasmk_peers import general_program, left_out_by_refits, rows, simple_mkl, statistics, survivors

from marginbook.clasmk.estimators.lssvm import LSSVMClassifier
from marginbook.clasmk.model.kernel_sets import paper_kernels
from marginbook.clasmk.model.normalised_kernels import normalised_gram
from marginbook.clasmk.model.objective import diagonals
from marginbook.clasmk.solvers.kernel_choice import choose_exact, choose_exhaustive
from marginbook.clasmk.solvers.mkl import learn_weights
from marginbook.kernels import Kernel
from marginbook.quality.benchmarking import Ratio, compare

#: relative gap that MKL is asked for
GAP = 1e-3
#: values of C for which leave-one-out is computed at once
GRID = np.logspace(-2, 6, 9, base=2.0)


def kernel_choice(name: str, n: int, count: int, runs: int) -> Iterator[Ratio]:
    """Criterion 2 by Dinkelbach's iteration and by trying all choices, for the first C classes."""
    measured = statistics(name, n)
    kept = measured.keep(survivors(measured, count, 0.5, "mean"))
    top, bottom = diagonals(kept.numerator), diagonals(kept.denominator)
    for C in (2, 3, 4, 5):
        pair = top[:C], bottom[:C]
        exact, tried = choose_exact(*pair), choose_exhaustive(*pair)
        if not np.isclose(exact.objective, tried.objective, rtol=1e-12):
            raise RuntimeError(f"exact {exact.objective}, exhaustive {tried.objective}: wanted the same")
        yield compare(
            f"exact choice against all {count}^{C} choices, {name}, C={C}",
            lambda pair=pair: choose_exact(*pair),
            lambda pair=pair: choose_exhaustive(*pair),
            runs,
        )


def leave_one_out(name: str, n: int, runs: int) -> Iterator[Ratio]:
    """Leave-one-out of a least-squares machine in closed form against one fit a row; a grid of C at once."""
    X, y = rows(name, n)
    for label, kernel in (("rbf", ("rbf", {"gamma": 1 / 64})), ("linear", "linear")):
        model = LSSVMClassifier(C=1.0, kernel=kernel)
        decided, refitted = model.fit(X, y).loo_decision_, left_out_by_refits(model, X, y)
        if not np.allclose(decided, refitted, atol=1e-6):
            raise RuntimeError(f"{name}: leave-one-out differs by {np.abs(decided - refitted).max():.1e}")
        size = f"{label}, {name}, N={n}"
        yield compare(
            f"LS-SVM with leave-one-out against {n} refits, {size}",
            lambda model=model: model.fit(X, y),
            lambda model=model: left_out_by_refits(model, X, y),
            runs,
        )

        def apart(kernel: Kernel = kernel) -> None:
            for C in GRID:
                LSSVMClassifier(C=float(C), kernel=kernel).fit(X, y)

        grid = LSSVMClassifier(C=GRID.tolist(), kernel=kernel)
        what = f"{len(GRID)} values of C at once against one by one, {size}"
        yield compare(what, lambda grid=grid: grid.fit(X, y), apart, runs)


def several_kernels(name: str, n: int, C: float, runs: int) -> Iterator[Ratio]:
    """The bundle of MKL against projected gradients, from the Gram matrices of 13 kernels to one gap."""
    X, y = rows(name, n)
    grams = [normalised_gram(kernel, X) for kernel in paper_kernels("table-4")]
    signs = np.where(y[:, None] == np.arange(y.max() + 1), 1.0, -1.0)
    signs = signs[:, 1:] if signs.shape[1] == 2 else signs
    ours = learn_weights(grams, signs, C, tol=GAP)
    naive = simple_mkl(grams, signs, C, GAP)
    late = "" if naive.in_time else f", at least: its gap is {naive.gap:.0e}"
    size = f"{len(grams)} kernels, C={C:g}, {name}, N={n}"
    trained = f"{ours.n_iter * signs.shape[1]} and {naive.n_trained} machines"
    yield compare(
        f"MKL against projected gradients, gap {GAP:g}, {trained}, {size}{late}",
        lambda: learn_weights(grams, signs, C, tol=GAP),
        lambda: simple_mkl(grams, signs, C, GAP),
        runs,
    )


def against_cvxpy(n: int, runs: int) -> Iterator[Ratio]:
    """MKL on a small problem of two classes against the general program."""
    X, y = rows("breast cancer", n)
    grams = [normalised_gram(kernel, X) for kernel in paper_kernels("table-4")[3:]]
    signs = np.where(y == 1, 1.0, -1.0)
    least = general_program(grams, signs, 10.0, 1e-8)
    ours = learn_weights(grams, signs[:, None], 10.0, tol=GAP)
    excess = ours.machines.value / least - 1
    if not -1e-5 <= excess <= GAP:
        raise RuntimeError(f"MKL is {excess:.1e} above the general program, wanted at most {GAP:g}")
    yield compare(
        f"MKL against cvxpy (Clarabel), gap {GAP:g}, {len(grams)} kernels, breast cancer, N={n}",
        lambda: learn_weights(grams, signs[:, None], 10.0, tol=GAP),
        lambda: general_program(grams, signs, 10.0, GAP),
        runs,
    )


def warm() -> None:
    """Call once what is imported or compiled at the first call."""
    X, y = rows("breast cancer", 60)
    grams = [normalised_gram(kernel, X) for kernel in paper_kernels("table-4")[5:8]]
    signs = np.where(y == 1, 1.0, -1.0)
    learn_weights(grams, signs[:, None], 1.0)
    general_program(grams, signs, 1.0, GAP)
