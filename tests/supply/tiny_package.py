"""The files of a package with a room of one module, and its tests, of which one fails."""

from __future__ import annotations

SUMS = "src/marginbook/toy/model/sums.py"
TESTS = "tests/test_sums.py"
FILES = {
    "src/marginbook/__init__.py": "",
    "src/marginbook/toy/__init__.py": "",
    "src/marginbook/toy/model/__init__.py": "",
    SUMS: '''"""Sums."""

from __future__ import annotations

LIMIT = 10


def total(values: list | None = None, start: int = 0) -> int:
    count = start
    while values:
        count = count + values.pop()
    return count


def unasked(a: int, b: int) -> int:
    return a * b


def unseen(a: int) -> int:
    return max(a, 1000)


def gap(a: int, b: int) -> int:
    return a - b


def elsewhere() -> int:
    return LIMIT - 3
''',
    "tests/__init__.py": "",
    TESTS: """import os
import subprocess
import sys
from pathlib import Path

import pytest

from marginbook.toy.model.sums import gap, total, unseen


def test_total():
    assert total([1, 2]) == 3


@pytest.mark.parametrize("a", [5, 7])
def test_gap(a):
    assert gap(a, 2) == a - 2


def test_unseen():
    assert unseen(2000) == 2000


def test_elsewhere():
    code = "from marginbook.toy.model.sums import elsewhere; assert elsewhere() == 7"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_that_fails_anyway():
    assert gap(1, 1) == 1


def test_surroundings():
    here = Path(__file__).parent.parent
    assert here.parent.name == "worker-0"
    assert not list(Path(os.environ["MARGINBOOK_CACHE"]).iterdir())
""",
}
