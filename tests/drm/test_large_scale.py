"""Table V and Figures 2 and 3: the measures against naive loops, dense formulas and LIBLINEAR itself."""

import json
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, load_wine
from sklearn.svm import LinearSVC

from marginbook.datasets import Dataset
from marginbook.drm import DRMClassifier
from marginbook.drm.experiments import poker_stand_in
from marginbook.drm.experiments import table_5 as large
from marginbook.drm.experiments.table_5_grid import choose_drm, choose_svm, selection_folds
from marginbook.drm.model.objective import class_slices, objective
from marginbook.drm.solvers import closed_form
from marginbook.experiments.fold import Fold

SETTINGS = {
    "alpha": [1e-3, 1e-1], "beta": [1.0, 10.0, 1e2], "C": [0.01, 1.0], "cv_rows": 60, "cv_folds": 3,
    "svm_max_iter": 20000, "svm_dual_tol": 1e-4, "svm_intercept": True,
    "iterative_test_points": 20, "tol": 1e-6, "max_iter": 300,
}  # fmt: skip
CURVES = {
    "alpha": 1e-3, "betas": [1.0, 1e2], "tol": 1e-8, "max_iter": 400, "test_points": 3, "path_beta": 10.0,
    "path_iterations": 30,
}  # fmt: skip


@pytest.fixture(scope="module")
def split():
    X, y = load_wine(return_X_y=True)
    test = np.arange(len(y)) % 3 == 0
    names = np.array(["a", "b", "c"])[y]
    return X[~test], names[~test], X[test], names[test]


def _measure(split, method, **changes):
    return large.measure_large(Fold(*split, "toy", 1), method, SETTINGS | changes)


def _scaled(split):
    X, y, Z, _ = split
    return X / np.abs(X).max(axis=0), y, Z / np.abs(X).max(axis=0)


@pytest.mark.parametrize("method", large.METHODS)
def test_every_method_is_measured_and_repeats_itself(split, method):
    row = _measure(split, method)
    assert row == _measure(split, method)
    assert 0 <= row["accuracy"] <= 1
    assert row["majority"] == np.mean(split[3] == "b")
    assert row["test_rows"] == (20 if method in large.ALGORITHMS else len(split[3]))
    assert set(row) == set(_measure(split, "majority"))
    assert (row["parameters"] is None) == (method == "majority")
    assert (row["agreement"] is None) == (method not in large.ALGORITHMS)


def test_the_exact_choice_is_that_of_a_loop_over_dense_solutions(split):
    X, y, Z = _scaled(split)
    codes = np.unique(y, return_inverse=True)[1]
    part, folds = selection_folds(codes, SETTINGS, "toy")
    assert len(part) == 60
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(60))
    for method, constant in (("DRM", False), ("DRM+1", True)):
        scores = {}
        for alpha, beta in product(SETTINGS["alpha"], SETTINGS["beta"]):
            model = DRMClassifier(alpha, beta, "linear", solver="closed", fit_intercept=constant)
            right = [model.fit(X[part[a]], y[part[a]]).predict(X[part[b]]) == y[part[b]] for a, b in folds]
            scores[alpha, beta] = np.concatenate(right).mean()
        row = _measure(split, method)
        first = max(scores, key=scores.get)
        assert json.loads(row["parameters"]) == {"alpha": first[0], "beta": first[1]}
        assert row["cv_score"] == pytest.approx(scores[first], abs=1e-12)
        best = DRMClassifier(*first, "linear", solver="closed", fit_intercept=constant).fit(X, y)
        assert row["accuracy"] == np.mean(best.predict(Z) == split[3])


@pytest.mark.parametrize("method", large.ALGORITHMS)
def test_run_to_the_end_the_algorithms_agree_with_the_exact_solution(split, method):
    to_the_end = {"beta": [10.0, 1e2], "tol": 1e-9, "max_iter": 5000}
    row, exact = _measure(split, method, **to_the_end), _measure(split, "DRM", **to_the_end)
    assert (row["parameters"], row["cv_score"]) == (exact["parameters"], exact["cv_score"])
    assert row["agreement"] == row["converged_share"] == 1.0
    assert row["kkt_residual"] < 1e-5
    points = large.test_points(len(split[3]), 20, "toy")
    only = _measure((*split[:2], split[2][points], split[3][points]), "DRM", **to_the_end)
    assert row["accuracy"] == only["accuracy"]


def test_one_step_is_not_the_solution(split):
    row = _measure(split, "DRM-PPA", max_iter=1)
    assert row["converged_share"] == 0
    assert row["iterations_mean"] == 1
    assert row["agreement"] < 1


def test_the_batches_do_not_change_the_labels(split, monkeypatch):
    whole = _measure(split, "DRM-GD")
    monkeypatch.setattr(large, "ENTRIES", 3 * len(split[1]))
    parts = _measure(split, "DRM-GD")
    assert parts.pop("kkt_residual") == pytest.approx(whole.pop("kkt_residual"), rel=0.5)
    assert parts == whole


