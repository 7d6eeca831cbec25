"""Scaling, folds, kernels and the choice by cross-validation, against naive versions of each."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler
from sklearn.svm import SVC

from marginbook.experiments.candidates import Expansions, at_point
from marginbook.ldm.experiments.halves import choosing_folds, signs, unit_interval
from marginbook.ldm.experiments.selection import Block, linear_block, rbf_blocks, select
from marginbook.ldm.model.widths import mean_distance


@pytest.fixture
def random():
    return np.random.default_rng(0)


def test_signs_go_by_the_training_classes():
    y, truth = signs(np.array(["b", "a", "b"]), np.array(["a", "a", "c"]))
    assert y.tolist() == [1, -1, 1]
    assert truth.tolist() == [-1, -1, -1]
    with pytest.raises(ValueError, match=r"wanted training rows of 2 classes, got 1: \[3\]"):
        signs(np.array([3, 3]), np.array([3]))


def test_unit_interval(random):
    X, Z = random.normal(size=(20, 4)), 5 * random.normal(size=(9, 4))
    X[:, 2] = 7.0
    inside, outside = unit_interval(X, Z)
    scaler = MinMaxScaler().fit(X)
    kept = [0, 1, 3]
    np.testing.assert_allclose(inside[:, kept], scaler.transform(X)[:, kept], atol=1e-14)
    np.testing.assert_allclose(outside[:, kept], scaler.transform(Z)[:, kept], atol=1e-13)
    assert outside.max() > 1  # test rows are not clipped
    assert not inside[:, 2].any()
    assert not outside[:, 2].any()


def test_unit_interval_of_sparse_rows(random):
    dense = random.random((15, 6)) * (random.random((15, 6)) < 0.4)
    dense[:, 3] = 0.0
    other = random.random((7, 6)) * (random.random((7, 6)) < 0.6)
    inside, outside = unit_interval(csr_matrix(dense), csr_matrix(other))
    scaler = MaxAbsScaler().fit(dense)
    kept = [0, 1, 2, 4, 5]
    np.testing.assert_allclose(inside.toarray()[:, kept], scaler.transform(dense)[:, kept], atol=1e-15)
    np.testing.assert_allclose(outside.toarray()[:, kept], scaler.transform(other)[:, kept], atol=1e-15)
    assert not outside[:, [3]].nnz
    by_rows = unit_interval(dense[:, kept], other[:, kept])  # the least value of each is 0
    np.testing.assert_allclose(by_rows[0], inside.toarray()[:, kept], atol=1e-15)


@given(sizes=st.tuples(st.integers(2, 30), st.integers(2, 30)), n_folds=st.integers(2, 6))
@settings(max_examples=30)
def test_folds_are_a_stratified_partition(sizes, n_folds):
    y = np.repeat([1.0, -1.0], sizes)
    folds = choosing_folds(y, n_folds, "any")
    assert len(folds) == min(n_folds, *sizes)
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(len(y)))
    for train, test in folds:
        assert sorted([*train, *test]) == list(range(len(y)))
        assert len(np.unique(y[train])) == 2
    shares = [np.sum(y[test] > 0) for _, test in folds]
    assert max(shares) - min(shares) <= 1
    again = choosing_folds(y, n_folds, "any")
    assert all(np.array_equal(one[1], two[1]) for one, two in zip(folds, again, strict=True))


def test_folds_depend_on_the_data_set_and_need_two_rows_a_class():
    y = np.repeat([1.0, -1.0], 40)
    assert any(
        not np.array_equal(one[1], two[1])
        for one, two in zip(choosing_folds(y, 5, "one"), choosing_folds(y, 5, "two"), strict=True)
    )
    with pytest.raises(ValueError, match="tiny: 1 row in a class is too few for folds"):
        choosing_folds(np.array([1.0, 1, 1, -1]), 5, "tiny")


def test_kernels(random):
    X, Z = random.normal(size=(8, 3)), random.normal(size=(5, 3))
    X[3] = X[2]  # a duplicate
    (linear,) = linear_block(X, Z)
    np.testing.assert_allclose(linear.train, X @ X.T, atol=1e-14)
    np.testing.assert_allclose(linear.test, Z @ X.T, atol=1e-14)
    distances = [np.linalg.norm(X[i] - X[j]) for i in range(8) for j in range(i)]
    delta = np.mean(distances)
    blocks = list(rbf_blocks(X, Z, [1.0, 0.5]))
    assert [block.parameters for block in blocks] == [{"width": 1.0}, {"width": 0.5}]
    for block in blocks:
        sigma = block.parameters["width"] * delta
        for rows, got in ((X, block.train), (Z, block.test)):
            wanted = [[np.exp(-np.sum((r - x) ** 2) / (2 * sigma**2)) for x in X] for r in rows]
            np.testing.assert_allclose(got, wanted, atol=1e-12)
        assert np.array_equal(block.train, block.train.T)
    wide, narrow = blocks
    assert (wide.train >= narrow.train).all()


def test_identical_rows_have_distance_one():
    assert mean_distance(np.zeros((4, 4))) == 1.0


def ridge(G, y, options):
    """A machine that is easy to write down: kernel ridge for each C."""
    grid = options["C"]
    alpha = np.array([np.linalg.solve(G + np.eye(len(y)) / C, y) for C in grid])
    return Expansions([{"C": C} for C in grid], alpha, np.zeros(len(grid)), 0.25)


def test_select_is_cross_validation(random):
    X, y = random.normal(size=(60, 2)), np.where(random.random(60) < 0.5, 1.0, -1.0)
    X[:, 0] += y * 0.7
    folds = choosing_folds(y, 5, "any")
    grids = {"C": [1e-3, 1e-1, 10.0]}
    multiples = [1.0, 0.3, 3.0]
    chosen = select(ridge, rbf_blocks(X, X[:3], multiples), y, folds, grids)
    scores = {}
    for block in rbf_blocks(X, X[:3], multiples):
        for C in grids["C"]:
            right = 0
            for train, test in folds:
                found = ridge(block.train[np.ix_(train, train)], y[train], {"C": [C]})
                right += np.sum(np.sign(block.train[np.ix_(test, train)] @ found.alpha[0]) == y[test])
            scores[block.parameters["width"], C] = right / 60
    best = max(scores, key=scores.get)
    assert (chosen.block.parameters["width"], chosen.point["C"]) == best
    assert chosen.score == scores[best]
    assert chosen.ties == sum(score == scores[best] for score in scores.values())
    assert chosen.gap == 0.25


def test_first_of_equals_wins(random):
    y = np.repeat([1.0, -1.0], 10)
    X = y[:, None] * (1 + random.random((20, 1)))  # every point of the grid is perfect
    folds = choosing_folds(y, 5, "any")
    chosen = select(ridge, rbf_blocks(X, X, [2.0, 1.0]), y, folds, {"C": [3.0, 1.0]})
    assert (chosen.block.parameters, chosen.point) == ({"width": 2.0}, {"C": 3.0})
    assert (chosen.score, chosen.ties) == (1.0, 4)


def test_nothing_to_choose_from():
    y = np.repeat([1.0, -1.0], 4)
    with pytest.raises(ValueError, match="no kernel to choose from"):
        select(ridge, iter(()), y, choosing_folds(y, 2, "any"), {"C": [1.0]})


def test_decisions_of_expansions_are_those_of_a_support_vector_machine(random):
    X, Z = random.normal(size=(30, 3)), random.normal(size=(11, 3))
    y = np.where(X[:, 0] > 0.3, 1.0, -1.0)
    model = SVC(kernel="linear", C=2.0).fit(X, y)
    alpha = np.zeros((1, 30))
    alpha[0, model.support_] = model.dual_coef_[0]
    found = Expansions([{}], alpha, model.intercept_)
    np.testing.assert_allclose(found.decisions(Z @ X.T)[:, 0], model.decision_function(Z), atol=1e-12)


def test_at_point_cuts_grids_down():
    assert at_point({"C": [1, 2], "lambda1": [3, 4], "tol": 5}, {"C": 2.0}) == {
        "C": [2.0],
        "lambda1": [3, 4],
        "tol": 5,
    }


def test_blocks_are_yielded_one_at_a_time():
    """Only the best kernel and the present one need memory."""
    X = np.arange(12.0).reshape(6, 2)
    blocks = rbf_blocks(X, X, [1.0, 2.0, 4.0])
    assert isinstance(next(blocks), Block)
    widths = [block.parameters["width"] for block in blocks]
    assert all(two > one for one, two in pairwise(widths))
