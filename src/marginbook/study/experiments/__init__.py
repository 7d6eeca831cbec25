"""How one entry of the study is measured: its sets, its methods, and their candidates."""

from __future__ import annotations

from collections.abc import Callable

from .accuracy import Row, measure_bench
from .sets import DATASETS as DATASETS

#: the table's name in protocol.toml -> its measure
EXPERIMENTS: dict[str, Callable[..., Row]] = {"accuracy": measure_bench}
