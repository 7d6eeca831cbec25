"""Disks that are full or may not be written to: one line that says where, and what to do."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

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
