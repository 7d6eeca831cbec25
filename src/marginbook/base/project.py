"""Where the project's files are: the same code runs from a checkout and from an installed wheel."""

from __future__ import annotations

import os
import sys
import tempfile
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
    return (Path(base) if base else _users_cache()).joinpath(*parts)


def _users_cache() -> Path:
    """Return the folder that pooch and platformdirs choose; for a user without a home, one of their own."""
    try:
        home = Path.home()
    except RuntimeError:  # HOME is not set, and the system does not know the user
        return Path(tempfile.gettempdir()) / f"marginbook-{os.getuid() if hasattr(os, 'getuid') else 'cache'}"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        base = Path(local) if local else home / "AppData" / "Local"
        return base / "marginbook" / "marginbook" / "Cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "marginbook"
    return Path(os.environ.get("XDG_CACHE_HOME", "").strip() or home / ".cache") / "marginbook"
