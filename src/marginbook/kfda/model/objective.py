r"""The penalised least-squares problem of kFDA_q, its objective (5) and its quadratic majoriser (6).

Notation: N samples, :math:`N_1` of the positive class and :math:`N_2` of the negative one; targets
:math:`\hat y_i=N/N_1` or :math:`-N/N_2`, which sum to zero; design :math:`D=[\mathbf 1\ K]`, N x (M+1), with
M kernel columns (M = N in the paper); coefficients :math:`\omega=(b,\alpha)`. The objective is

.. math::
    J(\omega)=\tfrac12\lVert\hat y-D\omega\rVert^2+\rho N\sum_iv_i|\omega_i|^q,\qquad 0<q\le2,

with :math:`v_i=1`, but :math:`v_0=0` where the bias is not penalised (the paper penalises it).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ...base.parameters import is_number
from .blocks import gram_of


def targets(positive: ArrayLike, weights: np.ndarray | None = None) -> np.ndarray:
    r"""Return :math:`\hat y`: N/N1 for the positive samples, -N/N2 for the others.

    Parameters
    ----------
    positive : (N,) array of bool
    weights : (N,) array, optional
        Of the samples, above 0; N, N1 and N2 are then sums of weights.

    Returns
    -------
    (N,) array, whose (weighted) sum is zero

    Raises
    ------
    ValueError
        If one of the two classes is empty.
    """
    mask = np.asarray(positive)
    if mask.dtype != bool or mask.ndim != 1:
        raise ValueError(f"positive is {mask.dtype} of shape {mask.shape}, wanted an (N,) array of bool")
    n, n_positive = len(mask), int(mask.sum())
    if n_positive in (0, n):
        raise ValueError(
            f"got {n_positive} positive samples of {n}, wanted both classes; give samples of each"
        )
    if weights is None:
        return np.where(mask, n / n_positive, -n / (n - n_positive))
    positives, negatives = float(weights[mask].sum()), float(weights[~mask].sum())
    total = positives + negatives
    return np.where(mask, total / positives, -total / negatives)


def midpoint(n_positive: int, n_negative: int) -> float:
    r"""Return the paper's threshold :math:`\tfrac12N(1/N_1-1/N_2)`, half-way between the two targets.

    Examples
    --------
    >>> midpoint(1, 3)
    1.3333333333333335
    """
    if n_positive < 1 or n_negative < 1:
        raise ValueError(f"got {n_positive} and {n_negative} samples, wanted at least one of each class")
    n = n_positive + n_negative
    return 0.5 * n * (1.0 / n_positive - 1.0 / n_negative)


@dataclass(frozen=True, eq=False)
class Problem:
    r"""The data of the least-squares problem; what can be computed once is kept.

    Parameters
    ----------
    K : (N, M) array
        Kernel columns :math:`k(x_j,x_i)`; square in the paper, any columns here.
    yhat : (N,) array
        Targets (:func:`targets`).
    ones : (N,) array, optional
        The column of the bias, 1 by default. Of rows with weights it is :math:`\sqrt w`, by which the rows of
        K and the targets are multiplied too.

    Examples
    --------
    >>> import numpy as np
    >>> problem = Problem(np.eye(4), targets(np.array([True, True, False, False])))
    >>> problem.correlations
    array([ 0.,  2.,  2., -2., -2.])
    """

    K: np.ndarray
    yhat: np.ndarray
    ones: np.ndarray | None = None

    def __post_init__(self) -> None:
        """Check the shapes; raise ValueError if they do not fit."""
        K = np.asarray(self.K, dtype=float)
        yhat = np.asarray(self.yhat, dtype=float)
        if K.ndim != 2 or yhat.shape != K.shape[:1] or len(yhat) == 0:
            raise ValueError(
                f"K has shape {K.shape} and yhat {yhat.shape}, wanted (N, M) and (N,) with N >= 1"
            )
        if not (np.isfinite(yhat).all() and np.isfinite(K).all()):
            raise ValueError("K or yhat has entries that are not finite; remove or replace them first")
        object.__setattr__(self, "K", K)
        object.__setattr__(self, "yhat", yhat)

    @classmethod
    def of_design(cls, design: np.ndarray, yhat: np.ndarray, weighted: bool = False) -> Problem:
        """Return the problem of a `design`, (N, M+1), its columns contiguous, without a copy of it.

        The first column is that of the bias: ones, unless `weighted`.
        """
        problem = cls(design[:, 1:], yhat, design[:, 0] if weighted else None)
        problem.__dict__["design"] = design
        return problem

    @property
    def n(self) -> int:
        """Number N of samples."""
        return len(self.yhat)

    @property
    def n_coefficients(self) -> int:
        """Number M + 1 of coefficients, the bias first."""
        return self.K.shape[1] + 1

    @cached_property
    def design(self) -> np.ndarray:
        """The design D = [1 K], (N, M+1), its columns contiguous."""
        design = np.empty((self.n, self.n_coefficients), order="F")
        design[:, 0] = 1.0 if self.ones is None else self.ones
        design[:, 1:] = self.K
        return design

    @cached_property
    def gram(self) -> np.ndarray:
        """The Gram matrix A = D'D, (M+1, M+1)."""
        return gram_of(self.design.T)

    @cached_property
    def correlations(self) -> np.ndarray:
        """The correlations c = D'yhat, (M+1,)."""
        return self.design.T @ self.yhat

    @cached_property
    def energy(self) -> float:
        """The sum of the squared targets."""
        return float(self.yhat @ self.yhat)

    @cached_property
    def squared_norms(self) -> np.ndarray:
        """The squared norms of the columns of D, the diagonal of the Gram matrix, (M+1,)."""
        return np.einsum("ij,ij->j", self.design, self.design)

    @property
    def bias_square(self) -> float:
        """The squared norm of the column of the bias, N or the sum of the rows' weights."""
        return float(self.n) if self.ones is None else float(self.ones @ self.ones)

    def centred(self, columns: np.ndarray) -> np.ndarray:
        """Return `columns`, (N,) or as rows (k, N), less their parts along the column of the bias."""
        if self.ones is None:
            return np.asarray(columns - columns.mean(axis=-1, keepdims=True))
        parts = np.asarray(columns @ self.ones / (self.ones @ self.ones))
        return np.asarray(columns - parts[..., np.newaxis] * self.ones)

    def along_bias(self, r: np.ndarray) -> float:
        """Return the coefficient of the bias column in a vector `r`, (N,): its mean, without weights."""
        if self.ones is None:
            return float(r.mean())
        return float(self.ones @ r) / float(self.ones @ self.ones)


