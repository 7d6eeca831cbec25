"""The certificates that solvers, paths and estimators hand on, against those of the model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from marginbook.kfda.estimators import training
from marginbook.kfda.estimators.training import STATIONARY, certificate
from marginbook.kfda.model.certificates import duality_gap, kkt_residual, smallest_curvature, stationarity
from marginbook.kfda.model.objective import Problem, objective, targets
from marginbook.kfda.solvers.lasso import _Search, _violation
from marginbook.kfda.solvers.paths import Path
from marginbook.kfda.solvers.solution import Solution

from .test_plain import rbf_problem


@pytest.mark.parametrize("penalize_bias", [True, False])
@pytest.mark.parametrize("rho", [0.05, 0.7, 5.0])
def test_the_lassos_gap_and_violation_are_those_of_the_model(rho: float, penalize_bias: bool) -> None:
    problem = rbf_problem(16, n_positive=5)
    search, lam = _Search(problem, 1e-8, penalize_bias), rho * 16
    rng = np.random.default_rng(0)
    for size in (1.0, 0.1, 0.0):
        omega = size * rng.standard_normal(17) * (rng.random(17) < 0.5)
        omega[0] = -0.4 * size
        r = problem.yhat - problem.design @ omega
        g = problem.design.T @ r
        expected = duality_gap(problem, omega, rho, penalize_bias)
        assert search._gap(lam, omega, r, g) == pytest.approx(expected, rel=1e-10, abs=1e-12)
        violated = _violation(omega, g, lam * search.weights)
        assert violated == pytest.approx(lam * kkt_residual(problem, omega, rho, penalize_bias), rel=1e-10)


def test_the_lassos_gap_without_features_is_what_the_penalty_costs() -> None:
    problem = Problem(np.zeros((4, 2)), targets(np.array([True, False, True, False])))
    search = _Search(problem, 1e-8, True)
    for omega in (np.zeros(3), np.array([0.0, 2.0, -1.0])):
        gap = search._gap(0.4, omega, problem.yhat, np.zeros(3))
        assert gap == pytest.approx(0.4 * np.abs(omega).sum(), abs=1e-15)


def solution(**certified: Any) -> Solution:
    nothing = np.zeros(2)
    return Solution(
        omega=nothing, q=1.0, rho=0.1, n_iter=0, converged=True, penalize_bias=True,
        objective_path=nothing, retained_path=nothing.astype(int), **({"objective": 4.0} | certified),
    )  # fmt: skip


def test_a_bias_is_penalised_unless_a_solution_says_that_it_is_not() -> None:
    nothing = np.zeros(1)
    assert Solution(nothing, 1.0, 0.1, 0.0, nothing, nothing, 0, True).penalize_bias


def test_a_path_has_the_gap_as_a_share_or_else_the_stationarity() -> None:
    path = Path(
        (
            solution(dual_gap=1.0, stationarity=9.0),
            solution(stationarity=0.125),
            solution(),
            solution(dual_gap=0.0, objective=0.0),
        )
    )
    np.testing.assert_array_equal(path.certificate, [0.25, 0.125, np.nan, 0.0])


@pytest.mark.parametrize("q", [0.5, 0.75, 1.0, 1.5, 2.0])
@pytest.mark.parametrize("penalize_bias", [True, False])
def test_each_q_has_its_certificates(q: float, penalize_bias: bool) -> None:
    problem = rbf_problem(10)
    omega = np.linspace(-1, 2, 11)
    at = (problem, omega, q, 0.1, penalize_bias)
    found = certificate(*at)
    expected = {"objective_": objective(*at)}
    if q == 1:
        expected["kkt_residual_"] = kkt_residual(problem, omega, 0.1, penalize_bias)
    else:
        expected["stationarity_"] = stationarity(*at)
    if q >= 1:
        expected["dual_gap_"] = duality_gap(problem, omega, 0.1, penalize_bias, q)
    else:
        expected |= {"curvature_": smallest_curvature(*at), "is_local_minimum_": False}
    assert found == expected


@pytest.mark.parametrize(
    ("stationary", "curvature", "minimum"),
    [
        (STATIONARY, 1e-9, True), (1.001 * STATIONARY, 1.0, False), (0.0, 0.0, False), (0.0, -1.0, False),
        (STATIONARY, 0.0, False), (2 * STATIONARY, -1.0, False),
    ],
)  # fmt: skip
def test_a_local_minimum_is_stationary_and_has_positive_curvature(
    monkeypatch: pytest.MonkeyPatch, stationary: float, curvature: float, minimum: bool
) -> None:
    monkeypatch.setattr(training, "stationarity", lambda *_: stationary)
    monkeypatch.setattr(training, "smallest_curvature", lambda *_: curvature)
    found = certificate(rbf_problem(6), np.ones(7), 0.5, 0.1, True)
    assert found["is_local_minimum_"] == minimum
