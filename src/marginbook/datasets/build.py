"""From the files of one source to arrays, as the options of the registry say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse, vstack

from ..base.splits import Split
from . import folds as keel_folds
from .bundled import load_bundled
from .dataset import CorruptData, RegistryError
from .ida import build_realisations
from .parsers import (
    parse_arff,
    parse_idx,
    parse_keel,
    parse_libsvm,
    parse_matlab,
    parse_npy,
    parse_npz,
    parse_r,
    parse_text,
)
from .parsers.rfiles import as_array, as_table, pick
from .registry import Entry, Source
from .table import Table, concatenate, drop_incomplete, encode, fewest_missing, labels

Paths = Mapping[str, Path]
Options = Mapping[str, Any]


@dataclass
class Arrays:
    """What a builder returns; the fields are those of `Dataset`."""

    X: Any
    y: NDArray
    feature_names: tuple[str, ...] = ()
    folds: NDArray[np.int8] | None = None
    test_mask: NDArray[np.bool_] | None = None
    splits: tuple[Split, ...] = ()


def build(entry: Entry, source: Source, paths: Paths) -> Arrays:
    """Parse, encode and assemble the files of a source.

    Options of the registry that every format understands, applied in this order:

    | option | meaning |
    |---|---|
    | ``relabel`` | new names of classes |
    | ``only`` | keep only these classes |
    | ``test_from`` | the rows from here on are the original test part |
    | ``rows`` | ``[start, stop]``: keep only these rows |
    | ``one_hot_columns`` | numeric columns that hold codes: an indicator column per value |
    """
    if source.kind == "bundled":
        return _finish(Arrays(*load_bundled(source.loader)), source.options)
    if source.format not in BUILDERS:
        raise RegistryError(
            f"set {entry.name}: format {source.format!r}, wanted one of {', '.join(BUILDERS)}"
        )
    arrays = BUILDERS[source.format](entry, source, paths)
    return _finish(arrays, source.options)


def _finish(arrays: Arrays, options: Options) -> Arrays:
    if "relabel" in options:
        new = [options["relabel"].get(str(label), label) for label in arrays.y.tolist()]
        arrays.y = np.array(new)
    if "test_from" in options:
        arrays.test_mask = np.arange(len(arrays.y)) >= options["test_from"]
    if "only" in options:
        _keep(arrays, np.flatnonzero(np.isin(arrays.y.astype(str), options["only"])))
    if "rows" in options:
        _keep(arrays, np.arange(*options["rows"]))
    if "one_hot_columns" in options:
        blocks = []
        for j in range(arrays.X.shape[1]):
            column = arrays.X[:, [j]]
            blocks.append(column == np.unique(column) if j in options["one_hot_columns"] else column)
        arrays.X = np.hstack(blocks).astype(np.float64)
        arrays.feature_names = ()
    if not issparse(arrays.X):
        arrays.X = np.ascontiguousarray(arrays.X, dtype=np.float64)
    return arrays


def _keep(arrays: Arrays, rows: NDArray[np.intp]) -> None:
    arrays.X, arrays.y = arrays.X[rows], arrays.y[rows]
    if arrays.test_mask is not None:
        arrays.test_mask = arrays.test_mask[rows]


def _in_order(paths: Paths) -> list[str]:
    """Return the parts that hold rows: everything, or train before test."""
    return ["all"] if "all" in paths else ["train", "test"]


def _test_mask(sizes: list[int]) -> NDArray[np.bool_] | None:
    return np.repeat([False, True], sizes) if len(sizes) == 2 else None


def from_table(table: Table, options: Options, where: str) -> Arrays:
    """Turn a table into arrays: choose columns and rows, split off the label, encode the rest.

    Options: ``features`` (names), ``label`` (name or position, default the last column), ``label_columns``
    (so many indicator columns at the end are the label), ``drop`` (columns), ``fewest_missing`` (keep so many
    features, see `fewest_missing`), ``missing`` (``"drop"`` rows, or ``"level"``: a value of its own),
    ``encoding`` and ``values`` (see `encode`).
    """
    if "features" in options:
        table = Table([*options["features"], table.names[-1]], table.columns, table.levels)
    if "label_columns" in options:
        k = options["label_columns"]
        indicators = np.column_stack(table.columns[-k:])
        if not np.array_equal(np.sort(indicators, axis=1)[:, -2:].sum(axis=1), np.ones(len(table))):
            raise CorruptData(f"{where}: the last {k} columns are not one label each; fetch the file again")
        classes = np.argmax(indicators, axis=1).astype(np.float64)
        table = Table(table.names[:-k], table.columns[:-k], table.levels)
        table = Table([*table.names, "class"], [*table.columns, classes], table.levels)
    label = table.names[table.index(options.get("label", -1), where)]
    if "fewest_missing" in options:
        table = fewest_missing(table, label, options["fewest_missing"], options.get("drop", ()), where)
    elif "drop" in options:
        table = table.without(options["drop"], where)
    if options.get("missing") == "drop":
        table, _ = drop_incomplete(table)
    elif options.get("missing") == "level":
        columns = [
            np.array(["?" if v is None else v for v in c], dtype=object) if c.dtype == object else c
            for c in table.columns
        ]
        table = Table(table.names, columns, {})
    y = labels(table.columns[table.names.index(label)], where)
    encoding = options.get("encoding", "one-hot")
    X, names = encode(table.without([label], where), encoding, where, options.get("values"))
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


def _arff(entry: Entry, source: Source, paths: Paths) -> Arrays:
    return from_table(parse_arff(paths["all"]), source.options, paths["all"].name)


def _text(entry: Entry, source: Source, paths: Paths) -> Arrays:
    """Options: ``delimiter`` ("blank" for blanks and tabs), ``header``, ``names``."""
    delimiter = source.options.get("delimiter", ",")
    parsed = [
        parse_text(
            paths[part],
            None if delimiter == "blank" else delimiter,
            source.options.get("header", False),
            source.options.get("names"),
        )
        for part in _in_order(paths)
    ]
    arrays = from_table(concatenate(parsed, entry.name), source.options, entry.name)
    if source.options.get("missing") != "drop":
        arrays.test_mask = _test_mask([len(table) for table in parsed])
    return arrays


def _libsvm(entry: Entry, source: Source, paths: Paths) -> Arrays:
    """Stays sparse unless the option ``dense`` is set; ``zero_based`` when indices start from 0."""
    zero_based = source.options.get("zero_based", False)
    parsed = [parse_libsvm(paths[part], entry.p, zero_based) for part in _in_order(paths)]
    X = csr_matrix(vstack([X for X, _ in parsed]))
    dense = source.options.get("dense", False)
    y = np.concatenate([y for _, y in parsed])
    return Arrays(X.toarray() if dense else X, y, test_mask=_test_mask([len(y) for _, y in parsed]))


def _matlab(entry: Entry, source: Source, paths: Paths) -> Arrays:
    """Options: variables ``x``, ``y`` and ``transpose``; or variable ``matrix`` and column ``label``."""
    options = source.options
    if "matrix" in options:
        matrix = np.asarray(
            parse_matlab(paths["all"], [options["matrix"]])[options["matrix"]], dtype=np.float64
        )
        y = matrix[:, options.get("label", -1)]
        return Arrays(np.delete(matrix, options.get("label", -1), axis=1), labels(y, paths["all"].name))
    found = parse_matlab(paths["all"], [options["x"], options["y"]])
    X = found[options["x"]]
    y = np.asarray(found[options["y"]], dtype=np.float64).ravel()
    return Arrays(X.T if options.get("transpose") else X, labels(y, paths["all"].name))


def _r(entry: Entry, source: Source, paths: Paths) -> Arrays:
    """Options: ``frame`` (data frame); ``matrix`` and its column ``label``; or ``x``, ``y``, ``samples``.

    An address is a name, or names separated by ``/``; ``{part}`` stands for train and test; ``samples`` is
    the axis of ``x`` that counts the samples (default 0).
    """
    options = source.options
    where = entry.name
    content: dict[str, Any] = {}
    for path in paths.values():
        content |= parse_r(path)
    if "frame" in options:
        return from_table(as_table(pick(content, options["frame"], where), where), options, where)
    if "matrix" in options:
        parts = [
            as_array(pick(content, options["matrix"].replace("{part}", part), where))
            for part in _in_order(paths)
        ]
        matrix = np.vstack(parts)
        column = options["label"]
        X, y = np.delete(matrix, column, axis=1), matrix[:, column]
        mask = _test_mask([len(part) for part in parts])
    else:
        X, y = as_array(pick(content, options["x"], where)), as_array(pick(content, options["y"], where))
        X, mask = np.moveaxis(X, options.get("samples", 0), 0), None
    if X.dtype.kind not in "biuf" or len(X) != len(y):
        raise CorruptData(
            f"{where}: x is {X.dtype} of shape {X.shape}, y has shape {y.shape}; fetch the file again"
        )
    X = X.reshape(len(X), *(entry.shape or X.shape[1:]))
    return Arrays(X, y if y.dtype.kind == "U" else labels(y.astype(np.float64), where), test_mask=mask)


def _arrays(entry: Entry, source: Source, paths: Paths) -> Arrays:
    """Parts ``x`` (sparse npz, or npy) and ``y`` (npy)."""
    X = parse_npz(paths["x"]) if paths["x"].suffix == ".npz" else parse_npy(paths["x"])
    y = parse_npy(paths["y"]).ravel()
    return Arrays(X, y if y.dtype.kind == "U" else labels(y.astype(np.float64), paths["y"].name))


def _idx(entry: Entry, source: Source, paths: Paths) -> Arrays:
    """Parts ``train-images``, ``train-labels``, ``test-images``, ``test-labels``."""
    images = [parse_idx(paths[f"{part}-images"]) for part in ("train", "test")]
    y = np.concatenate([parse_idx(paths[f"{part}-labels"]) for part in ("train", "test")])
    X = np.concatenate(images)
    if len(X) != len(y):
        raise CorruptData(f"{entry.name}: got {len(X)} images and {len(y)} labels")
    X = X.reshape(len(X), *(entry.shape or (-1,)))
    return Arrays(X, y.astype(np.int64), test_mask=_test_mask([len(part) for part in images]))


def _ida(entry: Entry, source: Source, paths: Paths) -> Arrays:
    """Parts ``train_data_1``, ``train_labels_1``, ``test_data_1``, ...: the published realisations."""
    X, y, splits = build_realisations(paths, entry.name)
    return Arrays(X, y, splits=splits)


BUILDERS: dict[str, Callable[[Entry, Source, Paths], Arrays]] = {
    "keel": _keel,
    "keel-folds": _keel_folds,
    "arff": _arff,
    "text": _text,
    "libsvm": _libsvm,
    "matlab": _matlab,
    "r": _r,
    "arrays": _arrays,
    "idx": _idx,
    "ida": _ida,
}
