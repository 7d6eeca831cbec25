"""The experiments of this room, and the claims about their results, which the modules imported here hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import comparisons as comparisons  # enters its claims
from . import real_matrices as real_matrices
from .measures import draws, pairs
from .measures.classes import measure_classes
from .measures.matrices import measure_matrices
from .measures.simulation import measure_simulation

#: what `marginbook experiment` runs: the table's name in protocol.toml -> its measure
EXPERIMENTS: dict[str, Callable[..., dict[str, Any]]] = {
    "sample-size": measure_simulation,
    "dimension": measure_simulation,
    "rank": measure_simulation,
    "levels": measure_simulation,
    "step": measure_simulation,
    "bumps": measure_simulation,
    "matrices": measure_matrices,
    "classes": measure_classes,
}
#: data sets that this room makes itself: draws of simulated matrices, and real ones with two classes
DATASETS = {**draws.DATASETS, **pairs.DATASETS}
