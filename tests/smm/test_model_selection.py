"""LowRankSVMClassifierCV: the grid's scores against new fits, the order of ties, and what is refused."""

import pickle
import re
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from marginbook.datasets import make_low_rank
from marginbook.smm.estimators import LowRankSVMClassifier
from marginbook.smm.estimators.selection import LowRankSVMClassifierCV, path_lams, path_ranks

LINEAR = ("linear", {})


def _sample(n=150, shape=(6, 4), rank=2, seed=0, scale=6.0):
    X, y, _, _ = make_low_rank(n, shape=shape, rank=rank, scale=scale, random_state=seed)
    return X, y


@parametrize_with_checks([LowRankSVMClassifierCV(lams=(0.1, 0.01), cv=2)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_paths_score_like_new_fits(kernel):
    X, y = _sample(90 if kernel == "linear" else 45)
    lams = (0.1, 0.01)
    path = LowRankSVMClassifierCV((1, 2, None), lams, 3, kernel=kernel).fit(X, y)
    full = 4 if kernel == "linear" else 6
    grid = GridSearchCV(LowRankSVMClassifier(kernel=kernel), {"rank": [1, 2, full], "lam": lams}, cv=3)
    grid.fit(X, y)
    scored = zip(grid.cv_results_["params"], grid.cv_results_["mean_test_score"], strict=True)
    new = {(pair["rank"], pair["lam"]): score for pair, score in scored}
    results = path.cv_results_
    keys = list(zip(results["param_rank"].tolist(), results["param_lam"].tolist(), strict=True))
    assert keys == [(rank, lam) for rank in (1, 2, full) for lam in lams]
    difference = [abs(score - new[key]) for key, score in zip(keys, results["mean_test_score"], strict=True)]
    assert np.mean(difference) < 0.01
    # of full rank there is one minimum, and of the first lambda one start
    exact = [d for (rank, lam), d in zip(keys, difference, strict=True) if rank == full or lam == 0.1]
    assert max(exact) < 1e-12
    assert path.best_score_ == results["mean_test_score"].max()


def test_results_are_named_as_scikit_learn_names_them():
    X, y = _sample()
    cv = LowRankSVMClassifierCV((2, 1), (0.01, 0.1), KFold(3), "roc_auc").fit(X, y)
    results = cv.cv_results_
    assert cv.n_splits_ == 3
    splits = np.array([results[f"split{k}_test_score"] for k in range(3)])
    np.testing.assert_allclose(results["mean_test_score"], splits.mean(axis=0))
    np.testing.assert_allclose(results["std_test_score"], splits.std(axis=0))
    assert results["params"][0] == {"rank": 1, "lam": 0.1}
    assert results["rank_test_score"][cv.best_index_] == 1
    assert cv.best_params_ == {"rank": cv.rank_, "lam": cv.lam_} == results["params"][cv.best_index_]
    assert cv.best_estimator_.rank_ == cv.rank_
    alone = LowRankSVMClassifier(cv.rank_, cv.lam_).fit(X, y)
    np.testing.assert_allclose(cv.decision_function(X), alone.decision_function(X))
    assert (cv.predict(X) == alone.predict(X)).all()
    assert cv.n_iter_ == alone.n_iter_
    again = pickle.loads(pickle.dumps(cv))
    assert np.array_equal(again.predict(X), cv.predict(X))


def test_of_equal_scores_the_simplest_wins():
    rng = np.random.default_rng(0)
    y = np.repeat([-1, 1], 20)
    X = rng.normal(size=(40, 3, 3)) + 20.0 * y[:, None, None]
    cv = LowRankSVMClassifierCV((3, 2, 1), (1e-4, 1e-3, 1e-2), 2).fit(X, y)
    assert cv.best_score_ == 1
    assert cv.best_params_ == {"rank": 1, "lam": 0.01}
    assert set(cv.cv_results_["rank_test_score"]) == {1}


def test_a_low_rank_is_found_where_the_truth_has_one():
    X, y = _sample(120, (8, 6), 1, scale=10.0)
    cv = LowRankSVMClassifierCV(None, (0.1, 0.01), 3).fit(X, y)
    assert sorted(set(cv.cv_results_["param_rank"])) == [1, 2, 4, 6]
    assert cv.rank_ in (1, 2)
    best = cv.cv_results_["mean_test_score"].reshape(4, 2).max(axis=1)
    assert best[:2].max() > best[3] + 0.02


def test_more_classes_and_rows():
    X = _sample(60)[0]
    y = np.array(["a", "b", "c"])[np.argsort(np.argsort(X[:, 0, 0])) // 20]
    cv = LowRankSVMClassifierCV((1, 2), (0.1, 0.01), 3).fit(X, y)
    assert cv.decision_function(X).shape == (60, 3)
    rows = clone(cv).set_params(shape=(6, 4)).fit(X.reshape(60, 24), y)
    assert np.array_equal(rows.cv_results_["mean_test_score"], cv.cv_results_["mean_test_score"])
    assert (rows.predict(X.reshape(60, 24)) == cv.predict(X)).all()


def test_one_warning_counts_the_fits_that_missed():
    X, y = _sample()
    model = LowRankSVMClassifierCV((1, 2), (0.1, 1e-4), 2, max_iter=1, tol=0.0)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, y)
    counts = [re.match(r"(\d) of 8 fits of the cross-validation stopped", str(w.message)) for w in caught]
    assert len([count for count in counts if count]) == 1
    assert len(caught) <= 2


def test_the_warning_counts_the_fits_that_missed_and_not_the_others(monkeypatch):
    X, y = _sample()
    fit = LowRankSVMClassifier.fit

    def missing(machine, *values):
        fit(machine, *values).converged_ = machine.lam > 0.01
        return machine

    model = LowRankSVMClassifierCV((4,), (0.1, 0.01, 0.001), 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model.fit(X, y)
    monkeypatch.setattr(LowRankSVMClassifier, "fit", missing)
    with pytest.warns(ConvergenceWarning, match="^4 of 6 fits of the cross-validation stopped"):
        model.fit(X, y)


def test_ranks_and_lams_of_the_path():
    assert path_ranks(None, (6, 4), LINEAR) == [1, 2, 4]
    assert path_ranks(None, (9, 20), LINEAR) == [1, 2, 4, 8, 9]
    assert path_ranks(None, (7, 1), LINEAR) == [1]
    assert path_ranks(None, (7, 2), ("rbf", {})) == [1, 2, 4, 7]
    assert path_ranks([None, 2, 1, 2, 4], (6, 4), LINEAR) == [1, 2, 4]
    assert path_ranks(np.array([3, 1]), (6, 4), LINEAR) == [1, 3]
    assert path_lams([1, 0.1, 10, 0.1]) == [10.0, 1.0, 0.1]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"ranks": 2}, "ranks must be None or a sequence of ranks, got 2; write [2]"),
        ({"ranks": []}, "ranks must be None or a sequence of at least one rank, got an empty one"),
        ({"ranks": [1, 5]}, "rank must be at most min(d1, d2) = 4 for matrices of 6 x 4, got 5"),
        ({"ranks": [0]}, "rank must be None, for full rank, or a whole number >= 1, got 0"),
        ({"lams": 0.1}, "lams must be a sequence of numbers > 0, got 0.1; write [0.1]"),
        ({"lams": np.array(0.5)}, "lams must be a sequence of numbers > 0, got array(0.5)"),
        ({"lams": ()}, "lams must be a sequence of at least one number > 0, got an empty one"),
        ({"lams": [0.1, -1]}, "lam must be a number > 0, from 1e-100 to 1e+100, got -1"),
        ({"loss": "ramp"}, "unknown loss 'ramp'"),
        ({"scoring": "speed"}, "'speed'"),
    ],
)
def test_what_is_no_grid_is_named(parameters, message):
    X, y = _sample(40)
    with pytest.raises(ValueError, match=re.escape(message)):
        LowRankSVMClassifierCV(**parameters).fit(X, y)


