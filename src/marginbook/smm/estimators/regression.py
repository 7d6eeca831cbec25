"""RegressionFunctionEstimator: the class probability of a matrix from level sets at many levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils import Tags

from ...base.threads import on_few_threads
from ...kernels import Kernel
from ..model.aggregation import aggregate as combine
from ..model.aggregation import crossings, levels
from ..model.objective import weights_for
from .base import MatrixMachine, class_weights
from .certificates import MatrixSolution
from .parameters import validate_levels, validate_machine


@dataclass(eq=False, repr=False)
class RegressionFunctionEstimator(MatrixMachine):
    r"""Estimate of the regression function :math:`p(X)=P(y=1\mid X)` from low-rank level sets.

    For the levels :math:`\pi_h=h/H`, h = 1, ..., H-1, the weighted problem of :class:`LevelSetClassifier` is
    solved; :math:`f_h` is its solution. The probability is made of the signs of :math:`f_h(X)` by one of
    three rules:

    .. math::
       \text{count}&:\quad\hat p(X)=\frac1H\Bigl(\frac12+\sum_{h<H}1\{f_h(X)>0\}\Bigr),\\
       \text{interval}&:\quad\hat p(X)=\tfrac12\bigl(\max\{\pi_h:f_h(X)>0\}+\min\{\pi_h:f_h(X)\le0\}\bigr),\\
       \text{isotonic}&:\quad\hat p(X)=\frac1H\Bigl(\frac12+\sum_{h<H}1\{g_h>0\}\Bigr),\\
       &\phantom{:}\quad g=\arg\min_{g_1\ge\dots\ge g_{H-1}}\sum_{h<H}(f_h(X)-g_h)^2.

    The largest of no levels is 0, the smallest 1. The rules agree unless level sets cross, that is, X is in
    a level set but not in one of a lower level;
    ``crossings_`` says how often. Source: scheme S.1 to S.4 of the draft "Large Margin Based Regression for
    Matrix Feature", whose S.4 as printed counts complements and estimates 1 - p, and whose h = H leaves the
    positive class without weight. More than two classes: ``OneVsRestClassifier``.

    Levels are solved from the middle outwards, each from the solution of its neighbour.

    Read more in the :ref:`user guide <guide-regressionfunctionestimator>` (``marginbook guide``).

    Parameters
    ----------
    n_levels : int, default=20
        H, at least 2: the resolution is 1 / H.
    aggregate : {"count", "interval", "isotonic"}, default="count"
        May be changed after the fit.
    rank, lam, loss, kernel, gamma, degree, coef0, n_components, fit_intercept :
        As in :class:`LowRankSVMClassifier`, the same for all levels, like the next ones.
    shape, tol, max_iter, random_state :
        The same.
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights of the two classes, at all levels. The probabilities are those of the classes
        so weighted.
    n_restarts : int, default=0
        Random starts at the first level that is solved; the others start from their neighbours only.
    bound_iter : int, default=0
        As in :class:`LowRankSVMClassifier`, at every level.

    Attributes
    ----------
    levels_ : (H-1,) array
        :math:`\pi_h`.
    crossings_ : Crossings
        How far the level sets cross on the training samples of positive weight, and what the other rules
        would change; see :class:`marginbook.smm.model.aggregation.Crossings`.
    coef_, U_, V_ : (H-1, d1, d2), (H-1, d1, r) and (H-1, d2, r) arrays
    dual_coef_, missed_ : (H-1, n d1, r) and (H-1,) arrays
        With a kernel in place of ``coef_`` and ``V_``; with `n_components` the coefficients are those of the
        landmarks.
    gamma_ : float
        Where the kernel has one.
    intercept_, objective_, lower_bound_, global_gap_, dual_gap_ : (H-1,) arrays
    multipliers_ : (H-1, n) array
    objective_path_, start_ : lists of H-1
        As in :class:`LowRankSVMClassifier`, of each level.
    n_iter_ : int
        The most sweeps of one level.
    n_iter_path_ : (H-1,) array of int
        Sweeps of each level.
    classes_ : (2,) array
        The second is the positive one.
    converged_, rank_, matrix_shape_, n_features_in_
        As in :class:`LowRankSVMClassifier`.

    Examples
    --------
    >>> from marginbook.datasets import make_low_rank
    >>> from marginbook.smm import RegressionFunctionEstimator
    >>> X, y, p, _ = make_low_rank(1500, shape=(6, 4), rank=1, scale=2, random_state=0)
    >>> model = RegressionFunctionEstimator(10, lam=0.001).fit(X[:500], y[:500])
    >>> estimated = model.predict_proba(X[500:])[:, 1]
    >>> round(float(abs(estimated - p[500:]).mean()), 2), round(float(abs(estimated - 1 + p[500:]).mean()), 1)
    (0.07, 0.5)
    >>> model.levels_.tolist()
    [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    """

    n_levels: int = 20
    aggregate: str = "count"
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
        validate_levels(self.n_levels, self.aggregate)
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
        self.levels_ = levels(int(self.n_levels))
        weights = weights / weights.mean() * class_weights(self.class_weight, self.classes_, codes, weights)
        signs, seed, mapped = np.where(codes == 1, 1.0, -1.0), self._seed(), self._mapped(X)
        found: dict[int, MatrixSolution] = {}
        for h, neighbour in outwards(len(self.levels_)):
            start = None if neighbour is None else self._start_of(found[neighbour], X, signs)
            level_weights = weights_for(self.levels_[h], signs, weights)
            found[h] = self._solve(X, signs, level_weights, seed, start, mapped)
        self._keep([found[h] for h in range(len(self.levels_))], single=False)
        self.n_iter_path_ = np.array([machine.n_iter for machine in self._fit_machines])
        self.crossings_ = crossings(self._machine_values(X)[self._fit_copies.of_samples])
        return self

    def level_decisions(self, X: Any) -> np.ndarray:
        """Return ``f_h(X)`` for matrices `X`, (m, d1, d2) or (m, p), at each of ``levels_``: (m, H-1)."""
        return self._values(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of ``classes_`` for the matrices of `X`, (m, d1, d2) or (m, p): (m, 2).

        No probability is 0 or 1: the ends are 1 / (2 H) from them.
        """
        positive = combine(self._values(X), self.aggregate)
        return np.column_stack([1.0 - positive, positive])

    def predict(self, X: Any) -> np.ndarray:
        """Return the likelier class of each matrix of `X`, (m, d1, d2) or (m, p): (m,)."""
        probability = self.predict_proba(X)
        return self.classes_[probability.argmax(axis=1)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def outwards(count: int) -> list[tuple[int, int | None]]:
    """Return 0, ..., count-1 from the middle outwards, each with the neighbour solved before, None at first.

    >>> outwards(4)
    [(2, None), (1, 2), (0, 1), (3, 2)]
    """
    middle = count // 2
    down = [(h, h + 1) for h in range(middle - 1, -1, -1)]
    up = [(h, h - 1) for h in range(middle + 1, count)]
    return [(middle, None), *down, *up]
