"""Fixtures that put made-up results, and made-up times, where the claims of a room look for them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import pytest

from marginbook.claims import stored_tables
from marginbook.claims.rivals import Rival, in_place
from marginbook.quality.benchmarking import tables

#: (table, rows) -> nothing
Write = Callable[[str, "pd.DataFrame | Iterable[Mapping[str, object]]"], None]


@contextmanager
def writer(room: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[Write]:
    """Let claims look for results in `folder`; yield what stores rows as those of a table of the room.

    Before and after, what functions remember of other results is forgotten.
    """
    monkeypatch.setattr(stored_tables, "resource", lambda *parts: folder.joinpath(*parts))

    def write(table: str, rows: pd.DataFrame | Iterable[Mapping[str, object]]) -> None:
        path = folder / "results" / room / f"{table}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(rows).to_csv(path, index=False)

    with in_place(Rival("made-up results")):
        yield write


def results_of(room: str) -> Any:
    """Return a fixture: what it gives stores rows as the results of a table of the room."""

    @pytest.fixture
    def put(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Write]:
        with writer(room, monkeypatch, tmp_path) as write:
            yield write

    return put


def times_of(scaling: ModuleType, size: str, sizes: Iterable[int]) -> Any:
    """Return a fixture: what it gives stores times that grow like powers of a size.

    Parameters
    ----------
    scaling : module
        Of the claim: `TABLE`, and `LARGE`, below which times are `early` times as long.
    size : str
        How the benchmark calls the size, such as ``"n"``.
    sizes : iterable of int
    """

    @pytest.fixture
    def put(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
        monkeypatch.setattr(tables, "resource", lambda *parts: tmp_path.joinpath(*parts))

        def write(powers: Mapping[str, float], x: str = size, early: float = 1.0) -> None:
            path = tmp_path / "benchmarks" / "results" / f"{scaling.TABLE}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(["what", "x", "value", "seconds"])
                for what, power in powers.items():
                    for n in sorted(sizes, reverse=True):
                        writer.writerow([what, x, n, 1e-9 * n**power * (early if n < scaling.LARGE else 1)])

        return write

    return put
