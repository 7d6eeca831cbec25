r"""The DRM by landmarks: its exact linear model on Nyström features, which n rows of any number can pay.

With features :math:`\varphi` of m landmarks (:mod:`marginbook.kernels.landmarks`) this is the DRM of the
kernel :math:`\varphi(x)^\top\varphi(z)`, solved in one pass (:mod:`marginbook.drm.solvers.one_pass`):
O(n m (p + m) + g m^3), and O(m (p + g m)) a prediction. The certificate is that of this approximate problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from ...kernels.landmarks import Landmarks
from ..solvers.feature_forms import class_forms
from ..solvers.one_pass import CHUNK, ClassMoments
from .training_kernel import augmented


@dataclass(frozen=True)
class LandmarkDRM:
    """Landmarks, and the quadratic forms of the classes in their features.

    A pickle holds one half of each form, as these are symmetric.

    Attributes
    ----------
    landmarks : Landmarks
    R : (g, r, r) array
        ``delta_i(x) = f' R[i] f`` with the features f of x.
    kkt_residual : float
    constant : bool
    """

    landmarks: Landmarks
    R: np.ndarray
    kkt_residual: float
    constant: bool

    @classmethod
    def fit(
        cls,
        landmarks: Landmarks,
        X: Any,
        codes: np.ndarray,
        penalties: tuple[float, float],
        weights: np.ndarray | None,
        constant: bool,
    ) -> Self:
        """Fit to rows `X`, (n, p), of classes `codes`, (n,), chunk by chunk."""
        moments = ClassMoments.empty(int(codes.max()) + 1, landmarks.n_features, *penalties)
        for start in range(0, X.shape[0], CHUNK):
            part = slice(start, start + CHUNK)
            features = landmarks.transform(augmented(X[part], constant))
            moments.add(features, codes[part], row_weights=None if weights is None else weights[part])
        return cls(landmarks, *class_forms(moments), constant)

    def __getstate__(self) -> dict[str, Any]:
        half = np.triu_indices(self.R.shape[1])
        kept = {name: value for name, value in self.__dict__.items() if name != "_two"}
        return kept | {"R": np.stack([form[half] for form in self.R])}

    def __setstate__(self, state: dict[str, Any]) -> None:
        halves, r = state["R"], state["landmarks"].n_features
        rows, columns = np.triu_indices(r)
        R = np.empty((len(halves), r, r))
        for form, half in zip(R, halves, strict=True):
            form[rows, columns] = form[columns, rows] = half
        self.__dict__.update(state | {"R": R})

    def dissimilarity(self, X: Any) -> np.ndarray:
        """Return the (m, g) class dissimilarities (10) of rows `X`, (m, p)."""
        return np.concatenate([self._part(features) for features in self._features(X)])

    def difference(self, X: Any) -> np.ndarray:
        """Return delta_0 - delta_1 of two classes, (m,), by one form."""
        return np.concatenate([np.einsum("mr,mr->m", F @ self._two, F) for F in self._features(X)])

    @cached_property
    def _two(self) -> np.ndarray:
        """The form of the difference, which one row needs as much as a thousand; not in a pickle."""
        return np.asarray(self.R[0] - self.R[1])

    def _features(self, X: Any) -> list[np.ndarray]:
        starts = range(0, X.shape[0], CHUNK)
        return [self.landmarks.transform(augmented(X[s : s + CHUNK], self.constant)) for s in starts]

    def _part(self, F: np.ndarray) -> np.ndarray:
        forms = [np.einsum("mr,mr->m", F @ R, F) for R in self.R]
        return np.stack(forms, axis=1)
