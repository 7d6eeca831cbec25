"""Ctrl-C and the signal TERM: one sentence that says what is kept, and the exit code of the signal."""

from __future__ import annotations

import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

#: what a shell expects of a program that a signal ended is this and the number of the signal
ENDED_BY = 128
#: of TERM, which managers of clusters send, if it came
_came: list[int] = []


@contextmanager
def one_sentence() -> Iterator[None]:
    """End the program on Ctrl-C, or TERM, with the sentence of `keeping`, without a traceback."""
    main = threading.current_thread() is threading.main_thread()
    ours = main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if ours:
        signal.signal(signal.SIGTERM, _stop)
    try:
        yield
    except KeyboardInterrupt as stop:
        warnings.simplefilter("ignore")  # joblib's about what was cancelled, when the program ends
        print(f"stopped; {stop}" if str(stop) else "stopped", file=sys.stderr)
        raise SystemExit(ENDED_BY + (_came or [signal.SIGINT])[0]) from None
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _stop(number: int, _: object) -> None:
    """Do what Ctrl-C does: workers are ended, files are closed."""
    _came.append(number)
    raise KeyboardInterrupt


@contextmanager
def keeping(what: str) -> Iterator[None]:
    """Say after Ctrl-C `what` is kept, unless what was stopped says it better; also a decorator."""
    try:
        yield
    except KeyboardInterrupt as stop:
        raise KeyboardInterrupt(str(stop) or what) from None
