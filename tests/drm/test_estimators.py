"""The estimators keep scikit-learn's contract and name what is wrong."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from marginbook.drm import DRMClassifier, DRMClassifierCV
from marginbook.kernels import gram
from marginbook.quality.trust.subjects import small_problem


# the random data of some checks need more than 150 iterations; what the warnings say is tested below
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        DRMClassifier(),
        DRMClassifier(kernel="linear"),
        DRMClassifier(kernel="linear", fit_intercept=True),
        DRMClassifier(alpha=0.1, kernel="poly"),
        DRMClassifier(solver="gd", beta=10.0),
        DRMClassifier(solver="ppa", kernel="linear", fit_intercept=True),
        DRMClassifier(solver="apg", kernel="linear"),
        DRMClassifierCV(),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_alpha_zero_is_kernel_ridge():
    """With alpha = 0 the weights are those of kernel ridge regression with identity targets."""
    X, y = load_iris(return_X_y=True)
    K = gram(("rbf", {"gamma": 0.2}), X)
    model = DRMClassifier(0.0, 0.7, "precomputed").fit(K, y)
    ridge = KernelRidge(alpha=0.7, kernel="precomputed").fit(K, np.eye(len(y)))
    np.testing.assert_allclose(model._point_solver.form.weights(K).T, ridge.predict(K), atol=1e-10)


def test_kernels_given_in_every_way_agree():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    kernel = ("poly", {"degree": 2, "gamma": 0.1, "coef0": 1.0})
    pair = DRMClassifier(kernel=kernel).fit(X, y).dissimilarity(X[:9])
    named = DRMClassifier(kernel="poly", degree=2, gamma=0.1, coef0=1.0).fit(X, y).dissimilarity(X[:9])
    called = DRMClassifier(kernel=lambda a, b: (0.1 * a @ b + 1) ** 2).fit(X, y).dissimilarity(X[:9])
    K, Kx = gram(kernel, X), gram(kernel, X[:9], X)
    given = DRMClassifier(kernel="precomputed").fit(K, y).dissimilarity(Kx)
    for other in (named, called, given):
        np.testing.assert_allclose(other, pair, rtol=1e-9)


def test_order_of_rows_and_names_of_labels_do_not_matter():
    X, y = load_iris(return_X_y=True)
    shuffle = np.random.default_rng(0).permutation(len(y))
    names = np.array(["setosa", "versicolor", "virginica"])
    plain = DRMClassifier().fit(X, y)
    other = DRMClassifier().fit(X[shuffle], names[y][shuffle])
    np.testing.assert_allclose(plain.dissimilarity(X), other.dissimilarity(X), atol=1e-10)
    assert (names[plain.predict(X)] == other.predict(X)).all()


def test_decision_function_agrees_with_predict_in_two_and_more_classes():
    X, y = load_iris(return_X_y=True)
    many = DRMClassifier().fit(X, y)
    assert (many.classes_[many.decision_function(X).argmax(axis=1)] == many.predict(X)).all()
    two = DRMClassifier().fit(X[:100], y[:100])
    assert two.decision_function(X[:100]).shape == (100,)
    assert ((two.decision_function(X[:100]) > 0).astype(int) == two.predict(X[:100])).all()


def test_works_in_pipelines_searches_and_pickles():
    X, y = load_wine(return_X_y=True)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), DRMClassifier()), {"drmclassifier__beta": [0.1, 1.0]}, cv=3
    )
    assert search.fit(X, y).best_score_ > 0.9
    copy = pickle.loads(pickle.dumps(search.best_estimator_))
    assert (copy.predict(X) == search.predict(X)).all()


def test_a_bad_certificate_warns_with_both_numbers():
    X = np.random.default_rng(0).normal(size=(20, 2)) * 1e3
    with pytest.warns(ConvergenceWarning, match=r"certificate .* misses tol=1\.00e-30"):
        DRMClassifier(tol=1e-30, kernel="linear").fit(X, np.arange(20) % 2)


@pytest.mark.parametrize("power", [4, 8])
def test_features_whose_scales_leave_the_kernel_matrix_no_digits_warn(power):
    """The certificate takes that matrix as exact, so it sees nothing of it: `marginbook trust`."""
    X, y, _ = small_problem(False, 0)
    X = X[:8] * 10.0 ** np.linspace(-power, power, X.shape[1])
    model = DRMClassifier(0.5, 0.1, kernel="linear", solver="closed")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.fit(X, y[:8])
    assert model.kkt_residual_ <= 1e-14
    near = [one for one in told if issubclass(one.category, ConvergenceWarning)]
    assert len(near) == (power == 8)
    assert all("nearly singular; raise beta or scale the features" in str(one.message) for one in near)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "sigmoid"}, "unknown kernel 'sigmoid'; choose from linear, poly, rbf, precomputed"),
        ({"kernel": ("rbf", {"sigma": 1})}, "kernel 'rbf' does not know sigma; it takes gamma"),
        ({"solver": "newton"}, "unknown solver 'newton'; choose from auto, closed, one-pass"),
        ({"solver": "one-pass"}, "solver 'one-pass' needs kernel='linear', got 'rbf'"),
        ({"kernel": "precomputed", "fit_intercept": True}, "fit_intercept=True has no meaning"),
        ({"solver": "newton"}, "one-pass, cg, gd, ppa, apg"),
        ({"max_iter": 0}, "max_iter must be a whole number >= 1, got 0"),
        ({"tol": -1.0}, r"tol must be a number >= 0, got -1\.0"),
        ({"beta": -1}, "beta must be a finite number > 0, got -1"),
    ],
)
def test_unusable_parameters(parameters, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        DRMClassifier(**parameters).fit(X, y)


def test_unusable_data():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="needs at least 2 classes, got one class: 0"):
        DRMClassifier().fit(X[:50], y[:50])
    with pytest.raises(ValueError, match="square matrix, got shape \\(150, 4\\)"):
        DRMClassifier(kernel="precomputed").fit(X, y)
    with pytest.raises(ValueError, match="is infinite or undefined on these data"):
        DRMClassifier(kernel=("poly", {"degree": 200, "gamma": 1.0})).fit(X * 100, y)
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        DRMClassifier().fit(X, y)


@pytest.mark.parametrize("solver", ["gd", "ppa", "apg"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "callable", "precomputed"])
def test_iterations_reach_the_closed_form(solver, kernel):
    X, y = load_wine(return_X_y=True)
    X, Z = StandardScaler().fit_transform(X), None
    shuffle = np.random.default_rng(0).permutation(len(y))
    X, y = X[shuffle], y[shuffle]
    Z = X[:20] + 0.1
    if kernel == "precomputed":
        X, Z = gram("linear", X), gram("linear", Z, X)
    kernel = (lambda a, b: 1 + a @ b) if kernel == "callable" else kernel
    exact = DRMClassifier(0.1, 5.0, kernel, solver="closed").fit(X, y)
    model = DRMClassifier(0.1, 5.0, kernel, solver=solver, tol=1e-8, max_iter=5000).fit(X, y)
    delta = exact.dissimilarity(Z)
    np.testing.assert_allclose(model.dissimilarity(Z), delta, atol=1e-5 * np.abs(delta).max())
    assert (model.predict(Z) == exact.predict(Z)).all()
    assert 1 < model.n_iter_ < 5000
    assert model.kkt_residual_ < 1e-5
    assert exact.n_iter_ == 1
    assert not hasattr(model, "partial_fit")


@pytest.mark.parametrize("solver", ["gd", "ppa", "apg"])
def test_iterations_on_sparse_rows_with_intercept(solver):
    X, y = load_wine(return_X_y=True)
    X = np.where(np.abs(X := StandardScaler().fit_transform(X)) < 0.5, 0, X)
    parameters = {"alpha": 0.1, "beta": 50.0, "kernel": "linear", "fit_intercept": True}
    dense = DRMClassifier(**parameters, solver=solver).fit(X, y)
    thin = DRMClassifier(**parameters, solver=solver).fit(sparse.csr_matrix(X), y)
    expected = dense.dissimilarity(X)
    np.testing.assert_allclose(thin.dissimilarity(sparse.csr_matrix(X)), expected, rtol=1e-9)
    assert (thin.predict(X) == DRMClassifier(**parameters).fit(X, y).predict(X)).mean() > 0.99


def test_iterations_that_miss_tol_warn_with_both_numbers():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = DRMClassifier(kernel="linear", solver="ppa", beta=0.01, max_iter=7)
    with pytest.warns(
        ConvergenceWarning, match=r"32 of 32 points .* more than tol=1\.00e-06, after max_iter=7 "
    ):
        model.fit(X, y)
    assert model.n_iter_ == 7
    with pytest.warns(ConvergenceWarning, match=r"9 of 9 points still moved by \d\.\d+e-\d+, .* certificate"):
        model.predict(X[:9])
    with pytest.warns(ConvergenceWarning, match=r", after max_iter=1 iteration; their certificate"):
        model.set_params(max_iter=1).fit(X, y)


def test_steps_that_are_short_far_from_the_optimum_warn():
    """A huge alpha makes the step size tiny: the paper's rule stops at once, far from the solution."""
    X, y = load_iris(return_X_y=True)
    model = DRMClassifier(alpha=1e9, beta=1e-3, kernel="linear", solver="ppa")
    with pytest.warns(
        ConvergenceWarning, match=r"shorter than tol=1\.00e-06, but the certificate is .* square root"
    ):
        model.fit(X, y)
    assert model.kkt_residual_ > 0.1


