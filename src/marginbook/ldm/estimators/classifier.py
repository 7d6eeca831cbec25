"""LDMClassifier: parameters and validation here, mathematics in the solvers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ...base.threads import on_few_threads
from ...base.weights import ClassWeight, row_weights
from ...kernels import Kernel, kernel_name, tidy
from ...kernels.expansions import kernel_sums
from ...kernels.tags import tag_input
from ...kernels.validation import validate_data
from .chunks import TakesChunks
from .class_signs import class_signs, resolve_weighted
from .fitting import KEPT
from .gram_checks import training_gram
from .parameters import choose_solver, validate_penalties, validate_settings, validate_weights_allowed
from .training import left_out_bound


@dataclass(eq=False, repr=False)
class LDMClassifier(TakesChunks, ClassifierMixin, BaseEstimator):
    r"""Large margin distribution machine.

    .. math::
       \min_w\ \tfrac12\lVert w\rVert^2+\lambda_1\hat\gamma-\lambda_2\bar\gamma+C\sum_{i=1}^m(1-\gamma_i)_+

    where :math:`\gamma_i=y_iw^\top\phi(x_i)` is the margin of example i with label :math:`y_i=\pm1`,
    :math:`\bar\gamma` the mean margin and :math:`\hat\gamma=2\operatorname{Var}(\gamma)`, with divisor m, the
    right side of (4). With lambda1 = lambda2 = 0 it is the support vector machine without an intercept.
    Source: Zhang & Zhou, equation (5), Algorithms 1 and 2.

    With weights :math:`\omega_i` of the rows, those of `fit` times those of the classes, a row of weight k
    counts as k equal rows: with :math:`M=\sum_i\omega_i` it is

    .. math::
       \tfrac12\lVert w\rVert^2+\frac{2\lambda_1}M\sum_i\omega_i(\gamma_i-\bar\gamma)^2
       -\lambda_2\bar\gamma+C\sum_i\omega_i(1-\gamma_i)_+,\qquad\bar\gamma=\frac1M\sum_i\omega_i\gamma_i .

    More than two classes: one machine for each class against the rest, all of them on the same kernel
    values; the largest decision value wins. Solver "asgd", `partial_fit` and `fit_file` are for two classes
    and raise ValueError for more.

    Read more in the :ref:`user guide <guide-ldmclassifier>` (``marginbook guide``).

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
        Parameters given as a pair win over `gamma`, `degree`, `coef0`. A callable gets two rows, each a
        vector, and returns a number (that of SVC gets two matrices).
    gamma : float, "scale", "auto" or None, default="scale"
        Of "rbf" and "poly": "scale" is 1 / (n_features times the variance of all entries of X, where
        `sample_weight` counts), "auto" 1 / n_features; None is 1 / n_features for "rbf" and 1 for "poly". A
        width :math:`\sigma` in
        :math:`\exp(-\lVert x-z\rVert^2/(2\sigma^2))` is ``gamma = 1 / (2 * sigma**2)``.
    degree : float, default=3
    coef0 : float, default=1.0
    solver : {"auto", "active-set", "interior-point", "dcd", "asgd", "cvxpy"}, default="auto"
        "active-set" solves the box-constrained dual exactly: up to 3000 rows on the Gram matrix, beyond, for
        a kernel given by its name, on rows of it that are computed on demand. "dcd" is dual coordinate
        descent: Algorithm 1 on the Gram matrix for all kernels but "linear"; for "linear" our own descent on
        the features, which never forms an m x m matrix and keeps sparse rows sparse. (For Algorithm 1 with
        the linear kernel give the Gram matrix to "precomputed".) For "linear" only: "interior-point", for few
        features, and "asgd", Algorithm 2, averaged stochastic gradients, which makes `n_passes` passes and
        stops there, optimal or not. "cvxpy" is an oracle for small problems (needs cvxpy). "auto" takes
        "active-set", but on linear features that are sparse or fewer than the examples, and on those of more
        than 5000 examples, "interior-point" or, where its steps would be slow, "dcd".
    fit_intercept : bool, default=False
        Append a constant feature, which adds 1 to the kernel. The intercept is thus penalised as every other
        weight; the paper has none.
    tol : float, default=1e-6
        A duality gap up to ``tol * max(1, |objective|)`` passes without a ConvergenceWarning; where the
        problem is solved on features, up to ``tol * max(min(1, m C), |objective|)``. Not of "asgd".
    max_iter : int, default=None
        Exchanges of "active-set", or beyond 3000 rows its chunks (None is 100000), steps of "interior-point"
        (200; 10000 where "auto" chose it, as "dcd" may follow), or passes of "dcd" over the examples (10000).
    n_passes : int, default=5
        Passes of "asgd" over the examples; the paper's value.
    class_weight : {class: number}, "balanced" or None, default=None
        Factor on the weight of each row of the class; "balanced" is m / (number of classes * rows of the
        class). Weights of rows are not for the hard margin, "asgd", "cvxpy", and "dcd" on a Gram matrix.
    random_state : int, RandomState or None, default=None
        Order of the examples in "asgd" and in the linear "dcd".

    Attributes
    ----------
    classes_ : (k,) array
        With two, margins count the second as +1. With more, `dual_coef_`, `beta_`, `coef_`, `intercept_`,
        `objective_`, `dual_gap_`, `margin_mean_` and `margin_variance_` have a leading axis for the k
        machines.
    n_features_in_ : int
    gamma_ : float
        The gamma of "rbf" or "poly".
    solver_ : str
        The solver that "auto" chose.
    dual_coef_ : (m,) array
        Coefficients of :math:`f=\sum_i\alpha_ik(x_i,\cdot)`; not with "asgd". They are dense: every example
        takes part in mean and variance, so there are no support vectors and no ``support_``.
    beta_ : (m,) array
        Dual variables of the hinge constraints, in [0, C] times the weight of the row; not with "asgd".
    coef_ : (d,) array
        Of the linear kernel: ``f(x) = x @ coef_ + intercept_``.
    intercept_ : float
        0 unless `fit_intercept`.
    objective_ : float
        Value of (5) at the solution.
    dual_gap_ : float
        How far ``objective_`` can be above the optimum; not with "asgd".
    n_iter_ : int
        The largest of all machines.
    n_steps_ : int
        Of "asgd": the steps taken, those of `partial_fit` included.
    margin_mean_, margin_variance_ : float
        Of the training margins, weighted, as (3) and the right side of (4) define them: the latter is twice
        what NumPy calls the variance.

    Examples
    --------
    >>> from marginbook.ldm import LDMClassifier
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

    lambda1: float = 2**-5
    lambda2: float = 2**-5
    C: float = 10.0
    kernel: Kernel = "rbf"
    gamma: float | str | None = "scale"
    degree: float = 3
    coef0: float = 1.0
    solver: str = "auto"
    fit_intercept: bool = False
    tol: float = 1e-6
    max_iter: int | None = None
    n_passes: int = 5
    class_weight: ClassWeight = None
    random_state: Any = None

    classes_: np.ndarray = field(init=False)
    _found: Any = field(init=False)

    @on_few_threads
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows `X`, (m, d), or the (m, m) Gram matrix for "precomputed", and labels `y`, (m,).

        Parameters
        ----------
        X : (m, d) array or CSR matrix
        y : (m,) labels
        sample_weight : (m,) array of numbers >= 0, optional

        Raises
        ------
        ValueError
            For one class, more than two with "asgd", parameters out of range, a kernel that is not positive
            semidefinite, a hard margin that the data do not allow, and weights where there is no place for
            them.
        MemoryError
            Where a solver that needs the whole Gram matrix finds no room for it.
        """
        self._forget()
        name, _ = validate_settings(self)
        dense = callable(name) or name == "precomputed"
        X, y = validate_data(self, X, y, accept_sparse=False if dense else "csr", dtype=np.float64)
        X = tidy(X)
        self.solver_ = choose_solver(self.solver, name, X, self.C)
        many = self.solver_ != "asgd"
        self.classes_, signs = class_signs(y, "LDMClassifier", many)
        weights = row_weights(X, y, sample_weight, self.class_weight)
        if weights is not None:
            validate_weights_allowed(self, self.solver_, name == "linear")
            validate_penalties(0.0, 0.0, float(self.C) * float(weights.max()))
        self._kernel = resolve_weighted(self, X, sample_weight)
        if isinstance(self._kernel, tuple) and "gamma" in self._kernel[1]:
            gamma = self._kernel[1]["gamma"]
            self.gamma_ = float(1.0 / X.shape[1] if gamma is None else gamma)
        self._signs = signs[0] if len(signs) == 1 else signs
        if self.solver_ == "asgd":
            self._fit_stochastic(X)
        else:
            self._fit_exactly(X, signs, weights)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return f for the rows of `X`, (n, d), or (n, m) for "precomputed": (n,), or (n, k) for k classes.

        Of the linear kernel float32 rows have float32 values; other kernels are computed in float64.
        """
        check_is_fitted(self, "intercept_")
        linear = hasattr(self, "coef_")
        kinds = [np.float64, np.float32] if linear else np.float64
        X = validate_data(self, X, accept_sparse="csr", dtype=kinds, reset=False)
        if linear:
            return np.asarray(X @ self.coef_.T.astype(X.dtype)) + np.asarray(self.intercept_, dtype=X.dtype)
        if kernel_name(self._kernel) == "precomputed":
            return X @ self.dual_coef_.T + self.intercept_
        return kernel_sums(self._kernel, X, self._train, self.dual_coef_.T) + self.intercept_

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row of `X`: of two the second one where f > 0, of more the largest f's."""
        f = self.decision_function(X)
        return self.classes_[(f > 0).astype(int) if f.ndim == 1 else f.argmax(axis=1)]

    def loo_bound(self) -> float:
        """Return an upper bound on the leave-one-out error rate, in [0, 1], without any further training.

        A theorem, for every feasible dual vector (:mod:`marginbook.ldm.solvers.leave_one_out_bound`): it
        holds at any tolerance. A left-out margin of zero counts as an error. Costs one
        eigendecomposition of the Gram matrix.

        Raises
        ------
        ValueError
            After "asgd", which has no dual variables; for the hard margin, whose dual variables have no
            bound; with more than two classes or weights of rows; after a fit on linear features to more than
            5000 examples or to a file; of a linear machine from a pickle, which holds no rows.
        """
        check_is_fitted(self, "intercept_")
        if len(self.classes_) > 2 or getattr(self, "_weighted", False):
            raise ValueError("loo_bound is for two classes, without weights of rows")
        if self.solver_ == "asgd":
            raise ValueError("loo_bound needs dual variables, which solver='asgd' has not; use solver='dcd'")
        if not np.isfinite(self._found.C):
            raise ValueError("loo_bound needs a finite C, got the hard margin; take a large C")
        if not hasattr(self, "_train"):
            raise ValueError(
                f"loo_bound needs the Gram matrix of all {len(self._signs)} rows, and this fit kept none "
                f"(a file, a pickle, or more than {KEPT}); use solver='active-set' if that matrix fits into "
                "memory"
            )
        G = training_gram(self._kernel, self._train, self._constant)
        return left_out_bound(G, self._signs, self._found)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the training rows of a linear machine: only `loo_bound` asks for them."""
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_train" or "coef_" not in state}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        name = tag_input(tags, self.kernel)
        tags.classifier_tags.multi_class = self.solver != "asgd"
        # classes on one ray from the origin are beyond a linear machine without an intercept
        tags.classifier_tags.poor_score = name == "linear" and not self.fit_intercept
        return tags
