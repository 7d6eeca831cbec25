"""KMOMDClassifier: direct optimisation of the margin distribution with kernels; see `km_omd_solver`."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ...base.parameters import is_number, validate_counts, validate_limits, validate_not_negative
from ...base.threads import on_few_threads
from ...base.user_line import user_level
from ...kernels import Kernel, gram, kernel_name, warn_of_scale
from ...kernels.landmarks import Landmarks
from ..estimators.gram_checks import validate_memory
from ..solvers.kernel_rows import ComputedRows
from .kernel_peer import KernelPeer
from .km_omd_solver import solve_km_omd
from .km_omd_systems import DIRECT, FeatureGram


@dataclass(eq=False, repr=False)
class KMOMDClassifier(KernelPeer):
    r"""Kernel method for the direct optimisation of the margin distribution, for two classes.

    .. math::
       \gamma=\arg\min_{\gamma\in\Delta_+\times\Delta_-}\gamma^\top YGY\gamma+\tfrac1C\lVert\gamma\rVert^2,
       \qquad f(x)=\sum_iy_i\gamma_ik(x_i,x)-\tfrac12\gamma^\top GY\gamma ,

    where :math:`\Delta_\pm=\{\gamma\ge0:\sum_{y_i=\pm1}\gamma_i=1\}` are the distributions over the rows of
    either class, G is the Gram matrix and Y the diagonal matrix of the labels :math:`y_i=\pm1`. Source:
    Aiolli, Da San Martino & Sperduti (2008).

    The threshold lies midway between the weighted means of the classes. Zhang & Zhou choose a parameter C of
    this method from 10, 50 and 100 without saying what it is; here it is the inverse of the charge on
    :math:`\lVert\gamma\rVert^2`, so that large values mean, as for an SVM, less regularisation. With weights
    :math:`\omega_i` of the rows the charge is :math:`\frac1C\sum_i\gamma_i^2/\omega_i`, and a row of weight k
    counts as k equal rows. There is no `class_weight`: in each class the weights sum to 1, whatever its rows
    weigh.

    Up to 3000 rows the systems are factorised, beyond iterated on the Gram matrix, 8 m^2 bytes, until the
    gap certifies the weights. More than two classes: ``OneVsRestClassifier``, whose machines have active sets
    and systems of their own, so that only the kernel values are common, with ``kernel="precomputed"``. With
    `n_components` the problem is that of a kernel below this one, and so is the certificate; it takes
    8 m n_components bytes, and the function is a sum of the kernels of the landmarks alone.

    Read more in the :ref:`user guide <guide-kmomdclassifier>` (``marginbook guide``).

    Parameters
    ----------
    C : float, default=1.0
        Above 0; infinity is allowed and gives the nearest points of the convex hulls.
    kernel : {"linear", "poly", "rbf", "precomputed"}, (name, parameters) or callable, default="rbf"
        Parameters given as a pair win over `gamma`, `degree`, `coef0`. A callable gets two rows, each a
        vector, and returns a number (that of SVC gets two matrices).
    gamma : float, "scale", "auto" or None, default="scale"
        Of "rbf" and "poly"; "scale" is 1 / (n_features times the variance of all entries of X, where
        `sample_weight` counts), "auto" 1 / n_features; None is 1 / n_features for "rbf" and 1 for "poly".
    degree : float, default=3
    coef0 : float, default=1.0
    tol : float, default=1e-6
        Duality gap that passes without a ConvergenceWarning, relative to the objective, or to 1e-4 times the
        mean of k(x, x) where that is larger.
    max_iter : int, default=1000
        Most linear systems to solve.
    n_components : int, default=None
        Landmarks, rows drawn by `random_state`, whose span stands for all rows; None is exact.
    random_state : int, RandomState or None, default=0

    Attributes
    ----------
    classes_ : (2,) array
    n_features_in_ : int
    gamma_ : float, of "rbf" and "poly"
    dual_coef_ : (m,) array
        :math:`y_i\gamma_i`. With `n_components`, (n_landmarks,): of the landmarks ``X[support_]``, so that
        f(x) is the sum of ``dual_coef_[j] * k(X[support_[j]], x)`` and ``intercept_``.
    support_ : (n_support,) array
        Rows of X whose kernels f sums: where ``dual_coef_`` is not 0, or with `n_components` the landmarks.
    coef_ : (p,) array, of the linear kernel
    intercept_ : float
    objective_ : float
        The value of the objective above at the solution; with `n_components` that of the approximate problem.
    dual_gap_ : float
        How far ``objective_`` can be above the least value.
    n_iter_ : int
        Linear systems solved.

    Examples
    --------
    >>> from marginbook.ldm import KMOMDClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = KMOMDClassifier(C=10, kernel="linear").fit(scale(X), y)
    >>> round(model.score(scale(X), y), 3), model.dual_gap_ < 1e-6 * model.objective_
    (0.988, True)
    """

    C: float = 1.0
    kernel: Kernel = "rbf"
    gamma: float | str | None = "scale"
    degree: float = 3
    coef0: float = 1.0
    tol: float = 1e-6
    max_iter: int = 1000
    n_components: int | None = None
    random_state: Any = 0

    @on_few_threads
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows `X`, (m, p), or the (m, m) Gram matrix for "precomputed", and labels `y`, (m,).

        Parameters
        ----------
        X, y
        sample_weight : (m,) array of numbers >= 0, default=None
            A row of weight k counts as k equal rows; weight 0 leaves the row out.

        Raises
        ------
        ValueError
            Unless there are two classes, and for parameters out of range.
        MemoryError
            For more rows than there is memory for their Gram matrix, without `n_components`.
        """
        X, signs = self._validated(X, y, sample_weight)
        weights = self._row_weights(X, signs, sample_weight)
        if not (is_number(self.C, infinite=True) and np.finfo(float).tiny <= self.C):
            raise ValueError(
                f"C must be a number > 0 with a finite inverse (np.inf is the hard margin), got {self.C!r}"
            )
        validate_not_negative(tol=self.tol)
        validate_counts(max_iter=self.max_iter)
        validate_limits(n_components=self.n_components)
        rows, kept = self._present(X, weights)
        given = None if weights is None else weights[kept]
        landmarks = None
        if self.n_components is not None:
            rng = check_random_state(self.random_state)
            landmarks = Landmarks.fit(self._kernel, rows, self.n_components, rng)
        matrix = self._gram_matrix(rows) if landmarks is None else FeatureGram(landmarks.transform(rows))
        options: dict[str, Any] = {"tol": self.tol, "max_iter": self.max_iter, "weights": given}
        found = solve_km_omd(matrix, signs[kept], 1 / self.C, **options)
        self.objective_, self.dual_gap_, self.n_iter_ = found.objective, found.dual_gap, found.n_iter
        if not found.converged:
            warnings.warn(
                f"KM-OMD stopped at a gap of {found.dual_gap:.2g} at the objective {found.objective:.2g}, "
                f"relative tolerance {self.tol:.2g}; raise max_iter, {self.max_iter}, or lower C",
                ConvergenceWarning,
                stacklevel=user_level(),
            )
        dual = np.zeros(len(signs))
        dual[kept] = signs[kept] * found.gamma
        if landmarks is None:
            return self._keep(X, dual, -found.threshold)
        # w lies in the span of the landmarks, and the sum over all rows is another function
        support = np.flatnonzero(dual)
        expansion = landmarks.to_features @ (dual[support] @ landmarks.transform(X[support]))
        self._keep(landmarks.rows, expansion, -found.threshold)
        self.support_ = np.arange(len(signs))[kept][landmarks.places]
        return self

    def _gram_matrix(self, X: Any) -> Any:
        """Return the Gram matrix of rows `X`, (m, p)."""
        validate_memory(X.shape[0], "use n_components, or LDMClassifier, which computes rows on demand")
        name = kernel_name(self._kernel)
        many = X.shape[0] > DIRECT and name not in ("precomputed", "callable")
        G = ComputedRows(self._kernel, X, kept=0).whole() if many else gram(self._kernel, X)
        warn_of_scale(self._kernel, G)
        return G
