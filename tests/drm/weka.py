"""Tests of C4.5 are skipped where Weka cannot be called, and say what to install."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from marginbook.base.weka import missing

needs_weka = pytest.mark.skipif(bool(missing()), reason=missing())


def peers(names: Iterable[str]) -> list[Any]:
    """Return names of peers as parameters of a test, of which C4.5 needs Weka."""
    return [pytest.param(name, marks=needs_weka) if name == "C4.5" else name for name in names]
