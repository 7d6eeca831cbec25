"""How one entry of the tables and curves is measured; ``EXPERIMENTS`` has the measures by name."""

from __future__ import annotations

from ...experiments.fold import Measure
from . import partitions
from .columns import as_printed_columns
from .curves import measure_curves
from .cuts import measure_cuts
from .multiclass import measure_multiclass
from .tables_1_2 import measure_table

#: what `marginbook experiment` runs: the table's name in protocol.toml -> its measure
EXPERIMENTS: dict[str, Measure] = {
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
