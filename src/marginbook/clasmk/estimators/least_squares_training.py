"""What a fit of LSSVMClassifier computes: the route to the equations, the best C, their error."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse.linalg import ArpackError, eigsh
from sklearn.exceptions import ConvergenceWarning

from ...base.parameters import is_number
from ...base.user_line import user_level
from ...kernels.decomposition import eigh
from ...kernels.validation import validate_square
from ..solvers.half_stored import HalfStored, square
from ..solvers.least_squares import LeastSquares, Spectrum, solve_features, solve_kernel
from ..solvers.least_squares_errors import equations_error, features_error, kkt_residual
from ..solvers.least_squares_large import solve_blocked, solve_iteratively
from ..solvers.least_squares_refinement import refined

#: error of the equations, relative to the targets, of which a fit says something
UNSOLVED = 1e-4
#: rows up to which "auto" takes a factor, which gives leave-one-out besides
FACTORED = 5000
#: rows up to which a factor is one call of LAPACK, and all C share one eigendecomposition: about a second
ONE_CALL, ONE_SPECTRUM = 3000, 1500
#: share of the largest eigenvalue below which a negative one is rounding
INDEFINITE = 1e-6
#: what a kernel machine of too many rows can be replaced by
INSTEAD = "n_components=1000, an approximation, or kernel='linear'"

Values = Callable[[slice, slice], np.ndarray]


@dataclass(frozen=True)
class ChosenLeastSquares:
    """The machine of the best C, with the largest error of its equations and the accuracies of all C."""

    C: float
    found: LeastSquares
    error: float
    n_iter: int = 1
    accuracies: np.ndarray | None = None

    def judge(self, tol: float, max_iter: int) -> None:
        """Raise ValueError for what is not finite; warn of equations left open, in "cg" by its tolerance."""
        found = (self.found.dual, self.found.bias, self.found.left_out, self.found.coef, self.error)
        if not all(np.isfinite(each).all() for each in found if each is not None):
            raise ValueError(
                f"the coefficients are not finite: the features, or C={self.C:g}, are too large; scale the "
                "features (StandardScaler), or lower C"
            )
        if self.n_iter >= max_iter and self.error > tol:
            complaint = (
                f"the equations are left with an error of {self.error:.1e}, wanted {tol:g}, after max_iter="
                f"{max_iter} product{'' if max_iter == 1 else 's'}: C={self.C:g} is large for this "
                "kernel; raise max_iter or lower C"
            )
        elif self.error > max(UNSOLVED, tol):
            complaint = (
                f"rounding leaves an error of {self.error:.1e} in the equations, wanted at most "
                f"{max(UNSOLVED, tol):g}: C={self.C:g} is too large for this kernel; scale the features "
                "(StandardScaler), or lower C"
            )
        else:
            return
        warnings.warn(complaint, ConvergenceWarning, stacklevel=user_level())


def grid_of(C: Any) -> list[float]:
    """Return the values of the parameter `C`, a number or a sequence of numbers, as a list."""
    values: list[Any] = (
        [C] if isinstance(C, Real) else list(C) if np.iterable(C) and not isinstance(C, str) else []
    )
    if not values:
        raise ValueError(f"C must be a number > 0 or a sequence of such numbers, got {C!r}")
    for value in values:
        if not (is_number(value) and 1e-100 <= value <= 1e100):
            raise ValueError(f"C must be a number > 0, between 1e-100 and 1e+100, got {value!r}")
    return [float(value) for value in values]


def decided(outputs: np.ndarray) -> np.ndarray:
    """Return the number of the class that the `outputs`, (n, n_classes), (n, 1) or (n,), decide for."""
    if outputs.ndim == 1 or outputs.shape[1] == 1:
        return (outputs.ravel() > 0).astype(int)
    return outputs.argmax(axis=1)


def train_features(
    X: np.ndarray, targets: np.ndarray, codes: np.ndarray, grid: list[float], weights: np.ndarray | None
) -> ChosenLeastSquares:
    """Train on the features `X`, (n, p), for the coefficients of the features."""
    return _train(X, targets, codes, grid, weights, solve_features, Spectrum.of_features, features_error)


def train_gram(
    K: np.ndarray, targets: np.ndarray, codes: np.ndarray, grid: list[float], weights: np.ndarray | None
) -> ChosenLeastSquares:
    """Train on a Gram matrix `K`, (n, n), of a few thousand rows at most."""
    return _train(K, targets, codes, grid, weights, solve_kernel, Spectrum.of_kernel, kkt_residual)


def _train(
    A: np.ndarray,
    targets: np.ndarray,
    codes: np.ndarray,
    grid: list[float],
    weights: np.ndarray | None,
    solve: Callable[..., LeastSquares],
    decompose: Callable[..., Spectrum],
    error: Callable[..., float],
) -> ChosenLeastSquares:
    if len(grid) == 1:
        found = [solve(A, targets, grid[0], weights)]
    else:
        spectrum = decompose(A, targets, weights)
        found = [spectrum.solve(C) for C in grid]
    best, accuracies = _best(found, targets, codes, weights)
    C, taken = grid[best], found[best]
    left = error(A, targets, C, taken, weights)
    if left > UNSOLVED and solve is solve_kernel:
        taken, left = refined(A, targets, C, taken, left, weights)
    return ChosenLeastSquares(C, taken, left, accuracies=accuracies)


def train_large(
    values: Values,
    targets: np.ndarray,
    codes: np.ndarray,
    grid: list[float],
    weights: np.ndarray | None,
    *,
    iterative: bool,
    tol: float,
    max_iter: int,
) -> ChosenLeastSquares:
    """Train on a Gram matrix that `values` gives in blocks, in the memory of one such matrix."""
    n = len(targets)
    root = np.ones(n) if weights is None else np.sqrt(weights)

    def weighted(rows: slice, columns: slice) -> np.ndarray:
        block = values(rows, columns)
        return block if weights is None else block * root[rows, None] * root[columns]

    K = HalfStored.fill(square(n, INSTEAD), weighted)
    if not np.isfinite(K.diagonal().sum()):
        raise ValueError("the squares of the features overflow, wanted finite ones; scale the features")
    accuracies: np.ndarray | None = None
    if iterative:
        best = 0
        taken, n_iter = solve_iteratively(K, targets, grid[0], root, tol=tol, max_iter=max_iter)
    else:
        found = [solve_blocked(K, targets, C, root) for C in grid]
        n_iter, (best, accuracies) = 1, _best(found, targets, codes, weights)
        taken = found[best]
    fitted = K.times(taken.dual / root[:, None]) / root[:, None]
    error = equations_error(fitted, targets, grid[best], taken, weights)
    return ChosenLeastSquares(grid[best], taken, error, n_iter, accuracies)


def train_landmarks(
    K: np.ndarray,
    m: int,
    rng: np.random.RandomState,
    targets: np.ndarray,
    codes: np.ndarray,
    grid: list[float],
    weights: np.ndarray | None,
) -> ChosenLeastSquares:
    """Train on the features of `m` landmarks of a Gram matrix that is given, (n, n): zeros for all others.

    What :class:`marginbook.kernels.landmarks.Landmarks` does with rows.
    """
    places = np.sort(rng.choice(len(K), min(m, len(K)), replace=False))
    values, vectors = eigh(K[np.ix_(places, places)])
    kept = values > len(places) * np.finfo(float).eps * np.abs(values).max(initial=0.0)
    to_features = vectors[:, kept] / np.sqrt(values[kept]) if kept.any() else np.zeros((len(places), 1))
    trained = train_features(K[:, places] @ to_features, targets, codes, grid, weights)
    assert trained.found.coef is not None
    dual = np.zeros((len(K), targets.shape[1]))
    dual[places] = to_features @ trained.found.coef
    return replace(trained, found=replace(trained.found, dual=dual))


def unit_rows(X: np.ndarray) -> np.ndarray:
    """Return the rows of `X`, (n, p), brought to length 1."""
    largest = np.abs(X).max(axis=1, keepdims=True)
    if not largest.all():
        raise ValueError(
            f"row {int(np.argmin(largest))} is zero and has no direction; drop it or take a kernel with "
            "k(x, x) > 0"
        )
    X = X / largest
    return np.asarray(X / np.linalg.norm(X, axis=1, keepdims=True))


def validate_squares(X: np.ndarray) -> None:
    """Raise ValueError if the squares of the features `X`, (n, p), overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(np.square(X).sum()):
            raise ValueError("the squares of the features overflow, wanted finite ones; scale the features")


