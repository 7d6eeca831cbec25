"""The bound of the kernel weights where no search was completed: it holds, and is what its docstring says."""

from __future__ import annotations

import numpy as np
import pytest

from marginbook.clasmk.solvers.dinkelbach import dinkelbach
from marginbook.clasmk.solvers.solution import Weights
from marginbook.clasmk.solvers.sphere_steps import bound_all, descend_all


def forms_of(factors: np.ndarray) -> np.ndarray:
    """Return the (C, K, K) products of (C, K, r) factors, whose largest entry is 1."""
    products = factors @ factors.transpose(0, 2, 1)
    scaled: np.ndarray = products / np.abs(products).max()
    return scaled


def bounded(N: np.ndarray, D: np.ndarray, most: int) -> tuple[Weights, float, float]:
    r"""Return a run without a search, :math:`\delta` at its value, and the energy of its roots."""
    found = dinkelbach(N, D, max_nodes=0, max_iter=most)
    roots, matrices = np.sqrt(found.weights), N - found.objective * D
    points, least = descend_all(matrices, roots)
    sizes = np.abs(matrices).max(axis=(1, 2))
    delta = -float(bound_all(matrices, points, least - 1e-13 * sizes).sum())
    assert found.lower_bound < (1 - 1e-4) * found.objective
    return found, delta, float(np.einsum("ci,cij,cj", roots, D, roots))


@pytest.mark.parametrize("least", [-0.5, 0.0])  # with entries of both signs, and with none below 0
def test_the_bound_of_a_run_that_was_cut_is_below_the_minimum(least: float) -> None:
    for seed in range(10):
        A, B = np.random.default_rng(seed).random((2, 3, 4, 6)) + least
        N, D = A @ A.transpose(0, 2, 1), B @ B.transpose(0, 2, 1)
        for most in (1, 100):
            found = dinkelbach(N, D, max_nodes=0, max_iter=most)
            assert 0 <= found.lower_bound <= dinkelbach(N, D).objective * (1 + 1e-12)


@pytest.mark.parametrize("seed", [1, 15, 35])
def test_by_concavity_the_bound_is_a_share_of_the_value(seed: int) -> None:
    N, D = (forms_of(each) for each in np.random.default_rng(seed).random((2, 2, 5, 3)))
    found, delta, _ = bounded(N, D, 1)
    value = found.objective
    # no entry is below 0: a form is at least that of its diagonal
    g, d = (float(np.diagonal(each, axis1=1, axis2=2).min(axis=1).sum()) for each in (N, D))
    assert g < 1
    assert value * g / (g + delta) > value - delta / d
    assert found.lower_bound == pytest.approx(value * g / (g + delta), rel=1e-9)


@pytest.mark.parametrize(
    ("seed", "n_classes", "n_kernels", "faint", "most", "step"),
    [(53, 4, 10, False, 1, 2.0), (2, 2, 5, True, 1, 200.0), (52, 2, 5, True, 100, 2e5)],
)
def test_bounds_are_tried_below_the_value_in_steps_that_grow_tenfold(
    seed: int, n_classes: int, n_kernels: int, faint: bool, most: int, step: float
) -> None:
    A, B = np.random.default_rng(seed).normal(size=(2, n_classes, n_kernels, n_kernels + 3))
    if faint:  # kernels with next to no energy
        A, B = (each * 10.0 ** -np.arange(n_kernels)[:, np.newaxis] for each in (A, B))
    found, delta, energy = bounded(forms_of(A), forms_of(B), most)
    expected = found.objective * (1 - step * delta / (found.objective * energy))
    assert found.lower_bound == pytest.approx(expected, rel=1e-7)


def test_where_nothing_else_is_proved_the_bound_is_zero() -> None:
    A, B = np.random.default_rng(0).normal(size=(2, 2, 5, 8))[:, :, :, :2]  # of rank 2: both forms can be 0
    found, delta, energy = bounded(forms_of(A), forms_of(B), 1)
    assert 2 * delta > found.objective * energy / 2  # one step leads more than halfway to 0
    assert found.lower_bound == 0.0
