"""Parquet files as a source: row groups read batch by batch, or as the blocks of a Dask array."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .sources import Chunk, Source, checked, existing, whole

#: bytes read ahead of each column: without a limit the whole column of a row group is read
BUFFER = 2**18


class ParquetFiles(Source):
    """Chunks from Parquet files with equal columns; the files together are one data set.

    Parameters
    ----------
    paths : path or sequence of paths
    label : str, default="label"
        Column of the labels.
    features : sequence of str, default=None
        Columns of the features, in this order; all but `label`, in the order of the first file, if not given.
    chunk_rows : int, default=16384
        Most rows of a chunk.

    Attributes
    ----------
    features : list of str
    n_rows : int

    Raises
    ------
    ImportError
        Without the package pyarrow.
    FileNotFoundError
        For a path without a file.
    ValueError
        For no paths, a `chunk_rows` that is no integer >= 1, and a file that is damaged, lacks a column, or
        has one that holds no numbers; while reading, for an empty or infinite value: file, row and column are
        named.
    """

    def __init__(
        self,
        paths: str | PathLike[str] | Sequence[str | PathLike[str]],
        *,
        label: str = "label",
        features: Sequence[str] | None = None,
        chunk_rows: int = 16_384,
    ) -> None:
        self.paths, self.label = existing(paths), label
        self.chunk_rows = whole("chunk_rows", chunk_rows)
        self._groups: list[list[int]] = []  # rows of each row group, by file
        wanted = None if features is None else list(features)
        for path in self.paths:
            with _opened(path) as file:
                wanted = _columns(path, file.schema_arrow, label, wanted, exactly=features is None)
                meta = file.metadata
                self._groups.append([meta.row_group(k).num_rows for k in range(meta.num_row_groups)])
        self.features: list[str] = wanted or []
        self.n_rows = sum(map(sum, self._groups))

    def __iter__(self) -> Iterator[Chunk]:
        for path in self.paths:
            first = 1
            with _opened(path) as file:
                batches = file.iter_batches(
                    self.chunk_rows, columns=[*self.features, self.label], use_threads=False
                )
                while (batch := _next(path, batches, first)) is not None:
                    if batch.num_rows:
                        yield self._chunk(batch, str(path), first)
                    first += batch.num_rows

    def dask_arrays(self) -> tuple[Any, Any]:
        """Return ``X``, (n, p), and ``y``, (n,), as Dask arrays with a block for each row group.

        The blocks are read where they are needed, so workers on other machines must find the files at the
        same paths.

        Raises
        ------
        ImportError
            Without the package dask.
        ValueError
            For files without rows.
        """
        import dask.array as da
        from dask import delayed

        group, parts, rest = delayed(self._group, pure=True), [], []
        p, kind = len(self.features), self._label_type()
        for path, sizes in zip(self.paths, self._groups, strict=True):
            before = 0
            for number, rows in enumerate(sizes):
                if rows:
                    pair = group(str(path), number, before + 1)
                    parts.append(da.from_delayed(pair[0], (rows, p), meta=np.empty((0, p))))
                    rest.append(da.from_delayed(pair[1], (rows,), meta=np.empty(0, dtype=kind)))
                before += rows
        if not parts:
            raise ValueError(f"the {len(self.paths)} Parquet files hold no rows")
        return da.concatenate(parts), da.concatenate(rest)

    def _group(self, path: str, number: int, first: int) -> tuple[np.ndarray, np.ndarray]:
        with _opened(Path(path)) as file:
            try:
                table = file.read_row_group(number, columns=[*self.features, self.label], use_threads=False)
            except (OSError, ValueError) as error:
                raise _damaged(Path(path), error, first) from None
        chunk = self._chunk(table, path, first)
        return np.asarray(chunk.X), chunk.y

    def _label_type(self) -> np.dtype[Any]:
        with _opened(self.paths[0]) as file:
            empty = file.schema_arrow.empty_table().column(self.label)
        return _labels(empty).dtype

    def _chunk(self, batch: Any, place: str, first: int) -> Chunk:
        X = np.empty((batch.num_rows, len(self.features)))
        for j, name in enumerate(self.features):
            X[:, j] = batch.column(name).to_numpy(zero_copy_only=False)
        labels = batch.column(self.label)
        if labels.null_count:
            row = int(np.flatnonzero(np.asarray(labels.is_null()))[0])
            raise ValueError(f"{place}, row {first + row}: the label is empty; drop such rows")
        return checked(Chunk(X, _labels(labels), place, first), self.features)


def write_parquet(
    source: Source,
    path: str | PathLike[str],
    *,
    label: str = "label",
    dtype: str = "float32",
    group_rows: int = 131_072,
) -> Path:
    """Write a source as one Parquet file with columns ``f0``, ``f1``, ... and `label`; a whole file or none.

    Parameters
    ----------
    source : Source
    path : path
    label : str, default="label"
        Name of the column of the labels.
    dtype : {"float32", "float64"}, default="float32"
        Of the features; float32 takes half the disk and rounds to 7 digits.
    group_rows : int, default=131072
        Rows of a row group, which are in memory together.

    Returns
    -------
    Path

    Raises
    ------
    ImportError
        Without the package pyarrow.
    ValueError
        For another `dtype`, a `group_rows` that is no integer >= 1, a source without rows, and rows that it
        refuses.
    """
    pa, pq = _pyarrow()
    if dtype not in ("float32", "float64"):
        raise ValueError(f"dtype must be float32 or float64, got {dtype!r}")
    whole("group_rows", group_rows)
    path = Path(path)
    neighbour = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    writer, waiting, rows = None, [], 0
    try:
        for chunk in source:
            for X, y in chunk.dense_parts():
                columns = {f"f{j}": pa.array(X[:, j].astype(dtype)) for j in range(X.shape[1])}
                waiting.append(pa.table({**columns, label: pa.array(y)}))
                rows += len(y)
                writer = writer or pq.ParquetWriter(
                    # numbers that hardly repeat make a dictionary larger than themselves
                    neighbour,
                    waiting[0].schema,
                    compression="none",
                    use_dictionary=[label],
                )
                if rows >= group_rows:
                    writer.write_table(pa.concat_tables(waiting), row_group_size=group_rows)
                    waiting, rows = [], 0
        if writer is None:
            raise ValueError("the source holds no rows; nothing was written")
        if waiting:
            writer.write_table(pa.concat_tables(waiting), row_group_size=group_rows)
        writer.close()
        neighbour.replace(path)
    finally:
        neighbour.unlink(missing_ok=True)
    return path


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ImportError("Parquet files need the package pyarrow: pip install 'marginbook[large]'") from None
    return pa, pq


def _opened(path: Path) -> Any:
    pa, pq = _pyarrow()
    try:
        return pq.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False)
    except (pa.ArrowInvalid, OSError) as error:
        raise _damaged(path, error) from None


def _next(path: Path, batches: Iterator[Any], first: int) -> Any:
    try:
        return next(batches, None)
    except (OSError, ValueError) as error:  # pyarrow's own errors are these
        raise _damaged(path, error, first) from None


def _damaged(path: Path, error: Exception, first: int | None = None) -> ValueError:
    where = "" if first is None else f" from row {first} on"
    told = " ".join(str(error).split())
    return ValueError(f"{path} is no whole Parquet file{where} ({told}); write or fetch it again")


def _columns(path: Path, schema: Any, label: str, wanted: list[str] | None, exactly: bool) -> list[str]:
    import pyarrow.types as kinds

    if label not in schema.names:
        raise ValueError(
            f"{path} has no column {label!r} for the labels; its columns are {_few(schema.names)}"
        )
    own = [name for name in schema.names if name != label]
    if wanted is None:
        wanted = own
    missing = [name for name in wanted if name not in own]
    if missing:
        raise ValueError(
            f"{path} lacks the feature {_few(missing)}; it has {len(own)}, expected {len(wanted)}"
        )
    if exactly and len(own) > len(wanted):
        more = _few([name for name in own if name not in wanted])
        raise ValueError(
            f"{path} has {len(own)} features, those before it {len(wanted)}; {more} is new in it"
        )
    if not wanted:
        raise ValueError(f"{path} has no column besides the label {label!r}; expected at least one feature")
    for name in wanted:
        kind = schema.field(name).type
        if not (kinds.is_floating(kind) or kinds.is_integer(kind) or kinds.is_boolean(kind)):
            raise ValueError(
                f"{path}: column {name!r} holds {kind}, expected numbers; choose others by features="
            )
    return wanted


def _labels(column: Any) -> np.ndarray:
    import pyarrow.types as kinds

    if kinds.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
