"""Time of CLASMK-ML against kernels K, classes C, samples N and layers.

Run: python benchmarks/clasmk_curves.py [--quick]
Writes benchmarks/results/clasmk-scaling.csv: CPU seconds of one thread, medians; slow calls are made once.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from clasmk_peers import CANDIDATES, can_load, rows, statistics, survivors
from sklearn.datasets import make_blobs
from sklearn.preprocessing import scale

from marginbook.clasmk.estimators.hierarchy import HierarchicalCLASMKClassifier
from marginbook.clasmk.model.kernel_sets import paper_kernels, poly, rbf
from marginbook.clasmk.model.normalised_kernels import normalised_gram
from marginbook.clasmk.model.statistics import separation
from marginbook.clasmk.model.subspaces import fit_subspaces
from marginbook.clasmk.model.truncation import representative
from marginbook.clasmk.solvers.dinkelbach import dinkelbach
from marginbook.clasmk.solvers.slsqp import slsqp
from marginbook.datasets import make_waveform
from marginbook.quality.benchmarking import Line, main

KS = (4, 6, 8, 12, 16, 17, 20, 24, 29, 49, 98)
#: SLSQP needs minutes for more kernels
SLSQP_KS = (4, 6, 8, 12, 17)
#: rows in a basis of fixed size
RANK = 50
KERNELS = paper_kernels("table-4")


def against_kernels(name: str, n: int, most: int) -> Iterator[Line]:
    """Kernels that survive (35), spread over the paper's ranges."""
    X, codes = rows(name, n)
    measured = statistics(name, n)
    for K in (k for k in KS if k <= most):
        places = survivors(measured, K, 0.1, "mean")
        kernels, left = [CANDIDATES[i] for i in places], measured.keep(places)
        subspaces = fit_subspaces(X[::2], codes[::2], kernels)
        pair = left.numerator, left.denominator
        yield Line("bases", "K", K, lambda k=kernels: fit_subspaces(X[::2], codes[::2], k))
        yield Line("statistics", "K", K, lambda s=subspaces: separation(s, X[1::2], codes[1::2]))
        yield Line("weights, proved", "K", K, lambda p=pair: dinkelbach(*p))
        yield Line("weights, local steps", "K", K, lambda p=pair: dinkelbach(*p, max_nodes=0))
        if K in SLSQP_KS:
            yield Line("weights, SLSQP in the roots", "K", K, lambda p=pair: slsqp(*p, variable="roots"))


def against_classes(sizes: tuple[int, ...]) -> Iterator[Line]:
    """Clouds of 60 rows each in 16 dimensions, half of them for the bases."""
    for C in sizes:
        X, codes = make_blobs([60] * C, 16, centers=None, cluster_std=3.0, random_state=0)
        X = scale(X)
        subspaces = fit_subspaces(X[::2], codes[::2], KERNELS)
        measured = separation(subspaces, X[1::2], codes[1::2])
        left = measured.keep(representative(measured.energy, 0.1, "mean"))
        yield Line("bases", "C", C, lambda X=X, c=codes: fit_subspaces(X[::2], c[::2], KERNELS))
        yield Line("statistics", "C", C, lambda s=subspaces, X=X, c=codes: separation(s, X[1::2], c[1::2]))
        yield Line("weights, proved", "C", C, lambda m=left: dinkelbach(m.numerator, m.denominator))


def against_rows(sizes: tuple[int, ...], few: int) -> Iterator[Line]:
    """Waveform data of two classes: bases of fixed size, bases that grow, and all pairs of rows."""
    kernel, linear = rbf((8.0,)), poly((1,))
    for n in sizes:
        X, labels = make_waveform(n, random_state=0)
        X, codes = scale(X), np.unique(labels, return_inverse=True)[1]
        subspaces = fit_subspaces(X, codes, kernel, max_rank=RANK)
        what = f"basis of {RANK} rows"
        yield Line(what, "N", n, lambda X=X, c=codes: fit_subspaces(X, c, kernel, max_rank=RANK))
        yield Line("basis, polynomial of degree 1", "N", n, lambda X=X, c=codes: fit_subspaces(X, c, linear))
        yield Line(f"statistics, {RANK} rows", "N", n, lambda s=subspaces, X=X, c=codes: separation(s, X, c))
        if n <= few:
            yield Line("basis that grows", "N", n, lambda X=X, c=codes: fit_subspaces(X, c, kernel))
            yield Line("one kernel of all pairs", "N", n, lambda X=X: normalised_gram(kernel[0], X))


def against_layers(name: str, n: int, most: int) -> Iterator[Line]:
    """The hierarchy with 13 kernels, stopped by the number of layers only."""
    X, codes = rows(name, n)
    for layers in range(1, most + 1):
        model = HierarchicalCLASMKClassifier(
            n_layers=layers, eps=0.0, eta=0.5, truncation="mean", random_state=0
        )
        yield Line("hierarchy, fit", "layers", layers, lambda m=model: m.fit(X, codes))
        fitted = HierarchicalCLASMKClassifier(**model.get_params()).fit(X, codes)
        if len(fitted.layers_) == layers:
            yield Line("hierarchy, predict", "layers", layers, lambda m=fitted: m.predict(X))


def measure(quick: bool) -> Iterator[Line]:
    """Yield all lines; those against kernels where the data is at hand."""
    yield from against_classes((2, 5, 10) if quick else (2, 5, 10, 20, 40, 80))
    yield from against_rows((500, 1000) if quick else tuple(1000 * 2**i for i in range(8)), 4000)
    yield from against_layers("optdigits", 200 if quick else 600, 2 if quick else 5)
    if can_load("pendigits"):
        yield from against_kernels("pendigits", 300 if quick else 1600, 12 if quick else 98)


if __name__ == "__main__":
    main(measure)
