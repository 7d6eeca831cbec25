"""Trials: the numbers of the estimators, without them, and each candidate scored once."""

import json

import numpy as np
import pytest

from marginbook.experiments.fold import Fold
from marginbook.smm.estimators import LowRankSVMClassifier
from marginbook.smm.estimators.regression import RegressionFunctionEstimator
from marginbook.smm.experiments import methods, selection, trials
from marginbook.smm.experiments.generators import Truth
from marginbook.smm.experiments.simulation import measure_simulation
from marginbook.smm.model.row_features import row_features
from marginbook.smm.peers.logistic import LowRankLogisticClassifier

SETTINGS = {
    "ranks": [1, 2], "lams": [0.3, 0.03], "logistic_lams": [0.1, 0.01], "nuclear_lams": [0.03],
    "mus": [0.3, 0.1], "kernel_lams": [0.01, 0.003], "gammas": [1.0], "landmarks": 20, "missed": 0.001,
    "n_levels": 6, "tuning_levels": 4, "trial_tol": 0.01, "tol": 1e-4, "folds": 3, "n_test": 200,
}  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(trials, "_SCORES", {})
    monkeypatch.setattr(trials, "_FEATURES", {})


@pytest.fixture
def parts():
    truth = Truth("logit", (6, 5), 2, 1)
    return truth.draw(80, "train"), truth.draw(50, "test").X


@pytest.mark.parametrize("rank", [1, 2, None])
@pytest.mark.parametrize("lam", [0.3, 0.003])
def test_a_path_is_that_of_the_estimator(parts, rank, lam):
    train, new = parts
    model = RegressionFunctionEstimator(4, rank=rank, lam=lam, tol=0.01).fit(train.X, train.y)
    values = trials.path_values(train.X, train.y, new, n_levels=4, rank=rank, lam=lam, tol=0.01)
    np.testing.assert_allclose(values, model.level_decisions(new), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("loss", "machine"), [("hinge", LowRankSVMClassifier), ("logistic", LowRankLogisticClassifier)]
)
def test_a_single_machine_is_that_of_the_estimator(parts, loss, machine):
    train, new = parts
    for rank, lam in ((1, 0.1), (2, 0.01)):
        model = machine(rank=rank, lam=lam, tol=0.01).fit(train.X, train.y)
        values = trials.single_values(train.X, train.y, new, loss=loss, rank=rank, lam=lam, tol=0.01)
        np.testing.assert_allclose(values, model.decision_function(new), rtol=1e-12, atol=1e-12)


def test_features_of_rows_are_made_once(parts, monkeypatch):
    train, _ = parts
    first = trials.in_row_features(train.X, 0.2, 20, 1e-3)
    _, wanted = row_features(("rbf", {"gamma": 0.2}), train.X, max_features=20, tol=1e-3)
    np.testing.assert_array_equal(first.values, wanted)
    monkeypatch.setattr(trials, "row_features", None)
    assert trials.in_row_features(train.X.copy(), 0.2, 20, 1e-3) is first
    with pytest.raises(TypeError):
        trials.in_row_features(train.X + 1, 0.2, 20, 1e-3)


def row(method, **changes):
    rows = np.array([[1, 0.0]])
    fold = Fold(rows, [0], np.array([[1, 1.0]]), [1], "logit-n60-d4-r2", 0)
    return measure_simulation(fold, method, {**SETTINGS, **changes})


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("low-rank SVM, levels, H=4", "low-rank SVM, levels, H=6"),
        ("low-rank SVM, levels", "rank 2 SVM, levels"),
        ("vector SVM, Platt", "vector SVM, isotonic"),
    ],
)
def test_methods_with_the_same_candidates_share_their_scores(first, second, monkeypatch):
    alone = row(second)
    monkeypatch.setattr(trials, "_SCORES", {})
    row(first)
    before = len(trials._SCORES)
    found = row(second)
    assert len(trials._SCORES) == before
    same = set(alone) - {"seconds", "seconds_choice"}
    assert {name: found[name] for name in same} == {name: alone[name] for name in same}
    assert found["seconds_choice"] > 0


@pytest.mark.parametrize(
    ("first", "second", "changes"),
    [
        ("low-rank SVM, Platt", "vector SVM, Platt", {}),
        ("low-rank logistic", "vector logistic", {}),
        ("low-rank SVM, levels", "low-rank SVM, Platt", {}),
        ("low-rank SVM, levels", "low-rank SVM, levels", {"tuning_levels": 6}),
        ("low-rank logistic", "low-rank logistic", {"trial_tol": 0.001}),
    ],
)
def test_other_candidates_are_scored_anew(first, second, changes):
    row(first)
    before = len(trials._SCORES)
    chosen = json.loads(row(second, **changes)["chosen"])
    assert len(trials._SCORES) > before
    assert chosen["lam"] in (*SETTINGS["lams"], *SETTINGS["logistic_lams"])


def test_other_samples_labels_and_folds_are_scored_anew(parts):
    train, _ = parts
    method = methods.METHODS["vector logistic"]
    seen = set()
    for X, y, seed in (
        (train.X, train.y, 0), (2 * train.X, train.y, 0), (train.X, -train.y, 0), (train.X, train.y, 1),
    ):  # fmt: skip
        selection.choose_by_folds(method, X, y, SETTINGS, seed)
        seen.add(len(trials._SCORES))
    assert seen == {2, 4, 6, 8}


def test_only_so_many_scores_are_kept(monkeypatch):
    monkeypatch.setattr(trials, "MOST_SCORES", 3)
    for k in range(5):
        assert trials.scored("a", {"k": k}, lambda k=k: float(k)).score == k
    assert len(trials._SCORES) == 2
