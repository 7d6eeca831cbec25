"""``marginbook``: claims, data, experiment, run, book."""

from __future__ import annotations

import click

from . import __version__
from .build.command import book_command
from .claims_command import claims
from .datasets.command import data
from .experiments.command import experiment
from .notebooks.command import run_command


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
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
    """


for command in (claims, data, experiment, run_command, book_command):
    main.add_command(command)
