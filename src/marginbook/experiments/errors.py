"""Errors that a user of the experiments can put right; each message is one line."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class ExperimentError(Exception):
    """The work cannot go on as things are; the message says why and what to do."""


class UnknownName(ExperimentError):
    """No experiment, data set, method or split of that name: a mistake of usage."""


class StoreError(ExperimentError):
    """The store of results cannot be read or written."""


def near(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean ...?", or the list of what there is, for the end of an error message.

    >>> near("table-9", ["table-8", "fig-4"])
    '; did you mean table-8?'
    """
    known = list(known)
    close = get_close_matches(name, known, n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(close)}?" if close else f"; there are {', '.join(known) or 'none'}"
