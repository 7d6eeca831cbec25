r"""The claims on Section 2.3: from level sets to the regression function.

With the true level sets, :math:`\#\{1\le h\le H:p>h/H\}=\lceil pH\rceil-1` for p > 0, whose H-th part is in
:math:`[p-1/H,p)`: Step 1 with errors of at most 1/H. The term h = H is never 1. Adding one half puts the
estimate in the middle of the cell :math:`(k/H,(k+1)/H]` that p is known to lie in, and halves the largest
error.

As printed, the sum counts the complements, :math:`\#\{1\le h\le H:p\le h/H\}=H-\lceil pH\rceil+1` for p > 0:
its H-th part is in :math:`(1-p,1-p+1/H]`, and 1 for p = 0. It estimates 1 - p.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from ...claims import Evidence, claim, decide

NOTEBOOK = "smm/04_probabilities"
#: numbers of levels
LEVELS = (1, 2, 3, 5, 10, 20, 50)
#: p is a multiple of one over this, so that it meets levels and passes between them
GRID = 420


def cases() -> Iterator[tuple[Fraction, int]]:
    """Yield all p of the grid with all numbers of levels."""
    for H in LEVELS:
        for i in range(GRID + 1):
            yield Fraction(i, GRID), H


def printed_estimate(p: Fraction, H: int) -> Fraction:
    r"""Return :math:`\sum_{h=1}^H\frac1H1\{p\le h/H\}`, Step 1 and S.4, with the true level sets."""
    return Fraction(sum(p <= Fraction(h, H) for h in range(1, H + 1)), H)


def steps(p: Fraction, H: int) -> Fraction:
    r"""Return :math:`\sum_{h=1}^H\frac1H1\{p>h/H\}`, with the level sets instead of their complements."""
    return Fraction(sum(p > Fraction(h, H) for h in range(1, H + 1)), H)


def halved(p: Fraction, H: int) -> Fraction:
    r"""Return :math:`\frac1H(\frac12+\#\{h<H:p>h/H\})`, the middle of the cell of p."""
    return Fraction(1, 2 * H) + Fraction(sum(p > Fraction(h, H) for h in range(1, H)), H)


@claim(
    "smm/step-1",
    kind="statement",
    where="Section 2.3, Step 1",
    statement="$H$ steps of height $1/H$ at the levels $h/H$ approximate $p(X)$: "
    r"$|p-\frac1H\sum_h1\{p>h/H\}|\le1/H$",
    notebook=f"{NOTEBOOK}#smm-step-1",
)
def check_steps() -> Evidence:
    """Take the exact errors on a grid of p for several H."""
    worst = max(abs(steps(p, H) - p) * H for p, H in cases())
    last = sum(p > Fraction(H, H) for p, H in cases())
    middle = max(abs(halved(p, H) - p) * H for p, H in cases())
    count = sum(1 for _ in cases())
    mean = [float(np.mean([steps(p, H) - p for p, h in cases() if h == H])) * H for H in LEVELS]
    return Evidence(
        decide(worst <= 1),
        f"the largest error is {float(worst):g}/H, on average the steps are {-min(mean):.2f}/H to "
        f"{-max(mean):.2f}/H too low",
        "1/H",
        # the error at p = 1 is the bound itself; inside the bound is what a half step leaves
        float(1 - middle),
        "The steps are right up to 1/H, which p = k/H takes on; with half a step more, and h < H, the "
        f"largest error is {float(middle):g}/H. The term h = H is 1 in {last} of {count} cases: p never "
        f"exceeds 1. The display has the complements, 1{{p <= h/H}}, whose sum is 1 - p.",
        {"cases": count, "H": list(LEVELS)},
    )


@claim(
    "smm/scheme-S4",
    kind="arithmetic",
    where="Section 2.3, Steps 1 and 2, and S.4",
    statement=r"$\hat p(X)=\sum_{h=1}^H\frac1H1\{X\in\hat S^c(p,h/H)\}$ estimates $p(X)$",
    notebook=f"{NOTEBOOK}#smm-scheme-s4",
)
def check_printed_scheme() -> Evidence:
    """Put the true level sets into the printed and the corrected estimator, on a grid of p, exactly."""
    wrong = max(abs(printed_estimate(p, H) - p) for p, H in cases())
    inside = mirrored = corrected = count = 0
    for p, H in cases():
        above = printed_estimate(p, H) - (1 - p)
        inside += 0 < above <= Fraction(1, H) or (p == 0 and above == 0)
        mirrored += abs(printed_estimate(p, H) - p) <= Fraction(1, H)
        corrected += abs(halved(p, H) - p) <= Fraction(1, 2 * H)
        count += 1
    example = Fraction(9, 10)
    return Evidence(
        decide(mirrored == count, corrected == count),
        f"with the true level sets the estimate is off by up to {float(wrong):g}; where p is 0.9 and H = "
        f"10, it is {float(printed_estimate(example, 10)):g}. It is within 1/H of p in {mirrored} of "
        f"{count} cases",
        "within 1/H",
        float(Fraction(1, max(LEVELS)) - wrong),
        "The complements are counted: the sum lies in (1 - p, 1 - p + 1/H], and is 1 where p is 0, in "
        f"{inside} cases. (1/H)(1/2 + #{{h < H: X in S(h/H)}}) is within 1/(2H) of p in {corrected} cases "
        f"and gives {float(halved(example, 10)):g} in the example.",
        {"cases": count, "H": list(LEVELS)},
    )


@claim(
    "smm/half-step",
    kind="ours",
    where="Section 2.3",
    statement=r"$\frac1H(\frac12+\#\{h<H:X\in S(h/H)\})$ errs by at most $1/(2H)$, and no other function of "
    "the level sets errs less in the worst case",
    notebook=f"{NOTEBOOK}#smm-half-step",
)
def check_half_step() -> Evidence:
    """Group a grid of p by their level sets: half the width of a group bounds every estimator from below."""
    worst, lowest, other = Fraction(0), Fraction(10), Fraction(0)
    # p = h/H is not in S(h/H), so the cells are open at their lower end: come near it
    near = Fraction(1, 10**6)
    for H in LEVELS:
        groups: dict[tuple[bool, ...], list[Fraction]] = {}
        grid = {Fraction(i, GRID) for i in range(GRID + 1)} | {Fraction(h, H) for h in range(H + 1)}
        grid |= {Fraction(h, H) + near for h in range(H)}
        for p in grid:
            groups.setdefault(tuple(p > Fraction(h, H) for h in range(1, H)), []).append(p)
        for members in groups.values():
            width = max(members) - min(members)
            lowest = min(lowest, width * H / 2)
            worst = max(worst, *(abs(halved(p, H) - p) * H for p in members))
            other = max(other, *(abs(steps(p, H) - p) * H for p in members))
    return Evidence(
        decide(worst <= Fraction(1, 2) and lowest >= Fraction(1, 2) - near * max(LEVELS)),
        f"largest error {float(worst):g}/H; every estimator errs by {float(lowest):.5f}/H or more somewhere",
        "1/2 of 1/H",
        float(near * max(LEVELS) - (worst - lowest)),
        "All p in a cell (k/H, (k+1)/H] have the same level sets, so an estimate is one number for the "
        f"cell, and its middle is the best one. Without the half the error is up to {float(other):g}/H. "
        "This bounds what H levels can tell, whatever fits them: with all level sets exact 1/(2H) remains "
        "at worst, and 1/(4H) on average where p is uniform.",
        {"H": list(LEVELS), "denominator": GRID},
    )


def one_negative(X: np.ndarray, lam: float) -> np.ndarray:
    r"""Return the minimiser of :math:`(1+\langle B,X\rangle)_++\lambda\lVert B\rVert_F^2`.

    The problem (3) with the weights of pi = 1, where only matrices of class -1 count, for one of them: by its
    dual, :math:`B=-aX` with :math:`a=\min(1/(2\lambda),1/\lVert X\rVert_F^2)`.

    Parameters
    ----------
    X : (d1, d2) array
        The matrix of class -1, not 0.
    lam : float
    """
    return -min(1 / (2 * lam), 1 / float(np.sum(X**2))) * X


@claim(
    "smm/last-level",
    kind="statement",
    where="S.1 and S.2",
    statement=r"(3) is solved for $\pi_h=h/H$ with $h=1,\dots,H$, to estimate $S(p,\pi_h)$",
    notebook=f"{NOTEBOOK}#smm-last-level",
)
def check_last_level() -> Evidence:
    """Solve (3) at h = H for one matrix of class -1, without intercept; ask where its level set is."""
    rng = np.random.default_rng(710)
    inside = drawn = proved = problems = 0
    for shape in ((1, 1), (2, 3), (8, 8)):
        for lam in (0.01, 0.3, 3.0):
            X = rng.normal(size=shape)
            B = one_negative(X, lam)
            a = -float(np.sum(B * X)) / float(np.sum(X**2))
            value = max(1 + float(np.sum(B * X)), 0.0) + lam * float(np.sum(B**2))
            # feasible in the dual, 0 <= c = 2 lam a <= 1, with the value c - c^2 |X|^2 / (4 lam)
            c = 2 * lam * a
            proved += bool(c <= 1 + 1e-12 and abs(value - (c - c**2 * np.sum(X**2) / (4 * lam))) < 1e-12)
            new = rng.normal(size=(400, *shape))
            inside += int((np.einsum("nij,ij->n", new, B) > 0).sum())
            drawn += len(new)
            problems += 1
    trivial = max(1 + (-1.0), 0.0)
    return Evidence(
        decide(inside == 0, trivial == 0 and proved == problems),
        f"at h = H the estimated level set, without an intercept, holds {inside / drawn:.0%} of random "
        "matrices, for every truth p",
        "none",
        -inside / drawn,
        "S(p, 1) is empty, as p <= 1. The weight of class 1 is 0 there, so data do not speak: with an "
        f"intercept B = 0, b = -1 has the value {trivial:g}, and the level set is empty without solving "
        "anything; a linear f without intercept is positive on -X wherever it is negative on X. So h goes "
        "to H - 1, and the levels 0 and 1 are known.",
        {"problems": problems, "matrices": drawn},
        (710,),
    )
