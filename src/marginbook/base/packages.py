"""Wheel and source distribution of a checkout: the same bytes from the same files."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path


def build(home: Path, out: Path, stamp: int, targets: Iterable[str] = ("sdist", "wheel")) -> None:
    """Write wheel and source distribution to `out`; nothing is fetched, hatchling is installed already.

    Parameters
    ----------
    home, out : path
        The checkout, and a folder.
    stamp : int
        Seconds of Unix that the archives give as the time of all files.
    targets : iterable of {"sdist", "wheel"}

    Raises
    ------
    RuntimeError
        They cannot be built.
    """
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(stamp), "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(out)]
    command += [word for target in targets for word in ("-t", target)]
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"the packages cannot be built: {(done.stderr or done.stdout).strip()}")
