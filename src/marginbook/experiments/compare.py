"""The comparison of an experiment with its printed table, by id, and its view in the terminal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..claims import Verdict
from ..claims.calibration import calibrate
from ..claims.cell_verdicts import Scores, agreeing, compare_cells, counts, layout
from ..claims.pass_rates import Calibration
from ..claims.printed_csv import read_printed
from ..claims.read_as import best, told
from ..claims.stored_tables import StoredTables
from .errors import ExperimentError, UnknownName
from .export import read_results
from .protocol import Protocol, load_protocol, printed_columns

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table
    from rich.text import Text

__all__ = ["compare", "counts", "layout", "view"]

_MARKS = {Verdict.REPRODUCED: ("=", "green"), Verdict.NOT_REPRODUCED: ("", "yellow")}


def compare(experiment: str | Protocol, results: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return one row per printed cell: theirs, ours, and whether they agree. Results of stand-ins stay out.

    The page of results, the command and the claims all see a table through this function. Of a table that can
    be read in several ways (`StoredTables.readings`) it is the reading with most agreeing cells.

    Parameters
    ----------
    experiment : str or Protocol
    results : DataFrame, optional
        As from `read_results`; default: the shipped results of the ``paper`` profile, with the rows that the
        room's ``PAPER_TABLES`` borrows from another experiment.

    Returns
    -------
    DataFrame
        See `marginbook.claims.cell_verdicts.compare_cells`; ``attrs["plus_minus"]`` says what ± is over,
        ``attrs["reading"]`` which reading it is, and how far the others are; "" where there is one only.

    Raises
    ------
    ExperimentError
        Nothing is printed, the results lack a column, or are all of stand-ins.
    """
    protocol = load_protocol(experiment) if isinstance(experiment, str) else experiment
    path = protocol.printed_path
    if path is None:
        raise ExperimentError(f"{protocol.id} has no printed numbers to compare with")
    if not path.is_file():
        raise ExperimentError(f"{protocol.id}: its printed numbers, {path.name}, are not beside the protocol")
    try:
        printed = read_printed(path)
        tables = paper_tables(protocol)
        if results is None:
            results = tables.measured(protocol.table)
        if results is None:
            results = read_results(protocol.id)  # says what to run
        parts, missing = readings(protocol, results)
        stored = tables.as_read(protocol.table, results)
        frames = {name: rule(protocol, stored[name])(printed, part, None) for name, part in parts.items()}
    except KeyError as error:
        raise UnknownName(f"{protocol.id}: {error.args[0]}") from None
    except ValueError as error:
        raise ExperimentError(f"{protocol.id}: {error}") from None
    scores = {name: agreeing(frame) for name, frame in frames.items()}
    frame = frames[best(scores)]
    reading = told(scores, missing) if protocol.table in tables.readings else ""
    frame.attrs |= {"plus_minus": protocol.plus_minus, "reading": reading}
    return frame


