"""The forward selection chooses what a loop over refits chooses, and its prefixes are least-squares fits."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LinearRegression
from sklearn.multiclass import OneVsOneClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from marginbook.kernels import gram
from marginbook.kfda.model.objective import targets
from marginbook.kfda.peers import ols_forward_selection as orthogonal
from marginbook.kfda.peers.ols import OLSKFDAClassifier, terms_allowed
from marginbook.kfda.peers.ols_forward_selection import orthogonal_least_squares
from marginbook.kfda.peers.ridge import KFDAClassifier

RBF = ("rbf", {"gamma": 2.0})


def two_clouds(n=40, p=2, seed=0, share=0.3):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < share
    positive[:2] = True, False
    return rng.normal(size=(n, p)) + positive[:, None], positive


def problem(n=40, seed=0, kernel=RBF):
    X, positive = two_clouds(n, seed=seed)
    return gram(kernel, X), targets(positive)


def energy_left(D, yhat):
    """Return the sum of squares that least squares on `D` leaves, relative to that of `yhat`."""
    if D.shape[1] == 0:
        return 1.0
    left = yhat - D @ np.linalg.lstsq(D, yhat)[0]
    return float(left @ left) / float(yhat @ yhat)


def naive_selection(K, yhat, n_samples, intercept="first"):
    """Refit every candidate beside the chosen ones; take the first of those that leave least."""
    D = np.c_[np.ones(len(yhat)), K]
    order = [0] if intercept == "first" else []
    left = [energy_left(D[:, order], yhat)]
    while sum(j > 0 for j in order) < n_samples:
        rest = [j for j in range(D.shape[1]) if j not in order]
        errors = np.array([energy_left(D[:, [*order, j]], yhat) for j in rest])
        gains = left[-1] - errors
        best = int(np.argmax(gains >= (1 - 1e-7) * gains.max()))
        order.append(rest[best])
        left.append(errors[best])
    return order, np.array(left)


def _unweighable(estimator):
    """The midpoint of the class means does not go by the weights of classes."""
    return {"check_class_weight_classifiers": "by design"} if estimator.threshold == "means" else {}


@parametrize_with_checks(
    [
        OLSKFDAClassifier(),
        OLSKFDAClassifier(n_terms=None, tolerance=0.2, intercept="candidate"),
        OLSKFDAClassifier(n_terms=3, kernel="linear", threshold="means"),
    ],
    expected_failed_checks=_unweighable,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("intercept", ["first", "candidate"])
@pytest.mark.parametrize(
    "kernel", [RBF, ("rbf", {"gamma": 0.05}), ("poly", {"degree": 2, "gamma": 0.5, "coef0": 1.0})]
)
def test_it_chooses_what_a_loop_over_refits_chooses(kernel, intercept):
    K, yhat = problem(kernel=kernel)
    n_samples = 5 if kernel[0] == "poly" else 8  # the quadratic kernel of two features has rank 6
    order, left = naive_selection(K, yhat, n_samples, intercept)
    terms = orthogonal_least_squares(K, yhat, max_terms=n_samples, intercept=intercept)
    assert terms.order.tolist() == order
    np.testing.assert_allclose(terms.unexplained[-len(left) :], left, rtol=1e-7)
    assert terms.residual < 1e-9


@settings(max_examples=30)
@given(st.integers(3, 20), st.integers(1, 25), st.integers(0, 10**6), st.sampled_from(orthogonal.INTERCEPTS))
def test_each_choice_is_the_best_of_all_candidates(n, m, seed, intercept):
    rng = np.random.default_rng(seed)
    K = rng.normal(size=(n, m)) @ np.diag(10.0 ** rng.uniform(-3, 3, m))
    K[:, rng.integers(m)] = K[:, rng.integers(m)]  # perhaps a duplicate
    positive = np.arange(n) < rng.integers(1, n)
    yhat = targets(positive)
    terms = orthogonal_least_squares(K, yhat, intercept=intercept)
    D = np.c_[np.ones(n), K]
    left = terms.unexplained
    for k in range(int(intercept == "first"), len(terms.order)):
        chosen = terms.order[:k].tolist()
        errors = [energy_left(D[:, [*chosen, j]], yhat) for j in range(m + 1) if j not in chosen]
        assert left[k + 1] <= min(errors) + 1e-8
        assert left[k + 1] == pytest.approx(energy_left(D[:, terms.order[: k + 1]], yhat), abs=1e-8)
    assert terms.residual < 1e-8


def test_every_prefix_is_a_least_squares_fit():
    K, yhat = problem()
    terms = orthogonal_least_squares(K, yhat, max_terms=12)
    assert terms.omega(13).shape == (41,)
    assert not terms.omega(0).any()
    for k in range(1, 14):
        samples = terms.samples[: k - 1]
        assert terms.n_terms(k - 1) == k
        if k > 1:
            fit = LinearRegression().fit(K[:, samples], yhat)
            np.testing.assert_allclose(terms.omega(k)[1 + samples], fit.coef_, rtol=1e-6)
            assert terms.omega(k)[0] == pytest.approx(fit.intercept_, abs=1e-8)
            assert 1 - terms.unexplained[k] == pytest.approx(fit.score(K[:, samples], yhat))
    shorter = orthogonal_least_squares(K, yhat, max_terms=5)
    assert shorter.order.tolist() == terms.order[:6].tolist()
    np.testing.assert_allclose(shorter.omega(), terms.omega(6), rtol=1e-9)


def test_candidate_intercept_is_not_counted_and_ends_no_prefix():
    rng = np.random.default_rng(3)
    K = rng.normal(size=(30, 10)) + 5.0  # far from centred: the intercept is wanted soon
    yhat = targets(np.arange(30) < 12)
    terms = orthogonal_least_squares(K, yhat, max_terms=4, intercept="candidate")
    assert terms.order[0] > 0
    assert 0 in terms.order[1:-1]
    assert len(terms.samples) == 4
    assert len(terms.order) == 5
    for n_samples in range(1, 5):
        prefix = terms.order[: terms.n_terms(n_samples)]
        assert prefix[-1] > 0
        assert (prefix > 0).sum() == n_samples
    assert terms.n_terms(0) == 0
    assert orthogonal_least_squares(K, yhat, max_terms=0).n_terms(0) == 1


def test_stops():
    K, yhat = problem()
    for tolerance in (0.5, 0.2, 1.0):
        terms = orthogonal_least_squares(K, yhat, tolerance=tolerance)
        assert terms.stopped == "tolerance"
        assert terms.unexplained[-1] < tolerance
        if len(terms.order) > 2:
            assert terms.unexplained[-2] >= tolerance
    assert orthogonal_least_squares(K, yhat, tolerance=0.2, max_terms=2).stopped == "max_terms"
    whole = orthogonal_least_squares(K, yhat)
    assert whole.stopped == "exhausted"
    assert whole.unexplained[-1] < 1e-6
    # 40 columns and the intercept fit 40 targets: one column is left over
    assert len(whole.order) <= 40


def test_ratios_sum_to_the_share_that_is_explained():
    K, yhat = problem()
    terms = orthogonal_least_squares(K, yhat, max_terms=10)
    fitted = np.c_[np.ones(40), K] @ terms.omega()
    assert terms.err.sum() == pytest.approx(1 - ((yhat - fitted) ** 2).sum() / (yhat**2).sum())
    assert terms.err[0] < 1e-30  # the intercept takes nothing off targets that sum to 0
    assert (np.diff(terms.unexplained) <= 0).all()


def test_duplicates_are_chosen_once_and_the_first_is():
    K, yhat = problem(25)
    twice = orthogonal_least_squares(np.c_[K, K], yhat, max_terms=10)
    once = orthogonal_least_squares(K, yhat, max_terms=10)
    assert twice.order.tolist() == once.order.tolist()
    assert set(once.samples + 26) <= set(twice.refused.tolist())
    backwards = orthogonal_least_squares(np.c_[K, 1e5 * K[:, ::-1]], yhat, max_terms=10)
    assert backwards.order.tolist() == once.order.tolist()
    shifted = orthogonal_least_squares(np.c_[K, K + 3.0], yhat, max_terms=10)
    assert shifted.order.tolist() == once.order.tolist()  # K + 3 differs by the intercept only


def test_dependent_columns_are_refused():
    rng = np.random.default_rng(0)
    base = rng.normal(size=(30, 4))
    K = base @ rng.normal(size=(4, 20))
    yhat = targets(np.arange(30) < 9)
    terms = orthogonal_least_squares(K, yhat)
    assert len(terms.samples) == 4
    assert len(terms.refused) == 16
    assert terms.stopped == "exhausted"
    assert terms.unexplained[-1] == pytest.approx(energy_left(np.c_[np.ones(30), base], yhat))
    strict = orthogonal_least_squares(*problem(), dependence=0.1)
    assert len(strict.samples) < 40
    assert len(strict.refused) > 0


def test_constant_zero_and_useless_columns():
    yhat = targets(np.array([True, True, False, False]))
    nothing = orthogonal_least_squares(np.c_[np.ones(4), np.zeros(4)], yhat)
    assert nothing.order.tolist() == [0]
    assert nothing.refused.tolist() == [1, 2]
    useless = orthogonal_least_squares(np.array([[1.0], [-1], [1], [-1]]), yhat)
    assert useless.order.tolist() == [0]
    assert useless.stopped == "exhausted"
    assert len(useless.refused) == 0
    empty = orthogonal_least_squares(np.zeros((4, 2)), yhat, intercept="candidate")
    assert empty.order.tolist() == []
    assert not empty.omega().any()
    assert empty.omega().shape == (3,)
    assert empty.residual == 0
    exact = orthogonal_least_squares(np.c_[yhat, np.arange(4.0)], yhat)
    assert exact.order.tolist() == [0, 1]


def test_delayed_projections_are_those_of_modified_gram_schmidt(monkeypatch):
    K, yhat = problem(60, kernel=("rbf", {"gamma": 0.3}))
    terms = orthogonal_least_squares(K, yhat, max_terms=20)
    monkeypatch.setattr(orthogonal, "REFRESH", np.inf)  # each orthogonal part is formed at each step
    plain = orthogonal_least_squares(K, yhat, max_terms=20)
    assert terms.order.tolist() == plain.order.tolist()
    np.testing.assert_allclose(terms.err, plain.err, rtol=1e-7, atol=1e-12)
    D = np.c_[np.ones(60), K][:, terms.order]
    triangle = np.linalg.qr(D, mode="r")
    np.testing.assert_allclose(
        terms.triangle, triangle * np.sign(np.diag(triangle))[:, None], rtol=1e-6, atol=1e-9
    )


def test_many_terms_of_a_nearly_singular_kernel_stay_exact():
    K, yhat = problem(150, kernel=("rbf", {"gamma": 0.5}))
    terms = orthogonal_least_squares(K, yhat, max_terms=60)
    assert len(terms.samples) == 60
    assert terms.residual < 1e-7
    assert terms.unexplained[-1] == pytest.approx(energy_left(np.c_[np.ones(150), K[:, terms.samples]], yhat))


def test_classifier_is_the_selection_with_a_threshold():
    X, positive = two_clouds(60)
    K, yhat = gram(RBF, X), targets(positive)
    model = OLSKFDAClassifier(n_terms=7, kernel=RBF).fit(X, positive)
    terms = orthogonal_least_squares(K, yhat, max_terms=7)
    np.testing.assert_allclose(model.dual_coef_, terms.omega()[1:])
    assert model.order_.tolist() == terms.samples.tolist()
    assert model.retained_.tolist() == sorted(model.order_)
    assert model.retained_fraction_ == 7 / 60
    assert model.unexplained_ == pytest.approx(1 - model.error_reduction_.sum())
    f = model.intercept_ + K @ model.dual_coef_
    assert model.threshold_ == pytest.approx((yhat.max() + yhat.min()) / 2)
    assert (model.predict(X) == (f > model.threshold_)).all()
    means = OLSKFDAClassifier(n_terms=7, kernel=RBF, threshold="means").fit(X, positive)
    assert means.threshold_ == pytest.approx(model.threshold_ * (1 - model.unexplained_))


def test_all_terms_of_a_regular_kernel_are_kfda_without_ridge():
    X, positive = two_clouds(25, p=6)
    full = OLSKFDAClassifier(n_terms=None, kernel=RBF).fit(X, positive)
    ridge = KFDAClassifier(reg=0, kernel=RBF).fit(X, positive)
    np.testing.assert_allclose(full.decision_function(X), ridge.decision_function(X), atol=1e-8)
    assert full.unexplained_ < 1e-12


def test_a_class_of_one_sparse_rows_and_several_classes():
    X, positive = two_clouds()
    alone = np.arange(40) == 3
    model = OLSKFDAClassifier(n_terms=5, kernel=("rbf", {"gamma": 50.0})).fit(X, alone)
    assert model.order_[0] == 3
    assert (model.predict(X) == alone).all()
    X[np.abs(X) < 0.4] = 0
    rows = sparse.csr_matrix(X)
    np.testing.assert_allclose(
        OLSKFDAClassifier().fit(rows, positive).decision_function(rows),
        OLSKFDAClassifier().fit(X, positive).decision_function(X),
        atol=1e-9,
    )
    labels = np.repeat([0, 1, 2], 15)
    Z = np.random.default_rng(0).normal(size=(45, 2)) + 4 * np.eye(3)[labels][:, :2]
    assert OneVsOneClassifier(OLSKFDAClassifier(n_terms=4)).fit(Z, labels).score(Z, labels) > 0.9


def test_nothing_to_choose_predicts_the_larger_class():
    model = OLSKFDAClassifier().fit(np.zeros((5, 2)), list("aabbb"))
    assert len(model.retained_) == 0
    assert (model.predict(np.zeros((2, 2))) == "b").all()


def test_terms_allowed():
    assert [terms_allowed(0.29, 100), terms_allowed(0.001, 100), terms_allowed(np.int64(3), 9)] == [29, 1, 3]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"n_terms": 0},
            "n_terms must be a whole number >= 1, a share of the samples in (0, 1) or None, got 0",
        ),
        ({"n_terms": 1.5}, "a share of the samples in (0, 1) or None, got 1.5"),
        ({"n_terms": True}, "a share of the samples in (0, 1) or None, got True"),
        ({"n_terms": np.nan}, "a share of the samples in (0, 1) or None, got nan"),
        ({"tolerance": -0.1}, "tolerance must be a number in [0, 1], got -0.1"),
        ({"tolerance": None}, "tolerance must be a number in [0, 1], got None"),
        ({"intercept": False}, "unknown intercept False; choose from first, candidate"),
        ({"threshold": "mean"}, "unknown threshold 'mean'; choose from midpoint, means"),
    ],
)
def test_bad_parameters(parameters, message):
    X, positive = two_clouds()
    with pytest.raises(ValueError, match=re.escape(message)):
        OLSKFDAClassifier(**parameters).fit(X, positive)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"yhat": np.ones(3)}, "K has shape (4, 4) and yhat (3,), wanted (N, M) and (N,)"),
        ({"yhat": np.zeros(4)}, "yhat is 0 everywhere"),
        ({"K": np.full((4, 4), np.nan)}, "entries that are not finite"),
        ({"K": 1e101 * np.eye(4)}, "K has entries above 1e+100, so that their squares overflow; scale the"),
        ({"tolerance": 2}, "tolerance must be a number in [0, 1] or None, got 2"),
        ({"max_terms": -1}, "max_terms must be a whole number >= 0 or None, got -1"),
        ({"max_terms": 2.0}, "max_terms must be a whole number >= 0 or None, got 2.0"),
        ({"intercept": "none"}, "unknown intercept 'none'; choose from first, candidate"),
        ({"dependence": 1}, "dependence must be a number in [0, 1), got 1"),
    ],
)
def test_bad_arguments(changes, message):
    arguments = {"K": np.eye(4), "yhat": np.array([2.0, 2, -2, -2])} | changes
    with pytest.raises(ValueError, match=re.escape(message)):
        orthogonal_least_squares(**arguments)


def test_prefixes_that_are_not_there():
    terms = orthogonal_least_squares(*problem(), max_terms=3)
    with pytest.raises(ValueError, match=re.escape("got n_samples=4, wanted at most 3, where the selection")):
        terms.n_terms(4)
    with pytest.raises(ValueError, match=re.escape("got n_terms=5, wanted 0 to 4")):
        terms.omega(5)
