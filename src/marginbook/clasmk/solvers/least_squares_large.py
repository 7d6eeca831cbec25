r"""Regularised least squares with thousands of rows: a blocked factor, or conjugate gradients.

The equations are those of :mod:`.least_squares`; with weights s of the rows, :math:`v=\sqrt s/\lVert\sqrt
s\rVert` and :math:`\tilde K=\operatorname{diag}(\sqrt s)K\operatorname{diag}(\sqrt s)`, they are

.. math:: P(\tilde K+I/C)P\,\tilde a=P\sqrt s\,y,\qquad P=I-vv^\top,\qquad a=\sqrt s\,\tilde a.

A factor costs :math:`n^3/3` operations and leave-one-out, which needs the diagonal of the inverse, as many
again: no exact method is known that makes do with fewer. Without leave-one-out conjugate gradients need one
product with K an iteration. With m landmark rows S and :math:`F=PK_{\cdot S}R^{-1}`, :math:`K_{SS}=R^\top R`,
they are preconditioned by :math:`M=FF^\top+I/C`: as :math:`PKP-FF^\top` is semidefinite, the eigenvalues of
:math:`M^{-1}(PKP+I/C)` are in :math:`[1,1+C\lVert PKP-FF^\top\rVert]`. They end when the largest residual
of the equations, computed anew, is small: that certifies the solution, however it was found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...kernels.conjugate_gradients import Product, conjugate_gradients, nystrom_factor, ridge_inverse
from .half_stored import BlockedFactor, HalfStored
from .least_squares import LeastSquares

#: landmark rows of the preconditioner at most, and rows for each
LANDMARKS, EVERY = 1000, 10


@dataclass(frozen=True)
class _Equations:
    """The equations in the scaled unknowns: `root` is the root of the weights, (n,)."""

    K: HalfStored
    right: np.ndarray
    root: np.ndarray
    ridge: float

    @property
    def unit(self) -> np.ndarray:
        return self.root / np.linalg.norm(self.root)

    def project(self, V: np.ndarray) -> np.ndarray:
        """Return the part of the columns of `V` that is orthogonal to the roots."""
        return V - np.outer(self.unit, self.unit @ V)

    def times(self, V: np.ndarray) -> np.ndarray:
        """Return the product with columns `V` that are orthogonal to the roots."""
        return self.project(self.K.times(V)) + self.ridge * V

    def bias(self, scaled: np.ndarray) -> np.ndarray:
        """Return the bias, (m,), that the scaled unknowns leave."""
        return np.asarray(self.unit @ (self.right - self.K.times(scaled))) / np.linalg.norm(self.root)

    def residual(self, V: np.ndarray) -> np.ndarray:
        """Return what the columns leave of the right-hand sides."""
        return self.project(self.right) - self.times(V)

    def worst(self, residual: np.ndarray) -> np.ndarray:
        """Return the largest error of the rows' own equations, relative to the largest target, (m,)."""
        largest = np.abs(self.right / self.root[:, None]).max()
        return np.asarray(np.abs(residual / self.root[:, None]).max(axis=0) / largest)


def solve_blocked(K: HalfStored, targets: np.ndarray, C: float, root: np.ndarray) -> LeastSquares:
    """Return the solution and the left-out predictions by a blocked Cholesky factor.

    Parameters
    ----------
    K : HalfStored
        Its rows and columns times `root`. Its lower half is overwritten.
    targets : (n, m) array
    C : float
    root : (n,) array
        Roots of the rows' weights, > 0.

    Raises
    ------
    ValueError
        If rounding leaves the matrix without a factor.
    """
    at = _Equations(K, targets * root[:, None], root, 1.0 / C)
    v = at.unit
    moved = K.times(v[:, None])[:, 0]
    # P K P, and on v what K has elsewhere: no eigenvalue that nothing else needs
    along = float(K.diagonal().mean())
    half = -moved + 0.5 * (float(v @ moved) + along) * v
    factor = BlockedFactor.of(K, v[:, None], half[:, None], at.ridge)
    if factor is None:
        raise ValueError(
            f"rounding leaves the equations without a solution: C={C:g} is too large; scale the features "
            "(StandardScaler), or lower C"
        )
    scaled = at.project(factor.solve(at.project(at.right)))
    scaled += at.project(factor.solve(at.residual(scaled)))
    free = factor.inverse_diagonal() - v**2 / (along + at.ridge)
    left_out = targets - scaled / free[:, None] / root[:, None]
    return LeastSquares(scaled * root[:, None], at.bias(scaled), left_out)


def solve_iteratively(
    K: HalfStored,
    targets: np.ndarray,
    C: float,
    root: np.ndarray,
    *,
    tol: float = 1e-8,
    max_iter: int = 1000,
    rng: np.random.Generator | None = None,
) -> tuple[LeastSquares, int]:
    """Return the solution by preconditioned conjugate gradients, and the number of products with K.

    Parameters
    ----------
    K : HalfStored
        Its rows and columns times `root`.
    targets : (n, m) array
    C : float
    root : (n,) array
        Roots of the rows' weights, > 0.
    tol : float
        Largest error of an equation, relative to the largest target, at which to stop.
    max_iter : int
    rng : Generator, optional
        Draws the landmarks of the preconditioner.
    """
    at = _Equations(K, targets * root[:, None], root, 1.0 / C)
    precondition = _preconditioner(at, rng or np.random.default_rng(0))
    scaled, n_iter = np.zeros_like(at.right), 0
    while n_iter < max_iter:
        residual = at.residual(scaled)
        open_ = np.flatnonzero(at.worst(residual) > tol)
        n_iter += 1
        if len(open_) == 0:
            break
        step, gains = conjugate_gradients(
            at.times,
            precondition,
            residual[:, open_],
            lambda left: at.worst(left) <= 0.3 * tol,
            max_iter - n_iter,
        )
        scaled[:, open_] += step
        n_iter += len(gains)
        if not gains or not (at.worst(at.residual(scaled)) < at.worst(residual)).any():
            break
    return LeastSquares(scaled * root[:, None], at.bias(scaled), None), n_iter


def _preconditioner(at: _Equations, rng: np.random.Generator) -> Product:
    """Return the product with the inverse of M = F F' + I / C; nothing changes where there is none."""
    n = len(at.K)
    m = min(LANDMARKS, n // EVERY)
    places = np.sort(rng.choice(n, m, replace=False))
    F = nystrom_factor(at.K.columns(places), places) if m else None
    if F is None:
        return lambda V: V
    try:
        apply = ridge_inverse(at.project(F), at.ridge)
    except np.linalg.LinAlgError:  # rounding left M indefinite
        return lambda V: V
    return lambda V: at.project(apply(V))
