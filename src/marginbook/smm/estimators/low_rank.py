"""LowRankSVMClassifier: parameters and attributes here, mathematics in the solvers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ...base.parameters import validate_flags
from ...base.threads import on_few_threads
from ...kernels import Kernel
from ..solvers.block_descent import start_gram
from .base import MatrixMachine, class_weights
from .certificates import MatrixSolution
from .parameters import validate_machine


@dataclass(eq=False, repr=False)
class LowRankSVMClassifier(MatrixMachine):
    r"""Large-margin classifier of matrices with coefficients of low rank.

    .. math::
       \min_{b,\ \operatorname{rank}B\le r}\ \frac1{\sum_is_i}\sum_{i=1}^ns_i\kappa(y_i)
       L\bigl(y_i(\langle B,X_i\rangle+b)\bigr)+\lambda\lVert B\rVert_F^2

    for matrices :math:`X_i\in\mathbb R^{d_1\times d_2}`, labels :math:`y_i=\pm1`, the weights of samples
    :math:`s_i` and of classes :math:`\kappa`, all 1 by default, and L the hinge loss :math:`(1-z)_+`, the
    squared hinge loss :math:`(1-z)_+^2` or the logistic loss :math:`\log(1+e^{-z})`. Source: (2) of the draft
    "Large Margin Based Regression for Matrix Feature". More than two classes: one machine for each class
    against the rest, and the largest :math:`\langle B,X\rangle+b` wins.

    The problem is not convex. Block descent goes down from a truncated singular value decomposition of the
    full-rank solution and from `n_restarts` random starts, and the lowest objective is kept, with a lower
    bound over all matrices of rank r: where ``global_gap_`` is 0, the solution is proved to be a global one.

    Read more in the :ref:`user guide <guide-lowranksvmclassifier>` (``marginbook guide``).

    Parameters
    ----------
    rank : int or None, default=1
        r, at most min(d1, d2), or d1 with a kernel. None is full rank: the support vector machine on vec(X).
    lam : float, default=0.01
        :math:`\lambda`, above 0. In terms of C of ``sklearn.svm.SVC`` it is 1 / (2 n C).
    loss : {"hinge", "squared_hinge", "logistic"}, default="hinge"
    kernel : {"linear", "rbf", "poly"}, (name, parameters) or callable, default="linear"
        A kernel on rows: B is then :math:`\sum_kU_kV_k^\top` with :math:`V_k` in the feature space of a row.
        Parameters given as a pair win over `gamma`, `degree`, `coef0`. "poly" between rows a and b of two
        matrices is :math:`(\gamma\,x_a^\top z_b+c)^m` where a = b, and without c, the `coef0`, elsewhere. See
        :mod:`marginbook.smm.model.row_kernels`. A callable gets two rows, each a vector, and returns a number
        (that of SVC gets two matrices).
    gamma : float, "scale", "auto" or None, default="scale"
        Of "rbf" and "poly"; "scale" is 1 / d2 over the variance of all entries, weighted as the samples are,
        "auto" is 1 / d2, and None is 1 / d2 for "rbf" and 1 for "poly". The draft's width :math:`\sigma` is
        ``gamma = 1 / (2 * sigma**2)``.
    degree : int, default=3
        m, of "poly", at least 1.
    coef0 : float, default=1.0
        c, of "poly", at least 0.
    n_components : int or None, default=None
        Of a kernel. None is exact: the Gram matrix of all n d1 rows, 8 (n d1)^2 bytes, which a
        MemoryError refuses beyond 10,000 rows. A number m is approximate: m landmark rows, each the one that
        the others miss most, span what stands for the feature space, in 8 n d1 m bytes; objective and bound
        are those of that problem, and ``missed_`` says what it leaves out.
    fit_intercept : bool, default=True
        Whether b is free, and not penalised; False is b = 0, the draft's (2).
    n_restarts : int, default=0
        Random starts beside the one from the full-rank solution.
    bound_iter : int, default=0
        Most steps by which ``lower_bound_`` is raised towards the minimum of a convex relaxation, whose
        solution is then one more start. 0 leaves them out; some 100 do, with a kernel some 40.
    shape : (int, int) or None, default=None
        d1 and d2 of matrices that are given as the rows of an (n, d1 d2) array. None: an (n, p) array holds
        matrices of p rows and one column.
    class_weight : dict, "balanced" or None, default=None
        :math:`\kappa`; "balanced" makes the classes weigh the same, with mean 1 over the samples.
    warm_start : bool, default=False
        Whether another fit starts from U and V of the last one, where they have the shape that is needed.
    tol : float, default=1e-6
        Stop when a sweep over both blocks lowers the objective by less than this share; missing it is a
        ConvergenceWarning.
    max_iter : int, default=200
        Sweeps.
    random_state : int, RandomState instance or None, default=None
        Of the random starts.

    Attributes
    ----------
    coef_ : (d1, d2) array
        B. With K > 2 classes this and the other attributes have a first axis of K, or are lists of K.
    U_, V_ : (d1, r) and (d2, r) arrays
        B = U V'. The columns of U are orthogonal to each other, and so are those of V; the k-th column of U
        has the length of the k-th column of V.
    intercept_ : float
    objective_ : float
    objective_path_ : (k,) array
        Objective of the start and after each block; it never rises.
    lower_bound_ : float
        No matrix of rank r has a smaller objective.
    global_gap_ : float
        ``objective_ - lower_bound_``.
    dual_gap_ : float
        No change of the last block alone lowers the objective by more.
    dual_coef_ : (n d1, r) array
        In place of ``coef_`` and ``V_`` with a kernel: V is the combination of all training rows, or of the
        landmarks, with these coefficients; the columns of U are then orthonormal.
    missed_ : float
        With a kernel: the share of the squared norms of all rows that the landmarks miss, 0 without them.
    multipliers_ : (n,) array
        The dual variables :math:`c_i` of the last block, :math:`2\lambda\alpha_i` in the draft's scaling.
    n_iter_ : int
        Sweeps from the best start.
    converged_ : bool
    start_ : str
        Which start was the best.
    rank_ : int
        r.
    gamma_ : float
        Where the kernel has one.
    matrix_shape_ : (int, int)
    classes_, n_features_in_
        Of two classes the second is the positive one; ``n_features_in_`` is d1 d2.

    Examples
    --------
    >>> from marginbook.datasets import make_low_rank
    >>> from marginbook.smm import LowRankSVMClassifier
    >>> X, y, _, _ = make_low_rank(300, shape=(8, 6), rank=1, scale=8, random_state=0)
    >>> model = LowRankSVMClassifier(rank=1, lam=0.02).fit(X[:100], y[:100])
    >>> vector = LowRankSVMClassifier(rank=None, lam=0.02).fit(X[:100], y[:100])
    >>> model.coef_.shape, round(model.score(X[100:], y[100:]), 1), round(vector.score(X[100:], y[100:]), 1)
    ((8, 6), 0.9, 0.8)
    """

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
    warm_start: bool = False
    tol: float = 1e-6
    max_iter: int = 200
    random_state: Any = None

    def _validate_parameters(self) -> None:
        validate_flags(warm_start=self.warm_start)
        validate_machine(self)

    @on_few_threads
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to matrices `X`, (n, d1, d2) or (n, p), labels `y`, (n,), and weights `sample_weight`, (n,).

        Raises
        ------
        ValueError
            For one class, parameters out of range, or matrices that do not have the `shape`.
        """
        earlier = getattr(self, "_fit_machines", []) if self.warm_start else []
        X, codes, weights = self._validated(X, y, sample_weight)
        weights = weights / weights.mean() * class_weights(self.class_weight, self.classes_, codes, weights)
        seed, two = self._seed(), len(self.classes_) == 2
        found: list[MatrixSolution] = []
        mapped = self._mapped(X)
        gram = start_gram(X, self.loss) if mapped is None else None
        for k in [1] if two else range(len(self.classes_)):
            signs = np.where(codes == k, 1.0, -1.0)
            start = self._start_of(earlier[len(found)], X, signs) if len(found) < len(earlier) else None
            found.append(self._solve(X, signs, weights, seed, start, mapped, gram))
        self._keep(found, two)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        r"""Return :math:`\langle B,X\rangle+b` of each matrix of `X`, (m, d1, d2) or (m, p).

        Returns
        -------
        (m,) array, where > 0 is ``classes_[1]``, or (m, K) array for K > 2 classes
            Of float32 matrices float32 with the linear kernel, otherwise float64.
        """
        values = self._values(X)
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each matrix of `X`, (m, d1, d2) or (m, p); of two, at 0 the first one."""
        values = self.decision_function(X)
        if values.ndim == 1:
            return self.classes_[(values > 0).astype(int)]
        return self.classes_[values.argmax(axis=1)]
