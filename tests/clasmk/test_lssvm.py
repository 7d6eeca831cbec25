"""LS-SVM: bordered equations, refitting without a row, scikit-learn's rules, extreme and degenerate input."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from marginbook.clasmk.estimators.least_squares_training import validate_gram
from marginbook.clasmk.estimators.lssvm import LSSVMClassifier
from marginbook.clasmk.solvers.least_squares import (
    Spectrum,
    solve_features,
    solve_kernel,
)
from marginbook.clasmk.solvers.least_squares_errors import kkt_residual
from marginbook.kernels import gram

RBF = ("rbf", {"gamma": 0.3})


@parametrize_with_checks(
    [
        LSSVMClassifier(),
        LSSVMClassifier(C=[0.1, 10.0], kernel="rbf"),
        LSSVMClassifier(C=(0.1, 1.0, 100.0)),
        LSSVMClassifier(kernel=("poly", {"degree": 2})),
        LSSVMClassifier(kernel="precomputed"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def problem(n=24, p=3, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % classes
    X = rng.standard_normal((n, p)) + codes[:, None] * np.arange(1, p + 1) / p
    targets = np.where(codes[:, None] == np.arange(classes), 1.0, -1.0)
    return X, codes, targets


def bordered(K, targets, C):
    """Solve the bordered equations as they are written, by LU."""
    n = len(K)
    H = np.zeros((n + 1, n + 1))
    H[0, 1:] = H[1:, 0] = 1
    H[1:, 1:] = K + np.eye(n) / C
    found = np.linalg.solve(H, np.vstack([np.zeros(targets.shape[1]), targets]))
    return found[0], found[1:]


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("p", [2, 60])
def test_every_route_solves_the_bordered_equations(C, p):
    X, _, targets = problem(p=p)
    K = X @ X.T
    bias, dual = bordered(K, targets, C)
    routes = {
        "cholesky": solve_kernel(K, targets, C),
        "spectrum": Spectrum.of_kernel(K, targets).solve(C),
        "features": solve_features(X, targets, C),
        "singular values": Spectrum.of_features(X, targets).solve(C),
    }
    for name, found in routes.items():
        np.testing.assert_allclose(found.dual, dual, atol=1e-8 * np.abs(dual).max(), err_msg=name)
        np.testing.assert_allclose(found.bias, bias, atol=1e-8, err_msg=name)
        assert kkt_residual(K, targets, C, found) < 1e-12 * max(1.0, C), name
        if found.coef is not None:
            np.testing.assert_allclose(found.coef, X.T @ dual, atol=1e-8, err_msg=name)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("p", [2, 60])
def test_left_out_is_the_machine_fitted_without_the_row(C, p):
    X, _, targets = problem(p=p)
    K = X @ X.T
    naive = np.empty_like(targets)
    for i in range(len(X)):
        others = np.delete(np.arange(len(X)), i)
        bias, dual = bordered(K[np.ix_(others, others)], targets[others], C)
        naive[i] = K[i, others] @ dual + bias
    for found in (
        solve_kernel(K, targets, C),
        solve_features(X, targets, C),
        Spectrum.of_kernel(K, targets).solve(C),
        Spectrum.of_features(X, targets).solve(C),
    ):
        np.testing.assert_allclose(found.left_out, naive, atol=1e-7)


@pytest.mark.parametrize("kernel", ["linear", RBF])
def test_the_classifier_refitted_without_each_row_decides_the_same(kernel):
    X, y = load_iris(return_X_y=True)
    X, y = scale(X)[::5], y[::5]
    model = LSSVMClassifier(5.0, kernel=kernel).fit(X, y)
    naive = np.array(
        [
            clone(model).fit(np.delete(X, i, 0), np.delete(y, i)).decision_function(X[i : i + 1])[0]
            for i in range(len(y))
        ]
    )
    np.testing.assert_allclose(model.loo_decision_, naive, atol=1e-9)
    assert model.loo_accuracy_ == np.mean(naive.argmax(axis=1) == y)


@pytest.mark.parametrize("kernel", ["linear", RBF])
def test_the_sequence_takes_the_best_left_out_accuracy(kernel):
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    grid = np.logspace(-4, 4, 9)
    model = LSSVMClassifier(grid, kernel=kernel).fit(X, y)
    single = [LSSVMClassifier(C, kernel=kernel).fit(X, y) for C in grid]
    np.testing.assert_array_equal(model.loo_accuracies_, [each.loo_accuracy_ for each in single])
    assert model.loo_accuracy_ == model.loo_accuracies_.max()
    taken = single[list(grid).index(model.C_)]
    np.testing.assert_allclose(model.decision_function(X), taken.decision_function(X), atol=1e-8)
    np.testing.assert_allclose(model.loo_decision_, taken.loo_decision_, atol=1e-8)


def test_primal_and_dual_are_the_same_machine():
    X, codes, _ = problem(n=30, p=4)
    primal = LSSVMClassifier(2.0).fit(X, codes)
    dual = LSSVMClassifier(2.0, kernel="precomputed").fit(X @ X.T, codes)
    new = np.random.default_rng(1).standard_normal((7, 4))
    np.testing.assert_allclose(primal.decision_function(new), dual.decision_function(new @ X.T), atol=1e-10)
    np.testing.assert_allclose(primal.dual_coef_, dual.dual_coef_, atol=1e-10)
    np.testing.assert_allclose(primal.dual_coef_ @ X, primal.coef_, atol=1e-10)
    np.testing.assert_allclose(primal.loo_decision_, dual.loo_decision_, atol=1e-10)


def test_two_classes_have_one_output_and_it_is_that_of_two():
    X, codes, targets = problem(classes=2)
    labels = np.array(["no", "yes"])[codes]
    model = LSSVMClassifier(3.0, kernel=RBF).fit(X, labels)
    assert model.decision_function(X).shape == model.loo_decision_.shape == (len(X),)
    both = solve_kernel(gram(RBF, X), targets, 3.0)
    np.testing.assert_allclose(both.left_out[:, 0], -both.left_out[:, 1], atol=1e-12)
    np.testing.assert_allclose(model.loo_decision_, both.left_out[:, 1], atol=1e-12)
    assert set(model.predict(X)) <= {"no", "yes"}


def test_tiny_and_huge_weights_of_the_errors():
    X, codes, targets = problem(n=20, p=2)
    flat = LSSVMClassifier(1e-100).fit(X, codes)
    np.testing.assert_allclose(flat.decision_function(X), np.tile(targets.mean(axis=0), (20, 1)), atol=1e-12)
    sharp = LSSVMClassifier(1e100).fit(X, codes)
    design = np.column_stack([np.ones(20), X])
    least = design @ np.linalg.lstsq(design, targets, rcond=None)[0]
    np.testing.assert_allclose(sharp.decision_function(X), least, atol=1e-9)
    interpolating = LSSVMClassifier(1e100, kernel=RBF).fit(X, codes)
    np.testing.assert_allclose(interpolating.decision_function(X), targets, atol=1e-4)


def test_a_row_that_alone_has_a_feature_is_left_out_rightly():
    X, _, targets = problem(n=15, p=2)
    X = np.column_stack([X, np.eye(15)[:, 4]])
    others = np.delete(np.arange(15), 4)
    for C in (1.0, 1e6, 1e9):
        bias, dual = bordered(X[others] @ X[others].T, targets[others], C)
        naive = X[4] @ X[others].T @ dual + bias
        np.testing.assert_allclose(solve_features(X, targets, C).left_out[4], naive, atol=1e-4)
        np.testing.assert_allclose(Spectrum.of_features(X, targets).solve(C).left_out[4], naive, atol=1e-4)


@settings(max_examples=30)
@given(
    n=st.integers(2, 12),
    p=st.integers(1, 12),
    exponent=st.floats(-6, 6),
    seed=st.integers(0, 2**16),
    copies=st.booleans(),
)
def test_random_problems_satisfy_the_equations(n, p, exponent, seed, copies):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)).round(2)
    if copies:
        X[n // 2 :] = X[0]
    codes = rng.permutation(np.arange(n) % 2)
    targets = 2.0 * codes[:, None] - 1
    C = 10.0**exponent
    for found in (solve_kernel(X @ X.T, targets, C), solve_features(X, targets, C)):
        assert kkt_residual(X @ X.T, targets, C, found) < 1e-5
        assert np.isfinite(found.left_out).all()


def test_degenerate_data():
    constant = LSSVMClassifier().fit(np.ones((5, 2)), [0, 0, 0, 1, 1])
    np.testing.assert_allclose(constant.decision_function(np.ones((1, 2))), -0.2)
    np.testing.assert_allclose(constant.loo_decision_, [0, 0, 0, -0.5, -0.5], atol=1e-12)
    alone = LSSVMClassifier(kernel=RBF).fit(np.arange(5.0)[:, None], ["a", "a", "a", "a", "b"])
    assert alone.loo_decision_[-1] == pytest.approx(-1)
    two = LSSVMClassifier(kernel=RBF).fit([[0.0], [1.0]], [0, 1])
    np.testing.assert_allclose(two.loo_decision_, [1, -1], atol=1e-12)


def test_without_features_a_row_left_out_has_the_mean_of_the_others():
    targets = np.array([[1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, 1.0], [-1.0, 1.0]])
    found = solve_features(np.zeros((5, 0)), targets, 2.0)
    np.testing.assert_allclose(found.bias, [-0.2, 0.2])
    np.testing.assert_allclose(found.left_out[:, 0], [-0.5, -0.5, 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(found.dual, 2.0 * (targets - found.bias))


def test_normalised_linear_rows_have_no_length():
    X, codes, _ = problem()
    lengths = np.random.default_rng(0).uniform(0.1, 1e3, len(X))
    first = LSSVMClassifier(normalised=True).fit(X, codes)
    second = LSSVMClassifier(normalised=True).fit(X * lengths[:, None], codes)
    np.testing.assert_allclose(first.coef_, second.coef_, atol=1e-10)
    with pytest.raises(ValueError, match="row 1 is zero"):
        first.predict(np.array([[1.0, 0, 0], [0, 0, 0]]))


def test_scikit_learn_clones_pickles_and_searches():
    X, y = load_iris(return_X_y=True)
    names = np.array(["red", "green", "blue"])[y]
    search = GridSearchCV(LSSVMClassifier(kernel=RBF), {"C": [0.1, 10.0], "kernel": ["linear", RBF]}, cv=3)
    model = search.fit(X, names).best_estimator_
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert model.score(X, names) > 0.8


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0.0}, r"C must be a number > 0, between 1e-100 and 1e\+100, got 0.0"),
        ({"C": [1.0, -1.0]}, "C must be a number > 0, .* got -1.0"),
        ({"C": []}, r"C must be a number > 0 or a sequence of such numbers, got \[\]"),
        ({"C": "big"}, "C must be a number > 0 or a sequence"),
        ({"C": [1.0, True]}, "C must be a number > 0, .* got True"),
        ({"normalised": "yes"}, "normalised must be True or False"),
        ({"kernel": "tanh"}, "unknown kernel 'tanh'"),
        ({"kernel": "precomputed", "normalised": True}, "normalise the matrix"),
        ({"kernel": "precomputed"}, r"needs a square matrix, got shape \(4, 2\)"),
    ],
)
def test_clear_errors(parameters, message):
    with pytest.raises(ValueError, match=message):
        LSSVMClassifier(**parameters).fit(np.eye(4)[:, :2] + 1, [0, 1, 0, 1])


def test_one_class_and_an_asymmetric_matrix_are_refused():
    with pytest.raises(ValueError, match="got one class: a"):
        LSSVMClassifier().fit(np.eye(3), ["a", "a", "a"])
    with pytest.raises(ValueError, match="needs a symmetric matrix"):
        LSSVMClassifier(kernel="precomputed").fit(np.triu(np.ones((3, 3))), [0, 1, 0])


@pytest.mark.parametrize("n", [40, 520])
def test_an_indefinite_matrix_is_told_and_a_semidefinite_one_is_not(n, recwarn):
    """By all eigenvalues of a small one, and by the least of a large one."""
    X = np.random.default_rng(0).normal(size=(n, 2))
    validate_gram(X @ X.T)
    assert not recwarn.list
    with pytest.warns(UserWarning, match=r"needs a positive semidefinite matrix, and an eigenvalue is -"):
        validate_gram(X @ X.T - np.eye(n))
