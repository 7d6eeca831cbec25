"""Ctrl-C: one sentence that says what is kept, and exit code 130."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

#: what a shell expects of a program that Ctrl-C ended: 128 and the number of the signal
INTERRUPTED = 130


@contextmanager
def one_sentence() -> Iterator[None]:
    """End the program on Ctrl-C with the sentence of `keeping`, without a traceback."""
    try:
        yield
    except KeyboardInterrupt as stop:
        print(f"stopped; {stop}" if str(stop) else "stopped", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None


@contextmanager
def keeping(what: str) -> Iterator[None]:
    """Say after Ctrl-C `what` is kept, unless what was stopped says it better; also a decorator."""
    try:
        yield
    except KeyboardInterrupt as stop:
        raise KeyboardInterrupt(str(stop) or what) from None
