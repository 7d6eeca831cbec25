"""How an LDMClassifier is fitted once its input is checked: solve, and set what the solutions leave."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ...kernels import kernel_name
from ..model.linear import LinearSolution, linear_objective
from ..model.objective import margin_mean, margin_variance
from ..solvers.asgd import AveragedSGD, initial_step
from .class_solutions import solutions_on_features, solutions_on_kernel
from .gram_checks import finite_rows, validate_size
from .parameters import steps_allowed
from .training import Penalties, warn_of_gap

#: examples up to which a fit to features keeps its rows for loo_bound, which needs their Gram matrix
KEPT = 5000
#: what a fit sets, by solver
_STATE = (
    *("coef_", "intercept_", "dual_coef_", "beta_", "objective_", "dual_gap_", "n_iter_", "n_steps_"),
    *("margin_mean_", "margin_variance_", "gamma_", "_found", "_train", "_constant", "_signs", "_weighted"),
    *("_state", "_counting"),
)


class Fitting:
    """The part of LDMClassifier that fits."""

    classes_: np.ndarray
    n_features_in_: int
    lambda1: float
    lambda2: float
    C: float
    kernel: Any
    solver: str
    solver_: str
    tol: float
    max_iter: int | None
    n_passes: int
    fit_intercept: bool
    class_weight: Any
    random_state: Any
    _kernel: Any
    _signs: np.ndarray
    _state: AveragedSGD

    def _fit_exactly(self, X: Any, signs: np.ndarray, weights: np.ndarray | None) -> None:
        """Solve for each row of `signs` on the rows with a weight, and set what that leaves."""
        name, m = kernel_name(self._kernel), X.shape[0]
        on_features = name == "linear" and self.solver_ in ("dcd", "interior-point")
        self._weighted = weights is not None
        if not on_features or m <= KEPT:
            self._train, self._constant = X.copy(), self.fit_intercept
        kept: Any = slice(None)
        if weights is not None and not weights.all():
            kept = np.flatnonzero(weights)
            X, signs, weights = X[kept], signs[:, kept], weights[kept]
            X = X[:, kept] if name == "precomputed" else X
        solve = self._on_features if on_features else self._on_kernel
        found = solve(X, signs, weights)
        margins = [
            y * (X @ each.coef[: X.shape[1]] + (each.coef[-1] if self.fit_intercept else 0.0))
            if isinstance(each, LinearSolution)
            else each.margins
            for y, each in zip(signs, found, strict=True)
        ]
        self._keep(found, margins, weights, kept, m)
        if on_features:
            self._set_weights(np.array([each.coef for each in found]))
        else:
            alphas = np.array([each.alpha for each in found])
            intercepts = alphas.sum(axis=1) if self.fit_intercept else np.zeros(len(found))
            if name == "linear":
                self.coef_ = squeezed(np.asarray((X.T @ alphas.T).T))
            self.intercept_ = float(intercepts[0]) if len(found) == 1 else intercepts

    def _on_kernel(self, X: Any, signs: np.ndarray, weights: np.ndarray | None) -> list[Any]:
        return solutions_on_kernel(
            self._kernel,
            X,
            signs,
            self._penalties(),
            self.solver_,
            self.tol,
            self._steps(),
            fit_intercept=self.fit_intercept,
            weights=weights,
        )

    def _on_features(self, X: Any, signs: np.ndarray, weights: np.ndarray | None) -> list[Any]:
        validate_size(X)
        exact = "coordinate-descent" if self.solver_ == "dcd" else "interior-point"
        method = "auto" if self.solver == "auto" else exact
        return solutions_on_features(
            X,
            signs,
            self._penalties(),
            method,
            self.tol,
            self._steps(),
            lambda: seed(self.random_state),
            constant=self.fit_intercept,
            weights=weights,
        )

    def _fit_stochastic(self, X: Any) -> None:
        rows, m = finite_rows(X, self.fit_intercept), len(self._signs)
        self._state = begin(rows, self._signs, self._penalties(), m, self.random_state)
        for _ in range(self.n_passes):
            self._state.partial_fit(rows, self._signs)
        w = self._state.coef
        self._counting, self.n_iter_, self.n_steps_ = False, self.n_passes, self._state.n_steps
        self.objective_ = linear_objective(rows, self._signs, w, *self._penalties())
        self._set_statistics(self._signs * (rows @ w))
        self._set_weights(w)

    def _keep(
        self, found: list[Any], margins: list[np.ndarray], weights: np.ndarray | None, kept: Any, m: int
    ) -> None:
        """Set what dual solvers leave, for all `m` rows of which some were `kept`, and warn of a gap."""
        for each in found:
            warn_of_gap(each, self.tol, self.solver_, self._steps())
        self._found = found[0] if len(found) == 1 else None
        duals = np.zeros((2, len(found), m))
        duals[0][:, kept] = [each.alpha for each in found]
        duals[1][:, kept] = [each.beta for each in found]
        self.dual_coef_, self.beta_ = squeezed(duals[0]), squeezed(duals[1])
        self.objective_ = squeezed([each.objective for each in found])
        self.dual_gap_ = squeezed([each.dual_gap for each in found])
        self.n_iter_ = max(1, *(each.n_iter for each in found))
        self._set_statistics(np.array(margins), weights)

    def _set_statistics(self, margins: np.ndarray, weights: np.ndarray | None = None) -> None:
        """Set mean and variance of `margins`, (k, m) or (m,)."""
        margins = np.atleast_2d(margins)
        if weights is None:
            means, spreads = margin_mean(margins), margin_variance(margins)
        else:
            shares = weights / weights.sum()
            means = margins @ shares
            spreads = 2.0 * (margins - means[:, None]) ** 2 @ shares
        self.margin_mean_, self.margin_variance_ = squeezed(means), squeezed(spreads)

    def _set_weights(self, w: np.ndarray) -> None:
        """Take the last entry of `w`, (d + 1,) or (k, d + 1), apart if it belongs to a constant feature."""
        w = np.atleast_2d(w)
        d = self.n_features_in_
        self.coef_ = squeezed(w[:, :d].copy())
        self.intercept_ = squeezed(w[:, -1] if w.shape[1] > d else np.zeros(len(w)))

    def _steps(self) -> int:
        # "auto" goes on by coordinate descent where rounding stops the interior point
        beyond = self.solver == "auto" and self.solver_ == "interior-point"
        return steps_allowed("dcd" if beyond else self.solver_, self.max_iter)

    def _penalties(self) -> tuple[float, float, float]:
        return float(self.lambda1), float(self.lambda2), float(self.C)

    def _forget(self) -> None:
        """Drop what an earlier fit left, of which this one may leave less."""
        for name in _STATE:
            self.__dict__.pop(name, None)


def squeezed(values: Any) -> Any:
    """Return what is said of each machine without the first axis if there is one machine only."""
    values = np.asarray(values)
    if len(values) > 1:
        return values
    return values[0] if values.ndim > 1 else float(values[0])


def begin(rows: Any, signs: np.ndarray, penalties: Penalties, m: int, random_state: Any) -> AveragedSGD:
    """Return the state before the first step, its step size found by trial on a first chunk.

    Parameters
    ----------
    rows : (n, d) array or CSR matrix
    signs : (n,) array of -1 and +1
    penalties : lambda1, lambda2, C
    m : int
        Rows of the whole problem.
    random_state : int, RandomState or None
    """
    lambda1, lambda2, C = penalties
    rng = np.random.default_rng(seed(random_state))
    gamma0 = initial_step(rows, signs, lambda1, lambda2, C, n_samples=m, random_state=rng)
    return AveragedSGD(rows.shape[1], m, lambda1, lambda2, C, gamma0=gamma0, random_state=rng)


def seed(random_state: Any) -> int:
    """Return a whole number for NumPy's generators from scikit-learn's ways to say it."""
    return int(check_random_state(random_state).randint(2**31 - 1))
