"""Every method gets the same rows, the same scaling and the same number of fits."""

import json

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer

from marginbook.base.splits import stratified_folds
from marginbook.experiments import load_protocol
from marginbook.experiments.fold import Fold, rows_seed
from marginbook.study.experiments.accuracy import geometric_mean, measure_bench
from marginbook.study.experiments.candidates import BUDGET, CANDIDATES, FOLDS, Range, points
from marginbook.study.experiments.methods import METHODS, SubspaceClassifier
from marginbook.study.experiments.tuning import FitLog, Tuned, tune

SETTINGS = {"candidates": CANDIDATES, "folds": FOLDS}


@pytest.fixture(scope="module")
def rows():
    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order[:80]], y[order[:80]], X[order[80:160]], y[order[80:160]]


def run(rows, method, settings=SETTINGS, seed=0, dataset="toy"):
    return measure_bench(Fold(*rows, dataset, seed), method, settings)


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers what it was fitted to; right about everything if its parameter is 1."""

    seen: list = []  # noqa: RUF012

    def __init__(self, C):
        self.C = C

    def fit(self, X, y):
        self.seen.append((self.C, X.copy(), y.copy()))
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@pytest.mark.parametrize("method", [name for name in METHODS if name != "random forest"])
def test_each_method_has_49_fits_and_no_more(rows, method, monkeypatch):
    made = []
    plain = METHODS[method]

    def counting(at, shape, seed):
        made.append(at)
        return plain.make(at, shape, seed)

    monkeypatch.setitem(METHODS, method, Tuned(plain.ranges, counting, plain.used, plain.paper))
    row = run(rows, method)
    assert len(made) == row["n_fits"] == BUDGET == 49
    different = {tuple(sorted(at.items())) for at in made}
    assert len(different) == CANDIDATES
    assert row["accuracy"] > 80
    assert row["g_mean"] <= 100
    assert set(json.loads(row["parameters"])) == set(plain.ranges)


def test_the_protocol_states_the_same_budget_for_all():
    protocol = load_protocol("study/accuracy")
    for profile in ("paper", "quick"):
        assert protocol.settings_for(profile) == SETTINGS
    assert set(protocol.methods) == set(METHODS)


def test_all_methods_meet_the_same_folds_and_scaled_rows(rows, monkeypatch):
    seen = {}
    for name in ("one", "other"):
        Recorder.seen = []
        recorder = Tuned({"C": Range(0.1, 10)}, lambda at, shape, seed: Recorder(at["C"]))
        monkeypatch.setitem(METHODS, name, recorder)
        run(rows, name, seed=len(seen))
        seen[name] = Recorder.seen
    for (_, X, y), (_, Z, z) in zip(seen["one"], seen["other"], strict=True):
        assert np.array_equal(X, Z)
        assert np.array_equal(y, z)
    # the refit is on all rows, scaled by themselves
    last = seen["one"][-1][1]
    assert len(last) == 80
    np.testing.assert_allclose(last.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(last.std(axis=0), 1)


def test_test_rows_have_no_say_in_training(rows):
    A, y, B, z = rows
    row, other = (run((A, y, X, z), "SVM") for X in (B, 100 * B + 7))
    assert row["parameters"] == other["parameters"]
    assert row["inner_accuracy"] == other["inner_accuracy"]


def test_folds_partition_the_rows_with_both_classes(rows):
    _, y, _, _ = rows
    folds = stratified_folds(y, 3, rows_seed("study", "toy", rows[0]))
    assert np.array_equal(np.sort(np.concatenate([held for _, held in folds])), np.arange(len(y)))
    for train, held in folds:
        assert not np.intersect1d(train, held).size
        assert abs(y[held].mean() - y.mean()) < 0.05


def test_the_seed_is_of_the_set_and_its_rows(rows):
    assert rows_seed("study", "a", rows[0]) == rows_seed("study", "a", rows[0].copy())
    assert (
        len(
            {
                rows_seed("study", "a", rows[0]),
                rows_seed("study", "b", rows[0]),
                rows_seed("study", "a", rows[2]),
            }
        )
        == 3
    )


def test_the_best_candidate_wins_and_the_first_of_equals(rows):
    X, y, *_ = rows

    class Right(Recorder):
        def predict(self, Z):
            known = {row.tobytes(): label for row, label in zip(X, y, strict=True)}
            truth = np.array([known[row.tobytes()] for row in Z])
            return truth if self.C > 1 else 1 - truth

    method = Tuned({"C": Range(0.1, 10)}, lambda at, shape, seed: Right(at["C"]))
    candidates = points(method.ranges)
    log = FitLog()
    best, inner = tune(method, candidates, X, y, stratified_folds(y, 3, 0), 0, log)
    assert best == next(point for point in candidates if point["C"] > 1)
    assert inner == 1.0
    assert log.fits == CANDIDATES * FOLDS


def test_a_candidate_without_kernels_counts_as_a_fit_and_loses(rows):
    X, y, *_ = rows
    method = Tuned(
        {"eta": Range(0.5, 1.5, log=False)},
        lambda at, shape, seed: SubspaceClassifier(eta=min(at["eta"], 1.0), random_state=seed),
    )
    log = FitLog()
    candidates = [{"eta": 1.0}, {"eta": 0.3}]
    best, inner = tune(method, candidates, X, y, stratified_folds(y, 3, 0), 0, log)
    assert best == {"eta": 0.3}
    assert inner > 0.8
    assert (log.fits, log.failed) == (6, 3)


def test_missed_tolerances_are_counted(rows, monkeypatch):
    monkeypatch.setitem(
        METHODS,
        "impatient",
        Tuned(
            {"rho": Range(1e-4, 1e-2)},
            lambda at, shape, seed: measures_kfda(at["rho"], shape),
        ),
    )
    row = run(rows, "impatient")
    assert row["missed_fits"] == BUDGET
    assert row["missed"] == 1


def measures_kfda(rho, shape):
    from marginbook.kfda import SparseKFDAClassifier

    return SparseKFDAClassifier(q=0.5, rho=rho, gamma=1 / shape[1], max_iter=1)


def test_equal_weights_differ_from_learned_ones_in_weights_only(rows):
    X, y, *_ = rows
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    learned, equal = (SubspaceClassifier(equal=e, eta=0.3).fit(Z, y).features_ for e in (False, True))
    assert np.array_equal(learned.kept_kernels_, equal.kept_kernels_)
    assert np.array_equal(learned.basis_rows_, equal.basis_rows_)
    weights = equal.weights_[:, equal.kept_kernels_]
    assert np.ptp(weights) == 0
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    assert np.ptp(learned.weights_[:, learned.kept_kernels_]) > 0


def test_needed_rows_are_those_that_change_predictions(rows):
    assert run(rows, "LDA")["needed"] is None
    assert run(rows, "SMM")["needed"] is None
    assert run(rows, "kernel ridge")["needed"] == 100
    sparse, svm = run(rows, "kFDA-0.5")["needed"], run(rows, "SVM")["needed"]
    assert 0 < sparse < svm < 100
    # half of the rows make the subspaces
    assert 0 < run(rows, "CLASMK")["needed"] <= 52


def test_geometric_mean_is_that_of_imbalanced_learn():
    from imblearn.metrics import geometric_mean_score

    rng = np.random.default_rng(1)
    for _ in range(20):
        y, predicted = rng.integers(0, 2, 30), rng.integers(0, 2, 30)
        assert geometric_mean(y, predicted) == pytest.approx(geometric_mean_score(y, predicted))
    assert geometric_mean(np.array([0, 1]), np.array([0, 0])) == 0


def test_an_unknown_method_is_named():
    with pytest.raises(ValueError, match="unknown method 'boosting'; choose from DRM"):
        run((np.eye(2), [0, 1], np.eye(2), [0, 1]), "boosting")


@pytest.mark.parametrize("dimension", [1, 2, 3, 4])
def test_candidates_are_balanced_in_each_parameter_and_inside_the_ranges(dimension):
    ranges = {f"p{i}": Range(1.0, 16.0, log=i % 2 == 0) for i in range(dimension)}
    found = points(ranges)
    assert len(found) == CANDIDATES
    for name, span in ranges.items():
        values = np.sort([point[name] for point in found])
        wanted = [span.at((k + 0.5) / CANDIDATES) for k in range(CANDIDATES)]
        np.testing.assert_allclose(values, wanted)


def test_two_parameters_have_a_point_in_each_cell_of_four_by_four():
    found = np.array(
        [list(point.values()) for point in points({"a": Range(0, 1, False), "b": Range(0, 1, False)})]
    )
    cells = {tuple(cell) for cell in (4 * found).astype(int).tolist()}
    assert len(cells) == 16


def test_a_number_that_is_no_power_of_two_is_refused():
    with pytest.raises(ValueError, match="12 points asked, wanted a power of two"):
        points({"a": Range(1, 2)}, 12)


def test_the_measure_has_no_other_random_source(rows):
    kept = ("accuracy", "g_mean", "needed", "inner_accuracy", "parameters")
    one, other = run(rows, "CLASMK equal", seed=1), run(rows, "CLASMK equal", seed=2)
    assert {name: one[name] for name in kept} == {name: other[name] for name in kept}
    assert rows_seed("study", "toy", rows[0]) < 2**32
