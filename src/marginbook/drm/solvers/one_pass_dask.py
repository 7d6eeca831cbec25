r"""The one-pass linear DRM from Dask arrays: block by block, never the whole array at once.

The class moments of :mod:`marginbook.drm.solvers.one_pass` add up over parts of the data. So each block of
rows becomes the moments of the classes it holds, and a tree of sums joins them: one pass over the data, also
over the labels, on whatever scheduler is active. Blocks may have unknown numbers of rows, as those of
``DataFrame.to_dask_array()`` have. Dask is imported only by those who bring an array of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from sklearn.utils.validation import check_array, column_or_1d

from .one_pass import ClassMoments

#: labels in ascending order, and the moments of their classes
Labelled: TypeAlias = tuple[np.ndarray, ClassMoments]

#: how many partial sums are joined at a time
FAN_IN = 8


def is_dask(X: Any) -> bool:
    """Tell whether `X` is a collection of Dask; imports nothing."""
    return hasattr(X, "__dask_graph__")


def dask_moments(X: Any, y: Any, alpha: float, beta: float, constant: bool = False) -> Labelled:
    """Return the labels and the class moments of all rows; one pass, computed block by block.

    Parameters
    ----------
    X : (n, p) Dask array
        Blocks of numpy arrays or CSR matrices; n may be unknown.
    y : (n,) Dask array, or a sequence if the blocks of `X` have known sizes
    alpha, beta : float
        ``alpha >= 0``, ``beta > 0``.
    constant : bool
        Append a feature that is 1 everywhere.

    Raises
    ------
    ValueError
        For a collection that is no array, blocks of `X` and `y` that do not match, or unusable rows.
    """
    from dask import delayed

    _validate_array(X)
    X = X.rechunk({1: -1})
    rows = X.to_delayed()[:, 0]
    labels = _matching(y, X).to_delayed()
    part, join = delayed(_block_moments), delayed(join_moments)
    parts = [part(r, t, alpha, beta, constant) for r, t in zip(rows, labels, strict=True)]
    while len(parts) > 1:
        parts = [join(*parts[start : start + FAN_IN]) for start in range(0, len(parts), FAN_IN)]
    found: Labelled = parts[0].compute()
    if not len(found[0]):
        raise ValueError("X has no rows; wanted at least one of each of two classes")
    return found


def join_moments(*parts: Labelled) -> Labelled:
    """Add moments of different sets of classes; the result has the classes of all of them."""
    filled = [part for part in parts if len(part[0])] or [parts[0]]
    classes = np.unique(np.concatenate([labels for labels, _ in filled]))
    first = filled[0][1]
    total = ClassMoments.empty(len(classes), first.G.shape[1], first.alpha, first.beta)
    for labels, moments in filled:
        where = np.searchsorted(classes, labels)
        total.G[where] += moments.G
        total.sizes[where] += moments.sizes
        total.deficit[where] += moments.deficit
    return classes, total


def by_blocks(function: Callable[[Any], np.ndarray], X: Any, columns: int | None, dtype: Any) -> Any:
    """Return `function` of each block of rows of `X`, as a Dask array that nothing has computed yet.

    Parameters
    ----------
    function : callable
        Rows (m, p) in; (m, columns) out, or (m,) for ``columns=None``.
    X : (n, p) Dask array
    columns : int or None
    dtype : dtype of the result
    """
    _validate_array(X)
    X = X.rechunk({1: -1})
    shape: tuple[int, ...] = (0,) if columns is None else (0, columns)
    empty = np.empty(shape, dtype=dtype)

    def of_block(rows: Any) -> np.ndarray:
        return function(rows) if rows.shape[0] else empty

    if columns is None:
        return X.map_blocks(of_block, drop_axis=1, dtype=dtype, meta=empty)
    return X.map_blocks(of_block, chunks=(X.chunks[0], (columns,)), dtype=dtype, meta=empty)


def _validate_array(X: Any) -> None:
    import dask.array as da

    if not isinstance(X, da.Array):
        raise ValueError(
            f"X must be a Dask array, got {type(X).__name__}; of a dataframe, call X.to_dask_array()"
        )
    if X.ndim != 2:
        raise ValueError(f"X must be a Dask array of two dimensions, got {X.ndim}")


def _matching(y: Any, X: Any) -> Any:
    """Return `y` as a Dask array with the blocks of the rows of `X`."""
    import dask.array as da

    sizes = X.chunks[0]
    known = not np.isnan(sizes).any()
    if not is_dask(y):
        if not known:
            raise ValueError("X has blocks of unknown sizes, so y must be a Dask array with the same blocks")
        y = da.from_array(column_or_1d(y), chunks=-1)
    if y.ndim != 1:
        raise ValueError(f"y must have one dimension, got {y.ndim}")
    if known and not np.isnan(y.chunks[0]).any():
        if sum(sizes) != len(y):
            raise ValueError(f"X has {sum(sizes)} rows, y has {len(y)}")
        return y.rechunk((sizes,))
    if len(y.chunks[0]) != len(sizes):
        raise ValueError(f"X has {len(sizes)} blocks of rows, y has {len(y.chunks[0])}; they must match")
    return y


def _block_moments(rows: Any, labels: Any, alpha: float, beta: float, constant: bool) -> Labelled:
    rows = check_array(rows, accept_sparse="csr", dtype=np.float64, ensure_min_samples=0)
    labels = column_or_1d(np.asarray(labels))
    if rows.shape[0] != len(labels):
        raise ValueError(f"a block of X has {rows.shape[0]} rows, that of y has {len(labels)} labels")
    classes, codes = np.unique(labels, return_inverse=True)
    moments = ClassMoments.empty(len(classes), rows.shape[1] + int(constant), alpha, beta)
    return classes, moments.add(rows, codes, constant) if len(labels) else moments
