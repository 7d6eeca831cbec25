"""Claims, the evidence for them, and the ledger of all claims.

A claim is one numbered statement, table or figure of a paper, together with a function that checks it.
The check measures and lets the numbers decide: no verdict is written by hand anywhere.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import json
import os
import platform
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ..base.at_hand import registries_only
from ..base.extras import advice
from ..base.fingerprint import fingerprint
from ..base.naming import near
from ..base.project import cache_dir, resource
from ..base.remembered import Remembered, sha256
from ..base.rooms import rooms
from ..base.workers import leave_ctrl_c_to_parent
from .evidence import Evidence, Verdict, at_most, decide, scoreboard, share

__all__ = [
    "ROOMS",
    "CheckFailed",
    "Claim",
    "Evidence",
    "Verdict",
    "at_most",
    "check",
    "check_all",
    "claim",
    "decide",
    "find",
    "ledger",
    "listed",
    "scoreboard",
    "share",
]

#: the titles of the rooms by the first part of their claims' ids, in the order of the book
ROOMS = {key: room.title for key, room in rooms().items() if room.claims}


@dataclass(frozen=True)
class Claim:
    """One statement of a paper and the function that checks it."""

    id: str
    where: str
    statement: str
    notebook: str
    check: Callable[[], Evidence] = field(repr=False)
    depends: tuple[str, ...] = ()

    @property
    def paper(self) -> str:
        return self.id.partition("/")[0]

    @property
    def module(self) -> str:
        """The module of the check, whose code the evidence depends on."""
        return self.check.module if isinstance(self.check, _Later) else self.check.__module__

    @property
    def function(self) -> str:
        """The name of the check in its module."""
        return self.check.name if isinstance(self.check, _Later) else self.check.__name__

    @property
    def source(self) -> str:
        """File and function of the check: ``drm/claims/section_6_convergence.py: check_contraction``."""
        return f"{self.module.partition('.')[2].replace('.', '/')}.py: {self.function}"

    @property
    def slug(self) -> str:
        """The id as it stands in links: ``drm-prop-iii-1`` for ``drm/prop-III.1``."""
        return self.id.lower().replace("/", "-").replace(".", "-")


@dataclass(frozen=True)
class _Later:
    """The check of a claim whose room is not imported yet."""

    id: str
    module: str
    name: str

    def __call__(self) -> Evidence:
        return find([self.id])[0].check()


class CheckFailed(RuntimeError):
    """A check raised an error, so there is no evidence; the message names the claim."""


_CLAIMS: dict[str, Claim] = {}
_LISTS = Remembered("claims", sha256(Path(__file__).read_bytes(), sys.version.encode()))


def claim(
    id: str, *, where: str, statement: str, notebook: str, depends: Sequence[str] = ()
) -> Callable[[Callable[[], Evidence]], Callable[[], Evidence]]:
    """Enter the decorated check into the ledger.

    Parameters
    ----------
    id : str
        Room and name, such as ``"drm/prop-III.1"``.
    where : str
        Where the paper says it: "Proposition III.1".
    statement : str
        The claim in one line; mathematics between dollar signs.
    notebook : str
        Where the book shows it: ``"drm/01_the_model#anchor"``.
    depends : sequence of str
        Shipped files that the check reads, such as ``"results/drm/table-8.csv"``: a change of their bytes
        makes the cached evidence void, as a change of the code does.
    """
    if id.partition("/")[0] not in ROOMS:
        raise ValueError(f"claim id {id!r} must start with one of {', '.join(ROOMS)} and a slash")

    def enter(check: Callable[[], Evidence]) -> Callable[[], Evidence]:
        known = _CLAIMS.get(id)
        if known is not None and known.check.__module__ != check.__module__:
            raise ValueError(f"claim {id!r} is entered twice: {known.check.__module__}, {check.__module__}")
        _CLAIMS[id] = Claim(id, where, statement, notebook, check, tuple(depends))
        return check

    return enter


def ledger(rooms: Iterable[str] = tuple(ROOMS)) -> dict[str, Claim]:
    """Return every claim of the rooms by id, in each room by notebook; their evidence is imported."""
    asked = set(rooms)
    for room in ROOMS:
        for module in _evidence(room) if room in asked else ():
            importlib.import_module(module)
    order = list(ROOMS)
    wanted = (item for item in _CLAIMS.items() if item[1].paper in asked)
    return dict(sorted(wanted, key=lambda item: (order.index(item[1].paper), _in_the_book(item[1]))))


def _in_the_book(claim: Claim) -> tuple[str, bool, str]:
    """Return by what the claims of a room are sorted: ours after the paper's; in a module its own order."""
    file = claim.module.rpartition(".")[2]
    return claim.notebook.partition("#")[0], file.startswith("beyond"), file


