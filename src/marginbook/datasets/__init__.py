"""Data sets of the five papers: ``load(name)``, a registry with hashes, generators with known truth."""

from .dataset import (
    CorruptData,
    Dataset,
    DatasetError,
    DatasetNotFetched,
    DatasetUnavailable,
    FetchError,
    RegistryError,
    UnknownDataset,
)
from .generators import make_banana, make_low_rank, make_ringnorm, make_twonorm, make_waveform
from .load import available, load
from .registry import Entry, registry

__all__ = [
    "CorruptData",
    "Dataset",
    "DatasetError",
    "DatasetNotFetched",
    "DatasetUnavailable",
    "Entry",
    "FetchError",
    "RegistryError",
    "UnknownDataset",
    "available",
    "load",
    "make_banana",
    "make_low_rank",
    "make_ringnorm",
    "make_twonorm",
    "make_waveform",
    "registry",
]
