"""The simulated truths: moments, prefixes, seeds, and against naive loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from marginbook.datasets.generators import make_low_rank
from marginbook.smm.experiments.generators import FAMILIES, GAMMA, SCALE, STEPS, Setting, Truth, setting


def test_names():
    assert setting("logit-n400-d20-r2") == Setting("logit", 400, (20, 20), 2)
    assert setting("bumps-n50-d6x2-r3") == Setting("bumps", 50, (6, 2), 3)


@pytest.mark.parametrize(
    "name", ["logit", "probit-n4-d4-r1", "logit-n4-d4", "logit-n4-d4-r1x", "LOGIT-n4-d4-r1", "logit-n-d4-r1"]
)
def test_other_names_are_refused(name):
    with pytest.raises(ValueError, match=r"no simulated set .* as logit-n400-d20-r2"):
        setting(name)


@pytest.mark.parametrize("name", ["logit-n4-d4-r5", "logit-n4-d4x2-r3", "logit-n4-d4-r0", "step-n0-d4-r1"])
def test_impossible_sizes_are_refused(name):
    with pytest.raises(ValueError, match="wanted a rank of 1 to"):
        setting(name)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("shape", "rank"), [((6, 2), 1), ((6, 2), 2), ((1, 1), 1), ((3, 5), 3)])
def test_scores_have_mean_0_and_variance_1(family, shape, rank):
    for number in (1, 2):
        truth = Truth(family, shape, rank, number)
        score = truth.score(truth.draw(40000, "test").X)
        assert abs(score.mean()) < 0.03
        assert abs(score.std() - 1) < 0.03


def test_bumps_against_a_naive_loop():
    truth = Truth("bumps", (4, 3), 2, 7)
    X = truth.draw(5, "train").X
    mean, deviation = truth.moments
    for matrix, found in zip(X, truth.score(X), strict=True):
        total = 0.0
        for k in range(2):
            for i in range(4):
                bump = np.exp(-GAMMA * np.sum((matrix[i] - truth.centres[k]) ** 2))
                total += truth.direction[i, k] * (bump - mean[k])
        assert found == pytest.approx(total / deviation, abs=1e-12)


def test_the_logit_is_that_of_the_librarys_generator():
    sample = make_low_rank(30, shape=(5, 4), rank=2, scale=SCALE, random_state=0)
    truth = Truth("logit", (5, 4), 2, 1)
    truth.__dict__["direction"] = sample.coef
    np.testing.assert_allclose(truth.probability(sample.X), sample.probability)


def test_step_and_logit_share_all_but_the_labels():
    step, logit = (Truth(family, (6, 4), 2, 3) for family in ("step", "logit"))
    a, b = step.draw(50, "train"), logit.draw(50, "train")
    np.testing.assert_array_equal(a.X, b.X)
    np.testing.assert_array_equal(step.direction, logit.direction)
    np.testing.assert_array_equal(a.probability, np.where(logit.score(a.X) > 0, STEPS[1], STEPS[0]))
    np.testing.assert_allclose(b.probability, expit(SCALE * logit.score(b.X)))
    assert np.linalg.matrix_rank(step.direction) == 2
    assert np.linalg.norm(step.direction) == pytest.approx(1)


@settings(max_examples=25)
@given(
    family=st.sampled_from(FAMILIES), n=st.integers(1, 20), more=st.integers(0, 20), number=st.integers(1, 9)
)
def test_a_larger_draw_begins_with_the_smaller(family, n, more, number):
    truth = Truth(family, (3, 2), 1, number)
    small, large = truth.draw(n, "train"), truth.draw(n + more, "train")
    for a, b in zip(small, large, strict=True):
        np.testing.assert_array_equal(a, b[:n])
    assert set(small.y) <= {-1, 1}


def test_parts_and_numbers_are_independent_and_repeatable():
    truth = Truth("logit", (3, 3), 1, 1)
    draws = [truth.draw(200, part) for part in ("train", "tune", "test")]
    draws.append(Truth("logit", (3, 3), 1, 2).draw(200, "train"))
    for i, a in enumerate(draws):
        for b in draws[:i]:
            assert abs(np.corrcoef(a.X.ravel(), b.X.ravel())[0, 1]) < 0.1
    np.testing.assert_array_equal(Truth("logit", (3, 3), 1, 1).draw(200, "tune").X, draws[1].X)
    with pytest.raises(ValueError, match="unknown part 'hold-out'"):
        truth.draw(3, "hold-out")


def test_labels_have_the_probability():
    draw = Truth("logit", (4, 4), 1, 1).draw(60000, "test")
    for low in (0.0, 0.25, 0.5, 0.75):
        inside = (draw.probability >= low) & (draw.probability < low + 0.25)
        assert np.mean(draw.y[inside] == 1) == pytest.approx(draw.probability[inside].mean(), abs=0.015)
