r"""Averaged stochastic gradient descent for the linear LDM: Algorithm 2 of the paper.

Each step draws two examples i and j, independently and uniformly, and moves against (15),

.. math:: g=4\lambda_1\bigl(w^\top x_i-y_iy_jw^\top x_j\bigr)x_i+w-\lambda_2y_ix_i
          -mC\,[y_iw^\top x_i<1]\,y_ix_i,

by the step size :math:`\eta_t=\gamma_0(1+a\gamma_0t)^{-2/3}` (Xu, 2011) with a = 1, the smallest curvature of
(14); the result is the average of the iterates after the first :math:`t_0` steps. With lambda1 = lambda2 = 0
it is the support vector machine by averaged stochastic gradients.

The hinge enters g with the factor m C: a first step from w = 0 moves the margin of its own example by
:math:`\gamma_0mC\lVert x_i\rVert^2`, about 1e7 at m = 1e5, C = 100 for :math:`\gamma_0=1`. So
:math:`\gamma_0` must be near :math:`1/(mC\lVert x\rVert^2)`, and :func:`initial_step` looks for it there.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...base.parameters import validate_within
from ..model.linear import Matrix, linear_objective, prepared, squared_norms, unsigned
from ..model.objective import validate_parameters
from .asgd_steps import sgd_steps, sgd_steps_dense

#: passes of a trial of a step size
PASSES = 5


class AveragedSGD:
    r"""State of Algorithm 2, to be continued over further passes or chunks of the data.

    Parameters
    ----------
    n_features : int
    n_samples : int
        Number m of examples of the whole problem: the hinge enters the gradient with the factor m C.
    lambda1, lambda2 : float
        At least 0.
    C : float
        Positive.
    gamma0 : float
        First step size; in (0, 1), or the ridge alone diverges.
    curvature : float
        a in :math:`\eta_t=\gamma_0(1+a\gamma_0t)^{-2/3}`.
    average_from : int, optional
        :math:`t_0`; one pass if not given.
    random_state : int, Generator or None

    Attributes
    ----------
    n_steps : int
        Steps taken.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    >>> state = AveragedSGD(2, 3, 0.0, 0.0, 0.1, gamma0=0.1).partial_fit(X, np.array([1, 1, -1]), 60_000)
    >>> state.coef.round(2)  # every margin is below 1, so w = C (y_1 x_1 + y_2 x_2 + y_3 x_3)
    array([0.2, 0.1])
    """

    def __init__(
        self,
        n_features: int,
        n_samples: int,
        lambda1: float,
        lambda2: float,
        C: float,
        *,
        gamma0: float,
        curvature: float = 1.0,
        average_from: int | None = None,
        random_state: int | np.random.Generator | None = 0,
    ) -> None:
        validate_parameters(lambda1, lambda2, C)
        validate_within("(0, 1)", hint="; initial_step finds one", gamma0=gamma0)
        self.n_samples, self.gamma0, self.curvature = n_samples, float(gamma0), float(curvature)
        self.lambda1, self.lambda2, self.C = lambda1, lambda2, C
        self.average_from = n_samples if average_from is None else int(average_from)
        self.rng = np.random.default_rng(random_state)
        self.n_steps = 0
        # w = s v and its average q (u + r v); dense steps keep s = q = 1, r = 0
        self._v, self._u, self._scalars = (
            np.zeros(n_features),
            np.zeros(n_features),
            np.array([1.0, 1.0, 0.0]),
        )

    @property
    def last(self) -> np.ndarray:
        """The last iterate w, (d,)."""
        return self._scalars[0] * self._v

    @property
    def coef(self) -> np.ndarray:
        """The average, (d,); the last iterate while the average has not begun."""
        if self.n_steps <= self.average_from:
            return self.last
        _, q, r = self._scalars
        return q * (self._u + r * self._v)

    def partial_fit(self, X: Matrix, y: np.ndarray, n_steps: int | None = None) -> AveragedSGD:
        """Take `n_steps` steps with pairs drawn from `X`, as many as it has rows if not given.

        Parameters
        ----------
        X : (n, d) array or CSR matrix
            All examples, or a chunk of them.
        y : (n,) array of -1 and +1
        n_steps : int, optional
        """
        X, y = prepared(X, y)
        if X.shape[1] != self._v.size:
            d = self._v.size
            raise ValueError(
                f"X must have {d} feature{'' if d == 1 else 's'}, got {X.shape[1]}; pass n_features"
            )
        steps = X.shape[0] if n_steps is None else n_steps
        first = self.rng.integers(0, X.shape[0], steps)
        second = self.rng.integers(0, X.shape[0], steps)
        lambda1, lambda2, hinge = self.lambda1, self.lambda2, self.n_samples * self.C
        t, t0, gamma0, a = self.n_steps, self.average_from, self.gamma0, self.curvature
        if isinstance(X, np.ndarray):
            w, average = self.last, self.coef
            sgd_steps_dense(
                X, y, first, second, w, average, t, t0, gamma0, a, lambda1, lambda2, hinge
            )  # fmt: skip
            # a sparse step that begins the average expects nothing in u
            begun = t + steps > t0
            self._v, self._u = w, average if begun else np.zeros_like(w)
            self._scalars = np.array([1.0, 1.0, 0.0])
        else:
            v, u, scalars = self._v, self._u, self._scalars
            data, indices, indptr = X.data, unsigned(X.indices), X.indptr
            sgd_steps(
                data, indices, indptr, y, first, second, v, u, scalars,
                t, t0, gamma0, a, lambda1, lambda2, hinge,
            )  # fmt: skip
        self.n_steps += steps
        return self


@dataclass(frozen=True)
class SGDSolution:
    """Result of :func:`averaged_sgd`.

    Attributes
    ----------
    coef : (d,) array
        Average of the iterates.
    last : (d,) array
        The last iterate.
    objective : float
        (14) at `coef`.
    gamma0 : float
        First step size.
    n_steps : int
    path : list of (steps, objective)
        One entry a pass, if asked for.
    """

    coef: np.ndarray
    last: np.ndarray
    objective: float
    gamma0: float
    n_steps: int
    path: list[tuple[int, float]] = field(default_factory=list)


def averaged_sgd(
    X: Matrix,
    y: np.ndarray,
    lambda1: float,
    lambda2: float,
    C: float,
    *,
    n_passes: int = 5,
    gamma0: float | None = None,
    curvature: float = 1.0,
    average_from: int | None = None,
    random_state: int | np.random.Generator | None = 0,
    record: bool = False,
) -> SGDSolution:
    """Run Algorithm 2 with `n_passes` times m steps.

    Parameters
    ----------
    X : (m, d) array or CSR matrix
    y : (m,) array of -1 and +1
    lambda1, lambda2 : float
        At least 0; both 0 is the support vector machine.
    C : float
        Positive.
    n_passes : int
        T of the paper, 5 there.
    gamma0 : float, optional
        First step size; :func:`initial_step` finds one if not given.
    curvature, average_from, random_state
        As in :class:`AveragedSGD`.
    record : bool
        Keep (steps, objective of the average) after each pass.

    Returns
    -------
    SGDSolution

    Raises
    ------
    ValueError
        If a parameter is out of range, or the data are not finite numbers with labels -1 and +1.
    """
    validate_parameters(lambda1, lambda2, C)
    X, y = prepared(X, y)
    rng = np.random.default_rng(random_state)
    if gamma0 is None:
        gamma0 = initial_step(X, y, lambda1, lambda2, C, curvature=curvature, random_state=rng)
    state = AveragedSGD(
        X.shape[1], len(y), lambda1, lambda2, C,
        gamma0=gamma0, curvature=curvature, average_from=average_from, random_state=rng,
    )  # fmt: skip
    path = []
    for _ in range(n_passes):
        state.partial_fit(X, y)
        if record:
            path.append((state.n_steps, linear_objective(X, y, state.coef, lambda1, lambda2, C)))
    objective = path[-1][1] if path else linear_objective(X, y, state.coef, lambda1, lambda2, C)
    return SGDSolution(state.coef, state.last, objective, gamma0, state.n_steps, path)


def initial_step(
    X: Matrix,
    y: np.ndarray,
    lambda1: float,
    lambda2: float,
    C: float,
    *,
    curvature: float = 1.0,
    n_samples: int | None = None,
    random_state: int | np.random.Generator | None = 0,
) -> float:
    r"""Choose :math:`\gamma_0` by trial on a sample, as is usual for stochastic gradients (Bottou).

    The algorithm runs on n examples, a tenth of all and at least 1000, with the hinge still weighted by m C,
    from :math:`\gamma_0=1/(mC\max\lVert x\rVert^2)` on; it is doubled or halved as long as (14) of the
    average over the sample, its hinge weighted by m C / n, falls. The result stays below 1/2 and below
    :math:`1/(1+8\lambda_1\max\lVert x\rVert^2)`, beyond which the smooth part alone would diverge. The
    average over all passes but the first is what the algorithm returns: judged by the last iterate of one
    pass, which is noisy, the steps come out far too short.

    Parameters
    ----------
    X : (m, d) array or CSR matrix
    y : (m,) array of -1 and +1
    lambda1, lambda2, C, curvature : float
    n_samples : int, optional
        The number m of examples of the whole problem, if `X` is a part of it.
    random_state : int, Generator or None

    Raises
    ------
    ValueError
        If the parameters and the features are so large that every positive step is too long.
    """
    X, y = prepared(X, y)
    m = len(y) if n_samples is None else n_samples
    rng = np.random.default_rng(random_state)
    rows = np.sort(rng.choice(len(y), min(len(y), max(1000, len(y) // 10)), replace=False))
    sample, labels, seed = X[rows], y[rows], int(rng.integers(2**31))
    largest = float(squared_norms(sample).max(initial=0.0))
    ceiling = min(0.5, 1.0 / (1.0 + 8.0 * lambda1 * largest))
    if largest == 0.0:
        return ceiling

    def cost(gamma0: float) -> float:
        state = AveragedSGD(
            X.shape[1], m, lambda1, lambda2, C,
            gamma0=gamma0, curvature=curvature, average_from=len(labels), random_state=seed,
        )  # fmt: skip
        w = state.partial_fit(sample, labels, PASSES * len(labels)).coef
        value = linear_objective(sample, labels, w, lambda1, lambda2, C * m / len(labels))
        return value if np.isfinite(value) else np.inf

    best = min(ceiling, 1.0 / max(m * C * largest, np.finfo(float).tiny))
    if best < np.finfo(float).tiny:
        raise ValueError(
            f"no step is short enough for lambda1={lambda1!r}, C={C!r}, {m} row{'' if m == 1 else 's'} "
            f"and features of squared length {largest:.1e}; scale the features, or lower lambda1 and C"
        )
    value = cost(best)
    for factor in (2.0, 0.5):
        moved = False
        while 0 < (trial := best * factor) < ceiling and (new := cost(trial)) < value:
            best, value, moved = trial, new, True
        if moved:
            break
    return best
