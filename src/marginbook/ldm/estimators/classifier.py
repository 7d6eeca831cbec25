"""LDMClassifier: parameters and validation here, mathematics in the solvers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ...base.labels import binary_signs
from ...kernels import Kernel, kernel_name, tidy
from ..model.linear import LinearSolution, linear_objective
from ..model.objective import margin_mean, margin_variance
from ..solvers.dual import Solution
from ..solvers.linear_cd import solve_linear
from .chunks import TakesChunks, begin, seed
from .kernel_expansion import kernel_sums
from .parameters import choose_solver, steps_allowed, validate_settings
from .training import finite_rows, left_out_bound, solve_on_gram, training_gram, warn_of_gap

#: examples up to which a fit to features keeps its rows for loo_bound, which needs their Gram matrix
KEPT = 5000
#: what a fit sets, by solver
_STATE = (
    *("coef_", "intercept_", "dual_coef_", "beta_", "objective_", "dual_gap_", "n_iter_", "n_steps_"),
    *("margin_mean_", "margin_variance_", "_found", "_train", "_constant", "_signs", "_state", "_counting"),
)


class LDMClassifier(TakesChunks, ClassifierMixin, BaseEstimator):
    r"""Large margin distribution machine for two classes.

    .. math::
       \min_w\ \tfrac12\lVert w\rVert^2+\lambda_1\hat\gamma-\lambda_2\bar\gamma+C\sum_{i=1}^m(1-\gamma_i)_+

    where :math:`\gamma_i=y_iw^\top\phi(x_i)` is the margin of example i with label :math:`y_i=\pm1`,
    :math:`\bar\gamma` the mean margin and :math:`\hat\gamma=2\operatorname{Var}(\gamma)`, with divisor m, the
    right side of (4). With lambda1 = lambda2 = 0 it is the support vector machine without an intercept.
    Source: Zhang & Zhou, equation (5), Algorithms 1 and 2. More than two classes: ``OneVsRestClassifier``.

    Parameters
    ----------
    lambda1 : float, default=2**-5
        Weight of the variance of the margins, at least 0.
    lambda2 : float, default=2**-5
        Weight of their mean, at least 0. It shifts the box of the dual variables by lambda2 / m.
    C : float, default=10.0
        Weight of the hinge losses, above 0. ``np.inf`` is the hard margin: every margin is at least 1, and
        data that the kernel does not separate without an intercept are an error.
    kernel : {"linear", "poly", "rbf", "precomputed"}, (name, parameters) or callable, default="rbf"
        Parameters given as a pair win over `gamma`, `degree`, `coef0`.
    gamma : float, default=None
        Of "rbf" and "poly"; None is 1 / n_features for "rbf" and 1 for "poly". A width :math:`\sigma` in
        :math:`\exp(-\lVert x-z\rVert^2/(2\sigma^2))` is ``gamma = 1 / (2 * sigma**2)``.
    degree : float, default=3
    coef0 : float, default=1.0
    solver : {"auto", "active-set", "interior-point", "dcd", "asgd", "cvxpy"}, default="auto"
        "active-set" solves the box-constrained dual on the Gram matrix, exactly. "dcd" is dual coordinate
        descent: Algorithm 1 on the Gram matrix for all kernels but "linear"; for "linear" our own descent on
        the features, which never forms an m x m matrix and keeps sparse rows sparse. (For Algorithm 1 with
        the linear kernel give the Gram matrix to "precomputed".) For "linear" only: "interior-point", for few
        features, and "asgd", Algorithm 2, averaged stochastic gradients, which makes `n_passes` passes and
        stops there, optimal or not. "cvxpy" is an oracle for small problems (needs cvxpy). "auto" takes
        "active-set", but on linear features that are sparse, or fewer than the examples, "interior-point" or,
        where its steps would be slow, "dcd".
    fit_intercept : bool, default=False
        Append a constant feature, which adds 1 to the kernel. The intercept is thus penalised as every other
        weight; the paper has none.
    tol : float, default=1e-6
        A duality gap up to ``tol * max(1, |objective|)`` passes without a ConvergenceWarning; where the
        problem is solved on features, up to ``tol * max(min(1, m C), |objective|)``. Not of "asgd".
    max_iter : int, default=None
        Exchanges of "active-set" (None is 100000), steps of "interior-point" (200), or passes of "dcd" over
        the examples (10000).
    n_passes : int, default=5
        Passes of "asgd" over the examples; the paper's value.
    random_state : int, RandomState or None, default=None
        Order of the examples in "asgd" and in the linear "dcd".

    Attributes
    ----------
    classes_ : (2,) array
        Margins count the second as +1.
    n_features_in_ : int
    solver_ : str
        The solver that "auto" chose.
    dual_coef_ : (m,) array
        Coefficients of :math:`f=\sum_i\alpha_ik(x_i,\cdot)`; not with "asgd". They are dense: every example
        takes part in mean and variance, so there are no support vectors and no ``support_``.
    beta_ : (m,) array
        Dual variables of the hinge constraints, in [0, C]; not with "asgd".
    coef_ : (d,) array
        Of the linear kernel: ``f(x) = x @ coef_ + intercept_``.
    intercept_ : float
        0 unless `fit_intercept`.
    objective_ : float
        Value of (5) at the solution.
    dual_gap_ : float
        How far ``objective_`` can be above the optimum; not with "asgd".
    n_iter_ : int
    margin_mean_, margin_variance_ : float
        Of the training margins, as (3) and the right side of (4) define them: the latter is twice what NumPy
        calls the variance.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import minmax_scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = minmax_scale(X)
    >>> model = LDMClassifier(lambda1=0.25, lambda2=0.25, C=10, gamma=0.5).fit(X, y)
    >>> round(model.score(X, y), 3), round(model.loo_bound(), 3)
    (0.989, 0.095)

    Of 569 left-out rows no more than 54 can be errors. The linear machine from its features, and the same
    from the Gram matrix:

    >>> line = LDMClassifier(kernel="linear", fit_intercept=True).fit(X, y)
    >>> same = LDMClassifier(kernel="linear", fit_intercept=True, solver="active-set").fit(X, y)
    >>> line.solver_, round(line.objective_, 2), round(same.objective_, 2)
    ('interior-point', 405.91, 405.91)
    """

    classes_: np.ndarray
    _found: Solution | LinearSolution

    def __init__(
        self,
        lambda1: float = 2**-5,
        lambda2: float = 2**-5,
        C: float = 10.0,
        kernel: Kernel = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1.0,
        solver: str = "auto",
        fit_intercept: bool = False,
        tol: float = 1e-6,
        max_iter: int | None = None,
        n_passes: int = 5,
        random_state: Any = None,
    ) -> None:
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.n_passes = n_passes
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows `X`, (m, d), or the (m, m) Gram matrix for "precomputed", and labels `y`, (m,).

        Raises
        ------
        ValueError
            For other than two classes, parameters out of range, a kernel that is not positive semidefinite,
            or a hard margin that the data do not allow.
        """
        self._forget()
        name, parameters = validate_settings(self)
        dense = callable(name) or name == "precomputed"
        X, y = validate_data(self, X, y, accept_sparse=False if dense else "csr", dtype=np.float64)
        X = tidy(X)
        self.classes_, self._signs = binary_signs(y, "LDMClassifier")
        self._kernel = name if callable(name) else (name, parameters)
        self.solver_ = choose_solver(self.solver, name, X, self.C)
        if self.solver_ == "asgd":
            self._fit_stochastic(X)
        elif self.solver_ in ("dcd", "interior-point") and name == "linear":
            self._fit_features(X)
        else:
            self._fit_gram(X)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return f for the rows of `X`, (n, d), or (n, m) for "precomputed": (n,)."""
        check_is_fitted(self, "intercept_")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        if hasattr(self, "coef_"):
            return np.asarray(X @ self.coef_) + self.intercept_
        if kernel_name(self._kernel) == "precomputed":
            return X @ self.dual_coef_ + self.intercept_
        return kernel_sums(self._kernel, X, self._train, self.dual_coef_) + self.intercept_

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row of `X`: the second one where f > 0."""
        f = self.decision_function(X)
        return self.classes_[(f > 0).astype(int)]

    def loo_bound(self) -> float:
        """Return an upper bound on the leave-one-out error rate, in [0, 1], without any further training.

        A theorem, for every feasible dual vector (:mod:`marginbook.ldm.solvers.loo_bound`): it holds at any
        tolerance. A left-out margin of zero counts as an error. Costs one eigendecomposition of the Gram
        matrix.

        Raises
        ------
        ValueError
            After "asgd", which has no dual variables; for the hard margin, whose dual variables have no
            bound; after a fit on linear features to more than 5000 examples or to a file.
        """
        check_is_fitted(self, "intercept_")
        if self.solver_ == "asgd":
            raise ValueError("loo_bound needs dual variables, which solver='asgd' has not; use solver='dcd'")
        if not np.isfinite(self._found.C):
            raise ValueError("loo_bound needs a finite C, got the hard margin; take a large C")
        if not hasattr(self, "_train"):
            raise ValueError(
                f"loo_bound needs the Gram matrix of all {len(self._signs)} rows, and this fit kept none "
                f"(a file, or more than {KEPT}); use solver='active-set' if that matrix fits into memory"
            )
        G = training_gram(self._kernel, self._train, self._constant)
        return left_out_bound(G, self._signs, self._found)

    def _fit_gram(self, X: Any) -> None:
        self._train, self._constant = X.copy(), self.fit_intercept
        G = training_gram(self._kernel, X, self.fit_intercept)
        steps = steps_allowed(self.solver_, self.max_iter)
        found = solve_on_gram(G, self._signs, self._penalties(), self.solver_, self.tol, steps)
        self._keep(found, found.margins)
        if kernel_name(self._kernel) == "linear":
            self.coef_ = np.asarray(X.T @ found.alpha)
        self.intercept_ = float(found.alpha.sum()) if self.fit_intercept else 0.0

    def _fit_features(self, X: Any) -> None:
        if X.shape[0] <= KEPT:
            self._train, self._constant = X.copy(), self.fit_intercept
        rows = finite_rows(X, self.fit_intercept)
        # "auto" goes on by coordinate descent where rounding stops the interior point
        exact = "coordinate-descent" if self.solver_ == "dcd" else "interior-point"
        method = "auto" if self.solver == "auto" else exact
        found = solve_linear(
            rows,
            self._signs,
            *self._penalties(),
            method=method,
            tol=self.tol,
            max_iter=steps_allowed("dcd" if method == "auto" else self.solver_, self.max_iter),
            random_state=seed(self.random_state),
        )
        self._keep(found, self._signs * (rows @ found.coef))
        self._set_weights(found.coef)

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

    def _keep(self, found: Solution | LinearSolution, margins: np.ndarray) -> None:
        """Set what dual solvers leave, and warn of a gap."""
        warn_of_gap(found, self.tol, self.solver_)
        self._found = found
        self.dual_coef_, self.beta_ = found.alpha, found.beta
        self.objective_, self.dual_gap_ = found.objective, found.dual_gap
        self.n_iter_ = max(1, found.n_iter)
        self._set_statistics(margins)

    def _set_statistics(self, margins: np.ndarray) -> None:
        self.margin_mean_ = float(margin_mean(margins))
        self.margin_variance_ = float(margin_variance(margins))

    def _set_weights(self, w: np.ndarray) -> None:
        """Take `w`, whose last entry belongs to the constant feature if there is one, apart."""
        self.coef_ = w[: self.n_features_in_].copy()
        self.intercept_ = float(w[-1]) if len(w) > self.n_features_in_ else 0.0

    def _penalties(self) -> tuple[float, float, float]:
        return float(self.lambda1), float(self.lambda2), float(self.C)

    def _forget(self) -> None:
        """Drop what an earlier fit left, of which this one may leave less."""
        for name in _STATE:
            self.__dict__.pop(name, None)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        try:
            name = kernel_name(self.kernel)
        except ValueError:  # fit says what is wrong with it
            name = ""
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = name not in ("precomputed", "callable")
        tags.input_tags.pairwise = name == "precomputed"
        # classes on one ray from the origin are beyond a linear machine without an intercept
        tags.classifier_tags.poor_score = name == "linear" and not self.fit_intercept
        return tags
