r"""The claims on Section 2.3: from level sets to the regression function.

With the true level sets, :math:`\#\{1\le h\le H:p>h/H\}=\lceil pH\rceil-1` for p > 0, whose H-th part is in
:math:`[p-1/H,p)`: steps with errors of at most 1/H. The term h = H is never 1. Adding one half puts the
estimate in the middle of the cell :math:`(k/H,(k+1)/H]` that p is known to lie in, and halves the largest
error: this is `count_rule`, which the checks below give the true level sets.

As printed, in Step 1 and in S.4, the sum counts the complements, :math:`\#\{1\le h\le H:p\le h/H\}=H-\lceil
pH\rceil+1` for p > 0: its H-th part is in :math:`(1-p,1-p+1/H]`, and 1 for p = 0. It estimates 1 - p.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from ...claims import Evidence, Rival, at_most, claim, decide
from ..model.aggregation import count_rule

NOTEBOOK, HERE = "smm/04_probabilities", "smm.claims.section_2_scheme"
#: numbers of levels; a single one, H = 1, leaves the count without a level
LEVELS = (2, 3, 5, 10, 20, 50)
#: p is a multiple of one over this, so that it meets levels and passes between them
GRID = 420
#: rounding of the library's count, whose numbers are fractions here
ROUNDING = 1e-12


def cases() -> Iterator[tuple[Fraction, int]]:
    """Yield all p of the grid with all numbers of levels."""
    for H in LEVELS:
        for i in range(GRID + 1):
            yield Fraction(i, GRID), H


def printed_estimate(p: Fraction, H: int, complements: bool = True) -> Fraction:
    r"""Return :math:`\sum_{h=1}^H\frac1H1\{p\le h/H\}`, Step 1 and S.4, with the true level sets.

    Parameters
    ----------
    p : Fraction
    H : int
    complements : bool
        False for :math:`1\{p>h/H\}`, the sets instead of their complements.
    """
    return Fraction(sum((p <= Fraction(h, H)) == complements for h in range(1, H + 1)), H)


def counts(p: list[Fraction], H: int) -> np.ndarray:
    """Return the library's count of the true level sets of each of the probabilities `p`: (len(p),)."""
    above = [[1.0 if each > Fraction(h, H) else -1.0 for h in range(1, H)] for each in p]
    return count_rule(np.array(above))


def count_errors(H: int) -> np.ndarray:
    """Return how far the library's count of the true level sets is from p, for all p of the grid."""
    p = [Fraction(i, GRID) for i in range(GRID + 1)]
    return np.asarray(np.abs(counts(p, H) - np.array(p, dtype=float)))


#: the count of the draft's complements, or with a half step that is 2 % off or missing
COUNTS = {
    "the half step of the count 2 % larger": lambda count: lambda f: count(f) + 0.01 / (np.shape(f)[1] + 1),
    "a count without its half step": lambda count: lambda f: count(f) - 0.5 / (np.shape(f)[1] + 1),
    "a count of the complements": lambda count: lambda f: count(-np.asarray(f)),
    "a count over H - 1 in place of H": lambda count: (
        lambda f: count(f) * (np.shape(f)[1] + 1) / np.shape(f)[1]
    ),
}


def broken_counts() -> tuple[Rival, ...]:
    """Return the rivals that put a broken count in the place of the library's."""
    return tuple(Rival(what, swaps={"smm.model.aggregation.count_rule": how}) for what, how in COUNTS.items())


@claim(
    "smm/scheme-S4",
    kind="proof",
    where="Section 2.3, Steps 1 and 2, and S.4",
    statement=r"$p(X)\approx\sum_{h=1}^H\frac1H1\{p(X)\le\frac hH\}$, a combination of step functions, "
    r"and so "
    r"$\hat p(X)=\sum_{h=1}^H\frac1H1\{X\in\hat S^c(p,h/H)\}$",
    notebook=f"{NOTEBOOK}#smm-scheme-s4",
    rivals=(
        Rival("the sets in place of their complements", {"complements": False}),
        *broken_counts(),
        Rival("the corrected error 2 % smaller", {"width": 0.49}),
    ),
)
def check_printed_scheme(complements: bool = True, width: float = 0.5) -> Evidence:
    """Put the true level sets into the printed estimator, exactly, and into the library's count."""
    errors = [abs(printed_estimate(p, H, complements) - p) for p, H in cases()]
    wrong, count = max(errors), len(errors)
    near = sum(error <= Fraction(1, H) for error, (_, H) in zip(errors, cases(), strict=True))
    plain = max(abs(printed_estimate(p, H, complements=False) - p) * H for p, H in cases())
    mirrored = sum(0 <= printed_estimate(p, H, complements) - (1 - p) <= Fraction(1, H) for p, H in cases())
    halves = [count_errors(H) * H for H in LEVELS]
    corrected = sum(int((half <= width + ROUNDING * max(LEVELS)).sum()) for half in halves)
    reach = max(float(half.max()) for half in halves) / width
    example = Fraction(9, 10)
    return Evidence(
        verdict=decide(near == count, corrected == count),
        measured=f"with the true level sets the sum is off by up to {float(wrong):g}, and is within 1/H of p "
        f"in {near} of {count} cases; where p is 0.9 and H = 10, it is "
        f"{float(printed_estimate(example, 10, complements)):g}. The library's count of the sets with half a "
        f"step is off by up to {reach * width:.3f}/H, and gives {float(counts([example], 10)[0]):g} there",
        claimed=f"within 1/H; corrected, within {width:g}/H",
        slack=float(Fraction(1, max(LEVELS)) - wrong),
        why=f"The sum counts the complements: it lies in [1 - p, 1 - p + 1/H] in {mirrored} cases. With 1{{p "
        f"> h/H}} instead, it is within {float(plain):g}/H of p, and the term h = H is always 0. The count "
        f"is (1/H)(1/2 + #{{h < H: X in S(h/H)}}); it is within {width:g}/H in {corrected} cases.",
        sizes={"cases": count, "H": list(LEVELS)},
        reach=reach,
    )


