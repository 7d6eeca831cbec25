"""The claims about tables and figures of the paper."""

from __future__ import annotations

from collections.abc import Callable

from .measures import Row, measure_imbalanced

#: what `marginbook experiment` runs: the table's name in protocol.toml -> its measure
EXPERIMENTS: dict[str, Callable[..., Row]] = {"table-8": measure_imbalanced}
