"""Inputs that were found to break something: each test failed once."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from marginbook.clasmk.estimators.chosen_kernels import CLASKTransformer
from marginbook.clasmk.estimators.hierarchy import HierarchicalCLASMKClassifier
from marginbook.clasmk.estimators.lssvm import LSSVMClassifier
from marginbook.clasmk.estimators.weighted_kernels import CLASMKTransformer
from marginbook.clasmk.model.normalised_kernels import normalised_gram
from marginbook.clasmk.solvers.dinkelbach import dinkelbach
from marginbook.kernels import KernelOverflow

KERNELS = ["linear", ("rbf", {"gamma": 1.0}), ("poly", {"degree": 2})]


def test_bound_where_all_forms_are_singular_and_one_node_does_not_close():
    """A search that was completed is worth a bound near the value; it was 0 for a third of these."""
    rng = np.random.default_rng(5)
    seen = 0
    for _ in range(30):
        N, D = (
            np.array([B @ B.T for B in (rng.normal(size=(7, rng.integers(2, 7))) for _ in range(2))])
            for _ in range(2)
        )
        found = dinkelbach(N, D)
        assert found.lower_bound <= found.objective
        if found.objective > 1e-6:
            seen += 1
            assert found.gap < 1e-6
    assert seen > 20


@pytest.mark.parametrize("kernel", KERNELS)
def test_rows_whose_squares_overflow_are_an_error_and_no_undefined_kernel(kernel):
    X = np.random.default_rng(0).normal(size=(8, 3))
    assert np.isfinite(normalised_gram(kernel, 1e149 * X)).all()
    for rows, others in ((1e160 * X, None), (X, 1e160 * X)):
        with pytest.raises(KernelOverflow, match="scale the features"):
            normalised_gram(kernel, rows, others)
    model = CLASMKTransformer([kernel], eta=0, random_state=0).fit(X, np.arange(8) % 2)
    with pytest.raises(KernelOverflow, match="scale the features"):
        model.transform(1e160 * X)


def test_rows_so_short_that_their_cosines_have_no_digits_are_an_error():
    X = np.random.default_rng(0).normal(size=(8, 3))
    assert np.linalg.eigvalsh(normalised_gram("linear", 1e-140 * X)).min() > -1e-14
    with pytest.raises(ValueError, match="scale up"):
        normalised_gram("linear", 1e-160 * X)


@pytest.mark.parametrize("shape", [(20, 3), (6, 20)])
@pytest.mark.parametrize("C", [1.0, [0.1, 1.0]])
def test_machines_of_features_whose_squares_overflow_are_an_error(shape, C):
    X = np.random.default_rng(0).normal(size=shape)
    with pytest.raises(ValueError, match="scale the features"):
        LSSVMClassifier(C).fit(1e160 * X, np.arange(len(X)) % 2)


@pytest.mark.parametrize("grid", [False, True])
def test_a_machine_says_so_when_rounding_spoils_it(grid):
    """On a kernel of rank 6, dual coefficients of size C cancel in the decisions: not beyond 1e16."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=20) > 0).astype(int)
    for C, spoilt in ((1e8, False), (1e30, True)):
        model = LSSVMClassifier([C, C] if grid else C, kernel=KERNELS[2], normalised=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, y)
        assert [each.category for each in caught] == [ConvergenceWarning] * spoilt
        fitted = 2 * y - 1 - model.dual_coef_[0] / C
        assert (np.abs(model.decision_function(X) - fitted).max() > 1.0) == spoilt


@pytest.mark.parametrize("method", [CLASKTransformer, CLASMKTransformer])
def test_an_indefinite_kernel_shows_on_held_out_rows(method):
    """One sample is a basis that cannot tell; its subspace held more than all of the other rows' energy."""
    X = np.array([[1.0], [3.0]] * 4)
    with pytest.raises(ValueError, match=r"of their energy .* positive semidefinite"):
        method([("poly", {"degree": 3, "coef0": -0.5})], basis_fraction=0.01).fit(X, np.arange(8) // 4)


def test_a_base_of_pairs_is_an_error_where_there_are_as_many_as_classes():
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.raises(ValueError, match="pairs of classes"):
        HierarchicalCLASMKClassifier(base=SVC(decision_function_shape="ovo")).fit(X, np.arange(30) % 3)
