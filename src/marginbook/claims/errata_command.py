"""``marginbook errata``: what is printed in the papers and is not true."""

from __future__ import annotations

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..cli.commands import Command, keeping
from . import CheckFailed, listed
from .command import KEPT, checked, tell_skipped
from .errata import PAPERS, Erratum, Severity, Unclassified, as_json, entries, errata, of_a_paper

_STYLES = {Severity.SERIOUS: "red", Severity.MODERATE: "yellow", Severity.SLIGHT: "dim"}


@click.command("errata", cls=Command)
@click.argument("papers", nargs=-1, type=click.Choice(list(PAPERS)), metavar="[PAPER]...")
@click.option("--json", "machine", is_flag=True, help="The file errata.json of the book, with the evidence.")
@click.option(
    "--severity", type=click.Choice([str(s) for s in Severity]), help="Only errata of this severity."
)
@click.option("--all-claims", is_flag=True, help="Check every claim, not only those known to be wrong.")
@click.option("--n-jobs", default=-1, show_default=True, help="Worker processes; -1 is one per core.")
@keeping(KEPT)
def errata_command(
    papers: tuple[str, ...], machine: bool, severity: str | None, all_claims: bool, n_jobs: int
) -> None:
    """Check what was found wrong in the papers and print it: what is printed, what is true.

    PAPER is the short name of one, such as drm; all of them without one.

    \b
    Example:
      marginbook errata ldm
      marginbook errata --severity serious
      marginbook errata --json > errata.json
    """
    wanted = {
        claim.id: claim
        for claim in listed(papers or PAPERS)
        if of_a_paper(claim) and (all_claims or claim.id in entries())
    }
    try:
        evidence, lacking = checked(wanted, n_jobs)
        tell_skipped(lacking)
        if lacking and (machine or not evidence):  # no file with holes
            raise click.exceptions.Exit(1)
        found = errata({id: claim for id, claim in wanted.items() if id in evidence}, evidence)
    except (CheckFailed, Unclassified) as error:
        raise click.ClickException(str(error)) from None
    found = [erratum for erratum in found if severity in (None, erratum.severity)]
    if machine:
        click.echo(as_json(found), nl=False)
    elif found:
        Console().print(_table(found))
    else:
        click.echo("no errata" + (f" of severity {severity}" if severity else ""))


def _table(found: list[Erratum]) -> Table:
    table = Table(show_lines=True)
    for name in ("claim", "severity", "printed, and what is true"):
        table.add_column(name, overflow="fold")
    for erratum in found:
        claim, grave = erratum.claim, erratum.severity
        table.add_row(
            f"{escape(claim.id)}\n[dim]{escape(claim.where)}[/]",
            f"[{_STYLES[grave]}]{grave}[/]",
            f"{escape(claim.statement)}\n[bold]→[/] {escape(erratum.true)}",
        )
    return table
