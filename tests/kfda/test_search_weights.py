"""Weights of rows in RealisationSearch: k is k equal rows where parts keep them together, 0 is none."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import accuracy_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, ParameterGrid, PredefinedSplit, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

from marginbook.kfda import RealisationSearch, SparseKFDAClassifier, retained_fraction

GRID = {"rho": [0.01, 0.3], "gamma": [0.05, 0.5]}


def _rows(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0.2, "yes", "no")
    return X, y, rng.integers(0, 4, size=n).astype(float)


def _pairs(groups):
    """Return folds that hold out one group after the other."""
    return list(PredefinedSplit(groups).split())


def _same(one, other, X):
    np.testing.assert_allclose(one.realisations_["cv_error"], other.realisations_["cv_error"], atol=1e-12)
    assert one.realisations_["params"].tolist() == other.realisations_["params"].tolist()
    assert (one.best_realisation_, one.best_params_) == (other.best_realisation_, other.best_params_)
    assert one.best_score_ == pytest.approx(other.best_score_, abs=1e-12)
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("refit", ["all", "realisation"])
def test_weights_are_repeated_rows_where_parts_and_folds_keep_these_together(refit):
    """Two halves, each in three groups; in a half, folds are named by the place of a row."""
    X, y, weights = _rows()
    half, group = np.arange(60) // 30, np.arange(60) % 3
    weights[half == 1] = weights[half == 0]  # as many copies in both, so that one list of folds is for both
    often = np.repeat(np.arange(60), weights.astype(int))

    def search(rows):
        parts = [(np.flatnonzero(half[rows] == k), []) for k in range(2)]
        inner = _pairs(group[rows][half[rows] == 0])
        return RealisationSearch(SparseKFDAClassifier(), {"rho": GRID["rho"]}, parts, cv=inner, refit=refit)

    heavy = search(np.arange(60)).fit(X, y, sample_weight=weights)
    again = search(often).fit(X[often], y[often])
    _same(heavy, again, X)
    assert heavy.realisations_["n_train"].tolist() == [np.sum(weights[half == 0] > 0)] * 2
    light = search(np.arange(60)).fit(X, y, np.ones(60))
    assert light.best_score_ != heavy.best_score_


@pytest.mark.parametrize(
    ("rule", "refit", "cv"),
    [("error", "all", 2), ("retained", "realisation", 2), ("error", "realisation", None)],
)
def test_rows_of_weight_zero_are_left_out_before_rows_are_drawn(rule, refit, cv):
    X, y, weights = _rows(40)
    kept = weights > 0
    options = {"realisations": 2, "rule": rule, "refit": refit, "cv": cv, "random_state": 3}
    model = make_pipeline(MinMaxScaler(), SparseKFDAClassifier())  # one step takes no weights
    grid = {"sparsekfdaclassifier__rho": GRID["rho"]}
    heavy = RealisationSearch(model, grid, **options).fit(X, y, weights)
    left = RealisationSearch(model, grid, **options).fit(X[kept], y[kept], weights[kept])
    _same(heavy, left, X)
    np.testing.assert_array_equal(heavy.realisations_["retained"], left.realisations_["retained"])
    assert retained_fraction(heavy) == retained_fraction(left)


class Unweighted(SVC):
    """A machine whose fit takes no weights."""

    def fit(self, X, y):
        return super().fit(X, y)


@pytest.mark.parametrize("refit", ["all", "realisation"])
def test_weights_of_zero_and_one_need_no_estimator_that_takes_weights(refit):
    X, y, weights = _rows()
    kept = weights > 0
    options = {"realisations": 2, "cv": 2, "random_state": 0, "refit": refit}
    search = RealisationSearch(Unweighted(gamma=0.3), {"C": [0.1, 10.0]}, **options)
    _same(clone(search).fit(X, y, kept), clone(search).fit(X[kept], y[kept]), X)
    with pytest.raises(ValueError, match="Unweighted takes no sample_weight"):
        search.fit(X, y, 2.0 * kept)


@pytest.mark.parametrize("refit", ["all", "realisation"])
def test_a_precomputed_kernel_has_a_column_for_a_row_of_weight_zero(refit):
    X, y, weights = _rows(80)
    K = rbf_kernel(X, gamma=0.5)
    options = {"realisations": 2, "cv": 3, "random_state": 0, "refit": refit}
    given = RealisationSearch(SparseKFDAClassifier(kernel="precomputed"), {"rho": [0.01, 0.1]}, **options)
    same = RealisationSearch(SparseKFDAClassifier(gamma=0.5), {"rho": [0.01, 0.1]}, **options)
    same.fit(X, y, weights)
    given.fit(K, y, weights)
    np.testing.assert_allclose(given.decision_function(K), same.decision_function(X), atol=1e-7)
    assert given.n_features_in_ == 80


def test_it_is_the_loop_with_weights_in_fits_and_accuracies():
    X, y, weights = _rows()
    weights += np.random.default_rng(1).random(60)
    model = make_pipeline(StandardScaler(), SparseKFDAClassifier())
    names = {"sparsekfdaclassifier__rho": GRID["rho"]}
    part = np.arange(5, 60)
    search = RealisationSearch(model, names, [(part, [])], cv=StratifiedKFold(3)).fit(X, y, weights)
    expected = []
    for point in ParameterGrid(names):
        scores = []
        for train, test in StratifiedKFold(3).split(X[part], y[part]):
            train, test = part[train], part[test]
            both = {f"{step}__sample_weight": weights[train] for step, _ in model.steps}
            one = clone(model).set_params(**point).fit(X[train], y[train], **both)
            scores.append(accuracy_score(y[test], one.predict(X[test]), sample_weight=weights[test]))
        expected.append(np.mean(scores))
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected, atol=1e-12)
    both = {f"{step}__sample_weight": weights for step, _ in model.steps}
    best = clone(model).set_params(**search.best_params_).fit(X, y, **both)
    np.testing.assert_array_equal(search.decision_function(X), best.decision_function(X))
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    again = clone(search).fit(frame, pd.Series(y), pd.Series(weights))
    np.testing.assert_array_equal(again.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"])


def test_machines_of_several_classes_get_weights_too():
    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    kept = weights > 0
    model = OneVsRestClassifier(SparseKFDAClassifier(gamma=0.25))
    options = {"realisations": 2, "cv": 3, "random_state": 1}
    search = RealisationSearch(model, {"estimator__rho": [0.01, 0.1]}, **options)
    _same(search.fit(X, y, weights), clone(search).fit(X[kept], y[kept], weights[kept]), X)
    assert search.score(X, y) > 0.9


def test_more_processes_get_weights_too():
    X, y, weights = _rows()
    one = RealisationSearch(SparseKFDAClassifier(), GRID, 2, cv=2, random_state=0).fit(X, y, weights)
    _same(clone(one).set_params(n_jobs=2).fit(X, y, weights), one, X)


def test_where_metadata_routing_is_on_the_estimator_asks():
    X, y, weights = _rows()
    weights += 1
    model = SparseKFDAClassifier(gamma=0.5)
    options = {"param_grid": {"rho": [0.01, 0.1]}, "realisations": 1, "cv": 2, "random_state": 0}
    off = RealisationSearch(model, **options).fit(X, y, weights)
    with config_context(enable_metadata_routing=True):
        with pytest.raises(UnsetMetadataPassedError, match=r"within .*RealisationSearch.*\.fit"):
            RealisationSearch(model, **options).fit(X, y, sample_weight=weights)
        asks, refuses = (clone(model).set_fit_request(sample_weight=wanted) for wanted in (True, False))
        on = RealisationSearch(asks, **options).fit(X, y, sample_weight=weights)
        only_scores = RealisationSearch(refuses, **options).fit(X, y, sample_weight=weights)
        outer = RealisationSearch(asks, **options).set_fit_request(sample_weight=True)
        outer.set_score_request(sample_weight=True)
        GridSearchCV(outer, {"rule": ["error", "retained"]}, cv=2).fit(X, y, sample_weight=weights)
    _same(on, off, X)
    plain = clone(model).set_params(**only_scores.best_params_).fit(X, y)
    np.testing.assert_array_equal(only_scores.decision_function(X), plain.decision_function(X))
    with pytest.raises(RuntimeError):
        model.set_fit_request(sample_weight=True)  # off again


@pytest.mark.parametrize(
    ("weights", "options", "message"),
    [
        ([1.0, 2.0], {}, "sample_weight"),
        (-np.ones(60), {}, "egative"),
        (np.full(60, np.nan), {}, "NaN"),
        (np.arange(60) == 1, {}, "every class needs a row of positive weight; yes has none"),
        (
            np.arange(60) + 1,
            {"estimator": KNeighborsClassifier(), "param_grid": {"n_neighbors": [1]}},
            "KNeighborsClassifier takes no sample_weight; leave it out, or repeat the rows",
        ),
        (
            np.arange(60) + 1,
            {"estimator": make_pipeline(StandardScaler(), KNeighborsClassifier()), "param_grid": {}},
            "KNeighborsClassifier takes no sample_weight; leave it out, or repeat the rows",
        ),
        (np.arange(60) % 2, {"realisations": [(np.arange(40), [])], "cv": 30}, "at most the 20 rows"),
        (
            np.arange(60) % 2,
            {"realisations": [(np.arange(40), [])], "cv": _pairs(np.arange(40) % 2)},
            "no test row of fold 0 has a positive weight",
        ),
    ],
)
def test_weights_that_have_no_place(weights, options, message):
    X, y, _ = _rows()
    y[:2] = "yes", "no"
    given = {"estimator": SparseKFDAClassifier(), "param_grid": {"rho": [0.1]}, **options}
    with pytest.raises(ValueError, match=re.escape(message)):
        RealisationSearch(**given).fit(X, y, weights)
