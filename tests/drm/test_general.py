"""The general model (8): certificate, solvers, estimator, against cvxpy, scikit-learn and in the limits."""

import pickle
import warnings
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from marginbook.drm import DRMClassifier, MixedNormDRMClassifier
from marginbook.drm.claims import section_4_minimum_points as minimum
from marginbook.drm.model.penalties import INF, NORMS, RHOS
from marginbook.drm.solvers.general import GeneralProblem, oracle, solve
from marginbook.kernels import gram

SIZES = (5, 1, 4)
FAST = [(2, 2), (1, 1), (2, 1)]


def _problem(q, r, rho, beta=0.1, alpha=0.3, sizes=SIZES, kernel=("rbf", {"gamma": 0.5}), duplicate=False):
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(sum(sizes), 3)), rng.normal(size=(4, 3))
    if duplicate:
        X[:3] = X[0]
    K, Kx = gram(kernel, X), gram(kernel, X, Z)
    return GeneralProblem(K, sizes, alpha, beta, q, r, rho), Kx


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize(("q", "r"), NORMS)
def test_the_gap_bounds_the_distance_to_the_optimum(q, r, rho):
    """Of the optimum, of points near it, and of random weights; with a singular Q too."""
    for kernel, alpha in (("linear", 0.0), (("rbf", {"gamma": 0.5}), 0.3)):
        problem, Kx = _problem(q, r, rho, alpha=alpha, kernel=kernel, duplicate=True)
        W = oracle(problem, Kx)
        best = problem.objective(W, Kx)
        certificate = problem.certificate(W, Kx)
        assert certificate.relative_gap.max() < 1e-6
        assert certificate.kkt_residual.max() < 1e-6
        np.testing.assert_allclose(certificate.objective, best, atol=1e-10)
        rng = np.random.default_rng(1)
        for noise in (1e-3, 1e-1, 1.0):
            moved = W + noise * rng.normal(size=W.shape)
            away = problem.certificate(moved, Kx)
            assert (away.gap >= problem.objective(moved, Kx) - best - 1e-7).all()
            assert (away.kkt_residual > certificate.kkt_residual).all()


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize(("q", "r"), FAST)
@pytest.mark.parametrize(
    ("beta", "alpha", "sizes"),
    [(1e-3, 0.3, SIZES), (0.1, 0.0, SIZES), (3.0, 1e3, (1, 1, 1)), (0.5, 1.0, (9,))],
)
def test_the_fast_solvers_reach_cvxpys_optimum(q, r, rho, beta, alpha, sizes):
    problem, Kx = _problem(q, r, rho, beta, alpha, sizes, duplicate=True)
    found = solve(problem, Kx, tol=1e-9)
    assert found.certificate.relative_gap.max() <= 1e-9
    best = problem.objective(oracle(problem, Kx), Kx)
    np.testing.assert_allclose(found.certificate.objective, best, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("rho", RHOS)
def test_the_ridge_in_three_forms(rho):
    """(2, 2) by factorisation and by the proximal gradient, one group, is one thing."""
    problem, Kx = _problem(2, 2, rho)
    np.testing.assert_allclose(
        solve(problem, Kx, "exact").weights, solve(problem, Kx, "proximal", tol=1e-13).weights, atol=1e-6
    )


@pytest.mark.parametrize(("q", "r"), FAST)
def test_all_weights_are_zero_from_the_dual_norm_on_and_not_before(q, r):
    problem, Kx = _problem(q, r, "identity")
    critical = problem.critical_beta(Kx)
    for column, value in enumerate(critical):
        for factor, zero in ((1.0 + 1e-9, True), (1e6, True), (1.0 - 1e-4, False)):
            at = GeneralProblem(problem.K, SIZES, 0.3, factor * value, q, r, "identity")
            W = solve(at, Kx[:, [column]], tol=1e-10).weights
            assert (not W.any()) == zero, (factor, np.abs(W).max())


@pytest.mark.parametrize("rho", ["square", "half-square"])
def test_a_squared_norm_never_gives_zero(rho):
    """rho'(0) = 0: no finite beta switches the weights off, as rho = identity does; see drm/prop-IV.3."""
    for q, r in FAST:
        problem, Kx = _problem(q, r, rho, beta=1e8)
        assert (np.abs(solve(problem, Kx).weights).max(axis=0) > 0).all()


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize(("q", "r"), FAST)
def test_a_vanishing_beta_leaves_the_solution_without_penalty(q, r, rho):
    problem, Kx = _problem(q, r, rho, beta=1e-9, alpha=1.0)
    free = np.linalg.solve(problem.Q, Kx)
    np.testing.assert_allclose(solve(problem, Kx, tol=1e-12).weights, free, atol=1e-5)


def test_no_alpha_and_the_one_norm_is_the_lasso():
    rng = np.random.default_rng(2)
    A, x = rng.normal(size=(20, 12)), rng.normal(size=20)
    problem = GeneralProblem(A.T @ A, (5, 7), 0.0, 2.0, 1, 1, "identity")
    w = solve(problem, (A.T @ x)[:, None], tol=1e-12).weights[:, 0]
    lasso = Lasso(2.0 / 20, fit_intercept=False, tol=1e-14, max_iter=10**5).fit(A, x)
    np.testing.assert_allclose(w, lasso.coef_, atol=1e-7)
    assert ((w == 0) == (lasso.coef_ == 0)).all()
    assert 0 < (w == 0).sum() < 12


def test_whole_classes_vanish_one_after_the_other():
    counts = []
    for beta in (0.01, 0.2, 0.5, 0.8, 5.0):
        problem, Kx = _problem(2, 1, "identity", beta, sizes=(6, 1, 5, 3))
        W = solve(problem, Kx, tol=1e-10).weights
        parts = np.split(W, [6, 7, 12])
        alive = np.array([np.abs(part).max(axis=0) > 0 for part in parts])
        for part, on in zip(parts, alive, strict=True):  # all of a class, or nothing of it
            assert ((part != 0).all(axis=0) == on).all()
        counts.append(alive.sum())
    assert counts == sorted(counts, reverse=True)
    assert len(set(counts)) >= 4
    assert counts[-1] == 0


def test_weights_of_one_are_none():
    """With classes of one and two rows, and more."""
    K = gram(("rbf", {"gamma": 0.5}), np.random.default_rng(2).normal(size=(6, 3)))
    for q in (1, 2):
        plain, weighted = (
            GeneralProblem(K, (2, 1, 3), 0.7, 0.1, q, row_weights=w) for w in (None, np.ones(6))
        )
        np.testing.assert_allclose(weighted.Q, plain.Q, rtol=1e-12, atol=1e-14)


def test_a_vector_outside_the_range_of_q_is_not_certified_by_mistake():
    """Q = diag(1, 0), K_x = (0, 1): for beta < 1 the problem has no minimum and the gap says infinity."""
    K, Kx = np.diag([1.0, 0.0]), np.array([[0.0], [1.0]])
    without = GeneralProblem(K, (1, 1), 0.0, 0.5, 1, 1, "identity")
    found = without.certificate(np.zeros((2, 1)), Kx)
    assert found.gap[0] == found.relative_gap[0] == np.inf
    bounded = GeneralProblem(K, (1, 1), 0.0, 1.5, 1, 1, "identity")
    assert bounded.certificate(np.zeros((2, 1)), Kx).relative_gap[0] == 0


@pytest.mark.parametrize("of", ["problem", "solution", "certificate"])
def test_a_certificate_cannot_be_parted_from_its_weights(of):
    problem, Kx = _problem(2, 2, "half-square")
    solution = solve(problem, Kx)
    what = {"problem": problem, "solution": solution, "certificate": solution.certificate}[of]
    for name in what.__dataclass_fields__:
        with pytest.raises(FrozenInstanceError):
            setattr(what, name, None)


def test_an_indefinite_kernel_and_kernel_vectors_of_zero():
    with pytest.raises(ValueError, match=r"negative eigenvalue -1: eq. \(8\) needs a positive semidefinite"):
        solve(GeneralProblem(-np.eye(2), (1, 1), 0.0, 1.0, 1, 1, "identity"), np.ones((2, 1)))
    for q, r in NORMS:
        problem, _ = _problem(q, r, "identity")
        found = solve(problem, np.zeros((10, 2)))
        assert not found.weights.any()
        assert found.certificate.relative_gap.max() == found.certificate.kkt_residual.max() == 0


@parametrize_with_checks(
    [
        MixedNormDRMClassifier(),
        MixedNormDRMClassifier(1.0, 0.3, q=1, r=1, rho="identity"),
        MixedNormDRMClassifier(1.0, 2.0, q=2, r=1, rho="identity"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    shuffle = np.random.default_rng(3).permutation(len(y))[:90]
    return StandardScaler().fit_transform(X)[shuffle], y[shuffle]


@pytest.mark.parametrize("kernel", ["linear", "rbf", ("poly", {"degree": 2, "gamma": 0.1, "coef0": 1.0})])
def test_the_half_square_of_the_two_norm_is_the_drm(wine, kernel):
    X, y = wine
    general = MixedNormDRMClassifier(0.5, 0.2, kernel=kernel).fit(X, y)
    drm = DRMClassifier(0.5, 0.2, kernel).fit(X, y)
    np.testing.assert_allclose(general.dissimilarity(X), drm.dissimilarity(X), rtol=1e-8)
    assert general.solver_ == "exact"
    twice = MixedNormDRMClassifier(0.5, 0.1, rho="square", kernel=kernel).fit(X, y)
    np.testing.assert_allclose(general.decision_function(X), twice.decision_function(X), rtol=1e-8)


def test_a_polynomial_kernel_has_the_constant_1_unless_another_is_given(wine):
    X, y = wine
    for given in ("poly", ("poly", {"gamma": 0.1})):
        found, wanted = (
            MixedNormDRMClassifier(kernel=given, gamma=0.1, **c).fit(X, y) for c in ({}, {"coef0": 1.0})
        )
        np.testing.assert_allclose(found.decision_function(X), wanted.decision_function(X), rtol=1e-8)


@pytest.mark.parametrize(("q", "r"), NORMS)
def test_every_norm_classifies(wine, q, r):
    X, y = wine
    model = MixedNormDRMClassifier(0.1, 0.05, q, r, "identity", gamma=0.05).fit(X[:60], y[:60])
    assert model.score(X[60:], y[60:]) > 0.8
    assert 0 <= model.dual_gap_ <= 1e-6
    assert model.kkt_residual_ <= 1e-5
    assert model.solver_ == ("exact" if (q, r) == (2, 2) else "proximal" if r == 1 and q < 3 else "cvxpy")


def test_proximal_and_cvxpy_decide_alike(wine):
    X, y = wine
    for q in (1, 2):
        fast, slow = (
            MixedNormDRMClassifier(0.1, 0.1, q, 1, "half-square", solver=solver, tol=1e-7).fit(X, y)
            for solver in ("proximal", "cvxpy")
        )
        np.testing.assert_allclose(fast.dissimilarity(X[:8]), slow.dissimilarity(X[:8]), atol=1e-4)


def test_the_solution_comes_in_the_order_of_the_training_rows(wine):
    X, y = wine
    kernel = ("rbf", {"gamma": 0.05})
    model = MixedNormDRMClassifier(0.1, 0.1, 2, 1, "identity", kernel, tol=1e-9).fit(X, y)
    found = model.solution(X[:7])
    order = np.argsort(y, kind="stable")
    K, Kx = gram(kernel, X[order]), gram(kernel, X[order], X[:7])
    problem = GeneralProblem(K, np.bincount(y), 0.1, 0.1, 2, 1, "identity")
    np.testing.assert_allclose(problem.objective(found.weights[order], Kx), found.certificate.objective)
    assert found.certificate.relative_gap.max() <= 1e-9
    own = [
        np.abs(w[y == label]).sum() / np.abs(w).sum() for w, label in zip(found.weights.T, y, strict=False)
    ]
    assert np.mean(own) > 0.6  # the weights of a point are on its own class
    assert (pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)).all()


def test_a_missed_tolerance_warns_with_both_numbers(wine):
    X, y = wine
    with pytest.warns(ConvergenceWarning, match=r"gap \S+e\S+ misses tol=1\.00e-30: raise max_iter"):
        MixedNormDRMClassifier(0.1, 1e-3, 2, 1, "identity", tol=1e-30, max_iter=20).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        MixedNormDRMClassifier(0.1, 1e-3, 2, 1, "identity").fit(X, y).predict(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"q": 3},
            r"unsupported norm \(q, r\) = \(3, 2\); choose from \(2, 2\), \(1, 1\), \(2, 1\), \(inf, 1\)",
        ),
        ({"q": 2, "r": INF}, r"unsupported norm \(q, r\) = \(2, inf\); choose from"),
        ({"rho": "cube"}, "unknown rho 'cube'; choose from identity, square, half-square"),
        ({"rho": ["square"]}, "unknown rho"),
        ({"solver": "newton"}, "unknown solver 'newton'; choose from auto, exact, proximal, cvxpy"),
        ({"solver": "exact", "q": 1, "r": 1}, r"solver 'exact' needs \(q, r\) = \(2, 2\), got \(1, 1\)"),
        ({"solver": "proximal", "q": INF, "r": 1}, r"\(inf, 1\): use solver='cvxpy'"),
        ({"kernel": "sigmoid"}, "unknown kernel 'sigmoid'"),
        ({"beta": 0}, "beta must be a finite number > 0, got 0"),
        ({"alpha": -1}, "alpha must be a finite number >= 0, got -1"),
        ({"tol": None}, "tol must be a number >= 0, got None"),
        ({"max_iter": 0}, "max_iter must be a whole number >= 1, got 0"),
    ],
)
def test_unusable_parameters(parameters, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        MixedNormDRMClassifier(**parameters).fit(X, y)


def test_unusable_data():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="needs at least 2 classes, got one class: 0"):
        MixedNormDRMClassifier().fit(X[:50], y[:50])
    with pytest.raises(ValueError, match=r"square matrix, got shape \(150, 4\)"):
        MixedNormDRMClassifier(kernel="precomputed").fit(X, y)


