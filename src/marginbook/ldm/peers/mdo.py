"""MDOClassifier: margin distribution optimisation (Garg & Roth 2003), linear; see `mdo_descent`."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ...base.labels import binary_signs
from ...base.parameters import is_number, validate_counts, validate_not_negative
from ...base.threads import on_few_threads
from ...base.user_line import user_level
from ...base.weights import ClassWeight
from ...kernels import tidy
from ...kernels.validation import validate_data
from .kernel_peer import BinaryPeer
from .mdo_descent import STEEPEST, learned_starts, solve_mdo


@dataclass(eq=False, repr=False)
class MDOClassifier(BinaryPeer):
    r"""Margin distribution optimisation, for two classes: linear, without intercept.

    .. math::
       \min_{\lVert w\rVert=1}\ F(w)=\sum_{y_ix_i^\top w\ge0}e^{-a(x_i^\top w)^2}
       +\sum_{y_ix_i^\top w<0}e^{-by_ix_i^\top w},\qquad\lVert x_i\rVert=1 .

    Rows are scaled to length 1 (rows of zeros stay), which leaves the sign of a decision as it is. The
    problem is not convex; it is descended from several starts, of which the table ``restarts_`` tells.
    Source: Garg & Roth (2003). Their article recommends constants, but its text was not at hand: the defaults
    of `a` and `b` are ours. With them the cost is halved at a margin of 0.08 and doubled at -0.07, the size
    that margins of rows of length 1 have in some tens of features.

    Weights of the rows, those of `fit` times those of the classes, multiply the terms of the sum: a row of
    weight k counts as k equal rows, and weight 0 leaves it out. The learned starts are the same for both, and
    with ``n_restarts=0`` so is the minimum, up to `tol`. A random start is drawn row by row: repeated rows
    have other ones than weighted rows, which may lead to another minimum.

    Read more in the :ref:`user guide <guide-mdoclassifier>` (``marginbook guide``).

    Parameters
    ----------
    a : float, default=100.0
        How fast the cost of a correct example falls with its margin.
    b : float, default=10.0
        How fast that of a wrong one grows; at most 300.
    n_restarts : int, default=3
        Random starts besides the learned ones: the sum of the signed rows, and a linear SVM.
    kink_width : float, default=1e-4
        The cost has a kink at margin 0. It is rounded over so wide a range of margins in the last descent
        and in ``gradient_norm_``, which certifies the solution up to margins that move by this.
    tol : float, default=1e-5
        Gradient over m at which a descent ends. More than a hundred times that at the end warns.
    max_iter : int, default=500
        Of L-BFGS, for each width of the kink.
    class_weight : {class: number}, "balanced" or None, default=None
        Factor on the weight of each row of the class.
    random_state : int, RandomState or None, default=0

    Attributes
    ----------
    classes_ : (2,) array
    n_features_in_ : int
    coef_ : (p,) array, length 1
    objective_ : float
        F at ``coef_``, of the cost with its kink.
    gradient_norm_ : float
        Length of the gradient of F on the sphere, over m, with the kink rounded over `kink_width`.
    restarts_ : list of Restart
        For each start its name, F there (``first``) and at the end (``objective``), ``gradient_norm`` and
        ``n_iter``.
    n_iter_ : int
        Of all descents.

    Examples
    --------
    >>> from marginbook.ldm import MDOClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MDOClassifier().fit(scale(X), y)
    >>> round(model.score(scale(X), y), 2), model.gradient_norm_ < 1e-3
    (0.98, True)
    """

    a: float = 100.0
    b: float = 10.0
    n_restarts: int = 3
    kink_width: float = 1e-4
    tol: float = 1e-5
    max_iter: int = 500
    class_weight: ClassWeight = None
    random_state: Any = 0

    @on_few_threads
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows `X`, (m, p), dense or sparse, and labels `y`, (m,).

        Parameters
        ----------
        X, y
        sample_weight : (m,) array of numbers >= 0, default=None
            A row of weight k counts as k equal rows; weight 0 leaves the row out.

        Raises
        ------
        ValueError
            Unless there are two classes, and for parameters out of range.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        X = tidy(X)
        self.classes_, signs = binary_signs(y, type(self).__name__)
        for name, least, most in (("a", 0.0, np.finfo(float).max), ("b", 0.0, STEEPEST)):
            value = getattr(self, name)
            if not (is_number(value) and least <= value <= most):
                raise ValueError(f"{name} must be a number from 0 to {most:.4g}, got {value!r}")
        if not (is_number(self.kink_width) and self.kink_width > 0):
            raise ValueError(f"kink_width must be a finite number > 0, got {self.kink_width!r}")
        validate_not_negative(tol=self.tol)
        validate_counts(max_iter=self.max_iter)
        validate_counts(0, n_restarts=self.n_restarts)
        weights = self._row_weights(X, signs, sample_weight, self.class_weight)
        X = normalize(X)
        if weights is not None:
            X, signs, weights = X[weights > 0], signs[weights > 0], weights[weights > 0]
        starts = learned_starts(X, signs, self.random_state, self.n_restarts, weights)
        found = solve_mdo(
            X,
            signs,
            self.a,
            self.b,
            starts,
            kink_width=self.kink_width,
            tol=self.tol,
            max_iter=self.max_iter,
            weights=weights,
        )
        self.coef_, self.objective_, self.gradient_norm_ = found.coef, found.objective, found.gradient_norm
        self.restarts_ = found.restarts
        self.n_iter_ = sum(restart.n_iter for restart in found.restarts)
        if self.gradient_norm_ > 100 * self.tol:
            warnings.warn(
                f"the best descent ended with a gradient of {self.gradient_norm_:.2g} per example, more than "
                f"{100 * self.tol:.2g}; raise max_iter, {self.max_iter}, or kink_width, {self.kink_width}",
                ConvergenceWarning,
                stacklevel=user_level(),
            )
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        r"""Return the margins :math:`x^\top w/\lVert x\rVert` of the rows of `X`, (n, p) -> (n,)."""
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return np.asarray(normalize(tidy(X)) @ self.coef_.astype(X.dtype))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # a hyperplane through the origin cannot tell apart classes that lie on one ray
        tags.classifier_tags.poor_score = True
        return tags
