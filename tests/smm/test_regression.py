"""RegressionFunctionEstimator: a level set for each level, warm, and the probability that they make."""

import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from marginbook.datasets import make_low_rank
from marginbook.smm.estimators.level_sets import LevelSetClassifier
from marginbook.smm.estimators.regression import RegressionFunctionEstimator, outwards
from marginbook.smm.model.aggregation import AGGREGATES, aggregate, crossings

from .expected import without_intercept

LOSSES = ("hinge", "squared_hinge", "logistic")


def _sample(n=200, shape=(5, 4), rank=1, seed=0, scale=3.0):
    return make_low_rank(n, shape=shape, rank=rank, scale=scale, random_state=seed)


@parametrize_with_checks(
    [
        RegressionFunctionEstimator(6),
        RegressionFunctionEstimator(5, "isotonic", loss="logistic", fit_intercept=False),
        RegressionFunctionEstimator(4, "interval", loss="squared_hinge", n_restarts=1),
        RegressionFunctionEstimator(4, kernel="rbf"),
    ],
    expected_failed_checks=without_intercept,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kernel", ["linear", ("rbf", {"gamma": 0.3})])
@pytest.mark.parametrize("loss", LOSSES)
def test_every_level_is_a_level_set(loss, kernel):
    """Warm or not: the objective of each level is that of its weights, within reach of a new fit."""
    X, y, _, _ = _sample(100)
    model = RegressionFunctionEstimator(6, lam=0.01, loss=loss, kernel=kernel, tol=1e-7).fit(X, y)
    f = model.level_decisions(X)
    assert f.shape == (100, 5)
    for h, pi in enumerate(model.levels_):
        new = LevelSetClassifier(pi, lam=0.01, loss=loss, kernel=kernel, tol=1e-7).fit(X, y)
        assert model.objective_[h] == pytest.approx(new.objective_, rel=0.02)
        assert model.lower_bound_[h] <= model.objective_[h] * (1 + 1e-9)
        assert model.lower_bound_[h] <= new.objective_ * (1 + 1e-9)
        assert np.all(np.diff(model.objective_path_[h]) <= 1e-9)
        if kernel == "linear":
            values = np.einsum("nab,ab->n", X, model.coef_[h]) + model.intercept_[h]
            np.testing.assert_allclose(f[:, h], values, atol=1e-10)
            np.testing.assert_allclose(model.coef_[h], model.U_[h] @ model.V_[h].T, atol=1e-12)
    assert [name == "given" for name in model.start_] == [h != 2 for h in range(5)]
    assert model.n_iter_ == model.n_iter_path_.max()
    assert model.multipliers_.shape == (5, 100)


def test_attributes_are_the_rules():
    X, y, p, _ = _sample(400)
    model = RegressionFunctionEstimator(10, lam=0.001).fit(X[:200], y[:200])
    assert model.levels_.tolist() == [h / 10 for h in range(1, 10)]
    f = model.level_decisions(X)
    assert model.crossings_ == crossings(f[:200])
    for rule in AGGREGATES:
        model.set_params(aggregate=rule)
        probability = model.predict_proba(X)
        np.testing.assert_allclose(probability[:, 1], aggregate(f, rule))
        np.testing.assert_allclose(probability.sum(axis=1), 1)
        assert (model.predict(X) == np.where(probability[:, 1] > 0.5, 1, -1)).all()
        assert np.mean(np.abs(probability[200:, 1] - p[200:])) < 0.15
        assert np.mean(np.abs(probability[200:, 1] - (1 - p[200:]))) > 0.3
    with pytest.raises(ValueError, match="unknown aggregate 'mean'"):
        model.set_params(aggregate="mean").predict_proba(X)


def test_an_odd_number_of_levels_has_a_tie_that_goes_to_the_first_class():
    X, y, _, _ = _sample()
    model = RegressionFunctionEstimator(3, lam=0.05).fit(X, y)
    probability = model.predict_proba(X)[:, 1]
    tied = np.isclose(probability, 0.5)
    assert tied.any()
    assert (model.predict(X)[tied] == -1).all()


def test_two_levels_are_the_classifier():
    X, y, _, _ = _sample()
    model = RegressionFunctionEstimator(2, lam=0.02).fit(X, y)
    other = LevelSetClassifier(0.5, lam=0.02).fit(X, y)
    assert (model.predict(X) == other.predict(X)).all()
    assert set(model.predict_proba(X)[:, 1]) == {0.25, 0.75}
    assert model.crossings_.share == 0


def test_turning_the_labels_turns_the_probability():
    X, y, _, _ = _sample()
    one = RegressionFunctionEstimator(8, lam=0.02, tol=1e-9).fit(X, y)
    other = clone(one).fit(X, np.where(y == 1, "a", "b"))
    assert other.classes_.tolist() == ["a", "b"]
    np.testing.assert_allclose(one.predict_proba(X)[:, 1], other.predict_proba(X)[:, 0], atol=0.13)
    assert np.mean(np.abs(one.predict_proba(X)[:, 1] - other.predict_proba(X)[:, 0])) < 0.01


def test_weights_are_repetitions():
    X, y, _, _ = _sample(60)
    times = np.random.default_rng(2).integers(0, 3, 60)
    weighted = RegressionFunctionEstimator(5, lam=0.02).fit(X, y, sample_weight=times)
    repeated = clone(weighted).fit(X.repeat(times, axis=0), y.repeat(times))
    np.testing.assert_allclose(weighted.objective_, repeated.objective_, rtol=1e-5)
    assert weighted.crossings_.n_samples == np.count_nonzero(times)
    assert weighted.crossings_.share <= 1


def test_pure_noise_crosses_and_is_reported():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 6, 6)), rng.choice([-1, 1], 60)
    model = RegressionFunctionEstimator(12, rank=2, lam=0.02).fit(X, y)
    f = model.level_decisions(rng.normal(size=(500, 6, 6)))
    report = crossings(f)
    assert report.n_crossed > 0
    assert report.pairs >= report.n_crossed
    assert report.moved_by_isotonic > 0