def test_nystroem_features_make_the_linear_model_that_of_their_kernel():
    """Proposition VI.3; with every example a landmark it is the kernel itself."""
    X, y = load_iris(return_X_y=True)
    X, y, Z = X[::2], y[::2], X[1::2]
    few = Nystroem(kernel="rbf", gamma=0.3, n_components=12, random_state=0)
    exact = make_pipeline(few, DRMClassifier(0.1, 0.5, "linear", solver="one-pass")).fit(X, y)
    G = few.transform(X)
    given = DRMClassifier(0.1, 0.5, "precomputed").fit(G @ G.T, y)
    expected = given.dissimilarity(few.transform(Z) @ G.T)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(exact[-1].dissimilarity(few.transform(Z)), expected, atol=1e-9 * scale)
    for solver in ("gd", "ppa", "apg"):
        found = DRMClassifier(0.1, 0.5, "linear", solver=solver, tol=1e-7, max_iter=5000).fit(G, y)
        np.testing.assert_allclose(found.dissimilarity(few.transform(Z)), expected, atol=1e-4 * scale)
    every = Nystroem(kernel="rbf", gamma=0.3, n_components=len(X), random_state=0)
    full = make_pipeline(every, DRMClassifier(0.1, 0.5, "linear", solver="one-pass")).fit(X, y)
    kernel = DRMClassifier(0.1, 0.5, ("rbf", {"gamma": 0.3})).fit(X, y).dissimilarity(Z)
    np.testing.assert_allclose(full[-1].dissimilarity(every.transform(Z)), kernel, atol=1e-6)


