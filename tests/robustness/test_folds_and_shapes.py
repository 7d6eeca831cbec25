"""Folds that are none and shapes that are none are refused, by every estimator that takes such."""

import inspect

import numpy as np
import pytest
from sklearn.model_selection import KFold

from marginbook.kfda import RealisationSearch, SparseKFDAClassifier
from marginbook.smm import LowRankSVMClassifierCV

from .candidates import USUAL, public_estimators
from .recipes import Labels, Rows

X, y = Rows(20, 6, seed=1).make(), Labels("two").make(20)


def _has(name, parameter):
    return parameter in inspect.signature(public_estimators()[name]).parameters


@pytest.mark.parametrize("name", [name for name in public_estimators() if _has(name, "cv")])
@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (0, "cv.* >= 2|cv=0 folds, wanted at least 2"),
        (1, "cv.* >= 2|cv=1 folds, wanted at least 2"),
        (-1, "cv must be None, a number of folds >= 2, a splitter or pairs .*, got -1"),
        (True, "cv must be None, .* got True"),
        (2.5, "cv must be None, .* got 2.5"),
        ("loo", "cv must be None, .* got 'loo'"),
        (np.array(0.5), r"cv must be None, .* got array\(0.5\)"),
        (50, "cv must be at most the [0-9]+ rows|cv=50 folds, wanted .* at most"),
        (11, "cv must be at most the 10 rows|11 .*each class|cv=11 folds, wanted .* at most the 10"),
        ([], "cv is empty"),
        ([0, 1], r"cv must be None, .* got \[0, 1\]"),
        ([(0, 1)], "cv must be None, .* each part with at least one row"),
        ([([0.5, 1.5], [2.5])], "cv must be None, .* each part with at least one row"),
        ([(["a"], ["b"])], "cv must be None, .* each part with at least one row"),
        ([([], [0, 1])], "cv must be None, .* each part with at least one row"),
        ([([0, 1, 2, 3], [])], "cv must be None, .* each part with at least one row"),
        ([([0, 1, 2, 3], [99])], "cv names rows beyond the [0-9]+ of"),
    ],
    ids=repr,
)
def test_folds_that_are_none(name, cv, message):
    model = public_estimators()[name](**{**USUAL.get(name, {}), "cv": cv})
    with pytest.raises(ValueError, match=message) as caught:
        model.fit(X, y)
    assert "\n" not in str(caught.value)


def test_folds_of_a_splitter_and_of_pairs_are_the_same():
    splitter = KFold(2)
    given = LowRankSVMClassifierCV(lams=(0.1,), ranks=(1,), cv=splitter).fit(X, y)
    pairs = LowRankSVMClassifierCV(lams=(0.1,), ranks=(1,), cv=iter(list(splitter.split(X)))).fit(X, y)
    assert given.cv_results_["mean_test_score"] == pairs.cv_results_["mean_test_score"]
    assert pairs.n_splits_ == 2


@pytest.mark.parametrize("name", [name for name in public_estimators() if _has(name, "shape")])
@pytest.mark.parametrize("shape", [np.array(0.5), np.array(6), np.ones((2, 2)), 0.5, (2, 4)], ids=repr)
def test_shapes_that_are_none(name, shape):
    model = public_estimators()[name](**{**USUAL.get(name, {}), "shape": shape})
    with pytest.raises(ValueError, match=r"shape must (be None or two whole numbers >= 1|multiply to 6)"):
        model.fit(X, y)


def test_a_search_without_rows():
    search = RealisationSearch(SparseKFDAClassifier(), {"rho": [1.0]}, [([0, 1, 2, 3], [4])], cv=2)
    with pytest.raises(ValueError, match="got scalar array instead"):
        search.fit(None, y)
