"""The support vector machine and logistic regression on vec(X), which forget that X is a matrix."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC

from ...base.interruptible import interruptible
from ...base.parameters import is_number, validate_counts, validate_flags
from ...base.threads import on_few_threads
from ..estimators.parameters import validate_lam_parameter
from ..model.objective import objective
from ..solvers.block_problem import BlockProblem
from .base import MatrixClassifier
from .vector_duals import (
    hinge_multipliers,
    logistic_multipliers,
    lower_bound,
    null_objective,
    relative_gap,
    warn_gap,
)

#: sides beyond which logistic regression goes by gradients; Newton's method factors matrices of them
NEWTON_SIDE = 1500
#: MB for the columns that libsvm keeps
CACHE = 400


@dataclass(eq=False, repr=False)
class VectorClassifier(MatrixClassifier):
    """What both have: the parameters, the scale of the penalty, and the objective of the solution."""

    loss = "hinge"
    lam: float = 0.01
    _: KW_ONLY
    fit_intercept: bool = True
    class_weight: Any = None
    shape: tuple[int, int] | None = None
    tol: float = 1e-4
    max_iter: int = 1_000_000

    def _started(self, X: Any, y: Any, sample_weight: Any) -> BlockProblem:
        """Return the problem on vec(X), with weights of mean 1, without samples of weight 0."""
        validate_lam_parameter(self.lam)
        validate_flags(fit_intercept=self.fit_intercept)
        if not (is_number(self.tol) and self.tol > 0):
            raise ValueError(f"tol must be a number > 0, got {self.tol!r}")
        validate_counts(max_iter=self.max_iter)
        X, signs, weights, factors = self._validated(X, y, sample_weight)
        used = weights > 0
        weights = weights[used] / weights[used].mean() * factors[used]
        rows = X[used].reshape(int(used.sum()), -1)
        lam, free, tol = float(self.lam), bool(self.fit_intercept), float(self.tol)
        return BlockProblem(rows, signs[used], lam, weights, free, tol, self.loss)

    def _certified(
        self, problem: BlockProblem, coef: np.ndarray, intercept: float, multipliers: np.ndarray | None
    ) -> Self:
        """Keep `coef`, (p,), `intercept`, and the bound of `multipliers`, (n,), or of those they imply."""
        self.coef_, self.intercept_ = coef.reshape(self.matrix_shape_), float(intercept)
        self.objective_ = objective(
            self.coef_,
            self.intercept_,
            problem.Z.reshape(-1, *self.matrix_shape_),
            problem.y,
            lam=problem.lam,
            loss=problem.loss,
            sample_weight=problem.sample_weight,
        )
        # what overflows gives no bound but 0
        with np.errstate(all="ignore"):
            candidates: Iterable[np.ndarray]
            if multipliers is not None:
                candidates = [multipliers]
            elif problem.loss == "hinge":
                candidates = hinge_multipliers(problem, coef)
            else:
                candidates = [logistic_multipliers(problem, coef, self.intercept_)]
            bound = lower_bound(problem, candidates, self.objective_ * (1 - problem.tol))
            self.lower_bound_ = bound
            self.dual_gap_ = relative_gap(self.objective_, bound, null_objective(problem))
        warn_gap(type(self).__name__, self.dual_gap_, problem.tol, self.objective_, bound)
        return self


class VectorSVMClassifier(VectorClassifier):
    r"""Linear support vector machine on vec(X): the low-rank machine without its rank.

    .. math:: \min_{B,b}\frac1{\sum_is_i}\sum_is_i\kappa(y_i)\bigl(1-y_i(\langle B,X_i\rangle+b)\bigr)_+
       +\lambda\lVert B\rVert_F^2

    by scikit-learn: ``SVC(kernel="linear", C=1 / (2 * n * lam))`` with an intercept, which is not penalised,
    and ``LinearSVC`` without one.

    Read more in the :ref:`user guide <guide-vectorsvmclassifier>` (``marginbook guide``).

    Parameters
    ----------
    lam : float, default=0.01
        :math:`\lambda`, above 0, as in :class:`~marginbook.smm.estimators.LowRankSVMClassifier`.
    fit_intercept : bool, default=True
    class_weight : dict, "balanced" or None, default=None
        :math:`\kappa`; {-1: pi, 1: 1 - pi} aims at the level pi.
    shape : (int, int), default=None
        d1 and d2 of matrices that come as rows of p numbers; only ``coef_`` depends on it.
    tol : float, default=1e-4
        Of SVC and LinearSVC: by how much slopes of the dual may miss 0. A gap above its
        root is warned of.
    max_iter : int, default=1000000
        Of SVC and LinearSVC.

    Attributes
    ----------
    classes_ : (2,) array
        The second is the positive one.
    coef_ : (d1, d2) array, B
    intercept_ : float, b
    objective_, lower_bound_ : float
        No B and b have an objective below the second, which feasible multipliers of the dual prove.
    dual_gap_ : float
        Their difference, as a share of the objective or, where that is tiny beside the least one at B = 0, of
        1e-12 times the latter.
    n_iter_ : int
    n_features_in_ : int
    matrix_shape_ : (int, int)

    Examples
    --------
    >>> from marginbook.datasets import make_low_rank
    >>> from marginbook.smm import VectorSVMClassifier
    >>> X, y, _, _ = make_low_rank(300, shape=(8, 6), rank=1, scale=8, random_state=0)
    >>> model = VectorSVMClassifier(lam=0.02).fit(X[:100], y[:100])
    >>> model.coef_.shape, round(model.score(X[100:], y[100:]), 2)
    ((8, 6), 0.81)
    """

    @on_few_threads
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to matrices `X`, (n, d1, d2) or (n, p), labels `y` and weights of the losses, each (n,).

        Raises
        ------
        ValueError
            Unless there are two classes with positive weight; for parameters out of range.

        Warns
        -----
        ConvergenceWarning
            If scikit-learn ends at `max_iter`, or if ``dual_gap_`` is above the root of `tol`, which counts
            as 1e-8 at least and 0.01 at most.
        """
        problem = self._started(X, y, sample_weight)
        rows, signs, n = problem.Z, problem.y, len(problem.y)
        costs = problem.sample_weight / (2 * self.lam * n)
        scale = float(costs.max())
        if self.fit_intercept:
            machine = SVC(
                kernel="linear", C=scale, tol=self.tol, cache_size=CACHE, max_iter=int(self.max_iter)
            )
        else:
            # the order in which it visits the samples is drawn; the solution does not depend on it
            machine = LinearSVC(
                loss="hinge",
                C=scale,
                tol=self.tol,
                fit_intercept=False,
                max_iter=int(self.max_iter),
                random_state=0,
            )
        interruptible(machine.fit, rows, signs, costs / scale)
        self.n_iter_ = int(np.max(machine.n_iter_))
        coef = machine.coef_.ravel()
        if not self.fit_intercept:
            return self._certified(problem, coef, 0.0, None)
        multipliers = np.zeros(n)
        used = machine.support_
        # 2 lam alpha, by way of the share of the box that is filled: neither overflows
        with np.errstate(all="ignore"):
            filled = np.nan_to_num(np.abs(np.ravel(machine.dual_coef_)) / scale / (costs / scale)[used])
        multipliers[used] = np.clip(filled, 0.0, 1.0) * problem.shares[used]
        return self._certified(problem, coef, machine.intercept_[0], multipliers)


