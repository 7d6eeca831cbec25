"""LevelSetClassifier: the weights of a level, and the sets that it should find."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from marginbook.datasets import make_low_rank
from marginbook.smm.estimators import LowRankSVMClassifier
from marginbook.smm.estimators.level_sets import LevelSetClassifier

from .expected import without_intercept

LOSSES = ("hinge", "squared_hinge", "logistic")


def _sample(n=80, shape=(5, 4), rank=1, seed=0, scale=3.0):
    return make_low_rank(n, shape=shape, rank=rank, scale=scale, random_state=seed)


@parametrize_with_checks(
    [
        LevelSetClassifier(),
        LevelSetClassifier(0.4, loss="logistic", fit_intercept=False),
        LevelSetClassifier(0.6, loss="squared_hinge", n_restarts=1),
        LevelSetClassifier(kernel="rbf"),
    ],
    expected_failed_checks=without_intercept,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@given(
    pi=st.floats(0.05, 0.95),
    loss=st.sampled_from(LOSSES),
    fit_intercept=st.booleans(),
    seed=st.integers(0, 9),
)
@settings(max_examples=25)
def test_a_level_is_weights_of_the_classes(pi, loss, fit_intercept, seed):
    X, y, _, _ = _sample(40, seed=seed)
    options = {"rank": 2, "lam": 0.03, "loss": loss, "fit_intercept": fit_intercept}
    level = LevelSetClassifier(pi, **options).fit(X, y)
    weighted = LowRankSVMClassifier(class_weight={1: 1 - pi, -1: pi}, **options).fit(X, y)
    assert level.objective_ == pytest.approx(weighted.objective_, rel=1e-9)
    np.testing.assert_allclose(level.coef_, weighted.coef_, atol=1e-9)
    z = y * level.decision_function(X)
    losses = {
        "hinge": np.maximum(1 - z, 0),
        "squared_hinge": np.maximum(1 - z, 0) ** 2,
        "logistic": np.logaddexp(0, -z),
    }[loss]
    naive = np.mean(np.where(y == 1, 1 - pi, pi) * losses) + 0.03 * np.sum(level.coef_**2)
    assert level.objective_ == pytest.approx(naive, rel=1e-9)


def test_one_half_is_the_classifier_with_half_the_lambda():
    X, y, _, _ = _sample()
    level = LevelSetClassifier(0.5, 2, lam=0.02, tol=1e-9).fit(X, y)
    plain = LowRankSVMClassifier(2, 0.04, tol=1e-9).fit(X, y)
    assert 2 * level.objective_ == pytest.approx(plain.objective_, rel=1e-7)
    np.testing.assert_allclose(level.coef_, plain.coef_, atol=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_turning_the_labels_turns_the_level(loss):
    X, y, _, _ = _sample()
    one = LevelSetClassifier(0.3, lam=0.02, loss=loss, tol=1e-9).fit(X, y)
    other = LevelSetClassifier(0.7, lam=0.02, loss=loss, tol=1e-9).fit(X, -y)
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-7)
    np.testing.assert_allclose(one.coef_, -other.coef_, atol=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_sets_shrink_and_are_near_the_truth(loss):
    X, y, p, _ = _sample(3000, scale=2.0)
    shares = []
    for pi in (0.2, 0.5, 0.8):
        model = LevelSetClassifier(pi, lam=1e-3, loss=loss).fit(X[:1500], y[:1500])
        inside = model.contains(X[1500:])
        assert inside.dtype == bool
        assert (model.predict(X[1500:]) == np.where(inside, 1, -1)).all()
        assert np.mean(inside != (p[1500:] > pi)) < 0.1
        shares.append(inside.mean())
    assert shares[0] > shares[1] > shares[2]


def test_extreme_levels_hold_all_or_nothing():
    X, y, _, _ = _sample()
    assert LevelSetClassifier(1e-6).fit(X, y).contains(X).all()
    assert not LevelSetClassifier(1 - 1e-6).fit(X, y).contains(X).any()


def test_weights_count_samples():
    X, y, _, _ = _sample(40)
    times = np.random.default_rng(1).integers(0, 3, 40)
    weighted = LevelSetClassifier(0.3, lam=0.02).fit(X, y, sample_weight=times)
    repeated = clone(weighted).fit(X.repeat(times, axis=0), y.repeat(times))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)


def test_three_classes_are_for_the_wrapper():
    X, y = _sample()[0], np.arange(80) % 3
    message = (
        "Only binary classification is supported. The type of the target is multiclass, with 3 classes; wrap "
        "LevelSetClassifier in OneVsRestClassifier of sklearn.multiclass"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        LevelSetClassifier().fit(X, y)
    assert set(OneVsRestClassifier(LevelSetClassifier()).fit(X, y).predict(X)) <= {0, 1, 2}


@pytest.mark.parametrize("pi", [0, 1, 1.5, -0.1, np.nan, "half", None, True])
def test_a_level_is_between_0_and_1(pi):
    X, y, _, _ = _sample(20)
    with pytest.raises(ValueError, match=re.escape(f"pi must be a number in (0, 1), got {pi!r}")):
        LevelSetClassifier(pi).fit(X, y)
