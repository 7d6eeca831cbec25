"""What a room says of its printed tables, and our stored results for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.project import resource
from ..base.rooms import rooms
from .cell_verdicts import Spread

if TYPE_CHECKING:
    import pandas as pd

    from ..experiments.protocol import Protocol


@dataclass(frozen=True)
class StoredTables:
    """The printed tables of one room, and what we measured for them.

    Attributes
    ----------
    room : str
        Such as ``"drm"``.
    own : str or tuple of str
        How the names of the paper's own methods begin, such as ``"DRM"``.
    borrowed : mapping
        By table, what gives rows of it that another experiment measured; None before that has run.
    splits : mapping
        By table, what gives the number of splits behind a printed mean by data set, where it differs.
    choices : mapping
        By table, what gives of its results the spread of our mean over repeated choices of the parameters,
        by data set and method, where a paper chooses once for all splits.
    other_data : callable
        Gives the data sets whose public version is not the paper's, each with the reason.
    printed_names : callable
        Gives the names that the paper prints for data sets, where ours are others.
    readings : mapping
        By table that can be read in several ways, what makes of its results those under each reading, by its
        words; None for a reading that has not been stored. The first is the one that is derived.
    """

    room: str
    own: str | tuple[str, ...]
    borrowed: Mapping[str, Callable[[], pd.DataFrame | None]] = field(default_factory=dict)
    splits: Mapping[str, Callable[[], Mapping[str, int]]] = field(default_factory=dict)
    choices: Mapping[str, Callable[[pd.DataFrame], Mapping[tuple[str, str], Spread]]] = field(
        default_factory=dict
    )
    other_data: Callable[[], Mapping[str, str]] = dict
    printed_names: Callable[[], Mapping[str, str]] = dict
    readings: Mapping[str, Callable[[pd.DataFrame], Mapping[str, pd.DataFrame | None]]] = field(
        default_factory=dict
    )

    @property
    def paper(self) -> Path:
        """The folder of the printed numbers and of ``protocol.toml``."""
        return rooms()[self.room].paper()

    def protocol(self, table: str) -> Protocol:
        """Return the protocol of a table."""
        from ..experiments.protocol import load_protocol

        return load_protocol(f"{self.room}/{table}")

    def results(self, table: str) -> pd.DataFrame | None:
        """Return our stored results, one row per data set, method and split; None where there are none."""
        from ..experiments.export import read_results

        folder = resource("results")
        stored = folder.joinpath(self.room, f"{table}.csv").is_file()
        return read_results(f"{self.room}/{table}", folder=folder) if stored else None

    def measured(self, table: str) -> pd.DataFrame | None:
        """Return the stored results with the rows that are borrowed."""
        import pandas as pd

        ours = self.results(table)
        more = self.borrowed[table]() if ours is not None and table in self.borrowed else None
        return ours if more is None else pd.concat([ours, more], ignore_index=True)

    def as_read(self, table: str, ours: pd.DataFrame) -> Mapping[str, pd.DataFrame | None]:
        """Return results under each reading of a table, by its words; "" for a table that has one only."""
        return self.readings[table](ours) if table in self.readings else {"": ours}
