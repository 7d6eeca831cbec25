"""Sets that come with scikit-learn: nothing to fetch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .dataset import RegistryError

LOADERS = ("iris", "wine", "digits", "digits-8x8", "breast_cancer")


def load_bundled(loader: str) -> tuple[NDArray[np.float64], NDArray, tuple[str, ...]]:
    """Return X, y and the feature names; labels are the names of the classes (digits: integers).

    ``"digits-8x8"`` keeps the images as matrices of shape (8, 8).
    """
    if loader not in LOADERS:
        raise RegistryError(f"bundled loader {loader!r}, wanted one of {', '.join(LOADERS)}")
    from sklearn import datasets as bundled  # slow to import

    bunch = getattr(bundled, f"load_{loader.partition('-')[0]}")()
    if loader.startswith("digits"):
        X = bunch.images if loader.endswith("8x8") else bunch.data
        return np.asarray(X, dtype=np.float64), bunch.target.astype(np.int64), ()
    names = tuple(str(name) for name in bunch.feature_names)
    return (
        np.asarray(bunch.data, dtype=np.float64),
        np.asarray(bunch.target_names)[bunch.target].astype(str),
        names,
    )
