"""The rules choose what a loop chooses; a search over realisations is the paper's protocol."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, StratifiedKFold, StratifiedShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import check_dataframe_column_names_consistency, parametrize_with_checks

from marginbook.kfda import (
    MinimumError,
    MinimumRetained,
    RealisationSearch,
    SparseKFDAClassifier,
    choose_realisation,
    neg_retained_fraction,
    retained_fraction,
)
from marginbook.kfda.estimators.selection_rules import ERROR_AND_RETAINED

GRID = {"rho": [0.01, 0.1, 1.0], "gamma": [0.01, 0.1]}


def _cancer(step=4):
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X)[::step], y[::step]


def _results(accuracies, retained):
    """What a search with 3 folds reports, where fold k of candidate i has accuracy ``accuracies[i][k]``."""
    found = {f"split{k}_test_accuracy": np.array([a[k] for a in accuracies]) for k in range(3)}
    found["mean_test_accuracy"] = np.mean(accuracies, axis=1)
    found["mean_test_neg_retained"] = -np.array(retained)
    return found


def test_the_rules_in_a_search_are_a_loop_over_the_grid():
    X, y = _cancer()
    model = SparseKFDAClassifier(q=0.5)
    folds = StratifiedKFold(4)
    candidates, errors, kept, spread = [], [], [], []
    for gamma in GRID["gamma"]:
        for rho in GRID["rho"]:
            wrong, rows = [], []
            for train, test in folds.split(X, y):
                one = clone(model).set_params(gamma=gamma, rho=rho).fit(X[train], y[train])
                wrong.append(np.mean(one.predict(X[test]) != y[test]))
                rows.append(np.count_nonzero(one.dual_coef_) / len(train))
            candidates.append({"gamma": gamma, "rho": rho})
            errors.append(np.mean(wrong))
            spread.append(np.std(wrong, ddof=1) / 2)
            kept.append(np.mean(rows))
    best = min(range(6), key=lambda i: (round(errors[i], 12), kept[i]))
    options = {"scoring": ERROR_AND_RETAINED, "cv": folds}
    found = GridSearchCV(model, GRID, refit=MinimumError(), **options).fit(X, y)
    assert found.best_params_ == candidates[best]
    np.testing.assert_allclose(-found.cv_results_["mean_test_neg_retained"], kept)
    for within in ("standard-error", 0.0, 0.02, np.inf):
        slack = spread[best] if within == "standard-error" else within
        near = [i for i in range(6) if errors[i] <= errors[best] + slack + 1e-12]
        sparsest = min(near, key=lambda i: (kept[i], errors[i]))
        chosen = GridSearchCV(model, GRID, refit=MinimumRetained(within), **options).fit(X, y)
        assert chosen.best_params_ == candidates[sparsest]
    assert kept[sparsest] < kept[best]


@settings(max_examples=60)
@given(
    accuracies=st.lists(
        st.lists(st.sampled_from([0.5, 0.7, 0.9]), min_size=3, max_size=3), min_size=1, max_size=8
    ),
    within=st.sampled_from(["standard-error", 0.0, 0.1, np.inf]),
    data=st.data(),
)
def test_the_sparser_choice_is_never_denser_and_never_worse_than_allowed(accuracies, within, data):
    retained = data.draw(
        st.lists(st.sampled_from([0.0, 0.1, 0.5]), min_size=len(accuracies), max_size=len(accuracies))
    )
    results = _results(accuracies, retained)
    best, few = MinimumError()(results), MinimumRetained(within)(results)
    means = results["mean_test_accuracy"]
    assert means[best] == pytest.approx(means.max())
    assert retained[few] <= retained[best]
    slack = np.std(accuracies[best], ddof=1) / np.sqrt(3) if within == "standard-error" else within
    assert means[few] >= means.max() - slack - 1e-9


@pytest.mark.parametrize(("k", "least"), [(2, 0.8), (3, 0.9 - 0.1 / np.sqrt(3)), (1, 0.9)])
def test_the_slack_is_the_standard_error_of_the_best_over_its_folds(k, least):
    """Folds of 0.8 and 1.0 have the standard deviation 0.1 * sqrt(2), those of 0.8, 0.9 and 1.0 have 0.1."""
    best = {1: [0.9], 2: [0.8, 1.0], 3: [0.8, 0.9, 1.0]}[k]
    for mean, index in ((least + 1e-3, 1), (least - 1e-3, 0)):
        results = {f"split{i}_test_accuracy": np.array([best[i], mean]) for i in range(k)}
        results["mean_test_accuracy"] = np.array([0.9, mean])
        results["mean_test_neg_retained"] = np.array([-0.5, -0.1])
        assert MinimumRetained()(results) == index


def test_ties_and_candidates_that_failed():
    nan = [np.nan] * 3
    results = _results([nan, [0.8] * 3, [0.8] * 3, [0.8] * 3, [0.7] * 3], [0.01, 0.5, 0.2, 0.2, np.nan])
    assert MinimumError()(results) == 2
    assert MinimumRetained(0.2)(results) == 2
    with pytest.raises(ValueError, match="each of 1 candidates failed in a fold, so there is none to choose"):
        MinimumError()(_results([nan], [0.1]))


def test_rules_are_values():
    assert MinimumRetained(0.01) == MinimumRetained(0.01) != MinimumRetained(0.02)
    assert repr(MinimumError()) == "MinimumError(accuracy='accuracy', retained='neg_retained')"
    assert pickle.loads(pickle.dumps(MinimumRetained())) == MinimumRetained()
    search = GridSearchCV(SVC(), {"C": [1]}, scoring=ERROR_AND_RETAINED, refit=MinimumRetained())
    assert clone(search).refit == MinimumRetained()


def test_rules_with_names_of_ones_own():
    X, y = _cancer()
    scoring = {"balanced": "balanced_accuracy", "few": neg_retained_fraction}
    rule = MinimumRetained(0.02, accuracy="balanced", retained="few")
    model = make_pipeline(StandardScaler(), SVC())
    search = GridSearchCV(model, {"svc__C": [0.1, 1, 10]}, scoring=scoring, refit=rule).fit(X, y)
    assert retained_fraction(search) == len(search.best_estimator_[-1].support_) / len(y)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (MinimumRetained(-0.1), "within must be a number >= 0 or 'standard-error', got -0.1"),
        (MinimumRetained("se"), "unknown within 'se'; choose from standard-error"),
        (MinimumRetained(None), "within must be a number >= 0 or 'standard-error', got None"),
        (MinimumError(accuracy="error"), "the search has no metric 'error'; give scoring=ERROR_AND_RETAINED"),
    ],
)
def test_rules_that_cannot_be_followed(rule, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        rule(_results([[0.5, 0.6, 0.7]], [0.2]))


def test_choose_realisation():
    errors, retained = [0.2, 0.1, 0.1, 0.3], [5, 9, 8, 5]
    assert choose_realisation(errors, retained) == 2
    assert choose_realisation(errors, retained, "retained") == 0
    shares = [40.0 * (1 + 1e-13), 40.0]  # equal to rounding
    assert choose_realisation(errors[1::-1], shares, "retained") == 0
    with pytest.raises(ValueError, match="unknown rule 'few'; choose from error, retained"):
        choose_realisation(errors, retained, "few")


@pytest.mark.parametrize("rule", ["error", "retained"])
def test_the_search_over_realisations_is_the_printed_protocol(rule):
    X, y = _cancer(2)
    parts = list(StratifiedShuffleSplit(3, train_size=120, random_state=1).split(X, y))
    model = SparseKFDAClassifier(q=0.5)
    winners = []
    for train, _ in parts:
        found = GridSearchCV(model, GRID, scoring=ERROR_AND_RETAINED, refit=MinimumError(), cv=3)
        found.fit(X[train], y[train])
        error = 1 - cross_val_score(found.best_estimator_, X[train], y[train], cv=3).mean()
        winners.append((error, len(found.best_estimator_.retained_), found))
    order = (0, 1) if rule == "error" else (1, 0)
    chosen = min(range(3), key=lambda r: tuple(round(winners[r][k], 12) for k in order))
    options = {"realisations": 3, "rule": rule, "train_size": 120, "cv": 3, "random_state": 1}
    search = RealisationSearch(model, GRID, **options).fit(X, y)
    assert search.best_realisation_ == chosen
    assert search.best_params_ == winners[chosen][2].best_params_
    table = pd.DataFrame(search.realisations_)
    np.testing.assert_allclose(table["cv_error"], [error for error, _, _ in winners])
    np.testing.assert_allclose(table["retained"] * table["n_train"], [count for _, count, _ in winners])
    assert search.best_score_ == pytest.approx(1 - winners[chosen][0])
    refitted = clone(model).set_params(**search.best_params_).fit(X, y)
    np.testing.assert_array_equal(search.decision_function(X), refitted.decision_function(X))
    fixed = RealisationSearch(model, GRID, **options, refit="realisation").fit(X, y)
    np.testing.assert_array_equal(fixed.predict(X), winners[chosen][2].predict(X))
    given = RealisationSearch(model, GRID, realisations=parts, rule=rule, cv=3).fit(X, y)
    assert given.best_params_ == search.best_params_


@pytest.mark.parametrize("refit", ["all", "realisation"])
def test_realisations_of_a_precomputed_kernel(refit):
    X, y = _cancer()
    K = rbf_kernel(X, gamma=0.02)
    options = {"realisations": 2, "cv": 3, "random_state": 0, "refit": refit}
    search = RealisationSearch(SparseKFDAClassifier(kernel="precomputed"), {"rho": [0.01, 0.1]}, **options)
    other = RealisationSearch(SparseKFDAClassifier(gamma=0.02), {"rho": [0.01, 0.1]}, **options)
    expected = other.fit(X, y).decision_function(X)
    for values in (K, pd.DataFrame(K), pd.DataFrame(K).add_prefix("x")):
        np.testing.assert_allclose(search.fit(values, y).decision_function(values), expected, atol=1e-8)


def test_realisations_of_a_pipeline_of_any_sparse_kernel_machine():
    X, y = load_breast_cancer(return_X_y=True)
    frame, labels = pd.DataFrame(X).add_prefix("x"), np.where(y == 1, "benign", "malignant")
    model = make_pipeline(StandardScaler(), SVC())
    search = RealisationSearch(model, {"svc__C": [0.1, 10]}, 2, "retained", random_state=0)
    assert search.fit(frame, labels).score(frame, labels) > 0.9
    assert retained_fraction(search) == len(search.best_estimator_[-1].support_) / len(y)
    with pytest.raises(NotFittedError):
        clone(search).predict(frame)


def test_a_list_may_lack_values_that_a_pipeline_fills_in():
    X, y = _cancer()
    X[::7, 3] = np.nan
    model = make_pipeline(SimpleImputer(), StandardScaler(), SVC())
    search = RealisationSearch(model, {"svc__C": [1.0]}, 2, random_state=0)
    expected = clone(search).fit(X, y).decision_function(X)
    np.testing.assert_array_equal(search.fit(X.tolist(), y).decision_function(X), expected)


@pytest.mark.parametrize("refit", ["all", "realisation"])
def test_names_of_columns_are_kept_and_asked_for(refit):
    X, y = _cancer()
    frame = pd.DataFrame(X).add_prefix("x")
    search = RealisationSearch(SparseKFDAClassifier(0.5), {"rho": [0.1]}, 2, refit=refit, random_state=0)
    check_dataframe_column_names_consistency("RealisationSearch", search)
    assert search.fit(frame, y).feature_names_in_.tolist() == frame.columns.tolist()
    with pytest.raises(ValueError, match="feature names should match"):
        search.predict(frame[frame.columns[::-1]])
    assert not hasattr(search.fit(X, y), "feature_names_in_")


@parametrize_with_checks(
    [RealisationSearch(SparseKFDAClassifier(0.5), {"rho": [0.01]}, 2, train_size=0.8, cv=2, random_state=0)],
    # of all rows, where `cv` is about the rows of a realisation; tests/test_conventions.py has them
    expected_failed_checks=lambda _: {
        f"check_sample_weight_equivalence_on_{kind}_data": "folds of all rows" for kind in ("dense", "sparse")
    },
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "sparse"}, "unknown rule 'sparse'; choose from error, retained"),
        ({"refit": True}, "unknown refit True; choose from all, realisation"),
        ({"realisations": 0}, "realisations must be a whole number >= 1, got 0"),
        ({"realisations": []}, "realisations is empty, got []; give at least one pair (train, test)"),
        (
            {"estimator": LinearSVC(), "param_grid": {"C": [1]}},
            "LinearSVC has neither retained_ nor support_",
        ),
        ({"param_grid": {"alpha": [1]}}, "Invalid parameter 'alpha'"),
        ({"train_size": 2.0}, "train_size"),
    ],
)
@pytest.mark.filterwarnings("ignore:Scoring failed")
def test_searches_that_cannot_be_made(options, message):
    X, y = _cancer(8)
    given = {"estimator": SparseKFDAClassifier(), "param_grid": {"rho": [0.1]}, **options}
    with pytest.raises(ValueError, match=re.escape(message)):
        RealisationSearch(**given).fit(X, y)
