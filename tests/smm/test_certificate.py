"""The best point and multipliers that are kept, their gap, and the warning of machines that stopped."""

from __future__ import annotations

import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from marginbook.smm.estimators.certificates import last_change, warn_unconverged
from marginbook.smm.solvers.block_descent import CERTIFIED, _certified
from marginbook.smm.solvers.block_problem import BlockProblem
from marginbook.smm.solvers.certificate import Certificate, Point
from marginbook.smm.solvers.nuclear_record import Record
from marginbook.smm.solvers.solution import LowRankSolution

Z = np.array([[1.0, 0.0], [0.0, 2.0]])
Y = np.array([1.0, -1.0])


def certificate(loss: str = "hinge", tol: float = 0.1) -> Certificate:
    """Two orthogonal rows, lambda 1/4, shares of the loss 1/2 and 3/2."""
    return Certificate(BlockProblem(Z, Y, 0.25, np.array([1.0, 3.0]), False, tol, loss))


def point(w: list[float], b: float = 0.0) -> Point:
    return Point(np.array(w), b, Y * (Z @ np.array(w) + b))


def test_before_any_point_nothing_is_known() -> None:
    found = certificate()
    assert (found.objective, found.dual, found.gap) == (np.inf, -np.inf, np.inf)
    assert (found.w.tolist(), found.b, found.multipliers.tolist()) == ([0.0, 0.0], 0.0, [0.0, 0.0])
    assert found.trivial == 2.0
    assert point([0.0, 0.0]).n_iter == 0


def test_objective_and_dual_of_the_hinge_by_hand() -> None:
    """w = (1/2, -1/4): both margins are 1/2. c = (1/4, 1/8) gives M = (1/4, -1/4), 1/4 lambda = 1."""
    found = certificate()
    assert not found.offer(point([0.5, -0.25]), np.array([0.25, 0.125]))
    assert found.objective == pytest.approx(0.5 * 0.5 + 1.5 * 0.5 + 0.25 * 0.3125)
    assert found.dual == pytest.approx(0.375 - 0.125)
    assert found.gap == found.objective - found.dual


def test_objective_and_dual_of_the_squared_hinge_by_hand() -> None:
    """The conjugate of share * (1 - z)^2 at -c is -c + c^2 / (4 share)."""
    found = certificate("squared_hinge")
    found.offer(point([0.5, -0.25]), np.array([0.25, 0.125]))
    assert found.objective == pytest.approx(0.5 * 0.25 + 1.5 * 0.25 + 0.25 * 0.3125)
    assert found.dual == pytest.approx(0.375 - 0.0625 / 2 - 0.015625 / 6 - 0.125)


def test_the_better_point_and_the_better_multipliers_stay() -> None:
    found = certificate()
    found.offer(point([0.5, -0.25], 0.1), np.array([0.25, 0.125]))
    kept = found.objective, found.dual, found.b
    found.offer(point([0.0, 0.0]), np.array([0.1, 0.0]))
    assert (found.objective, found.dual, found.b) == kept
    assert found.w.tolist() == [0.5, -0.25]
    assert found.multipliers.tolist() == [0.25, 0.125]


def test_the_first_of_equal_points_and_multipliers_stays() -> None:
    """Where both rows weigh the same, so do the losses at b and -b."""
    found = Certificate(BlockProblem(Z, Y, 0.25, np.ones(2), True, 0.1))
    for b in (0.5, -0.5):
        found.offer(Point(np.zeros(2), b, Y * b), np.zeros(2))
    assert found.b == 0.5
    assert found.objective == 1.0
    # without an intercept c = (1/2, 0) has the bound 1/2 - 1/4, and (1/2, 1/4) has 3/4 - 1/2
    other = certificate()
    for c in ([0.5, 0.0], [0.5, 0.25], [0.0, 0.0]):
        other.offer(point([0.0, 0.0]), np.array(c))
        assert (other.dual, other.multipliers.tolist()) == (0.25, [0.5, 0.0])


def test_a_gap_is_asked_relative_to_the_objective_or_a_little_of_that_at_zero() -> None:
    found = certificate(tol=0.1)
    for objective, dual, met in (
        (1.0, 0.9001, True), (1.0, 0.8999, False), (1e-7, 1e-7 - 1.9e-6, True), (1e-7, 1e-7 - 2.1e-6, False),
        (0.0, 0.0, True), (0.5, 0.6, True), (-1.0, -1.0999, True),
    ):  # fmt: skip
        found.objective, found.dual = objective, dual
        assert found.met == met
        assert found.gap == max(0.0, objective - dual)
    exactly = certificate(tol=0.125)
    exactly.objective, exactly.dual = 1.0, 0.875
    assert exactly.met


