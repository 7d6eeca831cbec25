"""``marginbook``: claims, errata, data, experiment, run, book, coursework."""

from __future__ import annotations

import importlib

import click

from . import __version__
from .extras import advice

#: name -> where the command is, and the extra that it needs
COMMANDS = {
    "claims": ("marginbook.claims_command:claims", "experiments,oracle"),
    "errata": ("marginbook.errata_command:errata_command", "experiments,oracle"),
    "data": ("marginbook.datasets.command:data", ""),
    "experiment": ("marginbook.experiments.command:experiment", "experiments"),
    "run": ("marginbook.notebooks.command:run_command", "book"),
    "book": ("marginbook.build.command:book_command", "book"),
    "coursework": ("marginbook.coursework.command:coursework", "book"),
    "trust": ("marginbook.trust.command:trust", "test"),
}


class _Commands(click.Group):
    """Imports a command when it is asked for: the library alone is installed without what the book needs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        (module, _, attribute), extra = COMMANDS[name][0].partition(":"), COMMANDS[name][1]
        try:
            command: click.Command = getattr(importlib.import_module(module), attribute)
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("marginbook"):
                raise
            raise click.ClickException(
                f"`marginbook {name}` needs {error.name}; install it with: pip install 'marginbook[{extra}]'"
            ) from None
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = []
        for name in self.list_commands(ctx):
            try:
                command = self.get_command(ctx, name)
                text = command.get_short_help_str(limit=200) if command else ""
            except click.ClickException:  # the help is there also where the extra is not
                text = f"(not installed: pip install 'marginbook[{COMMANDS[name][1]}]')"
            rows.append((name, text))
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as error:  # of an import that waited until it was needed
            if not (text := advice(error)):
                raise
            raise click.ClickException(text) from None


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
      marginbook coursework
    """
