"""``marginbook``: claims, errata, data, experiment, run, book, serve, coursework, trust, new; the library."""

from typing import Any

from .stopping import one_sentence

__all__ = ["COMMANDS", "main"]

COMMANDS: Any
main: Any

with one_sentence():  # Ctrl-C can come this early
    try:
        from .subcommands import COMMANDS, main
    except ModuleNotFoundError as missing:
        if missing.name != "click":
            raise
        from .plain import main

        COMMANDS = {}
