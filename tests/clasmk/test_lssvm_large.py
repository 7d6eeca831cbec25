"""LS-SVM with weights of rows, and with many rows: blocked factor, conjugate gradients, landmarks, memory."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from marginbook.clasmk import LSSVMClassifier
from marginbook.clasmk.estimators import least_squares_training as training
from marginbook.clasmk.estimators import lssvm
from marginbook.clasmk.solvers import half_stored
from marginbook.clasmk.solvers.half_stored import BlockedFactor, HalfStored, square
from marginbook.clasmk.solvers.least_squares import Spectrum, solve_features, solve_kernel
from marginbook.clasmk.solvers.least_squares_errors import kkt_residual
from marginbook.clasmk.solvers.least_squares_large import solve_blocked, solve_iteratively
from marginbook.kernels import gram

RBF = ("rbf", {"gamma": 0.2})


@parametrize_with_checks(
    [
        LSSVMClassifier(kernel="rbf", solver="cg"),
        LSSVMClassifier(kernel="rbf", n_components=20, random_state=0),
        LSSVMClassifier(0.1, kernel="rbf", gamma="auto"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def problem(n=90, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % classes
    X = rng.standard_normal((n, 4)) + codes[:, None]
    targets = np.where(codes[:, None] == np.arange(classes), 1.0, -1.0)
    return X, codes, targets, rng.uniform(0.2, 3.0, n)


def halves(K, root):
    whole = K * root * root[:, None]
    array = np.full(K.shape, np.nan)  # what lies below the diagonal must not be read
    return HalfStored.fill(array, lambda rows, columns: whole[rows, columns])


def weighted_by_lu(K, targets, C, weights):
    """Solve the weighted bordered equations as they are written."""
    n = len(K)
    H = np.zeros((n + 1, n + 1))
    H[0, 1:] = H[1:, 0] = 1
    H[1:, 1:] = K + np.diag(1 / (C * weights))
    found = np.linalg.solve(H, np.vstack([np.zeros(targets.shape[1]), targets]))
    return found[0], found[1:]


def test_half_stored_matrix_and_its_factor(monkeypatch):
    monkeypatch.setattr(half_stored, "BLOCK", 7)
    rng = np.random.default_rng(0)
    A = rng.standard_normal((31, 40))
    whole = A @ A.T
    K = halves(whole, np.ones(31))
    V = rng.standard_normal((31, 3))
    np.testing.assert_allclose(K.times(V), whole @ V)
    np.testing.assert_allclose(K.times(V[:, :1]), whole @ V[:, :1])
    np.testing.assert_allclose(K.columns(np.array([0, 8, 30])), whole[:, [0, 8, 30]])
    p, q = rng.standard_normal((2, 31, 1))
    factor = BlockedFactor.of(K, p, q, 50.0)
    shifted = whole + p @ q.T + q @ p.T + 50 * np.eye(31)
    np.testing.assert_allclose(factor.solve(V), np.linalg.solve(shifted, V))
    np.testing.assert_allclose(factor.inverse_diagonal(), np.linalg.inv(shifted).diagonal())
    np.testing.assert_allclose(K.times(V), whole @ V)
    assert BlockedFactor.of(halves(-whole, np.ones(31)), p, q, 1.0) is None


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e4])
def test_every_route_solves_the_weighted_equations(C, monkeypatch):
    monkeypatch.setattr(half_stored, "BLOCK", 16)
    X, _, targets, weights = problem()
    root = np.sqrt(weights)
    K = X @ X.T + 1
    bias, dual = weighted_by_lu(K, targets, C, weights)
    naive = np.empty_like(targets)
    for i in range(len(X)):
        others = np.delete(np.arange(len(X)), i)
        b, a = weighted_by_lu(K[np.ix_(others, others)], targets[others], C, weights[others])
        naive[i] = K[i, others] @ a + b
    routes = {
        "one call": solve_kernel(K, targets, C, weights),
        "spectrum": Spectrum.of_kernel(K, targets, weights).solve(C),
        "features": solve_features(X, targets, C, weights),
        "singular values": Spectrum.of_features(X, targets, weights).solve(C),
        "blocks": solve_blocked(halves(K, root), targets, C, root),
        "conjugate gradients": solve_iteratively(halves(K, root), targets, C, root, tol=1e-11)[0],
    }
    for name, found in routes.items():
        np.testing.assert_allclose(found.dual, dual, atol=1e-6 * np.abs(dual).max(), err_msg=name)
        np.testing.assert_allclose(found.bias, bias, atol=1e-8, err_msg=name)
        assert kkt_residual(K, targets, C, found, weights) < 1e-7, name
        if found.left_out is not None:
            np.testing.assert_allclose(found.left_out, naive, atol=1e-7, err_msg=name)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"kernel": "rbf"},
        {"kernel": "rbf", "solver": "cg", "tol": 1e-12},
        {"kernel": "poly", "degree": 2},
        {"kernel": "rbf", "class_weight": {0: 2.0, 1: 1.0, 2: 0.5}},
    ],
)
def test_weights_are_repeated_rows_and_zero_is_none(parameters):
    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    one = LSSVMClassifier(5.0, **parameters).fit(X, y, sample_weight=weights)
    many = LSSVMClassifier(5.0, **parameters).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(one.decision_function(X), many.decision_function(X), atol=1e-8)
    if hasattr(one, "gamma_"):
        assert one.gamma_ == pytest.approx(many.gamma_)
    assert (one.dual_coef_[:, weights == 0] == 0).all()
    if hasattr(one, "loo_decision_"):
        gone = weights == 0
        np.testing.assert_allclose(one.loo_decision_[gone], one.decision_function(X[gone]))


def test_many_rows_take_the_routes_in_blocks_and_agree(monkeypatch):
    X, y = make_classification(400, 6, random_state=0)
    model = LSSVMClassifier(3.0, kernel="rbf").fit(X, y)
    grid = LSSVMClassifier([0.1, 3.0, 50.0], kernel="rbf").fit(X, y)
    monkeypatch.setattr(lssvm, "ONE_CALL", 100)
    monkeypatch.setattr(lssvm, "ONE_SPECTRUM", 100)
    monkeypatch.setattr(lssvm, "train_gram", None)
    monkeypatch.setattr(half_stored, "BLOCK", 64)
    blocks = LSSVMClassifier(3.0, kernel="rbf").fit(X, y)
    np.testing.assert_allclose(blocks.decision_function(X), model.decision_function(X), atol=1e-10)
    np.testing.assert_allclose(blocks.loo_decision_, model.loo_decision_, atol=1e-9)
    again = LSSVMClassifier([0.1, 3.0, 50.0], kernel="rbf").fit(X, y)
    np.testing.assert_array_equal(again.loo_accuracies_, grid.loo_accuracies_)
    cg = LSSVMClassifier(3.0, kernel="rbf", solver="cg").fit(X, y)
    np.testing.assert_allclose(cg.decision_function(X), model.decision_function(X), atol=1e-6)
    assert cg.kkt_residual_ <= 1e-8
    assert cg.n_iter_ < 60
    assert not hasattr(cg, "loo_decision_")
    with pytest.warns(ConvergenceWarning, match="after max_iter=3 products"):
        LSSVMClassifier(1e6, kernel="rbf", solver="cg", max_iter=3).fit(X, y)


@pytest.mark.parametrize(("C", "name"), [(3.0, "ONE_CALL"), ([0.1, 3.0], "ONE_SPECTRUM")])
def test_one_c_wants_a_factor_and_several_want_a_spectrum(monkeypatch, C, name):
    X, y = make_classification(60, 6, random_state=0)
    for other in ("ONE_CALL", "ONE_SPECTRUM"):
        monkeypatch.setattr(lssvm, other, 60 if other == name else 59)
    monkeypatch.setattr(lssvm, "train_large", None)
    assert LSSVMClassifier(C, kernel="rbf").fit(X, y).kkt_residual_ <= 1e-8


def test_auto_ends_with_a_factor_where_rows_are_too_many(monkeypatch):
    monkeypatch.setattr("marginbook.clasmk.estimators.lssvm.FACTORED", 50)
    X, y = load_breast_cancer(return_X_y=True)
    model = LSSVMClassifier(kernel="rbf").fit(scale(X), y)
    assert not hasattr(model, "loo_accuracy_")
    assert model.kkt_residual_ <= 1e-8


def test_new_rows_are_decided_in_one_call_while_their_kernel_values_are_few(monkeypatch):
    X, codes, _, _ = problem()
    model, sizes = LSSVMClassifier(kernel="rbf").fit(X, codes), []

    def recorded(kernel, X, Z):
        sizes.append(len(X))
        return gram(kernel, X, Z)

    monkeypatch.setattr(lssvm, "gram", recorded)
    model.predict(np.tile(X, (20, 1)))
    assert sizes == [20 * len(X)]


def test_too_many_rows_are_refused_at_once_with_what_to_take(monkeypatch):
    monkeypatch.setattr(half_stored, "SHARE", 0.0)
    with pytest.raises(MemoryError, match=r"50000 rows need 20.0 GB.*take n_components=1000"):
        square(50_000, training.INSTEAD)


def test_landmarks_are_exact_with_all_rows_and_near_with_many():
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    exact = LSSVMClassifier(kernel="rbf").fit(X, y)
    every = LSSVMClassifier(kernel="rbf", n_components=len(X)).fit(X, y)
    np.testing.assert_allclose(every.decision_function(X), exact.decision_function(X), atol=1e-8)
    some = LSSVMClassifier(kernel="rbf", n_components=200, random_state=0).fit(X, y)
    assert (some.predict(X) == exact.predict(X)).mean() > 0.99
    assert some.dual_coef_.shape == (1, 200)
    K = gram(("rbf", {"gamma": exact.gamma_}), X)
    given = LSSVMClassifier(kernel="precomputed", n_components=200, random_state=0).fit(K, y)
    np.testing.assert_allclose(given.decision_function(K), some.decision_function(X), atol=1e-8)


def test_the_last_product_that_is_allowed_may_be_the_one_that_was_needed():
    X, codes, _, _ = problem()
    model = LSSVMClassifier(kernel="rbf", solver="cg").fit(X, codes)
    assert model.n_iter_ > 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        LSSVMClassifier(kernel="rbf", solver="cg", max_iter=model.n_iter_).fit(X, codes)
        LSSVMClassifier(kernel="rbf", max_iter=1).fit(X, codes)
    with pytest.warns(ConvergenceWarning, match=f"after max_iter={model.n_iter_ // 2} product"):
        LSSVMClassifier(kernel="rbf", solver="cg", max_iter=model.n_iter_ // 2).fit(X, codes)


def test_landmarks_of_a_matrix_of_rank_two_have_two_features():
    """Eigenvalues that rounding made are none: their features would be rounding magnified."""
    rows = np.random.default_rng(0).integers(-9, 10, size=(40, 2)).astype(float)
    codes = np.arange(40) % 2
    targets = np.where(codes == 1, 1.0, -1.0)[:, np.newaxis]
    found = training.train_landmarks(
        rows @ rows.T, 40, np.random.RandomState(0), targets, codes, [1.0], None
    ).found
    assert found.coef.shape == (2, 1)
    assert np.linalg.matrix_rank(rows) == 2


def test_an_indefinite_matrix_is_said_so():
    K = np.diag(np.r_[np.ones(9), -3.0])
    with pytest.warns(UserWarning, match="an eigenvalue is -3"):
        LSSVMClassifier(1e-3, kernel="precomputed").fit(K, np.arange(10) % 2)


def test_a_gamma_that_tells_nothing_apart_is_said_so():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(UserWarning, match="gamma is too large for these features"):
        LSSVMClassifier(kernel="rbf", gamma=1.0).fit(X, y)


def test_float32_is_kept_by_a_linear_machine():
    X, y = load_iris(return_X_y=True)
    model = LSSVMClassifier().fit(X, y)
    assert model.decision_function(X.astype(np.float32)).dtype == np.float32
    assert LSSVMClassifier(kernel="rbf").fit(X, y).decision_function(X.astype(np.float32)).dtype == np.float64


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": [1.0, 2.0], "solver": "cg"}, "has no leave-one-out to choose C by"),
        ({"solver": "svd"}, "unknown solver 'svd'"),
        ({"tol": 0}, r"tol must be a number in \(0, 1\)"),
        ({"n_components": 0}, "n_components must be None or a whole number"),
        ({"kernel": "poly", "normalised": True, "n_components": 2}, "take kernel='rbf'"),
        ({"kernel": "rbf", "gamma": "auto scale"}, "gamma must be a number"),
        ({"class_weight": "equal"}, "class_weight must be a dictionary"),
    ],
)
def test_clear_errors(parameters, message):
    with pytest.raises(ValueError, match=message):
        LSSVMClassifier(**parameters).fit(np.eye(4)[:, :2] + 1, [0, 1, 0, 1])
