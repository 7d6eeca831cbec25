"""Time CLASMK-ML's weights and bases beside SLSQP and one basis for all data; also choice, LS-SVM and MKL.

Run: python benchmarks/clasmk.py [--quick]
Writes benchmarks/results/clasmk.csv (ratios) and clasmk-ends.csv (who ends at which ratio F).

A ratio is that of median CPU times of one thread, peers in turns, call by call; that of the wall times is
stored too. SLSQP differentiates numerically unless a row says otherwise, as fmincon does, and starts at equal
weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
from clasmk_cases import against_cvxpy, kernel_choice, leave_one_out, several_kernels, warm
from clasmk_peers import TRUNCATIONS, Forms, can_load, random_forms, real_forms, rows

from marginbook.clasmk.model.embedding import greedy_embedding
from marginbook.clasmk.model.kernel_sets import paper_kernels, poly, rbf
from marginbook.clasmk.model.subspaces import fit_subspaces
from marginbook.clasmk.solvers.dinkelbach import dinkelbach
from marginbook.clasmk.solvers.slsqp import slsqp
from marginbook.kernels import Kernel
from marginbook.quality.benchmarking import CPU, Ratio, Record, clock, compare, main

SETS = ("optdigits", "pendigits")
CLASSES, KERNELS = 10, 17
KINDS = ("rank 2", "rank 17", "wishart", "diagonal")
#: squared distance to the span that both embeddings reach
TOL = 1e-3


def median_cpu(action: Callable[[], object], runs: int) -> float:
    """Return the median CPU seconds of `runs` calls."""
    return float(np.median([clock(action)[0][CPU] for _ in range(runs)]))


def against_slsqp(forms: Forms, runs: int) -> Iterator[Ratio | Record]:
    """The weights against SLSQP in the weights and in their roots: time, and F; and the ends of all."""
    pair = forms.numerator, forms.denominator
    best, local = dinkelbach(*pair), dinkelbach(*pair, max_nodes=0)
    ends = [
        ("Dinkelbach", median_cpu(lambda: dinkelbach(*pair), runs), best),
        ("Dinkelbach, local steps", median_cpu(lambda: dinkelbach(*pair, max_nodes=0), runs), local),
    ]
    size = f"{forms.name}, C={len(pair[0])}, K={pair[0].shape[1]}"
    for variable in ("weights", "roots"):
        (_, seconds), exactly = clock(lambda v=variable: slsqp(*pair, variable=v, gradient_by="analytic"))
        ends.append((f"SLSQP, {variable}, exact gradient", seconds, exactly))
        other = slsqp(*pair, variable=variable)
        times = compare(
            f"weights against SLSQP in the {variable}, {size}",
            lambda: dinkelbach(*pair),
            lambda v=variable: slsqp(*pair, variable=v),
            runs,
        )
        yield times
        # SLSQP ends at a local minimum, or before one, and proves nothing: the same end without a proof
        wanted = other.objective * (1 + 1e-9)
        yield compare(
            f"to the F of SLSQP in the {variable}, {size}",
            lambda w=wanted: dinkelbach(*pair, target=w),
            lambda v=variable: slsqp(*pair, variable=v),
            runs,
        )
        ends.append((f"SLSQP, {variable}, differences", float(np.median(times.peer[:, CPU])), other))
        quotient = best.objective / other.objective
        yield Ratio(f"F over that of SLSQP in the {variable} (at most), {size}", value=quotient)
    least = min(end.objective for _, _, end in ends)
    for solver, seconds, end in ends:
        found = {"problem": forms.name, "solver": solver, "seconds": f"{seconds:.3g}"}
        found |= {"objective": f"{end.objective:.7g}", "excess": f"{end.objective / least - 1:.2e}"}
        found |= {"gap": "" if end.gap is None else f"{end.gap:.1e}"}
        yield Record("clasmk-ends", found | {"converged": "yes" if end.converged else "no"})


def names_of(kernel: Kernel) -> str:
    """Return a kernel in few letters."""
    name, parameters = kernel
    if name == "rbf":
        return f"rbf sigma={parameters['gamma'] ** -0.5:g}"
    return f"poly d={parameters['degree']}"


def by_classes(name: str, n: int, runs: int) -> Iterator[Ratio]:
    """Embeddings class by class against one of all rows, to the same tolerance, kernel by kernel."""
    X, codes = rows(name, n)
    blocks = [X[codes == c] for c in range(codes.max() + 1)]
    for kernel in rbf((2.0, 4.0, 8.0, 16.0)) + poly((2, 8, 32)):
        ranks = [len(greedy_embedding(kernel, block, tol=TOL).indices) for block in blocks]
        whole = len(greedy_embedding(kernel, X, tol=TOL).indices)
        size = f"dimension {np.mean(ranks):.0f} against {whole}, {names_of(kernel)}, {name}, N={n}"
        yield compare(
            f"embedding by classes against all data, {size}",
            lambda k=kernel: [greedy_embedding(k, block, tol=TOL) for block in blocks],
            lambda k=kernel: greedy_embedding(k, X, tol=TOL),
            runs,
        )


def all_kernels(name: str, n: int, runs: int) -> Ratio:
    """Bases of 17 kernels with their principal axes, class by class against all rows at once."""
    X, codes = rows(name, n)
    kernels = paper_kernels("figures")
    what = f"bases by classes against all data, {len(kernels)} kernels with principal axes, {name}, N={n}"
    return compare(
        what,
        lambda: fit_subspaces(X, codes, kernels, tol=TOL),
        lambda: fit_subspaces(X, np.zeros(n, dtype=int), kernels, tol=TOL),
        runs,
    )


def measure(quick: bool) -> Iterator[Ratio | Record]:
    """Yield the ratios and the ends; of the real sets those that are at hand."""
    n, runs = (300, 1) if quick else (1600, 5)
    sets = [name for name in SETS if can_load(name)]
    if len(sets) < len(SETS):
        print(f"not fetched, left out: {', '.join(set(SETS) - set(sets))}")
    if quick:
        sets = sets[:1]
    warm()
    problems = [real_forms(name, n, KERNELS, how) for name, how in product(sets, TRUNCATIONS)]
    problems += [random_forms(kind, CLASSES, KERNELS) for kind in (KINDS[:1] if quick else KINDS)]
    for forms in problems:
        yield from against_slsqp(forms, runs)
    for name in sets:
        yield from by_classes(name, n, runs)
    for name in sets:
        yield all_kernels(name, 300 if quick else 1000, min(runs, 3))
    yield from kernel_choice("optdigits", n, 13, runs)
    yield from leave_one_out("optdigits", 60 if quick else 300, min(runs, 3))
    yield from several_kernels("breast cancer", 100 if quick else 400, 10.0, min(runs, 3))
    yield from several_kernels("optdigits", 80 if quick else 300, 10.0, min(runs, 3))
    yield from against_cvxpy(40 if quick else 120, min(runs, 3))


if __name__ == "__main__":
    main(measure)
