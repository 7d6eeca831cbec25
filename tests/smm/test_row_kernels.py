"""Kernels between rows: entries, shapes, semidefiniteness, products in pieces, and landmarks."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from marginbook.kernels import KernelOverflow
from marginbook.smm.model import row_kernels
from marginbook.smm.model.row_features import row_features
from marginbook.smm.model.row_kernels import (
    as_rows,
    least_relative_eigenvalue,
    row_diagonal,
    row_gram,
    row_gram_times,
    row_values,
    validate_row_kernel,
    validate_semidefinite,
)
from marginbook.smm.solvers import kernel_blocks
from marginbook.smm.solvers.kernel_blocks import RowBlocks
from marginbook.smm.solvers.kernel_rows import map_rows

POLY = ("poly", {"degree": 3, "gamma": 0.5, "coef0": 0.7})
RBF = ("rbf", {"gamma": 0.3})


def _laplace(x: np.ndarray, z: np.ndarray) -> float:
    return float(np.exp(-np.abs(x - z).sum()))


KERNELS = ["linear", POLY, RBF, _laplace]


def _block(kernel: object, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Return K(X, Z) entry by entry as the draft prints it."""
    d1 = len(X)
    found = np.empty((d1, d1))
    for a in range(d1):
        for b in range(d1):
            x, z = X[a], Z[b]
            if kernel == "linear":
                found[a, b] = x @ z
            elif kernel is POLY:
                found[a, b] = (0.5 * (x @ z) + 0.7 * (a == b)) ** 3
            elif kernel is RBF:
                found[a, b] = np.exp(-0.3 * np.sum((x - z) ** 2))
            else:
                found[a, b] = _laplace(x, z)
    return found


@pytest.mark.parametrize("kernel", KERNELS)
def test_blocks_are_those_of_a_loop(kernel: object) -> None:
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal((4, 3, 2)), rng.standard_normal((5, 3, 2))
    between, among = row_gram(kernel, X, Z), row_gram(kernel, X)
    for i in range(4):
        for j in range(5):
            assert_allclose(between[3 * i : 3 * i + 3, 3 * j : 3 * j + 3], _block(kernel, X[i], Z[j]))
        for j in range(4):
            assert_allclose(
                among[3 * i : 3 * i + 3, 3 * j : 3 * j + 3], _block(kernel, X[i], X[j]), atol=1e-12
            )
    assert_array_equal(among, among.T)
    rows, _ = as_rows(X)
    assert_allclose(row_diagonal(kernel, rows), among.diagonal(), atol=1e-12)


@pytest.mark.parametrize("gamma", [None, 2.0])
def test_gamma_none_is_one_over_the_columns(gamma: float | None) -> None:
    X = np.random.default_rng(1).standard_normal((3, 2, 4))
    number = 0.25 if gamma is None else gamma
    for name in ("poly", "rbf"):
        rows, _ = as_rows(X)
        found = row_gram((name, {"gamma": gamma}), X)
        assert_allclose(found, row_gram((name, {"gamma": number}), X))
        assert_allclose(row_diagonal((name, {"gamma": gamma}), rows), found.diagonal())


@settings(max_examples=30)
@given(
    arrays(float, (4, 3, 2), elements=st.floats(-2, 2, width=16)),
    st.integers(1, 4),
    st.floats(0, 3),
    st.floats(0, 3),
)
def test_the_three_kernels_are_semidefinite(X: np.ndarray, degree: int, gamma: float, coef0: float) -> None:
    poly = ("poly", {"degree": degree, "gamma": gamma, "coef0": coef0})
    for kernel in ("linear", poly, ("rbf", {"gamma": gamma})):
        assert least_relative_eigenvalue(row_gram(kernel, X)) >= -1e-12


