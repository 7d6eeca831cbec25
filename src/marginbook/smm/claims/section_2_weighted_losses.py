r"""The claims on what the weighted losses target at one matrix X, whose class is 1 with probability p.

Given X, the weighted risk of the decision value f is

.. math::

   R(f)=(1-\pi)\,p\,L(f)+\pi\,(1-p)\,L(-f).

Hinge loss: R is piecewise linear with kinks in -1 and 1, :math:`R(1)=2\pi(1-p)`,
:math:`R(-1)=2(1-\pi)p`, and :math:`R(-1)-R(1)=2(p-\pi)`: the minimum is in sign(p - pi), alone if
:math:`0<p<1` and :math:`p\ne\pi`, on [-1, 1] if :math:`p=\pi`, on a half-line if p is 0 or 1.

Other losses: :math:`R'(0)=L'(0)\,(p-\pi)`. If L is convex and :math:`L'(0)<0`, every minimiser therefore
has the sign of p - pi. Setting R'(f) to 0 gives :math:`f=\log\frac{(1-\pi)p}{\pi(1-p)}` for the logistic loss
and :math:`f=\frac{p-\pi}{p+\pi-2p\pi}` for the squared hinge.

Wrong signs: if L is convex and :math:`L\ge0`, a value f on the wrong side of 0 has :math:`R(f)\ge R(0)`. For
the hinge :math:`R(0)-\min R=p+\pi-2p\pi-2\min((1-\pi)p,\pi(1-p))=|p-\pi|`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from scipy.optimize import minimize_scalar

from ...claims import Evidence, Rival, at_most, claim, decide, short
from ..model.objective import loss_values, weights_for

NOTEBOOK, HERE = "smm/03_weighted_margins", "smm.claims.section_2_weighted_losses"
#: p and pi are multiples of one over this
GRID = 40
#: rounding of a minimiser that is searched with derivatives of rounded numbers
SEARCHED = 1e-5

Loss: TypeAlias = Callable[[float], float]


def hinge(z: Fraction | float) -> Fraction | float:
    """Return the hinge loss of a margin, exactly for a fraction."""
    return max(1 - z, 0 * z)


LOSSES: dict[str, Loss] = {
    "squared hinge": lambda z: max(1 - z, 0.0) ** 2,
    "logistic": lambda z: float(np.logaddexp(0, -z)),
    "exponential": lambda z: float(np.exp(-z)),
    "Huber's hinge": lambda z: 0.0 if z >= 1 else (1 - z) ** 2 / 4 if z >= -1 else -z,
}


def weighted_risk(
    loss: Callable[..., Fraction | float], f: Fraction | float, p: Fraction | float, pi: Fraction | float
) -> Fraction | float:
    r"""Return :math:`(1-\pi)pL(f)+\pi(1-p)L(-f)`, exactly if all numbers are fractions and L is rational.

    Parameters
    ----------
    loss : callable
        A margin loss.
    f : number
        Decision value at one matrix.
    p, pi : number
        Probability of class 1 there, and the level.
    """
    return (1 - pi) * p * loss(f) + pi * (1 - p) * loss(-f)


def library_apart(p: float, pi: float, values: np.ndarray) -> float:
    """Return how far the library's weights and losses are from the risks that the checks minimise.

    Parameters
    ----------
    p, pi : float
    values : (k,) array
        Decision values, at which the risks are compared.
    """
    weights = weights_for(pi, np.array([1.0, -1.0])) * np.array([p, 1 - p])
    named = {"hinge": hinge, "squared_hinge": LOSSES["squared hinge"], "logistic": LOSSES["logistic"]}
    return max(
        abs(float(weighted_risk(loss, f, p, pi)) - float(weights @ loss_values(np.array([f, -f]), name)))
        for name, loss in named.items()
        for f in values
    )


#: the weights of the two classes exchanged, in the risks of the checks and in the library
EXCHANGED = Rival(
    "the weights of the two classes exchanged",
    swaps={f"{HERE}.weighted_risk": lambda risk: lambda loss, f, p, pi: risk(loss, f, p, 1 - pi)},
)
LIBRARY = (
    Rival(
        "the library's weights exchanged",
        swaps={"smm.model.objective.weights_for": lambda f: lambda pi, y, *rest: f(1 - pi, y, *rest)},
    ),
    Rival(
        "the library's losses with a kink 2 % further",
        swaps={"smm.model.objective.loss_values": lambda f: lambda m, loss: f(m - 0.02, loss)},
    ),
)


def pairs(ends: bool = False) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield all (p, pi) of the grid, 0 < pi < 1; p = 0 and p = 1 only with `ends`."""
    for i in range(0 if ends else 1, GRID + 1 if ends else GRID):
        for j in range(1, GRID):
            yield Fraction(i, GRID), Fraction(j, GRID)


