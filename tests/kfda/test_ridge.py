"""Both routes to the ridge discriminant are Mika's maximiser, and leaving one out is what a loop finds."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg, sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from marginbook.kernels import gram
from marginbook.kfda.model.objective import midpoint, targets
from marginbook.kfda.peers import ridge_classes, ridge_several
from marginbook.kfda.peers import ridge_path as module
from marginbook.kfda.peers.ridge import KFDAClassifier
from marginbook.kfda.peers.ridge_leave_one_out import leave_one_out
from marginbook.kfda.peers.ridge_path import (
    KernelSpectrum,
    SingularScatterError,
    fisher_discriminant,
    ridge_path,
    within_scatter,
)

RBF = ("rbf", {"gamma": 0.4})


def two_clouds(n=40, p=3, seed=0, share=0.3, shift=0.8):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < share
    positive[:2] = True, False
    return rng.normal(size=(n, p)) + shift * positive[:, None], positive


def problem(n=40, seed=0, **others):
    X, positive = two_clouds(n, seed=seed, **others)
    return gram(RBF, X), targets(positive), positive


def angle(u, v):
    """Return the angle of two vectors; the arc cosine would lose half the digits."""
    u, v = u / np.linalg.norm(u), v / np.linalg.norm(v)
    return 2 * np.arcsin(min(1.0, np.linalg.norm(u - v) / 2))


def _unweighable(estimator):
    """The midpoint of the class means does not go by the weights of classes."""
    return {"check_class_weight_classifiers": "by design"} if estimator.threshold == "means" else {}


@parametrize_with_checks(
    [
        KFDAClassifier(),
        KFDAClassifier(route="fisher"),
        KFDAClassifier(reg=0.1, kernel="linear", threshold="means"),
        KFDAClassifier(kernel="poly", degree=2),
    ],
    expected_failed_checks=_unweighable,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_scatter_is_the_loop_over_samples():
    K, yhat, positive = problem(15)
    naive = np.zeros_like(K)
    for members in (positive, ~positive):
        mean = np.mean([K[:, i] for i in np.flatnonzero(members)], axis=0)
        for i in np.flatnonzero(members):
            naive += np.outer(K[:, i] - mean, K[:, i] - mean)
    np.testing.assert_allclose(within_scatter(K, yhat), naive, atol=1e-12)


@pytest.mark.parametrize("mu", [1e-6, 1e-2, 1.0, 1e4])
@pytest.mark.parametrize("n", [7, 40])
def test_both_routes_are_the_largest_generalised_eigenvector(mu, n):
    K, yhat, positive = problem(n)
    difference = K[:, positive].mean(axis=1) - K[:, ~positive].mean(axis=1)
    scatter = within_scatter(K, yhat) + mu * np.eye(n)
    quotient, vectors = linalg.eigh(np.outer(difference, difference), scatter)
    # both eigh and Cholesky solve with the scatter, and lose as many digits as its condition has
    lost = n * np.finfo(float).eps * (64 + np.linalg.cond(scatter))
    [found] = ridge_path(K, yhat, [mu])
    fisher = fisher_discriminant(K, yhat, mu)
    best = vectors[:, -1] * np.sign(vectors[:, -1] @ found.coef)
    for route in (found, fisher):
        value = (route.coef @ difference) ** 2 / (route.coef @ scatter @ route.coef)
        assert value == pytest.approx(quotient[-1], rel=lost)
        assert route.residual < 1e-10
    assert angle(found.coef, best) < lost
    assert angle(found.coef, fisher.coef) < lost
    apart = lost * np.abs(found.coef).max()
    np.testing.assert_allclose(found.coef, fisher.coef, atol=apart)
    # the bias is minus the mean of K coef, in the unit of the targets
    allowed = lost * np.abs(yhat).max() + apart * np.abs(K).sum(axis=1).max()
    assert found.bias == pytest.approx(fisher.bias, abs=allowed)


@pytest.mark.parametrize("mu", [0.0, 1e-4, 1.0, 1e3])
def test_path_is_least_squares_with_the_ridge_as_extra_rows(mu):
    K, yhat, _ = problem(20, p=6)
    n = len(yhat)
    rows = np.vstack([np.c_[np.ones(n), K], np.c_[np.zeros(n), np.sqrt(mu) * np.eye(n)]])
    expected = linalg.lstsq(rows, np.r_[yhat, np.zeros(n)])[0]
    if mu == 0:  # lstsq counts the bias in the length: compare where the length is of the coefficients alone
        C = np.eye(n) - 1 / n
        expected[1:] = linalg.pinv(C @ K) @ yhat
        expected[0] = -(K @ expected[1:]).mean()
    [found] = ridge_path(K, yhat, [mu])
    np.testing.assert_allclose(np.r_[found.bias, found.coef], expected, rtol=1e-6, atol=1e-8)


def test_no_ridge_is_the_limit_of_little():
    rng = np.random.default_rng(1)
    for n, p in ((12, 30), (30, 4)):  # K regular, so the fit is exact; K of rank 4, so it is not
        X, positive = rng.normal(size=(n, p)), np.arange(n) < n // 3
        K, yhat = X @ X.T, targets(positive)
        none, little = ridge_path(K, yhat, [0.0, 1e-7])
        np.testing.assert_allclose(none.coef, little.coef, atol=1e-7)
        assert none.bias == pytest.approx(little.bias, abs=1e-7)
        assert (np.abs(none.fitted - yhat).max() < 1e-9) == (p == 30)
    identity = KernelSpectrum.of(np.ones((5, 5)), targets(np.arange(5) < 2)).solve(0.0)
    assert np.abs(identity.coef).max() < 1e-12


def test_scale_of_the_kernel():
    K, yhat, _ = problem()
    for scale in (1e-180, 1e-90, 1e90):
        for mu in (0.0, 1e-3, 10.0):
            [expected] = ridge_path(K, yhat, [mu])
            [found] = ridge_path(scale * K, yhat, [max(mu * scale**2, 0.0)])
            if mu * scale**2 > 0 or mu == 0:
                np.testing.assert_allclose(found.coef * scale, expected.coef, rtol=1e-3, atol=1e-9)
    with pytest.raises(ValueError, match="squares overflow; scale the features"):
        KFDAClassifier(kernel="precomputed").fit(1e101 * K, yhat > 0)


def test_one_decomposition_serves_all(monkeypatch):
    K, yhat, _ = problem()
    calls = []
    monkeypatch.setattr(
        module.linalg, "eigh", lambda *a, _eigh=linalg.eigh, **k: calls.append(1) or _eigh(*a, **k)
    )
    path = ridge_path(K, yhat, np.logspace(-6, 3, 20))
    assert len(calls) == 1
    assert [found.mu for found in path] == np.logspace(-6, 3, 20).tolist()
    lengths = [np.linalg.norm(found.coef) for found in path]
    assert (np.diff(lengths) < 0).all()


@pytest.mark.parametrize("threshold", ["midpoint", "means"])
@pytest.mark.parametrize(("n", "reg"), [(12, 1e-3), (25, 0.5), (25, 100.0), (3, 1.0)])
def test_leaving_one_out_is_refitting_without_it(threshold, n, reg):
    X, positive = two_clouds(n)
    model = KFDAClassifier(reg=reg, kernel=RBF, threshold=threshold).fit(X, positive)
    for i in range(n):
        others = np.arange(n) != i
        if len(np.unique(positive[others])) < 2:
            assert np.isnan(model.loo_decision_[i])
            continue
        again = KFDAClassifier(reg=reg, kernel=RBF, threshold=threshold).fit(X[others], positive[others])
        assert model.loo_decision_[i] == pytest.approx(again.decision_function(X[[i]])[0], abs=1e-8)


@settings(max_examples=25)
@given(st.integers(4, 25), st.integers(0, 10**6), st.floats(1e-6, 1e4))
def test_leaving_one_out_whatever_the_problem(n, seed, mu):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, rng.integers(1, n + 3)))
    signs = np.where(rng.random(root.shape[1]) < 0.7, 1.0, -1.0)  # the kernel may be indefinite
    K = (root * signs) @ root.T
    K = (K + K.T) / 2
    positive = rng.random(n) < 0.5
    positive[:2] = True, False
    i = int(rng.integers(n))
    others = np.arange(n) != i
    decisions = leave_one_out(KernelSpectrum.of(K, targets(positive)), mu)
    if len(np.unique(positive[others])) < 2:
        assert np.isnan(decisions[i])
        return
    yhat = targets(positive[others])
    [found] = ridge_path(K[np.ix_(others, others)], yhat, [mu])
    middle, half = (yhat.max() + yhat.min()) / 2, (yhat.max() - yhat.min()) / 2
    expected = (found.bias + K[i, others] @ found.coef - middle) / half
    assert decisions[i] == pytest.approx(expected, abs=1e-6 * max(1, abs(expected)))


def test_thresholds():
    X, positive = two_clouds(60)
    K, yhat = gram(RBF, X), targets(positive)
    middle = midpoint(positive.sum(), (~positive).sum())
    target = KFDAClassifier(reg=2.0, kernel=RBF).fit(X, positive)
    means = KFDAClassifier(reg=2.0, kernel=RBF, threshold="means").fit(X, positive)
    assert target.threshold_ == pytest.approx(middle)
    f = target.intercept_ + K @ target.dual_coef_
    # the class means of the fit are the targets times yhat'f / yhat'yhat
    assert means.threshold_ == pytest.approx(middle * (yhat @ f) / (yhat @ yhat))
    assert abs(means.threshold_ - middle) > 0.1
    half = (yhat.max() - yhat.min()) / 2
    np.testing.assert_allclose(means.decision_function(X), (f - means.threshold_) / half, atol=1e-12)
    balanced = np.arange(60) % 2 == 0
    one, other = (
        KFDAClassifier(reg=2.0, threshold=name).fit(X, balanced).decision_function(X)
        for name in ("midpoint", "means")
    )
    np.testing.assert_allclose(one, other, atol=1e-12)


def test_linear_kernel_with_little_ridge_is_linear_discriminant_analysis():
    X, positive = two_clouds(50, 4)
    model = KFDAClassifier(reg=1e-7, kernel="linear", threshold="means").fit(X, positive)
    lda = LinearDiscriminantAnalysis(solver="lsqr").fit(X, positive)
    assert angle(X.T @ model.dual_coef_, lda.coef_[0]) < 1e-6
    projected = X @ lda.coef_[0]
    middle = (projected[positive].mean() + projected[~positive].mean()) / 2
    assert (model.predict(X) == (projected > middle)).all()


def test_much_ridge_is_the_difference_of_the_means():
    K, yhat, positive = problem()
    [found] = ridge_path(K, yhat, [1e12])
    assert angle(found.coef, K[:, positive].mean(1) - K[:, ~positive].mean(1)) < 1e-8


def test_kernel_ridge_regression_charges_something_else():
    K, yhat, _ = problem()
    C = np.eye(len(yhat)) - 1 / len(yhat)
    other = KernelRidge(alpha=1.0, kernel="precomputed").fit(C @ K @ C, yhat).dual_coef_
    [found] = ridge_path(K, yhat, [1.0])
    assert angle(found.coef, other) > 0.1  # it charges alpha'K alpha


def test_duplicates_constant_features_and_a_class_of_one():
    X, positive = two_clouds()
    positive[:] = False
    positive[3] = True
    for route in ("least-squares", "fisher"):
        model = KFDAClassifier(reg=1e-3, kernel=RBF, route=route).fit(X, positive)
        assert (model.predict(X) == positive).all()
        assert model.class_count_.tolist() == [39, 1]
        twice = KFDAClassifier(reg=2e-3, kernel=RBF, route=route).fit(np.r_[X, X], np.r_[positive, positive])
        # with each row twice alpha is shared in halves: 2 |alpha/2|^2 against twice the fit
        once = KFDAClassifier(reg=5e-4, kernel=RBF, route=route).fit(X, positive)
        np.testing.assert_allclose(twice.decision_function(X), once.decision_function(X), atol=1e-7)
        flat = KFDAClassifier(reg=1e-3, kernel=RBF, route=route).fit(np.c_[X, np.full(40, 3.0)], positive)
        np.testing.assert_allclose(flat.dual_coef_, model.dual_coef_, rtol=1e-6)
        nothing = KFDAClassifier(route=route).fit(np.zeros((5, 2)), [0, 0, 0, 1, 1])
        assert np.abs(nothing.decision_function(np.zeros((1, 2))) + 0.2).max() < 1e-12


def test_sparse_precomputed_and_callable_agree_with_dense():
    X, positive = two_clouds()
    X[np.abs(X) < 0.5] = 0
    expected = KFDAClassifier(kernel=RBF).fit(X, positive).decision_function(X)
    rows = sparse.csr_matrix(X)
    np.testing.assert_allclose(
        KFDAClassifier(kernel=RBF).fit(rows, positive).decision_function(rows), expected, atol=1e-12
    )
    K = gram(RBF, X)
    given_matrix = KFDAClassifier(kernel="precomputed").fit(K, positive).decision_function(K)
    np.testing.assert_allclose(given_matrix, expected, atol=1e-12)
    called = KFDAClassifier(kernel=lambda u, v: np.exp(-0.4 * ((u - v) ** 2).sum())).fit(X, positive)
    np.testing.assert_allclose(called.decision_function(X), expected, atol=1e-10)


def three_clouds(n=60):
    rng = np.random.default_rng(0)
    labels = np.array(["c", "a", "b"])[rng.integers(0, 3, n)]
    return rng.normal(size=(n, 4)) + 2 * (labels[:, None] == ["a", "b", "c", "d"]), labels


WAYS = [
    {},
    {"route": "fisher", "threshold": "means"},
    {"route": "cg"},
    {"route": "least-squares"},
    {"reg": 1e-9},  # "auto" falls back on the eigendecomposition
    {"reg": 0.0, "route": "least-squares"},
    {"kernel": "linear", "threshold": "means"},
    {"kernel": "linear", "route": "fisher"},
    {"n_components": 30, "random_state": 0},
]


@pytest.mark.parametrize("given", WAYS)
def test_several_classes_are_each_against_the_rest(given):
    """The wrapper fits every class from the start; natively they share a factor, and nothing else changes."""
    X, labels = three_clouds()
    native = KFDAClassifier(**{"reg": 0.1} | given).fit(X, labels)
    wrapped = OneVsRestClassifier(KFDAClassifier(**{"reg": 0.1} | given)).fit(X, labels)
    machines = wrapped.estimators_
    assert native.classes_.tolist() == ["a", "b", "c"]
    assert native.dual_coef_.shape == (60, 3)
    np.testing.assert_allclose(
        native.decision_function(X), wrapped.decision_function(X), atol=1e-5 if native.reg == 1e-9 else 1e-9
    )
    np.testing.assert_array_equal(native.predict(X), wrapped.predict(X))
    np.testing.assert_allclose(native.threshold_, [one.threshold_ for one in machines], atol=1e-9)
    assert native.residual_ <= max(1e-11, 100 * max(one.residual_ for one in machines))
    np.testing.assert_array_equal(native.class_count_, [np.sum(labels == c) for c in "abc"])
    if hasattr(native, "loo_decision_") and native.reg > 1e-9:
        expected = np.column_stack([one.loo_decision_ for one in machines])
        np.testing.assert_allclose(native.loo_decision_, expected, atol=1e-9)
    assert hasattr(native, "loo_decision_") == (
        given in [WAYS[3], WAYS[4], WAYS[6]]  # an eigendecomposition, with a ridge
    )
    assert hasattr(native, "gap_") == (given == {"route": "cg"})


@pytest.mark.parametrize("given", [way for way in WAYS if "n_components" not in way])
def test_weights_of_several_classes_are_repeated_rows(given):
    X, labels = three_clouds()
    times = np.random.default_rng(1).integers(0, 3, len(X))
    model = KFDAClassifier(**{"reg": 0.1} | given)
    weighed = model.fit(X, labels, times).decision_function(X)
    repeated = model.fit(np.repeat(X, times, axis=0), np.repeat(labels, times)).decision_function(X)
    np.testing.assert_allclose(weighed, repeated, atol=1e-5 if model.reg == 1e-9 else 1e-9)


@pytest.mark.parametrize("route", ["auto", "cg", "least-squares"])
def test_weights_of_several_classes_are_those_of_their_losses(route):
    """Weights of classes are factors of the rows' terms, and leave the targets as they are."""
    X, labels = three_clouds()
    heavy = {"a": 3.0, "b": 1.0, "c": 0.5}
    model = KFDAClassifier(0.1, RBF, route=route, class_weight=heavy).fit(X, labels)
    w, K = np.array([heavy[label] for label in labels]), gram(RBF, X)
    for c, label in enumerate("abc"):
        design = np.c_[np.ones(60), K]
        system = (design.T * w) @ design + np.diag(np.r_[0.0, 0.1 / w])
        bias, *alpha = linalg.solve(system, (design.T * w) @ targets(labels == label))
        np.testing.assert_allclose(model.dual_coef_[:, c], alpha, atol=1e-9)
        assert model.intercept_[c] == pytest.approx(bias, abs=1e-9)


