"""NuclearNormSVMClassifier: scikit-learn's contract, weights, warnings, paths."""

from __future__ import annotations

import itertools
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from marginbook.datasets.generators import make_low_rank
from marginbook.smm.peers.nuclear_norm import NuclearNormSVMClassifier

from .expected import without_intercept


@parametrize_with_checks(
    [NuclearNormSVMClassifier(), NuclearNormSVMClassifier(fit_intercept=False)],
    expected_failed_checks=without_intercept,
)
def test_estimator(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def sample():
    return make_low_rank(160, shape=(5, 7), rank=1, scale=6.0, random_state=0)


@pytest.mark.parametrize("solver", ["newton", "admm"])
def test_fit_keeps_a_certified_solution(sample, solver):
    model = NuclearNormSVMClassifier(tau=2.0, C=0.2, solver=solver).fit(sample.X, sample.y)
    assert model.coef_.shape == model.matrix_shape_ == (5, 7)
    assert model.dual_gap_ <= 1e-6
    margins = sample.y * (np.einsum("ij,nij->n", model.coef_, sample.X) + model.intercept_)
    value = (model.coef_**2).sum() / 2 + 2 * np.linalg.norm(model.coef_, "nuc")
    assert model.objective_ == pytest.approx(value + 0.2 * np.maximum(0, 1 - margins).sum(), rel=1e-10)
    assert model.lower_bound_ <= model.objective_
    assert model.rank_ == np.linalg.matrix_rank(model.coef_, tol=1e-8)
    assert (model.multipliers_ >= 0).all()
    assert (model.multipliers_ <= 0.2).all()
    np.testing.assert_array_equal(model.predict(sample.X), np.where(sample.y * margins > 0, 1, -1))


def test_rows_with_a_shape_are_the_matrices(sample):
    model = NuclearNormSVMClassifier(tau=2.0, C=0.2).fit(sample.X, sample.y)
    rows = sample.X.reshape(160, -1)
    reshaped = NuclearNormSVMClassifier(tau=2.0, C=0.2, shape=(5, 7)).fit(rows, sample.y)
    np.testing.assert_array_equal(reshaped.coef_, model.coef_)
    np.testing.assert_array_equal(reshaped.decision_function(rows), model.decision_function(sample.X))


def test_vectors_are_a_machine_with_a_norm_penalty(sample):
    # of a p x 1 matrix the nuclear norm is the length: at the solution a ridge of weight 1 + tau / length
    rows = sample.X.reshape(160, -1)
    model = NuclearNormSVMClassifier(tau=2.0, C=0.2, tol=1e-10).fit(rows, sample.y)
    length = np.linalg.norm(model.coef_)
    machine = SVC(kernel="linear", C=0.2 / (1 + 2.0 / length), tol=1e-7).fit(rows, sample.y)
    np.testing.assert_allclose(model.coef_.ravel(), machine.coef_[0], atol=1e-4)


def test_the_rank_falls_and_the_norm_shrinks_along_tau(sample):
    y = sample.y.astype(float)
    taus = [0.0, 0.5, 1.0, 2.0, 4.0, 8.0]
    path = [NuclearNormSVMClassifier(tau=tau, C=0.2).fit(sample.X, y) for tau in taus]
    norms = [model.singular_values_.sum() for model in path]
    assert all(later <= earlier * (1 + 1e-6) for earlier, later in itertools.pairwise(norms))
    ranks = [(model.singular_values_ > 1e-9).sum() for model in path]
    assert ranks[0] == 5
    assert ranks[-1] <= 2


@pytest.mark.parametrize("tau", [1.0, 2.0])
def test_either_solver_finds_the_same(sample, tau):
    one, other = (
        NuclearNormSVMClassifier(tau, C=0.2, solver=solver, fit_intercept=False).fit(sample.X, sample.y)
        for solver in ("newton", "admm")
    )
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-5)
    assert one.intercept_ == other.intercept_ == 0


