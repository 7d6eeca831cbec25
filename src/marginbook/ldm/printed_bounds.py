r"""Theorem 3 as it is printed, the machines of its proof, and data on which leave-one-out contradicts it.

With :math:`I_1=\{i:0<\beta_i<C\}`, :math:`I_2=\{i:\beta_i=C\}` and :math:`h=\max_ih_{ii}` the theorem bounds
the number of leave-one-out errors by :math:`h\sum_{I_1}\beta_i+|I_2|`; the paper writes alpha for the dual
variables of (18). Its proof fixes :math:`\beta_i=0` in (18): the hinge term of example i is gone, but the
example stays in the mean and the variance of the margins. We call this the restricted reading.
"""

from __future__ import annotations

import numpy as np

from .box_qp import certify, sweep

#: share of C within which a dual variable counts as 0 or C; solvers end at the bounds themselves
AT_BOUND = 1e-9


def printed_count(H: np.ndarray, beta: np.ndarray, C: float) -> float:
    r"""Return :math:`h\sum_{I_1}\beta_i+|I_2|`, m times the bound of Theorem 3.

    Parameters
    ----------
    H : ndarray of shape (m, m)
    beta : ndarray of shape (m,)
        Solution of (18).
    C : float
    """
    full = beta >= C * (1 - AT_BOUND)
    part = ~full & (beta > C * AT_BOUND)
    return float(np.diagonal(H).max() * beta[part].sum() + full.sum())


def printed_bound(H: np.ndarray, beta: np.ndarray, C: float) -> float:
    r"""Return the bound of Theorem 3, :math:`(h\sum_{I_1}\beta_i+|I_2|)/m`; it may exceed 1."""
    return printed_count(H, beta, C) / len(beta)


def counted_bound(H: np.ndarray, beta: np.ndarray, C: float) -> float:
    r"""Return the share of examples with :math:`\beta_ih_{ii}\ge1` or :math:`\beta_i=C`.

    What the proof of Theorem 3 shows for the restricted reading; never more than the printed sum makes of it.
    """
    return float(np.mean((beta * np.diagonal(H) >= 1 - AT_BOUND) | (beta >= C * (1 - AT_BOUND))))


def restricted_leave_one_out(
    H: np.ndarray, lambda2: float, C: float, *, start: np.ndarray, tol: float = 1e-12, max_iter: int = 500
) -> np.ndarray:
    r"""Return the margins :math:`y_ix_i^\top w^i` of the m solutions of (18) with :math:`\beta_i=0`.

    Parameters
    ----------
    H : ndarray of shape (m, m)
    lambda2, C : float
    start : ndarray of shape (m,)
        Shifted dual variables of the machine on all examples.
    tol : float
        Duality gap of each machine, relative to the largest margin and variable.
    max_iter : int
        Coordinate sweeps, each with a Newton step, for each machine.

    Raises
    ------
    RuntimeError
        If a machine misses the tolerance; the message tells its gap.
    """
    m = len(H)
    low = lambda2 / m
    margins = np.empty(m)
    for i in range(m):
        keep = np.delete(np.arange(m), i)
        inner, aside = np.ascontiguousarray(H[np.ix_(keep, keep)]), H[keep, i] * low
        x = np.clip(start[keep], low, C + low)
        for _ in range(max_iter):
            grad = inner @ x + aside - 1.0
            gap, _ = certify(x, grad, low, C + low)
            if gap <= tol * (1.0 + (np.abs(grad) + 1.0).max() * x.max(initial=0.0)):
                break
            sweep(inner, x, grad, low, C + low)
            _to_the_face(inner, x, grad, low, C + low)
        else:
            raise RuntimeError(f"duality gap {gap:.1e} after {max_iter} steps; raise max_iter or tol")
        margins[i] = H[i, keep] @ x + H[i, i] * low
    return margins


def _to_the_face(H: np.ndarray, x: np.ndarray, grad: np.ndarray, lower: float, upper: float) -> None:
    """Go to the minimum over the coordinates strictly inside the box, or to the first bounds in the way."""
    free = np.flatnonzero((x > lower) & (x < upper))
    while len(free):
        step = -np.linalg.lstsq(H[np.ix_(free, free)], grad[free], rcond=1e-13)[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(step > 0, (upper - x[free]) / step, (lower - x[free]) / step)
        room[step == 0] = np.inf
        length = min(1.0, room.min())
        x[free] += length * step
        grad += H[:, free] @ (length * step)
        if length == 1.0:
            return
        hit = room <= length
        x[free[hit]] = np.where(step[hit] > 0, upper, lower)
        free = free[~hit]


def repelling_points(m: int) -> tuple[np.ndarray, np.ndarray]:
    r"""Return m points on which Theorem 3 says 0 while every left-out example is misclassified.

    With :math:`v_j=y_jx_j=2m\,e_j-e` each example is opposite to each other one,
    :math:`v_i^\top v_j=-3m`, but not to their sum s: :math:`v_i^\top s=m^2`. For :math:`\lambda_2>1/m`, and
    for every :math:`\lambda_1` and C, all margins equal :math:`\lambda_2m`, no dual variable is positive, and
    the margins of the left-out examples are :math:`-3\lambda_2m`.

    Parameters
    ----------
    m : int
        At least 2.

    Returns
    -------
    X : ndarray of shape (m, m)
    y : ndarray of shape (m,)
        Alternately +1 and -1.

    Examples
    --------
    >>> X, y = repelling_points(2)
    >>> X.tolist(), y.tolist()
    ([[3.0, -1.0], [1.0, -3.0]], [1.0, -1.0])
    """
    if m < 2:
        raise ValueError(f"leave-one-out needs at least 2 points, got m={m}")
    y = np.where(np.arange(m) % 2, -1.0, 1.0)
    return y[:, None] * (2 * m * np.eye(m) - 1.0), y
