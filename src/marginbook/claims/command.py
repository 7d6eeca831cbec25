"""``marginbook claims``: check the claims and print the ledger."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..base.progress import Progress
from ..cli.commands import Command, keeping
from . import ROOMS, CheckFailed, Claim, Evidence, Kind, Verdict, check_all, listed, scoreboard
from .ledger_file import as_text, board, markdown, put_board
from .sharpness import as_csv, meet_all

_STYLES = {
    Verdict.HOLDS: "green",
    Verdict.REPRODUCED: "green",
    Verdict.CORRECTED: "yellow",
    Verdict.PARTLY: "yellow",
    Verdict.FAILS: "red",
    Verdict.NOT_REPRODUCED: "red",
    Verdict.UNDECIDED: "dim",
    Verdict.NOT_TESTABLE: "dim",
}

KEPT = "claims that were checked are kept, the same command checks the others"

#: columns of a terminal from which every field of a claim gets a column of its own
WIDE = 140


@click.command("claims", cls=Command)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--json", "as_json", is_flag=True, help="The same for machines, with seeds, sizes and reasons.")
@click.option("--markdown", "as_markdown", is_flag=True, help="As the file LEDGER.md of the repository.")
@click.option(
    "--scoreboard",
    "board_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Put the counts by paper into a file, between the marks that README.md has.",
)
@click.option(
    "--verdict", type=click.Choice([str(v) for v in Verdict]), help="Only claims with this verdict."
)
@click.option("--kind", type=click.Choice([str(kind) for kind in Kind]), help="Only claims of this kind.")
@click.option(
    "--sharpness", is_flag=True, help="Run the rivals: would the checks notice if the claims were wrong?"
)
@click.option("--csv", "as_table", is_flag=True, help="With --sharpness: as the shipped file.")
@click.option("--n-jobs", default=-1, show_default=True, help="Worker processes; -1 is one per core.")
@click.option("--fresh", is_flag=True, help="Compute again, whatever the cache holds.")
@keeping(KEPT)
def claims(
    ids: tuple[str, ...],
    as_json: bool,
    as_markdown: bool,
    board_file: Path | None,
    verdict: str | None,
    kind: str | None,
    sharpness: bool,
    as_table: bool,
    n_jobs: int,
    fresh: bool,
) -> None:
    """Check the claims of the papers and print what came out.

    ID is a claim (drm/prop-III.1) or a paper (drm); all claims without one. Evidence is cached until the
    code, the data or the versions that it depends on change.

    \b
    Example:
      marginbook claims
      marginbook claims drm/prop-III.1 drm/table-8
      marginbook claims drm --verdict fails --json
      marginbook claims --kind proof
      marginbook claims ldm --sharpness
      marginbook claims --markdown > LEDGER.md
      marginbook claims --scoreboard README.md
    """
    if as_json and as_markdown:
        raise click.UsageError("got --json and --markdown: choose one of them")
    if as_table and not sharpness:
        raise click.UsageError("--csv is the form of what --sharpness finds: give both, or --json")
    if board_file is not None and (ids or kind or verdict):
        raise click.UsageError("--scoreboard counts all claims: leave out IDs, --kind and --verdict")
    try:
        wanted = listed(ids or None)
    except KeyError as error:
        raise click.UsageError(error.args[0]) from None
    if kind is not None:
        wanted = [claim for claim in wanted if claim.kind == kind]
    if sharpness:
        _sharpness(wanted, as_json, as_table, n_jobs, fresh)
        return
    try:
        evidence, lacking = checked([claim.id for claim in wanted], n_jobs, fresh)
    except CheckFailed as error:
        raise click.ClickException(str(error)) from None
    tell_skipped(lacking)
    if lacking and (as_markdown or board_file or not evidence):  # no ledger with holes
        raise click.exceptions.Exit(1)
    wanted = [claim for claim in wanted if claim.id in evidence]
    if verdict is not None:
        wanted = [claim for claim in wanted if evidence[claim.id].verdict == verdict]
    if as_json:
        click.echo(as_text({claim.id: claim for claim in wanted}, evidence), nl=False)
        return
    if as_markdown:
        click.echo(
            markdown({claim.id: claim for claim in wanted}, {c.id: evidence[c.id] for c in wanted}), nl=False
        )
        return
    kinds = {claim.id: claim.kind for claim in wanted}
    if board_file is not None:
        try:
            put_board(board_file, board(kinds, {id: evidence[id].verdict for id in kinds}))
        except ValueError as error:
            raise click.ClickException(str(error)) from None
        return
    if not wanted:
        click.echo("no claim is of this kind and has this verdict")
        return
    console = Console()
    console.print(_table(wanted, evidence, console.width))
    for room, parts in scoreboard(kinds, {id: evidence[id] for id in kinds}).items():
        for own, counts in parts.items():
            if summary := ", ".join(f"{n} {name}" for name, n in counts.items() if n):
                console.print(f"{ROOMS[room]}{', ours' if own else ''}: {summary}")


def _sharpness(wanted: list[Claim], as_json: bool, as_table: bool, n_jobs: int, fresh: bool) -> None:
    """Run the rivals of the claims and print which of them the checks refuted."""
    with Progress("rivals", sum(len(claim.rivals) for claim in wanted), "met") as bar:
        found = meet_all([c.id for c in wanted], n_jobs=n_jobs, fresh=fresh, progress=lambda _: bar.ended())
    if as_table:
        click.echo(as_csv(found), nl=False)
        return
    if as_json:
        click.echo(
            json.dumps([asdict(met) | {"killed": met.killed, "erred": met.erred} for met in found], indent=2)
        )
        return
    console = Console()
    table = Table()
    for name in ("claim", "rival", "verdict", "with the rival", ""):
        table.add_column(name, overflow="fold")
    for met in found:
        style = "green" if met.killed else "red"
        table.add_row(met.id, escape(met.rival), met.verdict, escape(met.of_rival), f"[{style}]{met.end}[/]")
    console.print(table)
    ends = Counter(met.end for met in found)
    console.print(
        ", ".join(f"{ends[end]} {end}" for end in ("killed", "survives", "no verdict") if ends[end])
    )
    if alone := [f"{met.id}: {met.rival}" for met in found if met.alone]:
        console.print(f"text or slack stay as they are: {'; '.join(alone)}")
    sharp = {met.id for met in found if met.killed}
    for kind in Kind:
        own = [claim for claim in wanted if claim.kind == kind]
        if own:
            dull = [claim.id for claim in own if claim.id not in sharp]
            told = f"; blunt: {', '.join(dull)}" if dull else ""
            console.print(f"{kind}: {len(own) - len(dull)} of {len(own)} claims have a killed rival{told}")


def checked(
    ids: Iterable[str], n_jobs: int, fresh: bool = False
) -> tuple[dict[str, Evidence], dict[str, list[str]]]:
    """Check claims and show how far it is, unless all of them were in the cache.

    Returns
    -------
    evidence : dict
        By id.
    lacking : dict
        Claims that cannot be checked here, by the package that is missing and the extra that brings it.
    """
    ids, lacking = list(ids), dict[str, list[str]]()
    with Progress("claims", len(ids), "checked") as bar:

        def skipped(id: str, why: str) -> None:
            lacking.setdefault(why, []).append(id)
            bar.ended()

        found = check_all(ids, n_jobs=n_jobs, fresh=fresh, progress=lambda *_: bar.ended(), skipped=skipped)
    return found, lacking


def tell_skipped(lacking: Mapping[str, list[str]]) -> None:
    """Say on standard error which claims were skipped, one line for each package that is missing."""
    for why, ids in lacking.items():
        click.echo(f"skipped {len(ids)} claims ({', '.join(sorted(ids))}): {why}", err=True)


def _table(wanted: list[Claim], evidence: dict[str, Evidence], width: int) -> Table:
    """Lay the ledger out: a column per field on a wide terminal, three columns on a narrow one."""
    wide = width >= WIDE
    table = Table(show_lines=True)
    table.add_column("paper: claim", no_wrap=wide)
    for name in (
        ("kind", "where", "statement", "verdict", "measured", "claimed", "slack") if wide else ("", "verdict")
    ):
        table.add_column(name, overflow="fold")
    for claim in wanted:
        item = evidence[claim.id]
        slack = "" if item.slack is None else f"{item.slack:.2g}"
        verdict = f"[{_STYLES[item.verdict]}]{item.verdict}[/]"
        statement, measured, claimed = map(escape, (claim.statement, item.measured, item.claimed))
        if wide:
            table.add_row(
                f"{claim.id}\n[dim]{claim.source}[/]",
                str(claim.kind),
                claim.where,
                statement,
                verdict,
                measured,
                claimed,
                slack,
            )
        else:
            lines = (
                statement,
                f"measured: {measured}",
                f"claimed: {claimed}",
                f"slack: {slack}" if slack else "",
                f"check: {claim.source}",
            )
            table.add_row(
                f"{claim.id}\n[dim]{claim.kind}: {claim.where}[/]", "\n".join(filter(None, lines)), verdict
            )
    return table
