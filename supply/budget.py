"""For pytest, ``-p budget``: a test that starts too late, or goes on too long, is skipped and says so.

Tests have some seconds after they were collected, however long that took. How many were left out is said at
the end, in red; where none was done the exit code is 1.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

#: seconds after the end in which a test that has started may finish
GRACE = float(os.environ.get("MARGINBOOK_CHECK_GRACE", "5"))
#: seconds that tests have after they were collected
LEAST = float(os.environ.get("MARGINBOOK_CHECK_LEAST", "0"))
UNTIL = float(os.environ["MARGINBOOK_CHECK_UNTIL"])
LATE = "no time left in `make check`"
_began = False


def _begin() -> None:
    """Before the first test of this process, see that there is time for some."""
    global UNTIL, _began
    if not _began:
        _began, UNTIL = True, max(UNTIL, time.time() + LEAST)


def _stop(*_: object) -> None:
    pytest.skip(f"{LATE} to finish it; `make test` runs it")


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
    _begin()
    if time.time() > UNTIL:
        pytest.skip(f"{LATE}; `make test` runs it")
    with _alarm():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    with _alarm():
        return (yield)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    late, done = _counted(terminalreporter)
    if late:
        tests = "test was" if late == 1 else "tests were"
        told = "left out for time" + ("" if done else ", AND NONE WAS DONE; call it again")
        terminalreporter.write_line(f"{late} {tests} {told}; `make test` runs them", red=True, bold=True)


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:  # a worker: it has no part of the others
        return
    late, done = _counted(reporter)
    if late and not done and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _counted(reporter: Any) -> tuple[int, int]:
    """Return how many tests were left out for time, and how many were done."""
    late = sum(LATE in str(report.longrepr) for report in reporter.stats.get("skipped", ()))
    kinds = ("passed", "failed", "error", "xfailed", "xpassed")
    return late, sum(len(reporter.stats.get(kind, ())) for kind in kinds)
