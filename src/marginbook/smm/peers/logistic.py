"""LowRankLogisticClassifier: logistic regression with coefficients of low rank."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from ..estimators.low_rank import LowRankSVMClassifier


class LowRankLogisticClassifier(LowRankSVMClassifier):
    r"""Logistic regression of matrices with coefficients of low rank.

    .. math::
       \min_{b,\ \operatorname{rank}B\le r}\ \frac1{\sum_is_i}\sum_{i=1}^ns_i\kappa(y_i)
       \log\bigl(1+e^{-y_i(\langle B,X_i\rangle+b)}\bigr)+\lambda\lVert B\rVert_F^2,
       \qquad\hat p(X)=\frac1{1+e^{-\langle B,X\rangle-b}}

    (Zhou & Li 2014 have the nuclear norm in place of the rank). It is
    :class:`~marginbook.smm.estimators.LowRankSVMClassifier` with the logistic loss, where block descent and
    lower bound are explained, and all attributes that are not listed here. More than two classes: one machine
    for each against the rest, whose probabilities are divided by their sum.

    Read more in the :ref:`user guide <guide-lowranklogisticclassifier>` (``marginbook guide``).

    Parameters
    ----------
    rank : int or None, default=1
        r, at most min(d1, d2). None is full rank: logistic regression on vec(X).
    lam : float, default=0.01
        :math:`\lambda`, above 0.
    fit_intercept : bool, default=True
        Whether b is free, and not penalised.
    n_restarts : int, default=0
        Random starts beside the one from the full-rank solution.
    shape : (int, int) or None, default=None
        d1 and d2 of matrices that are given as the rows of an (n, d1 d2) array. None: an (n, p) array holds
        matrices of p rows and one column.
    class_weight : dict, "balanced" or None, default=None
        :math:`\kappa`. The probabilities are those of the classes so weighted.
    warm_start : bool, default=False
    tol : float, default=1e-6
        Stop when a sweep over both blocks lowers the objective by less than this share.
    max_iter : int, default=200
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    coef_ : (d1, d2) array, B
        With K > 2 classes this and the other attributes have a first axis of K, or are lists of K.
    intercept_ : float
    objective_, lower_bound_, global_gap_ : float
        No matrix of rank r has an objective below ``lower_bound_``; ``global_gap_`` is the difference.

    Examples
    --------
    >>> from marginbook.datasets import make_low_rank
    >>> from marginbook.smm import LowRankLogisticClassifier
    >>> X, y, truth, _ = make_low_rank(300, shape=(8, 8), rank=1, scale=2, random_state=0)
    >>> model = LowRankLogisticClassifier(rank=1, lam=0.01).fit(X[:200], y[:200])
    >>> float(abs(model.predict_proba(X[200:])[:, 1] - truth[200:]).mean().round(2))
    0.09
    """

    def __init__(
        self,
        rank: int | None = 1,
        lam: float = 0.01,
        *,
        fit_intercept: bool = True,
        n_restarts: int = 0,
        shape: tuple[int, int] | None = None,
        class_weight: Any = None,
        warm_start: bool = False,
        tol: float = 1e-6,
        max_iter: int = 200,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            rank=rank,
            lam=lam,
            loss="logistic",
            fit_intercept=fit_intercept,
            n_restarts=n_restarts,
            shape=shape,
            class_weight=class_weight,
            warm_start=warm_start,
            tol=tol,
            max_iter=max_iter,
            random_state=random_state,
        )

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, (n, n_classes), for `X`, (n, d1, d2) or (n, p)."""
        positive = expit(self.decision_function(X))
        if positive.ndim == 1:
            return np.column_stack([1 - positive, positive])
        # all can be 0 for a sample that no class claims
        total = positive.sum(axis=1, keepdims=True)
        return np.where(total > 0, positive / np.where(total > 0, total, 1.0), 1 / positive.shape[1])
