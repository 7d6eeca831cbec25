"""Experiments: protocols as data, a runner that resumes, a store, and the comparison with the paper."""

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
