"""The steps of both solvers of the support matrix machine: lengths, extrapolation, limits, calls."""

from __future__ import annotations

import numpy as np
import pytest

from marginbook.datasets.generators import make_low_rank
from marginbook.smm.solvers import nuclear_admm as directions
from marginbook.smm.solvers import nuclear_newton as steps
from marginbook.smm.solvers.hinge_block import solve_hinge_block
from marginbook.smm.solvers.nuclear_admm import nuclear_admm
from marginbook.smm.solvers.nuclear_newton import _step_length, nuclear_newton
from marginbook.smm.solvers.nuclear_norm import NuclearProblem, soft_threshold

SOLVERS = [nuclear_newton, nuclear_admm]


def problem(seed, n=40, shape=(4, 6), cost=1.0):
    sample = make_low_rank(n, shape, 1, random_state=seed)
    return NuclearProblem(sample.X, sample.y.astype(float), np.full(n, cost))


@pytest.mark.parametrize("solve", SOLVERS)
def test_the_problem_and_tau_go_by_name_and_what_follows_by_nothing_else(solve):
    data = problem(0)
    by_name = solve(problem=data, tau=2.0, max_iter=3)
    np.testing.assert_array_equal(by_name.coef, solve(data, 2.0, max_iter=3).coef)
    with pytest.raises(TypeError, match="positional argument"):
        solve(data, 2.0, by_name.multipliers)


@pytest.mark.parametrize("solve", SOLVERS)
def test_a_limit_may_be_a_number_of_numpy(solve):
    found = solve(problem(12), 2.0, tol=1e-14, max_iter=np.int64(2))
    assert (found.n_iter, found.converged) == (2, False)


def test_the_extrapolation_is_nesterovs(monkeypatch):
    """In the third step first, by what the second changed: the share follows from 1, 1.618 and 2.194."""
    data, terms = problem(9), {}

    def recorded(K, q, *values, **options):
        terms[restart].append(q)
        return solve_qp(K, q, *values, **options)

    solve_qp = directions.hinge_qp
    monkeypatch.setattr(directions, "hinge_qp", recorded)
    for restart in (True, False):
        terms[restart] = []
        nuclear_admm(data, 2.0, tol=0.0, max_iter=3, restart=restart)
    momentum = (1 + np.sqrt(5)) / 2
    share = (momentum - 1) / ((1 + np.sqrt(1 + 4 * momentum**2)) / 2)
    change = terms[False][2] - terms[False][1]
    ahead = terms[True][2] - terms[False][2]
    np.testing.assert_allclose(ahead, share * change, atol=1e-9 * np.abs(change).max())


def test_a_step_whose_zero_is_not_found_falls_all_along_and_is_never_nothing():
    """Next to its zero the derivative rises so fast that the thirty points are too few."""
    nothing, E, tau = np.zeros((1, 1)), np.full((1, 1), 1e8), 5e7
    t = _step_length(nothing, E, 1.0, tau, -1.0)
    assert 0.49 < t < 0.5
    assert (soft_threshold(t * E, tau)[0] * E).sum() < 1
    assert 0 < _step_length(nothing, np.full((1, 1), 1e20), 1.0, 0.0, -1.0) < 1e-20


def test_the_machine_without_a_nuclear_norm_leaves_the_tolerance_to_the_norm(monkeypatch):
    asked = []

    def solve(machine):
        asked.append(machine.tol)
        return solve_hinge_block(machine)

    monkeypatch.setattr(steps, "solve_hinge_block", solve)
    found = nuclear_newton(problem(12), 2.0, tol=1e-5, max_iter=1)
    assert not found.converged
    assert asked == [pytest.approx(1e-8)]


def test_a_model_stays_as_strictly_convex_as_a_millionth_of_the_gram_matrix(monkeypatch):
    """Each step goes a hundredth of the way, so that all succeed and the damping falls as far as it may."""
    sample, models, solve_qp = make_low_rank(20, (4, 6), 1, random_state=0), [], steps.hinge_qp
    data = NuclearProblem(sample.X, sample.y.astype(float), np.ones(20), False)

    def cautious(model, q, low, high, beta, **options):
        models.append(model)
        target, violation = solve_qp(model, q, low, high, beta, **options)
        return beta + 0.01 * (target - beta), violation

    monkeypatch.setattr(steps, "hinge_qp", cautious)
    nuclear_newton(data, 2.0, tol=0.0, max_iter=12)
    least = [np.linalg.eigvalsh(model)[0] / np.linalg.eigvalsh(data.gram)[0] for model in models]
    np.testing.assert_allclose(least, np.maximum(10.0 ** -np.arange(12), 1e-6), rtol=1e-3)
