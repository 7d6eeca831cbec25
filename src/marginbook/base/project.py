"""Where the project's files are: the same code runs from a checkout and from an installed wheel."""

from __future__ import annotations

import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


def root() -> Path | None:
    """Return the checkout that this package belongs to, or None for a plain installation.

    ``MARGINBOOK_HOME`` names another checkout. Otherwise the folder that holds both ``pyproject.toml``
    and ``_toc.yml`` is looked for above the package, then above the working folder.
    """
    override = os.environ.get("MARGINBOOK_HOME")
    starts = [Path(override)] if override else [PACKAGE, Path.cwd()]
    for start in starts:
        for folder in (start, *start.parents):
            if (folder / "pyproject.toml").is_file() and (folder / "_toc.yml").is_file():
                return folder
    return None


def resource(*parts: str) -> Path:
    """Return the path of a shipped file: in the checkout, else in the copy that the wheel carries."""
    checkout = root()
    return (checkout or PACKAGE / "_shipped").joinpath(*parts)


def cache_dir(*parts: str) -> Path:
    """Return a folder for what can be fetched or computed again; ``MARGINBOOK_CACHE`` moves it."""
    base = os.environ.get("MARGINBOOK_CACHE")
    if not base:
        import pooch  # late: it brings requests, and a quick command asks for no more than a path

        base = pooch.os_cache("marginbook")
    return Path(base).joinpath(*parts)
