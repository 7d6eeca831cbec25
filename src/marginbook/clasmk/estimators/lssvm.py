"""LSSVMClassifier: the least-squares support vector machine of several classes, the base classifier."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ...base.labels import encode_classes
from ...base.parameters import is_number, validate_flags
from ...kernels import Kernel, gram, kernel_name, parse_kernel
from ..solvers.least_squares import LeastSquares, Spectrum, kkt_residual, solve_features, solve_kernel

#: what a fit leaves beside the attributes that end with an underscore
_PRIVATE = ("_rows",)
#: error of the equations, relative to the targets, of which a fit says something
UNSOLVED = 1e-3


class LSSVMClassifier(ClassifierMixin, BaseEstimator):
    r"""Least-squares support vector machine (Suykens & Vandewalle 1999), one output per class.

    .. math:: \min_{w_c,b_c}\ \tfrac12\lVert w_c\rVert^2
       +\tfrac C2\sum_i\bigl(y_{ic}-b_c-w_c^\top\phi(x_i)\bigr)^2,

    with the target :math:`y_{ic}` 1 for the rows of class c and -1 for the others; the largest output
    decides. Two classes have one output, positive for ``classes_[1]``. A linear kernel with fewer features
    than rows is solved for w, everything else for the dual coefficients.

    Parameters
    ----------
    C : float or sequence of floats, default=1.0
        Weight of the errors, > 0. Of a sequence, the one of the best leave-one-out accuracy is taken, of
        equals the one of the least squared leave-one-out error; all of them cost one factorisation.
    kernel : {"linear", "poly", "rbf", "precomputed"}, (name, parameters) or callable, default="linear"
        As `marginbook.kernels` has it. A precomputed matrix is symmetric.
    normalised : bool, default=False
        Whether to take :math:`k(x,z)/\sqrt{k(x,x)k(z,z)}`; for a linear kernel, rows of length 1. Not for
        "precomputed".

    Attributes
    ----------
    classes_ : (n_classes,) array
    C_ : float
        The one taken.
    dual_coef_ : (n_outputs, n) array
        n_outputs is 1 for two classes, else n_classes. Each row sums to 0.
    coef_ : (n_outputs, n_features) array, of a linear kernel
    intercept_ : (n_outputs,) array
    loo_decision_ : (n, n_classes) array, (n,) for two classes
        What the machine of the other rows, with the same C, decides on each row.
    loo_accuracy_ : float
        Share of rows that it classifies rightly.
    loo_accuracies_ : (n_C,) array
        The same, for each C.
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_wine(return_X_y=True)
    >>> model = LSSVMClassifier(C=[0.01, 1.0, 100.0], kernel=("rbf", {"gamma": 0.05})).fit(scale(X), y)
    >>> model.C_, round(model.loo_accuracy_, 3)
    (1.0, 0.983)
    """

    classes_: np.ndarray
    intercept_: np.ndarray
    n_features_in_: int

    def __init__(
        self, C: float | Sequence[float] = 1.0, *, kernel: Kernel = "linear", normalised: bool = False
    ):
        self.C = C
        self.kernel = kernel
        self.normalised = normalised

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows `X`, (n, p), or the (n, n) Gram matrix for "precomputed", and labels `y`, (n,).

        Raises
        ------
        ValueError
            For one class, parameters out of range, a Gram matrix that is not square and symmetric, and a row
            that cannot be normalised, or features whose squares overflow.

        Warns
        -----
        ConvergenceWarning
            If `C` is so large for a kernel that is not of full rank that rounding spoils the coefficients.
        """
        for state in [name for name in vars(self) if name.endswith("_") or name in _PRIVATE]:
            delattr(self, state)
        grid = _grid(self.C)
        name = self._checked_kernel()
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_, codes = encode_classes(y, "LSSVMClassifier")
        targets = np.where(codes[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)
        if len(self.classes_) == 2:
            targets = targets[:, 1:]

        if name == "linear":
            X = self._lengthened(X)
        primal = name == "linear" and X.shape[1] < X.shape[0] - 1
        with np.errstate(over="ignore", invalid="ignore"):
            matrix = X if primal else self._training_gram(X, name)
            total = np.square(matrix).sum() if primal else np.abs(matrix).sum()
        if not np.isfinite(total):
            raise ValueError("the squares of the features overflow, wanted finite ones; scale the features")
        found = _solutions(matrix, targets, grid, primal=primal)
        self.loo_accuracies_ = np.array([(_codes(each.left_out) == codes).mean() for each in found])
        errors = [((each.left_out - targets) ** 2).mean() for each in found]
        best = min(range(len(grid)), key=lambda i: (-self.loo_accuracies_[i], errors[i]))

        taken = found[best]
        error = 0.0 if primal else kkt_residual(matrix, targets, grid[best], taken)
        if error > UNSOLVED:
            warnings.warn(
                f"rounding leaves an error of {error:.1e} in the equations, wanted {UNSOLVED:g}: "
                f"C={grid[best]:g} is too large for this kernel; lower C",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.C_, self.loo_accuracy_ = grid[best], float(self.loo_accuracies_[best])
        self.dual_coef_, self.intercept_ = np.ascontiguousarray(taken.dual.T), taken.bias
        self.loo_decision_ = taken.left_out.ravel() if targets.shape[1] == 1 else taken.left_out
        if name == "linear":
            coef = self.dual_coef_ @ X if taken.coef is None else taken.coef.T
            self.coef_ = np.ascontiguousarray(coef)
        elif name != "precomputed":
            self._rows = X.copy()
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the outputs for rows `X`, (n, p), or (n, n_train) for "precomputed".

        Returns
        -------
        (n, n_classes) array, or (n,) for two classes: positive for ``classes_[1]``
        """
        check_is_fitted(self, "dual_coef_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        name = kernel_name(self.kernel)
        if name == "linear":
            outputs = self._lengthened(X) @ self.coef_.T
        elif name == "precomputed":
            outputs = X @ self.dual_coef_.T
        else:
            outputs = self._gram(X, self._rows) @ self.dual_coef_.T
        outputs += self.intercept_
        return np.asarray(outputs.ravel() if outputs.shape[1] == 1 else outputs)

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row of `X`, (n, p), or (n, n_train) for "precomputed"."""
        codes = _codes(self.decision_function(X))
        return np.asarray(self.classes_[codes])

    def _checked_kernel(self) -> str:
        """Return the kernel's name, or "callable"."""
        validate_flags(normalised=self.normalised)
        name = kernel_name(self.kernel)
        if name == "precomputed" and self.normalised:
            raise ValueError(
                "normalised=True does not go with kernel='precomputed', which lacks k(x, x) of new rows; "
                "normalise the matrix"
            )
        return name

    def _lengthened(self, X: np.ndarray) -> np.ndarray:
        """Return the rows of `X`, (n, p), brought to length 1 if asked for."""
        if not self.normalised:
            return X
        largest = np.abs(X).max(axis=1, keepdims=True)
        if not largest.all():
            raise ValueError(
                f"row {int(np.argmin(largest))} is zero and has no direction; drop it or take a kernel with "
                "k(x, x) > 0"
            )
        X = X / largest
        return np.asarray(X / np.linalg.norm(X, axis=1, keepdims=True))

    def _training_gram(self, X: np.ndarray, name: str) -> np.ndarray:
        """Return the (n, n) Gram matrix of the rows of `X`, or a precomputed `X` itself."""
        if name == "linear":
            return X @ X.T
        if name != "precomputed":
            return self._gram(X)
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"kernel='precomputed' needs a square matrix, got shape {X.shape}")
        if not np.allclose(X, X.T, rtol=1e-8, atol=1e-8 * np.abs(X).max()):
            raise ValueError(
                "kernel='precomputed' needs a symmetric matrix, and the largest |K - K'| is "
                f"{np.abs(X - X.T).max():.1e}; take (K + K') / 2"
            )
        return X

    def _gram(self, X: np.ndarray, Z: np.ndarray | None = None) -> np.ndarray:
        """Return the kernel values of the rows of `X`, (n, p), and `Z`, (m, p): (n, m)."""
        if not self.normalised:
            return gram(self.kernel, X, Z)
        from ..model.normalised_kernels import normalised_gram

        return np.asarray(normalised_gram(self.kernel, X, Z))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        try:
            name, _ = parse_kernel(self.kernel)
        except ValueError:  # fit says what is wrong with it
            name = ""
        tags.input_tags.pairwise = name == "precomputed"
        return tags


def _grid(C: Any) -> list[float]:
    """Return the values of the parameter `C`, a number or a sequence of numbers, as a list."""
    values: list[Any] = (
        [C] if isinstance(C, Real) else list(C) if np.iterable(C) and not isinstance(C, str) else []
    )
    if not values:
        raise ValueError(f"C must be a number > 0 or a sequence of such numbers, got {C!r}")
    for value in values:
        if not (is_number(value) and 1e-100 <= value <= 1e100):
            raise ValueError(f"C must be in [1e-100, 1e+100], got {value!r}")
    return [float(value) for value in values]


def _solutions(
    matrix: np.ndarray, targets: np.ndarray, grid: list[float], primal: bool
) -> list[LeastSquares]:
    """Return the solution for each C of `grid`, of features (primal) or of a Gram matrix, factored once."""
    if len(grid) == 1:
        return [(solve_features if primal else solve_kernel)(matrix, targets, grid[0])]
    factored = (Spectrum.of_features if primal else Spectrum.of_kernel)(matrix, targets)
    return [factored.solve(C) for C in grid]


def _codes(outputs: np.ndarray) -> np.ndarray:
    """Return the number of the class that the `outputs`, (n, n_classes), (n, 1) or (n,), decide for."""
    if outputs.ndim == 1 or outputs.shape[1] == 1:
        return (outputs.ravel() > 0).astype(int)
    return outputs.argmax(axis=1)
