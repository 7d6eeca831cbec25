"""SparseKFDAClassifier: parameters and validation here, mathematics in the solvers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from ...base.weights import ClassWeight
from ...kernels import Kernel, warn_of_scale
from .kernel_machine import KernelMachine
from .rows import Rows
from .training import (
    certificate,
    choose_solver,
    cut_below,
    solve,
    starting_point,
    training_problem,
    validate_settings,
)


@dataclass(eq=False, repr=False)
class SparseKFDAClassifier(KernelMachine):
    r"""Sparse kernel Fisher discriminant kFDA_q for two classes.

    .. math::
       \min_{b,\alpha}\ \tfrac12\Bigl\lVert\hat y-b\mathbf 1-K\alpha\Bigr\rVert^2
       +\rho N\Bigl(|b|^q+\sum_{i=1}^N|\alpha_i|^q\Bigr)

    where :math:`\hat y_i=N/N_1` on the positive class of :math:`N_1` rows and :math:`-N/N_2` on the other. Of
    the N training rows those with :math:`\alpha_i\ne0` are retained; the others are not needed to predict.
    For q < 1 the problem has many local minima, and which one is found depends on `start`. With weights
    :math:`w_i` of the rows it is

    .. math::
       \min_{b,\alpha}\ \tfrac12\sum_iw_i\Bigl(\hat y_i-b-\sum_jk_{ij}\alpha_j\Bigr)^2
       +\rho N\Bigl(|b|^q+\sum_iw_i^{1-\max(q,1)}|\alpha_i|^q\Bigr)

    with sums of weights for N, :math:`N_1` and :math:`N_2`: the problem of a row that is there :math:`w_i`
    times, whose coefficient one copy has for q <= 1, and all share for q > 1. Weights of classes are factors
    of :math:`w_i`, but not of these sums.
    Source: Harrison & Pasupa, equations (5) and (8). More than two classes: ``OneVsRestClassifier`` or
    ``OneVsOneClassifier``, whose machines retain rows independently (:func:`marginbook.kfda.retained_by`), so
    that each factors the matrix of its own; only the kernel values are common, with ``kernel="precomputed"``.

    Read more in the :ref:`user guide <guide-sparsekfdaclassifier>` (``marginbook guide``).

    Parameters
    ----------
    q : float, default=1.0
        Exponent of the penalty, in (0, 2]. 1 is the lasso, less is sparser, above 1 retains all rows.
    rho : float, default=0.01
        Weight of the penalty, above 0; it is multiplied by N.
    kernel : {"linear", "poly", "rbf", "precomputed"}, (name, parameters) or callable, default="rbf"
        Parameters given as a pair win over `gamma`, `degree`, `coef0`. A precomputed matrix need not be
        positive semidefinite: its columns are regressors. A callable gets two rows, each a vector, and
        returns a number (that of SVC gets two matrices).
    gamma : float, "scale", "auto" or None, default="scale"
        Of "rbf" and "poly"; "scale" is 1 / (n_features times the variance of all entries of X, where
        `sample_weight` counts), "auto" is 1 / n_features, None is 1 / n_features for "rbf" and 1 for "poly".
        The paper's width :math:`\sigma` in :math:`\exp(-\lVert u-v\rVert^2/(2\sigma^2))` is
        ``gamma = 1 / (2 * sigma**2)``.
    degree : float, default=3
    coef0 : float, default=1.0
    solver : {"auto", "mm", "plain", "squarem", "lasso"}, default="auto"
        "mm" is the paper's iteration on the rows that are left, whose zeros are exact. "plain" is the paper's
        (8) to the letter, whose coefficients only tend to zero: it needs a `cut`. "squarem" is (8)
        accelerated, likewise. "lasso" is exact, for q = 1 only. "auto" takes "lasso" for q = 1, else "mm".
        Above 2,500 rows "mm" finds the support for q < 1 on an approximation of K by 1,000 of its columns,
        and the local minimum there with K itself, so that the certificate is exact; for q = 2 it is conjugate
        gradients; for q between them, and in "plain" and "squarem", systems of all rows take :math:`O(N^3)`.
    penalize_bias : bool, default=True
        Whether b is in the penalty, as printed.
    cut : float, default=0.0
        Coefficients up to this share of the largest one, in absolute value, are set to zero after the fit,
        in [0, 1). The paper does not say when a coefficient counts as zero.
    start : "ridge" or (N+1,) array, default="ridge"
        Where the iterations begin: the bias and a coefficient for each row, or the solution for q = 2. A zero
        stays zero in "plain" and "squarem". "lasso" ends at the same objective from anywhere.
    threshold : {"midpoint", "means"}, default="midpoint"
        What f is compared with: the midpoint of the two targets, as Harrison & Pasupa have it, or that of the
        mean of f in either class. They are the same where the fit is perfect, and for classes of equal size
        if ``penalize_bias=False``, without `class_weight` and `cut`.
    tol : float, default=None
        What passes without a ConvergenceWarning. For "plain" and "squarem" the relative change of the
        objective, at which they stop; None means the paper's 1e-5. For "mm" and "lasso", which go on to
        rounding where they can, a certificate: for q >= 1 the duality gap as a share of the objective, where
        None means 1e-8; for q < 1 ``stationarity_``, where None means 1e-4.
    max_iter : int, default=10000
        Iterations of "mm", "plain" and "squarem".
    n_components : int, default=None
        None: all rows are candidates, which takes N x N numbers. A number m: only m of them may be retained,
        drawn at random, in O(N m) memory; the certificates hold for the problem of these columns.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, times those of the rows. N/N1 and N/N2 weigh the classes equally already.
    random_state : int, RandomState or None, default=None
        Draws the candidates.

    Attributes
    ----------
    classes_ : (2,) array
        The second is the positive one.
    class_count_ : (2,) array
        N2 and N1, training rows of ``classes_`` or the sums of their weights.
    dual_coef_ : (N,) array
        :math:`\alpha`.
    coef_ : (1, d) array
        Only of a linear kernel: the weights of the features in the decision function.
    intercept_ : float
        b.
    threshold_ : float
        The decision function is ``(K @ dual_coef_ + intercept_ - threshold_)`` divided by half the distance
        of the targets, :math:`N^2/(2N_1N_2)`.
    retained_ : (r,) array of int
        Training rows with a coefficient.
    retained_fraction_ : float
        r / N; the NRS of Harrison & Pasupa is 100 r / N.
    objective_ : float
        J, the objective above, at ``intercept_`` and ``dual_coef_``.
    objective_path_, retained_path_ : arrays
        J and the number of nonzero coefficients at the start and after each iteration.
    n_iter_ : int
    converged_ : bool
        Whether `tol` was met, before the `cut`. Of "plain" and "squarem" it says that J changed little, which
        is no certificate: ``dual_gap_`` or ``stationarity_`` tells what is missing, and may be large.
    solver_ : str
        The solver that "auto" chose.
    gamma_ : float
        Of "rbf" and "poly", as used.
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
    n_features_in_ : int

    Examples
    --------
    >>> from marginbook.kfda import SparseKFDAClassifier
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

    q: float = 1.0
    rho: float = 0.01
    kernel: Kernel = "rbf"
    gamma: float | str | None = "scale"
    degree: float = 3
    coef0: float = 1.0
    solver: str = "auto"
    penalize_bias: bool = True
    cut: float = 0.0
    start: Any = "ridge"
    threshold: str = "midpoint"
    tol: float | None = None
    max_iter: int = 10_000
    n_components: int | None = None
    class_weight: ClassWeight = None
    random_state: Any = None

    def _validate_parameters(self) -> None:
        validate_settings(self)

    def _fit(self, rows: Rows) -> Self:
        design, columns = self._candidates(rows)
        warn_of_scale(self._kernel, design[:, 1:] if columns is None else design[columns, 1:])
        problem, units = training_problem(design, rows, float(self.q), columns)
        self.solver_ = choose_solver(self.solver, self.q)
        rho = float(self.rho) * (1.0 if units is None else rows.count / problem.n)
        start = starting_point(self.start, rows, columns, units)
        found = solve(problem, self, self.solver_, rho, start)
        omega = cut_below(found.omega if units is None else found.omega / units, self.cut)
        scaled = omega if units is None else omega * units
        for name, value in certificate(problem, scaled, self.q, rho, self.penalize_bias).items():
            setattr(self, name, value)
        self.objective_path_, self.retained_path_ = found.objective_path, found.retained_path
        self.n_iter_, self.converged_ = max(1, found.n_iter), bool(found.converged)
        fitted = problem.design @ scaled
        if rows.root is not None:
            fitted = fitted / rows.root
        return self._keep(rows, omega[1:], omega[0], fitted, columns)
