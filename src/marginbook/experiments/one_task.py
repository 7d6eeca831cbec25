"""One task, done wherever it happens to run: a pure function of the protocol, the task and the data."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import re
import threading
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import scipy.linalg
import scipy.sparse
from threadpoolctl import threadpool_info, threadpool_limits  # type: ignore[import-untyped]

from ..base.checkout import commit
from ..base.extras import advice
from ..base.project import root
from ..base.weka import WekaMissing
from ..base.weka import version as weka_version
from .fold import Fold
from .protocol import Protocol, Task, load_dataset
from .store import CLOCK, Outcome, Signature, Value

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
# a Dask worker may have several threads, and those must not parse code at once: in Python 3.11 `ast.parse`
# then fails with "AST constructor recursion depth mismatch"
_ONE_PREPARES = threading.Lock()
_PACKAGES = (
    "marginbook",
    "numpy",
    "scipy",
    "scikit-learn",
    "imbalanced-learn",
    "joblib",
    "numba",
    "cvxpy",
    "jpype1",
)


def measure_task(protocol: Protocol, task: Task) -> Outcome:
    """Do one task and return its outcome; an exception in it becomes a failed outcome."""
    signature = Signature("", "", "")
    try:
        with _ONE_PREPARES:
            measure, code = protocol.measure(), protocol.code()
            data, sha256 = _load(protocol.package, task.dataset)
        signature = Signature(code, sha256, protocol.settings_hash(task.profile, task.dataset))
        rows = protocol.rows(data, task.dataset, task.split)
        with _Meter() as meter:
            fold = Fold.of(data, rows, task.dataset, task.seed)
            measured = measure(fold, task.method, protocol.settings_for(task.profile))
        values = _plain(measured, protocol.metric)
    except Exception as error:
        lacks = str(error) if isinstance(error, WekaMissing) else ""
        if isinstance(error, ModuleNotFoundError) and (lacks := advice(error)):
            error.add_note(lacks)  # the last line of the traceback, which reports show
        return Outcome(task, signature, error=traceback.format_exc(), lacks=lacks)
    place = {**environment(), CLOCK: meter.clock}
    return Outcome(task, signature, values, meter.seconds, len(data.y), str(data.sha256), place)


class _Meter:
    """The seconds of a processor that a task takes, however busy the machine is.

    A task may fit support vector machines in a thread beside its own, which only the clock of the process
    counts. Where a process does several tasks at once, as a Dask worker may, that clock would count them all;
    there the clock of the task's own thread has to do.
    """

    _running: ClassVar[set[_Meter]] = set()
    _lock = threading.Lock()

    def __enter__(self) -> Self:
        self.clock = "process"
        with self._lock:
            self._running.add(self)
            if len(self._running) > 1:
                for each in self._running:
                    each.clock = "thread"
        self._began = {"process": time.process_time(), "thread": time.thread_time()}
        return self

    def __exit__(self, *_: object) -> None:
        now = {"process": time.process_time(), "thread": time.thread_time()}
        with self._lock:
            self._running.discard(self)
            self.seconds = now[self.clock] - self._began[self.clock]


def measure_in_worker(protocol: Protocol, task: Task, threads: int = 1) -> Outcome:
    """Do one task in a worker process, which from then on uses so many BLAS and OpenMP threads."""
    limit_threads(threads)
    return measure_task(protocol, task)


def limit_threads(threads: int = 1) -> None:
    """Keep this process to so many BLAS and OpenMP threads; one: sums in one order, no fight for the cores.

    There is no way back: workers that run tasks in several threads share the setting.
    """
    os.environ.update(dict.fromkeys(_THREADS, str(threads)))
    threadpool_limits(limits=threads)


def data_hash(data: Any) -> str:
    """Return a sha256 of what a task sees of a data set: the arrays, so that a mended parser counts too."""
    digest = hashlib.sha256(str(data.sha256).encode())
    parts = [data.X.data, data.X.indices, data.X.indptr] if scipy.sparse.issparse(data.X) else [data.X]
    official = [rows for pair in getattr(data, "official_splits", ()) for rows in pair]
    for part in (*parts, data.folds, data.test_mask, *official):
        if part is not None:
            array = np.ascontiguousarray(part)
            digest.update(f"{array.shape}{array.dtype.str}".encode())
            digest.update(array.data)
    digest.update("\n".join(map(str, np.asarray(data.y).tolist())).encode())
    return digest.hexdigest()


def environment() -> Mapping[str, str]:
    """Return what numbers depend on: commit, packages, Python, processor, BLAS; no machine names."""
    at = _commit(root())  # None outside of git
    return {**({"commit": at} if at else {}), **_versions()}


@cache
def _commit(home: Path | None) -> str | None:
    return commit("results")  # a run of many experiments exports each as it ends


@cache
def _versions() -> Mapping[str, str]:
    found = {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
    }
    for package in _PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    if "jpype1" in found and (weka := weka_version()):
        found["weka"] = weka
    blas = {
        f"{lib['internal_api']} {lib['version']} {lib.get('architecture', '')}".strip()
        for lib in threadpool_info()
        # NumPy's and SciPy's own: which others are loaded depends on what else the process imported
        if lib["user_api"] == "blas" and re.search(r"(numpy|scipy)[._-]", Path(lib["filepath"]).as_posix())
    }
    return {**found, "blas": ", ".join(sorted(blas))}


def _processor() -> str:
    """Return the processor's model, as far as the system tells."""
    with suppress(OSError):  # Linux has it here, and nowhere in `platform`
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    return platform.processor() or platform.machine()


def forget_data() -> None:
    """Drop the data sets that this process holds, so that the next task reads them anew."""
    _load.cache_clear()


@lru_cache(maxsize=2)
def _load(package: str, dataset: str) -> tuple[Any, str]:
    data = load_dataset(package, dataset)
    return data, data_hash(data)


def _plain(measured: Mapping[str, Any], metric: str) -> dict[str, Value]:
    values = {
        name: value.item() if isinstance(value, np.generic) else value for name, value in measured.items()
    }
    for name, value in values.items():
        if not isinstance(name, str) or not isinstance(value, (float, int, str, type(None))):
            raise TypeError(f"the measure returned {name!r}: {value!r}; wanted a number, a text or None")
    if metric not in values:
        raise KeyError(f"the measure returned {sorted(values)}, without the protocol's metric {metric!r}")
    return values
