"""All rows of a sample in the feature space of a kernel, made once for the machines of all classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...base.memory import require_memory
from ...kernels import Kernel
from ..model.row_features import RowFeatures, row_features
from ..model.row_kernels import as_rows, row_values, validate_row_kernel, validate_semidefinite
from .kernel_blocks import RowBlocks
from .kernel_landmarks import FeatureBlocks

#: number of rows of all matrices up to which their Gram matrix is made, 0.8 GB
MAX_ROWS = 10_000
#: rows on which a callable is tested
PART = 500


@dataclass(frozen=True)
class MappedRows:
    """Matrices whose rows are in a feature space.

    Attributes
    ----------
    kernel : str, (str, dict) or callable
    blocks : RowBlocks or FeatureBlocks
        The Gram matrix of all rows, or their features by landmarks.
    rows : (N, d2) array
        What solutions combine: all n d1 rows, or the landmarks.
    places : (N,) array of int
        The number of each row in its matrix.
    shape : (int, int)
        d1 and d2.
    landmarks : RowFeatures or None
    """

    kernel: Kernel
    blocks: RowBlocks | FeatureBlocks
    rows: np.ndarray
    places: np.ndarray
    shape: tuple[int, int]
    landmarks: RowFeatures | None


def map_rows(X: ArrayLike, kernel: Kernel, *, max_features: int | None = None) -> MappedRows:
    """Return the matrices of `X` with their rows in the feature space of `kernel`.

    Parameters
    ----------
    X : (n, d1, d2) array
    kernel : str, (str, dict) or callable
    max_features : int, optional
        So many landmarks at most stand for the space; by default it is exact.

    Raises
    ------
    ValueError
        If the kernel is not semidefinite.
    MemoryError
        For more than `MAX_ROWS` rows, before anything is made of them, unless there are landmarks.
    """
    rows, places = as_rows(X)
    _, d1, d2 = np.shape(X)
    validate_row_kernel(kernel)
    if max_features is not None:
        landmarks, features = row_features(kernel, X, max_features=max_features)
        blocks = FeatureBlocks(features)
        return MappedRows(kernel, blocks, landmarks.rows, landmarks.places, (d1, d2), landmarks)
    require_memory(
        f"the kernel of all {len(rows)} rows of these matrices takes",
        len(rows) ** 2,
        "give n_components=500, say, or take kernel='linear'",
        most=MAX_ROWS**2,
    )
    values = row_values(kernel, rows, places)
    if callable(kernel):
        # a principal part that is not semidefinite is enough to refuse
        part = np.unique(np.linspace(0, len(rows) - 1, PART).astype(int))
        validate_semidefinite(values[np.ix_(part, part)], kernel)
    return MappedRows(kernel, RowBlocks(values, d1), rows, places, (d1, d2), None)
