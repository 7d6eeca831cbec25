"""The measures return the columns that the protocols name, and never look at the test rows to choose."""

import json

import numpy as np
import pytest
from imblearn.metrics import geometric_mean_score
from imblearn.over_sampling import SMOTE
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics import accuracy_score
from sklearn.preprocessing import MaxAbsScaler

from marginbook.claims.cell_verdicts import compare_cells
from marginbook.drm.experiments.tables_3_8_9 import measure_accuracy, measure_imbalanced, measure_resampled
from marginbook.drm.peers import select
from marginbook.experiments.fold import Fold

from .weka import peers

SETTINGS = {
    "alpha": [0.1],
    "beta": [0.1, 1.0],
    "C": [1.0, 10.0],
    "sigma2": [1.0],
    "degree": [2],
    "n_neighbors": [2, 3],
    "n_trees": [3],
    "node_share": [0.1],
    "slda_ridge": [0.1],
    "slda_kept": [1, 3],
    "sampling_neighbors": 5,
    "loo_limit": 10,
    "svm_max_iter": 10000,
}


@pytest.fixture
def fold():
    X, y = make_classification(120, 4, weights=[0.8], class_sep=0.7, random_state=0)
    return X[:80] * [1, 10, 100, 1], y[:80], X[80:] * [1, 10, 100, 1], y[80:]


def measured(measure, fold, method, settings=SETTINGS):
    return measure(Fold(*fold, "any", 0), method, settings)


@pytest.mark.parametrize(
    "method", peers(["SVM(R)", "KNN(C)", "RF", "C4.5", "entropy tree", "NB", "SLDA", "DRM(R)", "KRR(P)"])
)
@pytest.mark.parametrize(
    ("measure", "metric"), [(measure_accuracy, "accuracy"), (measure_imbalanced, "g_mean")]
)
def test_columns(measure, metric, method, fold):
    row = measured(measure, fold, method)
    ends = ("none", "max_abs")
    assert set(row) == {metric, "scaling", "parameters"} | {
        f"{m}_{e}" for m in (metric, "cv_score") for e in ends
    }
    scaling = max(ends, key=lambda end: row[f"cv_score_{end}"])
    assert row["scaling"] == scaling.replace("_", "-")
    assert row[metric] == row[f"{metric}_{scaling}"]
    assert row["scaling"] in json.loads(row["parameters"])


def test_accuracy_is_that_of_the_selected_model(fold):
    X, y, X_test, y_test = fold
    row = measured(measure_accuracy, fold, "SVM(R)")
    for end, transform in (("none", lambda rows: rows), ("max_abs", MaxAbsScaler().fit(X).transform)):
        model, _, score = select("SVM(R)", transform(X), y, accuracy_score, SETTINGS, 0)
        assert row[f"cv_score_{end}"] == score
        assert row[f"accuracy_{end}"] == accuracy_score(y_test, model.predict(transform(X_test)))


def test_many_classes_wide_data():
    """More features than rows and a class of one in training."""
    X, y = load_iris(return_X_y=True)
    wide = np.hstack([X, np.random.default_rng(0).normal(size=(150, 300))])
    train, test = np.r_[0:15, 50:65, 100], np.r_[30:40, 80:90, 130:140]
    for method in ("SVM(P)", "KNN(E)", "RF", "entropy tree", "NB", "DRM(P)"):
        row = measured(measure_accuracy, (wide[train], y[train], wide[test], y[test]), method)
        assert 0.3 <= row["accuracy"] <= 1, method


@pytest.mark.parametrize("sampler", ["SMOTE", "BorSMOTE", "SL-SMOTE"])
@pytest.mark.parametrize("peer", ["SVM", "KNN", "RF"])
def test_resampled_columns(sampler, peer, fold):
    row = measured(measure_resampled, fold, f"{sampler}+{peer}")
    columns = [f"{v}_{s}" for v in (1, 2) for s in ("none", "max_abs")]
    assert set(row) == {"g_mean", "scaling", "variant", "parameters"} | {
        f"{m}_{c}" for m in ("g_mean", "cv_score") for c in columns
    }
    filled = [c for c in columns if row[f"cv_score_{c}"] is not None]
    assert filled == (columns[:2] if peer == "RF" else columns)
    best = max(filled, key=lambda c: row[f"cv_score_{c}"])
    assert row["g_mean"] == row[f"g_mean_{best}"]
    assert row["variant"].startswith(peer)


def test_resampled_by_hand(fold):
    """Scale, over-sample, select; the test fold is scaled only."""
    X, y, X_test, y_test = fold
    row = measured(measure_resampled, fold, "SMOTE+KNN")
    transform = MaxAbsScaler().fit(X)
    X_new, y_new = SMOTE(k_neighbors=5, random_state=0).fit_resample(transform.transform(X), y)
    model, _, score = select("KNN(C)", X_new, y_new, geometric_mean_score, SETTINGS, 0)
    assert row["cv_score_2_max_abs"] == score
    predicted = model.predict(transform.transform(X_test))
    assert row["g_mean_2_max_abs"] == geometric_mean_score(y_test, predicted)


@pytest.mark.parametrize("n_small", [2, 4])
def test_small_class_gets_fewer_neighbours(n_small, fold):
    X, y, X_test, y_test = fold
    rows = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:n_small]]
    for sampler in ("SMOTE", "BorSMOTE", "SL-SMOTE"):
        row = measured(measure_resampled, (X[rows], y[rows], X_test, y_test), f"{sampler}+KNN")
        assert 0 <= row["g_mean"] <= 1


def test_nothing_solvable_is_none(fold):
    X, y, X_test, y_test = fold
    row = measured(
        measure_accuracy, (X * 1e40, y, X_test * 1e40, y_test), "SVM(P)", {**SETTINGS, "degree": [10]}
    )
    assert row["accuracy_none"] is None
    assert row["cv_score_none"] is None
    assert row["accuracy"] == row["accuracy_max_abs"]


def test_empty_columns_do_not_disturb_a_comparison(fold):
    """A forest has no second variant: its empty columns never are the better ones."""
    import pandas as pd

    row = measured(measure_resampled, fold, "SMOTE+RF")
    results = pd.DataFrame([{"dataset": "any", "method": "SMOTE+RF", "split": 1, **row}])
    printed = pd.DataFrame(
        [{"dataset": "any", "method": "SMOTE+RF", "mean": "0.5", "std": "0.1", "note": ""}]
    )
    columns = [f"g_mean_{v}_{s}" for v in (2, 1) for s in ("none", "max_abs")]
    frame = compare_cells(printed, results, metric="g_mean", better_of=columns, printed_splits=5)
    assert frame["ours_mean"][0] == max(row["g_mean_1_none"], row["g_mean_1_max_abs"])


def test_unknown_method(fold):
    with pytest.raises(
        ValueError, match=r"unknown method 'ADASYN\+SVM'; wanted one of SMOTE, BorSMOTE, SL-SMOTE"
    ):
        measured(measure_resampled, fold, "ADASYN+SVM")
