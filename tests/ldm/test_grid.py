"""A grid is what single fits find, certified point by point."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from marginbook.ldm.model.objective import dual_gap, primal_objective
from marginbook.ldm.model.whitening import WhitenedGram
from marginbook.ldm.solvers import active_set
from marginbook.ldm.solvers import grid as grid_module
from marginbook.ldm.solvers.active_sets import minimise
from marginbook.ldm.solvers.grid import solve_grid

LAMBDAS = 2.0 ** -np.arange(8, 1, -1)


def _problem(kind, m=40, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((m, d))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=m) > 0.5, 1.0, -1.0)
    if kind == "duplicates":
        X = X[rng.integers(0, m // 4, size=m)]
    if kind == "constant":
        X[:] = 1.0
    if kind == "two":
        X, y = X[:2], np.array([1.0, -1.0])
    if kind == "one in a class":
        y[:] = 1.0
        y[0] = -1.0
    if kind == "zeros":
        X[::3] = 0.0
    return (rbf_kernel(X, gamma=3.0) if kind == "rbf" else X @ X.T), y


@pytest.mark.parametrize(
    "kind", ["rbf", "linear", "duplicates", "constant", "two", "one in a class", "zeros"]
)
def test_every_point_is_certified_and_what_a_single_fit_finds(kind):
    G, y = _problem(kind)
    whitened = WhitenedGram(G, y)
    grid = solve_grid(whitened, LAMBDAS, LAMBDAS, [10.0, 50.0, 100.0], tol=1e-8)
    assert grid.alpha.shape == grid.margins.shape == grid.shifted.shape == (7, 7, 3, len(y))
    assert grid.gap.shape == grid.objective.shape == grid.converged.shape == (7, 7, 3)
    assert grid.converged.all()
    for i, j, k in np.ndindex(7, 7, 3):
        lambda1, lambda2, C = LAMBDAS[i], LAMBDAS[j], (10.0, 50.0, 100.0)[k]
        shifted, margins = grid.shifted[i, j, k], grid.margins[i, j, k]
        assert shifted.min() >= lambda2 / len(y)
        assert shifted.max() <= C + lambda2 / len(y)
        H = whitened.hessian(lambda1)
        np.testing.assert_allclose(margins, H @ shifted, atol=1e-9)
        np.testing.assert_allclose(margins, y * (G @ grid.alpha[i, j, k]), atol=1e-8)
        assert grid.gap[i, j, k] == pytest.approx(dual_gap(shifted, margins, lambda2, C), abs=1e-12)
        norm = grid.alpha[i, j, k] @ G @ grid.alpha[i, j, k]
        assert grid.objective[i, j, k] == pytest.approx(primal_objective(margins, norm, lambda1, lambda2, C))
        single = active_set(H, y, lambda1, lambda2, C)
        assert grid.objective[i, j, k] == pytest.approx(single.objective, rel=2e-8, abs=2e-8)
        np.testing.assert_allclose(margins, single.margins, atol=1e-3)


def test_most_of_the_grid_is_extrapolated():
    G, y = _problem("rbf", m=100)
    grid = solve_grid(WhitenedGram(G, y), LAMBDAS, LAMBDAS, [10.0, 50.0, 100.0])
    assert 21 <= grid.n_solves < 147 / 3


def test_a_line_begins_at_the_solution_for_the_same_C_before(monkeypatch):
    G, y = _problem("rbf")
    exchanges, begun, ended = [], [], []

    def counted(H, x, *given):
        begun.append(x.copy())
        found = minimise(H, x, *given)
        ended.append(x)
        exchanges.append(found[0])
        return found

    monkeypatch.setattr(grid_module, "minimise", counted)
    solve_grid(WhitenedGram(G, y), [0.5, 0.5], [0.1], [0.1, 10.0])
    assert max(exchanges[:2]) > 0
    assert exchanges[2:] == [0, 0]
    np.testing.assert_allclose(begun[2:], ended[:2], atol=1e-12)


def test_a_wide_range_of_lambda2_is_solved_where_the_bounds_change():
    G, y = _problem("rbf")
    whitened = WhitenedGram(G, y)
    lambda2s = [1e3, 0.0, 1.0, 30.0, 1e-3]  # in no order
    grid = solve_grid(whitened, [0.5], lambda2s, [3.0, 0.1], tol=1e-9)
    assert grid.converged.all()
    assert grid.n_solves > 2
    for j, lambda2 in enumerate(lambda2s):
        for k, C in enumerate((3.0, 0.1)):
            single = active_set(whitened.hessian(0.5), y, 0.5, lambda2, C)
            assert grid.objective[0, j, k] == pytest.approx(single.objective, rel=1e-8)


def test_repeated_and_zero_parameters_are_served():
    G, y = _problem("linear")
    grid = solve_grid(WhitenedGram(G, y), [0.0, 0.0], [0.0, 0.0], [1.0, 1.0])
    assert grid.converged.all()
    np.testing.assert_allclose(
        grid.margins, np.broadcast_to(grid.margins[0, 0, 0], grid.margins.shape), atol=1e-5
    )


def test_a_point_of_the_grid_is_a_solution():
    G, y = _problem("rbf")
    whitened = WhitenedGram(G, y)
    grid = solve_grid(whitened, LAMBDAS[:2], LAMBDAS[:3], [1.0, 5.0], tol=1e-10)
    point = grid.solution(1, 2, 0)
    assert (point.lambda1, point.lambda2, point.C) == (LAMBDAS[1], LAMBDAS[2], 1.0)
    single = active_set(whitened.hessian(point.lambda1), y, point.lambda1, point.lambda2, point.C)
    for name in ("shifted", "beta", "alpha", "margins"):
        np.testing.assert_allclose(getattr(point, name), getattr(single, name), atol=1e-6)
    assert point.objective == pytest.approx(single.objective)
    assert point.dual_gap == grid.gap[1, 2, 0]


def test_a_point_that_runs_out_of_steps_is_not_called_converged():
    G, y = _problem("linear", m=80)
    grid = solve_grid(WhitenedGram(G, y), [0.1], LAMBDAS, [100.0], tol=1e-9, max_iter=1)
    assert not grid.converged.all()
    assert np.all(grid.gap[~grid.converged] > 1e-9)


def test_bad_parameters_are_refused():
    G, y = _problem("linear")
    with pytest.raises(ValueError, match="a grid needs a value of each parameter, got 1, 0 and 1 values"):
        solve_grid(WhitenedGram(G, y), [0.1], [], [1.0])
    with pytest.raises(ValueError, match=r"C must be a finite number > 0, got .*0\.0"):
        solve_grid(WhitenedGram(G, y), [0.1], [0.1], [1.0, 0.0])
