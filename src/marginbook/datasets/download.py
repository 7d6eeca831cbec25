"""One URL to one file: resumed, retried, hash-checked; pooch puts it in place."""

from __future__ import annotations

import hashlib
import logging
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from ..base.extras import naming_the_extra
from . import cache
from .dataset import CorruptData, FetchError, HostUnreachable
from .registry import File

if TYPE_CHECKING:
    import requests

ATTEMPTS = 4
BACK_OFF = 1.0  # seconds before the second attempt, doubled for each further one
TIMEOUT = (10.0, 30.0)  # seconds to connect, seconds between two pieces
SLOWEST = 1000.0  # bytes per second: a server that only trickles would hold the run for days ...
PATIENCE = 60.0  # ... and is given up after so many seconds
Advance = Callable[[int], None]


class _Retry(Exception):
    """A failure that another attempt may cure."""


def mirrored(url: str) -> Path | None:
    """Return the copy of a URL in the folder that ``MARGINBOOK_MIRROR`` names, or None.

    The copy of ``https://host/a%20b`` is ``$MARGINBOOK_MIRROR/host/a b``; the undecoded name is tried too.
    """
    base = os.environ.get("MARGINBOOK_MIRROR")
    if not base:
        return None
    parts = urlsplit(url)
    root = Path(base).resolve()
    for path in (unquote(parts.path), parts.path):
        candidate = (root / parts.netloc / path.lstrip("/")).resolve()
        if candidate.is_relative_to(root) and candidate.is_file():
            return candidate
    return None


def fetch_url(file: File, advance: Advance = lambda n: None) -> Path:
    """Bring one URL into the cache and return its path.

    Parameters
    ----------
    file : File
    advance : callable
        Called with the number of new bytes (negative when a download starts again).

    Raises
    ------
    CorruptData
        The bytes are not those of the registry: both hashes are named.
    FetchError
        The server cannot be reached, answers with an error or with a web page, or the disk is full.
    """
    copy = mirrored(file.address)
    if copy is not None:
        path = cache.install(cache.read_chunks(copy), file, str(copy))
        advance(file.bytes)
        return path
    with naming_the_extra():
        import pooch

    target = cache.folder() / file.cache_name
    pooch.get_logger().setLevel(logging.ERROR)
    with cache.disk_errors(target):
        pooch.retrieve(
            file.address,
            known_hash=f"sha256:{file.sha256}",
            fname=target.name,
            path=target.parent,
            downloader=_Downloader(file, target.with_name(f".{target.name}.part"), advance),
        )
    return target


