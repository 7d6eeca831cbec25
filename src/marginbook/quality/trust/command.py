"""``marginbook trust``: measure how far the numbers can be trusted, and write ``results/trust/``."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from ...base.project import root
from ...claims.errata import PAPERS
from ...cli.commands import Command, keeping
from ...cli.disks import require_place
from .judging import judge

#: problems of `certificates`, by their seed
SEEDS = (0, 1)
PARTS = ("stability", "laws", "meetings", "certificates", "conditioning")
Row = dict[str, Any]


def certificate_rows(room: str) -> Iterator[Row]:
    """Yield the rows of ``certificates.csv`` for one room."""
    from .subjects import small_problem, subjects

    for subject in subjects():
        if subject.room != room:
            continue
        for seed in SEEDS:
            found = judge(subject, *small_problem(subject.matrices, seed))
            yield {
                "room": room,
                "estimator": subject.estimator,
                "setting": subject.setting,
                "problem": seed,
                "certificate": subject.certificate,
                "reported": f"{found.reported:.2e}",
                "true": f"{found.true:.2e}",
                "slack": f"{found.slack:.0e}",
                "honest": found.honest,
                "objective_digits": f"{found.objective_digits:.1f}",
                "optimum_digits": f"{found.optimum_digits:.1f}",
                "decision_digits": f"{found.decision_digits:.1f}",
                "said": found.warned[:120].split("\n")[0],
            }


def stability_rows(room: str) -> Iterator[Row]:
    """Yield the rows of ``stability.csv`` for one room."""
    from .stability import rows, tried

    for one in tried():
        if one.room == room:
            yield from rows(one)


def law_rows(room: str) -> Iterator[Row]:
    """Yield the rows of ``laws.csv`` for one room."""
    from .laws import rows
    from .stability import tried

    for one in tried():
        if one.room == room:
            yield from rows(one)


def meeting_rows(room: str) -> Iterator[Row]:
    """Yield the rows of ``meetings.csv`` for one room."""
    from .meetings import rows

    yield from rows(room)


def conditioning_rows(room: str) -> Iterator[Row]:
    """Yield the rows of ``conditioning.csv`` for one room."""
    from .conditioning import chosen, rows

    for subject in chosen():
        if subject.room == room:
            yield from rows(subject)


MEASURES: dict[str, Callable[[str], Iterator[Row]]] = {
    "stability": stability_rows,
    "laws": law_rows,
    "meetings": meeting_rows,
    "certificates": certificate_rows,
    "conditioning": conditioning_rows,
}


@click.command("trust", cls=Command)
@click.argument("parts", nargs=-1, type=click.Choice(PARTS))
@click.option("--room", "rooms", multiple=True, type=click.Choice(list(PAPERS)), help="Only these papers.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder; results/trust of this checkout if not given.",
)
@keeping("rooms that were measured whole are written")
def trust(parts: tuple[str, ...], rooms: tuple[str, ...], out: Path | None) -> None:
    """Measure how far the numbers can be trusted; all parts and papers unless some are named.

    Rows of papers that are not measured stay as they are in the files.

    \b
    Examples:
      marginbook trust
      marginbook trust certificates --room ldm
      marginbook trust stability --out /tmp/trust
    """
    home = root()
    if out is None and home is None:
        raise click.ClickException("no checkout here: name a folder with --out")
    folder = out or Path(str(home)) / "results" / "trust"
    require_place(folder)
    for part in parts or PARTS:
        path = folder / f"{part}.csv"
        for room in rooms or PAPERS:
            found = []
            for row in MEASURES[part](room):
                found.append(row)
                click.echo(f"{part}: {' '.join(str(row[name]) for name in list(row)[:5])}")
            store(path, room, found)
        click.echo(f"written: {path}")


def store(path: Path, room: str, found: Iterable[Row]) -> None:
    """Replace the rows of `room` in the CSV file at `path`, rooms in the order of the book."""
    kept: list[Row] = []
    if path.is_file():
        with path.open(encoding="utf-8", newline="") as file:
            kept = [row for row in csv.DictReader(file) if row["room"] != room]
    every = [*kept, *found]
    if not every:
        return
    order = list(PAPERS)
    every.sort(key=lambda row: order.index(row["room"]))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(every[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(every)
