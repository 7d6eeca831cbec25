"""MathJax for the book's pages, from a pinned wheel: no page ever asks another machine for it."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from ..base.project import cache_dir
from ..datasets.cache import sha256_of
from ..datasets.registry import Wheel
from ..datasets.wheels import download

# carries MathJax 3.2.2 unchanged; read as an archive, never installed
WHEEL = Wheel(
    package="django-static-mathjax",
    version="3.2.2.1",
    sha256="05ad109fd9e5d9d380c76389689b7f523e9ccb7f7a85c1eb962c7564eac7601d",
    bytes=10249768,
)
_INSIDE = "mathjax/static/mathjax/es5/"
BUNDLE = "tex-book.js"
_PARTS = ("core", "input/tex", "output/chtml", "output/chtml/fonts/tex", "a11y/assistive-mml")
_BESIDE = ("output/chtml/fonts/woff-v2/", "input/tex/extensions/")


def wheel(wanted: Wheel | None = None) -> Path:
    """Return a wheel that is read and not installed; fetch it with pip, by its hash, the first time.

    Parameters
    ----------
    wanted : Wheel, optional
        By default the one that holds MathJax.

    Raises
    ------
    FetchError
        pip cannot get it.
    """
    wanted = wanted or WHEEL
    path = cache_dir("vendor", f"{wanted.package}-{wanted.version}.whl")
    if path.is_file() and sha256_of(path) == wanted.sha256:
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        download(wanted, Path(scratch)).replace(path)
    return path


def mathjax(member: str) -> bytes:
    """Return one file of MathJax, such as ``"tex-svg.js"``."""
    with zipfile.ZipFile(wheel()) as archive:
        return archive.read(_INSIDE + member)


def unpack_mathjax(folder: Path) -> None:
    """Write what the book's pages need into `folder`: one script, its fonts, and rarer parts of TeX."""
    with zipfile.ZipFile(wheel()) as archive:
        folder.mkdir(parents=True, exist_ok=True)
        folder.joinpath(BUNDLE).write_bytes(bundle(lambda member: archive.read(_INSIDE + member)))
        for name in archive.namelist():
            member = name.removeprefix(_INSIDE)
            if member.startswith(_BESIDE) and not member.endswith("/"):
                target = folder / member
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(name))


def bundle(read: Callable[[str], bytes]) -> bytes:
    """Return MathJax's own components as one script: HTML output and hidden MathML, without the menu.

    Commands of other TeX packages are loaded from the folder beside it when a formula uses them. The script
    is little more than half as large as ``tex-chtml-full.js``.

    Parameters
    ----------
    read : callable
        Returns a file of MathJax by its name.
    """
    there = ", ".join(f'"{name}"' for name in ("loader", "startup", *_PARTS))
    return b"\n".join(
        [
            b"window.MathJax = window.MathJax || {};",
            b"MathJax.loader = Object.assign({load: []}, MathJax.loader);",
            read("startup.js"),
            # its promise goes on after this script, so that the parts below are there by then
            f"MathJax.loader.preLoad({there});".encode(),
            *(read(f"{name}.js") for name in _PARTS),
            b"",
        ]
    )
