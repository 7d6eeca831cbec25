"""The claims on what other losses than the hinge target, and on what a wrong side costs.

The derivations are in `section_2_weighted_losses`.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ...claims import Evidence, Rival, at_most, claim, decide, short
from .section_2_weighted_losses import (
    EXCHANGED,
    GRID,
    LIBRARY,
    LOSSES,
    NOTEBOOK,
    SEARCHED,
    hinge,
    library_apart,
    minimiser,
    pairs,
    weighted_risk,
)


@claim(
    "smm/other-targets",
    kind="ours",
    where="Sections 2.1 and 2.2",
    statement=r"with weights the logistic loss targets $\log\frac{(1-\pi)p}{\pi(1-p)}$ and the squared "
    r"hinge $\frac{p-\pi}{p+\pi-2p\pi}$: they share the level set, not the values",
    notebook=f"{NOTEBOOK}#smm-other-targets",
    rivals=(
        Rival("targets 2 % larger", {"factor": 1.02}),
        Rival("the targets of the level 1/2", {"level": 0.5}),
        EXCHANGED,
        *LIBRARY,
    ),
)
def check_other_targets(factor: float = 1.0, level: float | None = None) -> Evidence:
    """Minimise the risk numerically on the grid of p and pi; compare with the formulas and their sign."""
    formulas: dict[str, Callable[[float, float], float]] = {
        "logistic": lambda p, pi: float(np.log((1 - pi) * p / (pi * (1 - p)))),
        "squared hinge": lambda p, pi: (p - pi) / (p + pi - 2 * p * pi),
    }
    worst, signs, tested = 0.0, 0, 0
    levels: dict[str, set[float]] = {name: set() for name in formulas}
    for p, pi in pairs():
        for name, formula in formulas.items():
            value = factor * formula(float(p), float(pi) if level is None else level)
            worst = max(worst, abs(minimiser(LOSSES[name], float(p), float(pi)) - value))
            signs += np.sign(round(value, 12)) == np.sign(float(p - pi))
            levels[name].add(round(abs(value), 6))
            tested += 1
    values = np.linspace(-3, 3, 7)
    apart = max(library_apart(float(p), float(pi), values) for p, pi in ((0.3, 0.2), (0.1, 0.6), (0.9, 0.5)))
    return Evidence(
        verdict=decide(worst <= SEARCHED and signs == tested and apart <= 1e-12),
        measured=f"a numerical minimiser differs from the formulas by at most {at_most(worst, SEARCHED)}; "
        f"the sign is that of p - pi in {signs} of {tested} cases; the library's risks are those of the "
        f"check to {at_most(apart, 1e-12)}",
        claimed="no difference; all cases; no difference",
        slack=min(SEARCHED - worst, short(signs, tested), short(apart <= 1e-12, 1)),
        why=f"Only the sign is shared. On this grid |f| takes {len(levels['logistic'])} values for the "
        f"logistic loss, {len(levels['squared hinge'])} for the squared hinge, and the one value 1 for the "
        "hinge. So all three estimate the same level sets in a class of functions that contains the targets. "
        "A single logistic fit would already give p; the hinge needs one fit for each level.",
        sizes={"pairs": tested, "denominator": GRID},
    )


@claim(
    "smm/level-set-risk",
    kind="ours",
    where="Section 5, which is empty",
    statement=r"for the hinge loss, $E\,|p(X)-\pi|\,1\{X\in\hat S\,\triangle\,S\}$ is at most the excess "
    r"risk $R_\pi(\hat f)-\min R_\pi$",
    notebook=f"{NOTEBOOK}#smm-level-set-risk",
    rivals=(Rival("a left side 2 % larger", {"factor": Fraction(51, 50)}), EXCHANGED),
)
def check_level_set_risk(factor: Fraction = Fraction(1)) -> Evidence:
    """Take exact risks of values on the wrong side on a grid; then random distributions and functions."""
    least, tight, held, tested, reach = 10.0, 0, 0, 0, 0.0
    values = [Fraction(k, 4) for k in range(-12, 13)]
    for p, pi in pairs(ends=True):
        lowest = 2 * min((1 - pi) * p, pi * (1 - p))
        for f in values:
            if (f > 0) == (p > pi):
                continue
            excess, cost = weighted_risk(hinge, f, p, pi) - lowest, factor * abs(p - pi)
            gap = excess - cost
            reach = max(reach, float(cost / excess) if excess else 0.0)
            least = min(least, float(gap))
            tight += gap == 0
            held += gap >= 0
            tested += 1
    rng = np.random.default_rng(700)
    shares = []
    for _ in range(200):
        P, F, mass = rng.random(50), 2 * rng.normal(size=50), rng.dirichlet(np.ones(50))
        level = rng.uniform(0.05, 0.95)
        risk = (1 - level) * P * np.maximum(1 - F, 0) + level * (1 - P) * np.maximum(1 + F, 0)
        gained = mass @ (risk - 2 * np.minimum((1 - level) * P, level * (1 - P)))
        shares.append(float(mass @ (np.abs(P - level) * ((F > 0) != (level < P))) / gained))
    return Evidence(
        verdict=decide(least >= 0 and max(shares) <= 1),
        measured="at one matrix the excess risk is at least "
        f"{'' if factor == 1 else f'{float(factor):g} '}|p - pi| in {held} of {tested} cases, and equal to "
        f"it in {tight}; over random distributions the left side is {np.mean(shares):.0%} of the right on "
        f"average, at most {max(shares):.0%}",
        claimed="all cases; at most 100%",
        slack=min(1 - max(shares), short(held, tested)),
        why="On the wrong side R(f) >= R(0) by convexity, and R(0) - min R = |p - pi|. So if the weighted "
        "risk of a fit tends to the minimum, its level sets become right wherever p differs from pi. This is "
        "the theorem that the empty section would need, with the distance |p - pi| as the price of a wrong "
        "matrix.",
        sizes={"cases": tested, "distributions": 200, "points": 50},
        seeds=(700,),
        reach=reach,
    )
