r"""The paper's iterative solvers of the DRM problem, batched over test points (Algorithms 3 to 6).

.. math:: f(w)=\tfrac12w^\top(Q+\beta I)w-w^\top K_x,\qquad\nabla f(w)=(Q+\beta I)w-K_x

Each column of `Kx` is a test point of its own: it stops when :math:`\lVert w^{(t+1)}-w^{(t)}\rVert_2` is at
most `tol`, and then costs nothing more. That rule is the paper's, and it is no certificate: a step is also
short where the step size is (a large `alpha` or `beta`), so every result carries the relative residual of its
gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from ..model.operators import System
from .iteration import Iterates, State, iterate, objective_values


def gradient_descent(
    system: System,
    Kx: np.ndarray,
    *,
    max_iter: int = 150,
    tol: float = 1e-5,
    start: np.ndarray | None = None,
    record: bool = False,
    optimum: np.ndarray | None = None,
    carry: bool = False,
) -> Iterates:
    r"""Gradient descent with exact line search, Algorithm 3.

    .. math:: w^{(t+1)}=w^{(t)}-d\,g,\quad g=\nabla f(w^{(t)}),\quad
              d=\frac{g^\top g}{g^\top(Q+\beta I)g}\qquad\text{(14) to (16)}

    Parameters
    ----------
    system : System
    Kx : (n, m) array
        One column a test point.
    max_iter : int, default=150
    tol : float, default=1e-5
        A column stops when its step is not longer; 0 stops it only where the step vanishes.
    start : (n, m) array, optional
        Zero by default.
    record : bool, default=False
        Keep the paths of :class:`Iterates`.
    optimum : (n, m) array, optional
        Where `record` measures the distance to.
    carry : bool, default=False
        Update the gradient by :math:`g-d(Q+\beta I)g` instead of computing it anew: one product an iteration
        instead of two, and the rounding errors of all steps add up.

    Raises
    ------
    ValueError
        For shapes that do not match, or `max_iter` or `tol` out of range.

    Examples
    --------
    >>> from marginbook.drm.model.operators import DenseSystem
    >>> system = DenseSystem(np.diag([2.0, 1.0]), [1, 1], alpha=0.0, beta=1.0)
    >>> gradient_descent(system, np.array([[3.0], [1.0]]), tol=1e-12).weights.round(6).ravel().tolist()
    [1.0, 0.5]
    """

    def step(state: State) -> np.ndarray:
        G = state["G"] if "G" in state else system.gradient(state["W"], state["Kx"])
        MG = system.apply_ridged(G)
        squared, curvature = system.inner(G, G), system.inner(G, MG)
        d = np.zeros_like(squared)  # of a vanishing gradient
        # a curvature that is not positive is one beyond double precision: the step says so by being NaN
        d[squared > 0] = np.where(curvature > 0, squared, np.nan)[squared > 0] / curvature[squared > 0]
        if carry:
            state["G"] = G - system.scale(MG, d)
        return state["W"] - system.scale(G, d)

    return iterate(system, Kx, step, {}, max_iter, tol, start, record, optimum)


def proximal_point(
    system: System,
    Kx: np.ndarray,
    *,
    max_iter: int = 150,
    tol: float = 1e-5,
    start: np.ndarray | None = None,
    record: bool = False,
    optimum: np.ndarray | None = None,
    c: float | None = None,
) -> Iterates:
    r"""Proximal point approximation, Algorithm 4; with a LinearSystem Algorithm 5.

    .. math:: w^{(t+1)}=\frac{K_x-Qw^{(t)}+cw^{(t)}}{\beta+c}\qquad(17)

    Parameters
    ----------
    system, Kx, max_iter, tol, start, record, optimum
        As for :func:`gradient_descent`.
    c : float, optional
        At least the largest eigenvalue of Q, which is not checked; :meth:`System.safe_eigenvalue` by default.

    Raises
    ------
    ValueError
        As :func:`gradient_descent`, and for a negative `c`.

    Examples
    --------
    >>> from marginbook.drm.model.operators import DenseSystem
    >>> system = DenseSystem(np.diag([2.0, 1.0]), [1, 1], alpha=0.0, beta=1.0)
    >>> found = proximal_point(system, np.array([[3.0], [1.0]]), c=2.0)
    >>> found.weights.round(4).ravel().tolist(), found.n_iter.tolist()
    ([1.0, 0.5], [11])
    """
    c = _constant("c", c, 0.0, system.safe_eigenvalue)

    def step(state: State) -> np.ndarray:
        W = state["W"]
        return system.scale(state["Kx"] - system.apply(W) + system.scale(W, c), 1.0 / (system.beta + c))

    return iterate(system, Kx, step, {}, max_iter, tol, start, record, optimum)


def accelerated(
    system: System,
    Kx: np.ndarray,
    *,
    max_iter: int = 150,
    tol: float = 1e-5,
    start: np.ndarray | None = None,
    record: bool = False,
    optimum: np.ndarray | None = None,
    b: float | None = None,
    backtracking: bool = False,
    eta: float = 2.0,
    restart: bool | Literal["gradient", "function"] = False,
) -> Iterates:
    r"""Accelerated proximal gradient, Algorithm 6.

    .. math::

       w^{(t+1)}&=v^{(t)}-\tfrac1b\nabla f(v^{(t)}),\\
       d^{(t+1)}&=\tfrac12\bigl(1+\sqrt{1+4(d^{(t)})^2}\bigr),\\
       v^{(t+1)}&=w^{(t+1)}+\tfrac{d^{(t)}-1}{d^{(t+1)}}(w^{(t+1)}-w^{(t)})\qquad\text{(26), (27)}

    Parameters
    ----------
    system, Kx, max_iter, tol, start, record, optimum
        As for :func:`gradient_descent`.
    b : float, optional
        At least the largest eigenvalue of Q + beta I, which is not checked; by default
        ``system.safe_eigenvalue() + beta``. With `backtracking` it is where the search begins, by default
        beta plus the mean diagonal entry of K.
    backtracking : bool, default=False
        Multiply b by `eta` until :math:`g^\top Qg\le(b-\beta)\lVert g\rVert^2` (25), each column for itself.
        One more product an iteration, however often b grows.
    eta : float, default=2.0
        Above 1.
    restart : {False, True, "gradient", "function"}, default=False
        Forget the momentum of a column when it points uphill ("gradient", which is True) or when f has grown
        ("function", one more product an iteration). O'Donoghue & Candès, Adaptive restart for accelerated
        gradient schemes, 2015. Not in the paper. On a strongly convex quadratic plain APG is linear with
        :math:`1-1/\kappa` already; a restart turns :math:`\kappa` into its square root.

    Raises
    ------
    ValueError
        As :func:`gradient_descent`, and for `b`, `eta` or `restart` out of range.

    Examples
    --------
    >>> from marginbook.drm.model.operators import DenseSystem
    >>> system = DenseSystem(np.diag([2.0, 1.0]), [1, 1], alpha=0.0, beta=1.0)
    >>> accelerated(system, np.array([[3.0], [1.0]]), restart=True).weights.round(4).ravel().tolist()
    [1.0, 0.5]
    """
    if restart not in (False, True, "gradient", "function"):
        raise ValueError(f"restart must be False, True, 'gradient' or 'function', got {restart!r}")
    if backtracking and not 1 < eta < np.inf:
        raise ValueError(f"eta must be a finite number > 1, got {eta!r}")
    if backtracking:
        b = _constant("b", b, np.nextafter(0, 1), lambda: system.beta + float(np.mean(system.diagonal)))
    else:
        b = _constant("b", b, np.nextafter(0, 1), lambda: system.beta + system.safe_eigenvalue())
    m = Kx.shape[1] if np.ndim(Kx) == 2 else 0

    def step(state: State) -> np.ndarray:
        W, V, d = state["W"], state.get("V", state["W"]), state["d"]
        G = system.gradient(V, state["Kx"])
        if backtracking:
            state["b"] = enlarged(system, G, state["b"], eta)
        new = V - system.scale(G, 1.0 / state["b"])
        move = new - W
        after = (1 + np.sqrt(1 + 4 * d * d)) / 2
        momentum = (d - 1) / after
        if restart == "function":
            f = objective_values(system, new, state["Kx"])
            uphill = f > state["f"]
            state["f"] = f
        elif restart:
            uphill = system.inner(G, move) > 0
        else:
            uphill = np.zeros(len(d), dtype=bool)
        momentum[uphill] = 0.0
        after[uphill] = 1.0
        state["V"], state["d"] = new + system.scale(move, momentum), after
        return new

    state = {"d": np.ones(m), "b": np.full(m, b), "f": np.full(m, np.inf)}
    return iterate(system, Kx, step, state, max_iter, tol, start, record, optimum)


def enlarged(system: System, G: np.ndarray, b: np.ndarray, eta: float) -> np.ndarray:
    """Return b times the smallest power of eta with which (25) holds, one number a column."""
    curvature, squared = system.inner(G, system.apply(G)), system.inner(G, G)
    b = b.copy()
    with np.errstate(over="ignore"):
        while (short := curvature > (b - system.beta) * squared).any():
            b[short] *= eta
            if not np.isfinite(b).all():  # NaN follows, and the column stops
                break
    return b


def _constant(name: str, value: float | None, least: float, default: Callable[[], float]) -> float:
    if value is None:
        return default()
    if not (np.isfinite(value) and value >= least):
        raise ValueError(f"{name} must be a finite number {'>= 0' if least == 0 else '> 0'}, got {value!r}")
    return float(value)
