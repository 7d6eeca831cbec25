"""LowRankSVMClassifierCV: rank and lambda by cross-validation, each fit begun where its neighbour ended."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from inspect import signature
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.utils import Tags
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from ...base.folds import folds
from ...base.labels import encode_classes
from ...base.parameters import is_whole
from ...base.partial_fit import NoPartialFit
from ...base.threads import on_few_threads
from ...base.user_line import user_level
from ...kernels import Kernel
from .low_rank import LowRankSVMClassifier
from .matrix_input import Shape, validate_matrices, validate_training
from .parameters import (
    resolve_rank,
    resolve_row_kernel,
    validate_lam_parameter,
    validate_rank_parameter,
    validate_solving,
)

LAMS = (1.0, 0.1, 0.01, 0.001, 0.0001)
#: parameters of a machine that it is not given from the start
NOT_SHARED = {"rank", "lam", "shape", "warm_start"}


@dataclass(eq=False, repr=False)
class LowRankSVMClassifierCV(NoPartialFit, ClassifierMixin, BaseEstimator):
    r"""Low-rank classifier of matrices with rank and :math:`\lambda` chosen by cross-validation.

    In each fold the machines are solved for each rank from the largest :math:`\lambda` to the smallest. The
    first of a rank begins at the singular vectors of the full-rank solution, every other at the solution of
    the :math:`\lambda` before: a path, which costs a fraction of the fits that ``GridSearchCV`` makes from
    new. Paths may end in other local minima than new fits.

    Read more in the :ref:`user guide <guide-lowranksvmclassifiercv>` (``marginbook guide``).

    Parameters
    ----------
    ranks : sequence of int or None, default=None
        Ranks to try, each at most min(d1, d2); an entry of None is full rank. None in place of the sequence
        is 1, 2, 4, 8, ... and full rank.
    lams : sequence of float, default=(1.0, 0.1, 0.01, 0.001, 0.0001)
    cv : int, splitter or iterable of (train, test), default=None
        As in scikit-learn; None is 5 stratified folds.
    scoring : str or callable, default=None
        A scikit-learn scorer; None is accuracy.
    loss, kernel, gamma, degree, coef0, n_components, fit_intercept :
        As in :class:`LowRankSVMClassifier`, like the next ones.
    n_restarts, bound_iter, shape, class_weight, tol, max_iter, random_state :
        As in :class:`LowRankSVMClassifier`. Random starts are added where a path begins, and to the last fit.

    Attributes
    ----------
    rank_, lam_ : int, float
        The choice: of equal scores that of the smallest rank, then of the largest :math:`\lambda`.
    best_score_ : float
        Its mean score.
    best_params_ : dict
        ``{"rank": ..., "lam": ...}``.
    best_index_ : int
        Its place in ``cv_results_``.
    best_estimator_ : LowRankSVMClassifier
        Fitted to all matrices with the choice.
    cv_results_ : dict of arrays
        One entry for each pair in the order of the path, named as in ``GridSearchCV``: ``params``,
        ``param_rank``, ``param_lam``, ``split0_test_score``, ..., ``mean_test_score``, ``std_test_score``,
        ``rank_test_score``, and seconds: ``mean_fit_time``, ``std_fit_time``, ``mean_score_time``,
        ``std_score_time``; and ``mean_n_iter``, the mean number of sweeps.
    scorer_ : callable
        Of a machine, matrices and labels.
    n_splits_ : int
    n_iter_, converged_
        Of ``best_estimator_``.
    classes_, n_features_in_, matrix_shape_

    Examples
    --------
    >>> from marginbook.datasets import make_low_rank
    >>> from marginbook.smm import LowRankSVMClassifierCV
    >>> X, y, _, _ = make_low_rank(400, shape=(8, 6), rank=2, scale=8, random_state=0)
    >>> cv = LowRankSVMClassifierCV((1, 2, 4), (0.1, 0.01)).fit(X[:200], y[:200])
    >>> cv.best_params_, round(cv.best_score_, 2), round(cv.score(X[200:], y[200:]), 2)
    ({'rank': 2, 'lam': 0.01}, 0.92, 0.85)
    """

    ranks: Sequence[int | None] | None = None
    lams: Sequence[float] = LAMS
    cv: Any = None
    scoring: Any = None
    loss: str = "hinge"
    kernel: Kernel = "linear"
    gamma: float | str | None = "scale"
    degree: float = 3
    coef0: float = 1.0
    n_components: int | None = None
    fit_intercept: bool = True
    n_restarts: int = 0
    bound_iter: int = 0
    shape: tuple[int, int] | None = None
    class_weight: Any = None
    tol: float = 1e-6
    max_iter: int = 200
    random_state: Any = None

    @on_few_threads
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose on matrices `X`, (n, d1, d2) or (n, p), with labels `y`, (n,), then fit to all of them.

        Weights `sample_weight`, (n,), count in the fits, and in the scores where the scorer takes weights.
        Those of weight 0 are left out before folds are made of a number of folds; copies of one sample may be
        in several folds, so that weights and repetitions are not the same here.

        Raises
        ------
        ValueError
            For one class, parameters out of range, or a rank that the matrices do not have.
        """
        validate_solving(self)
        X, y = validate_training(self, X, y, self.shape)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            if self.cv is None or is_whole(self.cv):
                X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
        self.classes_, _ = encode_classes(y, type(self).__name__)
        kernel = resolve_row_kernel(self.kernel, self.gamma, self.degree, self.coef0)
        ranks = path_ranks(self.ranks, self.matrix_shape_, kernel)
        pairs = [(rank, lam) for rank in ranks for lam in path_lams(self.lams)]
        splits = folds(self.cv, X.reshape(len(X), -1), y)
        self.scorer_ = check_scoring(self._machine(), self.scoring)
        cells = np.empty((4, len(splits), len(pairs)))  # scores, sweeps, seconds of fits and of scores
        missed = 0
        for k, (train, test) in enumerate(splits):
            machine = self._machine()
            for j, (rank, lam) in enumerate(pairs):
                # a path of each rank: the truncated full-rank solution is a better start than a smaller rank
                machine.set_params(rank=rank, lam=lam, warm_start=j > 0 and pairs[j - 1][0] == rank)
                began = time.perf_counter()
                missed += _fit_quietly(machine, X[train], y[train], _part(weights, train))
                fitted = time.perf_counter()
                score = self._score(machine, X[test], y[test], _part(weights, test))
                cells[:, k, j] = score, machine.n_iter_, fitted - began, time.perf_counter() - fitted
        if missed:
            warnings.warn(
                f"{missed} of {cells[0].size} fits of the cross-validation stopped after max_iter="
                f"{self.max_iter} sweep{'' if self.max_iter == 1 else 's'}, above "
                f"tol={self.tol:.1e}; raise max_iter or lams",
                ConvergenceWarning,
                stacklevel=user_level(),
            )
        self._choose(pairs, *cells)
        best = self._machine().set_params(rank=self.rank_, lam=self.lam_)
        self.best_estimator_ = best.fit(X, y, weights)
        self.n_iter_, self.converged_ = self.best_estimator_.n_iter_, self.best_estimator_.converged_
        return self

    def predict(self, X: Any) -> np.ndarray:
        """As :meth:`LowRankSVMClassifier.predict`, by the chosen machine."""
        matrices = self._matrices(X)
        return self.best_estimator_.predict(matrices)

    def decision_function(self, X: Any) -> np.ndarray:
        """As :meth:`LowRankSVMClassifier.decision_function`, by the chosen machine."""
        matrices = self._matrices(X)
        return self.best_estimator_.decision_function(matrices)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return what `scoring` says of the chosen machine on `X` with labels `y`, (n,): larger is better.

        Parameters
        ----------
        X : (n, d1, d2) array, or (n, p)
        y : (n,) labels
        sample_weight : (n,) array, optional
            Given to `scoring` as ``sample_weight``, which then must be one of its parameters.
        """
        matrices = self._matrices(X)
        options = {} if sample_weight is None else {"sample_weight": sample_weight}
        # not of self: without `scoring`, the scorer asks what it is given for its score
        return float(self.scorer_(self.best_estimator_, matrices, y, **options))

    def _machine(self) -> LowRankSVMClassifier:
        names = {each.name for each in fields(LowRankSVMClassifier)} - NOT_SHARED
        return LowRankSVMClassifier(**{name: getattr(self, name) for name in names})

    def _matrices(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "best_estimator_")
        return validate_matrices(self, X, single=True)

    def _score(
        self, machine: LowRankSVMClassifier, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None
    ) -> float:
        if weights is None or not accepts_weights(self.scorer_):
            return float(self.scorer_(machine, X, y))
        return float(self.scorer_(machine, X, y, sample_weight=weights))

    def _choose(
        self,
        pairs: list[tuple[int, float]],
        scores: np.ndarray,
        sweeps: np.ndarray,
        fit_times: np.ndarray,
        score_times: np.ndarray,
    ) -> None:
        mean = scores.mean(axis=0)
        if np.isnan(mean).all():
            raise ValueError(f"scoring={self.scoring!r} is not a number at any rank and lam; choose another")
        rounded = np.round(np.where(np.isnan(mean), -np.inf, mean), 12)
        best = int(np.argmax(rounded))
        self.best_index_, self.best_score_ = best, float(mean[best])
        self.rank_, self.lam_ = pairs[best]
        self.best_params_ = {"rank": self.rank_, "lam": self.lam_}
        self.n_splits_ = len(scores)
        self.cv_results_: dict[str, Any] = {
            "params": [{"rank": rank, "lam": lam} for rank, lam in pairs],
            "param_rank": np.array([rank for rank, _ in pairs]),
            "param_lam": np.array([lam for _, lam in pairs]),
            **{f"split{k}_test_score": row for k, row in enumerate(scores)},
            "mean_test_score": mean,
            "std_test_score": scores.std(axis=0),
            "rank_test_score": np.array([1 + int(np.sum(rounded > value)) for value in rounded]),
            "mean_n_iter": sweeps.mean(axis=0),
            "mean_fit_time": fit_times.mean(axis=0),
            "std_fit_time": fit_times.std(axis=0),
            "mean_score_time": score_times.mean(axis=0),
            "std_score_time": score_times.std(axis=0),
        }

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags


def path_ranks(ranks: Any, shape: Shape, kernel: Kernel) -> list[int]:
    """Return the ranks that `ranks` means for matrices of `shape`, rising, each once.

    Raises
    ------
    ValueError
        Unless it is None or a sequence of at least one rank, each None or at most full rank.
    """
    full = resolve_rank(None, shape, kernel)
    if ranks is None:
        return [*(2**k for k in range(full.bit_length()) if 2**k < full), full]
    if isinstance(ranks, str) or not isinstance(ranks, Iterable):
        raise ValueError(f"ranks must be None or a sequence of ranks, got {ranks!r}; write [{ranks!r}]")
    given = list(ranks)
    if not given:
        raise ValueError("ranks must be None or a sequence of at least one rank, got an empty one")
    for rank in given:
        validate_rank_parameter(rank)
    return sorted({resolve_rank(rank, shape, kernel) for rank in given})


def path_lams(lams: Any) -> list[float]:
    """Return the values of `lams`, falling, each once.

    Raises
    ------
    ValueError
        Unless it is a sequence of at least one number > 0.
    """
    if isinstance(lams, str) or not isinstance(lams, Iterable) or getattr(lams, "ndim", 1) == 0:
        raise ValueError(f"lams must be a sequence of numbers > 0, got {lams!r}; write [{lams!r}]")
    given = list(lams)
    if not given:
        raise ValueError("lams must be a sequence of at least one number > 0, got an empty one")
    for lam in given:
        validate_lam_parameter(lam)
    return sorted({float(lam) for lam in given}, reverse=True)


def accepts_weights(scorer: Any) -> bool:
    """Return whether a scorer of scikit-learn, or any callable, takes `sample_weight`."""
    taken = signature(scorer).parameters.values()
    return any(each.name == "sample_weight" or each.kind is each.VAR_KEYWORD for each in taken)


def _part(weights: np.ndarray | None, rows: np.ndarray) -> np.ndarray | None:
    return None if weights is None else weights[rows]


def _fit_quietly(
    machine: LowRankSVMClassifier, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None
) -> bool:
    """Fit and return whether the tolerance was missed, in place of a warning for every fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(X, y, weights)
    return not machine.converged_
