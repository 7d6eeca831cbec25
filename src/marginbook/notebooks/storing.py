"""Text to notebook, one way: execute an author's MyST text and store the outputs beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import nbformat

from ..base.progress import Left
from .catalogue import Notebook, find
from .executing import execute, write


def store(
    ids: Iterable[str],
    *,
    n_jobs: int = -1,
    progress: Callable[[str, str], None] | None = None,
    expect: Callable[[Left], None] | None = None,
) -> list[Notebook]:
    """Execute the text of each notebook and write the ``.ipynb`` beside it; return those that changed.

    The text is never written: an edit in the ``.ipynb`` is lost.
    """
    changed = []
    for id, path in execute(ids, n_jobs=n_jobs, progress=progress, expect=expect).items():
        notebook = find(id)
        executed = nbformat.read(path, as_version=4)
        if not notebook.stored.is_file() or notebook.read_stored() != executed:
            write(executed, notebook.stored)
            changed.append(notebook)
    return changed
