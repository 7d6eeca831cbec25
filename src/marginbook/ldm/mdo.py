r"""Margin distribution optimisation (Garg & Roth 2003): a linear classifier that descends a cost of all margins.

For rows of length 1 and a direction of length 1,

.. math::
   F(w)=\sum_i\ell(y_ix_i^\top w),\qquad
   \ell(t)=\begin{cases}e^{-at^2}&t\ge0\\e^{-bt}&t<0,\end{cases}\qquad\lVert w\rVert=1 .

The cost is continuous and 1 at margin 0, but has a kink there: the slope is -b on the left and 0 on the right.
Minimisers like to sit in kinks, with examples exactly on the plane, so that no ordinary gradient vanishes. We
descend costs whose slope grows from -b to 0 over a width h to the left of 0, for h from 0.1 down to
`kink_width`; where the gradient of the last one vanishes, 0 is a convex combination of gradients at margins that
differ by at most h from those reported. F is not convex: different starts end in different minima.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .peer_machine import BinaryPeer, binary_signs

#: widths of the kink on the way down; the last one is the parameter `kink_width`
WIDTHS = (1e-1, 1e-2, 1e-3)


def mdo_cost(margins: np.ndarray, a: float, b: float, width: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the cost of each margin and its derivative.

    On the left of 0 the cost is :math:`e^{bq(-t)}` where q is Huber's function,
    :math:`q(s)=s^2/(2h)` for :math:`s\le h` and :math:`s-h/2` above; h = `width` = 0 is the cost itself, whose
    derivative at 0 is taken from the right: 0.

    Parameters
    ----------
    margins : (m,) array
    a, b : float
    width : float

    Returns
    -------
    cost, slope : (m,) arrays
    """
    left = margins < 0
    below = np.where(left, -margins, 0.0)
    if width > 0:
        rise = np.minimum(below / width, 1.0)
        distance = np.where(below < width, below * rise / 2, below - width / 2)
    else:
        rise, distance = left.astype(float), below
    cost = np.where(left, np.exp(b * distance), np.exp(-a * margins * margins))
    return cost, np.where(left, -b * rise, -2 * a * margins) * cost


def mdo_objective(
    w: np.ndarray, X: Any, y: np.ndarray, a: float, b: float, width: float = 0.0
) -> tuple[float, np.ndarray]:
    r"""Return :math:`F(w/\lVert w\rVert)` and its gradient at `w`, which is orthogonal to `w`.

    Parameters
    ----------
    w : (p,) array, not 0
    X : (m, p) array or CSR matrix, rows of length 1 (or 0)
    y : (m,) array of -1 and 1
    width : float
        Of the kink, see `mdo_cost`.
    """
    norm = np.linalg.norm(w)
    u = w / norm
    cost, slope = mdo_cost(y * (X @ u), a, b, width)
    gradient = np.asarray(X.T @ (slope * y))
    return float(cost.sum()), (gradient - (gradient @ u) * u) / norm


class Restart(NamedTuple):
    """One descent: where it began, the costs F there and at its end, and the certificate of its end."""

    start: str
    first: float
    objective: float
    gradient_norm: float
    n_iter: int


@dataclass(frozen=True)
class MDOSolution:
    """The best of several descents.

    Attributes
    ----------
    coef : (p,) array, length 1
    objective : float
        F.
    gradient_norm : float
        Length of the gradient on the sphere, over m, of the cost with a kink of width `kink_width`. Where it is
        small, the end is stationary up to margins that move by that width.
    restarts : list of Restart
    """

    coef: np.ndarray
    objective: float
    gradient_norm: float
    restarts: list[Restart]


def solve_mdo(
    X: Any,
    y: np.ndarray,
    a: float,
    b: float,
    starts: dict[str, np.ndarray],
    *,
    kink_width: float = 1e-4,
    tol: float = 1e-5,
    max_iter: int = 500,
) -> MDOSolution:
    """Descend from each start by L-BFGS on w / |w|, with narrower and narrower kinks; return the best end.

    Parameters
    ----------
    X : (m, p) array or CSR matrix, rows of length 1 (or 0)
    y : (m,) array of -1 and 1
    a, b : float
        At least 0.
    starts : mapping
        Directions (p,), not 0, by the names that the table of restarts shows.
    kink_width : float
        Of the last descent.
    tol : float
        A descent ends where no component of the gradient, over m, is larger.
    max_iter : int
        Of each width.
    """
    if not (np.isfinite(a) and np.isfinite(b) and a >= 0 and b >= 0 and kink_width > 0):
        raise ValueError(f"a and b must be finite and >= 0, kink_width > 0; got {a!r}, {b!r}, {kink_width!r}")
    m = len(y)

    def mean(w: np.ndarray, width: float) -> tuple[float, np.ndarray]:
        value, gradient = mdo_objective(w, X, y, a, b, width)
        return value / m, gradient / m

    restarts, ends = [], []
    for name, start in starts.items():
        w, n_iter = start / np.linalg.norm(start), 0
        first = mdo_objective(w, X, y, a, b)[0]
        for width in [*[h for h in WIDTHS if h > kink_width], kink_width]:
            options = {"maxiter": max_iter, "gtol": tol, "ftol": 1e-15}
            found = minimize(mean, w, (width,), jac=True, method="L-BFGS-B", options=options)
            w, n_iter = found.x / np.linalg.norm(found.x), n_iter + int(found.nit)
        residual = float(np.linalg.norm(mean(w, kink_width)[1]))
        objective = mdo_objective(w, X, y, a, b)[0]
        ends.append(w)
        restarts.append(Restart(name, first, objective, residual, n_iter))
    best = min(range(len(ends)), key=lambda k: restarts[k].objective)
    return MDOSolution(ends[best], restarts[best].objective, restarts[best].gradient_norm, restarts)


