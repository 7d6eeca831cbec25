"""Products with Q: equal to the matrix, counted by their shapes, bounded from above."""

from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse
from sklearn.kernel_approximation import Nystroem

from marginbook.drm.model.objective import class_products, dissimilarity, system_matrix
from marginbook.drm.model.operators import DenseSystem, LinearSystem
from marginbook.kernels import gram

SIZES = [[20, 15, 9], [1, 4, 1], [1], [30, 50], [5, 4, 3, 2, 1]]


def _features(sizes, p=4, seed=0):
    return np.random.default_rng(seed).normal(size=(sum(sizes), p))


def _systems(X, sizes, alpha, beta):
    yield DenseSystem(X @ X.T, sizes, alpha, beta)
    yield LinearSystem(X, sizes, alpha, beta)
    yield LinearSystem(X, sizes, alpha, beta, as_printed=True)
    yield LinearSystem(sparse.csr_matrix(X), sizes, alpha, beta)
    yield LinearSystem(sparse.csr_matrix(X), sizes, alpha, beta, as_printed=True)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("p", [1, 4, 90])
@pytest.mark.parametrize("alpha", [0.0, 0.3, 1e5])
def test_products_are_those_of_the_matrix(sizes, p, alpha):
    X = _features(sizes, p)
    X[:, 0] = 1.0
    V, Z = _features(sizes, 3, seed=1), _features([3], p, seed=2)
    Q = system_matrix(X @ X.T, sizes, alpha)
    for system in _systems(X, sizes, alpha, 0.7):
        np.testing.assert_allclose(system.apply(V), Q @ V, atol=1e-11 * np.abs(Q).max() * len(X))
        np.testing.assert_allclose(
            system.gradient(V, X @ Z.T), Q @ V + 0.7 * V - X @ Z.T, atol=1e-8 * (1 + alpha)
        )
        KW, own = class_products(X @ X.T, sizes, V)
        np.testing.assert_allclose(system.class_terms(V)[0], KW, atol=1e-10)
        np.testing.assert_allclose(system.class_terms(V)[1], own, atol=1e-10)
        expected = dissimilarity(sizes, X @ Z.T, V, KW, own)
        np.testing.assert_allclose(system.dissimilarity(X @ Z.T, V), expected, atol=1e-9)
        assert system.diagonal == pytest.approx(np.sum(X * X, axis=1))


def test_kernel_vectors_of_dense_and_sparse_rows():
    X, Z = _features([4, 3]), _features([5], seed=1)
    for features in (X, sparse.csr_matrix(X)):
        system = LinearSystem(features, [4, 3], 1.0, 1.0)
        np.testing.assert_allclose(system.kernel_vectors(Z), X @ Z.T)
        np.testing.assert_allclose(system.kernel_vectors(sparse.csr_matrix(Z)), X @ Z.T)


def test_a_class_of_one_leaves_exactly_its_kernel():
    """alpha |x|^2 - alpha x'x must not leave a rounding error of 1e8 times the machine's."""
    x = np.array([[0.1, 0.2, 0.3]])
    system = LinearSystem(x, [1], 1e12, 1.0)
    assert system.apply(np.ones((1, 1)))[0, 0] == pytest.approx((x @ x.T)[0, 0], rel=1e-15)
    weighted = DenseSystem(np.diag([2.0, 3.0, 5.0]), [2, 1], 1e20, 1.0, np.array([1.0, 2.0, 3.0]))
    assert weighted.apply(np.eye(3))[2, 2] == pytest.approx(15.0, rel=1e-15)


class _Counting(np.ndarray):
    """An array whose products add their scalar multiplications to a list: the count by other means."""

    log: ClassVar[list[int]] = []

    def __matmul__(self, other):
        type(self).log.append(int(np.prod(self.shape) * other.shape[1]))
        return np.asarray(self) @ np.asarray(other)

    def __array_finalize__(self, parent):
        pass


def test_the_products_are_counted_by_their_shapes():
    """Intercept the products themselves; what remains beside them is elementwise."""
    sizes, p, m = [20, 15, 9], 6, 3
    X, V = _features(sizes, p), _features(sizes, m, seed=1)
    n = len(X)
    system = LinearSystem(X, sizes, 0.5, 1.0)
    assert system.multiplications == n * p + n  # the lengths, and alpha times them
    system.X = system.X.view(_Counting)
    system.parts = [part.view(_Counting) for part in system.parts]
    _Counting.log.clear()
    before = system.multiplications
    system.apply(V)
    assert sum(_Counting.log) == 2 * p * n * m
    assert system.multiplications - before == sum(_Counting.log) + n * m + len(sizes) * p * m
    system.as_printed = True
    _Counting.log.clear()
    before = system.multiplications
    system.apply(V)
    assert sum(_Counting.log) == 3 * p * n * m
    # the lengths anew and times v, the division by n_i, alpha: (p + 3) n
    assert system.multiplications - before == sum(_Counting.log) + (p + 3) * n * m


