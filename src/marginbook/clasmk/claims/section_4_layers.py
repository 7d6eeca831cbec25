"""The claims on formulas of Section 4, the layers: which samples are marginal, and when layers end."""

from __future__ import annotations

from itertools import product

import numpy as np

from ...claims import Evidence, Rival, at_most, claim, decide, short, times
from ..estimators.uncertain_rows import confidence
from .failing import failing
from .section_2_lemma_1 import NOTEBOOK

#: relative distance of kappa from the least change that turns a decision: what bisection leaves is less
NEAR = 1e-6


def least_change(xi: np.ndarray) -> np.ndarray:
    """Return how much every value of a row, (n, C), must change for another class to have the largest.

    It is found by bisection: the largest value is lowered and all others are raised, each by as much.
    """
    best = np.argmax(xi, axis=1)
    signs = np.where(np.arange(xi.shape[1]) == best[:, None], -1.0, 1.0)
    low, high = np.zeros(len(xi)), np.full(len(xi), float(np.ptp(xi)))
    for _ in range(60):
        tried = (low + high) / 2
        stays = np.argmax(xi + tried[:, None] * signs, axis=1) == best
        low, high = np.where(stays, tried, low), np.where(stays, high, tried)
    return high


@claim(
    "clasmk/eq-44",
    kind="statement",
    where="Remark 2, with (44)",
    statement=r"$\kappa$ of (44) is a measure of confidence: a sample of class $c$ with $\xi(c)\ge1$ and the "
    r"other values at most $-1$, as expected, is not marginal, with $-1<\kappa<1$",
    notebook="clasmk/05_hierarchy#clasmk-marginal-rows",
    rivals=(
        Rival("the sample's own class first, which is not confidence in the decision", {"margin": "signed"}),
        Rival(
            "confidences of the opposite sign",
            swaps={"clasmk.estimators.uncertain_rows.confidence": times(-1)},
        ),
        Rival("confidences 2 % smaller", swaps={"clasmk.estimators.uncertain_rows.confidence": times(0.98)}),
        Rival("not marginal with $-1.02<\\kappa<1.02$", {"bound": 1.02}),
    ),
)
def check_confidence(*, margin: str = "printed", bound: float = 1.0) -> Evidence:
    """Compare (44) with the least change that turns the decision; see that what is expected is not marginal.

    The other reading is told: the sign of confidence in the sample's own class is that of being right.
    """
    rng = np.random.default_rng(633)
    off, tested, expected, marginal, least_met = 0.0, 0, 0, 0, np.inf
    below_zero = idle = wrong = agreeing = signed = same = 0
    for C in (2, 3, 10):
        codes = rng.integers(C, size=400)
        xi = rng.normal(size=(400, C)) + 1.0 * np.eye(C)[codes]
        right = np.argmax(xi, axis=1) == codes
        kappa, own = (confidence(xi, codes, how) for how in (margin, "signed"))
        least = least_change(xi)
        off = max(off, float(np.max(np.abs(kappa - least) / least)))
        tested += len(codes)
        wrong += int((~right).sum())
        below_zero += int((kappa < 0).sum())
        idle += int(((kappa < 1) == (np.abs(kappa) < 1)).sum())
        agreeing += int(((kappa > 0) == right).sum())
        signed += int(((own > 0) == right).sum())
        same += int(np.isclose(kappa[right], own[right]).sum())
        # the sample of each class that only just is as expected, and others
        ends, apart = 2 * np.eye(C) - 1, rng.exponential(size=(400, C))
        met = np.vstack([ends, ends[codes] + ends[codes] * apart])
        found = confidence(met, np.concatenate([np.arange(C), codes]), margin)
        expected += len(met)
        marginal += int((np.abs(found) < bound).sum())
        least_met = min(least_met, float(found.min()))
    values = [float(confidence(np.array([[3.0, -3.0]]), np.array([1]), how)[0]) for how in (margin, "signed")]
    return Evidence(
        verdict=decide(off <= NEAR and marginal == 0),
        measured=f"kappa is the least change of the decision values that turns the decision, to "
        f"{at_most(off, NEAR)} of it, for {tested} samples; of {expected} as expected {marginal} are "
        "marginal",
        claimed=f"the least change, to {NEAR:.0e}, and none".replace("e-0", "e-"),
        slack=min(NEAR - off, short(-marginal, 0)),
        why="(44) is half the difference between the best value and the second best. The least change, by "
        "which the best value is lowered and all others are raised until another is the largest, is found by "
        f"bisection. Of the samples as expected, some of them only just, the least kappa is {least_met:g}. "
        f"Of all {tested}, kappa is negative for {below_zero}, and -1 < kappa is without effect for {idle}: "
        "a condition of a definition may be idle. Section 4 requires T in (0, 1), and the experiments use 1.",
        sizes={"samples": tested, "as expected": expected, "classes": [2, 3, 10]},
        seeds=(633,),
        reading="Confidence is read as that in the decision, right or wrong. Remark 2 starts from a sample "
        "of class c and bounds kappa from below; read as confidence in that class, (44) would have to be "
        f"negative for the {wrong} of {tested} samples that are classified wrongly, and its sign "
        f"agrees with the decision for {agreeing}. A sample of the second class with the values 3 and -3 has "
        f"kappa = {values[0]:g}; (45) with T = 1 {'leaves it out of' if values[0] > 1 else 'has it in'} the "
        "next layer. Half the difference between the value of the sample's own class and the best of the "
        f"others has the right sign for {signed}, is {values[1]:g} for that sample, and the same as (44) for "
        f"{same} of {tested - wrong} classified "
        "correctly.",
    )


