r"""Sparse discriminant analysis by optimal scoring (Clemmensen, Hastie, Witten and Ersbøll, 2011)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import lars_path
from sklearn.utils.validation import check_is_fitted

from ...base.labels import encode_classes
from ...base.parameters import is_number, validate_counts
from ...base.threads import on_few_threads
from ...kernels.validation import validate_data


@dataclass(eq=False, repr=False)
class SparseLDA(ClassifierMixin, TransformerMixin, BaseEstimator):
    r"""Linear discriminant analysis along directions with few non-zero loadings.

    The k-th direction and its scores of the classes minimise

    .. math:: \lVert Y\theta_k - X\beta_k\rVert^2 + \lambda_2\lVert\beta_k\rVert^2
              + \lambda_1\lVert\beta_k\rVert_1, \qquad
              \tfrac1n\theta_k^\top Y^\top Y\theta_k = 1,\quad \theta_k^\top Y^\top Y\theta_l = 0\ (l<k)

    where

    - X, (n, p), are the rows, every feature centred and of length one, so that units do not matter,
    - Y, (n, g), has a one where a row belongs to a class; :math:`\theta_0` is the vector of ones,
    - :math:`\lambda_2` is `ridge`, and :math:`\lambda_1` is the smallest that keeps `n_kept` loadings: the
      last point of the elastic net's path before one more variable enters.

    :math:`\beta_k` and :math:`\theta_k` are found in turns; two classes leave only one :math:`\theta_1` (up
    to its sign), and one turn is enough. Linear discriminant analysis of the scores :math:`X\beta_k`
    classifies.

    Parameters
    ----------
    ridge : float, default=1e-3
        :math:`\lambda_2 \ge 0`.
    n_kept : int, default=None
        Non-zero loadings of a direction; all features by default, or where there are fewer.
    n_components : int, default=None
        Directions; one less than classes by default, which is the most there can be.
    max_iter : int, default=100
        Turns per direction.
    tol : float, default=1e-6
        A direction is done when the scores of the classes change by less, in the norm of the constraint.

    Attributes
    ----------
    loadings_ : (p, n_components) array
        :math:`\beta_k` for the centred rows in the features' own units. A direction that no variable can
        enter is left out.
    theta_ : (g, n_components) array
        Scores of the classes.
    mean_ : (p,) array
    lda_ : LinearDiscriminantAnalysis
        Of the scores.
    n_iter_ : int
        Turns of the slowest direction.
    classes_, n_features_in_

    References
    ----------
    L. Clemmensen, T. Hastie, D. Witten, B. Ersbøll: Sparse discriminant analysis. Technometrics 53 (2011).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SparseLDA(ridge=1e-3, n_kept=4).fit(X, y)
    >>> (model.loadings_ != 0).sum(axis=0), round(model.score(X, y), 2)
    (array([4, 4]), 0.96)
    """

    ridge: float = 1e-3
    n_kept: int | None = None
    n_components: int | None = None
    max_iter: int = 100
    tol: float = 1e-6

    @on_few_threads
    def fit(self, X: Any, y: Any) -> Self:
        """Find the directions of rows `X`, (n, p), with labels `y`, (n,), and the rule along them."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_, codes = encode_classes(y, "SparseLDA")
        g = len(self.classes_)
        n_kept, n_components = self._validate_parameters(X.shape[1], g)
        self.mean_ = X.mean(axis=0)
        centred = X - self.mean_
        length = np.linalg.norm(centred, axis=0)
        # a constant feature is left with the rounding errors of its mean
        constant = length <= 1e-12 * np.sqrt(len(X)) * np.abs(self.mean_)
        length[constant] = 1.0
        centred[:, constant] = 0.0
        Y = np.eye(g)[codes]
        theta, beta, self.n_iter_ = self._directions(centred / length, Y, n_kept, n_components)
        used = np.any(beta != 0, axis=0)
        self.theta_ = theta[:, used]
        self.loadings_ = beta[:, used] / length[:, None]
        if not used.any():  # no feature tells the classes apart: the larger class, by an axis without spread
            self.loadings_ = np.zeros((X.shape[1], 1))
            self.theta_ = theta[:, :1]
        self.lda_ = LinearDiscriminantAnalysis() if used.any() else _Majority()
        self.lda_.fit(centred @ self.loadings_, y)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the scores, (m, n_components), of rows `X`, (m, p)."""
        check_is_fitted(self, "lda_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return (X - self.mean_) @ self.loadings_

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row of `X`, (m, p)."""
        scores = self.transform(X)
        return self.lda_.predict(scores)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the discriminant functions, (m, g), of rows `X`, (m, p); (m,) for two classes."""
        scores = self.transform(X)
        return self.lda_.decision_function(scores)

    def _validate_parameters(self, p: int, g: int) -> tuple[int, int]:
        if not (is_number(self.ridge) and self.ridge >= 0):
            raise ValueError(f"ridge must be a finite number >= 0, got {self.ridge!r}")
        for name in ("n_kept", "n_components", "max_iter"):
            value = getattr(self, name)
            if value is not None or name == "max_iter":
                validate_counts(**{name: value})
        return min(self.n_kept or p, p), min(self.n_components or g - 1, g - 1)

    def _directions(
        self, X: np.ndarray, Y: np.ndarray, n_kept: int, n_components: int
    ) -> tuple[np.ndarray, np.ndarray, int]:
        n, g = Y.shape
        share = Y.mean(axis=0)
        thetas, betas, slowest = [np.ones(g)], [], 0
        for k in range(n_components):
            # a start that favours no direction but is the same on every run
            theta = _scaled(_orthogonal(np.cos(np.arange(g) + k), thetas, share), share)
            for turn in range(1, self.max_iter + 1):  # noqa: B007
                beta = elastic_net(X, Y @ theta, self.ridge, n_kept)
                fitted = _orthogonal(Y.T @ (X @ beta) / (n * share), thetas, share)
                if not np.any(beta) or not np.sqrt(fitted**2 @ share) > 1e-12:
                    beta = np.zeros_like(beta)
                    break
                before, theta = theta, _scaled(fitted, share)
                if np.sqrt((theta - before) ** 2 @ share) <= self.tol:
                    break
                if g == 2:
                    # the two scores are known up to their sign, and rounding must not cost a second path
                    break
            slowest = max(slowest, turn)
            thetas.append(theta)
            betas.append(beta)
        return np.array(thetas[1:]).T, np.array(betas).T, slowest


def elastic_net(X: np.ndarray, target: np.ndarray, ridge: float, n_kept: int) -> np.ndarray:
    r"""Return the least shrunken point with `n_kept` variables on the path of the elastic net.

    The path of

    .. math:: \lVert t - X\beta\rVert^2 + \lambda_2\lVert\beta\rVert^2 + \lambda_1\lVert\beta\rVert_1

    over :math:`\lambda_1` is the lasso's for X with :math:`\sqrt{\lambda_2} I` below it and t with zeros
    (Zou and Hastie, 2005, Lemma 1).

    Parameters
    ----------
    X : (n, p) array
    target : (n,) array
    ridge : float
        :math:`\lambda_2`.
    n_kept : int

    Returns
    -------
    (p,) array
    """
    p = X.shape[1]
    below = np.sqrt(ridge) * np.eye(p) if ridge else np.zeros((0, p))
    _, _, path = lars_path(
        np.vstack([X, below]), np.concatenate([target, np.zeros(len(below))]), method="lasso"
    )
    too_many = np.flatnonzero((path != 0).sum(axis=0) > n_kept)
    return path[:, too_many[0] - 1] if len(too_many) else path[:, -1]


def _orthogonal(theta: np.ndarray, others: list[np.ndarray], share: np.ndarray) -> np.ndarray:
    for other in others:
        theta = theta - (other * share @ theta) * other
    return theta


def _scaled(theta: np.ndarray, share: np.ndarray) -> np.ndarray:
    return theta / np.sqrt(theta**2 @ share)


class _Majority(LinearDiscriminantAnalysis):
    """Linear discriminant analysis of features that do not vary: nothing but the shares of the classes."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        self.classes_, counts = np.unique(y, return_counts=True)
        log_share = np.log(counts / counts.sum())
        self.coef_ = np.zeros((len(self.classes_), X.shape[1]))
        self.intercept_ = log_share
        if len(self.classes_) == 2:
            self.coef_, self.intercept_ = self.coef_[1:], log_share[1:] - log_share[:1]
        self._max_components = 1
        self.n_features_in_ = X.shape[1]
        return self
