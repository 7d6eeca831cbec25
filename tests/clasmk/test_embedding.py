"""Greedy choice of samples and principal directions, against naive projections and full decompositions."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginbook.clasmk.model import incomplete_cholesky as cholesky
from marginbook.clasmk.model.embedding import FLOOR, class_subspace, greedy_embedding
from marginbook.clasmk.model.kernel_sets import paper_kernels
from marginbook.clasmk.model.normalised_kernels import SharedPairs, normalised_gram

RBF = ("rbf", {"gamma": 0.2})


def naive_choice(K, tol, order, max_rank=None):
    """Project on the span anew for each sample."""
    n, chosen = len(K), []

    def residuals():
        if not chosen:
            return np.diag(K).copy()
        cross = K[:, chosen]
        return np.diag(K) - np.einsum("ij,ji->i", cross, np.linalg.pinv(K[np.ix_(chosen, chosen)]) @ cross.T)

    for step in range(n):
        left = residuals()
        left[chosen] = 0.0
        i = int(left.argmax()) if order == "pivoted" else step
        if left[i] > tol and len(chosen) < (max_rank or n):
            chosen.append(i)
    return chosen, residuals().max()


def assert_orthonormal(subspace, atol=1e-8):
    K = normalised_gram(subspace.kernel, subspace.rows)
    np.testing.assert_allclose(subspace.A.T @ K @ subspace.A, np.eye(subspace.n_components), atol=atol)


@pytest.mark.parametrize("order", ["pivoted", "sequential"])
@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("tol", [1e-3, 0.2])
def test_samples_are_chosen_as_by_projecting_anew(order, small, tol, monkeypatch):
    if not small:
        monkeypatch.setattr(cholesky, "SMALL", 8)
        monkeypatch.setattr(cholesky, "PANEL", 5)
    X = np.random.default_rng(0).standard_normal((60, 3))
    K = normalised_gram(RBF, X)
    expected, worst = naive_choice(K, tol, order)
    found = greedy_embedding(RBF, X, tol=tol, order=order)
    np.testing.assert_array_equal(found.indices, expected)
    assert found.residual.max() == pytest.approx(worst, abs=1e-9)
    assert found.residual.max() <= tol
    assert not found.capped
    L = found.factor.T
    np.testing.assert_allclose(L @ L[found.indices].T, K[:, found.indices], atol=1e-10)
    np.testing.assert_allclose(1 - (L**2).sum(1), found.residual, atol=1e-10)


@pytest.mark.parametrize("order", ["pivoted", "sequential"])
@pytest.mark.parametrize("columns", [0, 3, 10**6])
def test_columns_one_by_one_or_a_matrix_at_once_choose_alike(order, columns, monkeypatch):
    X = np.random.default_rng(1).standard_normal((90, 4))
    expected = greedy_embedding(RBF, X, tol=1e-4, order=order)
    monkeypatch.setattr(cholesky, "SMALL", 0 if columns else 10**6)
    monkeypatch.setattr(cholesky, "LARGE", 0 if columns > 100 else 10**6)
    found = greedy_embedding(RBF, X, tol=1e-4, order=order)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.factor, expected.factor, atol=1e-9)


def test_of_more_rows_than_a_matrix_can_have_only_columns_are_computed(monkeypatch):
    sizes, values = [], SharedPairs.values

    def seen(*given):
        found = values(*given)
        sizes.append(found.size)
        return found

    monkeypatch.setattr(cholesky, "LARGE", 0)
    monkeypatch.setattr(SharedPairs, "values", seen)
    greedy_embedding(RBF, np.random.default_rng(7).standard_normal((50, 3)), max_rank=9)
    assert sizes == [50] * 9


def test_copies_of_a_row_are_known_as_such_however_large_the_data():
    X = 1e4 * np.random.default_rng(10).standard_normal((40, 12))
    X = X[np.arange(80) % 40]
    for kernel in paper_kernels("figures"):
        found = class_subspace(kernel, X, tol=0.0)
        assert len(found.indices) == len(np.unique(found.indices % 40)) <= 40
        assert_orthonormal(found)


@given(st.integers(0, 10**6), st.integers(1, 25), st.sampled_from([0.0, 1e-6, 1e-3, 0.3, 1.0]), st.booleans())
@settings(max_examples=60)
def test_every_subspace_is_orthonormal_and_within_the_tolerance(seed, n, tol, repeated):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, rng.integers(1, 5))) * 10 ** rng.uniform(-3, 2)
    if repeated:
        X = X[rng.integers(0, n, n)]
    kernels = paper_kernels("figures", 40)
    kernel = kernels[rng.integers(len(kernels))]
    subspace = class_subspace(kernel, X, tol=tol, order=["pivoted", "sequential"][seed % 2])
    assert_orthonormal(subspace)
    assert subspace.residual <= max(tol, 10 * FLOOR)
    assert not subspace.capped
    assert (np.diff(subspace.eigenvalues) <= 1e-12).all()
    Z = subspace.coordinates(X)
    energies = (Z**2).sum(1)
    assert energies.max() <= 1 + 1e-8
    assert 1 - energies.min() == pytest.approx(subspace.residual, abs=1e-8)
    np.testing.assert_allclose(Z.T @ Z / n, np.diag(subspace.eigenvalues), atol=1e-9)
    assert Z.mean(0).min() >= -1e-9


def test_all_samples_span_what_kernel_principal_components_span():
    X = np.random.default_rng(2).standard_normal((20, 5))
    subspace = class_subspace(RBF, X, tol=0.0)
    K = normalised_gram(RBF, X)
    values, vectors = np.linalg.eigh(K)
    np.testing.assert_allclose(subspace.eigenvalues, values[::-1] / 20, atol=1e-10)
    expected = vectors[:, ::-1] * np.sqrt(values[::-1])
    expected = expected * np.where(expected.mean(0) < 0, -1, 1)
    np.testing.assert_allclose(subspace.coordinates(X), expected, atol=1e-8)


def test_the_linear_kernel_gives_the_principal_directions_of_the_unit_vectors():
    X = np.random.default_rng(3).standard_normal((40, 3))
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    subspace = class_subspace("linear", X, tol=0.0)
    _, _, directions = np.linalg.svd(unit)
    found = subspace.coordinates(X)
    np.testing.assert_allclose(np.abs(found), np.abs(unit @ directions.T), atol=1e-10)
    np.testing.assert_allclose(found @ found.T, unit @ unit.T, atol=1e-10)


def test_samples_far_out_in_a_direction_that_is_left_out_are_chosen_too():
    # the first two span the plane, but so close to each other they cannot carry the third to eight digits
    angles = np.array([0.0, 1.1e-3, np.pi / 2])
    X = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    np.testing.assert_array_equal(greedy_embedding("linear", X, tol=0.0, order="sequential").indices, [0, 1])
    found = class_subspace("linear", X, tol=0.0, order="sequential")
    np.testing.assert_array_equal(found.indices, [0, 1, 2])
    assert_orthonormal(found)
    assert found.residual < 1e-5
    np.testing.assert_allclose(found.coordinates(X) @ found.coordinates(X).T, X @ X.T, atol=1e-5)
    capped = class_subspace("linear", X, tol=0.0, order="sequential", max_rank=2)
    assert_orthonormal(capped)
    assert capped.residual > 0.9
    assert capped.capped


@pytest.mark.parametrize("gamma", [1e-8, 1e-6, 1e-4])
@pytest.mark.parametrize("order", ["pivoted", "sequential"])
def test_nearly_singular_matrices_lose_directions_not_orthonormality(gamma, order):
    X = np.linspace(-1, 1, 200)[:, None]
    subspace = class_subspace(("rbf", {"gamma": gamma}), X, tol=0.0, order=order)
    assert subspace.n_components >= 1
    assert_orthonormal(subspace)
    assert subspace.residual <= 10 * FLOOR
    assert np.linalg.norm(subspace.A, axis=0).max() <= FLOOR**-0.5 * 1.001


def test_a_tiny_width_chooses_every_sample():
    X = np.random.default_rng(4).standard_normal((600, 2))
    subspace = class_subspace(("rbf", {"gamma": 1e7}), X)
    assert subspace.n_components == 600
    assert_orthonormal(subspace)


def test_standardised_data_bear_degree_64():
    X = np.random.default_rng(5).standard_normal((120, 64))
    subspace = class_subspace(("poly", {"degree": 64}), X)
    assert_orthonormal(subspace)
    assert subspace.n_components == 120


def test_duplicates_and_constant_rows_are_chosen_once():
    X = np.repeat([[1.0, 2.0], [3.0, -1.0]], 5, axis=0)
    found = class_subspace(RBF, X, tol=0.0)
    np.testing.assert_array_equal(found.indices, [0, 5])
    constant = class_subspace(("poly", {"degree": 4}), np.ones((6, 3)), tol=0.0)
    np.testing.assert_allclose(constant.coordinates(np.ones((2, 3))), 1.0)
    assert constant.n_components == 1


@pytest.mark.parametrize("order", ["pivoted", "sequential"])
def test_limits_of_the_parameters_leave_one_sample(order):
    X = np.random.default_rng(6).standard_normal((12, 2))
    for arguments in ({"tol": 1.0}, {"max_rank": 1}):
        found = class_subspace(RBF, X, order=order, **arguments)
        np.testing.assert_array_equal(found.indices, [0])
        np.testing.assert_allclose(found.A, [[1.0]])
        assert found.capped == ("max_rank" in arguments)
    alone = class_subspace(RBF, X[:1], order=order)
    assert (alone.A, alone.residual, alone.capped) == (1.0, 0.0, False)


@pytest.mark.parametrize("order", ["pivoted", "sequential"])
@pytest.mark.parametrize("small", [0, 10**6])
def test_a_cap_keeps_the_first_samples_and_reports_what_is_left(order, small, monkeypatch):
    monkeypatch.setattr(cholesky, "SMALL", small)
    X = np.random.default_rng(7).standard_normal((50, 3))
    whole = greedy_embedding(RBF, X, order=order)
    found = greedy_embedding(RBF, X, max_rank=9, order=order)
    np.testing.assert_array_equal(found.indices, whole.indices[:9])
    assert found.capped
    assert found.residual.max() == pytest.approx(
        naive_choice(normalised_gram(RBF, X), 1e-3, order, max_rank=9)[1], abs=1e-9
    )


def test_components_are_kept_by_number_or_by_share_of_the_energy():
    X = np.random.default_rng(8).standard_normal((30, 3))
    whole = class_subspace(RBF, X)
    three = class_subspace(RBF, X, n_components=3)
    np.testing.assert_allclose(three.A, whole.A[:, :3])
    assert class_subspace(RBF, X, n_components=1000).n_components == whole.n_components
    shares = np.cumsum(whole.eigenvalues) / whole.eigenvalues.sum()
    for share in (0.5, 0.9, 1.0):
        r = class_subspace(RBF, X, n_components=share).n_components
        assert shares[r - 1] >= share - 1e-12
        assert r == 1 or shares[r - 2] < share
    assert three.residual == whole.residual


def test_signs_without_a_mean_do_not_depend_on_the_order_of_the_data():
    X = np.array([[1.0, 0.2], [0.3, 1.0]])
    X = np.vstack([X, -X])
    first, again = class_subspace("linear", X), class_subspace("linear", X)
    np.testing.assert_array_equal(first.A, again.A)
    assert np.abs(first.coordinates(X).mean(0)).max() < 1e-12
    assert (first.A[np.abs(first.A).argmax(0), [0, 1]] > 0).all()


def test_a_subspace_survives_pickling():
    subspace = class_subspace(RBF, np.random.default_rng(9).standard_normal((10, 2)))
    again = pickle.loads(pickle.dumps(subspace))
    np.testing.assert_array_equal(again.coordinates([[1.0, 2.0]]), subspace.coordinates([[1.0, 2.0]]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tol": -0.1}, r"tol = -0.1, wanted a squared residual in \[0, 1\]"),
        ({"tol": np.nan}, "tol = nan, wanted"),
        ({"max_rank": 0}, "max_rank = 0, wanted a whole number >= 1"),
        ({"n_components": 0}, "n_components = 0, wanted a whole number"),
        ({"n_components": 1.5}, "n_components = 1.5, wanted"),
        ({"order": "random"}, "unknown order 'random'; choose from pivoted, sequential"),
    ],
)
def test_wrong_parameters_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        class_subspace(RBF, [[1.0]], **arguments)


def test_a_function_that_is_no_kernel_is_refused():
    with pytest.raises(ValueError, match="choose a positive semidefinite kernel"):
        class_subspace(lambda x, z: 1.0 if np.array_equal(x, z) else -2.0, [[1.0], [2.0], [3.0]])
