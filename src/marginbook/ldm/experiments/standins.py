"""Synthetic stand-ins for the large sets of Figure 2 that cannot be had: the same shape, nothing else.

They say how long a fit takes on so many rows, features and nonzeros; no accuracy on them means anything.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix

if TYPE_CHECKING:
    from ...datasets import Dataset

#: rows beside the training half
TEST_ROWS = 1000
#: rows that are drawn at once
BATCH = 50_000


@dataclass(frozen=True)
class Shape:
    """Training rows (half of the original's), features, and nonzeros in each row."""

    rows: int
    features: int
    nonzeros: int


SHAPES = {
    "like-news20": Shape(9_998, 1_355_191, 455),
    "like-real-sim": Shape(36_155, 20_958, 51),
    "like-covtype": Shape(290_506, 54, 12),
    "like-rcv1": Shape(348_821, 47_236, 73),
    "like-url": Shape(1_198_065, 3_231_961, 115),
    "like-kdd2010": Shape(4_203_876, 20_216_830, 36),
}


def stand_in(name: str) -> Dataset:
    """Return the stand-in of that name: `TEST_ROWS` more rows than the training half of the original."""
    from ...datasets import Dataset

    shape = SHAPES[name]
    X, y = draw(shape.rows + TEST_ROWS, shape.features, shape.nonzeros, seed=len(name) + shape.rows)
    digest = hashlib.sha256(f"{name} {sorted(asdict(shape).items())} {TEST_ROWS}".encode()).hexdigest()
    return Dataset(X, y, name, source="synthetic", sha256=digest, notes="a synthetic stand-in")


def draw(rows: int, features: int, nonzeros: int, *, seed: int) -> tuple[csr_matrix, np.ndarray]:
    """Draw sparse rows of length 1 whose columns are popular as words are, and labels of a noisy rule.

    Column numbers are `features` times the cube of stratified uniform numbers, so that low columns are in
    most rows and high ones are rare. The label is the sign of a random combination of the features less its
    median, turned around in 5 of 100 rows.

    Parameters
    ----------
    rows, features, nonzeros : int
        `nonzeros` in each row, all in different columns; at most `features`.
    seed : int

    Returns
    -------
    X : (rows, features) CSR matrix of float64 with 32-bit indices
    y : (rows,) array of -1 and 1
    """
    if not 1 <= nonzeros <= features:
        raise ValueError(f"{nonzeros} nonzeros do not fit into {features} features; give 1 to {features}")
    random = np.random.default_rng(seed)
    rule = random.standard_normal(features)
    indices = np.empty((rows, nonzeros), dtype=np.int32)
    data, score = np.empty((rows, nonzeros)), np.empty(rows)
    place = np.arange(nonzeros)
    for start in range(0, rows, BATCH):
        part = slice(start, min(start + BATCH, rows))
        size = part.stop - start
        uniform = (place + random.random((size, nonzeros))) / nonzeros
        columns = (features * uniform**3).astype(np.int64)
        # increasing, so that no column comes twice in a row, and still below the number of features
        columns = np.maximum.accumulate(columns - place, axis=1) + place
        indices[part] = np.minimum(columns, features - nonzeros + place)
        values = random.exponential(size=(size, nonzeros))
        data[part] = values / np.linalg.norm(values, axis=1, keepdims=True)
        score[part] = np.einsum("ij,ij->i", data[part], rule[indices[part]])
    y = np.where(score > np.median(score), 1, -1)
    y[random.random(rows) < 0.05] *= -1
    indptr = np.arange(0, rows * nonzeros + 1, nonzeros, dtype=np.int32)
    return csr_matrix((data.ravel(), indices.ravel(), indptr), shape=(rows, features)), y


#: for the room's table of data sets that it makes itself
STAND_INS: dict[str, Callable[[], Dataset]] = {name: partial(stand_in, name) for name in SHAPES}
