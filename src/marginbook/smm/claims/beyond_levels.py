r"""The claims on probabilities from level sets that are not exact: errors, crossings, and what the rules do.

Let k be the number of levels h < H whose fitted set is wrong at X. The count changes by one for each, so

.. math::

   |\hat p(X)-p(X)|\le\frac1{2H}+\frac kH .

Let :math:`e_h(X)` be the excess of the weighted hinge risk at X at the level h/H. A wrong level costs
:math:`e_h\ge|p-h/H|` (see `section_2_weighted_losses`), and the j-th nearest level is :math:`\frac{j-1}{2H}`
away from p or more, so that

.. math::

   \frac{(k-1)^2}{4H}\le\frac{k(k-1)}{4H}\le\sum_he_h(X),\qquad
   E\,|\hat p-p|\le\frac3{2H}+2\sqrt{\bar\varepsilon},\quad
   \bar\varepsilon=\frac1H\sum_{h<H}\bigl(R_{h/H}(\hat f_h)-\min R_{h/H}\bigr),

by Jensen's inequality. Nothing is assumed of the distribution: a single level set would need a margin
condition, mass of p near its level; the average over all levels does without.

Two rules. Let b be the lowest level without X and a the highest with it (:math:`b=H` and :math:`a=0` where
there is none). If b < a, let z of the levels b, ..., a be without X and o with it, :math:`z+o=a-b+1`. X is in
:math:`N=b-1+o` sets, so that interval rule and count differ by

.. math:: \frac{a+b}{2H}-\frac{2N+1}{2H}=\frac{z-o}{2H}.

b crosses with each of the o, and a with each of the z; one pair is both. So there are
:math:`q\ge z+o-1\ge\max(z,o)` crossing pairs, and :math:`|z-o|\le\max(z,o)-1\le q-1`. For o = 1 all of this
is an equality, for q = 1, ..., H-2.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
from sklearn.isotonic import IsotonicRegression

from ...claims import Evidence, Rival, at_most, claim, decide
from ..model.aggregation import count_rule, crossing_pairs, interval_rule, isotonic_rule, levels
from ..model.objective import LOSSES, weights_for
from ..solvers.block import solve_inner
from .problems import drawn
from .section_2_scheme import broken_counts

NOTEBOOK = "smm/04_probabilities"
#: rounding of sums of a few numbers of size 1
ROUNDING = 1e-9


@claim(
    "smm/probability-bound",
    kind="ours",
    where="Section 5, which is empty",
    statement=r"$E|\hat p-p|\le\frac3{2H}+2\sqrt{\bar\varepsilon}$, with $\bar\varepsilon$ the mean excess "
    "risk of the $H-1$ weighted hinge problems, for every distribution",
    notebook=f"{NOTEBOOK}#smm-probability-bound",
    rivals=(
        *broken_counts(),
        Rival("half the price of a wrong level", {"step": 0.5}),
        Rival("a risk of k levels a fifth larger", {"cost": 0.6}),
    ),
)
def check_probability_bound(step: float = 1.0, cost: float = 0.5) -> Evidence:
    """Check both steps for all sets of wrong levels exactly; then the bound on random distributions."""
    steps_hold = tested = 0
    near, dear = 0.0, 0.0
    for H in (2, 3, 5, 8):
        at = np.array([Fraction(h, H) for h in range(1, H)])
        wrong = patterns(H - 1) < 0
        k = wrong.sum(axis=1)
        # beside multiples of 1/120 the ends of a cell, which both steps attain, from above and in the middle
        for p in {Fraction(i, 120) for i in range(0, 121, 5)} | {
            Fraction(2 * h + 1, 2 * H) for h in range(H)
        }:
            inside = (at < p) != wrong
            apart = np.abs(count_rule(np.where(inside, 1.0, -1.0)) - float(p))
            price = wrong @ np.abs(at - p).astype(float)
            bound = 1 / (2 * H) + step * k / H
            least = cost * k * (k - 1) / (2 * H)
            steps_hold += int(((apart <= bound + ROUNDING) & (least <= price + ROUNDING)).sum())
            near = max(near, float((apart / bound).max()))
            dear = max(dear, float((least[k > 1] / price[k > 1]).max(initial=0.0)))
            tested += len(k)
    rng = np.random.default_rng(750)
    shares = []
    for H in (2, 5, 20, 100):
        pi = levels(H)
        for noise in (0.0, 0.1, 0.5, 2.0):
            for _ in range(20):
                shape, mass = rng.uniform(0.2, 3, size=2), rng.dirichlet(np.ones(200))
                P = rng.beta(shape[0], shape[1], size=(200, 1))
                f = np.sign(P - pi) + noise * rng.normal(size=(200, H - 1))
                risk = (1 - pi) * P * np.maximum(1 - f, 0) + pi * (1 - P) * np.maximum(1 + f, 0)
                lowest = 2 * np.minimum((1 - pi) * P, pi * (1 - P))
                excess = float(mass @ (risk - lowest).sum(axis=1)) / H
                error = float(mass @ np.abs(count_rule(f) - P[:, 0]))
                shares.append(error / (1.5 / H + 2 * np.sqrt(excess)))
    return Evidence(
        decide(steps_hold == tested and max(shares) <= 1),
        f"both steps hold in {steps_hold} of {tested} cases and reach {near:.0%} and {dear:.0%} of their "
        "bounds; over random distributions and fits the mean "
        f"error is {np.mean(shares):.0%} of the bound, at most {max(shares):.0%}",
        "at most 100%",
        1 - max(shares),
        "One wrong level moves the count by 1/H; k wrong levels cost k(k-1)/(4H) of risk, as only few "
        "levels are near p. So a class of functions in which the weighted risks tend to their minima "
        "gives a consistent estimate as H grows, at the square root of the excess risk; of the bound's "
        "terms the first falls with H, and the second is a mean over the levels.",
        {"cases": tested, "distributions": len(shares), "H": [2, 100]},
        (750,),
        reach=min(near, dear),
    )


def patterns(count: int) -> np.ndarray:
    """Return all decisions of `count` levels as -1 and 1: (2^count, count) array."""
    return np.array(list(product((-1.0, 1.0), repeat=count)))


@claim(
    "smm/count-isotonic",
    kind="ours",
    where="Section 2.3",
    statement="the count is the mean of the indicators' projection on falling sequences: it already "
    "repairs crossings; without crossings count, interval and isotonic rule agree",
    notebook=f"{NOTEBOOK}#smm-count-isotonic",
    rivals=broken_counts(),
)
def check_count() -> Evidence:
    """Project all sequences of indicators by isotonic regression; compare the rules on all of them."""
    apart, agree, straight, between, crossed = 0.0, 0.0, 0, 0.0, 0
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
        plain = crossing_pairs(scaled) == 0
        straight += int(plain.sum())
        agree = max(agree, float(np.ptp(rules[:, plain], axis=0).max()))
        between = max(between, float(np.ptp(rules, axis=0).max()))
        crossed += int((~plain).sum())
    return Evidence(
        decide(max(apart, agree) <= ROUNDING),
        f"count and projection differ by at most {at_most(apart, ROUNDING)}, the rules by "
        f"{at_most(agree, ROUNDING)} on the {straight} sequences without crossings",
        "0",
        ROUNDING - max(apart, agree),
        "Isotonic regression replaces blocks of neighbours by their means, so the sum stays. On sequences "
        "without crossings all rules read off the one place where the sign changes. With crossings they "
        f"differ by up to {between:.2f} ({crossed} sequences with random sizes): the isotonic rule weighs "
        "decisions by their size, the interval rule looks at the outermost ones.",
        {"sequences": straight + crossed, "levels": [1, 7]},
        (751,),
    )


@claim(
    "smm/interval-count",
    kind="ours",
    where="Section 2.3",
    statement="where $q\\ge1$ pairs of levels cross, interval rule and count differ by at most "
    r"$\frac{q-1}{2H}$, and by no less in the worst case for $q\le H-2$",
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
    sharp: list[bool] = []
    for count in range(2, 13):
        H, decisions = count + 1, patterns(count)
        apart = 2 * H * (interval_rule(decisions) - count_rule(decisions))
        q = crossing_pairs(decisions)
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
        decide(beyond == 0 and formula == 0 and all(sharp)),
        f"{beyond} of {crossed} sequences with crossings are beyond the bound; it is attained for "
        f"{sum(sharp)} of {len(sharp)} pairs of H and q",
        "0; all",
        ROUNDING - beyond,
        "The difference is (z - o)/(2H), with z levels without X and o levels with it from the lowest "
        "without to the highest with. Each outermost level crosses with all of the other kind, so q >= z + o "
        "- 1. A single crossing pair changes nothing: there are two levels in between, one of each kind.",
        {"sequences": crossed, "levels": [2, 12]},
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
        decide(max(worst, reached) <= ROUNDING),
        "the count moves by 1/H and the interval rule by (H - 1)/(2H) at most, to "
        f"{at_most(max(worst, reached), ROUNDING)}",
        "0",
        ROUNDING - max(worst, reached),
        "If the lowest level alone says no where all others say yes, the interval rule takes the middle "
        "of 1/H and (H-1)/H, whatever H is; the count loses one step. Both are the same where nothing "
        "crosses, so the price of the interval rule is paid in finite samples only, and grows with the "
        "number of levels that can be wrong.",
        {"flips": count, "H": [3, 50]},
    )


@claim(
    "smm/crossing-paths",
    kind="ours",
    where="Section 2.3",
    statement=r"the level sets of exact solutions can cross: $X\in\hat S(\pi')$ but $X\notin\hat S(\pi)$ for "
    r"$\pi<\pi'$, at a training sample, at full rank, for every loss",
    notebook=f"{NOTEBOOK}#smm-crossing-paths",
    rivals=(
        Rival("the first number in the other class", {"first": -1.0}),
        Rival(
            "the weights of the two classes exchanged",
            swaps={"smm.model.objective.weights_for": lambda f: lambda pi, y, *rest: f(1 - pi, y, *rest)},
        ),
    ),
)
def check_crossing_paths(first: float = 1.0) -> Evidence:
    """Take three numbers as 1 x 1 matrices, exactly; then count crossings of random full-rank paths."""
    x, y = np.array([[-3.0], [1.0], [-1.0]]), np.array([first, 1.0, -1.0])
    H, wrong = 12, 0
    decided = []
    for h in range(1, H):
        pi = Fraction(h, H)
        # the slope of the risk at 0 is L'(0) n times this, L'(0) < 0: the sign of the minimiser
        exact = (1 - pi) * (-3 + 1) - pi * (-1)
        for loss in LOSSES:
            found = solve_inner(x, y, lam=0.1, loss=loss, sample_weight=weights_for(float(pi), y))
            wrong += exact != 0 and (found.weights[0] > 0) != (exact > 0)
        decided.append(exact > 0)
    exact_pairs = sum(not a and b for a, b in combinations(decided, 2))
    rng = np.random.default_rng(752)
    shares: dict[str, list[float]] = {loss: [] for loss in LOSSES}
    for _ in range(4):
        X, labels = drawn(rng, 60, 3, 3, 1, noise=1.0)
        new = rng.normal(size=(300, 9))
        for loss in LOSSES:
            values = []
            for pi in levels(10):
                found = solve_inner(
                    X.reshape(60, -1),
                    labels,
                    lam=0.02,
                    loss=loss,
                    sample_weight=weights_for(float(pi), labels),
                    fit_intercept=True,
                )
                values.append(new @ found.weights + found.intercept)
            shares[loss].append(float(np.mean(crossing_pairs(np.array(values).T) > 0)))
    means = {loss: float(np.mean(values)) for loss, values in shares.items()}
    return Evidence(
        decide(exact_pairs > 0 and wrong == 0),
        f"{exact_pairs} pairs of levels cross at the training sample 1 of three numbers; of new matrices, in "
        "random problems with an intercept, "
        + ", ".join(f"{v:.0%} ({loss})" for loss, v in means.items())
        + " are in crossing sets",
        "at least one pair",
        float(exact_pairs),
        "f(x) = bx with -3 and 1 of class 1 and -1 of class -1: the sign of b is that of -2(1 - pi) + pi, "
        f"so 1 is outside below the level 2/3 and inside above it, for all losses ({wrong} signs differ). "
        "Each fit is exact and convex; only the whole path is not monotone, because each level has a line "
        "of its own. So crossings are no failure of a solver, and low rank is not their cause.",
        {"levels": H - 1, "n": [3, 60], "problems": 4},
        (752,),
    )
