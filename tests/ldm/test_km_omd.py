"""KM-OMD against cvxpy and the SVM, at its two limits, and on degenerate data."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from marginbook.kernels import gram
from marginbook.ldm.peers import km_omd_solver, km_omd_systems
from marginbook.ldm.peers.km_omd import KMOMDClassifier
from marginbook.ldm.peers.km_omd_solver import solve_km_omd


def two_clouds(m=60, p=4, shift=0.6, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(m) < 0.4 * m, 1.0, -1.0)
    return rng.normal(size=(m, p)) + shift * y[:, None], y


def objective(G, y, gamma, lam):
    signed = y * gamma
    return signed @ G @ signed + lam * gamma @ gamma


@parametrize_with_checks([KMOMDClassifier(), KMOMDClassifier(C=100.0, kernel="linear")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kernel", ["linear", ("rbf", {"gamma": 0.3})])
@pytest.mark.parametrize("lam", [1.0, 0.01, 1e-5])
@pytest.mark.parametrize(("m", "p"), [(50, 3), (30, 80)])
def test_the_optimum_of_cvxpy(kernel, lam, m, p):
    cp = pytest.importorskip("cvxpy")
    X, y = two_clouds(m, p)
    G = gram(kernel, X)
    root = np.linalg.cholesky(G + 1e-10 * np.eye(m))
    gamma = cp.Variable(m)
    cost = cp.sum_squares(root.T @ cp.multiply(y, gamma)) + lam * cp.sum_squares(gamma)
    simplices = [gamma >= 0, cp.sum(gamma[y > 0]) == 1, cp.sum(gamma[y < 0]) == 1]
    problem = cp.Problem(cp.Minimize(cost), simplices)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    found = solve_km_omd(G, y, lam)
    assert found.converged
    assert found.objective == pytest.approx(problem.value, rel=1e-5, abs=1e-8)
    assert found.objective - found.dual_gap <= problem.value + 1e-8
    np.testing.assert_allclose(found.gamma, gamma.value, atol=2e-3)


@settings(max_examples=60)
@given(
    m=st.integers(2, 40),
    p=st.integers(1, 8),
    log_lam=st.floats(-8, 3),
    grid=st.sampled_from([0, 1, 2]),
    seed=st.integers(0, 10**6),
)
def test_feasible_certified_and_not_beaten_by_any_other_weights(m, p, log_lam, grid, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, p)).round(grid)  # rounded: many equal rows
    y = np.where(rng.random(m) < 0.5, 1.0, -1.0)
    y[0], y[1] = 1.0, -1.0
    G, lam = X @ X.T, 10.0**log_lam
    found = solve_km_omd(G, y, lam)
    assert found.converged
    assert found.gamma.min() >= 0
    assert found.gamma[y > 0].sum() == pytest.approx(1)
    assert found.gamma[y < 0].sum() == pytest.approx(1)
    assert found.objective == pytest.approx(objective(G, y, found.gamma, lam))
    for _ in range(5):
        other = rng.random(m) ** 4
        for side in (y > 0, y < 0):
            other[side] /= other[side].sum()
        for share in (1.0, 0.1, 0.001):
            mixed = found.gamma + share * (other - found.gamma)
            assert objective(G, y, mixed, lam) >= found.objective - found.dual_gap - 1e-10 * abs(G).max()


def test_a_large_charge_gives_the_class_means():
    X, y = two_clouds()
    model = KMOMDClassifier(C=1e-9, kernel="linear").fit(X, y)
    means = X[y > 0].mean(axis=0), X[y < 0].mean(axis=0)
    np.testing.assert_allclose(model.coef_, means[0] - means[1], atol=1e-6)
    assert model.intercept_ == pytest.approx(-(means[0] - means[1]) @ (means[0] + means[1]) / 2, abs=1e-6)


@pytest.mark.parametrize("p", [3, 60])
def test_no_charge_gives_the_hard_margin_svm(p):
    X, y = two_clouds(50, p, shift=2.5)
    svm = SVC(kernel="linear", C=1e9, tol=1e-10).fit(X, y)
    model = KMOMDClassifier(C=np.inf, kernel="linear").fit(X, y)
    # the distance of the hulls is 2 / |w|, and the plane is midway between the nearest points
    assert np.sqrt(model.objective_) == pytest.approx(2 / np.linalg.norm(svm.coef_), rel=1e-6)
    scale = 2 / np.linalg.norm(svm.coef_) ** 2
    np.testing.assert_allclose(model.coef_, scale * svm.coef_[0], rtol=1e-4, atol=1e-6)
    assert model.intercept_ == pytest.approx(scale * svm.intercept_[0], rel=1e-4, abs=1e-5)


def test_hulls_that_overlap_have_distance_zero_without_a_charge():
    X, y = two_clouds(60, 2, shift=0.1)
    found = solve_km_omd(X @ X.T, y, 0.0)
    assert found.converged
    assert abs(found.objective) < 1e-9


def test_an_objective_of_zero_is_not_negative_by_rounding():
    for seed in range(6):
        X, y = np.random.default_rng(seed).normal(size=(12, 2)), np.where(np.arange(12) % 2, 1.0, -1.0)
        assert solve_km_omd(X @ X.T, y, 0.0).objective >= 0


def test_in_between_it_is_the_svm_with_squared_hinge_up_to_the_threshold():
    X, y = two_clouds()
    G = gram(("rbf", {"gamma": 0.5}), X)
    lam = 0.05
    found = solve_km_omd(G, y, lam, tol=1e-10)
    svm = SVC(kernel="precomputed", C=1e12, tol=1e-12).fit(G + lam * np.eye(len(y)), y)
    dual = np.zeros(len(y))
    dual[svm.support_] = np.abs(svm.dual_coef_[0])
    np.testing.assert_allclose(found.gamma, dual / dual[y > 0].sum(), atol=1e-7)


def test_the_threshold_is_midway_between_the_weighted_means():
    X, y = two_clouds()
    model = KMOMDClassifier(C=10, kernel="linear").fit(X, y)
    gamma = np.abs(model.dual_coef_)
    above, below = X[y > 0].T @ gamma[y > 0], X[y < 0].T @ gamma[y < 0]
    f = model.decision_function(np.vstack([above, below]))
    assert f[0] == pytest.approx(-f[1])
    assert f[0] > 0


def test_single_exchanges_reach_the_same_optimum(monkeypatch):
    """Where exchanging many indices is given up at once, the feasible descent does all the work."""
    X, y = two_clouds(80, 30, shift=0.2)
    for G, lam in ((X @ X.T, 0.01), (gram(("rbf", {"gamma": 0.01}), X), 1e-4), (X @ X.T, 0.0)):
        many = solve_km_omd(G, y, lam)
        with monkeypatch.context() as patch:
            patch.setattr(km_omd_solver, "_exchange", descend_only)
            single = solve_km_omd(G, y, lam)
        assert single.converged
        assert single.objective == pytest.approx(many.objective, rel=1e-6, abs=1e-9)
        assert single.n_iter > many.n_iter


def descend_only(problem, free, tol, max_iter):
    return km_omd_solver._descend(problem, problem.feasible(free.astype(float)), tol, max_iter)


def test_a_start_changes_the_work_and_not_the_answer():
    X, y = two_clouds(150, 10, shift=0.4)
    G = gram(("rbf", {"gamma": 0.05}), X)
    cold = solve_km_omd(G, y, 0.01)
    warm = solve_km_omd(G, y, 0.01, start=solve_km_omd(G, y, 0.02).gamma)
    np.testing.assert_allclose(warm.gamma, cold.gamma, atol=1e-12)
    assert warm.n_iter < cold.n_iter
    useless = np.where(y > 0, 1.0, 0.0)  # nothing free in one class: not used
    np.testing.assert_allclose(solve_km_omd(G, y, 0.01, start=useless).gamma, cold.gamma, atol=1e-12)


def test_exchanged_classes_and_rows_change_only_the_sign():
    X, y = two_clouds()
    order = np.random.default_rng(1).permutation(len(y))
    f = KMOMDClassifier(C=10).fit(X, y).decision_function(X)
    np.testing.assert_allclose(
        KMOMDClassifier(C=10).fit(X[order], -y[order]).decision_function(X), -f, atol=1e-12
    )


def test_degenerate_data():
    X, y = two_clouds()
    y[:] = -1
    y[3] = 1
    model = KMOMDClassifier(C=10).fit(X, y)
    assert np.abs(model.dual_coef_[3]) == pytest.approx(1)
    # equal rows share their weight; a constant feature moves no weight because the signed sum is 0
    twice = solve_km_omd(gram("linear", np.vstack([X, X])), np.r_[y, y], 0.1)
    np.testing.assert_allclose(twice.gamma[: len(y)], twice.gamma[len(y) :], atol=1e-12)
    plain = KMOMDClassifier(C=10, kernel="linear").fit(X, y)
    constant = KMOMDClassifier(C=10, kernel="linear").fit(np.c_[X, np.full(len(y), 7.0)], y)
    np.testing.assert_allclose(constant.dual_coef_, plain.dual_coef_, atol=1e-9)
    np.testing.assert_allclose(
        constant.decision_function(np.c_[X, np.full(len(y), 7.0)]), plain.decision_function(X), atol=1e-8
    )
    nothing = KMOMDClassifier(kernel="linear").fit(np.zeros((6, 2)), [0, 0, 1, 1, 1, 1])
    np.testing.assert_allclose(nothing.dual_coef_, [-0.5, -0.5, 0.25, 0.25, 0.25, 0.25])
    assert (nothing.decision_function(np.ones((2, 2))) == 0).all()
    assert KMOMDClassifier().fit(X[2:4], y[2:4]).score(X[2:4], y[2:4]) == 1


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_units_of_the_kernel_do_not_matter(scale):
    X, y = two_clouds()
    G = X @ X.T
    plain = solve_km_omd(G, y, 0.01)
    scaled = solve_km_omd(scale * G, y, 0.01 * scale)
    np.testing.assert_allclose(scaled.gamma, plain.gamma, atol=1e-8)
    assert scaled.converged


def test_sparse_rows_and_the_gram_matrix_give_what_dense_rows_give():
    X, y = two_clouds()
    X[np.abs(X) < 0.7] = 0
    for kernel in ("linear", "rbf"):
        model = KMOMDClassifier(C=5, kernel=kernel, gamma="auto").fit(X, y)
        rows = sparse.csr_matrix(X)
        other = KMOMDClassifier(C=5, kernel=kernel, gamma="auto").fit(rows, y)
        np.testing.assert_allclose(other.decision_function(rows), model.decision_function(X), atol=1e-10)
        G = gram(kernel, X)
        given_gram = KMOMDClassifier(C=5, kernel="precomputed").fit(G, y)
        np.testing.assert_allclose(given_gram.decision_function(G), model.decision_function(X), atol=1e-10)


def test_too_few_steps_warn_with_the_certificate():
    X, y = two_clouds(100, 3)
    with pytest.warns(ConvergenceWarning, match=r"stopped at a gap of .* raise max_iter, 2"):
        model = KMOMDClassifier(C=1e4, kernel="linear", max_iter=2).fit(X, y)
    best = KMOMDClassifier(C=1e4, kernel="linear").fit(X, y)
    assert best.objective_ < model.objective_ <= best.objective_ + model.dual_gap_
    assert best.dual_gap_ <= 1e-6 * best.objective_


def test_errors_say_what_to_do():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(
        ValueError, match=r"wrap KMOMDClassifier in OneVsRestClassifier .* of sklearn\.multiclass"
    ):
        KMOMDClassifier().fit(X, y)
    with pytest.raises(ValueError, match=r"C must be a number > 0 .*, got 0"):
        KMOMDClassifier(C=0).fit(X[:100], y[:100])
    with pytest.raises(ValueError, match=r"C must be a number > 0 with a finite inverse .*, got 1e-320"):
        KMOMDClassifier(C=1e-320).fit(X[:100], y[:100])
    with pytest.raises(ValueError, match="lam must be a finite number >= 0, got -1"):
        solve_km_omd(np.eye(2), np.array([1.0, -1.0]), -1)
    with pytest.raises(ValueError, match="y must hold -1 and 1"):
        solve_km_omd(np.eye(2), np.array([0.0, 1.0]), 1.0)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        solve_km_omd(np.diag([1.0, -5.0]), np.array([1.0, -1.0]), 0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert OneVsRestClassifier(KMOMDClassifier(C=10)).fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize("lam", [1.0, 0.01])
def test_iterated_systems_give_the_factorised_weights(monkeypatch, lam):
    X, y = two_clouds(300, 5)
    G = gram(("rbf", {"gamma": 0.2}), X)
    exact = solve_km_omd(G, y, lam)
    monkeypatch.setattr(km_omd_systems, "DIRECT", 50)
    monkeypatch.setattr(km_omd_systems, "KNOWN", 20)
    found = solve_km_omd(G, y, lam)
    assert found.converged
    assert found.objective == pytest.approx(exact.objective, rel=1e-6)
    np.testing.assert_allclose(found.gamma, exact.gamma, atol=1e-4 * exact.gamma.max())
    with pytest.raises(ValueError, match="not positive semidefinite"):
        solve_km_omd(G - 2.0 * np.eye(300), y, 0.5)


def test_all_rows_as_landmarks_are_exact_and_few_are_near():
    X, y = two_clouds(200, 3)
    exact = KMOMDClassifier(C=5.0).fit(X, y)
    whole = KMOMDClassifier(C=5.0, n_components=200).fit(X, y)
    few = KMOMDClassifier(C=5.0, n_components=60).fit(X, y)
    np.testing.assert_allclose(whole.decision_function(X), exact.decision_function(X), atol=1e-6)
    assert (few.predict(X) == exact.predict(X)).mean() > 0.97
    assert few.dual_gap_ <= 1e-6 * few.objective_
    assert len(few._train) == 60
    with pytest.raises(ValueError, match="n_components"):
        KMOMDClassifier(n_components=0).fit(X, y)


def test_a_weight_counts_rows():
    X, y = two_clouds(50, 3)
    counts = np.random.default_rng(1).integers(0, 4, 50)
    counts[:2] = counts[-2:] = 1
    often = np.repeat(np.arange(50), counts)
    for options in ({"C": 2.0}, {"C": 50.0, "kernel": "linear"}):
        weighted = KMOMDClassifier(**options, tol=1e-10).fit(X, y, counts)
        repeated = KMOMDClassifier(**options, tol=1e-10).fit(X[often], y[often])
        np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-8)
