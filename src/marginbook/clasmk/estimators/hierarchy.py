"""HierarchicalCLASMKClassifier: layers of CLASMK features, each learned on what the last left uncertain."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ...base.labels import encode_classes
from ...base.parameters import is_number, validate_choice, validate_counts, validate_not_negative
from ...base.partial_fit import NoPartialFit
from ...base.refit import forget
from ...base.threads import on_few_threads
from ...base.user_line import user_level
from ...kernels.validation import validate_data
from ..model.truncation import AllTruncated
from .base_classifier import base_has, new_base, validate_base
from .parameters import MARGINS
from .shared_parameters import WeightParameters
from .uncertain_rows import confidence, decision_table, marginal_rows
from .weighted_kernels import CLASMKTransformer

#: parameters that go to the transformers of the layers
_SHARED = {each.name for each in fields(WeightParameters)} - {"random_state"}


@dataclass(eq=False, repr=False)
class HierarchicalCLASMKClassifier(WeightParameters, NoPartialFit, ClassifierMixin, BaseEstimator):
    r"""Layers of CLASMK features, stacked, with a classifier on top.

    Layer 1 is a :class:`~marginbook.clasmk.CLASMKTransformer` of all rows. Each layer's features stand beside
    those of the layers before; the `base` classifier, fitted to all rows in all features so far, says how
    sure it is of each row,

    .. math:: \kappa_i=\tfrac12\bigl(\max_c\xi_i(c)-\max_{j\ne c}\xi_i(j)\bigr),

    with its decision values :math:`\xi_i(c)`, one a class; the next layer is learned on the marginal rows,
    :math:`\kappa_i\le T_\kappa`. It ends after `n_layers`, or when
    :math:`\bigl|\,\lVert\nu^{(l)}-\nu^{(l-1)}\rVert_F-\lVert\nu^{(l-1)}-\nu^{(l-2)}\rVert_F\bigr|\le\epsilon`
    where :math:`\nu^{(0)}=1/K` and the norm before the first is 0.
    Rows and classes have no weights, for the reason that the transformer has none; a pipeline of one layer,
    ``CLASMKTransformer`` and then ``LSSVMClassifier``, takes them in its second step.
    Source: Yu & McKelvey, section 4, (40)-(45).

    Read more in the :ref:`user guide <guide-hierarchicalclasmkclassifier>` (``marginbook guide``).

    Parameters
    ----------
    kernels : list of kernels, default=None
        As in :mod:`marginbook.kernels`. None is the paper's 13 for Table 4: rbf,
        :math:`\exp(-\lVert x-z\rVert^2/\sigma^2)` with :math:`\sigma=2^{-3},\dots,2^6`, so that gamma is
        :math:`1/\sigma^2`, and polynomials :math:`(1+x^\top z)^d` of degree d = 1, 2, 3. They suit
        standardised features.
    n_layers : int, default=2
        Layers at most.
    marginal : float, default=1.0
        :math:`T_\kappa`. A base with targets of 1 and -1 has :math:`\kappa` around 1 where it fits.
    base : classifier, default=None
        Any with ``decision_function``, one value for each class against the rest (for two classes, one
        value). None is ``LSSVMClassifier()``.
    margin : {"printed", "signed"}, default="printed"
        "printed" is :math:`\kappa` as above: a row that is wrong with certainty is not marginal. "signed"
        takes the row's own class for c: then it is.
    min_marginal : int, default=10
        A class with fewer marginal rows keeps so many, the least certain ones, or all that it has.
    eps : float, default=1e-3
        :math:`\epsilon`.
    combine, denominator, eta, truncation, threshold, solver, max_iter
        Of the weights of every layer: see :class:`~marginbook.clasmk.CLASMKTransformer`.
    tol, max_rank, n_components, order, basis_fraction, weights_on
        Of the bases and subspaces of every layer, and which rows the weights are learned on; `tol` is the
        squared distance from the span above which a row joins a basis.
    random_state : int, RandomState or None, default=None
        An integer s gives s to the first layer, s + 1 to the next and so on, and seeds a `base` that has a
        ``random_state`` of None.
    verbose : int, default=0
        Whether to print what is being done.

    Attributes
    ----------
    layers_ : list of L CLASMKTransformer
    weights_ : (L, C, K) array
        :math:`\nu^{(1)},\dots,\nu^{(L)}`.
    n_layers_ : int
        L, the layers learned.
    stopped_ : {"n_layers", "weights", "no marginal rows", "all kernels truncated"}
        Why no further layer was learned.
    n_iter_ : int
        Most iterations that the weights of a layer took.
    weight_changes_ : (L,) array
        :math:`\lVert\nu^{(l)}-\nu^{(l-1)}\rVert_F`.
    n_features_per_layer_ : (L,) array of int
    marginal_rows_ : list of L arrays of int
        Rows that each layer was learned on.
    bases_ : list of L classifiers
        The base in the features up to each layer.
    base_ : classifier
        The last of them, which decides.
    classes_ : (C,) array
    n_features_in_ : int

    Examples
    --------
    >>> from marginbook.clasmk import HierarchicalCLASMKClassifier
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_wine(return_X_y=True)
    >>> model = HierarchicalCLASMKClassifier(eta=2.9, random_state=0).fit(scale(X)[::2], y[::2])
    >>> [round(float((labels == y[1::2]).mean()), 3) for labels in model.staged_predict(scale(X)[1::2])]
    [0.989, 0.989]
    >>> [len(rows) for rows in model.marginal_rows_], model.n_features_per_layer_.tolist()
    ([89, 76], [39, 38])
    """

    n_layers: int = 2
    marginal: float = 1.0
    base: Any = None
    margin: str = "printed"
    min_marginal: int = 10
    eps: float = 1e-3

    @on_few_threads
    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows `X`, (n, p), and labels `y`, (n,).

        Warns
        -----
        ConvergenceWarning
            If the solver of the weights stopped at `max_iter`.

        Raises
        ------
        ValueError
            For one class only, parameters out of range, a base whose decision values are not one for each
            class, and what CLASMKTransformer raises.
        TypeError
            For a base without ``decision_function``.
        """
        forget(self)
        self._validate_parameters()
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_, codes = encode_classes(y, type(self).__name__)
        self.layers_: list[CLASMKTransformer] = []
        self.bases_: list[Any] = []
        self.marginal_rows_: list[np.ndarray] = []
        changes: list[float] = []
        rows, features = np.arange(len(X)), np.empty((len(X), 0))
        while True:
            layer = self._layer(len(self.layers_))
            try:
                layer.fit(X[rows], self.classes_[codes[rows]])
            except AllTruncated as error:
                if not self.layers_:
                    raise
                warnings.warn(
                    f"no layer {len(self.layers_) + 1}: {error}", UserWarning, stacklevel=user_level()
                )
                self.stopped_ = "all kernels truncated"
                break
            self.layers_.append(layer)
            self.marginal_rows_.append(rows)
            features = np.hstack([features, layer.transform(X)])
            self.bases_.append(new_base(self.base, self.random_state).fit(features, self.classes_[codes]))
            changes.append(self._change())
            self._say(
                f"layer {len(self.layers_)} of at most {self.n_layers}: learned on {len(rows)} rows, "
                f"{features.shape[1]} features so far, weights moved by {changes[-1]:.3g}"
            )
            if len(self.layers_) == self.n_layers:
                self.stopped_ = "n_layers"
                break
            if abs(changes[-1] - (changes[-2] if len(changes) > 1 else 0.0)) <= self.eps:
                self.stopped_ = "weights"
                break
            base = self.bases_[-1]
            table = decision_table(base.decision_function(features), len(self.classes_), type(base).__name__)
            kappa = confidence(table, codes, self.margin)
            rows = marginal_rows(kappa, codes, self.marginal, self.min_marginal)
            if len(rows) == 0:
                self.stopped_ = "no marginal rows"
                break
        self.base_ = self.bases_[-1]
        self.n_layers_ = len(self.layers_)
        self.weights_ = np.array([layer.weights_ for layer in self.layers_])
        self.weight_changes_ = np.array(changes)
        self.n_iter_ = max(layer.n_iter_ for layer in self.layers_)
        self.n_features_per_layer_ = np.array([len(layer.get_feature_names_out()) for layer in self.layers_])
        self._say(f"ended because of {self.stopped_}")
        return self

    def _validate_parameters(self) -> None:
        validate_counts(n_layers=self.n_layers, min_marginal=self.min_marginal)
        validate_choice("margin", self.margin, MARGINS)
        validate_not_negative(eps=self.eps)
        if not is_number(self.marginal):
            raise ValueError(f"marginal must be a finite number, got {self.marginal!r}; 1 is the paper's")
        validate_base(self)

    def _layer(self, number: int) -> CLASMKTransformer:
        """Return the transformer of layer `number`, from 0, unfitted."""
        seed = self.random_state
        if isinstance(seed, int | np.integer):
            seed = (int(seed) + number) % 2**32
        shared = {name: getattr(self, name) for name in _SHARED}
        return CLASMKTransformer(random_state=seed, **shared)

    def _change(self) -> float:
        """Return the Frobenius norm by which the last layer's weights differ from those before."""
        last = self.layers_[-1].weights_
        uniform = np.full(last.shape, 1 / last.shape[1])
        before = self.layers_[-2].weights_ if len(self.layers_) > 1 else uniform
        return float(np.linalg.norm(last - before))

    def _stages(self, X: Any) -> Iterator[tuple[Any, np.ndarray]]:
        """Yield the base of each layer and the features of the rows of `X` up to it."""
        check_is_fitted(self, "base_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        features = np.empty((len(X), 0))
        for layer, base in zip(self.layers_, self.bases_, strict=True):
            features = np.hstack([features, layer.transform(X)])
            yield base, features

    def features(self, X: Any) -> np.ndarray:
        r"""Return the features :math:`\psi` of the rows of `X`, (n, p), of all layers: (n, q), (41)."""
        *_, (_, features) = self._stages(X)
        return features

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values of the last base for rows `X`, (n, p).

        Returns
        -------
        (n, C) array, or (n,) for two classes: positive for ``classes_[1]``
        """
        return np.asarray(self._last(X, "decision_function"))

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row of `X`, (n, p)."""
        return np.asarray(self._last(X, "predict"))

    @available_if(base_has("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the last base for rows `X`, (n, p): (n, C); if it has them."""
        return np.asarray(self._last(X, "predict_proba"))

    def _last(self, X: Any, method: str) -> Any:
        *_, (base, features) = self._stages(X)
        return getattr(base, method)(features)

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Yield ``decision_function`` of rows `X`, (n, p), with one layer, with two, up to all."""
        for base, features in self._stages(X):
            yield np.asarray(base.decision_function(features))

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the classes of rows `X`, (n, p), with one layer, with two, up to all."""
        for base, features in self._stages(X):
            yield np.asarray(base.predict(features))
