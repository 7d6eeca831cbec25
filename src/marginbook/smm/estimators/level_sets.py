"""LevelSetClassifier: the matrices whose class probability is above a level, from a weighted margin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils import Tags

from ...base.threads import on_few_threads
from ...kernels import Kernel
from ..model.objective import weights_for
from .base import MatrixMachine, class_weights
from .parameters import validate_machine, validate_pi


@dataclass(eq=False, repr=False)
class LevelSetClassifier(MatrixMachine):
    r"""Estimate of the set of matrices X with P(positive | X) above a level, by a low-rank weighted margin.

    .. math::
       \min_{b,\ \operatorname{rank}B\le r}\ \frac1{\sum_is_i}\sum_{i=1}^ns_i\kappa(y_i)\,\omega_\pi(y_i)
       L\bigl(y_i(\langle B,X_i\rangle+b)\bigr)+\lambda\lVert B\rVert_F^2,\qquad
       \omega_\pi(1)=1-\pi,\quad\omega_\pi(-1)=\pi,

    with the weights of samples :math:`s_i` and of classes :math:`\kappa`, all 1 by default, and the set is
    :math:`\{X:\langle B,X\rangle+b>0\}`. Source: (3) of the draft "Large Margin Based Regression for Matrix
    Feature", after Wang, Shen & Liu (2008): over all functions f, in the population, a minimiser of each of
    the three losses has the sign of :math:`P(y=1\mid X)-\pi`. At the level one half it is
    :class:`LowRankSVMClassifier` with twice its `lam`.

    Read more in the :ref:`user guide <guide-levelsetclassifier>` (``marginbook guide``).

    Parameters
    ----------
    pi : float, default=0.5
        The level :math:`\pi`, in (0, 1).
    rank, lam, loss, kernel, gamma, degree, coef0, n_components :
        As in :class:`LowRankSVMClassifier`, like the next ones.
    fit_intercept, n_restarts, bound_iter, shape, tol, max_iter, random_state :
        As in :class:`LowRankSVMClassifier`.
    class_weight : dict, "balanced" or None, default=None
        :math:`\kappa`. The level is then one of :math:`P(y=1\mid X)` among classes that are as frequent as
        these weights make them.

    Attributes
    ----------
    classes_ : (2,) array
        The second is the positive one.
    coef_, U_, V_, intercept_, objective_, objective_path_, lower_bound_, global_gap_, dual_gap_, multipliers_
        As in :class:`LowRankSVMClassifier`, like ``n_iter_``, ``converged_``, ``start_``, ``rank_``,
        ``matrix_shape_`` and ``n_features_in_``.
    gamma_, dual_coef_, missed_
        As there, with a kernel: the last two in place of ``coef_`` and ``V_``.

    Examples
    --------
    >>> from marginbook.datasets import make_low_rank
    >>> from marginbook.smm import LevelSetClassifier
    >>> X, y, p, _ = make_low_rank(2000, shape=(6, 4), rank=1, scale=2, random_state=0)
    >>> model = LevelSetClassifier(pi=0.7, lam=0.001).fit(X[:1000], y[:1000])
    >>> inside = model.contains(X[1000:])
    >>> round(float((p[1000:] > 0.7).mean()), 2), round(float(inside.mean()), 2)
    (0.32, 0.28)
    >>> round(float((inside != (p[1000:] > 0.7)).mean()), 2)
    0.05
    """

    pi: float = 0.5
    rank: int | None = 1
    lam: float = 0.01
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

    def _validate_parameters(self) -> None:
        validate_pi(self.pi)
        validate_machine(self)

    @on_few_threads
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to matrices `X`, (n, d1, d2) or (n, p), labels `y`, (n,), and weights `sample_weight`, (n,).

        Raises
        ------
        ValueError
            For other than two classes, parameters out of range, or matrices that do not have the `shape`.
        """
        X, codes, weights = self._validated(X, y, sample_weight, binary=True)
        signs = np.where(codes == 1, 1.0, -1.0)
        weights = weights / weights.mean() * class_weights(self.class_weight, self.classes_, codes, weights)
        weights = weights_for(float(self.pi), signs, weights)
        self._keep([self._solve(X, signs, weights, self._seed(), mapped=self._mapped(X))], single=True)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        r"""Return :math:`\langle B,X\rangle+b` of each matrix of `X`, (m, d1, d2) or (m, p): (m,)."""
        return self._values(X)[:, 0]

    def contains(self, X: Any) -> np.ndarray:
        """Return which matrices of `X`, (m, d1, d2) or (m, p), are in the level set: (m,) array of bool."""
        return self.decision_function(X) > 0

    def predict(self, X: Any) -> np.ndarray:
        """Return ``classes_[1]`` for matrices of `X` in the level set, ``classes_[0]`` for others: (m,)."""
        inside = self.contains(X)
        return self.classes_[inside.astype(int)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
