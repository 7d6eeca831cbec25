"""The measures of Tables 2 and 3: what each machine solves, and that no test row is looked at to choose."""

import json

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from marginbook.experiments import load_protocol
from marginbook.experiments.fold import Fold
from marginbook.ldm.experiments.halves import prepared, unit_interval
from marginbook.ldm.experiments.selection import linear_block, rbf_blocks
from marginbook.ldm.experiments.tables_2_3 import (
    MACHINES,
    as_printed_in_4,
    fitted,
    km_omd,
    ldm,
    ldm_with_constant,
    mamc,
    measure_linear,
    measure_rbf,
    per_example,
    svm,
    svm_without_intercept,
)
from marginbook.ldm.model.whitening import WhitenedGram
from marginbook.ldm.solvers import active_set

SETTINGS = {
    "C": [1.0, 10.0],
    "lambda1": [0.25, 4.0],
    "lambda2": [0.125, 1.0],
    "width": [1.0, 0.5],
    "folds": 3,
    "tol": 1e-8,
    "svm_tol": 1e-8,
    "svm_max_iter": 100000,
}
COLUMNS = {
    "accuracy", "cv_score", "parameters", "ties", "dual_gap", "margin_mean", "margin_variance", "majority",
    "n_train", "n_test",
}  # fmt: skip


@pytest.fixture(scope="module")
def half():
    X, y = make_classification(90, 4, class_sep=0.6, flip_y=0.1, random_state=1)
    labels = np.where(y > 0, "yes", "no")
    return X[:50], labels[:50], X[50:], labels[50:]


@pytest.fixture(scope="module")
def gram_and_signs(half):
    X, Z = unit_interval(half[0], half[2])
    return next(linear_block(X, Z)).train, np.where(half[1] == "yes", 1.0, -1.0)


def measured(measure, half, method, settings=SETTINGS, seed=0):
    return measure(Fold(*half, "any", seed), method, settings)


def test_every_method_of_the_protocols_is_measured():
    for table in ("table-2", "table-3"):
        protocol = load_protocol(f"ldm/{table}")
        assert set(protocol.methods) - {"MDO"} == set(MACHINES)
        assert set(protocol.settings) <= set(SETTINGS)


@pytest.mark.parametrize("method", [*MACHINES, "MDO"])
def test_columns(method, half):
    for measure in (measure_linear,) if method == "MDO" else (measure_linear, measure_rbf):
        row = measured(measure, half, method)
        assert set(row) == COLUMNS
        assert 0.5 < row["accuracy"] <= 1
        assert (row["n_train"], row["n_test"]) == (50, 40)
        frequent = "yes" if np.mean(half[1] == "yes") > 0.5 else "no"
        assert row["majority"] == np.mean(half[3] == frequent)
        assert row == measured(measure, half, method)
        if method.startswith(("LDM", "SVM-0", "KM")):
            assert 0 <= row["dual_gap"] <= 1e-6


def test_ldm_is_solved_at_every_point(gram_and_signs):
    G, y = gram_and_signs
    found = ldm(G, y, SETTINGS)
    assert len(found.points) == 8
    assert found.points[0] == {"C": 1.0, "lambda1": 0.25, "lambda2": 0.125}
    assert [point["C"] for point in found.points] == [1.0] * 4 + [10.0] * 4  # the smallest C goes first
    assert [point["lambda2"] for point in found.points[:4]] == [0.125, 1.0, 0.125, 1.0]
    for point, alpha in zip(found.points, found.alpha, strict=True):
        H = WhitenedGram(G, y).hessian(point["lambda1"])
        alone = active_set(H, y, point["lambda1"], point["lambda2"], point["C"], tol=1e-10, max_iter=1000)
        np.testing.assert_allclose(G @ alpha, G @ alone.alpha, atol=1e-3)


def test_without_mean_and_variance_it_is_the_svm(gram_and_signs):
    """LIBSVM on the margins of the two: with an intercept, and with none through the kernel k + 1."""
    G, y = gram_and_signs
    found = svm_without_intercept(G, y, SETTINGS)
    assert found.points == [{"C": 1.0}, {"C": 10.0}]
    plain = {**SETTINGS, "lambda1": [0.0], "lambda2": [0.0]}
    constant = ldm_with_constant(G, y, plain)
    np.testing.assert_allclose(constant.decisions(G)[:, 1], constant.alpha[1] @ (G + 1), atol=1e-10)
    with_intercept = svm(G, y, SETTINGS)
    for k, C in enumerate(SETTINGS["C"]):
        losses = [
            0.5 * each.alpha[k] @ K @ each.alpha[k]
            + C * np.maximum(0, 1 - y * (each.decisions(G)[:, k])).sum()
            for each, K in ((found, G), (constant, G + 1), (with_intercept, G))
        ]
        # a constant feature helps, and an intercept without a price helps more
        assert losses[2] <= losses[1] + 1e-5 <= losses[0] + 2e-5


def test_svm_is_libsvm(gram_and_signs):
    G, y = gram_and_signs
    found = svm(G, y, SETTINGS)
    for k, C in enumerate(SETTINGS["C"]):
        model = SVC(C=C, kernel="precomputed", tol=1e-8).fit(G, y)
        np.testing.assert_allclose(found.decisions(G)[:, k], model.decision_function(G), atol=1e-9)


