"""How one entry of the study is measured: its sets, its methods, and their candidates."""

from __future__ import annotations

from ...experiments.fold import Measure
from .accuracy import measure_bench
from .sets import DATASETS

__all__ = ["DATASETS", "EXPERIMENTS"]

#: the table's name in protocol.toml -> its measure
EXPERIMENTS: dict[str, Measure] = {"accuracy": measure_bench}
