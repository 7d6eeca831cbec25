"""MKLClassifier: a support vector machine on a learned weighted sum of kernels."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...base.threads import on_few_threads
from ...base.user_line import user_level
from ...base.weights import ClassWeight
from ...kernels import Kernel
from ..solvers.gram_blocks import KEPT_BYTES, GramBlocks
from ..solvers.mkl import combine, learn_weights
from .several_kernels import SeveralKernels

#: rows beyond which the weights begin with those of a sample, and the rows of that
START_BEYOND, START_WITH = 4000, 2000
#: with C n / m the best weights of m of n rows are those of narrower kernels than all rows have, with C of
#: wider ones: between them C grows by this power of n / m
POWER = 1 / 3
#: what a machine of several kernels of too many rows can be replaced by
INSTEAD = "fewer rows, or LSSVMClassifier(kernel='rbf', n_components=1000)"


@dataclass(eq=False, repr=False)
class MKLClassifier(SeveralKernels):
    r"""l1 multiple kernel learning (the problem of SimpleMKL, Rakotomamonjy et al. 2008).

    .. math:: \min_{d\ge0,\,\sum_kd_k=1}\ \sum_u\max_{0\le a_i\le Cs_i,\,y_u^\top a=0}
       1^\top a-\tfrac12\sum_kd_k\,(y_ua)^\top K_k(y_ua),

    with one output u per class against the others, one for two classes, and the same weights d for all
    outputs: a class has no kernels of its own. Row i has the weight :math:`s_i`, 1 unless given.

    It costs a few times :math:`n^2` for each kernel and set of weights, and the training of the machines.
    Gram matrices of more than 0.5 GB together are not kept; beyond 4,000 rows the weights begin with those of
    2,000 rows, which spares most sets: at 10,000 rows three are left.

    Read more in the :ref:`user guide <guide-mklclassifier>` (``marginbook guide``).

    Parameters
    ----------
    kernels : list of kernels, default=None
        As in :mod:`marginbook.kernels`. None is the 13 of Table 4 of Yu & McKelvey, which suit standardised
        features: rbf, :math:`\exp(-\lVert x-z\rVert^2/\sigma^2)` with :math:`\sigma=2^{-3},\dots,2^6`, so
        that gamma is :math:`1/\sigma^2`, and polynomials :math:`(1+x^\top z)^d` of degree d = 1, 2, 3.
    C : float, default=1.0
        Weight of the hinge losses, in [1e-8, 1e8].
    tol : float, default=1e-3
        The relative duality gap at which to stop. libsvm computes in single precision, which limits it to
        about 1e-6.
    max_iter : int, default=100
        Sets of weights for which machines are trained.
    normalised : bool, default=True
        Whether to take :math:`k(x,z)/\sqrt{k(x,x)k(z,z)}`; otherwise kernels of large values are preferred.
    class_weight : {class: number}, "balanced" or None, default=None
        Factor on the weight of each row of the class.

    Attributes
    ----------
    classes_ : (n_classes,) array
    kernels_ : list of K kernels
    weights_ : (K,) array
        :math:`d`.
    dual_gap_ : float
        Objective less its lower bound, relative to the objective: how far from the least one these weights
        and machines may be at most.
    objective_ : float
    objective_path_ : (n_iter_,) array
        The best one after each set of weights.
    dual_coef_ : (n_outputs, n_support) array
    intercept_ : (n_outputs,) array
    support_ : (n_support,) array of int
        Rows with a coefficient in some output.
    n_iter_ : int
    n_features_in_ : int

    Examples
    --------
    >>> from marginbook.clasmk import MKLClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> kernels = [("rbf", {"gamma": 1.0}), ("rbf", {"gamma": 0.01}), ("poly", {"degree": 2})]
    >>> model = MKLClassifier(kernels).fit(scale(X), y)
    >>> model.weights_.round(2), model.dual_gap_ < 1e-3
    (array([0.38, 0.35, 0.27]), True)
    """

    kernels: list[Kernel] | None = None
    C: float = 1.0
    _: KW_ONLY
    tol: float = 1e-3
    max_iter: int = 100
    normalised: bool = True
    class_weight: ClassWeight = None

    @on_few_threads
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows `X`, (n, p), and labels `y`, (n,).

        Parameters
        ----------
        X : (n, p) array
        y : (n,) array
        sample_weight : (n,) array of numbers >= 0, optional
            A row of weight k counts as k equal rows, up to `tol`; weight 0 leaves the row out.

        Raises
        ------
        ValueError
            For one class, parameters out of range, and a row that cannot be normalised.
        MemoryError
            At once, if one Gram matrix would take more than half of the machine's memory.

        Warns
        -----
        ConvergenceWarning
            If the gap is above `tol` after `max_iter` sets of weights.
        """
        X, signs, weights = self._started(X, y, sample_weight)
        grams, start = self._sources(X), None
        if len(X) > START_BEYOND:
            few = _some_rows(signs)
            start = learn_weights(
                self._sources(X[few]),
                signs[few],
                self.C * (len(X) / len(few)) ** POWER,
                tol=self.tol,
                max_iter=self.max_iter,
                row_weights=None if weights is None else weights[few],
            ).weights
        found = learn_weights(
            grams, signs, self.C, tol=self.tol, max_iter=self.max_iter, start=start, row_weights=weights
        )
        if found.gap > self.tol:
            warnings.warn(
                f"the relative duality gap is {found.gap:.1e} after {found.n_iter} "
                f"set{'' if found.n_iter == 1 else 's'} of weights, wanted "
                f"{self.tol:.1e}; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=user_level(),
            )
        self._keep(X, found.weights, found.machines)
        self.dual_gap_, self.n_iter_ = found.gap, found.n_iter
        self.objective_path_ = np.array([value for value, _ in found.path])
        return self

    def _sources(self, X: np.ndarray) -> list[np.ndarray] | GramBlocks:
        """Return the Gram matrices of the rows `X`, or what computes them again and again."""
        every = np.arange(len(self.kernels_))
        if 8 * len(every) * len(X) ** 2 <= KEPT_BYTES:
            return self._grams(X, None, every)
        return GramBlocks(len(every), X, self._grams, INSTEAD)

    def _joined(self, grams: list[np.ndarray], weights: np.ndarray) -> np.ndarray:
        return combine(grams, weights)


def _some_rows(signs: np.ndarray) -> np.ndarray:
    """Return the numbers of rows to begin with, some of each class in their shares, sorted."""
    classes = signs.argmax(axis=1) if signs.shape[1] > 1 else (signs[:, 0] > 0).astype(int)
    rng, n = np.random.default_rng(0), len(signs)
    parts = []
    for code in np.unique(classes):
        rows = np.flatnonzero(classes == code)
        parts.append(rng.choice(rows, max(1, round(START_WITH * len(rows) / n)), replace=False))
    return np.sort(np.concatenate(parts))
