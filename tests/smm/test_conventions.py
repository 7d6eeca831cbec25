"""What all estimators of the room have in common with scikit-learn's: words, weights, precision, refusals."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.svm import SVC

from marginbook.datasets import make_low_rank
from marginbook.kernels import scale_gamma
from marginbook.smm import (
    CalibratedSVMClassifier,
    LevelSetClassifier,
    LowRankLogisticClassifier,
    LowRankSVMClassifier,
    LowRankSVMClassifierCV,
    NuclearNormSVMClassifier,
    RegressionFunctionEstimator,
    VectorLogisticClassifier,
    VectorSVMClassifier,
)
from marginbook.smm.solvers.kernel_block_descent import low_rank_kernel_svm

ALL = (
    CalibratedSVMClassifier(),
    LevelSetClassifier(0.4),
    LowRankLogisticClassifier(),
    LowRankSVMClassifier(),
    LowRankSVMClassifier(kernel="rbf", loss="squared_hinge"),
    LowRankSVMClassifierCV((1,), (0.1, 0.01), cv=2),
    NuclearNormSVMClassifier(),
    RegressionFunctionEstimator(4),
    VectorLogisticClassifier(),
    VectorSVMClassifier(),
)
KINDS = pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)


@pytest.fixture(scope="module")
def sample():
    X, y, _, _ = make_low_rank(60, shape=(4, 3), rank=1, scale=5.0, random_state=0)
    return X, y


@KINDS
def test_matrices_too_large_are_refused_in_one_line(model, sample):
    X, y = sample
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=r"^X has entries up to \de\+200, .*; scale the features$"):
            clone(model).fit(X * 1e200, y)


@pytest.mark.parametrize("scale", [1e70, 1e80, 1e120, 1e150])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_large_matrices_make_no_warnings_of_numpy(sample, scale, loss):
    X, y = sample
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = LowRankSVMClassifier(loss=loss, fit_intercept=False).fit(X * scale, y)
    assert 0 <= model.lower_bound_ <= model.objective_
    assert model.score(X * scale, y) > 0.7


@KINDS
def test_what_is_not_a_number_is_refused_in_one_line(model, sample):
    X, y = sample
    for bad, word in ((np.nan, "NaN"), (np.inf, "infinity")):
        broken = X.copy()
        broken[3, 1, 1] = bad
        for rows in (broken, broken.reshape(60, -1)):
            with pytest.raises(ValueError, match=rf"^Input X contains {word}[^\n]*; impute or remove[^\n]*$"):
                clone(model).fit(rows, y)


def test_decision_values_that_overflow_are_refused(sample):
    X, y = sample
    for model in (LowRankSVMClassifier(1, 1e-3).fit(X, y), VectorSVMClassifier(1e-3).fit(X, y)):
        with pytest.raises(ValueError, match="overflow; scale the features"):
            model.decision_function(1.7e308 * np.sign(model.coef_)[None])


@pytest.mark.parametrize(
    "model",
    [LowRankSVMClassifier(2), LevelSetClassifier(), VectorSVMClassifier(), NuclearNormSVMClassifier()],
)
def test_single_precision_stays(model, sample):
    X, y = sample
    model = clone(model).fit(X, y)
    values = model.decision_function(X.astype(np.float32))
    assert values.dtype == np.float32
    np.testing.assert_allclose(values, model.decision_function(X), atol=1e-5)
    assert model.decision_function(X).dtype == np.float64


def test_rows_have_the_gamma_of_their_scale(sample):
    X, y = sample
    model = LowRankSVMClassifier(1, kernel="rbf").fit(X, y)
    assert model.gamma == "scale"
    assert model.gamma_ == scale_gamma(X.reshape(-1, 3)) == pytest.approx(1 / (3 * X.var()))
    given = LowRankSVMClassifier(1, kernel=("rbf", {"gamma": model.gamma_})).fit(X, y)
    np.testing.assert_array_equal(given.decision_function(X), model.decision_function(X))
    scaled = clone(model).fit(1000 * X, y)
    np.testing.assert_allclose(scaled.decision_function(1000 * X), model.decision_function(X), atol=1e-6)
    assert LowRankSVMClassifier(kernel="rbf", gamma="auto").fit(X, y).gamma_ == 1 / 3
    assert LowRankSVMClassifier(kernel="rbf", gamma=None).fit(X, y).gamma_ == 1 / 3
    assert LowRankSVMClassifier(kernel="poly", gamma=None).fit(X, y).gamma_ == 1
    assert not hasattr(LowRankSVMClassifier().fit(X, y), "gamma_")


def test_the_scale_counts_weights_as_repetitions(sample):
    X, y = sample
    times = np.arange(60) % 4
    weighted = LowRankSVMClassifier(1, kernel="rbf").fit(X, y, sample_weight=times)
    repeated = LowRankSVMClassifier(1, kernel="rbf").fit(X.repeat(times, axis=0), y.repeat(times))
    assert weighted.gamma_ == pytest.approx(scale_gamma(X.repeat(times, axis=0).reshape(-1, 3)))
    assert weighted.gamma_ == repeated.gamma_
    np.testing.assert_array_equal(weighted.decision_function(X), repeated.decision_function(X))


def test_a_gamma_that_tells_no_rows_apart_is_said(sample):
    X, y = sample
    with pytest.warns(UserWarning, match="gamma is too large .*; scale the features"):
        LowRankSVMClassifier(1, kernel="rbf", gamma=1e9).fit(X, y)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("classifier", [LevelSetClassifier(0.3), RegressionFunctionEstimator(4)])
def test_classes_weigh_as_their_samples_would(classifier, kernel, sample):
    X, y = sample
    model = clone(classifier).set_params(kernel=kernel, gamma=0.3, loss="squared_hinge", tol=1e-9)
    share = np.where(y > 0, 3.0, 1.0).mean()
    by_sample = clone(model).fit(X, y, sample_weight=np.where(y > 0, 3.0, 1.0))
    # samples' weights are divided by their mean, those of classes are not
    model.set_params(lam=model.lam * share, class_weight={-1: 1.0, 1: 3.0})
    by_class = clone(model).fit(X, y)
    np.testing.assert_allclose(by_class.objective_, share * by_sample.objective_, rtol=1e-5)
    assert (by_class.predict(X) == 1).mean() > (clone(classifier).fit(X, y).predict(X) == 1).mean()


@pytest.mark.parametrize(
    "classifier", [CalibratedSVMClassifier(), LowRankSVMClassifierCV((1,), (0.1,), cv=3)]
)
def test_samples_without_weight_are_as_good_as_removed(classifier, sample):
    X, y = sample
    weights = (np.arange(60) % 5 > 0).astype(float)
    weighted = clone(classifier).fit(X, y, sample_weight=weights)
    removed = clone(classifier).fit(X[weights > 0], y[weights > 0])
    np.testing.assert_allclose(weighted.predict(X), removed.predict(X))
    if isinstance(classifier, CalibratedSVMClassifier):
        np.testing.assert_allclose(weighted.predict_proba(X), removed.predict_proba(X), atol=1e-6)
        heavy = clone(classifier).set_params(class_weight={-1: 0.2, 1: 5.0}).fit(X, y)
        assert heavy.predict_proba(X)[:, 1].mean() > removed.predict_proba(X)[:, 1].mean() + 0.05
    else:
        assert weighted.best_score_ == pytest.approx(removed.best_score_)
        assert callable(weighted.scorer_)
        assert {"mean_fit_time", "std_fit_time", "mean_score_time", "std_score_time"} <= set(
            weighted.cv_results_
        )


def test_a_search_weighs_scores_where_the_scorer_can(sample):
    X, y = sample
    weights = np.where(y > 0, 4.0, 1.0)
    by_name = LowRankSVMClassifierCV((1,), (0.1,), cv=3).fit(X, y, sample_weight=weights)

    def plain(model, X, y):
        return float(np.mean(model.predict(X) == y))

    by_hand = clone(by_name).set_params(scoring=plain).fit(X, y, sample_weight=weights)
    assert by_hand.best_score_ != by_name.best_score_
    assert by_hand.best_estimator_.objective_ == by_name.best_estimator_.objective_


def test_more_rows_than_their_kernel_can_have_are_refused_at_once():
    X = np.random.default_rng(0).normal(size=(5001, 2, 2))
    y = np.arange(5001) % 2
    with pytest.raises(MemoryError, match=r"all 10002 rows .* takes 0.8 GB, .*; give n_components=500, say"):
        LowRankSVMClassifier(kernel="rbf").fit(X, y)
    with pytest.raises(MemoryError, match=r"Gram matrices of 12001 samples take 3.5 GB, .* LowRankSVM"):
        NuclearNormSVMClassifier().fit(np.zeros((12001, 1)), np.arange(12001) % 2)


def test_as_many_landmarks_as_rows_are_exact(sample):
    X, y = sample
    exact = LowRankSVMClassifier(1, 0.01, "squared_hinge", kernel="rbf", tol=1e-9).fit(X, y)
    landmarks = clone(exact).set_params(n_components=240).fit(X, y)
    assert landmarks.missed_ < 1e-9
    assert landmarks.objective_ == pytest.approx(exact.objective_, rel=1e-6)
    with pytest.warns(UserWarning, match="the 30 landmarks miss"):
        few = clone(exact).set_params(n_components=30).fit(X, y)
    assert few.dual_coef_.shape == (30, 1)
    assert len(pickle.dumps(few)) < len(pickle.dumps(exact)) / 2


def test_classes_share_the_kernel_of_their_rows(sample):
    X, _ = sample
    y = np.arange(60) % 4
    model = LowRankSVMClassifier(1, loss="squared_hinge", kernel="rbf").fit(X, y)
    values = model.decision_function(X)
    for k in range(4):
        signs = np.where(y == k, 1.0, -1.0)
        alone = low_rank_kernel_svm(
            X,
            signs,
            rank=1,
            lam=0.01,
            loss="squared_hinge",
            kernel=("rbf", {"gamma": model.gamma_}),
            fit_intercept=True,
        )
        np.testing.assert_allclose(values[:, k], alone.decision(X), atol=1e-8)
    assert model._fit_machines[0].rows is model._fit_machines[3].rows


def test_full_rank_of_single_rows_is_the_kernel_machine(sample):
    X, y = sample
    rows = X.reshape(60, 1, 12)
    model = LowRankSVMClassifier(None, 0.02, kernel="rbf", tol=1e-9).fit(rows, y)
    svc = SVC(C=1 / (2 * 60 * 0.02), tol=1e-9).fit(rows[:, 0], y)
    np.testing.assert_allclose(model.decision_function(rows), svc.decision_function(rows[:, 0]), atol=1e-4)
