"""The claim about retained samples with several classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...claims import Evidence, Rival, claim, decide
from ..paper.printed import PAPER_TABLES

if TYPE_CHECKING:
    import pandas as pd


def by_scheme() -> pd.DataFrame | None:
    """Return means over the splits of the experiment with several classes, one line per set and method.

    Returns
    -------
    DataFrame or None
        `mcr`, `union` (rows that a prediction compares with), `single` (coefficients per machine),
        `machines`, `coefficients`, `n_train`, `n_classes`.
    """
    frame = PAPER_TABLES.results("multiclass")
    if frame is None:
        return None
    columns = {
        "mcr": "mcr",
        "kernels_per_row": "union",
        "n_coefficients": "coefficients",
        "n_machines": "machines",
        "n_train": "n_train",
        "n_classes": "n_classes",
    }
    found = frame.groupby(["dataset", "method"], sort=False)[list(columns)].mean().rename(columns=columns)
    return found.assign(single=found["coefficients"] / found["machines"])


@claim(
    "kfda/multiclass",
    kind="ours",
    where="Section 1, third paragraph, last sentence",
    statement="for several classes, independently trained classifiers are less parsimonious together: in "
    "every case one prediction needs more samples than one classifier retains",
    notebook="kfda/05_error_and_sparsity#kfda-multiclass",
    depends=("results/kfda/multiclass.csv",),
    rivals=[Rival("three tenths more in every case", {"factor": 1.3})],
)
def check_multiclass(factor: float = 1.0) -> Evidence:
    """Compare the union of the retained samples over all machines with what one of them retains."""
    frame = by_scheme()
    if frame is None:
        return PAPER_TABLES.nothing("more than one machine in every case", "multiclass")
    own = frame[frame.index.get_level_values("method").str.startswith("kFDA")]
    ratio = own["union"] / own["single"].where(own["single"] > 0)
    more, least = int((ratio > 2).sum()), float(ratio.min())
    told = []
    for method, part in frame.groupby(level="method", sort=False):
        times = (part["union"] / part["single"].where(part["single"] > 0)).mean()
        told.append(
            f"{method}: error {part['mcr'].mean():.1f} %, "
            f"{100 * (part['union'] / part['n_train']).mean():.0f} % of the training rows together, "
            f"{times:.1f} times as many as one classifier"
        )
    return Evidence(
        verdict=decide(least > factor),
        measured=f"at least {least:.1f} times as many samples, {ratio.mean():.1f} times on average; more "
        f"than twice as many in {more} of {len(own)} cases",
        claimed=f"more than {factor:g} times as many in every case",
        slack=least - factor,
        why=f"The paper says that the set 'may not prove to be parsimonious overall'. {'; '.join(told)}. A "
        "sample that several classifiers retain is counted once. The cases are the data sets, the "
        "exponents, and the schemes one-versus-rest and one-versus-one.",
        sizes={"sets": int(frame.index.get_level_values("dataset").nunique()), "cases": len(own)},
    )