@pytest.mark.parametrize(("method", "loss"), [("L1-SVM", "hinge"), ("L2-SVM", "squared_hinge")])
def test_the_svm_is_liblinears_with_the_better_constant(split, method, loss):
    X, y, Z = _scaled(split)
    codes = np.unique(y, return_inverse=True)[1]
    part, folds = selection_folds(codes, SETTINGS, "toy")
    scores = {}
    for C in SETTINGS["C"]:
        model = LinearSVC(C=C, loss=loss, dual=loss == "hinge", random_state=1, max_iter=20000)
        scores[C] = np.mean(
            np.concatenate(
                [model.fit(X[part[a]], y[part[a]]).predict(X[part[b]]) == y[part[b]] for a, b in folds]
            )
        )
    row, C = _measure(split, method), max(scores, key=scores.get)
    assert json.loads(row["parameters"]) == {"C": C}
    assert row["cv_score"] == pytest.approx(scores[C], abs=1e-12)
    model = LinearSVC(C=C, loss=loss, dual=loss == "hinge", random_state=1, max_iter=20000).fit(X, y)
    assert row["accuracy"] == np.mean(model.predict(Z) == split[3])
    assert row["converged_share"] == 1
    assert _measure(split, method, svm_max_iter=1)["converged_share"] == 0


