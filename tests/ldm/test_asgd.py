"""Algorithm 2 of the LDM: the naive loop, chunks, and the way to the exact optimum."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from marginbook.ldm.model.linear import unsigned
from marginbook.ldm.solvers.asgd import AveragedSGD, averaged_sgd, initial_step
from marginbook.ldm.solvers.asgd_steps import sgd_steps, sgd_steps_dense
from marginbook.ldm.solvers.linear_cd import linear_coordinate_descent


def problem(m: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d)) / np.sqrt(d)
    X[np.abs(X) < 0.5 / np.sqrt(d)] = 0
    y = np.where(X[:, 0] + X[:, 1] + 0.2 * rng.normal(size=m) / np.sqrt(d) > 0, 1.0, -1.0)
    return X, y


def naive(X, y, lambda1, lambda2, C, gamma0, t0, seed, chunks):
    """Algorithm 2 as it is printed."""
    rng = np.random.default_rng(seed)
    m, w, average, t = len(y), np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0
    for part in chunks:
        A, labels = X[part], y[part]
        first, second = rng.integers(0, len(A), len(A)), rng.integers(0, len(A), len(A))
        for i, j in zip(first, second, strict=True):
            t += 1
            x, z = A[i], A[j]
            g = 4 * lambda1 * x * (x @ w) - 4 * lambda1 * labels[i] * x * labels[j] * (z @ w)
            g = g + w - lambda2 * labels[i] * x
            if labels[i] * (x @ w) < 1:
                g = g - m * C * labels[i] * x
            w = w - gamma0 * (1 + gamma0 * t) ** (-2 / 3) * g
            average = average + (w - average) / max(1, t - t0)
    return w, average


def test_steps_of_one_size_underflow_nowhere():
    """After 1,200 of them the sparse loop's factor would be 0.1^1200."""
    X, y = problem(50, 8)
    settings = {"gamma0": 0.9, "curvature": 1e-9, "average_from": 100, "random_state": 3}
    dense, sparse = (AveragedSGD(8, 50, 0.0, 0.1, 0.02, **settings) for _ in range(2))
    for _ in range(24):
        dense.partial_fit(X, y)
        sparse.partial_fit(csr_matrix(X), y)
    assert np.isfinite(dense.coef).all()
    np.testing.assert_allclose(sparse.coef, dense.coef, atol=1e-10 * np.abs(dense.coef).max())


def test_no_path_is_recorded_unless_asked_for():
    X, y = problem(50, 8)
    assert averaged_sgd(X, y, 0.25, 0.01, 0.02).path == []


@pytest.mark.parametrize(("lambda1", "lambda2"), [(0.0, 0.0), (0.25, 0.01), (3.0, 2.0)])
@pytest.mark.parametrize("t0", [0, 37, 50, 10_000])
@pytest.mark.parametrize("gamma0", [1e-3, 0.2, 0.9])
def test_equals_the_naive_loop(lambda1, lambda2, t0, gamma0):
    X, y = problem(50, 8)
    whole = [slice(None)] * 6
    w, average = naive(X, y, lambda1, lambda2, 0.02, gamma0, t0, 3, whole)
    for data in (X, csr_matrix(X)):
        state = AveragedSGD(
            8, 50, lambda1, lambda2, 0.02, gamma0=gamma0, average_from=t0, random_state=3
        )  # fmt: skip
        for _ in whole:
            state.partial_fit(data, y)
        np.testing.assert_allclose(state.last, w, rtol=0, atol=1e-10 * np.abs(w).max())
        np.testing.assert_allclose(state.coef, average, rtol=0, atol=1e-10 * np.abs(average).max())


def test_chunks_of_both_kinds_are_the_naive_loop_over_chunks():
    X, y = problem(60, 5)
    parts = [slice(0, 20), slice(20, 60), slice(0, 20), slice(20, 60)]
    w, average = naive(X, y, 0.5, 0.5, 0.05, 0.1, 30, 0, parts)
    state = AveragedSGD(5, 60, 0.5, 0.5, 0.05, gamma0=0.1, average_from=30, random_state=0)
    for k, part in enumerate(parts):
        state.partial_fit(csr_matrix(X[part]) if k % 2 else X[part], y[part])
    assert state.n_steps == 120
    np.testing.assert_allclose(state.last, w, atol=1e-12)
    np.testing.assert_allclose(state.coef, average, atol=1e-12)


