"""Which data sets a machine can lack, for tests that want them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from marginbook.datasets.registry import Entry, registry


def needs(entry: Entry, *, every: bool = False) -> Any:
    """Return a parameter for an entry of the registry, marked if no registry of packages has (all) it needs.

    Parameters
    ----------
    entry : Entry
    every : bool
        The test reads every source of the set, not the first available one.
    """
    by_url = [source.kind == "url" for source in entry.sources]
    marks = [pytest.mark.urls] if (any if every else all)(by_url) else []
    return pytest.param(entry, marks=marks, id=entry.name)


def params(names: Iterable[str], source: dict[str, str] | None = None) -> list[Any]:
    """Return parameters for a test of names; those of sets that only a URL gives carry the marker `urls`.

    Parameters
    ----------
    names : iterable of str
    source : dict, optional
        The set of the registry behind a name; a name that the registry lacks is drawn, not fetched.
    """
    entries = {name: registry().get((source or {}).get(name, name)) for name in names}
    return [
        pytest.param(name, marks=needs(entry).marks if entry else (), id=name)
        for name, entry in entries.items()
    ]
