"""The singular value decomposition where LAPACK's faster driver gives up."""

import numpy as np
import pytest

from marginbook.kernels import decomposition
from marginbook.kernels.decomposition import svd


@pytest.fixture
def gives_up(monkeypatch):
    """Let the faster driver fail, as it does on some matrices with some processors."""

    def fail(M, full_matrices):
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr(decomposition.np.linalg, "svd", fail)


@pytest.mark.parametrize("shape", [(7, 4), (4, 7), (5, 5), (1, 3)])
@pytest.mark.parametrize("full", [False, True])
def test_the_slower_driver_takes_over(gives_up, shape, full):
    M = np.random.default_rng(0).normal(size=shape)
    U, sizes, Vt = svd(M, full)
    k = min(shape)
    assert (U.shape, Vt.shape) == (
        ((shape[0],) * 2, (shape[1],) * 2) if full else ((shape[0], k), (k, shape[1]))
    )
    assert (np.diff(sizes) <= 0).all()
    np.testing.assert_allclose((U[:, :k] * sizes) @ Vt[:k], M, atol=1e-13)
    np.testing.assert_allclose(U.T @ U, np.eye(U.shape[1]), atol=1e-13)
    np.testing.assert_allclose(Vt @ Vt.T, np.eye(len(Vt)), atol=1e-13)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_has_none(gives_up, bad):
    with pytest.raises(np.linalg.LinAlgError, match="did not converge"):
        svd(np.array([[1.0, bad], [0.0, 1.0]]))


def test_a_large_factor_takes_some_columns_at_a_time_so_that_ctrl_c_is_heard(monkeypatch):
    rng, widths, solve = np.random.default_rng(0), [], decomposition.linalg.solve_triangular

    def noted(factor, right, **settings):
        widths.append(right.shape[1])
        return solve(factor, right, **settings)

    monkeypatch.setattr(decomposition.linalg, "solve_triangular", noted)
    monkeypatch.setattr(decomposition, "LARGE", 4)
    monkeypatch.setattr(decomposition, "COLUMNS", 2)
    for n, wanted in ((4, [5]), (5, [2, 2, 1])):
        factor, right = np.tril(rng.uniform(1, 2, (n, n))), rng.normal(size=(n, 5))
        np.testing.assert_allclose(factor @ decomposition.forward(factor, right), right, atol=1e-12)
        assert widths == wanted
        widths.clear()
