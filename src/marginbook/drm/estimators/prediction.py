"""What a fit of the DRM leaves behind, by solver: test points in, dissimilarities out."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning

from ...base.memory import require_memory
from ...base.user_line import user_level
from ...kernels import KernelOverflow, gram, kernel_name, tidy, warn_of_scale
from ..model.operators import DenseSystem, LinearSystem
from ..solvers.conjugate_gradients import bracketed_difference, conjugate_gradients, eigenvalue_floor
from ..solvers.factored import FactoredSystem
from ..solvers.first_order import accelerated, gradient_descent, proximal_point
from ..solvers.heavy_features import HeavyFeatures
from ..solvers.iteration import Iterates, validate_stopping
from .training_kernel import CHUNK, TrainingRows

#: names of the paper's iterative algorithms
ITERATIVE = ("gd", "ppa", "apg")
#: a certificate above this share of tol brings iterative refinement
SHARE = 1e-3
#: a share of the weights that rounding may change without a warning
LOST = 1e-3
#: rows that are looked at for a warning about the scale of the features
SOME = 2000
#: test points at a time of conjugate gradients on sparse rows: what is gathered then stays in the cache
NARROW = 16
#: landmarks with which 99 of 100 labels of 5,000 or 10,000 rows of 20 features are those of the exact model
LANDMARKS = 1200
#: share of the machine's memory that the n x n matrices may take
SPARE = 0.75


class PointSolver(Protocol):
    """Solves (12) for test points."""

    def dissimilarity(self, parts: Iterable[np.ndarray]) -> np.ndarray:
        """Return the (m, g) class dissimilarities (10) for kernel vectors that come in `parts`, (n, .)."""

    def difference(self, parts: Iterable[np.ndarray], sign: bool = False) -> np.ndarray:
        """Return delta_0 - delta_1 of two classes, (m,); with `sign`, only its sign need be right."""

    def probe(self, examples: np.ndarray) -> tuple[int, float]:
        """Return iterations and certificate, the worst over some training examples, (m,) numbers."""


class DirectPointSolver:
    """The closed form (13): one factor serves all test points."""

    def __init__(self, rows: TrainingRows, alpha: float, beta: float, tol: float, refine: int) -> None:
        K = rows.upper_gram()
        self.form, self.tol = FactoredSystem(K, rows.sizes, alpha, beta, rows.weights, refine), tol

    def dissimilarity(self, parts: Iterable[np.ndarray]) -> np.ndarray:
        return np.concatenate([self.form.dissimilarity(Kx) for Kx in parts])

    def difference(self, parts: Iterable[np.ndarray], sign: bool = False) -> np.ndarray:
        return np.concatenate([self.form.difference(Kx) for Kx in parts])

    def probe(self, examples: np.ndarray) -> tuple[int, float]:
        Kx = self.form.columns(examples)
        residual = self.form.certificate(Kx)
        if not residual <= SHARE * self.tol:
            self.form.refine = 1
            residual = self.form.certificate(Kx)
        warn_of_certificate(residual, self.tol)
        # the certificate takes kernel values as exact; near to singular, their last digits decide
        if not (lost := self.form.rounding()) <= LOST:
            _warn(
                f"rounding of the kernel values may change the weights by a share of {lost:.1e}, and "
                "predictions with them: the system is nearly singular; raise beta or scale the features"
            )
        return 1, residual


class IterativePointSolver:
    """Algorithms 3 to 6 and conjugate gradients: every test point is iterated, in batches, when it comes."""

    def __init__(self, system: DenseSystem | LinearSystem, solver: str, tol: float, max_iter: int) -> None:
        validate_stopping(max_iter, tol)
        if system.diagonal.min() < 0:
            raise ValueError(
                f"a point has the kernel value {system.diagonal.min():.3g} with itself, so the kernel is not "
                "positive semidefinite; choose another kernel"
            )
        self.system, self.solver, self.tol, self.max_iter = system, solver, tol, max_iter
        self.largest = 0.0 if solver in ("gd", "cg") else system.safe_eigenvalue()

    def solve(self, Kx: np.ndarray) -> Iterates:
        """Return the weights for kernel vectors `Kx`, (n, m), both in the variables of the system."""
        if self.solver == "cg":
            return conjugate_gradients(self.system, Kx, max_iter=self.max_iter, tol=self.tol, form=self.heavy)
        if self.solver == "gd":
            return gradient_descent(self.system, Kx, max_iter=self.max_iter, tol=self.tol)
        if self.solver == "ppa":
            return proximal_point(self.system, Kx, max_iter=self.max_iter, tol=self.tol, c=self.largest)
        bound = self.largest + self.system.beta
        return accelerated(self.system, Kx, max_iter=self.max_iter, tol=self.tol, b=bound)

    def dissimilarity(self, parts: Iterable[np.ndarray]) -> np.ndarray:
        delta, found = [], []
        for Kx in map(self._scaled, parts):
            solved = self.solve(Kx)
            delta.append(self.system.dissimilarity(Kx, solved.weights))
            found.append((solved.converged, solved.step, solved.kkt_residual))
        self._warn(*map(np.concatenate, zip(*found, strict=True)))
        return np.vstack(delta)

    def difference(self, parts: Iterable[np.ndarray], sign: bool = False) -> np.ndarray:
        if not (sign and self.solver == "cg" and isinstance(self.system, LinearSystem)):
            delta = self.dissimilarity(parts)
            return delta[:, 0] - delta[:, 1]
        found = [
            bracketed_difference(
                self.system, Kx, self.least, max_iter=self.max_iter, tol=self.tol, form=self.heavy
            )
            for Kx in map(self._scaled, parts)
        ]
        self._warn(*(np.concatenate(part) for part in zip(*(one[1:] for one in found), strict=True)))
        return np.concatenate([one[0] for one in found])

    @cached_property
    def least(self) -> float:
        """A lower bound of the preconditioned system's smallest eigenvalue."""
        assert isinstance(self.system, LinearSystem)
        return eigenvalue_floor(self.system)

    @cached_property
    def heavy(self) -> HeavyFeatures | None:
        """The quicker form of the system for sparse rows; None elsewhere, and where it does not pay."""
        if self.solver != "cg" or not (isinstance(self.system, LinearSystem) and issparse(self.system.X)):
            return None
        return HeavyFeatures.of(self.system, self.least)

    def probe(self, examples: np.ndarray) -> tuple[int, float]:
        if isinstance(self.system, LinearSystem):
            found = self.solve(self.system.kernel_vectors(self.system.X[examples]))
        else:
            found = self.solve(self.system.K[:, examples])
        self._warn(found.converged, found.step, found.kkt_residual)
        return int(found.n_iter.max()), float(found.kkt_residual.max())

    def _scaled(self, Kx: np.ndarray) -> np.ndarray:
        return Kx if self.system.root is None else self.system.root[:, None] * Kx

    def _warn(self, converged: np.ndarray, step: np.ndarray, residual: np.ndarray) -> None:
        worst = float(residual.max())
        if self.solver == "cg":
            if not converged.all():
                _warn(
                    f"the certificate of {np.sum(~converged)} of {len(converged)} points misses "
                    f"tol={self.tol:.2e} after max_iter={self.max_iter} "
                    f"iteration{'' if self.max_iter == 1 else 's'}, the worst is {worst:.2e}: raise "
                    "max_iter or beta"
                )
        elif not converged.all():
            _warn(
                f"{np.sum(~converged)} of {len(converged)} points still moved by {step.max():.2e}, more "
                f"than tol={self.tol:.2e}, after max_iter={self.max_iter} "
                f"iteration{'' if self.max_iter == 1 else 's'}; their certificate is {worst:.2e}: "
                "raise max_iter or beta, or take solver='auto'"
            )
        elif not worst <= np.sqrt(self.tol):
            _warn(
                f"the steps are shorter than tol={self.tol:.2e}, but the certificate is {worst:.2e} > "
                f"{np.sqrt(self.tol):.2e}, its square root: lower tol, or take solver='auto'"
            )


