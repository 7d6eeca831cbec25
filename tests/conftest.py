"""Fixtures for all tests."""

from __future__ import annotations

import inspect
import os
import re
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest
import scipy

from . import long

if TYPE_CHECKING:
    from click.testing import Result

# How fast an example runs says more about what else the machine does than about the code. At home the
# examples are new in every run, and one that fails is kept in .hypothesis; where runs are compared, on CI and
# in supply/portable.py, they are the same ones: what differs is then the machine's doing.
_loaded = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
hypothesis.settings.register_profile("new", **_loaded)
hypothesis.settings.register_profile("same", **_loaded, derandomize=True)
hypothesis.settings.load_profile("same" if "CI" in os.environ else "new")

# each worker of pytest-xdist is a process of its own: more threads than cores slow all of them down
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# all files of tests are below a folder with a space and a letter beyond ASCII in its name
_user = f" of {os.getuid()}" if hasattr(os, "getuid") else ""
_below = Path(tempfile.gettempdir()) / f"tests{_user}, ø"
_below.mkdir(exist_ok=True)
os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_below))

# a shell without a terminal lets what it starts in the background ignore Ctrl-C, and so would all children
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark long tests; skip what reads MATLAB files where SciPy is too old, as with the oldest versions."""
    long.mark(items)
    from marginbook.datasets.parsers.matlab import SAFE

    if tuple(map(int, scipy.__version__.split(".")[:2])) >= SAFE:
        return
    for item in items:
        source = inspect.getsource(item.function) if isinstance(item, pytest.Function) else ""
        if "matlab" in item.nodeid.lower() or "savemat" in source or "parse_matlab" in source:
            item.add_marker(pytest.mark.skip(reason="this SciPy may crash on MATLAB files"))


@pytest.fixture(scope="session")
def launched():
    from playwright.sync_api import sync_playwright

    from marginbook.book.printed_summary import NotPrinted, launch

    with sync_playwright() as playwright:
        try:
            browser = launch(playwright)
        except NotPrinted as why:
            pytest.skip(str(why))
        yield browser
        browser.close()


@pytest.fixture
def chromium(launched):
    """Chromium without the tabs of the tests before."""
    yield launched
    for context in launched.contexts:
        context.close()


@pytest.fixture
def cli() -> Callable[..., Result]:
    """Call ``marginbook`` with arguments."""
    from click.testing import CliRunner  # an extra: supply/wheel_alone.py runs tests without it

    from marginbook.cli import main

    return lambda *arguments: CliRunner().invoke(main, arguments)


@pytest.fixture
def told(record_property: Callable[[str, object], None], tmp_path: Path) -> Callable[[object], None]:
    """Keep what the user is told of a fault, for the book: ``told(error.value)`` in a test marked `fault`."""

    def keep(message: object) -> None:
        text = " ".join(str(message).split()).replace(str(tmp_path), "…")
        text = re.sub(r"(127\.0\.0\.1):\d+", r"\1", text)
        text = re.sub(r"\b([0-9a-f]{8})[0-9a-f]{56}\b", r"\1…", text)
        record_property("told", re.sub(r"\b[0-9a-f]{16}(?=-)", "…", text))

    return keep
