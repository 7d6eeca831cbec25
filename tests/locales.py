"""Another language for processes that tests start: Turkish, whose i has a capital of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

#: a process that ends if it is not in the language that it was given; other names differ between systems
IN_LOCALE = (
    "import locale, os; "
    "assert 'LOCPATH' not in os.environ or locale.setlocale(locale.LC_ALL, '') == os.environ['LC_ALL']; "
)
_NAME = "tr_TR.UTF-8"


def turkish(folder: Path) -> dict[str, str]:
    """Return the variables of a locale that is compiled into `folder`; nothing where that cannot be done.

    Few machines have it, and a variable that names a locale which is not there changes nothing.
    """
    if shutil.which("localedef") is None:
        return {}
    command = ["localedef", "-i", "tr_TR", "-f", "UTF-8", str(folder / _NAME)]
    done = subprocess.run(command, capture_output=True)  # 1: with warnings, more: there is no source
    if done.returncode > 1 or not (folder / _NAME / "LC_CTYPE").is_file():
        return {}
    return {"LOCPATH": str(folder), "LC_ALL": _NAME, "LANG": _NAME}


def in_force(python: str, variables: dict[str, str]) -> bool:
    """Return whether a process with these variables is in their locale."""
    done = subprocess.run([python, "-c", IN_LOCALE], env={**os.environ, **variables}, capture_output=True)
    return done.returncode == 0
