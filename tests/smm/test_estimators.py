"""LowRankSVMClassifier keeps scikit-learn's contract, and its attributes are what they say."""

import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from marginbook.datasets import make_low_rank
from marginbook.smm.estimators import LowRankSVMClassifier

LOSSES = ("hinge", "squared_hinge", "logistic")
KERNELS = ("linear", ("rbf", {"gamma": 0.2}), ("poly", {"degree": 2, "coef0": 1.0}))


def _sample(n=80, shape=(5, 4), rank=2, seed=0, scale=6.0):
    X, y, _, _ = make_low_rank(n, shape=shape, rank=rank, scale=scale, random_state=seed)
    return X, y


def _losses(z, loss):
    if loss == "logistic":
        return np.log1p(np.exp(-np.abs(z))) + np.maximum(-z, 0)
    return np.maximum(1 - z, 0) ** (2 if loss == "squared_hinge" else 1)


def _naive_objective(model, X, y, weights=None):
    weights = np.ones(len(y)) if weights is None else weights
    total = 0.0
    for matrix, label, weight in zip(X, y, weights, strict=True):
        f = sum(model.coef_[a, b] * matrix[a, b] for a in range(X.shape[1]) for b in range(X.shape[2]))
        total += weight * _losses(label * (f + model.intercept_), model.loss)
    return total / weights.sum() + model.lam * np.sum(model.coef_**2)