def readings(protocol: Protocol, results: pd.DataFrame) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Return results in the columns of the printed table under each reading, and the readings not stored."""
    parts = paper_tables(protocol).as_read(protocol.table, results)
    stored = {name: own_results(protocol, part) for name, part in parts.items() if part is not None}
    return stored, [name for name, part in parts.items() if part is None]


def own_results(protocol: Protocol, results: pd.DataFrame) -> pd.DataFrame:
    """Return results in the columns of the printed table, without those of stand-ins."""
    own = results[~results["dataset"].isin(list(protocol.stand_ins))]
    if own.empty and len(results):
        raise ExperimentError(
            f"{protocol.id}: the results are of stand-ins only ({', '.join(protocol.stand_ins)}), which "
            "no printed number is about"
        )
    found: pd.DataFrame = printed_columns(protocol, own)
    return found


def rule(
    protocol: Protocol, results: pd.DataFrame | None = None, **otherwise: Any
) -> Callable[[pd.DataFrame, pd.DataFrame | Scores, int | None], pd.DataFrame]:
    """Return the comparison of a table: (printed, results, splits behind a printed mean) -> cells.

    Without a number of splits they are as the paper has them. The spread of a choice is from `results`, by
    default those that are stored. `otherwise` are arguments of `compare_cells` for cells that are not the
    protocol's.
    """
    tables = paper_tables(protocol)
    splits, choices = tables.splits.get(protocol.table), tables.choices.get(protocol.table)
    stated: dict[str, Any] = {
        "metric": protocol.metric,
        "better_of": protocol.better_of,
        "printed_splits": protocol.printed_splits if splits is None else splits(),
        "higher_is_better": protocol.higher_is_better,
        "other_data": tables.other_data(),
    }
    if choices and "choices" not in otherwise:
        found = tables.measured(protocol.table) if results is None else results
        stated["choices"] = {} if found is None else choices(found)

    def compared(printed: pd.DataFrame, results: pd.DataFrame | Scores, n: int | None) -> pd.DataFrame:
        own = {} if n is None else {"printed_splits": n}
        return compare_cells(printed, results, **stated | own | otherwise)

    return compared


def calibrated(experiment: str | Protocol, results: pd.DataFrame) -> Calibration:
    """Return how often the rule for the cells of a table passes a faithful re-run, and a wrong one.

    Parameters
    ----------
    experiment : str or Protocol
    results : DataFrame
        As from `read_results`.
    """
    protocol = load_protocol(experiment) if isinstance(experiment, str) else experiment
    assert protocol.printed_path is not None
    parts, _ = readings(protocol, results)
    return calibrate(read_printed(protocol.printed_path), parts, rule(protocol))


def paper_tables(protocol: Protocol) -> StoredTables:
    """Return what the room says of its printed tables in ``paper/printed.py``, else the default."""
    name, default = f"{protocol.package}.paper.printed", StoredTables(protocol.room, own="")
    try:
        found = getattr(import_module(name), "PAPER_TABLES", default)
    except ModuleNotFoundError as error:
        if not (error.name and name.startswith(error.name)):
            raise
        return default
    assert isinstance(found, StoredTables)
    return found


def view(comparison: pd.DataFrame, title: str = "") -> View:
    """Return a comparison for the terminal: in each cell the printed mean over ours, marked =, ↑ or ↓.

    Where the methods do not fit side by side, several tables stand below each other. Data sets without a
    single result of ours are only counted, below the last table.
    """
    return View(comparison, title)


@dataclass(frozen=True, eq=False)
class View:
    """A comparison that fits itself to the width of the console which prints it."""

    comparison: pd.DataFrame
    title: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        groups = self._groups(console, options)
        for i, methods in enumerate(groups):
            yield self._table(
                methods,
                title=self.title if i == 0 else "",
                caption=_caption(self.comparison) if i == len(groups) - 1 else "",
            )

    def _groups(self, console: Console, options: ConsoleOptions) -> list[list[str]]:
        unlimited = options.update(max_width=10_000)
        groups: list[list[str]] = [[]]
        for method in dict.fromkeys(self.comparison["method"]):
            wanted = console.measure(self._table([*groups[-1], method]), options=unlimited).maximum
            if groups[-1] and wanted > options.max_width:
                groups.append([])
            groups[-1].append(method)
        return groups

    def _table(self, methods: list[str], title: str = "", caption: str = "") -> Table:
        from rich.table import Table
        from rich.text import Text

        table = Table(title=title or None, caption=caption or None, show_lines=True)
        table.add_column("data set", overflow="fold")
        for method in methods:
            table.add_column(Text(method), justify="right", no_wrap=True)
        for dataset, rows in self.comparison.groupby("dataset", sort=False):
            if not rows["ours_n"].any():
                continue
            cells = {row["method"]: _shown(row) for row in rows.to_dict("records")}
            table.add_row(Text(str(dataset)), *(cells.get(method, Text("")) for method in methods))
        return table


def _shown(row: dict[Any, Any]) -> Text:
    from rich.text import Text

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
    reading = comparison.attrs.get("reading", "")
    read_as = f". Read as {reading.rstrip('.')}" if reading else ""
    return f"{legend}. {summary}. ±: {comparison.attrs['plus_minus']}{read_as}"
