"""The bounds of the left-out margins, against machines that are trained anew in feature space."""

import inspect
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from marginbook.kernels import gram
from marginbook.ldm.claims.problems import by_cvxpy
from marginbook.ldm.model.whitening import WhitenedGram
from marginbook.ldm.solvers import active_set, coordinate_descent, leave_one_out_exact
from marginbook.ldm.solvers.leave_one_out_bound import bracket, error_bound, radii
from marginbook.ldm.solvers.leave_one_out_exact import count_errors, exact_leave_one_out
from marginbook.ldm.solvers.leave_one_out_kernels import LeftOutKernels

CASES = [(0.0, 0.0, 1.0), (0.25, 0.25, 10.0), (30.0, 70.0, 0.1), (0.01, 5.0, 100.0), (300.0, 1e-3, 1.0)]


def draw(seed, m=14, d=3, repeated=False):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(m) < m // 3, -1.0, 1.0)
    X = rng.normal(size=(m, d)) + 0.6 * y[:, None]
    if repeated:
        X[m // 2 :] = X[: m - m // 2]
    return X, y


def train(G, y, lambda1, lambda2, C, tol=1e-12):
    return active_set(WhitenedGram(G, y).hessian(lambda1), y, lambda1, lambda2, C, tol=tol)


def retrain(G, y, lambda1, lambda2, C):
    """Leave out, build everything anew, train; nothing of the rank-two formulas."""
    margins = []
    for i in range(len(y)):
        keep = np.delete(np.arange(len(y)), i)
        model = train(G[np.ix_(keep, keep)], y[keep], lambda1, lambda2, C)
        margins.append(y[i] * G[i, keep] @ model.alpha)
    return np.array(margins)


def statistics(X, y, lambda1):
    m = len(y)
    z = X.T @ y / m
    return np.eye(X.shape[1]) + 4 * lambda1 / m * X.T @ X - 4 * lambda1 * np.outer(z, z), z


def naive_balls(X, y, model):
    """The two balls as the derivation defines them: d x d matrices, one example after the other."""
    lower, upper, r = [], [], []
    Q, z = statistics(X, y, model.lambda1)
    w = X.T @ model.alpha
    for i in range(len(y)):
        keep = np.delete(np.arange(len(y)), i)
        Q_i, z_i = statistics(X[keep], y[keep], model.lambda1)
        inverse = np.linalg.inv(Q_i)
        g = (Q - Q_i) @ w - model.lambda2 * (z - z_i) - model.beta[i] * y[i] * X[i]
        norms = [np.sqrt(v @ inverse @ v) for v in (g, X[i])]
        centre, far = w + inverse @ g / 2, w + inverse @ g

        def gap(v, keep=keep):
            margins = y[keep] * (X[keep] @ v)
            return np.sum(model.C * np.maximum(1 - margins, 0) - model.beta[keep] * (1 - margins))

        intervals = [
            (y[i] * X[i] @ centre, np.sqrt(norms[0] ** 2 / 4 + max(gap(w), 0)) * norms[1]),
            (y[i] * X[i] @ far, np.sqrt(max(gap(far), 0)) * norms[1]),
        ]
        lower.append(max(c - half for c, half in intervals))
        upper.append(min(c + half for c, half in intervals))
        r.append(norms[0] * norms[1])
    return np.array(lower), np.array(upper), np.array(r)


@pytest.mark.parametrize("parameters", CASES)
@pytest.mark.parametrize("repeated", [False, True])
def test_bracket_equals_the_naive_balls(parameters, repeated):
    X, y = draw(1, repeated=repeated)
    model = train(X @ X.T, y, *parameters)
    found = bracket(X @ X.T, y, model)
    lower, upper, r = naive_balls(X, y, model)
    # the radii are roots: a gap that is zero to rounding is a radius of 1e-7
    assert_allclose(found.lower, lower, atol=2e-6)
    assert_allclose(found.upper, upper, atol=2e-6)
    assert_allclose(found.radii, r, rtol=1e-8, atol=1e-9)
    assert_allclose(radii(X @ X.T, y, model.shifted, model.margins, *parameters[:2]), found.radii)


@pytest.mark.parametrize("parameters", CASES)
@pytest.mark.parametrize("kernel", ["linear", ("rbf", {"gamma": 0.5})])
def test_left_out_margins_lie_in_the_bracket(parameters, kernel):
    X, y = draw(2, repeated=True)
    G = gram(kernel, X)
    model = train(G, y, *parameters)
    exact = retrain(G, y, *parameters)
    found = bracket(G, y, model)
    assert (found.lower <= exact + 1e-8).all()
    assert (exact <= found.upper + 1e-8).all()
    assert (np.abs(model.margins - exact) <= found.radii + 1e-8).all()
    # never wider than the simple form, except by the root of the duality gap that training left
    assert (found.lower >= model.margins - found.radii - 1e-5).all()
    assert (found.upper <= model.margins + found.radii + 1e-5).all()
    assert found.error_floor <= np.mean(exact <= 0) <= found.error_bound == error_bound(G, y, model)


@pytest.mark.parametrize("sweeps", [0, 1, 5])
def test_bracket_holds_for_a_machine_that_is_not_trained_to_the_end(sweeps):
    X, y = draw(3)
    G = gram(("rbf", {"gamma": 1.0}), X)
    for parameters in CASES:
        H = WhitenedGram(G, y).hessian(parameters[0])
        rough = coordinate_descent(H, y, *parameters, tol=0.0, max_iter=sweeps)
        exact = retrain(G, y, *parameters)
        found = bracket(G, y, rough)
        assert (found.lower <= exact + 1e-8).all()
        assert (exact <= found.upper + 1e-8).all()
        assert found.error_bound >= np.mean(exact <= 0)


def test_a_margin_of_zero_is_an_error_whatever_sign_rounding_gives_it():
    y = np.ones(4)
    for seed in range(20):
        # without the last, the sum of the others is zero, and w with it, where all margins are below 1
        x = np.array([0.1, 0.2, -0.3, 0.7]) * np.random.default_rng(seed).uniform(0.1, 1)
        G = np.outer(x, x)
        parameters = (0.0, 0.3, 0.1)
        model = train(G, y, *parameters)
        assert exact_leave_one_out(G, y, *parameters)[3] == 0.0
        found, counted = bracket(G, y, model), count_errors(G, y, model)
        assert found.lower[3] < 0 < found.upper[3]
        assert found.error_bound == counted.errors / 4 == 0.5
        assert counted.ties == 1


@pytest.mark.parametrize("parameters", CASES)
def test_exact_leave_one_out_equals_training_anew(parameters):
    X, y = draw(4, repeated=True)
    G = X @ X.T
    model = train(G, y, *parameters)
    wanted = retrain(G, y, *parameters)
    for start in (None, model):
        assert_allclose(exact_leave_one_out(G, y, *parameters, tol=1e-12, solution=start), wanted, atol=1e-5)
    some = np.array([5, 0])
    assert_allclose(exact_leave_one_out(G, y, *parameters, tol=1e-12, indices=some), wanted[some], atol=1e-5)


def test_exact_leave_one_out_equals_an_interior_point_method():
    X, y = draw(5, m=8)
    parameters = (2.0, 3.0, 0.5)
    wanted = []
    for i in range(len(y)):
        keep = np.delete(np.arange(len(y)), i)
        w, _ = by_cvxpy(X[keep].T, y[keep], *parameters)
        wanted.append(y[i] * X[i] @ w)
    assert_allclose(exact_leave_one_out(X @ X.T, y, *parameters), wanted, atol=1e-5)


def test_errors_are_counted_exactly_with_few_trainings():
    X, y = draw(6, m=40)
    G = gram(("rbf", {"gamma": 0.3}), X)
    for parameters in CASES:
        model = train(G, y, *parameters)
        counted = count_errors(G, y, model)
        assert counted.errors == np.sum(retrain(G, y, *parameters) <= 0)
        assert counted.trained == len(bracket(G, y, model).undecided) < 40
        assert counted.ties == 0


def test_each_tolerance_is_tighter_than_the_one_before():
    tols = inspect.signature(count_errors).parameters["tols"].default
    assert_allclose(tols, [1e-2, 1e-4, 1e-6, 1e-8, 1e-10])


def test_a_label_is_counted_only_once_it_is_certain():
    X, y = draw(6, m=40)
    G = gram(("rbf", {"gamma": 0.3}), X)
    for parameters in CASES:
        H = WhitenedGram(G, y).hessian(parameters[0])
        rough = coordinate_descent(H, y, *parameters, tol=0.0, max_iter=0)
        exact = int(np.sum(retrain(G, y, *parameters) <= 0))
        # a machine that is hardly trained decides nothing, whatever the sign of its margin
        loose = count_errors(G, y, rough, tols=(1e9,))
        assert loose.ties > 0
        assert loose.errors >= exact
        counted = count_errors(G, y, rough, tols=(1e9, 1e-10))
        assert (counted.errors, counted.ties) == (exact, 0)


def test_a_tie_counts_as_an_error():
    # without the first point the others cancel: w = 0, and its margin is zero
    X, y = np.array([[1.0], [2.0], [-2.0]]), np.ones(3)
    model = train(X @ X.T, y, 0.0, 0.0, 1.0)
    assert exact_leave_one_out(X @ X.T, y, 0.0, 0.0, 1.0)[0] == pytest.approx(0.0, abs=1e-9)
    assert count_errors(X @ X.T, y, model).errors == 3


@settings(max_examples=40)
@given(
    st.integers(2, 9),
    st.integers(1, 4),
    st.tuples(st.floats(-6, 3), st.floats(-6, 3), st.floats(-3, 3)),
    st.integers(0, 10**6),
)
def test_bracket_holds_on_small_integer_data(m, d, exponents, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-2, 3, size=(m, d)).astype(float), rng.choice([-1.0, 1.0], m)
    G, parameters = X @ X.T, [10.0**e for e in exponents]
    model = train(G, y, *parameters)
    exact = retrain(G, y, *parameters)
    found = bracket(G, y, model)
    slack = 1e-6 * max(1.0, np.abs(exact).max())
    assert (found.lower <= exact + slack).all()
    assert (exact <= found.upper + slack).all()


def test_two_points_leave_machines_of_one_class():
    G, y = np.array([[1.0, -0.1], [-0.1, 2.0]]), np.array([1.0, -1.0])
    model = train(G, y, 1.0, 0.5, 1.0)
    found = bracket(G, y, model)
    # w^{-1} sees -x_2 alone: margin 1 at beta' = 1/2, so y_1 f^{-1}(x_1) = 0.1 / 2
    exact = exact_leave_one_out(G, y, 1.0, 0.5, 1.0)
    assert_allclose(exact[0], 0.05)
    assert (found.lower <= exact + 1e-9).all()
    assert (exact <= found.upper + 1e-9).all()


def test_a_left_out_example_without_features_is_an_error():
    X, y = draw(7)
    X[0] = 0.0
    G = X @ X.T
    found = bracket(G, y, train(G, y, 1.0, 1.0, 1.0))
    assert found.lower[0] == found.upper[0] == 0.0
    assert 0 not in found.undecided


def test_rank_two_update_of_the_whitened_kernel():
    X, y = draw(8, m=6, d=2)
    G, lambda1 = X @ X.T, 40.0
    kernels = LeftOutKernels(G, y, lambda1)
    for i in range(6):
        keep = np.delete(np.arange(6), i)
        Q_i, _ = statistics(X[keep], y[keep], lambda1)
        assert_allclose(kernels.matrix(i), X @ np.linalg.solve(Q_i, X.T), atol=1e-10)
    eigen = np.linalg.eigh(G)
    assert_allclose(LeftOutKernels(G, y, lambda1, eigen).matrix(3), kernels.matrix(3))


def test_one_example_cannot_be_left_out():
    with pytest.raises(ValueError, match="at least 2 examples, got 1"):
        LeftOutKernels(np.eye(1), np.ones(1), 1.0)


def test_radii_of_the_svm_are_dual_variable_times_norm():
    X, y = draw(9)
    G = gram(("rbf", {"gamma": 1.0}), X) * 2
    model = train(G, y, 0.0, 0.0, 3.0)
    assert_allclose(radii(G, y, model.shifted, model.margins, 0.0, 0.0), 2 * model.beta, atol=1e-9)


def test_a_variance_weight_beyond_the_arithmetic_decides_nothing():
    G, y = np.ones((2, 2)), np.ones(2)
    model = train(G, y, 1e18, 0.3, 2.0)
    found = bracket(G, y, model)
    assert found.error_bound == 1.0
    assert found.error_floor == 0.0


@pytest.mark.parametrize(("steps", "told"), [(1, "after 1 step, above"), (3, "after 3 steps, above")])
def test_a_machine_that_misses_its_tolerance_is_told(monkeypatch, steps, told):
    def stopped(*arguments, **options):
        return replace(active_set(*arguments, **options), n_iter=steps, converged=False)

    monkeypatch.setattr(leave_one_out_exact, "active_set", stopped)
    X, y = draw(0)
    with pytest.raises(RuntimeError, match=f"without example 0 the duality gap is .* {told} .*; raise tol"):
        exact_leave_one_out(X @ X.T, y, 0.25, 0.25, 10.0)


def test_a_squared_norm_that_rounding_brings_below_zero_is_zero(monkeypatch):
    def below(self, along_e, along_y):
        return np.full(len(self.y), -1.0 - 1e-15), np.zeros(len(self.y))

    monkeypatch.setattr(LeftOutKernels, "correction", below)
    X, y = draw(0)
    G = X @ X.T
    model = train(G, y, 0.25, 0.25, 10.0)
    assert_array_equal(radii(G, y, model.shifted, model.margins, 0.25, 0.25), np.zeros(len(y)))
