"""What the chapter on matrices tells first."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ...claims.findings import Finding
from ..experiments.real_pairs import PARITY
from . import finding_pictures as pictures
from .as_good_as import ONE_SIDED, within
from .section_3_descent import exact_hinge, kinked
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

if TYPE_CHECKING:
    import pandas as pd

#: the set on which vectors make fewer errors
ORIENTATION = "brain-vsplot"


def findings() -> list[Finding]:
    """Return the findings, in the order of the chapter."""
    made = (_rows_and_columns(), _real_matrices(), _proof(), _alternation(), _one_fit())
    return [one for one in made if one is not None]


def _rows_and_columns() -> Finding | None:
    frame = with_methods(by_draw("dimension", "error"), PLATT, VECTOR_PLATT)
    if frame is None:
        return None
    found = by_size(means(frame), "d")
    gain = found[VECTOR_PLATT] - found[PLATT]
    small, large = gain.index[0], gain.index[-1]
    return Finding(
        "Low rank uses what a vector forgets: which entries share a row",
        f"A coefficient matrix of rank 1 with 20 rows and 20 columns has {20 + 20 - 1} free numbers; a "
        f"vector has {20 * 20}. If the truth has low rank, this saves data. In our simulations the error "
        f"of the low-rank machine is {gain[small]:.1f} points below that of the vector machine for "
        f"${small}\\times{small}$ matrices, and {gain[large]:.0f} for ${large}\\times{large}$. The gain "
        "does not come from having few parameters: shuffle the entries, the same way in all matrices, "
        "and it is gone, while nothing changes for the vector machine.",
        {
            "smm/low-rank-helps": "reproduced",
            "smm/permuted-entries": "holds",
            "smm/full-rank": "holds",
        },
        "smm/01_matrices_as_features#smm-permuted-entries",
        pictures.errors_by_size,
        "Test error over the size of the matrices, from 5 x 5 to 40 x 40. The least possible error stays "
        "near 17 per cent. "
        "Low rank rises slowly, the vector machine much faster.",
        "With 400 training matrices both errors grow with the size of a matrix, that of the vector much "
        "faster. The least "
        "possible error is the same for all sizes.",
        holds=bool(gain.is_monotonic_increasing),
    )


def _real_matrices() -> Finding | None:
    frame = with_again("matrices", "error")
    svm, logistic = (PLATT, VECTOR_PLATT), (LOGISTIC, VECTOR_LOGISTIC)
    frame = with_methods(frame, *svm, *logistic)
    if frame is None or not {PARITY, ORIENTATION} <= set(frame.index.get_level_values("dataset")):
        return None
    again = looks("contest")
    lines = {
        name: within(frame, *pair, -1.0, again)
        for name, pair in (("SVM", svm), ("logistic regression", logistic))
    }
    # an interval below -1 shows that low rank is better by a point, one above +1 that vectors are
    better = {str(key) for found in lines.values() for key in found.index[found["high"] < -1]}
    worse = {str(key) for found in lines.values() for key in found.index[found["low"] > 1]}
    too_few = {str(key) for found in lines.values() for key in found.index[found["outcome"] == "open"]}
    error = means(frame).loc[PARITY].astype(float).to_dict()
    gains = [error[flat] - error[low] for low, flat in (svm, logistic)]
    losses = sorted(found["difference"].to_dict()[ORIENTATION] for found in lines.values())
    natural = len(lines["SVM"]) - 1
    named = " and ".join(f"*{pictures.NAMES[name]}*" for name in sorted(too_few))
    return Finding(
        f"Low rank gains {np.mean(gains):.0f} points on data made for it; on {_word(natural)} natural "
        "sets no gain of a point was found",
        "Multiply two digits into one matrix, $X=uv^\\top$, and ask whether both are even or both odd. "
        "Theory promises a "
        f"coefficient of rank 1, and low rank errs on {error[PLATT]:.1f} % where the vector machine errs "
        "on "
        f"{error[VECTOR_PLATT]:.1f} %. Digits, EEG and brain connectivity promise nothing of the kind. "
        "There, no comparison shows a gain of one point; on spatial orientation low rank is worse by "
        f"{losses[0]:.0f} to {losses[1]:.0f} points. "
        f"On {named} the splits are too few to exclude a gain, so one verdict is "
        "*undecided*.",
        {
            "smm/real-rank-one": "reproduced",
            "smm/real-low-rank": "undecided",
            "smm/real-classes": "reproduced",
        },
        "smm/06_real_matrices#smm-real-low-rank",
        lambda: pictures.leads({name: _last(found) for name, found in lines.items()}),
        "Differences of the error with intervals, eight data sets, SVM and logistic regression. Products of "
        "digits lie far below zero; spatial orientation lies above zero; the other intervals hold zero or "
        "lie close to it.",
        "Left of zero low rank is better. Only the products of digits, at the bottom, are far to the "
        f"left. Bars are intervals over random splits, of {_level(1)}{_wider(again)}.",
        holds=better == {PARITY}
        and worse <= {ORIENTATION}
        and bool(too_few)
        and bool((np.array(losses) > 1).all()),
        home=f"On data made for them, support matrix machines err {np.mean(gains):.0f} points less than "
        f"the same machines on vectors. On {_word(natural)} natural sets of matrices, no gain of a point "
        "over vectors was found.",
    )


def _proof() -> Finding:
    return Finding(
        "A fit can prove that it is the global minimum",
        "The problem is not convex, and two starts can end in two places. But every fit has multipliers, "
        "and from them "
        "one singular value decomposition computes a lower bound on the objective over *all* matrices of "
        "the rank. "
        "Where bound and objective meet, the fit is proved to be a global minimum, and no further start "
        "is needed. "
        "With a strong penalty this is the rule. With a weak one a gap remains, and it says how much a "
        "better matrix could gain at most. "
        "The draft has no such bound; its section on theory is empty.",
        {
            "smm/global-bound": "holds",
            "smm/certificate": "holds",
            "smm/certified-share": "holds",
            "smm/not-global": "holds",
        },
        "smm/02_block_descent#smm-certificate",
        pictures.bound_and_objective,
        "Objective and two lower bounds over the penalty. From about 0.3 on the curves coincide; below it "
        "the bound from the "
        "fit alone falls behind, and the improved bound stays near the objective.",
        "Where a bound touches the objective, the fit is optimal, and that is a proof. Searching for "
        "better multipliers "
        "(squares) lifts the bound where the penalty is weak.",
    )


def _alternation() -> Finding:
    X, lam, step = kinked(Fraction(3, 10)), Fraction(1, 10), Fraction(1, 10)
    one = Fraction(1)
    here, there = (
        exact_hinge(np.array([[one, s], [s, s * s]], dtype=object), X, lam) for s in (Fraction(0), step)
    )
    return Finding(
        "With the hinge loss, taking turns stops too early",
        "The draft fixes $V$ and solves for $U$, then the other way round. Each step is an ordinary SVM, "
        "and the objective never "
        "rises. It can still stop at a point where each block is optimal by itself and both together "
        "could go on: "
        "in the example of the figure a small joint step lowers the objective by another "
        f"{float(100 * (1 - there / here)):.0f} %. "
        "The reason is the kink of the loss; smooth losses do not have this problem. The library moves "
        "both factors together "
        "before it lets them take turns.",
        {"smm/kink": "holds", "smm/monotone": "holds"},
        "smm/02_block_descent#smm-kink",
        pictures.valley,
        "Contour lines of the objective. A narrow valley runs along the diagonal. At the origin the "
        "horizontal and the vertical "
        "line both go uphill, and a star further up the diagonal marks the lowest point.",
        "At the dot no move along either dashed line helps. The valley runs along the diagonal, where "
        "both factors must move.",
        holds=there < here,
    )


def _one_fit() -> Finding | None:
    smooth = with_methods(by_draw("sample-size", "mae"), PATH, LOGISTIC)
    step = with_methods(by_draw("step", "mae"), PATH, LOGISTIC)
    if smooth is None or step is None:
        return None
    by_n, on_step = by_size(means(smooth), "n"), means(step).iloc[0]
    many = by_n.index.max()
    return Finding(
        "One logistic regression estimates the probability better than nineteen machines",
        "The draft estimates $P(y=1\\mid X)$ from many weighted SVMs, one for each level. As printed, its "
        "formula counts the wrong sets "
        "and estimates the probability of the *other* class. Corrected, its error has a bound that holds "
        "for every distribution. "
        f"But a logistic regression of low rank, one fit instead of nineteen, is more accurate: with {many} "
        "matrices its mean error "
        f"is {by_n.loc[many, LOGISTIC]:.3f} against {by_n.loc[many, PATH]:.3f}. "
        "Where the logistic model is wrong, the truth decides. On a step from 0.2 to 0.8 it is not "
        f"worse, with errors of {on_step[LOGISTIC]:.3f} and {on_step[PATH]:.3f}; with a single feature, on "
        "[a step from 0 to 0.45](#smm-exercise-one-fit), the machines win.",
        {
            "smm/scheme-S4": "corrected",
            "smm/probability-bound": "holds",
            "smm/calibration": "reproduced",
            "smm/model-free": "reproduced",
        },
        "smm/04_probabilities#smm-calibration",
        pictures.levels_and_logistic,
        "Left: the printed estimate falls as the true probability rises; the corrected one climbs along "
        "the diagonal in steps. Right: "
        "mean absolute error over the training size; logistic regression lies below the low-rank levels, "
        "which lie below the vector levels.",
        "Left: the printed estimate falls where it should rise. Right: a single logistic fit has the "
        "smallest error at every "
        "training size.",
        holds=bool((by_n[LOGISTIC] < by_n[PATH]).all() and on_step[LOGISTIC] < on_step[PATH]),
    )


def _last(lines: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with the products of digits at the end."""
    return lines.loc[[*lines.index.drop(PARITY), PARITY]]


def _wider(again: dict[str, int]) -> str:
    """Say which intervals are wider, as their sets were analysed more than once."""
    times = sorted(set(again.values()))
    sets = {number: list(again.values()).count(number) for number in times}
    return "".join(
        f", or {_level(number)} for the {_word(sets[number])} sets that were analysed {_word(number)} times"
        for number in times
    )


def _level(looks: int) -> str:
    return f"{100 * (1 - 2 * ONE_SIDED / looks):.0f} %"


def _word(number: int) -> str:
    return {2: "two", 3: "three", 6: "six", 7: "seven", 8: "eight"}.get(number, str(number))
