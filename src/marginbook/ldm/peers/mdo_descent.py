r"""Margin distribution optimisation (Garg & Roth 2003): the descents; what it costs to have which margin.

For rows of length 1 and a direction of length 1,

.. math::
   F(w)=\sum_i\ell(y_ix_i^\top w),\qquad
   \ell(t)=\begin{cases}e^{-at^2}&t\ge0\\e^{-bt}&t<0,\end{cases}\qquad\lVert w\rVert=1 .

The cost is continuous and 1 at margin 0, but has a kink there: the slope is -b on the left, 0 on the right.
Minimisers like to sit in kinks, with examples exactly on the plane, so that no ordinary gradient vanishes.
We descend costs whose slope grows from -b to 0 over a width h to the left of 0, for h from 0.1 down to
`kink_width`. Each slope of such a cost lies between slopes of the true one at margins that differ by at
most h, so where its gradient vanishes, the direction is stationary up to a change of the margins by h. F is
not convex: different starts may end in different minima, above all where b is small.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from sklearn.utils import check_random_state

from ...base.interruptible import interruptible

#: widths of the kink on the way down; the last one is the parameter `kink_width`
WIDTHS = (1e-1, 1e-2, 1e-3)
#: largest b: the cost of a margin of -1 is exp(b)
STEEPEST = 300.0


def mdo_cost(margins: np.ndarray, a: float, b: float, width: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the cost of each margin and its derivative.

    On the left of 0 the cost is :math:`e^{bq(-t)}` where q is Huber's function, :math:`q(s)=s^2/(2h)` for
    :math:`s\le h` and :math:`s-h/2` above; h = `width` = 0 is the cost itself, whose derivative at 0 is
    taken from the right: 0.

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
    w: np.ndarray,
    X: Any,
    y: np.ndarray,
    a: float,
    b: float,
    width: float = 0.0,
    weights: np.ndarray | None = None,
) -> tuple[float, np.ndarray]:
    r"""Return :math:`F(w/\lVert w\rVert)` and its gradient at `w`, which is orthogonal to `w`.

    Parameters
    ----------
    w : (p,) array, not 0
    X : (m, p) array or CSR matrix, rows of length 1 (or 0)
    y : (m,) array of -1 and 1
    width : float
        Of the kink, see `mdo_cost`.
    weights : (m,) array, optional
        Of the terms.
    """
    norm = np.linalg.norm(w)
    u = w / norm
    cost, slope = mdo_cost(y * (X @ u), a, b, width)
    if weights is not None:
        cost, slope = weights * cost, weights * slope
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
        Length of the gradient on the sphere, over m, of the cost with a kink of width `kink_width`. Where
        it is small, the end is stationary up to margins that move by that width.
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
    weights: np.ndarray | None = None,
) -> MDOSolution:
    """Descend from each start by L-BFGS on ``w / |w|``, narrower and narrower kinks; return the best end.

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
    weights : (m,) array of positive numbers, optional
        Of the rows; m is then their sum.
    """
    if not (0 <= a < np.inf and 0 <= b <= STEEPEST and kink_width > 0):
        raise ValueError(
            f"wanted a >= 0, 0 <= b <= {STEEPEST:g} and kink_width > 0, got {a!r}, {b!r}, {kink_width!r}"
        )
    m = len(y) if weights is None else float(weights.sum())

    def mean(w: np.ndarray, width: float) -> tuple[float, np.ndarray]:
        value, gradient = mdo_objective(w, X, y, a, b, width, weights)
        return value / m, gradient / m

    restarts, ends = [], []
    for name, start in starts.items():
        w, n_iter = start / np.linalg.norm(start), 0
        first = mdo_objective(w, X, y, a, b, 0.0, weights)[0]
        for width in [*[h for h in WIDTHS if h > kink_width], kink_width]:
            # the descents on the way are only to bring the last one near
            gtol, ftol = (tol, 1e-12) if width == kink_width else (10 * tol, 1e-7)
            options = {"maxiter": max_iter, "gtol": gtol, "ftol": ftol}
            found = minimize(mean, w, (width,), jac=True, method="L-BFGS-B", options=options)
            w, n_iter = found.x / np.linalg.norm(found.x), n_iter + int(found.nit)
        residual = float(np.linalg.norm(mean(w, kink_width)[1]))
        objective = mdo_objective(w, X, y, a, b, 0.0, weights)[0]
        ends.append(w)
        restarts.append(Restart(name, first, objective, residual, n_iter))
    best = min(range(len(ends)), key=lambda k: restarts[k].objective)
    return MDOSolution(ends[best], restarts[best].objective, restarts[best].gradient_norm, restarts)


def learned_starts(
    X: Any, y: np.ndarray, random_state: Any, n_restarts: int, weights: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    """Return directions to start from: learned hypotheses, as Garg & Roth do, and random ones.

    "mean" is the sum of the signed rows, "svm" a linear SVM without intercept; each of the `n_restarts`
    random ones is a Gaussian combination of the rows, with the sign that gives the larger mean margin.
    Directions of length 0 are left out; a unit vector stands in if none is left.
    """
    m = len(y) if weights is None else float(weights.sum())
    rng = check_random_state(random_state)
    svm = LinearSVC(C=1.0, fit_intercept=False, random_state=rng.randint(2**31 - 1), max_iter=200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it is a start only
        starts = {"mean": X.T @ (y if weights is None else weights * y)}
        # the gradient at 0 is a multiple of it: the SVM is 0 then, and its solver may not return
        if np.linalg.norm(starts["mean"]) > 1e-12 * m:
            starts["svm"] = interruptible(svm.fit, X, y, weights).coef_[0]
    for k in range(n_restarts):
        direction = X.T @ rng.standard_normal(len(y))
        starts[f"random {k}"] = direction * (1 if direction @ starts["mean"] >= 0 else -1)
    starts = {name: np.asarray(w, dtype=float) for name, w in starts.items()}
    kept = {name: w for name, w in starts.items() if np.linalg.norm(w) > 1e-12}
    return kept or {"axis": np.eye(1, X.shape[1])[0]}
