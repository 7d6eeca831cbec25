"""How one entry of a table or figure is measured; ``EXPERIMENTS`` has the measures by name."""

from __future__ import annotations

from ...experiments.fold import Measure
from . import data
from .figures_2_23 import measure_kernels, measure_sizes
from .figures_9_15 import measure_limited
from .figures_24_27 import measure_weights
from .table_1_solvers import measure_solvers
from .table_4 import measure_benchmark
from .table_4_solvers import measure_layers_locally
from .tables_1_2 import measure_table

#: what `marginbook experiment` runs: the table's name in protocol.toml -> its measure
EXPERIMENTS: dict[str, Measure] = {
    "table-1": measure_table,
    "solvers": measure_solvers,
    "table-4": measure_benchmark,
    "layers": measure_kernels,
    "limited": measure_limited,
    "sizes": measure_sizes,
    "heat-maps": measure_weights,
    "layer-solvers": measure_layers_locally,
}
#: data sets that this room makes itself: with folds, under the paper's name, or of two classes
DATASETS = dict(data.DATASETS)
