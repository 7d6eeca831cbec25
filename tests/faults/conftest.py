"""The toy room, a cache and a server of one's own, and a look at whether the cache was touched."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ..datasets.conftest import cache, site
from ..experiments.conftest import start, toyroom

__all__ = ["cache", "site", "start", "toyroom"]


def digest(folder: Path) -> str:
    """Return a hash of the names and the bytes of all files of a folder except locks."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and ".locks" not in path.parts:
            found.update(f"{path.relative_to(folder)}\n".encode() + path.read_bytes())
    return found.hexdigest()


@pytest.fixture
def untouched(cache: Path) -> Iterator[Path]:
    """The cache with one file in it; whatever the test does, it must look the same afterwards."""
    cache.mkdir(parents=True)
    (cache / "0123456789abcdef-good.dat").write_bytes(b"1,2,a\n")
    before = digest(cache)
    yield cache
    assert digest(cache) == before


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], None]]:
    """A file system of one megabyte at ``tmp_path / "disk"``; call it with ``"ro"`` to make it read-only."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.name != "posix" or os.geteuid() != 0 or not _mount("-t", "tmpfs", "-o", "size=1m", "tmpfs", disk):
        pytest.skip("only root may mount a small file system; the limits on files are tested anyway")
    yield lambda option: None if _mount("-o", f"remount,{option}", disk) else pytest.skip("no remount here")
    subprocess.run(["umount", "-l", str(disk)], check=True)


def _mount(*arguments: object) -> bool:
    try:
        return subprocess.run(["mount", *map(str, arguments)], capture_output=True).returncode == 0
    except OSError:
        return False


@contextmanager
def refused(
    folder: Path, told: Callable[[object], None], kind: type[Exception], match: str | None = None
) -> Iterator[None]:
    """What happens inside must end in the error, told in one line, and leave the folder as it was."""
    before = digest(folder)
    with pytest.raises(kind, match=match) as error:
        yield
    assert "\n" not in str(error.value)
    assert digest(folder) == before
    told(error.value)
