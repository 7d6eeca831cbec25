"""``marginbook book``."""

from __future__ import annotations

import sys

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from ..commands import Command, keeping


@click.command("book", cls=Command)
@click.option(
    "--execute/--no-execute", default=True, help="Execute notebooks that changed, or show stored outputs."
)
@click.option(
    "--strict/--lenient", default=True, help="Fail on any warning, or list the warnings at the end."
)
@click.option("--fresh", is_flag=True, help="Do everything again, also what is up to date.")
@click.option("--n-jobs", default=-1, show_default=True, help="Processes; -1 is one for each core.")
@keeping("notebooks and claims that were done are kept, the same command goes on")
def book_command(execute: bool, strict: bool, fresh: bool, n_jobs: int) -> None:
    """Execute the notebooks in parallel, check the claims, and compile the book.

    What did not change is not done again; with nothing changed at all the command returns at once.

    \b
    Examples:
      marginbook book
      marginbook book --no-execute --lenient
      marginbook book --fresh --n-jobs 2
    """
    from ..notebooks import NotebookFailed
    from .compiling import BuildFailed
    from .making import make_book

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    try:
        with Progress(*columns, console=console, transient=not sys.stderr.isatty()) as bar:
            tasks: dict[str, object] = {}

            def show(stage: str, done: int, total: int) -> None:
                name = stage.partition(":")[0]
                if name not in tasks:
                    tasks[name] = bar.add_task(name, total=total or None)
                bar.update(tasks[name], description=stage, completed=done, total=total or None)  # type: ignore[arg-type]

            built = make_book(execute=execute, strict=strict, fresh=fresh, n_jobs=n_jobs, progress=show)
    except (BuildFailed, NotebookFailed) as error:
        raise click.ClickException(str(error)) from None
    for warning in built.warnings:
        click.echo(warning, err=True)
    click.echo(f"{'up to date' if built.cached else 'built'}: open {built.index}")
