"""What every machine has: data that come with scikit-learn or from a package registry, and no URL.

The book, its notebooks with their default parameters, and the evidence for claims must be the same for all
readers, whichever optional data they have fetched. So they are computed where sets of a URL do not load.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

#: kinds of source that load without a URL, and all of them
REGISTRIES = ("bundled", "wheel")
KINDS = (*REGISTRIES, "url")
#: names the kinds of source that `marginbook.datasets.load` may use, with commas; all when it is not set
VARIABLE = "MARGINBOOK_SOURCES"
#: for a process that sees only what every machine has
ENVIRONMENT = {VARIABLE: ",".join(REGISTRIES)}


def kinds() -> tuple[str, ...]:
    """Return the kinds of source that may be loaded from.

    Raises
    ------
    ValueError
        ``MARGINBOOK_SOURCES`` names another.
    """
    named = [kind.strip() for kind in os.environ.get(VARIABLE, "").split(",") if kind.strip()]
    for kind in named:
        if kind not in KINDS:
            raise ValueError(f"{VARIABLE} names {kind!r}; wanted some of {', '.join(KINDS)}")
    return tuple(named) or KINDS


@contextmanager
def registries_only() -> Iterator[None]:
    """Let no set be loaded that only a URL gives, here and in worker processes that are started here."""
    before = os.environ.get(VARIABLE)
    os.environ.update(ENVIRONMENT)
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = before
