"""What all five methods do on the same terms, in short.

This room has no claims. Its sentences are bound to conditions on the stored results instead: `holds` is
computed, and the build of the book stops where it is false.
"""

from __future__ import annotations

from ...claims.summary import Sentence, Summary
from .advice import OURS, REFERENCE, listed, percent
from .finding_numbers import INGREDIENTS, stored
from .posteriors import ROPE, ROPES

POSTERIORS = "study/01_one_bench#study-posteriors"


def summary() -> Summary:
    """Return how the methods stand against the support vector machine, and against themselves."""
    return Summary((_none_better(), _ingredients(), _few_rows()))


def _none_better() -> Sentence:
    found = stored()
    equal, open_ = found.decided("same"), found.decided("open")
    best = max(OURS, key=lambda name: found.chance(name, "better"))
    return Sentence(
        f"On {len(found.accuracy)} small sets with two classes, and with equal effort in tuning, none of "
        "the methods is practically better than an SVM: the posterior probability that a lead above one "
        "point is the most likely outcome is "
        f"{percent(found.chance(best, 'better'))} for each. CLASMK with learned weights and the SMM, which "
        "had vectors here in place of matrices, are undecided; the others are practically the same.",
        {},
        holds=ROPE == 1
        and not any(found.decided("better", rope) for rope in ROPES)
        and open_ == ["CLASMK", "SMM"]
        and sorted([*equal, *open_]) == sorted(OURS),
        page=POSTERIORS,
    )


def _ingredients() -> Sentence:
    found = stored()
    same = [found.pair(name, plain).same for name, plain, _ in INGREDIENTS]
    names = [name.partition("-")[0] for name, *_ in INGREDIENTS]
    return Sentence(
        f"There, with all parameters tuned, what the papers on {listed(names)} add changes accuracy by less "
        f"than a point, with a probability of {percent(min(same))} for each.",
        {},
        holds=min(same) > 0.99,
        page=POSTERIORS,
    )


def _few_rows() -> Sentence:
    found = stored()
    few, many = (found.of(name, "needed") for name in ("kFDA-0.5", REFERENCE))
    return Sentence(
        f"Accuracy is not all: in the median a prediction of sparse kFDA needs {few:.0f} % of the training "
        f"rows, where the {REFERENCE} needs {many:.0f} %.",
        {},
        holds=0.15 < few / many < 0.35,
        page="study/01_one_bench#study-costs",
    )
