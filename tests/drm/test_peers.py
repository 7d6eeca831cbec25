"""The shortcuts of the peers' cross-validation change nothing that the full search would answer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from imblearn.metrics import geometric_mean_score
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score
from sklearn.model_selection import LeaveOneOut, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from marginbook.drm.estimators.selection import NothingSolvable
from marginbook.drm.peers import select
from marginbook.drm.peers.grids import Forests, Neighbours, Refitted, leaf_size
from marginbook.drm.peers.j48 import J48Classifier
from marginbook.drm.peers.racing import race
from marginbook.drm.peers.selection import NAMES, SCALE_FREE
from marginbook.drm.peers.slda import SparseLDA

from .weka import peers

SETTINGS = {
    "C": [0.1, 1.0, 10.0],
    "sigma2": [0.1, 1.0, 10.0],
    "degree": [2, 3],
    "n_neighbors": [2, 3, 5],
    "n_trees": [3, 5, 8],
    "node_share": [0.05, 0.1, 0.2],
    "slda_ridge": [0.01, 1.0],
    "slda_kept": [3, 9],
    "loo_limit": 50,
    "svm_max_iter": 10000,
}


def full_search(name, X, y, score, folds, seed):
    """Every candidate on every fold, by scikit-learn, the first of equal ones."""
    best = None
    for parameters, model in candidates(name, len(y), seed):
        try:
            value = score(y, cross_val_predict(model, X, y, cv=folds))
            model.fit(X, y)
        except ValueError:
            continue
        if best is None or value > best[0]:
            best = (value, parameters, model)
    return best


def candidates(name, n, seed):
    s = SETTINGS
    if name == "SVM(R)":
        for C in s["C"]:
            for v in s["sigma2"]:
                yield {"C": C, "sigma2": v}, SVC(C=C, gamma=1 / (2 * v))
    elif name == "SVM(P)":
        for C in s["C"]:
            for d in s["degree"]:
                yield (
                    {"C": C, "degree": d},
                    SVC(C=C, kernel="poly", degree=d, gamma=1, coef0=1, max_iter=10000),
                )
    elif name.startswith("KNN"):
        metric = "euclidean" if name == "KNN(E)" else "cosine"
        for k in s["n_neighbors"]:
            yield {"n_neighbors": k}, KNeighborsClassifier(min(k, n // 2), metric=metric)
    elif name == "RF":
        for trees in s["n_trees"]:
            yield {"n_trees": trees}, RandomForestClassifier(trees, random_state=seed)
    elif name == "C4.5":
        for share in s["node_share"]:
            yield {"node_share": share}, J48Classifier(share)
    elif name == "entropy tree":
        for share in s["node_share"]:
            yield (
                {"node_share": share},
                DecisionTreeClassifier(criterion="entropy", min_samples_leaf=share, random_state=seed),
            )
    elif name == "SLDA":
        for ridge in s["slda_ridge"]:
            for kept in s["slda_kept"]:
                yield {"ridge": ridge, "n_kept": kept}, SparseLDA(ridge, kept)
    else:
        yield {}, GaussianNB()


@pytest.mark.filterwarnings("ignore:Recall is ill-defined")
@given(
    n=st.integers(2, 25),
    n_candidates=st.integers(1, 6),
    n_folds=st.integers(1, 5),
    accuracy=st.sampled_from([0.3, 0.7, 0.95]),
    seed=st.integers(0, 10**6),
)
@settings(max_examples=60)
def test_race_is_the_full_search(n, n_candidates, n_folds, accuracy, seed):
    """Any predictions, many ties, some candidates that fail: the order and the scores are those in full."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    table = np.where(rng.random((n_candidates, n)) < accuracy, y, rng.integers(0, 3, (n_candidates, n)))
    table[rng.integers(n_candidates)] = table[0]
    broken = rng.random((n_candidates, n_folds)) < 0.03
    part = rng.integers(0, n_folds, n)
    folds = [(np.flatnonzero(part != f), np.flatnonzero(part == f)) for f in range(n_folds)]

    def predict(candidate, fold):
        if broken[candidate, fold]:
            raise ValueError("out")
        return table[candidate, folds[fold][1]]

    for score in (accuracy_score, geometric_mean_score):
        whole = [(c, score(y, table[c])) for c in range(n_candidates) if not broken[c].any()]
        wanted = sorted(whole, key=lambda pair: -pair[1])  # stable: the first of equal ones
        assert list(race(n_candidates, folds, y, score, predict)) == wanted


