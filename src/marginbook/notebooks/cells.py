"""papermill's own way to execute a notebook, which tells us of each cell that ended."""

from __future__ import annotations

from typing import Any

from papermill.engines import NBClientEngine, papermill_engines

from ..base.progress import Progress

ENGINE = "marginbook"


class _Cells:
    """What papermill takes for a bar of tqdm."""

    def __init__(self, bar: Progress, total: int) -> None:
        self._bar, self._total, bar.total = bar, total, total

    def update(self, count: int) -> None:
        self._bar.at(min(self._bar.done + count, self._total))

    def set_description(self, text: str) -> None:
        """Cells have no names here."""

    def refresh(self) -> None:
        """Nothing is out of date."""

    def close(self) -> None:
        """Do nothing: the caller that made the progress ends it."""


class _Engine(NBClientEngine):
    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **options: Any) -> Any:
        nb_man.pbar = _Cells(options.pop("bar"), len(nb_man.nb.cells))
        return super().execute_managed_notebook(nb_man, kernel_name, **options)


papermill_engines.register(ENGINE, _Engine)
