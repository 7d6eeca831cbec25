"""The readings of Table 1: how its rows are scaled, which the text does not say.

One sentence would have told. One reading is by sets: it gives the pattern of the printed single kernels, and
was found on parts of single folds. The protocol has four more, each with one scaling for all sets. A reading
counts once all printed columns of it are stored, on all folds that the one by sets has. Until then its place
is empty, and claims about the table say so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

#: scalings of all sets, by the end of a method's name, and in words
SCALINGS = {
    "none": "features as they are",
    "standard": "features of mean 0 and deviation 1",
    "unit-range": "features in [0, 1]",
    "unit-length": "rows of length 1",
}
BY_SET = "by sets: banana and phoneme in [0, 1], pendigits and optdigits rows of length 1"
#: what stands between the name of a method and its scaling
MARK = ", "
COLUMNS = (
    "poly (8)", "poly (12)", "poly (24)", "poly (48)", "RBF (1)", "RBF (0.5)", "RBF (0.1)", "RBF (0.05)",
    "CLASK-ML", "CLASMK-ML",
)  # fmt: skip


def parts_of(method: str) -> tuple[str, str]:
    """Return the name of a method and its scaling; "" where the scaling is the set's.

    >>> parts_of("poly (8), unit-range"), parts_of("CLASMK-ML on M_B")
    (('poly (8)', 'unit-range'), ('CLASMK-ML on M_B', ''))
    """
    name, _, how = method.partition(MARK)
    return name, how


def by_words(results: pd.DataFrame) -> dict[str, pd.DataFrame | None]:
    """Return results under each scaling, by its words; None for one without all printed columns."""
    parts = [parts_of(str(method)) for method in results["method"]]
    named = results.assign(method=[name for name, _ in parts])
    found: dict[str, pd.DataFrame | None] = {}
    for how, words in {"": BY_SET, **SCALINGS}.items():
        part = named[np.array([own == how for _, own in parts], dtype=bool)]
        found[words] = part if not how or set(COLUMNS) <= set(part["method"]) else None
    return found
