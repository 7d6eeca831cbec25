"""One notebook with a reader's own parameters."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from ..base.progress import Progress
from .catalogue import build_dir, find
from .executing import KERNEL_ARGUMENTS, KERNEL_ENV, NotebookFailed, failure_line, normalised, write
from .parameters import check, parameters


@dataclass(frozen=True)
class Run:
    """Where a run's files are; `remark` says what the page could not have."""

    notebook: Path
    page: Path | None
    remark: str | None


def run(
    id: str,
    values: Mapping[str, Any] | None = None,
    *,
    html: bool = False,
    out: Path | None = None,
    progress: bool = False,
    watch: Callable[[int, int], None] | None = None,
) -> Run:
    """Execute a notebook with other values for its parameters.

    Parameters
    ----------
    id : str
        Such as ``"drm/05_imbalanced"``.
    values : mapping
        New values by name; a name or a type that the notebook does not declare is an error before it runs.
    html : bool
        Write a self-contained page beside the executed notebook.
    out : path, optional
        The executed notebook; by default ``_build/runs/<id>-<hash of the values>.ipynb``. What an earlier
        run left there is replaced at the end, by rename.
    progress : bool
        Show how many cells are done.
    watch : callable, optional
        Told, as each cell ends, how many have and how many there are.

    Raises
    ------
    UnknownNotebook, ParameterError
        Before the execution.
    NotebookFailed
        When a cell raises; the notebook up to there is kept.
    KeyboardInterrupt
        After Ctrl-C; its message says where the notebook up to there is.
    """
    import papermill
    from papermill.exceptions import PapermillExecutionError

    from .cells import ENGINE

    values = dict(values or {})
    notebook = find(id)
    node = notebook.read()
    check(parameters(node), values)
    mark = hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:8]
    target = out or build_dir("runs", f"{notebook.slug}-{mark}.ipynb")
    partial = target.with_name(f"{target.stem}.partial.ipynb")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        partial.unlink(missing_ok=True)
    except OSError as error:
        raise NotebookFailed(f"cannot write {target}: {error.strerror}; give another with --out") from None
    with _environment(KERNEL_ENV), _Watched(notebook.id, len(node.cells), watch, progress) as bar:
        try:
            executed = papermill.execute_notebook(
                node,
                str(partial),
                parameters=values,
                kernel_name="python3",
                cwd=str(notebook.text.parent),
                progress_bar=False,
                engine_name=ENGINE,
                bar=bar,
                autosave_cell_every=0,
                extra_arguments=KERNEL_ARGUMENTS,
            )
        except PapermillExecutionError:
            failed = nbformat.read(partial, as_version=4)
            raise NotebookFailed(f"{_failure(notebook.id, failed)}; kept in {partial}") from None
        except KeyboardInterrupt:
            kept = f"the cells until then, in {partial}" if partial.is_file() else "what was there before"
            raise KeyboardInterrupt(f"nothing was kept but {kept}") from None
    write(normalised(executed), target)
    partial.unlink(missing_ok=True)
    if not html:
        return Run(target, None, None)
    from .page import write_page

    page = target.with_suffix(".html")
    return Run(target, page, write_page(executed, page, notebook.id, values))


class _Watched(Progress):
    """Progress that someone else wants to know of, too."""

    def __init__(self, id: str, total: int, watch: Callable[[int, int], None] | None, show: bool) -> None:
        super().__init__(id, total, "cells", show=show)
        self._watch = watch

    def at(self, done: int, what: str = "") -> None:
        super().at(done, what)
        if self._watch is not None:
            self._watch(done, self.total)


def _failure(id: str, partial: nbformat.NotebookNode) -> str:
    # cells that papermill adds are not the author's: they do not count
    added = {"papermill-error-cell-tag", "injected-parameters"}
    cells = [cell for cell in partial.cells if not added & set(cell.metadata.get("tags", []))]
    own = nbformat.from_dict({**partial, "cells": cells})
    found = failure_line(id, own)
    return found if "cell " in found else failure_line(id, partial)


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Papermill hands the kernel this process's environment."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
