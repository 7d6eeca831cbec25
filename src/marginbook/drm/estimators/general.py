"""scikit-learn estimator of the DRM with a mixed-norm penalty, eq. (8) with Algorithm 1."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ...base.labels import encode_classes
from ...base.partial_fit import NoPartialFit
from ...base.threads import on_few_threads
from ...base.user_line import user_level
from ...base.weights import ClassWeight, row_weights
from ...kernels import Kernel, tidy, warn_of_scale
from ...kernels.tags import tag_input
from ...kernels.validation import validate_data
from ..model.objective import class_products, dissimilarity
from ..solvers.general import GeneralProblem, Solution, choose_solver, solve
from ..solvers.iteration import validate_stopping
from .parameters import resolve
from .prediction import require_matrices
from .training_kernel import TrainingRows

#: test points that are solved at a time
CHUNK = 256
#: training points whose own optimality is measured in fit; a tenth of them where cvxpy solves one by one
PROBES = 32


class _RowsWithProblem:
    """Training rows with the problem that is made of them, which stays out of pickles."""

    def __init__(self, rows: TrainingRows, arguments: tuple[Any, ...], n_given: int) -> None:
        self.rows, self.arguments, self.n_given = rows, arguments, n_given

    @cached_property
    def problem(self) -> GeneralProblem:
        n = len(self.rows.order)
        require_matrices(n, 3, "DRMClassifier with n_components")
        alpha, beta, q, r, rho = self.arguments
        rows = self.rows
        return GeneralProblem(rows.gram(), rows.sizes, alpha, beta, q, r, rho, rows.weights)

    def __getstate__(self) -> dict[str, Any]:
        return {"rows": self.rows, "arguments": self.arguments, "n_given": self.n_given}


@dataclass(eq=False, repr=False)
class MixedNormDRMClassifier(NoPartialFit, ClassifierMixin, BaseEstimator):
    r"""Discriminative ridge machine with a mixed-norm penalty.

    For a test point x the weights of the training examples solve

    .. math::
       \min_w\ \tfrac12w^\top(K+\alpha(H-B))w-w^\top K_x+\beta\rho(\lVert w|C\rVert_{q,r}),

    where :math:`\lVert w|C\rVert_{q,r}` is the r-norm of the vector of the q-norms of w over the classes, K
    the n x n Gram matrix, H its diagonal, B the block diagonal of :math:`K^i/n_i`, :math:`K_x=[k(x,x_j)]_j`.
    The predicted class has the smallest dissimilarity :math:`\delta_i`, as for :class:`DRMClassifier`: the
    case (q, r) = (2, 2) with the half-square. (1, 1) makes single weights zero, (2, 1) and (inf, 1) whole
    classes.
    Source: Peng & Cheng, equations (8) to (11), Algorithm 1.

    A weight k of a row counts as k equal rows, which share their w; :mod:`marginbook.drm.solvers.general` has
    the objective. A fit is O(n^3) and holds three n x n arrays; a pickle holds the training rows. Rows are
    taken as double precision.

    Read more in the :ref:`user guide <guide-mixednormdrmclassifier>` (``marginbook guide``).

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the within-class dissimilarity, at least 0.
    beta : float, default=1.0
        Weight of the penalty, above 0. With ``rho="identity"`` all weights are zero, and every dissimilarity
        with them, for a test point whose dual norm of K_x is at most beta; such points get the first class.
    q, r : float, default=2
        (2, 2), (1, 1), (2, 1), (inf, 1), (1, 2) or (inf, inf).
    rho : {"identity", "square", "half-square"}, default="half-square"
        t, t^2 or t^2 / 2.
    kernel : {"linear", "poly", "rbf", "precomputed"}, (name, parameters) or callable, default="rbf"
        Parameters given as a pair win over `gamma`, `degree`, `coef0`. A callable gets two rows, each a
        vector, and returns a number (that of SVC gets two matrices).
    gamma : float, "scale", "auto" or None, default="scale"
        Of "rbf" and "poly"; "scale" is 1 / (n_features times the variance of all entries of X, where
        `sample_weight` and `class_weight` count), "auto" 1 / n_features. None is the latter for "rbf", and 1
        for "poly".
    degree : float, default=3
    coef0 : float, default=1.0
    solver : {"auto", "exact", "proximal", "cvxpy"}, default="auto"
        "exact" solves (2, 2) by one factorisation; "proximal" also (1, 1) and (2, 1), all points at once;
        "cvxpy" every norm, one point after the other. "auto" takes the first of these that knows the norm,
        so (inf, 1), (1, 2) and (inf, inf) need the package cvxpy: ``pip install 'marginbook[oracle]'``.
    tol : float, default=1e-6
        Largest relative duality gap that passes without a ConvergenceWarning.
    max_iter : int, default=10000
        Steps of the proximal gradient.
    class_weight : {class: number}, "balanced" or None, default=None
        Factor on the weight of each row of the class; "balanced" is n / (number of classes * rows of the
        class).

    Attributes
    ----------
    classes_ : (g,) array
    n_features_in_ : int
    gamma_ : float
        Of "rbf" and "poly".
    solver_ : str
        The solver that "auto" chose.
    dual_gap_ : float
        Certificate: the largest relative duality gap of up to 32 training points (4 for "cvxpy"), each solved
        as a test point; ``solution(X)`` has it for any points.
    kkt_residual_ : float
        The largest violation of the conditions of optimality of the same points.
    n_iter_ : int
        The most iterations that one of them took; 1 for "exact" and "cvxpy".

    Examples
    --------
    >>> from marginbook.drm import MixedNormDRMClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MixedNormDRMClassifier(0.1, 0.1, q=2, r=1, rho="identity").fit(X, y)
    >>> round(model.score(X, y), 2)
    0.98
    """

    alpha: float = 1.0
    beta: float = 1.0
    q: float = 2
    r: float = 2
    rho: str = "half-square"
    kernel: Kernel = "rbf"
    gamma: float | str | None = "scale"
    degree: float = 3
    coef0: float = 1.0
    solver: str = "auto"
    tol: float = 1e-6
    max_iter: int = 10_000
    class_weight: ClassWeight = None

    classes_: np.ndarray = field(init=False)
    solver_: str = field(init=False)
    _trained: _RowsWithProblem = field(init=False)

    @on_few_threads
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows `X`, (n, p), or the (n, n) Gram matrix for "precomputed", and labels `y`, (n,).

        Parameters
        ----------
        X, y
        sample_weight : (n,) array of numbers >= 0 or None
            A row of weight k counts as k equal rows.

        Raises
        ------
        ValueError
            For fewer than two classes, or a parameter that is out of range or not supported.
        MemoryError
            Where three n x n arrays are more than this machine has.
        ImportError
            Where the solver is "cvxpy", by choice or by the norm, and cvxpy is not installed.

        Warns
        -----
        ConvergenceWarning
            If the relative duality gap of a training point is above `tol`.
        UserWarning
            If `beta` sets all weights to zero, or gamma does not suit the features.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        X = tidy(X)
        classes, codes = encode_classes(y, type(self).__name__)
        weights = row_weights(X, y, sample_weight, self.class_weight)
        kernel = resolve(self, X, weights)
        validate_stopping(self.max_iter, self.tol)
        self.classes_ = classes
        self.__dict__.pop("gamma_", None)  # of an earlier fit
        if not callable(kernel) and "gamma" in kernel[1]:
            self.gamma_ = float(1 / X.shape[1] if kernel[1]["gamma"] is None else kernel[1]["gamma"])
        rows = TrainingRows.fit(kernel, X, codes, weights)
        self._trained = _RowsWithProblem(rows, (self.alpha, self.beta, self.q, self.r, self.rho), len(codes))
        problem = self._trained.problem
        warn_of_scale(kernel, problem.K)
        self.solver_ = choose_solver(problem, self.solver)
        count = PROBES // 8 if self.solver_ == "cvxpy" else PROBES
        probes = np.unique(np.linspace(0, len(problem.K) - 1, count).astype(int))
        found = self._solve(self._scaled(problem.K[:, probes]))
        self.dual_gap_ = float(found.certificate.relative_gap.max())
        self.kkt_residual_ = float(found.certificate.kkt_residual.max())
        self.n_iter_ = int(found.n_iter.max())
        if not found.weights.any():
            critical = float(problem.critical_beta(self._scaled(problem.K[:, probes])).max())
            warnings.warn(
                f"beta={self.beta:g} sets all weights to zero, so the first class is predicted everywhere; "
                f"the weights of training points begin to differ from zero below beta={critical:.3g}",
                stacklevel=user_level(),
            )
        return self

    @on_few_threads
    def solution(self, X: Any) -> Solution:
        """Return the weights and certificates for rows `X`, (m, p).

        Row j of ``weights``, (n, m), belongs to training row j as it was given to fit; where that has the
        weight k, it is the sum over k equal rows.
        """
        parts = [found for _, found in self._solutions(X)]
        rows = self._fitted()
        joined = {
            name: np.concatenate([getattr(part.certificate, name) for part in parts])
            for name in ("objective", "gap", "relative_gap", "kkt_residual")
        }
        found = np.hstack([part.weights for part in parts])
        W = np.zeros((self._trained.n_given, found.shape[1]))
        W[rows.order] = self._scaled(found)
        n_iter = np.concatenate([part.n_iter for part in parts])
        return Solution(W, type(parts[0].certificate)(**joined), n_iter, self.solver_)

    @on_few_threads
    def dissimilarity(self, X: Any) -> np.ndarray:
        """Return the (m, g) dissimilarities of eq. (10) for rows `X`, (m, p), columns as in `classes_`.

        Raises
        ------
        ValueError
            If one is beyond double precision: scale the features.
        """
        rows, delta = self._fitted(), []
        problem = self._trained.problem
        with np.errstate(over="ignore", invalid="ignore"):
            for Kx, found in self._solutions(X):
                W = self._scaled(found.weights)
                delta.append(dissimilarity(rows.sizes, Kx, W, *class_products(problem.K, rows.sizes, W)))
        joined = np.concatenate(delta)
        if not np.isfinite(joined).all():
            raise ValueError("dissimilarities of these rows are beyond double precision; scale the features")
        return joined

    def decision_function(self, X: Any) -> np.ndarray:
        """Return minus the dissimilarities, (m, g); for two classes (m,), positive for the second."""
        delta = self.dissimilarity(X)
        return delta[:, 0] - delta[:, 1] if delta.shape[1] == 2 else -delta

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of smallest dissimilarity for each row of `X`, (m, p)."""
        delta = self.dissimilarity(X)
        return self.classes_[np.argmin(delta, axis=1)]

    def _fitted(self) -> TrainingRows:
        check_is_fitted(self, "classes_")
        return self._trained.rows

    def _scaled(self, V: np.ndarray) -> np.ndarray:
        """Return kernel vectors in the variables of the problem, or weights of these as those of (8)."""
        root = self._trained.problem.root
        return V if root is None else root[:, None] * V

    def _solutions(self, X: Any) -> Iterator[tuple[np.ndarray, Solution]]:
        rows = self._fitted()
        X = tidy(validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False))
        for start in range(0, X.shape[0], CHUNK):
            Kx = rows.vectors(X[start : start + CHUNK])
            yield Kx, self._solve(self._scaled(Kx))

    def _solve(self, Kx: np.ndarray) -> Solution:
        found = solve(self._trained.problem, Kx, self.solver_, self.tol, self.max_iter)
        gap = float(found.certificate.relative_gap.max())
        if not gap <= self.tol:
            warnings.warn(
                f"the relative duality gap {gap:.2e} misses tol={self.tol:.2e}: raise max_iter or beta, "
                "scale the data, or ask for less",
                ConvergenceWarning,
                stacklevel=user_level(),
            )
        return found

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        name = tag_input(tags, self.kernel)
        # a homogeneous classifier must fail on classes that lie on one ray: claim drm/homogeneous
        tags.classifier_tags.poor_score = name == "linear"
        return tags


class DiscriminativeRidgeClassifier(MixedNormDRMClassifier):
    """The former name of :class:`MixedNormDRMClassifier`, for one release."""

    @on_few_threads
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """As :meth:`MixedNormDRMClassifier.fit`."""
        warnings.warn(
            "DiscriminativeRidgeClassifier is now MixedNormDRMClassifier; the old name will go",
            FutureWarning,
            stacklevel=user_level(),
        )
        return super().fit(X, y, sample_weight)
