"""Algorithms 3 to 6: the optimum, the paper's steps one by one, each column for itself, hard input."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.kernel_approximation import Nystroem

from marginbook.drm.model.objective import kkt_residual, objective, system_matrix
from marginbook.drm.model.operators import DenseSystem, LinearSystem
from marginbook.drm.solvers import EigenPath, closed_form
from marginbook.drm.solvers.first_order import accelerated, enlarged, gradient_descent, proximal_point
from marginbook.kernels import gram

SOLVERS = {
    "gd": gradient_descent,
    "gd-carry": lambda *a, **k: gradient_descent(*a, carry=True, **k),
    "ppa": proximal_point,
    "apg": accelerated,
    "apg-backtracking": lambda *a, **k: accelerated(*a, backtracking=True, **k),
    "apg-restart": lambda *a, **k: accelerated(*a, restart=True, **k),
    "apg-function-restart": lambda *a, **k: accelerated(*a, restart="function", **k),
    "apg-both": lambda *a, **k: accelerated(*a, backtracking=True, restart=True, **k),
}
each_solver = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS.keys())


def _problem(sizes=(12, 7, 1), p=3, m=4, seed=0):
    rng = np.random.default_rng(seed)
    X, Z = rng.normal(size=(sum(sizes), p)), rng.normal(size=(m, p))
    return X, X @ Z.T, list(sizes)


@each_solver
@pytest.mark.parametrize("alpha", [0.0, 0.5, 20.0])
@pytest.mark.parametrize("linear", [False, True])
def test_reaches_the_closed_form(solver, alpha, linear):
    X, Kx, sizes = _problem()
    build = LinearSystem(X, sizes, alpha, 2.0) if linear else DenseSystem(X @ X.T, sizes, alpha, 2.0)
    found = solver(build, Kx, max_iter=5000, tol=1e-10)
    expected = closed_form(X @ X.T, sizes, alpha, 2.0).weights(Kx)
    assert found.converged.all()
    np.testing.assert_allclose(found.weights, expected, atol=1e-6)
    assert found.kkt_residual.max() < 1e-6


@each_solver
def test_the_certificate_is_that_of_the_objective(solver):
    X, Kx, sizes = _problem()
    found = solver(DenseSystem(X @ X.T, sizes, 0.5, 0.1), Kx, max_iter=5)
    M = system_matrix(X @ X.T, sizes, 0.5, 0.1)
    for column in range(4):
        expected = kkt_residual(M, found.weights[:, [column]], Kx[:, [column]])
        assert found.kkt_residual[column] == pytest.approx(expected, rel=1e-9)
    assert not found.converged.any()
    assert found.n_iter.tolist() == [5] * 4
    assert (found.step > 1e-5).all()


def test_the_steps_are_the_papers():
    """Equations (14) to (17), (26), (27) written out for one test point and one column."""
    X, Kx, sizes = _problem()
    k, n, beta = Kx[:, 0], len(X), 0.3
    Q = system_matrix(X @ X.T, sizes, 0.5)
    M = Q + beta * np.eye(n)
    c = np.linalg.eigvalsh(Q)[-1]
    start = np.random.default_rng(5).normal(size=n)
    gd, ppa, apg, v, d = start.copy(), start.copy(), start.copy(), start.copy(), 1.0
    for t in range(1, 8):
        g = M @ gd - k
        gd = gd - (g @ g) / (g @ M @ g) * g
        ppa = (k - Q @ ppa + c * ppa) / (beta + c)
        previous, apg = apg, v - (M @ v - k) / (c + beta)
        after = (1 + np.sqrt(1 + 4 * d * d)) / 2
        v, d = apg + (d - 1) / after * (apg - previous), after
        for system in (DenseSystem(X @ X.T, sizes, 0.5, beta), LinearSystem(X, sizes, 0.5, beta)):
            given = {"max_iter": t, "tol": 0.0, "start": start[:, None]}
            column = Kx[:, :1]
            found = [
                gradient_descent(system, column, **given),
                proximal_point(system, column, c=c, **given),
                accelerated(system, column, b=c + beta, **given),
            ]
            for iterates, expected in zip(found, (gd, ppa, apg), strict=True):
                np.testing.assert_allclose(iterates.weights[:, 0], expected, atol=1e-11)


@pytest.mark.parametrize("b0", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("eta", [1.3, 4.0])
def test_backtracking_takes_the_smallest_power_that_meets_25(b0, eta):
    X, Kx, sizes = _problem(m=1)
    Q = system_matrix(X @ X.T, sizes, 0.5)
    g = -Kx[:, 0]
    b = b0
    while g @ Q @ g > (b - 0.3) * (g @ g):
        b *= eta
    found = accelerated(
        DenseSystem(X @ X.T, sizes, 0.5, 0.3), Kx, b=b0, eta=eta, backtracking=True, max_iter=1
    )
    np.testing.assert_allclose(found.weights[:, 0], Kx[:, 0] / b, rtol=1e-12)


@each_solver
def test_each_column_stops_for_itself_and_then_costs_nothing(solver):
    X, Kx, sizes = _problem(m=6)
    Kx = Kx * np.logspace(-6, 1, 6)  # the absolute tolerance stops the small ones early
    Kx[:, 2] = 0.0
    system = LinearSystem(X, sizes, 0.5, 1.0)
    together = solver(system, Kx, max_iter=3000)
    alone = [solver(system, Kx[:, [column]], max_iter=3000) for column in range(6)]
    assert together.n_iter.tolist() == [int(one.n_iter[0]) for one in alone]
    assert len(set(together.n_iter)) > 2
    assert together.multiplications == sum(one.multiplications for one in alone)
    for column, one in enumerate(alone):
        np.testing.assert_allclose(together.weights[:, column], one.weights[:, 0], rtol=1e-7, atol=1e-12)
    assert together.n_iter[2] == 1
    assert not together.weights[:, 2].any()
    assert together.kkt_residual[2] == 0.0
    assert together.converged.all()


def test_what_was_found_cannot_be_parted_from_its_certificate():
    X, Kx, sizes = _problem()
    found = gradient_descent(DenseSystem(X @ X.T, sizes, 0.5, 1.0), Kx)
    for name in found.__dataclass_fields__:
        with pytest.raises(FrozenInstanceError):
            setattr(found, name, None)


@each_solver
def test_paths_are_the_objective_and_the_distances(solver):
    X, Kx, sizes = _problem()
    K = X @ X.T
    best = closed_form(K, sizes, 0.5, 1.0).weights(Kx)
    system = DenseSystem(K, sizes, 0.5, 1.0)
    plain = solver(system, Kx)
    kept = solver(system, Kx, record=True, optimum=best)
    np.testing.assert_array_equal(kept.weights, plain.weights)
    assert kept.multiplications == plain.multiplications  # who watches is not counted
    longest = kept.n_iter.max()
    assert len(kept.objective_path) == len(kept.distance_path) == longest + 1
    assert plain.objective_path == plain.distance_path == []
    np.testing.assert_allclose(kept.objective_path[0], 0.0)
    np.testing.assert_allclose(kept.distance_path[0], np.linalg.norm(best, axis=0))
    np.testing.assert_allclose(kept.objective_path[-1], objective(K, sizes, Kx, plain.weights, 0.5, 1.0))
    np.testing.assert_allclose(kept.distance_path[-1], np.linalg.norm(plain.weights - best, axis=0))
    first = solver(system, Kx, max_iter=1).weights
    np.testing.assert_allclose(kept.objective_path[1], objective(K, sizes, Kx, first, 0.5, 1.0))


@each_solver
def test_starting_at_the_optimum_takes_one_step(solver):
    X, Kx, sizes = _problem()
    best = closed_form(X @ X.T, sizes, 0.5, 1.0).weights(Kx)
    start = best.copy()
    found = solver(LinearSystem(X, sizes, 0.5, 1.0), Kx, start=start)
    assert found.n_iter.tolist() == [1] * 4
    np.testing.assert_allclose(found.weights, best, atol=1e-12)
    np.testing.assert_array_equal(start, best)  # and leaves its argument alone


def test_descent_and_rates():
    """Gradient descent and proximal steps never raise f; restarting beats plain acceleration."""
    X, Kx, sizes = _problem((40, 30), p=12)
    system = LinearSystem(X, sizes, 0.2, 0.1)
    best = closed_form(X @ X.T, sizes, 0.2, 0.1).weights(Kx)
    optimal = objective(X @ X.T, sizes, Kx, best, 0.2, 0.1)
    paths = {
        name: np.array(solver(system, Kx, record=True, tol=0.0).objective_path) - optimal
        for name, solver in SOLVERS.items()
    }
    for name in ("gd", "gd-carry", "ppa"):
        assert (np.diff(paths[name], axis=0) <= 1e-12).all()
    assert (paths["apg-restart"][-1] < paths["apg"][-1] / 10).all()
    assert (paths["apg-function-restart"][-1] < paths["apg"][-1] / 10).all()


def test_multiplications_of_one_iteration():
    """By the shapes: with (21) to (23) as printed, and with the products fused."""
    X, Kx, sizes = _problem((20, 15), p=6, m=3)
    n, p, m, g = 35, 6, 3, 2
    for as_printed, product in ((True, (4 * p + 3) * n), (False, (2 * p + 1) * n + g * p)):
        system = LinearSystem(X, sizes, 0.5, 1.0, as_printed=as_printed)
        run = {"max_iter": 7, "tol": 0.0}
        assert gradient_descent(system, Kx, **run).multiplications == 7 * m * (2 * product + 5 * n)
        assert proximal_point(system, Kx, **run).multiplications == 7 * m * (product + 2 * n)
        assert accelerated(system, Kx, **run).multiplications == 7 * m * (product + 3 * n)
        both = accelerated(system, Kx, backtracking=True, **run)
        assert both.multiplications == 7 * m * (2 * product + 5 * n)
    dense = DenseSystem(X @ X.T, sizes, 0.5, 1.0)
    assert proximal_point(dense, Kx, max_iter=7, tol=0.0).multiplications == 7 * m * (n * n + 2 * n)


@settings(max_examples=40)
@given(
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    alpha=st.sampled_from([0.0, 1e-3, 1.0, 1e4]),
    beta=st.sampled_from([1e-3, 1.0, 1e8]),
    kind=st.sampled_from(["normal", "equal", "zero", "constant-feature", "large", "tiny"]),
    name=st.sampled_from(sorted(SOLVERS)),
    seed=st.integers(0, 2**16),
)
def test_hard_input_ends_finite_and_certified(sizes, alpha, beta, kind, name, seed):
    """No warning of numpy's, no NaN, never farther from the optimum than the start in the norm of f."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(sum(sizes), 3))
    Z = rng.normal(size=(2, 3))
    if kind == "equal":
        X[:] = X[0]
    elif kind == "zero":
        X[:] = 0.0
    elif kind == "constant-feature":
        X[:, 1] = 1.0
    elif kind == "large":
        X *= 1e20
    elif kind == "tiny":
        X *= 1e-90
    Kx = X @ Z.T
    system = LinearSystem(X, sizes, alpha, beta)
    with np.errstate(under="ignore"):
        found = SOLVERS[name](system, Kx, max_iter=60, record=True)
    assert np.isfinite(found.weights).all()
    assert np.isfinite(found.kkt_residual).all()
    assert (found.n_iter >= 1).all()
    rounding = 1e-9 * np.abs(np.array(found.objective_path)).max(axis=0)
    assert (found.objective_path[-1] <= rounding).all()


