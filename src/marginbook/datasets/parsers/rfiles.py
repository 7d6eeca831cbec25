"""R's ``.rda`` and ``.RData``, parsed by rdata in Python: no R, nothing in the file is run."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from ...base.extras import naming_the_extra
from ..dataset import CorruptData
from ..table import Table, column_from_text
from .limits import allowed, compressed_again, opened, refuse
from .rows import first_line


def parse_r(path: Path) -> dict[str, Any]:
    """Return the objects of a file by name.

    Raises
    ------
    CorruptData
        The file is cut short or no R data file, or grows beyond what `allowed` of
        `marginbook.datasets.parsers.limits` says.
    """
    with naming_the_extra():
        import rdata  # with it come pandas and xarray, which few sets need

    try:
        with opened(path, by_magic=True) as stream:
            raw = stream.read()
        if compressed_again(raw):
            raise CorruptData(f"{path.name}: is compressed twice; fetch the file again")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = rdata.parser.parse_data(
                raw, extension=path.suffix, altrep_constructor_dict=_sequences(path)
            )
            content = rdata.conversion.convert(parsed)
    except CorruptData:
        raise
    except Exception as error:  # zlib, bz2, lzma, struct and value errors all mean damage
        raise CorruptData(
            f"{path.name}: not an R data file ({first_line(error)}); fetch the file again"
        ) from None
    if not isinstance(content, dict):
        raise CorruptData(f"{path.name}: holds no named objects")
    return content


def _sequences(path: Path) -> dict[bytes, Any]:
    """Return rdata's constructors of what R stores in short, for sequences of a bounded length only.

    ``1:2000000000`` takes a hundred bytes in a file and gigabytes in memory.
    """
    from rdata.parser import DEFAULT_ALTREP_MAP

    limit = allowed(path)

    def bounded(construct: Any) -> Any:
        def build(state: Any) -> Any:
            if not 8 * float(state.value[0]) <= limit:
                raise refuse(path, limit)
            return construct(state)

        return build

    short = (b"compact_intseq", b"compact_realseq")
    return {**DEFAULT_ALTREP_MAP, **{name: bounded(DEFAULT_ALTREP_MAP[name]) for name in short}}


def pick(content: Any, address: str, where: str) -> Any:
    """Follow an address such as ``EEG/y/data`` through named lists and slots."""
    at = content
    for step in address.split("/"):
        names = list(at) if isinstance(at, dict) else list(vars(at)) if hasattr(at, "__dict__") else []
        if isinstance(at, dict) and step in at:
            at = at[step]
        elif not isinstance(at, dict) and hasattr(at, step):
            at = getattr(at, step)
        else:
            raise CorruptData(
                f"{where}: no variable {address!r}; at {step!r} it holds {', '.join(map(str, names))}"
            )
    return at


def as_array(value: Any) -> np.ndarray:
    """Turn a matrix, data frame, factor or vector of R into an array (factors and text: of str)."""
    if hasattr(value, "columns") and all(kind.kind in "biuf" for kind in value.dtypes):
        return value.to_numpy(dtype=np.float64)
    try:
        array = np.asarray(value)
    except ValueError:
        raise CorruptData("got a list of unequal parts, wanted a matrix, a data frame or a vector") from None
    return array.astype(str) if array.dtype.kind in "OU" else array


def as_table(frame: Any, where: str) -> Table:
    """Turn a data frame of R into a table."""
    if not hasattr(frame, "columns"):
        raise CorruptData(f"{where}: is a {type(frame).__name__}, wanted a data frame")
    names = [str(name) for name in frame.columns]
    columns = []
    levels = {}
    for name, key in zip(names, frame.columns, strict=True):
        series = frame[key]
        if hasattr(series, "cat"):
            levels[name] = tuple(str(level) for level in series.cat.categories)
            missing = series.isna()
            columns.append(
                np.array([None if m else str(v) for v, m in zip(series, missing, strict=True)], dtype=object)
            )
        elif series.dtype.kind in "biuf":
            columns.append(np.asarray(series, dtype=np.float64))
        else:
            columns.append(column_from_text([str(v) for v in series], nominal=True))
    return Table(names, columns, levels)
