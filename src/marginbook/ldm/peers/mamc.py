r"""Maximal average margin for classifiers (Pelckmans, Suykens & De Moor 2008), in closed form.

.. math::
   \max_{\lVert w\rVert\le1}\ \frac1m\sum_{i=1}^m y_iw^\top\varphi(x_i)=w^\top z,\qquad
   z=\frac1m\sum_iy_i\varphi(x_i),\qquad w=z/\lVert z\rVert .
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils import Tags

from ...base.threads import on_few_threads
from ...base.user_line import user_level
from ...base.weights import ClassWeight
from ...kernels import Kernel, KernelOverflow, kernel_name
from ...kernels.expansions import kernel_sums
from ...kernels.validation import validate_symmetric
from ..estimators.gram_checks import refuse_negative
from .kernel_peer import KernelPeer

#: |z|^2 below this share of mean k(x, x) is rounding: z is taken for 0
DEGENERATE = 1e-14


@dataclass(frozen=True)
class MAMCSolution:
    r"""The direction of largest mean margin, and how well it solves its problem.

    Attributes
    ----------
    coefficients : (m,) array
        c in ``w = sum_i c_i phi(x_i)``; zero where `degenerate`.
    objective : float
        The mean margin, :math:`\lVert z\rVert`.
    optimality_residual : float
        Over w in the unit ball the mean margin is at most ``|z|`` (Cauchy-Schwarz). The residual is the
        distance of the mean margin of w from ``|z|``, relative to it, or that of ``|w|`` from 1, whichever is
        larger; the form is closed, so it is rounding error.
    degenerate : bool
        z = 0: every w in the ball has mean margin 0, and w = 0 is returned.
    """

    coefficients: np.ndarray
    objective: float
    optimality_residual: float
    degenerate: bool


def solve_mamc(f: np.ndarray, y: np.ndarray, scale: float, weights: np.ndarray | None = None) -> MAMCSolution:
    r"""Return the direction of largest mean margin from the sums :math:`f_j=\sum_i\omega_iy_ik(x_i,x_j)`.

    Parameters
    ----------
    f : (m,) array
        G y, with weights G (omega y), where G is the Gram matrix; it is all that the problem depends on.
    y : (m,) array of -1 and 1
    scale : float
        Mean of k(x, x), against which z counts as 0.
    weights : (m,) array of numbers >= 0, optional

    Returns
    -------
    MAMCSolution

    Raises
    ------
    ValueError
        If y'Gy is negative beyond rounding: the kernel is not positive semidefinite on these data; as its
        subclass `KernelOverflow` if y'Gy or `scale` is beyond double precision.
    """
    m = float(len(y)) if weights is None else float(weights.sum())
    rows, y = len(y), y if weights is None else weights * y
    with np.errstate(over="ignore", invalid="ignore"):
        square = float(y @ f) / m**2
    if not np.isfinite([square, scale]).all():
        raise KernelOverflow("kernel values are infinite or undefined on these data; scale the features")
    if square < -1e-10 * scale:
        raise ValueError(
            f"the kernel is not positive semidefinite on these data: the squared mean is {square:.3g}"
        )
    if square <= DEGENERATE * scale:
        return MAMCSolution(np.zeros(rows), 0.0, 0.0, True)
    norm = np.sqrt(square)
    coefficients = y / (m * norm)
    mean = float((y * f / (m * norm)).sum()) / m
    length = np.sqrt(coefficients @ f / (m * norm))
    residual = max(abs(mean / norm - 1), abs(float(length) - 1))
    return MAMCSolution(coefficients, float(norm), residual, False)


@dataclass(eq=False, repr=False)
class MAMCClassifier(KernelPeer):
    r"""Maximal average margin for classifiers, for two classes.

    .. math::
       f(x)=w^\top\varphi(x),\qquad w=\sum_iy_i\varphi(x_i)\Big/\Big\lVert\sum_iy_i\varphi(x_i)\Big\rVert,

    the direction with the largest mean margin :math:`\frac1m\sum_iy_if(x_i)` in the unit ball. Weights
    :math:`\omega_i` of the rows, those of `fit` times those of the classes, multiply their :math:`y_i` in
    both, with :math:`\sum_i\omega_i` for m: a row of weight k counts as k equal rows; weight 0
    leaves it out. There is no intercept and nothing to tune but the kernel: f compares the sums of kernels
    (Parzen windows) of the classes. Where kernel values are positive and one class is much larger, its sum
    wins nearly everywhere, and f predicts it for almost all points. Source: Pelckmans, Suykens & De Moor
    (2008).

    Read more in the :ref:`user guide <guide-mamcclassifier>` (``marginbook guide``).

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "precomputed"}, (name, parameters) or callable, default="rbf"
        Parameters given as a pair win over `gamma`, `degree`, `coef0`. A callable gets two rows, each a
        vector, and returns a number (that of SVC gets two matrices).
    gamma : float, "scale", "auto" or None, default="scale"
        Of "rbf" and "poly"; "scale" is 1 / (n_features times the variance of all entries of X, where
        `sample_weight` counts), "auto" 1 / n_features; None is 1 / n_features for "rbf" and 1 for "poly".
    degree : float, default=3
    coef0 : float, default=1.0
    class_weight : {class: number}, "balanced" or None, default=None
        Factor on the weight of each row of the class; "balanced" compares means of kernels instead of sums.

    Attributes
    ----------
    classes_ : (2,) array
    n_features_in_ : int
    gamma_ : float, of "rbf" and "poly"
    dual_coef_ : (m,) array
        Coefficients of :math:`f=\sum_ic_ik(x_i,\cdot)`.
    support_ : (n_support,) array of int
        Rows of X with a coefficient that is not 0.
    coef_ : (p,) array, of the linear kernel
    intercept_ : float, 0
    objective_ : float
        The mean margin.
    optimality_residual_ : float
        How far the mean margin is from its upper bound, or :math:`\lVert w\rVert` from 1; relative.
    degenerate_ : bool
        The weighted sum of the examples is 0: f is 0 everywhere, with a warning.

    Examples
    --------
    >>> from marginbook.ldm import MAMCClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MAMCClassifier(kernel="linear").fit(scale(X), y)
    >>> round(model.score(scale(X), y), 3), round(model.objective_, 3)
    (0.933, 2.825)
    """

    kernel: Kernel = "rbf"
    gamma: float | str | None = "scale"
    degree: float = 3
    coef0: float = 1.0
    class_weight: ClassWeight = None

    @on_few_threads
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows `X`, (m, p), or the (m, m) Gram matrix for "precomputed", and labels `y`, (m,).

        The linear kernel costs one pass over the entries of `X`, the others m^2 kernel values, in batches.

        Parameters
        ----------
        X, y
        sample_weight : (m,) array of numbers >= 0, default=None
            A row of weight k counts as k equal rows; weight 0 leaves the row out.

        Raises
        ------
        ValueError
            Unless there are two classes; for a precomputed matrix that is not symmetric or has a negative
            eigenvalue, and for other kernels that are seen not to be positive semidefinite; as its subclass
            `KernelOverflow` for kernel values beyond double precision.
        """
        X, signs = self._validated(X, y, sample_weight)
        weights, n_given = self._row_weights(X, signs, sample_weight, self.class_weight), len(signs)
        X, kept = self._present(X, weights)
        signs, weights = signs[kept], None if weights is None else weights[kept]
        weighted = signs if weights is None else weights * signs
        total = len(signs) if weights is None else float(weights.sum())
        name = kernel_name(self._kernel)
        if name == "linear":
            with np.errstate(over="ignore", invalid="ignore"):  # solve_mamc says so
                f = np.asarray(X @ (X.T @ weighted))
                squares = X.multiply(X) if hasattr(X, "multiply") else X * X
                scale = float((squares if weights is None else weights @ squares).sum()) / total
        elif name == "precomputed":
            validate_symmetric(X)
            refuse_negative(X)
            diagonal = float(np.trace(X)) if weights is None else float(weights @ np.diagonal(X))
            f, scale = X @ weighted, diagonal / total
        else:
            f = kernel_sums(self._kernel, X, X, weighted)
            scale = float(np.abs(f).max()) / total
        found = solve_mamc(f, signs, scale, weights)
        self.objective_, self.optimality_residual_ = found.objective, found.optimality_residual
        self.degenerate_ = found.degenerate
        if found.degenerate:
            warnings.warn(
                "the classes have equal sums: every direction has mean margin 0, so the decision is 0",
                UserWarning,
                stacklevel=user_level(),
            )
        self._keep(X, found.coefficients, 0.0)
        if len(signs) < n_given:
            self.dual_coef_ = np.zeros(n_given)
            self.dual_coef_[kept], self.support_ = found.coefficients, kept[self.support_]
        if name == "linear" and not found.degenerate:
            # of w itself, which is not what the solver saw
            mean = float(weighted @ (X @ self.coef_)) / total
            length = float(np.linalg.norm(self.coef_))
            self.optimality_residual_ = max(abs(mean / found.objective - 1), abs(length - 1))
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # without an intercept, and with sums instead of means, it may answer with the larger class only
        tags.classifier_tags.poor_score = True
        return tags
