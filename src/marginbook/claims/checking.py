"""Checking claims: the evidence of each is kept until its code, its data or a version changes."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from ..base.at_hand import registries_only
from ..base.extras import advice
from ..base.fingerprint import fingerprint
from ..base.project import cache_dir, resource
from ..base.rooms import rooms
from ..base.workers import leave_ctrl_c_to_parent
from .catalogue import Claim, listed
from .evidence import Evidence, Verdict


class CheckFailed(RuntimeError):
    """A check raised an error, so there is no evidence; the message names the claim."""


#: told of a claim that cannot be checked here: its id, and the package that is missing with its extra
Skipped = Callable[[str, str], None]


def check(id: str, *, fresh: bool = False) -> Evidence:
    """Check one claim, or return its evidence from the cache if code, data and versions are unchanged.

    Raises
    ------
    KeyError
        For an unknown id.
    ValueError
        For a room or another beginning of several ids.
    """
    (entry,) = listed([id])
    path = _path(entry)
    if not fresh and (known := _read(path)) is not None:
        return known
    # the same evidence for all readers, and as silent as from the cache: what a check tries may well warn
    with registries_only(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        evidence = entry.check()
    # through JSON and back, so that fresh and cached evidence are the same
    text = json.dumps(asdict(evidence), default=_plain)
    with suppress(OSError):  # a cache that cannot be written costs time, and no evidence
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = path.with_suffix(f".{os.getpid()}.tmp")
        scratch.write_text(text, encoding="utf-8")
        scratch.replace(path)
    return Evidence(**{**json.loads(text), "verdict": evidence.verdict, "seeds": evidence.seeds})


def check_all(
    ids: Iterable[str] | None = None,
    *,
    n_jobs: int = -1,
    fresh: bool = False,
    progress: Callable[[str, Evidence], None] | None = None,
    skipped: Skipped | None = None,
) -> dict[str, Evidence]:
    """Check many claims in parallel and return their evidence by id.

    Parameters
    ----------
    ids : iterable of str, optional
        Ids or rooms; all claims by default.
    n_jobs : int, default=-1
        Worker processes, as in joblib.
    fresh : bool, default=False
        Compute again even where a cached evidence is valid.
    progress : callable, optional
        Called with id and evidence as each claim is done.
    skipped : callable, optional
        Called with id and reason for each claim whose check needs a package of an extra that is not
        installed; such claims are not in the result. Without it they are a failure like others.

    Raises
    ------
    CheckFailed
        One of the checks raised an error.
    KeyError
        For an unknown id.
    """
    wanted = listed(ids)
    done: dict[str, Evidence] = {}

    def enter(id: str, evidence: Evidence) -> None:
        done[id] = evidence
        if progress is not None:
            progress(id, evidence)

    for entry in wanted if not fresh else ():
        if (known := _read(_path(entry))) is not None:
            enter(entry.id, known)
    if missing := [entry.id for entry in wanted if entry.id not in done]:
        from joblib import Parallel, delayed  # late: with all evidence in the cache no worker starts

        stream = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
            delayed(_check_named)(id, fresh) for id in missing
        )
        for id, found in stream:
            if isinstance(found, Evidence):
                enter(id, found)
            elif skipped is None:
                raise _failed(id, found)
            else:
                skipped(id, found)
    return {entry.id: done[entry.id] for entry in wanted if entry.id in done}


def _check_named(id: str, fresh: bool) -> tuple[str, Evidence | str]:
    """Return the evidence, or which package of an extra the check lacks."""
    leave_ctrl_c_to_parent()
    try:
        return id, check(id, fresh=fresh)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and (text := advice(error)):
            return id, text
        raise _failed(id, f"{type(error).__name__}: {error}") from error


def _failed(id: str, why: str) -> CheckFailed:
    return CheckFailed(f"the check of {id} did not finish: {why}")


def _path(entry: Claim) -> Path:
    return cache_dir("claims", f"{entry.slug}-{key(entry)[:16]}.json")


def _read(path: Path) -> Evidence | None:
    if not path.is_file():
        return None
    stored = json.loads(path.read_text(encoding="utf-8"))
    return Evidence(**{**stored, "verdict": Verdict(stored["verdict"]), "seeds": tuple(stored["seeds"])})


def key(entry: Claim) -> str:
    """Return a hash of all that the evidence of a claim depends on."""
    digest = hashlib.sha256(f"{entry.id}\n{fingerprint(entry.module)}\n{platform.python_version()}".encode())
    digest.update(_versions())
    digest.update(_printed(entry.paper))
    for name in entry.depends:
        path = resource(*name.split("/"))
        digest.update(path.read_bytes() if path.is_file() else b"absent")
    return digest.hexdigest()


@cache
def _printed(room: str) -> bytes:
    """Return what the paper prints and the bounds that verdicts use: the data of the room's ``paper/``."""
    files = sorted(path for path in rooms()[room].paper().glob("*") if path.suffix in (".csv", ".toml"))
    return b"".join(path.name.encode() + path.read_bytes() for path in files)


@cache
def _versions() -> bytes:
    found = []
    for name in ("numpy", "scipy", "scikit-learn", "cvxpy"):
        try:
            found.append(f"{name}=={importlib.metadata.version(name)}\n")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"{name} absent\n")
    return "".join(found).encode()


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"evidence must be plain data, got {type(value).__name__}")
