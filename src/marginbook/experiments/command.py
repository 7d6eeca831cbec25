"""``marginbook experiment``: list, run, status, export, recheck, compare; merge, twice are from elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from ..base.project import resource
from ..cli.commands import keeping
from ..cli.disks import require_place
from .everything import announced, cheapest_first
from .export import ResultsKept, export, read_results, write_atomically
from .merging_command import merge_
from .options import (
    Experiments,
    jobs_option,
    names,
    numbers,
    out_option,
    paper_or_quick,
    quick_or_paper,
    store_option,
)
from .protocol import PROFILES, experiments, load_protocol
from .recheck import as_csv, recheck, summary
from .runner import run
from .second_run_command import twice
from .showing import CPU, LEFT, compact, duration, made_by, show, tell, tell_rechecked
from .standing import STATES, standing
from .store import Store

COUNTED = ("tasks", "done", "shipped", "cpu_seconds", "at_most")


@click.group(cls=Experiments)
def experiment() -> None:
    """Run the experiments of the papers and compare with what they print.

    ID is a table or figure of a paper, such as drm/table-8; `list` shows them all.

    \b
    Example:
      marginbook experiment run drm/table-8 --profile quick
      marginbook experiment compare drm/table-8
    """


experiment.add_command(merge_)
experiment.add_command(twice)


@experiment.command("list")
@store_option
@click.option("--json", "as_json", is_flag=True, help="The same for machines.")
def list_(store: Path | None, as_json: bool) -> None:
    """List the experiments, their tasks and their cost.

    Of each: how many tasks it has, how many are stored as done, and what all of them take.

    \b
    Example:
      marginbook experiment list
    """
    rows: list[dict[str, Any]] = []
    with Store.to_read(store) as results:
        for name in experiments():
            protocol = load_protocol(name)
            row: dict[str, Any] = {"id": name, "title": protocol.title}
            if protocol.stand_ins:
                row["stand_ins"] = dict(protocol.stand_ins)
            for profile in PROFILES:
                found = standing(protocol, profile, results, trust=True).record()
                row[profile] = {name: found[name] for name in COUNTED}
            rows.append(row)
    if as_json:
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    table = compact("id", "title", "quick:\ndone", "CPU", "paper:\ndone", "shipped", "CPU", folded="title")
    for row in rows:
        quick, paper = row["quick"], row["paper"]
        table.add_row(
            row["id"], row["title"], f"{quick['done']} of {quick['tasks']}", duration(quick),
            f"{paper['done']} of {paper['tasks']}", str(paper["shipped"]), duration(paper),
        )  # fmt: skip
    show(table)
    click.echo(CPU)
    for row in rows:
        for dataset, why in row.get("stand_ins", {}).items():
            click.echo(f"{row['id']}, quick: on {dataset} as a stand-in, {why}")


@experiment.command("run")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "everything", is_flag=True, help="All experiments, the cheapest first.")
@quick_or_paper
@jobs_option(-1)
@click.option("--dask", metavar="ADDRESS", help="Run on the Dask cluster of this scheduler: tcp://host:8786.")
@store_option
@out_option
@click.option("--datasets", callback=names, metavar="A,B", help="Only these data sets.")
@click.option("--methods", callback=names, metavar="X,Y", help="Only these methods.")
@click.option("--splits", callback=numbers, metavar="1,2", help="Only these splits.")
@click.option("--skip-missing", is_flag=True, help="Missing data sets and packages are no failure.")
@keeping("finished tasks are kept, the same command resumes")
def run_(
    ids: tuple[str, ...], everything: bool, profile: str, n_jobs: int, dask: str | None, store: Path | None,
    out: Path | None, datasets: list[str] | None, methods: list[str] | None, splits: list[int] | None,
    skip_missing: bool,
) -> None:  # fmt: skip
    """Run what is missing of experiments, then export.

    Finished tasks are kept: after Ctrl-C, or a crash, the same command goes on where it stopped.

    \b
    Example:
      marginbook experiment run drm/table-8 --profile quick
      marginbook experiment run drm/table-8 --profile paper --n-jobs 4
      marginbook experiment run drm/table-8 --datasets glass2,ecoli4 --methods 'DRM(R)'
      marginbook experiment run --all --profile paper --skip-missing
    """
    if everything == bool(ids):
        raise click.UsageError("name experiments (`marginbook experiment list`), or give --all; not both")
    if everything and (datasets or methods or splits):
        raise click.UsageError("--all runs whole experiments: leave out --datasets, --methods and --splits")
    if everything:
        planned = announced(cheapest_first(profile, store))
    else:
        protocols = [load_protocol(name) for name in dict.fromkeys(ids)]
        for (
            protocol
        ) in protocols:  # a misspelt name should not show after hours of work on another experiment
            protocol.tasks(profile, datasets=datasets, methods=methods, splits=splits)
        planned = ((protocol, "") for protocol in protocols)
    console, good = Console(stderr=True), True
    for protocol, announcement in planned:
        if announcement:
            click.echo(announcement, err=True)
        report = run(
            protocol, profile, n_jobs=n_jobs, dask=dask, store=store, datasets=datasets, methods=methods,
            splits=splits, console=console,
        )  # fmt: skip
        good = tell(report, skip_missing) and good
        if report.done:
            try:
                click.echo(f"wrote {export(protocol, profile, store=store, out=out)[0]}")
            except ResultsKept as kept:
                click.echo(f"note: {kept}", err=True)
    if not good:
        raise click.exceptions.Exit(1)


@experiment.command("status")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--profile", type=click.Choice(PROFILES), help="Only this profile.")
@click.option(
    "--n-jobs", type=int, default=1, show_default=True, help="Workers that the remaining time is for."
)
@click.option("--tracebacks", is_flag=True, help="Show why tasks failed.")
@click.option("--json", "as_json", is_flag=True, help="The same for machines, in seconds.")
@store_option
def status(
    ids: tuple[str, ...],
    profile: str | None,
    n_jobs: int,
    tracebacks: bool,
    as_json: bool,
    store: Path | None,
) -> None:
    """Show how many tasks are done or left, and the time left.

    Done: in the store. Shipped: not in the store, but in the results that come with marginbook. Stale: in the
    store, made with other code, data or settings than now; run again by the next run.

    \b
    Example:
      marginbook experiment status drm/table-8
    """
    with Store.to_read(store) as results:
        found = [
            standing(protocol, one, results)
            for protocol in [load_protocol(name) for name in ids or experiments()]
            for one in ([profile] if profile else PROFILES)
        ]
    if as_json:
        click.echo(json.dumps([each.record() for each in found], indent=2, ensure_ascii=False))
        return
    headings = [name.replace("remaining", "remain-\ning") for name in STATES]
    table = compact("id", "", *headings, "CPU", "time\nleft")
    for each in found:
        row = each.record()
        shown = (str(row[name]) for name in STATES)
        left = duration(row, "seconds_left", max(n_jobs, 1))
        table.add_row(each.experiment, each.profile, *shown, duration(row), left)
    show(table)
    click.echo(f"{CPU}\n{LEFT}")
    click.echo(made_by([each for each in found if each.code_of_now is not None]))
    for text in [text for each in found for text in each.failures] if tracebacks else ():
        click.echo(text)


@experiment.command("export")
@click.argument("id_", metavar="ID")
@paper_or_quick
@store_option
@out_option
@click.option("--replace", is_flag=True, help="Even if the present file has results that the store lacks.")
def export_(id_: str, profile: str, store: Path | None, out: Path | None, replace: bool) -> None:
    """Write the stored results as CSV.

    Sorted, the same bytes each time, with timings and provenance beside it.

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
@click.option("--seed", default=0, show_default=True, help="Seed of the random draw.")
@jobs_option(1)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the table here as CSV.")
def recheck_(
    ids: tuple[str, ...], rows: int, at_most: float, seed: int, n_jobs: int, out: Path | None
) -> None:
    """Compute some stored rows again, and compare.

    Exit code 1 when any differs, and when none could be compared.

    \b
    Example:
      marginbook experiment recheck drm/table-8 --rows 20
    """
    protocols = [load_protocol(name) for name in ids or experiments()]
    if out is not None:
        require_place(out.parent)
    table = []
    for protocol in protocols:
        if not ids and not resource("results", f"{protocol.id}.csv").is_file():
            click.echo(f"not compared: {protocol.id} has no stored results yet", err=True)
            continue
        found = recheck(protocol, rows, at_most=at_most, seed=seed, n_jobs=n_jobs)
        tell_rechecked(protocol.id, found)
        table.append(summary(protocol, found))
    if not table:
        raise click.ClickException("no experiment has stored results; marginbook experiment run makes them")
    columns = [name for name in table[0] if name != "commit"]  # the same in each row
    shown = Table(*columns)
    for row in table:
        shown.add_row(*(str(row[name]) for name in columns))
    Console().print(shown)
    if out is not None:
        write_atomically({out: as_csv(table)})
        click.echo(f"wrote {out}")
    compared = any(row["rows"] for row in table)
    if not compared:
        click.echo("no row was compared", err=True)
    if not compared or any(row["same"] < row["rows"] for row in table):
        raise click.exceptions.Exit(1)


@experiment.command("compare")
@click.argument("id_", metavar="ID")
@paper_or_quick
@out_option
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
    shipped = profile == "paper" and out is None
    comparison = compare(protocol, None if shipped else read_results(id_, profile, out))
    if as_json:
        click.echo(comparison.to_json(orient="records", indent=2))
    else:
        Console().print(view(comparison, protocol.title))
