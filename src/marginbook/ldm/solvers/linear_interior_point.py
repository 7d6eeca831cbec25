r"""The linear LDM by an interior point: for data with few features, or few examples, and any parameters.

Coordinate descent slows down without limit as C or lambda1 grows; the number of Newton steps here does not
depend on them. With :math:`\tilde x_i=y_ix_i`, :math:`c=4\lambda_1/m`, :math:`b=\lambda_2/m`, (14) is the
quadratic program

.. math:: \min_{w,\xi\ge0}\ \tfrac12w^\top Qw-b\,e^\top\tilde Xw+C\,e^\top\xi
          \quad\text{with}\quad \tilde Xw+\xi\ge e,\qquad
          Q=I+c\,\tilde X^\top(I-ee^\top/m)\tilde X,

of which :mod:`marginbook.kernels.hinge_interior_point` takes each step in O(m d^2).
"""

from __future__ import annotations

import numpy as np

from ...kernels.hinge_interior_point import HingeProgram
from ..model.linear import Certificate, LinearSolution, Matrix, gap_scale, prepared
from ..model.objective import validate_parameters


def linear_interior_point(
    X: Matrix,
    y: np.ndarray,
    lambda1: float,
    lambda2: float,
    C: float,
    *,
    tol: float = 1e-8,
    max_iter: int = 100,
    weights: np.ndarray | None = None,
    constant: bool = False,
) -> LinearSolution:
    r"""Solve (14) by a primal-dual interior-point method.

    With more features than examples the rows are first written in an orthonormal basis of their span, so that
    d is at most m.

    Parameters
    ----------
    X : (m, d) array or CSR matrix
        Made dense.
    y : (m,) array of -1 and +1
    lambda1, lambda2 : float
        At least 0.
    C : float
        Positive.
    tol : float
        Stop when ``dual_gap <= tol * max(|objective|, min(1, m C))``.
    max_iter : int
        Most Newton steps.
    weights : (m,) array of positive numbers, optional
        A row of weight k counts as k equal rows.
    constant : bool
        Give every row a last feature that is 1, whose weight is the intercept.

    Returns
    -------
    LinearSolution
        `n_iter` counts Newton steps.

    Raises
    ------
    ValueError
        If a parameter is out of range, or the data are not finite numbers with labels -1 and +1.
    """
    validate_parameters(lambda1, lambda2, C)
    X, y = prepared(X, y)
    certificate = Certificate(X, y, lambda1, lambda2, C, weights, constant)
    dense = X if isinstance(X, np.ndarray) else X.toarray()
    if constant:
        dense = np.column_stack([dense, np.ones(len(y))])
    rows = dense * y[:, None]
    if rows.shape[1] > rows.shape[0]:
        rows = np.ascontiguousarray(np.linalg.qr(rows.T)[1].T)
    c, b, ones = certificate.twice_a, certificate.b, certificate.ones
    if weights is None:
        centred, sums = rows - rows.mean(axis=0), rows.sum(axis=0)
        scaled = centred
    else:
        sums = weights @ rows
        centred = rows - sums / certificate.total
        scaled = centred * weights[:, None]
    Q = c * (scaled.T @ centred)
    Q[np.diag_indices_from(Q)] += 1.0
    program = HingeProgram(rows, np.full(len(y), C) * ones, Q, b * sums)

    def enough(objective: float, gap: float) -> bool:
        return gap <= 0.1 * tol * gap_scale(objective, C, certificate.total)

    w, beta, _, steps = program.minimise(enough, max_iter)
    delta = c * (scaled @ w)
    # a large c multiplies the rounding of the margins in delta: one refinement of delta itself takes it off
    with np.errstate(over="ignore", invalid="ignore"):
        miss = c * (scaled @ ((beta + b * ones - delta) @ rows)) - delta
        refined = delta + miss - c * (scaled @ program.uncurved(miss @ rows))
    if np.isfinite(refined).all():
        delta = refined
    return certificate.solution(beta, delta, steps, tol, [])
