"""Subspaces of all classes and kernels, and coordinates that share what the kernels have in common."""

import numpy as np
import pytest

from marginbook.clasmk.model import subspaces as module
from marginbook.clasmk.model.embedding import class_subspace
from marginbook.clasmk.model.kernel_sets import paper_kernels
from marginbook.clasmk.model.normalised_kernels import normalised_gram
from marginbook.clasmk.model.subspaces import class_coordinates, coordinates, fit_subspaces, validate_codes

KERNELS = [*paper_kernels("table-4"), "linear", lambda x, z: np.exp(0.1 * (x @ z))]


def data(seed=0, n=45, p=3, classes=3):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % classes
    return rng.standard_normal((n, p)) + codes[:, None], codes


def test_each_subspace_is_that_of_its_class_and_kernel():
    X, codes = data()
    found = fit_subspaces(X, codes, KERNELS, tol=0.01)
    assert [len(of_class) for of_class in found] == [len(KERNELS)] * 3
    for c, of_class in enumerate(found):
        block = X[codes == c]
        for kernel, subspace in zip(KERNELS, of_class, strict=True):
            alone = class_subspace(kernel, block, tol=0.01)
            np.testing.assert_array_equal(subspace.indices, alone.indices)
            np.testing.assert_array_equal(subspace.rows, block[subspace.indices])
            np.testing.assert_allclose(subspace.A, alone.A, atol=1e-7)


@pytest.mark.parametrize("entries", [1, 100, module.CHUNK_ENTRIES])
def test_coordinates_are_inner_products_with_the_basis(entries, monkeypatch):
    monkeypatch.setattr(module, "CHUNK_ENTRIES", entries)
    X, codes = data()
    new, _ = data(seed=1, n=10)
    subspaces = fit_subspaces(X, codes, KERNELS)
    found = coordinates(subspaces, new)
    for of_class, z_of_class in zip(subspaces, found, strict=True):
        for subspace, z in zip(of_class, z_of_class, strict=True):
            expected = normalised_gram(subspace.kernel, new, subspace.rows) @ subspace.A
            np.testing.assert_allclose(z, expected, atol=1e-9)
            np.testing.assert_allclose(subspace.coordinates(new), expected, atol=1e-9)


def test_subspaces_of_different_data_are_not_mixed_up():
    X, codes = data()
    other, _ = data(seed=3)
    mixed = [
        [a[0], b[1]] for a, b in zip(*(fit_subspaces(x, codes, KERNELS[:2]) for x in (X, other)), strict=True)
    ]
    for of_class, z_of_class in zip(mixed, coordinates(mixed, X), strict=True):
        for subspace, z in zip(of_class, z_of_class, strict=True):
            np.testing.assert_allclose(z, subspace.coordinates(X), atol=1e-10)


def test_chunks_cover_the_rows_once_for_each_kernel():
    X, codes = data()
    of_class = fit_subspaces(X, codes, KERNELS[:4])[0]
    seen = np.zeros((len(X), 4), int)
    for part, i, z in class_coordinates(of_class, X, 7):
        assert z.shape == (of_class[i].n_components, part.stop - part.start)
        assert part.stop - part.start <= 7
        seen[part, i] += 1
    np.testing.assert_array_equal(seen, 1)
    assert list(class_coordinates([], X)) == []


def test_one_sample_in_a_class_is_a_subspace_of_one_dimension():
    X, codes = data(n=7)
    codes = np.array([0, 0, 0, 1, 1, 1, 2])
    found = fit_subspaces(X, codes, KERNELS)
    assert {s.n_components for s in found[2]} == {1}
    for z in coordinates(found, X)[2]:
        assert z[6, 0] == pytest.approx(1.0)


def test_constant_features_and_read_only_data_do_no_harm():
    X, codes = data()
    X = np.hstack([X, np.full((len(X), 2), 7.0)])
    X.setflags(write=False)
    without = fit_subspaces(X[:, :3], codes, paper_kernels("table-1")[4:])
    found = fit_subspaces(X, codes, paper_kernels("table-1")[4:])
    for a, b, own, others in zip(
        coordinates(found, X), coordinates(without, X[:, :3]), found, without, strict=True
    ):
        for z, plain, one, other in zip(a, b, own, others, strict=True):
            np.testing.assert_allclose(one.eigenvalues, other.eigenvalues, atol=1e-9)
            # a basis of the eigenspace of equal eigenvalues is anyone's choice; the projector is not
            np.testing.assert_allclose(z @ z.T, plain @ plain.T, atol=1e-7)
            np.testing.assert_allclose(
                (z * one.eigenvalues) @ z.T, (plain * other.eigenvalues) @ plain.T, atol=1e-9
            )


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ([0, 0, 2], r"the classes are \[0, 2\], wanted each of 0, ..., C-1"),
        ([-1, 0, 1], r"the classes are \[-1, 0, 1\]"),
        (["a", "b", "a"], "encode the labels"),
        ([0, 1], r"of shape \(2,\), wanted \(3,\) integers"),
    ],
)
def test_wrong_classes_are_named(codes, message):
    with pytest.raises(ValueError, match=message):
        fit_subspaces(np.eye(3), codes, KERNELS)
    with pytest.raises(ValueError, match=message):
        validate_codes(codes, 3)


def test_no_kernels_are_refused():
    with pytest.raises(ValueError, match="got no kernels, wanted at least one"):
        fit_subspaces(np.eye(2), [0, 1], [])