def test_one_class_and_scores_that_are_no_numbers():
    X, y = _sample(40)
    with pytest.raises(ValueError, match="LowRankSVMClassifierCV needs at least 2 classes, got one class: 7"):
        LowRankSVMClassifierCV().fit(X, np.full(40, 7))
    with pytest.raises(ValueError, match="is not a number at any rank and lam; choose another"):
        LowRankSVMClassifierCV((1,), (0.1,), 2, scoring=lambda *_: np.nan).fit(X, y)


@pytest.mark.parametrize("scoring", [None, "roc_auc"])
def test_the_score_of_new_matrices_is_what_the_choice_was_made_by(scoring):
    X, y = _sample()
    model = LowRankSVMClassifierCV((1,), (0.1, 1.0), 2, scoring=scoring)
    with pytest.raises(NotFittedError):
        model.score(X, y)
    model.fit(X[:100], y[:100])
    X, y, weights = X[100:], y[100:], np.arange(50.0)
    for own in (None, weights):
        expected = (
            np.average(model.predict(X) == y, weights=own)
            if scoring is None
            else roc_auc_score(y, model.decision_function(X), sample_weight=own)
        )
        assert model.score(X, y, own) == pytest.approx(expected)
    rows = X.reshape(len(X), -1)
    assert model.score(rows, y) == model.score(X, y)
