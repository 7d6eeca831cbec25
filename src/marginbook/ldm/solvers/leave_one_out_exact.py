r"""Leave-one-out by training without each example: exact margins, and errors counted with few trainings.

A machine with the duality gap :math:`\delta` has a margin at :math:`x_i` within
:math:`\sqrt\delta\,\lVert x_i\rVert` of the exact one, norm in :math:`Q_{-i}^{-1}`, so its sign can be
certified long before the last digit. The dual variables of the machine on all examples are the start.

A left-out margin can be zero: the others say nothing of :math:`x_i`, or cancel. Floating point then leaves
some 1e-16 of either sign, which differs between processors. So a margin :math:`\sum_jh_{ij}\beta'_j` of at
most :math:`64(m-1)\epsilon\sum_j|h_{ij}\beta'_j|` *is* zero, and zero is an error, as in
:mod:`marginbook.ldm.solvers.leave_one_out_bound`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...base.threads import few_threads
from ...kernels.decomposition import eigh
from .dual import Solution, active_set
from .leave_one_out_bound import ROUNDING, SolvedDual, bracket
from .leave_one_out_kernels import Eigen, LeftOutKernels


def exact_leave_one_out(
    gram: np.ndarray,
    y: np.ndarray,
    lambda1: float,
    lambda2: float,
    C: float,
    *,
    tol: float = 1e-10,
    solution: SolvedDual | None = None,
    indices: np.ndarray | None = None,
    eigen: Eigen | None = None,
) -> np.ndarray:
    r"""Return the margins :math:`y_if^{-i}(x_i)` of machines that are trained anew without example i.

    A margin that rounding does not tell from zero is exactly 0.0, so that ``margins <= 0`` are the errors.
    The matrix of each left-out dual is :math:`YW_iY` without row and column i, which takes O(m^2) to form.

    Parameters
    ----------
    gram : (m, m) array
    y : (m,) array of -1 and +1
    lambda1, lambda2, C : float
    tol : float
        Relative duality gap of each machine.
    solution : Solution, optional
        On all m examples, to start from.
    indices : array of int, optional
        Which examples to leave out; all by default.
    eigen : tuple of arrays, optional
        Eigenvalues and eigenvectors of `gram`, where they are at hand.

    Returns
    -------
    (m,) array, or of the length of `indices`

    Raises
    ------
    RuntimeError
        If a machine misses the tolerance; the message tells its gap.
    """
    with few_threads(len(y)):
        return _retrained(gram, y, (lambda1, lambda2, C), tol, solution, indices, eigen)


def _retrained(
    gram: np.ndarray,
    y: np.ndarray,
    penalties: tuple[float, float, float],
    tol: float,
    solution: SolvedDual | None,
    indices: np.ndarray | None,
    eigen: Eigen | None,
) -> np.ndarray:
    kernels = LeftOutKernels(gram, y, penalties[0], eigen)
    margins = []
    for i in range(len(y)) if indices is None else indices.tolist():
        left = _Without(kernels, i, *penalties)
        start = None if solution is None else left.start(solution)
        found = left.solve(start, tol)
        if not found.converged:
            raise RuntimeError(
                f"without example {i} the duality gap is {found.dual_gap:.1e} after {found.n_iter} "
                f"step{'' if found.n_iter == 1 else 's'}, above {tol:.0e} of the objective; raise tol"
            )
        margins.append(left.margin(found))
    return np.array(margins)


class _Without:
    """The problem without example i: its dual matrix, and the products of i with the others."""

    def __init__(self, kernels: LeftOutKernels, i: int, lambda1: float, lambda2: float, C: float) -> None:
        H = kernels.y[:, None] * kernels.matrix(i) * kernels.y
        self.keep = np.delete(np.arange(len(H)), i)
        self.H, self.own, self.x_norm = H[np.ix_(self.keep, self.keep)], H[i, self.keep], np.sqrt(H[i, i])
        self.y, self.parameters = kernels.y[self.keep], (lambda1, lambda2, C)

    def start(self, solution: SolvedDual) -> np.ndarray:
        m = len(self.keep) + 1
        shifted: np.ndarray = solution.shifted[self.keep] + solution.lambda2 * (1 / (m - 1) - 1 / m)
        return shifted

    def solve(self, start: np.ndarray | None, tol: float) -> Solution:
        return active_set(self.H, self.y, *self.parameters, tol=tol, start=start)

    def margin(self, found: Solution) -> float:
        terms = self.own * found.shifted
        margin = float(terms.sum())
        return margin if abs(margin) > ROUNDING * len(terms) * np.abs(terms).sum() else 0.0


@dataclass(frozen=True)
class Counted:
    """The number of leave-one-out errors, each of them certified.

    Attributes
    ----------
    errors : int
    trained : int
        How many machines were trained for it; the intervals decided the other examples.
    ties : int
        Examples whose margin the tightest tolerance does not tell from zero; they count as errors.
    """

    errors: int
    trained: int
    ties: int


def count_errors(
    gram: np.ndarray,
    y: np.ndarray,
    solution: SolvedDual,
    *,
    tols: tuple[float, ...] = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10),
    eigen: Eigen | None = None,
) -> Counted:
    r"""Count the leave-one-out errors, training only where, and as far as, the label is in doubt.

    Where :func:`marginbook.ldm.solvers.leave_one_out_bound.bracket` leaves the label of example i open, the
    machine without it is trained, to one tolerance after the other, until its margin exceeds
    :math:`\sqrt\delta\,\lVert x_i\rVert` with the duality gap :math:`\delta`: then the exact margin has the
    same sign.

    Parameters
    ----------
    gram : (m, m) array
    y : (m,) array of -1 and +1
    solution : Solution
        Of the dual, on all m examples.
    tols : tuple of float
        Relative duality gaps, falling.
    eigen : tuple of arrays, optional
        Eigenvalues and eigenvectors of `gram`, where they are at hand.

    Returns
    -------
    Counted
    """
    with few_threads(len(y)):
        return _counted(gram, y, solution, tols, eigen)


def _counted(
    gram: np.ndarray, y: np.ndarray, solution: SolvedDual, tols: tuple[float, ...], eigen: Eigen | None
) -> Counted:
    eigen = eigh(gram) if eigen is None else eigen
    bounds = bracket(gram, y, solution, eigen=eigen)
    kernels = LeftOutKernels(gram, y, solution.lambda1, eigen)
    errors, ties = int((bounds.upper <= 0).sum()), 0
    for i in bounds.undecided.tolist():
        left = _Without(kernels, i, solution.lambda1, solution.lambda2, solution.C)
        shifted = left.start(solution)
        for tol in tols:
            found = left.solve(shifted, tol)
            shifted, margin = found.shifted, left.margin(found)
            certain = abs(margin) > np.sqrt(found.dual_gap) * left.x_norm
            if certain:
                break
        errors += int(not certain or margin <= 0)
        ties += int(not certain)
    return Counted(errors, len(bounds.undecided), ties)
