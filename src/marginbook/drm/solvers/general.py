r"""The general discriminative ridge regression of the paper, eq. (8), with a duality gap.

.. math:: \min_w\ P(w)=\tfrac12w^\top Qw-K_x^\top w+\beta\rho(\lVert w|C\rVert_{q,r}),\qquad Q=K+\alpha(H-B).

**Certificate.** Write N for the norm, :math:`N_*` for its dual and :math:`g=\beta\rho\circ N`. For *every*
vector z, Fenchel's inequality at :math:`u=K_x-Qz` gives the lower bound

.. math:: P(w)\ \ge\ D(z)=-\tfrac12z^\top Qz-g^*(K_x-Qz),

because :math:`\frac12w^\top Qw-K_x^\top w+u^\top w=\frac12(w-z)^\top Q(w-z)-\frac12z^\top Qz`. No inverse
and no range condition is needed: the bound is right for a singular Q. For :math:`g=cN^2` the conjugate is
:math:`g^*=N_*^2/(4c)`, and z = w serves. For :math:`\rho` the identity :math:`g^*` is 0 where
:math:`N_*(u)\le\beta` and infinite elsewhere, so the residual is scaled: :math:`z=(1-s)z_0+sw` with
:math:`z_0=Q^+K_x` and the largest :math:`s\le1` that keeps :math:`N_*((1-s)e+s(K_x-Qw))\le\beta`, where
:math:`e=K_x-Qz_0`. For a positive semidefinite kernel :math:`K_x` lies in the range of K, hence of Q, and e
is rounding; if it is not, the bound stays right and is infinite only when e itself is infeasible.

**Weights of rows.** :math:`s_j` equal rows share a weight :math:`w_j` equally, so with
:math:`S=\mathrm{diag}(s)` and the sums :math:`N_i` of the classes

.. math:: Q=K+\alpha(HS^{-1}-\mathrm{blockdiag}(K^i/N_i)),\qquad
          \lVert w|_{C_i}\rVert_q=\Bigl(\sum_js_j^{1-q}\lvert w_j\rvert^q\Bigr)^{1/q}.

In the variables u of :math:`w=Ru`, :math:`R=S^{1-1/q}`, that is the problem above with :math:`RQR` and
:math:`RK_x`: this is what is solved, and `Kx` and weights of all functions are in these variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ...base.interruptible import LARGE, interruptible
from ...base.parameters import validate_choice
from ..model.objective import class_slices, system_matrix, validate_parameters
from ..model.penalties import INF, Penalty
from .direct import closed_form, closed_form_of
from .oracle import oracle
from .proximal_newton import accelerated_proximal_gradient

SOLVERS = ("auto", "exact", "proximal", "cvxpy")


@dataclass(frozen=True)
class Certificate:
    """How far weights are from the optimum of eq. (8), one entry a test point.

    Attributes
    ----------
    objective : (m,) values P(w)
    gap : (m,) values P(w) - D(z), at least P(w) - min P
    relative_gap : (m,)
        The gap over the larger of K_x'w / 2 and -D(z); 1 at w = 0 unless that is optimal.
    kkt_residual : (m,)
        Largest violation of ``N_*(u) <= beta rho'(N(w))`` and ``u'w = beta rho'(N(w)) N(w)`` at u = K_x - Qw,
        the two conditions of optimality, over ``N_*(K_x)``.
    """

    objective: np.ndarray
    gap: np.ndarray
    relative_gap: np.ndarray
    kkt_residual: np.ndarray


@dataclass(frozen=True)
class Solution:
    """Weights, (n, m), with the certificate, the number of iterations, (m,), and the solver's name."""

    weights: np.ndarray
    certificate: Certificate
    n_iter: np.ndarray
    solver: str


