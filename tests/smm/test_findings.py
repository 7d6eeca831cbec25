"""What the chapter says of the results is what the stored results say: each sentence with its test."""

import json
import re

import numpy as np
import pytest

from marginbook.base.project import root
from marginbook.claims import Verdict, check
from marginbook.smm.claims.results import (
    LOGISTIC,
    PATH,
    PLATT,
    RBF,
    ROWS,
    TABLES,
    VECTOR_PATH,
    by_draw,
    means,
    slope,
)  # fmt: skip

YES, NO = Verdict.REPRODUCED, Verdict.NOT_REPRODUCED
# sentences that follow from the verdict of the claim they link to
VERDICTS = {
    "[fall with $n$](#smm-consistency)": YES,
    "The [advantage of low rank grows](#smm-low-rank-helps) with the dimension": YES,
    "the [true rank is found](#smm-rank)": YES,
    "a fixed rank is [never worse than a nuclear norm](#smm-nuclear-norm)": YES,
    "[twenty levels are enough](#smm-levels)": YES,
    "is more exact where its model [holds](#smm-calibration)": NO,
    "and also where it [does not hold](#smm-model-free)": NO,
    "[two classes](#smm-real-low-rank)": NO,
    "[with ten](#smm-real-classes)": NO,
}


@pytest.fixture(scope="module")
def told():
    text = (root() / "book" / "smm.md").read_text("utf-8")
    part = text[text.index("## What we found") : text.index("## The notebooks")]
    return re.sub(r"\s+", " ", part)


def in_the_chapter(told, sentence):
    assert sentence in told, (
        f"{sentence!r} is not in the chapter: take it out of this test, or check the new one"
    )


@pytest.mark.parametrize("sentence", VERDICTS)
def test_a_sentence_follows_from_the_verdict_it_links_to(told, sentence):
    in_the_chapter(told, sentence)
    (anchor,) = re.findall(r"\(#smm-([a-z-]+)\)", sentence)
    assert check(f"smm/{anchor}").verdict is VERDICTS[sentence]


def test_how_fast_errors_fall(told):
    in_the_chapter(told, "nearly as fast as those of a parametric model")
    in_the_chapter(told, "those of a vector machine about half as fast")
    frame = by_draw("sample-size", "mae")
    ours, vector = (slope(frame, name, "n").mean for name in (PATH, VECTOR_PATH))
    assert -0.5 < ours < -0.4  # a parametric model has -1/2
    assert vector / ours == pytest.approx(0.5, abs=0.1)


def test_the_row_kernel_leaves_half_the_error(told):
    in_the_chapter(told, "leaves about half the error of the next best method")
    errors = means(by_draw("bumps", "mae"))
    ratios = errors[ROWS] / errors.drop(columns=ROWS).min(axis=1)
    assert len(ratios) == 2
    np.testing.assert_allclose(ratios, 0.5, atol=0.1)
    assert (errors.drop(columns=ROWS).idxmin(axis=1) == RBF).all()


def test_logistic_regression_is_more_exact_than_the_levels_everywhere(told):
    in_the_chapter(told, "one fit in place of nineteen, is more exact")
    in_the_chapter(told, "A sigmoid on one machine of low rank is as good as the levels there.")
    for table in ("sample-size", "step"):
        errors = means(by_draw(table, "mae"))
        assert (errors[LOGISTIC] < errors[PATH]).all()
    assert errors[PLATT].item() == pytest.approx(errors[PATH].item(), rel=0.05)  # the step


def test_kernels_on_rows_lead_on_two_real_sets(told):
    in_the_chapter(told, "Kernels on rows have the lowest mean error on the EEG and on one pair of digits")
    in_the_chapter(told, "a test of two sets among seven")
    best = means(by_draw("matrices", "error")).idxmin(axis=1)
    assert sorted(best.index[best == ROWS]) == ["eeg", "usps-3-8"]
    assert len(best) == 7


def test_nobody_learns_the_intelligence_quotient(told):
    in_the_chapter(told, "From connections of the brain no method learns who has the higher IQ.")
    assert (means(by_draw("matrices", "error")).loc["brain-iq"] > 49).all()


def test_two_splits_of_the_digits_make_all_the_distance(told):
    in_the_chapter(told, "On two splits of the digits 3 and 8")
    in_the_chapter(told, "chose $\\lambda=100$")
    in_the_chapter(
        told, "All of the distance of that machine to the others on these digits comes from there."
    )
    rows = TABLES.results("matrices").query("dataset == 'digits-3-8'")
    chosen = (
        rows[rows["method"] == PLATT].set_index("split")["chosen"].map(lambda text: json.loads(text)["lam"])
    )
    lost = chosen.index[chosen == 100]
    assert len(lost) == 2
    errors = by_draw("matrices", "error").loc["digits-3-8"]
    assert (errors.loc[lost, PLATT] > 40).all()  # as good as a coin
    whole, kept = errors.mean(), errors.drop(index=lost).mean()
    others = [name for name in errors if name != PLATT]
    assert whole[PLATT] > 2 * whole[others].max()
    assert kept[PLATT] < kept[others].max()
