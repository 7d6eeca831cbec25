"""SparseKFDAClassifier keeps scikit-learn's contract, and its attributes are what they say."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Lasso
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from marginbook.kfda import SparseKFDAClassifier

ALL_SOLVERS = [("mm", 1.0), ("plain", 1.0), ("squarem", 1.0), ("lasso", 1.0), ("mm", 0.5), ("plain", 0.5)]


def _clouds(n=60, d=3, seed=0, apart=1.0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.3, 1, -1)
    y[:2] = 1, -1
    return rng.normal(size=(n, d)) + apart * (y == 1)[:, None], y


def _cancer(step=4):
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X)[::step], y[::step]


def _targets(y):
    n, n_positive = len(y), np.sum(y == y.max())
    return np.where(y == y.max(), n / n_positive, -n / (n - n_positive))


def _naive_objective(K, y, b, alpha, q, rho, penalize_bias=True):
    rest = _targets(y) - b - K @ alpha
    total = 0.0
    for value in [b, *alpha] if penalize_bias else alpha:
        total += abs(value) ** q
    return 0.5 * rest @ rest + rho * len(y) * total


def _stops_early(estimator):
    """The paper's iteration ends where J changes little, which depends on how often a row is there."""
    names = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
    return dict.fromkeys(names, "no minimum") if estimator.solver in ("plain", "squarem") else {}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # cubes of unscaled features
