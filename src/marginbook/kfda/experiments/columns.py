"""Our results for Tables 1 and 2 as the paper's columns: one choice out of five realisations, by each rule.

A stored result is one realisation with all partitions in JSON lists. The paper chooses one of five, by the
lowest cross-validation error ("min MCR") or by the fewest retained samples ("min NRS"), and then tests: the
chosen parameters, refitted on every partition, or the chosen classifier itself, fixed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.parameters import validate_choice
from ..estimators.selection_rules import choose_realisation
from ..paper.printed import CHOICES, KINDS, PAPER_TABLES, printed
from ..paper.readings import PROTOCOLS, SHOWN

if TYPE_CHECKING:
    import pandas as pd

#: realisations of which one is chosen
REALISATIONS = 5
LISTS = ("errors_refit", "retained_refit", "errors_fixed")


def results(*tables: str, paper_sets: bool = True) -> pd.DataFrame | None:
    """Return the stored results of the tables named (default: both) with the lists read; None before any.

    Parameters
    ----------
    *tables : str
    paper_sets : bool
        Leave out the sets that are drawn anew.

    Returns
    -------
    DataFrame
        As `marginbook.kfda.experiments.tables_1_2.measure_table` says, with arrays in the place of JSON, for
        the methods of a set of which all five realisations are there.
    """
    import pandas as pd

    frames = [frame for table in tables or KINDS if (frame := PAPER_TABLES.results(table)) is not None]
    if not frames:
        return None
    frame = parsed(pd.concat(frames, ignore_index=True))
    return frame[frame["dataset"].isin(printed().errors.index)] if paper_sets else frame


def parsed(frame: pd.DataFrame) -> pd.DataFrame:
    """Read the JSON lists of stored results; leave out methods of sets with fewer than five realisations."""
    whole = frame.groupby(["dataset", "method"])["split"].transform("nunique") >= REALISATIONS
    kept = frame[whole].copy()
    for name in LISTS:
        kept[name] = kept[name].map(lambda text: np.array(json.loads(text), dtype=float))
    return kept


def pick(rows: pd.DataFrame, rule: str) -> dict[str, Any]:
    """Return that of the realisations of one method on one set which a rule chooses.

    Parameters
    ----------
    rows : DataFrame
        One row per realisation.
    rule : {"error", "retained", "test error"}
        The lowest cross-validation error, the fewest samples retained by the classifier of the realisation,
        or the lowest mean of `errors_fixed`, for which the test rows are needed.
    """
    kept, errors = rows["retained_fixed"].tolist(), rows["cv_error"].tolist()
    if rule == "test error":
        chosen = choose_realisation([float(np.mean(counts)) for counts in rows["errors_fixed"]], kept)
    else:
        chosen = choose_realisation(errors, kept, rule)
    return {str(name): value for name, value in rows.iloc[chosen].to_dict().items()}


def per_partition(row: dict[str, Any], protocol: str) -> tuple[np.ndarray, np.ndarray]:
    """Return error and retained share of one choice on each partition, in percent.

    Raises
    ------
    ValueError
        For another protocol than "refit" or "fixed".
    """
    validate_choice("protocol", protocol, PROTOCOLS)
    errors = 100 * row[f"errors_{protocol}"] / row["n_test"]
    kept = row["retained_refit"] if protocol == "refit" else np.full(len(errors), row["retained_fixed"])
    return errors, 100 * kept / row["n_train"]


def expand(frame: pd.DataFrame, protocol: str = "refit", *, best_of_five: bool = False) -> pd.DataFrame:
    """Return our results as the paper's columns, one row per data set, column and partition.

    Parameters
    ----------
    frame : DataFrame
        As from `results`.
    protocol : {"refit", "fixed"}
    best_of_five : bool
        Choose "min MCR" by the lowest test error instead: what a choice that has seen the test rows gives.

    Returns
    -------
    DataFrame
        `dataset`, `method` (of `CHOICES`), `split` (the number of the partition), `mcr` and `nrs` in
        percent, `n_train`, `n_test`, `realisation` (the chosen one).
    """
    import pandas as pd

    parts = []
    for (dataset, method), rows in frame.groupby(["dataset", "method"], sort=False):
        for column, (name, rule) in CHOICES.items():
            if name != method:
                continue
            row = pick(rows, "test error" if best_of_five and rule == "error" else rule)
            errors, kept = per_partition(row, protocol)
            part = {"split": np.arange(1, len(errors) + 1), "mcr": errors, "nrs": kept}
            same = {name: row[name] for name in ("n_train", "n_test", "realisation")}
            parts.append(pd.DataFrame({"dataset": dataset, "method": column, **part, **same}))
    columns = ["dataset", "method", "split", "mcr", "nrs", "n_train", "n_test", "realisation"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def as_printed_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """Return stored results as the paper's columns, in the reading that the page of results shows."""
    return expand(parsed(frame), SHOWN)


def columns_of(protocol: str = "refit", *, best_of_five: bool = False) -> pd.DataFrame | None:
    """Return `expand` of all stored results on the paper's sets; None before any."""
    frame = results()
    if frame is None or frame.empty:
        return None
    return expand(frame, protocol, best_of_five=best_of_five)


def means(wide: pd.DataFrame, side: str = "mcr") -> pd.DataFrame:
    """Return the means over the partitions, in percent: data sets in the printed order, columns across."""
    found = wide.pivot_table(index="dataset", columns="method", values=side, aggfunc="mean")
    order = [name for name in printed().errors.index if name in found.index]
    return found.loc[order, [name for name in CHOICES if name in found.columns]]


def deviations(wide: pd.DataFrame, side: str = "mcr") -> pd.DataFrame:
    """Return the sample standard deviations over the partitions, laid out as `means`."""
    found = wide.pivot_table(index="dataset", columns="method", values=side, aggfunc="std")
    like = means(wide, side)
    return found.reindex(index=like.index, columns=like.columns)
