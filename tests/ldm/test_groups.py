"""Groups of rows in LDMClassifierCV: folds are those of the splitter, and no groups are lost in silence."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    LeaveOneGroupOut,
    StratifiedGroupKFold,
    StratifiedKFold,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from marginbook.kernels import gram
from marginbook.ldm import LDMClassifier, LDMClassifierCV

SMALL = {"lambda1s": (2**-8, 0.5), "lambda2s": (2**-6,), "Cs": (0.1, 10.0)}
rng = np.random.default_rng(0)
y = np.where(rng.random(48) < 0.4, "yes", "no")
X = rng.normal(size=(48, 3)) + 0.7 * (y == "yes")[:, None]
groups = rng.permutation(np.arange(48) // 6)


def _scores(search):
    return search.cv_results_["mean_test_score"]


@pytest.mark.parametrize("splitter", [GroupKFold(3), StratifiedGroupKFold(3), LeaveOneGroupOut()], ids=repr)
def test_folds_are_those_of_the_splitter(splitter):
    pairs = list(splitter.split(X, y, groups))
    found = LDMClassifierCV(**SMALL, gammas=(0.3,), cv=splitter).fit(X, y, groups=groups)
    given = LDMClassifierCV(**SMALL, gammas=(0.3,), cv=pairs).fit(X, y)
    np.testing.assert_array_equal(_scores(found), _scores(given))
    grid = {"lambda1": SMALL["lambda1s"], "lambda2": SMALL["lambda2s"], "C": SMALL["Cs"]}
    plain = GridSearchCV(LDMClassifier(gamma=0.3), grid, cv=splitter).fit(X, y, groups=groups)
    assert found.best_score_ == pytest.approx(plain.best_score_)
    words = pd.Series([f"patient {group}" for group in groups], index=np.arange(48)[::-1])
    np.testing.assert_array_equal(
        _scores(LDMClassifierCV(**SMALL, gammas=(0.3,), cv=list(splitter.split(X, y, words))).fit(X, y)),
        _scores(LDMClassifierCV(**SMALL, gammas=(0.3,), cv=splitter).fit(X, y, groups=words)),
    )


def test_groups_are_about_all_rows_also_those_without_weight():
    weights = np.random.default_rng(1).integers(0, 3, 48).astype(float)
    often = np.repeat(np.arange(48), weights.astype(int))
    search = LDMClassifierCV(**SMALL, cv=LeaveOneGroupOut(), tol=1e-10)
    heavy = search.fit(X, y, weights, groups=groups)
    scores = _scores(heavy)
    again = search.fit(X[often], y[often], groups=groups[often])
    np.testing.assert_allclose(scores, _scores(again), atol=1e-12)


def test_a_gram_matrix_has_groups_too():
    kernel = ("rbf", {"gamma": 0.3})
    options = {**SMALL, "cv": GroupKFold(3)}
    rows = LDMClassifierCV(**options, kernel=kernel).fit(X, y, groups=groups)
    matrix = LDMClassifierCV(**options, kernel="precomputed").fit(gram(kernel, X), y, groups=groups)
    np.testing.assert_array_equal(_scores(rows), _scores(matrix))


@pytest.mark.parametrize(
    ("options", "given", "message"),
    [
        ({"cv": 5}, groups, "groups need a splitter that keeps them together, such as cv=GroupKFold()"),
        ({"cv": None}, groups, "groups need a splitter"),
        ({"cv": [([0, 1], [2])]}, groups, "groups need a splitter"),
        ({"scoring": "loo-bound"}, groups, "scoring='loo-bound' makes no folds and takes no groups"),
        ({"cv": GroupKFold(3)}, groups[:5], "groups must name a group for each of 48 rows, got shape (5,)"),
        ({"cv": GroupKFold(3)}, 3, "groups must name a group for each of 48 rows, got shape ()"),
        ({"cv": GroupKFold(3)}, groups[:, None], "for each of 48 rows, got shape (48, 1)"),
        ({"cv": GroupKFold(3)}, None, "The 'groups' parameter should not be None"),
        ({"cv": GroupKFold(9)}, groups, "n_splits=9 greater than the number of groups: 8"),
    ],
)
def test_groups_that_have_no_place(options, given, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        LDMClassifierCV(**{**SMALL, **options}).fit(X, y, groups=given)


def test_a_splitter_that_ignores_groups_says_so():
    with pytest.warns(UserWarning, match="groups parameter is ignored by StratifiedKFold"):
        LDMClassifierCV(**SMALL, gammas=(0.3,), cv=StratifiedKFold(3)).fit(X, y, groups=groups)


def test_pipelines_and_searches_hand_groups_on():
    search = LDMClassifierCV(**SMALL, cv=GroupKFold(2))
    scaled = StandardScaler().fit_transform(X)
    direct = _scores(search.fit(scaled, y, groups=groups))
    pipe = make_pipeline(StandardScaler(), search).fit(X, y, ldmclassifiercv__groups=groups)
    np.testing.assert_array_equal(_scores(pipe[-1]), direct)
    with config_context(enable_metadata_routing=True):
        asked = LDMClassifierCV(**SMALL, cv=GroupKFold(2)).set_fit_request(groups=True)
        outer = GridSearchCV(asked, {"class_weight": [None, "balanced"]}, cv=GroupKFold(3))
        outer.fit(X, y, groups=groups)
    assert outer.best_estimator_.best_score_ > 0.5