def test_the_minimum_points_of_the_counterexample():
    """On a fine grid of weights, negative ones too; at the tie both points are found."""
    grid = np.linspace(-1.0, 2.0, 300_001)
    for rho, power, scale in (
        (minimum.SQRT, 0.5, 1.0),
        (minimum.IDENTITY, 1, 1.0),
        (minimum.HALF_SQUARE, 2, 0.5),
    ):
        for beta in (0.01, 0.3, 0.54, 0.55, 1.5):
            values = grid**2 / 2 - grid + beta * scale * np.abs(grid) ** power
            np.testing.assert_allclose(minimum.minimum_points(rho, beta), grid[values.argmin()], atol=2e-5)
    tie = 2 * np.sqrt(2 / 3) / 3
    values = np.polynomial.Polynomial([0, tie, -1, 0, 0.5])(np.sqrt([0, 2 / 3]))
    np.testing.assert_allclose(values, 0, atol=1e-15)


def test_the_check_of_proposition_iv_3_measures(monkeypatch):
    assert minimum.check_increasing_rho().verdict == "corrected"
    with monkeypatch.context() as patch:
        patch.setattr(minimum, "_carried", lambda *_: (1e-2, 0.0, 1))  # a point that is no minimum there
        assert minimum.check_increasing_rho().verdict == "fails"
    monkeypatch.setattr(minimum, "_carried", lambda *_: (0.0, 0.0, 1))
    # t + t^1.5 is convex: no point is missed
    assert minimum.check_increasing_rho(concave=(0.0, 0.0, 1.0, 1.0)).verdict == "holds"


def test_convexity_of_rho_is_not_enough_for_exponents_below_1():
    """One nonzero weight is best with t^2 for some beta, never with t."""
    assert minimum.nonzeros(1) == {0, 2}
    assert minimum.nonzeros(2) == {0, 1, 2}
    assert minimum.check_increasing_rho(least_exponent=0.0).verdict == "fails"


def test_two_optima_are_found_and_the_modulus_is_beta():
    evidence = minimum.check_strong_convexity()
    assert evidence.verdict == "corrected"
    assert "(0.75, 0) and (0, 0.75)" in evidence.measured
    assert minimum.check_strong_convexity(equal=False).verdict == "holds"
    assert minimum.check_strong_convexity(modulus=1.02).verdict == "fails"