def test_race_skips_folds():
    """A candidate that is always right goes first and is the only one that is followed to the end."""
    y = np.arange(40) % 2
    folds = list(StratifiedKFold(10).split(np.zeros((40, 1)), y))
    asked = []

    def predict(candidate, fold):
        asked.append(candidate)
        return y[folds[fold][1]] if candidate == 1 else 1 - y[folds[fold][1]]

    assert next(race(3, folds, y, accuracy_score, predict)) == (1, 1.0)
    assert sorted(asked) == [0] + [1] * 10


@pytest.mark.filterwarnings("ignore:Solver terminated early")
@pytest.mark.parametrize("score", [accuracy_score, geometric_mean_score])
@pytest.mark.parametrize("n", [24, 90])
@pytest.mark.parametrize("name", peers(NAMES))
def test_select_is_the_full_search(name, n, score):
    """Leave-one-out (n = 24) and 10 folds (n = 90), two classes with text labels."""
    X, y = make_classification(n, 6, n_informative=3, flip_y=0.15, weights=[0.7], random_state=n)
    y = np.array(["few", "many"])[1 - y]
    folds = LeaveOneOut() if n <= 50 else StratifiedKFold(10, shuffle=True, random_state=3)
    value, parameters, model = full_search(name, X, y, score, folds, seed=3)
    chosen, ours, cv_score = select(name, X, y, score, SETTINGS, 3)
    assert ours == parameters
    assert cv_score == pytest.approx(value, abs=1e-12)
    rows = np.random.default_rng(0).normal(size=(50, 6))
    np.testing.assert_array_equal(chosen.predict(rows), model.predict(rows))


@pytest.mark.parametrize("name", peers(NAMES))
def test_several_classes_one_of_them_single(name):
    """A class of one is never predicted when it is left out, and no method fails on it."""
    X, y = load_iris(return_X_y=True)
    rows = np.r_[0:20, 50:70, 100]
    chosen, _, value = select(name, X[rows], y[rows], accuracy_score, {**SETTINGS, "loo_limit": 10}, 0)
    assert value <= 40 / 41
    assert chosen.predict(X).shape == (150,)


@pytest.mark.parametrize("name", peers(SCALE_FREE))
def test_scale_free(name):
    """Powers of two multiply without rounding, so that even the thresholds of trees stay in place."""
    X, y = make_classification(60, 4, random_state=0)
    factors = np.array([0.25, 2.0, 8.0, 1.0])
    rows = np.random.default_rng(0).normal(size=(40, 4))
    plain, parameters, value = select(name, X, y, accuracy_score, SETTINGS, 0)
    scaled, parameters_scaled, value_scaled = select(name, X * factors, y, accuracy_score, SETTINGS, 0)
    assert (parameters, value) == (parameters_scaled, value_scaled)
    np.testing.assert_array_equal(plain.predict(rows), scaled.predict(rows * factors))


def test_naive_bayes_is_not_scale_free():
    """A feature that is constant in a class meets the variance floor, a share of the largest variance."""
    X, y = make_classification(60, 4, random_state=0)
    X[y == 0, 0] = 0.5
    factors = np.array([1.0, 1e4, 1.0, 1.0])
    rows = np.random.default_rng(0).normal(size=(200, 4))
    plain, *_ = select("NB", X, y, accuracy_score, SETTINGS, 0)
    scaled, *_ = select("NB", X * factors, y, accuracy_score, SETTINGS, 0)
    assert (plain.predict(rows) != scaled.predict(rows * factors)).any()


