r"""The feature map that subspaces and weights define: what the room's transformers compute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .embedding import Subspace
from .subspaces import class_coordinates


@dataclass(frozen=True)
class FeatureMap:
    r"""Weighted coordinates in the subspaces of each class, of several kernels.

    With :math:`z_{c,i}(x)=U_{c,i}^\top\varphi_i(x)` and weights :math:`\nu_{c,i}`, class c has the features

    .. math::
       \sum_i\sqrt{\nu_{c,i}}\,z_{c,i}(x)\ \text{ (sum, with zeros up to the longest) or }\
       \bigl(\sqrt{\nu_{c,i}}\,z_{c,i}(x)\bigr)_i\ \text{ (concat)},

    and those of the classes stand side by side. Source: the feature map after (30), and (40).

    Attributes
    ----------
    parts : list of C lists of (i, weight, Subspace)
        Kernel i, :math:`\nu_{c,i}>0` and the subspace.
    combine : {"sum", "concat"}
    """

    parts: list[list[tuple[int, float, Subspace]]]
    combine: str

    @classmethod
    def of(
        cls, subspaces: Sequence[Sequence[Subspace]], kept: np.ndarray, weights: np.ndarray, combine: str
    ) -> FeatureMap:
        """Return the map of the kernels with a weight; the subspaces of the others are let go.

        Parameters
        ----------
        subspaces : C sequences of the subspaces of the kernels `kept`
        kept : (m,) array of int
        weights : (C, K) array
        combine : {"sum", "concat"}
        """
        parts = [
            [
                (int(i), float(weights[code, i]), subspace)
                for i, subspace in zip(kept, row, strict=True)
                if weights[code, i] > 0
            ]
            for code, row in enumerate(subspaces)
        ]
        return cls(parts, combine)

    @property
    def widths(self) -> list[int]:
        """Number of features of each class, length C."""
        total = sum if self.combine == "concat" else max
        return [total(subspace.n_components for _, _, subspace in part) for part in self.parts]

    def names(self, prefix: str, labels: np.ndarray) -> np.ndarray:
        """Return names such as ``clasmk_cat_3``, with the kernel before the number for "concat": (q,).

        Parameters
        ----------
        prefix : str
        labels : (C,) array
        """
        found = []
        for label, part, width in zip(labels, self.parts, self.widths, strict=True):
            if self.combine == "sum":
                found += [f"{prefix}_{label}_{j}" for j in range(width)]
                continue
            for i, _, subspace in part:
                found += [f"{prefix}_{label}_kernel{i}_{j}" for j in range(subspace.n_components)]
        return np.asarray(found, dtype=object)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return the features of the rows of `X`, (n, p): an (n, q) array with q = ``sum(widths)``."""
        features = np.zeros((len(X), sum(self.widths)))
        begin = 0
        for part, width in zip(self.parts, self.widths, strict=True):
            dimensions = [subspace.n_components for _, _, subspace in part]
            side_by_side = np.cumsum([0, *dimensions[:-1]]) if self.combine == "concat" else [0] * len(part)
            for rows, k, z in class_coordinates([subspace for _, _, subspace in part], X):
                start = begin + int(side_by_side[k])
                features[rows, start : start + dimensions[k]] += np.sqrt(part[k][1]) * z.T
            begin += width
        return features
