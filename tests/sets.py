"""Which data sets a machine can lack, for tests that want them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from marginbook.datasets.registry import registry


def params(names: Iterable[str], source: dict[str, str] | None = None) -> list[Any]:
    """Return parameters for a test of data sets; those that only a URL gives carry the marker `urls`.

    Parameters
    ----------
    names : iterable of str
    source : dict, optional
        The set of the registry behind a name.
    """
    return [
        pytest.param(name, marks=pytest.mark.urls) if only_url((source or {}).get(name, name)) else name
        for name in names
    ]


def only_url(name: str) -> bool:
    """Return whether the registry has nothing but URLs for a set."""
    entry = registry().get(name)
    return entry is not None and {source.kind for source in entry.sources} == {"url"}
