"""The measures: scores against naive loops and sklearn, choices, methods, repeated runs."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, log_loss

from marginbook.experiments.fold import Fold
from marginbook.experiments.protocol import load_protocol
from marginbook.smm.estimators import LowRankSVMClassifier
from marginbook.smm.estimators.regression import RegressionFunctionEstimator
from marginbook.smm.experiments import draws, methods, selection
from marginbook.smm.experiments.generators import Truth
from marginbook.smm.experiments.real_matrices import measure_matrices
from marginbook.smm.experiments.real_pairs import scaled
from marginbook.smm.experiments.scores import best_scores, calibration_error, level_errors, probability_scores
from marginbook.smm.experiments.simulation import measure_simulation, of_levels, with_levels
from marginbook.smm.experiments.ten_digits import METHODS, measure_classes
from marginbook.smm.model.aggregation import levels
from marginbook.smm.model.row_features import row_features

SETTINGS = {
    "ranks": [1, 2], "lams": [0.3, 0.03], "logistic_lams": [0.1, 0.01], "nuclear_lams": [0.03],
    "mus": [0.3, 0.1], "kernel_lams": [0.01], "gammas": [1.0, 0.5], "landmarks": 20, "missed": 0.001,
    "n_levels": 6, "tuning_levels": 4, "trial_tol": 0.01, "tol": 1e-4, "folds": 3, "n_test": 200,
}  # fmt: skip
SECONDS = ("seconds", "seconds_choice")


def simulate(method, name="logit-n60-d4-r1", number=1, seed=0, **changes):
    rows = np.array([[number, 0.0]])
    stated = {**SETTINGS, **changes}
    found = measure_simulation(Fold(rows, [0], np.array([[number, 1.0]]), [1], name, seed), method, stated)
    assert all(isinstance(value, float | int | str | None) for value in found.values())
    return found


def test_scores_against_labels_are_those_of_sklearn():
    rng = np.random.default_rng(0)
    q, y = rng.uniform(0.01, 0.99, 300), rng.integers(0, 2, 300)
    found = probability_scores(q, y)
    assert found["brier"] == pytest.approx(brier_score_loss(y, q))
    assert found["log_loss"] == pytest.approx(log_loss(y, q))
    assert found["error"] == pytest.approx(100 * np.mean((q > 0.5) != y))


def test_scores_with_a_known_probability_are_expectations_over_labels():
    rng = np.random.default_rng(1)
    q, p = rng.uniform(0.05, 0.95, 40), rng.random(40)
    found = probability_scores(q, p)
    labels = rng.random((20000, 40)) < p
    several = [probability_scores(q, y) for y in labels[:4000].astype(float)]
    for name in ("brier", "log_loss", "error"):
        assert found[name] == pytest.approx(np.mean([each[name] for each in several]), rel=0.02)


@settings(max_examples=50)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30))
def test_nothing_scores_better_than_the_truth(pairs):
    q, p = np.array(pairs).T
    best, found = best_scores(p), probability_scores(q, p)
    assert found["brier"] >= best["bayes_brier"] - 1e-12
    assert found["error"] >= best["bayes_error"] - 1e-9
    assert found["mae"] + 1e-9 >= found["ece"] >= 0
    assert probability_scores(p, p)["mae"] == 0


def test_calibration_error_against_a_naive_loop():
    rng = np.random.default_rng(2)
    q, p = np.append(rng.random(100), [0.0, 1.0, 0.1]), rng.integers(0, 2, 103)
    total = 0.0
    for k in range(10):
        inside = [i for i in range(103) if min(int(q[i] * 10), 9) == k]
        if inside:
            total += len(inside) / 103 * abs(np.mean(q[inside]) - np.mean(p[inside]))
    assert calibration_error(q, p) == pytest.approx(total)


@pytest.mark.parametrize(
    ("q", "p", "told"),
    [
        ([0.5], [0.5, 0.5], "equal shapes"),
        ([], [], "m > 0"),
        ([1.1], [0.5], "from 0 to 1"),
        ([np.nan], [0.5], "from 0 to 1"),
    ],
)
def test_impossible_probabilities_are_refused(q, p, told):
    with pytest.raises(ValueError, match=told):
        probability_scores(np.array(q), np.array(p))


def test_level_errors_against_a_naive_loop_and_their_mean_is_the_absolute_error():
    rng = np.random.default_rng(3)
    p, at = rng.random(50), levels(10)
    inside = rng.random((50, 9)) < 0.5
    wanted = [np.mean([inside[i, h] != (p[i] > at[h]) for i in range(50)]) for h in range(9)]
    np.testing.assert_allclose(level_errors(inside, p, at), wanted)
    q, fine = rng.random(50), levels(5000)
    mean = level_errors(q[:, None] > fine, p, fine).mean()
    assert mean == pytest.approx(np.mean(np.abs(q - p)), abs=1e-3)
    with pytest.raises(ValueError, match="wanted"):
        level_errors(inside, p, fine)


def test_a_row_names_a_draw():
    found = draws.drawn("logit-n60-d4-r1")
    assert len(found.splits()) == draws.N_DRAWS
    train, test = found.splits()[6]
    assert found.X[train].tolist() == [[7.0, 0.0]]
    assert found.X[test].tolist() == [[7.0, 1.0]]
    parts = draws.draws_of("logit-n60-d4-r1", found.X[train], 30)
    assert [len(part.y) for part in parts] == [60, 60, 30]
    np.testing.assert_array_equal(parts[1].X, Truth("logit", (4, 4), 1, 7).draw(60, "tune").X)
    with pytest.raises(ValueError, match="wanted one row"):
        draws.draws_of("logit-n60-d4-r1", found.X[test], 30)
    with pytest.raises(ValueError, match="no simulated set"):
        draws.drawn("spirals")


@pytest.mark.parametrize("method", methods.METHODS)
def test_every_method_finds_something_and_repeats_itself(method):
    name = (
        "bumps-n60-d3x2-r1" if method in ("row-kernel SVM, levels", "rbf SVM, Platt") else "logit-n60-d4-r1"
    )
    first, second = simulate(method, name, seed=1), simulate(method, name, seed=2)
    assert {k: v for k, v in first.items() if k not in SECONDS} == {
        k: v for k, v in second.items() if k not in SECONDS
    }
    assert first["brier"] < 0.25
    assert first["brier"] - first["bayes_brier"] >= first["mae"] ** 2 - 1e-12
    assert (first["crossed"] is None) == ("levels" not in method)
    assert len(json.loads(first["level_errors"])) == 5


def test_a_level_path_is_the_estimator_at_the_chosen_point():
    found = simulate("low-rank SVM, levels")
    truth = Truth("logit", (4, 4), 1, 1)
    train, test = truth.draw(60, "train"), truth.draw(200, "test")
    model = RegressionFunctionEstimator(6, tol=1e-4, **json.loads(found["chosen"])).fit(train.X, train.y)
    wanted = probability_scores(model.predict_proba(test.X)[:, 1], test.probability)
    assert found["mae"] == found["mae_count"] == pytest.approx(wanted["mae"])
    model.aggregate = "isotonic"
    other = probability_scores(model.predict_proba(test.X)[:, 1], test.probability)
    assert found["mae_isotonic"] == pytest.approx(other["mae"])
    assert found["gap"] == pytest.approx(np.mean(model.global_gap_ / model.objective_))
    signs = model.level_decisions(test.X)[:, 2] > 0
    assert model.levels_[2] == 0.5
    expected = np.mean(np.where(signs, 1 - test.probability, test.probability))
    assert found["error_sign"] == pytest.approx(100 * expected)


def test_full_rank_paths_and_fixed_ranks_have_their_points():
    assert methods.METHODS["vector SVM, levels"].points(SETTINGS, (4, 3)) == [{"lam": 0.3}, {"lam": 0.03}]
    fixed = methods.METHODS["rank 5 SVM, levels"].points(SETTINGS, (4, 3))
    assert fixed == [{"rank": 3, "lam": 0.3}, {"rank": 3, "lam": 0.03}]
    chosen = methods.METHODS["low-rank SVM, levels"].points(SETTINGS, (4, 1))
    assert {point["rank"] for point in chosen} == {1}
    kernel = methods.METHODS["row-kernel SVM, levels"].points(SETTINGS, (4, 2))
    assert {point["gamma"] for point in kernel} == {0.5, 0.25}


def test_the_row_kernel_path_is_linear_in_landmark_features():
    truth = Truth("bumps", (3, 2), 1, 1)
    train, test = truth.draw(60, "train"), truth.draw(50, "test")
    point = {"gamma": 0.5, "rank": 1, "lam": 0.01}
    machine = methods.RowKernelPath().fit(train.X, train.y, point, SETTINGS, 0)
    features, values = row_features(("rbf", {"gamma": 0.5}), train.X, max_features=20, tol=0.001)
    model = RegressionFunctionEstimator(6, rank=1, lam=0.01, tol=1e-4).fit(values, train.y)
    np.testing.assert_allclose(
        machine.judge(test.X).levels, model.level_decisions(features.transform(test.X)), atol=1e-8
    )


def test_the_choice_is_the_lowest_brier_score():
    truth = Truth("logit", (4, 4), 1, 1)
    train, tune = truth.draw(60, "train"), truth.draw(60, "tune")
    method = methods.METHODS["low-rank logistic"]
    found = selection.choose_on_draw(method, train.X, train.y, tune.X, tune.y, SETTINGS)
    scores = []
    for point in method.points(SETTINGS, (4, 4)):
        p = method.trial(train.X, train.y, tune.X, point, SETTINGS)
        scores.append(np.mean([(q - (label == 1)) ** 2 for q, label in zip(p, tune.y, strict=True)]))
    assert found.brier == pytest.approx(min(scores))
    assert found.point == method.points(SETTINGS, (4, 4))[int(np.argmin(scores))]


def test_folds_judge_samples_that_were_left_out():
    class Memory(methods.Logistic):
        """Says 1 of samples that it has seen."""

        def points(self, settings, shape):
            return [{}]

        def trial(self, X, y, new, point, settings):
            seen = {row.tobytes() for row in X}
            return np.array([float(row.tobytes() in seen) for row in new])

    draw = Truth("logit", (3, 3), 1, 1).draw(30, "train")
    found = selection.choose_by_folds(Memory(), draw.X, draw.y, SETTINGS, 0)
    assert found.brier == pytest.approx(np.mean(draw.y == 1))


def test_platt_leaves_the_machine_and_learns_from_folds():
    draw = Truth("logit", (4, 4), 1, 1).draw(60, "train")
    machine = methods.METHODS["low-rank SVM, Platt"].fit(
        draw.X, draw.y, {"rank": 1, "lam": 0.03}, SETTINGS, 0
    )
    model = LowRankSVMClassifier(rank=1, lam=0.03, tol=1e-4).fit(draw.X, draw.y)
    judged = machine.judge(draw.X)
    np.testing.assert_allclose(judged.decision, model.decision_function(draw.X))
    order = np.argsort(judged.decision)
    assert (np.diff(judged.probability[order]) >= 0).all()
    assert machine.gap == pytest.approx(model.global_gap_ / model.objective_)


def test_the_nuclear_norm_scaling():
    # lam |B|^2 + mu |B|_* + mean hinge is nothing but 0 where mu is above the norm of the mean of y X
    draw = Truth("logit", (4, 4), 1, 1).draw(60, "train")
    method = methods.METHODS["nuclear-norm SVM, Platt"]
    balanced = np.concatenate([np.flatnonzero(draw.y == sign)[:20] for sign in (-1, 1)])
    X, y = draw.X[balanced], draw.y[balanced]
    norm = np.linalg.norm(np.mean(y[:, None, None] * X, axis=0), 2)
    zero, other = (
        method.trial(X, y, X, {"mu": factor * norm, "lam": 0.01}, {**SETTINGS, "trial_tol": 1e-8})
        for factor in (1.05, 0.6)
    )
    assert np.ptp(zero) < 1e-4
    assert np.ptp(other) > 1e-2


def test_numbers_of_levels_in_names():
    assert with_levels("low-rank SVM, levels, H=50", SETTINGS)[1]["n_levels"] == 50
    assert with_levels("low-rank SVM, levels", SETTINGS) == ("low-rank SVM, levels", SETTINGS)
    assert len(json.loads(simulate("low-rank SVM, levels, H=10")["level_errors"])) == 9
    for name in ("low-rank SVM, levels, H=", "low-rank SVM, levels, H=1", "Random forest"):
        with pytest.raises(ValueError, match="unknown method"):
            simulate(name)


def test_levels_of_a_probability_without_a_path():
    judged = methods.Judged(np.array([0.1, 0.6]), np.array([-1.0, 1.0]))
    row = of_levels(judged, np.array([0.3, 0.6]), 4)
    assert json.loads(row["level_errors"]) == [0.5, 0.0, 0.0]
    assert row["mae_count"] is row["crossed"] is None


def real(method, parts=None, **changes):
    draw = Truth("logit", (4, 3), 1, 1).draw(90, "train")
    labels = np.where(draw.y == 1, "pos", "neg")
    X = 5 * draw.X + 3
    parts = parts or (X[:60], labels[:60], X[60:], labels[60:])
    found = measure_matrices(Fold(*parts, "made", 0), method, {**SETTINGS, **changes})
    assert all(isinstance(value, float | int | str | None) for value in found.values())
    return found


@pytest.mark.parametrize("method", ["low-rank SVM, levels", "vector SVM, isotonic", "row-kernel SVM, levels"])
def test_real_matrices(method):
    found, again = real(method), real(method)
    assert {k: v for k, v in found.items() if k not in SECONDS} == {
        k: v for k, v in again.items() if k not in SECONDS
    }
    assert found["error"] < 45
    assert found["n_train"] == 60
    assert "mae" not in found
    assert "mae_count" not in found


def test_real_matrices_need_two_classes():
    X = np.zeros((6, 2, 2))
    with pytest.raises(ValueError, match="wanted two"):
        real("vector logistic", (X, np.array(list("abcabc")), X, np.array(list("abcabc"))))


@pytest.mark.parametrize("method", METHODS)
def test_three_classes(method):
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, 150)
    X = rng.standard_normal((150, 4, 4))
    X[np.arange(150), y, y] += 3
    stated = {**SETTINGS, "test_rows": 70}
    parts = (X[:75], y[:75], X[75:], y[75:])
    found = measure_classes(Fold(*parts, "made", 0), method, stated)
    assert found["error"] < 35
    assert found["n_test"] == 70
    if method == "low-rank SVM":
        A, B = scaled(X[:75], X[75:145])
        model = LowRankSVMClassifier(**json.loads(found["chosen"]), tol=1e-4).fit(A, y[:75])
        assert found["error"] == pytest.approx(100 * np.mean(model.predict(B) != y[75:145]))
    with pytest.raises(ValueError, match="unknown method 'kNN'"):
        measure_classes(Fold(*parts, "made", 0), "kNN", stated)


def test_scaling_keeps_the_rank_and_survives_constants():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4, 1)) @ rng.standard_normal((30, 1, 3)) * 7 + 2
    A, B = scaled(X[:20], X[20:])
    assert np.mean(A**2) == pytest.approx(1)
    np.testing.assert_allclose(A.mean(axis=0), 0, atol=1e-12)
    factor = (A[0] - A[1])[0, 0] / (X[0] - X[1])[0, 0]
    np.testing.assert_allclose(B, factor * (X[20:] - X[:20].mean(axis=0)))
    constant = scaled(np.full((4, 2, 2), 3.0), np.full((1, 2, 2), 4.0))
    assert (constant[0] == 0).all()
    assert (constant[1] == 1).all()


class Deciders(methods.Calibrated):
    """Candidates of made-up decision values, which their first column holds, or the second; then nothing."""

    def points(self, settings, shape):
        return [{"column": column} for column in range(shape[1])]

    def trial(self, X, y, new, point, settings):
        return new[:, 0, point["column"]]


def deciding(seed, n=42):
    """Return labels in turns, and matrices of useless decision values, then of a constant."""
    y = np.where(np.arange(n) % 2, 1, -1)
    return np.stack([np.random.default_rng(seed).standard_normal(n), np.zeros(n)], axis=1)[:, None], y


@pytest.mark.parametrize("how", ["folds", "draw"])
def test_useless_decisions_do_not_win(how):
    """A sigmoid of the labels that it is scored on would prefer them to a constant in every draw."""
    won = own = 0
    for seed in range(60):
        X, y = deciding(seed)
        method = Deciders("vector")
        if how == "folds":
            found = selection.choose_by_folds(method, X, y, SETTINGS, seed)
        else:
            found = selection.choose_on_draw(method, X, y, X, y, SETTINGS)
        won += found.point["column"] == 0
        useless, constant = X[:, 0, 0], X[:, 0, 1]
        own += selection.brier(method.trial_probability(useless, y, useless), y) < selection.brier(
            method.trial_probability(constant, y, constant), y
        )
    assert own == 60
    assert won <= 0.4 * 60


def test_decisions_that_tell_something_win_against_useless_ones():
    for seed in range(10):
        X, y = deciding(seed, 90)
        X[:, 0, 1] = y + np.random.default_rng(100 + seed).standard_normal(90)
        assert selection.choose_by_folds(Deciders("vector"), X, y, SETTINGS, seed).point == {"column": 1}


def test_no_sample_is_scored_by_a_sigmoid_that_knows_its_label():
    """Values that separate the classes except for one sample: its own sigmoid would make room for it."""
    y = np.where(np.arange(30) < 15, -1, 1)
    values = np.arange(30.0)
    values[0] = 40.0
    folds = [(np.delete(np.arange(30), rows), rows) for rows in np.arange(30).reshape(10, 3).T]
    method = methods.Calibrated("vector")
    crossed = selection.cross_fitted_brier(method, values, y, folds)
    p = np.empty(30)
    for others, held in folds:
        p[held] = method.trial_probability(values[others], y[others], values[held])
    assert crossed == pytest.approx(np.mean((p - (y == 1)) ** 2))
    assert crossed > selection.brier(method.trial_probability(values, y, values), y)


def test_a_candidate_is_judged_by_the_folds_that_calibrate_it():
    """A strong penalty on balanced samples: which class a machine answers alone differs from fold to fold.

    By three folds, all on the same side, it looked perfect (a Brier score of 4e-6 here); the calibrator of
    five others knew nothing (0.24 on the test samples).
    """
    protocol = load_protocol("smm/contest")
    name, method = "digits-3-8", "vector SVM, Platt"
    task = next(t for t in protocol.tasks("paper", datasets=[name], methods=[method]) if t.split == 60)
    data = protocol.load(name)
    fold = Fold.of(data, protocol.rows(data, name, task.split), name, task.seed)
    settings = protocol.settings_for("paper")
    found = measure_matrices(fold, method, {**settings, "lams": [100.0]})
    assert found["brier_cv"] > 0.2
    found = measure_matrices(fold, method, settings)
    assert found["brier"] < 0.03
    assert found["error"] < 5
