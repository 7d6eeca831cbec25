"""Algorithm 2 at a whole grid: bit by bit the solutions of one run for each point."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from marginbook.ldm.solvers import asgd_grid
from marginbook.ldm.solvers.asgd import averaged_sgd
from marginbook.ldm.solvers.asgd_grid import averaged_sgd_of_grid

#: without and with each of the terms, long and short steps, one point twice
GRID = [
    (lambda1, lambda2, C)
    for C in (1e-4, 0.1, 10.0, 1e-4)
    for lambda1, lambda2 in ((0.0, 0.0), (0.25, 0.0), (0.0, 0.5), (1e4, 0.1))
]


def problem(m: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    X[np.abs(X) < 0.5] = 0
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=m) > 0, 1.0, -1.0)
    return X, y


@pytest.mark.parametrize("convert", [np.asarray, csr_matrix])
@pytest.mark.parametrize("n_passes", [1, 3])
@pytest.mark.parametrize("least", [3, 1000])
def test_equals_a_run_for_each_point(convert, n_passes, least, monkeypatch):
    monkeypatch.setattr(asgd_grid, "LEAST", least)
    monkeypatch.setattr(asgd_grid, "BYTES", 0)
    X, y = problem(40, 5, 1)
    found = averaged_sgd_of_grid(convert(X), y, GRID, n_passes=n_passes, random_state=7)
    for w, point in zip(found, GRID, strict=True):
        own = averaged_sgd(convert(X), y, *point, n_passes=n_passes, random_state=7).coef
        np.testing.assert_array_equal(w, own)
    assert len(np.unique(found, axis=0)) == 3 * len(GRID) // 4


def test_equals_where_only_a_sample_tries_the_first_step():
    X, y = problem(1500, 4, 2)
    found = averaged_sgd_of_grid(csr_matrix(X), y, GRID[:8], n_passes=2, random_state=0)
    for w, point in zip(found, GRID[:8], strict=True):
        np.testing.assert_array_equal(w, averaged_sgd(csr_matrix(X), y, *point, n_passes=2).coef)


def test_a_shorter_first_step_that_is_no_better_is_not_taken():
    """With so small a C the hinge is the same number at every w that any of the steps leads to."""
    X, y = problem(40, 5, 1)
    (w,) = averaged_sgd_of_grid(X, y, [(0.0, 0.0, 1e-20)])
    assert np.abs(w).max() > 1e-21
    np.testing.assert_array_equal(w, averaged_sgd(X, y, 0.0, 0.0, 1e-20).coef)


def test_features_of_zeros_and_bad_points():
    y = np.array([1.0, -1.0, 1.0])
    assert not averaged_sgd_of_grid(np.zeros((3, 2)), y, GRID).any()
    with pytest.raises(ValueError, match="C must be"):
        averaged_sgd_of_grid(np.eye(3), y, [(0.0, 0.0, 1.0), (0.0, 0.0, -1.0)])
    with pytest.raises(ValueError, match=r"no step is short enough for lambda1=0.0, C=1e\+100"):
        averaged_sgd_of_grid(1e110 * np.eye(3), y, [(0.0, 0.0, 1e100)])
