"""SparseKFDAClassifier: parameters and validation here, mathematics in the solvers."""

from __future__ import annotations

from typing import Any, Self

from ...kernels import Kernel
from ..model.objective import targets
from .kernel_expansion import KernelMachine, decision_threshold
from .training import (
    certificate,
    choose_solver,
    cut_below,
    solve,
    training_problem,
    validate_settings,
)


class SparseKFDAClassifier(KernelMachine):
    r"""Sparse kernel Fisher discriminant kFDA_q for two classes.

    .. math::
       \min_{b,\alpha}\ \tfrac12\Bigl\lVert\hat y-b\mathbf 1-K\alpha\Bigr\rVert^2
       +\rho N\Bigl(|b|^q+\sum_{i=1}^N|\alpha_i|^q\Bigr)

    where :math:`\hat y_i=N/N_1` on the positive class of :math:`N_1` rows and :math:`-N/N_2` on the other. Of
    the N training rows those with :math:`\alpha_i\ne0` are retained; the others are not needed to predict.
    For q < 1 the problem has many local minima, and which one is found depends on `start`.
    Source: Harrison & Pasupa, equations (5) and (8). More than two classes: ``OneVsRestClassifier`` or
    ``OneVsOneClassifier``, whose machines retain rows independently (:func:`marginbook.kfda.retained_by`).

    Parameters
    ----------
    q : float, default=1.0
        Exponent of the penalty, in (0, 2]. 1 is the lasso, less is sparser, above 1 retains all rows.
    rho : float, default=0.01
        Weight of the penalty, above 0; it is multiplied by N.
    kernel : {"linear", "poly", "rbf", "precomputed"}, (name, parameters) or callable, default="rbf"
        Parameters given as a pair win over `gamma`, `degree`, `coef0`. A precomputed matrix need not be
        positive semidefinite: its columns are regressors.
    gamma : float, default=None
        Of "rbf" and "poly"; None is 1 / n_features for "rbf" and 1 for "poly". The paper's width
        :math:`\sigma` in :math:`\exp(-\lVert u-v\rVert^2/(2\sigma^2))` is ``gamma = 1 / (2 * sigma**2)``.
    degree : float, default=3
    coef0 : float, default=1.0
    solver : {"auto", "mm", "plain", "squarem", "lasso"}, default="auto"
        "mm" is the paper's iteration on the rows that are left, whose zeros are exact. "plain" is the paper's
        (8) to the letter, whose coefficients only tend to zero: it needs a `cut`. "squarem" is (8)
        accelerated, likewise. "lasso" is exact, for q = 1 only. "auto" takes "lasso" for q = 1, else "mm".
    penalize_bias : bool, default=True
        Whether b is in the penalty, as printed.
    cut : float, default=0.0
        Coefficients up to this share of the largest one, in absolute value, are set to zero after the fit,
        in [0, 1). The paper does not say when a coefficient counts as zero.
    start : "ridge" or (N+1,) array, default="ridge"
        Where the iterations begin: the bias and a coefficient for each row, or the solution for q = 2. A zero
        stays zero in "plain" and "squarem". "lasso" ends at the same objective from anywhere.
    threshold : {"midpoint", "means"}, default="midpoint"
        What f is compared with: the midpoint of the two targets, as in the paper, or that of the mean of f
        in either class, which lies elsewhere unless the classes are equal in size or the fit is perfect.
    tol : float, default=None
        What passes without a ConvergenceWarning. For "plain" and "squarem" the relative change of the
        objective, at which they stop; None is the paper's 1e-5. For "mm" and "lasso", which go on to rounding
        where they can, a certificate: for q >= 1 the duality gap as a share of the objective, None is 1e-8;
        below ``stationarity_``, None is 1e-4.
    max_iter : int, default=10000
        Iterations of "mm", "plain" and "squarem".

    Attributes
    ----------
    classes_ : (2,) array
        The second is the positive one.
    class_count_ : (2,) array of int
        N2 and N1, training rows of ``classes_``.
    coef_ : (N,) array
        :math:`\alpha`.
    intercept_ : float
        b.
    threshold_ : float
        The decision function is ``(K @ coef_ + intercept_ - threshold_)`` divided by half the distance of the
        targets, :math:`N^2/(2N_1N_2)`.
    retained_ : (r,) array of int
        Training rows with a coefficient.
    retained_fraction_ : float
        r / N; times 100 it is the paper's NRS.
    objective_ : float
        J at ``intercept_`` and ``coef_``.
    objective_path_, retained_path_ : arrays
        J and the number of nonzero coefficients at the start and after each iteration.
    n_iter_ : int
    converged_ : bool
        Whether `tol` was met, before the `cut`. Of "plain" and "squarem" it says that J changed little, which
        is no certificate: ``dual_gap_`` or ``stationarity_`` tells what is missing, and may be large.
    solver_ : str
        The solver that "auto" chose.
    dual_gap_ : float
        Only q >= 1: how far ``objective_`` can be above the optimum.
    kkt_residual_ : float
        Only q = 1: the largest violation of the optimality conditions, relative.
    stationarity_ : float
        Only q other than 1: the largest residual of the stationarity conditions on the retained
        coefficients, relative.
    curvature_ : float
        Only q < 1: the smallest eigenvalue of the Hessian on the retained coefficients, in the scaling of
        :func:`marginbook.kfda.model.certificates.smallest_curvature`; infinite where none is retained.
    is_local_minimum_ : bool
        Only q < 1: stationary to 1e-4 with positive curvature, which is enough for a strict local minimum
        among all coefficients. "plain" at its tolerance rarely is.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> model = SparseKFDAClassifier(q=0.5, rho=0.003, gamma=0.01).fit(X, y)
    >>> len(y), len(model.retained_), round(model.score(X, y), 3), model.is_local_minimum_
    (569, 10, 0.975, True)

    The lasso, whose optimum is global, from the exact solver and from the paper's iteration:

    >>> exact = SparseKFDAClassifier(q=1, rho=0.003, gamma=0.01).fit(X, y)
    >>> paper = SparseKFDAClassifier(q=1, rho=0.003, gamma=0.01, solver="plain", cut=1e-3).fit(X, y)
    >>> round(exact.objective_, 2), len(exact.retained_), exact.dual_gap_ < 1e-5
    (274.45, 21, True)
    >>> round(paper.objective_, 2), len(paper.retained_), paper.n_iter_, round(paper.dual_gap_, 2)
    (274.51, 40, 62, 5.66)
    """

    def __init__(
        self,
        q: float = 1.0,
        rho: float = 0.01,
        kernel: Kernel = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1.0,
        solver: str = "auto",
        penalize_bias: bool = True,
        cut: float = 0.0,
        start: Any = "ridge",
        threshold: str = "midpoint",
        tol: float | None = None,
        max_iter: int = 10_000,
    ) -> None:
        self.q = q
        self.rho = rho
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.penalize_bias = penalize_bias
        self.cut = cut
        self.start = start
        self.threshold = threshold
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows `X`, (N, d), or the (N, N) kernel matrix for "precomputed", and labels `y`, (N,).

        Raises
        ------
        ValueError
            For other than two classes, parameters out of range, or a kernel matrix that is not square.
        """
        validate_settings(self)
        X, positive = self._validated(X, y)
        problem = training_problem(self._training_gram(X), targets(positive))
        self.solver_ = choose_solver(self.solver, self.q)
        found = solve(problem, self, self.solver_)
        omega = cut_below(found.omega, self.cut)
        for name, value in certificate(problem, omega, self.q, self.rho, self.penalize_bias).items():
            setattr(self, name, value)
        self.objective_path_, self.retained_path_ = found.objective_path, found.retained_path
        self.n_iter_, self.converged_ = max(1, found.n_iter), bool(found.converged)
        threshold = decision_threshold(self.threshold, problem.design @ omega, positive)
        return self._keep(X, omega[1:], omega[0], threshold)
