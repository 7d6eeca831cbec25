"""Finished tasks on disk: SQLite, one transaction each, so that a run can be killed at any moment."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..project import cache_dir, root
from .errors import StoreError
from .protocol import Protocol, Task

Value = float | int | str | None

_SCHEMA = """
CREATE TABLE IF NOT EXISTS results (
    experiment TEXT, dataset TEXT, split INTEGER, method TEXT, profile TEXT,
    status TEXT NOT NULL CHECK (status IN ('done', 'failed')),
    "values" TEXT NOT NULL, seconds REAL, n_rows INTEGER,
    code TEXT, data TEXT, settings TEXT, source TEXT, environment TEXT, error TEXT,
    PRIMARY KEY (experiment, dataset, split, method, profile));
CREATE TABLE IF NOT EXISTS claims (
    experiment TEXT, dataset TEXT, split INTEGER, method TEXT, profile TEXT, pid INTEGER,
    PRIMARY KEY (experiment, dataset, split, method, profile));
"""
_KEY = "experiment = ? AND dataset = ? AND split = ? AND method = ? AND profile = ?"
# a second run may finish the same task: the first current result stays
_RECORD = """
INSERT INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (experiment, dataset, split, method, profile) DO UPDATE SET
    status = excluded.status, "values" = excluded."values", seconds = excluded.seconds,
    n_rows = excluded.n_rows, code = excluded.code, data = excluded.data, settings = excluded.settings,
    source = excluded.source, environment = excluded.environment, error = excluded.error
WHERE NOT (results.status = 'done' AND results.code = excluded.code AND results.data = excluded.data
    AND results.settings = excluded.settings)
