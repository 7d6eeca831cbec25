"""Where a warning points: the line outside the package that led to it."""

from __future__ import annotations

import sys


def user_level() -> int:
    """Return the ``stacklevel`` with which a warning of the caller points at the first line outside."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("marginbook."):
        level, frame = level + 1, frame.f_back
    return level
