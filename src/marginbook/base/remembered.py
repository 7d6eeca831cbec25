"""Small facts about files, kept between runs of the command line: a key says all that a fact depends on."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from .project import cache_dir

#: from so many on, a file of facts begins anew: most of them are of code that has changed since
MOST = 5000


class Remembered:
    """Facts of one kind, in one file of the cache.

    A key is a hash of contents, so a fact is never out of date, only not asked for any more. A file that is
    damaged, or cannot be written, costs time and nothing else.

    Parameters
    ----------
    name : str
        Of the file.
    version : str
        What computes the facts: with another one, none of them is known.
    """

    def __init__(self, name: str, version: str) -> None:
        self._name, self._version = name, version
        self._facts: dict[str, Any] = {}
        self._read_from: Path | None = None
        self._changed = False

    def get(self, key: str, compute: Callable[[], Any], kind: type) -> Any:
        """Return the fact at `key`, a value for JSON of type `kind`; compute and keep it where it is new."""
        self._load()
        known = self._facts.get(key)
        if isinstance(known, kind):
            return known
        self._facts[key] = fact = compute()
        self._changed = True
        return fact

    def save(self) -> None:
        """Write what is new, with what other processes wrote meanwhile."""
        if not self._changed or self._read_from is None:
            return
        self._changed = False
        path, facts = self._read_from, {**self._read(self._read_from), **self._facts}
        scratch = path.with_suffix(f".{os.getpid()}.tmp")
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            kept = facts if len(facts) <= MOST else self._facts
            scratch.write_text(json.dumps([self._version, kept]), encoding="utf-8")
            scratch.replace(path)

    def _load(self) -> None:
        path = cache_dir("code", f"{self._name}.json")
        if path != self._read_from:  # the cache can be moved while the process runs
            self._read_from, self._facts, self._changed = path, self._read(path), False

    def _read(self, path: Path) -> dict[str, Any]:
        with suppress(OSError, ValueError, TypeError):
            version, facts = json.loads(path.read_text(encoding="utf-8"))
            if version == self._version and isinstance(facts, dict):
                return facts
        return {}


def sha256(*parts: bytes) -> str:
    """Return a hash of several byte strings that tells where one ends and the next begins."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}\n".encode() + part)
    return digest.hexdigest()