def validate_parameters(q: float, rho: float) -> None:
    """Raise ValueError unless 0 < q <= 2 and rho is finite and > 0."""
    for name, value in (("q", q), ("rho", rho)):
        if not (is_number(value) and value > 0):
            raise ValueError(f"{name} must be a finite number > 0, got {value!r}")
    if q > 2:
        raise ValueError(f"q must be at most 2, got {q!r}: the quadratic (6) is no majoriser beyond")


def validate_coefficients(problem: Problem, omega: ArrayLike) -> np.ndarray:
    """Return `omega` as an (M+1,) array of floats; raise ValueError if it is not one, or not finite."""
    checked = np.asarray(omega, dtype=float)
    if checked.shape != (problem.n_coefficients,) or not np.isfinite(checked).all():
        raise ValueError(
            f"omega has shape {checked.shape}, wanted {problem.n_coefficients} finite numbers, the bias first"
        )
    return checked


def penalty_weights(problem: Problem, penalize_bias: bool = True) -> np.ndarray:
    """Return v, (M+1,): ones, with a zero for a bias that is not penalised."""
    weights = np.ones(problem.n_coefficients)
    if not penalize_bias:
        weights[0] = 0.0
    return weights


def residual(problem: Problem, omega: np.ndarray) -> np.ndarray:
    r"""Return :math:`r=\hat y-D\omega`, (N,); the columns of zero coefficients are not read."""
    support = np.flatnonzero(omega)
    if 4 * len(support) < len(omega):
        return problem.yhat - problem.design[:, support] @ omega[support]
    return problem.yhat - problem.design @ omega


def fit_gradient(problem: Problem, omega: np.ndarray) -> np.ndarray:
    r"""Return :math:`-D^\top r`, (M+1,), the gradient of the first term of J."""
    return -(problem.design.T @ residual(problem, omega))


def penalty(omega: np.ndarray, q: float, weights: np.ndarray) -> float:
    r"""Return :math:`\sum_iv_i|\omega_i|^q`."""
    return float(weights @ np.abs(omega) ** q)


def objective(problem: Problem, omega: np.ndarray, q: float, rho: float, penalize_bias: bool = True) -> float:
    r"""Return J (eq. 5).

    Parameters
    ----------
    problem : Problem
    omega : (M+1,) array
        The bias, then the kernel coefficients.
    q, rho : float
    penalize_bias : bool
        Whether the bias takes part in the penalty, as printed.
    """
    r = residual(problem, omega)
    weights = penalty_weights(problem, penalize_bias)
    return 0.5 * float(r @ r) + rho * problem.n * penalty(omega, q, weights)


def gradient(
    problem: Problem, omega: np.ndarray, q: float, rho: float, penalize_bias: bool = True
) -> np.ndarray:
    r"""Return the gradient of J, (M+1,), where J is differentiable.

    .. math:: -D^\top r+\rho Nq\,v_i|\omega_i|^{q-1}\operatorname{sign}\omega_i

    At a zero coefficient with :math:`q\le1` the penalty has no derivative: that entry is nan.
    """
    weights = penalty_weights(problem, penalize_bias)
    slope = np.zeros(len(omega))
    nonzero = omega != 0
    slope[nonzero] = np.abs(omega[nonzero]) ** (q - 1) * np.sign(omega[nonzero])
    if q <= 1:
        slope[~nonzero & (weights > 0)] = np.nan
    return fit_gradient(problem, omega) + rho * problem.n * q * np.where(weights > 0, slope, 0.0)


def surrogate(
    problem: Problem, omega: np.ndarray, at: np.ndarray, q: float, rho: float, penalize_bias: bool = True
) -> float:
    r"""Return the quadratic majoriser of J that touches it in `at` (eq. 6, with its constants).

    .. math::
        \tfrac12\lVert\hat y-D\omega\rVert^2+\tfrac{\rho N}2\sum_iv_i
        \Bigl(\frac{q\,\omega_i^2}{|\omega_i'|^{2-q}}+(2-q)|\omega_i'|^q\Bigr)

    where :math:`\omega'` is `at`: at least J everywhere, equal to it in `at`. Where :math:`\omega_i'=0` and
    q < 2, it is infinite unless :math:`\omega_i=0` too.

    Parameters
    ----------
    problem : Problem
    omega, at : (M+1,) arrays
    q, rho : float
    penalize_bias : bool
    """
    weights = penalty_weights(problem, penalize_bias)
    squares, size = omega**2, np.abs(at)
    if q < 2:
        with np.errstate(divide="ignore", invalid="ignore"):
            quotient = squares / size ** (2 - q)
        quotient[squares == 0] = 0.0
    else:
        quotient = squares
    terms = np.where(weights > 0, q * quotient + (2 - q) * size**q, 0.0)
    r = residual(problem, omega)
    return 0.5 * float(r @ r) + 0.5 * rho * problem.n * float(terms.sum())
