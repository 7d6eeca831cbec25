"""Claims about Figures 2 to 27, which print no numbers: kernels, layers, rows, seconds, heat maps."""

from __future__ import annotations

import json
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ...claims import Evidence, claim, share
from ..paper.printed import PAPER_TABLES, TINY
from .tables import REGISTRY, nothing

if TYPE_CHECKING:
    import pandas as pd

#: notebooks that show the figures: accuracy, then seconds and dimension, then weights
HIERARCHY, COST, SEEN = "clasmk/05_hierarchy", "clasmk/06_cost_and_dimension", "clasmk/07_weights_seen"
LAYERS_CSV, SIZES_CSV, MAPS_CSV = (f"results/clasmk/{name}.csv" for name in ("layers", "sizes", "heat-maps"))
#: slopes of log seconds over log kernels that are called linear
LINEAR = (0.75, 1.25)
#: an exponent of seconds over rows up to this size is next to none: twice the rows cost at most a fifth more
FLAT = 0.25
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
    where="Figures 2 to 5",
    statement="accuracy is best with 98 kernels, and fewer kernels degrade it",
    notebook=f"{HIERARCHY}#clasmk-fig-2",
    depends=(LAYERS_CSV, REGISTRY),
)
def check_kernels() -> Evidence:
    """Find the number of kernels with the best accuracy after the last layer, and the rank correlation."""
    from scipy.stats import spearmanr

    frame = curves("layers")
    found = None if frame is None else by_number(frame, "accuracy_last").dropna()
    if found is None or found.empty or found.shape[1] < 3:
        return nothing("98 kernels on every set", "layers")
    most = found.columns.max()
    best = found[most] >= found.max(axis=1) - TINY
    ranks = [float(spearmanr(found.columns, row).statistic) for row in found.to_numpy()]
    told = "; ".join(f"{name} {row_text(row)}" for name, row in found.iterrows())
    return Evidence(
        share(int(best.sum()), len(found)),
        f"{most:.0f} kernels are best on {int(best.sum())} of {len(found)} sets; rank correlations of "
        f"accuracy and kernels {', '.join(f'{rank:.2f}' for rank in ranks)}",
        f"{most:.0f} kernels on every set",
        float(min(ranks)),
        f"Accuracies in % after the last layer, by kernels: {told}.",
        {"sets": len(found), "kernels": [int(name) for name in found.columns]},
    )


@claim(
    "clasmk/fig-2-layers",
    kind="experiment",
    where="Figures 2 to 8",
    statement="accuracy improves with the number of layers",
    notebook=f"{HIERARCHY}#clasmk-fig-2",
    depends=(LAYERS_CSV, SIZES_CSV, REGISTRY),
)
def check_layers() -> Evidence:
    """Compare the accuracies after the last layer with those after the first and with the best on the way."""
    parts = [frame for frame in (curves("layers"), curves("sizes")) if frame is not None]
    if not parts:
        return nothing("in every curve", "layers")
    rise, fall, where = [], [], []
    for frame in parts:
        for _, rows in frame.groupby(["dataset", "number"], sort=False):
            length = min(len(row) for row in rows["accuracy"])
            mean = np.mean([row[:length] for row in rows["accuracy"]], axis=0)
            rise.append(mean[-1] - mean[0])
            fall.append(mean.max() - mean[-1])
            where.append(int(mean.argmax()) + 1)
    up = int(np.sum(np.array(rise) > TINY))
    return Evidence(
        share(up, len(rise)),
        f"higher after the last layer than after the first in {up} of {len(rise)} curves, by "
        f"{np.mean(rise):+.2f} points on average",
        f"in {len(rise)} of {len(rise)}",
        float(min(rise)),
        f"Means over the splits. The best number of layers is {np.median(where):.0f} in the median; going on "
        f"to the last one costs {np.mean(fall):.2f} points on average, {max(fall):.2f} at most.",
        {"curves": len(rise)},
    )