def minimiser(loss: Loss, p: float, pi: float) -> float:
    """Return the minimiser of the weighted risk in [-20, 20], for a convex loss."""
    found = minimize_scalar(
        lambda f: weighted_risk(loss, f, p, pi), bounds=(-20, 20), method="bounded", options={"xatol": 1e-10}
    )
    return float(found.x)


@claim(
    "smm/wang-2008",
    kind="statement",
    where="Section 2.2, second and third sentences",
    statement=r"the solution to (1) targets $\operatorname{sign}(p(X)-\frac12)$, and the minimiser of the "
    r"$\pi$-weighted loss $\operatorname{sign}(p(X)-\pi)$",
    notebook=f"{NOTEBOOK}#smm-wang-2008",
    rivals=(
        Rival("a level 2 % higher", {"factor": Fraction(51, 50)}),
        Rival("targets 2 % further from 0", {"size": Fraction(51, 50)}),
        EXCHANGED,
        *LIBRARY,
    ),
)
def check_hinge(factor: Fraction = Fraction(1), size: Fraction = Fraction(1)) -> Evidence:
    """Compare the exact risk in sign(p - pi) with that a step to both sides, for fractions p and pi."""
    rises, flat, half_lines, tested = [], 0, 0, 0
    step = Fraction(1, 1000)
    for p, pi in pairs(ends=True):
        best = [weighted_risk(hinge, Fraction(f), p, pi) for f in (-1, 0, 1)]
        if p == factor * pi:
            flat += best[0] == best[1] == best[2]
            continue
        target = size if p > factor * pi else -size
        low = weighted_risk(hinge, target, p, pi)
        rise = min(weighted_risk(hinge, target + s, p, pi) - low for s in (-step, step))
        if p in (0, 1):
            half_lines += rise == 0 and weighted_risk(hinge, 100 * target, p, pi) == low == 0
            continue
        tested += 1
        rises.append(rise / step)
    slope = float(min(rises))
    values = np.linspace(-3, 3, 7)
    apart = max(library_apart(float(p), float(pi), values) for p, pi in ((0.3, 0.2), (0.1, 0.6), (0.9, 0.5)))
    return Evidence(
        verdict=decide(slope > 0 and apart <= 1e-12),
        measured=f"the least slope with which the risk rises on both sides of sign(p - pi) is {slope:.4f}, "
        f"over {tested} cases with 0 < p < 1 and p != pi; the library's risks are those of the check to "
        f"{at_most(apart, 1e-12)}",
        claimed="more than 0; no difference",
        slack=min(slope, short(apart <= 1e-12, 1)),
        why="R is convex, so a rise on both sides proves that the minimiser is this one; all numbers are "
        f"fractions. On the boundary p = pi every f in [-1, 1] is a minimiser ({flat} of {GRID - 1} cases); "
        f"for p = 0 or 1 the minimisers form a half-line that begins in sign(p - pi) ({half_lines} of "
        f"{2 * (GRID - 1)}). For pi = 1/2 both weights are 1/2, so (3) is (2) with 2 lambda in place of "
        "lambda.",
        sizes={"pairs": tested + flat + half_lines, "denominator": GRID},
    )