def test_the_conditions_on_the_polynomial_are_needed() -> None:
    X = np.zeros((2, 2, 1))
    X[0], X[1] = [[1.0], [0.5]], [[0.9], [-0.2]]
    rows, places = as_rows(X)
    for parameters, word in (({"degree": 1, "coef0": -0.5}, "coef0"), ({"degree": 0.5}, "degree")):
        with pytest.raises(ValueError, match=f"{word} of a polynomial kernel on rows must be"):
            row_gram(("poly", parameters), X)
    values = row_values("linear", rows, places) - 0.5 * (places[:, None] == places)
    assert least_relative_eigenvalue(values) < -0.01
    with pytest.raises(ValueError, match="has an eigenvalue of"):
        validate_semidefinite(values)
    validate_semidefinite(row_gram("linear", X))
    assert least_relative_eigenvalue(np.zeros((2, 2))) == 0
    with pytest.raises(ValueError, match="must be symmetric"):
        least_relative_eigenvalue(np.array([[1.0, 0.5], [0.2, 1.0]]))
    with pytest.raises(ValueError, match="must be square"):
        least_relative_eigenvalue(np.ones((2, 3)))


@pytest.mark.parametrize("row", [0, 7, 11])
def test_a_callable_is_refused_for_a_single_row(row: int) -> None:
    X = np.random.default_rng(8).standard_normal((4, 3, 2))
    X[row // 3, row % 3, 0] = 9.0

    def kernel(x: np.ndarray, z: np.ndarray) -> float:
        return -1.0 if x[0] == z[0] == 9.0 else float(np.array_equal(x, z))

    with pytest.raises(ValueError, match="has an eigenvalue of"):
        map_rows(X, kernel)


def test_a_polynomial_of_degree_two_has_explicit_features() -> None:
    X = np.random.default_rng(2).standard_normal((5, 3, 2))
    c = 0.7
    plain, numbers = X, np.broadcast_to(np.eye(3) * np.sqrt(c), (5, 3, 3))
    whole = np.concatenate([plain, numbers], axis=2)
    products = np.einsum("nap,naq->napq", whole, whole).reshape(5, 3, -1)
    wanted = row_gram("linear", products)
    assert_allclose(row_gram(("poly", {"degree": 2, "gamma": 1.0, "coef0": c}), X), wanted, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_products_in_pieces(kernel: object, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    X, Z = rng.standard_normal((4, 3, 2)), rng.standard_normal((5, 3, 2))
    C = rng.standard_normal((15, 2))
    C[[1, 7]] = 0.0
    wanted = row_gram(kernel, X, Z) @ C
    for piece in (1, 60, 10**6):
        monkeypatch.setattr(row_kernels, "PIECE", piece)
        assert_allclose(row_gram_times(kernel, *as_rows(X), *as_rows(Z), C), wanted, atol=1e-12)
    assert_array_equal(row_gram_times(kernel, *as_rows(X), *as_rows(Z), 0 * C), np.zeros((12, 2)))


def test_projections_take_pieces_of_memory_however_many_their_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, Q = np.random.default_rng(8).standard_normal((100, 8, 3)), np.eye(8)
    blocks = RowBlocks(row_gram("linear", X), 8)
    monkeypatch.setattr(kernel_blocks, "PIECE", 100 * 8 * 8)
    tracemalloc.start()
    found = blocks.projected(Q)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert_allclose(found, blocks.traces(), atol=1e-10)
    assert peak < 4 * found.nbytes + 4 * 100 * 8 * 8 * 8


@pytest.mark.parametrize("kernel", KERNELS)
def test_stripes(kernel: object, monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(7).standard_normal((5, 3, 2))
    whole = row_gram(kernel, X)
    for rows in (1, 4, 14):
        monkeypatch.setattr(row_kernels, "WHOLE", rows)
        found = row_gram(kernel, X)
        assert_allclose(found, whole, rtol=1e-12, atol=1e-12)
        assert_array_equal(found, found.T)


def test_errors() -> None:
    X = np.ones((2, 3, 2))
    with pytest.raises(ValueError, match=r"\(n, d1, d2\) array that is not empty, got shape \(2, 3\)"):
        row_gram("linear", X[:, :, 0])
    with pytest.raises(ValueError, match="not empty"):
        as_rows(np.ones((2, 0, 3)))
    with pytest.raises(ValueError, match="finite entries"):
        as_rows(np.full((1, 1, 1), np.nan))
    with pytest.raises(ValueError, match="matrices of 2 x 3 cannot be compared with matrices of 3 x 2"):
        row_gram("linear", X, np.ones((2, 2, 3)))
    with pytest.raises(ValueError, match="cannot be 'precomputed'"):
        validate_row_kernel("precomputed")
    with pytest.raises(ValueError, match="unknown kernel 'sigmoid'"):
        validate_row_kernel("sigmoid")
    with pytest.raises(KernelOverflow, match="infinite or undefined"):
        row_gram(("poly", {"degree": 9}), 1e60 * X)


@pytest.mark.parametrize("kernel", KERNELS)
def test_all_landmarks_miss_nothing(kernel: object) -> None:
    rng = np.random.default_rng(4)
    X, Z = rng.standard_normal((6, 3, 2)), rng.standard_normal((5, 3, 2))
    found, values = row_features(kernel, X, tol=0.0)
    assert found.missed <= 1e-11
    m = values.shape[2]
    assert m == 2 if kernel == "linear" else 2 < m <= 18
    flat = values.reshape(-1, m)
    assert_allclose(flat @ flat.T, row_gram(kernel, X), atol=1e-5)
    assert_allclose(found.transform(X), values, atol=1e-4)
    # rows of other matrices: exact against rows in the span
    between = found.transform(Z).reshape(-1, m) @ flat.T
    assert_allclose(between, row_gram(kernel, Z, X), atol=1e-5)
    if m < 18 and kernel != "linear":
        assert least_relative_eigenvalue(row_gram(kernel, X)) < 1e-10


def test_few_landmarks_are_the_best_fit_of_their_span() -> None:
    X = np.random.default_rng(5).standard_normal((10, 3, 2))
    found, values = row_features(RBF, X, max_features=7)
    rows, places = as_rows(X)
    corner = row_values(RBF, found.rows, found.places)
    cross = row_values(RBF, rows, places, found.rows, found.places)
    nystroem = cross @ np.linalg.solve(corner, cross.T)
    flat = values.reshape(30, 7)
    assert_allclose(flat @ flat.T, nystroem, atol=1e-10)
    assert_allclose(found.factor @ found.factor.T, corner, atol=1e-12)
    assert_allclose(found.missed, 1 - np.trace(nystroem) / 30)
    assert_allclose(found.transform(X), values, atol=1e-12)
    errors = [row_features(RBF, X, max_features=m)[0].missed for m in (1, 3, 7, 15)]
    assert np.all(np.diff(errors) < 0)
    loose, _ = row_features(RBF, X, tol=0.3)
    assert 0 < loose.missed <= 0.3
    assert row_features(RBF, X, max_features=len(loose.rows) - 1)[0].missed > 0.3


def test_landmarks_of_degenerate_rows() -> None:
    nothing, values = row_features("linear", np.zeros((3, 2, 2)))
    assert_array_equal(values, np.zeros((3, 2, 1)))
    assert_array_equal(nothing.transform(np.ones((1, 2, 2))), np.zeros((1, 2, 1)))
    assert nothing.missed == 0
    same, values = row_features(RBF, np.ones((4, 2, 3)))
    assert values.shape == (4, 2, 1)
    assert_allclose(values, 1.0)
    assert same.missed == 0
    X = np.random.default_rng(6).standard_normal((70, 2, 100))
    many, values = row_features("linear", X)
    assert values.shape == (70, 2, 100)
    assert many.missed <= 1e-10
    with pytest.raises(ValueError, match="max_features must be an integer >= 1"):
        row_features("linear", X, max_features=0)
    with pytest.raises(ValueError, match=r"tol must be a number in \[0, 1\)"):
        row_features("linear", X, tol=1.0)
    with pytest.raises(ValueError, match="cannot be compared"):
        same.transform(np.ones((1, 3, 3)))
