"""More than two classes: scikit-learn's wrappers, and how many rows their machines retain together."""

import re

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from marginbook import KMOMDClassifier, MKLClassifier
from marginbook.base.project import root
from marginbook.kfda import (
    MinimumRetained,
    SparseKFDAClassifier,
    retained_by,
    retained_fraction,
)
from marginbook.kfda.claims.tables_multiclass import by_scheme
from marginbook.kfda.estimators.selection_rules import ERROR_AND_RETAINED

PAGE = "notebooks/kfda/05_error_and_sparsity.md"
MODEL = SparseKFDAClassifier(q=0.5, rho=0.01, gamma=0.3)


def _flowers(seed=0):
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(seed).permutation(150)
    return StandardScaler().fit_transform(X)[order], load_iris().target_names[y][order]


@pytest.mark.parametrize("wrapper", [OneVsRestClassifier, OneVsOneClassifier])
def test_the_wrappers_classify(wrapper):
    X, y = _flowers()
    assert cross_val_score(wrapper(MODEL), X, y, cv=5).mean() > 0.92


def test_a_rare_class_wins_where_it_is_likeliest():
    """Targets are N / N1: without a common unit the machine of the rare class would be further from zero."""
    X = np.repeat([[0.0], [1.0]], [50, 400], axis=0)
    y = np.repeat(["rare", "b", "c", "b", "c"], [21, 19, 10, 200, 200])
    model = OneVsRestClassifier(SparseKFDAClassifier(2, 1e-9, gamma=5.0)).fit(X, y)
    f = np.array([one.decision_function([[0.0]])[0] for one in model.estimators_])
    np.testing.assert_allclose(f, 2 * np.array([0.38, 0.2, 0.42]) - 1, atol=1e-3)
    assert model.predict([[0.0]]) == ["rare"]


def test_one_against_the_rest_counts_rows_of_the_whole():
    X, y = _flowers()
    wrapped = OneVsRestClassifier(MODEL).fit(X, y)
    kept = retained_by(wrapped)
    rows = [set(clone_fit(X, y == name)) for name in np.unique(y)]
    assert kept.per_machine.tolist() == [len(part) for part in rows]
    assert kept.indices.tolist() == sorted(set.union(*rows))
    assert kept.total == sum(map(len, rows)) >= len(kept.indices)
    assert kept.n_rows == 150
    assert kept.fraction == retained_fraction(wrapped) == len(kept.indices) / 150


def clone_fit(X, positive):
    return SparseKFDAClassifier(q=0.5, rho=0.01, gamma=0.3).fit(X, positive).retained_.tolist()


@pytest.mark.parametrize("precomputed", [False, True])
def test_one_against_one_counts_rows_of_the_whole_too(precomputed):
    X, y = _flowers()
    K = X @ X.T
    model = SparseKFDAClassifier(q=0.5, rho=0.01, kernel="precomputed" if precomputed else "linear")
    wrapped = OneVsOneClassifier(model).fit(K if precomputed else X, y)
    expected, counts = set(), []
    for i, j in ((0, 1), (0, 2), (1, 2)):
        part = np.flatnonzero(np.isin(y, np.unique(y)[[i, j]]))
        one = SparseKFDAClassifier(q=0.5, rho=0.01, kernel="linear").fit(X[part], y[part])
        expected |= set(part[one.retained_].tolist())
        counts.append(len(one.retained_))
    kept = retained_by(wrapped, y)
    assert kept.indices.tolist() == sorted(expected)
    assert kept.per_machine.tolist() == counts
    assert kept.n_rows == 150
    if precomputed:
        assert retained_by(wrapped).indices.tolist() == sorted(expected)
    else:
        with pytest.raises(ValueError, match=re.escape("give their labels: retained_by(model, y)")):
            retained_by(wrapped)


