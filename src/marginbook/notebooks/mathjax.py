"""MathJax for the book's pages, from a pinned wheel: no page ever asks another machine for it."""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path

from ..datasets.cache import sha256_of
from ..datasets.registry import Wheel
from ..datasets.wheels import download
from ..base.project import cache_dir

# carries MathJax 3.2.2 unchanged; read as an archive, never installed
WHEEL = Wheel(
    package="django-static-mathjax",
    version="3.2.2.1",
    sha256="05ad109fd9e5d9d380c76389689b7f523e9ccb7f7a85c1eb962c7564eac7601d",
    bytes=10249768,
)
_INSIDE = "mathjax/static/mathjax/es5/"


def wheel() -> Path:
    """Return the wheel that holds MathJax; fetch it with pip, by its hash, the first time.

    Raises
    ------
    FetchError
        pip cannot get it.
    """
    path = cache_dir("vendor", f"{WHEEL.package}-{WHEEL.version}.whl")
    if path.is_file() and sha256_of(path) == WHEEL.sha256:
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        download(WHEEL, Path(scratch)).replace(path)
    return path


def mathjax(member: str) -> bytes:
    """Return one file of MathJax, such as ``"tex-svg.js"``."""
    with zipfile.ZipFile(wheel()) as archive:
        return archive.read(_INSIDE + member)


def unpack_mathjax(folder: Path) -> None:
    """Write what the book's pages need into `folder`: the CHTML component and its fonts."""
    with zipfile.ZipFile(wheel()) as archive:
        for name in archive.namelist():
            member = name.removeprefix(_INSIDE)
            fonts = member.startswith("output/chtml/fonts/woff-v2/") and not member.endswith("/")
            if member == "tex-chtml-full.js" or fonts:
                target = folder / member
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(name))
