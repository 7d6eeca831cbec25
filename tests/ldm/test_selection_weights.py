"""Weights of rows and classes in LDMClassifierCV: k is k equal rows, 0 is none, and folds are told apart."""

import re

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn import config_context
from sklearn.metrics import accuracy_score, adjusted_rand_score, make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, PredefinedSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from marginbook.kernels import gram
from marginbook.ldm import LDMClassifier, LDMClassifierCV
from marginbook.ldm.estimators import parameters as ldm_settings
from marginbook.ldm.estimators import selection
from marginbook.ldm.estimators.scores import scores, takes_weights
from marginbook.ldm.estimators.selection_weights import weighted_mean_distance

SMALL = {"lambda1s": (2**-8, 0.5), "lambda2s": (2**-6, 20.0), "Cs": (0.1, 10.0)}
GAMMAS = (0.1, 1.0)


def _rows(m=48, d=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(m) < 0.4, "yes", "no")
    X = rng.normal(size=(m, d)) + 0.7 * (y == "yes")[:, None]
    return X, y, rng.integers(0, 4, m).astype(float)


def _pairs(groups):
    """Return folds that hold out one group after the other."""
    return list(PredefinedSplit(groups).split())


def _same_choice(one, other, atol=1e-12):
    np.testing.assert_allclose(
        one.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"], atol=atol
    )
    np.testing.assert_allclose(
        one.cv_results_["gamma"].astype(float), other.cv_results_["gamma"].astype(float)
    )
    assert one.best_index_ == other.best_index_
    assert one.best_score_ == pytest.approx(other.best_score_, abs=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {"Cs": (0.1,)},
        {"kernel": "linear", "fit_intercept": True},
        {"gammas": GAMMAS[:1], "scoring": "roc_auc"},
    ],
    ids=str,
)
@pytest.mark.parametrize("class_weight", [None, "balanced", {"yes": 3.0}])
def test_weights_are_repeated_rows_where_folds_keep_these_together(options, class_weight):
    X, y, weights = _rows()
    groups = np.arange(len(y)) % 3
    often = np.repeat(np.arange(len(y)), weights.astype(int))
    options = {**SMALL, **options, "class_weight": class_weight, "tol": 1e-10}
    heavy = LDMClassifierCV(**options, cv=_pairs(groups)).fit(X, y, sample_weight=weights)
    again = LDMClassifierCV(**options, cv=_pairs(groups[often])).fit(X[often], y[often])
    _same_choice(heavy, again)
    np.testing.assert_allclose(heavy.decision_function(X), again.decision_function(X), atol=2e-4)
    thin = LDMClassifierCV(**options, cv=_pairs(groups)).fit(sparse.csr_matrix(X), y, weights)
    _same_choice(thin, heavy)


@pytest.mark.parametrize("options", [{"gammas": GAMMAS[1:]}, {"kernel": "linear"}], ids=str)
@pytest.mark.parametrize("class_weight", [None, "balanced", {"yes": 3.0}])
@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc"])
def test_it_is_the_loop_over_folds_and_grid_with_weights(options, class_weight, scoring):
    X, y, weights = _rows(seed=1)
    weights += np.random.default_rng(2).random(len(y))
    folds = StratifiedKFold(3, shuffle=True, random_state=3)
    options = {**options, "class_weight": class_weight, "scoring": scoring, "tol": 1e-9}
    cv = LDMClassifierCV(**SMALL, cv=folds, **options).fit(X, y, weights)
    plain = {"kernel": options.get("kernel", "rbf"), "class_weight": class_weight, "tol": 1e-9}
    expected = []
    for point in cv.cv_results_["params"]:
        each = []
        for train, test in folds.split(X, y):
            one = LDMClassifier(**point, **plain, solver="active-set").fit(X[train], y[train], weights[train])
            if scoring == "accuracy":
                score = accuracy_score(y[test], one.predict(X[test]), sample_weight=weights[test])
            else:
                values = one.decision_function(X[test])
                score = roc_auc_score(y[test], values, sample_weight=weights[test])
            each.append(score)
        expected.append(np.mean(each))
    np.testing.assert_allclose(cv.cv_results_["mean_test_score"], expected, atol=1e-12)
    alone = LDMClassifier(**cv.best_params_, **plain).fit(X, y, weights)
    np.testing.assert_allclose(cv.decision_function(X), alone.decision_function(X), atol=1e-4)
    assert cv.cv_results_["dual_gap"].max() <= 1e-9


