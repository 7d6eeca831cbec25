r"""Certificates that a point solves the problem of kFDA_q: globally for q = 1, locally for q < 1.

For q = 1 the problem is a lasso with :math:`\lambda=\rho N`, and a dual point bounds what is missing to the
minimum. For q < 1 the penalty has infinite slope at zero, so a point that is stationary on its support, with
a positive definite Hessian there, is a strict local minimiser among *all* coefficient vectors; both
conditions are numbers that can be shown. For 1 < q <= 2 the problem is smooth and convex, and stationarity is
everything.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, lapack
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from marginbook.kfda.model.objective import Problem, penalty_weights, residual, validate_parameters

#: support size from which the smallest eigenvalue comes from Lanczos iterations with the inverse
LANCZOS_FROM = 200


def duality_gap(
    problem: Problem, omega: np.ndarray, rho: float, penalize_bias: bool = True, q: float = 1.0
) -> float:
    r"""Return by how much J(omega) at most exceeds its minimum, for q = 1 and for 1 < q <= 2.

    The dual point is the residual (centred, if the bias is not penalised), :math:`\theta=s\,r` with
    :math:`s=\min(1,\rho N/\max_i|d_i^\top r|)`. The gap is summed from terms that are never negative, so that
    nothing cancels:

    .. math::
        J-\bigl(\tfrac12\lVert\hat y\rVert^2-\tfrac12\lVert\hat y-\theta\rVert^2\bigr)
        =\tfrac12(1-s)^2\lVert r\rVert^2+\sum_i(\rho N|\omega_i|-s\,\omega_id_i^\top r)

    plus :math:`\tfrac12N\bar r^2` where the residual was centred. For q > 1 every dual point is feasible:
    s = 1, and the sum is that of :math:`\rho N|\omega_i|^q-\omega_iu_i+h^*(u_i)` with
    :math:`u_i=d_i^\top r` and the conjugate of the penalty,
    :math:`h^*(u)=\rho N(q-1)(|u|/(\rho Nq))^{q/(q-1)}`.

    Parameters
    ----------
    problem : Problem
    omega : (M+1,) array
    rho : float
    penalize_bias : bool
    q : float
        In [1, 2].
    """
    validate_parameters(q, rho)
    if q < 1:
        raise ValueError(f"q must be at least 1, got {q!r}: below, J is not convex; use smallest_curvature")
    lam = rho * problem.n
    r = residual(problem, omega)
    lost = 0.0
    if not penalize_bias:
        lost = 0.5 * problem.bias_square * problem.along_bias(r) ** 2
        r = problem.centred(r)
    slopes = problem.design.T @ r
    weights = penalty_weights(problem, penalize_bias)
    slopes[weights == 0] = 0.0
    if q > 1:
        with np.errstate(over="ignore"):
            conjugate = lam * (q - 1.0) * (np.abs(slopes) / (lam * q)) ** (q / (q - 1.0))
        terms = lam * weights * np.abs(omega) ** q - omega * slopes + conjugate
        return lost + float(np.maximum(terms, 0.0).sum())
    largest = float(np.abs(slopes).max(initial=0.0))
    scale = min(1.0, lam / largest) if largest > 0 else 1.0
    terms = lam * weights * np.abs(omega) - scale * omega * slopes
    return lost + 0.5 * (1.0 - scale) ** 2 * float(r @ r) + float(np.maximum(terms, 0.0).sum())


def kkt_residual(problem: Problem, omega: np.ndarray, rho: float, penalize_bias: bool = True) -> float:
    r"""Return the largest violation of the optimality conditions for q = 1, in units of :math:`\rho N`.

    .. math::
        d_i^\top r=\rho N\operatorname{sign}\omega_i\ (\omega_i\ne0),\qquad
        |d_i^\top r|\le\rho N\ (\omega_i=0),
        \qquad\mathbf 1^\top r=0\ \text{(bias not penalised)}

    Parameters
    ----------
    problem : Problem
    omega : (M+1,) array
    rho : float
    penalize_bias : bool
    """
    lam = rho * problem.n
    slopes = problem.design.T @ residual(problem, omega)
    weights = penalty_weights(problem, penalize_bias)
    violation = np.where(
        omega != 0, np.abs(slopes - lam * weights * np.sign(omega)), np.abs(slopes) - lam * weights
    )
    return float(np.maximum(violation, 0.0).max(initial=0.0)) / lam


def stationarity(
    problem: Problem, omega: np.ndarray, q: float, rho: float, penalize_bias: bool = True
) -> float:
    r"""Return the largest relative residual of the stationarity conditions on the support.

    .. math::
        \max_{i:\omega_i\ne0}\frac{|d_i^\top r-p_i|}{|p_i|},\qquad
        p_i=\rho Nq|\omega_i|^{q-1}\operatorname{sign}\omega_i

    For q > 1, where :math:`p_i` vanishes with :math:`\omega_i`, the denominator is the largest :math:`|p_j|`
    of all, or what rounding leaves to see if that is more. A bias that is not penalised has
    :math:`p_0=0` and counts relative to :math:`\sqrt N\lVert\hat y\rVert`. An empty support gives zero.

    Parameters
    ----------
    problem : Problem
    omega : (M+1,) array
    q, rho : float
    penalize_bias : bool
    """
    validate_parameters(q, rho)
    weights = penalty_weights(problem, penalize_bias)
    support = np.flatnonzero(omega) if q <= 1 else np.arange(len(omega))
    penalised = support[weights[support] > 0]
    r = residual(problem, omega)
    worst = 0.0
    if len(penalised):
        size = np.abs(omega[penalised])
        slope = rho * problem.n * q * size ** (q - 1.0)
        gap = np.abs(problem.design.T[penalised] @ r - slope * np.sign(omega[penalised]))
        visible = 1e-10 * float(np.sqrt(problem.squared_norms.max() * problem.energy))
        scale = slope if q <= 1 else max(float(slope.max()), visible)
        worst = float((gap / scale).max())
    if not penalize_bias:
        worst = max(worst, abs(problem.along_bias(r)) * np.sqrt(problem.bias_square / problem.energy))
    return worst


def scaled_hessian(
    problem: Problem, omega: np.ndarray, q: float, rho: float, penalize_bias: bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""Return the support, :math:`\psi` and the scaled Hessian of J there.

    .. math:: \Psi A_{SS}\Psi/(\rho Nq)+(q-1)I

    The Hessian on the support is :math:`A_{SS}+\rho Nq(q-1)\Psi^{-2}` with
    :math:`\psi_i=|\omega_i|^{(2-q)/2}`. The congruence with :math:`\Psi` and the factor leave the signs of
    its eigenvalues and make them pure numbers. A bias that is not penalised is minimised out: A is then the
    Gram matrix of the centred columns.

    Returns
    -------
    support : (k,) array of int
        Penalised coefficients that are not zero.
    psi : (k,) array
    hessian : (k, k) array
    """
    weights = penalty_weights(problem, penalize_bias)
    support = np.flatnonzero((omega != 0) & (weights > 0))
    psi = np.abs(omega[support]) ** (0.5 * (2.0 - q))
    columns = problem.design.T[support]
    if not penalize_bias:
        columns = problem.centred(columns)
    columns = columns * (psi / np.sqrt(rho * problem.n * q))[:, np.newaxis]
    hessian = columns @ columns.T
    hessian.flat[:: len(support) + 1] += q - 1.0
    return support, psi, hessian


