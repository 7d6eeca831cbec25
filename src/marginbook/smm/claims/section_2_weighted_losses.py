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

from ...claims import Evidence, at_most, claim, decide

NOTEBOOK = "smm/03_weighted_margins"
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
    where="Section 2.2 (Lin et al. 2002, Wang et al. 2008)",
    statement=r"the minimiser of the $\pi$-weighted hinge risk is $\operatorname{sign}(p(X)-\pi)$; with "
    r"$\pi=\frac12$ it is $\operatorname{sign}(p(X)-\frac12)$",
    notebook=f"{NOTEBOOK}#smm-wang-2008",
)
def check_hinge() -> Evidence:
    """Compare the exact risk in sign(p - pi) with that a step to both sides, for fractions p and pi."""
    rises, flat, half_lines, tested = [], 0, 0, 0
    step = Fraction(1, 1000)
    for p, pi in pairs(ends=True):
        best = [weighted_risk(hinge, Fraction(f), p, pi) for f in (-1, 0, 1)]
        if p == pi:
            flat += best[0] == best[1] == best[2]
            continue
        target = Fraction(1 if p > pi else -1)
        low = weighted_risk(hinge, target, p, pi)
        rise = min(weighted_risk(hinge, target + s, p, pi) - low for s in (-step, step))
        if p in (0, 1):
            half_lines += rise == 0 and weighted_risk(hinge, 100 * target, p, pi) == low == 0
            continue
        tested += 1
        rises.append(rise / step)
    slope = float(min(rises))
    return Evidence(
        decide(slope > 0),
        f"the risk rises on both sides of sign(p - pi), with slope {slope:.4f} or more, in all {tested} "
        "cases with 0 < p < 1 and p != pi",
        "rises",
        slope,
        "R is convex, so a rise on both sides is a proof that the minimiser is this one; all numbers are "
        f"fractions. On the boundary p = pi every f in [-1, 1] is a minimiser ({flat} of {GRID - 1} "
        f"cases), for p = 0 or 1 a half-line that begins in sign(p - pi) ({half_lines} of "
        f"{2 * (GRID - 1)}). For pi = 1/2 both weights are 1/2, so (3) is (2) with 2 lambda in place of "
        "lambda.",
        {"pairs": tested + flat + half_lines, "denominator": GRID},
    )


@claim(
    "smm/other-targets",
    kind="ours",
    where="Sections 2.1 and 2.2",
    statement=r"with weights the logistic loss targets $\log\frac{(1-\pi)p}{\pi(1-p)}$ and the squared hinge "
    r"$\frac{p-\pi}{p+\pi-2p\pi}$: the same level set, other values",
    notebook=f"{NOTEBOOK}#smm-other-targets",
)
def check_other_targets() -> Evidence:
    """Minimise the risk numerically on the grid of p and pi; compare with the formulas and their sign."""
    formulas: dict[str, Callable[[float, float], float]] = {
        "logistic": lambda p, pi: float(np.log((1 - pi) * p / (pi * (1 - p)))),
        "squared hinge": lambda p, pi: (p - pi) / (p + pi - 2 * p * pi),
    }
    worst, signs, tested = 0.0, 0, 0
    levels: dict[str, set[float]] = {name: set() for name in formulas}
    for p, pi in pairs():
        for name, formula in formulas.items():
            value = formula(float(p), float(pi))
            worst = max(worst, abs(minimiser(LOSSES[name], float(p), float(pi)) - value))
            signs += np.sign(round(value, 12)) == np.sign(float(p - pi))
            levels[name].add(round(abs(value), 6))
            tested += 1
    return Evidence(
        decide(worst <= SEARCHED and signs == tested),
        f"a numerical minimiser differs from the formulas by at most {at_most(worst, SEARCHED)}; the sign "
        f"is that of p - pi in {signs} of {tested} cases",
        "0; all",
        SEARCHED - worst,
        f"Only the sign is shared: |f| takes {len(levels['logistic'])} values for the logistic loss and "
        f"{len(levels['squared hinge'])} for the squared hinge on this grid, and one, 1, for the hinge. So "
        "all three estimate the same level sets in a class of functions that has the targets; a single "
        "logistic fit would already give p, and the hinge needs one fit for each level.",
        {"pairs": tested, "denominator": GRID},
    )