def test_prediction_takes_the_kernel_of_the_union_only():
    """With every row that no machine retains spoilt, a precomputed kernel predicts the same."""
    X, y = _flowers()
    K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))
    for wrapper in (OneVsRestClassifier, OneVsOneClassifier):
        wrapped = wrapper(SparseKFDAClassifier(q=0.5, rho=0.01, kernel="precomputed")).fit(K, y)
        kept = retained_by(wrapped, y)
        spoilt = K.copy()
        spoilt[:, np.setdiff1d(np.arange(150), kept.indices)] = 1e6
        assert 0 < len(kept.indices) < 75
        np.testing.assert_array_equal(wrapped.predict(spoilt), wrapped.predict(K))


def test_pipelines_searches_and_other_machines():
    X, y = _flowers()
    inside = OneVsRestClassifier(make_pipeline(StandardScaler(), MODEL)).fit(X, y)
    outside = make_pipeline(StandardScaler(), OneVsRestClassifier(MODEL)).fit(X, y)
    np.testing.assert_array_equal(retained_by(inside).indices, retained_by(outside).indices)
    codes = OutputCodeClassifier(MODEL, code_size=2, random_state=0).fit(X, y)
    assert len(retained_by(codes).per_machine) == 6  # of which one has a single class
    grid = {"estimator__rho": [0.003, 0.03, 0.3]}
    search = GridSearchCV(
        OneVsRestClassifier(MODEL), grid, scoring=ERROR_AND_RETAINED, refit=MinimumRetained(0.02)
    ).fit(X, y)
    assert retained_fraction(search) == retained_by(search.best_estimator_).fraction
    svm = SVC().fit(X, y)
    assert retained_by(svm).indices.tolist() == sorted(svm.support_)
    pairs = OneVsOneClassifier(SVC(decision_function_shape="ovo")).fit(X, y)
    assert retained_by(pairs, y).total == sum(len(one.support_) for one in pairs.estimators_)
    one = MODEL.fit(X, y == "setosa")
    assert retained_by(one).per_machine.tolist() == [len(one.retained_)]


def test_what_has_no_retained_rows():
    X, y = _flowers()
    two = X, y == "setosa"
    for model in (
        LogisticRegression().fit(X, y),
        KMOMDClassifier().fit(*two),
        MKLClassifier().fit(*two),
        object(),
    ):
        with pytest.raises(
            ValueError, match=r"has neither retained_ nor support_, .*; give a sparse"
        ) as said:
            retained_by(model)
        assert not isinstance(said.value, NotFittedError)
    for model in (SparseKFDAClassifier(), OneVsRestClassifier(MODEL), GridSearchCV(MODEL, {"rho": [0.1]})):
        with pytest.raises(NotFittedError, match=f"{type(model).__name__} is not fitted; call fit"):
            retained_by(model)
    with pytest.raises(
        ValueError, match="y has 150 labels, which are not those that the model was fitted to"
    ):
        retained_by(OneVsOneClassifier(MODEL).fit(X[:120], y[:120]), y)


def test_the_caption_says_who_needs_fewer_rows() -> None:
    text = " ".join(((root() or pytest.skip("no source tree")) / PAGE).read_text("utf-8").split())
    assert "With three classes kFDA needs fewer rows than the SVM." in text
    assert (
        "With ten, kFDA-1 needs more on all three sets; kFDA-0.5 needs more on pendigits, and about" in text
    )
    frame = by_scheme()
    share, three = 100 * frame["union"] / frame["n_train"], frame["n_classes"] == 3
    for name in frame.index.unique("dataset"):
        for scheme in ("one-vs-one", "one-vs-rest"):
            svm, one, half = (share[name, f"{who} {scheme}"] for who in ("SVM", "kFDA-1", "kFDA-0.5"))
            if three.loc[name].all():
                assert max(one, half) < svm
            else:
                assert one > svm
                assert half > svm + 6 if name.startswith("pendigits") else abs(half - svm) < 6
