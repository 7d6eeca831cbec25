"""From the files of one source to arrays, as the options of the registry say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import folds as keel_folds
from .dataset import CorruptData, RegistryError, Split
from .parsers import parse_keel
from .registry import Entry, Source
from .table import Table, drop_incomplete, encode, labels

Paths = Mapping[str, Path]


@dataclass
class Arrays:
    """What a builder returns; the fields are those of `Dataset`."""

    X: Any
    y: NDArray
    feature_names: tuple[str, ...] = ()
    folds: NDArray[np.int8] | None = None
    test_mask: NDArray[np.bool_] | None = None
    splits: tuple[Split, ...] = field(default=())


def build(entry: Entry, source: Source, paths: Paths) -> Arrays:
    """Parse, encode and assemble the files of a source."""
    if source.format not in BUILDERS:
        raise RegistryError(f"set {entry.name}: format {source.format!r}, wanted one of {', '.join(BUILDERS)}")
    return BUILDERS[source.format](entry, source, paths)


def from_table(table: Table, options: Mapping[str, Any], where: str) -> Arrays:
    """Turn a table into arrays: choose columns and rows, split off the label, encode the rest."""
    if "features" in options:
        table = Table([*options["features"], table.names[-1]], table.columns, table.levels)
    label = options.get("label", -1)
    at = table.index(label, where)
    if options.get("drop"):
        name = table.names[at]
        table = table.without(options["drop"], where)
        at = table.index(name, where)
    if options.get("missing") == "drop":
        table, _ = drop_incomplete(table)
    y = labels(table.columns[at], where)
    X, names = encode(table.without([at], where), options.get("encoding", "one-hot"), where)
    return Arrays(X, y, names)


def _keel(entry: Entry, source: Source, paths: Paths) -> Arrays:
    """Build from one whole ``.dat`` file, with the published folds when the registry names them."""
    table = parse_keel(paths["all"])
    if not entry.folds:
        return from_table(table, source.options, paths["all"].name)
    folds, _ = keel_folds.read_assignment(entry.folds)
    if len(folds) != len(table):
        raise CorruptData(f"{paths['all'].name}: got {len(table)} rows, {entry.folds} has {len(folds)}")
    kept = np.flatnonzero(folds)
    arrays = from_table(table.take(kept), source.options, paths["all"].name)
    arrays.folds = folds[kept]
    return arrays


def _keel_folds(entry: Entry, source: Source, paths: Paths) -> Arrays:
    """Build from the five published test files, in the row order of the whole file."""
    tests = {int(part[0]): parse_keel(path) for part, path in paths.items() if part.endswith("tst")}
    table, folds = keel_folds.assemble(tests, entry.folds)
    arrays = from_table(table, source.options, entry.name)
    arrays.folds = folds
    return arrays


BUILDERS: dict[str, Callable[[Entry, Source, Paths], Arrays]] = {"keel": _keel, "keel-folds": _keel_folds}
