"""One eigendecomposition serves every beta."""

import numpy as np
import pytest

from marginbook.drm.solvers import EigenPath, NotPositiveDefinite, closed_form
from marginbook.kernels import gram


def _problem(sizes, p=3, kernel=("rbf", {"gamma": 0.5}), duplicate=False):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(sum(sizes), p))
    if duplicate:
        X[:] = X[0]
    return gram(kernel, X), gram(kernel, X, rng.normal(size=(5, p)))


@pytest.mark.parametrize("sizes", [[12, 9, 1], [1], [1, 1, 1], [30]])
@pytest.mark.parametrize("kernel", ["linear", ("rbf", {"gamma": 0.5}), ("poly", {"degree": 4})])
@pytest.mark.parametrize("duplicate", [False, True])
def test_is_the_closed_form_at_every_beta(sizes, kernel, duplicate):
    K, Kx = _problem(sizes, kernel=kernel, duplicate=duplicate)
    for alpha in (0.0, 1e-3, 30.0):
        path = EigenPath(K, sizes, alpha)
        for beta in np.logspace(-2, 8, 6):
            expected = closed_form(K, sizes, alpha, beta).weights(Kx)
            np.testing.assert_allclose(path.weights(Kx, beta), expected, atol=1e-8 * np.abs(expected).max())
            assert path.certificate(Kx, beta) < 1e-9


def test_refinement_lowers_the_certificate_of_a_hard_system():
    K, Kx = _problem([40, 30], kernel=("poly", {"degree": 4}))
    path = EigenPath(K, [40, 30], 100.0)
    M = path.Q + 1e-7 * np.eye(70)
    left = [np.abs(M @ path.weights(Kx, 1e-7, refine) - Kx).max() for refine in (0, 1)]
    assert left[1] < left[0]


def test_unusable_parameters():
    K, Kx = _problem([4, 3])
    with pytest.raises(ValueError, match="alpha must be a finite number >= 0, got -1"):
        EigenPath(K, [4, 3], -1)
    with pytest.raises(ValueError, match="beta must be a finite number > 0, got 0"):
        EigenPath(K, [4, 3], 1.0).weights(Kx, 0)
    with pytest.raises(NotPositiveDefinite, match="raise beta"):
        EigenPath(-K, [4, 3], 0.0).weights(Kx, 0.5)
