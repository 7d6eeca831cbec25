"""The tools with many digits: linear algebra, kernels, quadratic programs."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from marginbook.quality.trust.exact import margins, numbers, programs


def hilbert(n: int) -> np.ndarray:
    i = np.arange(1, n + 1)
    return np.array([[mpmath.mpf(1) / int(a + b - 1) for a in i] for b in i], dtype=object)


def test_doubles_go_in_unrounded() -> None:
    assert numbers.exactly(0.1)[()] == mpmath.mpf(0.1)
    assert numbers.exactly(0.1)[()] != mpmath.mpf("0.1")


def test_the_hilbert_matrix_is_solved_where_doubles_fail() -> None:
    K = hilbert(12)
    x = numbers.solve(K, K @ numbers.exactly(np.ones(12)))
    assert numbers.largest(x - 1) < mpmath.mpf(10) ** -80
    assert np.abs(np.linalg.solve(K.astype(float), K.astype(float) @ np.ones(12)) - 1).max() > 1e-6


def test_the_condition_of_the_hilbert_matrix() -> None:
    i = np.arange(1, 5)
    assert numbers.condition(1.0 / (i[:, None] + i - 1)) == pytest.approx(15513.7387389, rel=1e-9)


def test_a_singular_matrix_is_an_error_and_has_a_thin_factor() -> None:
    G = numbers.exactly(np.ones((3, 3)))
    with pytest.raises(ZeroDivisionError, match="singular"):
        numbers.solve(G, numbers.exactly(np.ones(3)))
    F = numbers.factor(G)
    assert F.shape == (3, 1)
    assert numbers.largest(F @ F.T - G) < mpmath.mpf(10) ** -90


@pytest.mark.parametrize(
    ("kernel", "right"),
    [
        (("rbf", {"gamma": 0.7}), lambda X, Z: rbf_kernel(X, Z, gamma=0.7)),
        (
            ("poly", {"degree": 3, "gamma": 0.5, "coef0": 2.0}),
            lambda X, Z: polynomial_kernel(X, Z, 3, 0.5, 2.0),
        ),
        ("linear", lambda X, Z: X @ Z.T),
    ],
)
def test_kernels_are_those_of_scikit_learn(kernel: object, right: object) -> None:
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(4, 3)), rng.normal(size=(2, 3))
    np.testing.assert_allclose(numbers.gram(kernel, X, Z).astype(float), right(X, Z), rtol=1e-13)  # type: ignore[operator]


def test_digits_count_from_the_largest_entry() -> None:
    right = np.array([100.0, 1.0])
    assert numbers.digits(np.array([100.0, 1.001]), right) == pytest.approx(5.0, abs=1e-6)
    assert numbers.digits(right, right) == 17.0
    assert numbers.digits(np.array([np.nan, 1.0]), right) == 0.0
    assert numbers.digits(-right, right) == 0.0


def test_a_program_whose_solution_is_known() -> None:
    # the point of the simplex nearest to (1, 1/2, -1): (3/4, 1/4, 0)
    n, one = 3, numbers.exactly(np.ones(1))
    target = numbers.exactly(np.array([1.0, 0.5, -1.0]))
    eye, nothing = numbers.identity(n), numbers.zeros(n)
    found = programs.minimise(eye, -target, -eye, nothing, numbers.exactly(np.ones((1, n))), one)
    assert numbers.largest(found.x - numbers.exactly(np.array([0.75, 0.25, 0.0]))) < mpmath.mpf(10) ** -20
    assert found.residual < mpmath.mpf(10) ** -40
    assert abs(found.value + mpmath.mpf(0.5625)) < mpmath.mpf(10) ** -40


def test_a_program_without_a_solution_is_an_error() -> None:
    one = numbers.identity(1)
    with pytest.raises(programs.NotSolved, match="residual"):  # x <= -1 and x >= 1
        programs.minimise(one, numbers.zeros(1), np.vstack([one, -one]), -numbers.exactly(np.ones(2)))


def test_the_machine_of_two_points() -> None:
    # +-2 on a line, hard enough: w = 1/2, b = 0, both multipliers w / 4
    Z, costs = numbers.exactly(np.array([[2.0], [-2.0]])), numbers.exactly(np.full(2, 10.0))
    eye = numbers.identity(1)
    found = margins.hinge_optimum(eye, numbers.zeros(1), Z, np.array([1.0, -1.0]), costs, True)
    assert abs(found.w[0] - mpmath.mpf(0.5)) < mpmath.mpf(10) ** -20
    assert abs(found.value - mpmath.mpf(0.125)) < mpmath.mpf(10) ** -40
    assert numbers.largest(found.multipliers - mpmath.mpf(0.125)) < mpmath.mpf(10) ** -20


def test_a_slope_is_brought_to_zero() -> None:
    def at(t: mpmath.mpf) -> tuple[mpmath.mpf, mpmath.mpf]:
        return mpmath.cosh(t - mpmath.mpf("0.3")), mpmath.sinh(t - mpmath.mpf("0.3"))

    t, (value, _) = margins.stationary(at, mpmath.mpf(-1), mpmath.mpf(1))
    assert abs(t - mpmath.mpf("0.3")) < mpmath.mpf(10) ** -20
    assert margins.stationary(at, mpmath.mpf(1), mpmath.mpf(2))[0] == 1
    assert abs(value - 1) < mpmath.mpf(10) ** -40