def validate_gram(K: np.ndarray) -> None:
    """Raise ValueError if `K` is no square symmetric matrix, and warn if it is indefinite."""
    validate_square(K)
    size = np.abs(K).max()
    if not np.isfinite(size * len(K)):
        raise ValueError("the sums of the matrix overflow, wanted finite ones; scale it")
    if not np.allclose(K, K.T, rtol=1e-8, atol=1e-8 * size):
        raise ValueError(
            "kernel='precomputed' needs a symmetric matrix, and the largest |K - K'| is "
            f"{np.abs(K - K.T).max():.1e}; take (K + K') / 2"
        )
    try:
        if len(K) <= 500:
            values = np.linalg.eigvalsh(K)
            least, most = float(values[0]), float(np.abs(values).max())
        else:
            start = np.random.default_rng(0).standard_normal(len(K))
            (least,) = eigsh(K, 1, which="SA", tol=1e-2, v0=start, maxiter=100, return_eigenvectors=False)
            most = float(np.abs(K).sum(axis=1).max())
    except ArpackError:  # the least eigenvalue is one of many that are nearly the same
        return
    if least < -INDEFINITE * most:
        warnings.warn(
            f"kernel='precomputed' needs a positive semidefinite matrix, and an eigenvalue is {least:.2g}; "
            "take another kernel, or add its absolute value to the diagonal",
            UserWarning,
            stacklevel=user_level(),
        )


def _best(
    found: list[LeastSquares], targets: np.ndarray, codes: np.ndarray, weights: np.ndarray | None
) -> tuple[int, np.ndarray]:
    """Return which machine is the best by leave-one-out, and the accuracies of all."""
    left_out = [each.left_out for each in found if each.left_out is not None]
    accuracies = np.array([np.average(decided(each) == codes, weights=weights) for each in left_out])
    share = None if weights is None else np.broadcast_to(weights[:, None], targets.shape)
    errors = [np.average((each - targets) ** 2, weights=share) for each in left_out]
    # nan is neither less nor more than anything
    return min(
        range(len(found)), key=lambda i: (not np.isfinite(errors[i]), -accuracies[i], errors[i])
    ), accuracies
