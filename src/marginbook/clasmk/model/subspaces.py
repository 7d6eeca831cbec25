r"""The subspaces of all classes and kernels, and the coordinates of data in them.

All kernels of one family take their values from one matrix of squared distances or of cosines between the
data and the class's chosen samples, computed once for each class and for each chunk of the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ...kernels import Kernel
from .embedding import Subspace, subspace_of_block, validate_embedding
from .normalised_kernels import SharedPairs
from .self_similarity import validate_rows

#: entries of the matrices of pairs of one chunk of data (16 MB): small enough to stay near the processor
CHUNK_ENTRIES = 2**21


def fit_subspaces(
    X: ArrayLike,
    y_codes: ArrayLike,
    kernels: Sequence[Kernel],
    *,
    tol: float = 1e-3,
    max_rank: int | None = None,
    n_components: int | float | None = None,
    order: str = "pivoted",
) -> list[list[Subspace]]:
    r"""Build the subspace of each class under each kernel, from the class's own samples.

    Parameters
    ----------
    X : (n, p) array
    y_codes : (n,) array of int
        Classes 0, ..., C-1; each needs a sample.
    kernels : sequence of K kernels
    tol, max_rank, n_components, order
        As in :func:`~marginbook.clasmk.model.embedding.class_subspace`.

    Returns
    -------
    list of C lists of K Subspace
        ``indices`` count within the class's samples, in the order of the data.
    """
    validate_embedding(tol, max_rank, n_components, order)
    rows = validate_rows(X)
    codes = validate_codes(y_codes, len(rows))
    if len(kernels) == 0:
        raise ValueError("got no kernels, wanted at least one; see paper_kernels")
    found = []
    for c in range(codes.max() + 1):
        block = rows[codes == c]
        pairs = SharedPairs(block)
        found.append(
            [
                subspace_of_block(
                    pairs, block, kernel, tol=tol, max_rank=max_rank, n_components=n_components, order=order
                )
                for kernel in kernels
            ]
        )
    return found


def validate_codes(y_codes: ArrayLike, n: int) -> np.ndarray:
    """Return the classes as an (n,) integer array in which each of 0, ..., C-1 occurs; raise otherwise."""
    codes = np.asarray(y_codes)
    if codes.shape != (n,) or codes.dtype.kind not in "iu":
        raise ValueError(
            f"the classes are {codes.dtype} of shape {codes.shape}, wanted ({n},) integers; encode the labels"
        )
    if codes.min() < 0 or (np.bincount(codes) == 0).any():
        raise ValueError(
            f"the classes are {np.unique(codes).tolist()}, wanted each of 0, ..., C-1; encode the labels"
        )
    return codes


def coordinates(subspaces: Sequence[Sequence[Subspace]], X: ArrayLike) -> list[list[np.ndarray]]:
    r"""Return the coordinates :math:`z_{ci}(x)=U_{ci}^\top\varphi_i(x)` for each class c and kernel i.

    Parameters
    ----------
    subspaces : list of C lists of Subspace
    X : (n, p) array

    Returns
    -------
    list of C lists of (n, r) arrays
    """
    rows = validate_rows(X)
    found = []
    for of_class in subspaces:
        out = [np.empty((len(rows), s.n_components)) for s in of_class]
        for part, i, z in class_coordinates(of_class, rows):
            out[i][part] = z.T
        found.append(out)
    return found


def class_coordinates(
    of_class: Sequence[Subspace], X: np.ndarray, longest_chunk: int | None = None
) -> Iterator[tuple[slice, int, np.ndarray]]:
    """Yield the coordinates in the subspaces of one class, chunk by chunk and kernel by kernel.

    Parameters
    ----------
    of_class : sequence of K Subspace
    X : (n, p) array
    longest_chunk : int, optional
        Most rows of a chunk; otherwise only :data:`CHUNK_ENTRIES` limits it.

    Yields
    ------
    slice
        The rows of `X` in the chunk.
    int
        The kernel.
    (r, rows) array
        Their coordinates, transposed: the caller may overwrite it.
    """
    if not of_class:
        return
    block, places = _union(of_class)
    step = max(1, min(CHUNK_ENTRIES // len(block), longest_chunk or len(X)))
    for start in range(0, len(X), step):
        part = slice(start, min(start + step, len(X)))
        pairs = SharedPairs(block, X[part])
        for i, (subspace, place) in enumerate(zip(of_class, places, strict=True)):
            yield part, i, subspace.A.T @ pairs.values(subspace.kernel, place)


def _union(of_class: Sequence[Subspace]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the distinct samples that the subspaces use, and the places of each subspace's samples there."""
    indices = np.concatenate([s.indices for s in of_class])
    rows = np.concatenate([s.rows for s in of_class])
    _, first, inverse = np.unique(indices, return_index=True, return_inverse=True)
    block = rows[first]
    if not np.array_equal(block[inverse], rows):
        # subspaces that were built from different data: their indices say nothing about each other
        block, inverse = rows, np.arange(len(rows))
    return block, np.split(inverse, np.cumsum([len(s.indices) for s in of_class])[:-1])
