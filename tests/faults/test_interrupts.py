"""Ctrl-C in each long command: nothing that was finished is lost, one line, an exit code that is not zero."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from marginbook.experiments import command, export
from marginbook.notebooks import running

from ..notebooks.conftest import home

__all__ = ["home"]
LISTING = """
import sys, time
from marginbook.datasets import command, fetch, registry
from marginbook.datasets.registry import File, Source, entry
from dataclasses import replace
import hashlib
url, *names = sys.argv[1:]
body = b"1,2,a\\n"
def toy(name):
    sha256 = hashlib.sha256(body).hexdigest() if name == "good" else "0" * 64
    file = File("all", f"{url}/{name}", sha256, len(body))
    return replace(entry("iris"), name=name, sources=(Source("url", "text", (file,)),))
sets = {name: toy(name) for name in names}
for module in ("command", "registry"):
    sys.modules[f"marginbook.datasets.{module}"].registry = lambda: sets
command.data(["fetch"])
"""


def interrupted(process: subprocess.Popen[str], ready: Callable[[], bool]) -> str:
    """Send Ctrl-C to a process group once it is ready, and return what it said on standard error."""
    deadline = time.monotonic() + 60
    while not ready():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "it does not get on"
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    return process.communicate(timeout=60)[1]


@pytest.mark.skipif(sys.platform == "win32", reason="needs process groups")
@pytest.mark.fault("Ctrl-C", "in data fetch, while a server hangs")
def test_a_fetch_keeps_the_files_that_are_there(cache, site, told):
    site.add("/good", b"1,2,a\n")
    site.add("/slow", b"x", *["stall"] * 9)
    process = subprocess.Popen(
        [sys.executable, "-c", LISTING, site.url, "good", "slow"],
        start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    said = interrupted(process, lambda: site.hits >= 2)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert said.splitlines()[-1] == "stopped; finished files are kept, run the command again to continue"
    told(said.splitlines()[-1])
    assert [path.name.partition("-")[2] for path in cache.iterdir() if path.is_file()] == ["good"]


@pytest.mark.fault("Ctrl-C", "in experiment run, while results are exported")
def test_an_export_that_is_interrupted(tmp_path, told, monkeypatch, cli):
    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "export", interrupt)
    options = ["--n-jobs", "1", "--store", str(tmp_path / "s"), "--out", str(tmp_path)]
    shown = cli("experiment", "run", "toyroom/folds", *options)
    assert shown.exit_code == 130
    assert shown.stderr.splitlines()[-1] == "stopped; finished tasks are kept, the same command resumes"
    told(shown.stderr.splitlines()[-1])
    assert len(export("toyroom/folds", "quick", store=tmp_path / "s", out=tmp_path)) == 3


@pytest.mark.fault("Ctrl-C", "in run, over a notebook that was finished before")
def test_a_finished_notebook_outlives_an_interrupted_run(home: Path, told, monkeypatch):
    done = running.run("drm/01_small").notebook
    before = done.read_bytes()
    text = home / "notebooks" / "drm" / "01_small.md"
    text.write_text(text.read_text().replace("print(datasets", "import time; time.sleep(60); print(datasets"))
    partial = done.with_name(f"{done.stem}.partial.ipynb")

    def interrupt() -> None:
        while not (partial.is_file() and '"execution_count": 2' in partial.read_text()):
            time.sleep(0.05)
        signal.raise_signal(signal.SIGINT)

    # libraries that earlier tests used may have left a handler of their own
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=interrupt, daemon=True).start()
    try:
        with pytest.raises(KeyboardInterrupt) as stopped:
            running.run("drm/01_small")
    finally:
        signal.signal(signal.SIGINT, handler)
    assert str(stopped.value) == f"nothing was kept but the cells until then, in {partial}"
    told(f"stopped; {stopped.value}")
    assert done.read_bytes() == before


@pytest.mark.fault("Ctrl-C", "in run, before the first cell")
def test_a_run_that_is_stopped_before_it_begins(home: Path, told, monkeypatch):
    import papermill

    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(papermill, "execute_notebook", interrupt)
    with pytest.raises(KeyboardInterrupt, match="nothing was kept but what was there before") as stopped:
        running.run("drm/01_small")
    told(f"stopped; {stopped.value}")