@claim(
    "smm/half-step",
    kind="ours",
    where="Section 2.3",
    statement=r"$\frac1H(\frac12+\#\{h<H:X\in S(h/H)\})$ errs by at most $1/(2H)$, and no other function of "
    "the level sets errs less in the worst case",
    notebook=f"{NOTEBOOK}#smm-half-step",
    rivals=(*broken_counts(), Rival("an error 2 % smaller", {"width": Fraction(49, 100)})),
)
def check_half_step(width: Fraction = Fraction(1, 2)) -> Evidence:
    """Group a grid of p by their level sets: half the width of a group bounds every estimator from below."""
    worst, lowest, other = 0.0, Fraction(10), Fraction(0)
    # p = h/H is not in S(h/H), so the cells are open at their lower end: come near it
    near = Fraction(1, 10**6)
    for H in LEVELS:
        groups: dict[tuple[bool, ...], list[Fraction]] = {}
        grid = {Fraction(i, GRID) for i in range(GRID + 1)} | {Fraction(h, H) for h in range(H + 1)}
        grid |= {Fraction(h, H) + near for h in range(H)}
        for p in grid:
            groups.setdefault(tuple(p > Fraction(h, H) for h in range(1, H)), []).append(p)
            other = max(other, abs(printed_estimate(p, H, complements=False) - p) * H)
        for members in groups.values():
            lowest = min(lowest, (max(members) - min(members)) * H / 2)
            apart = counts(members, H) - np.array(members, dtype=float)
            worst = max(worst, float(np.abs(apart).max()) * H)
    left = float(near * max(LEVELS))
    return Evidence(
        verdict=decide(worst <= float(width) + 1e-9 and float(lowest) >= float(width) - left),
        measured=f"largest error {worst:.6g}/H; every estimator errs by {float(lowest):.5f}/H or more "
        "somewhere",
        claimed=f"{float(width):g}/H",
        slack=min(float(width) + 1e-9 - worst, float(lowest) - float(width) + left),
        why="All p in a cell (k/H, (k+1)/H] have the same level sets, so an estimate is one number for the "
        f"cell, and its middle is the best one. Without the half the error is up to {float(other):g}/H. "
        "This limits what H levels can tell, however they are fitted. With all level sets exact, an error "
        "of 1/(2H) remains in the worst case, and 1/(4H) on average where p is uniform.",
        sizes={"H": list(LEVELS), "denominator": GRID},
        reach=worst / float(width),
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
    where="Section 2.3, scheme, S.1 and S.2",
    statement=r"(3) is solved for $\pi_h=h/H$ with $h=1,\dots,H$, to estimate $S(p,\pi_h)$",
    notebook=f"{NOTEBOOK}#smm-last-level",
    rivals=(
        Rival("without an intercept", {"intercept": False}),
        Rival("the level before the last of twenty", {"level": 0.95}),
        Rival("an intercept 2 % nearer to 0", {"b": -0.98}),
    ),
)
def check_last_level(intercept: bool = True, level: float = 1.0, b: float = -1.0) -> Evidence:
    """Ask at h = H what solves (3), and which matrices its level set has: S(p, 1) is empty.

    Parameters
    ----------
    intercept : bool
        False for the functions without one, as f is printed.
    level : float
        The level, of which the last is 1.
    b : float
        The intercept of the solution with B = 0.
    """
    rng = np.random.default_rng(710)
    inside = drawn = proved = problems = 0
    worst = 0.0
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
            # B = 0 and b on labels of both classes: what is lost, of which 0 is the least
            y = np.append(rng.choice([-1.0, 1.0], size=20), [-1.0, 1.0])
            weights = np.where(y > 0, 1 - level, level)
            worst = max(worst, float(np.mean(weights * np.maximum(1 - y * b, 0.0))))
            problems += 1
    without = inside / drawn
    found = float(b > 0) if intercept else without
    how = f"with an intercept, where B = 0 and b = {b:g} lose {at_most(worst, ROUNDING)} at most"
    return Evidence(
        verdict=decide(found == 0 and worst <= ROUNDING),
        measured=f"{how if intercept else 'without an intercept'}, the level set contains {found:.0%} of "
        f"random matrices; without one {without:.0%}",
        claimed="none, as S(p, 1) is empty",
        slack=ROUNDING - max(worst, found),
        why="S(p, 1) is empty, as p <= 1, and the weight of class 1 is 0 there. With an intercept, whose "
        "constraint the printed dual has, the objective is 0 only where B = 0 and b <= -1: the data have no "
        "influence, and nothing is learned. Without one, as f is printed, only the matrices of class -1 "
        f"count, and a linear f is positive on -X wherever it is negative on X; {proved} of {problems} such "
        "solutions, each of one matrix of class -1, are proved by the dual. The library ends at h = H - 1.",
        sizes={"problems": problems, "matrices": drawn},
        seeds=(710,),
    )
