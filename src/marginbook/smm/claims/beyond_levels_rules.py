r"""The claims on the rules that make a probability of level sets that cross.

Let b be the lowest level without X and a the highest with it (:math:`b=H` and :math:`a=0` where
there is none). If b < a, let z of the levels b, ..., a be without X and o with it, :math:`z+o=a-b+1`. X is in
:math:`N=b-1+o` sets, so that interval rule and count differ by

.. math:: \frac{a+b}{2H}-\frac{2N+1}{2H}=\frac{z-o}{2H}.

b crosses with each of the o, and a with each of the z; one pair is both. So there are
:math:`q\ge z+o-1\ge\max(z,o)` crossing pairs, and :math:`|z-o|\le\max(z,o)-1\le q-1`. For o = 1 all of this
is an equality, for q = 1, ..., H-2.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from sklearn.isotonic import IsotonicRegression

from ...claims import Evidence, Rival, at_most, claim, decide, short
from ..model.aggregation import count_rule, crossing_pairs, interval_rule, isotonic_rule
from .section_2_scheme import broken_counts

NOTEBOOK = "smm/04_probabilities"
#: rounding of sums of a few numbers of size 1
ROUNDING = 1e-9


def patterns(count: int) -> np.ndarray:
    """Return all decisions of `count` levels as -1 and 1: (2^count, count) array."""
    return np.array(list(product((-1.0, 1.0), repeat=count)))


@claim(
    "smm/count-isotonic",
    kind="ours",
    where="Section 2.3",
    statement="the count is the mean of the indicators' projection onto falling sequences, so it already "
    "repairs crossings; without crossings count, interval rule and isotonic rule agree",
    notebook=f"{NOTEBOOK}#smm-count-isotonic",
    rivals=(
        *broken_counts(),
        Rival(
            "an isotonic rule that counts decisions as they are",
            swaps={"smm.model.aggregation.isotonic_rule": lambda rule: count_rule},
        ),
    ),
)
def check_count() -> Evidence:
    """Project all sequences of indicators by isotonic regression; compare the rules on all of them.

    That the isotonic rule is one is part of it: it counts the decisions that regression leaves above 0.
    """
    apart, agree, straight, between, crossed, repaired = 0.0, 0.0, 0, 0.0, 0, 0.0
    rng = np.random.default_rng(751)
    for count in range(1, 8):
        decisions = patterns(count)
        scaled = decisions * rng.uniform(0.1, 3, size=decisions.shape)
        fitted = np.array(
            [
                IsotonicRegression(increasing=False).fit_transform(np.arange(count), s)
                for s in (decisions > 0).astype(float)
            ]
        )
        by_projection = (0.5 + fitted.sum(axis=1)) / (count + 1)
        apart = max(apart, float(np.abs(by_projection - count_rule(scaled)).max()))
        rules = np.array([rule(scaled) for rule in (count_rule, interval_rule, isotonic_rule)])
        falling = np.array(
            [IsotonicRegression(increasing=False).fit_transform(np.arange(count), s) for s in scaled]
        )
        left = (0.5 + (falling > 0).sum(axis=1)) / (count + 1)
        repaired = max(repaired, float(np.abs(rules[2] - left).max()))
        plain = crossing_pairs(scaled) == 0
        straight += int(plain.sum())
        agree = max(agree, float(np.ptp(rules[:, plain], axis=0).max()))
        between = max(between, float(np.ptp(rules, axis=0).max()))
        crossed += int((~plain).sum())
    return Evidence(
        verdict=decide(max(apart, agree, repaired) <= ROUNDING),
        measured=f"count and projection differ by at most {at_most(apart, ROUNDING)}, the rules by "
        f"{at_most(agree, ROUNDING)} on the {straight} sequences without crossings"
        + ("" if repaired <= ROUNDING else f"; isotonic rule and regression differ by up to {repaired:.2g}"),
        claimed="no difference",
        slack=min(ROUNDING - max(apart, agree), short(ROUNDING, repaired)),
        why="Isotonic regression replaces blocks of neighbours by their means, so the sum stays the same. On "
        "sequences without crossings all rules use the one place where the sign changes. With crossings "
        f"they differ by up to {between:.2f} ({crossed} sequences with random sizes): the isotonic rule "
        "weighs decisions by their size, and the interval rule uses only the outermost ones.",
        sizes={"sequences": straight + crossed, "levels": [1, 7]},
        seeds=(751,),
    )


@claim(
    "smm/interval-count",
    kind="ours",
    where="Section 2.3",
    statement=r"if $q\ge1$ pairs of levels cross, interval rule and count differ by at most "
    r"$\frac{q-1}{2H}$; for $q\le H-2$ this is attained",
    notebook=f"{NOTEBOOK}#smm-interval-count",
    rivals=(
        *broken_counts(),
        Rival("a bound of one pair less", {"free": 2}),
        Rival("a bound of one pair more", {"free": 0}),
    ),
)
def check_interval(free: int = 1) -> Evidence:
    """Compare the two rules on all sequences of up to 12 indicators, in whole multiples of 1/(2H)."""
    beyond = formula = crossed = 0
    reach = 0.0
    sharp: list[bool] = []
    for count in range(2, 13):
        H, decisions = count + 1, patterns(count)
        apart = 2 * H * (interval_rule(decisions) - count_rule(decisions))
        q = crossing_pairs(decisions)
        more = q > free
        reach = max(reach, float((np.abs(apart[more]) / (q[more] - free)).max(initial=0.0)))
        inside, h = decisions > 0, np.arange(1, H)
        highest = np.where(inside, h, 0).max(axis=1)[:, None]
        lowest = np.where(inside, H, h).min(axis=1)[:, None]
        between = (h >= lowest) & (h <= highest)
        exact = (between & ~inside).sum(axis=1) - (between & inside).sum(axis=1)
        formula += int((np.abs(apart - exact) > ROUNDING).sum())
        beyond += int((np.abs(apart) > np.maximum(q - free, 0) + ROUNDING).sum())
        crossed += int((q > 0).sum())
        sharp += [
            bool(np.abs(apart[q == pairs]).max(initial=0) >= pairs - free - ROUNDING)
            for pairs in range(1, H - 1)
        ]
    return Evidence(
        verdict=decide(beyond == 0 and formula == 0 and all(sharp)),
        measured=f"{beyond} of {crossed} sequences with crossings exceed the bound; it is attained for "
        f"{sum(sharp)} of {len(sharp)} pairs of H and q",
        claimed=f"none beyond (q - {free})/(2H); all pairs",
        slack=min(ROUNDING - beyond, short(-formula, 0), short(sum(sharp), len(sharp))),
        why="The difference is (z - o)/(2H): from the lowest level without X to the highest with X, z levels "
        "lack X and o contain it. Each outermost level crosses all levels of the other kind, so q >= z + o "
        "- 1. A single crossing pair changes nothing: there are two levels in between, one of each kind.",
        sizes={"sequences": crossed, "levels": [2, 12]},
        reach=reach,
    )


@claim(
    "smm/one-wrong-level",
    kind="ours",
    where="Section 2.3",
    statement="one wrong level set moves the count by $1/H$, and the interval rule by up to "
    r"$\frac{H-1}{2H}$",
    notebook=f"{NOTEBOOK}#smm-one-wrong-level",
    rivals=(
        Rival("a count over H - 1 in place of H", broken_counts()[3].arguments, broken_counts()[3].swaps),
        Rival("an interval rule that moves 2 % further", {"factor": 1.02}),
    ),
)
def check_one_wrong(factor: float = 1.0) -> Evidence:
    """Flip each level of each sequence without crossings, for all H up to 50."""
    worst, reached, count = 0.0, 0.0, 0
    for H in range(3, 51):
        h = np.arange(1, H)
        straight = np.where(h[None, :] <= np.arange(H)[:, None], 1.0, -1.0)
        moved_count = moved_interval = 0.0
        for level in range(H - 1):
            flipped = straight.copy()
            flipped[:, level] *= -1
            moved_count = max(moved_count, float(np.abs(count_rule(flipped) - count_rule(straight)).max()))
            moved_interval = max(
                moved_interval, float(np.abs(interval_rule(flipped) - interval_rule(straight)).max())
            )
            count += H
        worst = max(worst, abs(moved_count * H - 1))
        reached = max(reached, abs(moved_interval - factor * (H - 1) / (2 * H)))
    return Evidence(
        verdict=decide(max(worst, reached) <= ROUNDING),
        measured="the count moves by 1/H and the interval rule by (H - 1)/(2H) at most, to "
        f"{at_most(max(worst, reached), ROUNDING)}",
        claimed="no difference",
        slack=ROUNDING - max(worst, reached),
        why="If the lowest level alone says no and all others say yes, the interval rule takes the middle of "
        "1/H and (H-1)/H, whatever H is; the count loses one step. Without crossings the two agree. So the "
        "interval rule has a price in finite samples only, which grows with the number of levels that can "
        "be wrong.",
        sizes={"flips": count, "H": [3, 50]},
    )