@dataclass(frozen=True)
class GeneralProblem:
    r"""Eq. (8) for one training set; test points are columns.

    Parameters
    ----------
    K : (n, n) positive semidefinite Gram matrix, grouped by class
    sizes : (g,) class sizes
    alpha, beta : float
        ``alpha >= 0``, ``beta > 0``.
    q, r : float
        (2, 2), (1, 1), (2, 1), (inf, 1), (1, 2) or (inf, inf).
    rho : {"identity", "square", "half-square"}
    row_weights : (n,) array of numbers > 0, optional

    Raises
    ------
    ValueError
        For a parameter out of range, or (q, r, rho) that is not supported.

    Examples
    --------
    One training point and one test point, k = 1: the lasso weight is 1 - beta.

    >>> one = GeneralProblem(np.eye(1), [1], alpha=0.0, beta=0.25, q=1, r=1, rho="identity")
    >>> solve(one, np.ones((1, 1))).weights
    array([[0.75]])
    """

    K: np.ndarray = field(repr=False)
    sizes: Sequence[int] | np.ndarray
    alpha: float
    beta: float
    q: float = 2
    r: float = 2
    rho: str = "half-square"
    row_weights: np.ndarray | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        validate_parameters(self.alpha, self.beta)
        object.__setattr__(self, "sizes", np.asarray(self.sizes, dtype=int))
        self.penalty  # noqa: B018  an unsupported norm is an error now, not at the first use

    @cached_property
    def penalty(self) -> Penalty:
        return Penalty(np.asarray(self.sizes), float(self.beta), self.q, self.r, self.rho)

    @cached_property
    def Q(self) -> np.ndarray:
        s, root = self.row_weights, self.root
        if s is None or root is None:
            return system_matrix(self.K, self.sizes, self.alpha)
        within = np.zeros(self.K.shape)
        for block in class_slices(self.sizes):
            if block.stop - block.start > 1:
                within[block, block] = -self.K[block, block] / s[block].sum()
                within[block, block][np.diag_indices(block.stop - block.start)] += (
                    np.diagonal(self.K)[block] / s[block]
                )
        return root[:, None] * (self.K + self.alpha * within) * root

    @cached_property
    def root(self) -> np.ndarray | None:
        """R of the module's docstring, (n,), or None without weights of rows."""
        if self.row_weights is None:
            return None
        found: np.ndarray = self.row_weights ** (1.0 - 1.0 / self.q)
        return found

    @cached_property
    def spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues of Q, those below rounding set to 0, and eigenvectors; O(n^3), once for all points."""
        decompose = np.linalg.eigh
        values, vectors = interruptible(decompose, self.Q) if len(self.K) > LARGE else decompose(self.Q)
        floor = len(values) * np.finfo(float).eps * max(np.abs(values).max(), np.finfo(float).tiny)
        if values[0] < -100 * floor:
            raise ValueError(
                f"K + alpha (H - B) has the negative eigenvalue {values[0]:.3g}: eq. (8) needs a positive "
                "semidefinite kernel"
            )
        return np.where(values > floor, values, 0.0), vectors

    def critical_beta(self, Kx: np.ndarray) -> np.ndarray:
        r"""Return :math:`N_*(K_x)`, (m,): with the identity, w = 0 is optimal just when beta is not less."""
        return self.penalty.dual_norm(Kx)

    def objective(self, W: np.ndarray, Kx: np.ndarray) -> np.ndarray:
        """Return P of each column of `W`, (n, m), as (m,)."""
        smooth = np.sum(W * (0.5 * (self.Q @ W) - Kx), axis=0)
        return smooth + self.penalty.value(self.penalty.norm(W))

    def certificate(self, W: np.ndarray, Kx: np.ndarray, QW: np.ndarray | None = None) -> Certificate:
        """Return objective, gap and KKT residual of weights `W` for kernel vectors `Kx`, both (n, m)."""
        penalty = self.penalty
        QW = self.Q @ W if QW is None else QW
        U = Kx - QW
        norm, linear, quadratic = penalty.norm(W), np.sum(Kx * W, axis=0), np.sum(W * QW, axis=0)
        primal = 0.5 * quadratic - linear + penalty.value(norm)
        dual_norm, slope = penalty.dual_norm(U), penalty.slope(norm)
        if penalty.curvature is not None:
            dual = -0.5 * quadratic - dual_norm**2 / (4 * penalty.curvature)
        else:
            dual = self._scaled_dual(Kx, W, linear, quadratic, dual_norm)
        gap = np.maximum(primal - dual, 0.0)
        scale = np.maximum(0.5 * np.abs(linear), -dual)
        with np.errstate(invalid="ignore"):
            relative = np.where(gap > 0, gap / np.where(scale > 0, scale, 1.0), 0.0)
        relative[np.isinf(dual)] = INF
        slack = np.abs(slope * norm - np.sum(U * W, axis=0)) / np.where(norm > 0, norm, 1.0)
        unit = penalty.dual_norm(Kx)
        kkt = np.maximum(dual_norm - slope, slack) / np.where(unit > 0, unit, 1.0)
        return Certificate(primal, gap, relative, np.maximum(kkt, 0.0))

    def _scaled_dual(
        self, Kx: np.ndarray, W: np.ndarray, linear: np.ndarray, quadratic: np.ndarray, dual_norm: np.ndarray
    ) -> np.ndarray:
        values, vectors = self.spectrum
        C = vectors.T @ Kx
        inside = values > 0
        E = vectors[:, ~inside] @ C[~inside]  # what of K_x is outside the range of Q
        left = self.penalty.dual_norm(E)
        room = np.maximum(self.beta - left, 0.0)
        s = np.where(dual_norm > self.beta, room / np.maximum(dual_norm - left, np.finfo(float).tiny), 1.0)
        s = np.minimum(s, 1.0)
        # z'Qz with Qz0 = K_x - e: no entry of z0, which may be huge, is ever formed
        top = np.sum(C[inside] ** 2 / values[inside, None], axis=0)
        cross = linear - np.sum(E * W, axis=0)
        dual = -0.5 * ((1 - s) ** 2 * top + 2 * s * (1 - s) * cross + s**2 * quadratic)
        return np.where((left > self.beta) & (dual_norm > self.beta), -INF, dual)


def choose_solver(problem: GeneralProblem, solver: str) -> str:
    """Return what "auto" stands for, or raise ValueError if `solver` does not suit the norm."""
    validate_choice("solver", solver, SOLVERS)
    norm = (problem.q, problem.r)
    if solver == "exact" and norm != (2, 2):
        raise ValueError(f"solver 'exact' needs (q, r) = (2, 2), got ({norm[0]:g}, {norm[1]:g}); use 'auto'")
    if solver == "proximal":
        problem.penalty.groups()
    if solver != "auto":
        return solver
    return "exact" if norm == (2, 2) else "proximal" if norm in ((1, 1), (2, 1)) else "cvxpy"


def solve(
    problem: GeneralProblem, Kx: np.ndarray, solver: str = "auto", tol: float = 1e-6, max_iter: int = 10_000
) -> Solution:
    """Solve eq. (8) for kernel vectors `Kx`, (n, m).

    Parameters
    ----------
    problem : GeneralProblem
    Kx : (n, m) array, one column a test point
    solver : {"auto", "exact", "proximal", "cvxpy"}
        "exact" for (2, 2), "proximal" also for (1, 1) and (2, 1), "cvxpy" for all; "auto" takes the first of
        these that knows the norm.
    tol : float
        Largest relative gap at which the proximal gradient stops.
    max_iter : int
        Of the proximal gradient.
    """
    chosen = choose_solver(problem, solver)
    n_iter = np.ones(Kx.shape[1], dtype=int)
    if not Kx.any():
        W = np.zeros_like(Kx)
    elif chosen == "exact":
        W = exact(problem, Kx)
    elif chosen == "cvxpy":
        W = oracle(problem, Kx)
    else:
        largest = float(problem.spectrum[0][-1])
        W, n_iter = accelerated_proximal_gradient(
            problem.Q, Kx, problem.penalty, largest, problem.certificate, tol, max_iter
        )
    return Solution(W, problem.certificate(W, Kx), n_iter, chosen)


def exact(problem: GeneralProblem, Kx: np.ndarray) -> np.ndarray:
    r"""Solve (q, r) = (2, 2): a ridge, whose parameter for the identity is the root of a secular equation.

    With the identity w = 0 if :math:`\lVert K_x\rVert\le\beta`; otherwise :math:`w=(Q+\mu I)^{-1}K_x` with
    :math:`\mu\lVert w\rVert=\beta`. In the eigenbasis of Q the left side is
    :math:`\lVert\mu(\Lambda+\mu)^{-1}c\rVert`, which grows with :math:`\mu`: bisection on a log scale.
    """
    curvature = problem.penalty.curvature
    if curvature is not None:
        if problem.row_weights is None:
            return closed_form(problem.K, problem.sizes, problem.alpha, 2 * curvature).weights(Kx)
        M = problem.Q.copy()
        M[np.diag_indices_from(M)] += 2 * curvature
        return closed_form_of(M, problem.K, problem.alpha, 2 * curvature).weights(Kx)
    values, vectors = problem.spectrum
    C = vectors.T @ Kx
    size, beta = np.linalg.norm(C, axis=0), float(problem.beta)
    above = size > beta
    W = np.zeros_like(Kx)
    if not above.any():
        return W
    C, size = C[:, above], size[above]
    # the left side at mu is at least mu |c| / (largest + mu): the root is not above this
    high = np.log(values[-1] * beta / (size - beta) + np.finfo(float).tiny) + 1e-12
    low = high - 90.0
    for _ in range(100):
        middle = 0.5 * (low + high)
        mu = np.exp(middle)
        too_far = np.linalg.norm(mu * C / (values[:, None] + mu), axis=0) > beta
        low, high = np.where(too_far, low, middle), np.where(too_far, middle, high)
    W[:, above] = vectors @ (C / (values[:, None] + np.exp(0.5 * (low + high))))
    return W
