"""How one entry of a table or figure is measured; ``EXPERIMENTS`` has the measures by name."""

from __future__ import annotations

from ...experiments.fold import Measure
from .figures_1_3 import measure_margins, measure_sensitivity
from .standins import STAND_INS
from .table_4_figure_2 import measure_large, measure_time
from .tables_2_3 import measure_linear, measure_rbf

#: what `marginbook experiment` runs: the table's name in protocol.toml -> its measure
EXPERIMENTS: dict[str, Measure] = {
    "table-2": measure_linear,
    "table-3": measure_rbf,
    "table-4": measure_large,
    "fig-1": measure_margins,
    "fig-2": measure_time,
    "fig-3": measure_sensitivity,
}
#: data sets that this room makes itself
DATASETS = dict(STAND_INS)
