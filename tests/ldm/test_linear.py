"""The linear LDM by coordinate descent: cvxpy, LinearSVC, the kernel form, and awkward data."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.svm import LinearSVC

from marginbook.kernels import KernelOverflow
from marginbook.ldm.model.linear import linear_objective, squared_norms, unsigned
from marginbook.ldm.model.whitening import WhitenedGram
from marginbook.ldm.solvers import active_set
from marginbook.ldm.solvers.linear_cd import linear_coordinate_descent, solve_linear
from marginbook.ldm.solvers.linear_cd_passes import csr_pass, dense_pass, gap_share, pair_step
from marginbook.ldm.solvers.linear_cd_state import visit


def problem(m: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=m) > 0, 1.0, -1.0)
    y[:2] = 1, -1
    X[:, 0] += 0.5
    return X, y


def oracle(
    X: np.ndarray, y: np.ndarray, lambda1: float, lambda2: float, C: float
) -> tuple[np.ndarray, float]:
    """Solve the primal (14), with the mean margin as a variable of its own, by Clarabel."""
    w, t = cp.Variable(X.shape[1]), cp.Variable()
    margins = cp.multiply(y, X @ w)
    value = 0.5 * cp.sum_squares(w) + 2 * lambda1 / len(y) * cp.sum_squares(margins - t)
    value += -lambda2 / len(y) * cp.sum(margins) + C * cp.sum(cp.pos(1 - margins))
    found = cp.Problem(cp.Minimize(value))
    found.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    return w.value, found.value


@pytest.mark.parametrize(("m", "d"), [(40, 5), (15, 40), (60, 60)])
@pytest.mark.parametrize("lambda1", [0.0, 0.01, 1.0, 30.0])
@pytest.mark.parametrize(("lambda2", "C"), [(0.0, 1.0), (0.25, 0.05), (8.0, 0.3)])
def test_equals_cvxpy(m, d, lambda1, lambda2, C):
    X, y = problem(m, d)
    w, value = oracle(X, y, lambda1, lambda2, C)
    found = linear_coordinate_descent(X, y, lambda1, lambda2, C, tol=1e-10, max_iter=50_000)
    assert found.converged
    assert found.objective == pytest.approx(value, rel=1e-7, abs=1e-7)
    np.testing.assert_allclose(found.coef, w, atol=1e-5)


@pytest.mark.parametrize("lambda1", [0.0, 0.5, 100.0])
def test_the_gap_bounds_the_error_at_every_check(lambda1):
    X, y = problem(50, 8)
    _, value = oracle(X, y, lambda1, 0.5, 0.5)
    found = linear_coordinate_descent(X, y, lambda1, 0.5, 0.5, tol=1e-12, max_iter=60, record=True)
    assert len(found.path) == found.n_iter
    for _, _, objective, gap in found.path:
        assert objective - gap <= value + 1e-8 <= objective + 2e-8
    assert found.path[-1][3] < 1e-2 * found.path[0][3]


def test_certificate_by_hand():
    X, y = problem(30, 6)
    lambda1, lambda2, C = 0.7, 0.3, 0.4
    found = linear_coordinate_descent(X, y, lambda1, lambda2, C, tol=1e-3)
    m, margins = len(y), y * (X @ found.coef)
    value = 0.5 * found.coef @ found.coef - lambda2 * margins.mean() + C * np.maximum(0, 1 - margins).sum()
    value += lambda1 * sum((a - b) ** 2 for a in margins for b in margins) / m**2
    assert found.objective == pytest.approx(value)
    assert abs(found.delta.sum()) < 1e-12
    assert ((found.beta >= 0) & (found.beta <= C)).all()
    w = X.T @ (y * (found.beta + lambda2 / m - found.delta))
    bound = found.beta.sum() - found.delta @ found.delta * m / (8 * lambda1) - 0.5 * w @ w
    assert found.dual_gap == pytest.approx(found.objective - bound)
    np.testing.assert_allclose(X.T @ found.alpha, found.coef, atol=1e-12)


@pytest.mark.parametrize("lambda1", [0.0, 0.7])
def test_the_shares_sum_to_the_gap(lambda1):
    X, y = problem(30, 6)
    found = linear_coordinate_descent(X, y, lambda1, 0.3, 0.4, max_iter=3, tol=0.0)
    margins, twice_a = y * (X @ found.coef), 4 * lambda1 / 30
    shares = [
        gap_share(*each, found.mean_margin, twice_a, 0.4)
        for each in zip(margins, found.beta, found.delta, strict=True)
    ]
    assert min(shares) >= 0
    assert sum(shares) == pytest.approx(found.dual_gap)


@pytest.mark.parametrize("lambda1", [0.0, 2.0**-8])
@pytest.mark.parametrize(("lambda2", "C"), [(0.25, 1e-4), (8.0, 1e-3), (1e6, 1.0)])
@pytest.mark.parametrize("method", ["coordinate-descent", "interior-point"])
def test_a_gap_is_never_negative(method, lambda1, lambda2, C):
    for seed in range(6):
        X, y = problem(200, 4, seed)
        found = solve_linear(X, y, lambda1, lambda2, C, method=method, tol=1e-14, max_iter=300)
        assert found.dual_gap >= 0


@pytest.mark.parametrize("method", ["coordinate-descent", "interior-point"])
def test_an_objective_beyond_double_precision_is_no_solution(method):
    X, y = problem(20, 4)
    with pytest.raises(KernelOverflow, match="beyond double precision; scale the features"):
        solve_linear(X * 1e110, y, 0.5, 0.5, 1.0, method=method, max_iter=5)


def test_without_margin_terms_it_is_the_svm_without_intercept():
    X, y = problem(80, 10)
    svm = LinearSVC(loss="hinge", C=0.3, fit_intercept=False, tol=1e-10, max_iter=1_000_000).fit(X, y)
    found = linear_coordinate_descent(X, y, 0.0, 0.0, 0.3, tol=1e-12, max_iter=100_000)
    np.testing.assert_allclose(found.coef, svm.coef_.ravel(), atol=1e-5)


@pytest.mark.parametrize("lambda1", [0.0, 0.1, 10.0])
def test_csr_is_dense(lambda1):
    X, y = problem(40, 12)
    X[np.abs(X) < 0.8] = 0
    dense = linear_coordinate_descent(X, y, lambda1, 0.3, 0.5, max_iter=7, tol=0.0)
    sparse = linear_coordinate_descent(csr_matrix(X), y, lambda1, 0.3, 0.5, max_iter=7, tol=0.0)
    np.testing.assert_allclose(sparse.coef, dense.coef, atol=1e-12)
    np.testing.assert_allclose(sparse.beta, dense.beta, atol=1e-12)


def test_compiled_is_python():
    X, y = problem(10, 4)
    matrix = csr_matrix(X)
    results = []
    for run in ("csr", "csr.py", "dense", "dense.py"):
        w, beta, delta = np.zeros(5), np.zeros(10), np.zeros(10)
        weights = np.r_[np.ones(5), np.full(5, 2.0)]
        shares, rest = np.zeros(10), np.zeros(10, dtype=np.int32)
        active, blocks = np.arange(1, 9), np.array([2, 0, 1])
        tail = (y, squared_norms(X), weights, active, blocks, 3, w, beta, delta, shares, rest)
        numbers = (1e-3, 7, 0.1, 0.3, 0.2, 0.01, 0.5, 0.4)
        if run.startswith("csr"):
            step = csr_pass.py_func if run.endswith("py") else csr_pass
            t = step(matrix.data, unsigned(matrix.indices), matrix.indptr, *tail, *numbers)
        else:
            t = (dense_pass.py_func if run.endswith("py") else dense_pass)(X, *tail, *numbers)
        results.append(np.concatenate([w, beta, delta, shares, rest, [t]]))
    assert results[0][5] == results[0][14] == 0  # beta of the rows that took no part
    for state in results[1:]:
        np.testing.assert_allclose(state, results[0], atol=1e-13)


@pytest.mark.parametrize("kind", [np.array, csr_matrix])
def test_a_row_at_its_bound_whose_spread_is_right_rests_longer_each_time(kind):
    """A row of weight 2: its margin is 2 and the mean 1.5, so delta is 2 twice_a (2 - 1.5) = 1/4."""
    X, one, none = kind([[2.0]]), np.ones(1), np.zeros(1, dtype=np.int32)
    w, beta, delta, shares, rest = np.ones(1), np.zeros(1), np.full(1, 0.25), np.zeros(1), none.copy()
    rests = []
    for _ in range(6):
        visit(
            X, one, np.full(1, 4.0), 2.0 * one, none, np.random.default_rng(0), w, beta, delta, shares, rest,
            1e-12, t=1.5, stiffness=0.1, twice_a=0.25, b=0.375, C=1.0,
        )  # fmt: skip
        rests.append(int(rest[0]))
    assert rests == [1, 3, 7, 15, 31, 31]
    assert (w[0], beta[0], delta[0]) == (1.0, 0.0, 0.25)


finite = st.floats(-3, 3)


@given(
    finite,
    st.floats(0, 1),
    finite,
    st.floats(0, 4),
    finite,
    st.floats(0, 2),
    st.floats(0, 5),
    st.floats(0, 1),
)
@settings(max_examples=300)
def test_a_step_meets_its_optimality_conditions(margin, share, delta, square, t, stiffness, twice_a, b):
    C, beta = 0.7, 0.7 * share
    if twice_a == 0:
        delta = 0.0
    if square == 0:
        margin = 0.0
    new_beta, new_delta, new_margin = pair_step(margin, beta, delta, square, t, stiffness, twice_a, b, C)
    moved = margin + square * ((new_beta - beta) - (new_delta - delta))
    mean = t + stiffness * (new_delta - delta)
    assert moved == pytest.approx(new_margin, abs=1e-9)
    assert new_delta == pytest.approx(twice_a * (moved - mean), abs=1e-9)
    assert 0 <= new_beta <= C
    if new_beta < C - 1e-9:
        assert moved >= 1 - 1e-9
    if new_beta > 1e-9:
        assert moved <= 1 + 1e-9


def test_zero_rows_duplicates_constants_and_a_lone_example():
    X, y = problem(30, 6)
    y[:] = -1
    y[4] = 1
    X = np.vstack([X, X[:5], np.zeros((3, 6))])
    y = np.concatenate([y, y[:5], [1, -1, -1]])
    X[:, 2], X[:, 3] = 1.0, 0.0
    w, value = oracle(X, y, 2.0, 0.5, 0.4)
    for data in (X, csr_matrix(X)):
        found = linear_coordinate_descent(data, y, 2.0, 0.5, 0.4, tol=1e-10, max_iter=50_000)
        assert found.converged
        assert found.objective == pytest.approx(value, abs=1e-6)
        np.testing.assert_allclose(found.coef, w, atol=1e-4)
    assert found.coef[3] == 0


def test_one_class_and_one_example():
    X, _ = problem(12, 3)
    for data, labels in ((X, np.ones(12)), (X[:1], np.array([-1.0])), (np.zeros((4, 2)), np.ones(4))):
        _, value = oracle(data, labels, 1.0, 0.5, 0.4)
        found = linear_coordinate_descent(data, labels, 1.0, 0.5, 0.4, tol=1e-9, max_iter=20_000)
        assert found.converged
        assert found.objective == pytest.approx(value, abs=1e-6)


def test_a_large_objective_does_not_need_more_passes():
    """In other units of the features: the same margins, and all that counts 2^20 times as much."""
    X, y = problem(40, 5)
    few = linear_coordinate_descent(X, y, 1.0, 0.5, 1.0, max_iter=2000)
    many = linear_coordinate_descent(X / 2**10, y, 2.0**20, 0.5 * 2**20, 2.0**20, max_iter=2000)
    assert few.converged
    assert many.converged
    assert many.objective == pytest.approx(2**20 * few.objective, rel=1e-4)
    assert many.n_iter <= 4 * few.n_iter < 1000


def test_starting_from_the_solution_ends_at_once():
    X, y = problem(60, 10)
    cold = linear_coordinate_descent(X, y, 0.5, 0.3, 0.2, tol=1e-9, max_iter=10_000)
    warm = linear_coordinate_descent(X, y, 0.5, 0.3, 0.2, tol=1e-8, start=cold)
    near = linear_coordinate_descent(X, y, 0.55, 0.3, 0.19, tol=1e-9, max_iter=10_000, start=cold)
    afar = linear_coordinate_descent(X, y, 0.55, 0.3, 0.19, tol=1e-9, max_iter=10_000)
    assert (warm.n_iter, warm.converged) == (0, True)
    np.testing.assert_allclose(warm.coef, cold.coef, atol=1e-12)
    assert near.converged
    assert near.n_iter <= afar.n_iter
    with pytest.raises(ValueError, match="start must have 5 examples, got 60"):
        linear_coordinate_descent(X[:5], y[:5], 0.5, 0.3, 0.2, start=cold)
    with pytest.raises(ValueError, match="start must have 1 example, got 60"):
        linear_coordinate_descent(X[:1], y[:1], 0.5, 0.3, 0.2, start=cold)


def test_the_seed_decides():
    X, y = problem(60, 10)
    runs = [linear_coordinate_descent(X, y, 1, 1, 1, max_iter=3, random_state=s).coef for s in (0, 0, 1)]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert np.abs(runs[0] - runs[2]).max() > 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"C": 0.0}, "C must be"),
        ({"lambda1": -1.0}, "lambda1 must be"),
        ({"lambda2": np.nan}, "lambda2 must be"),
        ({"y": np.array([0.0, 1.0])}, "labels must be -1 or \\+1, got"),
        ({"y": np.ones(3)}, "same length >= 1, got 2 and 3"),
        ({"X": np.array([[np.inf], [1.0]])}, "not finite"),
        ({"X": np.ones(2)}, "two dimensions"),
    ],
)
def test_bad_input(change, message):
    given = {
        "X": np.array([[1.0], [2.0]]),
        "y": np.array([-1.0, 1.0]),
        "lambda1": 1.0,
        "lambda2": 1.0,
        "C": 1.0,
    }
    with pytest.raises(ValueError, match=message):
        linear_coordinate_descent(**{**given, **change})


def test_integer_data_and_int64_indices():
    X, y = problem(20, 5)
    X = np.round(X)
    matrix = csr_matrix(X)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    wide = linear_coordinate_descent(matrix, y.astype(int), 1, 1, 1, max_iter=5)
    plain = linear_coordinate_descent(X.astype(int), y.astype(int), 1, 1, 1, max_iter=5)
    np.testing.assert_allclose(wide.coef, plain.coef, atol=1e-12)
    assert linear_objective(X, y, plain.coef, 1, 1, 1) == pytest.approx(plain.objective)


@pytest.mark.parametrize(("m", "d"), [(50, 6), (20, 35)])
@pytest.mark.parametrize("lambda1", [0.0, 0.25, 20.0])
def test_equals_the_kernel_form(m, d, lambda1):
    X, y = problem(m, d)
    kernel = active_set(WhitenedGram(X @ X.T, y).hessian(lambda1), y, lambda1, 0.3, 0.5, tol=1e-10)
    found = solve_linear(X, y, lambda1, 0.3, 0.5, method="coordinate-descent", tol=1e-11, max_iter=50_000)
    assert found.objective == pytest.approx(kernel.objective, abs=1e-7)
    np.testing.assert_allclose(X.T @ kernel.alpha, found.coef, atol=1e-5)
    np.testing.assert_allclose(kernel.margins, y * (X @ found.coef), atol=1e-5)
