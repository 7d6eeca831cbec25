"""Which rows train and which test, as positions: what folds, splits and partitions are made of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: positions of rows
Indices = NDArray[np.intp]
#: those that train, those that test
Split = tuple[Indices, Indices]