@claim(
    "clasmk/fig-6",
    kind="experiment",
    where="Figures 6 to 8",
    statement="accuracy increases with the training size",
    notebook=f"{HIERARCHY}#clasmk-fig-6",
    depends=(SIZES_CSV, REGISTRY),
)
def check_sizes() -> Evidence:
    """Count the steps from one training size to the next at which the accuracy goes up."""
    frame = curves("sizes")
    found = None if frame is None else by_number(frame, "accuracy_last")
    if found is None or found.empty:
        return nothing("at every step", "sizes")
    steps = [np.diff(row.dropna().to_numpy()) for _, row in found.iterrows()]
    flat = np.concatenate(steps)
    if not len(flat):
        return nothing("at every step", "sizes")
    told = "; ".join(f"{name} {row_text(row)}" for name, row in found.iterrows())
    return Evidence(
        share(int((flat > 0).sum()), len(flat)),
        f"up in {int((flat > 0).sum())} of {len(flat)} steps from one size to the next",
        f"{len(flat)} of {len(flat)}",
        float(flat.min()),
        f"Accuracies in % after the last layer, by training rows: {told}.",
        {"sets": len(found), "steps": len(flat)},
    )


def slopes(frame: pd.DataFrame) -> dict[str, float]:
    """Return by set the exponent b of seconds ~ number^b, by least squares of the logarithms.

    The seconds are medians over splits and layers of the solver's time.
    """
    frame = frame.assign(seconds=[float(np.median(row)) for row in frame["weights_seconds"]])
    found = frame.pivot_table(index="dataset", columns="number", values="seconds", aggfunc="median")
    exponents = {}
    for name, row in found.iterrows():
        row = row.dropna()
        if len(row) >= 3 and (row > 0).all():
            exponents[str(name)] = float(np.polyfit(np.log(row.index.to_numpy(float)), np.log(row), 1)[0])
    return exponents


@claim(
    "clasmk/fig-9",
    kind="experiment",
    where="Section 5.3.3, Figures 9 to 15",
    statement="the time of the optimisation is linear in the number of kernels",
    notebook=f"{COST}#clasmk-fig-9",
    depends=(LAYERS_CSV, REGISTRY),
)
def check_seconds() -> Evidence:
    """Fit powers of the number of kernels to our solver's seconds."""
    frame = curves("layers")
    found = {} if frame is None else slopes(frame)
    if frame is None or not found:
        return nothing("an exponent of 1", "layers")
    good = [LINEAR[0] <= b <= LINEAR[1] for b in found.values()]
    below = sum(b <= LINEAR[1] for b in found.values())
    middle = frame.assign(seconds=[1000 * float(np.median(row)) for row in frame["weights_seconds"]])
    seconds = by_number(middle, "seconds")
    told = "; ".join(f"{name} {row_text(row, 2)}" for name, row in seconds.iterrows())
    return Evidence(
        share(sum(good), len(good)),
        "exponents " + ", ".join(f"{name} {b:.2f}" for name, b in found.items()),
        f"1, between {LINEAR[0]:g} and {LINEAR[1]:g}",
        float(LINEAR[1] - max(found.values())),
        f"At most linear on {below} of {len(found)} sets. Ours is another program than the paper's, with its "
        "own growth, and truncated kernels cost it nothing. Milliseconds of one layer, by kernels: "
        f"{told}.",
        {"sets": len(found)},
    )


