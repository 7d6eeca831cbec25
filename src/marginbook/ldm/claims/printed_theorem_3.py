r"""Theorem 3 as it is printed, the machines of its proof, and data on which leave-one-out contradicts it.

With :math:`I_1=\{i:0<\beta_i<C\}`, :math:`I_2=\{i:\beta_i=C\}` and :math:`h=\max_ih_{ii}` the theorem bounds
the number of leave-one-out errors by :math:`h\sum_{I_1}\beta_i+|I_2|`; the paper writes alpha for the dual
variables of (18). Its proof fixes :math:`\beta_i=0` in (18): the hinge term of example i is gone, but the
example stays in the mean and the variance of the margins. We call this the restricted reading.
"""

from __future__ import annotations

import numpy as np

from ..model.objective import kkt_residual
from ..model.whitening import WhitenedGram
from ..solvers.dual import Solution, active_set
from .problems import Problem

#: by how much optimality conditions may be missed, over the largest margin
OPTIMAL = 1e-6
#: share of C within which a dual variable counts as 0 or C; solvers end at the bounds themselves
AT_BOUND = 1e-9


def check_optimal(H: np.ndarray, shifted: np.ndarray, lambda2: float, C: float) -> None:
    r"""Raise RuntimeError unless :math:`\beta'` solves (12), whatever the gap that its solver reports.

    Parameters
    ----------
    H : (m, m) array
    shifted : (m,) array
        :math:`\beta'`.
    lambda2, C : float
    """
    margins = H @ shifted
    left = kkt_residual(shifted, margins, lambda2, C)
    if not left <= OPTIMAL * max(1.0, float(np.abs(margins).max())):
        raise RuntimeError(f"the optimality conditions of (12) are missed by {left:.1e}; lower tol")


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

    What the proof of Theorem 3 shows for the restricted reading; never more than the printed bound.
    """
    return float(np.mean((beta * np.diagonal(H) >= 1 - AT_BOUND) | (beta >= C * (1 - AT_BOUND))))


def restricted_leave_one_out(
    H: np.ndarray, lambda2: float, C: float, *, solution: Solution, tol: float = 1e-12
) -> np.ndarray:
    r"""Return the margins :math:`y_ix_i^\top w^i` of the m solutions of (18) with :math:`\beta_i=0`.

    The solver knows one box for all variables. A penalty :math:`K\beta_i'^2/2` makes the gradient of i
    positive on the whole box and so holds :math:`\beta'_i` exactly at its lower bound :math:`\lambda_2/m`;
    where that is zero, the row and the column of i are left out.

    Parameters
    ----------
    H : (m, m) array
    lambda2, C : float
    solution : Solution
        On all examples, to start from.
    tol : float
        Relative duality gap of each machine.

    Raises
    ------
    RuntimeError
        If a machine misses the optimality conditions of its problem; the message tells by how much.
    """
    m = len(H)
    low, ones = lambda2 / m, np.ones(m)
    margins = np.empty(m)
    for i in range(m):
        held, start = H.copy(), solution.shifted.copy()
        start[i] = low
        keep = np.arange(m)
        if low > 0:
            held[i, i] += 2 * (1 + (C + low) * np.abs(H[i]).sum()) / low
        else:
            keep = np.delete(keep, i)
        left = held[np.ix_(keep, keep)]
        found = active_set(left, ones[keep], 0.0, lambda2, C, tol=tol, start=start[keep])
        check_optimal(left, found.shifted, lambda2, C)
        margins[i] = H[i, keep] @ found.shifted
    return margins


def trained(
    G: np.ndarray, y: np.ndarray, lambda1: float, lambda2: float, C: float
) -> tuple[np.ndarray, Solution]:
    """Return H and the solution of (12), whose optimality conditions are tested."""
    H = WhitenedGram(G, y).hessian(lambda1)
    model = active_set(H, y, lambda1, lambda2, C, tol=1e-12)
    check_optimal(H, model.shifted, lambda2, C)
    return H, model


def retrained_leave_one_out(problem: Problem, parameters: tuple[float, float, float]) -> np.ndarray:
    """Return the left-out margins of machines built anew from the Gram matrix without row and column i."""
    margins = []
    for i in range(len(problem.y)):
        keep = np.delete(np.arange(len(problem.y)), i)
        _, model = trained(problem.G[np.ix_(keep, keep)], problem.y[keep], *parameters)
        margins.append(problem.y[i] * problem.G[i, keep] @ model.alpha)
    return np.array(margins)


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


def plane_points() -> tuple[np.ndarray, np.ndarray]:
    r"""Return eight points of the plane on which the printed bound crosses the truth as lambda2 grows.

    With :math:`\lambda_1=C=1` it is above the three true errors of the eight for small :math:`\lambda_2`, and
    zero from :math:`\lambda_2=32` on, where three are still wrong.

    Returns
    -------
    X : (8, 2) array
    y : (8,) array
    """
    halves = [[2, 3], [3, 1], [-1, 2], [1, 2], [2, 0], [-2, -1], [1, -1], [2, 0]]
    return np.array(halves) / 2.0, np.repeat([1.0, -1.0], 4)