def test_wide_data_are_not_left_out_one_by_one():
    """Above loo_cells the trees get ten folds, while neighbours keep leave-one-out."""
    X, y = make_classification(40, 30, random_state=0)
    wide = {**SETTINGS, "loo_cells": 1000}
    for name, same in (("RF", False), ("KNN(E)", True)):
        a, b = (select(name, X, y, accuracy_score, s, 0)[2] for s in (SETTINGS, wide))
        assert (a == b) is same


def test_overflow_is_out():
    """Kernels beyond double precision are left out, and an error tells when nothing is left."""
    X, y = make_classification(30, 4, random_state=0)
    X = X * 1e30
    with pytest.raises(NothingSolvable, match="scale the data"):
        select("SVM(P)", X, y, accuracy_score, {**SETTINGS, "degree": [8, 10]}, 0)


def test_unknown_name():
    with pytest.raises(ValueError, match=r"unknown peer 'LDA'; choose from SVM\(R\)"):
        select("LDA", np.eye(4), np.array([0, 1, 0, 1]), accuracy_score, SETTINGS, 0)


def test_constant_features_and_duplicates():
    """Rows that are all the same tell nothing: the larger class, whatever the method."""
    X, y = np.ones((15, 3)), np.r_[np.zeros(10, int), np.ones(5, int)]
    for name in ("SVM(R)", "RF", "entropy tree", "SLDA"):
        assert (select(name, X, y, accuracy_score, SETTINGS, 0)[0].predict(X) == 0).all(), name


def test_forest_prefix_is_a_forest():
    """The first trees of a large forest are the small forest, share by share."""
    X, y = make_classification(120, 5, flip_y=0.3, random_state=1)
    folds = [(np.arange(80), np.arange(80, 120))]
    forests = Forests(X, y, folds, [4, 9], seed=7)
    for candidate, trees in enumerate([4, 9]):
        alone = RandomForestClassifier(trees, random_state=7).fit(X[:80], y[:80])
        np.testing.assert_array_equal(forests.predict(candidate, 0), alone.predict(X[80:]))


def test_neighbours_by_a_loop():
    """Votes of the nearest rows outside the fold, in integers with many equal distances."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (40, 3)).astype(float), rng.integers(0, 3, 40)
    folds = list(StratifiedKFold(5).split(X, y))
    ours = Neighbours(X, y, folds, [2, 7], "euclidean")
    for candidate, k in enumerate([2, 7]):
        for fold, (train, test) in enumerate(folds):
            for row, predicted in zip(test, ours.predict(candidate, fold), strict=True):
                ranked = sorted(train, key=lambda i: (((X[i] - X[row]) ** 2).sum(), i))[:k]
                assert predicted == np.bincount(y[ranked]).argmax()


@pytest.mark.parametrize("n", [19, 20, 40, 47, 100])
def test_leaf_size_is_that_of_the_tree(n):
    """Shares that round to the same leaf give the same tree."""
    X, y = make_classification(n, 4, flip_y=0.3, random_state=n)
    for share in (0.05, 0.06, 0.07, 0.1, 0.3):
        a, b = (
            DecisionTreeClassifier(min_samples_leaf=leaf, random_state=0).fit(X, y)
            for leaf in (share, leaf_size(share, n))
        )
        np.testing.assert_array_equal(a.tree_.threshold, b.tree_.threshold)


def test_refitted_fits_equal_candidates_once():
    made = []

    def make():
        made.append(1)
        return GaussianNB()

    X, y = make_classification(20, 4, random_state=0)
    folds = [(np.arange(10), np.arange(10, 20)), (np.arange(10, 20), np.arange(10))]
    grid = Refitted(X, y, folds, [({"k": 5}, make), ({"k": 9}, make)], lambda chosen, _: min(chosen["k"], 4))
    np.testing.assert_array_equal(grid.predict(0, 1), grid.predict(1, 1))
    assert len(made) == 1