@dataclass(frozen=True)
class Settings:
    """The numbers of a fit."""

    alpha: float
    beta: float
    solver: str
    tol: float
    max_iter: int


class RowsWithSolver:
    """Training rows with the solver that is made of them, which stays out of pickles.

    A copy from a pickle makes its own when it is first asked: that costs what the fit did.
    """

    def __init__(self, rows: TrainingRows, settings: Settings) -> None:
        self.rows, self.settings, self.refine = rows, settings, 0

    @cached_property
    def solver(self) -> PointSolver:
        rows, at = self.rows, self.settings
        penalties, stopping = (at.alpha, at.beta), (at.tol, at.max_iter)
        if at.solver in (*ITERATIVE, "cg") and kernel_name(rows.kernel) == "linear":
            linear = LinearSystem(rows.train, rows.sizes, *penalties, weights=rows.weights)
            return IterativePointSolver(linear, at.solver, *stopping)
        if at.solver == "closed":
            require_matrices(len(rows.order), 1)
            return DirectPointSolver(rows, *penalties, at.tol, self.refine)
        require_matrices(len(rows.order), 2)
        dense = DenseSystem(rows.gram(), rows.sizes, *penalties, rows.weights)
        return IterativePointSolver(dense, at.solver, *stopping)

    def fit(self, n_probes: int) -> tuple[int, float]:
        """Make the solver; return iterations and certificate, the worst of about `n_probes` examples."""
        n = len(self.rows.order)
        if kernel_name(self.rows.kernel) == "rbf":
            some = self.rows.train[np.unique(np.linspace(0, n - 1, SOME).astype(int))]
            warn_of_scale(self.rows.kernel, gram(self.rows.kernel, some))
        solver = self.solver
        found = solver.probe(np.unique(np.linspace(0, n - 1, n_probes).astype(int)))
        if isinstance(solver, DirectPointSolver):
            self.refine = solver.form.refine
        return found

    def batches(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the kernel vectors of the rows of `X`, (m, p), batch by batch."""
        sparse = self.settings.solver == "cg" and issparse(self.rows.train)
        return self.rows.batches(tidy(X), NARROW if sparse else CHUNK)

    def __getstate__(self) -> dict[str, Any]:
        return {"rows": self.rows, "settings": self.settings, "refine": self.refine}


def require_matrices(
    n: int, matrices: int, instead: str = f"n_components (landmarks, such as {LANDMARKS}), or kernel='linear'"
) -> None:
    """Raise MemoryError where `matrices` of n x n numbers are more than this machine has to spare."""
    require_memory(f"the exact DRM of {n} rows needs", matrices * n * n, f"take {instead}", share=SPARE)


def defined(delta: np.ndarray) -> np.ndarray:
    """Return `delta`, dissimilarities or differences of two; raise KernelOverflow unless all are finite."""
    if not np.isfinite(delta).all():
        raise KernelOverflow(
            "a dissimilarity is infinite or undefined: rows are too far from those of the fit; "
            "scale the features"
        )
    return delta


def warn_of_certificate(residual: float, tol: float) -> None:
    """Warn with both numbers when the certificate of a direct solver misses `tol`."""
    if not residual <= tol:
        _warn(
            f"the certificate {residual:.2e} misses tol={tol:.2e}: the system is too badly conditioned for "
            "double precision; raise beta or scale the data"
        )


def _warn(message: str) -> None:
    warnings.warn(message, ConvergenceWarning, stacklevel=user_level())