class _Downloader:
    """Downloader for pooch that continues a ``.part`` file and checks the hash itself."""

    def __init__(self, file: File, part: Path, advance: Advance) -> None:
        self.file, self.part, self.advance = file, part, advance
        self.longer: CorruptData | None = None  # what is wrong with a file that is longer than stated

    def __call__(self, url: str, output_file: str, pooch_object: object, check_only: bool = False) -> bool:
        resumed = self.part.exists() and self.part.stat().st_size > 0
        self._get(url)
        try:
            self._check(url)
        except CorruptData:
            self._restart()
            if not resumed:
                raise
            # What was there before may belong to another version of the file: once more from the start.
            self._get(url)
            try:
                self._check(url)
            except CorruptData:
                self._restart()
                raise
        os.replace(self.part, output_file)
        return True

    def _restart(self) -> None:
        self.longer = None
        if self.part.exists():
            self.advance(-self.part.stat().st_size)
            self.part.unlink()

    def _check(self, url: str) -> None:
        with self.part.open("rb") as stream:
            head = stream.read(256).lstrip().lower()
        if head.startswith((b"<!doctype html", b"<html")):
            self._restart()
            raise FetchError(
                f"{url}: the server sent a web page (HTML), not the file; open it in a browser to see why"
            )
        if self.longer is not None:
            raise self.longer
        cache.check(self.part, self.file, url)

    def _get(self, url: str) -> None:
        import requests
        import urllib3

        had = self.part.stat().st_size if self.part.exists() else 0
        self.advance(had)
        for attempt in range(ATTEMPTS):
            if attempt:
                time.sleep(BACK_OFF * 2 ** (attempt - 1))
            try:
                self._attempt(url)
                return
            except (_Retry, requests.RequestException, urllib3.exceptions.HTTPError) as error:
                problem = error
            except OSError:
                self.part.unlink(missing_ok=True)
                raise
        silent = isinstance(problem, (requests.Timeout, urllib3.exceptions.TimeoutError))
        reason = "timed out" if silent else _short(problem)
        have = self.part.stat().st_size if self.part.exists() else 0
        if not have:
            self.part.unlink(missing_ok=True)
        if isinstance(problem, requests.ConnectionError) and have <= had:
            host = urlsplit(url).netloc
            raise HostUnreachable(
                f"{host} cannot be reached: {reason} ({ATTEMPTS} attempts); "
                "check the network, or set MARGINBOOK_MIRROR"
            )
        kept = "what was received is kept, run" if have else "nothing was received; run"
        raise FetchError(f"{url}: {reason} ({ATTEMPTS} attempts); {kept} the command again")

    def _attempt(self, url: str) -> None:
        import requests

        have = self.part.stat().st_size if self.part.exists() else 0
        headers = {"Accept-Encoding": "identity"}
        if have >= self.file.bytes > 0:
            return
        if have:
            headers["Range"] = f"bytes={have}-"
        with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as answer:
            if answer.status_code == 416 and have:
                self._restart()
                raise _Retry("the server refused to continue")
            if answer.status_code == 429 or answer.status_code >= 500:
                raise _Retry(f"the server answered {answer.status_code} {answer.reason}")
            if answer.status_code not in (200, 206):
                raise FetchError(f"{url}: the server answered {answer.status_code} {answer.reason}")
            if "text/html" in answer.headers.get("Content-Type", ""):
                where = f" from {answer.url}" if answer.url != url else ""
                raise FetchError(f"{url}: the server sent a web page (HTML){where}, not the file")
            continued = answer.status_code == 206 and answer.headers.get("Content-Range", "").startswith(
                f"bytes {have}-"
            )
            if have and not continued:
                self._restart()
                have = 0
            chunks = self._chunks(answer)
            with self.part.open("ab" if continued else "wb") as stream:
                for chunk in chunks:
                    have += len(chunk)
                    stream.write(chunk)
                    self.advance(len(chunk))
                    if have > self.file.bytes:
                        break
            if have > self.file.bytes:
                # if the connection breaks on the way to the end, that much is known
                self.longer = CorruptData(f"{url}: got {have} bytes and more, wanted {self.file.bytes}")
                with self.part.open("rb") as stream:
                    digest = hashlib.file_digest(stream, "sha256")
                self.longer = cache.too_long(chunks, digest, have, self.file, url)
        if have < self.file.bytes:
            if "chunked" in answer.headers.get("Transfer-Encoding", "").lower():
                return  # such a body says where it ends: one that is cut raises an error
            announced = answer.headers.get("Content-Length", "")
            if continued or not announced.isdecimal() or int(announced) > have:
                raise _Retry(f"the connection ended after {have} of {self.file.bytes} bytes")

    def _chunks(self, answer: requests.Response) -> Iterator[bytes]:
        """Yield what comes, as it comes: a cut connection loses nothing, and nothing is decompressed here."""
        began, some = time.monotonic(), 0
        while chunk := answer.raw.read1(cache.CHUNK, False):
            yield chunk
            some += len(chunk)
            if (now := time.monotonic()) - began > PATIENCE:
                if some < SLOWEST * PATIENCE:
                    raise _Retry(f"the server sent only {some} bytes in {PATIENCE:g} s")
                began, some = now, 0


def _short(error: Exception) -> str:
    """Return the reason at the bottom of a requests error, in one line."""
    while error.__cause__ or error.__context__:
        error = error.__cause__ or error.__context__  # type: ignore[assignment]
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    # a server may send anything, also what a terminal would obey
    return (text if text.isprintable() and text.isascii() else ascii(text))[:160]
