r"""Ridge discriminants of several classes, each against the rest, which share everything that is cubic.

With the centring :math:`C=I-11^\top/N` the coefficients of class c solve
:math:`(KCK+\mu I)\alpha_c=K\hat y_c`: only the targets are the class's own. One factor of the matrix, one
eigendecomposition of K or one preconditioner serves all classes, and products with K take them together.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy import linalg

from ...kernels.conjugate_gradients import conjugate_gradients
from ..model.blocks import blocked_cholesky, gram_of
from ..model.objective import targets
from ..solvers.ridge_iterative import IDLE, TOLERANCE, nystrom_preconditioner
from .ridge_leave_one_out import leave_one_out
from .ridge_path import KernelSpectrum, SingularScatterError
from .ridge_solution import ROUNDING, RidgeDiscriminant, largest_entry, singular_values


@dataclass(frozen=True, eq=False)
class Discriminants:
    """The solutions of K classes.

    Attributes
    ----------
    coef, fitted : (n, K) array
    bias : (K,) array
    residual : float
        The worst of the classes.
    gaps, values : (K,) array
        Bounds of what the objectives are above their minima, and the objectives; not of a decomposition.
    """

    coef: np.ndarray
    bias: np.ndarray
    fitted: np.ndarray
    residual: float
    gaps: np.ndarray = field(default_factory=lambda: np.zeros(0))
    values: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of(
        cls, K: np.ndarray, Y: np.ndarray, coef: np.ndarray, mu: float, root: np.ndarray | None
    ) -> Discriminants:
        """Return the solutions with the best bias for coefficients `coef`, (n, K), of the targets `Y`."""
        column = np.ones(len(Y)) if root is None else root
        sums = K @ coef
        bias = column @ (Y - sums) / float(column @ column)
        fitted = sums + np.multiply.outer(column, bias)
        left = Y - fitted
        equations = np.vstack([K @ left - mu * coef, column @ left])
        # as for one class in ridge_solution
        size, largest = np.linalg.norm(Y, axis=0), largest_entry(K)
        scale = np.linalg.norm(K @ Y, axis=0)
        scale = np.where(scale > ROUNDING * len(K) * largest * size, scale, max(1.0, largest) * size)
        residual = float(np.max(np.linalg.norm(equations, axis=0) / scale))
        values = 0.5 * (left**2).sum(axis=0) + 0.5 * mu * (coef**2).sum(axis=0)
        return cls(coef, bias, fitted, residual, (equations[:-1] ** 2).sum(axis=0) / (2.0 * mu), values)

    @classmethod
    def together(cls, each: list[RidgeDiscriminant]) -> Discriminants:
        """Return the solutions of the classes, one by one."""
        coef, fitted = (np.column_stack([getattr(one, name) for one in each]) for name in ("coef", "fitted"))
        return cls(coef, np.array([one.bias for one in each]), fitted, max(one.residual for one in each))


def class_targets(codes: np.ndarray, n_classes: int, weights: np.ndarray | None) -> np.ndarray:
    """Return the targets of each class against the rest, (n, K), of rows of the classes `codes`, (n,)."""
    return np.column_stack([targets(codes == c, weights) for c in range(n_classes)])


def by_factor(K: np.ndarray, Y: np.ndarray, mu: float, root: np.ndarray | None) -> Discriminants:
    r"""Solve by the Cholesky factor of :math:`KCK+\mu I`: :math:`\tfrac43n^3` operations for all classes.

    Raises
    ------
    SingularScatterError
        Where there is no factor.
    """
    column = np.ones(len(K)) if root is None else root
    centred = K - np.multiply.outer(column, column @ K / float(column @ column))
    scatter = gram_of(centred.T)
    del centred
    scatter.flat[:: len(scatter) + 1] += mu
    factor, failed = blocked_cholesky(scatter.T)
    if failed:
        raise SingularScatterError(
            f"the scatter plus reg={mu:.3g} is singular in double precision; raise reg or take "
            "route='least-squares'"
        )
    return Discriminants.of(K, Y, linalg.cho_solve((factor, True), K @ Y, check_finite=False), mu, root)


def by_iteration(
    K: np.ndarray, Y: np.ndarray, mu: float, root: np.ndarray | None, max_iter: int = 1000
) -> tuple[Discriminants, int]:
    """Solve by conjugate gradients, of which all classes share the products and the preconditioner.

    Also returned: the iterations of the class that took the most.
    """
    column = np.ones(len(K)) if root is None else root
    whole = float(column @ column)

    def projected(V: np.ndarray) -> np.ndarray:
        return np.asarray(V - np.multiply.outer(column, column @ V / whole))

    right = K @ projected(Y)
    goal = TOLERANCE * np.linalg.norm(right, axis=0)
    best, idle = np.full(Y.shape[1], np.inf), np.zeros(Y.shape[1], dtype=int)

    def settled(residual: np.ndarray) -> np.ndarray:
        nonlocal goal, best, idle
        size = np.linalg.norm(residual, axis=0)
        idle = np.where(size < 0.9 * best, 0, idle + 1)
        best = np.minimum(best, size)
        done = np.asarray((size <= goal) | (idle >= IDLE))
        goal, best, idle = goal[~done], best[~done], idle[~done]  # of the columns that go on
        return done

    coef, gains = conjugate_gradients(
        lambda V: K @ projected(K @ V) + mu * V,
        nystrom_preconditioner(K, column, whole, mu),
        right,
        settled,
        max_iter,
    )
    return Discriminants.of(K, Y, coef, mu, root), len(gains)


def by_spectrum(
    K: np.ndarray, Y: np.ndarray, mu: float, root: np.ndarray | None, threshold: str
) -> tuple[Discriminants, float, np.ndarray | None]:
    """Solve by one eigendecomposition of `K`.

    Returns
    -------
    Discriminants
    rounding : float
        The largest share of the targets that rounding of K fits.
    left_out : (n, K) array, or None with weights or without a ridge
    """
    first = KernelSpectrum.of(K, Y[:, 0], root)
    each = [replace(first, yhat=y, targets=first.vectors.T @ y) for y in Y.T]
    found = [one.solve(mu) for one in each]
    rounding = max(one.rounding(solved) for one, solved in zip(each, found, strict=True))
    return Discriminants.together(found), rounding, _left_out(each, mu, root, threshold)


def by_features(
    F: np.ndarray, Y: np.ndarray, mu: float, root: np.ndarray | None, threshold: str
) -> tuple[Discriminants, np.ndarray, np.ndarray | None]:
    """Solve for the kernel ``F @ F.T`` of features, (n, r), by their singular values.

    Returns
    -------
    Discriminants
    weights : (r, K) array
        Of the features.
    left_out : (n, K) array, or None with weights or without a ridge
    """
    if root is not None:
        F = F * root[:, np.newaxis]
    parts, column = singular_values(F), 1.0 if root is None else root
    found, weights, left_out = [], [], []
    for y in Y.T:
        spectrum = KernelSpectrum.of_features(F, y, root, parts)
        solved = spectrum.solve(mu)
        weights.append(spectrum.feature_weights(mu, solved.bias))
        found.append(replace(solved, fitted=solved.bias * column + F @ weights[-1]))
        if threshold and root is None and mu > 0:
            left_out.append(leave_one_out(spectrum, mu, threshold))
    return (
        Discriminants.together(found),
        np.column_stack(weights),
        np.column_stack(left_out) if left_out else None,
    )


def _left_out(
    each: list[KernelSpectrum], mu: float, root: np.ndarray | None, threshold: str
) -> np.ndarray | None:
    if root is not None or mu == 0:
        return None
    return np.column_stack([leave_one_out(one, mu, threshold) for one in each])
