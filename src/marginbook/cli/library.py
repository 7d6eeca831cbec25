"""``marginbook warmup`` and ``marginbook guide``: for those who use the library."""

from __future__ import annotations

import click

from .commands import Command, keeping
from .reading import guide, section
from .warming import warm_up


@click.command("warmup", cls=Command)
@keeping("what was compiled is kept, the same command compiles the rest")
def warmup() -> None:
    """Compile what the estimators compile at their first fit, as at the end of an installation.

    Every public estimator is fitted to a few rows. What is compiled is kept beside the package, else in a
    cache of the user; NUMBA_CACHE_DIR names another folder.

    \b
    Example:
      marginbook warmup
      NUMBA_CACHE_DIR=/opt/compiled marginbook warmup
    """
    warm_up(click.echo)


@click.command("guide", cls=Command)
@click.argument("name", required=False)
def guide_command(name: str | None) -> None:
    """Show the user guide: which estimator when, scaling and ranges, costs, certificates, pitfalls.

    NAME is an estimator, such as LDMClassifier; the whole page without one.

    \b
    Example:
      marginbook guide
      marginbook guide LDMClassifier
    """
    if name is None:
        click.echo_via_pager(guide())
        return
    try:
        click.echo(section(name), nl=False)
    except KeyError as error:
        raise click.UsageError(error.args[0]) from None
