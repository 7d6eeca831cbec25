"""Experiments: protocols as data, a runner that resumes, a store, and the comparison with the paper.

========================  ==================================================================
`protocol`, `validation`  what runs on what, read from a room's ``paper/protocol.toml``
`splits`                  which rows train, which test
`work`                    one task: a pure function of protocol, key and data
`runner`, `progress`      tasks on joblib's worker processes, or on a Dask cluster
`store`                   finished tasks: SQLite, one transaction each
`export`                  the store as sorted CSV with provenance
`compare`                 printed against ours, one verdict per cell
`stats`                   paired tests, ranks, critical-difference diagram
`command`                 ``marginbook experiment``
========================  ==================================================================
"""

from .compare import compare, layout
from .errors import ExperimentError, StoreError, UnknownName
from .export import export, read_results
from .protocol import Protocol, Task, experiments, load_protocol
from .runner import Report, run
from .store import Store

__all__ = [
    "ExperimentError",
    "Protocol",
    "Report",
    "Store",
    "StoreError",
    "Task",
    "UnknownName",
    "compare",
    "experiments",
    "export",
    "layout",
    "load_protocol",
    "read_results",
    "run",
]
