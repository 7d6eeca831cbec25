"""Fixtures for all tests."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from click.testing import CliRunner, Result

# each worker of pytest-xdist is a process of its own: more threads than cores slow all of them down
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")


@pytest.fixture
def cli() -> Callable[..., Result]:
    """Call ``marginbook`` with arguments."""
    from marginbook.cli import main

    return lambda *arguments: CliRunner().invoke(main, arguments)
