"""What a lock of uv names: packages, versions, where each is for, and what asks for it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple


class Locked(NamedTuple):
    """One line of a lock: name, version, for which systems and Pythons, hashes of its files, who needs it."""

    name: str
    version: str
    marker: str
    hashes: frozenset[str]
    #: names of packages; the project itself is "marginbook"
    wanted_by: frozenset[str]


def locked(lock: Path) -> list[Locked]:
    """Return the packages of a lock in its order."""
    found = []
    for block in re.split(r"\n(?=\S)", lock.read_text(encoding="utf-8")):
        if match := re.match(r"([\w.-]+)(?:\[[^]]*\])?==([^ ;\\]+) *(?:;([^\\\n]*))?", block):
            hashes = frozenset(re.findall(r"--hash=sha256:([0-9a-f]{64})", block))
            wanted_by = frozenset(re.findall(r"^ +#(?: +via)? +([\w.-]+)", block, flags=re.M)) - {"via"}
            found.append(Locked(match[1].lower(), match[2], (match[3] or "").strip(), hashes, wanted_by))
    return found
