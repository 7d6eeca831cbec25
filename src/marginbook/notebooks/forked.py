"""Kernels forked from one process that has already imported what notebooks import: two seconds less for each.

A worker that executes notebooks keeps one such process, `python -m marginbook.notebooks.forked`. It reads what
to start, a line of JSON for each kernel, and answers with the number of the new process. Where there is no
fork, kernels start as always.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout, suppress
from typing import IO, Any

from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning import LocalProvisioner

#: what most notebooks import, and what takes them long; not the inline backend of matplotlib, which looks at its
#: import for the kernel that it is in
PRELOADED = (
    "ipykernel.kernelapp",
    "ipykernel.ipkernel",
    "matplotlib.pyplot",
    "pandas",
    "scipy.stats",
    "scipy.optimize",
    "sklearn.svm",
    "sklearn.model_selection",
    "numba",
    "marginbook.experiments",
    "marginbook.plotting",
)
BACKEND = "module://matplotlib_inline.backend_inline"


class Manager(AsyncKernelManager):
    """A kernel manager whose kernels are forked."""

    async def _async_pre_start_kernel(self, **options: Any) -> tuple[list[str], dict[str, Any]]:
        self.kernel_id = self.kernel_id or str(uuid.uuid4())
        if self.provisioner is None and hasattr(os, "fork"):
            self.provisioner = _Forking(
                kernel_id=self.kernel_id, kernel_spec=self.kernel_spec, parent=self
            )
        found: tuple[list[str], dict[str, Any]] = await super()._async_pre_start_kernel(**options)
        return found


class _Forking(LocalProvisioner):
    """Starts a kernel by a fork; asks it to end, and waits for it, as of one that was started otherwise."""

    async def launch_kernel(self, cmd: list[str], **options: Any) -> Any:
        place = {"arguments": cmd[3:], "folder": options["cwd"], "environment": options["env"]}
        kernel = _Kernel(_server(options["env"]).start(place))
        self.process = kernel  # type: ignore[assignment]
        self.pid = self.pgid = kernel.pid  # a kernel leads a group of its own
        return self.connection_info


class _Kernel:
    """What the provisioner asks of a process; it is a child of the server, which forgets the dead."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def poll(self) -> int | None:
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return 0
        return None

    def wait(self) -> int:
        while self.poll() is None:
            time.sleep(0.02)
        return 0

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


class _Server:
    """The process that kernels are forked from; it ends when its input does, that is with this process."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=dict(environment),
            start_new_session=True,  # Ctrl-C is for the parent, which ends the kernels
        )

    def start(self, place: Mapping[str, Any]) -> int:
        """Start a kernel and return the number of its process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(place) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError("the process that kernels are forked from has ended")
        return int(answer)


_SERVERS: dict[int, _Server] = {}


def _server(environment: Mapping[str, str]) -> _Server:
    """Return the server of this process, which is started with the environment of its first kernel."""
    if os.getpid() not in _SERVERS:  # one that was inherited by a fork is the parent's
        _SERVERS[os.getpid()] = _Server(environment)
    return _SERVERS[os.getpid()]


def serve(lines: IO[str], answers: IO[str]) -> None:
    """Fork a kernel for each line, until there are no more."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the dead are forgotten at once
    os.environ.setdefault("MPLBACKEND", BACKEND)  # as a kernel sets it, before anything imports matplotlib
    with redirect_stdout(sys.stderr):  # an import that prints is no answer
        for name in PRELOADED:
            with suppress(ImportError):
                importlib.import_module(name)
    if pandas := sys.modules.get("pandas"):
        pandas.set_option("display.max_columns", 20)  # its default in a kernel, by which it is imported else
    for line in lines:
        place = json.loads(line)
        if pid := os.fork():
            print(pid, file=answers, flush=True)
        else:
            _become(**place)


def _become(arguments: Sequence[str], folder: str, environment: Mapping[str, str]) -> None:
    """Turn this process into a kernel, as `python -m ipykernel_launcher` does."""
    from ipykernel import kernelapp

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(2, 1)  # the answers are not the kernel's
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    # the server ends with who asked for the kernel, however that ended; then this process ends, too
    arguments = [*arguments, f"--IPKernelApp.parent_handle={os.getppid()}"]
    launcher = importlib.util.find_spec("ipykernel_launcher")
    sys.argv = [str(launcher and launcher.origin), *arguments]
    kernelapp.launch_new_instance(argv=arguments)
    os._exit(0)


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
