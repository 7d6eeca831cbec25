"""A copy of the checkout for one worker, in which one file at a time is another."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


class Copy:
    """All files that git knows, those that are new too, and what Numba has compiled.

    The checkout itself never changes, and what tests write beside their sources is lost with the copy.

    Parameters
    ----------
    home : Path
        The checkout.
    folder : Path
        Where the copy is made anew.
    data : Path
        Data sets that were fetched; tests find copies of them in a cache that is empty otherwise.
    """

    def __init__(self, home: Path, folder: Path, data: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self.root, self.cache, self.scratch = folder / "checkout", folder / "cache", folder / "tmp"
        self._data = folder / "data"
        compiled = [path for path in (home / "src").rglob("__pycache__/*") if path.suffix in (".nbi", ".nbc")]
        for path in [*map(home.joinpath, _listed(home)), *compiled]:
            if path.is_file():  # not one that was deleted, and is not committed
                copied = self.root / path.relative_to(home)
                copied.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, copied)  # with its time, by which Numba tells what is out of date
        if data.is_dir():
            shutil.copytree(data, self._data)

    def fresh(self) -> None:
        """Empty cache and scratch: evidence that was remembered would hide a mutant."""
        for folder in (self.cache, self.scratch):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        if self._data.is_dir():
            shutil.copytree(self._data, self.cache / "data", copy_function=os.link)

    @contextmanager
    def changed(self, file: str, text: str, compiled: Iterable[str] = ()) -> Iterator[None]:
        """Let a file have another text inside of ``with``; afterwards it is as it was.

        Parameters
        ----------
        file, text : str
        compiled : iterable of str
            Files with functions into which Numba may have compiled something of the file: what it keeps of
            them is put away meanwhile, as it looks at the time of their own file only.
        """
        path, kept = self.root / file, self.root.parent / "kept"
        content, times = path.read_bytes(), path.stat()
        for name in compiled:
            for each in _compiled(self.root / name):
                away = kept / each.relative_to(self.root)
                away.parent.mkdir(parents=True, exist_ok=True)
                each.replace(away)
        try:
            path.write_text(text, encoding="utf-8")
            yield
        finally:
            path.write_bytes(content)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            for name in compiled:
                for each in _compiled(self.root / name):
                    each.unlink()
            for each in [path for path in kept.rglob("*") if path.is_file()]:
                each.replace(self.root / each.relative_to(kept))


def _compiled(source: Path) -> list[Path]:
    return list((source.parent / "__pycache__").glob(f"{source.stem}.*.nb[ic]"))


def _listed(home: Path) -> list[str]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=home, check=True, capture_output=True, text=True).stdout
    return sorted(set(filter(None, listed.split("\0"))))
