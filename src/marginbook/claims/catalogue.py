"""The catalogue of claims: what each says, where its paper says it, and the function that checks it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..base.fingerprint import fingerprint
from ..base.naming import suggestion
from ..base.remembered import Remembered, sha256
from ..base.rooms import papers, rooms
from .evidence import Evidence, Kind
from .rivals import Rival

#: the titles of the rooms by the first part of their claims' ids, in the order of the book
ROOMS = {key: room.title for key, room in rooms().items() if room.claims}


@dataclass(frozen=True)
class Claim:
    """One statement, of a paper or ours, and the function that checks it.

    `rivals` are the names of its false neighbours; `rivals_of` has what they change. `blunt_because` says why
    a claim has none.
    """

    id: str
    where: str
    statement: str
    notebook: str
    check: Callable[..., Evidence] = field(repr=False)
    depends: tuple[str, ...] = ()
    kind: Kind = Kind.STATEMENT
    rivals: tuple[str, ...] = ()
    blunt_because: str = ""

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
        """File and function of the check, ``drm/claims/section_6_convergence.py: check_contraction``."""
        return f"{self.module.partition('.')[2].replace('.', '/')}.py: {self.function}"

    @property
    def slug(self) -> str:
        """The id as it stands in links, ``drm-prop-iii-1`` for ``drm/prop-III.1``."""
        return self.id.lower().replace("/", "-").replace(".", "-")

    @property
    def place(self) -> str:
        """Its name for readers, where the paper says it, or, for one of ours, beside what it stands."""
        of_paper = self.kind != Kind.OURS or self.paper not in papers()
        return self.where if of_paper else f"ours, at {self.where}"


@dataclass(frozen=True)
class _Later:
    """The check of a claim whose room is not imported yet."""

    id: str
    module: str
    name: str

    def __call__(self, **arguments: Any) -> Evidence:
        return find([self.id])[0].check(**arguments)


_CLAIMS: dict[str, Claim] = {}
_RIVALS: dict[str, tuple[Rival, ...]] = {}
_LISTS = Remembered("claims", sha256(Path(__file__).read_bytes(), sys.version.encode()))


def claim(
    id: str,
    *,
    kind: str,
    where: str,
    statement: str,
    notebook: str,
    depends: Sequence[str] = (),
    rivals: Sequence[Rival] = (),
    blunt: str = "",
) -> Callable[[Callable[..., Evidence]], Callable[..., Evidence]]:
    """Enter the decorated check into the ledger.

    Parameters
    ----------
    id : str
        Room and name, such as ``"drm/prop-III.1"``.
    kind : str
        One of `Kind`: what is claimed, and by whom.
    where : str
        Where the paper says it, so that a reader finds the sentence: "Proposition III.1".
    statement : str
        The claim in one line, no more than the paper says; mathematics between dollar signs.
    notebook : str
        Where the book shows it: ``"drm/01_the_model#anchor"``.
    depends : sequence of str
        Shipped files that the check reads, such as ``"results/drm/table-8.csv"``: a change of their bytes
        makes the cached evidence void, as a change of the code does.
    rivals : sequence of Rival
        False neighbours of the statement: the verdict must change with each.
    blunt : str
        Why a claim has no rivals, for one without.
    """
    room = id.partition("/")[0]
    if room not in ROOMS:
        raise ValueError(f"claim id {id!r} must start with one of {', '.join(ROOMS)} and a slash")
    if room not in papers() and kind != Kind.OURS:
        raise ValueError(f"claim {id!r} is of no paper: its kind is {Kind.OURS}, not {kind}")
    names = tuple(rival.what for rival in rivals)
    if blunt and rivals:
        raise ValueError(f"claim {id!r} has rivals, so there is no reason for it to be blunt")
    if len(set(names)) < len(names):
        raise ValueError(f"two rivals of claim {id!r} have the same name")

    def enter(check: Callable[..., Evidence]) -> Callable[..., Evidence]:
        known = _CLAIMS.get(id)
        if known is not None and known.check.__module__ != check.__module__:
            raise ValueError(f"claim {id!r} is entered twice: {known.check.__module__}, {check.__module__}")
        _CLAIMS[id] = Claim(id, where, statement, notebook, check, tuple(depends), Kind(kind), names, blunt)
        _RIVALS[id] = tuple(rivals)
        return check

    return enter


def rivals_of(id: str) -> tuple[Rival, ...]:
    """Return the rivals of a claim; its room is imported."""
    find([id])
    return _RIVALS[id]


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
    return claim.notebook.partition("#")[0], claim.kind == Kind.OURS, claim.module.rpartition(".")[2]


def listed(patterns: Iterable[str] | None = None) -> list[Claim]:
    """Return what `find` returns, or all claims, without importing a room whose code was seen before."""
    patterns = None if patterns is None else list(patterns)
    asked = ROOMS if patterns is None else {pattern.partition("/")[0] for pattern in patterns}
    claims = {id: claim for room in ROOMS if room in asked for id, claim in _list(room).items()}
    return list(claims.values()) if patterns is None else _chosen(patterns, claims)


def find(patterns: Iterable[str]) -> list[Claim]:
    """Return the claims whose id is, or starts with, one of `patterns`.

    Raises
    ------
    KeyError
        For a pattern that no claim has; the message has ids near to it.
    """
    wanted = [claim.id for claim in listed(patterns)]
    claims = ledger(id.partition("/")[0] for id in wanted)
    return [claims[id] for id in wanted]


def _chosen(patterns: Iterable[str], claims: Mapping[str, Claim]) -> list[Claim]:
    found: dict[str, Claim] = {}
    for pattern in patterns:
        hits = [c for c in claims.values() if c.id == pattern or c.id.startswith(pattern.rstrip("/") + "/")]
        if not hits:
            known = [*ROOMS, *(claim.id for claim in listed())]
            hint = suggestion(pattern, known, "`marginbook claims` shows all")
            raise KeyError(f"no claim {pattern!r}{hint}")
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
        Claim(
            id, where, statement, notebook, _Later(id, *check), tuple(depends), Kind(kind), tuple(rivals), why
        )
        for id, where, statement, notebook, check, depends, kind, rivals, why in fields
    ]
    entered = {claim.id: claim for claim in _CLAIMS.values() if claim.paper == room}
    return {claim.id: claim for claim in known} | entered


def _fields(claims: Mapping[str, Claim]) -> list[list[Any]]:
    return [
        [
            c.id,
            c.where,
            c.statement,
            c.notebook,
            (c.module, c.function),
            c.depends,
            c.kind,
            c.rivals,
            c.blunt_because,
        ]
        for c in claims.values()
    ]
