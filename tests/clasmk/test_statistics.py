"""The matrices of the objective, against sums sample by sample."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginbook.clasmk.model import statistics as module
from marginbook.clasmk.model import subspaces as subspaces_module
from marginbook.clasmk.model.kernel_sets import paper_kernels
from marginbook.clasmk.model.statistics import Separation, separation
from marginbook.clasmk.model.subspaces import coordinates, fit_subspaces

KERNELS = paper_kernels("table-4")


def problem(seed=0, n=60, classes=3):
    rng = np.random.default_rng(seed)
    # classes of different sizes: the means must be balanced
    codes = np.sort(rng.choice(classes, n, p=np.arange(1, classes + 1) / sum(range(classes + 1))))
    codes[:classes] = np.arange(classes)
    X = rng.standard_normal((n, 4)) + codes[:, None]
    new = np.roll(codes, 1)
    return fit_subspaces(X, codes, KERNELS), rng.standard_normal((n, 4)) + new[:, None], new


def naive(subspaces, X, codes, combine, denominator):
    Z = coordinates(subspaces, X)
    C, K = len(Z), len(Z[0])
    N, D = np.zeros((C, K, K)), np.zeros((C, K, K))

    def product(a, b):
        r = min(len(a), len(b))
        return a[:r] @ b[:r]

    for c in range(C):
        for i in range(K):
            for j in range(K):
                if combine == "concat" and i != j:
                    continue
                per_class = [
                    np.mean([product(Z[c][i][x], Z[c][j][x]) for x in np.flatnonzero(codes == k)])
                    for k in range(C)
                ]
                N[c, i, j] = (sum(per_class) - per_class[c]) / (C - 1)
                D[c, i, j] = (
                    per_class[c]
                    if denominator == "energy"
                    else product(Z[c][i][codes == c].mean(0), Z[c][j][codes == c].mean(0))
                )
    return N, D


@pytest.mark.parametrize("combine", ["sum", "concat"])
@pytest.mark.parametrize("denominator", ["energy", "mean"])
@pytest.mark.parametrize("short", [False, True])
def test_matrices_are_the_sums_over_samples(combine, denominator, short, monkeypatch):
    if short:
        monkeypatch.setattr(module, "TOGETHER_ENTRIES", 1)
        monkeypatch.setattr(module, "SHORTEST_CHUNK", 7)
        monkeypatch.setattr(subspaces_module, "CHUNK_ENTRIES", 150)
    subspaces, X, codes = problem()
    found = separation(subspaces, X, codes, combine=combine, denominator=denominator)
    N, D = naive(subspaces, X, codes, combine, denominator)
    np.testing.assert_allclose(found.numerator, N, atol=1e-10)
    np.testing.assert_allclose(found.denominator, D, atol=1e-10)
    energy = naive(subspaces, X, codes, "concat", "energy")[1]
    np.testing.assert_allclose(found.energy, np.einsum("cii->ci", energy), atol=1e-10)


@given(st.integers(0, 10**6), st.integers(2, 5))
@settings(max_examples=15)
def test_matrices_are_semidefinite_and_bounded_and_the_mean_is_below_the_energy(seed, classes):
    subspaces, X, codes = problem(seed, 40, classes)
    energy = separation(subspaces, X, codes)
    mean = separation(subspaces, X, codes, denominator="mean")
    for stack in (energy.numerator, energy.denominator, mean.denominator):
        np.testing.assert_array_equal(stack, stack.transpose(0, 2, 1))
        assert np.linalg.eigvalsh(stack).min() > -1e-10
        assert np.abs(stack).max() <= 1 + 1e-9
    # Jensen: the difference is a covariance
    assert np.linalg.eigvalsh(energy.denominator - mean.denominator).min() > -1e-10
    np.testing.assert_array_equal(energy.energy, mean.energy)


def test_the_samples_of_the_basis_have_all_their_energy():
    subspaces, _, _ = problem()
    rng = np.random.default_rng(0)
    codes = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2])
    X = rng.standard_normal((9, 4)) + codes[:, None]
    subspaces = fit_subspaces(X, codes, KERNELS, tol=0.0)
    np.testing.assert_allclose(separation(subspaces, X, codes).energy, 1.0, atol=1e-5)


def test_the_order_and_the_repetition_of_samples_do_not_matter():
    subspaces, X, codes = problem()
    expected = separation(subspaces, X, codes)
    twice = np.concatenate([np.arange(len(X)), np.flatnonzero(codes == 1)])[::-1]
    found = separation(subspaces, X[twice], codes[twice])
    np.testing.assert_allclose(found.numerator, expected.numerator, atol=1e-12)
    np.testing.assert_allclose(found.denominator, expected.denominator, atol=1e-12)


def test_keeping_some_kernels_is_computing_with_them_alone():
    subspaces, X, codes = problem()
    whole = separation(subspaces, X, codes)
    kept = [11, 2, 5]
    alone = separation([[s[i] for i in kept] for s in subspaces], X, codes)
    found = whole.keep(kept)
    np.testing.assert_allclose(found.numerator, alone.numerator, atol=1e-12)
    np.testing.assert_allclose(found.denominator, alone.denominator, atol=1e-12)
    np.testing.assert_allclose(found.energy, alone.energy, atol=1e-12)
    mask = np.isin(np.arange(13), kept)
    np.testing.assert_array_equal(whole.keep(mask).energy, whole.energy[:, [2, 5, 11]])


def test_a_separation_of_given_matrices_takes_its_energy_from_the_denominator():
    stack = np.array([np.diag([1.0, 0.5])] * 3)
    np.testing.assert_array_equal(Separation(stack, stack).energy, [[1.0, 0.5]] * 3)
    for top, bottom in ((stack, stack[:2]), (stack[0], stack[0]), (stack[:, :1], stack[:, :1])):
        with pytest.raises(ValueError, match=r"wanted \(C, K, K\) twice"):
            Separation(top, bottom)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"combine": "product"}, "unknown combine 'product'; choose from sum, concat"),
        ({"denominator": "median"}, "unknown denominator 'median'; choose from energy, mean"),
    ],
)
def test_wrong_choices_are_named(arguments, message):
    subspaces, X, codes = problem()
    with pytest.raises(ValueError, match=message):
        separation(subspaces, X, codes, **arguments)


def test_missing_and_single_classes_are_refused():
    subspaces, X, codes = problem()
    with pytest.raises(ValueError, match="of 2 classes and the subspaces of 3, wanted the same number"):
        separation(subspaces, X[codes < 2], codes[codes < 2])
    with pytest.raises(
        ValueError, match="of 1 classes and the subspaces of 1, wanted the same number, at least 2"
    ):
        separation(subspaces[:1], X, np.zeros(len(X), int))