@parametrize_with_checks(
    [
        LowRankSVMClassifier(),
        LowRankSVMClassifier(None, loss="logistic", n_restarts=2, bound_iter=20),
        LowRankSVMClassifier(loss="squared_hinge", class_weight="balanced", warm_start=True),
        LowRankSVMClassifier(kernel="rbf"),
        LowRankSVMClassifier(kernel="poly", loss="logistic"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("rank", [1, 2, None])
def test_the_objective_is_the_one_printed(rank, loss, fit_intercept):
    X, y = _sample()
    model = LowRankSVMClassifier(rank, 0.02, loss, fit_intercept=fit_intercept, tol=1e-8).fit(X, y)
    assert model.objective_ == pytest.approx(_naive_objective(model, X, y), rel=1e-9)
    assert model.objective_path_[-1] == pytest.approx(model.objective_, rel=1e-9)
    assert np.all(np.diff(model.objective_path_) <= 1e-10)
    assert model.lower_bound_ <= model.objective_ * (1 + 1e-12)
    assert model.global_gap_ == pytest.approx(model.objective_ - model.lower_bound_, abs=1e-12)
    assert 0 <= model.dual_gap_ <= 1e-6 * model.objective_
    np.testing.assert_allclose(model.coef_, model.U_ @ model.V_.T, atol=1e-12)
    assert np.linalg.matrix_rank(model.coef_, tol=1e-9) <= (rank or 4) == model.rank_ == model.U_.shape[1]
    f = np.einsum("nab,ab->n", X, model.coef_) + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), f, atol=1e-12)
    assert (model.predict(X) == np.where(f > 0, 1, -1)).all()
    assert (model.intercept_ != 0) == fit_intercept
    if rank is None:
        assert model.global_gap_ <= 1e-6 * model.objective_


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_multipliers_have_the_box_and_the_form_of_the_draft(fit_intercept):
    """c = 2 lam alpha in [0, 1/n]; sum y c = 0 with an intercept; B is M(c) on the last block's space."""
    X, y = _sample()
    model = LowRankSVMClassifier(2, 0.02, fit_intercept=fit_intercept, tol=1e-9).fit(X, y)
    c = model.multipliers_
    assert c.min() >= 0
    assert c.max() <= 1 / len(y) + 1e-12
    assert (abs(c @ y) < 1e-9) == fit_intercept
    M = np.einsum("n,nab->ab", c * y, X) / (2 * model.lam)
    Q, P = np.linalg.qr(model.U_)[0], np.linalg.qr(model.V_)[0]
    np.testing.assert_allclose(Q @ Q.T @ M @ P @ P.T, model.coef_, atol=1e-4)


def test_full_rank_is_the_support_vector_machine():
    X, y = _sample(rank=1)
    model = LowRankSVMClassifier(None, 0.01, tol=1e-9).fit(X, y)
    svc = SVC(kernel="linear", C=1 / (2 * len(y) * 0.01), tol=1e-9).fit(X.reshape(80, -1), y)
    np.testing.assert_allclose(model.coef_.ravel(), svc.coef_.ravel(), atol=1e-6)
    np.testing.assert_allclose(
        model.decision_function(X), svc.decision_function(X.reshape(80, -1)), atol=1e-5
    )


def test_the_penalty_is_a_hundredth_unless_another_is_given():
    X, y = _sample(40)
    found, wanted = (LowRankSVMClassifier(**given).fit(X, y) for given in ({}, {"lam": 0.01}))
    assert found.objective_ == pytest.approx(wanted.objective_, rel=1e-6)
    np.testing.assert_allclose(found.coef_, wanted.coef_, atol=1e-4)


def test_full_rank_logistic_is_logistic_regression():
    X, y = _sample(rank=1)
    model = LowRankSVMClassifier(None, 0.01, "logistic", tol=1e-10).fit(X, y)
    other = LogisticRegression(C=1 / (2 * len(y) * 0.01), tol=1e-10, max_iter=1000).fit(X.reshape(80, -1), y)
    np.testing.assert_allclose(model.coef_.ravel(), other.coef_.ravel(), atol=1e-5)
    assert model.intercept_ == pytest.approx(other.intercept_[0], abs=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_columns_are_vectors(loss):
    """An (n, p) array without a shape: rank 1 is full rank, and the gap is closed."""
    X, y = _sample(shape=(7, 1), rank=1)
    model = LowRankSVMClassifier(1, 0.05, loss).fit(X[:, :, 0], y)
    assert model.coef_.shape == (7, 1)
    assert model.global_gap_ <= 1e-6 * model.objective_


def test_transposed_matrices_give_the_transposed_solution():
    X, y = _sample()
    model = LowRankSVMClassifier(2, 0.02, tol=1e-9, n_restarts=5, random_state=0).fit(X, y)
    turned = clone(model).fit(X.transpose(0, 2, 1), y)
    assert turned.objective_ == pytest.approx(model.objective_, rel=1e-5)
    np.testing.assert_allclose(turned.coef_.T, model.coef_, atol=2e-2)


@pytest.mark.parametrize("kernel", KERNELS)
def test_weights_are_repetitions(kernel):
    X, y = _sample(40)
    times = np.random.default_rng(0).integers(0, 4, 40)
    weighted = LowRankSVMClassifier(1, 0.02, kernel=kernel, tol=1e-9).fit(X, y, sample_weight=2.5 * times)
    repeated = clone(weighted).fit(X.repeat(times, axis=0), y.repeat(times))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-3)
    assert weighted.multipliers_.shape == (40,)
    assert np.all(weighted.multipliers_[times == 0] == 0)


def test_classes_weigh_what_they_are_told():
    X, y = _sample()
    weights = np.where(y == 1, 3.0, 0.5)
    model = LowRankSVMClassifier(1, 0.02, class_weight={1: 3.0, -1: 0.5}).fit(X, y)
    naive = _naive_objective(model, X, y, weights) - model.lam * np.sum(model.coef_**2)
    total = naive * weights.sum() / len(y) + model.lam * np.sum(model.coef_**2)
    assert model.objective_ == pytest.approx(total, rel=1e-9)
    rare = np.concatenate([np.flatnonzero(y == -1), np.flatnonzero(y == 1)[:8]])
    balanced = LowRankSVMClassifier(1, 0.02, class_weight="balanced").fit(X[rare], y[rare])
    plain = LowRankSVMClassifier(1, 0.02).fit(X[rare], y[rare])
    assert (balanced.predict(X) == 1).mean() > (plain.predict(X) == 1).mean()


@pytest.mark.parametrize("kernel", KERNELS)
def test_more_than_two_classes_are_one_against_the_rest(kernel):
    X = _sample(90)[0]
    y = np.array(["a", "b", "c"])[np.argsort(np.argsort(X[:, 0, 0] + 0.1 * X[:, 1, 1])) // 30]
    model = LowRankSVMClassifier(1, 0.005, kernel=kernel).fit(X, y)
    values = model.decision_function(X)
    assert values.shape == (90, 3)
    assert (model.predict(X) == np.array(["a", "b", "c"])[values.argmax(axis=1)]).all()
    for k, name in enumerate("abc"):
        one = clone(model).fit(X, y == name)
        np.testing.assert_allclose(values[:, k], one.decision_function(X), atol=1e-8)
        assert model.objective_[k] == pytest.approx(one.objective_)
        np.testing.assert_allclose(model.U_[k], one.U_, atol=1e-8)
    assert model.multipliers_.shape == (3, 90)
    if kernel == "linear":
        assert model.coef_.shape == (3, 5, 4)


def test_wrappers_take_three_axes_and_two():
    digits = load_digits(n_class=4)
    X, y = digits.images[:300] / 16, digits.target[:300]
    native = LowRankSVMClassifier(2, 0.01).fit(X, y)
    wrapped = OneVsRestClassifier(LowRankSVMClassifier(2, 0.01)).fit(X, y)
    assert (wrapped.predict(X) == native.predict(X)).all()
    rows = X.reshape(300, 64)
    for wrapper in (OneVsRestClassifier, OneVsOneClassifier):
        flat = wrapper(LowRankSVMClassifier(2, 0.01, shape=(8, 8))).fit(rows, y)
        assert flat.score(rows, y) > 0.97
    assert native.score(X, y) > 0.97


def test_pipelines_grids_and_pickles():
    X, y = _sample(120)
    rows = X.reshape(120, 20)
    pipe = make_pipeline(StandardScaler(), LowRankSVMClassifier(shape=(5, 4)))
    grid = GridSearchCV(pipe, {"lowranksvmclassifier__rank": [1, 2, None]}, cv=3).fit(rows, y)
    assert grid.best_score_ > 0.7
    assert cross_val_score(LowRankSVMClassifier(2), X, y, cv=3, scoring="roc_auc").mean() > 0.75
    for kernel in KERNELS:
        model = LowRankSVMClassifier(2, kernel=kernel).fit(X, y)
        again = pickle.loads(pickle.dumps(model))
        assert np.array_equal(again.decision_function(X), model.decision_function(X))
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


@pytest.mark.parametrize("kernel", KERNELS)
def test_restarts_never_hurt_and_seeds_repeat(kernel):
    X, y = _sample(40, (5, 4), 3, seed=3)
    plain = LowRankSVMClassifier(2, 0.003, kernel=kernel).fit(X, y)
    more = LowRankSVMClassifier(2, 0.003, kernel=kernel, n_restarts=2, random_state=4).fit(X, y)
    assert more.objective_ <= plain.objective_ * (1 + 1e-9)
    again = clone(more).fit(X, y)
    assert again.start_ == more.start_
    assert np.array_equal(again.decision_function(X), more.decision_function(X))
    state = clone(more).set_params(random_state=np.random.RandomState(4)).fit(X, y)
    assert state.objective_ == more.objective_


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_warm_start_begins_where_the_last_fit_ended(kernel):
    X, y = _sample(60)
    model = LowRankSVMClassifier(2, 0.02, kernel=kernel, warm_start=True, tol=1e-8).fit(X, y)
    first = model.objective_
    cold = model.n_iter_
    model.fit(X, y)
    assert model.start_ == "given"
    assert model.n_iter_ <= max(cold, 2)
    assert model.objective_ <= first * (1 + 1e-9)
    # more columns can only help; fewer, other samples, shapes or numbers of classes must not fail
    model.set_params(rank=3).fit(X, y)
    assert model.objective_ <= first * (1 + 1e-9)
    assert model.U_.shape == (5, 3)
    model.fit(X[:40], y[:40])
    model.set_params(rank=4).fit(X[:30], y[:30])
    model.set_params(rank=1).fit(X[:40], y[:40])
    assert model.start_ == "given"
    model.fit(X[:, :3], y)
    assert model.start_ != "given"
    model.fit(X, np.arange(60) % 3)
    model.set_params(kernel="rbf" if kernel == "linear" else "linear").fit(X, y)
    assert model.start_ != "given"


def test_missing_the_tolerance_warns_with_both_numbers():
    X, y = _sample(200, (8, 8), 3)
    with pytest.warns(ConvergenceWarning, match=r"after 1 sweep: .* share of .*, above tol=1.0e-13; raise"):
        model = LowRankSVMClassifier(2, 1e-4, max_iter=1, tol=1e-13).fit(X, y)
    assert not model.converged_
    with pytest.warns(ConvergenceWarning, match="after 1 sweep for [123] of 3 machines"):
        LowRankSVMClassifier(2, 1e-4, max_iter=1, tol=1e-13).fit(X, np.arange(200) % 3)


def test_landmarks_that_miss_much_are_said():
    X = np.random.default_rng(0).normal(size=(900, 10, 3))
    y = np.where(X[:, 0, 0] > 0, 1, -1)
    with pytest.warns(
        UserWarning, match=r"the 20 landmarks miss \d+\.\d% of .*; raise n_components, or scale the features"
    ):
        model = LowRankSVMClassifier(1, kernel=("rbf", {"gamma": 1.0}), n_components=20).fit(X, y)
    assert 0.01 < model.missed_ < 1
    assert model.dual_coef_.shape == (20, 1)


def test_hardly_any_data():
    X, y = _sample(60, (6, 5))
    few = np.concatenate([np.flatnonzero(y == 1)[:1], np.flatnonzero(y == -1)[:2]])
    for loss in LOSSES:
        model = LowRankSVMClassifier(2, 1e-3, loss).fit(X[few], y[few])
        assert model.score(X[few], y[few]) == 1
        doubled = LowRankSVMClassifier(2, 1e-3, loss).fit(np.ones((4, 3, 3)), [0, 1, 1, 1])
        assert doubled.predict(np.ones((2, 3, 3))).tolist() == [1, 1]
        flat = LowRankSVMClassifier(2, 1e-3, loss).fit(np.zeros((5, 3, 2)), [0, 0, 1, 1, 1])
        assert np.all(flat.coef_ == 0)
        huge = LowRankSVMClassifier(1, 1e12, loss).fit(X, y)
        assert np.abs(huge.coef_).max() < 1e-9


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rank": 0}, "rank must be None, for full rank, or a whole number >= 1, got 0"),
        ({"rank": 1.5}, "rank must be None, for full rank, or a whole number >= 1, got 1.5"),
        ({"rank": True}, "rank must be None, for full rank, or a whole number >= 1, got True"),
        (
            {"rank": 5},
            "rank must be at most min(d1, d2) = 4 for matrices of 5 x 4, got 5; rank=None is full rank",
        ),
        ({"rank": 6, "kernel": "rbf"}, "rank must be at most d1 = 5 for matrices of 5 x 4, got 6"),
        ({"lam": 0}, "lam must be a number > 0, from 1e-100 to 1e+100, got 0"),
        ({"lam": "small"}, "lam must be a number > 0, from 1e-100 to 1e+100, got 'small'"),
        ({"lam": np.nan}, "lam must be a number > 0, from 1e-100 to 1e+100, got nan"),
        ({"loss": "ramp"}, "unknown loss 'ramp'; choose from hinge, squared_hinge, logistic"),
        ({"kernel": "sigmoid"}, "unknown kernel 'sigmoid'"),
        ({"kernel": "precomputed"}, "a kernel on rows cannot be 'precomputed'"),
        ({"kernel": "poly", "degree": 2.5}, "degree of a polynomial kernel on rows must be an integer >= 1"),
        (
            {"kernel": "rbf", "gamma": "wide"},
            "gamma must be a number >= 0, 'scale', 'auto' or None, got 'wide'",
        ),
        ({"n_components": 0}, "n_components must be None or a whole number >= 1, got 0"),
        ({"fit_intercept": 1}, "fit_intercept must be True or False, got 1"),
        ({"warm_start": "yes"}, "warm_start must be True or False, got 'yes'"),
        ({"bound_iter": 0.5}, "bound_iter must be a whole number >= 0, got 0.5"),
        ({"n_restarts": -1}, "n_restarts must be a whole number >= 0, got -1"),
        ({"tol": -1}, "tol must be a number >= 0, got -1"),
        ({"max_iter": 0}, "max_iter must be a whole number >= 1, got 0"),
        ({"class_weight": "even"}, "class_weight"),
    ],
)
def test_a_parameter_out_of_range_is_named(parameters, message):
    X, y = _sample(20)
    with pytest.raises(ValueError, match=re.escape(message)):
        LowRankSVMClassifier(**parameters).fit(X, y)


def test_classes_must_be_there():
    X, y = _sample(20)
    with pytest.raises(ValueError, match="LowRankSVMClassifier needs at least 2 classes, got one class: a"):
        LowRankSVMClassifier().fit(X, ["a"] * 20)
    with pytest.raises(ValueError, match="needs samples of positive weight in each class, got none in 1"):
        LowRankSVMClassifier().fit(X, y, sample_weight=(y == -1).astype(float))
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        LowRankSVMClassifier().fit(X, X[:, 0, 0])
