"""Execution of the notebooks with their default parameters: in parallel, cached, the same on every run."""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import json
import os
import platform
import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import nbformat
from joblib import Parallel, delayed, effective_n_jobs

from ..base import at_hand
from ..base.fingerprint import fingerprint
from ..base.progress import Left
from ..base.project import PACKAGE, resource
from .catalogue import METADATA, Notebook, build_dir, find
from .durations import Durations

TIMEOUT = 600  # seconds for one cell
# one thread each, as the notebooks run side by side; a fixed hash seed, which orders sets of strings
KERNEL_ENV = {
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    # tqdm misses widgets, and says so with a path of this machine
    "PYTHONWARNINGS": "ignore:IProgress not found",
}
# with its default parameters a notebook is the same whichever optional data are there
BOOK_ENV = {**KERNEL_ENV, **at_hand.ENVIRONMENT}
# trouble of the transport is no news to a reader: a kernel that is stopped logs a traceback as an error
KERNEL_ARGUMENTS = ["--IPKernelApp.log_level=CRITICAL"]
# versions that the outputs show: a cached execution is void when one changes
_VERSIONS = ("numpy", "scipy", "scikit-learn", "pandas", "matplotlib", "imbalanced-learn", "ipykernel")


class NotebookFailed(RuntimeError):
    """A cell raised an error. The message is one line: notebook, cell, exception."""


def execute(
    ids: Iterable[str],
    *,
    n_jobs: int = -1,
    fresh: bool = False,
    progress: Callable[[str, str], None] | None = None,
    expect: Callable[[Left], None] | None = None,
) -> dict[str, Path]:
    """Execute notebooks in parallel and return the executed files by id.

    An execution is kept in ``_build/executed`` and used again while the notebook, the code and the results
    that it reads are unchanged.

    Parameters
    ----------
    ids : iterable of str
    n_jobs : int, default=-1
        Notebooks at the same time, as in joblib; each has a kernel process of its own.
    fresh : bool, default=False
        Execute also what is cached.
    progress : callable, optional
        Called with the id as each notebook is done, and with ``"cached"`` or how long it took.
    expect : callable, optional
        Called once before the first is executed, with what judges the seconds to come.

    Raises
    ------
    UnknownNotebook
        For an unknown id, before any is executed.
    NotebookFailed
        After all notebooks have ended; the message names each failed cell. The partial notebooks are kept
        in ``_build/failed``.
    """
    targets = {notebook.id: (notebook, _executed_path(notebook)) for notebook in map(find, ids)}
    waiting = []
    for id, (notebook, target) in targets.items():
        if fresh or not target.is_file():
            waiting.append((notebook, target))
        elif progress:
            progress(id, "cached")
    failures = []
    clock = Durations([notebook.id for notebook, _ in waiting], effective_n_jobs(n_jobs))
    # the longest first, so that none of them is left alone at the end
    if expect:
        expect(clock.left)
    waiting.sort(key=lambda pair: -clock.expected(pair[0].id))
    stream = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
        delayed(_timed)(notebook, target) for notebook, target in waiting
    )
    for id, failure, seconds in stream:
        how = clock.ended(id, seconds, failed=bool(failure))
        if failure:
            failures.append(failure)
        if progress:
            progress(id, how)
    if failures:
        raise NotebookFailed("\n".join(grouped(failures)))
    return {id: target for id, (_, target) in targets.items()}


def came_out_as_stored(notebook: Notebook) -> bool:
    """Whether it has been executed with this code and data, and gave what is stored.

    The pixels of pictures are left out: they depend on the processor.
    """
    executed = _executed_path(notebook)
    there = executed.is_file() and notebook.stored.is_file()
    return there and _words(executed) == _words(notebook.stored)


def execute_node(node: nbformat.NotebookNode, folder: Path) -> nbformat.NotebookNode:
    """Execute a notebook in `folder`, in place, and strip what differs between two runs."""
    from nbclient import NotebookClient

    from .forked import Manager

    client = NotebookClient(
        node,
        timeout=TIMEOUT,
        kernel_name="python3",
        kernel_manager_class=Manager,
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(folder)}},
        extra_arguments=KERNEL_ARGUMENTS,
    )
    client.execute(env={**os.environ, **BOOK_ENV})
    return normalised(node)


