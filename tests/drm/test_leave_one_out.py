"""Exact leave-one-out: equal to training n times."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from marginbook.drm import DRMClassifier, DRMClassifierCV
from marginbook.drm.solvers import downdate
from marginbook.drm.solvers.leave_one_out import leave_one_out
from marginbook.kernels import gram


def _loop(K, y, alpha, beta):
    """Train n times with the estimator itself; the column of a vanished class is infinite."""
    delta = np.full((len(y), len(set(y))), np.inf)
    for k in range(len(y)):
        keep = np.delete(np.arange(len(y)), k)
        if len(set(y[keep])) < 2:
            return None
        model = DRMClassifier(alpha, beta, "precomputed").fit(K[np.ix_(keep, keep)], y[keep])
        delta[k, model.classes_] = model.dissimilarity(K[k : k + 1, keep])[0]
    return delta


@settings(max_examples=40)
@given(
    sizes=st.lists(st.integers(1, 5), min_size=2, max_size=4).filter(lambda s: sum(s) > 2),
    alpha=st.one_of(st.just(0.0), st.floats(1e-3, 1e3)),
    beta=st.floats(1e-3, 1e3),
    seed=st.integers(0, 2**16),
    duplicate=st.booleans(),
)
def test_equals_the_loop(sizes, alpha, beta, seed, duplicate):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(sum(sizes), 2))
    if duplicate:
        X[-1] = X[0]
    K, y = gram(("rbf", {"gamma": 0.7}), X), np.repeat(np.arange(len(sizes)), sizes)
    slow = _loop(K, y, alpha, beta)
    if slow is None:
        return
    fast = leave_one_out(K, sizes, alpha, beta)
    finite = np.isfinite(slow)
    assert (np.isfinite(fast.delta) == finite).all()
    np.testing.assert_allclose(fast.delta[finite], slow[finite], atol=1e-7 * np.abs(slow[finite]).max())
    assert fast.kkt_residual.max() < 1e-7


def test_the_fallback_solves_what_the_formula_cannot():
    """Two points in a class: the rescaled class block is indefinite, and singular for this beta."""
    K = np.array([[1.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 1.0]])
    y = np.array([0, 0, 1])
    for beta in np.linspace(0.05, 3.0, 25):
        for alpha in (1.0, 3.0, 10.0):
            fast = leave_one_out(K, [2, 1], alpha, beta)
            for k in (0, 1):
                keep = [j for j in range(3) if j != k]
                model = DRMClassifier(alpha, beta, "precomputed").fit(K[np.ix_(keep, keep)], y[keep])
                np.testing.assert_allclose(
                    fast.delta[k], model.dissimilarity(K[k : k + 1, keep])[0], atol=1e-8
                )


def test_without_fallback_the_certificate_tells():
    """Kernel ridge with beta at the edge of double precision: the residual must not look good."""
    K = gram(("poly", {"degree": 3}), np.random.default_rng(0).normal(size=(40, 2)) * 50)
    edge = leave_one_out(K, [20, 20], 0.0, 1e-14 * K.max(), fallback=False)
    exact = leave_one_out(K, [20, 20], 1.0, 1.0)
    assert exact.kkt_residual.max() < 1e-10
    assert edge.kkt_residual.max() > 10 * exact.kkt_residual.max()


def test_the_cv_scores_are_those_of_scikit_learns_loop():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(25, 3)) + np.repeat(np.eye(3), [10, 8, 7], axis=0)
    y = np.repeat(["a", "b", "c"], [10, 8, 7])
    cv = DRMClassifierCV(alphas=(0.1, 1.0), betas=(0.1, 10.0), kernels=(("rbf", {"gamma": 0.3}), "linear"))
    results = cv.fit(X, y).cv_results_
    assert len(results["mean_test_score"]) == 8
    for i in range(8):
        model = DRMClassifier(results["alpha"][i], results["beta"][i], results["kernel"][i], solver="closed")
        predictions = cross_val_predict(clone(model), X, y, cv=LeaveOneOut())
        assert results["mean_test_score"][i] == pytest.approx(np.mean(predictions == y))
    assert cv.best_score_ == results["mean_test_score"].max()


def test_one_example_is_too_few():
    with pytest.raises(ValueError, match="needs at least two examples, got 1"):
        leave_one_out(np.eye(1), [1], 1.0, 1.0)


def test_a_rescaled_system_that_is_singular_as_a_whole_is_no_reason_to_drop_a_grid_point():
    """M_c is singular here, though every left-out system is positive definite."""
    K = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]])
    alone = leave_one_out(K, [2, 1], 5.0, 1.0, fallback=False)
    assert not (alone.kkt_residual < 1e-8).all()
    assert (leave_one_out(K, [2, 1], 5.0, 1.0, fallback=3).kkt_residual < 1e-8).all()
    X = np.array([[0.0], [1.0], [50.0], [51.0]])
    cv = DRMClassifierCV(alphas=(5.0,), betas=(1.0,), kernels=[("rbf", {"gamma": np.log(2)})])
    assert cv.fit(X, [0, 0, 1, 1]).best_score_ == 1.0


def test_the_formula_itself_equals_the_loop():
    rng = np.random.default_rng(5)
    K, y = gram(("rbf", {"gamma": 0.3}), rng.normal(size=(14, 3))), np.repeat([0, 1, 2], [6, 5, 3])
    fast = leave_one_out(K, [6, 5, 3], 0.8, 0.2, fallback=False)
    np.testing.assert_allclose(fast.delta, _loop(K, y, 0.8, 0.2), rtol=1e-9)


@pytest.mark.parametrize("sizes", [[30, 4], [12, 11, 10], [20, 1, 1]])
def test_probes_change_the_certificate_only(sizes):
    """A class of more than half of the examples goes another way than the small ones."""
    rng = np.random.default_rng(6)
    K, y = (
        gram(("rbf", {"gamma": 0.5}), rng.normal(size=(sum(sizes), 2))),
        np.repeat(range(len(sizes)), sizes),
    )
    every, some = leave_one_out(K, sizes, 2.0, 0.1), leave_one_out(K, sizes, 2.0, 0.1, probes=4)
    np.testing.assert_allclose(some.delta, every.delta, rtol=1e-12)
    np.testing.assert_allclose(every.delta, _loop(K, y, 2.0, 0.1), rtol=1e-8)
    assert len(some.kkt_residual) < len(every.kkt_residual) == sum(sizes)


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 28.0, 29.0, 30.0, 31.0, 1e3])
@pytest.mark.parametrize("sizes", [[30, 4], [2, 30, 3]])
def test_products_that_follow_from_optimality_are_right_near_their_pole(sizes, alpha):
    """With alpha = 29 the block of the large class leaves its own conditions: it is multiplied then."""
    rng = np.random.default_rng(11)
    K = gram(("rbf", {"gamma": 0.5}), rng.normal(size=(sum(sizes), 2)))
    fast = leave_one_out(K, sizes, alpha, 0.1, probes=4)
    slow = _loop(K, np.repeat(range(len(sizes)), sizes), alpha, 0.1)
    np.testing.assert_allclose(fast.delta, slow, rtol=1e-8, atol=1e-12)


def test_refinement_goes_on_where_one_step_is_not_enough(monkeypatch):
    """With an inverse that is right to a digit, every step gains a digit: no fit is solved by itself."""
    rng = np.random.default_rng(12)
    K = gram(("rbf", {"gamma": 0.5}), rng.normal(size=(34, 2)))
    sound = downdate.Downdate.solve
    monkeypatch.setattr(downdate.Downdate, "solve", lambda self, *given: 0.9 * sound(self, *given))
    monkeypatch.setattr(downdate.Downdate, "weights", lambda self: np.zeros_like(self.rows))
    found = leave_one_out(K, [30, 4], 1.0, 0.1, fallback=False)
    assert (found.kkt_residual <= 1e-8).all()


def test_a_probe_that_misses_makes_all_certified():
    K = gram(("poly", {"degree": 3}), np.random.default_rng(0).normal(size=(40, 2)) * 50)
    held, missed = (
        leave_one_out(K, [20, 20], 0.0, 1e-14 * K.max(), tol, fallback=False, probes=4)
        for tol in (1.0, 1e-17)  # no residual of these is zero, and how large they are is rounding
    )
    assert 4 <= len(held.kkt_residual) < 40
    assert held.kkt_residual.max() > 1e-17
    assert len(missed.kkt_residual) == 40


def test_a_large_class_whose_rescaled_system_is_indefinite_is_still_exact():
    """The factorisation of the large class fails here, and Woodbury's identity takes over."""
    rng = np.random.default_rng(8)
    X = np.vstack([np.ones((9, 2)) + 1e-3 * rng.normal(size=(9, 2)), rng.normal(size=(3, 2))])
    K, y = gram(("rbf", {"gamma": 0.5}), X), np.repeat([0, 1], [9, 3])
    rescaled = K + 1e3 * (np.eye(12) - np.pad(K[:9, :9] / 8, (0, 3))) + 0.5 * np.eye(12)
    assert np.linalg.eigvalsh(rescaled[:9, :9])[0] < 0
    fast = leave_one_out(K, [9, 3], 1e3, 0.5)
    np.testing.assert_allclose(fast.delta, _loop(K, y, 1e3, 0.5), rtol=1e-7)


