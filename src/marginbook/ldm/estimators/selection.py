"""Choice of lambda1, lambda2, C and width: a whole grid from one eigendecomposition per width and fold."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ...base.folds import folds, validate_folds
from ...base.labels import binary_signs
from ...base.partial_fit import NoPartialFit
from ...base.splits import Split
from ...base.threads import few_threads, on_few_threads
from ...base.user_line import user_level
from ...kernels import Kernel, kernel_name, resolve_kernel, tidy
from ...kernels.validation import validate_data
from ..model.whitening import WhitenedGram
from ..model.widths import mean_distance
from ..solvers.grid import Grid, solve_grid
from ..solvers.leave_one_out_bound import error_bound
from .classifier import LDMClassifier
from .gram_checks import finite_rows, training_gram
from .parameters import choose_solver
from .scores import Score, scores
from .selection_grid import first_best, relative_gaps, results, validate_grids
from .selection_linear import linear_grid_decisions

#: of the paper, for both lambdas
LAMBDAS = tuple(2.0**power for power in range(-8, -1))
#: of the paper: the widths, as multiples of the mean distance, in the order in which equals are preferred
MULTIPLES = (1.0, 0.5, 2.0, 0.25, 4.0)

#: rows beyond which the linear kernel is searched on features
GRAM_ROWS = 2000


@dataclass(eq=False, repr=False)
class LDMClassifierCV(NoPartialFit, ClassifierMixin, BaseEstimator):
    r"""Large margin distribution machine with its parameters chosen on a grid.

    All :math:`\lambda_1`, :math:`\lambda_2`, C share one eigendecomposition for each kernel width and fold,
    and each is solved from its neighbour (:mod:`marginbook.ldm.solvers.grid`). The bound needs no folds. The
    linear kernel with more than 2000 rows and fewer features is searched on features, without a Gram matrix.
    It takes two classes and no weights of rows or classes: the dual of weighted rows has another bound for
    each, which neither the common factor nor the steps from neighbour to neighbour know, and the bound of
    the leave-one-out error counts rows. For those there is ``GridSearchCV(LDMClassifier(class_weight=...),
    ...)``, which solves each grid point by itself.

    Read more in the :ref:`user guide <guide-ldmclassifiercv>` (``marginbook guide``).

    Parameters
    ----------
    lambda1s, lambda2s : sequence of float, default=(2**-8, ..., 2**-2)
    Cs : sequence of float, default=(10, 50, 100)
    gammas : sequence of float, default=None
        Of the kernels "rbf" and "poly". None with "rbf" is the paper's grid: widths :math:`\sigma` from
        :math:`2^{-2}\delta` to :math:`2^2\delta`, where :math:`\delta` is the mean distance of two rows given
        to `fit`, in :math:`\exp(-\lVert x-z\rVert^2/(2\sigma^2))`, so gamma = 1 / (2 sigma**2); nearest to
        :math:`\delta` first. The paper does not print its kernel; this form is our reading.
    kernel : Kernel, default="rbf"
        As in :class:`LDMClassifier`; a pair such as ("rbf", {"gamma": 0.5}) fixes the width.
    degree : float, default=3
    coef0 : float, default=1.0
    cv : int, splitter or iterable of (train, test), default=5
        A number of stratified folds, or what scikit-learn's ``check_cv`` takes. Not used by "loo-bound".
    scoring : {"accuracy", "loo-bound"}, name of a scorer, or callable, default="accuracy"
        "loo-bound" is one minus the bound of :meth:`LDMClassifier.loo_bound`: leave-one-out accuracy that is
        guaranteed. Else scikit-learn's name of a scorer, or a callable of (labels, decision values) that
        returns a number, larger is better.
    fit_intercept : bool, default=False
    tol : float, default=1e-6
        As in :class:`LDMClassifier`, for every solution of the grid.
    random_state : int, RandomState or None, default=None
        Shuffles the rows before an integer `cv` makes folds of them; None leaves their order.

    Attributes
    ----------
    lambda1_, lambda2_, C_, gamma_ :
        The choice; ``gamma_`` is None where the kernel has no width to choose. Of equal scores the first in
        the grid wins, whose order is gamma, C, lambda1, lambda2, the last fastest.
    best_score_ : float
        Mean over the folds, or the guaranteed accuracy.
    best_params_ : dict
        The choice by the names of :class:`LDMClassifier`.
    best_index_ : int
        Its place in the grid.
    cv_results_ : dict
        As of scikit-learn's searches: ``params``, a list of dicts, and for every grid point, in that order,
        ``param_C``, ``param_gamma``, ``param_lambda1``, ``param_lambda2``, ``mean_test_score``,
        ``rank_test_score``; moreover ``dual_gap`` (relative, the largest of the folds). ``C``, ``gamma``,
        ``lambda1``, ``lambda2`` and ``score`` are older names, for one release.
    best_estimator_ : LDMClassifier
        Fitted to all rows with the choice.
    dual_gap_ : float
        Of ``best_estimator_``.
    classes_, n_features_in_

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import minmax_scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, y = minmax_scale(X)[::4], y[::4]
    >>> grid = {"lambda1s": (2**-8, 2**-2), "lambda2s": (2**-8,), "Cs": (1, 10)}
    >>> folds = LDMClassifierCV(**grid).fit(X, y)
    >>> bound = LDMClassifierCV(**grid, scoring="loo-bound").fit(X, y)
    >>> round(folds.best_score_, 3), folds.C_, round(bound.best_score_, 3), bound.C_
    (0.993, 10.0, 0.944, 1.0)
    """

    lambda1s: Sequence[float] = LAMBDAS
    lambda2s: Sequence[float] = LAMBDAS
    Cs: Sequence[float] = (10.0, 50.0, 100.0)
    gammas: Sequence[float] | None = None
    kernel: Kernel = "rbf"
    degree: float = 3
    coef0: float = 1.0
    cv: Any = 5
    scoring: str | Score = "accuracy"
    fit_intercept: bool = False
    tol: float = 1e-6
    random_state: Any = None

    @on_few_threads
    def fit(self, X: Any, y: Any) -> Self:
        """Choose on rows `X`, (m, d), or a Gram matrix for "precomputed", with labels `y`, then fit to all.

        Raises
        ------
        ValueError
            For other than two classes, grids or parameters out of range, or fewer rows than folds.
        """
        self.__dict__.pop("best_estimator_", None)
        validate_grids(self)
        dense = kernel_name(self.kernel) in ("precomputed", "callable")
        X, y = validate_data(self, X, y, accept_sparse=False if dense else "csr", dtype=np.float64)
        X = tidy(X)
        self.classes_, signs = binary_signs(y, "LDMClassifierCV")
        gammas = self._gammas(X)
        folds = [] if self.scoring == "loo-bound" else self._folds(X, y)
        features = self._on_features(X)
        with few_threads(len(y)):
            if features:
                found = [self._scored_on_features(X, y, signs, folds)]
            else:
                found = [self._scored(X, y, signs, gamma, folds) for gamma in gammas]
        # (gamma, lambda1, lambda2, C) -> (gamma, C, lambda1, lambda2)
        values, gaps = (np.moveaxis(np.array(part), 3, 1) for part in zip(*found, strict=True))
        points = list(product(gammas, self.Cs, self.lambda1s, self.lambda2s))
        self.cv_results_ = results(points, values.ravel(), gaps.ravel())
        self._warn(self.cv_results_["dual_gap"])
        self.best_index_ = best = first_best(self.cv_results_["mean_test_score"])
        self.best_score_ = float(self.cv_results_["mean_test_score"][best])
        self.best_params_ = self.cv_results_["params"][best]
        self.gamma_, C, lambda1, lambda2 = points[best]
        self.C_, self.lambda1_, self.lambda2_ = float(C), float(lambda1), float(lambda2)
        self.best_estimator_ = LDMClassifier(
            self.lambda1_,
            self.lambda2_,
            self.C_,
            self._kernel(self.gamma_),
            solver="auto" if features else "active-set",
            fit_intercept=self.fit_intercept,
            tol=self.tol,
        ).fit(X, y)
        self.dual_gap_ = self.best_estimator_.dual_gap_
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return f of the chosen machine for the rows of `X`, (n,), in their precision if it is linear."""
        X = self._validated(X)
        return self.best_estimator_.decision_function(X)

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row of `X`."""
        X = self._validated(X)
        return self.best_estimator_.predict(X)

    @property
    def estimator_(self) -> LDMClassifier:
        """The former name of `best_estimator_`, for one release."""
        if "best_estimator_" in self.__dict__:
            warnings.warn("estimator_ is now best_estimator_", FutureWarning, stacklevel=user_level())
        return self.best_estimator_

    def _scored(
        self, X: Any, y: np.ndarray, signs: np.ndarray, gamma: float | None, folds: list[tuple[Any, Any]]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return score and relative gap of one width: two arrays over (lambda1, lambda2, C)."""
        G = training_gram(self._kernel(gamma), X, self.fit_intercept)
        if self.scoring == "loo-bound":
            whitened, grid = self._solved(G, signs)
            bounds = [
                error_bound(G, signs, grid.solution(*index), eigen=whitened.decompose())
                for index in np.ndindex(grid.gap.shape)
            ]
            return 1.0 - np.reshape(bounds, grid.gap.shape), relative_gaps(grid)
        values, gaps = [], []
        for train, test in folds:
            _, grid = self._solved(G[np.ix_(train, train)], signs[train])
            decisions = grid.alpha @ G[np.ix_(train, test)]
            values.append(scores(self.scoring, self.classes_, y[test], decisions))
            gaps.append(relative_gaps(grid))
        return np.mean(values, axis=0), np.max(gaps, axis=0)

    def _scored_on_features(
        self, X: Any, y: np.ndarray, signs: np.ndarray, folds: list[tuple[Any, Any]]
    ) -> tuple[np.ndarray, np.ndarray]:
        rows = finite_rows(X, self.fit_intercept)
        small = choose_solver("auto", "linear", rows, 1.0) == "interior-point"
        grids = (self.lambda1s, self.lambda2s, self.Cs)
        values, gaps = [], []
        for train, test in folds:
            decisions, gap = linear_grid_decisions(
                rows[train], signs[train], rows[test], *grids, small=small, tol=self.tol
            )
            values.append(scores(self.scoring, self.classes_, y[test], decisions))
            gaps.append(gap)
        return np.mean(values, axis=0), np.max(gaps, axis=0)

    def _on_features(self, X: Any) -> bool:
        long = X.shape[0] > GRAM_ROWS and choose_solver("auto", "linear", X, 1.0) != "active-set"
        return kernel_name(self.kernel) == "linear" and self.scoring != "loo-bound" and long

    def _solved(self, G: np.ndarray, signs: np.ndarray) -> tuple[WhitenedGram, Grid]:
        whitened = WhitenedGram(G, signs)
        return whitened, solve_grid(whitened, self.lambda1s, self.lambda2s, self.Cs, tol=self.tol)

    def _kernel(self, gamma: float | None) -> Kernel:
        return resolve_kernel(self.kernel, gamma, self.degree, self.coef0)

    def _gammas(self, X: Any) -> list[float | None]:
        if self.gammas is not None:
            return [float(gamma) for gamma in self.gammas]
        if self.kernel != "rbf":
            return [None]
        with np.errstate(over="ignore", invalid="ignore"):  # the Gram matrix has a message for it
            delta = mean_distance(euclidean_distances(X, squared=True))
        return [1.0 / (2.0 * (multiple * delta) ** 2) for multiple in MULTIPLES]

    def _folds(self, X: Any, y: np.ndarray) -> list[Split]:
        splitter = self.cv
        if isinstance(self.cv, int | np.integer):
            validate_folds(self.cv, len(y))
            shuffle = self.random_state is not None
            splitter = StratifiedKFold(
                int(self.cv), shuffle=shuffle, random_state=self.random_state if shuffle else None
            )
        return folds(splitter, X, y)

    def _warn(self, gaps: np.ndarray) -> None:
        missed = int(np.sum(gaps > self.tol))
        if missed:
            warnings.warn(
                f"{missed} of {len(gaps)} grid points have a relative duality gap above tol={self.tol:.2e}, "
                f"up to {gaps.max():.2e}; raise tol, or scale the features",
                ConvergenceWarning,
                stacklevel=user_level(),
            )

    def _validated(self, X: Any) -> Any:
        check_is_fitted(self, "best_estimator_")
        return validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)

    def __sklearn_tags__(self) -> Tags:
        tags = LDMClassifier(kernel=self.kernel, fit_intercept=self.fit_intercept).__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
