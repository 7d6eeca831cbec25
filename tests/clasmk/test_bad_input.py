"""The transformers on hard data, on parameters out of range, and what they say of it."""

from __future__ import annotations

import io
import re
import sys
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.preprocessing import scale

from marginbook.clasmk import HierarchicalCLASMKClassifier, MKLClassifier, TwoLayerMKLClassifier
from marginbook.clasmk.estimators.chosen_kernels import CLASKTransformer
from marginbook.clasmk.estimators.weighted_kernels import CLASMKTransformer
from marginbook.clasmk.model.truncation import AllTruncated

KERNELS = [("rbf", {"gamma": 0.3}), ("rbf", {"gamma": 0.03}), ("poly", {"degree": 2}), "linear"]
BOTH = pytest.mark.parametrize("method", [CLASKTransformer, CLASMKTransformer])


def _wine():
    X, y = load_wine(return_X_y=True)
    return scale(X), y


def test_kernels_that_are_all_the_same():
    """One instead of three, except for "sum": equal coordinates add up to one that weighs up to K times."""
    X, y = _wine()
    for method, options in ((CLASKTransformer, {}), (CLASMKTransformer, {"combine": "concat"})):
        one, three = (method(KERNELS[1:2] * k, random_state=0, **options).fit(X, y) for k in (1, 3))
        assert three.objective_ == pytest.approx(one.objective_)
        np.testing.assert_allclose(three.transform(X), one.transform(X), atol=1e-9)
    one, three = (CLASMKTransformer(KERNELS[1:2] * k, random_state=0).fit(X, y) for k in (1, 3))
    ratios = (one.separation_.numerator / one.separation_.denominator)[:, 0, 0]
    n, d = one.separation_.numerator[:, 0, 0], one.separation_.denominator[:, 0, 0]
    weight = np.where(np.arange(3) == ratios.argmin(), 3.0, 1.0)
    assert three.objective_ <= (weight @ n) / (weight @ d) * (1 + 1e-9) < one.objective_
    np.testing.assert_allclose(three.weights_[ratios.argmin()], 1 / 3, atol=1e-6)
    np.testing.assert_allclose(three.weights_[ratios.argmax()].max(), 1.0, atol=1e-6)


@BOTH
def test_two_classes_of_two_rows_and_one_feature(method):
    model = method(KERNELS[:3], random_state=0).fit([[0.0], [0.1], [9.0], [9.3]], ["a", "a", "b", "b"])
    energy = model.transform([[0.05], [9.2]]) ** 2
    assert (energy.argmax(axis=1) == [0, 1]).all()
    assert model.map_.widths == [1, 1]


@BOTH
def test_features_of_large_and_small_scale(method):
    """Degrees up to 64 and values up to 1e6 neither overflow nor vanish."""
    X, y = _wine()
    kernels = [("poly", {"degree": d}) for d in (1, 8, 64)]
    for factor in (1e-6, 1e6):
        model = method(kernels, random_state=0).fit(factor * X, y)
        assert np.isfinite(model.transform(factor * X)).all()
        assert model.energy_.min() >= 0
        assert model.energy_.max() <= 1 + 1e-9


@BOTH
def test_a_class_of_one_row_duplicates_and_constant_features(method):
    X, y = _wine()
    X = np.hstack([np.repeat(X[:80], 2, axis=0), np.full((160, 1), 3.0)])
    y = np.repeat(np.where(y[:80] == 0, "rest", "some"), 2).astype(object)
    y[-1] = "one"
    with pytest.warns(UserWarning, match="1 of 3 classes have one row"):
        model = method(random_state=0).fit(X, y)
    Z = model.transform(X)
    assert np.isfinite(Z).all()
    assert model.map_.widths[0] == 1
    np.testing.assert_allclose(model.weights_.sum(axis=1), 1.0)


@BOTH
def test_many_classes_with_more_features_than_rows(method):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(26), 4)
    X = scale(rng.normal(size=(26, 120))[y] + 0.3 * rng.normal(size=(104, 120)))
    model = method([("rbf", {"gamma": 1 / 200}), "linear"], random_state=0).fit(X, y)
    Z = model.transform(X)
    ends = np.cumsum([0, *model.map_.widths[:-1]])
    energy = np.add.reduceat(Z**2, ends, axis=1)
    assert (energy[model.held_out_rows_].argmax(axis=1) == y[model.held_out_rows_]).mean() > 0.9


