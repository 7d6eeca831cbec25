"""MAMC is the best mean margin of the unit ball, whatever the kernel, and says where there is none."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from marginbook.kernels import KernelOverflow, expansions, gram
from marginbook.ldm.estimators import gram_checks
from marginbook.ldm.peers.mamc import MAMCClassifier, solve_mamc

KERNELS = ["linear", ("poly", {"degree": 2, "gamma": 0.3, "coef0": 1.0}), ("rbf", {"gamma": 0.4})]


def two_clouds(m=60, p=4, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(m) < 0.4, 1.0, -1.0)
    return rng.normal(size=(m, p)) + 0.8 * y[:, None], y


@parametrize_with_checks([MAMCClassifier(), MAMCClassifier("linear"), MAMCClassifier("poly", degree=2)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("p", [3, 100])
def test_it_is_the_optimum_of_cvxpy(p):
    cp = pytest.importorskip("cvxpy")
    X, y = two_clouds(40, p)
    w = cp.Variable(p)
    problem = cp.Problem(cp.Maximize(cp.sum(cp.multiply(y, X @ w)) / len(y)), [cp.norm(w) <= 1])
    problem.solve(solver=cp.CLARABEL)
    model = MAMCClassifier("linear").fit(X, y)
    assert model.objective_ == pytest.approx(problem.value, rel=1e-6)
    np.testing.assert_allclose(model.coef_, w.value, atol=1e-5)
    assert model.optimality_residual_ < 1e-12


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_gram_matrix_and_a_loop_agree_with_every_kernel(kernel):
    X, y = two_clouds()
    G, K = gram(kernel, X), gram(kernel, X[:7] + 0.3, X)
    total = 0.0
    for i in range(len(y)):
        for j in range(len(y)):
            total += y[i] * y[j] * G[i, j]
    model = MAMCClassifier(kernel).fit(X, y)
    given = MAMCClassifier("precomputed").fit(G, y)
    np.testing.assert_allclose(model.decision_function(X[:7] + 0.3), K @ y / np.sqrt(total), rtol=1e-10)
    np.testing.assert_allclose(given.decision_function(K), K @ y / np.sqrt(total), rtol=1e-10)
    margins = y * given.decision_function(G)
    assert margins.mean() == pytest.approx(model.objective_, rel=1e-12)


def test_sparse_rows_give_what_dense_rows_give():
    X, y = two_clouds()
    X[np.abs(X) < 0.7] = 0
    for kernel in ("linear", "rbf"):
        dense = MAMCClassifier(kernel).fit(X, y).decision_function(X)
        rows = sparse.csr_matrix(X)
        np.testing.assert_allclose(
            MAMCClassifier(kernel).fit(rows, y).decision_function(rows), dense, atol=1e-13
        )


def test_many_rows_go_in_batches(monkeypatch):
    X, y = two_clouds()
    whole = MAMCClassifier().fit(X, y).decision_function(X)
    monkeypatch.setattr(expansions, "BATCH", 130)
    np.testing.assert_allclose(MAMCClassifier().fit(X, y).decision_function(X), whole, rtol=1e-12)


def test_equal_sums_of_the_classes_warn_and_decide_nothing():
    X = np.array([[1.0, 2.0], [3.0, -1.0], [1.0, 2.0], [3.0, -1.0]])
    y = np.array(["a", "a", "b", "b"])
    for kernel in ("linear", "rbf"):
        with pytest.warns(UserWarning, match="equal sums"):
            model = MAMCClassifier(kernel).fit(X, y)
        assert model.degenerate_
        assert model.objective_ == 0
        assert (model.decision_function(X) == 0).all()
        assert (model.predict(X) == "a").all()
    with pytest.warns(UserWarning, match="equal sums"):
        assert (MAMCClassifier("linear").fit(np.zeros((4, 2)), y).decision_function(X) == 0).all()


def test_a_much_larger_class_takes_everything_where_features_are_positive():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.uniform(0, 0.5, (10, 3)), rng.uniform(0.5, 1, (90, 3))])
    y = np.repeat([0, 1], [10, 90])
    model = MAMCClassifier("linear").fit(X, y)
    assert (model.predict(X) == 1).all()
    balanced = np.r_[0:10, 10:20]
    assert MAMCClassifier("rbf", gamma=5.0).fit(X[balanced], y[balanced]).score(X, y) > 0.95


def test_exchanged_classes_and_rows_change_only_the_sign():
    X, y = two_clouds()
    order = np.random.default_rng(1).permutation(len(y))
    f = MAMCClassifier().fit(X, y).decision_function(X)
    np.testing.assert_allclose(MAMCClassifier().fit(X[order], -y[order]).decision_function(X), -f, atol=1e-13)


def test_one_example_in_a_class_duplicates_and_constant_features():
    X, y = two_clouds()
    y[:] = -1
    y[3] = 1
    model = MAMCClassifier("linear").fit(X, y)
    assert np.linalg.norm(model.coef_) == pytest.approx(1)
    twice = MAMCClassifier("linear").fit(np.vstack([X, X]), np.r_[y, y])
    np.testing.assert_allclose(twice.coef_, model.coef_, rtol=1e-12)
    assert twice.objective_ == pytest.approx(model.objective_)
    constant = MAMCClassifier("linear").fit(np.c_[X, np.full(len(y), 2.0)], y)
    assert constant.coef_[-1] / constant.coef_[0] == pytest.approx(2 * y.sum() / (X[:, 0] @ y))


def test_settings_by_name_by_pair_and_by_call_agree():
    X, y = two_clouds()
    named = MAMCClassifier("poly", gamma=0.3, degree=2, coef0=1.0).fit(X, y).decision_function(X)
    pair = MAMCClassifier(KERNELS[1]).fit(X, y).decision_function(X)
    called = MAMCClassifier(lambda a, b: (0.3 * a @ b + 1) ** 2).fit(X, y).decision_function(X)
    np.testing.assert_allclose(pair, named, rtol=1e-12)
    np.testing.assert_allclose(called, named, rtol=1e-9)


def test_a_second_fit_forgets_the_first():
    X, y = two_clouds()
    model = MAMCClassifier("linear").fit(X, y).set_params(kernel="rbf").fit(X, y)
    assert not hasattr(model, "coef_")
    fresh = MAMCClassifier("rbf").fit(X, y)
    assert (model.decision_function(X) == fresh.decision_function(X)).all()


def test_errors_say_what_to_do():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(
        ValueError, match=r"wrap MAMCClassifier in OneVsRestClassifier .* of sklearn\.multiclass"
    ):
        MAMCClassifier().fit(X, y)
    with pytest.raises(ValueError, match="needs 2 classes, got one class: 0"):
        MAMCClassifier().fit(X[:50], y[:50])
    with pytest.raises(ValueError, match="unknown kernel 'wave'"):
        MAMCClassifier("wave").fit(X[:100], y[:100])
    with pytest.raises(ValueError, match=r"needs a square matrix, got shape \(100, 4\)"):
        MAMCClassifier("precomputed").fit(X[:100], y[:100])
    with pytest.raises(ValueError, match="toarray"):
        MAMCClassifier("precomputed").fit(sparse.eye(4, format="csr"), [0, 0, 1, 1])
    with pytest.raises(ValueError, match="not positive semidefinite"):
        MAMCClassifier("precomputed").fit(-np.eye(4), [0, 0, 1, 1])
    with pytest.raises(NotFittedError):
        MAMCClassifier().predict(X)
    assert OneVsRestClassifier(MAMCClassifier()).fit(X, y).score(X, y) > 0.6


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_no_other_direction_has_a_larger_mean_margin(kernel):
    X, y = load_breast_cancer(return_X_y=True)  # features of very different sizes
    X, y = X[:200], 2.0 * y[:200] - 1
    G = gram(kernel, X)
    model = MAMCClassifier(kernel).fit(X, y)
    assert model.optimality_residual_ < 1e-12
    rng = np.random.default_rng(0)
    for step in (1.0, 0.1, 1e-3):
        c = model.dual_coef_ + step * np.abs(model.dual_coef_).max() * rng.normal(size=len(y))
        assert y @ G @ c / len(y) / np.sqrt(c @ G @ c) < model.objective_


def test_the_function_takes_sums_and_tells_what_they_lack():
    X, y = two_clouds()
    G = gram("rbf", X)
    found = solve_mamc(G @ y, y, 1.0)
    assert found.coefficients @ G @ found.coefficients == pytest.approx(1)
    assert y @ G @ found.coefficients / len(y) == pytest.approx(found.objective)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        solve_mamc(-(G @ y), y, 1.0)
    assert solve_mamc(np.zeros(len(y)), y, 1.0).degenerate


@pytest.mark.parametrize("few", [0, 2000])
def test_an_indefinite_matrix_is_refused_though_the_mean_is_not_negative(monkeypatch, few):
    monkeypatch.setattr(gram_checks, "FEW", few)
    X, y = two_clouds()
    G = gram("rbf", X)
    MAMCClassifier("precomputed").fit(G, y)
    away = G[0] - y * (y @ G[0]) / len(y)
    bad = G - np.outer(away, away)
    assert y @ bad @ y == pytest.approx(y @ G @ y)  # it looks fine from y
    with pytest.raises(ValueError, match="not positive semidefinite: its Gram matrix has the eigenvalue -"):
        MAMCClassifier("precomputed").fit(bad, y)
    with pytest.raises(ValueError, match="not symmetric: entry"):
        MAMCClassifier("precomputed").fit(np.triu(G), y)


@pytest.mark.parametrize("scale", [1e153, 1e154, 1e160, 1e300])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_features_whose_squares_overflow_are_refused_in_one_line(scale, weighted, make, recwarn):
    X = np.random.default_rng(0).normal(size=(300, 300)) * scale
    y = np.arange(300) % 2
    weights = np.full(300, 2.0) if weighted else None
    with pytest.raises(KernelOverflow, match="scale the features"):
        MAMCClassifier(kernel="linear").fit(make(X), y, sample_weight=weights)
    assert not recwarn.list


def test_large_features_keep_their_direction():
    X, y = two_clouds()
    few = MAMCClassifier(kernel="linear").fit(X, y)
    many = MAMCClassifier(kernel="linear").fit(X * 2.0**460, y)
    np.testing.assert_allclose(many.coef_, few.coef_, rtol=1e-12)
    np.testing.assert_array_equal(many.predict(X * 2.0**460), few.predict(X))
