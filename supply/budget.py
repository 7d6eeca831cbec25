"""For pytest, ``-p budget``: a test that starts too late, or goes on too long, is skipped and says so."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

#: seconds after the end in which a test that has started may finish
GRACE = float(os.environ.get("MARGINBOOK_CHECK_GRACE", "5"))
UNTIL = float(os.environ["MARGINBOOK_CHECK_UNTIL"])


def _stop(*_: object) -> None:
    pytest.skip("no time left in `make check` to finish it; `make test` runs it")


@contextmanager
def _alarm() -> Iterator[None]:
    """Stop what runs inside, where the system can."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, min(max(UNTIL + GRACE - time.time(), 0.01), 1e6))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    if time.time() > UNTIL:
        pytest.skip("no time left in `make check`; `make test` runs it")
    with _alarm():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    with _alarm():
        return (yield)