def stopping(nus: list[np.ndarray], eps: float, *, printed: bool) -> tuple[int, list[float]]:
    r"""Run the loop of Section 4 on given weights of the layers, and return the layers learned and all d.

    Parameters
    ----------
    nus : list of (C, K) arrays
        The initial weights, then what Algorithm 1 would return for layer 1, 2, ...; as many as it may learn.
    eps : float
    printed : bool
        Take :math:`\nu^{(L)}-\nu^{(L-1)}` after L was raised, which needs a layer that is not there yet.

    Raises
    ------
    LookupError
        The difference needs weights that no layer has learned.
    """
    learned = {0: nus[0]}
    L, d, before, found = 1, 1.0, 0.0, []
    while len(nus) > L and d > eps:
        learned[L] = nus[L]
        L += 1
        last = L if printed else L - 1
        if last not in learned:
            raise LookupError(f"layer {last} is needed and {L - 1} is the last one learned")
        now = float(np.linalg.norm(learned[last] - learned[last - 1]))
        d, before = abs(now - before), now
        found.append(d)
    return L - 1, found


@claim(
    "clasmk/delta-index",
    kind="statement",
    where="Section 4, the loop, the line after its increment of L",
    statement=r"after $L\leftarrow L+1$, $\delta_+=\|\nu^{(L)}-\nu^{(L-1)}\|_F$ compares the last two layers",
    notebook=f"{NOTEBOOK}#clasmk-misprints",
    rivals=(
        Rival("$L-1$ and $L-2$ as printed, which does", {"printed": False}),
        Rival("the correction by $L$ and $L-1$ again", {"mended": True}),
    ),
)
def check_stopping(*, printed: bool = True, mended: bool = False) -> Evidence:
    """Run the loop on weights that converge, with the printed index and the one before; then on a cycle."""
    rng = np.random.default_rng(634)
    defined = stopped = count = 0
    for C, K in product((2, 5), (2, 8)):
        limit = rng.dirichlet(np.ones(K), size=C)
        start = np.full((C, K), 1 / K)
        nus = [start] + [limit + 0.3**k * (rng.dirichlet(np.ones(K), size=C) - limit) for k in range(1, 20)]
        count += 1
        try:
            stopping(nus, 1e-3, printed=printed)
            defined += 1
        except LookupError:
            pass
        try:
            layers, found = stopping(nus, 1e-3, printed=mended)
            stopped += found[-1] <= 1e-3 and layers < 19
        except LookupError:
            pass
    ends = [np.eye(2)[[0, 1]], np.eye(2)[[1, 0]]]
    cycle = [np.full((2, 2), 0.5), *(ends[k % 2] for k in range(18))]
    layers, _ = stopping(cycle, 1e-3, printed=False)
    step = float(np.linalg.norm(cycle[layers] - cycle[layers - 1]))
    return Evidence(
        verdict=decide(defined == count, stopped == count),
        measured=f"the loop asks for a layer that has not been learned yet in {count - defined} of {count} "
        "runs" + failing((stopped == count, f"corrected, it ends before its limit in {stopped} of {count}")),
        claimed="0 runs",
        slack=float(defined - count),
        why="L was raised one line earlier, so the last two layers are L - 1 and L - 2; with these the loop "
        f"ends before its limit in {stopped} runs with converging weights. The loop stops when d, the "
        "difference of two successive delta+, is small. That does not mean that the weights settle: if they "
        "jump between two corners for ever, all steps have "
        f"the length {step:.0f} and the loop ends after {layers} layers. delta+ itself would show it.",
        sizes={"runs": count + 1},
        seeds=(634,),
    )
