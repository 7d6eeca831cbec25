"""Table 4 and Figure 2: linear machines on rows, dense or sparse, and the stand-ins."""

import json
from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.svm import LinearSVC

from marginbook.experiments import load_protocol
from marginbook.experiments.fold import Fold
from marginbook.ldm.experiments.halves import choosing_folds, unit_interval
from marginbook.ldm.experiments.standins import SHAPES, STAND_INS, TEST_ROWS, draw
from marginbook.ldm.experiments.table_4_figure_2 import (
    METHODS,
    choose,
    ldm_by_sgd,
    ldm_of_4_by_sgd,
    linear_svms,
    mamc_direction,
    measure_large,
    measure_time,
)
from marginbook.ldm.solvers.asgd import averaged_sgd
from marginbook.ldm.solvers.linear_cd import linear_coordinate_descent

SETTINGS = {
    "C": [1.0, 10.0],
    "lambda1": [0.01, 0.25],
    "lambda2": [0.01],
    "folds": 3,
    "n_passes": 2,
    "svm_tol": 1e-4,
    "svm_max_iter": 2000,
    "exact_tol": 1e-6,
    "exact_max_iter": 2000,
}
TIMED = {**SETTINGS, "C": 1.0, "lambda1": 0.1, "lambda2": 0.1}


@pytest.fixture(scope="module")
def half():
    random = np.random.default_rng(3)
    X = random.random((160, 12)) * (random.random((160, 12)) < 0.6)
    y = np.where(X[:, :4].sum(axis=1) + 0.2 * random.normal(size=160) > X[:, 4:8].sum(axis=1), "b", "a")
    return X[:100], y[:100], X[100:], y[100:]


def as_sparse(half):
    return csr_matrix(half[0]), half[1], csr_matrix(half[2]), half[3]


def measured(half, method, measure=measure_large, settings=SETTINGS, seed=0):
    return measure(Fold(*half, "any", seed), method, settings)


def test_protocols_name_what_there_is():
    table, figure = load_protocol("ldm/table-4"), load_protocol("ldm/fig-2")
    assert set(table.methods) == set(METHODS)
    assert set(table.settings) == set(SETTINGS)
    assert set(figure.settings) <= set(SETTINGS)
    assert {name for name in figure.datasets if name.startswith("like-")} == set(STAND_INS)
    for name, shape in SHAPES.items():
        assert figure.splits.train_size[name] == shape.rows


@pytest.mark.parametrize("method", METHODS)
def test_sparse_rows_are_measured_like_dense_ones(method, half):
    row, sparse = measured(half, method), measured(as_sparse(half), method)
    assert row["accuracy"] > 0.7 or method == "MAMC"
    assert set(row) == set(sparse)
    assert row["parameters"] == sparse["parameters"]
    assert row["accuracy"] == pytest.approx(sparse["accuracy"], abs=0.05)
    assert row["margin_mean"] == pytest.approx(sparse["margin_mean"], rel=0.05)
    assert (row["n_train"], row["n_test"]) == (100, 60)
    assert row == measured(half, method)


def test_columns_are_those_of_the_regular_tables(half):
    from marginbook.ldm.experiments.tables_2_3 import measure_linear

    regular = measure_linear(
        Fold(*half, "any", 0), "SVM", {"C": [1.0], "folds": 3, "svm_tol": 1e-3, "svm_max_iter": 1000}
    )
    for method in METHODS:
        assert set(measured(half, method)) == {*regular, "iterations", "converged"}


def test_ldm_is_the_descent_at_the_chosen_point(half):
    row = measured(half, "LDM", seed=5)
    at = json.loads(row["parameters"])
    X, Z = unit_interval(half[0], half[2])
    y = np.where(half[1] == "b", 1.0, -1.0)
    w = averaged_sgd(X, y, at["lambda1"], at["lambda2"], at["C"], n_passes=2, random_state=5).coef
    assert row["accuracy"] == np.mean(np.where(Z @ w > 0, "b", "a") == half[3])
    assert row["margin_mean"] == pytest.approx(np.mean(y * (X @ w)))


def test_exact_solution_is_at_the_point_of_ldm(half):
    row, rough = measured(half, "LDM(exact)"), measured(half, "LDM")
    for column in ("parameters", "cv_score", "ties"):
        assert row[column] == rough[column]
    assert row["converged"] == 1
    assert 0 <= row["dual_gap"] <= SETTINGS["exact_tol"]
    at = json.loads(row["parameters"])
    y = np.where(half[1] == "b", 1.0, -1.0)
    exact = linear_coordinate_descent(
        unit_interval(half[0], half[2])[0], y, at["lambda1"], at["lambda2"], at["C"], tol=1e-9, max_iter=20000
    )
    assert row["margin_mean"] == pytest.approx(exact.mean_margin, rel=1e-2)
    few = measured(half, "LDM(exact)", settings={**SETTINGS, "exact_max_iter": 1})
    assert (few["converged"], few["iterations"]) == (0, 1)


def test_the_double_sum_of_4_is_the_variance_times_m_squared(half):
    X, y = half[0], np.where(half[1] == "b", 1.0, -1.0)
    heavy = [value * len(y) ** 2 for value in SETTINGS["lambda1"]]
    plain = ldm_by_sgd(4, X, y, {**SETTINGS, "lambda1": heavy})
    found = ldm_of_4_by_sgd(4, X, y, SETTINGS)
    np.testing.assert_array_equal(found.alpha, plain.alpha)
    assert found.points == ldm_by_sgd(4, X, y, SETTINGS).points
    row = measured(half, "LDM(4)")
    at = json.loads(row["parameters"])
    assert at["lambda1"] in SETTINGS["lambda1"]
    w = averaged_sgd(
        unit_interval(half[0], half[2])[0],
        y,
        at["lambda1"] * len(y) ** 2,
        at["lambda2"],
        at["C"],
        n_passes=2,
        random_state=0,
    ).coef
    Z = unit_interval(half[0], half[2])[1]
    assert row["accuracy"] == np.mean(np.where(Z @ w > 0, "b", "a") == half[3])


