"""``marginbook new``: the skeleton of a room for one more paper."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import click

from ..base.project import PACKAGE, root
from ..base.public import public_names
from ..base.rooms import papers
from .commands import Command, keeping

#: in the checkout, where each part of the skeleton goes
PLACES = {"room": "src/marginbook", "notebooks": "notebooks", "tests": "tests"}
_KEY, _SHORT, _TITLE = re.compile(r"[a-z][a-z0-9]{1,11}"), re.compile(r"[A-Za-z]{1,12}"), 70


@click.command("new", cls=Command)
@click.argument("key")
@click.option("--title", required=True, help="The title of its chapter, in a few words.")
@click.option("--short", help="What the paper calls its method; KEY in capitals if not given.")
@keeping("files that were written are kept; delete them before the same command")
def new(key: str, title: str, short: str | None) -> None:
    """Write the skeleton of a chapter on one more paper: package, notebooks, tests.

    KEY is the name of the package and the first part of the claims' ids, such as drm. The skeleton passes
    `make check` as it is, and ledger, book, experiments and coursework have it at once: they list no papers.

    \b
    Examples:
      marginbook new twinsvm --title "Twin support vector machines"
      marginbook new kpca --title "Kernel principal components" --short KPCA
    """
    home = _checkout()
    name = _checked(home, key, title, short or re.sub("[^A-Z]", "", key.upper()))
    taken = {room.colour for room in papers().values()}
    fields = {
        "key": key,
        "title": title,
        "short": name,
        "colour": next((each for each in ("sky", "black") if each not in taken), "black"),
        "order": str(max((room.order for room in papers().values()), default=0) + 10),
    }
    for path, text in sorted(_filled(home, fields).items()):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        click.echo(f"wrote {path.relative_to(home)}")
    _store(key)
    click.echo(f"next: `marginbook claims {key}`, `make check`; CONTRIBUTING.md says what goes where")


def _checkout() -> Path:
    home = root()
    if home is None:
        raise click.ClickException("no checkout here: a chapter is written into one; clone marginbook first")
    if (home / PLACES["room"]).resolve() != PACKAGE:
        raise click.ClickException(
            f"the marginbook that runs is not that of the checkout {home}; call `make setup` there"
        )
    return home


def _checked(home: Path, key: str, title: str, short: str) -> str:
    """Return the short name, after all that was given has passed."""
    if not _KEY.fullmatch(key) or keyword.iskeyword(key):
        raise click.UsageError(
            f"KEY {key!r} cannot name a package: expected 2 to 12 small letters and digits, a letter first"
        )
    if not _SHORT.fullmatch(short):
        raise click.UsageError(
            f"--short {short!r} cannot begin the name of a class: expected 1 to 12 letters"
        )
    if not 0 < len(title) <= _TITLE or set(title) & set('"\\\n{}'):
        raise click.UsageError(
            f"--title {title!r}: expected up to {_TITLE} characters, no quotes, braces or backslashes"
        )
    pages = [f"book/{key}.md", f"benchmarks/{key}.py", f"src/marginbook/{key}.py", f"tests/test_{key}.py"]
    folders = [f"{place}/{key}" for place in PLACES.values()]
    for name in (*folders, *pages, f"results/{key}"):
        if (home / name).exists():
            raise click.UsageError(f"{key!r} is taken: {name} exists already; choose another KEY")
    used = {room.short.lower(): f"{room.key} is called so" for room in papers().values()}
    used |= {name.lower(): f"{place} has {name}" for name, place in public_names().items()}
    for word in (short, f"{short}Classifier"):
        if word.lower() in used:
            raise click.UsageError(
                f"--short {short!r} is taken: {used[word.lower()]}; choose another with --short"
            )
    return short


def _filled(home: Path, fields: Mapping[str, str]) -> dict[Path, str]:
    """Return the files of the skeleton by their paths in the checkout."""
    found = {}
    for part, place in PLACES.items():
        for name, template in _templates(files(__package__).joinpath("skeleton", part)):
            text = template.read_text(encoding="utf-8")
            for field, value in fields.items():
                text = text.replace(f"@{field}@", value)
            found[home / place / fields["key"] / name.removesuffix(".in")] = text
    return found


def _templates(folder: Traversable, above: str = "") -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _templates(entry, f"{above}{entry.name}/")
        else:
            yield above + entry.name, entry


def _store(key: str) -> None:
    """Execute the notebooks, so that each has the outputs that the book shows."""
    from ..notebooks import NotebookFailed, available, store  # late: this needs the extra `book`

    try:
        for notebook in store([id for id, each in available().items() if each.room == key]):
            click.echo(f"wrote {notebook.stored.relative_to(notebook.stored.parents[2])}")
    except NotebookFailed as error:
        raise click.ClickException(f"the skeleton is written, but {error}") from None
