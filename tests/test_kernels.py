"""Vector kernels: definitions, symmetry, errors."""

import numpy as np
import pytest
from scipy import sparse

from marginbook.kernels import gram, parse_kernel


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
