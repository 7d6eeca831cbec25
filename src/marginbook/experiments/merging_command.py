"""``marginbook experiment merge``: take finished results from the stores of other machines."""

from __future__ import annotations

from pathlib import Path

import click

from ..cli.commands import Command, keeping
from .merging import merge
from .options import store_option


@click.command("merge", cls=Command)
@click.argument("sources", nargs=-1, required=True, metavar="STORE...", type=click.Path(path_type=Path))
@store_option
@keeping("results that were taken are kept; the same command goes on")
def merge_(sources: tuple[Path, ...], store: Path | None) -> None:
    """Take finished results from other stores.

    They come from other machines, such as one that runs other splits. Results count if code, data and
    settings are the same as here; a result that is here already stays. Then `run` goes on with what is
    missing, and exports.

    \b
    Example:
      marginbook experiment run drm/table-3 --profile paper --splits 1,2     # on one machine
      marginbook experiment run drm/table-3 --profile paper --splits 3,4,5   # on another
      marginbook experiment merge other.sqlite     # a copy of its .marginbook/experiments.sqlite
    """
    for source in sources:
        merged = merge(source, store)
        if not merged:
            click.echo(f"{source} has no finished result")
        for each in merged:
            parts = [f"{each.taken} taken"]
            if each.known:
                parts.append(f"{each.known} known here")
            if each.other:
                why = f"; fetch {', '.join(each.missing)} to tell" if each.missing else ""
                parts.append(f"{each.other} made with other code, data or settings{why}")
            click.echo(f"{each.experiment}, {each.profile}: {', '.join(parts)}")
