"""LDMClassifier keeps scikit-learn's contract, and its solvers tell the same story."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, LeaveOneOut, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, minmax_scale
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from marginbook.kernels import gram
from marginbook.ldm import LDMClassifier

PENALTIES = {"lambda1": 0.2, "lambda2": 0.1, "C": 5.0}


def _clouds(m=60, d=4, seed=0, apart=1.0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(m) < 0.4, 1, -1)
    y[:2] = 1, -1
    return rng.normal(size=(m, d)) + apart * (y == 1)[:, None], y


def _cancer(step=4):
    X, y = load_breast_cancer(return_X_y=True)
    return minmax_scale(X)[::step], y[::step]


def _beyond(estimator):
    """Checks that a machine fails, with the reason."""
    failed = {}
    if estimator.kernel == "precomputed":  # refused by name
        reason = "the check gives a matrix with negative eigenvalues as a Gram matrix"
        names = (
            "check_estimators_dtypes",
            "check_positive_only_tag_during_fit",
            "check_class_weight_classifiers",
        )
        failed |= dict.fromkeys(names, reason)
    weighted = (
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    )
    if estimator.solver == "asgd" or (estimator.solver == "dcd" and estimator.kernel != "linear"):
        others = (
            "check_sample_weights_list",
            "check_sample_weights_not_overwritten",
            "check_class_weight_classifiers",
        )
        failed |= dict.fromkeys((*weighted, *others), "this solver refuses weights of rows")
    elif estimator.kernel in ("linear", "poly"):
        # the interior point, which takes sparse rows, ends far below its tolerance
        names = weighted[:1] if estimator.kernel == "linear" and estimator.solver == "auto" else weighted
        failed |= dict.fromkeys(names, "the check wants 7 digits, and the gap promises 3 of a decision value")
    return failed


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        LDMClassifier(),
        LDMClassifier(fit_intercept=True, solver="dcd", tol=1e-3),
        LDMClassifier(kernel="linear", tol=1e-7),
        LDMClassifier(kernel="linear", fit_intercept=True, solver="dcd", C=0.1, tol=1e-3),
        LDMClassifier(kernel="linear", fit_intercept=True, solver="asgd"),
        LDMClassifier(kernel="poly"),
        LDMClassifier(kernel="precomputed"),
    ],
    expected_failed_checks=_beyond,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("solver", ["active-set", "dcd", "cvxpy"])
def test_without_mean_and_variance_it_is_the_svm_without_intercept(solver):
    """SVC's own intercept vanishes where each example comes with its negative in feature space."""
    X, y = _cancer(12)
    K = gram(("rbf", {"gamma": 1.0}), X)
    # twins (phi, y) and (-phi, -y)
    twins, labels = np.block([[K, -K], [-K, K]]), np.r_[2 * y - 1, 1 - 2 * y]
    svm = SVC(C=2.5, kernel="precomputed", tol=1e-10).fit(twins, labels)
    assert abs(svm.intercept_[0]) < 1e-6
    model = LDMClassifier(0.0, 0.0, 5.0, "precomputed", solver=solver, tol=1e-9, max_iter=50000).fit(K, y)
    expected = svm.decision_function(np.hstack([K, -K]))
    np.testing.assert_allclose(model.decision_function(K), expected, atol=2e-4)


@pytest.mark.parametrize("solver", ["active-set", "interior-point", "dcd", "cvxpy"])
def test_without_mean_and_variance_the_linear_machine_is_linear_svc(solver):
    X, y = _clouds()
    svm = LinearSVC(loss="hinge", C=0.5, fit_intercept=False, tol=1e-10, max_iter=10**6).fit(X, y)
    model = LDMClassifier(0.0, 0.0, 0.5, "linear", solver=solver, tol=1e-9, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), svm.decision_function(X), atol=2e-4)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("shape", [(60, 4), (15, 40)])
