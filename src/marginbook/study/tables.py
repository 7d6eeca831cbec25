"""The experiment of the study, as ``marginbook experiment`` runs it."""

from __future__ import annotations

from collections.abc import Callable

from .measures import Row, measure_bench
from .sets import DATASETS as DATASETS

#: the table's name in protocol.toml -> its measure
EXPERIMENTS: dict[str, Callable[..., Row]] = {"accuracy": measure_bench}
