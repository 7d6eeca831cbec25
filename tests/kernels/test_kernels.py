"""Vector kernels: definitions, symmetry, errors."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from marginbook.kernels import KernelOverflow, gram, parse_kernel, resolve_kernel, scale_gamma, warn_of_scale


@pytest.fixture
def points():
    rng = np.random.default_rng(0)
    return rng.normal(size=(7, 3)), rng.normal(size=(4, 3))


def test_definitions(points):
    X, Z = points
    for i in range(7):
        for j in range(4):
            x, z = X[i], Z[j]
            assert gram("linear", X, Z)[i, j] == pytest.approx(x @ z)
            assert gram(("poly", {"degree": 4, "gamma": 0.5, "coef0": 2.0}), X, Z)[i, j] == pytest.approx(
                (0.5 * x @ z + 2) ** 4
            )
            assert gram(("rbf", {"gamma": 0.3}), X, Z)[i, j] == pytest.approx(
                np.exp(-0.3 * np.sum((x - z) ** 2))
            )
            assert gram(lambda a, b: a @ b + 1, X, Z)[i, j] == pytest.approx(x @ z + 1)


def test_the_poly_kernel_has_no_hidden_scale(points):
    """scikit-learn's default gamma is 1 / n_features; ours is 1, as the papers write the kernel."""
    X, _ = points
    np.testing.assert_allclose(gram("poly", X), (X @ X.T + 1) ** 3)


def test_gram_is_exactly_symmetric_and_takes_sparse_rows(points):
    X, Z = points
    for kernel in ("linear", "rbf", "poly"):
        K = gram(kernel, X)
        assert (K == K.T).all()
        np.testing.assert_allclose(
            gram(kernel, sparse.csr_matrix(X), sparse.csr_matrix(Z)), gram(kernel, X, Z)
        )


def test_precomputed_passes_through():
    assert (gram("precomputed", [[1, 2]]) == [[1.0, 2.0]]).all()


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        ("gauss", "unknown kernel 'gauss'"),
        (("linear", {"gamma": 1}), "'linear' does not know gamma; it takes no parameters"),
        (("poly", {"deg": 1}), "does not know deg; it takes coef0, degree, gamma"),
    ],
)
def test_unknown_kernels(kernel, message):
    with pytest.raises(ValueError, match=message):
        parse_kernel(kernel)


def test_overflow_is_an_error():
    with pytest.raises(ValueError, match="is infinite or undefined on these data; scale the features"):
        gram(("poly", {"degree": 10}), np.full((2, 2), 1e40))


def test_gamma_in_words():
    X = np.array([[0.0, 3.0], [1.0, 2.0], [4.0, 5.0]])
    for rows in (X, sparse.csr_array(X)):
        assert scale_gamma(rows) == pytest.approx(1 / (2 * X.var()))
        assert resolve_kernel("rbf", "scale", 3, 1, rows)[1]["gamma"] == scale_gamma(rows)
        assert resolve_kernel("poly", "auto", 3, 1, rows)[1]["gamma"] == 0.5
    assert resolve_kernel("rbf", "scale", 3, 1) == ("rbf", {"gamma": "scale"})
    assert resolve_kernel(("rbf", {"gamma": 2.0}), "scale", 3, 1, X) == ("rbf", {"gamma": 2.0})
    assert scale_gamma(np.ones((3, 2))) == 1.0
    with pytest.raises(ValueError, match="gamma must be a number >= 0, 'scale', 'auto' or None, got 'small'"):
        resolve_kernel("rbf", "small", 3, 1, X)
    with pytest.raises(KernelOverflow, match="gamma='scale' is undefined"):
        scale_gamma(X * 1e200)


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e8])
def test_scale_does_not_cancel_in_sparse_rows(offset):
    rng = np.random.default_rng(0)
    X, weights = offset + rng.random((50, 3)), rng.integers(0, 4, 50).astype(float)
    X[:5, 0] = 0.0 if offset == 0.0 else offset
    rows = sparse.csr_matrix(X)
    assert scale_gamma(rows) == pytest.approx(scale_gamma(X))
    repeated = scale_gamma(np.repeat(X, weights.astype(int), axis=0))
    assert scale_gamma(X, weights) == pytest.approx(repeated)
    assert scale_gamma(rows, weights) == pytest.approx(repeated)


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e6 + 0.1])
def test_scale_is_one_where_all_entries_are_equal(value):
    X, weights = np.full((10, 3), value), np.arange(10.0)
    for rows in (X, sparse.csr_matrix(X)):
        assert scale_gamma(rows) == scale_gamma(rows, weights) == 1.0
    X[0] = 7.0  # of no weight
    assert scale_gamma(X, weights) == scale_gamma(sparse.csr_matrix(X), weights) == 1.0


def test_a_word_within_a_kernel_is_sent_to_the_estimator():
    with pytest.raises(ValueError, match="got 'scale'; such a word goes to the gamma of the estimator"):
        parse_kernel(("rbf", {"gamma": "scale"}))


@pytest.mark.parametrize(("gamma", "message"), [(1e3, "gamma is too large"), (1e-12, "gamma is too small")])
def test_a_kernel_that_tells_nothing_warns(gamma, message):
    X = np.arange(20.0).reshape(10, 2)
    with pytest.warns(UserWarning, match=message):
        warn_of_scale("rbf", gram(("rbf", {"gamma": gamma}), X))


def test_a_kernel_that_tells_something_does_not_warn(recwarn):
    X = np.arange(20.0).reshape(10, 2)
    warn_of_scale("rbf", gram(("rbf", {"gamma": scale_gamma(X)}), X))
    warn_of_scale("linear", np.ones((3, 3)))
    warn_of_scale("rbf", np.ones((1, 1)))
    assert not recwarn.list


def test_gamma_of_sparse_rows_whose_squares_overflow():
    with pytest.raises(KernelOverflow, match="gamma='scale' is undefined"):
        scale_gamma(sparse.csr_array(np.array([[1e200, 0.0], [2e200, 1.0]])))


def test_half_of_the_rows_alone_is_said_too():
    """A few near pairs, as in unscaled data, lift the mean of the matrix, and the rest is learnt by heart."""
    rng = np.random.default_rng(0)
    near, far = rng.normal(size=(40, 3)), 1e4 * rng.normal(size=(60, 3))
    with pytest.warns(UserWarning, match="gamma is too large for most rows"):
        warn_of_scale("rbf", gram(("rbf", {"gamma": 0.5}), np.vstack([near, far])))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_scale("rbf", gram(("rbf", {"gamma": 0.5}), np.vstack([near, near, far])))
