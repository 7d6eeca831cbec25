"""Paths along rho: order, warm starts, nested supports, certificates, limits."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from marginbook.kernels import gram
from marginbook.kfda.model.certificates import duality_gap, smallest_curvature, stationarity
from marginbook.kfda.model.objective import Problem, objective, targets
from marginbook.kfda.solvers import paths
from marginbook.kfda.solvers.lasso import lasso
from marginbook.kfda.solvers.majorise_minimise import shrinking_mm
from marginbook.kfda.solvers.oracle import oracle
from marginbook.kfda.solvers.paths import Path, rho_path

RHOS = [3e-3, 0.1, 1e-3, 0.03]


def _problem(n: int = 60, width: float = 0.7) -> Problem:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    mask = np.arange(n) < n // 3
    X[mask] += 1.0
    return Problem(gram(("rbf", {"gamma": 0.5 / width**2}), X), targets(mask))


@pytest.mark.parametrize("penalize_bias", [True, False])
def test_one_is_the_lasso(penalize_bias: bool) -> None:
    problem = _problem()
    path = rho_path(problem, 1.0, RHOS, penalize_bias=penalize_bias)
    assert len(path) == 4
    np.testing.assert_array_equal(path.rho, RHOS)
    for rho, solution in zip(RHOS, path.solutions, strict=True):
        exact = lasso(problem, rho, penalize_bias=penalize_bias)
        np.testing.assert_allclose(solution.omega, exact.omega, atol=1e-7)
        gap = duality_gap(problem, solution.omega, rho, penalize_bias)
        assert gap <= 1e-8 * solution.objective
    assert path.certificate.max() <= 1e-8
    assert np.isnan(path.curvature).all()
    order = np.argsort(RHOS)
    assert np.all(np.diff(path.retained[order]) <= 0)


@pytest.mark.parametrize("penalize_bias", [True, False])
@pytest.mark.parametrize("q", [0.5, 0.75])
def test_below_one_supports_are_nested_and_certified(q: float, penalize_bias: bool) -> None:
    problem = _problem()
    path = rho_path(problem, q, RHOS, penalize_bias=penalize_bias)
    assert path.converged.all()
    kept = [set(path.solutions[i].retained) for i in np.argsort(RHOS)]
    for denser, sparser in pairwise(kept):
        assert sparser <= denser
    assert len(kept[-1]) < len(kept[0])
    for solution in path.solutions:
        value = objective(problem, solution.omega, q, solution.rho, penalize_bias)
        assert solution.objective == pytest.approx(value, rel=1e-12)
        assert stationarity(problem, solution.omega, q, solution.rho, penalize_bias) < 1e-8
        assert smallest_curvature(problem, solution.omega, q, solution.rho, penalize_bias) > 0
    assert path.certificate.max() < 1e-8
    assert path.curvature.min() > 0


def test_starts_for_q_below_one() -> None:
    problem = _problem()
    near, ridge, best = (rho_path(problem, 0.5, RHOS, start=s) for s in ("neighbour", "ridge", "best"))
    for rho, solution in zip(RHOS, ridge.solutions, strict=True):
        np.testing.assert_array_equal(solution.omega, shrinking_mm(problem, 0.5, rho).omega)
    assert np.all(best.objective <= ridge.objective)
    densest = int(np.argmin(RHOS))
    np.testing.assert_array_equal(near.omegas[densest], ridge.omegas[densest])
    chain = shrinking_mm(problem, 0.5, 3e-3, start=near.omegas[2])
    np.testing.assert_array_equal(near.omegas[0], chain.omega)


@pytest.mark.parametrize("q", [1.5, 2.0])
def test_above_one_meets_the_oracle(q: float) -> None:
    problem = _problem(30)
    path = rho_path(problem, q, [0.1, 0.01])
    for solution in path.solutions:
        assert solution.objective == pytest.approx(oracle(problem, q, solution.rho).objective, rel=1e-6)
        assert len(solution.retained) == 30


@pytest.mark.parametrize("start", ["neighbour", "best"])
def test_above_one_each_is_solved_once_from_its_ridge_solution(
    monkeypatch: pytest.MonkeyPatch, start: paths.Start
) -> None:
    problem, solved = _problem(30), []

    def recorded(problem: Problem, q: float, rho: float, **options: object) -> object:
        solved.append((rho, options.get("start")))
        return shrinking_mm(problem, q, rho, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(paths, "shrinking_mm", recorded)
    rho_path(problem, 1.5, RHOS, start=start)
    assert solved == [(rho, None) for rho in sorted(RHOS)]


@pytest.mark.parametrize("penalize_bias", [True, False])
def test_what_is_zero_stays_zero(penalize_bias: bool) -> None:
    problem = _problem()
    path = rho_path(problem, 0.5, [1e-2, 1e3, 2e3], penalize_bias=penalize_bias)
    assert path.retained[0] > 0
    assert list(path.retained[1:]) == [0, 0]


def test_two_samples_and_equal_ones() -> None:
    pair = Problem(gram(("rbf", {"gamma": 1.0}), np.array([[0.0], [1.0]])), targets(np.array([True, False])))
    assert rho_path(pair, 0.5, [1e-3, 10.0]).retained.tolist() == [2, 0]
    half = _problem(30)
    twice = Problem(np.repeat(half.K, 2, axis=1), half.yhat)
    for q in (0.5, 1.0):
        path = rho_path(twice, q, [1e-3, 1e-2])
        assert path.converged.all()
        assert path.retained.max() <= 30


def test_messages_and_empty_paths() -> None:
    problem = _problem(6)
    with pytest.raises(ValueError, match=r'start must be "neighbour", "ridge" or "best", got \'cold\''):
        rho_path(problem, 0.5, RHOS, start="cold")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"q must be at most 2, got 2.5"):
        rho_path(problem, 2.5, [0.1])
    with pytest.raises(ValueError, match=r"rho must be a finite number > 0, got 0.0"):
        rho_path(problem, 1.0, [0.1, 0.0])
    assert len(rho_path(problem, 0.5, [])) == 0
    assert len(Path(()).objective) == 0