def test_choice_is_cross_validation(half):
    y = np.where(half[1] == "b", 1.0, -1.0)
    X = half[0]
    folds = choosing_folds(y, 3, "any")
    for fit in (linear_svms, ldm_by_sgd):
        point, score, ties = choose(partial(fit, 4), X, y, folds, SETTINGS)
        right = {}
        for train, test in folds:
            found = fit(4, X[train], y[train], SETTINGS)
            for at, w in zip(found.points, found.alpha, strict=True):
                key = tuple(at.items())
                right[key] = right.get(key, 0) + np.sum(np.sign(X[test] @ w) == y[test])
        best = max(right, key=right.get)
        assert tuple(point.items()) == best
        assert score == right[best] / 100
        assert ties == list(right.values()).count(right[best])
    assert len(right) == 4
    assert [dict(key)["C"] for key in right] == [1, 1, 10, 10]


def test_svm_has_no_constant(half):
    y = np.where(half[1] == "b", 1.0, -1.0)
    first = linear_svms(0, half[0], y, SETTINGS).alpha[0]
    wanted = LinearSVC(loss="hinge", C=1.0, fit_intercept=False, tol=1e-4, max_iter=2000, random_state=0)
    np.testing.assert_allclose(first, wanted.fit(half[0], half[1]).coef_[0])
    row = measured(half, "SVM", settings={**SETTINGS, "svm_max_iter": 1})
    assert (row["converged"], row["iterations"]) == (0, 1)


def test_mamc(half):
    X, y = half[0], np.where(half[1] == "b", 1.0, -1.0)
    w = y @ X
    for rows in (X, csr_matrix(X)):
        np.testing.assert_allclose(mamc_direction(rows, y), w / np.linalg.norm(w), atol=1e-12)


def test_degenerate_rows():
    """A feature that never varies, one that only test rows have, empty rows, two rows in a class."""
    random = np.random.default_rng(0)
    X = np.zeros((20, 5))
    X[:, 0], X[:15, 1:3] = 1.0, random.random((15, 2))
    Z = random.random((6, 5))
    y = np.array([1] * 2 + [0] * 18)
    for half in ((X, y, Z, y[:6]), (csr_matrix(X), y, csr_matrix(Z), y[:6])):
        for method in METHODS:
            assert 0 <= measured(half, method)["accuracy"] <= 1


@pytest.mark.parametrize("method", ["SVMl", "SVMa", "LDM", "LDM(exact)"])
def test_time(method, half):
    for rows in (half, as_sparse(half)):
        row = measured(rows, method, measure_time, TIMED)
        assert 0 <= row["seconds"] < 5
        assert row["accuracy"] > 0.6
        assert (row["n_train"], row["n_features"]) == (100, 12)
        assert row["nonzeros"] == np.count_nonzero(unit_interval(half[0], half[2])[0])
        assert (row["dual_gap"] is not None) == (method == "LDM(exact)")
    assert row["iterations"] == 2 or method in ("SVMl", "LDM(exact)")


def test_unknown_methods(half):
    with pytest.raises(ValueError, match="unknown method 'KM-OMD'; choose from SVM, MDO, MAMC, LDM"):
        measured(half, "KM-OMD")
    with pytest.raises(ValueError, match="unknown method 'SVM'; choose from SVMl, SVMa"):
        measured(half, "SVM", measure_time, TIMED)


@pytest.mark.parametrize(
    ("rows", "features", "nonzeros"), [(300, 54, 12), (70, 5000, 455), (40, 7, 7), (9, 3, 1)]
)
def test_drawn_rows(rows, features, nonzeros):
    X, y = draw(rows, features, nonzeros, seed=1)
    assert X.shape == (rows, features)
    assert X.nnz == rows * nonzeros
    assert X.indices.dtype == X.indptr.dtype == np.int32
    assert (X.data > 0).all()
    for row in np.split(X.indices, X.indptr[1:-1]):
        assert (np.diff(row) > 0).all()
        assert row[-1] < features
    np.testing.assert_allclose(np.asarray(X.multiply(X).sum(axis=1)).ravel(), 1)
    assert set(y) == {-1, 1}
    again, labels = draw(rows, features, nonzeros, seed=1)
    assert (again != X).nnz == 0
    assert np.array_equal(y, labels)


def test_labels_of_drawn_rows_can_be_learned():
    X, y = draw(4000, 60, 12, seed=0)
    model = LinearSVC(C=10.0).fit(X[:3000], y[:3000])
    assert 0.85 < model.score(X[3000:], y[3000:]) < 0.99  # 5 of 100 are turned around
    assert abs(y.mean()) < 0.05


def test_too_many_nonzeros():
    with pytest.raises(ValueError, match="8 nonzeros do not fit into 7 features; give 1 to 7"):
        draw(3, 7, 8, seed=0)


def test_stand_in_has_the_rows_of_the_training_half():
    data = STAND_INS["like-real-sim"]()
    shape = SHAPES["like-real-sim"]
    assert data.X.shape == (shape.rows + TEST_ROWS, shape.features)
    assert data.source == "synthetic"
    assert data.X.nnz == data.X.shape[0] * shape.nonzeros
