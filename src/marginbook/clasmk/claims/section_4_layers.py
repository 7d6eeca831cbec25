"""The claims on formulas of Section 4, the layers: which samples are marginal, and when layers end."""

from __future__ import annotations

from itertools import product

import numpy as np

from ...claims import Evidence, Rival, claim, decide, times
from ..estimators.uncertain_rows import confidence
from .failing import failing
from .section_2_lemma_1 import NOTEBOOK


@claim(
    "clasmk/eq-44",
    kind="statement",
    where="Remark 2, with (44)",
    statement=r"$\kappa$ of (44) is a measure of confidence, and a sample of class $c$ is marginal if "
    r"$-1<\kappa<1$",
    notebook=f"{NOTEBOOK}#clasmk-misprints",
    rivals=(
        Rival("the value of the sample's own class first, as printed", {"printed": "signed"}),
        Rival("the correction by (44) again", {"mended": "printed"}),
        Rival(
            "confidences of the opposite sign",
            swaps={"clasmk.estimators.uncertain_rows.confidence": times(-1)},
        ),
    ),
)
def check_confidence(*, printed: str = "printed", mended: str = "signed") -> Evidence:
    """Compare the signs of both confidences with the decision, for random decision values."""
    rng = np.random.default_rng(633)
    agreeing = signed = below_zero = above = tested = same = correct = 0
    for C in (2, 3, 10):
        codes = rng.integers(C, size=400)
        xi = rng.normal(size=(400, C)) + 1.0 * np.eye(C)[codes]
        right = np.argmax(xi, axis=1) == codes
        plain, own = confidence(xi, codes, printed), confidence(xi, codes, mended)
        tested += len(codes)
        below_zero += int((plain < 0).sum())
        above += int((plain > -1).sum())
        agreeing += int(((plain > 0) == right).sum())
        signed += int(((own > 0) == right).sum())
        same += int(np.isclose(plain[right], own[right]).sum())
        correct += int(right.sum())
    worst = np.array([[3.0, -3.0]])
    values = [float(confidence(worst, np.array([1]), margin)[0]) for margin in (printed, mended)]
    return Evidence(
        verdict=decide(agreeing == tested, signed == tested and same == correct and values[1] < 0),
        measured=f"(44) is negative for {below_zero} of {tested} samples; its sign agrees with the decision "
        f"for {agreeing}. A sample of the second class with the decision values 3 and -3 has kappa = "
        f"{values[0]:g}"
        + failing(
            (signed == tested, f"corrected, the sign agrees for {signed}"),
            (same == correct, f"corrected, kappa stays for {same} of {correct} classified correctly"),
            (values[1] < 0, f"corrected, kappa of that sample is {values[1]:g}"),
        ),
        claimed="negative where the decision is wrong, so that -1 < kappa asks something",
        slack=float(agreeing / tested - 1),
        why="(44) is half the difference between the best value and the second best. As this is never "
        "negative, the most certain errors count as confident, and (45) with T = 1 leaves them out of the "
        "next layer. With half the difference between the value of the sample's own class and the best of "
        f"the others the sign is right for {signed}, and kappa is {values[1]:g} for that sample; for samples "
        "classified correctly the two are the same. Section 4 requires T in "
        "(0, 1), and the experiments use 1. The open interval (-1, 1) of Remark 2 would leave out errors "
        "with kappa <= -1, which (45) includes.",
        sizes={"samples": tested, "classes": [2, 3, 10]},
        seeds=(633,),
        reading="Confidence is read as that in the sample's own class, since Remark 2 starts from that class "
        "and bounds kappa from below. Read as that in the decision, right or wrong, (44) measures it, and "
        f"-1 < kappa is only idle: it is so for {above} of {tested} samples.",
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
