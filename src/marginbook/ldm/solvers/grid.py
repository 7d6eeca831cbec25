r"""All parameters of a grid on one Gram matrix, for little more than the price of one fit.

One eigendecomposition serves every lambda1, one H every (lambda2, C). A lambda2 only shifts the box of the
dual by :math:`b=\lambda_2/m`, and while no variable enters or leaves a bound the solution is linear in b:

.. math:: \beta'(b)=\beta'(b_0)+(b-b_0)v,\qquad v_{L\cup U}=1,\quad H_{FF}v_F=-H_{F,L\cup U}\,e ,

with F the free variables and L, U those at the bounds. One solution and one direction give the whole line; a
point whose duality gap shows that the bounds did change is solved from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..model.objective import (
    coefficients,
    dual_gap,
    primal_objective,
    relative_gap,
    squared_norm,
    validate_parameters,
)
from ..model.whitening import WhitenedGram
from .active_sets import minimise
from .dual import SWEEPS, Solution


@dataclass(frozen=True)
class Grid:
    r"""Certified solutions on a grid of n1 values of lambda1, n2 of lambda2 and nC of C.

    Attributes
    ----------
    lambda1s, lambda2s, Cs : (n1,), (n2,), (nC,) arrays
        In the order given.
    shifted, alpha, margins : (n1, n2, nC, m) arrays
        As in :class:`marginbook.ldm.solvers.Solution`.
    objective, gap : (n1, n2, nC) arrays
        Primal objective, and the absolute duality gap.
    converged : (n1, n2, nC) array of bool
        Whether ``gap <= tol * max(1, |objective|)``.
    n_solves : int
        How many points were solved rather than extrapolated.
    """

    lambda1s: np.ndarray
    lambda2s: np.ndarray
    Cs: np.ndarray
    shifted: np.ndarray
    alpha: np.ndarray
    margins: np.ndarray
    objective: np.ndarray
    gap: np.ndarray
    converged: np.ndarray
    n_solves: int

    def solution(self, i: int, j: int, k: int) -> Solution:
        """Return the solution for ``lambda1s[i], lambda2s[j], Cs[k]``."""
        lambda2, C = float(self.lambda2s[j]), float(self.Cs[k])
        shifted = self.shifted[i, j, k]
        lower = lambda2 / len(shifted)
        return Solution(
            shifted,
            np.where(shifted >= C + lower, C, np.clip(shifted - lower, 0.0, C)),
            self.alpha[i, j, k],
            self.margins[i, j, k],
            float(self.objective[i, j, k]),
            float(self.gap[i, j, k]),
            0,
            bool(self.converged[i, j, k]),
            float(self.lambda1s[i]),
            lambda2,
            C,
        )


def solve_grid(
    whitened: WhitenedGram,
    lambda1s: Sequence[float] | np.ndarray,
    lambda2s: Sequence[float] | np.ndarray,
    Cs: Sequence[float] | np.ndarray,
    *,
    tol: float = 1e-6,
    max_iter: int = 100_000,
) -> Grid:
    """Solve the model for every combination of three lists of parameters.

    Parameters
    ----------
    whitened : WhitenedGram
        Of the training examples.
    lambda1s, lambda2s, Cs : sequences of float
        In any order; neighbouring values make good starts.
    tol : float
        Every point has a duality gap of at most ``tol * max(1, |objective|)``, or ``converged`` False.
    max_iter : int
        Exchanges of the active-set method a solve.

    Returns
    -------
    Grid

    Raises
    ------
    ValueError
        If a list is empty or a parameter out of range.

    Examples
    --------
    >>> whitened = WhitenedGram(np.eye(2), np.array([1.0, -1]))
    >>> grid = solve_grid(whitened, [0.0, 1.0], [0.0], [0.5, 10.0])
    >>> grid.alpha[0, 0].tolist()
    [[0.5, -0.5], [1.0, -1.0]]
    """
    first, second, third = (np.asarray(values, dtype=float).ravel() for values in (lambda1s, lambda2s, Cs))
    if not (len(first) and len(second) and len(third)):
        raise ValueError(
            f"a grid needs a value of each parameter, got {len(first)}, {len(second)} and {len(third)} values"
        )
    for lambda1, lambda2, C in np.broadcast(*np.ix_(first, second, third)):
        validate_parameters(lambda1, lambda2, C)
    m = whitened.m
    if len(first) > 1:
        whitened.decompose()
    shifted = np.empty((len(first), len(second), len(third), m))
    alpha, margins = np.empty_like(shifted), np.empty_like(shifted)
    objective, gap = np.empty(shifted.shape[:3]), np.empty(shifted.shape[:3])
    starts: list[np.ndarray | None] = [None] * len(third)
    n_solves = 0
    for i, lambda1 in enumerate(first):
        H = whitened.hessian(float(lambda1))
        for k, C in enumerate(third):
            start = starts[k] if starts[k] is not None else starts[k - 1]
            X, Gamma, solves = _solve_line(H, second / m, float(C), start, tol, max_iter)
            n_solves += solves
            shifted[i, :, k], margins[i, :, k] = X, Gamma
            alpha[i, :, k] = coefficients(X, Gamma, whitened.y, lambda1)
            norms = squared_norm(X, Gamma, lambda1)
            gap[i, :, k] = dual_gap(X, Gamma, second, C)
            objective[i, :, k] = primal_objective(Gamma, norms, lambda1, second, C)
            starts[k] = X[0] - second[0] / m
    converged = relative_gap(gap, objective) <= tol
    return Grid(
        first,
        second,
        third,
        shifted,
        alpha,
        margins,
        objective,
        gap,
        np.asarray(converged),
        n_solves,
    )


def _solve_line(
    H: np.ndarray, bounds: np.ndarray, C: float, start: np.ndarray | None, tol: float, max_iter: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return solutions and margins, (n2, m) each, for the lower bounds `bounds`; and the number of solves."""
    X, Gamma = np.empty((len(bounds), len(H))), np.empty((len(bounds), len(H)))
    waiting = np.argsort(bounds, kind="stable")
    beta, solves, direction = start, 0, np.empty(len(H))
    while len(waiting):
        anchor = waiting[len(waiting) // 2]
        lower = float(bounds[anchor])
        x = np.full(len(H), lower) if beta is None else np.clip(beta + lower, lower, C + lower)
        minimise(H, x, lower, C + lower, tol, max_iter, SWEEPS if beta is None else 0, direction)
        solves += 1
        others = waiting[waiting != anchor]
        X[anchor], Gamma[anchor], beta = x, H @ x, x - lower
        if not len(others):
            break
        candidates = np.clip(
            x + (bounds[others] - lower)[:, None] * direction, bounds[others, None], C + bounds[others, None]
        )
        images = candidates @ H
        excess = images - 1.0
        room = candidates - bounds[others, None]
        gaps = np.sum(np.where(excess > 0, room, room - C) * excess, axis=1)
        values = np.sum(candidates * (1.0 - 0.5 * images), axis=1) - len(H) * bounds[others] + gaps
        good = gaps <= tol * np.maximum(1.0, np.abs(values))
        X[others[good]], Gamma[others[good]] = candidates[good], images[good]
        waiting = others[~good]
    return X, Gamma, solves
