"""How one entry of an experiment is measured, and what it draws from; ``EXPERIMENTS`` has the measures by
name.
"""

from __future__ import annotations

from ...experiments.fold import Measure
from . import draws, real_pairs
from .real_matrices import measure_matrices
from .simulation import measure_simulation
from .ten_digits import measure_classes

#: what `marginbook experiment` runs: the table's name in protocol.toml -> its measure
EXPERIMENTS: dict[str, Measure] = {
    "sample-size": measure_simulation,
    "dimension": measure_simulation,
    "rank": measure_simulation,
    "levels": measure_simulation,
    "step": measure_simulation,
    "bumps": measure_simulation,
    "matrices": measure_matrices,
    "contest": measure_matrices,
    "classes": measure_classes,
}
#: data sets that this room makes itself: draws of simulated matrices, and real ones with two classes
DATASETS = {**draws.DATASETS, **real_pairs.DATASETS}