def test_a_fit_that_does_not_end_is_the_last_choice():
    """The small C does not reach the constant that is needed; the large C does, without an end."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    codes = (X[:, 0] + 0.3 * rng.normal(size=200) > 0).astype(int)
    X += 3.0
    folds = [(np.arange(100), np.arange(100, 200)), (np.arange(100, 200), np.arange(100))]
    rushed = SETTINGS | {"C": [1e-6, 1e4], "svm_max_iter": 200}
    best, score = choose_svm("L1-SVM", X, codes, folds, rushed, 0)
    assert best == 1e-6
    only, unended = choose_svm("L1-SVM", X, codes, folds, rushed | {"C": [1e4]}, 0)
    assert only == 1e4
    assert unended > score


def test_a_class_of_one_and_a_constant_feature_do_no_harm(split):
    X, y, Z, truth = split
    X, Z = np.hstack([X, np.zeros((len(X), 1))]), np.hstack([Z, np.ones((len(Z), 1))])
    rare = np.r_[np.flatnonzero(y != "c"), np.flatnonzero(y == "c")[:1]]
    for method in ("DRM", "DRM+1", "DRM-APG", "L1-SVM", "L2-SVM"):
        row = _measure((X[rare], y[rare], Z, truth), method, cv_rows=10**6)
        assert row["accuracy"] > 0.5


def test_folds_without_a_second_class_can_be_scored():
    """Two rows of class 1 in 12: folds of one class exist when they are given so."""
    X, codes = np.random.default_rng(0).normal(size=(12, 3)), np.repeat([0, 1], [10, 2])
    folds = [(np.arange(6), np.arange(6, 12)), (np.arange(6, 12), np.arange(6))]
    _, score = choose_svm("L2-SVM", X, codes, folds, SETTINGS, 0)
    assert 4 / 12 <= score <= 10 / 12
    _, score = choose_drm(X, codes, folds, SETTINGS, False)
    assert 4 / 12 <= score <= 10 / 12


def test_grid_points_that_miss_the_certificate_are_left_out(split, monkeypatch):
    from marginbook.drm.experiments import table_5_grid

    real = table_5_grid.exact_maps

    def doubtful(X, codes, alpha, beta, constant=False):
        maps = real(X, codes, alpha, beta, constant)
        return maps if beta == 10.0 else type(maps)(maps.T, maps.R, np.nan)

    monkeypatch.setattr(table_5_grid, "exact_maps", doubtful)
    assert json.loads(_measure(split, "DRM")["parameters"])["beta"] == 10.0
    with pytest.raises(ValueError, match="no point of the grid could be solved"):
        _measure(split, "DRM", beta=[1.0])


def test_what_cannot_be_measured_is_named(split):
    with pytest.raises(ValueError, match="unknown method 'KNN'; choose from L1-SVM"):
        _measure(split, "KNN")
    with pytest.raises(ValueError, match="at least 2 classes, got only a"):
        _measure((split[0], np.full(len(split[1]), "a"), *split[2:]), "DRM")
    with pytest.raises(ValueError, match="unknown algorithm 'SGD'; choose from GD, PPA, APG"):
        next(large.solve("SGD", None, np.eye(2), 1e-5, 1))


def _curves(split, method, **changes):
    return large.measure_convergence(Fold(*split, "toy", 0), method, CURVES | changes)


@pytest.mark.parametrize("method", ["GD", "PPA", "APG"])
def test_the_path_ends_at_the_optimum_of_the_dense_formula(split, method):
    row = _curves(split, method)
    assert row == _curves(split, method)
    X, y, Z = _scaled(split)
    order, sizes = np.argsort(y, kind="stable"), np.unique(y, return_counts=True)[1]
    x = Z[large.test_points(len(Z), 3, "toy")[0]]
    K, Kx = X[order] @ X[order].T, X[order] @ x
    w = closed_form(K, sizes, 1e-3, 10.0).weights(Kx[:, None])[:, 0]
    assert row["optimum"] == pytest.approx(float(objective(K, sizes, Kx, w, 1e-3, 10.0)), rel=1e-12)
    path = json.loads(row["objective_path"])
    assert path[0] == pytest.approx(-row["optimum"], rel=1e-4)
    assert abs(path[-1]) < 0.01 * path[0]
    assert min(path) > -1e-14 * path[0]


def test_the_paths_follow_the_printed_steps(split):
    """Algorithms 3 and 5, written out for one test row with dense matrices."""
    X, y, Z = _scaled(split)
    order, sizes = np.argsort(y, kind="stable"), np.unique(y, return_counts=True)[1]
    x = Z[large.test_points(len(Z), 3, "toy")[0]]
    K, Kx = X[order] @ X[order].T, X[order] @ x
    B = np.zeros_like(K)
    for block in class_slices(sizes):
        B[block, block] = K[block, block] / (block.stop - block.start)
    Q = K + 1e-3 * (np.diag(np.diagonal(K)) - B)
    M, c = Q + 10.0 * np.eye(len(K)), np.linalg.eigvalsh(Q)[-1]
    f = lambda w: 0.5 * w @ M @ w - w @ Kx  # noqa: E731
    for method in ("GD", "PPA"):
        row = _curves(split, method)
        w, path = np.zeros(len(K)), json.loads(row["objective_path"])
        for t in range(6):
            assert path[t] == pytest.approx(f(w) - row["optimum"], rel=0.03, abs=1e-12)
            g = M @ w - Kx
            w = w - (g @ g) / (g @ M @ g) * g if method == "GD" else (Kx - Q @ w + c * w) / (10.0 + c)


def test_the_iterations_are_those_of_single_test_rows(split):
    row = _curves(split, "GD", max_iter=60)
    points = large.test_points(len(split[3]), 3, "toy")
    single = [
        large.measure_convergence(
            Fold(*split[:2], split[2][[k]], split[3][[k]], "toy", 0), "GD", CURVES | {"max_iter": 60}
        )
        for k in points
    ]  # fmt: skip
    for beta in ("1e+00", "1e+01", "1e+02"):
        for name in ("iterations", "converged"):
            assert row[f"{name}_{beta}"] == pytest.approx(np.mean([r[f"{name}_{beta}"] for r in single]))
        assert row[f"kkt_residual_{beta}"] == pytest.approx(
            max(r[f"kkt_residual_{beta}"] for r in single), rel=1e-6
        )
    assert row["iterations"] == row["iterations_1e+01"]


def test_the_fused_products_need_half_of_the_printed_ones(split):
    n, p = split[0].shape
    counts = {}
    for method in ("GD", "PPA", "APG"):
        row = _curves(split, method)
        assert 1.5 < row["multiplications_printed"] / row["multiplications"] < 2.5
        counts[method] = row["multiplications_printed"]
    assert counts["GD"] == pytest.approx((8 * p + 7) * n, rel=0.05)
    assert counts["PPA"] == pytest.approx((4 * p + 4) * n, rel=0.05)


def test_sparse_rows_give_the_numbers_of_dense_ones(split):
    X, y, Z, truth = split
    thin = sparse.csr_matrix(X), y, sparse.csr_matrix(Z), truth
    for method in ("DRM", "DRM+1", "DRM-PPA", "L2-SVM"):
        dense, other = _measure(split, method), _measure(thin, method)
        left, wanted = other.pop("kkt_residual"), dense.pop("kkt_residual")
        assert left == wanted is None or left == pytest.approx(wanted, rel=0.5)
        assert other == dense
    assert _curves(thin, "GD")["optimum"] == pytest.approx(_curves(split, "GD")["optimum"], rel=1e-12)


def test_the_stand_in_is_cut_the_same_way_every_time():
    X, y = load_iris(return_X_y=True)
    data = Dataset(X, y, "iris", "test", "0")
    cut = poker_stand_in.with_random_test_part(data, "iris-split", 30)
    assert cut.name == "iris-split"
    assert cut.test_mask.sum() == 30
    assert (cut.test_mask == poker_stand_in.with_random_test_part(data, "other", 30).test_mask).all()
    for wrong in (0, 150):
        with pytest.raises(ValueError, match=f"{wrong} of 150 rows cannot be the test part"):
            poker_stand_in.with_random_test_part(data, "iris-split", wrong)


def test_the_stand_in_for_poker_has_the_sizes_that_are_stated(monkeypatch):
    hands = Dataset(np.zeros((25010, 10)), np.zeros(25010, dtype=int), "poker-train", "test", "0")
    monkeypatch.setattr("marginbook.datasets.load", lambda name: {"poker-train": hands}[name])
    data = poker_stand_in.poker_split()
    assert data.name == "poker-split"
    assert (data.test_mask.sum(), (~data.test_mask).sum()) == (5010, 20000)
