"""Figures 1 and 3: quantiles of the margins, and accuracies along one parameter at a time."""

import json

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from marginbook.experiments import load_protocol
from marginbook.experiments.fold import Fold
from marginbook.ldm.experiments.figures_1_3 import measure_margins, measure_sensitivity
from marginbook.ldm.experiments.halves import unit_interval
from marginbook.ldm.experiments.selection import linear_block, rbf_blocks
from marginbook.ldm.experiments.tables_2_3 import MACHINES
from marginbook.ldm.model.widths import mean_distance

SETTINGS = {
    "C": [0.1, 1.0, 10.0],
    "lambda1": [0.25, 4.0, 64.0],
    "lambda2": [0.125, 1.0],
    "width": [1.0, 0.5],
    "folds": 3,
    "tol": 1e-8,
    "svm_tol": 1e-8,
    "svm_max_iter": 100000,
    "percent": [0, 5, 25, 50, 100],
}


@pytest.fixture(scope="module")
def half():
    X, y = make_classification(90, 5, class_sep=0.6, flip_y=0.1, random_state=1)
    return X[:50], y[:50], X[50:], y[50:]


def measured(measure, half, method, settings=SETTINGS):
    return measure(Fold(*half, "any", 0), method, settings)


def test_protocols_name_what_there_is():
    for figure, measure in (("fig-1", measure_margins), ("fig-3", measure_sensitivity)):
        protocol = load_protocol(f"ldm/{figure}")
        assert {method.rpartition("(")[0] for method in protocol.methods} <= set(MACHINES)
        assert set(protocol.settings) <= set(SETTINGS), measure


@pytest.mark.parametrize(
    "method", ["SVM(linear)", "LDM(linear)", "SVM-0(rbf)", "LDM(C/m)(rbf)", "LDM+1(rbf)"]
)
def test_quantiles_are_of_the_training_margins(method, half):
    row = measured(measure_margins, half, method)
    assert row == measured(measure_margins, half, method)
    chosen = json.loads(row["parameters"])
    name, kernel = method[:-1].rsplit("(", 1)
    X, Z = unit_interval(half[0], half[2])
    y = np.where(half[1] > 0, 1.0, -1.0)
    width = chosen.pop("width", None)
    (block,) = linear_block(X, Z) if kernel == "linear" else rbf_blocks(X, Z, [width])
    model = MACHINES[name](block.train, y, {**SETTINGS, **{key: [value] for key, value in chosen.items()}})
    margins = np.sort(y * model.decisions(block.train)[:, 0])
    got = [row[f"margin_{percent:03d}"] for percent in SETTINGS["percent"]]
    np.testing.assert_allclose(got, margins[[0, 2, 12, 24, 49]], atol=1e-10)  # 5 % of 50 rows: the third
    assert row["margin_mean"] == pytest.approx(margins.mean())
    assert row["margin_variance"] == pytest.approx(margins.var())
    for percent in SETTINGS["percent"]:
        assert row[f"unit_{percent:03d}"] * row["norm"] == pytest.approx(row[f"margin_{percent:03d}"])


def test_norm_is_the_length_of_w(half):
    row = measured(measure_margins, half, "SVM(linear)")
    X = unit_interval(half[0], half[2])[0]
    C = json.loads(row["parameters"])["C"]
    w = SVC(C=C, kernel="linear", tol=1e-8).fit(X, half[1]).coef_[0]
    assert row["norm"] == pytest.approx(np.linalg.norm(w), rel=1e-5)


@pytest.mark.parametrize("method", ["LDM(linear)", "LDM(rbf)", "LDM(C/m)(linear)", "LDM+1(rbf)"])
def test_sensitivity_moves_one_parameter(method, half):
    row = measured(measure_sensitivity, half, method)
    chosen = json.loads(row["parameters"])
    X, Z = unit_interval(half[0], half[2])
    y, truth = np.where(half[1] > 0, 1.0, -1.0), np.where(half[3] > 0, 1.0, -1.0)
    (block,) = linear_block(X, Z) if "linear" in method else rbf_blocks(X, Z, [chosen["width"]])
    for varied in ("lambda1", "lambda2", "C"):
        for k, value in enumerate(SETTINGS[varied], 1):
            at = {**chosen, varied: value}
            settings = {**SETTINGS, **{name: [at[name]] for name in ("lambda1", "lambda2", "C")}}
            found = MACHINES[method.rpartition("(")[0]](block.train, y, settings)
            reached = np.mean(np.sign(found.decisions(block.test)[:, 0]) == truth)
            assert row[f"{varied}_{k}"] == reached
            if value == chosen[varied]:
                assert row["accuracy"] == reached
        values = [row[f"{varied}_{k}"] for k in range(1, len(SETTINGS[varied]) + 1)]
        assert row[f"{varied}_range"] == max(values) - min(values)
    assert 0 <= row["dual_gap"] <= 1e-6


def test_a_strong_variance_term_does_change_the_accuracy(half):
    row = measured(measure_sensitivity, half, "LDM(C/m)(linear)", {**SETTINGS, "lambda1": [0.25, 4096.0]})
    assert row["lambda1_range"] > 0


def test_identical_rows():
    """All margins of a class are the same, and the length of w may be 0."""
    X, y = np.ones((12, 3)), np.repeat([0, 1], 6)
    row = measured(measure_margins, (X, y, X[:2], y[:2]), "SVM(linear)")
    assert row["norm"] == 0
    assert row["unit_000"] is None
    assert mean_distance(np.zeros((3, 3))) == 1


def test_unknown_methods(half):
    with pytest.raises(ValueError, match=r"unknown method 'LDM'; wanted a machine and \(linear\) or \(rbf\)"):
        measured(measure_margins, half, "LDM")
    with pytest.raises(ValueError, match=r"unknown machine 'MDO' in 'MDO\(linear\)'; choose from SVM"):
        measured(measure_margins, half, "MDO(linear)")
    with pytest.raises(ValueError, match=r"unknown method 'SVM\(rbf\)'; wanted LDM"):
        measured(measure_sensitivity, half, "SVM(rbf)")
