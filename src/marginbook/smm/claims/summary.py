"""What the authors of the draft on matrix features should know, in short."""

from __future__ import annotations

from ...claims.summary import Sentence, Summary
from ..experiments.real_pairs import PARITY
from .as_good_as import within
from .stored_results import (
    LOGISTIC,
    PATH,
    PLATT,
    VECTOR_LOGISTIC,
    VECTOR_PLATT,
    by_draw,
    by_size,
    means,
    with_methods,
)
from .tables_real_matrices import looks, with_again


def summary() -> Summary:
    """Return what holds, what does not, and what stays open."""
    return Summary(
        (_machine(), _levels(), _low_rank(), _theory()),
        (_repairs(), _linear_levels(), _one_fit()),
        (_natural(), _others()),
    )


def _machine() -> Sentence:
    return Sentence(
        "At full rank the machine is the linear SVM on vectors, the form of the solution holds, and each "
        "step is a convex problem that never raises the objective.",
        {f"smm/{id}": "holds" for id in ("full-rank", "solution-form", "monotone")},
    )


def _levels() -> Sentence:
    return Sentence(
        "Weights on the classes aim at the level sets, as stated; kernels between rows need only K, and "
        "the three choices of K are valid.",
        {f"smm/{id}": "holds" for id in ("wang-2008", "kernel-psd", "row-kernel-linear")},
    )


def _low_rank() -> Sentence:
    simulated = with_methods(by_draw("dimension", "error"), PLATT, VECTOR_PLATT)
    real = with_methods(with_again("matrices", "error"), PLATT, VECTOR_PLATT)
    assert simulated is not None
    assert real is not None
    found, digits = by_size(means(simulated), "d"), means(real).loc[PARITY]
    gain = found[VECTOR_PLATT] - found[PLATT]
    return Sentence(
        f"Low rank pays where the truth has it. Its error is below that of the same machine on vectors: by "
        f"{gain.iloc[0]:.1f} points on {gain.index[0]} × {gain.index[0]} matrices drawn by us, "
        f"{gain.iloc[-1]:.0f} on {gain.index[-1]} × {gain.index[-1]}, and "
        f"{digits[VECTOR_PLATT] - digits[PLATT]:.0f} on products of two digits.",
        {"smm/low-rank-helps": "reproduced", "smm/real-rank-one": "reproduced"},
        holds=bool(gain.is_monotonic_increasing),
    )


def _theory() -> Sentence:
    return Sentence(
        "Section 5 can be written. We prove an error bound for the probability under every distribution, "
        "and a bound by which a fit can prove that it is the global minimum.",
        {f"smm/{id}": "holds" for id in ("probability-bound", "global-bound", "certificate")},
    )


def _repairs() -> Sentence:
    return Sentence(
        "Four formulas need a repair, and have one: the dual has the sum constraint of a model with "
        "intercept, Algorithm 1 lacks the limits on α of the display above it, the sum in S.4 counts "
        "complements and so estimates the other class, and the map of Section 4 needs a larger space.",
        {f"smm/{id}": "corrected" for id in ("block-dual", "algorithm-1", "scheme-S4", "map-range")},
    )


def _linear_levels() -> Sentence:
    return Sentence(
        "Without an intercept all levels share one set if (−X, −y) is as likely as (X, y). With one, linear "
        "functions and the hinge loss still miss some levels, however many data there are.",
        {"smm/needs-intercept": "corrected", "smm/linear-class": "corrected"},
    )


def _one_fit() -> Sentence:
    smooth = with_methods(by_draw("sample-size", "mae"), PATH, LOGISTIC)
    step = with_methods(by_draw("step", "mae"), PATH, LOGISTIC)
    assert smooth is not None
    assert step is not None
    better = [bool((table[LOGISTIC] < table[PATH]).all()) for table in (means(smooth), means(step))]
    return Sentence(
        "In our simulations one logistic regression of low rank estimates the probability more exactly "
        "than nineteen machines where a sigmoid is right, and no less exactly on a step from 0.2 "
        "to 0.8.",
        {"smm/calibration": "reproduced", "smm/model-free": "reproduced"},
        holds=all(better),
    )


def _natural() -> Sentence:
    frame = with_methods(with_again("matrices", "error"), PLATT, VECTOR_PLATT, LOGISTIC, VECTOR_LOGISTIC)
    assert frame is not None
    again = looks("contest")
    pairs = [(PLATT, VECTOR_PLATT), (LOGISTIC, VECTOR_LOGISTIC)]
    lines = [within(frame, *pair, -1.0, again).drop(index=PARITY) for pair in pairs]
    better = [name for found in lines for name in found.index[found["high"] < -1]]
    worse = {str(name) for found in lines for name in found.index[found["low"] > 1]}
    open_ = {str(name) for found in lines for name in found.index[found["outcome"] == "open"]}
    sets = {len(found) for found in lines}
    return Sentence(
        "Whether low rank pays on natural matrices. On seven sets no comparison shows a gain of one point; "
        f"on {len(worse)} of them vectors are better by more than that, and on {len(open_)} the splits are "
        "too few to exclude a gain.",
        {"smm/real-low-rank": "undecided"},
        holds=sets == {7} and not better and bool(worse) and bool(open_) and not worse & open_,
    )


def _others() -> Sentence:
    return Sentence(
        "Whether a fixed rank is as good as a nuclear norm, and level sets as exact as one logistic fit, "
        "on real matrices.",
        {"smm/real-nuclear-norm": "undecided", "smm/real-probabilities": "undecided"},
    )
