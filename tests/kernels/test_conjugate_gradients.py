"""Conjugate gradients by columns, and their preconditioner."""

import numpy as np

from marginbook.kernels import gram
from marginbook.kernels.conjugate_gradients import conjugate_gradients, nystrom_factor, ridge_inverse


def _matrix(n=80):
    rng = np.random.default_rng(0)
    return gram(("rbf", {"gamma": 0.3}), rng.normal(size=(n, 3))), rng


def test_the_nystrom_factor_is_exact_in_its_columns_and_below_the_matrix():
    K, _ = _matrix()
    places = np.arange(0, 80, 4)
    F = nystrom_factor(np.asfortranarray(K[:, places]), places)
    np.testing.assert_allclose((F @ F.T)[:, places], K[:, places], atol=1e-7)
    assert np.linalg.eigvalsh(K - F @ F.T)[0] > -1e-7
    assert nystrom_factor(-K[:, places], places) is None


def test_the_inverse_of_a_factor_with_a_ridge():
    _, rng = _matrix()
    F, V = rng.normal(size=(80, 7)), rng.normal(size=(80, 2))
    for ridge in (0.3, rng.uniform(0.1, 9.0, 80)):
        wanted = np.linalg.solve(F @ F.T + ridge * np.eye(80), V)
        np.testing.assert_allclose(ridge_inverse(F, ridge)(V), wanted, atol=1e-10)


def test_columns_are_solved_each_by_itself_and_left_alone_once_settled():
    K, rng = _matrix()
    A, right = K + 0.01 * np.eye(80), rng.normal(size=(80, 3)) * [1e-6, 1.0, 0.0]
    widths = []

    def times(V):
        widths.append(V.shape[1])
        return A @ V

    V, gains = conjugate_gradients(times, np.copy, right, lambda R: abs(R).max(axis=0) < 1e-9, 500)
    np.testing.assert_allclose(A @ V, right, atol=1e-9)
    assert not V[:, 2].any()
    assert (widths[0], widths[-1], len(gains)) == (2, 1, len(widths))
    assert min(gains) > 0
    np.testing.assert_allclose(sum(gains), np.sum(right * V) / 2)
    inverse = ridge_inverse(nystrom_factor(K.copy(order="F"), np.arange(80)), 0.01)
    assert len(conjugate_gradients(times, inverse, right, lambda R: abs(R).max(axis=0) < 1e-9, 500)[1]) < 9
