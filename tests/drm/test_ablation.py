"""Figure 5: the measure against naive loops over the grid."""

import json

import numpy as np
import pytest
from imblearn.metrics import geometric_mean_score
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from marginbook.drm import DRMClassifier
from marginbook.drm.estimators.selection import SCALINGS, scaler
from marginbook.drm.experiments.figure_5 import NAMES, column, measure_ablation, predictions
from marginbook.experiments.fold import Fold

SETTINGS = {"alpha": [0.1, 10.0], "beta": [0.01, 1.0, 100.0], "sigma2": [0.1, 10.0], "degree": [2, 3]}


@pytest.fixture(scope="module")
def fold():
    X, y = load_breast_cancer(return_X_y=True)
    names = np.array(["positive", "negative"])[y]
    rows = np.r_[np.flatnonzero(y == 1)[:30], np.flatnonzero(y == 0)[:10]]
    test = np.r_[np.flatnonzero(y == 1)[100:120], np.flatnonzero(y == 0)[100:110]]
    return X[rows, :6], names[rows], X[test, :6], names[test]


def _measure(fold, method, **changes):
    return measure_ablation(Fold(*fold, "toy", 0), method, SETTINGS | changes)


def _models(method, beta):
    kernels = (
        [("rbf", {"gamma": 1 / (2 * s)}) for s in SETTINGS["sigma2"]]
        if method.endswith("(R)")
        else [("poly", {"degree": d, "gamma": 1.0, "coef0": 1.0}) for d in SETTINGS["degree"]]
    )
    alphas = SETTINGS["alpha"] if method.startswith("DRM") else [0.0]
    for scaling in SCALINGS:
        for kernel in kernels:
            for alpha in alphas:
                yield scaling, DRMClassifier(alpha, beta, kernel, solver="closed")


@pytest.mark.parametrize("method", ["DRM(R)", "KRR(R)"])
def test_both_readings_equal_a_loop_over_estimators(fold, method):
    X, y, Z, truth = fold
    row = _measure(fold, method)
    for beta in SETTINGS["beta"]:
        tested, left_out = [], []
        for scaling, model in _models(method, beta):
            transform = scaler(scaling).fit(X)
            rows = transform.transform(X)
            left_out.append(geometric_mean_score(y, cross_val_predict(model, rows, y, cv=LeaveOneOut())))
            predicted = model.fit(rows, y).predict(transform.transform(Z))
            tested.append(geometric_mean_score(truth, predicted))
        name, first = column(beta), int(np.argmax(left_out))
        assert row[f"best_{name}"] == pytest.approx(max(tested), abs=1e-12)
        assert row[f"loo_{name}"] == pytest.approx(left_out[first], abs=1e-12)
        assert row[f"chosen_{name}"] == pytest.approx(tested[first], abs=1e-12)


@pytest.mark.parametrize("method", NAMES)
def test_a_look_at_the_test_rows_never_loses(fold, method):
    row = _measure(fold, method)
    assert row == _measure(fold, method)
    for beta in SETTINGS["beta"]:
        name = column(beta)
        assert row[f"best_{name}"] >= row[f"chosen_{name}"]
        chosen = json.loads(row[f"parameters_{name}"])
        assert chosen["scaling"] in SCALINGS
        assert (chosen["alpha"] == 0) == method.startswith("KRR")


def test_kernel_ridge_is_the_drm_with_alpha_zero(fold):
    assert _measure(fold, "KRR(P)") == _measure(fold, "DRM(P)", alpha=[0.0])


def test_what_overflows_without_scaling_is_left_out(fold):
    """Degree 60 of numbers in the hundreds overflows; scaled, it does not."""
    row = _measure(fold, "DRM(P)", degree=[60], beta=[1.0])
    assert json.loads(row["parameters_1e+00"])["scaling"] == "max-abs"
    assert not list(predictions(Fold(*fold, "any", 0), [("poly", {"degree": 200})], [1.0], [1.0]))


def test_where_nothing_can_be_solved_the_entries_are_none(fold):
    """Two examples repeated, and a beta far below the rounding of the kernel: the system is singular."""
    X, y, Z, truth = fold
    same = np.repeat(X[[0, -1]] * 1e6, [30, 10], axis=0), y, Z * 1e6, truth
    row = _measure(same, "KRR(P)", degree=[30], beta=[1e-300])
    assert row["chosen_1e-300"] is None
    assert row["best_1e-300"] is None


def test_an_unknown_method_is_named(fold):
    with pytest.raises(ValueError, match=r"unknown method 'SVM\(R\)'; choose from DRM\(R\)"):
        _measure(fold, "SVM(R)")