@pytest.mark.parametrize("cv", [4, None])
def test_a_number_of_folds_is_drawn_from_the_rows_of_positive_weight(cv):
    X, y, weights = _rows(60)
    kept = weights > 0
    options = {**SMALL, "cv": cv, "random_state": 7}
    heavy = LDMClassifierCV(**options).fit(X, y, weights)
    left = LDMClassifierCV(**options).fit(X[kept], y[kept], weights[kept])
    _same_choice(heavy, left)
    np.testing.assert_allclose(heavy.decision_function(X), left.decision_function(X), atol=1e-6)
    repeated = LDMClassifierCV(**options).fit(
        *(np.repeat(part, weights.astype(int), axis=0) for part in (X, y))
    )
    assert (
        repeated.cv_results_["mean_test_score"] != heavy.cv_results_["mean_test_score"]
    ).any()  # copies in several folds


def test_folds_that_are_given_are_about_all_rows():
    X, y, weights = _rows()
    splitter = PredefinedSplit(np.arange(len(y)) % 3)
    kept = weights > 0
    heavy = LDMClassifierCV(**SMALL, cv=splitter).fit(X, y, kept.astype(float))
    left = LDMClassifierCV(**SMALL, cv=_pairs((np.arange(len(y)) % 3)[kept])).fit(X[kept], y[kept])
    _same_choice(heavy, left)


def test_rows_of_weight_none_or_one_share_a_factor_and_have_a_bound(monkeypatch):
    X, y, weights = _rows()
    kept = weights > 0
    sizes = []

    class Counted(selection.WhitenedGram):
        def decompose(self):
            if self._eigen is None:
                sizes.append(self.m)
            return super().decompose()

    monkeypatch.setattr(selection, "WhitenedGram", Counted)
    options = {**SMALL, "gammas": (0.5,), "scoring": "loo-bound"}
    bound = LDMClassifierCV(**options).fit(X, y, kept)
    assert sizes == [kept.sum()]
    _same_choice(bound, LDMClassifierCV(**options).fit(X[kept], y[kept]))
    sizes.clear()
    LDMClassifierCV(**SMALL, gammas=(0.5,), cv=2).fit(X, y, np.ones(len(y)))
    assert sizes == [24, 24]


def test_a_gram_matrix_keeps_a_column_for_a_row_of_weight_zero():
    X, y, weights = _rows()
    kernel = ("rbf", {"gamma": 0.3})
    K = gram(kernel, X)
    given = LDMClassifierCV(**SMALL, cv=2, kernel="precomputed").fit(K, y, weights)
    same = LDMClassifierCV(**SMALL, cv=2, kernel=kernel).fit(X, y, weights)
    _same_choice(given, same)
    np.testing.assert_allclose(given.decision_function(K), same.decision_function(X), atol=1e-7)
    assert given.n_features_in_ == len(y)
    with pytest.raises(ValueError, match="needs a square matrix"):
        LDMClassifierCV(**SMALL, kernel="precomputed").fit(K[:, :5], y, weights)


@pytest.mark.parametrize("small", [True, False])
def test_weights_count_on_features_too(monkeypatch, small):
    X, y, weights = _rows(90)
    options = {**SMALL, "kernel": "linear", "fit_intercept": True, "scoring": "roc_auc", "tol": 1e-6}
    options["Cs"], options["class_weight"] = (0.05, 0.2), "balanced"
    plain = LDMClassifierCV(**options).fit(X, y, weights)
    monkeypatch.setattr(selection, "GRAM_ROWS", 40)
    monkeypatch.setattr(ldm_settings, "SMALL_STEP", 1e9 if small else 0.0)
    monkeypatch.setattr(selection, "training_gram", None)  # not needed any more
    found = LDMClassifierCV(**options).fit(X, y, weights)
    _same_choice(found, plain, atol=5e-3)
    assert found.best_estimator_.solver_ == ("interior-point" if small else "dcd")
    np.testing.assert_allclose(found.decision_function(X), plain.decision_function(X), atol=1e-2)


def test_weights_of_classes_move_the_choice_towards_a_class():
    X, y, _ = _rows(80)
    plain = LDMClassifierCV(**SMALL, cv=3).fit(X, y)
    heavy = LDMClassifierCV(**SMALL, cv=3, class_weight={"yes": 20.0}).fit(X, y)
    assert (heavy.predict(X) == "yes").sum() > (plain.predict(X) == "yes").sum()
    assert heavy.best_estimator_.class_weight == {"yes": 20.0}


