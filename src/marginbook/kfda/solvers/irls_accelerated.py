r"""The iteration (8) made faster: squared extrapolation and over-relaxation, neither of which raises J.

F is the map of (8). Both methods stay with its fixed points and cost nothing but objective values beside its
evaluations, so the number of evaluations is what they are compared by: ``n_iter`` counts them. For q < 1 they
may come to another local minimum than (8) from the same start, as (8) does from another start.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from marginbook.base.parameters import validate_within

from ..model.objective import (
    Problem,
    objective,
    penalty_weights,
    residual,
    validate_coefficients,
    validate_parameters,
)
from .irls import ridge_start, step_stable
from .solution import Solution

#: largest change of the logarithm of a coefficient by one extrapolation
REACH = 25.0
#: size below which no coefficient is extrapolated: underflow would make it 0 for ever
SMALLEST = 1e-150
#: how the bound of the step length grows with a success and shrinks with a failure
FACTOR = 2.0
#: relative rise of J that counts as none
ROUNDING = 1e-10


def squarem(
    problem: Problem,
    q: float,
    rho: float,
    *,
    start: ArrayLike | None = None,
    tol: float = 1e-5,
    max_iter: int = 10_000,
    penalize_bias: bool = True,
    record: bool = False,
    stationarity_tol: float | None = None,
) -> Solution:
    r"""Iterate (8) with the squared extrapolation of Varadhan and Roland (2008), in logarithms.

    Two steps :math:`\omega_1=F(\omega_0)`, :math:`\omega_2=F(\omega_1)` give, for the logarithms :math:`l` of
    the sizes, differences :math:`u=l_1-l_0` and :math:`v=(l_2-l_1)-u`. From

    .. math::
        l=l_0+2su+s^2v,\qquad
        s=\Bigl(\frac{\sum_i\omega_{2i}^2u_i^2}{\sum_i\omega_{2i}^2v_i^2}\Bigr)^{1/2}\ge1,

    a third evaluation of F leads to the next point. If J is larger there than in :math:`\omega_2`, that is
    the next point, and the bound of s shrinks. In logarithms no extrapolation passes through zero, where
    (8) would keep a coefficient for ever, and one that dies geometrically, as for q = 1, is extrapolated
    exactly. The weights measure u and v by what they change in :math:`\omega`. Coefficients whose signs
    change among the three points are not extrapolated.

    Parameters
    ----------
    problem : Problem
    q, rho : float
    start : (M+1,) array, optional
        First iterate; a zero in it stays zero. Default: the ridge solution.
    tol : float
        Relative change of J by one step of (8) at which to stop, as in
        :func:`~marginbook.kfda.solvers.irls.majorize_minimize`; extrapolated steps are not asked.
    max_iter : int
        Evaluations of F.
    penalize_bias : bool
    record : bool
        Whether to keep the point after each evaluation.
    stationarity_tol : float, optional
        Do not stop before :func:`scaled_gradient` is at most this too.

    Returns
    -------
    Solution
        ``n_iter`` counts evaluations of F, and both paths have the best point after each.

    Examples
    --------
    >>> import numpy as np
    >>> from marginbook.kfda.model.objective import Problem, targets
    >>> from marginbook.kfda.solvers.irls import majorize_minimize
    >>> x = np.linspace(0, 3, 30)
    >>> problem = Problem(np.exp(-((x[:, None] - x) ** 2)), targets(np.sin(3 * x) > 0))
    >>> fast, slow = (f(problem, 1.0, 0.01, tol=1e-7) for f in (squarem, majorize_minimize))
    >>> fast.objective < slow.objective, fast.n_iter < slow.n_iter / 2
    (True, True)
    """
    run = _Run(problem, q, rho, start, tol, max_iter, penalize_bias, record, stationarity_tol)
    bound = np.inf
    while not run.over():
        first = run.omega
        if run.plain_step():
            break
        second = run.omega
        if run.over() or run.plain_step() or run.over():
            break
        u, v, length = _differences(first, second, run.omega)
        length = max(1.0, min(length, bound))
        reach = np.clip(2 * (length - 1) * u + (length**2 - 1) * v, -REACH, REACH)
        further = run.omega * np.exp(reach)
        if run.jump(np.where(np.abs(further) >= SMALLEST, further, run.omega)):
            bound *= FACTOR
        else:
            bound = length / FACTOR
    return run.solution()


def over_relaxed(
    problem: Problem,
    q: float,
    rho: float,
    *,
    relaxation: float = 1.5,
    start: ArrayLike | None = None,
    tol: float = 1e-5,
    max_iter: int = 10_000,
    penalize_bias: bool = True,
    record: bool = False,
    stationarity_tol: float | None = None,
) -> Solution:
    r"""Iterate (8) over-relaxed: :math:`\omega\leftarrow\omega+t\,(F(\omega)-\omega)` with 0 < t < 2.

    The majoriser is quadratic with its minimum in :math:`F(\omega)`, so along this line it is below its value
    in :math:`\omega` for all such t, and so is J: no step is too long. Near a fixed point a factor
    :math:`\lambda` of the error becomes :math:`1-t(1-\lambda)`: slow modes take 1/t of the steps at best. A
    coefficient that would change its sign against :math:`F(\omega)`, or become 0, is set to its value there;
    where J were to rise by that, all of :math:`F(\omega)` is taken.

    Parameters
    ----------
    problem : Problem
    q, rho : float
    relaxation : float
        t, between 0 and 2; 1 is (8).
    start, tol, max_iter, penalize_bias, record, stationarity_tol
        As in `squarem`; the change of J is that of a whole step.

    Returns
    -------
    Solution

    Raises
    ------
    ValueError
        Unless 0 < relaxation < 2.
    """
    validate_within("(0, 2)", meaning=", where J cannot rise", relaxation=relaxation)
    run = _Run(problem, q, rho, start, tol, max_iter, penalize_bias, record, stationarity_tol)
    while not run.over() and not run.plain_step(relaxation):
        pass
    return run.solution()


def scaled_gradient(
    problem: Problem, omega: np.ndarray, q: float, rho: float, penalize_bias: bool = True
) -> float:
    r"""Return the largest :math:`|\omega_i\,\partial_iJ|` relative to the largest term of the penalty's.

    .. math:: \frac{\max_i|\omega_id_i^\top r-\rho Nq\,v_i|\omega_i|^q|}{\rho Nq\,\max_iv_i|\omega_i|^q}

    It is 0 exactly at the fixed points of (8), and small where coefficients are nearly 0, unlike the
    stationarity on the support. 0 if all penalised coefficients are 0.
    """
    terms = rho * problem.n * q * penalty_weights(problem, penalize_bias) * np.abs(omega) ** q
    slopes = problem.design.T @ residual(problem, omega)
    largest = float(terms.max(initial=0.0))
    return float(np.abs(omega * slopes - terms).max()) / largest if largest > 0 else 0.0


class _Run:
    """The current point, the values of J on the way to it, and the stopping rule."""

    def __init__(
        self,
        problem: Problem,
        q: float,
        rho: float,
        start: ArrayLike | None,
        tol: float,
        max_iter: int,
        penalize_bias: bool,
        record: bool,
        stationarity_tol: float | None,
    ) -> None:
        validate_parameters(q, rho)
        self.problem, self.q, self.rho, self.penalize_bias = problem, q, rho, penalize_bias
        self.tol, self.max_iter, self.stationarity_tol = tol, max_iter, stationarity_tol
        if start is None:
            self.omega = ridge_start(problem, rho, penalize_bias=penalize_bias)
        else:
            self.omega = validate_coefficients(problem, start).copy()
        self.values = [self.value(self.omega)]
        self.retained = [int(np.count_nonzero(self.omega[1:]))]
        self.iterates: list[np.ndarray] | None = [self.omega] if record else None
        self.converged = False

    def value(self, omega: np.ndarray) -> float:
        """Return J."""
        return objective(self.problem, omega, self.q, self.rho, self.penalize_bias)

    def map(self, omega: np.ndarray) -> np.ndarray:
        """Return F(omega)."""
        return step_stable(self.problem, omega, self.q, self.rho, penalize_bias=self.penalize_bias)

    def over(self) -> bool:
        """Return whether all evaluations are used."""
        return len(self.values) > self.max_iter

    def plain_step(self, relaxation: float = 1.0) -> bool:
        """Step along ``F(omega) - omega``; return whether to stop."""
        image = self.map(self.omega)
        value = self.value(image)
        if relaxation != 1:
            further = self.omega + relaxation * (image - self.omega)
            further = np.where(further * np.sign(image) > 0, further, image)
            its_value = self.value(further)
            if its_value <= max(self.values[-1], value):
                image, value = further, its_value
        fall = self.values[-1] - value
        self._go(image, value)
        if fall > self.tol * abs(value):
            return False
        # the map raises J by rounding only; by more than that, its linear system is not solved
        settled = fall >= -ROUNDING * abs(value)
        if settled and self.stationarity_tol is not None:
            settled = self._residual() <= self.stationarity_tol
        self.converged = settled
        return settled or fall < 0

    def jump(self, omega: np.ndarray) -> bool:
        """Go to ``F(omega)``, if J is not larger there; return whether it is so.

        A point where J is larger than at the start is not tried: the map may not be computable there.
        """
        if not self.value(omega) <= self.values[0]:
            return False
        image = self.map(omega)
        value = self.value(image)
        self._go(image, value)
        return value <= self.values[-2]

    def _go(self, omega: np.ndarray, value: float) -> None:
        """Count an evaluation, and take its point unless J is larger there."""
        if value <= self.values[-1]:
            self.omega = omega
        self.values.append(min(value, self.values[-1]))
        self.retained.append(int(np.count_nonzero(self.omega[1:])))
        if self.iterates is not None:
            self.iterates.append(self.omega)

    def _residual(self) -> float:
        return scaled_gradient(self.problem, self.omega, self.q, self.rho, self.penalize_bias)

    def solution(self) -> Solution:
        """Return where the run is."""
        return Solution(
            omega=self.omega,
            q=self.q,
            rho=self.rho,
            objective=self.values[-1],
            objective_path=np.array(self.values),
            retained_path=np.array(self.retained),
            n_iter=len(self.values) - 1,
            converged=self.converged,
            penalize_bias=self.penalize_bias,
            omega_path=None if self.iterates is None else np.array(self.iterates),
        )


def _differences(
    first: np.ndarray, second: np.ndarray, third: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return first and second differences of the logarithms, 0 where signs differ, and the step length."""
    signs = np.sign(third)
    same = (np.sign(first) == signs) & (np.sign(second) == signs) & (signs != 0)
    logs = np.zeros((3, len(third)))
    for row, omega in zip(logs, (first, second, third), strict=True):
        row[same] = np.log(np.abs(omega[same]))
    u = logs[1] - logs[0]
    v = logs[2] - logs[1] - u
    top, bottom = np.linalg.norm(third * u), np.linalg.norm(third * v)
    return u, v, float(top / bottom) if bottom > 0 else 1.0
