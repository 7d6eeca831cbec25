"""The linear DRM by parts of the rows: moments that add up, from memory, call by call, or Dask."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, unique_labels

from ...base.memory import require_memory
from ...base.weights import ClassWeight
from ...kernels import tidy
from ...kernels.validation import validate_data
from ..solvers.one_pass import ClassMoments, LinearMaps, linear_maps
from ..solvers.one_pass_dask import dask_moments, is_dask
from .chunk_weights import chunk_weights
from .parameters import available_chunks, takes_chunks, validate_settings
from .prediction import SPARE, warn_of_certificate


class FitsChunks:
    """What DRMClassifier has for its one-pass form."""

    alpha: float
    beta: float
    kernel: Any
    solver: str
    fit_intercept: bool
    tol: float
    class_weight: ClassWeight
    classes_: np.ndarray
    n_features_in_: int
    moments_: ClassMoments
    maps_: LinearMaps

    @available_if(available_chunks)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Take in more rows; the result equals one fit to all of them.

        Present only for the linear kernel with solver "auto" or "one-pass" and without `n_components`. After
        the first call `alpha`, `beta` and `fit_intercept` must stay as they are. A call that fails leaves the
        machine as it was.

        Parameters
        ----------
        X : (m, p) array or CSR matrix
        y : (m,) labels
        classes : (g,) array, default=None
            All labels that will ever come; required in the first call.
        sample_weight : (m,) array of numbers >= 0, default=None

        Raises
        ------
        ValueError
            For a first call without `classes`, fewer than two of them, others than those of the first call, a
            label that is not among them, ``class_weight="balanced"``, which needs all rows at once, a Dask
            array, parameters out of range, and parameters that changed since the first call.
        MemoryError
            In the first call, where p x p arrays of all classes are more than this machine has.
        """
        if is_dask(X):
            raise ValueError("partial_fit takes no Dask array: fit does, block by block")
        if self.class_weight == "balanced":
            raise ValueError("class_weight='balanced' needs all rows at once: give numbers, or call fit")
        first = not hasattr(self, "moments_")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, reset=first)
        X = tidy(X)
        validate_settings(self, X)
        if first and classes is None:
            raise ValueError("the first call of partial_fit needs classes: all labels that will ever come")
        known = self.classes_ if classes is None else unique_labels(classes)
        if len(known) < 2:
            raise ValueError(f"DRMClassifier needs at least 2 classes, got one class: {known[0]}")
        if not first and not np.array_equal(known, self.classes_):
            raise ValueError(
                f"classes {known.tolist()} differ from those of the first call: {self.classes_.tolist()}"
            )
        strangers = np.setdiff1d(y, known)
        if strangers.size:
            raise ValueError(f"label {strangers[0]} is not among the classes {known.tolist()}")
        if not first and self._settings() != (
            self.moments_.alpha,
            self.moments_.beta,
            self.moments_.G.shape[1],
        ):
            raise ValueError(
                "alpha, beta or fit_intercept changed since the first call of partial_fit; call fit"
            )
        codes = np.searchsorted(known, y)
        weights = chunk_weights(X, codes, known, sample_weight, self.class_weight)
        # a copy, as rows may be refused when some are in
        moments = self._start_moments(X.shape[1], len(known)) if first else self._copied_moments()
        self._solve_maps(moments.add(X, codes, self.fit_intercept, weights))
        for earlier in ("_trained", "_landmarks"):  # of a fit with other parameters
            vars(self).pop(earlier, None)
        self.classes_, self.solver_ = known, "one-pass"
        return self

    def _settings(self) -> tuple[float, float, int]:
        return float(self.alpha), float(self.beta), self.n_features_in_ + int(self.fit_intercept)

    def _set_classes(self, classes: np.ndarray) -> None:
        # a few of each label instead of all rows, which may be millions: it is their type that is checked
        check_classification_targets(np.repeat(classes, 3))
        if len(classes) < 2:
            raise ValueError(f"DRMClassifier needs at least 2 classes, got one class: {classes[0]}")
        self.classes_ = classes

    def _start_moments(self, n_features: int, n_classes: int) -> ClassMoments:
        size = n_features + int(self.fit_intercept)
        require_memory(
            f"one pass over {size:,} features and {n_classes} classes needs",
            4.0 * n_classes * size**2,
            "reduce the features first (TruncatedSVD), or take LDMClassifier(kernel='linear', solver='asgd')",
            share=SPARE,
        )
        return ClassMoments.empty(n_classes, size, float(self.alpha), float(self.beta))

    def _copied_moments(self) -> ClassMoments:
        return replace(self.moments_, G=self.moments_.G.copy(), deficit=self.moments_.deficit.copy())

    def _solve_maps(self, moments: ClassMoments) -> None:
        self.moments_, self.maps_ = moments, linear_maps(moments)
        self.n_iter_, self.kkt_residual_ = 1, self.maps_.kkt_residual
        warn_of_certificate(self.kkt_residual_, self.tol)

    def _fit_dask(self, X: Any, y: Any, sample_weight: Any) -> Self:
        name, _ = validate_settings(self, None)
        if not takes_chunks(self):
            raise ValueError(
                "a Dask array needs kernel='linear' and solver='auto' or 'one-pass', got "
                f"kernel={name!r} and solver={self.solver!r}; call X.compute()"
            )
        if not (sample_weight is None and self.class_weight is None):
            raise ValueError(
                "rows of a Dask array take no weights: call X.compute(), or partial_fit by parts"
            )
        classes, moments = dask_moments(X, y, float(self.alpha), float(self.beta), self.fit_intercept)
        self._set_classes(classes)
        self.n_features_in_, self.solver_ = int(X.shape[1]), "one-pass"
        self.__dict__.pop("feature_names_in_", None)
        self._solve_maps(moments)
        return self
