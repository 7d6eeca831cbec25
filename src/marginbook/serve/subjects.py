"""What can be run, by the ids that addresses name: notebooks, claims, experiments; and the key of a run."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ..base.project import PACKAGE, resource
from ..notebooks.catalogue import Notebook, available, notebooks_dir
from ..notebooks.fields import Field, fields, sets_here
from ..notebooks.parameters import ParameterError, parameters

_ASKED = "from sys import argv; from marginbook.notebooks.catalogue import find; " + (
    "from marginbook.notebooks.executing import key; print(key(find(argv[1])))"
)


class Subjects:
    """The tables in which ids are looked up."""

    def __init__(self) -> None:
        self._keys: dict[tuple[str, str], str] = {}
        self._lock = threading.Lock()

    def notebook(self, id: str) -> Notebook | None:
        return available().get(id)

    def fields(self, notebook: Notebook) -> list[Field]:
        """Return what a form of this notebook asks; nothing where its declarations cannot be read."""
        try:
            declared = parameters(notebook.read())
        except ParameterError:
            return []
        return fields(declared, *sets_here())

    def key(self, notebook: Notebook, values: Mapping[str, Any]) -> str:
        """Return a hash of the values and of all that the outputs depend on.

        The code is read by a process of its own: the modules of this one are those of its start.
        """
        with self._lock:
            asked = (notebook.id, _stamp())
            if asked not in self._keys:
                done = subprocess.run(
                    [sys.executable, "-c", _ASKED, notebook.id], capture_output=True, text=True, timeout=120
                )
                if done.returncode:
                    raise RuntimeError(f"the code of {notebook.id} cannot be read: {done.stderr[-300:]}")
                self._keys[asked] = done.stdout.strip()
            code = self._keys[asked]
        text = json.dumps([code, values], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def claims(self) -> dict[str, dict[str, str]]:
        """Return what is said of each claim, by its id."""
        return _claims()

    def experiments(self) -> dict[str, str]:
        """Return the titles of the experiments by their ids."""
        return _experiments()


@cache
def _claims() -> dict[str, dict[str, str]]:
    from ..claims.catalogue import ROOMS, listed

    return {
        claim.id: {
            "where": claim.where, "kind": str(claim.kind), "statement": claim.statement,
            "notebook": claim.notebook, "room": ROOMS[claim.paper], "slug": claim.slug, "paper": claim.paper,
        }
        for claim in listed()
    }  # fmt: skip


@cache
def _experiments() -> dict[str, str]:
    from ..experiments.protocol import experiments, load_protocol

    return {id: load_protocol(id).title for id in experiments()}


def _stamp() -> str:
    """Return a hash of the times and sizes of all files that a key may depend on."""
    digest = hashlib.sha256()
    places = ((PACKAGE, "*.py"), (notebooks_dir(), "*.md"), (resource("results"), "*"), (PACKAGE, "paper/*"))
    for folder, pattern in places:
        for path in sorted(folder.rglob(pattern)) if folder.is_dir() else []:
            digest.update(_facts(path))
    return digest.hexdigest()


def _facts(path: Path) -> bytes:
    try:
        stat = path.stat()
    except OSError:
        return b""
    return f"{path}\n{stat.st_mtime_ns}\n{stat.st_size}\n".encode()