@dataclass(eq=False, repr=False)
class VectorLogisticClassifier(VectorClassifier):
    r"""Logistic regression on vec(X) with a ridge, for probabilities that follow a linear logit.

    .. math:: \min_{B,b}\frac1{\sum_is_i}\sum_is_i\kappa(y_i)
       \log\bigl(1+e^{-y_i(\langle B,X_i\rangle+b)}\bigr)+\lambda\lVert B\rVert_F^2

    by scikit-learn's ``LogisticRegression(C=1 / (2 * n * lam))``, in coordinates of the span of the samples
    when these are fewer than the entries of a matrix.

    Read more in the :ref:`user guide <guide-vectorlogisticclassifier>` (``marginbook guide``).

    Parameters
    ----------
    lam : float, default=0.01
        :math:`\lambda`, above 0, as in :class:`~marginbook.smm.peers.logistic.LowRankLogisticClassifier`.
    fit_intercept : bool, default=True
        Whether b is free, and not penalised.
    class_weight : dict, "balanced" or None, default=None
        :math:`\kappa`. The probabilities are those of the classes so weighted.
    shape : (int, int), default=None
        d1 and d2 of matrices that come as rows of p numbers; only ``coef_`` depends on it.
    tol : float, default=1e-8
        Of LogisticRegression: by how much slopes of its objective may miss 0. A gap above its
        root is warned of.
    max_iter : int, default=1000

    Attributes
    ----------
    classes_, coef_, intercept_, objective_, lower_bound_, dual_gap_, n_iter_, n_features_in_, matrix_shape_
        As in :class:`VectorSVMClassifier`.

    Examples
    --------
    >>> from marginbook.datasets import make_low_rank
    >>> from marginbook.smm import VectorLogisticClassifier
    >>> X, y, truth, _ = make_low_rank(1100, shape=(4, 4), rank=1, scale=2, random_state=0)
    >>> model = VectorLogisticClassifier(lam=0.001).fit(X[:1000], y[:1000])
    >>> float(abs(model.predict_proba(X[1000:])[:, 1] - truth[1000:]).mean().round(2))
    0.04
    """

    loss = "logistic"
    _: KW_ONLY
    tol: float = 1e-8
    max_iter: int = 1000

    @on_few_threads
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to matrices `X`, (n, d1, d2) or (n, p), labels `y` and weights of the losses, each (n,).

        Raises
        ------
        ValueError
            Unless there are two classes with positive weight; for parameters out of range.

        Warns
        -----
        ConvergenceWarning
            If scikit-learn ends at `max_iter`, or if ``dual_gap_`` is above the root of `tol`, which counts
            as 1e-8 at least and 0.01 at most.
        """
        problem = self._started(X, y, sample_weight)
        rows = problem.Z
        n, p = rows.shape
        # B is a combination of the samples: n coordinates are enough
        basis, coordinates = interruptible(np.linalg.qr, rows.T) if n < p else (None, rows.T)
        machine = LogisticRegression(
            C=1 / (2 * self.lam * n),
            tol=self.tol,
            fit_intercept=bool(self.fit_intercept),
            max_iter=int(self.max_iter),
            solver="newton-cholesky" if min(n, p) <= NEWTON_SIDE else "lbfgs",
        )
        machine.fit(np.ascontiguousarray(coordinates.T), problem.y, sample_weight=problem.sample_weight)
        self.n_iter_ = int(machine.n_iter_[0])
        coef = machine.coef_.ravel() if basis is None else basis @ machine.coef_.ravel()
        return self._certified(problem, coef, float(np.ravel(machine.intercept_)[0]), None)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, (n, 2), for `X`, (n, d1, d2) or (n, p)."""
        positive = expit(self.decision_function(X))
        return np.column_stack([1 - positive, positive])
