"""Output where it is not UTF-8: what an older terminal, or a pipe on Windows, cannot show is escaped."""

from __future__ import annotations

import io
import sys


def escape_what_cannot_be_shown() -> None:
    r"""Let the streams of this process write ``\u2264`` where they have no ≤, instead of an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and (
            stream.errors == "strict" or stream.encoding.lower() != "utf-8"
        ):
            stream.reconfigure(errors="backslashreplace")
