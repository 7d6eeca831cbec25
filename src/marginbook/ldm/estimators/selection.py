"""Choice of lambda1, lambda2, C and width: a whole grid from one eigendecomposition per width and fold."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ...base.labels import binary_signs
from ...base.parameters import validate_flags
from ...base.partial_fit import NoPartialFit
from ...base.splits import Split
from ...base.threads import few_threads, on_few_threads
from ...base.user_line import user_level
from ...base.weights import ClassWeight, row_weights
from ...kernels import Kernel, kernel_name, resolve_kernel, tidy
from ...kernels.open_gamma import leaves_gamma_open
from ...kernels.validation import validate_data
from ..model.whitening import WhitenedGram
from ..model.widths import mean_distance
from ..solvers.grid import Grid, solve_grid
from ..solvers.leave_one_out_bound import error_bound
from .classifier import LDMClassifier
from .gram_checks import finite_rows, training_gram
from .parameters import choose_solver
from .scores import Score, score_machine, scores
from .selection_grid import first_best, relative_gaps, results, validate_grids, warn_of_gaps
from .selection_linear import linear_grid_decisions
from .selection_weights import (
    Searched,
    search_folds,
    searched,
    validate_groups_allowed,
    validate_weights,
    weighted_grid,
    weighted_mean_distance,
)

#: of the paper, for both lambdas
LAMBDAS = tuple(2.0**power for power in range(-8, -1))
#: of the paper: the widths, as multiples of the mean distance, in the order in which equals are preferred
MULTIPLES = (1.0, 0.5, 2.0, 0.25, 4.0)

#: two arrays over (lambda1, lambda2, C): scores or decision values, and relative gaps
Cells: TypeAlias = tuple[np.ndarray, np.ndarray]

#: rows beyond which the linear kernel is searched on features
GRAM_ROWS = 2000


@dataclass(eq=False, repr=False)
class LDMClassifierCV(NoPartialFit, ClassifierMixin, BaseEstimator):
    r"""Large margin distribution machine with its parameters chosen on a grid.

    All :math:`\lambda_1`, :math:`\lambda_2`, C share one eigendecomposition for each kernel width and fold,
    and each is solved from its neighbour (:mod:`marginbook.ldm.solvers.grid`). ``scoring="loo-bound"`` needs
    no folds. Otherwise more than 2000 rows of a linear kernel are searched on their features, without a Gram
    matrix, where these are sparse or fewer than the rows, or the rows more than 5000. With weights of rows or
    classes, each grid point on a Gram matrix is solved by itself, which takes two or three times as long: the
    dual of weighted rows has another bound for each, which neither the common factor nor the steps from
    neighbour to neighbour know. The bound of the leave-one-out error counts rows and takes no weights. Two
    classes.

    Read more in the :ref:`user guide <guide-ldmclassifiercv>` (``marginbook guide``).

    Parameters
    ----------
    lambda1s, lambda2s : sequence of float, default=(2**-8, ..., 2**-2)
    Cs : sequence of float, default=(10, 50, 100)
    gammas : sequence of float, default=None
        Of the kernels "rbf" and "poly". None with "rbf" is the paper's grid: widths :math:`\sigma` from
        :math:`2^{-2}\delta` to :math:`2^2\delta`, where :math:`\delta` is the mean distance of two rows given
        to `fit`, in :math:`\exp(-\lVert x-z\rVert^2/(2\sigma^2))`, so gamma = 1 / (2 sigma**2); nearest to
        :math:`\delta` first. The paper does not print its kernel; this form is our reading. None with "poly"
        is gamma = 1.
    kernel : Kernel, default="rbf"
        As in :class:`LDMClassifier`; a pair such as ("rbf", {"gamma": 0.5}) fixes the width.
    degree : float, default=3
    coef0 : float, default=1.0
    cv : int, splitter or iterable of (train, test), default=5
        A number of stratified folds, or what scikit-learn's ``check_cv`` takes; a splitter such as
        ``GroupKFold`` gets the `groups` of `fit`. Not used by "loo-bound".
    scoring : {"accuracy", "loo-bound"}, name of a scorer, callable or None, default="accuracy"
        "loo-bound" is one minus the bound of :meth:`LDMClassifier.loo_bound`: leave-one-out accuracy that is
        guaranteed. Else scikit-learn's name of a scorer; a scorer, which is called with (estimator, X, y); or
        a callable of (labels, decision values). Each returns a number, larger is better; None is accuracy. A
        scorer gets the predictions and decision values of a fold, not its features, and no probabilities.
        Weights of rows count in every score that has a parameter ``sample_weight``, weights of classes in
        none.
    fit_intercept : bool, default=False
    tol : float, default=1e-6
        As in :class:`LDMClassifier`, for every solution of the grid.
    class_weight : {class: number}, "balanced" or None, default=None
        As in :class:`LDMClassifier`; "balanced" counts the rows of each training part. Not for "loo-bound".
    random_state : int, RandomState or None, default=None
        Shuffles the rows before an integer `cv` makes folds of them; None leaves their order.

    Attributes
    ----------
    lambda1_, lambda2_, C_, gamma_ :
        The choice; ``gamma_`` is None where the kernel has no gamma, or its own. Of equal scores the first in
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
    n_splits_ : int
        The number of folds, 0 for "loo-bound".
    scorer_ : callable or "loo-bound"
        As of scikit-learn's searches, or `scoring` where that is neither a scorer's name nor None.
    best_estimator_ : LDMClassifier
        Fitted to all rows with the choice.
    dual_gap_ : float
        Of ``best_estimator_``.
    classes_, n_features_in_

    Examples
    --------
    >>> from marginbook.ldm import LDMClassifierCV
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
    scoring: str | Score | Callable[[Any, Any, Any], float] | None = "accuracy"
    fit_intercept: bool = False
    tol: float = 1e-6
    class_weight: ClassWeight = None
    random_state: Any = None

    @on_few_threads
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose on rows `X`, (m, d), or a Gram matrix for "precomputed", with labels `y`, then fit to all.

        A row of weight k counts as k equal rows in the fits, in scores that take weights, and in the mean
        distance of the default `gammas`; one of weight 0 is left out of all three and of the folds. Folds
        are not drawn by weight: a number of folds deals out the rows of positive weight, so that a row of
        weight k is in one fold, where k equal rows may be in several, and the two searches differ. They are
        the same where `cv` is given as pairs of rows, or leaves out the same `groups`, that keep equal rows
        together. Pairs and splitters are about all rows, also those of weight 0.

        Parameters
        ----------
        X : (m, d) array or CSR matrix
        y : (m,) labels
        sample_weight : (m,) array of numbers >= 0, optional
        groups : (m,) array, optional
            The group of each row, for `cv` where it is a splitter that keeps groups together.

        Raises
        ------
        ValueError
            For other than two classes, grids or parameters out of range, fewer rows than folds, weights that
            are negative or leave a class or a part of a fold without rows, and weights with "loo-bound". For
            groups where there is no splitter to take them: they would be torn apart without a word.
        MemoryError
            For more rows than there is memory for their Gram matrix, unless the search is on features.
        """
        self.__dict__.pop("best_estimator_", None)
        validate_grids(self)
        validate_flags(fit_intercept=self.fit_intercept)
        validate_groups_allowed(self, groups)
        name = kernel_name(self.kernel)
        dense = name in ("precomputed", "callable")
        X, y = validate_data(self, X, y, accept_sparse=False if dense else "csr", dtype=np.float64)
        X = tidy(X)
        self.classes_, _ = binary_signs(y, "LDMClassifierCV")
        own = row_weights(X, y, sample_weight)
        rows = searched(X, y, own, self.classes_[1], name == "precomputed")
        validate_weights(self, rows)
        folds = [] if self.scoring == "loo-bound" else search_folds(self, X, y, own, rows, groups)
        gammas = self._gammas(rows)
        features = self._on_features(rows.X)
        with few_threads(len(rows.labels)):
            if features:
                found = [self._scored_on_features(rows, folds)]
            else:
                found = [self._scored(rows, folds, gamma) for gamma in gammas]
        # (gamma, lambda1, lambda2, C) -> (gamma, C, lambda1, lambda2)
        values, gaps = (np.moveaxis(np.array(part), 3, 1) for part in zip(*found, strict=True))
        points = list(product(gammas, self.Cs, self.lambda1s, self.lambda2s))
        self.cv_results_ = results(points, values.ravel(), gaps.ravel())
        warn_of_gaps(self.cv_results_["dual_gap"], self.tol)
        self.best_index_ = best = first_best(self.cv_results_["mean_test_score"])
        self.best_score_ = float(self.cv_results_["mean_test_score"][best])
        self.best_params_ = self.cv_results_["params"][best]
        self.n_splits_ = len(folds)
        named = "accuracy" if self.scoring is None else self.scoring
        self.scorer_ = get_scorer(named) if folds and isinstance(named, str) else named
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
            class_weight=self.class_weight,
            random_state=self.random_state,
        ).fit(X, y, own)
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

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return what `scoring` says of the chosen machine on rows `X` with labels `y`: larger is better.

        It is the accuracy for "loo-bound", which is about training rows only.

        Parameters
        ----------
        X : (n, d) array or CSR matrix
        y : (n,) labels
        sample_weight : (n,) array, optional
            Given to `scoring` as ``sample_weight``, which then must be one of its parameters.
        """
        X = self._validated(X)
        return score_machine(self.scorer_, self.best_estimator_, X, y, sample_weight)

    @property
    def estimator_(self) -> LDMClassifier:
        """The former name of `best_estimator_`, for one release."""
        if "best_estimator_" in self.__dict__:
            warnings.warn("estimator_ is now best_estimator_", FutureWarning, stacklevel=user_level())
        return self.best_estimator_

    def _scored(self, rows: Searched, folds: list[Split], gamma: float | None) -> Cells:
        """Return score and relative gap of one width: two arrays over (lambda1, lambda2, C)."""
        G, signs = training_gram(self._kernel(gamma), rows.X, self.fit_intercept), rows.signs
        if self.scoring == "loo-bound":
            whitened, grid = self._solved(G, signs)
            bounds = [
                error_bound(G, signs, grid.solution(*index), eigen=whitened.decompose())
                for index in np.ndindex(grid.gap.shape)
            ]
            return 1.0 - np.reshape(bounds, grid.gap.shape), relative_gaps(grid)

        def decided(train: np.ndarray, test: np.ndarray, weights: np.ndarray | None) -> Cells:
            inner, outer = G[np.ix_(train, train)], G[np.ix_(train, test)]
            if weights is None:
                _, grid = self._solved(inner, signs[train])
                return grid.alpha @ outer, relative_gaps(grid)
            alpha, gaps = weighted_grid(inner, signs[train], *self._grids(), weights, tol=self.tol)
            return alpha @ outer, gaps

        return self._over(folds, rows, decided)

    def _scored_on_features(self, rows: Searched, folds: list[Split]) -> Cells:
        X, signs = finite_rows(rows.X, self.fit_intercept), rows.signs
        small = choose_solver("auto", "linear", X, 1.0) == "interior-point"

        def decided(train: np.ndarray, test: np.ndarray, weights: np.ndarray | None) -> Cells:
            return linear_grid_decisions(
                *(X[train], signs[train], X[test], *self._grids()), small=small, tol=self.tol, weights=weights
            )

        return self._over(folds, rows, decided)

    def _over(self, folds: list[Split], rows: Searched, decided: Callable[..., Cells]) -> Cells:
        """Return the mean score over the folds and the largest gap, by what each fold `decided`."""
        values, gaps = [], []
        for train, test in folds:
            decisions, gap = decided(train, test, rows.fitted(self.class_weight, train))
            labels = rows.labels[test]
            values.append(scores(self.scoring, self.classes_, labels, decisions, rows.counted(test)))
            gaps.append(gap)
        return np.mean(values, axis=0), np.max(gaps, axis=0)

    def _on_features(self, X: Any) -> bool:
        long = X.shape[0] > GRAM_ROWS and choose_solver("auto", "linear", X, 1.0) != "active-set"
        return kernel_name(self.kernel) == "linear" and self.scoring != "loo-bound" and long

    def _solved(self, G: np.ndarray, signs: np.ndarray) -> tuple[WhitenedGram, Grid]:
        whitened = WhitenedGram(G, signs)
        return whitened, solve_grid(whitened, *self._grids(), tol=self.tol)

    def _grids(self) -> tuple[Sequence[float], Sequence[float], Sequence[float]]:
        return self.lambda1s, self.lambda2s, self.Cs

    def _kernel(self, gamma: float | None) -> Kernel:
        return resolve_kernel(self.kernel, gamma, self.degree, self.coef0)

    def _gammas(self, rows: Searched) -> list[float | None]:
        if self.gammas is not None:
            return [float(gamma) for gamma in self.gammas]
        if not leaves_gamma_open(self.kernel):
            return [None]
        if kernel_name(self.kernel) == "poly":
            return [1.0]
        with np.errstate(over="ignore", invalid="ignore"):  # the Gram matrix has a message for it
            squared = euclidean_distances(rows.X, squared=True)
            delta = mean_distance(squared) if rows.own is None else weighted_mean_distance(squared, rows.own)
        return [1.0 / (2.0 * (multiple * delta) ** 2) for multiple in MULTIPLES]

    def _validated(self, X: Any) -> Any:
        check_is_fitted(self, "best_estimator_")
        return validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)

    def __sklearn_tags__(self) -> Tags:
        tags = LDMClassifier(kernel=self.kernel, fit_intercept=self.fit_intercept).__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
