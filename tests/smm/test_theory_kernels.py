"""The claims on kernels between rows: what they come to, and what changes them."""

import numpy as np
import pytest

from marginbook.claims import Verdict
from marginbook.smm.claims import section_4_kernel_choices as row_choices
from marginbook.smm.claims import section_4_row_kernels as psd_rows
from marginbook.smm.model.row_kernels import row_gram

from ..verdicts import holds


@pytest.mark.parametrize(
    "check",
    [
        psd_rows.check_condition,
        psd_rows.check_projections,
        row_choices.check_gaussian,
        row_choices.check_polynomial,
        row_choices.check_places,
    ],
)
def test_these_hold(check):
    holds(check)


def test_the_range_of_the_map_is_corrected():
    evidence = row_choices.check_range()
    assert evidence.verdict == Verdict.CORRECTED
    assert evidence.slack < 0


@pytest.mark.parametrize("kernel", psd_rows.KERNELS)
def test_the_display_is_the_librarys_gram_matrix(kernel):
    for X in psd_rows.matrices(np.random.default_rng(0)):
        np.testing.assert_allclose(
            psd_rows.printed_gram(kernel, X), row_gram(kernel, X), rtol=1e-9, atol=1e-9
        )


def test_a_kernel_that_is_none_would_fail(monkeypatch):
    monkeypatch.setattr(psd_rows, "printed_gram", lambda kernel, X: psd_rows.tanh_rows(X))
    assert psd_rows.check_condition().verdict == Verdict.FAILS


def test_a_kernel_taken_for_none_would_fail(monkeypatch):
    monkeypatch.setattr(psd_rows, "tanh_rows", lambda X: row_gram("linear", X))
    assert psd_rows.check_condition().verdict == Verdict.FAILS


def test_rows_without_places_would_fail(monkeypatch):
    own = row_choices.polynomial_rows
    monkeypatch.setattr(
        row_choices, "polynomial_rows", lambda X, numbered, **kw: own(X, numbered=not numbered, **kw)
    )
    with pytest.raises(ValueError, match="broadcast"):  # there are no columns for a linear term of each row
        row_choices.check_places()
    monkeypatch.setattr(row_choices, "polynomial_rows", lambda X, numbered, **kw: own(X, numbered=True, **kw))
    assert row_choices.check_places().verdict == Verdict.FAILS


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_mapped_rows_have_the_inner_products_of_their_kernel(degree):
    X = np.random.default_rng(0).normal(size=(4, 3, 2))
    rows, places = X.reshape(-1, 2), np.tile(np.arange(3), 4)
    for numbered in (True, False):
        h = row_choices.polynomial_rows(X, degree=degree, lam=0.7, numbered=numbered).reshape(12, -1)
        added = 0.7 * (places[:, None] == places) if numbered else 0.7
        np.testing.assert_allclose(h @ h.T, (rows @ rows.T + added) ** degree, atol=1e-12)


def test_a_swap_that_is_semidefinite_would_fail(monkeypatch):
    monkeypatch.setattr(psd_rows, "swap", lambda n: np.eye(n * n))
    assert psd_rows.check_projections().verdict == Verdict.FAILS


@pytest.mark.parametrize("n", [1, 2, 4])
def test_the_swap_has_the_blocks_it_says(n):
    G = psd_rows.swap(n)
    np.testing.assert_array_equal(G, G.T)
    for i in range(n):
        for j in range(n):
            block = np.zeros((n, n))
            block[j, i] = 1
            np.testing.assert_array_equal(G[i * n : (i + 1) * n, j * n : (j + 1) * n], block)


def test_the_nearest_factor_of_an_indefinite_matrix():
    G = np.diag([3.0, -2.0, 0.0])
    L, distance = psd_rows.rows_of_features(G)
    assert distance == 2
    np.testing.assert_allclose(L @ L.T, np.diag([3.0, 0.0, 0.0]), atol=1e-15)
