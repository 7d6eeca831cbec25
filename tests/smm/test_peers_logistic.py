"""LowRankLogisticClassifier: scikit-learn's contract, full rank, probabilities of two and more classes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from marginbook.datasets.generators import make_low_rank
from marginbook.smm.estimators import LowRankSVMClassifier
from marginbook.smm.peers.logistic import LowRankLogisticClassifier
from marginbook.smm.peers.vector import VectorLogisticClassifier


@parametrize_with_checks([LowRankLogisticClassifier()])
def test_estimator(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def sample():
    return make_low_rank(400, shape=(6, 6), rank=1, scale=3.0, random_state=0)


def test_it_is_the_low_rank_machine_with_the_logistic_loss(sample):
    model = LowRankLogisticClassifier(rank=1, lam=0.02).fit(sample.X, sample.y)
    machine = LowRankSVMClassifier(rank=1, lam=0.02, loss="logistic").fit(sample.X, sample.y)
    np.testing.assert_allclose(model.coef_, machine.coef_, atol=1e-8)
    assert np.linalg.matrix_rank(model.coef_) == 1
    assert model.lower_bound_ <= model.objective_
    assert "loss" not in model.get_params()


def test_full_rank_is_logistic_regression_on_the_entries(sample):
    model = LowRankLogisticClassifier(rank=None, lam=0.02).fit(sample.X, sample.y)
    vector = VectorLogisticClassifier(lam=0.02).fit(sample.X, sample.y)
    assert model.objective_ == pytest.approx(vector.objective_, rel=1e-6)
    np.testing.assert_allclose(model.predict_proba(sample.X), vector.predict_proba(sample.X), atol=1e-3)


def test_low_rank_probabilities_are_nearer_to_a_low_rank_truth(sample):
    train, test = slice(0, 100), slice(100, 400)
    errors = []
    for rank in (1, None):
        best = [
            LowRankLogisticClassifier(rank=rank, lam=lam).fit(sample.X[train], sample.y[train])
            for lam in (0.003, 0.01, 0.03, 0.1)
        ]
        truth = sample.probability[test]
        errors.append(min(np.abs(model.predict_proba(sample.X[test])[:, 1] - truth).mean() for model in best))
    assert errors[0] < 0.8 * errors[1]


def test_probabilities_of_several_classes(sample):
    labels = np.digitize(np.einsum("ij,nij->n", sample.coef, sample.X), [-0.5, 0.5])
    model = LowRankLogisticClassifier(rank=2, lam=0.003).fit(sample.X, labels)
    probabilities = model.predict_proba(sample.X)
    assert probabilities.shape == (400, 3)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(probabilities.argmax(axis=1), model.predict(sample.X))
    far = 1e6 * sample.X
    assert np.isfinite(model.predict_proba(far)).all()
    np.testing.assert_allclose(model.predict_proba(far).sum(axis=1), 1)


def test_it_can_be_cloned_and_pickled(sample):
    model = clone(LowRankLogisticClassifier(rank=2, lam=0.1, shape=(6, 6), random_state=1))
    assert model.get_params()["rank"] == 2
    model.fit(sample.X.reshape(400, -1), np.where(sample.y > 0, "b", "a"))
    same = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(same.predict_proba(sample.X), model.predict_proba(sample.X))