def test_iteration_that_does_not_converge_says_so_of_several_classes(monkeypatch):
    X, labels = three_clouds()
    with pytest.warns(ConvergenceWarning, match=r"iterations the objective is up to .* above its minimum"):
        model = KFDAClassifier(1e-12, gamma=0.05, route="cg").fit(X, labels)
    assert model.gap_ > 1e-8
    monkeypatch.setattr(ridge_several, "EIGEN", 20)
    assert KFDAClassifier(1.0).fit(X, labels).gap_ < 1e-12
    decomposed = KFDAClassifier(1e-12, gamma=0.05).fit(X, labels)
    assert not hasattr(decomposed, "gap_")
    monkeypatch.setattr(ridge_classes, "blocked_cholesky", lambda matrix: (matrix, 1))
    assert KFDAClassifier(1.0, route="cg").fit(X, labels).residual_ < 1e-10
    with pytest.raises(SingularScatterError, match="route='least-squares'"):
        KFDAClassifier(1.0, route="fisher").fit(X, labels)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"reg": -1.0}, "reg must be a finite number >= 0, got -1.0"),
        ({"reg": np.inf}, "reg must be a finite number >= 0, got inf"),
        ({"reg": True}, "reg must be a finite number >= 0, got True"),
        ({"reg": 0, "route": "fisher"}, "route='fisher' needs reg > 0, got 0: the within-class scatter is"),
        ({"reg": 1e-300, "route": "fisher"}, "plus reg=1e-300 is singular in double precision; raise reg"),
        ({"route": "lda"}, "unknown route 'lda'; choose from auto, least-squares, fisher, cg"),
        ({"threshold": 0.0}, "unknown threshold 0.0; choose from midpoint, means"),
        ({"kernel": "sigmoid"}, "unknown kernel 'sigmoid'; choose from linear, poly, rbf, precomputed"),
    ],
)
def test_bad_parameters(parameters, message):
    X, positive = two_clouds()
    with pytest.raises(ValueError, match=re.escape(message)):
        KFDAClassifier(**{"kernel": "linear"} | parameters).fit(X, positive)