def underflowing() -> np.ndarray:
    """Return the identity with one number added so small that no weight is right to more than a digit."""
    K = np.eye(40)
    K[0, 30] = K[30, 0] = 1e-322
    return K


@pytest.mark.parametrize("alpha", [0.0, 0.5, 300.0])
@pytest.mark.parametrize("beta", [1e-3, 7.0])
@pytest.mark.parametrize("case", ["plain", "underflow", "edge"])
def test_giving_up_loses_no_grid_point_that_could_be_certified(alpha, beta, case):
    sizes, tol = [25, 11, 4], 1e-8
    X = np.random.default_rng(1).normal(size=(40, 2))
    K = {
        "plain": gram(("rbf", {"gamma": 0.5}), X),
        "underflow": underflowing(),
        "edge": gram(("poly", {"degree": 10, "gamma": 1.0, "coef0": 1.0}), 30 * X),
    }[case]
    settings = {"tol": tol, "fallback": 8, "probes": 12}
    full, short = (
        leave_one_out(K, sizes, alpha, beta, **settings, give_up=give_up) for give_up in (np.inf, 1e-4)
    )
    lost = not full.kkt_residual.max() <= 100 * tol
    if lost:
        assert not short.kkt_residual.max() <= 100 * tol
    else:
        np.testing.assert_array_equal(short.delta, full.delta)
        np.testing.assert_array_equal(short.kkt_residual, full.kkt_residual)


def test_giving_up_looks_at_one_example_only():
    K, sizes = underflowing(), [25, 11, 4]
    full = leave_one_out(K, sizes, 0.5, 7.0, fallback=8, probes=12)
    short = leave_one_out(K, sizes, 0.5, 7.0, fallback=8, probes=12, give_up=1e-4)
    assert full.kkt_residual.shape == (40,)
    assert not (full.kkt_residual <= 1e-4).all()
    assert short.kkt_residual.shape == (1,)
    assert short.kkt_residual[0] > 1e-4