@claim(
    "clasmk/fig-16",
    kind="ours",
    where="Section 5.3.3, Figures 16 to 18",
    statement="the time of the optimisation, which the figures show by training size, hardly depends on it",
    notebook=f"{COST}#clasmk-fig-16",
    depends=(SIZES_CSV, REGISTRY),
)
def check_rows() -> Evidence:
    """Fit powers of the number of training rows to our solver's seconds.

    The text only says what the three figures show. But what it times is the search for the weights alone, and
    (33) sees the rows only through C matrices of K x K numbers, whose size does not grow. What may change is
    how many steps the search takes. Seconds in proportion to the rows would have the exponent 1; up to `FLAT`
    it counts as none, and as far below 0.
    """
    frame = curves("sizes")
    found = {} if frame is None else slopes(frame)
    if frame is None or not found:
        return nothing("an exponent of 0", "sizes")
    good = [abs(b) <= FLAT for b in found.values()]
    middle = frame.assign(seconds=[1000 * float(np.median(row)) for row in frame["weights_seconds"]])
    told = "; ".join(f"{name} {row_text(row, 2)}" for name, row in by_number(middle, "seconds").iterrows())
    return Evidence(
        share(sum(good), len(good)),
        "exponents " + ", ".join(f"{name} {b:.2f}" for name, b in found.items()),
        f"0, between {-FLAT:g} and {FLAT:g}",
        float(FLAT - max(abs(b) for b in found.values())),
        f"Below 1 on {sum(b < 1 for b in found.values())} of {len(found)} sets. The matrices, which the rows "
        f"go into, are measured before. Milliseconds of one layer, by training rows: {told}.",
        {"sets": len(found)},
    )


@claim(
    "clasmk/fig-19",
    kind="experiment",
    where="Section 5.3.4, Figures 19 to 23",
    statement="the dimension of the features increases with the layers in a linear fashion",
    notebook=f"{COST}#clasmk-fig-19",
    depends=(LAYERS_CSV, SIZES_CSV, REGISTRY),
)
def check_dimension() -> Evidence:
    """Fit lines to the dimension over the layers."""
    shares, last = [], []
    for table in ("layers", "sizes"):
        frame = curves(table)
        for dimensions in [] if frame is None else frame["features"]:
            if len(dimensions) >= 3:
                layers = np.arange(1, len(dimensions) + 1)
                residual = dimensions - np.polyval(np.polyfit(layers, dimensions, 1), layers)
                shares.append(1 - float(residual @ residual / np.sum((dimensions - dimensions.mean()) ** 2)))
                grown = np.diff(dimensions, prepend=0.0)
                last.append(grown[-1] / grown[0])
    if not shares:
        return nothing("a line in every curve", "layers")
    good = sum(value >= STRAIGHT for value in shares)
    return Evidence(
        share(good, len(shares)),
        f"a line explains at least {STRAIGHT:.0%} in {good} of {len(shares)} curves, {min(shares):.1%} at "
        "least",
        f"{len(shares)} of {len(shares)}",
        float(min(shares) - STRAIGHT),
        "One curve for each set, number of kernels or rows, and split, of three layers or more. Each layer "
        f"is learned on fewer rows: the last one adds {np.median(last):.2f} times as many features as the "
        "first, in the median.",
        {"curves": len(shares)},
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
    where="Section 5.4, Figures 24 to 27",
    statement="the weights from random parts are fairly consistent on banana, pendigits and optdigits, and "
    "vary on wdbc",
    notebook=f"{SEEN}#clasmk-fig-24",
    depends=(MAPS_CSV, REGISTRY),
)
def check_heat_maps() -> Evidence:
    """Correlate the weights of every two parts."""
    found = stability()
    if found is None or VARIABLE not in found or len(found) < 2:
        return nothing("consistent on three sets, less so on the fourth", "heat-maps")
    others = {name: value for name, value in found.items() if name != VARIABLE}
    parts = [value >= CONSISTENT for value in others.values()] + [found[VARIABLE] < min(others.values())]
    return Evidence(
        share(sum(parts), len(parts)),
        "mean correlations " + ", ".join(f"{name} {value:.2f}" for name, value in found.items()),
        f"at least {CONSISTENT:g} on {len(others)} sets, less on {VARIABLE}",
        float(min(others.values()) - CONSISTENT),
        f"{VARIABLE} is the paper's wdbc. Ten random parts of two thirds, 45 pairs of them. Parts: each of "
        "the three sets, and that the fourth is below them.",
        {"sets": len(found)},
    )
