"""All commands of ``marginbook``, in a table from which the help is written without importing them."""

from __future__ import annotations

import importlib
import importlib.util
from typing import NamedTuple

import click

from .. import __version__
from ..base.extras import advice
from ..base.rooms import RoomError
from .commands import Group


class Entry(NamedTuple):
    """A command that is not imported yet: where it is, the extra that it needs, and its help in a line."""

    place: str
    extra: str
    help: str
    #: packages without which it cannot even be imported
    needs: tuple[str, ...] = ()


COMMANDS = {
    "claims": Entry(
        "marginbook.claims.command:claims",
        "experiments,oracle",
        "Check the claims of the papers and print what came out.",
    ),
    "errata": Entry(
        "marginbook.claims.errata_command:errata_command",
        "experiments,oracle",
        "Check what was found wrong in the papers and print it: what is printed, what is true.",
    ),
    "data": Entry(
        "marginbook.datasets.command:data",
        "data",
        "The data sets of the five papers: list, fetch, verify.",
    ),
    "experiment": Entry(
        "marginbook.experiments.command:experiment",
        "experiments",
        "Run the experiments of the papers and compare with what they print.",
    ),
    "run": Entry(
        "marginbook.notebooks.command:run_command",
        "book",
        "Execute a notebook of the book with your own parameters.",
        ("nbformat",),
    ),
    "book": Entry(
        "marginbook.book.command:book_command",
        "book",
        "Execute the notebooks in parallel, check the claims, and compile the book.",
        ("nbformat",),
    ),
    "serve": Entry(
        "marginbook.serve.command:serve",
        "book,serve",
        "Serve the built book, with a form on each page that runs it again.",
        ("starlette", "uvicorn", "nbformat"),
    ),
    "coursework": Entry(
        "marginbook.coursework.command:coursework",
        "book",
        "Write the problem sets, or mark submitted notebooks.",
        ("nbformat",),
    ),
    "slides": Entry(
        "marginbook.book.slides.command:slides_command",
        "book",
        "Write lecture slides: one HTML file for each paper, which needs no network.",
        ("nbconvert",),
    ),
    "trust": Entry(
        "marginbook.quality.trust.command:trust",
        "test",
        "Measure how far the numbers can be trusted; all parts and papers unless some are named.",
        ("mpmath",),
    ),
    "new": Entry(
        "marginbook.cli.new:new",
        "book",
        "Write the skeleton of a chapter on one more paper: package, notebooks, tests.",
    ),
    "warmup": Entry(
        "marginbook.cli.library:warmup",
        "",
        "Compile what the estimators compile at their first fit, as at the end of an installation.",
    ),
    "guide": Entry(
        "marginbook.cli.library:guide_command",
        "",
        "Show the user guide: which estimator when, scaling and ranges, costs, certificates, pitfalls.",
    ),
}


class _Commands(Group):
    """Imports a command when it is called, so that the help is there at once, and without what it needs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        entry = COMMANDS[name]
        module, _, attribute = entry.place.partition(":")
        try:
            command: click.Command = getattr(importlib.import_module(module), attribute)
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("marginbook"):
                raise
            raise click.ClickException(
                f"`marginbook {name}` needs {error.name}; install it with: "
                f"pip install 'marginbook[{entry.extra}]'"
            ) from None
        except RoomError as error:
            raise click.ClickException(str(error)) from None
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, _help(entry)) for name, entry in COMMANDS.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as error:  # of an import that waited until it was needed
            if not (text := advice(error)):
                raise
            raise click.ClickException(text) from None


def _help(entry: Entry) -> str:
    try:
        there = all(importlib.util.find_spec(name) for name in entry.needs)
    except ModuleNotFoundError:
        there = False
    return entry.help if there else f"(not installed: pip install 'marginbook[{entry.extra}]')"


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="marginbook")
def main() -> None:
    """Margins & Discriminants: an executable companion to five papers.

    \b
    Example:
      marginbook claims drm
      marginbook data fetch --table drm/table-8
      marginbook experiment run drm/table-8 --profile quick
      marginbook run drm/05_imbalanced -p datasets '["glass2", "ecoli4"]' --html
      marginbook book
      marginbook serve
      marginbook coursework
      marginbook slides ldm
    """