def test_more_classes_pickles_and_scores():
    digits = load_digits(n_class=3)
    X, y = digits.images[:240] / 16, digits.target[:240]
    model = OneVsRestClassifier(RegressionFunctionEstimator(6, lam=0.01)).fit(X[:120], y[:120])
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.score(X[120:], y[120:]) > 0.9
    X, y, _, _ = _sample(120)
    one = RegressionFunctionEstimator(6, lam=0.01)
    assert cross_val_score(one, X, y, cv=3, scoring="neg_brier_score").mean() > -0.25
    again = pickle.loads(pickle.dumps(one.fit(X, y)))
    assert np.array_equal(again.predict_proba(X), one.predict_proba(X))
    assert again.crossings_ == one.crossings_


@pytest.mark.parametrize("count", range(1, 9))
def test_levels_are_solved_from_the_middle(count):
    order = outwards(count)
    assert sorted(h for h, _ in order) == list(range(count))
    solved = set()
    for h, neighbour in order:
        assert neighbour is None if not solved else neighbour in solved
        assert neighbour is None or abs(h - neighbour) == 1
        solved.add(h)


def test_missing_the_tolerance_is_one_warning():
    X, y, _, _ = make_low_rank(150, shape=(8, 8), rank=3, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"for \d of 4 machines.* above tol=1.0e-13") as caught:
        RegressionFunctionEstimator(5, rank=2, lam=1e-4, max_iter=1, tol=1e-13).fit(X, y)
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_levels": 1}, "n_levels must be a whole number >= 2, got 1; 2 has the level 1/2 only"),
        ({"n_levels": 2.0}, "n_levels must be a whole number >= 2, got 2.0"),
        ({"n_levels": True}, "n_levels must be a whole number >= 2, got True"),
        ({"aggregate": "mean"}, "unknown aggregate 'mean'; choose from count, interval, isotonic"),
        ({"lam": -1}, "lam must be a number > 0"),
    ],
)
def test_a_parameter_out_of_range_is_named(parameters, message):
    X, y, _, _ = _sample(20)
    with pytest.raises(ValueError, match=re.escape(message)):
        RegressionFunctionEstimator(**parameters).fit(X, y)
