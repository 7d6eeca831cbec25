"""Low-rank machines with kernels between rows: the linear ones in disguise, oracles, certificates, limits."""

from __future__ import annotations

import inspect
import pickle
import tracemalloc
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import SVC

from marginbook.smm.model.objective import LOSSES, loss_values, weights_for
from marginbook.smm.model.row_kernels import row_gram
from marginbook.smm.solvers import kernel_blocks, kernel_projection
from marginbook.smm.solvers.block import solve_inner
from marginbook.smm.solvers.block_descent import low_rank_svm
from marginbook.smm.solvers.block_gram import gram_machine
from marginbook.smm.solvers.kernel_block_descent import low_rank_kernel_svm, mapped_kernel_svm
from marginbook.smm.solvers.kernel_blocks import RowBlocks, complete
from marginbook.smm.solvers.kernel_problem import KernelProblem, Settings
from marginbook.smm.solvers.kernel_solution import KernelSolution

from .row_kernel_data import RBF, data, objective_of


def _begin(
    X: np.ndarray, y: np.ndarray, rank: int, lam: float, loss: str, w: np.ndarray, fit_intercept: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return random orthonormal U and the best V for it, (d2, r), as a start for linear machines."""
    U = np.linalg.qr(np.random.default_rng(99).standard_normal((X.shape[1], rank)))[0]
    Z = np.einsum("nap,ak->nkp", X, U).reshape(len(X), -1)
    found = solve_inner(Z, y, lam=lam, loss=loss, sample_weight=w, fit_intercept=fit_intercept, tol=1e-10)
    return U, found.weights.reshape(rank, -1).T


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_linear_kernel_is_the_linear_machine(loss: str, fit_intercept: bool) -> None:
    X, y, w = data()
    start = _begin(X, y, 2, 0.02, loss, w, fit_intercept)
    options: dict[str, Any] = {
        "rank": 2,
        "lam": 0.02,
        "loss": loss,
        "sample_weight": w,
        "fit_intercept": fit_intercept,
        "tol": 1e-8,
        "max_iter": 20,
    }
    plain = low_rank_svm(X, y, method="alternation", start=start, **options)
    found = low_rank_kernel_svm(X, y, kernel="linear", descent="alternation", start=start[0], **options)
    new = np.random.default_rng(1).standard_normal((20, 4, 3))
    assert_allclose(found.objective, plain.objective, rtol=1e-6)
    wanted = new.reshape(20, -1) @ plain.coef.ravel() + plain.intercept
    assert_allclose(found.decision(new), wanted, atol=1e-3 * np.abs(wanted).max())
    V = X.reshape(-1, 3).T @ found.C
    assert_allclose(found.U @ V.T, plain.coef, atol=1e-3 * np.abs(plain.coef).max())
    assert_allclose(np.linalg.norm(V, axis=0), np.linalg.svd(V, compute_uv=False), rtol=1e-6)
    assert_allclose(objective_of(found, X, y, w, 0.02, loss), found.objective, rtol=1e-9)
    assert found.lower_bound <= found.objective
    assert found.method == "gram"


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_the_slope_over_one_block_is_the_difference_of_its_optima(loss: str, monkeypatch: Any) -> None:
    X, y, w = data()
    seen = []

    def compared(value: Any, first: np.ndarray, **options: Any) -> None:
        rng = np.random.default_rng(0)
        at, along = first + 0.1 * rng.standard_normal(first.shape), rng.standard_normal(first.shape)
        ends = [value(at + step * along)[0] for step in (-1e-3, 1e-3)]
        seen.append((value(at)[1] @ along, (ends[1] - ends[0]) / 2e-3))

    monkeypatch.setattr(kernel_projection, "minimize", compared)
    low_rank_kernel_svm(X, y, kernel=RBF, rank=2, lam=0.02, loss=loss, sample_weight=w, tol=1e-9, max_iter=1)
    assert seen
    for slope, difference in seen:
        assert_allclose(slope, difference, rtol=1e-2)


def test_same_start_same_steps() -> None:
    X, y, _ = data(seed=3)
    rng = np.random.default_rng(4)
    U, V = rng.standard_normal((4, 2)), rng.standard_normal((3, 2))
    plain = low_rank_svm(
        X, y, rank=2, lam=0.05, loss="logistic", start=(U, V), max_iter=3, tol=0.0, method="alternation"
    )
    # the rows of the data span R^3: write V in them
    C = X.reshape(-1, 3) @ np.linalg.solve(X.reshape(-1, 3).T @ X.reshape(-1, 3), V)
    empty = low_rank_kernel_svm(X, y, rank=2, lam=0.05, kernel="linear", loss="logistic", max_iter=1)
    given = KernelSolution(
        **{**vars(empty), "U": U, "C": C, "intercept": 0.0, "multipliers": np.zeros(len(y))}
    )
    found = low_rank_kernel_svm(
        X,
        y,
        rank=2,
        lam=0.05,
        kernel="linear",
        loss="logistic",
        start=given,
        max_iter=3,
        tol=0.0,
        descent="alternation",
    )
    assert found.start == "given"
    assert not found.converged
    assert len(found.objective_path) == 7
    assert_allclose(found.objective_path, plain.objective_path, rtol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_degree_two_is_the_linear_machine_of_products(loss: str) -> None:
    X, y, _ = data(seed=5)
    products = np.einsum("nap,naq->napq", X, X).reshape(50, 4, 9)
    start = _begin(products, y, 2, 0.01, loss, np.ones(50), True)
    options: dict[str, Any] = {"rank": 2, "lam": 0.01, "loss": loss, "fit_intercept": True}
    options |= {"tol": 1e-8, "max_iter": 20}
    plain = low_rank_svm(products, y, method="alternation", start=start, **options)
    kernel = ("poly", {"degree": 2, "gamma": 1.0, "coef0": 0.0})
    found = low_rank_kernel_svm(X, y, kernel=kernel, descent="alternation", start=start[0], **options)
    assert_allclose(found.objective, plain.objective, rtol=1e-6)
    wanted = products.reshape(50, -1) @ plain.coef.ravel() + plain.intercept
    assert_allclose(found.decision(X), wanted, atol=1e-2)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_one_row_is_the_kernel_machine(fit_intercept: bool) -> None:
    X, _, _ = data(d1=1, d2=4, seed=6)
    y = np.where(X[:, 0, 0] * X[:, 0, 1] + 0.5 * X[:, 0, 2] > 0, 1.0, -1.0)
    lam = 0.01
    found = low_rank_kernel_svm(X, y, rank=1, lam=lam, kernel=RBF, fit_intercept=fit_intercept)
    assert found.converged
    assert found.global_gap <= 1e-6 * found.objective
    if fit_intercept:
        peer = SVC(C=1 / (2 * lam * len(y)), gamma=0.2, tol=1e-10).fit(X[:, 0], y)
        assert_allclose(found.decision(X), peer.decision_function(X[:, 0]), atol=2e-3)


def test_full_rank_is_the_trace_kernel() -> None:
    X, y, _ = data(seed=7)
    lam = 0.02
    found = low_rank_kernel_svm(X, y, rank=4, lam=lam, kernel=RBF, fit_intercept=True, tol=1e-9)
    traces = row_gram(RBF, X).reshape(50, 4, 50, 4).trace(axis1=1, axis2=3)
    assert_allclose(RowBlocks(row_gram(RBF, X), 4).traces(), traces)
    peer = SVC(C=1 / (2 * lam * 50), kernel="precomputed", tol=1e-10).fit(traces, y)
    assert_allclose(found.decision(X), peer.decision_function(traces), atol=1e-4)
    assert found.global_gap <= 1e-7


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_each_block_against_cvxpy(loss: str, fit_intercept: bool) -> None:
    X, y, w = data(n=25, d1=3, d2=2, seed=8)
    lam = 0.05
    values = row_gram(RBF, X)
    problem = KernelProblem(RowBlocks(values, 3), y, Settings(2, lam, loss, w, fit_intercept, 1e-8))
    H = np.linalg.cholesky(values + 1e-12 * np.eye(75)).reshape(25, 3, 75)

    def oracle(Z: np.ndarray) -> float:
        v, b = cp.Variable(Z.shape[1]), cp.Variable()
        margins = cp.multiply(y, Z @ v + (b if fit_intercept else 0.0))
        losses = {
            "hinge": cp.pos(1 - margins),
            "squared_hinge": cp.square(cp.pos(1 - margins)),
            "logistic": cp.logistic(-margins),
        }[loss]
        program = cp.Problem(cp.Minimize(w @ losses / 25 + lam * cp.sum_squares(v)))
        return float(program.solve(solver=cp.CLARABEL))

    Q = np.linalg.qr(np.random.default_rng(9).standard_normal((3, 2)))[0]
    right = problem.step_right(Q)
    assert_allclose(right.objective, oracle(np.einsum("nam,ak->nkm", H, Q).reshape(25, -1)), rtol=1e-6)
    assert_allclose(problem.value(right.U, right.C, right.intercept), right.objective, rtol=1e-9)
    left = problem.step_left(right)
    V = np.linalg.qr(H.reshape(75, 75).T @ right.C)[0]
    assert_allclose(left.objective, oracle((H @ V).reshape(25, -1)), rtol=1e-6)
    assert_allclose(problem.value(left.U, left.C, left.intercept), left.objective, rtol=1e-9)
    assert left.objective <= right.objective
    # multipliers of both are certificates: no machine of the rank is below, this one neither
    for state in (right, left):
        problem.offer(state.multipliers)
        assert 0 <= state.block_gap <= 1e-6
    assert problem.lower_bound <= left.objective


def test_the_bound_is_that_of_explicit_features() -> None:
    X, y, _ = data(n=20, d1=3, d2=2, seed=10)
    values = row_gram(RBF, X)
    H = np.linalg.cholesky(values + 1e-12 * np.eye(60)).reshape(20, 3, 60)
    c = np.random.default_rng(11).uniform(0, 1 / 20, 20)
    for rank in (1, 2, 3):
        settings = Settings(rank, 0.1, "hinge", np.ones(20), False, 1e-6)
        problem = KernelProblem(RowBlocks(values, 3), y, settings)
        outer = problem.offer(c)
        M = np.einsum("n,nam->am", c * y, H)
        assert_allclose(outer, M @ M.T, atol=1e-10)
        sigma = np.linalg.svd(M, compute_uv=False)
        assert_allclose(problem.lower_bound, c.sum() - np.sum(sigma[:rank] ** 2) / 0.4, rtol=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_path_restarts_and_warm_start(loss: str) -> None:
    X, y, _ = data(seed=12)
    options: dict[str, Any] = {"rank": 1, "lam": 0.005, "kernel": RBF, "loss": loss, "fit_intercept": True}
    first = low_rank_kernel_svm(X, y, **options)
    assert np.all(np.diff(first.objective_path) <= 0)
    assert first.converged
    assert first.start == "full"
    assert_allclose(first.objective_path[-1], first.objective)
    more = low_rank_kernel_svm(X, y, n_restarts=3, random_state=0, **options)
    again = low_rank_kernel_svm(X, y, n_restarts=3, random_state=0, **options)
    assert more.objective <= first.objective
    assert more.lower_bound >= first.lower_bound
    assert_array_equal(more.U, again.U)
    warm = low_rank_kernel_svm(X, y, start=first, **options)
    assert warm.start == "given"
    assert warm.n_iter <= first.n_iter
    assert_allclose(warm.objective_path[0], first.objective, rtol=1e-9)
    assert warm.objective <= first.objective * (1 + 1e-12)
    by_U = low_rank_kernel_svm(X, y, start=first.U, **options)
    assert_allclose(by_U.objective, first.objective, rtol=1e-3)
    other_rows = low_rank_kernel_svm(X[:40], y[:40], start=first, **options)
    assert other_rows.start == "given"
    copy = pickle.loads(pickle.dumps(first))
    assert_array_equal(copy.decision(X), first.decision(X))


def test_levels_along_a_path() -> None:
    X, y, _ = data(n=40, seed=13)
    found: KernelSolution | None = None
    shares = []
    for pi in (0.2, 0.5, 0.8):
        found = low_rank_kernel_svm(
            X,
            y,
            rank=2,
            lam=0.02,
            kernel=RBF,
            sample_weight=weights_for(pi, y),
            fit_intercept=True,
            start=found,
        )
        assert found.lower_bound <= found.objective
        shares.append(float(np.mean(found.decision(X) > 0)))
    assert shares[0] >= shares[1] >= shares[2]


@pytest.mark.parametrize("loss", LOSSES)
def test_landmarks_of_all_rows_change_nothing(loss: str) -> None:
    X, y, w = data(n=30, d1=3, d2=2, seed=14)
    options: dict[str, Any] = {
        "rank": 2,
        "lam": 0.02,
        "loss": loss,
        "kernel": ("poly", {"degree": 2, "coef0": 0.5}),
        "sample_weight": w,
        "fit_intercept": True,
        "tol": 1e-8,
    }
    gram = low_rank_kernel_svm(X, y, **options)
    found = low_rank_kernel_svm(X, y, max_rows=10, **options)
    assert (gram.method, found.method) == ("gram", "features")
    assert gram.missed == 0
    assert found.missed <= 1e-9
    assert_allclose(found.objective, gram.objective, rtol=1e-5)
    assert_allclose(found.decision(X), gram.decision(X), atol=2e-2)
    assert_allclose(objective_of(found, X, y, w, 0.02, loss), found.objective, rtol=1e-7)
    assert_allclose(found.U.T @ found.U, np.eye(2), atol=1e-12)
    warm = low_rank_kernel_svm(X, y, max_rows=10, start=gram, **options)
    assert warm.objective <= gram.objective * (1 + 1e-6)
    back = low_rank_kernel_svm(X, y, start=found, **options)
    assert back.objective <= gram.objective * (1 + 1e-3)
    by_U = low_rank_kernel_svm(X, y, max_rows=10, start=gram.U[:, :1], **options)
    assert by_U.start == "given"


def test_few_landmarks_are_stated() -> None:
    X, y, _ = data(seed=15)
    few = low_rank_kernel_svm(X, y, rank=1, lam=0.01, kernel=RBF, max_rows=100, max_features=20)
    assert few.method == "features"
    assert few.C.shape == (20, 1)
    assert 0 < few.missed < 0.5
    exact = low_rank_kernel_svm(X, y, rank=1, lam=0.01, kernel=RBF)
    assert np.corrcoef(few.decision(X), exact.decision(X))[0, 1] > 0.8
    fewer = low_rank_kernel_svm(X, y, rank=2, lam=0.01, kernel=RBF, max_rows=100, max_features=1)
    assert fewer.U.shape == (4, 2)
    assert np.isfinite(fewer.decision(X)).all()


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_degenerate_inputs(loss: str, fit_intercept: bool) -> None:
    X, y, _ = data(n=12, d1=3, d2=2, seed=16)
    one = -np.ones(12)
    one[4] = 1.0
    constant = X.copy()
    constant[:, :, 1] = 1.0
    for matrices, signs, kernel in (
        (np.zeros_like(X), y, "linear"),
        (np.ones_like(X), y, RBF),
        (constant, y, RBF),
        (np.repeat(X[:3], 4, axis=0), y, RBF),
        (X, one, RBF),
        (X[:1], y[:1], RBF),
        (1e6 * X, y, "linear"),
        (1e-6 * X, y, "linear"),
        (X, y, ("rbf", {"gamma": 1e6})),
        (X, y, ("rbf", {"gamma": 0.0})),
    ):
        for lam in (1e-5, 1e3):
            found = low_rank_kernel_svm(
                matrices, signs, rank=2, lam=lam, kernel=kernel, loss=loss, fit_intercept=fit_intercept
            )
            w = np.ones(len(signs))
            assert found.U.shape == (3, 2)
            assert np.all(np.diff(found.objective_path) <= 0)
            value = objective_of(found, matrices, signs, w, lam, loss)
            assert_allclose(value, found.objective, rtol=1e-5, atol=1e-9)
            assert found.lower_bound <= found.objective * (1 + 1e-9) + 1e-12
            at_zero = float(np.mean(loss_values(np.zeros(len(signs)), loss)))
            assert found.objective <= at_zero * (1 + 1e-9)


def test_zero_weights_are_no_samples() -> None:
    X, y, w = data(n=30, seed=17)
    w[20:] = 0.0
    options: dict[str, Any] = {"rank": 1, "kernel": RBF, "fit_intercept": True, "tol": 1e-8}
    found = low_rank_kernel_svm(X, y, lam=0.02, sample_weight=w, **options)
    # the mean is over all samples, those without weight too
    fewer = low_rank_kernel_svm(X[:20], y[:20], lam=0.03, sample_weight=w[:20], **options)
    assert_allclose(found.objective * 30, fewer.objective * 20, rtol=1e-6)
    assert_allclose(found.decision(X), fewer.decision(X), atol=1e-3)
    assert_array_equal(found.multipliers[20:], 0.0)


@pytest.mark.parametrize("loss", LOSSES)
def test_gram_machine_returns_what_it_evaluates(loss: str) -> None:
    rng = np.random.default_rng(18)
    for rank in (3, 20):
        R = rng.standard_normal((20, rank))
        gram, y = R @ R.T, np.where(rng.standard_normal(20) > 0, 1.0, -1.0)
        for tol in (1e-1, 1e-9):
            found = gram_machine(
                gram, y, lam=0.05, loss=loss, sample_weight=np.ones(20), fit_intercept=True, tol=tol
            )
            decisions = gram @ found.weights + found.intercept
            value = np.mean(loss_values(y * decisions, loss)) + 0.05 * found.weights @ gram @ found.weights
            assert_allclose(found.objective, value)
            assert found.dual_gap <= (tol + 1e-9) * value
        start = gram @ found.weights, found.intercept
        warm = gram_machine(
            gram,
            y,
            lam=0.05,
            loss=loss,
            sample_weight=np.ones(20),
            fit_intercept=True,
            tol=1e-6,
            start=start,
            multipliers=found.multipliers,
        )
        assert warm.n_iter <= 1


def test_the_outer_product_takes_pieces_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = data(n=200)
    blocks = RowBlocks(row_gram("linear", X), X.shape[1])
    M = np.tensordot(y, X, axes=1)
    monkeypatch.setattr(kernel_blocks, "PIECE", 2)
    tracemalloc.start()
    found = blocks.outer(y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert_allclose(found, M @ M.T, atol=1e-9)
    assert peak < blocks.values.nbytes / 8


def test_defaults_are_those_for_rows_that_are_not_mapped_yet() -> None:
    plain, mapped = (inspect.signature(f).parameters for f in (low_rank_kernel_svm, mapped_kernel_svm))
    for name in mapped.keys() & plain.keys():
        assert mapped[name].default == plain[name].default


def test_bases_fill_up() -> None:
    X, y, _ = data(n=10, d1=3, d2=4, seed=19)
    values = row_gram(RBF, X)
    blocks = RowBlocks(values, 3)
    C = np.random.default_rng(20).standard_normal((30, 1))
    for wide in (np.hstack([C, 2 * C, -C]), np.hstack([C, 0 * C, 0 * C]), np.zeros((30, 3))):
        P, Z = blocks.basis(wide, y)
        assert P.shape == (30, 3)
        assert_allclose(P.T @ values @ P, np.eye(3), atol=1e-9)
        assert_allclose(Z.reshape(30, 3), values @ P, atol=1e-9)
        inside = P @ (P.T @ values @ wide)
        assert_allclose(values @ inside, values @ wide, atol=1e-8)
    assert blocks.basis(np.zeros((30, 2)), 0 * y)[0].shape == (30, 0)
    outer = np.diag([1.0, 3.0, 2.0])
    assert_allclose(np.abs(complete(np.zeros((3, 1)), outer, 2)), [[0, 0], [1, 0], [0, 1]], atol=1e-12)
    grown = complete(np.array([[0.0, 0.0], [2.0, 4.0], [0.0, 0.0]]), outer, 2)
    assert_allclose(np.abs(grown), [[0, 0], [1, 0], [0, 1]], atol=1e-12)
    assert complete(np.zeros((3, 0)), outer, 3).shape == (3, 3)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_no_tolerance_asks_for_what_rounding_allows(fit_intercept: bool) -> None:
    X, y, _ = data(n=30)
    options: dict[str, Any] = {"rank": 1, "lam": 0.03, "fit_intercept": fit_intercept}
    found = low_rank_kernel_svm(X, y, loss="squared_hinge", tol=0.0, **options)
    assert found.converged
    assert found.block_gap <= 1e-8 * found.objective


def test_errors() -> None:
    X, y, _ = data(n=10)
    good: dict[str, Any] = {"rank": 1, "lam": 0.1}
    for change, message in (
        ({"rank": 0}, "rank must be a whole number between 1 and d1 = 4, got 0"),
        ({"rank": 5}, "d1 = 4, got 5"),
        ({"rank": 1.5}, "d1 = 4, got 1.5"),
        ({"lam": 0.0}, "lam must be a finite number > 0, got 0.0"),
        ({"loss": "exp"}, "loss must be one of"),
        ({"start": np.ones((3, 1))}, r"start has shape \(3, 1\), wanted \(4, 1\)"),
        ({"kernel": "precomputed"}, "cannot be 'precomputed'"),
        ({"kernel": lambda x, z: float(np.tanh(x @ z - 1))}, "choose another"),
        ({"sample_weight": -np.ones(10)}, "sample_weight"),
    ):
        with pytest.raises(ValueError, match=message):
            low_rank_kernel_svm(X, y, **{**good, **change})
    with pytest.raises(ValueError, match="y has shape"):
        low_rank_kernel_svm(X, y[:5], **good)
    with pytest.raises(ValueError, match=r"\(n, d1, d2\) array"):
        low_rank_kernel_svm(X[0], y, **good)
    found = low_rank_kernel_svm(X, y, **good)
    with pytest.raises(ValueError, match="cannot be compared with matrices of 4 x 3"):
        found.decision(X[:, :2])
    with pytest.raises(ValueError, match="cannot be compared"):
        low_rank_kernel_svm(X[:, :2], y, start=found, **good)
