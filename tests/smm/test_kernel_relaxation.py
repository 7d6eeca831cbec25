"""The descent over projections, its convex relaxation, features as blocks, and any problem at all."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from marginbook.smm.model.objective import LOSSES, loss_values, objective
from marginbook.smm.model.row_kernels import row_gram
from marginbook.smm.solvers import kernel_relaxation
from marginbook.smm.solvers.kernel_block_descent import low_rank_kernel_svm
from marginbook.smm.solvers.kernel_blocks import RowBlocks
from marginbook.smm.solvers.kernel_landmarks import FeatureProblem
from marginbook.smm.solvers.kernel_problem import KernelProblem, Settings
from marginbook.smm.solvers.kernel_relaxation import fantope, relax

from .row_kernel_data import RBF, data, objective_of


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_relaxation_against_cvxpy(loss: str, fit_intercept: bool) -> None:
    X, y, w = data(n=20, d1=3, d2=3, seed=21)
    lam, rank = 0.03, 1
    problem = KernelProblem(
        RowBlocks(row_gram("linear", X), 3), y, Settings(rank, lam, loss, w, fit_intercept, 1e-7)
    )
    S, value = relax(problem, np.eye(3) * rank / 3, tol=1e-5, max_iter=300)
    B, T, b = cp.Variable((3, 3)), cp.Variable((3, 3), PSD=True), cp.Variable()
    margins = cp.multiply(y, X.reshape(20, 9) @ cp.vec(B, order="C") + (b if fit_intercept else 0.0))
    losses = {
        "hinge": cp.pos(1 - margins),
        "squared_hinge": cp.square(cp.pos(1 - margins)),
        "logistic": cp.logistic(-margins),
    }[loss]
    norm = sum(cp.matrix_frac(B[:, k], T) for k in range(3))
    program = cp.Problem(cp.Minimize(w @ losses / 20 + lam * norm), [T << np.eye(3), cp.trace(T) == rank])
    oracle = program.solve(solver=cp.CLARABEL)
    assert_allclose(value, oracle, rtol=1e-4)
    assert oracle * (1 - 2e-4) <= problem.lower_bound <= oracle * (1 + 1e-5)
    assert_allclose(np.trace(S), rank)
    assert np.linalg.eigvalsh(S).min() >= -1e-12
    assert np.linalg.eigvalsh(S).max() <= 1 + 1e-12


@pytest.mark.parametrize("lam", [0.01, 2.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_gap_of_a_step_is_from_its_value_to_the_bound_of_its_multipliers(loss: str, lam: float) -> None:
    X, y, w = data(n=20, d1=3, d2=3, seed=22)
    problem = KernelProblem(RowBlocks(row_gram("linear", X), 3), y, Settings(1, lam, loss, w, False, 1e-7))
    found = kernel_relaxation._at_projection(problem, np.eye(3) / 3, None, 0.0)
    assert found.gap > 0
    assert_allclose(found.gap, found.value - problem.lower_bound, rtol=1e-3)


def test_what_makes_multipliers_unique_gets_smaller_in_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    ridges = []

    def searched(
        problem: KernelProblem, S: np.ndarray, c: np.ndarray, ridge: float, **_: Any
    ) -> tuple[np.ndarray, int]:
        ridges.append(ridge)
        return S, 1

    monkeypatch.setattr(kernel_relaxation, "_search", searched)
    X, y, w = data(n=20, d1=3, d2=3, seed=22)
    for loss in ("hinge", "logistic"):
        chosen = Settings(1, 0.03, loss, w, False, 1e-7)
        problem = KernelProblem(RowBlocks(row_gram("linear", X), 3), y, chosen)
        relax(problem, np.eye(3) / 3, tol=0.0, max_iter=9)
    assert ridges.pop() == 0  # a smooth loss needs none, and is searched once
    assert len(ridges) > 1
    assert ridges[-1] > 0
    assert (np.diff(ridges) < 0).all()


def test_relaxation_is_a_start_and_a_bound() -> None:
    X, y, _ = data(seed=22)
    options: dict[str, Any] = {"rank": 1, "lam": 0.01, "kernel": RBF, "fit_intercept": True}
    plain = low_rank_kernel_svm(X, y, **options)
    relaxed = low_rank_kernel_svm(X, y, relaxation=60, **options)
    assert relaxed.objective <= plain.objective
    assert plain.lower_bound < relaxed.lower_bound <= relaxed.objective
    # with a strong penalty the leading pair stands apart, and the solution is proved to be global
    options["lam"] = 0.5
    proved = low_rank_kernel_svm(X, y, relaxation=60, **options)
    assert proved.global_gap <= 1e-4 * proved.objective
    assert low_rank_kernel_svm(X, y, relaxation=5, **{**options, "rank": 4}).start == "full"


@pytest.mark.parametrize("seed", [4, 5])
def test_relaxation_that_ends_in_a_projection_is_the_solution(seed: int) -> None:
    """A poor U as the only other start, and a single sweep: nothing else comes so near to the bound."""
    X, y, _ = data(n=20, seed=seed)
    found = low_rank_kernel_svm(
        X, y, rank=2, lam=0.5, kernel="linear", loss="squared_hinge",
        start=np.eye(4)[:, :1], relaxation=100, max_iter=1, descent="alternation",
    )  # fmt: skip
    assert found.start == "relaxed"
    assert found.global_gap <= 5e-5 * found.objective


def test_fantope_is_the_nearest() -> None:
    S = np.random.default_rng(23).standard_normal((4, 4))
    found = fantope(S, 2)
    T = cp.Variable((4, 4), PSD=True)
    program = cp.Problem(cp.Minimize(cp.sum_squares(T - (S + S.T) / 2)), [T << np.eye(4), cp.trace(T) == 2])
    program.solve(solver=cp.CLARABEL)
    assert_allclose(found, T.value, atol=1e-4)
    assert_allclose(fantope(found, 2), found, atol=1e-12)
    assert_allclose(fantope(S, 4), np.eye(4), atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_projection_ends_where_both_blocks_are_optimal(loss: str) -> None:
    X, y, _ = data(n=60, seed=24)
    options: dict[str, Any] = {"rank": 2, "lam": 0.003, "kernel": RBF, "loss": loss, "fit_intercept": True}
    found = low_rank_kernel_svm(X, y, tol=1e-9, **options)
    other = low_rank_kernel_svm(X, y, tol=1e-9, descent="alternation", **options)
    assert found.objective <= other.objective * (1 + 1e-7)
    assert np.all(np.diff(found.objective_path) <= 0)
    signed = found.multipliers * y
    outer = RowBlocks(row_gram(RBF, X), 4).outer(signed)
    image = outer @ found.U
    leak = image - found.U @ (found.U.T @ image)
    assert np.linalg.norm(leak) <= 2e-3 * np.linalg.norm(image)
    if loss == "hinge":  # turns of the blocks end on a kink
        assert found.objective < 0.99 * other.objective


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("n", "m"), [(60, 3), (12, 9)])
def test_features_as_blocks_are_the_rows_as_blocks(loss: str, n: int, m: int) -> None:
    X, y, w = data(n=n, d1=4, d2=m, seed=25)
    settings = Settings(2, 0.02, loss, w, True, 1e-9)
    rows = KernelProblem(RowBlocks(row_gram("linear", X), 4), y, settings)
    features = FeatureProblem(X, y, settings)
    full, its = rows.full(), features.full()
    assert_allclose(its.objective, full.objective, rtol=1e-2)
    Q = np.linalg.qr(np.random.default_rng(26).standard_normal((4, 2)))[0]
    right, other = rows.step_right(Q), features.step_right(Q)
    left, other_left = rows.step_left(right), features.step_left(other)
    again = features.step_right(np.linalg.qr(other_left.U)[0], other_left)
    assert_allclose(other.objective, right.objective, rtol=1e-7)
    assert_allclose(other_left.objective, left.objective, rtol=1e-6)
    assert again.objective <= other_left.objective
    for state in (other, other_left, again):
        coef = state.U @ state.C.T
        exact = objective(coef, state.intercept, X, y, lam=0.02, loss=loss, sample_weight=w)
        assert_allclose(state.objective, exact, rtol=1e-9)
        assert_allclose(features.value(state.U, state.C, state.intercept), exact, rtol=1e-9)
        assert_allclose(features.offer(state.multipliers), rows.offer(state.multipliers), atol=1e-10)
    assert features.lower_bound <= again.objective


@settings(max_examples=12)
@given(st.integers(0, 10**6), st.sampled_from(LOSSES), st.booleans(), st.booleans())
def test_certificates_of_any_problem(seed: int, loss: str, fit_intercept: bool, by_rows: bool) -> None:
    rng = np.random.default_rng(seed)
    n, d1, d2 = (int(rng.integers(low, high)) for low, high in ((2, 20), (1, 5), (1, 4)))
    X = np.round(rng.standard_normal((n, d1, d2)), 0 if seed % 2 else 3)
    y = np.where(rng.standard_normal(n) > 0, 1.0, -1.0)
    w = rng.uniform(0, 2, n) * (rng.random(n) > 0.2)
    lam = 10.0 ** rng.uniform(-4, 1)
    kernel = ["linear", RBF, ("poly", {"degree": 2, "coef0": 1.0})][rng.integers(3)]
    found = low_rank_kernel_svm(
        X,
        y,
        rank=int(rng.integers(1, d1 + 1)),
        lam=lam,
        kernel=kernel,
        loss=loss,
        sample_weight=w,
        fit_intercept=fit_intercept,
        relaxation=3,
        max_rows=8000 if by_rows else 1,
    )
    assert_allclose(objective_of(found, X, y, w, lam, loss), found.objective, rtol=1e-5, atol=1e-9)
    assert found.lower_bound <= found.objective * (1 + 1e-8) + 1e-12
    assert found.objective <= float(w @ loss_values(np.zeros(n), loss)) / n * (1 + 1e-9) + 1e-12
    assert np.all(np.diff(found.objective_path) <= 0)
