"""What the findings and their pictures read of stored results and stored benchmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.project import resource
from .stored_results import results
from .table_5 import SVM_COLUMNS

if TYPE_CHECKING:
    import pandas as pd

#: the large sets, as the text calls them
NAMES = {"ijcnn1": "ijcnn1", "shuttle": "Shuttle", "poker-split": "Poker"}


def benchmarks() -> pd.DataFrame:
    """Return the stored ratios of ``make bench PAPER=drm``."""
    import pandas as pd

    return pd.read_csv(resource("benchmarks", "results", "drm.csv"))


def table_five() -> pd.DataFrame:
    """Return our accuracies on the large sets: the better SVM, the exact DRM, the most frequent class."""
    import pandas as pd

    ours = results("table-5")
    assert ours is not None
    table = ours.pivot(index="dataset", columns="method", values="accuracy")
    rows = ours[ours["method"] == "DRM"].set_index("dataset")["test_rows"]
    columns = {"svm": table[SVM_COLUMNS].max(axis=1), "DRM": table["DRM"], "majority": table["majority"]}
    right = {f"{name} right": (table[name] * rows).round().astype(int) for name in ("DRM", "majority")}
    return pd.DataFrame(columns | right)


def drm_and_ridge() -> dict[str, tuple[pd.Series[float], pd.Series[float]]]:
    """Return the mean G-means of DRM and kernel ridge by kernel, scaling chosen in the training folds."""
    ours = results("table-8")
    assert ours is not None
    scores = ours.groupby(["dataset", "method"])["g_mean"].mean().unstack()
    return {
        name: (scores[f"DRM({letter})"], scores[f"KRR({letter})"])
        for letter, name in (("R", "Gaussian"), ("P", "polynomial"))
    }
