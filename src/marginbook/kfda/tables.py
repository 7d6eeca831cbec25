"""The experiments of this room."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .measures import partitions
from .measures.curves import measure_curves
from .measures.cuts import measure_cuts
from .measures.multiclass import measure_multiclass
from .measures.table import measure_table

#: what `marginbook experiment` runs: the table's name in protocol.toml -> its measure
EXPERIMENTS: dict[str, Callable[..., dict[str, Any]]] = {
    "table-1": measure_table,
    "table-2": measure_table,
    "cuts": measure_cuts,
    "curves": measure_curves,
    "multiclass": measure_multiclass,
}
#: data sets that this room makes itself, with the partitions of its tables
DATASETS = dict(partitions.DATASETS)