def test_homogeneity_and_its_cure():
    rng = np.random.default_rng(0)
    half = rng.normal(size=(60, 2)) * 0.2 + 1
    X, y = np.r_[half, -half], np.repeat([0, 1], 60)
    assert DRMClassifier(kernel="linear").fit(X, y).score(X, y) == 0.5
    assert DRMClassifier(kernel="linear", fit_intercept=True).fit(X, y).score(X, y) == 1.0


def test_cv_takes_any_scorer_and_both_scalings():
    X, y = load_wine(return_X_y=True)
    keep = y < 2
    cv = DRMClassifierCV(alphas=(0.1,), betas=(0.1, 1.0), scaling=("none", "max-abs"), scoring="roc_auc")
    cv.fit(X[keep], y[keep])
    assert cv.scaling_ == "max-abs"
    assert cv.best_score_ == max(cv.cv_results_["mean_test_score"]) <= 1.0
    same = DRMClassifierCV(
        alphas=(0.1,),
        betas=(0.1, 1.0),
        scaling=("none", "max-abs"),
        scoring=make_scorer(roc_auc_score, response_method="decision_function"),
    ).fit(X[keep], y[keep])
    np.testing.assert_array_equal(same.cv_results_["mean_test_score"], cv.cv_results_["mean_test_score"])


def test_cv_leaves_out_what_cannot_be_solved_and_says_when_nothing_is_left():
    X, y = load_wine(return_X_y=True)
    kernels = (("poly", {"degree": 200}), ("rbf", {"gamma": 1e-4}))
    cv = DRMClassifierCV(alphas=(1.0,), betas=(1.0,), kernels=kernels).fit(X, y)
    assert np.isnan(cv.cv_results_["mean_test_score"][0])
    assert cv.kernel_ == kernels[1]
    with pytest.raises(ValueError, match="no grid point could be solved"):
        DRMClassifierCV(kernels=kernels[:1]).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"scaling": "standard"}, "scaling must be one or both of none, max-abs, got 'standard'"),
        ({"alphas": ()}, r"alphas must be a sequence of at least one value, got \(\)"),
        ({"betas": (0.0,)}, "beta must be a finite number > 0"),
        ({"kernels": ("precomputed",)}, "does not take a precomputed kernel"),
    ],
)
def test_cv_names_unusable_grids(parameters, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        DRMClassifierCV(**parameters).fit(X, y)


def test_an_indefinite_kernel_is_an_error_not_a_nan():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="not positive definite"):
        DRMClassifier(kernel="precomputed").fit(-X @ X.T, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernels": ("sigmoid",)}, "unknown kernel 'sigmoid'"),
        ({"kernels": "rbf"}, "kernels must be a sequence of kernels, got the single name 'rbf'"),
        ({"kernels": [("rbf", {"sigma": 1})]}, "does not know sigma"),
        ({"kernels": [("precomputed", {})]}, "does not take a precomputed kernel"),
        ({"alphas": 1.0}, "alphas must be a sequence"),
        ({"betas": ("1",)}, "beta must be a finite number > 0, got '1'"),
    ],
)
def test_cv_does_not_call_a_typing_error_a_matter_of_precision(parameters, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        DRMClassifierCV(**parameters).fit(X, y)


@pytest.mark.parametrize("kernel", [None, 3, ("rbf",), ("rbf", 0.5)])
def test_a_kernel_in_a_wrong_form_is_named(kernel):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="a kernel is a name, a pair such as"):
        DRMClassifier(kernel=kernel).fit(X, y)
