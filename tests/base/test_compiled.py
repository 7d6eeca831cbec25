"""What is compiled is kept on disk where it can be; where it cannot, an import still passes."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from marginbook.base import compiled

SOURCE = """
from marginbook.base.compiled import njit

@njit(error_model="numpy")
def twice(x):
    return 2 * x / 1.0
"""


def test_it_is_kept_where_that_can_be_written(tmp_path: Path):
    (tmp_path / "doubled.py").write_text(SOURCE)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA")}
    done = subprocess.run(
        [sys.executable, "-B", "-c", "import doubled; print(doubled.twice(2.5))"],
        cwd=tmp_path, env=environment | {"HOME": str(tmp_path)}, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "5.0\n", "")
    assert list(tmp_path.rglob("*.nbi"))


def test_without_a_place_it_is_compiled_each_time(monkeypatch):
    def refuse(cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function 'f': no locator available for file 'f.py'")
        return lambda function: ("compiled", options, function)

    monkeypatch.setattr(numba, "njit", refuse)
    assert compiled.njit(fastmath=True)(len) == ("compiled", {"fastmath": True}, len)


def test_other_errors_are_not_hidden(monkeypatch):
    def fail(**options):
        raise RuntimeError("the compiler is broken")

    monkeypatch.setattr(numba, "njit", fail)
    with pytest.raises(RuntimeError, match="the compiler is broken"):
        compiled.njit()(len)
