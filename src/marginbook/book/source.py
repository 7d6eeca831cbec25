"""The clean source tree that Jupyter Book compiles: copies, executed notebooks, generated fragments."""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from .. import __version__
from ..base.project import PACKAGE
from . import launch_page, rerun_boxes, room_pages

# what a build reads besides the package's own sources; missing ones are left out
INPUTS = (
    "_config.yml",
    "_toc.yml",
    "book",
    "notebooks",
    "results",
    "benchmarks/goals.toml",
    "benchmarks/results",
    "data_download/registry.toml",
    # what stored measurements are older than: other tests, other packages
    "tests",
    "pyproject.toml",
    "requirements.lock",
    "requirements-lowest.lock",
)
PAGES_OF_ROOT = ("CONTRIBUTING.md", "CHANGELOG.md")  # included by pages of the book


def fingerprint(home: Path, *options: object) -> str:
    """Return a hash of all that the pages depend on: a build with the same one would be the same."""
    digest = hashlib.sha256(repr((__version__, platform.python_version(), options)).encode())
    for name in ("jupyter-book", "sphinx", "myst-nb", "numpy", "scikit-learn", "matplotlib"):
        try:
            digest.update(f"{name}=={importlib.metadata.version(name)}\n".encode())
        except importlib.metadata.PackageNotFoundError:
            digest.update(f"{name} absent\n".encode())
    for base, names in ((home, (*INPUTS, *PAGES_OF_ROOT)), (PACKAGE.parent, (PACKAGE.name,))):
        for path in _files(base, names):
            digest.update(f"{path.relative_to(base).as_posix()}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def assemble(
    home: Path, source: Path, notebooks: Mapping[str, Path], generate: Callable[[Path], None]
) -> None:
    """Bring `source` up to date; files that did not change keep their time stamp, so that Sphinx skips them.

    Parameters
    ----------
    home : path
        The checkout.
    source : path
        The tree to write, such as ``_build/source``.
    notebooks : mapping
        Executed files by notebook id.
    generate : callable
        Writes the fragments into the folder that it is given.
    """
    fresh = source.with_name(source.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    shutil.copy2(home / "_toc.yml", fresh / "_toc.yml")
    config = (home / "_config.yml").read_text(encoding="utf-8")
    (fresh / "_config.yml").write_text(launch_page.config_of_build(config), encoding="utf-8")
    shutil.copytree(home / "book", fresh / "book", ignore=shutil.ignore_patterns("_generated", "__pycache__"))
    for name in PAGES_OF_ROOT:
        if (home / name).is_file():
            shutil.copy2(home / name, fresh / name)
    for id, path in notebooks.items():
        rerun_boxes.place(id, path, home / "notebooks" / f"{id}.md", fresh)
    room_pages.write(home, fresh)
    generated = fresh / "book" / "_generated"
    generated.mkdir()
    generate(generated)
    _sync(fresh, source)
    shutil.rmtree(fresh)


def vendor(source: Path) -> None:
    """Put MathJax where pages load it from; it comes from a pinned wheel."""
    from ..notebooks.mathjax import BUNDLE, WHEEL, unpack_mathjax

    mark = source / "_vendor" / ".from"
    wanted = f"{WHEEL.sha256} {BUNDLE}"
    if mark.is_file() and mark.read_text(encoding="utf-8") == wanted:
        return
    shutil.rmtree(mark.parent, ignore_errors=True)
    unpack_mathjax(mark.parent / "_static" / "mathjax")
    mark.write_text(wanted, encoding="utf-8")


def _sync(fresh: Path, source: Path) -> None:
    source.mkdir(parents=True, exist_ok=True)
    names = {path.relative_to(fresh) for path in fresh.rglob("*") if path.is_file()}
    for path in list(source.rglob("*")):
        name = path.relative_to(source)
        if path.is_file() and name not in names and name.parts[0] != "_vendor":
            path.unlink()
    for name in names:
        target = source / name
        if not target.is_file() or target.read_bytes() != (fresh / name).read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(fresh / name, target)


def _files(base: Path, names: tuple[str, ...]) -> Iterator[Path]:
    for name in names:
        start = base / name
        found = [start] if start.is_file() else sorted(start.rglob("*"))
        skipped = {"__pycache__", "_generated", ".ipynb_checkpoints"}
        yield from (path for path in found if path.is_file() and not skipped & set(path.parts))
