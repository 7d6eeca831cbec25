"""A forked kernel shows what one that is started shows, and leaves no process behind."""

from __future__ import annotations

import json
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

pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are looked up in /proc")

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


#: a kernel that ends at once: it has no folder
NOWHERE = {"arguments": [], "folder": "/nowhere", "environment": {}}


def test_a_server_that_died_is_named_and_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forked, "_SERVERS", {})
    server = forked._server(os.environ)
    assert forked._server(os.environ) is server
    other = forked._server({**os.environ, "PYTHONHASHSEED": "7"})
    assert other is not server
    other._process.kill()
    server._process.kill()
    server._process.wait()
    with pytest.raises((RuntimeError, BrokenPipeError)):
        server.start(NOWHERE)
    other = forked._server(os.environ)
    assert other.runs
    other._process.kill()
    other._process.wait()


def test_a_kernel_keeps_its_number_until_it_is_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a signal for it could reach another process, or its end be taken for that of another kernel."""
    server = forked._Server(os.environ)
    first, second = (forked._Kernel(server.start(NOWHERE), server) for _ in range(2))
    assert second.wait() == 1
    end = time.monotonic() + 60
    while _runs(first.pid):
        assert time.monotonic() < end
        time.sleep(0.02)
    assert Path(f"/proc/{first.pid}").exists()
    assert first.wait() == first.wait() == 1
    assert not Path(f"/proc/{first.pid}").exists()
    sent: list[int] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: sent.append(pid))
    first.terminate()
    assert sent == []
    server._process.kill()


def test_an_answer_that_was_not_read_is_for_no_later_question() -> None:
    server = forked._Server(os.environ)
    stdin = server._process.stdin
    assert stdin is not None
    stdin.write(json.dumps([0, NOWHERE]) + "\n")
    kernel = forked._Kernel(server.start(NOWHERE), server)
    assert kernel.wait() == 1
    server._process.kill()


def test_a_server_and_its_kernel_end_in_silence_when_who_asked_is_gone() -> None:
    """After Ctrl-C there is nobody to read the answer, and the folder of the kernel is removed."""
    program = (
        "import sys; from marginbook.notebooks import forked; "
        "forked.PRELOADED = (); forked.serve(sys.stdin, sys.stdout)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        server.stdout.close()
        server.stdout = None
        _, told = server.communicate(json.dumps([1, NOWHERE]) + "\n", timeout=60)  # the kernel's, too
    assert (told, server.returncode) == ("", 0)


SLEEPER = PROGRAM.replace(
    "print(os.getpid())", "import time; print(os.getpid()); open('on', 'w'); time.sleep(600)"
)


def test_nothing_is_left_when_who_asked_is_killed(tmp_path: Path) -> None:
    """Not even its own end can be asked of a process that was killed; its kernel notices by itself."""
    with subprocess.Popen([sys.executable, "-c", SLEEPER], cwd=tmp_path) as asked:
        end = time.monotonic() + 60
        while not (tmp_path / "on").exists():
            assert time.monotonic() < end
            time.sleep(0.05)
        children = [int(pid) for pid in _children(asked.pid)]
        family = [*children, *(int(pid) for child in children for pid in _children(child))]
        assert len(family) >= 2
        asked.kill()
    while left := [pid for pid in family if _runs(pid)]:
        assert time.monotonic() < end, left
        time.sleep(0.05)


def _children(pid: int) -> list[str]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [child for task in tasks for child in task.read_text().split()]


def _runs(pid: int) -> bool:
    """Whether a process is there; one that ended and was not asked for its result is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
