"""Time DRM and MixedNormDRM as rows grow, beside SVC: fit, 2,000 predictions, pickle.

Run: python benchmarks/drm_growth.py [n ...]
20 features, rbf with gamma="scale", two classes, one thread, CPU seconds; `CASES` also serves growth.py.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported

import pickle
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from marginbook.cli.stopping import one_sentence
from marginbook.drm import DRMClassifier, MixedNormDRMClassifier

#: name -> estimator to fit on 20 features, rbf
CASES: dict[str, Callable[[], Any]] = {
    "DRM": lambda: DRMClassifier(),
    "DRM, 500 landmarks": lambda: DRMClassifier(n_components=500, random_state=0),
    "DRM, 1000 landmarks": lambda: DRMClassifier(n_components=1000, random_state=0),
    "DRM, 1200 landmarks": lambda: DRMClassifier(n_components=1200, random_state=0),
    "mixed-norm DRM (2, 2)": lambda: MixedNormDRMClassifier(),
}
#: the most rows that a case is for
LIMITS = {"DRM": 10_000, "mixed-norm DRM (2, 2)": 5_000}
TEST = 2_000


def points(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return n training and 2,000 test rows of two classes of four clusters each, 5 % of labels turned."""
    X, y = make_classification(
        n + TEST, 20, n_informative=10, n_redundant=0, n_clusters_per_class=4, flip_y=0.05, random_state=seed
    )
    return X[:n], y[:n], X[n:], y[n:]


def measure(model: Any, n: int) -> tuple[dict[str, float], np.ndarray]:
    """Return CPU seconds, accuracy, bytes and certificate of one case, and its predictions."""
    X, y, Z, truth = points(n)
    started = time.process_time()
    model.fit(X, y)
    fitted = time.process_time()
    labels = model.predict(Z)
    ended = time.process_time()
    return {
        "fit": fitted - started,
        "predict": ended - fitted,
        "accuracy": float(np.mean(labels == truth)),
        "pickle_kB": len(pickle.dumps(model)) / 1e3,
        "peak_MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
        "certificate": float(getattr(model, "kkt_residual_", np.nan)),
    }, labels


def main(sizes: list[int]) -> None:
    """Print a line for each case."""
    for n in sizes:
        exact = None
        # peaks only grow, so the smallest case comes first
        cases = {"SVC": lambda: SVC(), **dict(sorted(CASES.items(), key=lambda case: case[0] in LIMITS))}
        found = {name: measure(make(), n) for name, make in cases.items() if n <= LIMITS.get(name, n)}
        base = found["SVC"][0]
        exact = found["DRM"][1] if "DRM" in found else None
        for name, (row, labels) in found.items():
            both = (row["fit"] + row["predict"]) / (base["fit"] + base["predict"])
            same = "" if exact is None else f"labels as exact {np.mean(labels == exact):.4f}"
            print(
                f"{n:6d} {name:22s} fit {row['fit']:7.2f} predict {row['predict']:6.2f} "
                f"({row['predict'] / base['predict']:5.1f} SVC, both {both:5.1f}) "
                f"accuracy {row['accuracy']:.3f} pickle {row['pickle_kB']:9.0f} kB "
                f"peak {row['peak_MB']:6.0f} MB "
                f"certificate {row['certificate']:.0e} {same}",
                flush=True,
            )


if __name__ == "__main__":
    with one_sentence():
        main([int(argument) for argument in sys.argv[1:]] or [2_000, 5_000, 10_000, 50_000])