def test_an_iterate_beyond_double_precision_keeps_the_last_one_and_says_so():
    K = -np.eye(3) * 1e200  # no kernel: proximal steps with too small a c explode
    found = proximal_point(DenseSystem(K, [3], 0.0, 1.0), np.ones((3, 1)), c=0.0, max_iter=50)
    assert np.isfinite(found.weights).all()
    assert np.isnan(found.step).all()
    assert not found.converged.any()
    assert (found.n_iter < 50).all()
    assert (found.kkt_residual > 1).all()


def test_negative_curvature_stops_gradient_descent_unconverged():
    found = gradient_descent(DenseSystem(-np.eye(3), [3], 0.0, 0.5), np.ones((3, 1)))
    assert found.n_iter.tolist() == [1]
    assert not found.converged.any()
    assert not found.weights.any()


@each_solver
def test_nystroem_features_serve_any_kernel(solver):
    """Proposition VI.3, with all landmarks: the kernel itself."""
    X, _, sizes = _problem((20, 15))
    kernel = ("rbf", {"gamma": 0.3})
    Z = np.random.default_rng(3).normal(size=(4, 3))
    features = Nystroem(kernel="rbf", gamma=0.3, n_components=35, random_state=0).fit(X)
    system = LinearSystem(features.transform(X), sizes, 0.1, 1.0)
    found = solver(system, system.kernel_vectors(features.transform(Z)), max_iter=2000, tol=1e-10)
    path = EigenPath(gram(kernel, X), sizes, 0.1)
    np.testing.assert_allclose(found.weights, path.weights(gram(kernel, X, Z), 1.0), atol=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda s, k: gradient_descent(s, k[:, 0]),
            r"a row a training example, \(20, m\), got shape \(20,\)",
        ),
        (lambda s, k: proximal_point(s, k[:5]), r"got shape \(5, 4\)"),
        (lambda s, k: accelerated(s, k, start=k[:, :1]), r"start must have the shape of Kx, \(20, 4\), got"),
        (lambda s, k: accelerated(s, k, record=True, optimum=k[0]), "optimum must have the shape of Kx"),
        (lambda s, k: gradient_descent(s, k, max_iter=0), "max_iter must be a whole number >= 1, got 0"),
        (lambda s, k: gradient_descent(s, k, tol=float("nan")), "tol must be a number >= 0, got nan"),
        (lambda s, k: proximal_point(s, k, c=-1.0), r"c must be a finite number >= 0, got -1\.0"),
        (lambda s, k: accelerated(s, k, b=0.0), r"b must be a finite number > 0, got 0\.0"),
        (lambda s, k: accelerated(s, k, backtracking=True, eta=1.0), "eta must be a finite number > 1"),
        (lambda s, k: accelerated(s, k, restart="always"), "restart must be False, True, 'gradient' or"),
    ],
)
def test_unusable_arguments(call, message):
    X, Kx, sizes = _problem()
    with pytest.raises(ValueError, match=message):
        call(LinearSystem(X, sizes, 1.0, 1.0), Kx)


def test_backtracking_stops_at_the_first_b_that_passes():
    """Against the loop over (25), with a beta that decides: b without it would pass earlier."""
    rng = np.random.default_rng(31)
    K = np.diag(rng.uniform(0.1, 1.0, size=5))
    system = DenseSystem(K, [3, 2], alpha=0.5, beta=10.0)
    G = rng.normal(size=(5, 4))
    expected = []
    for g in G.T:
        b = 1e-3
        while g @ system.apply(g[:, None])[:, 0] > (b - 10.0) * (g @ g):
            b *= 1.3
        expected.append(b)
    np.testing.assert_allclose(enlarged(system, G, np.full(4, 1e-3), 1.3), expected)