def listed(patterns: Iterable[str] | None = None) -> list[Claim]:
    """Return what `find` returns, or all claims, without importing a room whose code was seen before."""
    patterns = None if patterns is None else list(patterns)
    asked = ROOMS if patterns is None else {pattern.partition("/")[0] for pattern in patterns}
    claims = {id: claim for room in ROOMS if room in asked for id, claim in _list(room).items()}
    return list(claims.values()) if patterns is None else _chosen(patterns, claims)


def find(patterns: Iterable[str]) -> list[Claim]:
    """Return the claims whose id is, or starts with, one of `patterns`; an unknown one is an error."""
    wanted = [claim.id for claim in listed(patterns)]
    claims = ledger(id.partition("/")[0] for id in wanted)
    return [claims[id] for id in wanted]


def _chosen(patterns: Iterable[str], claims: Mapping[str, Claim]) -> list[Claim]:
    found: dict[str, Claim] = {}
    for pattern in patterns:
        hits = [c for c in claims.values() if c.id == pattern or c.id.startswith(pattern.rstrip("/") + "/")]
        if not hits:
            known = [*ROOMS, *(claim.id for claim in listed())]
            raise KeyError(f"no claim {pattern!r}{near(pattern, known, '`marginbook claims` shows all')}")
        found.update({hit.id: hit for hit in hits})
    return list(found.values())


def _evidence(room: str) -> list[str]:
    """Return the modules of a room's ``claims``: those that enter claims, and what these share."""
    found = rooms()[room]
    files = sorted((found.folder / "claims").glob("*.py"))
    return [f"{found.package}.claims.{file.stem}" for file in files if file.stem != "__init__"]


def _list(room: str) -> dict[str, Claim]:
    """Return the claims of a room; from what is remembered while nothing that they are made from changed."""
    modules = _evidence(room)
    paper = (path for path in sorted(rooms()[room].paper().glob("*")) if path.is_file())
    parts = (fingerprint(*modules).encode(), *(path.name.encode() + path.read_bytes() for path in paper))
    fields = _LISTS.get(f"{room} {sha256(*parts)}", lambda: _fields(ledger([room])), list)
    _LISTS.save()
    known = [
        Claim(id, where, statement, notebook, _Later(id, module, function), tuple(depends))
        for id, where, statement, notebook, module, function, depends in fields
    ]
    entered = {claim.id: claim for claim in _CLAIMS.values() if claim.paper == room}
    return {claim.id: claim for claim in known} | entered


def _fields(claims: Mapping[str, Claim]) -> list[list[Any]]:
    return [
        [c.id, c.where, c.statement, c.notebook, c.module, c.function, c.depends] for c in claims.values()
    ]


def check(id: str, *, fresh: bool = False) -> Evidence:
    """Check one claim, or return its evidence from the cache if code, data and versions are unchanged."""
    (entry,) = listed([id])
    path = _path(entry)
    if not fresh and (known := _read(path)) is not None:
        return known
    with registries_only():  # the same evidence for all readers
        evidence = entry.check()
    # through JSON and back, so that fresh and cached evidence are the same
    text = json.dumps(asdict(evidence), default=_plain)
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
) -> dict[str, Evidence]:
    """Check many claims in parallel and return their evidence by id.

    Parameters
    ----------
    ids : iterable of str, optional
        Ids or rooms; all claims by default.
    n_jobs : int
        Worker processes, as in joblib.
    fresh : bool
        Compute again even where a cached evidence is valid.
    progress : callable, optional
        Called with id and evidence as each claim is done.

    Raises
    ------
    CheckFailed
        One of the checks raised an error.
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
        for id, evidence in stream:
            enter(id, evidence)
    return {entry.id: done[entry.id] for entry in wanted}


def _check_named(id: str, fresh: bool) -> tuple[str, Evidence]:
    leave_ctrl_c_to_parent()
    try:
        return id, check(id, fresh=fresh)
    except Exception as error:
        text = advice(error) if isinstance(error, ModuleNotFoundError) else ""
        text = text or f"{type(error).__name__}: {error}"
        raise CheckFailed(f"the check of {id} did not finish: {text}") from error


def _path(entry: Claim) -> Path:
    return cache_dir("claims", f"{entry.slug}-{_key(entry)[:16]}.json")


def _read(path: Path) -> Evidence | None:
    if not path.is_file():
        return None
    stored = json.loads(path.read_text(encoding="utf-8"))
    return Evidence(**{**stored, "verdict": Verdict(stored["verdict"]), "seeds": tuple(stored["seeds"])})


def _key(entry: Claim) -> str:
    digest = hashlib.sha256(f"{entry.id}\n{fingerprint(entry.module)}\n{platform.python_version()}".encode())
    digest.update(_versions())
    for name in entry.depends:
        path = resource(*name.split("/"))
        digest.update(path.read_bytes() if path.is_file() else b"absent")
    return digest.hexdigest()


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
