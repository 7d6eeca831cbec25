"""The runs: what each was asked, how it stands, and its folder; the list outlives the server.

A run is one file, ``_build/serve/<id>/run.json``, replaced by rename. An id is drawn by us, and an id from an
address is only looked up here: it never becomes part of a path.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

State = Literal["waiting", "running", "done", "failed", "cancelled"]
Kind = Literal["notebook", "claim", "experiment"]
#: runs whose files are kept
KEPT = 200
_ID = re.compile(r"[0-9a-f]{16}")
_FILE = "run.json"


@dataclass(frozen=True)
class Run:
    """One run.

    Attributes
    ----------
    id : str
    kind : {"notebook", "claim", "experiment"}
    subject : str
        Id of the notebook, the claim or the experiment.
    values : dict
        All parameters, also those that have their defaults.
    changed : dict
        Those that have not.
    key : str
        Of the parameters and of all code that the outputs depend on: an equal run need not be made again.
    state : str
    asked, began, ended : float or None
        Seconds since 1970.
    message : str
        Why it failed, in a sentence.
    """

    id: str
    kind: Kind
    subject: str
    values: dict[str, Any] = field(default_factory=dict)
    changed: dict[str, Any] = field(default_factory=dict)
    key: str = ""
    state: State = "waiting"
    asked: float = 0.0
    began: float | None = None
    ended: float | None = None
    message: str = ""

    @property
    def over(self) -> bool:
        return self.state not in ("waiting", "running")


class Runs:
    """All runs, the newest first.

    Parameters
    ----------
    folder : path
        Where each run gets a folder of its own.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)  # results are for the one who asked, as is the key of a kernel
        self._lock = threading.RLock()
        self._runs: dict[str, Run] = {}
        for path in sorted(folder.glob(f"*/{_FILE}")):
            run = _read(path)
            if run is not None:
                self._runs[run.id] = run
        for run in list(self._runs.values()):
            if not run.over:
                self.change(
                    run.id, state="failed", ended=time.time(), message="the server ended before the run"
                )

    def __len__(self) -> int:
        return len(self._runs)

    def get(self, id: str) -> Run | None:
        return self._runs.get(id)

    def all(self) -> list[Run]:
        with self._lock:
            return sorted(self._runs.values(), key=lambda run: -run.asked)

    def place(self, run: Run, name: str = "") -> Path:
        """Return the folder of a run, or a file in it."""
        return self.folder / run.id / name if name else self.folder / run.id

    def add(
        self, kind: Kind, subject: str, values: Mapping[str, Any], changed: Mapping[str, Any], key: str
    ) -> Run:
        """Enter a new run.

        Raises
        ------
        OSError
            If it cannot be stored; then there is no such run.
        """
        with self._lock:
            # the clock may have been put back, and the oldest runs are forgotten
            asked = max(time.time(), *(one.asked + 1e-3 for one in self._runs.values()), 0.0)
            run = Run(secrets.token_hex(8), kind, subject, dict(values), dict(changed), key, asked=asked)
            try:
                _write(self.place(run), run)
            except OSError:
                shutil.rmtree(self.place(run), ignore_errors=True)
                raise
            self._runs[run.id] = run
            self._forget()
        return run

    def change(self, id: str, **what: Any) -> Run:
        """Return the run as it stands now."""
        with self._lock:
            run = self._runs[id] = replace(self._runs[id], **what)
            # on a full disk the list goes on; after a restart it says that the server ended before this run
            with suppress(OSError):
                _write(self.place(run), run)
        return run

    def same(self, kind: str, subject: str, key: str) -> Run | None:
        """Return the newest run that is, or will be, what is asked."""
        for run in self.all():
            if (run.kind, run.subject, run.key) == (kind, subject, key) and run.state in (
                "done",
                "running",
                "waiting",
            ):
                return run
        return None

    def json(self, run: Run, name: str) -> dict[str, Any]:
        """Return what a worker has written of a run, nothing if it has not yet."""
        try:
            found = json.loads(self.place(run, name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _forget(self) -> None:
        over = [run for run in self.all()[KEPT:] if run.over]
        for run in over:
            del self._runs[run.id]
            shutil.rmtree(self.place(run), ignore_errors=True)


def write_json(path: Path, content: Any) -> None:
    """Write by rename, so that a reader never sees half of it."""
    scratch = path.with_suffix(f".{os.getpid()}.tmp")
    scratch.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    scratch.replace(path)


def _write(folder: Path, run: Run) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / _FILE, asdict(run))


def _read(path: Path) -> Run | None:
    """Return a run, or None where the file is not one of ours."""
    if not _ID.fullmatch(path.parent.name) or path.is_symlink() or path.parent.is_symlink():
        return None
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        run = Run(**{each.name: stored[each.name] for each in fields(Run)})
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return run if run.id == path.parent.name else None
