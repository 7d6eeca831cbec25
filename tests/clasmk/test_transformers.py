"""CLASKTransformer and CLASMKTransformer: limits, invariances, the conventions, scikit-learn, bad input."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from marginbook.base.labels import encode_classes
from marginbook.clasmk.estimators import fitting
from marginbook.clasmk.estimators.chosen_kernels import CLASKTransformer
from marginbook.clasmk.estimators.splitting import Split
from marginbook.clasmk.estimators.weighted_kernels import CLASMKTransformer
from marginbook.clasmk.model.embedding import class_subspace
from marginbook.clasmk.model.features import FeatureMap
from marginbook.clasmk.model.kernel_sets import paper_kernels
from marginbook.clasmk.model.truncation import AllTruncated, representative, thresholded

KERNELS = [("rbf", {"gamma": 0.3}), ("rbf", {"gamma": 0.03}), ("poly", {"degree": 2}), "linear"]
BOTH = pytest.mark.parametrize("method", [CLASKTransformer, CLASMKTransformer])


@parametrize_with_checks(
    [
        CLASKTransformer(),
        CLASKTransformer(kernels=KERNELS[:3], rule="greedy"),
        CLASMKTransformer(),
        CLASMKTransformer(kernels=KERNELS[:3], combine="concat", denominator="mean"),
    ]
)
def test_scikit_learn_finds_nothing(estimator, check):
    check(estimator)


def _wine():
    X, y = load_wine(return_X_y=True)
    return scale(X), y


def _normalised(kernel, X, Z):
    """The normalised kernel, entry by entry."""
    name, parameters = (kernel, {}) if isinstance(kernel, str) else kernel

    def value(x, z):
        if name == "rbf":
            return np.exp(-parameters["gamma"] * np.sum((x - z) ** 2))
        return (x @ z) if name == "linear" else (1 + x @ z) ** parameters["degree"]

    return np.array([[value(x, z) / np.sqrt(value(x, x) * value(z, z)) for z in Z] for x in X])


def _naive_statistics(model, X, codes, rows, mean=False):
    """N, D of the kernels kept by loops over classes, kernels and rows."""
    n_classes, kept = len(model.classes_), model.kept_kernels_
    shape = (n_classes, len(kept), len(kept))
    top, bottom = np.zeros(shape), np.zeros(shape)
    basis = model.basis_rows_
    for c in range(n_classes):
        subspaces = [
            class_subspace(model.kernel_set_[i], X[basis[codes[basis] == c]], tol=model.tol) for i in kept
        ]
        longest = max(s.n_components for s in subspaces)
        for other in range(n_classes):
            z = np.zeros((len(kept), np.sum(codes[rows] == other), longest))
            for i, s in enumerate(subspaces):
                z[i, :, : s.n_components] = s.coordinates(X[rows[codes[rows] == other]])
            if other == c:
                m = z.mean(axis=1)
                bottom[c] = m @ m.T if mean else np.einsum("inr,jnr->ij", z, z) / z.shape[1]
            else:
                top[c] += np.einsum("inr,jnr->ij", z, z) / z.shape[1] / (n_classes - 1)
    return top, bottom


def test_features_are_the_weighted_coordinates_written_out():
    X, y = _wine()
    model = CLASMKTransformer(KERNELS, eta=1.0, threshold=0.0, random_state=1).fit(X, y)
    assert (np.count_nonzero(model.weights_, axis=1) > 1).any()
    Z = X[:7] + 0.1
    blocks = []
    for c in range(3):
        rows = model.basis_rows_[y[model.basis_rows_] == c]
        parts = []
        for i, weight in enumerate(model.weights_[c]):
            if weight > 0:
                s = class_subspace(KERNELS[i], X[rows])
                parts.append(np.sqrt(weight) * _normalised(KERNELS[i], Z, s.rows) @ s.A)
        longest = max(part.shape[1] for part in parts)
        blocks.append(sum(np.pad(part, ((0, 0), (0, longest - part.shape[1]))) for part in parts))
    np.testing.assert_allclose(model.transform(Z), np.hstack(blocks), atol=1e-8)


@BOTH
@pytest.mark.parametrize("weights_on", ["nu", "basis"])
@pytest.mark.parametrize("denominator", ["energy", "mean"])
def test_the_statistics_are_those_written_out(method, weights_on, denominator):
    X, y = load_iris(return_X_y=True)
    model = method(KERNELS, denominator=denominator, weights_on=weights_on, eta=1.5, random_state=0)
    model.fit(scale(X), y)
    rows = model.held_out_rows_ if weights_on == "nu" else model.basis_rows_
    top, bottom = _naive_statistics(model, scale(X), y, rows, mean=denominator == "mean")
    if method is CLASKTransformer:
        top, bottom = top * np.eye(top.shape[1]), bottom * np.eye(top.shape[1])
    np.testing.assert_allclose(model.separation_.numerator, top, atol=1e-8)
    np.testing.assert_allclose(model.separation_.denominator, bottom, atol=1e-8)
    roots = np.sqrt(model.weights_[:, model.kept_kernels_])
    value = np.einsum("ci,cij,cj", roots, top, roots) / np.einsum("ci,cij,cj", roots, bottom, roots)
    assert model.objective_ == pytest.approx(value)
    held_out = _naive_statistics(model, scale(X), y, model.held_out_rows_)[1]
    np.testing.assert_allclose(
        model.energy_[:, model.kept_kernels_], np.einsum("cii->ci", held_out), atol=1e-8
    )


@pytest.mark.parametrize("kernel", KERNELS)
def test_with_one_kernel_all_are_the_class_subspaces(kernel):
    X, y = _wine()
    models = [
        CLASKTransformer([kernel], random_state=3),
        CLASMKTransformer([kernel], random_state=3),
        CLASMKTransformer([kernel], combine="concat", random_state=3),
    ]
    rows = models[0].fit(X, y).basis_rows_
    expected = np.hstack([class_subspace(kernel, X[rows[y[rows] == c]]).coordinates(X) for c in range(3)])
    for model in models:
        np.testing.assert_allclose(model.fit_transform(X, y), expected, atol=1e-10)
        np.testing.assert_allclose(model.weights_, 1.0)


@BOTH
@pytest.mark.parametrize(
    "options",
    [{"order": "sequential", "tol": 0.2}, {"n_components": 3}, {"n_components": 0.5}, {"max_rank": 4}],
)
def test_how_the_subspaces_are_built_is_passed_on(method, options):
    X, y = _wine()
    model = method(KERNELS[1:2], eta=0.0, random_state=3, **options).fit(X, y)
    blocks = [X[model.basis_rows_[y[model.basis_rows_] == c]] for c in range(3)]
    expected = [class_subspace(KERNELS[1], block, **options).coordinates(X) for block in blocks]
    np.testing.assert_allclose(model.transform(X), np.hstack(expected), atol=1e-10)
    assert not np.array_equal(model.transform(X).shape, method(KERNELS[1:2]).fit_transform(X, y).shape)


def test_rows_of_the_basis_lie_in_the_subspace_of_their_class():
    X, y = _wine()
    model = CLASKTransformer([("rbf", {"gamma": 0.1})], tol=0.0, random_state=0).fit(X, y)
    rows, widths = model.basis_rows_, model.map_.widths
    lengths = np.add.reduceat(model.transform(X) ** 2, np.cumsum([0, *widths[:-1]]), axis=1)
    np.testing.assert_allclose(lengths[rows, y[rows]], 1.0, atol=1e-6)
    held_out = model.held_out_rows_
    assert lengths[held_out, y[held_out]].max() < 1 - 1e-3
    assert lengths.max() <= 1 + 1e-8


def test_the_kernel_of_concat_is_the_weighted_sum_of_kernels_restricted_to_the_subspaces():
    X, y = _wine()
    model = CLASMKTransformer(KERNELS[:2], combine="concat", tol=0.0, random_state=0).fit(X, y)
    nu = np.array([[0.3, 0.7], [1.0, 0.0], [0.5, 0.5]])
    rows = model.basis_rows_
    expected = np.zeros((178, 178))
    subspaces = []
    for c in range(3):
        block = X[rows[y[rows] == c]]
        subspaces.append([class_subspace(kernel, block, tol=0.0) for kernel in KERNELS[:2]])
        for i in range(2):
            across = _normalised(KERNELS[i], X, block)
            expected += nu[c, i] * across @ np.linalg.solve(_normalised(KERNELS[i], block, block), across.T)
    Z = FeatureMap.of(subspaces, np.arange(2), nu, "concat")(X)
    np.testing.assert_allclose(Z @ Z.T, expected, atol=1e-5)


def test_a_flipped_sign_changes_the_sum_but_not_the_concatenation():
    X, y = _wine()
    model = CLASMKTransformer(KERNELS, eta=1.0, threshold=0.0, random_state=1).fit(X, y)
    code = int(np.argmax(np.count_nonzero(model.weights_, axis=1)))
    (i, weight, subspace), *rest = model.map_.parts[code]
    assert rest
    flip = np.r_[-1.0, np.ones(subspace.n_components - 1)]
    parts = list(model.map_.parts)
    parts[code] = [(i, weight, replace(subspace, A=subspace.A * flip)), *rest]
    change = {}
    for combine in ("sum", "concat"):
        before, after = FeatureMap(model.map_.parts, combine)(X), FeatureMap(parts, combine)(X)
        change[combine] = np.abs(before @ before.T - after @ after.T).max()
    assert change["sum"] > 0.01
    assert change["concat"] < 1e-12


@settings(max_examples=8)
@given(seed=st.integers(0, 10**6))
def test_the_exact_rule_is_the_exhaustive_one_and_greedy_is_no_better(seed):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], 12)
    X = rng.normal(size=(36, 3)) + rng.normal(size=(3, 3))[y]
    options = {"kernels": KERNELS, "random_state": seed, "eta": 0.0}
    exact, exhaustive, greedy = (
        CLASKTransformer(rule=rule, **options).fit(X, y) for rule in ("exact", "exhaustive", "greedy")
    )
    assert exact.objective_ == pytest.approx(exhaustive.objective_, rel=1e-12)
    assert greedy.objective_ >= exact.objective_ * (1 - 1e-12)
    top, bottom = (
        np.einsum("cii->ci", stack) for stack in (exact.separation_.numerator, exact.separation_.denominator)
    )
    np.testing.assert_array_equal(greedy.kernels_, greedy.kept_kernels_[np.argmin(top / bottom, axis=1)])


def test_concat_collapses_to_one_kernel_a_class():
    X, y = _wine()
    clasmk = CLASMKTransformer(KERNELS, combine="concat", eta=1.0, random_state=0).fit(X, y)
    clask = CLASKTransformer(KERNELS, denominator="energy", eta=1.0, random_state=0).fit(X, y)
    np.testing.assert_array_equal(clasmk.weights_, clask.weights_)
    np.testing.assert_allclose(clasmk.transform(X), clask.transform(X))
    assert clasmk.objective_ == pytest.approx(clask.objective_)


@pytest.mark.parametrize("seed", range(3))
def test_dinkelbach_is_never_worse_than_slsqp(seed):
    X, y = _wine()
    ours, theirs = (
        CLASMKTransformer(KERNELS, eta=1.0, solver=solver, random_state=seed).fit(X, y).solution_
        for solver in ("dinkelbach", "slsqp")
    )
    assert ours.objective <= theirs.objective * (1 + 1e-9)
    assert ours.objective < CLASMKTransformer(KERNELS, "concat", eta=1.0, random_state=seed).fit(
        X, y
    ).objective_ * (1 + 1e-9)
    assert ours.kkt_residual < 1e-5


@pytest.mark.parametrize("combine", ["sum", "concat"])
def test_the_order_of_the_rows_does_not_matter_given_the_split(monkeypatch, combine):
    X, y = _wine()
    options = {"kernels": KERNELS[:2], "combine": combine, "tol": 0.0, "eta": 1.0, "random_state": 0}
    model = CLASMKTransformer(**options).fit(X, y)
    order = np.random.default_rng(0).permutation(len(y))
    place = np.argsort(order)
    split = Split(np.sort(place[model.basis_rows_]), np.sort(place[model.held_out_rows_]))
    monkeypatch.setattr(fitting, "split_rows", lambda *_: split)
    shuffled = CLASMKTransformer(**options).fit(X[order], y[order])
    np.testing.assert_allclose(shuffled.weights_, model.weights_, atol=1e-5)
    np.testing.assert_allclose(shuffled.transform(X), model.transform(X), atol=1e-4)


@BOTH
def test_the_names_of_the_classes_do_not_matter(method):
    X, y = _wine()
    names = np.array(["m", "z", "a"])
    plain = method(KERNELS, eta=1.0, random_state=0).fit(X, y)
    named = method(KERNELS, eta=1.0, random_state=0).fit(X, names[y])
    order = [2, 0, 1]  # of the names
    np.testing.assert_array_equal(named.classes_, names[order])
    np.testing.assert_allclose(named.weights_, plain.weights_[order], atol=1e-7)
    assert named.objective_ == pytest.approx(plain.objective_)
    ends = np.cumsum(plain.map_.widths)
    blocks = np.split(plain.transform(X), ends[:-1], axis=1)
    np.testing.assert_allclose(named.transform(X), np.hstack([blocks[c] for c in order]), atol=1e-6)
    assert named.get_feature_names_out()[0].startswith(method.__name__[:-11].lower() + "_a_")
    objects = method(KERNELS, eta=1.0, random_state=0).fit(X, names[y].astype(object))
    np.testing.assert_array_equal(objects.transform(X), named.transform(X))


@BOTH
def test_the_seed_decides(method):
    X, y = _wine()
    first, again, other = (method(KERNELS, random_state=seed).fit(X, y) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first.transform(X), again.transform(X))
    assert not np.array_equal(first.basis_rows_, other.basis_rows_)
    state = method(KERNELS, random_state=np.random.RandomState(5)).fit(X, y)
    np.testing.assert_array_equal(first.transform(X), state.transform(X))


def test_kernels_that_hold_nothing_of_new_rows_are_truncated():
    X, y = _wine()
    kernels = [("rbf", {"gamma": 5.0}), *KERNELS]
    free = CLASKTransformer(kernels, eta=0.0, denominator="energy", random_state=0).fit(X, y)
    assert 0 in free.kept_kernels_
    for method in (CLASKTransformer, CLASMKTransformer):
        model = method(kernels, random_state=0).fit(X, y)
        np.testing.assert_array_equal(model.kept_kernels_, [1, 2, 3, 4])
        assert 0 < model.energy_[:, 0].max() < 0.02
        assert (model.weights_[:, 0] == 0).all()
        with pytest.raises(AllTruncated, match=r"all 5 kernels .* at most 3 .* 3 classes, .* eta=3"):
            method(kernels, eta=3.0, random_state=0).fit(X, y)


def test_representative_kernels_and_thresholded_weights_written_out():
    energy = np.array([[0.1, 0.5, 0.0], [0.1, 0.5, 0.1]])
    np.testing.assert_array_equal(representative(energy, 0.1), [0, 1])
    np.testing.assert_array_equal(representative(energy, 0.2), [1])  # not above its own energy
    np.testing.assert_array_equal(representative(energy, 0.09, "mean"), [0, 1])
    np.testing.assert_array_equal(representative(energy, 0.1, "mean"), [1])
    with pytest.raises(AllTruncated, match=r"at most 0\.5 .*, mean over 2 classes"):
        representative(energy, 0.5, "mean")
    nu = np.array([[0.05, 0.5, 0.45], [0.04, 0.0, 0.96]])
    np.testing.assert_allclose(thresholded(nu, 0.1), [[0.05, 0.5, 0.45], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(thresholded(nu, 0.2), [[0.0, 10 / 19, 9 / 19], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(thresholded(nu, 1.0), [[0, 1, 0], [0, 0, 1]])
    np.testing.assert_allclose(thresholded(nu, 0.0), nu)


def test_the_threshold_is_applied_and_one_leaves_the_best_kernel():
    X, y = _wine()
    models = [CLASMKTransformer(KERNELS, eta=1.0, threshold=t, random_state=1).fit(X, y) for t in (0, 0.3, 1)]
    full, some, best = models
    np.testing.assert_allclose(full.weights_[:, full.kept_kernels_], full.solution_.weights)
    np.testing.assert_allclose(some.weights_, thresholded(full.weights_, 0.3))
    np.testing.assert_array_equal(best.weights_, np.eye(4)[full.best_kernels_])
    np.testing.assert_array_equal(full.best_kernels_, full.weights_.argmax(axis=1))
    assert full.objective_ == pytest.approx(full.solution_.objective)
    assert full.objective_ <= some.objective_ <= best.objective_


def test_rows_of_the_basis_are_held_by_any_kernel():
    """Why the weights want rows that the subspaces have not seen."""
    X, y = _wine()
    kernels = [("rbf", {"gamma": g}) for g in (1.0, 0.1)]
    model = CLASKTransformer(kernels, denominator="energy", weights_on="basis", random_state=0).fit(X, y)
    np.testing.assert_allclose(np.einsum("cii->ci", model.separation_.denominator), 1.0, atol=2e-3)
    assert model.energy_[:, 0].max() < 0.7
    assert (
        model.objective_
        < CLASKTransformer(kernels, denominator="energy", random_state=0).fit(X, y).objective_
    )


def test_none_is_the_thirteen_kernels_of_table_4():
    X, y = _wine()
    model = CLASMKTransformer(random_state=0).fit(X, y)
    assert model.kernel_set_ == paper_kernels("table-4")
    assert model.weights_.shape == (3, 13)


@BOTH
def test_in_pipelines_searches_clones_and_pickles(method):
    X, y = load_wine(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), method(KERNELS, random_state=0), RidgeClassifier())
    name = method.__name__.lower()
    search = GridSearchCV(pipeline, {f"{name}__max_rank": [2, 20], f"{name}__eta": [0.1, 1.0]}, cv=3).fit(
        X, y
    )
    assert search.best_score_ > 0.95
    copy = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(copy.predict(X), search.predict(X))
    again = clone(search.best_estimator_).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), search.decision_function(X))


@pytest.mark.parametrize(
    "model",
    [CLASKTransformer(KERNELS, random_state=0), CLASMKTransformer(KERNELS, "sum", eta=1.0, random_state=0)],
)
def test_names_of_the_features(model):
    X, y = _wine()
    frame = pd.DataFrame(X).add_prefix("in ")
    model = clone(model).set_output(transform="pandas").fit(frame, y)
    found = model.transform(frame)
    assert list(found.columns) == list(model.get_feature_names_out())
    assert len(set(found.columns)) == found.shape[1] == sum(model.map_.widths)
    assert list(model.feature_names_in_) == list(frame.columns)


def test_concat_names_the_kernel():
    X, y = _wine()
    model = CLASMKTransformer(KERNELS[1:2], "concat", max_rank=2, random_state=0).fit(X, y)
    assert list(model.get_feature_names_out()) == [
        f"clasmk_{c}_kernel0_{j}" for c in range(3) for j in range(2)
    ]


def test_classes_are_sorted_and_coded():
    classes, codes = encode_classes(["b", "a", "b"], "x")
    np.testing.assert_array_equal(classes, ["a", "b"])
    np.testing.assert_array_equal(codes, [1, 0, 1])