def test_weights_of_samples_and_classes_are_costs(sample):
    X, y = sample.X, np.where(sample.y > 0, "yes", "no")
    weights = np.random.default_rng(0).integers(0, 3, 160).astype(float)
    model = NuclearNormSVMClassifier(C=0.2, tol=1e-10).fit(X, y, sample_weight=weights)
    times = np.repeat(np.arange(160), weights.astype(int))
    repeated = NuclearNormSVMClassifier(C=0.2, tol=1e-10).fit(X[times], y[times])
    np.testing.assert_allclose(model.coef_, repeated.coef_, atol=1e-5)
    assert not model.multipliers_[weights == 0].any()
    level = NuclearNormSVMClassifier(C=0.2, tol=1e-10, class_weight={"no": 0.2, "yes": 0.8}).fit(X, y)
    same = NuclearNormSVMClassifier(C=0.2, tol=1e-10).fit(X, y, sample_weight=np.where(y == "yes", 0.8, 0.2))
    np.testing.assert_allclose(level.coef_, same.coef_, atol=1e-8)
    assert (level.predict(X) == "yes").mean() > (model.predict(X) == "yes").mean()
    X, y = X[20:], y[20:]
    balanced = NuclearNormSVMClassifier(C=0.2, class_weight="balanced").fit(X, y)
    counts = {label: 140 / (2 * (y == label).sum()) for label in ("no", "yes")}
    given = NuclearNormSVMClassifier(C=0.2, class_weight=counts).fit(X, y)
    np.testing.assert_allclose(balanced.coef_, given.coef_, atol=1e-8)


def test_scikit_learn_tools_take_matrices(sample):
    X, y = sample.X.copy(), np.where(sample.y > 0, "b", "a")
    X.flags.writeable = False
    model = NuclearNormSVMClassifier(tau=1.0, C=0.2)
    assert cross_val_score(model, X, y, cv=3).mean() > 0.7
    search = GridSearchCV(model, {"tau": [0.5, 2.0, 100.0]}, cv=3).fit(X, y)
    assert search.best_params_["tau"] < 100
    fitted = clone(model).fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))
    three = np.digitize(X[:, 0, 0], [-0.5, 0.5])
    assert OneVsRestClassifier(model).fit(X, three).score(X, three) > 0.6


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"tau": -1.0}, r"tau must be a number in \[0, 1e\+08\], got -1.0"),
        ({"tau": np.nan}, "tau must be a number"),
        ({"C": 0}, r"C must be a number in \[1e-08, 1e\+08\], got 0"),
        ({"solver": "cvx"}, "unknown solver 'cvx'; choose from newton, admm"),
        ({"fit_intercept": 1}, "fit_intercept must be True or False, got 1"),
        ({"tol": -1}, "tol must be a number >= 0, got -1"),
        ({"max_iter": 0}, "max_iter must be None or a whole number >= 1, got 0"),
        ({"shape": (5, 6)}, "shape"),
        ({"class_weight": {-1: 0.0, 1: 1.0}}, "class_weight gives the weights"),
    ],
)
def test_bad_parameters_are_named(sample, parameters, message):
    with pytest.raises(ValueError, match=message):
        NuclearNormSVMClassifier(**parameters).fit(sample.X, sample.y)


def test_bad_labels_and_weights_are_named(sample):
    model = NuclearNormSVMClassifier()
    with pytest.raises(ValueError, match="needs 2 classes, got one class: 1"):
        model.fit(sample.X, np.ones(160))
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        model.fit(sample.X, np.arange(160) % 3)
    with pytest.raises(ValueError, match="sample_weight has negative entries, the least -1"):
        model.fit(sample.X, sample.y, sample_weight=-np.ones(160))
    with pytest.raises(ValueError, match="the weights of one class are all 0"):
        model.fit(sample.X, sample.y, sample_weight=sample.y > 0)


@pytest.mark.parametrize("solver", ["newton", "admm"])
def test_a_gap_above_the_tolerance_warns(sample, solver):
    model = NuclearNormSVMClassifier(tau=2.0, solver=solver, max_iter=1, tol=1e-12)
    message = r"gap is .* after 1 iteration, wanted 1.0e-12: the objective is .*, its lower bound .*; raise"
    with pytest.warns(ConvergenceWarning, match=message):
        model.fit(sample.X, sample.y)
    assert model.dual_gap_ > 1e-12
    assert model.dual_gap_ == pytest.approx(1 - model.lower_bound_ / model.objective_)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_expensive_losses_are_solved(sample, fit_intercept):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = NuclearNormSVMClassifier(C=1e8, fit_intercept=fit_intercept).fit(sample.X, sample.y)
    assert model.objective_ - model.lower_bound_ <= 1e-6 * model.objective_
