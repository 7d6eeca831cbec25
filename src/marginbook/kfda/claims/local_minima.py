r"""All local minima of J for q < 1 on small problems, and bounds on their coefficients.

A local minimum with support S satisfies, with signs :math:`s`, :math:`u=|\omega_S|` and
:math:`\kappa=\rho Nq(1-q)`,

.. math::
    A_{SS}\omega_S+\rho Nq\,s\,u^{q-1}=c_S,\qquad A_{SS}\succeq\kappa\operatorname{diag}u^{q-2}.

The points of one orthant that satisfy the second condition form a convex set, as :math:`u\mapsto u^{q-2}`
is convex, and J is convex on it. So an orthant has at most one local minimum, and it is found, or shown to be
absent, by convex optimisation. Two orthants of the same support have at most one together: for two such
points with difference :math:`\Delta` the first condition gives :math:`\Delta^\top A\Delta` as the sum of
:math:`\rho Nq\,|\Delta_i|\,\bigl|u_i^{q-1}-u_i'^{q-1}\bigr|` over coefficients of equal sign minus something
positive for the others, and the second one, averaged over both points, makes :math:`\Delta^\top A\Delta` at
least that sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from ..model.objective import Problem, objective, penalty_weights
from .orthant_loops import follow, iterate


@dataclass(frozen=True, eq=False)
class Minimum:
    """A strict local minimum of J.

    Attributes
    ----------
    omega : (M+1,) array
    objective : float
    """

    omega: np.ndarray
    objective: float

    @property
    def support(self) -> tuple[int, ...]:
        """Indices of the coefficients that are not zero, 0 for the bias."""
        return tuple(np.flatnonzero(self.omega).tolist())


def no_return(
    problem: Problem, omega: np.ndarray, q: float, rho: float, penalize_bias: bool = True
) -> np.ndarray:
    r"""Return the sizes, (M+1,), below which a coefficient of the iteration (8) at `omega` goes to zero.

    .. math:: |\omega_i|<\Bigl(\frac{\rho Nq}{\lVert d_i\rVert\min(\sqrt{2J(\omega)},\lVert\hat y\rVert)}
        \Bigr)^{1/(1-q)}

    with the column :math:`d_i` of the design, for q < 1; zero for a bias that is not penalised. By (8)
    :math:`|\omega_i^+|=|\omega_i|^{2-q}\,|d_i^\top r^+|/\rho Nq`, and :math:`\lVert r^+\rVert` is at most the
    minimum in the denominator, which never rises: so the coefficient shrinks by a factor that is below one
    and falls itself. Of a point at which (8) rests, every non-zero coefficient is at least that large.
    """
    _check(q)
    value = objective(problem, omega, q, rho, penalize_bias)
    length = np.sqrt(problem.squared_norms * min(2 * value, problem.energy))
    with np.errstate(divide="ignore"):
        return np.asarray(
            (rho * problem.n * q * penalty_weights(problem, penalize_bias) / length) ** (1 / (1 - q))
        )


def zero_box(problem: Problem, q: float, rho: float) -> np.ndarray:
    r"""Return half-widths, (M+1,), of a box in which :math:`\omega=0` is the only minimiser of J, for q < 1.

    :math:`J(\omega)-J(0)\ge\sum_i(\rho N|\omega_i|^q-|c_i||\omega_i|)`, and each term is positive for
    :math:`0<|\omega_i|<(\rho N/|c_i|)^{1/(1-q)}`.
    """
    _check(q)
    with np.errstate(divide="ignore"):
        return np.asarray((rho * problem.n / np.abs(problem.correlations)) ** (1 / (1 - q)))


def local_minima(problem: Problem, q: float, rho: float) -> list[Minimum]:
    r"""Return all strict local minima of J for q < 1 with the bias penalised, the lowest first.

    Every support and every choice of signs is tried, :math:`3^{M+1}` in all, so the problem must be small.

    Parameters
    ----------
    problem : Problem
        At most 10 coefficients.
    q : float
        In (0, 1).
    rho : float

    Raises
    ------
    ValueError
        If q is not in (0, 1), or the problem has more than 10 coefficients.

    Examples
    --------
    The regression of Figure 2 has the minimum that the penalty makes and the one that the data make.

    >>> import numpy as np
    >>> from marginbook.kfda.model.objective import Problem
    >>> [minimum.support for minimum in local_minima(Problem(np.array([[2.0]]), np.array([5.0])), 0.5, 1.0)]
    [(1,), (0,), ()]
    """
    _check(q)
    width = problem.n_coefficients
    if width > 10:
        raise ValueError(
            f"{width} coefficients are too many to try all signs, expected at most 10; take fewer"
        )
    force, kappa = rho * problem.n * q, rho * problem.n * q * (1 - q)
    found = [np.zeros(width)]
    # c'u - u'Au = force sum u^q and the second condition bound every coefficient of a minimum
    largest = (problem.energy / (force * (3 - q))) ** (1 / q)
    for size in range(1, min(width, problem.n) + 1):
        supports = np.array(list(combinations(range(width), size)))
        eigenvalues = np.linalg.eigvalsh(problem.gram[supports[:, :, None], supports[:, None, :]])
        # columns that are dependent up to rounding leave no minimum
        flat = np.maximum(kappa * largest ** (q - 2), 1e-13 * eigenvalues[:, -1])
        supports = supports[eigenvalues[:, 0] > flat]
        if len(supports) == 0:
            continue
        # most supports that have a minimum show it at once, and then there is no other
        easy, values = _descend(problem, supports, force, kappa, q)
        points = [(supports[easy], values)]
        signs = np.array([(1.0, *rest) for rest in product((1.0, -1.0), repeat=size - 1)])
        signs = np.concatenate([signs, -signs])
        rows = np.repeat(supports[~easy], len(signs), axis=0)
        flips = np.tile(signs, (len(supports[~easy]), 1))
        c = flips * problem.correlations[rows]
        hopeful = c.max(axis=1, initial=-np.inf) > 0  # c'u > 0 at every stationary point
        rows, flips, c = rows[hopeful], flips[hopeful], c[hopeful]
        A = problem.gram[rows[:, :, None], rows[:, None, :]] * flips[:, :, None] * flips[:, None, :]
        u, settled = _orthants(A, c, force, kappa, q)
        points.append((rows[settled], (flips * u)[settled]))
        for rows, values in points:
            for row, coefficients in zip(rows, values, strict=True):
                omega = np.zeros(width)
                omega[row] = coefficients
                found.append(omega)
    minima = [Minimum(omega, objective(problem, omega, q, rho)) for omega in found]
    return sorted(minima, key=lambda minimum: minimum.objective)


def _descend(
    problem: Problem, supports: np.ndarray, force: float, kappa: float, q: float
) -> tuple[np.ndarray, np.ndarray]:
    """Iterate (8) on every support, (B, k), from least squares; return who ends at a minimum, and where."""
    A = problem.gram[supports[:, :, None], supports[:, None, :]]
    c = problem.correlations[supports]
    omega = np.linalg.solve(A, c[..., None])[..., 0]
    iterate(A, c, omega, force, q)
    signs = np.where(omega < 0, -1.0, 1.0)
    u, good = _newton(A * signs[:, :, None] * signs[:, None, :], signs * c, np.abs(omega), force, kappa, q)
    return good, (signs * u)[good]


def _orthants(
    A: np.ndarray, c: np.ndarray, force: float, kappa: float, q: float
) -> tuple[np.ndarray, np.ndarray]:
    r"""Minimise :math:`\frac12u^\top Au-c^\top u+\rho N\sum u^q` where its Hessian is positive, by a barrier.

    Takes a stack of problems, (B, k, k) and (B, k); returns the points and whether each is a minimum.
    """
    if len(A) == 0:
        return c, np.zeros(0, dtype=bool)
    smallest = np.linalg.eigvalsh(A)[:, :1]
    u = np.repeat((2 * kappa / smallest) ** (1 / (2 - q)), A.shape[1], axis=1)
    # the scale of the objective: it falls by about c'A^-1c/2 on the way from infinity
    height = np.maximum(np.abs(np.einsum("bi,bi->b", c, np.linalg.solve(A, c[..., None])[..., 0])), force)
    inside = follow(A, c, u, height, force, kappa, q)
    points, good = _newton(A[inside], c[inside], u[inside], force, kappa, q)
    u[inside], inside[inside] = points, good
    return u, inside


def _newton(
    A: np.ndarray, c: np.ndarray, u: np.ndarray, force: float, kappa: float, q: float
) -> tuple[np.ndarray, np.ndarray]:
    """Take Newton steps from `u`, (B, k), near to the minima if there are any; say who reached one."""
    eye = np.eye(A.shape[1])
    with np.errstate(all="ignore"):
        for _ in range(8):
            hessian, slope = A - _diagonal(kappa * u ** (q - 2)), _slope(A, c, u, force, q)
            usable = np.isfinite(hessian).all(axis=(1, 2)) & np.isfinite(slope).all(axis=1)
            usable[usable] = np.abs(np.linalg.slogdet(hessian[usable])[0]) > 0
            step = np.linalg.solve(
                np.where(usable[:, None, None], hessian, eye), np.where(usable[:, None], slope, 0)[..., None]
            )
            u = np.where(usable[:, None], u - step[..., 0], np.nan)
        hessian, slope = A - _diagonal(kappa * u ** (q - 2)), _slope(A, c, u, force, q)
        good = np.abs(slope).max(axis=1) <= 1e-8 * (np.abs(c).max(axis=1) + force)
        good &= (u > 0).all(axis=1) & np.isfinite(hessian).all(axis=(1, 2))
    curved = np.linalg.eigvalsh(np.where(good[:, None, None], hessian, eye))[:, 0] > 0
    return u, good & curved


def _slope(A: np.ndarray, c: np.ndarray, u: np.ndarray, force: float, q: float) -> np.ndarray:
    return np.asarray(np.einsum("bij,bj->bi", A, u) - c + force * u ** (q - 1))


def _diagonal(values: np.ndarray) -> np.ndarray:
    """Return the diagonal matrices, (B, k, k), of the rows of `values`."""
    return np.asarray(values[:, :, None] * np.eye(values.shape[1]))


def _check(q: float) -> None:
    if not 0 < q < 1:
        raise ValueError(f"q must be in (0, 1), got {q!r}: from q = 1 on J is convex")