@claim(
    "smm/general-losses",
    kind="statement",
    where="Section 2.1",
    statement="the schemes apply to general large-margin classifiers, with any margin loss $L$",
    notebook=f"{NOTEBOOK}#smm-general-losses",
)
def check_general_losses() -> Evidence:
    """Look for the sign of p - pi in minimisers for losses with and without L'(0) < 0, on the grid."""
    lost = {"(-z)_+": 0, "(1-z)_+ + 2(-z)_+": 0}
    kinked: dict[str, Callable[..., Fraction]] = {
        "(-z)_+": lambda z: max(-z, 0 * z),
        "(1-z)_+ + 2(-z)_+": lambda z: max(1 - z, 0 * z) + 2 * max(-z, 0 * z),
    }
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
        decide(sum(lost.values()) == 0, right == smooth),
        "f = 0, which is on no side, is a minimiser in "
        + " and ".join(f"{n} of {tested} cases for {name}" for name, n in lost.items()),
        "0",
        -sum(lost.values()) / (2 * tested),
        "Both are convex and falling. What is needed is a derivative in 0: R'(0) = L'(0)(p - pi), so that "
        "a convex L with L'(0) < 0 has minimisers on the side of p - pi only. Squared hinge, logistic, "
        f"exponential and Huber's hinge have it, and the minimiser's sign is right in {right} of {smooth} "
        "cases.",
        {"pairs": tested, "losses": [*lost, *LOSSES]},
    )


@claim(
    "smm/expectation",
    kind="statement",
    where="Sections 2.0 and 2.3",
    statement=r"$p(X)=E(y\mid X)$, and as $y$ is binary this is $P(y=1\mid X)$",
    notebook=f"{NOTEBOOK}#smm-expectation",
)
def check_expectation() -> Evidence:
    """Compare the level sets of the mean of y = +-1 and of the probability with the hinge's target."""
    tested = printed = corrected = negative = 0
    for P, pi in pairs(ends=True):
        mean = P * 1 + (1 - P) * -1
        target = weighted_risk(hinge, Fraction(1), P, pi) < weighted_risk(hinge, Fraction(-1), P, pi)
        tested += 1
        printed += (mean > pi) == target
        corrected += (pi < P) == target
        negative += mean < 0
    return Evidence(
        decide(printed == tested, corrected == tested),
        f"the level sets of E(y|X) are those that the weighted hinge finds in {printed} of {tested} cases; "
        f"the mean is negative in {negative}",
        "all",
        float(printed / tested - 1),
        "With y = +-1 the mean is 2P - 1: its pi-level set is the (1 + pi)/2-level set of P = P(y=1|X), "
        f"and its negative values lie below every level. With p = P(y=1|X) the sets agree in {corrected} "
        "cases; E(y=1|X) of Section 2.3 is to be read the same way. Example: P = 0.6 is classified +1 and "
        "has mean 0.2.",
        {"pairs": tested, "denominator": GRID},
    )


@claim(
    "smm/level-set-risk",
    kind="ours",
    where="Section 5, which is empty",
    statement=r"$E\,|p(X)-\pi|\,1\{X\in\hat S\,\triangle\,S\}\le R_\pi(\hat f)-\min R_\pi$ for the hinge "
    "loss",
    notebook=f"{NOTEBOOK}#smm-level-set-risk",
)
def check_level_set_risk() -> Evidence:
    """Take exact risks of values on the wrong side on a grid; then random distributions and functions."""
    least, tight, tested = 10.0, 0, 0
    values = [Fraction(k, 4) for k in range(-12, 13)]
    for p, pi in pairs(ends=True):
        lowest = 2 * min((1 - pi) * p, pi * (1 - p))
        for f in values:
            if (f > 0) == (p > pi):
                continue
            gap = weighted_risk(hinge, f, p, pi) - lowest - abs(p - pi)
            least = min(least, float(gap))
            tight += gap == 0
            tested += 1
    rng = np.random.default_rng(700)
    shares = []
    for _ in range(200):
        P, F, mass = rng.random(50), 2 * rng.normal(size=50), rng.dirichlet(np.ones(50))
        level = rng.uniform(0.05, 0.95)
        risk = (1 - level) * P * np.maximum(1 - F, 0) + level * (1 - P) * np.maximum(1 + F, 0)
        excess = mass @ (risk - 2 * np.minimum((1 - level) * P, level * (1 - P)))
        shares.append(float(mass @ (np.abs(P - level) * ((F > 0) != (level < P))) / excess))
    return Evidence(
        decide(least >= 0 and max(shares) <= 1),
        f"at one matrix the excess risk is |p - pi| or more in all {tested} cases, and equal to it in "
        f"{tight}; over random distributions the left side is {np.mean(shares):.0%} of the right, at most "
        f"{max(shares):.0%}",
        "at most 100%",
        1 - max(shares),
        "On the wrong side R(f) >= R(0) by convexity, and R(0) - min R = |p - pi|. So a fit whose "
        "weighted risk tends to the minimum has level sets that are right wherever p differs from pi: the "
        "theorem that the empty section would need, with the distance |p - pi| as the price of a wrong "
        "matrix.",
        {"cases": tested, "distributions": 200, "points": 50},
        (700,),
    )
