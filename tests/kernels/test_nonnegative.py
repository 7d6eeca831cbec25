"""Non-negative least squares as older SciPy needs them, beside SciPy's own."""

import numpy as np
import pytest

from marginbook.kernels import nonnegative
from marginbook.kernels.nonnegative import lawson_hanson, nnls


def problem(seed, kind):
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(12, 8)), rng.normal(size=12)
    if kind == "wide":
        A = rng.normal(size=(5, 30))
        b = rng.normal(size=5)
    if kind == "duplicates":
        A[:, 4:] = A[:, :4]
    if kind == "scaled":
        A = A * np.logspace(0, -6, 8)
    if kind == "nothing":
        A, b = np.abs(A), -np.abs(b)
    if kind == "certificate":  # of the hard margin: a convex combination at 0
        A = np.vstack([rng.normal(size=(3, 30)), np.ones(30)])
        b = np.eye(4)[3]
    return A, b


@pytest.mark.parametrize("kind", ["plain", "wide", "duplicates", "scaled", "nothing", "certificate"])
@pytest.mark.parametrize("seed", range(6))
def test_it_is_the_minimum(kind, seed):
    A, b = problem(seed, kind)
    x, norm = lawson_hanson(A, b, 300)
    assert x.min() >= 0
    assert norm == pytest.approx(np.linalg.norm(A @ x - b), abs=1e-12)
    slopes = A.T @ (A @ x - b)
    scale = np.linalg.norm(A, axis=0) * np.linalg.norm(b)
    assert (slopes >= -1e-12 * scale).all()
    assert (np.abs(slopes[x > 0]) <= 1e-12 * scale[x > 0]).all()


def test_new_scipy_is_taken_as_it_is(monkeypatch):
    A, b = problem(0, "plain")
    monkeypatch.setattr(nonnegative, "OLD", True)
    ours = nnls(A, b)
    monkeypatch.setattr(nonnegative, "OLD", False)
    theirs = nnls(A, b)
    np.testing.assert_allclose(ours[0], theirs[0], atol=1e-12)
    assert ours[1] == pytest.approx(theirs[1])


def test_it_says_that_it_did_not_end():
    with pytest.raises(RuntimeError, match="no solution after 1 variables became positive"):
        lawson_hanson(*problem(0, "plain"), 1)