@BOTH
def test_the_training_rows_may_be_spoilt_after_the_fit_and_be_read_only_before(method):
    X, y = _wine()
    Z = X[:5] + 0.5
    X.setflags(write=False)
    y.setflags(write=False)
    model = method(KERNELS, random_state=0).fit(X, y)
    before = model.transform(Z)
    X.setflags(write=True)
    X[:] = np.nan
    np.testing.assert_array_equal(model.transform(Z), before)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "best"}, "unknown rule 'best'; choose from exact, exhaustive, greedy"),
        ({"kernels": "rbf"}, "kernels must be None or a list of kernels, got 'rbf'; write ['rbf']"),
        ({"kernels": ("rbf", {"gamma": 1.0})}, "write [('rbf', {'gamma': 1.0})]"),
        ({"kernels": []}, "at least one kernel, got an empty list"),
        ({"kernels": 0.5}, "kernels must be None or a list of kernels, got 0.5"),
        ({"kernels": {"rbf": 1.0}}, "kernels must be None or a list of kernels, got {'rbf': 1.0}"),
        ({"kernels": [([], {})]}, "unknown kernel []; choose from"),
        ({"kernels": [("rbf", {1: 2.0})]}, "kernel 'rbf' does not know 1; it takes gamma"),
        ({"kernels": ["sigmoid"]}, "unknown kernel 'sigmoid'"),
        ({"kernels": ["precomputed"]}, "'precomputed' has no rows to span a subspace"),
        ({"tol": -1e-3}, "tol must be a number in [0, 1], a squared distance, got -0.001"),
        ({"max_rank": 0}, "max_rank must be None or a whole number >= 1, got 0"),
        (
            {"n_components": 1.5},
            "n_components must be None, a whole number >= 1 or a float in (0, 1], got 1.5",
        ),
        ({"basis_fraction": 1.0}, "basis_fraction must be a number in (0, 1), got 1.0"),
        ({"truncation": "max"}, "unknown truncation 'max'; choose from sum, mean"),
        ({"eta": "high"}, "eta must be a number >= 0, got 'high'"),
        ({"order": "random"}, "unknown order 'random'"),
        ({"weights_on": "M_B"}, "unknown weights_on 'M_B'; choose from nu, basis"),
        ({"denominator": "max"}, "unknown denominator 'max'"),
        ({"combine": "mean"}, "unknown combine 'mean'; choose from sum, concat"),
        ({"solver": "fmincon"}, "unknown solver 'fmincon'; choose from dinkelbach, slsqp"),
        ({"threshold": 2}, "threshold must be a number in [0, 1], a share of the largest weight, got 2"),
        ({"max_iter": 0}, "max_iter must be a whole number >= 1, got 0"),
        ({"random_state": "x"}, "cannot be used to seed"),
    ],
)
def test_a_parameter_out_of_range_is_named_with_what_was_wanted(options, message):
    X, y = _wine()
    method = CLASKTransformer if "rule" in options else CLASMKTransformer
    with pytest.raises(ValueError, match=re.escape(message)):
        method(**options).fit(X, y)


@pytest.mark.parametrize(
    "method",
    [
        CLASKTransformer,
        CLASMKTransformer,
        HierarchicalCLASMKClassifier,
        MKLClassifier,
        TwoLayerMKLClassifier,
    ],
)
def test_kernels_that_are_an_array_without_dimensions(method):
    X, y = _wine()
    with pytest.raises(ValueError, match=r"kernels must be None or a list of kernels, got array\(0.5\)"):
        method(kernels=np.array(0.5)).fit(X, y)


def test_more_choices_than_can_be_tried():
    X = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.raises(ValueError, match=r'4 kernels for 20 classes .* use rule="exact"'):
        CLASKTransformer(KERNELS, rule="exhaustive", eta=0.0).fit(X, np.repeat(np.arange(20), 2))


@BOTH
def test_data_that_cannot_be_used(method):
    X, y = _wine()
    with pytest.raises(ValueError, match=f"{method.__name__} needs at least 2 classes, got one class: 7"):
        method().fit(X, np.full(178, 7))
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        method().fit(sparse.csr_matrix(X), y)
    with pytest.raises(ValueError, match=r"k\(x, x\) = 0 .* kernel 'linear'"):
        method(["linear"]).fit(np.vstack([X, np.zeros((6, 13))]), np.r_[y, [0, 0, 1, 1, 2, 2]])
    with pytest.raises(ValueError, match="Unknown label type"):
        method().fit(X, X[:, 0])
    with pytest.raises(NotFittedError):
        method().transform(X)
    with pytest.raises(NotFittedError):
        method().get_feature_names_out()


def test_a_fit_that_fails_leaves_nothing_of_the_one_before():
    X, y = _wine()
    model = CLASMKTransformer(KERNELS, random_state=0).fit(X, y)
    with pytest.raises(AllTruncated):
        model.set_params(eta=3.0).fit(X, y)
    with pytest.raises(NotFittedError):
        model.transform(X)


def test_a_solver_that_stops_early_says_so_with_numbers():
    X, y = _wine()
    with pytest.warns(
        ConvergenceWarning,
        match=r"slsqp ended after 1 iteration without .* KKT residual .*; raise max_iter=1",
    ):
        CLASMKTransformer(KERNELS, eta=1.0, solver="slsqp", max_iter=1, random_state=1).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CLASMKTransformer(KERNELS, eta=1.0, random_state=1).fit(X, y)


def test_progress_is_printed_only_if_wanted(capsys):
    X, y = _wine()
    CLASMKTransformer(KERNELS, random_state=0).fit(X, y)
    assert capsys.readouterr().out == ""
    CLASMKTransformer(KERNELS, random_state=0, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert all(line.startswith("[CLASMKTransformer] ") for line in lines)
    assert [f"class {c} ({c + 1} of 3)" in "".join(lines) for c in range(3)] == [True] * 3


def test_progress_is_seen_at_once_also_through_a_pipe(monkeypatch):
    pipe = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(pipe, write_through=False))
    CLASMKTransformer(KERNELS, random_state=0, verbose=1).fit(*_wine())
    assert b"class 2 (3 of 3)" in pipe.getvalue()