def test_multipliers_are_not_tried_where_the_gradient_says_that_the_gap_is_large() -> None:
    """To first order it is norm / 4 lambda: that must be ten times as large as the gap that is asked for."""
    start = point([0.5, -0.25])
    scale = 0.5 * 0.5 + 1.5 * 0.5 + 0.25 * 0.3125
    limit = 4 * 0.25 * 10 * 0.125 * scale  # a binary fraction
    for factor, tried in ((0.999, True), (1.0, True), (1.001, False)):
        found = certificate(tol=0.125)
        assert not found.offer(start, np.array([0.25, 0.125]), factor * limit)
        assert np.isfinite(found.dual) == tried
        assert found.objective == pytest.approx(scale)
    tiny = certificate(tol=0.1)
    tiny.objective = 1e-9
    for norm, tried in ((1.9e-5, True), (2.1e-5, False)):
        tiny.dual = -np.inf
        tiny.offer(start, np.array([0.25, 0.125]), norm)
        assert np.isfinite(tiny.dual) == tried


def test_a_solution_without_multipliers_has_the_bound_zero() -> None:
    found = certificate()
    found.offer(point([0.5, -0.25]), np.zeros(2), np.inf)
    end = found.solution(3)
    assert (end.objective, end.dual_gap, end.n_iter, end.converged) == (
        found.objective,
        found.objective,
        3,
        False,
    )
    other = certificate()
    other.offer(point([0.5, -0.25]), np.array([0.25, 0.125]))
    assert other.solution(3).dual_gap == pytest.approx(other.objective - 0.25)


def test_a_bound_above_the_objective_by_rounding_leaves_no_gap() -> None:
    one = np.ones((1, 1))
    low_rank = LowRankSolution(one, one, one, 0.0, one[0], 1.0, 1.25, 0.0, one[0], 1, True, "given")
    assert low_rank.global_gap == 0.0
    assert replace(low_rank, lower_bound=0.75).global_gap == 0.25


def test_the_gap_of_the_nuclear_norm_is_relative_to_the_objective() -> None:
    record = Record(SimpleNamespace(null_objective=1e3), 1.0, 0.1)  # type: ignore[arg-type]
    record.objective, record.lower_bound = 4.0, 3.0
    assert record.gap == 0.25
    record.lower_bound = 5.0
    assert record.gap == 0.0
    record.objective, record.lower_bound = 1e-12, 0.0
    assert record.gap == pytest.approx(1e-3)  # of 1e-12 times the objective at B = 0


@pytest.mark.parametrize(("share", "certified"), [(0.999, True), (1.001, False)])
@pytest.mark.parametrize("objective", [2.0, 0.5])
def test_a_bound_that_certifies_is_near_relative_to_the_objective(
    share: float, certified: bool, objective: float
) -> None:
    best = SimpleNamespace(objective=objective)
    assert _certified(best, objective - share * CERTIFIED * objective) == certified  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ([3.0], 0.0),
        ([3.0, 2.0], 0.5),
        ([4.0, 3.0, 2.0], 1.0),
        ([9.0, 4.0, 3.0, 2.0], 1.0),
        ([-1.0, -2.0], 0.5),
    ],
)
def test_a_sweep_is_two_blocks(path: list[float], change: float) -> None:
    assert last_change(np.array(path)) == change


def machine(converged: bool, path: list[float], n_iter: int = 1, gap: float = 0.0) -> SimpleNamespace:
    return SimpleNamespace(converged=converged, objective_path=np.array(path), n_iter=n_iter, block_gap=gap)


def warned(found: list[SimpleNamespace], tol: float) -> str:
    with pytest.warns(ConvergenceWarning) as caught:
        warn_unconverged("Machine", found, tol)  # type: ignore[arg-type]
    return str(caught[0].message)


def test_the_warning_is_of_the_worst_machine() -> None:
    done = machine(True, [9.0, 1.0], 99)
    slow, slower = machine(False, [3.0, 2.0], 5), machine(False, [4.0, 2.0], 4)
    told = warned([done, slow, slower], 0.1)
    assert "Machine stopped after 5 sweeps for 2 of 3 machines: the last one lowered" in told
    assert "by a share of 1.0e+00, above tol=1.0e-01; raise max_iter or lam" in told
    assert "after 5 sweeps: the last" in warned([slow], 0.1)
    stuck = [machine(False, [2.5, 2.0], 5, 1e-3), machine(False, [2.0, 2.0], 2, 2e-3)]
    for tol in (0.25, 0.3):
        assert "a duality gap of 2.0e-03, which rounding keeps open; raise lam or" in warned(stuck, tol)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_unconverged("Machine", [done], 1e-9)  # type: ignore[list-item]
