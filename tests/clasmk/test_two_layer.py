"""Two-layer MKL: finite differences, a monotone path, stationarity, one kernel, copies, limits."""

from dataclasses import FrozenInstanceError
from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import scale
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from marginbook.clasmk.model.normalised_kernels import normalised_gram
from marginbook.clasmk.peers.two_layer import TwoLayerMKLClassifier
from marginbook.clasmk.solvers.mkl_two_layer import exponential, learn_layer
from marginbook.clasmk.solvers.svm_outputs import polish, train

from .kernel_problem import KERNELS, to_the_tolerance
from .kernel_problem import layer_objective as objective
from .kernel_problem import problem as sized

problem = partial(sized, n=30)


@parametrize_with_checks(
    [TwoLayerMKLClassifier(KERNELS[:1], reg=10.0), TwoLayerMKLClassifier(KERNELS[:3], unit_diagonal=True)],
    expected_failed_checks=to_the_tolerance,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_a_stationary_point_by_finite_differences(classes, C):
    grams, signs, _, _ = problem(classes=classes)
    found = learn_layer(grams, signs, C, tol=5e-4)
    assert found.residual <= 5e-4
    value = objective(grams, found.weights, signs, C, 1.0)
    assert found.path[-1] == pytest.approx(value, rel=1e-4)
    for t, weight in enumerate(found.weights):
        step = 1e-3
        up = objective(grams, found.weights + step * np.eye(4)[t], signs, C, 1.0)
        if weight < step:  # at the bound F may rise only
            assert (up - value) / step > -2e-2 * value
        else:
            down = objective(grams, found.weights - step * np.eye(4)[t], signs, C, 1.0)
            assert abs(up - down) / (2 * step) < 2e-2 * value


def test_the_path_decreases():
    grams, signs, _, _ = problem(n=60)
    found = learn_layer(grams, signs, 3.0, tol=1e-5)
    assert len(found.path) > 5
    assert (np.diff(found.path) <= 0).all()
    assert (found.weights >= 0).all()


def test_the_tolerance_is_a_thousandth_by_default():
    grams, signs, _, _ = problem()
    found, wanted = learn_layer(grams, signs, 1.0), learn_layer(grams, signs, 1.0, tol=1e-3)
    assert found.residual <= 1e-3
    assert (found.n_iter, found.path) == (wanted.n_iter, wanted.path)


def test_learned_weights_cannot_be_set():
    grams, signs, _, _ = problem()
    found = learn_layer(grams, signs, 1.0)
    with pytest.raises(FrozenInstanceError):
        found.residual = 0.0


def test_a_general_minimiser_finds_the_weight_of_one_kernel():
    grams, signs, _, _ = problem()
    found = learn_layer(grams[1:2], signs, 1.0, tol=1e-6)
    best = minimize_scalar(
        lambda w: objective(grams[1:2], [w], signs, 1.0, 1.0), bounds=(0, 20), options={"xatol": 1e-4}
    )
    assert found.path[-1] <= best.fun * (1 + 1e-4)
    assert found.weights[0] == pytest.approx(best.x, abs=0.05)


def test_one_kernel_at_its_weight_is_the_machine_on_its_exponential():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = scale(X)[::3], y[::3]
    kernel = ("rbf", {"gamma": 0.05})
    model = TwoLayerMKLClassifier([kernel]).fit(X, y)
    [weight] = model.weights_
    K = np.exp(weight * normalised_gram(kernel, X))
    machine = SVC(kernel="precomputed", tol=1e-6).fit(K, y)
    np.testing.assert_allclose(model.decision_function(X), machine.decision_function(K), atol=0.02)


def test_copies_of_a_kernel_share_its_weight():
    grams, signs, _, _ = problem()
    once = learn_layer(grams[:1], signs, 1.0, tol=1e-5)
    copied = learn_layer(grams[:1] * 3, signs, 1.0, tol=1e-5)
    assert copied.path[-1] == pytest.approx(once.path[-1], rel=1e-3)
    assert copied.weights.sum() == pytest.approx(once.weights.sum(), abs=0.05)


def test_a_large_penalty_or_a_tiny_C_leaves_no_weight():
    _, _, X, codes = problem()
    for parameters in ({"reg": 1e6}, {"C": 1e-6}):
        model = TwoLayerMKLClassifier(KERNELS, **parameters).fit(X, codes)
        np.testing.assert_array_equal(model.weights_, 0)
        # the kernel is constant, the bias decides
        assert np.ptp(model.decision_function(X)) < 1e-12


def test_a_smaller_penalty_gives_larger_weights():
    grams, signs, _, _ = problem()
    sums = [learn_layer(grams, signs, 1.0, reg=reg).weights.sum() for reg in (10.0, 1.0, 0.1)]
    assert sums[0] < sums[1] < sums[2]


def test_no_better_than_equal_weights_is_impossible():
    grams, signs, _, _ = problem(n=50, classes=3)
    start = objective(grams, np.full(4, 0.25), signs, 1.0, 1.0)
    assert learn_layer(grams, signs, 1.0).path[-1] < start


def test_the_exponential():
    grams, _, _, _ = problem(n=5)
    weights = np.array([0.5, 0.0, 2.0, 1.0])
    naive = [
        [np.exp(sum(w * G[i, j] for w, G in zip(weights, grams, strict=True))) for j in range(5)]
        for i in range(5)
    ]
    np.testing.assert_allclose(exponential(grams, weights), naive)
    assert np.linalg.eigvalsh(exponential(grams, weights)).min() > -1e-10
    with pytest.raises(ValueError, match="is infinite; take normalised=True or a larger reg"):
        exponential([1e3 * G for G in grams], weights)


def test_train_is_feasible_and_tight():
    grams, signs, _, _ = problem(classes=3)
    machines = train(grams[0], signs, 2.0, 1e-6)
    assert (np.abs(machines.beta) <= 2.0).all()
    assert 0 <= machines.inner_gap + 1e-9 < 1e-5
    np.testing.assert_allclose(machines.beta.sum(axis=0), 0, atol=1e-9)


@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
def test_polished_coefficients_satisfy_the_conditions_of_the_machine(C):
    grams, signs, _, _ = problem()
    K, y = grams[0], signs[:, 0]
    costs = C * np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    rough = train(K, signs, C, 1e-2, costs / C).beta[:, 0]
    beta = polish(K, y, rough, costs)
    a, fitted = y * beta, K @ beta
    free = (a > 1e-9) & (a < costs - 1e-9)
    bias = (y - fitted)[free].mean()
    assert abs(beta.sum()) < 1e-12
    np.testing.assert_allclose((y * (fitted + bias))[free], 1, atol=1e-11)
    assert (y * (fitted + bias))[a <= 1e-9].min(initial=np.inf) >= 1 - 1e-11
    assert (y * (fitted + bias))[a >= costs - 1e-9].max(initial=-np.inf) <= 1 + 1e-11
    assert polish(np.ones((4, 4)), np.array([1.0, -1, 1, -1]), np.full(4, 0.5), 1.0) is None
    assert polish(K, y, costs * y, costs) is None  # nothing between the bounds


@pytest.mark.parametrize("gamma", [None, 0.5])
def test_polishing_finds_its_way_where_most_rows_are_beyond_the_margin(gamma):
    """Also with the linear kernel, of rank 2: the equations of all rows together are singular."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=30) > 0, 1.0, -1.0)
    K = X @ X.T if gamma is None else rbf_kernel(X, gamma=gamma)
    rough = train(K, y[:, None], 1.0, 1e-3).beta[:, 0]
    beta = polish(K, y, rough, 1.0)
    exact = SVC(C=1.0, kernel="precomputed", tol=1e-9).fit(K, y)
    wanted = np.zeros(30)
    wanted[exact.support_] = exact.dual_coef_[0]
    np.testing.assert_allclose(K @ beta, K @ wanted, atol=1e-4)


def test_the_residual_is_that_of_exact_machines():
    grams, signs, _, _ = problem()
    found = learn_layer(grams, signs, 1.0)
    K = exponential(grams, found.weights)
    y = signs[:, 0]
    beta = polish(K, y, train(K, signs, 1.0, 1e-7).beta[:, 0], 1.0)
    value = np.abs(beta).sum() - beta @ K @ beta / 2 + found.weights.sum()
    slopes = np.array([1.0 - beta @ ((K * G) @ beta) / 2 for G in grams])
    residual = np.abs(found.weights - np.maximum(found.weights - slopes / value, 0)).max()
    assert found.residual == pytest.approx(residual, rel=1e-9)


def test_string_labels_of_three_classes_and_a_search():
    X, y = load_iris(return_X_y=True)
    names = np.array(["red", "green", "blue"])[y]
    search = GridSearchCV(TwoLayerMKLClassifier(KERNELS[:3]), {"C": [0.1, 1.0]}, cv=3).fit(scale(X), names)
    model = search.best_estimator_
    assert search.best_score_ > 0.9
    assert model.decision_function(scale(X)).shape == (150, 3)
    assert model.stationarity_ <= 1e-3
    assert model.objective_ == model.objective_path_[-1]


def test_raw_kernels_of_large_values_do_not_overflow():
    _, _, X, codes = problem()
    model = TwoLayerMKLClassifier([("poly", {"degree": 6})], normalised=False, max_iter=30)
    assert model.fit(3 * X, codes).score(3 * X, codes) > 0.5


def test_the_unit_diagonal_is_the_normalised_exponential():
    _, _, X, codes = problem()
    model = TwoLayerMKLClassifier(KERNELS, unit_diagonal=True, tol=1e-3).fit(X, codes)
    K = exponential([normalised_gram(kernel, X) for kernel in KERNELS], model.weights_)
    K /= np.exp(model.weights_.sum())
    np.testing.assert_allclose(K.diagonal(), 1)
    decisions = K[:, model.support_] @ model.dual_coef_[0] + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), decisions, atol=1e-9)
    with pytest.raises(ValueError, match="unit_diagonal=True needs normalised=True"):
        TwoLayerMKLClassifier(KERNELS, unit_diagonal=True, normalised=False).fit(X, codes)


def test_too_few_iterations_are_told_with_both_numbers():
    _, _, X, codes = problem()
    with pytest.warns(ConvergenceWarning, match=r"residual is .* after 1 set of weights, wanted 1.0e-06"):
        TwoLayerMKLClassifier(KERNELS, tol=1e-6, max_iter=1).fit(X, codes)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"reg": 0.0}, "reg must be a finite number > 0, got 0.0"),
        ({"kernels": ["precomputed"]}, "kernel 'precomputed'"),
        ({"C": -1.0}, r"C must be a number in \[1e-08, 1e\+08\], got -1.0"),
        ({"max_iter": 0}, "max_iter must be a whole number >= 1, got 0"),
    ],
)
def test_clear_errors(parameters, message):
    with pytest.raises(ValueError, match=message):
        TwoLayerMKLClassifier(**parameters).fit(np.eye(4), [0, 1, 0, 1])
