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

from ..base.project import cache_dir, root
from .errors import StoreError
from .protocol import Protocol, Task
from .schema import READ, RECORD, TABLES, checksum, explain, is_sound

Value = float | int | str | None

#: what an outcome's environment calls the clock of its seconds: that of the process, or of a thread of it
CLOCK = "clock"
_KEY = "experiment = ? AND dataset = ? AND split = ? AND method = ? AND profile = ?"


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
    """What came of a task: its values, or the traceback of its failure.

    `lacks` names a package of an extra, or Weka, without which the task cannot run here; such an outcome is
    not kept.
    """

    task: Task
    signature: Signature
    values: Mapping[str, Value] = field(default_factory=dict)
    seconds: float = 0.0
    n_rows: int = 0
    source: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    error: str | None = None
    lacks: str = ""

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
        The folder cannot be written, the disk is full, or the file is damaged or something else.
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
                self._refuse_other_tables()
                self._use_wal()
                self._db.executescript(TABLES)
            except (sqlite3.Error, StoreError):
                self._db.close()
                raise

    @classmethod
    def to_read(cls, path: str | os.PathLike[str] | None = None) -> Store:
        """Return the store at `path`; where there is none, an empty one in memory, and no file is made."""
        found = Path(path) if path is not None else default_path()
        return cls(found if found.exists() else ":memory:")

    def _refuse_other_tables(self) -> None:
        """Leave the data base of another program alone."""
        names = {name for (name,) in self._db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if names and "results" not in names:
            found = f"not a database of ours: it holds {', '.join(sorted(names))}"
            raise StoreError(f"the store {self.path} {explain(found)}")

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
            float(outcome.seconds),
            outcome.n_rows,
            sign.code,
            sign.data,
            sign.settings,
            outcome.source,
            json.dumps(dict(outcome.environment), sort_keys=True),
            outcome.error,
        )
        with self._transaction():
            written = self._db.execute(RECORD, row).rowcount > 0
            if written:
                self._db.execute(
                    "INSERT OR REPLACE INTO checks VALUES (?, ?, ?, ?, ?, ?)", (*key, checksum(row))
                )
            self._db.execute(f"DELETE FROM claims WHERE {_KEY}", key)
        return written

    def get(self, task: Task) -> Outcome | None:
        """Return what is stored of a task, whether or not it is current; None if that is damaged."""
        with self._errors():
            row = self._db.execute(f"{READ} WHERE {_KEY}", _key(task)).fetchone()
        return None if row is None or not is_sound(row) else _outcome(row[:-1])

    def outcomes(self, experiment: str, profile: str | None = None) -> list[Outcome]:
        """Return everything stored of an experiment that is not damaged, sorted by key."""
        where, values = (
            ("", (experiment,)) if profile is None else (" AND profile = ?", (experiment, profile))
        )
        with self._errors():
            rows = self._db.execute(f"{READ} WHERE experiment = ?{where}", values).fetchall()
        found = (_outcome(row[:-1]) for row in rows if is_sound(row))
        return sorted(found, key=lambda outcome: outcome.task)

    def verify(self) -> None:
        """Raise `StoreError` when the file is damaged so that results could be missing or there twice."""
        with self._errors():
            (found,) = self._db.execute("PRAGMA integrity_check(1)").fetchone()
        if found != "ok":
            told = " ".join(found.split())
            raise StoreError(f"the store {self.path} {explain(f'malformed: {told}')}")

    def drop_damaged(self, experiment: str) -> list[Task]:
        """Forget results whose bytes changed on the disk, and return their tasks."""
        with self._errors():
            rows = self._db.execute(f"{READ} WHERE experiment = ?", (experiment,)).fetchall()
        damaged = [Task(*row[:5]) for row in rows if not is_sound(row)]
        if damaged:
            with self._transaction():
                for task in damaged:
                    for table in ("results", "checks"):
                        self._db.execute(f"DELETE FROM {table} WHERE {_KEY}", _key(task))
        return damaged

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
            raise StoreError(f"the store {self.path} {explain(str(error))}") from None


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
