"""What the chapter says of the results is what the stored results say: each sentence with its test."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from marginbook.base.project import root
from marginbook.claims import Verdict, check
from marginbook.smm.claims.margins import within
from marginbook.smm.claims.results import (
    LOGISTIC,
    NUCLEAR,
    PATH,
    PLATT,
    RBF,
    ROWS,
    TABLES,
    VECTOR_PATH,
    by_draw,
    contest,
    means,
    slope,
)  # fmt: skip

YES, OPEN = Verdict.REPRODUCED, Verdict.UNDECIDED
# sentences that follow from the verdict of the claim they link to
VERDICTS = {
    "[fall with $n$](#smm-consistency)": YES,
    "The [advantage of low rank grows](#smm-low-rank-helps) with the dimension": YES,
    "the [true rank is found](#smm-rank)": YES,
    "[a nuclear norm](#smm-nuclear-norm) on six of eight truths of low rank": OPEN,
    "[the level sets](#smm-level-sets-nonlinear)": YES,
    "[twenty levels are enough](#smm-levels)": YES,
    "is more exact where its model [holds](#smm-calibration)": YES,
    "and also where it [does not hold](#smm-model-free)": YES,
    "[two classes](#smm-real-low-rank)": OPEN,
    "[with ten](#smm-real-classes)": OPEN,
    "[Level sets of digits](#smm-level-sets-real) cost less than half": YES,
    "[the higher Brier score](#smm-real-probabilities)": Verdict.PARTLY,
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
    best = means(by_draw("matrices", "error")).idxmin(axis=1)
    assert sorted(best.index[best == ROWS]) == ["eeg", "usps-3-8"]
    assert len(best) == 7


def test_nobody_learns_the_intelligence_quotient(told):
    in_the_chapter(told, "From connections of the brain no method learns who has the higher IQ.")
    assert (means(by_draw("matrices", "error")).loc["brain-iq"] > 49).all()


def test_splits_on_which_the_low_rank_machine_says_the_same_to_all(told):
    in_the_chapter(told, "A first run chose $\\lambda=100$ on two splits of the digits 3 and 8")
    rows = TABLES.results("matrices").query("dataset == 'digits-3-8'")
    chosen = (
        rows[rows["method"] == PLATT].set_index("split")["chosen"].map(lambda text: json.loads(text)["lam"])
    )
    errors = by_draw("matrices", "error").loc["digits-3-8"][PLATT]
    assert (chosen[errors > 40] == 100).all()
    assert errors[chosen < 100].max() < 8


def test_levels_have_the_higher_brier_score_on_all_seven_sets(told):
    in_the_chapter(
        told, "than logistic regression of low rank on all seven sets, by less than a hundredth on most"
    )
    scores = means(by_draw("matrices", "brier"))
    apart = scores[PATH] - scores[LOGISTIC]
    assert len(apart) == 7
    assert (apart > 0).all()
    assert (apart < 0.01).sum() > 3


def test_a_fixed_rank_beside_a_nuclear_norm(told):
    in_the_chapter(told, "with 100 matrices twenty draws are too few to tell")
    frame = pd.concat([by_draw(table, "error")[[PLATT, NUCLEAR]] for table in ("dimension", "sample-size")])
    frame = frame[~frame.index.duplicated()]
    assert (contest(frame, PLATT, NUCLEAR)["outcome"] == "win").sum() == 6
    lines = within(frame, PLATT, NUCLEAR, 1.0)
    assert list(lines.index[lines["outcome"] == "open"]) == ["logit-n100-d20-r2"]
    assert len(lines) == 8
