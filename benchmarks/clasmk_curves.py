"""Time of CLASMK-ML against kernels K, classes C, samples N and layers.

Run: python benchmarks/clasmk_curves.py [--quick]
Writes benchmarks/results/clasmk-scaling.csv: CPU seconds of one thread, medians; slow calls are made once.
"""

from __future__ import annotations

import argparse
import csv
import platform
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from clasmk_peers import CANDIDATES, can_load, rows, statistics, survivors
from kfda_peers import CPU, SLOW, clock
from rich.console import Console
from rich.table import Table
from sklearn.datasets import make_blobs
from sklearn.preprocessing import scale
from threadpoolctl import threadpool_limits

from marginbook.clasmk.hierarchy import HierarchicalCLASMKClassifier
from marginbook.clasmk.kernel_sets import paper_kernels, poly, rbf
from marginbook.clasmk.normalised import normalised_gram
from marginbook.clasmk.solvers.dinkelbach import dinkelbach
from marginbook.clasmk.solvers.slsqp import slsqp
from marginbook.clasmk.statistics import separation
from marginbook.clasmk.subspaces import fit_subspaces
from marginbook.clasmk.truncation import representative
from marginbook.datasets import make_waveform

OUT = Path(__file__).parent / "results"
KS = (4, 6, 8, 12, 16, 17, 20, 24, 29, 49, 98)
#: SLSQP needs minutes for more kernels
SLSQP_KS = (4, 6, 8, 12, 17)
#: rows in a basis of fixed size
RANK = 50
KERNELS = paper_kernels("table-4")
Line = tuple[str, str, int, Callable[[], object]]


def seconds(action: Callable[[], object], runs: int = 5) -> float:
    """Return the median CPU time of `runs` calls, or that of the first if it is slow."""
    (_, first), _ = clock(action)
    return first if first > SLOW else float(np.median([clock(action)[0][CPU] for _ in range(runs)]))


def against_kernels(name: str, n: int, most: int) -> Iterator[Line]:
    """Kernels that survive (35), spread over the paper's ranges."""
    X, codes = rows(name, n)
    measured = statistics(name, n)
    for K in (k for k in KS if k <= most):
        places = survivors(measured, K, 0.1, "mean")
        kernels, left = [CANDIDATES[i] for i in places], measured.keep(places)
        subspaces = fit_subspaces(X[::2], codes[::2], kernels)
        pair = left.numerator, left.denominator
        yield "bases", "K", K, lambda k=kernels: fit_subspaces(X[::2], codes[::2], k)
        yield "statistics", "K", K, lambda s=subspaces: separation(s, X[1::2], codes[1::2])
        yield "weights, proved", "K", K, lambda p=pair: dinkelbach(*p)
        yield "weights, local steps", "K", K, lambda p=pair: dinkelbach(*p, max_nodes=0)
        if K in SLSQP_KS:
            yield "weights, SLSQP in the roots", "K", K, lambda p=pair: slsqp(*p, variable="roots")


def against_classes(sizes: tuple[int, ...]) -> Iterator[Line]:
    """Clouds of 60 rows each in 16 dimensions, half of them for the bases."""
    for C in sizes:
        X, codes = make_blobs([60] * C, 16, centers=None, cluster_std=3.0, random_state=0)
        X = scale(X)
        subspaces = fit_subspaces(X[::2], codes[::2], KERNELS)
        measured = separation(subspaces, X[1::2], codes[1::2])
        left = measured.keep(representative(measured.energy, 0.1, "mean"))
        yield "bases", "C", C, lambda X=X, c=codes: fit_subspaces(X[::2], c[::2], KERNELS)
        yield "statistics", "C", C, lambda s=subspaces, X=X, c=codes: separation(s, X[1::2], c[1::2])
        yield "weights, proved", "C", C, lambda m=left: dinkelbach(m.numerator, m.denominator)


def against_rows(sizes: tuple[int, ...], few: int) -> Iterator[Line]:
    """Waveform data of two classes: bases of fixed size, bases that grow, and all pairs of rows."""
    kernel, linear = rbf((8.0,)), poly((1,))
    for n in sizes:
        X, labels = make_waveform(n, random_state=0)
        X, codes = scale(X), np.unique(labels, return_inverse=True)[1]
        subspaces = fit_subspaces(X, codes, kernel, max_rank=RANK)
        yield f"basis of {RANK} rows", "N", n, lambda X=X, c=codes: fit_subspaces(X, c, kernel, max_rank=RANK)
        yield "basis, polynomial of degree 1", "N", n, lambda X=X, c=codes: fit_subspaces(X, c, linear)
        yield f"statistics, {RANK} rows", "N", n, lambda s=subspaces, X=X, c=codes: separation(s, X, c)
        if n <= few:
            yield "basis that grows", "N", n, lambda X=X, c=codes: fit_subspaces(X, c, kernel)
            yield "one kernel of all pairs", "N", n, lambda X=X: normalised_gram(kernel[0], X)


def against_layers(name: str, n: int, most: int) -> Iterator[Line]:
    """The hierarchy with 13 kernels, stopped by the number of layers only."""
    X, codes = rows(name, n)
    for layers in range(1, most + 1):
        model = HierarchicalCLASMKClassifier(
            n_layers=layers, eps=0.0, eta=0.5, truncation="mean", random_state=0
        )
        yield "hierarchy, fit", "layers", layers, lambda m=model: m.fit(X, codes)
        fitted = HierarchicalCLASMKClassifier(**model.get_params()).fit(X, codes)
        if len(fitted.layers_) == layers:
            yield "hierarchy, predict", "layers", layers, lambda m=fitted: m.predict(X)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, for a look; nothing is written")
    quick = parser.parse_args().quick
    warnings.filterwarnings("ignore", message="(?s).*converge")
    found = []
    with threadpool_limits(1):
        groups = [
            against_classes((2, 5, 10) if quick else (2, 5, 10, 20, 40, 80)),
            against_rows((500, 1000) if quick else tuple(1000 * 2**i for i in range(8)), 4000),
            against_layers("optdigits", 200 if quick else 600, 2 if quick else 5),
        ]
        if can_load("pendigits"):
            groups.append(against_kernels("pendigits", 300 if quick else 1600, 12 if quick else 98))
        for group in groups:
            for what, x, value, action in group:
                found.append((what, x, value, f"{seconds(action):.4g}"))
    table = Table("what", "x", "value", "seconds", title="CLASMK-ML: CPU time, one thread")
    for row in found:
        table.add_row(*map(str, row))
    Console(width=120).print(table)
    if not quick:
        OUT.mkdir(exist_ok=True)
        place = (platform.python_version(), np.__version__, platform.machine())
        with (OUT / "clasmk-scaling.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["what", "x", "value", "seconds", "python", "numpy", "machine"])
            writer.writerows([*row, *place] for row in found)


if __name__ == "__main__":
    sys.exit(main())
