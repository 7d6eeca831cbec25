"""LSSVMClassifier: the least-squares support vector machine of several classes, the base classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from ...base.labels import encode_classes
from ...base.partial_fit import NoPartialFit
from ...base.refit import forget
from ...base.threads import on_few_threads
from ...base.weights import ClassWeight, row_weights
from ...kernels import Kernel, gram, kernel_name, parse_kernel, resolve_kernel, warn_of_scale
from ...kernels.landmarks import Landmarks
from ...kernels.validation import validate_data
from ..model.normalised_kernels import normalised_gram
from .least_squares_training import (
    FACTORED,
    ONE_CALL,
    ONE_SPECTRUM,
    ChosenLeastSquares,
    decided,
    grid_of,
    train_features,
    train_gram,
    train_landmarks,
    train_large,
    unit_rows,
    validate_gram,
    validate_squares,
)
from .parameters import gamma_of, validate_least_squares

#: what a fit leaves beside the attributes that end with an underscore
_PRIVATE = ("_rows", "_kernel", "_landmarks")
#: rows whose Gram matrix is looked at for a gamma that does not suit the features
LOOKED_AT = 512
#: kernel values that one batch of new rows may hold
BATCH = 2**23


@dataclass(eq=False, repr=False)
class LSSVMClassifier(NoPartialFit, ClassifierMixin, BaseEstimator):
    r"""Least-squares support vector machine (Suykens & Vandewalle 1999), one output per class.

    .. math:: \min_{w_c,b_c}\ \tfrac12\lVert w_c\rVert^2
       +\tfrac C2\sum_is_i\bigl(y_{ic}-b_c-w_c^\top\phi(x_i)\bigr)^2,

    with the target :math:`y_{ic}` 1 for the rows of class c and -1 for the others, and the weights
    :math:`s_i` of the rows, 1 unless given; the largest output decides. Two classes have one output, positive
    for ``classes_[1]``. All outputs share one factor. A linear kernel with fewer features than rows is solved
    for w, everything else for the dual coefficients. In terms of a ridge
    :math:`\tfrac\lambda2\lVert w\rVert^2` beside half the sum of squares, C is :math:`1/\lambda`.

    It costs O(n p^2) with a linear kernel or `n_components` = p. Of a kernel, a factor with leave-one-out has
    :math:`\tfrac23n^3` operations; conjugate gradients, without, need :math:`2n^2` for each of some 20 to 200
    products, more for a larger C.

    Read more in the :ref:`user guide <guide-lssvmclassifier>` (``marginbook guide``).

    Parameters
    ----------
    C : float or sequence of floats, default=1.0
        Weight of the errors, > 0, between 1e-100 and 1e100. Of a sequence, the one of the best leave-one-out
        accuracy is taken, of equals the one of the least squared leave-one-out error; up to 1500 rows they
        share one factorisation.
    kernel : {"linear", "poly", "rbf", "precomputed"}, (name, parameters) or callable, default="linear"
        As `marginbook.kernels` has it. A precomputed matrix is symmetric and positive semidefinite. Linear by
        default, unlike in SVC: the machine stands behind features such as those of CLASMKTransformer. A
        callable gets two rows, each a vector, and returns a number (that of SVC gets two matrices).
    gamma : "scale", "auto", float or None, default="scale"
        Of "rbf" and "poly", where a pair does not give it; as in SVC, but `sample_weight` and `class_weight`
        count in the variance of "scale". None is 1 / n_features for "rbf" and 1 for "poly".
    degree : float, default=3
        Of "poly".
    coef0 : float, default=1.0
        Of "poly".
    normalised : bool, default=False
        Whether to take :math:`k(x,z)/\sqrt{k(x,x)k(z,z)}`; for a linear kernel, rows of length 1. Not for
        "precomputed".
    solver : {"auto", "factor", "cg"}, default="auto"
        Of a kernel. "factor" is direct and gives leave-one-out; "cg", preconditioned conjugate gradients,
        ends when the equations hold to `tol`. "auto" is "factor" up to 5000 rows and for a sequence of C.
    tol : float, default=1e-8
        Of "cg": the largest error of an equation, relative to the largest target.
    max_iter : int, default=1000
        Of "cg": products with the Gram matrix.
    n_components : int, default=None
        None is exact. A number m draws as many rows as landmarks and solves the linear machine of their
        Nyström features (:class:`marginbook.kernels.landmarks.Landmarks`), an approximation; leave-one-out
        is that of the linear machine.
    class_weight : {class: number}, "balanced" or None, default=None
        Factor on the weight of each row of the class.
    random_state : int, RandomState or None, default=None
        Of the landmarks.

    Attributes
    ----------
    classes_ : (n_classes,) array
    C_ : float
        The one taken.
    gamma_ : float, of a kernel with a gamma
    dual_coef_ : (n_outputs, n) array
        n_outputs is 1 for two classes, else n_classes. Each row sums to 0. With `n_components` they do not:
        the array is (n_outputs, m), of the m landmarks; for "precomputed" it is still (n_outputs, n), with
        zeros for all other rows.
    coef_ : (n_outputs, n_features) array, of a linear kernel
    intercept_ : (n_outputs,) array
    kkt_residual_ : float
        Largest error of the equations of the returned coefficients, relative to the largest target. Where w
        is solved for, by a linear kernel with fewer features than rows or with `n_components`, the equations
        are those of w and b, and an error is relative to the sum of the absolute values of the terms.
    loo_decision_ : (n, n_classes) array, (n,) for two classes
        What the machine of the other rows, with the same C, decides on each row; a row is left out with all
        of its weight. This and the next two are not there after "cg".
    loo_accuracy_ : float
        Weighted share of rows that it classifies rightly.
    loo_accuracies_ : (n_C,) array
        The same for each C.
    n_iter_ : int
        Products with the Gram matrix in "cg", else 1.
    n_features_in_ : int

    Examples
    --------
    >>> from marginbook.clasmk import LSSVMClassifier
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_wine(return_X_y=True)
    >>> model = LSSVMClassifier(C=[0.01, 1.0, 100.0], kernel=("rbf", {"gamma": 0.05})).fit(scale(X), y)
    >>> model.C_, round(model.loo_accuracy_, 3)
    (1.0, 0.983)
    """

    C: float | Sequence[float] = 1.0
    _: KW_ONLY
    kernel: Kernel = "linear"
    gamma: float | str | None = "scale"
    degree: float = 3
    coef0: float = 1.0
    normalised: bool = False
    solver: str = "auto"
    tol: float = 1e-8
    max_iter: int = 1000
    n_components: int | None = None
    class_weight: ClassWeight = None
    random_state: Any = None

    @on_few_threads
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows `X`, (n, p), or the (n, n) Gram matrix for "precomputed", and labels `y`, (n,).

        Parameters
        ----------
        sample_weight : (n,) array of numbers >= 0, optional
            A row of weight k counts as k equal rows; weight 0 leaves the row out.

        Raises
        ------
        ValueError
            For one class, parameters out of range, a Gram matrix that is not square and symmetric, a row that
            cannot be normalised, or features or `C` so large that something overflows.
        MemoryError
            At once, if the Gram matrix would take more than half of the machine's memory.

        Warns
        -----
        ConvergenceWarning
            If "cg" stopped before `tol`, or features or `C` are so large that rounding spoils the
            coefficients.
        UserWarning
            If gamma does not suit the features, or a precomputed matrix is indefinite.
        """
        forget(self, *_PRIVATE)
        grid = grid_of(self.C)
        name = validate_least_squares(self)
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_, codes = encode_classes(y, "LSSVMClassifier")
        weights = row_weights(X, y, sample_weight, self.class_weight)
        rows = np.arange(len(X)) if weights is None else np.flatnonzero(weights)
        kept = X if len(rows) == len(X) else X[np.ix_(rows, rows)] if name == "precomputed" else X[rows]
        if name == "precomputed":
            validate_gram(X)
        weights = None if weights is None else weights[rows]
        self._kernel = resolve_kernel(self.kernel, self.gamma, self.degree, self.coef0, kept, weights)
        if name in ("rbf", "poly"):
            self.gamma_ = gamma_of(self._kernel, kept.shape[1])
            warn_of_scale(self._kernel, gram(self._kernel, kept[:LOOKED_AT]))
        targets = np.where(codes[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)
        targets = (targets[:, 1:] if len(self.classes_) == 2 else targets)[rows]
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # judged in the next line
            trained = self._train(kept, name, targets, codes[rows], grid, weights)
        trained.judge(self.tol, self.max_iter)
        self.kkt_residual_, self.n_iter_, self.C_ = trained.error, trained.n_iter, trained.C
        self._keep(X, rows, name, trained)
        if trained.accuracies is not None and trained.found.left_out is not None:
            self.loo_accuracies_ = trained.accuracies
            self.loo_accuracy_ = float(trained.accuracies[grid.index(trained.C)])
            outputs = trained.found.left_out
            if len(rows) < len(X):  # of a row without weight the others are all
                outputs = self.decision_function(X).reshape(len(X), -1)
                outputs[rows] = trained.found.left_out
            self.loo_decision_ = outputs.ravel() if targets.shape[1] == 1 else outputs
        return self

    def _train(
        self,
        X: np.ndarray,
        name: str,
        targets: np.ndarray,
        codes: np.ndarray,
        grid: list[float],
        weights: np.ndarray | None,
    ) -> ChosenLeastSquares:
        """Return the machine of the rows `X`, all of positive weight."""
        n, given = len(X), (targets, codes, grid, weights)
        if self.n_components is not None:
            rng = check_random_state(self.random_state)
            if name == "precomputed":
                return train_landmarks(X, self.n_components, rng, *given)
            self._landmarks = Landmarks.fit(self._kernel, X, self.n_components, rng)
            return train_features(self._landmarks.transform(X), *given)
        if name == "linear":
            X = self._lengthened(X)
            validate_squares(X)
            if X.shape[1] < n - 1:
                return train_features(X, *given)
        iterative = self.solver == "cg" or (self.solver == "auto" and n > FACTORED and len(grid) == 1)
        if not iterative and n <= (ONE_CALL if len(grid) == 1 else ONE_SPECTRUM):
            return train_gram(X if name == "precomputed" else self._gram(X), *given)

        def values(rows: slice, columns: slice) -> np.ndarray:
            return X[rows, columns] if name == "precomputed" else self._gram(X[rows], X[columns])

        return train_large(values, *given, iterative=iterative, tol=self.tol, max_iter=self.max_iter)

    def _keep(self, X: np.ndarray, rows: np.ndarray, name: str, trained: ChosenLeastSquares) -> None:
        """Keep what decides: coefficients of features, of landmarks, or of the training rows `X`."""
        found = trained.found
        self.intercept_ = found.bias
        if self.n_components is not None and name != "precomputed":
            assert found.coef is not None
            self._rows = self._landmarks.rows
            self.dual_coef_ = np.ascontiguousarray((self._landmarks.to_features @ found.coef).T)
            del self._landmarks
            return
        self.dual_coef_ = np.zeros((found.dual.shape[1], len(X)))
        self.dual_coef_[:, rows] = found.dual.T
        if name == "linear":
            coef = found.dual.T @ self._lengthened(X[rows]) if found.coef is None else found.coef.T
            self.coef_ = np.ascontiguousarray(coef)
        elif name != "precomputed":
            self._rows = X.copy()

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the outputs for rows `X`, (n, p), or (n, n_train) for "precomputed".

        Returns
        -------
        (n, n_classes) array, or (n,) for two classes: positive for ``classes_[1]``
        """
        check_is_fitted(self, "dual_coef_")
        linear = hasattr(self, "coef_")
        X = validate_data(self, X, dtype=[np.float64, np.float32] if linear else np.float64, reset=False)
        if linear:
            outputs = self._lengthened(X) @ self.coef_.T.astype(X.dtype)
        elif kernel_name(self.kernel) == "precomputed":
            outputs = X @ self.dual_coef_.T
        else:
            height = max(1, BATCH // len(self._rows))
            parts = [X[start : start + height] for start in range(0, len(X), height)]
            outputs = np.concatenate([self._gram(part, self._rows) @ self.dual_coef_.T for part in parts])
        outputs += self.intercept_.astype(outputs.dtype)
        return np.asarray(outputs.ravel() if outputs.shape[1] == 1 else outputs)

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row of `X`, (n, p), or (n, n_train) for "precomputed"."""
        codes = decided(self.decision_function(X))
        return np.asarray(self.classes_[codes])

    def _lengthened(self, X: np.ndarray) -> np.ndarray:
        """Return the rows of `X`, (n, p), brought to length 1 if asked for."""
        return unit_rows(X) if self.normalised else X

    def _gram(self, X: np.ndarray, Z: np.ndarray | None = None) -> np.ndarray:
        """Return the kernel values of the rows of `X`, (n, p), and `Z`, (m, p): (n, m)."""
        if not self.normalised:
            return gram(self._kernel, X, Z)
        return np.asarray(normalised_gram(self._kernel, X, Z))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        try:
            name, _ = parse_kernel(self.kernel)
        except ValueError:  # fit says what is wrong with it
            name = ""
        tags.input_tags.pairwise = name == "precomputed"
        return tags
