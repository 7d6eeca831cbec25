"""H against its definition, by Cholesky and by eigenvectors, also where G is singular or lambda1 extreme."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from marginbook.ldm.model.whitening import WhitenedGram


def _definition(G, y, lambda1):
    m = len(y)
    P = 4 * lambda1 / m * (np.eye(m) - np.outer(y, y) / m)
    return y[:, None] * (G @ np.linalg.inv(np.eye(m) + P @ G)) * y


def _data(kind, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 4))
    y = np.where(rng.random(12) < 0.4, -1.0, 1.0)
    if kind == "rbf":
        return rbf_kernel(X, gamma=0.3), y
    if kind == "duplicates":
        X[6:] = X[:6]
    if kind == "constant":
        X[:] = 1.0
    if kind == "zero row":
        X[3] = 0.0
    if kind == "one class":
        y[:] = 1.0
    return X @ X.T, y


KINDS = ("rbf", "linear", "duplicates", "constant", "zero row", "one class")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lambda1", [0.0, 1e-9, 2.0**-8, 0.25, 10.0, 1e4])
def test_both_ways_agree_with_the_definition(kind, lambda1):
    G, y = _data(kind)
    expected = _definition(G, y, lambda1)
    by_cholesky = WhitenedGram(G, y)
    by_eigenvectors = WhitenedGram(G, y)
    by_eigenvectors.decompose()
    tolerance = 1e-11 * (1 + lambda1) * np.abs(G).max()
    np.testing.assert_allclose(by_cholesky.hessian(lambda1), expected, atol=tolerance)
    np.testing.assert_allclose(by_eigenvectors.hessian(lambda1), expected, atol=tolerance)
    assert by_cholesky._eigen is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lambda1", [1e-14, 1e-6, 1.0, 1e4, 1e8])
def test_the_diagonal_keeps_its_digits_however_small_or_large_lambda1_is(kind, lambda1):
    G, y = _data(kind)
    by_cholesky = WhitenedGram(G, y)
    by_eigenvectors = WhitenedGram(G, y)
    by_eigenvectors.decompose()
    first, second = np.diagonal(by_cholesky.hessian(lambda1)), np.diagonal(by_eigenvectors.hessian(lambda1))
    np.testing.assert_allclose(first, second, rtol=1e-12 * (1 + lambda1), atol=1e-15 * np.abs(G).max())


def test_tiles_of_a_larger_matrix_meet():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(150, 6))
    y = np.where(rng.random(150) < 0.4, -1.0, 1.0)
    G = rbf_kernel(X, gamma=0.2)
    np.testing.assert_allclose(WhitenedGram(G, y).hessian(3.0), _definition(G, y, 3.0), atol=1e-12)


def test_the_papers_form_is_the_same_where_it_exists():
    G, y = _data("rbf")
    m, lambda1 = len(y), 0.7
    Q = 4 * lambda1 / m**2 * (m * G @ G - np.outer(G @ y, G @ y)) + G
    expected = y[:, None] * (G @ np.linalg.solve(Q, G)) * y
    np.testing.assert_allclose(WhitenedGram(G, y).hessian(lambda1), expected, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lambda1", [1e-12, 1.0, 1e6, 1e12])
def test_h_is_positive_semidefinite_symmetric_and_below_g(kind, lambda1):
    G, y = _data(kind)
    H = WhitenedGram(G, y).hessian(lambda1)
    np.testing.assert_array_equal(H, H.T)
    rounding = 1e-10 * np.abs(G).max() * len(y)
    assert np.linalg.eigvalsh(H)[0] >= -rounding
    assert np.linalg.eigvalsh(y[:, None] * G * y - H)[0] >= -rounding


def test_without_a_variance_term_h_is_the_signed_gram_matrix_exactly():
    G, y = _data("rbf")
    np.testing.assert_array_equal(WhitenedGram(G, y).hessian(0.0), y[:, None] * G * y)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lambda1", [5e-324, 1e-320, 1e-310, 1e-30])
def test_a_lambda1_below_rounding_counts_as_zero(kind, lambda1):
    G, y = _data(kind)
    signed = y[:, None] * G * y
    for decomposed in (False, True):
        whitened = WhitenedGram(G, y)
        if decomposed:
            whitened.decompose()
        np.testing.assert_array_equal(whitened.hessian(lambda1), signed)
    # a variance term that is small for one kernel is not for a larger one
    large = 1e40 * G
    np.testing.assert_allclose(
        WhitenedGram(large, y).hessian(1e-40) / 1e40, WhitenedGram(G, y).hessian(1.0), atol=1e-12
    )


def test_a_first_lambda1_keeps_its_digits_where_the_gram_matrix_is_large():
    rng = np.random.default_rng(0)
    X = 1e4 * rng.normal(size=(60, 40))
    y = np.where(rng.random(60) < 0.5, -1.0, 1.0)
    G, lambda1 = X @ X.T, 0.25
    whitened = WhitenedGram(G, y)
    H = whitened.hessian(lambda1)
    assert whitened._eigen is not None
    z = X.T @ y / 60  # the same in feature space
    Q = np.eye(40) + 4 * lambda1 / 60 * X.T @ X - 4 * lambda1 * np.outer(z, z)
    expected = y[:, None] * (X @ np.linalg.solve(Q, X.T)) * y
    np.testing.assert_allclose(H, expected, atol=1e-12 * np.abs(expected).max())


def test_in_the_limit_all_margins_are_equal():
    G, y = _data("rbf")
    margins = WhitenedGram(G, y).hessian(1e10) @ np.random.default_rng(3).random(12)
    assert np.ptp(margins) < 1e-7 * np.abs(margins).max()


def test_a_second_lambda1_decomposes_once_and_the_last_h_is_kept():
    G, y = _data("rbf")
    whitened = WhitenedGram(G, y)
    first = whitened.hessian(0.5)
    assert whitened.hessian(0.5) is first
    assert whitened._eigen is None
    whitened.hessian(0.25)
    s, U = whitened.decompose()
    assert whitened.decompose()[0] is s
    np.testing.assert_allclose(U * s @ U.T, G, atol=1e-12)
    np.testing.assert_allclose(whitened.hessian(0.5), first, atol=1e-12)


def test_an_eigenvalue_that_is_rounding_beside_the_largest_is_zero():
    """However many there are of them, and where there is one row only."""
    for small, kept in ((1e-15, 0.0), (1e-14, 1e-14)):
        s, _ = WhitenedGram(np.diag([small, 1.0]), np.array([1.0, -1.0])).decompose()
        np.testing.assert_allclose(s, [kept, 1.0], rtol=1e-6)
    assert WhitenedGram(np.eye(1), np.ones(1)).decompose()[0].tolist() == [1.0]


def test_the_gram_matrix_is_left_alone():
    G, y = _data("rbf")
    kept = G.copy()
    whitened = WhitenedGram(G, y)
    for lambda1 in (0.0, 1.0, 2.0):
        whitened.hessian(lambda1)
    np.testing.assert_array_equal(G, kept)


@pytest.mark.parametrize(
    ("G", "y", "message"),
    [
        (np.ones((2, 3)), [1, -1], r"must be square and not empty, got shape \(2, 3\)"),
        (np.ones((0, 0)), [], "must be square and not empty"),
        (np.array([[1.0, np.nan], [np.nan, 1]]), [1, -1], "not finite"),
        (np.array([[1.0, 0.5], [0.4, 1]]), [1, -1], "not symmetric"),
        (np.eye(2), [1, 2], r"labels must be -1 or \+1"),
        (np.eye(2), [1, -1, 1], r"y has shape \(3,\)"),
    ],
)
def test_bad_input_is_refused(G, y, message):
    with pytest.raises(ValueError, match=message):
        WhitenedGram(G, np.array(y))


def test_a_negative_lambda1_is_refused():
    with pytest.raises(ValueError, match="lambda1 must be a finite number >= 0, got -1"):
        WhitenedGram(np.eye(2), np.array([1, -1])).hessian(-1)
