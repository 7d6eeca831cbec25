"""Long calls of LAPACK that Ctrl-C can leave."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any

#: rows of a matrix from which a decomposition takes seconds
LARGE = 2048


def interruptible(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return ``function(*arguments)``, computed beside a main thread that listens.

    Only for functions that release the interpreter's lock, such as those of :mod:`numpy.linalg` and the fits
    of scikit-learn's SVC and LinearSVC, not for those of :mod:`scipy.linalg`; after KeyboardInterrupt the
    computation goes on unheard until it ends or the process does.
    """
    found: dict[str, Any] = {}

    def run() -> None:
        try:
            found["value"] = function(*arguments)
        except BaseException as error:
            found["error"] = error

    # what numpy.errstate says holds there too
    thread = threading.Thread(target=contextvars.copy_context().run, args=(run,), daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.2)
    if "error" in found:
        raise found["error"]
    return found["value"]
