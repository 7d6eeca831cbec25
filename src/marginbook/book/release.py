"""The files of a release, with checksums: ``make release`` writes them to ``dist``.

The same commit gives the same bytes: time stamps are that of the commit, archives are sorted. ``SHA256SUMS``
is for ``sha256sum -c``; ``provenance.json`` says of which commit and with which versions the files were made.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from .. import __version__
from ..base import packages
from ..base.checkout import GIT
from ..base.project import root
from ..cli.stopping import keeping, one_sentence
from ..datasets.cache import sha256_of
from . import sbom
from .printed_summary import NotPrinted, print_summary, public_address

SUMS, PROVENANCE = "SHA256SUMS", "provenance.json"
#: versions that the bytes of the packages depend on
_MAKERS = ("hatchling", "editables", "packaging", "pathspec", "trove-classifiers")


def make(home: Path, out: Path, say: Callable[[str], None] = print) -> list[Path]:
    """Write the release of a checkout into `out`, which is emptied first; return its files.

    Parameters
    ----------
    home : path
        The checkout. Of ``_build`` the compiled book, its ``errata.json`` and the problem sets are taken
        where they are there; where there is a lock, its packages are listed in a CycloneDX document.
    out : path
    say : callable
        Called with a line for what is left out.

    Raises
    ------
    RuntimeError
        The packages cannot be built.
    """
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    stamp = commit_time(home)
    packages.build(home, out, stamp)
    built = home / "_build"
    if (built / "html" / "index.html").is_file():
        try:
            shutil.copyfile(two_pages := _two_pages(home, stamp), out / two_pages.name)
        except NotPrinted as why:
            say(f"the findings on two pages are not in it as a PDF: {why}")
        pages = [path for path in (built / "html").rglob("*") if path.is_file()]
        pack(out / f"marginbook-{__version__}-book.zip", built / "html", pages, stamp)
    errata = built / "html" / "_static" / "errata.json"
    if errata.is_file():
        shutil.copyfile(errata, out / errata.name)
    for readers in ("students", "instructors"):
        sets = sorted((built / "coursework" / readers).glob("*.zip"))
        if sets:
            pack(out / f"coursework-{readers}.zip", sets[0].parent, sets, stamp)
    if (home / "requirements.lock").is_file():
        sbom.write(home, out / f"marginbook-{__version__}.cdx.json", stamp)
    files = sorted(path for path in out.iterdir())
    sums = {path.name: sha256_of(path) for path in files}
    about = {**provenance(home, stamp), "files": sums}
    (out / PROVENANCE).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    sums[PROVENANCE] = sha256_of(out / PROVENANCE)
    lines = (f"{digest}  {name}\n" for name, digest in sorted(sums.items()))
    (out / SUMS).write_text("".join(lines), encoding="utf-8", newline="\n")
    return sorted(out.iterdir())


def _two_pages(home: Path, stamp: int) -> Path:
    config = home / "_config.yml"
    text = config.read_text(encoding="utf-8") if config.is_file() else ""
    return print_summary(home / "_build" / "html", stamp, public_address(text))


def pack(target: Path, base: Path, files: Iterable[Path], stamp: int) -> None:
    """Write a zip whose bytes depend on names and contents only."""
    when = max(time.gmtime(stamp)[:6], (1980, 1, 1, 0, 0, 0))  # a zip holds no earlier date
    with zipfile.ZipFile(target, "w") as archive:
        for name, path in sorted((path.relative_to(base).as_posix(), path) for path in files):
            entry = zipfile.ZipInfo(name, when)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, path.read_bytes())


def provenance(home: Path, stamp: int) -> dict[str, Any]:
    """Return commit, time of the commit, versions and locks."""
    locks = ("requirements.lock", "environment.yml")
    return {
        "name": "marginbook",
        "version": __version__,
        "commit": _archived(home, "node") or _git(home, "rev-parse", "HEAD"),
        "modified": bool(_git(home, "status", "--porcelain")),
        "source_date_epoch": stamp,
        "python": platform.python_version(),
        "made_with": {name: importlib.metadata.version(name) for name in _MAKERS},
        "locks": {name: sha256_of(home / name) for name in locks if (home / name).is_file()},
    }


def commit_time(home: Path) -> int:
    """Return ``SOURCE_DATE_EPOCH`` if it is set, else the time of the commit, else the first of 1980."""
    text = os.environ.get("SOURCE_DATE_EPOCH")
    text = text or _archived(home, "time") or _git(home, "log", "-1", "--format=%ct")
    return int(text) if text else 315532800


def _archived(home: Path, key: str) -> str:
    """Return what ``git archive`` wrote into its copy of a checkout; nothing in the checkout itself."""
    note = home / ".git_archival.txt"
    text = note.read_text(encoding="utf-8") if note.is_file() else ""
    found = re.search(rf"^{key}: ([0-9a-f]+)$", text, flags=re.M)
    return found[1] if found else ""


def _git(home: Path, *arguments: str) -> str:
    if not (home / ".git").exists():  # a file in a worktree; not a repository further up
        return ""
    try:
        done = subprocess.run([*GIT, *arguments], cwd=home, capture_output=True, text=True)
    except OSError:  # no git here
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def main() -> None:
    """Write the release of this checkout into its ``dist``."""
    home = root()
    if home is None:
        sys.exit("no checkout here: set MARGINBOOK_HOME to one")
    for path in make(home, home / "dist"):
        print(f"{path.stat().st_size:>12,}  {path.relative_to(home)}")
    if not any(path.name.endswith("-book.zip") for path in (home / "dist").iterdir()):
        print("the book is not in it: run `make book` before")
    if provenance(home, 0)["modified"]:
        print("the checkout differs from its commit: commit before you publish this")


if __name__ == "__main__":
    with one_sentence(), keeping("`dist` is not whole, the same command begins again"):
        main()