def test_solvers_of_the_linear_kernel_agree(shape, fit_intercept):
    X, y = _clouds(*shape)
    options = {**PENALTIES, "kernel": "linear", "fit_intercept": fit_intercept, "max_iter": 10**5}
    found = {
        solver: LDMClassifier(**options, solver=solver, tol=tol, random_state=0).fit(X, y)
        for solver, tol in {"active-set": 1e-9, "interior-point": 1e-9, "dcd": 1e-9, "cvxpy": 1e-6}.items()
    }
    reference = found["active-set"]
    for model in found.values():
        np.testing.assert_allclose(model.objective_, reference.objective_, rtol=1e-7)
        np.testing.assert_allclose(model.coef_, reference.coef_, atol=2e-3)
        np.testing.assert_allclose(model.intercept_, reference.intercept_, atol=2e-3)
        np.testing.assert_allclose(X.T @ model.dual_coef_, model.coef_, atol=1e-6)
        assert 0 <= model.beta_.min() <= model.beta_.max() <= PENALTIES["C"] * (1 + 1e-12)
        assert model.dual_gap_ <= 1e-6 * max(1.0, model.objective_)
        assert model.loo_bound() == reference.loo_bound()
    assert fit_intercept or reference.intercept_ == 0.0


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_solvers_of_the_rbf_kernel_agree(fit_intercept):
    X, y = _cancer(8)
    options = {**PENALTIES, "gamma": 1.0, "fit_intercept": fit_intercept, "tol": 1e-8}
    exact, descent, oracle = (
        LDMClassifier(**options, solver=solver, max_iter=10**5).fit(X, y)
        for solver in ("active-set", "dcd", "cvxpy")
    )
    for model in (descent, oracle):
        np.testing.assert_allclose(model.decision_function(X), exact.decision_function(X), atol=1e-3)
        np.testing.assert_allclose(model.objective_, exact.objective_, rtol=1e-7)
    assert exact.dual_gap_ <= 1e-8 * exact.objective_


def test_the_attributes_are_those_of_the_objective():
    """Objective, mean and variance, looked up in the predictions."""
    X, y = _clouds()
    for options in ({"gamma": 0.3}, {"kernel": "linear"}, {"kernel": "linear", "solver": "asgd"}):
        model = LDMClassifier(**PENALTIES, **options, random_state=1).fit(X, y)
        margins = y * model.decision_function(X)
        assert model.margin_mean_ == pytest.approx(margins.mean())
        pairs = (margins[:, None] - margins) ** 2
        assert model.margin_variance_ == pytest.approx(pairs.mean())  # (4) with 1 / m^2: twice the variance
        if "kernel" in options:
            norm = model.coef_ @ model.coef_
        else:
            norm = model.dual_coef_ @ gram(("rbf", {"gamma": 0.3}), X) @ model.dual_coef_
        value = 0.5 * norm + 0.2 * pairs.mean() - 0.1 * margins.mean() + 5 * np.maximum(1 - margins, 0).sum()
        assert model.objective_ == pytest.approx(value, rel=1e-6)