def normalised(node: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Take out versions, timing and memory addresses: the same run gives the same bytes."""
    node.metadata = nbformat.from_dict(METADATA)
    for cell in node.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            if "text/plain" in output.get("data", {}):
                text = output["data"]["text/plain"]
                output["data"]["text/plain"] = re.sub(r"(?<= at )0x[0-9a-f]{6,}", "0x…", text)
    return node


def failure_line(id: str, node: nbformat.NotebookNode) -> str:
    """Say in one line which cell of an executed notebook failed, and how."""
    for number, cell in enumerate(node.cells, start=1):
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                message = (output.evalue.splitlines() or [""])[0][:300]
                where = f"cell {number} (In [{cell.get('execution_count') or ' '}])"
                return f"{id}: {where} raised {output.ename}: {message}"
    return f"{id}: the kernel died before a cell could report an error"


def grouped(failures: Iterable[str]) -> list[str]:
    """Return the failures in order; those for want of data in one line, which says how to fetch them."""
    missing: dict[str, list[str]] = {}
    others = []
    for failure in sorted(failures):
        if found := re.search(r"DatasetNotFetched: .*`marginbook data fetch (\S+)`", failure):
            missing.setdefault(found[1], []).append(failure.partition(":")[0])
        else:
            others.append(failure)
    if missing:
        ids = list(dict.fromkeys(id for several in missing.values() for id in several))
        others.append(
            f"{', '.join(ids)}: data are needed that are not on this machine; "
            f"run `marginbook data fetch {' '.join(missing)}`"
        )
    return others


def write(node: nbformat.NotebookNode, path: Path) -> Path:
    """Write a notebook by rename, so that a reader never sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(f".{os.getpid()}.tmp")
    nbformat.write(node, scratch)
    scratch.replace(path)
    return path


def key(notebook: Notebook) -> str:
    """Return a hash of all that the outputs of a notebook depend on."""
    node = notebook.read()
    digest = hashlib.sha256(notebook.text.read_bytes())
    digest.update(fingerprint(*sorted(_modules(node, notebook.room))).encode())
    digest.update(platform.python_version().encode())
    for name in _VERSIONS:
        try:
            digest.update(f"{name}=={importlib.metadata.version(name)}\n".encode())
        except importlib.metadata.PackageNotFoundError:
            digest.update(f"{name} absent\n".encode())
    for folder in (resource("results", notebook.room), PACKAGE / notebook.room / "paper"):
        for path in sorted(folder.glob("*")) if folder.is_dir() else []:
            if path.is_file():
                digest.update(path.name.encode() + b"\n" + path.read_bytes())
    digest.update(_data_of_every_machine().encode())
    return digest.hexdigest()


def _executed_path(notebook: Notebook) -> Path:
    return build_dir("executed", f"{notebook.slug}-{key(notebook)[:16]}.ipynb")


def _words(path: Path) -> Any:
    def without_pixels(name: str, value: Any) -> Any:
        return "…" if name == "image/png" else value

    text = path.read_text(encoding="utf-8")
    return json.loads(text, object_pairs_hook=lambda pairs: {k: without_pixels(k, v) for k, v in pairs})


def _timed(notebook: Notebook, target: Path) -> tuple[str, str | None, float]:
    began = time.monotonic()
    id, failure = _execute_one(notebook, target)
    return id, failure, time.monotonic() - began


def _execute_one(notebook: Notebook, target: Path) -> tuple[str, str | None]:
    from nbclient.exceptions import CellExecutionError

    id, node = notebook.id, notebook.read()
    try:
        executed = execute_node(node, notebook.text.parent)
    except CellExecutionError:
        kept = write(node, build_dir("failed", f"{notebook.slug}.ipynb"))
        return id, f"{failure_line(id, node)}; kept in {kept}"
    except Exception as error:  # a dead kernel, a timeout: reported with the others, after all have ended
        kept = write(node, build_dir("failed", f"{notebook.slug}.ipynb"))
        return id, f"{id}: {type(error).__name__}: {str(error).splitlines()[0]}; kept in {kept}"
    write(executed, target)
    for older in target.parent.glob(f"{notebook.slug}-????????????????.ipynb"):
        if older != target:
            older.unlink(missing_ok=True)
    return id, None


def _modules(node: nbformat.NotebookNode, room: str) -> set[str]:
    """Modules that the cells import, and those that are loaded by name: the room's, and checks of claims.

    Of the rooms whose claims a cell shows these are all checks: which one a claim has is known only to the
    ledger, which imports them.
    """
    names = {f"{PACKAGE.name}.{room}", f"{PACKAGE.name}.{room}.claims", f"{PACKAGE.name}.{room}.experiments"}
    rooms = {room}
    for cell in node.cells:
        if cell.cell_type != "code":
            continue
        try:
            tree = ast.parse(re.sub(r"^\s*[%!].*$", "", cell.source, flags=re.MULTILINE))
        except SyntaxError:
            continue  # the execution will say so
        for part in ast.walk(tree):
            if isinstance(part, ast.Import):
                names.update(alias.name for alias in part.names)
            elif isinstance(part, ast.ImportFrom) and part.module:
                names.add(part.module)
                names.update(f"{part.module}.{alias.name}" for alias in part.names)
            elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                rooms.add(part.value.partition("/")[0])
    for one in filter(str.isidentifier, rooms):
        checks = (PACKAGE / one / "claims").glob("[!_]*.py")
        names.update(f"{PACKAGE.name}.{one}.claims.{path.stem}" for path in checks)
    return {name for name in names if name.split(".")[0] == PACKAGE.name}


def _data_of_every_machine() -> str:
    """Return what the registry says of the data that a notebook meets, whatever else has been fetched."""
    from ..datasets.registry import registry  # slow to import, and not for `run --list`

    return repr(
        [
            (entry.name, [source for source in entry.sources if source.kind in at_hand.REGISTRIES])
            for entry in registry().values()
        ]
    )
