"""``marginbook slides``."""

from __future__ import annotations

from pathlib import Path

import click

from ...base.naming import suggestion
from ...base.progress import Stages
from ...base.project import root
from ...cli.commands import Command, keeping


@click.command("slides", cls=Command)
@click.argument("rooms", metavar="[PAPER]...", nargs=-1)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder; _build/slides if not given.",
)
@click.option("--n-jobs", default=-1, show_default=True, help="Processes; -1 is one for each core.")
@keeping("decks that were written are whole, and claims that were checked are kept")
def slides_command(rooms: tuple[str, ...], out: Path | None, n_jobs: int) -> None:
    """Write lecture slides: one HTML file for each paper, which needs no network.

    PAPER is its short name, such as drm; all papers without one. The built book has the same decks. Keys: ?
    shows them, O the overview, S the lecturer's notes, T dark or light. Printed, each slide is a page.

    \b
    Examples:
      marginbook slides
      marginbook slides ldm smm --out lectures
    """
    from ...claims import CheckFailed
    from ...datasets.dataset import FetchError
    from .deck import decks
    from .making import write_rooms

    known = decks()
    for room in rooms:
        if room not in known:
            raise click.UsageError(f"no slides of {room!r}{suggestion(room, known)}")
    if root() is None:
        raise click.ClickException(
            "no chapters here: run this in a checkout of marginbook, or set MARGINBOOK_HOME to one"
        )
    remarks: list[str] = []
    folder = out or (root() or Path.cwd()) / "_build" / "slides"
    try:
        with Stages() as stages:
            paths = write_rooms(
                rooms or known, folder, n_jobs=n_jobs, progress=stages.at, remark=remarks.append
            )
    except (CheckFailed, FetchError, ValueError) as error:
        raise click.ClickException(str(error)) from None
    for path in paths:
        click.echo(f"wrote {path}")
    for text in remarks:
        click.echo(text, err=True)
