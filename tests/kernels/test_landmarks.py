"""Landmarks: features of a kernel that any number of rows can pay."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.kernel_approximation import Nystroem

from marginbook.kernels import gram
from marginbook.kernels.landmarks import ROWS, Landmarks

RBF = ("rbf", {"gamma": 0.3})
POLY = ("poly", {"degree": 3, "gamma": 0.5, "coef0": 1.0})


def rows(n=60, p=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


def draw(kernel, X, m, seed=0):
    return Landmarks.fit(kernel, X, m, np.random.default_rng(seed))


@pytest.mark.parametrize("kernel", [RBF, POLY, ("linear", {}), lambda x, z: float(x @ z) ** 2])
def test_exact_with_all_rows(kernel):
    X, new = rows(), rows(20, seed=1)
    found = draw(kernel, X, 1000)
    assert_array_equal(found.places, np.arange(60))
    assert_allclose(found.transform(new) @ found.transform(X).T, gram(kernel, new, X), atol=1e-6)


@pytest.mark.parametrize("kernel", [RBF, POLY])
def test_the_features_of_the_literature(kernel):
    X, new, m = rows(), rows(20, seed=1), 13
    found = draw(kernel, X, m)
    own, theirs = found.transform(new), Nystroem(kernel[0], **kernel[1], n_components=m)
    theirs.fit(found.rows)
    assert_allclose(own @ own.T, theirs.transform(new) @ theirs.transform(new).T, rtol=1e-6)
    # exact where one of both is a landmark, and below elsewhere
    assert_allclose(own @ found.transform(found.rows).T, gram(kernel, new, X[found.places]), rtol=1e-6)
    left = np.linalg.eigvalsh(gram(kernel, new) - own @ own.T)
    assert left[0] > -1e-8 * np.abs(left).max()


def test_null_directions_are_dropped():
    X = np.repeat(rows(8), 5, axis=0)
    found = draw(RBF, X, 40)
    assert found.to_features.shape == (40, 8)
    assert_allclose(found.transform(X) @ found.transform(X).T, gram(RBF, X), atol=1e-12)
    nothing = draw(("linear", {}), np.zeros((5, 2)), 3)
    assert_array_equal(nothing.transform(np.ones((4, 2))), np.zeros((4, 1)))


def test_sparse_and_blocks():
    X = sparse.random(ROWS + 100, 30, density=0.2, format="csr", random_state=0)
    found = draw(RBF, X, 50)
    assert sparse.issparse(found.rows)
    dense = draw(RBF, X.toarray(), 50)
    assert_allclose(np.abs(found.transform(X)), np.abs(dense.transform(X.toarray())), atol=1e-6)


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_drawn_by_the_seed(make):
    X = rows()
    first, again, other = (Landmarks.fit(RBF, X, 9, make(seed)) for seed in (3, 3, 4))
    assert_array_equal(first.places, again.places)
    assert not np.array_equal(first.places, other.places)
    assert len(np.unique(first.places)) == 9


def test_a_pickle_holds_landmarks_only():
    big = draw(RBF, rows(5000), 20)
    stored = pickle.dumps(big)
    assert len(stored) < 8 * 20 * (4 + 20 + 1) + 2000
    assert_array_equal(pickle.loads(stored).transform(rows(9)), big.transform(rows(9)))


def test_refusals():
    X = rows()
    with pytest.raises(ValueError, match="precomputed' does not know"):
        draw(("precomputed", {}), X @ X.T, 5)
    with pytest.raises(ValueError, match="n_components must be a whole number >= 1, got 0"):
        draw(RBF, X, 0)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        draw(lambda x, z: -float(np.sum((x - z) ** 2)), X, 9)
    with pytest.warns(UserWarning, match="scale the features"):
        draw(RBF, 1e3 * X, 20)
