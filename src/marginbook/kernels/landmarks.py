r"""Explicit features of a kernel by landmarks (Nyström): an approximation that n rows of any number can pay.

Of m training rows S, drawn without replacement, and :math:`K_{SS}=U\Lambda U^\top`, row x gets the features

.. math:: \varphi(x)=\Lambda_+^{-1/2}U_+^\top[k(s,x)]_{s\in S}\in\mathbb R^r,\qquad r\le m,

where + keeps the eigenvalues above rounding. They are the coordinates of x in the span of the landmarks:
:math:`\varphi(x)^\top\varphi(z)=k(x,z)` where x or z is a landmark, and elsewhere the Gram matrix of the
features is below that of the kernel. They are a rotation of :math:`K_{SS}^{-1/2}[k(s,x)]_s`, the features of
Williams and Seeger, "Using the Nyström method to speed up kernel machines" (2001).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..base.parameters import validate_counts
from . import Kernel, gram, kernel_name, tidy, warn_of_scale
from .decomposition import eigh

#: rows whose kernel values are formed at a time
ROWS = 2048


@dataclass(frozen=True)
class Landmarks:
    """Landmark rows of a training set, and the map from kernel values with them to features.

    A pickle holds the m rows and one m x m matrix, whatever n was.

    Attributes
    ----------
    kernel : (str, dict) or callable
    rows : (m, p) array or CSR matrix
        The landmarks, in the order of the training rows.
    places : (m,) array
        Their numbers among the training rows.
    to_features : (m, r) array
        Kernel values with the landmarks, times this, are features.

    Examples
    --------
    With all rows as landmarks the features have the kernel's own Gram matrix.

    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> rbf = ("rbf", {"gamma": 0.5})
    >>> F = Landmarks.fit(rbf, X, 3, np.random.default_rng(0)).transform(X)
    >>> bool(np.allclose(F @ F.T, gram(rbf, X)))
    True
    """

    kernel: Any
    rows: Any
    places: np.ndarray
    to_features: np.ndarray

    @classmethod
    def fit(
        cls,
        kernel: Kernel,
        X: Any,
        n_components: int,
        rng: np.random.Generator | np.random.RandomState,
    ) -> Self:
        """Draw landmarks of the rows `X`; O(m^3), whatever n is.

        Parameters
        ----------
        kernel : str, (str, dict) or callable
            With its parameters in numbers, as :func:`marginbook.kernels.resolve_kernel` gives it.
        X : (n, p) array or CSR matrix
        n_components : int
            The number m of landmarks; all rows where it is not below n.
        rng : numpy Generator or RandomState

        Raises
        ------
        ValueError
            For a precomputed kernel, `n_components` below 1, or an indefinite kernel.
        KernelOverflow
            As :func:`marginbook.kernels.gram`.
        """
        validate_counts(n_components=n_components)
        if kernel_name(kernel) == "precomputed":
            raise ValueError(
                "n_components draws landmarks from the rows, which kernel='precomputed' does not know"
            )
        n = X.shape[0]
        m = min(int(n_components), n)
        places = np.sort(rng.choice(n, m, replace=False))
        rows = tidy(X[places])
        K = gram(kernel, rows)
        warn_of_scale(kernel, K)
        values, vectors = eigh(K)
        floor = m * np.finfo(float).eps * float(np.abs(values).max())
        # a positive semidefinite kernel leaves rounding below zero, an indefinite one much more
        if values[0] < -100 * floor:
            raise ValueError(
                f"the kernel is not positive semidefinite: its matrix of {m} landmarks has the eigenvalue "
                f"{values[0]:.3g}"
            )
        kept = values > floor
        to_features = vectors[:, kept] / np.sqrt(values[kept])
        if not kept.any():  # of a kernel that is zero everywhere: one feature, 0
            to_features = np.zeros((m, 1))
        return cls(kernel, rows, places, to_features)

    @property
    def n_features(self) -> int:
        """The number r of features."""
        return int(self.to_features.shape[1])

    def transform(self, X: Any) -> np.ndarray:
        """Return the features, (n, r) in float64, of rows `X`, (n, p); O(n m (p + r)), in blocks of rows."""
        n = X.shape[0]
        features = np.empty((n, self.n_features))
        for start in range(0, n, ROWS):
            block = slice(start, min(start + ROWS, n))
            np.matmul(gram(self.kernel, X[block], self.rows), self.to_features, out=features[block])
        return features
