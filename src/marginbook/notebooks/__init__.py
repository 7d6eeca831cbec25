"""The book's notebooks: find them, read their parameters, execute them, store their outputs."""

from ..base.extras import naming_the_extra

with naming_the_extra():
    from .catalogue import Notebook, UnknownNotebook, available, drift, find
    from .command import run_command
    from .executing import NotebookFailed, came_out_as_stored, execute
    from .parameters import Parameter, ParameterError, parameters
    from .running import run
    from .storing import store

__all__ = [
    "Notebook",
    "NotebookFailed",
    "Parameter",
    "ParameterError",
    "UnknownNotebook",
    "available",
    "came_out_as_stored",
    "drift",
    "execute",
    "find",
    "parameters",
    "run",
    "run_command",
    "store",
]
