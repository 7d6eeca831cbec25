"""The closed form: against cvxpy, naive formulas, and in its limits."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginbook.drm.model.objective import (
    between_matrix,
    class_products,
    class_slices,
    dissimilarity,
    kkt_residual,
    objective,
    system_matrix,
    within_matrix,
)
from marginbook.drm.solvers import closed_form
from marginbook.kernels import gram


def _problem(sizes, p=3, seed=0, kernel=("rbf", {"gamma": 0.5})):
    rng = np.random.default_rng(seed)
    X, Z = rng.normal(size=(sum(sizes), p)), rng.normal(size=(4, p))
    return gram(kernel, X), gram(kernel, X, Z)


def test_matrices_are_what_the_paper_defines():
    sizes = [3, 1, 2]
    K, _ = _problem(sizes)
    H, B = np.diag(np.diag(K)), np.zeros_like(K)
    for block in class_slices(sizes):
        B[block, block] = K[block, block] / (block.stop - block.start)
    np.testing.assert_allclose(within_matrix(K, sizes), H - B)
    np.testing.assert_allclose(between_matrix(K, sizes), B - K / 6)
    np.testing.assert_allclose(system_matrix(K, sizes, 2.0, 0.5), K + 2 * (H - B) + 0.5 * np.eye(6))


@pytest.mark.parametrize("alpha", [0.0, 0.3, 50.0])
def test_the_optimum_is_cvxpys(alpha):
    K, Kx = _problem([5, 4, 1])
    w = closed_form(K, [5, 4, 1], alpha, 0.2).weights(Kx)
    M = system_matrix(K, [5, 4, 1], alpha, 0.2)
    for column in range(Kx.shape[1]):
        v = cp.Variable(10)
        cp.Problem(cp.Minimize(0.5 * cp.quad_form(v, cp.psd_wrap(M)) - Kx[:, column] @ v)).solve(cp.CLARABEL)
        np.testing.assert_allclose(w[:, column], v.value, atol=1e-6)


def test_the_certificate_is_the_gradient_by_finite_differences():
    K, Kx = _problem([4, 3])
    w = np.random.default_rng(1).normal(size=(7, 1))
    step = 1e-6
    gradient = [
        (
            objective(K, [4, 3], Kx[:, :1], w + step * e, 0.7, 0.3)
            - objective(K, [4, 3], Kx[:, :1], w - step * e, 0.7, 0.3)
        )[0]
        / (2 * step)
        for e in np.eye(7)[:, :, None]
    ]
    M = system_matrix(K, [4, 3], 0.7, 0.3)
    expected = np.abs(gradient).max() / np.abs(Kx[:, 0]).max()
    assert kkt_residual(M, w, Kx[:, :1]) == pytest.approx(expected, rel=1e-6)


def test_dissimilarity_is_equation_10_written_out():
    sizes = [4, 1, 3]
    K, Kx = _problem(sizes)
    W = np.random.default_rng(2).normal(size=(8, 4))
    delta = dissimilarity(sizes, Kx, W, *class_products(K, sizes, W))
    for m in range(4):
        for i, block in enumerate(class_slices(sizes)):
            own = np.zeros(8)
            own[block] = W[block, m]
            rest = W[:, m] - own
            assert delta[m, i] == pytest.approx(own @ K @ own + rest @ K @ rest - 2 * own @ Kx[:, m])


def test_a_class_of_one_leaves_exactly_beta():
    K = np.array([[1e8]])
    assert system_matrix(K, [1], 1e8, 1e-3)[0, 0] == pytest.approx(1e8 + 1e-3, abs=1e-8)
    assert within_matrix(K, [1])[0, 0] == 0.0


def test_wildly_different_scales_are_solved():
    """Degree 10 on unscaled data: kernel values from 1 to 1e60."""
    X = np.array([[1.0, 2], [2, 1], [900, 800], [850, 700], [3, 1e3], [1e6, 2]])
    K = gram(("poly", {"degree": 10}), X)
    form = closed_form(K, [3, 3], 1e-3, 1e-3)
    assert form.certificate(K[:, :2]) < 1e-6


def test_a_hopeless_system_is_an_error_that_says_what_to_do():
    K = gram("linear", np.ones((5, 2)) * 1e12)
    with pytest.raises(
        ValueError, match=r"not positive definite in double precision for alpha=0, beta=1e-06 .*raise beta"
    ):
        closed_form(K, [5], 0.0, 1e-6)


@pytest.mark.parametrize(
    ("alpha", "beta", "message"),
    [
        (-1, 1, "alpha must be a finite number >= 0, got -1"),
        (1, 0, "beta must be a finite number > 0, got 0"),
        (1, -1, "beta must be a finite number > 0, got -1"),
        (np.nan, 1, "alpha must be"),
        (1, np.inf, "beta must be"),
    ],
)
def test_parameters_out_of_range(alpha, beta, message):
    with pytest.raises(ValueError, match=message):
        closed_form(np.eye(2), [1, 1], alpha, beta)


@settings(max_examples=60)
@given(
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    alpha=st.floats(0, 1e6),
    beta=st.floats(1e-6, 1e6),
    seed=st.integers(0, 2**16),
    duplicate=st.booleans(),
)
def test_the_gradient_vanishes_whatever_the_parameters(sizes, alpha, beta, seed, duplicate):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(sum(sizes), 3))
    if duplicate:
        X[:] = X[0]
    K = gram(("rbf", {"gamma": 1.0}), X)
    assert closed_form(K, sizes, alpha, beta).certificate(K) < 1e-7
