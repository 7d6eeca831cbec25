"""What a fit of the kernel DRM leaves behind, by solver: kernel vectors in, dissimilarities out."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...kernels import Kernel, gram, kernel_name
from ..model.objective import class_products, dissimilarity
from ..model.operators import DenseSystem, LinearSystem
from ..solvers.direct import closed_form
from ..solvers.first_order import accelerated, gradient_descent, proximal_point
from ..solvers.iteration import Iterates, validate_stopping

#: names of the paper's iterative algorithms
ITERATIVE = ("gd", "ppa", "apg")


class Machine(Protocol):
    """Solves (12) for test points."""

    def dissimilarity(self, parts: Iterable[np.ndarray]) -> np.ndarray:
        """Return the (m, g) class dissimilarities (10) for kernel vectors that come in `parts`, (n, .)."""

    def probe(self, examples: np.ndarray) -> tuple[int, float]:
        """Return iterations and certificate, the worst over some training examples, (m,) numbers."""


class DirectMachine:
    """The closed form (13): one factor serves all test points."""

    def __init__(
        self, K: np.ndarray, sizes: Sequence[int] | np.ndarray, alpha: float, beta: float, tol: float
    ) -> None:
        self.K, self.sizes, self.tol = K, sizes, tol
        self.form = closed_form(K, sizes, alpha, beta)

    def dissimilarity(self, parts: Iterable[np.ndarray]) -> np.ndarray:
        return np.vstack([self._part(Kx) for Kx in parts])

    def probe(self, examples: np.ndarray) -> tuple[int, float]:
        residual = self.form.certificate(self.K[:, examples])
        warn_of_certificate(residual, self.tol)
        return 1, residual

    def _part(self, Kx: np.ndarray) -> np.ndarray:
        W = self.form.weights(Kx)
        return dissimilarity(self.sizes, Kx, W, *class_products(self.K, self.sizes, W))


class IterativeMachine:
    """Algorithms 3 to 6: every test point is iterated, in batches, when it comes."""

    def __init__(self, system: DenseSystem | LinearSystem, solver: str, tol: float, max_iter: int) -> None:
        validate_stopping(max_iter, tol)
        if system.diagonal.min() < 0:
            raise ValueError(
                f"a point has the kernel value {system.diagonal.min():.3g} with itself, so the kernel is not "
                "positive semidefinite; choose another kernel"
            )
        self.system, self.solver, self.tol, self.max_iter = system, solver, tol, max_iter
        self.largest = 0.0 if solver == "gd" else system.safe_eigenvalue()

    def solve(self, Kx: np.ndarray) -> Iterates:
        """Return the weights for kernel vectors `Kx`, (n, m)."""
        if self.solver == "gd":
            return gradient_descent(self.system, Kx, max_iter=self.max_iter, tol=self.tol)
        if self.solver == "ppa":
            return proximal_point(self.system, Kx, max_iter=self.max_iter, tol=self.tol, c=self.largest)
        bound = self.largest + self.system.beta
        return accelerated(self.system, Kx, max_iter=self.max_iter, tol=self.tol, b=bound)

    def dissimilarity(self, parts: Iterable[np.ndarray]) -> np.ndarray:
        delta, found = [], []
        for Kx in parts:
            solved = self.solve(Kx)
            delta.append(self.system.dissimilarity(Kx, solved.weights))
            found.append((solved.converged, solved.step, solved.kkt_residual))
        self._warn(*map(np.concatenate, zip(*found, strict=True)))
        return np.vstack(delta)

    def probe(self, examples: np.ndarray) -> tuple[int, float]:
        if isinstance(self.system, LinearSystem):
            found = self.solve(self.system.kernel_vectors(self.system.X[examples]))
        else:
            found = self.solve(self.system.K[:, examples])
        self._warn(found.converged, found.step, found.kkt_residual)
        return int(found.n_iter.max()), float(found.kkt_residual.max())

    def _warn(self, converged: np.ndarray, step: np.ndarray, residual: np.ndarray) -> None:
        worst = float(residual.max())
        if not converged.all():
            _warn(
                f"{np.sum(~converged)} of {len(converged)} points still moved by {step.max():.2e}, more "
                f"than tol={self.tol:.2e}, after max_iter={self.max_iter} iterations; their certificate is "
                f"{worst:.2e}: raise max_iter or beta, or take solver='auto'"
            )
        elif not worst <= np.sqrt(self.tol):
            _warn(
                f"the steps are shorter than tol={self.tol:.2e}, but the certificate is {worst:.2e} > "
                f"{np.sqrt(self.tol):.2e}, its square root: lower tol, or take solver='auto'"
            )


def build_machine(
    kernel: Kernel,
    train: Any,
    sizes: np.ndarray,
    penalties: tuple[float, float],
    solver: str,
    stopping: tuple[float, int],
) -> Machine:
    """Return the machine of a solver.

    Parameters
    ----------
    kernel : Kernel
    train : (n, p) array or CSR matrix, or the (n, n) Gram matrix of a precomputed kernel; grouped by class
    sizes : (g,) class sizes
    penalties : alpha and beta
    solver : {"closed", "gd", "ppa", "apg"}
    stopping : tol and max_iter
    """
    if solver in ITERATIVE and kernel_name(kernel) == "linear":
        return IterativeMachine(LinearSystem(train, sizes, *penalties), solver, *stopping)
    K = gram(kernel, train)
    if solver in ITERATIVE:
        return IterativeMachine(DenseSystem(K, sizes, *penalties), solver, *stopping)
    return DirectMachine(K, sizes, *penalties, stopping[0])


def warn_of_certificate(residual: float, tol: float) -> None:
    """Warn with both numbers when the certificate of a direct solver misses `tol`."""
    if not residual <= tol:
        _warn(
            f"the certificate {residual:.2e} misses tol={tol:.2e}: the system is too badly conditioned for "
            "double precision; raise beta or scale the data"
        )


def _warn(message: str) -> None:
    warnings.warn(message, ConvergenceWarning, stacklevel=6)
