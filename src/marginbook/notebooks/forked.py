"""Kernels forked from one process that has already imported what notebooks import: two seconds less for each.

A worker that executes notebooks keeps one such process, `python -m marginbook.notebooks.forked`. It reads
questions, a line of JSON each: what to start, answered by the number of the new process, or the number of a
process, answered by how it ended. Where there is no fork, kernels start as always.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout, suppress
from typing import IO, Any

from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning import LocalProvisioner

#: what most notebooks import, and what takes them long; not the inline backend of matplotlib, which looks at
#: its import for the kernel that it is in
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
    "marginbook.base.plotting",
)
BACKEND = "module://matplotlib_inline.backend_inline"
#: variables that are read when a process begins or imports these: kernels that differ in one share no server
AT_START = (
    "MPLBACKEND",
    "PYTHONHASHSEED",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_CACHE_DIR",
)


class Manager(AsyncKernelManager):
    """A kernel manager whose kernels are forked."""

    async def _async_pre_start_kernel(self, **options: Any) -> tuple[list[str], dict[str, Any]]:
        self.kernel_id = self.kernel_id or str(uuid.uuid4())
        if self.provisioner is None and hasattr(os, "fork"):
            self.provisioner = _Forking(kernel_id=self.kernel_id, kernel_spec=self.kernel_spec, parent=self)
        found: tuple[list[str], dict[str, Any]] = await super()._async_pre_start_kernel(**options)
        return found


class _Forking(LocalProvisioner):
    """Starts a kernel by a fork; asks it to end, and waits for it, as of one that was started otherwise."""

    async def launch_kernel(self, cmd: list[str], **options: Any) -> Any:
        place = {"arguments": cmd[3:], "folder": options["cwd"], "environment": options["env"]}
        server = _server(options["env"])
        kernel = _Kernel(server.start(place), server)
        self.process = kernel  # type: ignore[assignment]
        self.pid = self.pgid = kernel.pid  # a kernel leads a group of its own
        return self.connection_info


class _Kernel:
    """What the provisioner asks of a process; it is a child of the server, which knows how it ended."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int, server: _Server) -> None:
        self.pid = pid
        self._server = server
        self._code: int | None = None

    def poll(self) -> int | None:
        if self._code is None:
            self._code = self._server.code(self.pid)
        return self._code

    def wait(self) -> int:
        while (code := self.poll()) is None:
            time.sleep(0.02)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:  # of a kernel that has ended the system may have given the number again
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
        self._asked = 0
        self._one_asks = threading.Lock()

    @property
    def runs(self) -> bool:
        return self._process.poll() is None

    def start(self, place: Mapping[str, Any]) -> int:
        """Start a kernel and return the number of its process."""
        return int(self._ask(place))

    def code(self, pid: int) -> int | None:
        """Return how a kernel ended, as `subprocess.Popen.returncode` says it; None while it runs."""
        try:
            answer: int | None = self._ask(pid)
        except (OSError, RuntimeError):  # with the server its kernels end, too
            return -signal.SIGKILL
        return answer

    def _ask(self, question: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._one_asks:
            self._asked += 1
            self._process.stdin.write(json.dumps([self._asked, question]) + "\n")
            self._process.stdin.flush()
            while line := self._process.stdout.readline():
                number, answer = json.loads(line)
                if number == self._asked:  # not of a question whose answer Ctrl-C kept from being read
                    return answer
        raise RuntimeError("the process that kernels are forked from has ended")


_SERVERS: dict[tuple[int | str | None, ...], _Server] = {}


def _server(environment: Mapping[str, str]) -> _Server:
    """Return the server of this process for an environment; it has that of its first kernel."""
    # one that was inherited by a fork is the parent's
    key = (os.getpid(), *(environment.get(name) for name in AT_START))
    server = _SERVERS.get(key)
    if server is None or not server.runs:
        server = _SERVERS[key] = _Server(environment)
    return server


def serve(lines: IO[str], answers: IO[str]) -> None:
    """Answer the questions: fork a kernel, or say how one ended."""
    os.environ.setdefault("MPLBACKEND", BACKEND)  # as a kernel sets it, before anything imports matplotlib
    with redirect_stdout(sys.stderr):  # an import that prints is no answer
        for name in PRELOADED:
            with suppress(ImportError):
                importlib.import_module(name)
    if pandas := sys.modules.get("pandas"):
        pandas.set_option("display.max_columns", 20)  # its default in a kernel, by which it is imported else
    for line in lines:
        number, question = json.loads(line)
        answer: int | None = None
        if isinstance(question, dict):
            answer = os.fork()
            if not answer:
                _become(**question)
        else:
            # of this kernel only: until it is waited for, its number is given to no other process
            pid, status = os.waitpid(question, os.WNOHANG)
            if pid:
                answer = os.waitstatus_to_exitcode(status)
        try:
            print(json.dumps([number, answer]), file=answers, flush=True)
        except BrokenPipeError:  # who asked has ended
            os.dup2(os.open(os.devnull, os.O_WRONLY), answers.fileno())  # nor is the rest told at the exit
            return


def _become(arguments: Sequence[str], folder: str, environment: Mapping[str, str]) -> None:
    """Turn this process into a kernel, as `python -m ipykernel_launcher` does."""
    from ipykernel import kernelapp

    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(2, 1)  # the answers are not the kernel's
    os.environ.clear()
    os.environ.update(environment)
    try:
        os.chdir(folder)
    except FileNotFoundError:  # who asked has ended, and removed what was its own
        os._exit(1)
    # the server ends with who asked for the kernel, however that ended; then this process ends, too
    arguments = [*arguments, f"--IPKernelApp.parent_handle={os.getppid()}"]
    launcher = importlib.util.find_spec("ipykernel_launcher")
    sys.argv = [str(launcher and launcher.origin), *arguments]
    kernelapp.launch_new_instance(argv=arguments)
    os._exit(0)


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
