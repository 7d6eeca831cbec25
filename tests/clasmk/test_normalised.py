"""Normalised kernels, against the definition, and the paper's lists of them."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import pairwise_kernels

from marginbook.clasmk.model import normalised_kernels
from marginbook.clasmk.model.kernel_sets import paper_kernels
from marginbook.clasmk.model.normalised_kernels import SharedPairs, normalised_gram
from marginbook.clasmk.model.self_similarity import power, self_similarity
from marginbook.kernels import KernelOverflow

KERNELS = [
    ("rbf", {"gamma": 0.3}),
    ("rbf", {}),
    "linear",
    ("poly", {"degree": 5, "gamma": 0.5, "coef0": 1.0}),
    ("poly", {"degree": 4, "gamma": 1.0, "coef0": -0.5}),
    ("poly", {"degree": 0}),
]


def naive(kernel, X, Z):
    """The definition, one pair at a time."""
    name, parameters = (kernel, {}) if isinstance(kernel, str) else kernel
    gamma = parameters.get("gamma", 1.0 / X.shape[1] if name == "rbf" else 1.0)
    degree, coef0 = (
        (1, 0.0) if name == "linear" else (parameters.get("degree", 3), parameters.get("coef0", 1.0))
    )

    def k(x, z):
        return np.exp(-gamma * ((x - z) ** 2).sum()) if name == "rbf" else (gamma * (x @ z) + coef0) ** degree

    return np.array([[k(x, z) / np.sqrt(k(x, x) * k(z, z)) for z in Z] for x in X])


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_values_are_those_of_the_definition(kernel):
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal((6, 3)), rng.standard_normal((4, 3))
    np.testing.assert_allclose(normalised_gram(kernel, X, Z), naive(kernel, X, Z), rtol=1e-10, atol=1e-13)
    whole = normalised_gram(kernel, X)
    np.testing.assert_allclose(whole, naive(kernel, X, X), rtol=1e-10, atol=1e-13)
    np.testing.assert_array_equal(whole, whole.T)
    np.testing.assert_array_equal(np.diag(whole), 1.0)


def test_a_callable_is_normalised_too():
    X = np.random.default_rng(1).standard_normal((5, 2))
    found = normalised_gram(lambda x, z: (1 + x @ z) ** 2, X)
    np.testing.assert_allclose(found, normalised_gram(("poly", {"degree": 2}), X), atol=1e-13)
    np.testing.assert_array_equal(np.diag(found), 1.0)


@given(st.integers(1, 100), st.floats(1e-3, 1e3), st.integers(0, 1000))
@settings(max_examples=40)
def test_high_degrees_neither_overflow_nor_leave_the_unit_interval(degree, scale, seed):
    X = scale * np.random.default_rng(seed).standard_normal((8, 4))
    found = normalised_gram(("poly", {"degree": degree}), X)
    assert np.abs(found).max() <= 1.0
    assert np.linalg.eigvalsh(found).min() > -1e-12
    base = (1 + X @ X.T) / np.sqrt(np.outer(1 + (X**2).sum(1), 1 + (X**2).sum(1)))
    np.testing.assert_allclose(found, base**degree, rtol=1e-11, atol=1e-14)


def test_distances_far_from_the_origin_keep_their_digits():
    X = np.random.default_rng(2).standard_normal((6, 2))
    kernel = ("rbf", {"gamma": 400.0})
    # moved by a power of two and multiples of a fraction of it, the numbers themselves are exact
    X = np.round(X * 2**20) / 2**20
    np.testing.assert_allclose(normalised_gram(kernel, X + 2.0**20), normalised_gram(kernel, X), rtol=1e-9)


def test_close_rows_keep_the_digits_of_their_distance():
    rng = np.random.default_rng(6)
    far = 1e3 * rng.standard_normal((30, 4))
    for X in (far, np.vstack([far[:2], far[0] + 1e-3 * rng.standard_normal((20, 4))])):
        Z = X[::-1] + 1e-4 * rng.standard_normal(X.shape)
        expected = -((X[:, None] - Z) ** 2).sum(-1)
        found = np.log(normalised_gram(("rbf", {"gamma": 1.0}), X, Z))
        np.testing.assert_allclose(found, np.maximum(expected, -230), rtol=1e-9, atol=1e-15)


def test_of_many_close_rows_few_differences_are_held_at_once():
    n, p = 1000, 40
    X = np.eye(8, p)[np.arange(n) % 8]  # 125,000 pairs of equal rows
    tracemalloc.start()
    try:
        normalised_kernels._squared_distances(X, X)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # three matrices of all pairs, and of 2^16 pairs both rows and their difference
    assert most < 8 * (3 * n**2 + 3 * p * 2**16)


def test_a_tiny_width_leaves_the_identity_without_warning():
    X = np.random.default_rng(3).standard_normal((7, 3))
    np.testing.assert_allclose(normalised_gram(("rbf", {"gamma": 1e9}), X), np.eye(7), atol=1e-90)


@pytest.mark.parametrize("kept", [True, False])
def test_shared_pairs_answer_every_kernel_and_choice_of_rows_alike(kept, monkeypatch):
    if not kept:
        monkeypatch.setattr(normalised_kernels, "KEPT_ENTRIES", 0)
    rng = np.random.default_rng(4)
    X, Z = rng.standard_normal((9, 3)), rng.standard_normal((5, 3))
    rows, columns = np.array([7, 0, 3]), np.array([2, 0])
    for others in (None, Z):
        pairs = SharedPairs(X, others)
        for _ in range(2):
            for kernel in [*KERNELS, lambda x, z: np.exp(x @ z)]:
                whole = normalised_gram(kernel, X, others)
                for chosen in [(None, None), (rows, None), (None, columns), (rows, columns)]:
                    cut = whole[
                        np.ix_(
                            *(
                                np.arange(n) if c is None else c
                                for c, n in zip(chosen, whole.shape, strict=True)
                            )
                        )
                    ]
                    np.testing.assert_allclose(pairs.values(kernel, *chosen), cut, rtol=1e-10, atol=1e-13)


def test_self_similarity_is_the_diagonal_before_normalising():
    X = np.random.default_rng(5).standard_normal((4, 3))
    for kernel in ("linear", ("poly", {"degree": 3, "gamma": 0.5, "coef0": 2.0})):
        name, parameters = (kernel, {}) if isinstance(kernel, str) else kernel
        expected = np.diag(pairwise_kernels(X, metric=name, **parameters))
        np.testing.assert_allclose(self_similarity(kernel, X), expected)
    np.testing.assert_array_equal(self_similarity(("rbf", {"gamma": 2.0}), X), 1.0)
    with pytest.raises(KernelOverflow, match="scale the features"):
        self_similarity(("poly", {"degree": 64}), 1e9 * X)


@pytest.mark.parametrize(
    ("kernel", "X", "message"),
    [
        (
            "linear",
            [[1.0], [0.0]],
            "k\\(x, x\\) = 0 in row 1 under kernel 'linear' \\(1 such rows\\), wanted > 0",
        ),
        (lambda x, z: 0.0, [[1.0]], "under kernel 'callable'"),
        (("poly", {"degree": 3, "coef0": -2.0}), [[1.0]], "k\\(x, x\\) = -1 in row 0"),
        (("poly", {"degree": 2.5}), [[3.0], [-3.0]], "degree 2.5 of a negative number is undefined"),
        ("precomputed", [[1.0]], "give a vector kernel"),
        ("sigmoid", [[1.0]], "unknown kernel 'sigmoid'"),
        ("linear", [1.0], r"X has shape \(1,\), wanted \(n, p\)"),
        ("linear", [[np.nan]], "infinite or undefined entries"),
    ],
)
def test_what_cannot_be_normalised_is_named(kernel, X, message):
    with pytest.raises(ValueError, match=message):
        normalised_gram(kernel, X)


def test_rows_of_another_width_are_refused():
    with pytest.raises(ValueError, match="have 2 and 1 features"):
        normalised_gram("linear", [[1.0, 2.0]], [[1.0]])


def parameters_of(kernels, name):
    return [dict(p) for n, p in kernels if n == name]


def test_the_lists_are_those_of_the_paper():
    table_1, text, table_4, figures = map(paper_kernels, ("table-1", "section-5.1", "table-4", "figures"))
    assert [len(k) for k in (table_1, text, table_4, figures)] == [8, 8, 13, 17]
    degrees = [[p["degree"] for p in parameters_of(k, "poly")] for k in (table_1, text, table_4, figures)]
    assert degrees == [[8, 12, 24, 48], [8, 12, 24, 48], [1, 2, 3], [1, 2, 4, 8, 16, 32, 64]]
    assert {(p["gamma"], p["coef0"]) for p in parameters_of(table_1, "poly")} == {(1.0, 1.0)}
    widths = [
        [p["gamma"] ** -0.5 for p in parameters_of(k, "rbf")] for k in (table_1, text, table_4, figures)
    ]
    np.testing.assert_allclose(widths[0], [1, 0.5, 0.1, 0.05])
    np.testing.assert_allclose(widths[1], [10, 1, 0.1, 0.01])
    np.testing.assert_allclose(widths[2], [0.125, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64])
    assert widths[2] == widths[3]


@pytest.mark.parametrize("count", [2, 5, 10, 17, 34, 51, 98, 150])
def test_any_number_of_kernels_keeps_the_ranges(count):
    kernels = paper_kernels("figures", count)
    degrees = [p["degree"] for p in parameters_of(kernels, "poly")]
    widths = np.array([p["gamma"] ** -0.5 for p in parameters_of(kernels, "rbf")])
    assert len(kernels) == count
    assert len(degrees) == max(1, round(count * 7 / 17))
    assert degrees == sorted(set(degrees))
    if count >= 5:
        assert (degrees[0], degrees[-1]) == (1, 64)
        np.testing.assert_allclose((widths[0], widths[-1]), (1 / 8, 64))
        np.testing.assert_allclose(np.diff(np.log(widths), 2), 0, atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("table-2",), "unknown list of kernels 'table-2'; choose from table-1"),
        (("table-1", 8), "count = 8 for 'table-1', wanted None"),
        (("figures", 1), "count = 1, wanted a whole number >= 2"),
        (("figures", 2.5), "count = 2.5, wanted a whole number >= 2"),
        (("figures", 158), "65 polynomial kernels asked, wanted at most 64"),
        (("figures", 400), "wanted at most 64, the whole degrees from 1 to 64"),
    ],
)
def test_impossible_lists_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        paper_kernels(*arguments)


def test_a_degree_that_is_not_whole_takes_what_is_not_negative():
    np.testing.assert_allclose(power(np.array([0.0, 4.0]), 0.5), [0.0, 2.0])
