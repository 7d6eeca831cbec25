"""The experiments of this room, and the claims about its tables, which the modules imported here hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import agreement as agreement  # enters its claims
from . import orders as orders
from . import printed_audit as printed_audit
from . import printed_one_classifier as printed_one_classifier
from . import printed_retained as printed_retained
from . import protocols as protocols
from . import sparsity as sparsity
from .chosen import as_printed_columns
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
#: how stored results become the columns that a table prints, for the tables where they are not the same
EXPANSIONS = {"table-1": as_printed_columns, "table-2": as_printed_columns}
