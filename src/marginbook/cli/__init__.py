"""``marginbook``: claims, errata, data, experiment, run, book, coursework, trust, new."""

from .stopping import one_sentence

with one_sentence():  # Ctrl-C can come this early
    from .all_commands import COMMANDS, main

__all__ = ["COMMANDS", "main"]
