"""``marginbook experiment twice``: run a share of the stored results again, elsewhere, and compare."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click

from ..base.project import resource
from ..cli.commands import Command, keeping
from ..cli.disks import require_place
from .errors import ExperimentError
from .export import read_results, write_atomically
from .options import jobs_option
from .protocol import experiments, load_protocol
from .recheck import as_csv
from .second_run import beside, drawn, other, run_again, totals, verdicts
from .showing import console
from .store import default_path


@click.command("twice", cls=Command)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--share", type=click.FloatRange(0, 1, min_open=True), default=0.25, show_default=True,
              help="Share of each experiment's stored computing time to run again.")  # fmt: skip
@click.option("--seed", default=0, show_default=True, help="Seed of the random draw.")
@click.option(
    "--threads", type=click.IntRange(1), default=2, show_default=True, help="BLAS threads per worker."
)
@jobs_option(1)
@click.option(
    "--name", default="processor", show_default=True, help="Name of this second run, such as newest."
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder; results/twice/NAME if not given.")
@keeping("finished tasks are kept; the same command goes on")
def twice(
    ids: tuple[str, ...], share: float, seed: int, threads: int, n_jobs: int, name: str, out: Path | None
) -> None:
    """Run a share of the results again: what moves?

    The share is drawn at random; numbers and verdicts are compared. Choose another core type by
    OPENBLAS_CORETYPE, or other packages by another environment. What was run is kept in .marginbook/twice-
    NAME.sqlite, so that the command can be stopped. The page about trust shows what came out.

    \b
    Example:
      OPENBLAS_CORETYPE=Nehalem marginbook experiment twice --threads 2
      marginbook experiment twice drm/table-8 --share 0.1 --out /tmp/twice
    """
    if not re.fullmatch(r"[a-z0-9-]+", name):
        raise click.BadParameter(
            f"{name!r} is not made of small letters, digits and hyphens", param_hint="--name"
        )
    folder = out or resource("results", "twice", name)
    require_place(folder)
    store, rows = default_path().with_name(f"twice-{name}.sqlite"), Path("_build", "twice", name)
    numbers: list[dict[str, Any]] = []
    told: list[dict[str, str]] = []
    for protocol in [load_protocol(name) for name in ids or experiments()]:
        try:
            tasks = drawn(protocol, share, seed)
        except ExperimentError as error:
            click.echo(f"left out: {error}", err=True)
            continue
        report = run_again(protocol, tasks, store, rows, n_jobs=n_jobs, threads=threads, console=console())
        if not report.done:
            click.echo(f"left out: no task of {protocol.id} could be run here", err=True)
            continue
        second = read_results(protocol.id, folder=rows)
        numbers.append(beside(protocol.id, second))
        told += [{"experiment": protocol.id, **row} for row in verdicts(protocol.id, second)]
        click.echo(f"{protocol.id}: {numbers[-1]['0']} of {numbers[-1]['cells']} numbers are the same")
    if not numbers:
        raise click.ClickException("nothing was run a second time")
    about = {
        "share": share,
        "seed": seed,
        "threads": threads,
        "other": other(row["experiment"] for row in numbers),
    }
    write_atomically(
        {
            folder / "numbers.csv": as_csv(numbers),
            **({folder / "verdicts.csv": as_csv(told)} if told else {}),
            folder / "about.json": json.dumps(about, indent=2, ensure_ascii=False) + "\n",
        }
    )
    every, changed = totals(numbers), [row for row in told if row["first"] != row["second"]]
    click.echo(f"{every['0']} of {every['cells']} numbers in {every['rows']} rows are the same")
    click.echo(f"{len(changed)} of {len(told)} verdicts change: {', '.join(r['claim'] for r in changed)}"
               if changed else f"none of {len(told)} verdicts changes")  # fmt: skip