def learned_starts(X: Any, y: np.ndarray, random_state: Any, n_restarts: int) -> dict[str, np.ndarray]:
    """Return directions to start from: learned hypotheses, as Garg & Roth do, and random ones.

    "mean" is the sum of the signed rows, "svm" a linear SVM without intercept; each of the `n_restarts` random
    ones is a Gaussian combination of the rows, with the sign that gives the larger mean margin. Directions of
    length 0 are left out; a unit vector stands in if none is left.
    """
    rng = check_random_state(random_state)
    svm = LinearSVC(C=1.0, fit_intercept=False, random_state=rng.randint(2**31 - 1), max_iter=200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it is a start only
        starts = {"mean": X.T @ y, "svm": svm.fit(X, y).coef_[0]}
    for k in range(n_restarts):
        direction = X.T @ rng.standard_normal(len(y))
        starts[f"random {k}"] = direction * (1 if direction @ starts["mean"] >= 0 else -1)
    starts = {name: np.asarray(w, dtype=float) for name, w in starts.items()}
    kept = {name: w for name, w in starts.items() if np.linalg.norm(w) > 1e-12}
    return kept or {"axis": np.eye(1, X.shape[1])[0]}


class MDOClassifier(BinaryPeer):
    r"""Margin distribution optimisation, for two classes: linear, without intercept.

    .. math::
       \min_{\lVert w\rVert=1}\ \sum_{y_ix_i^\top w\ge0}e^{-a(x_i^\top w)^2}+\sum_{y_ix_i^\top w<0}e^{-by_ix_i^\top w},
       \qquad\lVert x_i\rVert=1 .

    Rows are scaled to length 1 (rows of zeros stay), which leaves the sign of the decision as it is. The
    problem is not convex; it is descended from several starts, of which the table `restarts_` tells. The
    original article recommends constants; its text was not at hand, so the defaults of `a` and `b` are ours and
    could not be compared with it.

    Parameters
    ----------
    a : float, default=10.0
        How fast the cost of a correct example falls with its margin.
    b : float, default=1.0
        How fast that of a wrong one grows.
    n_restarts : int, default=3
        Random starts besides the learned ones, see `learned_starts`.
    kink_width : float, default=1e-4
        Margins move by at most this in the certificate.
    tol : float, default=1e-5
        Gradient over m at which a descent ends. More than a hundred times that at the end warns.
    max_iter : int, default=500
        Of L-BFGS, for each width of the kink.
    random_state : int, RandomState or None, default=0

    Attributes
    ----------
    classes_ : (2,) array
    n_features_in_ : int
    coef_ : (p,) array, length 1
    objective_ : float
        F.
    gradient_norm_ : float
        Stationarity, see `MDOSolution`.
    restarts_ : list of Restart
    n_iter_ : int
        Of all descents.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MDOClassifier().fit(scale(X), y)
    >>> round(model.score(scale(X), y), 2), model.gradient_norm_ < 1e-3
    (0.98, True)
    """

    def __init__(
        self,
        a: float = 10.0,
        b: float = 1.0,
        n_restarts: int = 3,
        kink_width: float = 1e-4,
        tol: float = 1e-5,
        max_iter: int = 500,
        random_state: Any = 0,
    ) -> None:
        self.a = a
        self.b = b
        self.n_restarts = n_restarts
        self.kink_width = kink_width
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows `X`, (m, p), dense or sparse, and labels `y`, (m,).

        Raises
        ------
        ValueError
            Unless there are two classes, and for parameters out of range.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        self.classes_, signs = binary_signs(y, type(self).__name__)
        X = normalize(X)
        starts = learned_starts(X, signs, self.random_state, self.n_restarts)
        found = solve_mdo(
            X,
            signs,
            self.a,
            self.b,
            starts,
            kink_width=self.kink_width,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        self.coef_, self.objective_, self.gradient_norm_ = found.coef, found.objective, found.gradient_norm
        self.restarts_ = found.restarts
        self.n_iter_ = sum(restart.n_iter for restart in found.restarts)
        if self.gradient_norm_ > 100 * self.tol:
            warnings.warn(
                f"the best descent ended with a gradient of {self.gradient_norm_:.2g} per example, more than "
                f"{100 * self.tol:.2g}; raise max_iter, {self.max_iter}, or kink_width, {self.kink_width:.2g}",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the margins :math:`x^\top w/\\lVert x\\rVert` of the rows of `X`, (n, p) -> (n,)."""
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return np.asarray(normalize(X) @ self.coef_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # a hyperplane through the origin cannot tell apart classes that lie on one ray
        tags.classifier_tags.poor_score = True
        return tags
