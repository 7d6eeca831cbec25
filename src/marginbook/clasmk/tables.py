"""The experiments of this room, and the claims about its tables, which the modules imported here hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import agreement as agreement  # enters its claims
from . import learned_weights as learned_weights
from . import printed_audit as printed_audit
from . import printed_time as printed_time
from .measures import rows
from .measures.benchmark import measure_benchmark
from .measures.heat_maps import measure_weights
from .measures.layers import measure_kernels, measure_sizes
from .measures.local import measure_solvers
from .measures.local_layers import measure_layers_locally
from .measures.table import measure_table

#: what `marginbook experiment` runs: the table's name in protocol.toml -> its measure
EXPERIMENTS: dict[str, Callable[..., dict[str, Any]]] = {
    "table-1": measure_table,
    "solvers": measure_solvers,
    "table-4": measure_benchmark,
    "layers": measure_kernels,
    "sizes": measure_sizes,
    "heat-maps": measure_weights,
    "layer-solvers": measure_layers_locally,
}
#: data sets that this room makes itself: with folds, under the paper's name, or of two classes
DATASETS = dict(rows.DATASETS)
