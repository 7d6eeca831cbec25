"""Claims, the evidence for them, and the ledger of all claims.

A claim is one numbered statement, table or figure of a paper, together with a function that checks it.
The check measures and lets the numbers decide: no verdict is written by hand anywhere.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
import json
import os
import pkgutil
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from enum import StrEnum
from typing import Any

from joblib import Parallel, delayed

from .at_hand import registries_only
from .extras import advice
from .fingerprint import fingerprint
from .project import cache_dir, resource

ROOMS = {
    "drm": "Discriminative Ridge Machine",
    "ldm": "Large margin Distribution Machine",
    "kfda": "Sparse kernel Fisher discriminant",
    "clasmk": "Class-specific multiple-kernel metric learning",
    "smm": "Support matrix machines, level sets and regression",
    "bridge": "Relations between the five papers",
}

#: the modules of a room that enter claims, where it has them: theorems and convergence rates of the paper,
#: what we add, tables, figures
PARTS = ("theory", "rates", "beyond", "tables", "figures")


class Verdict(StrEnum):
    """What came out; the last four are for experiments."""

    HOLDS = "holds"
    CORRECTED = "corrected"
    FAILS = "fails"
    REPRODUCED = "reproduced"
    PARTLY = "partly"
    NOT_REPRODUCED = "not-reproduced"
    NOT_TESTABLE = "not-testable"


@dataclass(frozen=True)
class Evidence:
    """What a check computed.

    Attributes
    ----------
    verdict : Verdict
    measured, claimed : str
        The two sides of the comparison, as short text with units.
    slack : float or None
        How far the measurement is inside (positive) or outside (negative) of what was claimed.
    why : str
        One or two sentences that connect the measurement with the verdict.
    sizes : dict
        Sizes of the problems that were tried, such as ``{"n": [2, 30], "problems": 200}``.
    seeds : tuple of int
    """

    verdict: Verdict
    measured: str
    claimed: str
    slack: float | None
    why: str
    sizes: dict[str, Any] = field(default_factory=dict)
    seeds: tuple[int, ...] = ()


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
    def slug(self) -> str:
        """The id as it stands in links: ``drm-prop-iii-1`` for ``drm/prop-III.1``."""
        return self.id.lower().replace("/", "-").replace(".", "-")


class CheckFailed(RuntimeError):
    """A check raised an error, so there is no evidence; the message names the claim."""


_CLAIMS: dict[str, Claim] = {}


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


def ledger() -> dict[str, Claim]:
    """Return every claim of every room, by id, in the order of the papers."""
    package = importlib.import_module("marginbook")
    present = {module.name for module in pkgutil.iter_modules(package.__path__) if module.ispkg}
    for room in ROOMS:
        for part in PARTS if room in present else ():
            if importlib.util.find_spec(f"marginbook.{room}.{part}"):
                importlib.import_module(f"marginbook.{room}.{part}")
    order = list(ROOMS)
    return dict(sorted(_CLAIMS.items(), key=lambda item: order.index(item[1].paper)))


def find(patterns: Iterable[str]) -> list[Claim]:
    """Return the claims whose id is, or starts with, one of `patterns`; an unknown one is an error."""
    claims = ledger()
    found: dict[str, Claim] = {}
    for pattern in patterns:
        hits = [c for c in claims.values() if c.id == pattern or c.id.startswith(pattern.rstrip("/") + "/")]
        if not hits:
            near = get_close_matches(pattern, claims, n=3) or list(claims)[:3]
            raise KeyError(f"no claim {pattern!r}; did you mean {', '.join(near)}?")
        found.update({hit.id: hit for hit in hits})
    return list(found.values())


def check(id: str, *, fresh: bool = False) -> Evidence:
    """Check one claim, or return its evidence from the cache if code, data and versions are unchanged."""
    (entry,) = find([id])
    path = cache_dir("claims", f"{entry.slug}-{_key(entry)[:16]}.json")
    if not fresh and path.is_file():
        stored = json.loads(path.read_text(encoding="utf-8"))
        return Evidence(**{**stored, "verdict": Verdict(stored["verdict"]), "seeds": tuple(stored["seeds"])})
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
    wanted = [entry.id for entry in (ledger().values() if ids is None else find(ids))]
    done: dict[str, Evidence] = {}
    stream = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
        delayed(_check_named)(id, fresh) for id in wanted
    )
    for id, evidence in stream:
        done[id] = evidence
        if progress is not None:
            progress(id, evidence)
    return {id: done[id] for id in wanted}


def decide(as_printed: bool, as_corrected: bool | None = None) -> Verdict:
    """Return the verdict on a theorem from the two measurements.

    `as_corrected` is None where the paper's statement needed no correction.
    """
    if as_printed:
        return Verdict.HOLDS
    return Verdict.CORRECTED if as_corrected else Verdict.FAILS


def share(agreeing: int, tested: int) -> Verdict:
    """Return the verdict on an experiment of which `agreeing` of `tested` parts came out as printed."""
    if tested == 0:
        return Verdict.NOT_TESTABLE
    if agreeing == tested:
        return Verdict.REPRODUCED
    return Verdict.PARTLY if 2 * agreeing >= tested else Verdict.NOT_REPRODUCED


def at_most(value: float, bound: float) -> str:
    """Return the round `bound` as text where `value` is within it, otherwise the value.

    The digits of what rounding made, and of what an iteration left, differ between processors; whether
    they are within the tolerance that decides the verdict does not.

    >>> at_most(4.4e-16, 1e-9), at_most(0.0213, 1e-9), at_most(0.3, 1)
    ('1e-9', '0.021', '1')
    """
    number = bound if value <= bound else value
    return f"{number:.2g}" if not number < 0.01 else f"{number:.0e}".replace("e-0", "e-")


def scoreboard(evidence: Mapping[str, Evidence]) -> dict[str, dict[Verdict, int]]:
    """Count verdicts by room."""
    board: dict[str, dict[Verdict, int]] = {}
    for id, item in evidence.items():
        counts = board.setdefault(id.partition("/")[0], dict.fromkeys(Verdict, 0))
        counts[item.verdict] += 1
    return board


def _check_named(id: str, fresh: bool) -> tuple[str, Evidence]:
    try:
        return id, check(id, fresh=fresh)
    except Exception as error:
        text = advice(error) if isinstance(error, ModuleNotFoundError) else ""
        text = text or f"{type(error).__name__}: {error}"
        raise CheckFailed(f"the check of {id} did not finish: {text}") from error


def _key(entry: Claim) -> str:
    digest = hashlib.sha256(f"{entry.id}\n{fingerprint(entry.check)}\n{platform.python_version()}".encode())
    for name in ("numpy", "scipy", "scikit-learn", "cvxpy"):
        try:
            digest.update(f"{name}=={importlib.metadata.version(name)}\n".encode())
        except importlib.metadata.PackageNotFoundError:
            digest.update(f"{name} absent\n".encode())
    for name in entry.depends:
        path = resource(*name.split("/"))
        digest.update(path.read_bytes() if path.is_file() else b"absent")
    return digest.hexdigest()


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"evidence must be plain data, got {type(value).__name__}")