def test_counts_of_dense_sparse_and_small_products():
    X = _features([4, 3])
    X[np.abs(X) < 0.5] = 0
    dense = DenseSystem(X @ X.T, [4, 3], 1.0, 1.0)
    start = dense.multiplications
    dense.apply(np.ones((7, 2)))
    assert dense.multiplications - start == 7 * 7 * 2
    thin = LinearSystem(sparse.csr_matrix(X), [4, 3], 1.0, 1.0)
    start = thin.multiplications
    thin.apply(np.ones((7, 2)))
    assert thin.multiplications - start == 2 * 2 * np.count_nonzero(X) + 7 * 2 + 2 * 4 * 2
    start = thin.multiplications
    with thin.uncounted():
        thin.apply(np.ones((7, 2)))
    assert thin.multiplications == start
    assert thin.inner(np.ones((7, 2)), np.ones((7, 2))).tolist() == [7, 7]
    assert thin.multiplications == start + 14


@pytest.mark.parametrize("sizes", [*SIZES, [200, 100, 1]])
@pytest.mark.parametrize("alpha", [0.0, 0.3, 1e4])
@pytest.mark.parametrize("data", ["normal", "equal", "zero", "one-hot"])
def test_eigenvalue_and_bounds(sizes, alpha, data):
    n = sum(sizes)
    X = {
        "normal": _features(sizes),
        "equal": np.ones((n, 3)),
        "zero": np.zeros((n, 2)),
        "one-hot": np.eye(n),  # K = I: Lanczos has an eigenvalue of multiplicity n
    }[data]
    exact = max(np.linalg.eigvalsh(system_matrix(X @ X.T, sizes, alpha))[-1], 0.0)
    bounds = []
    for system in _systems(X, sizes, alpha, 1.0):
        assert system.largest_eigenvalue() == pytest.approx(exact, rel=1e-3, abs=1e-12)
        above = exact * (1 - 1e-9)
        assert above <= system.safe_eigenvalue() <= exact * 1.02 + 1e-12
        assert above <= system.bound() <= system.trace_bound() * (1 + 1e-12)
        if isinstance(system, LinearSystem):
            assert above <= system.feature_bound() <= system.bound() * (1 + 1e-9) + 1e-9
        bounds.append(system.bound())
    np.testing.assert_allclose(bounds, bounds[0], rtol=1e-12)


def test_an_eigenvalue_is_exact_up_to_64_examples_and_costs_few_products_beyond():
    for n, exact in ((63, True), (64, True), (65, False), (200, False)):
        X = _features([n - 10, 10], 3)
        system = DenseSystem(X @ X.T, [n - 10, 10], 0.5, 1.0)
        start = system.multiplications
        found = system.largest_eigenvalue(tol=0.5)
        cost = (system.multiplications - start) / system.Q.size
        assert cost == n if exact else cost < n / 2
        if exact:
            assert found == pytest.approx(np.linalg.eigvalsh(system.Q)[-1], rel=1e-12)


def test_equation_20_written_out():
    K = gram(("rbf", {"gamma": 0.3}), _features([8, 6])) * 2.0
    row_sums = [sum(abs(value) for value in row) for row in K]
    expected = min(sum(K[i, i] for i in range(14)), max(row_sums)) + 0.5 * max(K[i, i] for i in range(14))
    assert DenseSystem(K, [8, 6], 0.5, 1.0).bound() == pytest.approx(expected, rel=1e-13)


def test_nystroem_features_stand_for_their_kernel():
    X = _features([30, 20])
    kernel = ("rbf", {"gamma": 0.4})
    G = Nystroem(kernel="rbf", gamma=0.4, n_components=50, random_state=0).fit_transform(X)
    V = _features([50], 3, seed=1)
    exact = DenseSystem(gram(kernel, X), [30, 20], 0.5, 1.0).apply(V)
    np.testing.assert_allclose(LinearSystem(G, [30, 20], 0.5, 1.0).apply(V), exact, atol=1e-8)


@pytest.mark.parametrize(
    ("sizes", "alpha", "beta", "message"),
    [
        ([3, 3], 1.0, 1.0, r"sum to the 7 examples, got \[3, 3\]"),
        ([7, 0], 1.0, 1.0, "class sizes must be at least 1"),
        ([4, 3], -1.0, 1.0, "alpha must be"),
        ([4, 3], 1.0, 0.0, "beta must be"),
    ],
)
def test_unusable_parameters(sizes, alpha, beta, message):
    X = _features([4, 3])
    with pytest.raises(ValueError, match=message):
        LinearSystem(X, sizes, alpha, beta)
    with pytest.raises(ValueError, match=message):
        DenseSystem(X @ X.T, sizes, alpha, beta)
