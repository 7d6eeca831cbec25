"""``marginbook run``: execute a notebook with other parameters; ``--store`` for authors."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..base.progress import Progress
from ..cli.commands import Command, keeping
from .catalogue import UnknownNotebook, available, find
from .executing import NotebookFailed
from .parameters import ParameterError, convert, parameters
from .running import run
from .storing import store


class WrongUsage(click.ClickException):
    """A name or a value that no notebook takes: one line, without the usage text."""

    exit_code = 2


@click.command("run", cls=Command)
@click.argument("notebook", nargs=-1)
@click.option(
    "-p",
    "--parameter",
    "given",
    nargs=2,
    multiple=True,
    metavar="NAME VALUE",
    help="A value: JSON, or a word.",
)
@click.option("--html", is_flag=True, help="Write a page, with images and formulas inside it, too.")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="Where the executed notebook goes."
)
@click.option(
    "--list", "listing", is_flag=True, help="Show the notebooks with their parameters, run nothing."
)
@click.option(
    "--store", "storing", is_flag=True, help="For authors: execute the text, store .ipynb beside it."
)
@keeping("notebooks that were done are kept")
def run_command(
    notebook: tuple[str, ...],
    given: tuple[tuple[str, str], ...],
    html: bool,
    out: Path | None,
    listing: bool,
    storing: bool,
) -> None:
    """Execute a notebook of the book with your own parameters.

    NOTEBOOK is a room and a file of it, such as drm/05_imbalanced; --list and --store take several, or with
    --list none for all. The executed notebook goes to _build/runs (or --out). A parameter's value is JSON; a
    bare word will do where the parameter is a string.

    \b
    Examples:
      marginbook run --list
      marginbook run drm/05_imbalanced -p datasets '["glass2", "ecoli4"]' -p n_jobs 2 --html
      marginbook run --store drm/05_imbalanced
    """
    console = Console()
    try:
        if listing or not notebook:
            if given or html or out or storing:
                raise click.UsageError("name a notebook; `marginbook run --list` shows them")
            _show(console, notebook or tuple(available()))
        elif storing:
            if given or html or out:
                raise click.UsageError(
                    "--store executes with the default parameters and takes no other option"
                )
            _store(notebook)
        else:
            if len(notebook) > 1:
                raise click.UsageError(f"one notebook at a time, got {len(notebook)}: {', '.join(notebook)}")
            values = convert(parameters(find(notebook[0]).read()), given)
            done = run(notebook[0], values, html=html, out=out, progress=True)
            for path in filter(None, (done.notebook, done.page)):
                click.echo(f"wrote {path}")
            if done.remark:
                click.echo(f"note: {done.remark}", err=True)
    except (UnknownNotebook, ParameterError) as error:
        raise WrongUsage(str(error)) from None
    except NotebookFailed as error:
        raise click.ClickException(str(error)) from None


def _show(console: Console, ids: tuple[str, ...]) -> None:
    for id in ids:
        table = Table(title=id, title_justify="left", title_style="bold", width=min(console.width, 110))
        for heading in ("parameter", "type", "default", "what it is"):
            table.add_column(heading, overflow="fold")
        for item in parameters(find(id).read()):
            table.add_row(*map(escape, (item.name, item.type, repr(item.default), item.doc)))
        console.print(table)


def _store(ids: tuple[str, ...]) -> None:
    with Progress("notebooks", len(set(ids)), "done") as bar:

        def ended(id: str, how: str) -> None:
            bar.ended("" if how == "cached" else f"{id} {how}")

        changed = store(ids, progress=ended, expect=bar.expect)
    for notebook in changed:
        click.echo(f"wrote {notebook.stored}")
    if len(changed) < len(set(ids)):
        click.echo(f"unchanged: {len(set(ids)) - len(changed)}")
