"""What users may call, module by module, and the few names that meet no bad input, with the reason."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

from marginbook.book.api_pages import public_names
from marginbook.claims import ROOMS

#: modules that say with ``__all__``, or by names without an underscore, what is for users
MODULES = (
    *(*ROOMS, "kernels", "base.folds", "base.labels", "base.parameters", "large", "experiments.stats"),
    *("datasets", "datasets.generators", "datasets.parsers"),
)
ERROR, HOLDER, BASE, DRAWING, INSIDE = (
    "an exception: it is raised",
    "a record: calls of functions here make and return it",
    "abstract: its subclasses are there",
    "draws what average_ranks and nemenyi return",
    "checks what estimators are given: the bad input of each goes through it",
)
#: name to reason; the test looks whether it is so
LEFT_OUT = {
    "KernelOverflow": ERROR,
    "CorruptData": ERROR,
    "DatasetError": ERROR,
    "DatasetNotFetched": ERROR,
    "DatasetUnavailable": ERROR,
    "FetchError": ERROR,
    "RegistryError": ERROR,
    "UnknownDataset": ERROR,
    "Crossings": HOLDER,
    "Retained": HOLDER,
    "Dataset": HOLDER,
    "Entry": HOLDER,
    "Chunk": HOLDER,
    "LowRankSample": HOLDER,
    "TestResult": HOLDER,
    "Source": BASE,
    "critical_difference_diagram": DRAWING,
    "validate_labels": INSIDE,
    "encode_classes": INSIDE,
    "binary_classes": INSIDE,
    "binary_signs": INSIDE,
    **dict.fromkeys(("is_number", "is_whole", "validate_counts", "validate_limits"), INSIDE),
    **dict.fromkeys(
        ("validate_not_negative", "validate_within", "validate_choice", "validate_flags"), INSIDE
    ),
    "validate_folds": INSIDE,
    "folds": INSIDE,
}
#: what of the parsers reads each format that is fuzzed
PARSERS = {
    "parse_keel": ("keel",),
    "parse_arff": ("arff",),
    "parse_text": ("csv", "table"),
    "parse_libsvm": ("libsvm", "libsvm-bz2"),
    "parse_npy": ("npy",),
    "parse_npz": ("npz",),
    "parse_idx": ("idx",),
    "parse_matlab": ("matlab",),
    "parse_r": ("r",),
}


def public() -> dict[str, Any]:
    """Return all that the modules offer, by name."""
    found = {}
    for module in MODULES:
        loaded = importlib.import_module(f"marginbook.{module}")
        found |= {name: getattr(loaded, name) for name in public_names(loaded)}
    return found


def is_so(name: str, reason: str, value: Any) -> bool:
    """Return whether `reason` is true of what `name` stands for."""
    return {
        ERROR: inspect.isclass(value) and issubclass(value, Exception),
        HOLDER: hasattr(value, "__dataclass_fields__") or hasattr(value, "_fields"),
        BASE: inspect.isabstract(value),
        DRAWING: inspect.isfunction(value) and "ax" in inspect.signature(value).parameters,
        INSIDE: callable(value) and value.__module__.startswith("marginbook.base."),
    }[reason]
