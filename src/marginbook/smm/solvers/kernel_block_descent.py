r"""Low-rank large-margin classification with kernels between rows, by blocks, without explicit features.

.. math::
    \min_{B,b}\ \frac1n\sum_iw_iL\bigl(y_i(\langle B,h(X_i)\rangle+b)\bigr)+\lambda\lVert B\rVert^2,\qquad
    B=UV^\top,\ \operatorname{rank}B\le r,

where h maps each of the d1 rows of a matrix into the feature space of a kernel (section 4). Every block
optimum has :math:`V=\sum_jh(X_j)^\top C_j`, and both blocks are support vector machines that need the
kernel only:

* V with :math:`U^\top U=I` fixed: samples have the kernel :math:`\operatorname{tr}(U^\top K(X_i,X_j)U)`, and
  :math:`C_j=c_jy_jU/2\lambda` by its multipliers c;
* U with V fixed: features :math:`h(X_i)V(V^\top V)^{-1/2}\in\mathbb R^{d_1\times r}`, from
  :math:`h(X_i)V=\mathcal K_{i,:}C` and :math:`V^\top V=C^\top\mathcal KC`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ...kernels import Kernel
from ..model.objective import (
    validate_lam,
    validate_loss,
    validate_sample_weight,
    validate_signs,
)
from ..model.row_features import RowFeatures
from ..model.row_kernels import as_rows, validate_same_shape
from .kernel_landmarks import FeatureBlocks, FeatureProblem, in_landmarks, start_in_features
from .kernel_problem import KernelProblem, Run, Settings, State
from .kernel_projection import project_out
from .kernel_relaxation import relax
from .kernel_rows import MappedRows, map_rows
from .kernel_solution import KernelSolution

#: number of rows of all matrices above which landmarks stand for them
MANY_ROWS = 8000
#: a global gap below this share of the objective ends the restarts
CERTIFIED = 1e-6
#: gap of the relaxation, relative to its value, at which it stops
TIGHT = 1e-5
#: relative decrease by a step over U alone at which the blocks take over, relative to the tolerance
INNER = 0.1
DESCENTS = ("projection", "alternation")


def low_rank_kernel_svm(
    X: ArrayLike,
    y: ArrayLike,
    *,
    rank: int,
    lam: float,
    kernel: Kernel = "rbf",
    loss: str = "hinge",
    sample_weight: np.ndarray | None = None,
    fit_intercept: bool = False,
    n_restarts: int = 0,
    relaxation: int = 0,
    start: KernelSolution | np.ndarray | None = None,
    tol: float = 1e-6,
    max_iter: int = 200,
    descent: str = "projection",
    max_rows: int = MANY_ROWS,
    max_features: int = 500,
    random_state: int | np.random.Generator | None = None,
) -> KernelSolution:
    r"""Minimise the objective of the module over all B of rank at most r in the feature space of the rows.

    Parameters
    ----------
    X : (n, d1, d2) array
    y : (n,) array of -1 and +1
    rank : int
        r, between 1 and d1. At d1 there is no bound on the rank: the support vector machine with the kernel
        :math:`\operatorname{tr}K(X,X')`, one convex problem.
    lam : float
        :math:`\lambda`.
    kernel : str, (str, dict) or callable
        Between rows, see :mod:`marginbook.smm.model.row_kernels`.
    loss : {"hinge", "squared_hinge", "logistic"}
    sample_weight : (n,) array, optional
        :math:`w_i`, see :func:`~marginbook.smm.model.objective.weights_for`.
    fit_intercept : bool
    n_restarts : int
        Starts from random U after the first one; they end early when the lower bound proves the best global.
    relaxation : int
        Steps, 40 say, of a convex relaxation (:mod:`~marginbook.smm.solvers.kernel_relaxation`) after the
        first start. It brings the lower bound to its largest value, and another start.
    start : KernelSolution or (d1, k) array, optional
        A solution nearby, or a U to begin with, instead of the truncated solution without a bound on the
        rank.
    tol : float
        Relative change of the objective by a sweep at which to stop.
    max_iter : int
        Sweeps of each start.
    descent : {"projection", "alternation"}
        Whether a descent over U alone (:mod:`~marginbook.smm.solvers.kernel_projection`) comes before the
        blocks take turns, or these alone. Alternation with a hinge loss often stops early: its block optima
        lie on kinks.
    max_rows : int
        Up to so many rows, n d1, their Gram matrix is made (method ``"gram"``). Above, `max_features`
        landmarks among the rows give explicit features (method ``"features"``), see
        :mod:`marginbook.smm.model.row_features`.
    max_features : int
    random_state : int or Generator, optional

    Returns
    -------
    KernelSolution
        With its decision function and its certificates.

    Raises
    ------
    ValueError
        If a shape, a label, a weight or a parameter is not as above, or the kernel is not semidefinite.
    MemoryError
        As :func:`~marginbook.smm.solvers.kernel_rows.map_rows`.

    Notes
    -----
    A sweep takes :math:`O((nd_1)^2r)` multiplications for the products with the Gram matrix and two support
    vector machines, one on :math:`d_1r` features and one with an n x n kernel. The lower bound is
    :func:`~marginbook.smm.model.objective.dual_bound` at the multipliers of all blocks, where
    :math:`\sigma_k(M)^2` are eigenvalues of :math:`MM^\top=\sum_{ij}c_ic_jy_iy_jK(X_i,X_j)`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((40, 3, 2))
    >>> y = np.where(np.sum(X[:, 0] ** 2, axis=1) > 1.4, 1, -1)
    >>> rbf = ("rbf", {"gamma": 0.5})
    >>> found = low_rank_kernel_svm(X, y, rank=1, lam=0.001, kernel=rbf, fit_intercept=True)
    >>> float(np.mean(np.sign(found.decision(X)) == y)) > 0.95, found.lower_bound <= found.objective
    (True, True)
    """
    rows, _ = as_rows(X)
    mapped = map_rows(X, kernel, max_features=max_features if len(rows) > max_rows else None)
    return mapped_kernel_svm(
        mapped,
        y,
        rank=rank,
        lam=lam,
        loss=loss,
        sample_weight=sample_weight,
        fit_intercept=fit_intercept,
        n_restarts=n_restarts,
        relaxation=relaxation,
        start=start,
        tol=tol,
        max_iter=max_iter,
        descent=descent,
        random_state=random_state,
    )


def mapped_kernel_svm(
    mapped: MappedRows,
    y: ArrayLike,
    *,
    rank: int,
    lam: float,
    loss: str = "hinge",
    sample_weight: np.ndarray | None = None,
    fit_intercept: bool = False,
    n_restarts: int = 0,
    relaxation: int = 0,
    start: KernelSolution | np.ndarray | None = None,
    tol: float = 1e-6,
    max_iter: int = 200,
    descent: str = "projection",
    random_state: int | np.random.Generator | None = None,
) -> KernelSolution:
    """As :func:`low_rank_kernel_svm`, for rows that are mapped already, with other labels or weights say."""
    blocks, (d1, d2) = mapped.blocks, mapped.shape
    n = blocks.n
    signs = validate_signs(np.asarray(y), n)
    lam = validate_lam(lam)
    validate_loss(loss)
    weights = validate_sample_weight(sample_weight, n)
    if int(rank) != rank or not 1 <= rank <= d1:
        raise ValueError(f"rank must be a whole number between 1 and d1 = {d1}, got {rank}")
    if descent not in DESCENTS:
        raise ValueError(f"descent must be one of {DESCENTS}, got {descent!r}")
    if max_iter < 1 or not tol >= 0:
        raise ValueError(f"max_iter must be >= 1 and tol >= 0, got {max_iter} and {tol}")
    if isinstance(start, KernelSolution):
        validate_same_shape(start.shape, (d1, d2))
    elif start is not None:
        start = np.asarray(start, dtype=float)
        if start.ndim != 2 or len(start) != d1 or not 1 <= start.shape[1] <= rank:
            raise ValueError(f"start has shape {start.shape}, wanted ({d1}, {rank}): the columns of U")
    rng = np.random.default_rng(random_state)
    settings = Settings(int(rank), lam, loss, weights, fit_intercept, tol)
    rows, landmarks = mapped.rows, mapped.landmarks
    problem = (
        FeatureProblem(blocks, signs, settings)
        if isinstance(blocks, FeatureBlocks)
        else KernelProblem(blocks, signs, settings)
    )

    def run(state: State, name: str) -> Run:
        first = [state.objective]
        if descent == "projection":
            state = project_out(problem, state, tol=INNER * tol, max_iter=max_iter)
            first.append(state.objective)
        found = problem.descend(state, max_iter=max_iter, name=name)
        return replace(found, path=first[:-1] + found.path)

    if start is None:
        best = run(problem.full(), "full")
    else:
        best = run(_begin(problem, start, rows, landmarks), "given")
    for k in range(-1 if relaxation > 0 else 0, n_restarts):
        if best.state.objective - problem.lower_bound <= CERTIFIED * abs(best.state.objective):
            break
        if k < 0:
            S, _ = relax(problem, np.eye(d1) * (rank / d1), tol=TIGHT, max_iter=relaxation)
            Q, name = np.linalg.eigh(S)[1][:, ::-1][:, : int(rank)], "relaxed"
        else:
            Q, name = np.linalg.qr(rng.standard_normal((d1, int(rank))))[0], f"random-{k}"
        other = run(problem.step_right(Q), name)
        if other.state.objective < best.state.objective:
            best = other
    U, C = _ordered(problem, best.state)
    return KernelSolution(
        mapped.kernel,
        U,
        C if landmarks is None else in_landmarks(landmarks, C),
        rows,
        mapped.places,
        (d1, d2),
        best.state.intercept,
        best.state.multipliers,
        best.state.objective,
        min(max(problem.lower_bound, 0.0), best.state.objective),
        best.state.block_gap,
        np.array(best.path),
        best.n_iter,
        best.converged,
        best.name,
        "gram" if landmarks is None else "features",
        0.0 if landmarks is None else landmarks.missed,
    )


def _begin(
    problem: KernelProblem,
    start: KernelSolution | np.ndarray,
    rows: np.ndarray,
    landmarks: RowFeatures | None,
) -> State:
    """Return a given solution as it is where its V can be written in the rows, else the best V for its U."""
    if isinstance(start, KernelSolution) and start.U.shape[1] <= problem.rank:
        C = None
        if landmarks is not None:
            C = start_in_features(landmarks, start)
        elif np.array_equal(start.rows, rows):
            C = start.C
        if C is not None:
            missing = ((0, 0), (0, problem.rank - C.shape[1]))
            U, C = np.pad(start.U, missing), np.pad(C, missing)
            c = start.multipliers
            c = c if len(c) == len(problem.y) else np.zeros(len(problem.y))
            return State(U, C, start.intercept, c, problem.value(U, C, start.intercept), np.inf)
    U = start.U if isinstance(start, KernelSolution) else start
    nothing = np.zeros((problem.blocks.d1, problem.blocks.d1))
    return problem.step_right(problem.complete(U[:, : problem.rank], nothing))


def _ordered(problem: KernelProblem, state: State) -> tuple[np.ndarray, np.ndarray]:
    """Return U with r orthonormal columns, and C, both in the order of the singular values of B."""
    missing = ((0, 0), (0, problem.rank - state.U.shape[1]))
    U, triangle = np.linalg.qr(np.pad(state.U, missing))
    C = np.pad(state.C, missing) @ triangle.T
    square = problem.blocks.inner(C, C, problem.blocks.features(C))
    turn = np.linalg.eigh((square + square.T) / 2)[1][:, ::-1]
    return U @ turn, C @ turn
