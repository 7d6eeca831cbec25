"""What both transformers do first: check rows and labels, split, span the subspaces, measure them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from ...base.labels import encode_classes
from ...base.partial_fit import NoPartialFit
from ...base.refit import forget
from ...kernels import Kernel
from ...kernels.validation import validate_data
from ..model.embedding import Subspace
from ..model.features import FeatureMap
from ..model.statistics import Separation, separation
from ..model.subspaces import fit_subspaces
from ..model.truncation import representative
from .parameters import resolve_kernels, validate_bases
from .shared_parameters import SubspaceParameters
from .splitting import split_rows

#: shares of energy are at most 1, up to the rounding of subspaces with tolerances near zero
BEYOND_WHOLE = 1 + 1e-6


@dataclass(frozen=True)
class Learned:
    """What is known of the kernels before one is chosen or weighted.

    Attributes
    ----------
    subspaces : C lists of the subspaces of the kernels `kept`
    kept : (m,) array of int
        Kernels that represent their classes.
    separation : Separation
        Statistics of the kernels `kept`, (C, m, m).
    """

    subspaces: list[list[Subspace]]
    kept: np.ndarray
    separation: Separation


class ClassSubspaces(SubspaceParameters, NoPartialFit, TransformerMixin, BaseEstimator):
    """Coordinates in subspaces of the classes; subclasses choose or weight the kernels.

    A subclass sets ``map_`` from what :meth:`_learn` returns.
    """

    map_: FeatureMap
    classes_: np.ndarray
    n_features_in_: int

    def _learn(self, X: Any, y: Any, combine: str) -> Learned:
        """Check the input, split it, fit the subspaces and drop the kernels that do not represent it."""
        forget(self)
        validate_bases(self)
        self.kernel_set_: list[Kernel] = resolve_kernels(self.kernels)
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_, codes = encode_classes(y, type(self).__name__)
        split = split_rows(codes, self.basis_fraction, check_random_state(self.random_state))
        self.basis_rows_, self.held_out_rows_ = split.basis, split.held_out
        n_classes, n_kernels = len(self.classes_), len(self.kernel_set_)
        self._say(f"bases of {n_classes} classes x {n_kernels} kernels from {len(split.basis)} rows")
        subspaces = self._bases(X[split.basis], codes[split.basis])
        self._say(f"statistics of {len(split.held_out)} held-out rows")
        measured = separation(
            subspaces, X[split.held_out], codes[split.held_out], combine=combine, denominator=self.denominator
        )
        self.energy_ = measured.energy
        if self.energy_.max() > BEYOND_WHOLE:
            worst = self.kernel_set_[int(self.energy_.max(axis=0).argmax())]
            raise ValueError(
                f"held-out rows have {self.energy_.max():.6g} of their energy in a subspace of kernel "
                f"{worst!r}, wanted at most 1; choose a positive semidefinite kernel"
            )
        self.kept_kernels_ = kept = representative(self.energy_, self.eta, self.truncation)
        self._say(f"{len(kept)} of {n_kernels} kernels hold more than eta={self.eta:g} of these rows")
        subspaces = [[row[i] for i in kept] for row in subspaces]
        if self.weights_on == "nu":
            self.separation_ = measured.keep(kept)
        else:
            self.separation_ = separation(
                subspaces, X[split.basis], codes[split.basis], combine=combine, denominator=self.denominator
            )
        return Learned(subspaces, kept, self.separation_)

    def _bases(self, X: np.ndarray, codes: np.ndarray) -> list[list[Subspace]]:
        """Return the subspaces of the rows `X`, (b, p), class by class with a line for each if wanted."""
        found = []
        for code, label in enumerate(self.classes_):
            block = X[codes == code]
            found += fit_subspaces(
                block,
                np.zeros(len(block), dtype=int),
                self.kernel_set_,
                tol=self.tol,
                max_rank=self.max_rank,
                n_components=self.n_components,
                order=self.order,
            )
            dimensions = [subspace.n_components for subspace in found[-1]]
            self._say(
                f"class {label} ({code + 1} of {len(self.classes_)}): {len(block)} rows, "
                f"subspaces of {min(dimensions)} to {max(dimensions)} dimensions"
            )
        return found

    def _spread(self, kept_weights: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """Return weights of the kernels `kept`, (C, m), as weights of all: (C, K)."""
        weights = np.zeros((len(kept_weights), len(self.kernel_set_)))
        weights[:, kept] = kept_weights
        return weights

    def transform(self, X: Any) -> np.ndarray:
        """Return the features of the rows of `X`, (n, p): an (n, q) array; of float32 rows in float32."""
        check_is_fitted(self, "map_")
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return self.map_(X.astype(np.float64, copy=False)).astype(X.dtype, copy=False)

    @property
    def _n_features_out(self) -> int:
        return sum(self.map_.widths)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return names of the features, such as ``clasmk_cat_0`` for the first of class "cat": (q,).

        Parameters
        ----------
        input_features : ignored
            A feature of the output mixes all of the input.
        """
        check_is_fitted(self, "map_")
        return self.map_.names(type(self).__name__.removesuffix("Transformer").lower(), self.classes_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
