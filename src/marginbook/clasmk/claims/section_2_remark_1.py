"""The claims of Remark 1: what the noise does to the bound of Lemma 1, and the quotient (15)."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np

from ...claims import Evidence, Rival, at_most, claim, decide, short
from .distributions import Law, between, captured, exceeding, problems, projector
from .failing import failing
from .section_2_lemma_1 import LESS, NOTEBOOK, SHARES, below, lemma_bound, overlap
from .tight_laws import tight_classes


def small_classes(count: int = 2) -> list[tuple[list[Law], Fraction]]:
    """Return laws whose means carry all but a thousandth of what the noise leaves."""
    return [tight_classes(count, *share, 3, rest=Fraction(1, 1000)) for share in SHARES]


@claim(
    "clasmk/remark-1",
    kind="proof",
    where="Remark 1, second, fourth and last sentences",
    statement=r"$\|m\|^2\le1-\sigma_e^2$; with all else fixed the bound (11) falls as $\sigma_e^2$ grows; "
    r"its denominator tends to its maximum 1 as $\lambda\to0$",
    notebook=f"{NOTEBOOK}#clasmk-remark-1",
    rivals=(
        Rival(r"$\|m\|^2$ at most 2 % less", {"most": LESS}),
        Rival("a maximum 2 % less", {"maximum": LESS}),
        Rival("the bound rises with the noise", {"sign": -1}),
    ),
)
def check_remark(*, most: Fraction = Fraction(1), maximum: Fraction = Fraction(1), sign: int = 1) -> Evidence:
    """Compare energies exactly; follow the bound, and its least value for a noise, over grids."""
    count = inside = 0
    nearest, reach = 1.0, 0.0
    for laws, noise in [*problems(603, 200), *small_classes()]:
        for law in laws:
            count += 1
            nearest = min(nearest, float(most * (1 - noise) - law.mean_energy))
            reach = max(reach, float(law.mean_energy / (1 - noise)))
            inside += law.mean_energy <= most * (1 - noise)
    grid = [k / 20 for k in range(1, 20)]
    falls = rises = steps = 0
    for root in grid:  # of lambda
        plain = [lemma_bound(0.3, root**2, s) for s in grid]  # |m|^2 is fixed
        best = [lemma_bound(1 - s, root**2, s) for s in grid]  # the largest |m|^2
        falls += sum(sign * (b - a) < 0 for a, b in pairwise(plain))
        rises += sum(b > a for a, b in pairwise(best))
        steps += len(grid) - 1
    # the bound with |m| = 0 is one over the denominator
    below_one = [[float(maximum) - 1 / lemma_bound(0, 10.0**-k, s) for s in grid] for k in (2, 4, 8, 12)]
    away = max(b - a for one, two in pairwise(below_one) for a, b in zip(one, two, strict=True))
    above = -min(min(line) for line in below_one)
    limit = max(abs(each) for each in below_one[-1])
    return Evidence(
        verdict=decide(inside == count and falls == steps and max(away, above) <= 0 and limit <= 1e-6),
        measured=f"|m|^2 is at least {nearest:.4f} below 1 - sigma^2 in {count} distributions; the bound "
        f"falls in {falls} of {steps} steps; the denominator is within {at_most(limit, 1e-6)} of "
        f"{float(maximum):g} for lambda = 1e-12"
        + failing(
            (above <= 0, f"it is up to {at_most(above, 1e-6)} above that"),
            (away <= 0, f"as lambda falls it moves away by up to {at_most(away, 1e-6)}"),
        ),
        claimed=f"never above; all steps; a limit of {float(maximum):g}",
        slack=min(nearest, short(falls, steps), short(0, max(away, above)), short(1e-6, limit)),
        why="The first part is Jensen's inequality. The remark explains why more noise seems to help. One "
        "can say more: with the largest |m|^2 that the noise allows, the bound is sigma^2 / (1 - "
        f"sqrt(lambda)(1 - sigma^2)), and it rises with sigma^2, in {rises} of {steps} steps.",
        sizes={"laws": count, "grid": 19},
        seeds=(603,),
        reach=reach,
    )


@claim(
    "clasmk/remark-1-neglected",
    kind="statement",
    where="Remark 1, before (15)",
    statement=r"for $\sqrt\lambda\ll1$ a change in $\sigma_e^2$ can be neglected compared to the "
    r"corresponding difference in $\|m\|^2$",
    notebook=f"{NOTEBOOK}#clasmk-remark-1",
    rivals=(
        Rival(r"for $\sqrt\lambda$ near 1", {"roots": (0.9, 0.99, 0.999)}),
        Rival("a share 2 % smaller", {"scale": 0.98}),
        Rival(r"$\lambda$ for $\sqrt\lambda$ in the share", {"power": 2}),
        Rival(r"against a difference in $\|m\|^2$ of a hundredth of the change", {"part": 0.01}),
    ),
)
def check_neglected(
    *,
    roots: tuple[float, ...] = (0.1, 0.01, 0.001, 0.0001),
    scale: float = 1.0,
    power: int = 1,
    part: float = 1.0,
) -> Evidence:
    r"""Compare what a change does to the bound through the noise and through the mean, over grids.

    The two effects are the logarithms of the factors by which the bound (11) changes. The difference in
    :math:`\lVert m\rVert^2` is `part` of the change in the noise; then the share of the noise is at most
    :math:`\sqrt\lambda/(1-\sqrt\lambda)`, which tends to 0 with :math:`\lambda`.
    """
    shares, held, tested, reach, slack = [], 0, 0, 0.0, np.inf
    for root in roots:
        limit = scale * root**power / (1 - root**power)
        largest = 0.0
        for s in (1e-6, 0.05, 0.2, 0.4):
            for change in (1e-4, 0.01, 0.1, 0.3):
                for energy in (change, 0.3, 0.9 * (1 - s)):
                    if not part * change <= energy <= 1 - s - change:
                        continue
                    least = energy - part * change
                    by_noise = np.log(
                        lemma_bound(energy, root**2, s) / lemma_bound(energy, root**2, s + change)
                    )
                    by_mean = np.log(lemma_bound(least, root**2, s) / lemma_bound(energy, root**2, s))
                    share, tested = by_noise / by_mean, tested + 1
                    held += share <= limit
                    reach, slack = max(reach, share / limit), min(slack, limit - share)
                    largest = max(largest, share)
        shares.append(largest)
    vanishing = min(a / 5 - b for a, b in pairwise(shares))
    alone = 1 - lemma_bound(0.5, 0.01, 0.3) / lemma_bound(0.5, 0.01, 0.1)
    told = ", ".join(f"{share:.2g} for {root:g}" for root, share in zip(roots, shares, strict=True))
    return Evidence(
        verdict=decide(held == tested > 0 and vanishing > 0),
        measured="largest effect of the noise, as a share of the effect of the mean, by sqrt(lambda): "
        f"{told}"
        + failing((held == tested, f"it is below the bound of the proof in {held} of {tested} cases")),
        claimed="tends to 0 with lambda",
        slack=float(min(slack, vanishing)),
        why="If |m|^2 falls by as much as sigma^2 grows, the logarithm of the bound changes through sigma^2 "
        f"by at most sqrt(lambda) / (1 - sqrt(lambda)) times its change through |m|^2. This held in {held} "
        f"of {tested} cases. The logarithm of the denominator has the slope sqrt(lambda) over the "
        "denominator, that of the numerator 1 or more.",
        sizes={"cases": tested},
        reach=reach,
        reading="The corresponding difference is read as one of the same size, as the inequality before the "
        "sentence suggests. It need not occur: |m|^2 may stay the same while the variance of beta falls. "
        "Then the noise cannot be neglected against anything: with sqrt(lambda) = 0.1 and the noise from "
        f"0.1 to 0.3 the bound falls by {alone:.1%}.",
    )


@claim(
    "clasmk/eq-15",
    kind="proof",
    where="Remark 1, after (15)",
    statement=r"$E\|U_{\tilde c}^\top\varphi_c\|^2$ over $\|m\|^2$ is a valid $\lambda$ for (10): it is no "
    "less than the quotient there",
    notebook=f"{NOTEBOOK}#clasmk-remark-1",
    rivals=(
        Rival("2 % less of it", {"scale": LESS}),
        Rival("the whole sample below the line, not its mean", {"of_mean": False}),
    ),
)
def check_mean_ratio(*, scale: Fraction = Fraction(1), of_mean: bool = True) -> Evidence:
    """Compare the two ratios exactly, and Lemma 1 with the larger as its lambda."""
    no_less = held = tested = lost = count = 0
    nearest, reach = Fraction(1), 0.0
    for (one, other), noise in [*problems(604, 300), *small_classes()]:
        count += 1
        tight = overlap(one, other)
        printed = scale * captured(one, projector(other)) / (one.mean_energy if of_mean else 1)
        no_less += printed >= tight
        nearest = min(nearest, printed - tight if tight else nearest)
        reach = max(reach, float(tight / printed) if printed else 0.0)
        lost += tight < 1 <= printed
        if printed < 1:
            tested += 1
            chance = exceeding(one.within(), between(one, other))
            held += below(chance, 1 - one.mean_energy, printed, 1 - noise)
    return Evidence(
        verdict=decide(no_less == count and held == tested > 0),
        measured=f"no less than the quotient in {no_less} of {count} models; the lemma holds with it in "
        f"{held} of {tested} where it is below 1",
        claimed="all models",
        slack=float(nearest),
        why=f"|m|^2 <= E|U'phi|^2, and any lambda above the ratio will do. This has a price: in {lost} of "
        f"{count} models it is 1 or more although the ratio of (10) is below 1, and the lemma says nothing.",
        sizes={"models": count},
        seeds=(604,),
        reach=reach,
    )
