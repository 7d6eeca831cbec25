"""``marginbook experiment``: list, run, status, export, recheck, compare."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from ..commands import Group, keeping
from .errors import ExperimentError, UnknownName
from .export import ResultsKept, export, read_results
from .progress import clock, last_line
from .protocol import PROFILES, Protocol, experiments, load_protocol
from .recheck import recheck, summary, write_summary
from .runner import Report, expected_seconds, inspect_inputs, run
from .store import Store, state


class _Group(Group):
    """Turns errors into one line and the exit code: 2 for wrong usage, else 1."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except UnknownName as error:
            raise click.UsageError(str(error)) from None
        except ExperimentError as error:
            raise click.ClickException(str(error)) from None


def _names(ctx: click.Context, param: click.Parameter, value: str | None) -> list[str] | None:
    if value is None:
        return None
    names = [name.strip() for name in value.split(",") if name.strip()]
    if not names:
        raise click.BadParameter("expected names with commas between them")
    return names


def _numbers(ctx: click.Context, param: click.Parameter, value: str | None) -> list[int] | None:
    try:
        names = _names(ctx, param, value)
        return None if names is None else [int(name) for name in names]
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a list of numbers such as 1,2") from None


def _options(*options: Callable[..., Any]) -> Callable[..., Any]:
    def apply(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return apply


_PATH = click.Path(path_type=Path)
_profile = click.option(
    "--profile", type=click.Choice(PROFILES), default="quick", show_default=True,
    help="quick: a slice that takes seconds; paper: the whole protocol.",
)  # fmt: skip
_store = click.option(
    "--store",
    type=_PATH,
    metavar="PATH",
    help="File of finished tasks. Default: .marginbook/experiments.sqlite",
)
_out = click.option(
    "--out",
    type=_PATH,
    metavar="DIR",
    help="Folder of the CSV files. Default: results (paper), _build/results (quick)",
)


@click.group(cls=_Group)
def experiment() -> None:
    """Run the experiments of the papers and compare with what they print.

    \b
    Example:
      marginbook experiment run drm/table-8 --profile quick
      marginbook experiment compare drm/table-8
    """


@experiment.command("list")
@_store
@click.option("--json", "as_json", is_flag=True, help="The same for machines.")
def list_(store: Path | None, as_json: bool) -> None:
    """List the experiments, how many tasks each has, and how many are stored as done.

    \b
    Example:
      marginbook experiment list
    """
    rows = []
    with Store(store) as results:
        for name in experiments():
            protocol = load_protocol(name)
            row: dict[str, Any] = {"id": name, "title": protocol.title}
            for profile in PROFILES:
                tasks = set(protocol.tasks(profile))
                done = sum(o.error is None and o.task in tasks for o in results.outcomes(name, profile))
                row[profile] = {"tasks": len(tasks), "done": done}
            rows.append(row)
    if as_json:
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    table = Table("id", "title", "quick: done", "paper: done")
    for row in rows:
        table.add_row(row["id"], row["title"], *(f"{row[p]['done']} of {row[p]['tasks']}" for p in PROFILES))
    Console().print(table)


@experiment.command("run")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@_profile
@click.option("--n-jobs", type=int, default=-1, show_default=True, help="Worker processes; -1: one per core.")
@click.option(
    "--dask", metavar="ADDRESS", help="Run on the Dask cluster with this scheduler, e.g. tcp://host:8786."
)
@_store
@_out
@click.option("--datasets", callback=_names, metavar="A,B", help="Only these data sets.")
@click.option("--methods", callback=_names, metavar="X,Y", help="Only these methods.")
@click.option("--splits", callback=_numbers, metavar="1,2", help="Only these splits.")
@click.option("--skip-missing", is_flag=True, help="Data sets that are not there are no failure.")
@keeping("finished tasks are kept, the same command resumes")
def run_(
    ids: tuple[str, ...], profile: str, n_jobs: int, dask: str | None, store: Path | None, out: Path | None,
    datasets: list[str] | None, methods: list[str] | None, splits: list[int] | None, skip_missing: bool,
) -> None:  # fmt: skip
    """Run what is missing of experiments, then export.

    Finished tasks are kept: after Ctrl-C, or a crash, the same command goes on where it stopped.

    \b
    Example:
      marginbook experiment run drm/table-8 --profile quick
      marginbook experiment run drm/table-8 --profile paper --n-jobs 4
      marginbook experiment run drm/table-8 --datasets glass2,ecoli4 --methods 'DRM(R)'
    """
    if n_jobs == 0 or n_jobs < -1:
        raise click.BadParameter(
            f"{n_jobs} worker processes cannot be; give -1 or at least 1", param_hint="--n-jobs"
        )
    protocols = [load_protocol(name) for name in dict.fromkeys(ids)]
    for protocol in protocols:  # a misspelt name should not show after hours of work on another experiment
        protocol.tasks(profile, datasets=datasets, methods=methods, splits=splits)
    console, good = Console(stderr=True), True
    for protocol in protocols:
        report = run(
            protocol, profile, n_jobs=n_jobs, dask=dask, store=store, datasets=datasets, methods=methods,
            splits=splits, console=console,
        )  # fmt: skip
        good = _tell(report, skip_missing) and good
        if report.done:
            try:
                click.echo(f"wrote {export(protocol, profile, store=store, out=out)[0]}")
            except ResultsKept as kept:
                click.echo(f"note: {kept}", err=True)
    if not good:
        raise click.exceptions.Exit(1)


def _tell(report: Report, skip_missing: bool) -> bool:
    click.echo(
        f"{report.experiment} ({report.profile}): {report.done} of {report.asked} tasks done, {report.ran} "
        f"run now, {len(report.failed)} failed"
    )
    for outcome in report.failed:
        click.echo(f"  failed: {outcome.task}: {last_line(outcome.error or '')}", err=True)
    if report.failed:
        click.echo(f"  tracebacks: marginbook experiment status {report.experiment} --tracebacks", err=True)
    for dataset, reason in report.missing.items():
        click.echo(f"  skipped {dataset}: {reason}", err=True)
    return not report.failed and (skip_missing or not report.missing)


@experiment.command("status")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--profile", type=click.Choice(PROFILES), help="Only this profile.")
@click.option(
    "--n-jobs", type=int, default=1, show_default=True, help="Workers that the remaining time is for."
)
@click.option("--tracebacks", is_flag=True, help="Show why tasks failed.")
@_store
def status(
    ids: tuple[str, ...], profile: str | None, n_jobs: int, tracebacks: bool, store: Path | None
) -> None:
    """Show how many tasks are done, failed, stale or remaining, and how long the rest should take.

    Stale: made with other code, data or settings than now; run again by the next run.

    \b
    Example:
      marginbook experiment status drm/table-8
    """
    table = Table("id", "profile", "done", "failed", "stale", "remaining", "time left")
    failures = []
    with Store(store) as results:
        for protocol in [load_protocol(name) for name in ids or experiments()]:
            for one in [profile] if profile else PROFILES:
                counts, left, failed = _state_of(protocol, one, results)
                shown = [str(counts[name]) for name in ("done", "failed", "stale", "remaining")]
                table.add_row(
                    protocol.id, one, *shown, clock(left / max(n_jobs, 1)) if left is not None else "?"
                )
                failures += failed
    Console().print(table)
    for text in failures if tracebacks else ():
        click.echo(text)


def _state_of(protocol: Protocol, profile: str, store: Store) -> tuple[Counter[str], float | None, list[str]]:
    tasks = protocol.tasks(profile)
    inputs = inspect_inputs(protocol, profile, (task.dataset for task in tasks))
    states = {
        task: state(store.get(task), inputs.signatures[task.dataset]) if task.dataset in inputs.signatures
        else "remaining" for task in tasks
    }  # fmt: skip
    todo = [task for task, found in states.items() if found != "done"]
    timed = any(o.error is None for o in store.outcomes(protocol.id, profile))
    left = sum(expected_seconds(store, protocol, todo, inputs.n_rows).values()) if timed or not todo else None
    failed = [task for task, found in states.items() if found == "failed"]
    texts = [f"{task}\n{outcome.error}" for task in failed if (outcome := store.get(task)) is not None]
    return Counter(states.values()), left, texts


@experiment.command("export")
@click.argument("id_", metavar="ID")
@click.option("--profile", type=click.Choice(PROFILES), default="paper", show_default=True)
@_store
@_out
@click.option("--replace", is_flag=True, help="Even if the present file has results that the store lacks.")
def export_(id_: str, profile: str, store: Path | None, out: Path | None, replace: bool) -> None:
    """Write the stored results as CSV, sorted, with timings and provenance beside it.

    \b
    Example:
      marginbook experiment export drm/table-8 --profile paper
    """
    for path in export(id_, profile, store=store, out=out, replace=replace):
        click.echo(f"wrote {path}")


@experiment.command("recheck")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--rows", default=5, show_default=True, type=click.IntRange(1), help="Rows of each experiment.")
@click.option("--at-most", default=30.0, show_default=True, help="Leave out rows that took more seconds.")
@click.option("--seed", default=0, show_default=True, help="Of the draw.")
@click.option("--n-jobs", type=int, default=1, show_default=True, help="Worker processes; -1: one per core.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the table here as CSV.")
def recheck_(
    ids: tuple[str, ...], rows: int, at_most: float, seed: int, n_jobs: int, out: Path | None
) -> None:
    """Compute some stored rows again with the code of now, and compare.

    \b
    Example:
      marginbook experiment recheck drm/table-8 --rows 20
    """
    if n_jobs == 0 or n_jobs < -1:
        raise click.BadParameter(
            f"{n_jobs} worker processes cannot be; give -1 or at least 1", param_hint="--n-jobs"
        )
    table = []
    for protocol in [load_protocol(name) for name in ids or experiments()]:
        found = recheck(protocol, rows, at_most=at_most, seed=seed, n_jobs=n_jobs)
        for each in found:
            if not each.same:
                click.echo(f"differs: {each.task}: {each.where}, by {each.largest:.1e} of it", err=True)
        table.append(summary(protocol.id, found))
    shown = Table(*table[0])
    for row in table:
        shown.add_row(*map(str, row.values()))
    Console().print(shown)
    if out is not None:
        write_summary(out, table)
        click.echo(f"wrote {out}")
    if any(row["same"] < row["rows"] for row in table):
        raise click.exceptions.Exit(1)


@experiment.command("compare")
@click.argument("id_", metavar="ID")
@click.option("--profile", type=click.Choice(PROFILES), default="paper", show_default=True)
@_out
@click.option("--json", "as_json", is_flag=True, help="One record per cell, for machines.")
def compare_(id_: str, profile: str, out: Path | None, as_json: bool) -> None:
    """Compare our results with the printed table, cell by cell.

    \b
    Example:
      marginbook experiment compare drm/table-8
      marginbook experiment compare drm/table-8 --json
    """
    from .compare import compare, view

    protocol = load_protocol(id_)
    comparison = compare(protocol, read_results(id_, profile, out))
    if as_json:
        click.echo(comparison.to_json(orient="records", indent=2))
    else:
        Console().print(view(comparison, protocol.title))