@claim(
    "smm/general-losses",
    kind="statement",
    where="Section 2.1, first paragraph, third sentence",
    statement="our estimation schemes are applicable to general large-margin classifiers, with a loss $L$ "
    "of the functional margin",
    notebook=f"{NOTEBOOK}#smm-general-losses",
    rivals=(
        Rival("losses with a derivative in 0 alone", {"kink": Fraction(0)}),
        EXCHANGED,
    ),
)
def check_general_losses(kink: Fraction = Fraction(2)) -> Evidence:
    """Look for the sign of p - pi in minimisers for losses with and without a derivative in 0, on the grid.

    Parameters
    ----------
    kink : Fraction
        What is added to the hinge is this times :math:`(-z)_+`: 0 leaves the hinge.
    """
    kinked: dict[str, Callable[..., Fraction]] = {
        f"(1-z)_+ + {float(kink):g}(-z)_+": lambda z: max(1 - z, 0 * z) + kink * max(-z, 0 * z)
    }
    if kink:
        kinked["(-z)_+"] = lambda z: max(-z, 0 * z)
    lost = dict.fromkeys(kinked, 0)
    right = smooth = tested = 0
    for p, pi in pairs():
        if p == pi:
            continue
        tested += 1
        for name, loss in kinked.items():
            at = {f: weighted_risk(loss, Fraction(f), p, pi) for f in (-1, 0, 1)}
            lost[name] += at[0] <= min(at[1], at[-1])
        for k, smoothed in enumerate(LOSSES.values()):
            if tested % len(LOSSES) == k:
                right += (minimiser(smoothed, float(p), float(pi)) > 0) == (p > pi)
                smooth += 1
    return Evidence(
        verdict=decide(sum(lost.values()) == 0, right == smooth),
        measured="f = 0, which decides for neither class, is a minimiser in "
        + " and ".join(f"{n} of {tested} cases for {name}" for name, n in lost.items())
        + f"; with a derivative at 0 the sign of the minimiser is right in {right} of {smooth} cases",
        claimed="0 cases; corrected, all cases",
        slack=-sum(lost.values()) / (len(lost) * tested),
        why="All these losses are convex and nowhere rise. (-z)_+, the perceptron's, asks for no margin; the "
        "first does. What is needed is a derivative at 0: then R'(0) = L'(0)(p - pi), so a convex L with "
        "L'(0) < 0 has minimisers only on the side of p - pi. The squared hinge, the logistic, the "
        "exponential and Huber's hinge loss have one.",
        sizes={"pairs": tested, "losses": [*lost, *LOSSES]},
    )


@claim(
    "smm/expectation",
    kind="statement",
    where="Section 2.0, 'Define p(X)' and the third problem; Section 2.3, first sentence",
    statement=r"$y\in\{+1,-1\}$, $p(X)=E(y\mid X)$, and as $y$ is binary this is $P(y=1\mid X)$",
    notebook=f"{NOTEBOOK}#smm-expectation",
    rivals=(
        Rival("labels 0 and 1", {"low": 0}),
        Rival("a probability 2 % larger", {"factor": Fraction(51, 50)}),
        EXCHANGED,
    ),
)
def check_expectation(low: int = -1, factor: Fraction = Fraction(1)) -> Evidence:
    """Compare the level sets of the mean of y = +-1 and of the probability with the hinge's target."""
    tested = printed = corrected = negative = 0
    for P, pi in pairs(ends=True):
        mean = P * 1 + (1 - P) * low
        target = weighted_risk(hinge, Fraction(1), P, pi) < weighted_risk(hinge, Fraction(-1), P, pi)
        tested += 1
        printed += (mean > pi) == target
        corrected += (factor * P > pi) == target
        negative += mean < 0
    return Evidence(
        verdict=decide(printed == tested, corrected == tested),
        measured=f"the level sets of E(y|X) are those found by the weighted hinge in {printed} of {tested} "
        f"cases, those of P(y=1|X) in {corrected}; the mean is negative in {negative}",
        claimed="all cases; corrected, all cases",
        slack=float(printed / tested - 1),
        why="With y = +-1 the mean is 2P - 1, where P = P(y=1|X). Its pi-level set is the (1 + pi)/2-level "
        "set of P, and its negative values lie below every level. E(y=1|X) in Section 2.3 should be read the "
        "same way. Example: P = 0.6 is classified +1 and has mean 0.2.",
        sizes={"pairs": tested, "denominator": GRID},
    )
