"""Claims about Figures 2 to 27, which print no numbers: kernels, layers, rows, seconds, heat maps."""

from __future__ import annotations

import json
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ...claims import Evidence, Rival, claim, decide, share
from ...claims.printed_tables import LEVEL
from ..paper.printed import PAPER_TABLES, TINY
from .tables import REGISTRY, nothing

if TYPE_CHECKING:
    import pandas as pd

#: notebooks that show the figures: accuracy, then seconds and dimension, then weights
HIERARCHY, COST, SEEN = "clasmk/05_hierarchy", "clasmk/06_cost_and_dimension", "clasmk/07_weights_seen"
LAYERS_CSV, LIMITED_CSV, SIZES_CSV, MAPS_CSV = (
    f"results/clasmk/{name}.csv" for name in ("layers", "limited", "sizes", "heat-maps")
)
#: share of the variance of the dimension that a line through the layers has to explain
STRAIGHT = 0.99
#: mean correlation of weights from two random parts that is called consistent
CONSISTENT = 0.8
#: the set whose weights the paper calls variable
VARIABLE = "breast"


def curves(table: str) -> pd.DataFrame | None:
    """Return the results of "layers" or "sizes" with lists as arrays; None without results.

    `number` is the number in the method's name, of kernels or rows; of sizes that a set does not have, all
    of its rows are taken, and only the first of equal ones is kept.
    """
    frame = PAPER_TABLES.results(table)
    if frame is None or frame.empty:
        return None
    column = "n_kernels" if table == "layers" else "n_train"
    frame = frame.assign(number=frame[column])
    frame = frame[~frame["method"].str.endswith(" half")]  # a second look, not of the figures
    for name in ("accuracy", "features", "weights_seconds"):
        frame[name] = frame[name].map(lambda text: np.array(json.loads(text), dtype=float))
    return frame.drop_duplicates(["dataset", "split", "number"]).sort_values(["dataset", "number", "split"])