def smallest_curvature(
    problem: Problem, omega: np.ndarray, q: float, rho: float, penalize_bias: bool = True
) -> float:
    r"""Return the smallest eigenvalue :math:`\kappa` of the scaled Hessian on the support.

    Positive at a strict local minimiser, negative at a saddle. At a stationary point it also gives the linear
    rate of the iteration (8), :math:`(2-q)/(2-q+\kappa)`: below one exactly where :math:`\kappa>0`. An empty
    support gives infinity.

    Parameters
    ----------
    problem : Problem
    omega : (M+1,) array
    q, rho : float
    penalize_bias : bool
    """
    _, _, hessian = scaled_hessian(problem, omega, q, rho, penalize_bias)
    return smallest_eigenvalue(hessian)


def smallest_eigenvalue(matrix: np.ndarray) -> float:
    """Return the smallest eigenvalue of a symmetric (k, k) matrix; infinity for k = 0."""
    k = len(matrix)
    if k == 0:
        return np.inf
    if k >= LANCZOS_FROM:
        factor, info = lapack.dpotrf(matrix, lower=1, clean=0)
        if info == 0:
            inverse = LinearOperator(
                (k, k), matvec=lambda b: lapack.dpotrs(factor, b, lower=1)[0], dtype=float
            )
            try:
                top = eigsh(inverse, k=1, which="LA", v0=np.ones(k), tol=1e-6, return_eigenvectors=False)
                return 1.0 / float(top[0])
            except ArpackError:
                pass  # a cluster of smallest eigenvalues: the dense routine has no such trouble
    return float(eigh(matrix, eigvals_only=True, subset_by_index=[0, 0], check_finite=False)[0])


def magnitude_bound(problem: Problem, q: float, rho: float, penalize_bias: bool = True) -> np.ndarray:
    r"""Return what each coefficient of a local minimiser has at least in size if it is not zero, (M+1,).

    .. math:: |\omega_i|\ge\Bigl(\frac{\rho Nq(1-q)}{\lVert d_i\rVert^2}\Bigr)^{1/(2-q)}\qquad(q<1)

    It follows from the second derivative along coordinate i. For q >= 1 there is no such bound: zeros. A
    column of zeros gets infinity, for its coefficient is zero in every local minimiser.

    Parameters
    ----------
    problem : Problem
    q, rho : float
    penalize_bias : bool
    """
    validate_parameters(q, rho)
    bound = np.zeros(problem.n_coefficients)
    if q < 1:
        with np.errstate(divide="ignore", over="ignore"):
            bound = (rho * problem.n * q * (1.0 - q) / problem.squared_norms) ** (1.0 / (2.0 - q))
    if not penalize_bias:
        bound[0] = 0.0
    return bound
