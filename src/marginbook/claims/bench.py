"""What the chapters say of the bench on which all papers' methods meet."""

from __future__ import annotations

from ..base.project import resource


def bench_lead(first: str, second: str) -> float:
    """Return by how many points of mean accuracy the first of two columns of the bench is ahead."""
    import pandas as pd

    bench = pd.read_csv(resource("results", "study", "accuracy.csv"))
    means = bench.groupby("method")["accuracy"].mean()
    return float(means[first] - means[second])
