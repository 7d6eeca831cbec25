"""A forked kernel shows what one that is started shows, and leaves no process behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from jupyter_client.manager import AsyncKernelManager

from marginbook.notebooks import forked
from marginbook.notebooks.executing import execute_node

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")

CELLS = (
    "import os, sys, warnings; import matplotlib, matplotlib.pyplot as plt, pandas as pd",
    "print(sys.argv[0], os.environ['PYTHONHASHSEED'], hash('a'), matplotlib.get_backend(), __name__)",
    "print(os.getpgrp() == os.getpid(), os.path.basename(os.getcwd()), sys.stdin.isatty())",
    "pd.DataFrame([range(10**6, 10**6 + 12)])",
    "plt.figure(figsize=(2, 1)); plt.plot([1, 2]);",
    "warnings.warn('told')",
    "print('to the error stream', file=sys.stderr)",
    "1 / 0",
)


def outputs(folder: Path, manager: type[AsyncKernelManager], monkeypatch: pytest.MonkeyPatch) -> list[object]:
    monkeypatch.setattr(forked, "Manager", manager)
    node = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS])
    with pytest.raises(Exception, match="division by zero"):
        execute_node(node, folder)
    shown = [cell.outputs for cell in node.cells[:5]] + [cell.outputs for cell in node.cells[6:]]
    (warned,) = node.cells[5].outputs  # its text names a file with the number of the process
    return [*shown, warned.name, warned.text.rpartition("UserWarning")[2]]


def test_it_shows_what_another_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = forked.Manager
    started = outputs(tmp_path, AsyncKernelManager, monkeypatch)
    assert "image/png" in started[4][0]["data"]  # type: ignore[index]
    assert outputs(tmp_path, own, monkeypatch) == started


PROGRAM = """
import nbformat, pathlib
from marginbook.notebooks import executing, forked
node = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import os; print(os.getpid())")])
executing.execute_node(node, pathlib.Path())
print(node.cells[0].outputs[0].text.strip(), *(server._process.pid for server in forked._SERVERS.values()))
"""


def test_kernel_and_server_end_with_what_asked_for_them(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    kernel, server = map(int, done.stdout.split())
    end = time.monotonic() + 20
    while left := [pid for pid in (kernel, server) if Path(f"/proc/{pid}").exists()]:
        assert time.monotonic() < end, left
        time.sleep(0.05)


def test_a_server_that_died_is_named() -> None:
    server = forked._Server(os.environ)
    server._process.kill()
    server._process.wait()
    with pytest.raises((RuntimeError, BrokenPipeError)):
        server.start({"arguments": [], "folder": ".", "environment": {}})
