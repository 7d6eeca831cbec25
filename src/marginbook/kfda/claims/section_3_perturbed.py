r"""The claim on the remedy for zeros that the paper mentions and does not use: a perturbed penalty.

With a small :math:`\varepsilon` in the denominators,
:math:`B_\varepsilon=\operatorname{diag}1/(|\omega_i|^{2-q}+\varepsilon)`, (7) minimises the majoriser of

.. math::
    J_\varepsilon(\omega)=\tfrac12\lVert\hat y-D\omega\rVert^2+\rho N\sum_ip_\varepsilon(\omega_i),\qquad
    p_\varepsilon(\omega)=\int_0^{|\omega|}\frac{qt}{t^{2-q}+\varepsilon}\,dt,

because :math:`p_\varepsilon(\sqrt s)` is concave in s. For q = 1 it is
:math:`|\omega|-\varepsilon\log(1+|\omega|/\varepsilon)`.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dposv
from scipy.special import hyp2f1

from ...claims import Evidence, Rival, at_most, claim, decide, returns, times
from ..model.certificates import duality_gap
from ..model.objective import Problem, objective, residual
from ..solvers.irls import majorize_minimize
from .problems import described, samples, start
from .swaps import GAP

POWERS = (0.25, 0.5, 1.0, 1.5)
EPSILONS = (1e-6, 1e-2, 1.0)
#: for the decay to 0
RHO, SHRINK, STAGES, STEPS = 0.05, 0.1, 14, 250
#: a coefficient so large that the penalties differ by the most that they can, nearly
LARGE = 1e8
HERE = "kfda.claims.section_3_perturbed"


def perturbed_penalty(omega: np.ndarray, q: float, epsilon: float) -> np.ndarray:
    r"""Return :math:`p_\varepsilon` of each coefficient.

    Parameters
    ----------
    omega : array
    q : float
        In (0, 2).
    epsilon : float
        Positive.

    Examples
    --------
    >>> float(perturbed_penalty(np.array([1.0]), 1.0, 1.0)[0].round(6))  # 1 - log 2
    0.306853
    """
    size, power = np.abs(omega), 2.0 - q
    if q == 1:
        return np.asarray(size - epsilon * np.log1p(size / epsilon))
    series = hyp2f1(1.0, 2 / power, 1 + 2 / power, -(size**power) / epsilon)
    return np.asarray(0.5 * q * size**2 / epsilon * series)


def distance_bound(q: float, epsilon: float) -> float:
    r"""Return by how much :math:`|\omega|^q` exceeds :math:`p_\varepsilon(\omega)` at most, for q < 1.

    .. math:: \int_0^\infty\Bigl(qt^{q-1}-\frac{qt}{t^{2-q}+\varepsilon}\Bigr)dt
        =\frac{\pi s}{\sin\pi s}\,\varepsilon^s,\qquad s=\frac q{2-q}
    """
    s = q / (2 - q)
    return float(np.pi * s / np.sin(np.pi * s) * epsilon**s)


def perturbed_objective(problem: Problem, omega: np.ndarray, q: float, rho: float, epsilon: float) -> float:
    r"""Return :math:`J_\varepsilon(\omega)`."""
    r = residual(problem, omega)
    return float(0.5 * r @ r + rho * problem.n * perturbed_penalty(omega, q, epsilon).sum())


def perturbed_step(problem: Problem, omega: np.ndarray, q: float, rho: float, epsilon: float) -> np.ndarray:
    r"""Return :math:`(A+\rho NqB_\varepsilon)^{-1}c`, in the form of (8) with the new weights."""
    psi = np.sqrt(np.abs(omega) ** (2 - q) + epsilon)
    matrix = problem.gram * np.outer(psi, psi) + rho * problem.n * q * np.eye(len(omega))
    # LAPACK itself: on small systems the checks of SciPy's front end cost more than the solution
    _, solution, failed = dposv(matrix, psi * problem.correlations, lower=1)
    assert not failed  # rho N q on the diagonal
    return np.asarray(psi * solution)


def decay(problem: Problem, omega: np.ndarray, q: float, rho: float, stages: int = STAGES) -> np.ndarray:
    """Return the end of the perturbed iteration while epsilon falls from 1 to nearly 0."""
    for stage in range(stages):
        for _ in range(STEPS):
            omega = perturbed_step(problem, omega, q, rho, SHRINK**stage)
    return omega


@claim(
    "kfda/perturbed",
    kind="statement",
    where="Section 3, between (7) and (8), 'a small positive quantity'",
    statement="if a small positive number is added to the denominators of $B$, the iteration still "
    "descends, on a nearby penalised likelihood, and solves the original problem as the number "
    "decays to 0",
    notebook="kfda/02_majorise_minimise#kfda-perturbed",
    rivals=[
        Rival("the number ends at 1e-3", {"stages": 4}),
        Rival("the penalty is 2 % larger", swaps={f"{HERE}.perturbed_penalty": times(1.02)}),
        Rival("it is nearer by 2 %", swaps={f"{HERE}.distance_bound": times(0.98)}),
        Rival("the gap is 0", swaps={GAP: returns(0.0)}),
    ],
)
def check_perturbed(stages: int = STAGES) -> Evidence:
    """Follow the perturbed objective; let the number decay, from starts with zeros, too."""
    rng = np.random.default_rng(77)
    rise, steps = -np.inf, 0
    nearest, farthest = np.inf, 0.0
    gap = plain_gap = 0.0
    lower = higher = equal = count = 0
    for sample in samples(seed=77, repeats=1):
        problem = sample.problem
        for q in POWERS:
            for epsilon in EPSILONS:
                omega = start(problem, rng)
                value = perturbed_objective(problem, omega, q, 0.1, epsilon)
                for _ in range(5):
                    omega = perturbed_step(problem, omega, q, 0.1, epsilon)
                    after = perturbed_objective(problem, omega, q, 0.1, epsilon)
                    rise = max(rise, (after - value) / value)
                    value = after
                    steps += 1
                if q < 1:
                    omega = np.append(omega, LARGE)
                    short = np.abs(omega) ** q - perturbed_penalty(omega, q, epsilon)
                    nearest = min(nearest, float(short.min()))
                    farthest = max(farthest, float(short.max()) / distance_bound(q, epsilon))
        if sample.kernel == "linear":
            continue
        first = start(problem, rng)
        first[rng.random(len(first)) < 0.5] = 0.0
        end = decay(problem, first, 1.0, RHO, stages)
        gap = max(gap, duality_gap(problem, end, RHO) / objective(problem, end, 1.0, RHO))
        stuck = majorize_minimize(problem, 1.0, RHO, start=first, tol=1e-12, max_iter=2000)
        plain_gap = max(plain_gap, duality_gap(problem, stuck.omega, RHO) / stuck.objective)
        ours = objective(problem, decay(problem, np.zeros_like(first), 0.5, RHO), 0.5, RHO)
        ridge = majorize_minimize(problem, 0.5, RHO, tol=1e-12, max_iter=2000).objective
        lower += ours < ridge * (1 - 1e-3)
        higher += ours > ridge * (1 + 1e-3)
        equal += abs(ours / ridge - 1) <= 1e-3
        count += 1
    tolerance = 1e-4
    outside = ""
    if nearest < -1e-9:
        outside = f"; for q < 1 the perturbed penalty exceeds |w|^q by up to {-nearest:.2g}"
    elif farthest > 1 + 1e-9:
        outside = f"; for q < 1 it is below |w|^q by up to {farthest:.3g} times the bound"
    local = ", so this too finds only local minima" if higher else ""
    return Evidence(
        verdict=decide(
            rise <= 1e-10 and gap <= tolerance < plain_gap and nearest >= -1e-9 and farthest <= 1 + 1e-9
        ),
        measured=f"in {steps} steps the perturbed objective never rises by more than {at_most(rise, 1e-10)} "
        "of itself; for q = 1 and starts with half of the coefficients zero, the final duality gap is at "
        f"most {at_most(gap, tolerance)} of J, and up to {plain_gap:.1g} of J for (8) as printed{outside}",
        claimed="no rise; gap 0",
        slack=min(1e-10 - rise, tolerance - gap, plain_gap - tolerance, nearest + 1e-9, 1 + 1e-9 - farthest),
        why="The weight q / (|w|^(2-q) + e) is p'(w) / w for a penalty p that is concave in w^2, so the "
        "proof of descent is the same. With e > 0, zeros can return. For q < 1, p is below |w|^q by less "
        "than a constant times e^(q / (2 - q)), so for small q a close approximation needs a very small e. "
        "For q = 1/2 we let e decay from 1 to 1e-13, starting at zero. The final J is lower than that of "
        f"(8) from the ridge start in {lower} of {count} problems, equal in {equal} and higher in "
        f"{higher}{local}.",
        sizes=described(count) | {"q": list(POWERS), "decay": stages * STEPS},
        seeds=(77,),
        reach=round(farthest, 4),
    )
