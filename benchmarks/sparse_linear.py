"""Time linear machines on 90,000 sparse rows of 50,000 features, beside LinearSVC.

Run: python benchmarks/sparse_linear.py [--quick]
Writes benchmarks/results/sparse_linear.csv: CPU seconds of a fit and of the prediction of one row, the most
memory of a fit beyond the data in MiB, and the certificate, which of a LinearSVC is the gap of its problem.
The rows are those of ldm_sparse.py, of 20 words each. The LDM with an intercept and without one are fitted
in turns to the same relative gap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from growth_cases import peer_gap
from ldm_sparse import text_like
from sklearn.svm import LinearSVC

from marginbook import DRMClassifier, LDMClassifier
from marginbook.quality.benchmarking import CPU, Record, clock, in_turns, main, peak_of_fit

ROWS, FEATURES, WORDS, ASKED = 90_000, 50_000, 20, 200
#: relative gap of both LDMs
TOL = 1e-3
MIB = 2**20
CASES: dict[str, Callable[[], Any]] = {
    "LinearSVC": lambda: LinearSVC(random_state=0),
    "DRM": lambda: DRMClassifier(kernel="linear"),
    "LDM": lambda: LDMClassifier(kernel="linear", tol=TOL, random_state=0),
    "LDM, with intercept": lambda: LDMClassifier(
        kernel="linear", tol=TOL, fit_intercept=True, random_state=0
    ),
}
#: a case, and the other that it is compared with
AGAINST = {"LDM, with intercept": "LDM"}


def data(n: int, p: int) -> tuple[Any, np.ndarray, Any, np.ndarray]:
    """Return training rows and labels, and `ASKED` rows with theirs."""
    X, y = text_like(n + ASKED, p, WORDS)
    return X[:n], y[:n], X[n:], y[n:]


def prepared(name: str, n: int, p: int) -> Callable[[], object]:
    """Return the fit of one case, after one on few rows, in which all is imported and compiled."""
    X, y, *_ = data(n, p)
    CASES[name]().fit(X[:200], y[:200])
    return lambda: CASES[name]().fit(X, y)


def certificate(model: Any, X: Any, y: np.ndarray) -> float:
    """Return the relative gap, or the residual of the equations."""
    if isinstance(model, LinearSVC):
        return peer_gap(model, X, y)
    if isinstance(model, LDMClassifier):
        return float(model.dual_gap_ / max(1.0, abs(model.objective_)))
    return float(model.kkt_residual_)


def measure(quick: bool) -> Iterator[Record]:
    """Yield a row for each machine; a look takes as many rows and features as lead to the same solvers."""
    n, p = (13_000, 5_000) if quick else (ROWS, FEATURES)
    X, y, asked, truth = data(n, p)
    for make in CASES.values():
        make().fit(X[:200], y[:200])  # compiles
    models = {name: make() for name, make in CASES.items()}
    fits = [lambda model=model: model.fit(X, y) for model in models.values()]
    took = dict(zip(models, in_turns(*fits, runs=1 if quick else 3), strict=True))
    for name, model in models.items():
        asking, labels = clock(lambda model=model: model.predict(asked))
        peak = peak_of_fit(prepared, name, n, p)
        other = AGAINST.get(name)
        row = {
            "estimator": name,
            "rows": n,
            "features": p,
            "entries": f"{X.nnz / n:.1f}",
            "fit_s": f"{(fitted := float(np.median(took[name][:, CPU]))):.4g}",
            "against": other or "",
            "times": f"{fitted / float(np.median(took[other][:, CPU])):.3g}" if other else "",
            "predict_s": f"{asking[CPU] / ASKED:.3g}",
            "memory_mib": f"{(peak.peak - peak.before) / MIB:.4g}",
            "certificate": f"{certificate(model, X, y):.1e}",
            "accuracy": f"{float(np.mean(labels == truth)):.3f}",
        }
        yield Record("sparse_linear", row)


if __name__ == "__main__":
    main(measure)