"""


@dataclass(frozen=True)
class Signature:
    """What a result depends on besides its key; a stored result counts only while all three agree.

    Attributes
    ----------
    code : str
        Fingerprint of the measure and of the splitting.
    data : str
        sha256 of the arrays that were measured.
    settings : str
        Hash of the protocol's part.
    """

    code: str
    data: str
    settings: str


@dataclass(frozen=True)
class Outcome:
    """What came of a task: its values, or the traceback of its failure."""

    task: Task
    signature: Signature
    values: Mapping[str, Value] = field(default_factory=dict)
    seconds: float = 0.0
    n_rows: int = 0
    source: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    error: str | None = None

    @property
    def status(self) -> str:
        return "done" if self.error is None else "failed"


def default_path() -> Path:
    """Return where results are kept: in the checkout, or in the cache of a plain installation."""
    checkout = root()
    return (checkout / ".marginbook" if checkout else cache_dir()) / "experiments.sqlite"


class Store:
    """The store of results at `path`; a context manager.

    Several processes may use one store at once. All writes are made by the process of the run, never by
    its workers.

    Parameters
    ----------
    path : path, optional
        Default: ``.marginbook/experiments.sqlite`` of the checkout.

    Raises
    ------
    StoreError
        The folder cannot be written, the disk is full, or the file is something else.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = Path(path) if path is not None else default_path()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"cannot make the folder of the store {self.path}: {error.strerror}; "
                "give another with --store PATH"
            ) from None
        with self._errors():
            # autocommit: transactions are opened by hand, one per finished task
            self._db = sqlite3.connect(self.path, timeout=60, isolation_level=None)
            try:
                self._use_wal()
                self._db.executescript(_SCHEMA)
            except sqlite3.Error:
                self._db.close()
                raise

    def _use_wal(self) -> None:
        """Switch to the write-ahead log; SQLite does not wait here for another program that does the same."""
        deadline = time.monotonic() + 60
        while True:
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; it may be called twice."""
        self._db.close()

    def record(self, outcome: Outcome) -> bool:
        """Write one outcome in one transaction.

        Returns
        -------
        bool
            False when another run had already stored a current result of the same task.
        """
        sign, key = outcome.signature, _key(outcome.task)
        row = (
            *key,
            outcome.status,
            json.dumps(dict(outcome.values)),
            outcome.seconds,
            outcome.n_rows,
            sign.code,
            sign.data,
            sign.settings,
            outcome.source,
            json.dumps(dict(outcome.environment), sort_keys=True),
            outcome.error,
        )
        with self._transaction():
            written = self._db.execute(_RECORD, row).rowcount > 0
            self._db.execute(f"DELETE FROM claims WHERE {_KEY}", key)
        return written

    def get(self, task: Task) -> Outcome | None:
        """Return what is stored of a task, whether or not it is current."""
        with self._errors():
            row = self._db.execute(f"SELECT * FROM results WHERE {_KEY}", _key(task)).fetchone()
        return None if row is None else _outcome(row)

    def outcomes(self, experiment: str, profile: str | None = None) -> list[Outcome]:
        """Return everything stored of an experiment, sorted by key."""
        where, values = (
            ("", (experiment,)) if profile is None else (" AND profile = ?", (experiment, profile))
        )
        with self._errors():
            rows = self._db.execute(f"SELECT * FROM results WHERE experiment = ?{where}", values).fetchall()
        return sorted(map(_outcome, rows), key=lambda outcome: outcome.task)

    def claim(self, task: Task) -> bool:
        """Say that this process works on `task`; False when another living process does.

        A hint against double work, nothing more: who is refused may still do the task later.
        """
        with self._transaction():
            made = self._db.execute(
                "INSERT OR IGNORE INTO claims VALUES (?, ?, ?, ?, ?, ?)", (*_key(task), os.getpid())
            )
        return made.rowcount > 0

    def drop_dead_claims(self) -> None:
        """Forget the claims of this process and of processes that have ended."""
        with self._transaction():
            for (pid,) in self._db.execute("SELECT DISTINCT pid FROM claims").fetchall():
                if pid == os.getpid() or not _alive(pid):
                    self._db.execute("DELETE FROM claims WHERE pid = ?", (pid,))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._errors():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(f"the store {self.path} {_explain(str(error))}") from None


def is_current(outcome: Outcome | None, signature: Signature) -> bool:
    """Tell whether a stored outcome still holds: done, with this code, these data, these settings."""
    return outcome is not None and outcome.status == "done" and outcome.signature == signature


def state(outcome: Outcome | None, signature: Signature) -> str:
    """Return "done", "stale", "failed" or "remaining"."""
    if outcome is None:
        return "remaining"
    if outcome.status == "failed":
        return "failed"
    return "done" if outcome.signature == signature else "stale"


def current(
    store: Store, protocol: Protocol, tasks: Iterable[Task], signatures: Mapping[str, Signature]
) -> list[Outcome]:
    """Return the outcomes of `tasks` that still hold, sorted by key; `signatures` go by data set."""
    wanted = set(tasks)
    return [
        outcome
        for outcome in store.outcomes(protocol.id)
        if outcome.task in wanted
        and outcome.task.dataset in signatures
        and is_current(outcome, signatures[outcome.task.dataset])
    ]


def _explain(message: str) -> str:
    if "full" in message or "disk I/O" in message:
        return f"cannot be written ({message}); free some space and run again: finished tasks are kept"
    if "readonly" in message or "unable to open" in message:
        return f"cannot be written ({message}); give another with --store PATH"
    if "not a database" in message or "malformed" in message or "no such column" in message:
        return f"is not a store of results ({message}); move it away, or give another with --store PATH"
    if "locked" in message:
        return "is locked by another program for more than a minute; run again when that one has ended"
    return f"failed: {message}"


def _alive(pid: int) -> bool:
    if os.name != "posix":
        return False  # signal 0 would end the process there instead of probing it
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _key(task: Task) -> tuple[str, str, int, str, str]:
    return task.experiment, task.dataset, task.split, task.method, task.profile


def _outcome(row: tuple[Any, ...]) -> Outcome:
    experiment, dataset, split, method, profile, _, values, seconds, n_rows, *rest = row
    code, data, settings, source, environment, error = rest
    return Outcome(
        Task(experiment, dataset, split, method, profile),
        Signature(code, data, settings),
        json.loads(values),
        seconds,
        n_rows,
        source,
        json.loads(environment),
        error,
    )
