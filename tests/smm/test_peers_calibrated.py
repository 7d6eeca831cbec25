"""CalibratedSVMClassifier: scikit-learn's calibration on vec(X), any machine of the room, its messages."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import KFold
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from marginbook.datasets.generators import make_low_rank
from marginbook.smm.estimators import LowRankSVMClassifier
from marginbook.smm.peers.calibrated import CalibratedSVMClassifier
from marginbook.smm.peers.nuclear_norm import NuclearNormSVMClassifier
from marginbook.smm.peers.vector import VectorSVMClassifier


@parametrize_with_checks(
    [CalibratedSVMClassifier(), CalibratedSVMClassifier(method="isotonic", ensemble=False)]
)
def test_estimator(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def sample():
    return make_low_rank(300, shape=(4, 5), rank=1, scale=4.0, random_state=0)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("ensemble", [True, False])
def test_it_is_calibration_of_the_machine_on_the_entries(sample, method, ensemble):
    X, y, rows = sample.X, sample.y, sample.X.reshape(300, -1)
    model = CalibratedSVMClassifier(
        VectorSVMClassifier(lam=0.05, tol=1e-6), method=method, cv=4, ensemble=ensemble
    ).fit(X, y)
    # 225 of 300 samples train a machine of a fold: the weight of a loss depends on their number
    if ensemble:
        machine = SVC(kernel="linear", C=1 / (2 * 0.05 * 225), tol=1e-6)
        direct = CalibratedClassifierCV(machine, method=method, cv=4, ensemble=True).fit(rows, y)
        np.testing.assert_allclose(model.predict_proba(X), direct.predict_proba(rows), atol=1e-3)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    order = np.argsort(VectorSVMClassifier(lam=0.05, tol=1e-6).fit(X, y).decision_function(X))
    if not ensemble:  # one machine: the probability is a monotone function of its values
        assert (np.diff(probabilities[order, 1]) >= -1e-9).all()


@pytest.mark.parametrize(
    "machine",
    [None, LowRankSVMClassifier(rank=1, lam=0.02), NuclearNormSVMClassifier(tau=1.0, C=0.1)],
    ids=["vector", "low rank", "nuclear"],
)
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_any_machine_of_the_room_is_calibrated(sample, machine, method):
    X, y, truth = sample.X[:200], np.where(sample.y[:200] > 0, "yes", "no"), sample.probability[200:]
    model = CalibratedSVMClassifier(machine, method=method).fit(X, y)
    probabilities = model.predict_proba(sample.X[200:])[:, 1]
    assert list(model.classes_) == ["no", "yes"]
    constant = np.abs((y == "yes").mean() - truth).mean()
    assert np.abs(probabilities - truth).mean() < 0.6 * constant
    np.testing.assert_array_equal(model.predict(sample.X[200:]), np.where(probabilities > 0.5, "yes", "no"))


def test_rows_with_a_shape_are_the_matrices(sample):
    rows = sample.X.reshape(300, -1)
    machine = LowRankSVMClassifier(rank=1, lam=0.02)
    matrices = CalibratedSVMClassifier(machine).fit(sample.X, sample.y).predict_proba(sample.X)
    reshaped = CalibratedSVMClassifier(machine, shape=(4, 5)).fit(rows, sample.y).predict_proba(rows)
    np.testing.assert_array_equal(matrices, reshaped)


def test_several_classes_with_a_machine_that_takes_them(sample):
    labels = np.digitize(np.einsum("ij,nij->n", sample.coef, sample.X), [-0.5, 0.5])
    model = CalibratedSVMClassifier(LowRankSVMClassifier(rank=1, lam=0.02), cv=3).fit(sample.X, labels)
    probabilities = model.predict_proba(sample.X)
    assert probabilities.shape == (300, 3)
    assert (model.predict(sample.X) == labels).mean() > 0.5
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        CalibratedSVMClassifier().fit(sample.X, labels)


def test_small_classes_get_fewer_folds(sample):
    y = -np.ones(30)
    y[:3] = 1
    model = CalibratedSVMClassifier().fit(sample.X[:30], y)
    assert len(model.calibrated_.calibrated_classifiers_) == 3
    y[1:3] = -1
    with pytest.raises(ValueError, match=r"class 1\.0 has one sample, wanted 2 or more"):
        CalibratedSVMClassifier().fit(sample.X[:30], y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "platt"}, "unknown method 'platt'; choose from sigmoid, isotonic"),
        ({"ensemble": "auto"}, "ensemble must be True or False, got 'auto'"),
        ({"cv": 1}, "cv=1 folds, wanted at least 2 and at most the 1[0-9]+ samples of the smallest class"),
        ({"cv": 250}, "cv=250 folds"),
    ],
)
def test_bad_parameters_are_named(sample, parameters, message):
    with pytest.raises(ValueError, match=message):
        CalibratedSVMClassifier(**parameters).fit(sample.X, sample.y)


def test_splitters_and_one_class(sample):
    model = CalibratedSVMClassifier(cv=KFold(3, shuffle=True, random_state=0)).fit(sample.X, sample.y)
    assert len(model.calibrated_.calibrated_classifiers_) == 3
    with pytest.raises(ValueError, match="needs 2 classes, got one class: 1"):
        CalibratedSVMClassifier().fit(sample.X, np.ones(300))
