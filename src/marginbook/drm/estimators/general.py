"""scikit-learn estimator of the general discriminative ridge regression, eq. (8) with Algorithm 1."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ...base.labels import encode_classes
from ...kernels import Kernel, kernel_name, resolve_kernel, tidy
from ..model.objective import class_products, dissimilarity
from ..solvers.general import GeneralProblem, Solution, choose_solver, solve
from ..solvers.iteration import validate_stopping
from .training_kernel import TrainingKernel

#: test points that are solved at a time
CHUNK = 256
#: training points whose own optimality is measured in fit; a tenth of them where cvxpy solves one by one
PROBES = 32


class DiscriminativeRidgeClassifier(ClassifierMixin, BaseEstimator):
    r"""Discriminative ridge regression with a general penalty.

    For a test point x the weights of the training examples solve

    .. math::
       \min_w\ \tfrac12w^\top(K+\alpha(H-B))w-w^\top K_x+\beta\rho(\lVert w|C\rVert_{q,r}),

    where :math:`\lVert w|C\rVert_{q,r}` is the r-norm of the vector of the q-norms of w over the classes, K
    the n x n Gram matrix, H its diagonal, B the block diagonal of :math:`K^i/n_i`, :math:`K_x=[k(x,x_j)]_j`.
    The predicted class has the smallest dissimilarity :math:`\delta_i`, as for :class:`DRMClassifier`: the
    case (q, r) = (2, 2) with the half-square. (1, 1) makes single weights zero, (2, 1) and (inf, 1) whole
    classes.
    Source: Peng & Cheng, equations (8) to (11), Algorithm 1.

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
        Parameters given as a pair win over `gamma`, `degree`, `coef0`.
    gamma : float, default=None
        Of "rbf" and "poly"; None is 1 / n_features for "rbf" and 1 for "poly".
    degree : float, default=3
    coef0 : float, default=1.0
    solver : {"auto", "exact", "proximal", "cvxpy"}, default="auto"
        "exact" solves (2, 2) by one factorisation; "proximal" also (1, 1) and (2, 1), all points at once;
        "cvxpy" every norm, one point after the other. "auto" takes the first of these that knows the norm.
    tol : float, default=1e-6
        Largest relative duality gap that passes without a ConvergenceWarning.
    max_iter : int, default=10000
        Steps of the proximal gradient.

    Attributes
    ----------
    classes_ : (g,) array
    n_features_in_ : int
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
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DiscriminativeRidgeClassifier(0.1, 0.1, q=2, r=1, rho="identity").fit(X, y)
    >>> round(model.score(X, y), 2)
    0.99
    """

    classes_: np.ndarray
    solver_: str
    _training: TrainingKernel
    _problem: GeneralProblem

    def __init__(
        self,
        alpha: float = 1.0,
        beta: float = 1.0,
        q: float = 2,
        r: float = 2,
        rho: str = "half-square",
        kernel: Kernel = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1.0,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 10_000,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.q = q
        self.r = r
        self.rho = rho
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows `X`, (n, p), or the (n, n) Gram matrix for "precomputed", and labels `y`, (n,).

        Raises
        ------
        ValueError
            For fewer than two classes, or a parameter that is out of range or not supported.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        X = tidy(X)
        kernel = resolve_kernel(self.kernel, self.gamma, self.degree, self.coef0)
        validate_stopping(self.max_iter, self.tol)
        self.classes_, codes = encode_classes(y, "DiscriminativeRidgeClassifier")
        self._training = TrainingKernel.fit(kernel, X, codes)
        self._problem = GeneralProblem(
            self._training.gram, self._training.sizes, self.alpha, self.beta, self.q, self.r, self.rho
        )
        self.solver_ = choose_solver(self._problem, self.solver)
        count = PROBES // 8 if self.solver_ == "cvxpy" else PROBES
        probes = np.unique(np.linspace(0, len(codes) - 1, count).astype(int))
        found = self._solve(self._training.gram[:, probes])
        self.dual_gap_ = float(found.certificate.relative_gap.max())
        self.kkt_residual_ = float(found.certificate.kkt_residual.max())
        self.n_iter_ = int(found.n_iter.max())
        if not found.weights.any():
            critical = float(self._problem.critical_beta(self._training.gram[:, probes]).max())
            warnings.warn(
                f"beta={self.beta:g} sets all weights to zero, so the first class is predicted everywhere; "
                f"the weights of training points begin to differ from zero below beta={critical:.3g}",
                stacklevel=2,
            )
        return self

    def solution(self, X: Any) -> Solution:
        """Return the weights and certificates for rows `X`, (m, p).

        Row j of ``weights``, (n, m), belongs to training row j as it was given to fit.
        """
        parts = [found for _, found in self._solutions(X)]
        joined = {
            name: np.concatenate([getattr(part.certificate, name) for part in parts])
            for name in ("objective", "gap", "relative_gap", "kkt_residual")
        }
        W = np.empty((len(self._training.order), sum(part.weights.shape[1] for part in parts)))
        W[self._training.order] = np.hstack([part.weights for part in parts])
        n_iter = np.concatenate([part.n_iter for part in parts])
        return Solution(W, type(parts[0].certificate)(**joined), n_iter, self.solver_)

    def dissimilarity(self, X: Any) -> np.ndarray:
        """Return the (m, g) dissimilarities of eq. (10) for rows `X`, (m, p), columns as in `classes_`."""
        training, delta = self._fitted(), []
        with np.errstate(over="ignore", invalid="ignore"):
            for Kx, found in self._solutions(X):
                products = class_products(training.gram, training.sizes, found.weights)
                delta.append(dissimilarity(training.sizes, Kx, found.weights, *products))
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

    def _fitted(self) -> TrainingKernel:
        check_is_fitted(self, "classes_")
        return self._training

    def _solutions(self, X: Any) -> Iterator[tuple[np.ndarray, Solution]]:
        training = self._fitted()
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        for start in range(0, X.shape[0], CHUNK):
            Kx = training.vectors(X[start : start + CHUNK])
            yield Kx, self._solve(Kx)

    def _solve(self, Kx: np.ndarray) -> Solution:
        found = solve(self._problem, Kx, self.solver_, self.tol, self.max_iter)
        gap = float(found.certificate.relative_gap.max())
        if not gap <= self.tol:
            warnings.warn(
                f"the relative duality gap {gap:.2e} misses tol={self.tol:.2e}: raise max_iter or beta, "
                "scale the data, or ask for less",
                ConvergenceWarning,
                stacklevel=3,
            )
        return found

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        try:
            name = kernel_name(self.kernel)
        except ValueError:  # fit says what is wrong with it
            name = ""
        tags.input_tags.sparse = name not in ("precomputed", "callable")
        tags.input_tags.pairwise = name == "precomputed"
        # a homogeneous classifier must fail on classes that lie on one ray: claim drm/homogeneous
        tags.classifier_tags.poor_score = name == "linear"
        return tags