def test_compiled_is_python():
    X, y = problem(12, 3)
    matrix, rng = csr_matrix(X), np.random.default_rng(0)
    first, second = rng.integers(0, 12, 100), rng.integers(0, 12, 100)
    results = []
    for step in (sgd_steps, sgd_steps.py_func):
        v, u, scalars = np.zeros(3), np.zeros(3), np.array([1.0, 1.0, 0.0])
        arrays = (matrix.data, unsigned(matrix.indices), matrix.indptr, y, first, second, v, u, scalars)
        step(*arrays, 0, 9, 0.5, 1.0, 0.3, 0.2, 0.4)
        results.append((scalars[0] * v, scalars[1] * (u + scalars[2] * v)))
    for step in (sgd_steps_dense, sgd_steps_dense.py_func):
        w, average = np.zeros(3), np.zeros(3)
        step(X, y, first, second, w, average, 0, 9, 0.5, 1.0, 0.3, 0.2, 0.4)
        results.append((w, average))
    for last, average in results[1:]:
        np.testing.assert_allclose(last, results[0][0], atol=1e-13)
        np.testing.assert_allclose(average, results[0][1], atol=1e-13)


@pytest.mark.parametrize("weights", [(0.0, 0.0), (1.0, 0.5)])
@pytest.mark.parametrize("C", [0.001, 0.1])
def test_more_passes_come_closer_to_the_exact_optimum(weights, C):
    X, y = problem(400, 10)
    exact = linear_coordinate_descent(X, y, *weights, C, tol=1e-7, max_iter=20_000).objective
    found = averaged_sgd(csr_matrix(X), y, *weights, C, n_passes=300, record=True)
    excess = [value - exact for _, value in found.path]
    assert min(excess) > -1e-6 * exact
    assert excess[-1] < 0.1 * excess[4]
    assert excess[-1] < 5e-3 * exact
    assert found.n_steps == 300 * 400
    assert found.objective == found.path[-1][1]


def test_the_first_step_size_shrinks_with_the_weight_of_the_hinge():
    X, y = problem(500, 10)
    steps = [initial_step(X, y, 0.1, 0.1, C) for C in (1e-6, 1e-2, 100.0)]
    assert 0.5 >= steps[0] > steps[1] > steps[2] > 0
    assert steps[2] < 1e-2  # 1/2 would throw a margin to m C / 2 = 25000
    assert initial_step(X, y, 1e4, 0.1, 1e-6) < 1 / (8e4 * 0.5)
    assert 0 < initial_step(np.zeros((4, 2)), np.ones(4), 1.0, 1.0, 1.0) < 1


def test_the_seed_decides():
    X, y = problem(60, 10)
    runs = [averaged_sgd(X, y, 0.1, 0.1, 0.1, n_passes=1, random_state=s).coef for s in (0, 0, 1)]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert np.abs(runs[0] - runs[2]).max() > 0


def test_a_result_is_not_changed_by_accident():
    found = averaged_sgd(*problem(20, 4), 0.1, 0.1, 0.1, n_passes=1)
    with pytest.raises(FrozenInstanceError):
        found.objective = 0.0


def test_bad_input():
    X, y = problem(20, 4)
    with pytest.raises(ValueError, match=r"gamma0 must be a number in \(0, 1\), got 1.5"):
        AveragedSGD(4, 20, 0, 0, 1, gamma0=1.5)
    for lambda1, C in ((1e100, 1.0), (0.0, 1e100)):
        with pytest.raises(ValueError, match=r"no step is short enough for .*; scale the features, or lower"):
            initial_step(1e110 * X, y, lambda1, 0.0, C)
    with pytest.raises(ValueError, match="C must be"):
        averaged_sgd(X, y, 0, 0, -1.0)
    with pytest.raises(ValueError, match="X must have 3 features, got 4"):
        AveragedSGD(3, 20, 0, 0, 1, gamma0=0.1).partial_fit(X, y)
    with pytest.raises(ValueError, match="X must have 1 feature, got 4"):
        AveragedSGD(1, 20, 0, 0, 1, gamma0=0.1).partial_fit(X, y)
    with pytest.raises(ValueError, match="C=1e\\+100, 1 row and features of squared length"):
        initial_step(1e110 * X, y, 0.0, 0.0, 1e100, n_samples=1)
    with pytest.raises(ValueError, match="labels must be"):
        averaged_sgd(X, y + 1, 0, 0, 1.0)
