"""The printed table beside ours, one verdict per cell."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from ..claims import Verdict
from .errors import ExperimentError, UnknownName
from .export import read_results
from .protocol import Protocol, load_protocol

if TYPE_CHECKING:
    import pandas as pd

NOT_PRINTED = "not printed"
PRINTED_COLUMNS = ["dataset", "method", "mean", "std", "note"]
COLUMNS = [
    "dataset", "method", "printed_mean", "printed_std", "printed_n", "ours_mean", "ours_std", "ours_n",
    "honest_mean", "honest_std", "column", "difference", "se", "verdict", "direction", "note",
]  # fmt: skip
_MARKS = {Verdict.REPRODUCED: ("=", "green"), Verdict.NOT_REPRODUCED: ("", "yellow")}


def read_printed(protocol: Protocol) -> pd.DataFrame:
    """Return the numbers that a paper prints, as text: what a dash stood for is empty."""
    import pandas as pd

    path = protocol.printed_path
    if path is None:
        raise ExperimentError(f"{protocol.id} has no printed numbers to compare with")
    if not path.is_file():
        raise ExperimentError(f"{protocol.id}: its printed numbers, {path.name}, are not beside the protocol")
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    if list(frame.columns) != PRINTED_COLUMNS:
        raise ExperimentError(f"{path.name} has the columns {list(frame.columns)}, wanted {PRINTED_COLUMNS}")
    if frame.duplicated(["dataset", "method"]).any():
        twice = frame[frame.duplicated(["dataset", "method"])].iloc[0]
        raise ExperimentError(f"{path.name} has the cell {twice['dataset']}, {twice['method']} twice")
    return frame


def compare(experiment: str | Protocol, results: pd.DataFrame | None = None) -> pd.DataFrame:
    r"""Return one row per printed cell: theirs, ours, and whether they agree.

    A cell is *reproduced* when

    .. math:: |\bar a - \bar b| \le 2 \sqrt{s_a^2 / n_a + s_b^2 / n_b} + u / 2

    where

    - :math:`\bar a, s_a, n_a` are our mean, standard deviation (n - 1) and number of splits,
    - :math:`\bar b, s_b, n_b` are the printed ones,
    - :math:`u` is one unit of the last printed digit of the mean (it was rounded).

    The splits are treated as independent; where both used the same folds this makes the interval too
    wide rather than too narrow. A standard deviation that is missing on one side (none printed, or one
    split only) is taken from the other; when both are missing only the rounding is allowed for.

    Parameters
    ----------
    experiment : str or Protocol
    results : DataFrame, optional
        As from `read_results`; default: the shipped results of the ``paper`` profile.

    Returns
    -------
    DataFrame
        `dataset`, `method`, `printed_mean`, `printed_std`, `printed_n`, `ours_mean`, `ours_std`, `ours_n`
        (splits), `honest_mean`, `honest_std`, `column`, `difference` (ours - printed), `se` (of the
        difference), `verdict`, `direction` ("ours higher", "ours lower" or ""), `note`.
        Ours is the protocol's metric, or, with `better_of`, the one of those columns with the better mean,
        named in `column`, as the paper reports; the honest columns are always the metric.
        ``attrs["plus_minus"]`` says what ± is over. A verdict is `reproduced`, `not-reproduced`,
        `not-testable` (no result of ours), or "not printed".
    """
    import pandas as pd

    protocol = load_protocol(experiment) if isinstance(experiment, str) else experiment
    results = read_results(protocol.id) if results is None else results
    for column in (protocol.metric, *protocol.better_of):
        if column not in results.columns:
            raise UnknownName(f"{protocol.id}: the results have no column {column!r}")
    cells = {
        (str(dataset), str(method)): cell
        for (dataset, method), cell in results.groupby(["dataset", "method"])
    }
    rows = [
        _cell(row, cells.get((row["dataset"], row["method"]), results.iloc[:0]), protocol)
        for row in read_printed(protocol).to_dict("records")
    ]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    frame.attrs["plus_minus"] = protocol.plus_minus
    return frame


def _cell(printed: dict[Any, Any], ours: pd.DataFrame, protocol: Protocol) -> dict[str, Any]:
    mean, std = _float(printed["mean"], protocol), _float(printed["std"], protocol)
    sides = {column: _mean_std_n(ours[column]) for column in protocol.better_of or (protocol.metric,)}
    sign = 1 if protocol.higher_is_better else -1
    column = max(sides, key=lambda name: sign * sides[name][0] if sides[name][2] else -math.inf)
    ours_mean, ours_std, n_ours = sides[column]
    honest_mean, honest_std, _ = _mean_std_n(ours[protocol.metric])
    difference = ours_mean - mean
    # a spread that one side lacks is taken from the other; when both lack it the number is taken at its word
    known = [value for value in (std, ours_std) if not math.isnan(value)] or [0.0]
    theirs, own = (known[0] if math.isnan(value) else value for value in (std, ours_std))
    se = math.sqrt(theirs**2 / protocol.printed_splits + own**2 / n_ours) if n_ours else math.nan
    verdict, direction = _verdict(mean, difference, 2 * se + _half_unit(printed["mean"]))
    return {
        "dataset": printed["dataset"], "method": printed["method"], "printed_mean": mean, "printed_std": std,
        "printed_n": protocol.printed_splits, "ours_mean": ours_mean, "ours_std": ours_std, "ours_n": n_ours,
        "honest_mean": honest_mean, "honest_std": honest_std, "column": column, "difference": difference,
        "se": se, "verdict": verdict, "direction": direction, "note": printed["note"],
    }  # fmt: skip


def _mean_std_n(column: pd.Series[Any]) -> tuple[float, float, int]:
    values = column.dropna().to_numpy(float)
    mean = float(values.mean()) if len(values) else math.nan
    return mean, float(values.std(ddof=1)) if len(values) > 1 else math.nan, len(values)


def _verdict(printed: float, difference: float, allowed: float) -> tuple[str, str]:
    if math.isnan(printed):
        return NOT_PRINTED, ""
    if math.isnan(difference):
        return str(Verdict.NOT_TESTABLE), ""
    # the last bits of a mean must not decide
    if abs(difference) <= allowed * (1 + 1e-9):
        return str(Verdict.REPRODUCED), ""
    return str(Verdict.NOT_REPRODUCED), "ours higher" if difference > 0 else "ours lower"


def _half_unit(text: str) -> float:
    digits = text.strip().partition(".")[2]
    return 0.5 * 10.0 ** -len(digits) if text.strip() else 0.0


def _float(text: str, protocol: Protocol) -> float:
    try:
        return float(text) if text.strip() else math.nan
    except ValueError:
        name = Path(str(protocol.printed)).name
        raise ExperimentError(f"{name} has {text!r} where a number or nothing should be") from None


def layout(comparison: pd.DataFrame, value: str = "ours_mean") -> pd.DataFrame:
    """Return one column of a comparison as the paper lays it out: data sets down, methods across."""
    order = {axis: list(dict.fromkeys(comparison[axis])) for axis in ("dataset", "method")}
    table = comparison.pivot(index="dataset", columns="method", values=value)
    return table.loc[order["dataset"], order["method"]]


def counts(comparison: pd.DataFrame) -> dict[str, int]:
    """Return how many cells got each verdict, the most frequent first."""
    return {str(verdict): int(n) for verdict, n in comparison["verdict"].value_counts().items()}


def view(comparison: pd.DataFrame, title: str = "") -> Table:
    """Return a comparison for the terminal: in each cell the printed mean over ours, marked =, ↑ or ↓.

    Data sets without a single result of ours are only counted, below the table.
    """
    methods = list(dict.fromkeys(comparison["method"]))
    table = Table(title=title, caption=_caption(comparison), show_lines=True)
    table.add_column("data set", overflow="fold")
    for method in methods:
        table.add_column(method, justify="right", no_wrap=True)
    for dataset, rows in comparison.groupby("dataset", sort=False):
        if not rows["ours_n"].any():
            continue
        cells = {row["method"]: _shown(row) for row in rows.to_dict("records")}
        table.add_row(str(dataset), *(cells.get(method, Text("")) for method in methods))
    return table


def _shown(row: dict[Any, Any]) -> Text:
    printed, ours = (
        f"{row[side]:.3f}" if row[side] == row[side] else "–" for side in ("printed_mean", "ours_mean")
    )
    mark, style = _MARKS.get(row["verdict"], ("", "dim"))
    mark = mark or {"ours higher": "↑", "ours lower": "↓"}.get(row["direction"], " ")
    return Text.assemble(f"{printed} ", "\n", (f"{ours}{mark}", style))


def _caption(comparison: pd.DataFrame) -> str:
    summary = ", ".join(f"{n} {verdict}" for verdict, n in counts(comparison).items())
    absent = sum(not rows["ours_n"].any() for _, rows in comparison.groupby("dataset"))
    summary += f"; {absent} data sets without results are not shown" if absent else ""
    legend = "printed over ours; = reproduced, ↑ ours higher, ↓ ours lower"
    return f"{legend}. {summary}. ±: {comparison.attrs['plus_minus']}"
