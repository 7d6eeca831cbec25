"""The tables of this paper as printed: errors, accuracies, seconds, sizes, and what is in bold."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ...claims.cell_verdicts import layout
from ...claims.printed_tables import PaperTables
from .readings import BY_SET, COLUMNS, by_words

if TYPE_CHECKING:
    import pandas as pd


def other_versions() -> dict[str, str]:
    """Return the sets whose public version is not as Tables 2, 3 and 5 print it, each with both sizes."""
    found = sizes()
    classes = (found["printed_classes"] != 0) & (found["printed_classes"] != found["classes"])
    off = found[(found["p"] != found["printed_p"]) | (found["n"] != found["printed_n"]) | classes]
    return {
        str(row.dataset): f"{row.printed_p} features and {row.printed_classes} classes printed, {row.p} and "
        f"{row.classes} in the public set"
        for row in off.itertuples()
    }


def in_full(results: pd.DataFrame) -> dict[str, pd.DataFrame | None]:
    """Return results of Table 1 under each scaling, by its words; None for one that is not stored in full.

    In full is with all printed columns, on all sets and folds of the scaling by sets.
    """
    found = by_words(results)
    wanted = _folds(found[BY_SET])
    for words, part in found.items():
        if words != BY_SET and part is not None:
            columns = (part[part["method"] == name] for name in COLUMNS)
            found[words] = part if all(wanted <= _folds(rows) for rows in columns) else None
    return found


def _folds(results: pd.DataFrame | None) -> set[tuple[object, ...]]:
    """Return the sets and splits of results."""
    if results is None or results.empty:
        return set()
    return set(results[["dataset", "split"]].itertuples(index=False, name=None))


PAPER_TABLES = PaperTables(
    "clasmk", own=("CLAS", "2L-CLAS"), other_data=other_versions, readings={"table-1": in_full}
)
NOTEBOOK = "clasmk/04_tables"
#: columns of Table 1 (and 2): the eight kernels, one kernel a class, several
SINGLE, (ONE, SEVERAL) = COLUMNS[:8], COLUMNS[8:]
#: columns of Table 4: the paper's, in one layer and in two, and the rivals
LAYERS = ("CLASMK-ML", "2L-CLASMK-ML")
RIVALS = ("MKL", "2L-MKL")
#: cells of Table 4 in bold, of one row more than the sets: the summary
BOLD = {
    "diabetes": ("2L-MKL",),
    "breast": ("2L-CLASMK-ML",),
    "australian": ("2L-CLASMK-ML",),
    "titanic": ("2L-CLASMK-ML",),
    "ionosphere": ("2L-CLASMK-ML", "2L-MKL"),
    "banana": ("2L-CLASMK-ML",),
    "ringnorm": ("2L-CLASMK-ML", "2L-MKL"),
    "heart": ("2L-MKL",),
    "sonar": ("2L-CLASMK-ML",),
    "thyroid": ("2L-MKL",),
    "liver": ("2L-CLASMK-ML",),
    "german": ("2L-CLASMK-ML", "2L-MKL"),
    "summary": ("2L-CLASMK-ML", "2L-MKL"),
}
#: what the last row of Table 4 is called in its file
SUMMARY = "summary"
#: printed decimals are not exact in binary
TINY = 1e-9


def printed(table: str, value: str = "mean") -> pd.DataFrame:
    """Return the printed means or deviations (`value` "mean" or "std"): rows down, methods across.

    The last row of Table 4 is its summary.
    """
    return _printed(table, value).copy()


@cache  # every claim about a table asks for it, some of them for each column
def _printed(table: str, value: str) -> pd.DataFrame:
    return layout(PAPER_TABLES.numbers(table), value)


def seconds() -> pd.DataFrame:
    """Return Table 2: `dataset`, `method`, `seconds`, and `basis_seconds`, `weights_seconds` of CLASMK-ML."""
    import pandas as pd

    return pd.read_csv(PAPER_TABLES.paper / "table-2.csv").drop(columns="note")


def sizes() -> pd.DataFrame:
    """Return Tables 2, 3 and 5, by table and printed name: what is printed of n and p, and what the set has.

    Returns
    -------
    DataFrame
        `table`, `printed_name`, `dataset` (of the room), `source` (of the registry), `printed_p`,
        `printed_n`, `printed_classes` (0: not printed), `p`, `n`, `classes`.
    """
    import pandas as pd

    from ...datasets.registry import entry

    frame = pd.read_csv(PAPER_TABLES.paper / "sets.csv")
    found = [entry(str(name)) for name in frame["source"]]
    return frame.assign(
        p=[each.p for each in found],
        n=[each.n for each in found],
        classes=[len(each.classes) for each in found],
    )