@parametrize_with_checks(
    [
        SparseKFDAClassifier(),
        SparseKFDAClassifier(q=0.5),
        SparseKFDAClassifier(q=1.5),
        SparseKFDAClassifier(q=2, penalize_bias=False),
        SparseKFDAClassifier(q=0.7, solver="plain", cut=1e-3),
        SparseKFDAClassifier(solver="mm", threshold="means"),
        SparseKFDAClassifier(solver="squarem", kernel="linear"),
        SparseKFDAClassifier(kernel="poly"),
        SparseKFDAClassifier(kernel="precomputed"),
        SparseKFDAClassifier(n_components=20),
    ],
    expected_failed_checks=_stops_early,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("penalize_bias", [True, False])
@pytest.mark.parametrize(("solver", "q"), ALL_SOLVERS)
def test_the_objective_is_the_one_printed(solver, q, penalize_bias):
    X, y = _clouds()
    K = rbf_kernel(X, gamma=0.3)
    model = SparseKFDAClassifier(q, 0.05, gamma=0.3, solver=solver, penalize_bias=penalize_bias).fit(X, y)
    naive = _naive_objective(K, y, model.intercept_, model.dual_coef_, q, 0.05, penalize_bias)
    assert model.objective_ == pytest.approx(naive, rel=1e-10)
    assert model.objective_path_[-1] == pytest.approx(naive, rel=1e-10)
    assert np.all(np.diff(model.objective_path_) <= 1e-9 * model.objective_path_[0])
    assert len(model.objective_path_) == len(model.retained_path_)
    assert model.retained_path_[-1] == len(model.retained_) == np.count_nonzero(model.dual_coef_)
    assert model.retained_fraction_ == len(model.retained_) / 60
    assert model.converged_
    assert model.n_iter_ >= 1


@pytest.mark.parametrize("solver", ["lasso", "mm", "plain", "squarem"])
def test_with_exponent_one_it_is_the_lasso(solver):
    """Its objective is N times that of scikit-learn, whose bias is a column of ones here."""
    X, y = _clouds(50)
    D = np.c_[np.ones(50), rbf_kernel(X, gamma=0.3)]
    reference = Lasso(alpha=0.03, fit_intercept=False, tol=1e-12, max_iter=10**6).fit(D, _targets(y))
    exact = solver in ("lasso", "mm")
    tol, atol = (1e-10, 1e-6) if exact else (1e-11, 2e-3)
    model = SparseKFDAClassifier(1, 0.03, gamma=0.3, solver=solver, tol=tol, max_iter=10**5).fit(X, y)
    np.testing.assert_allclose(np.r_[model.intercept_, model.dual_coef_], reference.coef_, atol=atol)
    value = 50 * (np.sum((_targets(y) - D @ reference.coef_) ** 2) / 100 + 0.03 * abs(reference.coef_).sum())
    assert model.objective_ == pytest.approx(value, rel=1e-6)
    assert 0 <= model.dual_gap_ <= 1e-5 * value
    assert not hasattr(model, "curvature_")
    if exact:
        np.testing.assert_array_equal(model.retained_, np.flatnonzero(reference.coef_[1:]))
        assert model.kkt_residual_ <= 1e-6


def test_with_exponent_two_it_is_kernel_ridge_on_the_columns():
    X, y = _clouds(40)
    D = np.c_[np.ones(40), rbf_kernel(X, gamma=0.5)]
    for penalize_bias in (True, False):
        penalty = 2 * 0.1 * 40 * np.diag(np.r_[float(penalize_bias), np.ones(40)])
        expected = np.linalg.solve(D.T @ D + penalty, D.T @ _targets(y))
        model = SparseKFDAClassifier(2, 0.1, gamma=0.5, penalize_bias=penalize_bias).fit(X, y)
        np.testing.assert_allclose(np.r_[model.intercept_, model.dual_coef_], expected, rtol=1e-6, atol=1e-9)
        assert model.retained_fraction_ == 1.0
        assert model.stationarity_ < 1e-8
        assert 0 <= model.dual_gap_ <= 1e-8 * model.objective_
        assert not hasattr(model, "kkt_residual_")


@settings(max_examples=15)
@given(
    seed=st.integers(0, 10**6),
    q=st.sampled_from([0.25, 0.5, 0.9]),
    rho=st.sampled_from([1e-3, 0.05, 1.0]),
    penalize_bias=st.booleans(),
)
def test_below_one_it_ends_at_a_local_minimum(seed, q, rho, penalize_bias):
    """No small step in any direction goes down, and no retained coefficient could be dropped by its size."""
    X, y = _clouds(25, 2, seed)
    K = rbf_kernel(X, gamma=0.5)
    model = SparseKFDAClassifier(q, rho, gamma=0.5, penalize_bias=penalize_bias).fit(X, y)
    assert model.is_local_minimum_
    assert model.curvature_ > 0
    rng = np.random.default_rng(seed)
    for _ in range(20):
        step = 1e-4 * rng.normal(size=26)
        moved = _naive_objective(
            K, y, model.intercept_ + step[0], model.dual_coef_ + step[1:], q, rho, penalize_bias
        )
        assert moved >= model.objective_ * (1 - 1e-10)


def test_prediction_is_the_threshold_on_the_kernel_expansion():
    X, y = _clouds(90, seed=3)
    Z = _clouds(30, seed=4)[0]
    for threshold in ("midpoint", "means"):
        model = SparseKFDAClassifier(0.5, 0.02, gamma=0.4, threshold=threshold).fit(X, y)
        f = model.intercept_ + rbf_kernel(Z, X, gamma=0.4) @ model.dual_coef_
        n, n_positive = 90, np.sum(y == 1)
        if threshold == "midpoint":
            expected = n / 2 * (1 / n_positive - 1 / (n - n_positive))
        else:
            on_train = model.intercept_ + rbf_kernel(X, gamma=0.4) @ model.dual_coef_
            expected = (on_train[y == 1].mean() + on_train[y == -1].mean()) / 2
        assert model.threshold_ == pytest.approx(expected)
        unit = (n / n_positive + n / (n - n_positive)) / 2
        np.testing.assert_allclose(model.decision_function(Z), (f - expected) / unit, atol=1e-12)
        np.testing.assert_array_equal(model.predict(Z), np.where(f > expected, 1, -1))


def test_decision_values_estimate_the_probability_whatever_the_class_sizes():
    """One row that repeats: f tends to the mean target, and the decision value to 2 p - 1."""
    X = np.repeat([[0.0], [1.0]], [100, 300], axis=0)
    y = np.r_[np.ones(10), np.zeros(90), np.ones(270), np.zeros(30)]
    model = SparseKFDAClassifier(2, 1e-9, gamma=5.0).fit(X, y)
    np.testing.assert_allclose(model.decision_function([[0.0], [1.0]]), [-0.8, 0.8], atol=1e-4)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear", "precomputed", "callable"])
def test_prediction_needs_only_the_retained_rows(kernel):
    """Every other row may be spoilt, and a precomputed kernel needs no value of it."""
    X, y = _clouds(60)
    Z = _clouds(20, seed=5)[0]
    square = lambda a, b: float((a @ b + 1) ** 2)  # noqa: E731
    options = {"kernel": square if kernel == "callable" else kernel, "gamma": 0.3, "degree": 2}
    train, test = (X @ X.T, Z @ X.T) if kernel == "precomputed" else (X, Z)
    model = SparseKFDAClassifier(0.5, 0.05, **options).fit(train, y)
    assert 0 < len(model.retained_) < 30
    before = model.decision_function(test)
    if kernel == "precomputed":
        test[:, np.setdiff1d(np.arange(60), model.retained_)] = 1e9
    train[:] = np.nan
    np.testing.assert_array_equal(model.decision_function(test), before)


def test_what_is_stored_shrinks_with_what_is_retained():
    X, y = _cancer(2)
    all_rows = pickle.dumps(SparseKFDAClassifier(2, 0.05, gamma=0.01).fit(X, y))
    few = pickle.dumps(SparseKFDAClassifier(0.5, 0.05, gamma=0.01).fit(X, y))
    assert len(few) < len(all_rows) / 4


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
def test_sparse_rows_and_a_precomputed_kernel_are_the_same(kernel):
    X, y = _clouds(50)
    X[np.abs(X) < 0.5] = 0.0
    Z = X[:20] + 1.0
    options = {"gamma": {"rbf": 0.2, "poly": 1.0}.get(kernel)}
    dense = SparseKFDAClassifier(0.5, 0.05, kernel, **options).fit(X, y)
    thin = SparseKFDAClassifier(0.5, 0.05, kernel, **options).fit(sparse.coo_matrix(X), y)
    grams = {
        "rbf": lambda A, B: rbf_kernel(A, B, gamma=0.2),
        "poly": lambda A, B: (A @ B.T + 1) ** 3,
        "linear": lambda A, B: A @ B.T,
    }[kernel]
    given_gram = SparseKFDAClassifier(0.5, 0.05, "precomputed").fit(grams(X, X), y)
    expected = dense.decision_function(Z)
    np.testing.assert_allclose(thin.decision_function(sparse.csr_matrix(Z)), expected, atol=1e-6)
    np.testing.assert_allclose(given_gram.decision_function(grams(Z, X)), expected, atol=1e-6)


def test_labels_of_any_type():
    X, y = _clouds()
    plain = SparseKFDAClassifier(gamma=1.0).fit(X, y)
    for labels in (
        y == 1,
        np.where(y == 1, "yes", "no"),
        np.where(y == 1, "yes", "no").astype(object),
        y + 0.0,
    ):
        model = SparseKFDAClassifier(gamma=1.0).fit(X, labels)
        np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
        assert set(model.predict(X)) <= set(labels.tolist())
        np.testing.assert_array_equal(model.predict(X) == model.classes_[1], plain.predict(X) == 1)
    np.testing.assert_array_equal(plain.class_count_, [np.sum(y == -1), np.sum(y == 1)])


def test_which_class_is_positive_does_not_matter():
    X, y = _clouds(seed=8)
    one, other = (SparseKFDAClassifier(0.5, 0.05, gamma=0.5).fit(X, labels) for labels in (y, -y))
    np.testing.assert_allclose(one.decision_function(X), -other.decision_function(X), atol=1e-9)
    np.testing.assert_array_equal(one.retained_, other.retained_)


def test_in_pipelines_searches_clones_and_pickles():
    X, y = _cancer()
    search = GridSearchCV(
        make_pipeline(StandardScaler(), SparseKFDAClassifier(gamma=0.01)),
        {"sparsekfdaclassifier__rho": [0.01, 0.3], "sparsekfdaclassifier__q": [0.5, 1.0]},
        cv=3,
    ).fit(X, y)
    assert search.best_score_ > 0.9
    copy = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(copy.decision_function(X), search.decision_function(X))
    model = SparseKFDAClassifier(kernel=("rbf", {"gamma": 0.2}), start=np.ones(len(y) + 1), q=0.5).fit(X, y)
    again = clone(model).fit(X, y)
    assert again.objective_ == model.objective_
    K = rbf_kernel(X, gamma=0.01)
    scores = [
        cross_val_score(SparseKFDAClassifier(kernel=kernel, gamma=0.01), data, y, cv=3)
        for kernel, data in (("precomputed", K), ("rbf", X))
    ]
    np.testing.assert_allclose(*scores)
    frame = pd.DataFrame(X).add_prefix("feature ")
    assert list(SparseKFDAClassifier().fit(frame, y).feature_names_in_) == list(frame.columns)


def test_the_start_decides_below_one():
    X, y = _clouds(40)
    rng = np.random.default_rng(0)
    found = [
        SparseKFDAClassifier(0.3, 0.02, gamma=1.0, start=rng.normal(size=41)).fit(X, y) for _ in range(4)
    ]
    assert len({tuple(model.retained_) for model in found}) > 1
    assert all(model.is_local_minimum_ for model in found)


def test_the_cut_takes_coefficients_and_says_what_that_costs():
    X, y = _clouds()
    options = {"q": 1.0, "rho": 0.05, "gamma": 0.3, "solver": "plain"}
    uncut = SparseKFDAClassifier(**options).fit(X, y)
    cut = SparseKFDAClassifier(**options, cut=0.01).fit(X, y)
    size = np.abs(uncut.dual_coef_)
    np.testing.assert_array_equal(cut.retained_, np.flatnonzero(size > 0.01 * size.max()))
    np.testing.assert_array_equal(cut.dual_coef_[cut.retained_], uncut.dual_coef_[cut.retained_])
    assert len(cut.retained_) < len(uncut.retained_) == 60
    naive = _naive_objective(rbf_kernel(X, gamma=0.3), y, cut.intercept_, cut.dual_coef_, 1, 0.05)
    assert cut.objective_ == pytest.approx(naive)
    assert cut.objective_path_[-1] == uncut.objective_


def test_a_penalty_beyond_everything_leaves_the_larger_class():
    X, y = _clouds()
    for q in (0.5, 1.0):
        for threshold in ("midpoint", "means"):
            model = SparseKFDAClassifier(q, 1e6, threshold=threshold).fit(X, y)
            assert len(model.retained_) == model.intercept_ == 0
            assert (model.predict(X) == -1).all()
            assert (model.fit(X, -y).predict(X) == 1).all()


def test_duplicates_constant_features_and_a_class_of_one():
    X, y = _clouds(20)
    X = np.repeat(np.hstack([X, np.zeros((20, 1)), np.full((20, 1), 7.0)]), 2, axis=0)
    y = np.full(40, "rest", dtype=object)
    y[-1] = "one"
    for options in ({}, {"q": 0.5}, {"kernel": "linear"}, {"q": 0.5, "kernel": "linear"}, {"solver": "mm"}):
        model = SparseKFDAClassifier(**options).fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()
        if "q" in options:
            assert model.is_local_minimum_
        else:
            assert model.dual_gap_ <= 1e-6 * max(1.0, model.objective_)


def test_a_fit_that_fails_leaves_nothing_of_the_one_before():
    X, y = _clouds()
    model = SparseKFDAClassifier(q=0.5).fit(X, y)
    assert model.set_params(q=1).fit(X, y).dual_gap_ >= 0
    assert not hasattr(model, "curvature_")
    with pytest.raises(ValueError, match="square"):
        model.set_params(kernel="precomputed").fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_metadata_routing_survives_a_fit():
    X, y = _clouds()
    model = SparseKFDAClassifier()
    model.fit(X, y).fit(X, y)
    assert model.get_metadata_routing() is not None
