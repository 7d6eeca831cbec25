"""MATLAB v5 ``.mat`` files, read by scipy; only plain numeric arrays are accepted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.io import loadmat, whosmat
from scipy.sparse import csr_matrix, issparse

from ..dataset import CorruptData, DatasetError
from .limits import allowed, refuse, validate_indices, validate_matlab
from .rows import first_line

#: a SciPy before this one follows damaged sparse matrices out of its memory, and the process dies
SAFE = (1, 17)


def parse_matlab(path: Path, variables: Sequence[str]) -> dict[str, NDArray | csr_matrix]:
    """Read the named variables.

    Raises
    ------
    DatasetError
        The SciPy that is installed is older than `SAFE`.
    CorruptData
        With file and variable: not a MATLAB v5 file, cut short, variable missing, or a variable that holds
        cells, structures, objects or functions instead of numbers; a sparse matrix with indices outside of
        it; elements that grow beyond what `allowed` of `marginbook.datasets.parsers.limits` says.
    """
    if tuple(map(int, scipy.__version__.split(".")[:2])) < SAFE:
        raise DatasetError(
            f"{path.name}: SciPy {scipy.__version__} may crash on MATLAB files: pip install 'scipy>=1.17'"
        )
    validate_matlab(path)
    try:
        listed = whosmat(str(path))
        present = {name: kind for name, _, kind in listed}
    except NotImplementedError:
        raise CorruptData(f"{path.name}: a MATLAB v7.3 file, wanted v5 to v7") from None
    except Exception as error:  # scipy raises many kinds on damaged bytes
        raise CorruptData(
            f"{path.name}: not a MATLAB v5 file ({first_line(error)}); fetch the file again"
        ) from None
    for name in variables:
        if name not in present:
            raise CorruptData(f"{path.name}: no variable {name!r}; it holds {_shown(present) or 'nothing'}")
        if sum(each == name for each, _, _ in listed) > 1:  # SciPy would read each of them
            raise CorruptData(f"{path.name}, variable {name}: is there twice; fetch the file again")
        if present[name] in ("cell", "struct", "object", "function", "opaque", "char", "unknown"):
            raise CorruptData(f"{path.name}, variable {name}: is of class {present[name]}, wanted numbers")
    # a sparse matrix declares its rows, of which it need not hold any
    if any(8 * max(shape, default=0) > allowed(path) for name, shape, _ in listed if name in variables):
        raise refuse(path, allowed(path))
    try:
        content = loadmat(str(path), variable_names=list(variables))
    except Exception as error:  # as above: zlib, struct, value, memory and type errors all mean damage
        raise CorruptData(
            f"{path.name}, variable {' or '.join(variables)}: {first_line(error)}; fetch the file again"
        ) from None
    arrays = {}
    for name in variables:
        array = content.get(name)
        if not issparse(array) and (not isinstance(array, np.ndarray) or array.dtype.kind not in "biuf"):
            raise CorruptData(f"{path.name}, variable {name}: holds no plain numbers")
        arrays[name] = _rows(path, name, array) if issparse(array) else array
    return arrays


def _shown(names: Iterable[str]) -> str:
    """Return the first names, which damage may have filled with anything, in one line."""
    return ", ".join(name if name.isprintable() else repr(name) for name in list(names)[:20])


def _rows(path: Path, name: str, matrix: Any) -> csr_matrix:
    """Return a sparse matrix by rows, after a look at the indices that SciPy would follow anywhere."""
    try:
        if hasattr(matrix, "check_format"):
            validate_indices(matrix)
    except ValueError as error:
        raise CorruptData(
            f"{path.name}, variable {name}: {first_line(error)}; fetch the file again"
        ) from None
    return csr_matrix(matrix, dtype=np.float64)
