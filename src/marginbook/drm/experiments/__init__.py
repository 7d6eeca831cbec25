"""How one entry of a table or figure is measured; ``EXPERIMENTS`` has the measures by name."""

from __future__ import annotations

from ...experiments.fold import Measure
from .figure_5 import measure_ablation
from .poker_stand_in import poker_split
from .table_5 import measure_convergence, measure_large
from .tables_3_8_9 import measure_accuracy, measure_imbalanced, measure_resampled

#: what `marginbook experiment` runs: the table's name in protocol.toml -> its measure
EXPERIMENTS: dict[str, Measure] = {
    "table-3": measure_accuracy,
    "table-5": measure_large,
    "table-8": measure_imbalanced,
    "table-9": measure_resampled,
    "fig-3": measure_convergence,
    "fig-5": measure_ablation,
}
#: data sets that this room makes itself
DATASETS = {"poker-split": poker_split}