def test_the_hard_margin_keeps_every_margin_at_one():
    X, y = _cancer()
    model = LDMClassifier(0.3, 0.1, np.inf, gamma=2.0).fit(X, y)
    margins = np.where(y == 1, 1, -1) * model.decision_function(X)
    assert margins.min() == pytest.approx(1.0, abs=1e-6)
    oracle = LDMClassifier(0.3, 0.1, np.inf, gamma=2.0, solver="cvxpy").fit(X, y)
    assert model.objective_ == pytest.approx(oracle.objective_, rel=1e-6)
    soft = LDMClassifier(0.3, 0.1, 1e6, gamma=2.0).fit(X, y)
    np.testing.assert_allclose(soft.decision_function(X), model.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("lambda1", [0.0, 2**-5, 100.0])
def test_the_hard_margin_of_large_features_keeps_every_margin_at_one_or_says_that_it_cannot(lambda1):
    X, y = _clouds(30, 5)
    X[:, 0] = y * (0.3 + np.abs(X[:, 0]))
    for scale in (1.0, 1e2, 1e3):
        model = LDMClassifier(lambda1, 2**-5, np.inf, "linear").fit(scale * X, y)
        margins = y * model.decision_function(scale * X)
        assert margins.min() == pytest.approx(1.0, abs=1e-5)
        value = 0.5 * model.coef_ @ model.coef_ + 2 * lambda1 * margins.var() - 2**-5 * margins.mean()
        assert model.objective_ == pytest.approx(value, rel=1e-4, abs=1e-7)
    if lambda1:
        with pytest.raises(ValueError, match=r"rounding leaves a margin of .* scale the features"):
            LDMClassifier(lambda1, 2**-5, np.inf, "linear").fit(1e9 * X, y)


def test_auto_takes_the_gram_matrix_or_the_features():
    X, y = _clouds(30, 3)
    wide, labels = _clouds(10, 40)
    long, many = _clouds(1500, 400, apart=0.2)

    def chosen(X, y, **options):
        return LDMClassifier(C=0.01, tol=1e-2, **options).fit(X, y).solver_

    assert chosen(X, y) == "active-set"
    assert chosen(X, y, kernel="linear") == "interior-point"
    assert chosen(wide, labels, kernel="linear") == "active-set"
    assert chosen(sparse.csr_matrix(wide), labels, kernel="linear") == "interior-point"
    assert chosen(long, many, kernel="linear") == "dcd"
    assert LDMClassifier(C=np.inf, kernel="linear").fit(wide, labels).solver_ == "active-set"


def test_kernels_given_in_every_way_agree():
    X, y = _clouds()
    kernel = ("poly", {"degree": 2, "gamma": 0.1, "coef0": 1.0})
    pair = LDMClassifier(kernel=kernel).fit(X, y).decision_function(X[:9])
    named = LDMClassifier(kernel="poly", degree=2, gamma=0.1).fit(X, y).decision_function(X[:9])
    called = LDMClassifier(kernel=lambda a, b: (0.1 * a @ b + 1) ** 2).fit(X, y).decision_function(X[:9])
    K, Kx = gram(kernel, X), gram(kernel, X[:9], X)
    given = LDMClassifier(kernel="precomputed").fit(K, y).decision_function(Kx)
    for other in (named, called, given):
        np.testing.assert_allclose(other, pair, rtol=1e-6)


@pytest.mark.parametrize("solver", ["active-set", "interior-point", "dcd", "asgd"])
def test_the_intercept_is_a_constant_feature(solver):
    X, y = _clouds()
    options = {**PENALTIES, "kernel": "linear", "solver": solver, "random_state": 3}
    model = LDMClassifier(**options, fit_intercept=True).fit(X, y)
    padded = LDMClassifier(**options).fit(np.hstack([X, np.ones((len(X), 1))]), y)
    # by coordinate descent the intercept moves in another way, so the two agree to the tolerance of the gap
    found = np.r_[model.coef_, model.intercept_]
    np.testing.assert_allclose(found, padded.coef_, rtol=1e-4 if solver == "dcd" else 1e-6)
    assert model.coef_.shape == (4,)


def test_the_intercept_adds_one_to_every_kernel():
    X, y = _clouds()
    K = gram(("rbf", {"gamma": 0.4}), X)
    model = LDMClassifier(gamma=0.4, fit_intercept=True).fit(X, y)
    added = LDMClassifier(kernel="precomputed").fit(K + 1, y)
    given = LDMClassifier(kernel="precomputed", fit_intercept=True).fit(K, y)
    np.testing.assert_allclose(model.decision_function(X), added.decision_function(K + 1), atol=1e-6)
    np.testing.assert_allclose(given.decision_function(K), added.decision_function(K + 1), atol=1e-6)
    assert model.intercept_ == pytest.approx(model.dual_coef_.sum())


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_sparse_and_read_only_and_single_precision_rows(kernel):
    X, y = _clouds()
    X[np.abs(X) < 0.5] = 0
    X = X.astype(np.float32)
    X.setflags(write=False)
    y.setflags(write=False)
    for solver in ("active-set", "dcd"):
        options = {"kernel": kernel, "C": 1.0, "solver": solver, "fit_intercept": True, "random_state": 0}
        dense = LDMClassifier(**options, max_iter=10**5).fit(X, y)
        thin = LDMClassifier(**options, max_iter=10**5).fit(sparse.csr_matrix(X), y)
        expected = dense.decision_function(X.astype(float))
        np.testing.assert_allclose(thin.decision_function(sparse.csc_matrix(X)), expected, atol=1e-5)
        assert thin.loo_bound() == dense.loo_bound()


def test_labels_of_any_type_and_the_order_of_rows():
    X, y = _clouds()
    shuffle = np.random.default_rng(0).permutation(len(y))
    names = np.array(["no", "yes"], dtype=object)[(y + 1) // 2]
    plain = LDMClassifier().fit(X, y)
    other = LDMClassifier().fit(X[shuffle], names[shuffle])
    np.testing.assert_allclose(plain.decision_function(X), other.decision_function(X), atol=1e-5)
    assert ((plain.predict(X) == 1) == (other.predict(X) == "yes")).all()
    assert (LDMClassifier().fit(X, y == 1).predict(X) == (plain.predict(X) == 1)).all()


def test_in_pipelines_searches_clones_pickles_and_one_against_the_rest():
    X, y = _cancer()
    search = GridSearchCV(
        make_pipeline(MinMaxScaler(), LDMClassifier(gamma=1.0)), {"ldmclassifier__C": [0.1, 10.0]}, cv=3
    ).fit(X, y)
    assert search.best_score_ > 0.9
    copy = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(copy.decision_function(X), search.decision_function(X))
    model = LDMClassifier(**PENALTIES, kernel=("rbf", {"gamma": 0.2})).fit(X, y)
    assert clone(model).fit(X, y).objective_ == model.objective_
    flowers, kinds = load_iris(return_X_y=True)
    assert OneVsRestClassifier(LDMClassifier()).fit(flowers, kinds).score(flowers, kinds) > 0.95


@settings(max_examples=15)
@given(
    seed=st.integers(0, 10**6),
    lambda1=st.sampled_from([0.0, 0.1, 10.0]),
    lambda2=st.sampled_from([0.0, 0.5, 30.0]),
    C=st.sampled_from([0.01, 1.0, 100.0]),
    kernel=st.sampled_from(["linear", "rbf"]),
)
def test_the_bound_is_never_below_the_leave_one_out_error(seed, lambda1, lambda2, C, kernel):
    X, y = _clouds(12, 3, seed, 0.7)
    y[2:4] = 1, -1
    model = LDMClassifier(lambda1, lambda2, C, kernel, tol=1e-9).fit(X, y)
    left_out = cross_val_predict(model, X, y, cv=LeaveOneOut())
    assert np.mean(left_out != y) <= model.loo_bound() <= 1


def test_the_bound_needs_no_exact_solution():
    X, y = _cancer(8)
    with pytest.warns(UserWarning, match="duality gap"):
        rough = LDMClassifier(gamma=1.0, solver="dcd", max_iter=5).fit(X, y)
    left_out = cross_val_predict(LDMClassifier(gamma=1.0), X, y, cv=LeaveOneOut())
    assert np.mean(left_out != y) <= rough.loo_bound() <= 1


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_the_rows_may_be_overwritten_after_the_fit(kernel):
    X, y = _clouds()
    rows = X @ X.T if kernel == "precomputed" else X.copy()
    Z = rows[:9].copy()
    model = LDMClassifier(kernel=kernel).fit(rows, y)
    before, bound = model.decision_function(Z), model.loo_bound()
    rows[:] = 0.0
    np.testing.assert_array_equal(model.decision_function(Z), before)
    assert model.loo_bound() == bound


def test_a_fit_that_fails_leaves_nothing_of_the_one_before():
    X, y = _clouds()
    model = LDMClassifier(gamma=1.0).fit(X, y)
    with pytest.raises(ValueError, match="lambda1"):
        model.set_params(lambda1=-1).fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(NotFittedError):
        model.loo_bound()


@pytest.mark.parametrize("lambda1", [2**-5, 100.0])
@pytest.mark.parametrize("scale", [1.0, 1e2, 1e4, 1e7])
@pytest.mark.parametrize("solver", ["active-set", "dcd"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_objective_and_gap_are_those_of_the_weights_however_large_the_features(lambda1, scale, solver):
    """The Gram matrix of unscaled features: H loses digits, the certificate must not."""
    X, y = _clouds(40, 5, apart=0.1)
    X *= scale
    options = {"lambda1": lambda1, "solver": solver, "max_iter": 3000}
    model = LDMClassifier(kernel=("poly", {"degree": 1, "gamma": 1.0, "coef0": 0.0}), **options).fit(X, y)
    w = X.T @ model.dual_coef_
    margins = y * (X @ w)
    spread = 2 * lambda1 * margins.var() - 2**-5 * margins.mean()
    value = 0.5 * w @ w + spread + 10 * np.maximum(1 - margins, 0).sum()
    assert model.objective_ == pytest.approx(value, rel=1e-5 if scale < 1e7 else 0.8)
    if solver == "active-set" and scale < 1e7:
        assert model.dual_gap_ <= 1e-6 * model.objective_
    if scale == 1e7:
        assert model.dual_gap_ > 1.0


def test_a_gap_that_the_arithmetic_cannot_close_warns():
    X, y = _clouds(40, 5, apart=0.1)
    with pytest.warns(UserWarning, match="scale the features"):
        LDMClassifier(100.0, kernel="linear", solver="active-set").fit(1e8 * X, y)


def test_constant_features_duplicates_and_a_class_of_one():
    X, y = _clouds(20, 3)
    X = np.repeat(np.hstack([X, np.zeros((20, 1)), np.full((20, 1), 7.0)]), 2, axis=0)
    y = np.full(40, "rest", dtype=object)
    y[-1] = "one"
    for options in ({}, {"kernel": "linear"}, {"kernel": "linear", "solver": "dcd", "C": 0.01}):
        model = LDMClassifier(**options).fit(X, y)
        assert model.dual_gap_ <= 1e-6 * max(1, model.objective_)
        assert np.isfinite(model.decision_function(X)).all()
        assert 1 / 40 <= model.loo_bound() <= 1