def test_limit_of_iterations_is_silent(gram_and_signs):
    G, y = gram_and_signs
    assert np.isfinite(svm(G, y, {**SETTINGS, "svm_max_iter": 2}).alpha).all()


def test_loss_per_example(gram_and_signs):
    G, y = gram_and_signs
    found = per_example(ldm)(G, y, SETTINGS)
    small = ldm(G, y, {**SETTINGS, "C": [0.02, 0.2]})
    np.testing.assert_allclose(found.alpha, small.alpha)
    assert [point["C"] for point in found.points] == [1.0] * 4 + [10.0] * 4


def test_the_double_sum_is_m_squared_times_the_variance(gram_and_signs):
    """One point of the grid, against the objective with the sum over all pairs written out."""
    G, y = gram_and_signs
    point = {"lambda1": [0.01], "lambda2": [0.25], "C": [10.0]}
    found = as_printed_in_4(G, y, {**SETTINGS, **point})
    assert found.points == [{"lambda1": 0.01, "lambda2": 0.25, "C": 10.0}]

    def objective(alpha):
        margins = y * (G @ alpha)
        pairs = np.subtract.outer(margins, margins)
        losses = np.maximum(0, 1 - margins).sum()
        return 0.5 * alpha @ G @ alpha + 0.01 * (pairs**2).sum() - 0.25 * margins.mean() + 10 * losses

    best, rng = objective(found.alpha[0]), np.random.default_rng(0)
    assert best < objective(ldm(G, y, {**SETTINGS, **point}).alpha[0])
    for scale in (1e-4, 1e-2):
        assert best <= objective(found.alpha[0] + scale * rng.normal(size=len(y))) + 1e-5 * abs(best)


def test_mamc_is_the_mean_of_the_signed_rows(half, gram_and_signs):
    G, y = gram_and_signs
    X, Z = unit_interval(half[0], half[2])
    f = mamc(G, y, SETTINGS).decisions(Z @ X.T)[:, 0]
    w = (y[:, None] * X).sum(axis=0)
    np.testing.assert_allclose(f, Z @ w / np.linalg.norm(w), atol=1e-10)


def test_km_omd_is_midway_between_the_weighted_means(gram_and_signs):
    G, y = gram_and_signs
    found = km_omd(G, y, SETTINGS)
    for alpha, f in zip(found.alpha, found.decisions(G).T, strict=True):
        for sign in (1, -1):
            assert (sign * alpha[y == sign]).min() >= 0
            assert (sign * alpha[y == sign]).sum() == pytest.approx(1)
        assert alpha[y > 0] @ f[y > 0] == pytest.approx(alpha[y < 0] @ f[y < 0])


@pytest.mark.parametrize("method", ["SVM", "LDM", "LDM(C/m)"])
def test_row_is_that_of_the_chosen_model(method, half):
    row = measured(measure_rbf, half, method)
    chosen = json.loads(row["parameters"])
    X, Z = unit_interval(half[0], half[2])
    y = np.where(half[1] == "yes", 1.0, -1.0)
    (block,) = rbf_blocks(X, Z, [chosen["width"]])
    at = {**SETTINGS, **{name: [chosen[name]] for name in chosen if name != "width"}}
    model = MACHINES[method](block.train, y, at)
    margins = y * model.decisions(block.train)[:, 0]
    assert row["accuracy"] == np.mean(np.where(model.decisions(block.test)[:, 0] > 0, "yes", "no") == half[3])
    assert row["margin_mean"] == pytest.approx(margins.mean())
    assert row["margin_variance"] == pytest.approx(margins.var())


@pytest.mark.parametrize("method", [*MACHINES, "MDO"])
def test_test_rows_do_not_choose(method, half):
    """Other test rows and other truths leave everything but the accuracy as it is."""
    X, y, Z, truth = half
    row = measured(measure_linear, half, method)
    other = measured(measure_linear, (X, y, Z[::-1] * 3, truth), method)
    for column in COLUMNS - {"accuracy"}:
        assert row[column] == other[column]


@pytest.mark.parametrize("method", [*MACHINES, "MDO"])
def test_degenerate_data(method):
    """More features than rows, duplicates, a constant feature, a small class."""
    random = np.random.default_rng(2)
    X = random.random((24, 60))
    X[:, 7] = 1.0
    X[5] = X[4]
    y = np.array([1] * 4 + [2] * 20)
    half = (X, y, random.random((10, 60)), random.integers(1, 3, 10))
    for measure in (measure_linear,) if method == "MDO" else (measure_linear, measure_rbf):
        row = measured(measure, half, method)
        assert np.isfinite([row["accuracy"], row["margin_mean"], row["margin_variance"]]).all()


def test_fitted_returns_the_choice(half):
    chosen, model = fitted(svm, "linear", prepared(Fold(*half, "any", 0)), SETTINGS)
    assert model.points == [chosen.point]
    assert model.alpha.shape == (1, 50)


def test_unknown_method(half):
    with pytest.raises(ValueError, match="unknown method 'SVM\\+'; choose from SVM, MAMC"):
        measured(measure_linear, half, "SVM+")
    with pytest.raises(ValueError, match="unknown method 'MDO'"):
        measured(measure_rbf, half, "MDO")
