"""For pytest, ``-p budget``: a test that would start too late is skipped, and says so; see check.py."""

from __future__ import annotations

import os
import time

import pytest


def pytest_runtest_setup(item: pytest.Item) -> None:
    if time.time() > float(os.environ["MARGINBOOK_CHECK_UNTIL"]):
        pytest.skip("no time left in `make check`; `make test` runs it")