def by_number(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return means over the splits of a `column` of numbers: sets down, numbers across."""
    return frame.pivot_table(index="dataset", columns="number", values=column, sort=True)


def row_text(row: pd.Series[float], digits: int = 1) -> str:
    """Return a row of numbers as text, with what it counts before each."""
    return ", ".join(f"{name:.0f}: {value:.{digits}f}" for name, value in row.dropna().items())


@claim(
    "clasmk/fig-2",
    kind="experiment",
    where="Section 5.3.1, Figures 2 to 5",
    statement="accuracy is best with 98 kernels, and generally fewer kernels degrade it",
    notebook=f"{HIERARCHY}#clasmk-fig-2",
    depends=(LAYERS_CSV, REGISTRY),
    rivals=(Rival("with seven kernels, and more degrade it", {"fewest": True}),),
)
def check_kernels(*, fewest: bool = False) -> Evidence:
    """Find the number of kernels with the best accuracy after the last layer, and the rank correlation."""
    from scipy.stats import spearmanr

    frame = curves("layers")
    found = None if frame is None else by_number(frame, "accuracy_last").dropna()
    if found is None or found.empty or found.shape[1] < 3:
        return nothing("98 kernels on every set", "layers")
    most = found.columns.min() if fewest else found.columns.max()
    best = found[most] >= found.max(axis=1) - TINY
    ranks = [float(spearmanr(found.columns, row).statistic) for row in found.to_numpy()]
    told = "; ".join(f"{name} {row_text(row)}" for name, row in found.iterrows())
    return Evidence(
        verdict=share(int(best.sum()), len(found)),
        measured=f"{most:.0f} kernels are best on {int(best.sum())} of {len(found)} sets; rank correlations "
        f"of accuracy with the number of kernels: {', '.join(f'{rank:.2f}' for rank in ranks)}",
        claimed=f"{most:.0f} kernels on every set",
        slack=float(min(ranks)),
        why=f"Accuracies in % after the last layer, by number of kernels: {told}.",
        sizes={"sets": len(found), "kernels": [int(name) for name in found.columns]},
    )


@claim(
    "clasmk/fig-2-layers",
    kind="ours",
    where="Figures 2 to 8",
    statement="in most curves like those of Figures 2 to 8 the accuracy is higher after the last layer than "
    "after the first, more often than by chance",
    notebook=f"{HIERARCHY}#clasmk-fig-2",
    depends=(LAYERS_CSV, SIZES_CSV, REGISTRY),
    rivals=(Rival("than after the best number of layers", {"start": "best"}),),
)
def check_layers(*, start: str = "first") -> Evidence:
    """Compare the accuracies after the last layer with those after the first and with the best on the way."""
    from scipy.stats import binomtest

    parts = [frame for frame in (curves("layers"), curves("sizes")) if frame is not None]
    if not parts:
        return nothing("in every curve", "layers")
    rise, fall, where = [], [], []
    for frame in parts:
        for _, rows in frame.groupby(["dataset", "number"], sort=False):
            length = min(len(row) for row in rows["accuracy"])
            mean = np.mean([row[:length] for row in rows["accuracy"]], axis=0)
            rise.append(mean[-1] - (mean[0] if start == "first" else mean.max()))
            fall.append(mean.max() - mean[-1])
            where.append(int(mean.argmax()) + 1)
    up = int(np.sum(np.array(rise) > TINY))
    p = float(binomtest(up, len(rise), alternative="greater").pvalue)
    return Evidence(
        verdict=decide(p < LEVEL),
        measured=f"higher after the last layer than after the first in {up} of {len(rise)} curves, by "
        f"{np.mean(rise):+.2f} points on average",
        claimed=f"in most, with a sign test's p below {LEVEL:g}",
        slack=LEVEL - p,
        why=f"A sign test gives p = {p:.0e}; the curves of one set are not independent. Accuracies are means "
        f"over the splits. The best number of layers is {np.median(where):.0f} in the median; continuing to "
        f"the last one costs {np.mean(fall):.2f} points on average, {max(fall):.2f} at most.",
        sizes={"curves": len(rise)},
    )


@claim(
    "clasmk/fig-6",
    kind="experiment",
    where="Section 5.3.2, Figures 6 to 8",
    statement="accuracy increases with increasing training sizes",
    notebook=f"{HIERARCHY}#clasmk-fig-6",
    depends=(SIZES_CSV, REGISTRY),
    rivals=(Rival("decreases", {"sign": -1}),),
)
def check_sizes(*, sign: int = 1) -> Evidence:
    """Compare the accuracy at the largest training size with that at the smallest; count the steps "
    "between."""
    frame = curves("sizes")
    found = None if frame is None else by_number(frame, "accuracy_last")
    if found is None or found.empty:
        return nothing("on every set", "sizes")
    rows = {str(name): row.dropna().to_numpy() for name, row in found.iterrows() if row.count() > 1}
    if not rows:
        return nothing("on every set", "sizes")
    rises = {name: sign * float(row[-1] - row[0]) for name, row in rows.items()}
    steps = np.concatenate([np.diff(row) for row in rows.values()])
    told = "; ".join(f"{name} {row_text(row)}" for name, row in found.iterrows())
    return Evidence(
        verdict=share(sum(rise > 0 for rise in rises.values()), len(rises)),
        measured="from the smallest size to the largest "
        + ", ".join(f"{name} {rise:+.1f}" for name, rise in rises.items()),
        claimed="up on every set",
        slack=min(rises.values()),
        why=f"Accuracy rises in {int((steps > 0).sum())} of {len(steps)} steps from one size to the next. "
        f"Accuracies in % after the last layer, by training rows: {told}.",
        sizes={"sets": len(rises), "steps": len(steps)},
    )


@claim(
    "clasmk/fig-19",
    kind="experiment",
    where="Section 5.3.4, Figures 19 to 23",
    statement="feature dimension mainly increases with the layers in a linear fashion",
    notebook=f"{COST}#clasmk-fig-19",
    depends=(LAYERS_CSV, SIZES_CSV, REGISTRY),
    rivals=(Rival("stays as it is", {"degree": 0}),),
)
def check_dimension(*, degree: int = 1) -> Evidence:
    """Fit lines to the dimension over the layers."""
    shares, last = [], []
    for table in ("layers", "sizes"):
        frame = curves(table)
        for _, rows in [] if frame is None else frame.groupby(["dataset", "number"], sort=False):
            length = min(len(row) for row in rows["features"])
            dimensions = np.mean([row[:length] for row in rows["features"]], axis=0)
            if length >= 3:
                layers = np.arange(1, length + 1)
                residual = dimensions - np.polyval(np.polyfit(layers, dimensions, degree), layers)
                shares.append(1 - float(residual @ residual / np.sum((dimensions - dimensions.mean()) ** 2)))
                grown = np.diff(dimensions, prepend=0.0)
                last.append(grown[-1] / grown[0])
    if not shares:
        return nothing("a line in every curve", "layers")
    good = sum(value >= STRAIGHT for value in shares)
    return Evidence(
        verdict=share(good, len(shares)),
        measured=f"a straight line explains at least {STRAIGHT:.0%} of the variance in {good} of "
        f"{len(shares)} curves, and at least {min(shares):.1%} in every one",
        claimed=f"{len(shares)} of {len(shares)}",
        slack=float(min(shares) - STRAIGHT),
        why=f"{STRAIGHT:.0%} is our choice. There is one curve for each set and number of kernels or rows: "
        "means over the splits, of three layers or more. Each layer is learned on fewer rows: the last one "
        f"adds {np.median(last):.2f} times as many features as the first, in the median.",
        sizes={"curves": len(shares)},
    )


def stability() -> dict[str, float] | None:
    """Return by set the mean correlation of the weights of CLASMK-ML from any two random parts; None without.

    The correlation is over all entries of the (C, K) matrices.
    """
    frame = PAPER_TABLES.results("heat-maps")
    if frame is None or frame.empty:
        return None
    found = {}
    for name, rows in frame[frame["method"] == "CLASMK-ML"].groupby("dataset", sort=False):
        weights = [np.array(json.loads(text)).ravel() for text in rows["weights"]]
        if len(weights) > 1:
            found[str(name)] = float(np.mean([np.corrcoef(a, b)[0, 1] for a, b in combinations(weights, 2)]))
    return found or None


@claim(
    "clasmk/fig-24",
    kind="experiment",
    where="Section 5.4, last sentence, Figures 24 to 27",
    statement="the weights from random parts have a large variance on wdbc, and are fairly consistent on "
    "banana, pendigits and optdigits",
    notebook=f"{SEEN}#clasmk-fig-24",
    depends=(MAPS_CSV, REGISTRY),
    rivals=(Rival("a correlation of at least a half", {"consistent": 0.5}),),
)
def check_heat_maps(*, consistent: float = CONSISTENT) -> Evidence:
    """Correlate the weights of every two parts."""
    found = stability()
    if found is None or VARIABLE not in found or len(found) < 2:
        return nothing("consistent on three sets, less so on the fourth", "heat-maps")
    others = {name: value for name, value in found.items() if name != VARIABLE}
    parts = [value >= consistent for value in others.values()] + [found[VARIABLE] < min(others.values())]
    highest = found[VARIABLE] >= max(others.values())
    place = "the lowest" if parts[-1] else "the highest" if highest else "a middle"
    return Evidence(
        verdict=share(sum(parts), len(parts)),
        measured="mean correlations " + ", ".join(f"{name} {value:.2f}" for name, value in found.items()),
        claimed=f"at least {consistent:g} on {len(others)} sets, less on {VARIABLE}",
        slack=float(min(others.values()) - consistent),
        why=f"{consistent:g} is our choice. {VARIABLE}, the paper's wdbc, has "
        f"{place} correlation of all. Ten random parts of two thirds give 45 pairs. The verdict asks whether "
        "each of the three sets is consistent, and whether the fourth is below them.",
        sizes={"sets": len(found)},
    )