@pytest.mark.parametrize("weights", [np.array([2.0, 1, 3, 0.0]), np.array([0.5, 0.25, 0.25, 1e-9])])
def test_the_mean_distance_of_weights(weights):
    X = _rows(4)[0]
    kept = weights > 0
    X, weights = X[kept], weights[kept]
    squared = ((X[:, None] - X) ** 2).sum(axis=2)
    found = weighted_mean_distance(squared, weights)
    if (weights == weights.round()).all():
        assert found == pytest.approx(pdist(np.repeat(X, weights.astype(int), axis=0)).mean())
    else:  # below 1 there are no pairs of copies
        shares = np.outer(weights, weights)[np.triu_indices(len(X), 1)]
        assert found == pytest.approx(np.average(pdist(X), weights=shares))
    assert weighted_mean_distance(np.zeros((2, 2)), np.ones(2)) == 1.0


def test_a_score_without_a_place_for_weights_counts_rows_alike():
    _, y, weights = _rows()
    classes, decisions = np.unique(y), np.random.default_rng(0).normal(size=(3, len(y)))

    def accuracy(labels, values):
        return np.mean((values > 0) == (labels == "yes"))

    for scoring in (accuracy, "adjusted_rand_score"):
        alike = scores(scoring, classes, y, decisions)
        np.testing.assert_array_equal(scores(scoring, classes, y, decisions, weights), alike)
    named = scores("roc_auc", classes, y, decisions, weights)
    scorer = make_scorer(roc_auc_score, response_method="decision_function")
    for same in (roc_auc_score, scorer):
        np.testing.assert_allclose(scores(same, classes, y, decisions, weights), named)
    assert (named != scores("roc_auc", classes, y, decisions)).all()
    assert takes_weights(roc_auc_score)
    assert not takes_weights(adjusted_rand_score)
    assert not takes_weights(dict)


@pytest.mark.parametrize(
    ("weights", "options", "message"),
    [
        ([1.0, 2.0], {}, "sample_weight"),
        (-np.ones(48), {}, "[Nn]egative"),
        (np.full(48, np.nan), {}, "NaN"),
        (np.arange(48) == 1, {}, "every class needs a row of positive weight; yes has none"),
        (None, {"class_weight": {"yes": -1.0}}, "class_weight must give finite numbers >= 0"),
        (None, {"class_weight": {"yes": 0.0}}, "every class needs a row of positive weight; yes has none"),
        (None, {"class_weight": "equal"}, "class_weight must be a dictionary of classes, 'balanced' or None"),
        (
            np.arange(1.0, 49.0),
            {"scoring": "loo-bound"},
            "scoring='loo-bound' counts rows and takes no weights",
        ),
        (
            None,
            {"scoring": "loo-bound", "class_weight": "balanced"},
            "takes no weights, neither sample_weight",
        ),
        (np.full(48, 1e100), {"Cs": (10.0,)}, "C must be at most 1e+100"),
        (
            np.where(np.arange(48) % 2, 1.0, 0.0),
            {"cv": _pairs(np.arange(48) % 2)},
            "no test row of fold 0 has a positive weight",
        ),
        (np.where(np.arange(48) < 6, 1.0, 0.0), {"cv": 7}, "cv must be at most the 6 rows of X, got 7 folds"),
    ],
)
def test_weights_that_have_no_place(weights, options, message):
    X, y, _ = _rows()
    y[:2] = "yes", "no"
    with pytest.raises(ValueError, match=re.escape(message) if message[0] != "[" else message):
        LDMClassifierCV(**{**SMALL, "gammas": (0.5,), **options}).fit(X, y, weights)


def test_pipelines_and_searches_hand_weights_on():
    X, y, weights = _rows()
    weights += 1
    direct = LDMClassifierCV(**SMALL, cv=2).fit(StandardScaler().fit_transform(X), y, weights)
    pipe = make_pipeline(StandardScaler(), LDMClassifierCV(**SMALL, cv=2))
    pipe.fit(X, y, ldmclassifiercv__sample_weight=weights)
    np.testing.assert_allclose(
        pipe.decision_function(X), direct.decision_function(StandardScaler().fit_transform(X))
    )
    with config_context(enable_metadata_routing=True):
        asked = LDMClassifierCV(**SMALL, cv=2).set_fit_request(sample_weight=True)
        asked = asked.set_score_request(sample_weight=True)
        search = GridSearchCV(asked, {"class_weight": [None, "balanced"]}, cv=2)
        search.fit(X, y, sample_weight=weights)
        assert search.best_estimator_.best_score_ > 0.5
