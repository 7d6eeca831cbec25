"""Files on this machine: by content, checked by hash, put in place by atomic rename."""

from __future__ import annotations

import errno
import hashlib
import os
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from ..base.extras import naming_the_extra
from ..base.project import cache_dir
from .dataset import CorruptData, FetchError
from .registry import File, Source

CHUNK = 1 << 18
TEMPORARY = ".new-"
# how far a file is read that is longer than stated, to tell its true size and hash: times the stated size,
# at least so many bytes, and seconds
LONGER, AT_LEAST, PATIENCE = 20, 1 << 24, 60.0


def folder() -> Path:
    """Return the folder of the fetched files, made when it is missing."""
    path = cache_dir("data")
    with disk_errors(path):
        path.mkdir(parents=True, exist_ok=True)
    return path


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold the lock that says that one process fetches what is called so."""
    with naming_the_extra():
        from filelock import FileLock

    path = folder() / ".locks" / name
    with disk_errors(path.parent):
        path.parent.mkdir(exist_ok=True)
        lock = FileLock(path)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def path_of(file: File) -> Path:
    """Return where a file is, or would be, in the cache."""
    return cache_dir("data") / file.cache_name


def is_cached(source: Source) -> bool:
    """Return whether all files of a source are there with the right size (no hash is computed)."""
    for file in source.files:
        try:
            if path_of(file).stat().st_size != file.bytes:
                return False
        except OSError:
            return False
    return True


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def check(path: Path, file: File, origin: str) -> None:
    """Raise when a file is not the one that the registry means.

    Raises
    ------
    CorruptData
        Names both sizes and both hashes.
    """
    size = path.stat().st_size
    got = sha256_of(path)
    if got != file.sha256:
        raise CorruptData(_differs(origin, got, size, file))


def verified(file: File) -> Path:
    """Return the path of a cached file after its hash was checked."""
    path = path_of(file)
    check(path, file, f"{path.name} in the cache is damaged (run `marginbook data fetch` again)")
    return path


@contextmanager
def disk_errors(target: Path) -> Iterator[None]:
    """Turn a full disk, a read-only folder or a broken disk into one line that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            why = "no space left; free some, or set MARGINBOOK_CACHE to another folder"
        elif error.errno in (errno.EACCES, errno.EROFS, errno.EPERM):
            why = "cannot write there; set MARGINBOOK_CACHE to a folder of yours"
        else:
            why = f"{error.strerror or error}; run again, or set MARGINBOOK_CACHE to another folder"
        raise FetchError(f"{target.parent}: {why}") from None


def install(chunks: Iterable[bytes], file: File, origin: str) -> Path:
    """Write chunks beside the target, check the hash, rename; nothing is left behind on any failure.

    What is longer than the registry says is not written further: it may be made to fill the disk.
    """
    target = path_of(file)
    folder()
    chunks = iter(chunks)
    with disk_errors(target):
        handle, name = tempfile.mkstemp(prefix=TEMPORARY, dir=target.parent)
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as stream:
                digest, size = hashlib.sha256(), 0
                for chunk in chunks:
                    digest.update(chunk)
                    size += len(chunk)
                    if size > file.bytes:
                        raise too_long(chunks, digest, size, file, origin)
                    stream.write(chunk)
            check(temporary, file, origin)
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
    return target


def too_long(chunks: Iterable[bytes], digest: Any, size: int, file: File, origin: str) -> CorruptData:
    """Read on, without writing, and return the error that states the true size and hash.

    Parameters
    ----------
    chunks : iterable of bytes
        What is left; it is read up to a limit of size and time, as no server decides when to end.
    digest : hashlib object
        Of the `size` bytes that came before.
    """
    began, most = time.monotonic(), max(LONGER * file.bytes, AT_LEAST)
    for chunk in chunks:
        digest.update(chunk)
        size += len(chunk)
        if size > most or time.monotonic() - began > PATIENCE:
            return CorruptData(f"{origin}: got {size} bytes and more, wanted {file.bytes}")
    return CorruptData(_differs(origin, digest.hexdigest(), size, file))


def _differs(origin: str, sha256: str, size: int, file: File) -> str:
    return f"{origin}: got sha256 {sha256} ({size} bytes), wanted sha256 {file.sha256} ({file.bytes} bytes)"


def sweep(older_than: float = 86_400.0) -> None:
    """Remove what killed processes left behind; a file of the last day may still be in the making."""
    for path in (*folder().glob(f"{TEMPORARY}*"), *folder().glob("tmp*")):  # the others are pooch's
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > older_than:
                path.unlink()


def read_chunks(path: Path) -> Iterator[bytes]:
    """Yield a file in pieces."""
    with path.open("rb") as stream:
        yield from pieces(stream)


def pieces(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield what is left of a stream in pieces."""
    while chunk := stream.read(CHUNK):
        yield chunk
