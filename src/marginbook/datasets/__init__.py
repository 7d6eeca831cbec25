"""Data sets of the five papers: ``load(name)``, a registry with hashes, generators with known truth.

| file | what |
|---|---|
| ``registry.py`` | reads ``data_download/registry.toml`` |
| ``fetch.py`` ``download.py`` ``wheels.py`` ``cache.py`` | bring files here, by hash |
| ``parsers/`` ``table.py`` ``build.py`` ``folds.py`` ``load.py`` | files to arrays |
| ``generators.py`` | data with a known distribution |
| ``command.py`` | ``marginbook data`` |
"""

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
