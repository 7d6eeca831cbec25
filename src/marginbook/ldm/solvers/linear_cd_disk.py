r"""The linear LDM on data larger than memory: blocks of rows that are cycled from disk.

The rows are dealt at random into binary shards, once; a block is a few shards that are in memory together.
:func:`solve_blocks` takes a block at a time and does several passes of dual coordinate descent in it before
the next is read (Yu, Hsieh, Chang & Lin, 2010): the objective is that of all the data, and w, t and the
multipliers stay in memory. Every sweep makes its blocks of other shards; with blocks that stay the same, the
gap takes several times as many sweeps.
:func:`averaged_sgd_blocks` is Algorithm 2 with both examples of a pair drawn from the block at hand.
"""

from __future__ import annotations

import numpy as np

from ..model.linear import Certificate, LinearSolution, gap_scale, linear_objective, squared_norms
from ..model.objective import validate_parameters
from .asgd import AveragedSGD, SGDSolution, initial_step
from .disk_rows import DiskRows
from .linear_cd_state import visit

__all__ = ["DiskRows", "averaged_sgd_blocks", "solve_blocks"]


def solve_blocks(
    X: DiskRows,
    lambda1: float,
    lambda2: float,
    C: float,
    *,
    tol: float = 1e-6,
    max_iter: int = 200,
    inner: int = 4,
    random_state: int | np.random.Generator | None = 0,
) -> LinearSolution:
    """Solve (14) exactly, one block in memory at a time.

    Parameters
    ----------
    X : DiskRows
    lambda1, lambda2 : float
        At least 0.
    C : float
        Positive.
    tol : float
        Stop when ``dual_gap <= tol * max(|objective|, min(1, m C))``.
    max_iter : int
        Most sweeps over all blocks.
    inner : int
        Passes over a block before the next is read.
    random_state : int, Generator or None
        Makes the blocks, and orders the rows in them.

    Returns
    -------
    LinearSolution
        Its multipliers in the order of the file.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """
    validate_parameters(lambda1, lambda2, C)
    m = X.shape[0]
    rng = np.random.default_rng(random_state)
    certificate = Certificate(X, X.y, lambda1, lambda2, C)
    squares = np.empty(m)
    for rows, part in X.blocks():
        squares[rows] = squared_norms(part)
    beta, delta, shares, t = np.zeros(m), np.zeros(m), np.zeros(m), 0.0
    w, stiffness = certificate.b * certificate.p, certificate.stiffness()
    sweeps, scale, ones = 0, gap_scale(0.0, C, m), np.ones(m)
    while sweeps < max_iter:
        for rows, part in X.blocks(rng):
            y, lengths, b, d, share = X.y[rows], squares[rows], beta[rows], delta[rows], np.zeros(rows.size)
            rest = np.zeros(rows.size, dtype=np.int32)
            for turn in range(inner):
                active = np.flatnonzero(rest == 0).astype(np.int32)
                t = visit(
                    part, y, lengths, ones[: rows.size], active, rng, w, b, d, share, rest,
                    0.1 * tol * scale / m, t, stiffness, certificate.twice_a, certificate.b, C,
                )  # fmt: skip
                if turn == 0:  # later turns know this block better than the rest of the data
                    shares[rows] = share
            beta[rows], delta[rows] = b, d
        sweeps += 1
        scale = gap_scale(certificate.bound(w, beta, delta), C, m)
        if shares.sum() <= tol * scale:
            objective, gap = certificate.gap(w, beta, delta)
            if gap <= tol * gap_scale(objective, C, m):
                break
        t += stiffness * float(delta.sum())
    found = certificate.solution(beta, delta, sweeps, tol, [])
    return found.taken(np.argsort(X.rows))


def averaged_sgd_blocks(
    X: DiskRows,
    lambda1: float,
    lambda2: float,
    C: float,
    *,
    n_passes: int = 5,
    gamma0: float | None = None,
    average_from: int | None = None,
    random_state: int | np.random.Generator | None = 0,
) -> SGDSolution:
    """Run Algorithm 2 block by block, as many steps in each as it has rows.

    Parameters
    ----------
    X : DiskRows
    lambda1, lambda2, C, n_passes, average_from, random_state
        As in :func:`marginbook.ldm.solvers.asgd.averaged_sgd`.
    gamma0 : float, optional
        First step size; chosen on the first block if not given.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """
    validate_parameters(lambda1, lambda2, C)
    m, d = X.shape
    rng = np.random.default_rng(random_state)
    if gamma0 is None:
        rows, part = next(X.blocks())
        gamma0 = initial_step(part, X.y[rows], lambda1, lambda2, C, n_samples=m, random_state=rng)
    state = AveragedSGD(
        d, m, lambda1, lambda2, C, gamma0=gamma0, average_from=average_from, random_state=rng
    )  # fmt: skip
    for _ in range(n_passes):
        for rows, part in X.blocks(rng):
            state.partial_fit(part, X.y[rows])
    objective = linear_objective(X, X.y, state.coef, lambda1, lambda2, C)
    return SGDSolution(state.coef, state.last, objective, gamma0, state.n_steps)
