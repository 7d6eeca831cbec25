"""Disks that are full or may not be written to: one line that says where, and what to do."""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

_SPACE = "free some space and run the command again"
_PLACE = "give another folder with --out where the command has it, or work in a copy that you may write to"
_ADVICE = {errno.ENOSPC: _SPACE, errno.EDQUOT: _SPACE, errno.EROFS: _PLACE, errno.EACCES: _PLACE}


@contextmanager
def naming_the_disk() -> Iterator[None]:
    """End a command with one line instead of a traceback where a disk refuses; nothing else is caught."""
    try:
        yield
    except OSError as error:
        unnamed = error.errno == errno.EACCES and not error.filename  # such as a port below 1024
        if error.errno not in _ADVICE or unnamed:
            raise
        where = f"{error.filename}: " if error.filename else ""
        raise click.ClickException(f"{where}{error.strerror}; {_ADVICE[error.errno]}") from None


def require_place(folder: Path) -> None:
    """End a command now that could not write in `folder` after hours of work; make it if it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise click.ClickException(
            f"{folder}: {error.strerror}; {_ADVICE.get(error.errno or 0, _PLACE)}"
        ) from None