def test_bad_arrays():
    K, yhat, positive = problem(6)
    with pytest.raises(ValueError, match="K must be symmetric; give"):
        KFDAClassifier(kernel="precomputed").fit(np.triu(K), positive)
    with pytest.raises(ValueError, match=re.escape("K must be a square matrix, got shape (6, 5)")):
        ridge_path(K[:, :5], yhat, [1.0])
    with pytest.raises(ValueError, match=re.escape("yhat has shape (5,), K asks for (6,)")):
        ridge_path(K, yhat[:5], [1.0])
    with pytest.raises(ValueError, match="which sum to 0"):
        ridge_path(K, np.ones(6), [1.0])
    with pytest.raises(ValueError, match="the ridge must be a finite number >= 0, got nan"):
        ridge_path(K, yhat, [np.nan])
    with pytest.raises(ValueError, match="the ridge must be a finite number > 0, got 0"):
        leave_one_out(KernelSpectrum.of(K, yhat), 0)
    with pytest.raises(ValueError, match="undefined or above 1e\\+100, so that their squares overflow"):
        ridge_path(K * np.inf, yhat, [1.0])
    # rounding decides whether one singular matrix has a factor; of twenty, some have none with any LAPACK
    rows = np.random.default_rng(0).normal(size=(20, 6))
    with pytest.raises(SingularScatterError):
        [fisher_discriminant(1e6 * np.outer(row, row), yhat, 1e-30) for row in rows]
