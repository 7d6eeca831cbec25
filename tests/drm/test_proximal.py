"""Penalties, their dual norms and proximal maps, and the proximal gradient: against cvxpy and brute force."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginbook.drm.model.penalties import INF, NORMS, RHOS, Penalty, mixed_norm, proximal_map
from marginbook.drm.solvers.general import GeneralProblem, oracle, solve
from marginbook.drm.solvers.proximal_newton import accelerated_proximal_gradient, newton_on_active_groups
from marginbook.kernels import gram

SIZES = (3, 1, 4)


@pytest.mark.parametrize(("q", "r"), NORMS)
def test_the_norm_is_the_norm_of_norms(q, r):
    W = np.random.default_rng(0).normal(size=(8, 5))
    naive = [
        np.linalg.norm([np.linalg.norm(part, q) for part in np.split(w, np.cumsum(SIZES)[:-1])], r)
        for w in W.T
    ]
    np.testing.assert_allclose(mixed_norm(W, SIZES, q, r), naive)
    assert mixed_norm(np.zeros((8, 1)), SIZES, q, r) == 0
    np.testing.assert_allclose(mixed_norm(W * 1e200, SIZES, q, r), np.array(naive) * 1e200)


def test_the_norm_is_euclidean_unless_another_is_named():
    """As in equation (12): half the square of the norm of all weights."""
    w = np.random.default_rng(2).normal(size=(8, 1))
    np.testing.assert_allclose(Penalty(SIZES, 1.0).dual_norm(w), np.linalg.norm(w))


@pytest.mark.parametrize(("q", "r"), NORMS)
def test_the_dual_norm_is_the_largest_inner_product_on_the_ball(q, r):
    u = np.random.default_rng(1).normal(size=8)
    w = cp.Variable(8)
    ends = np.cumsum(SIZES)
    parts = cp.hstack([cp.norm(w[e - s : e], q) for s, e in zip(SIZES, ends, strict=True)])
    largest = cp.Problem(cp.Maximize(u @ w), [cp.norm(parts, r) <= 1]).solve(cp.CLARABEL)
    assert Penalty(SIZES, 1.0, q, r).dual_norm(u[:, None])[0] == pytest.approx(largest, rel=1e-6)


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize(("q", "r"), [(1, 1), (2, 1), (2, 2)])
@pytest.mark.parametrize("step", [0.05, 0.7, 50.0])
def test_the_proximal_map_is_cvxpys(q, r, rho, step):
    rng = np.random.default_rng(2)
    V = rng.normal(size=(8, 3))
    V[:, 1] = np.repeat([1.0, -1.0], 4)  # ties
    V[:, 2] = 0.0
    penalty = Penalty(SIZES, 0.8, q, r, rho)
    found = proximal_map(V, step, penalty, penalty.groups())
    for column in range(2):
        w = cp.Variable(8)
        ends = np.cumsum(SIZES)
        norm = cp.norm(cp.hstack([cp.norm(w[e - s : e], q) for s, e in zip(SIZES, ends, strict=True)]), r)
        cost = norm if rho == "identity" else RHOS[rho] * cp.square(norm)
        goal = 0.5 * cp.sum_squares(w - V[:, column]) + step * 0.8 * cost
        cp.Problem(cp.Minimize(goal)).solve(cp.CLARABEL)
        np.testing.assert_allclose(found[:, column], w.value, atol=1e-4)  # its accuracy; see the next test
    assert (found[:, 2] == 0).all()


@settings(max_examples=80)
@given(
    values=st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=12),
    step=st.floats(1e-3, 1e3),
    rho=st.sampled_from(sorted(RHOS)),
    grouped=st.booleans(),
)
def test_the_proximal_map_meets_its_conditions(values, step, rho, grouped):
    """v - w is a subgradient of the scaled penalty at w: dual norm and inner product say so."""
    v = np.array(values)[:, None]
    first = (len(values) + 1) // 2
    sizes = [size for size in (first, len(values) - first) if size]
    penalty = Penalty(np.array(sizes), 1.0, 2 if grouped else 1, 1, rho)
    w = proximal_map(v, step, penalty, penalty.groups())
    norm = penalty.norm(w)
    slope, scale = step * penalty.slope(norm), 1 + np.abs(v).max()
    assert penalty.dual_norm(v - w)[0] <= slope[0] + 1e-9 * scale
    assert np.sum((v - w) * w) == pytest.approx(slope[0] * norm[0], abs=1e-9 * scale**2)


def _problem(sizes, q, r, rho, beta=0.1, alpha=0.3, seed=0, m=4):
    rng = np.random.default_rng(seed)
    X, Z = rng.normal(size=(sum(sizes), 3)), rng.normal(size=(m, 3))
    kernel = ("rbf", {"gamma": 0.5})
    return GeneralProblem(gram(kernel, X), sizes, alpha, beta, q, r, rho), gram(kernel, X, Z)


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize(("q", "r"), [(1, 1), (2, 1), (2, 2)])
def test_with_and_without_newton_the_optimum_is_the_same(q, r, rho):
    problem, Kx = _problem((6, 1, 5), q, r, rho)
    arguments = (problem.Q, Kx, problem.penalty, problem.spectrum[0][-1], problem.certificate)
    fast, few = accelerated_proximal_gradient(*arguments, 1e-10, 5000)
    slow, many = accelerated_proximal_gradient(*arguments, 1e-10, 5000, newton=False)
    best = problem.objective(oracle(problem, Kx), Kx)
    for W in (fast, slow):
        assert (problem.objective(W, Kx) <= best + 1e-9).all()
    assert few.max() <= many.max() < 5000


@pytest.mark.parametrize(("beta", "size"), [(0.1, 1.0), (1.0, 0.01)])
def test_newton_only_ever_lowers_the_objective(beta, size):
    """Of the second pair all whole steps would raise it."""
    problem, Kx = _problem((6, 4), 2, 1, "identity", beta=beta)
    rng = np.random.default_rng(3)
    moved = 0
    for _ in range(20):
        w = size * rng.normal(size=10) * (rng.random(10) < 0.7)
        better = newton_on_active_groups(problem.Q, Kx[:, 0], w, problem.penalty, problem.penalty.groups())
        if better is not None:
            moved += 1
            values = problem.objective(np.c_[w, better], Kx[:, :1])
            assert values[1] < values[0]
    assert moved > 10
    none = newton_on_active_groups(
        problem.Q, Kx[:, 0], np.zeros(10), problem.penalty, problem.penalty.groups()
    )
    assert none is None


def test_newton_leaves_what_has_no_curvature_to_the_gradient():
    penalty = Penalty((1, 1), 1.0, 1, 1, "identity")
    found = newton_on_active_groups(np.zeros((2, 2)), np.ones(2), np.ones(2), penalty, penalty.groups())
    assert found is None


def test_newton_ends_near_an_optimum_in_its_five_steps():
    """With the right Hessian the digits double in each step."""
    sizes = (4, 3, 5)
    problem, Kx = _problem(sizes, 2, 1, "identity", beta=0.02)
    groups = problem.penalty.groups()
    start = solve(problem, Kx[:, :1], tol=1e-6).weights[:, 0]
    rough = start * (1 + 0.05 * np.random.default_rng(0).uniform(-1, 1, len(start)))
    w = newton_on_active_groups(problem.Q, Kx[:, 0], rough, problem.penalty, groups)
    norms = np.repeat([np.linalg.norm(part) for part in np.split(w, np.cumsum(sizes)[:-1])], sizes)
    assert (norms > 0).all()
    gradient = problem.Q @ w - Kx[:, 0] + problem.beta * w / norms
    assert np.abs(gradient).max() <= 1e-9
    # and kernel values have no unit: a power of two, so that not a digit changes
    unit = 2.0**-66
    small = Penalty(np.array(sizes), unit * problem.beta, 2, 1, "identity")
    same = newton_on_active_groups(unit * problem.Q, unit * Kx[:, 0], rough, small, groups)
    np.testing.assert_allclose(same, w, rtol=1e-12)


def test_columns_do_not_know_of_each_other():
    problem, Kx = _problem((6, 1, 5), 1, 1, "identity")
    together = solve(problem, Kx, tol=1e-10).weights
    for column in range(Kx.shape[1]):
        alone = solve(problem, Kx[:, [column]], tol=1e-10).weights
        np.testing.assert_allclose(alone[:, 0], together[:, column], atol=1e-9)


def test_a_stop_at_max_iter_shows_in_the_certificate():
    problem, Kx = _problem((20, 20), 2, 1, "identity", beta=1e-4)
    arguments = (problem.Q, Kx, problem.penalty, problem.spectrum[0][-1], problem.certificate)
    W, n_iter = accelerated_proximal_gradient(*arguments, 1e-12, 3, newton=False)
    assert (n_iter == 3).all()
    assert problem.certificate(W, Kx).relative_gap.min() > 1e-6


def test_norms_without_a_closed_form_say_what_to_use():
    with pytest.raises(ValueError, match=r"no closed form of the proximal map .*use solver='cvxpy'"):
        Penalty(SIZES, 1.0, INF, 1).groups()
