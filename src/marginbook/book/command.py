"""``marginbook book``."""

from __future__ import annotations

import click

from ..base.progress import Stages
from ..cli.commands import Command, keeping


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
    from . import missing_data
    from .compiling import BuildFailed
    from .making import make_book

    try:
        with Stages() as stages:
            built = make_book(
                execute=execute,
                strict=strict,
                fresh=fresh,
                n_jobs=n_jobs,
                progress=stages.at,
                expect=stages.expect,
            )
    except (BuildFailed, NotebookFailed) as error:
        raise click.ClickException(str(error)) from None
    for warning in built.warnings:
        click.echo(warning, err=True)
    for line in missing_data.lines():
        click.echo(line, err=True)
    click.echo(f"{'up to date' if built.cached else 'built'}: open {built.index}")
