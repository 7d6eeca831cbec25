"""SubspaceKernelTransformer: one kernel, approximated in a subspace that all rows span together."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ...base.partial_fit import NoPartialFit
from ...base.refit import forget
from ...base.threads import on_few_threads
from ...kernels import Kernel
from ...kernels.validation import validate_data
from ..estimators.parameters import validate_spanning, validate_subspaces
from ..model.embedding import class_subspace


@dataclass(eq=False, repr=False)
class SubspaceKernelTransformer(
    NoPartialFit, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    r"""Coordinates of the rows in one subspace of the feature space of one normalised kernel.

    The greedy spectral embedding (Ouimet & Bengio 2005) takes a row into the basis when its squared distance
    to the span so far exceeds `tol`, whatever its class. With principal directions :math:`U=\Phi_BA` there,

    .. math:: z(x)=U^\top\varphi(x)=A^\top\tilde k(X_B,x),\qquad z(x)^\top z(x')\approx\tilde k(x,x').

    Before `LSSVMClassifier` it makes the single-kernel machine that class subspaces are compared with.
    Rows have no weights: rows span the subspace, and a copy of one is in its span already.

    Read more in the :ref:`user guide <guide-subspacekerneltransformer>` (``marginbook guide``).

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf"}, (name, parameters) or callable, default="rbf"
        As in :mod:`marginbook.kernels`; normalised. A callable gets two rows, each a vector, and returns a
        number (that of SVC gets two matrices).
    tol : float, default=1e-3
        Largest squared distance of a training row to the subspace, in [0, 1]; that to the origin is 1.
    max_rank : int, default=None
        Rows that the basis may have.
    n_components : int or float, default=None
        Directions to keep, most energy first; a float in (0, 1] is a share of the energy.
    order : {"pivoted", "sequential"}, default="pivoted"
        The farthest row first, or as they come.

    Attributes
    ----------
    subspace_ : Subspace
    basis_indices_ : (m,) array of int
        Training rows in the basis.
    residual_ : float
        Largest squared distance of a training row to the span of the basis.
    n_features_in_ : int

    Examples
    --------
    >>> from marginbook.clasmk import SubspaceKernelTransformer
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> X = scale(load_wine().data)
    >>> model = SubspaceKernelTransformer(("rbf", {"gamma": 0.01}), tol=0.01).fit(X)
    >>> model.transform(X).shape, model.residual_ <= 0.01
    ((178, 57), True)
    """

    kernel: Kernel = "rbf"
    _: KW_ONLY
    tol: float = 1e-3
    max_rank: int | None = None
    n_components: int | float | None = None
    order: str = "pivoted"

    @on_few_threads
    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the basis among rows `X`, (n, p); `y` is not used.

        Raises
        ------
        ValueError
            For parameters out of range, and a row that cannot be normalised.
        """
        forget(self)
        validate_spanning(self.kernel)
        validate_subspaces(self)
        X = validate_data(self, X, dtype=np.float64)
        found = class_subspace(
            self.kernel,
            X,
            tol=self.tol,
            max_rank=self.max_rank,
            n_components=self.n_components,
            order=self.order,
        )
        self.subspace_, self.basis_indices_, self.residual_ = found, found.indices, found.residual
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the coordinates of rows `X`, (n, p): (n, r); of float32 rows in float32."""
        check_is_fitted(self, "subspace_")
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return self.subspace_.coordinates(X.astype(np.float64, copy=False)).astype(X.dtype, copy=False)

    @property
    def _n_features_out(self) -> int:
        return self.subspace_.n_components

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
