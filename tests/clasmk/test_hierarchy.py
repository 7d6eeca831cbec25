"""HierarchicalCLASMKClassifier: against the paper's loop written out, margins, bases, scikit-learn."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from marginbook.clasmk.estimators import fitting
from marginbook.clasmk.estimators.base_classifier import new_base
from marginbook.clasmk.estimators.hierarchy import HierarchicalCLASMKClassifier
from marginbook.clasmk.estimators.lssvm import LSSVMClassifier
from marginbook.clasmk.estimators.uncertain_rows import confidence, decision_table, marginal_rows
from marginbook.clasmk.estimators.weighted_kernels import CLASMKTransformer
from marginbook.clasmk.model.truncation import AllTruncated, representative

KERNELS = [("rbf", {"gamma": 0.3}), ("rbf", {"gamma": 0.03}), ("poly", {"degree": 2}), "linear"]
TABLES = arrays(float, (12, 4), elements=st.floats(-3, 3))
CODES = arrays(int, 12, elements=st.integers(0, 3))


def test_another_number_of_features_is_refused_by_the_classifier_itself():
    X, y = load_iris(return_X_y=True)
    model = HierarchicalCLASMKClassifier(KERNELS[:2], n_layers=1, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="but HierarchicalCLASMKClassifier is expecting 4 features"):
        model.predict(X[:, :2])
    assert model.n_features_in_ == 4


def test_without_a_seed_the_base_stays_without_one():
    assert new_base(SGDClassifier(), None).random_state is None
    assert new_base(SGDClassifier(), 0).random_state is not None


@parametrize_with_checks(
    [
        HierarchicalCLASMKClassifier(KERNELS[:3]),
        HierarchicalCLASMKClassifier(KERNELS[:3], base=LogisticRegression(), margin="signed"),
    ]
)
def test_scikit_learn_finds_nothing(estimator, check):
    check(estimator)


def _wine():
    X, y = load_wine(return_X_y=True)
    return scale(X), y


@pytest.mark.parametrize("base", [None, LogisticRegression(C=10.0)])
def test_one_layer_is_the_transformer_with_the_base(base):
    X, y = _wine()
    model = HierarchicalCLASMKClassifier(KERNELS, n_layers=1, base=base, eta=1.0, random_state=4).fit(X, y)
    transformer = CLASMKTransformer(KERNELS, eta=1.0, random_state=4)
    pipeline = make_pipeline(transformer, LSSVMClassifier() if base is None else base).fit(X, y)
    # the same sums, but BLAS may add them in another order where an array begins elsewhere
    decisions = model.decision_function(X), pipeline.decision_function(X)
    np.testing.assert_allclose(*decisions, rtol=0, atol=1e-10 * abs(decisions[1]).max())
    np.testing.assert_allclose(model.weights_[0], pipeline[0].weights_, rtol=0, atol=1e-12)
    assert model.stopped_ == "n_layers"


def _written_out(X, y, n_layers, limit, least, eps, seed):
    """Section 4 step by step, with the indices that the text means."""
    n, n_classes = len(y), len(np.unique(y))
    M, psi = list(range(n)), [np.empty(0) for _ in range(n)]
    nu = [np.full((n_classes, len(KERNELS)), 1 / len(KERNELS))]
    delta_minus, d_nu, L = 0.0, np.inf, 1  # printed: 1, which means the same for eps < 1
    sets, stages = [], []
    while n_layers >= L and d_nu > eps:
        sets.append(M)
        layer = CLASMKTransformer(KERNELS, eta=1.0, random_state=seed + L - 1).fit(X[M], y[M])
        nu.append(layer.weights_)
        new = layer.transform(X)
        psi = [np.concatenate([old, row]) for old, row in zip(psi, new, strict=True)]
        base = LSSVMClassifier().fit(np.array(psi), y)
        xi = base.decision_function(np.array(psi))
        stages.append(xi)
        kappa = []
        for row in xi:
            best, second = sorted(row, reverse=True)[:2]
            kappa.append((best - second) / 2)
        M = [i for i in range(n) if kappa[i] <= limit]
        for c in range(n_classes):
            closest = sorted((i for i in range(n) if y[i] == c), key=lambda i: kappa[i])
            if sum(y[i] == c for i in M) < least:
                M = sorted(set(M) | set(closest[:least]))
        delta_plus = np.sqrt(np.sum((nu[L] - nu[L - 1]) ** 2))
        d_nu, delta_minus, L = abs(delta_plus - delta_minus), delta_plus, L + 1
    return nu[1:], sets, stages, np.array(psi)


@pytest.mark.parametrize(
    ("n_layers", "limit", "least", "eps"), [(3, 1.0, 10, 1e-3), (5, 0.3, 25, 0.2), (4, 1.0, 1, 5.0)]
)
def test_it_is_the_loop_of_the_paper(n_layers, limit, least, eps):
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    options = {"marginal": limit, "min_marginal": least, "eps": eps, "eta": 1.0, "random_state": 7}
    model = HierarchicalCLASMKClassifier(KERNELS, n_layers, **options).fit(X, y)
    nu, sets, stages, psi = _written_out(X, y, n_layers, limit, least, eps, 7)
    np.testing.assert_allclose(model.weights_, nu)
    assert [rows.tolist() for rows in model.marginal_rows_] == sets
    np.testing.assert_allclose(model.features(X), psi)
    staged = list(model.staged_decision_function(X))
    assert len(staged) == len(stages) == model.n_layers_ == len(model.layers_) == len(model.bases_)
    np.testing.assert_allclose(staged, stages, atol=1e-9)
    np.testing.assert_array_equal(model.decision_function(X), staged[-1])
    for labels, values in zip(model.staged_predict(X), staged, strict=True):
        np.testing.assert_array_equal(labels, values.argmax(axis=1))
    assert sum(model.n_features_per_layer_) == psi.shape[1]
    assert model.stopped_ == ("n_layers" if len(nu) == n_layers else "weights")


@given(xi=TABLES, codes=CODES)
def test_confidence_is_the_one_printed_or_signed(xi, codes):
    printed, signed = (confidence(xi, codes, margin) for margin in ("printed", "signed"))
    for i in range(12):
        ordered = sorted(xi[i])
        assert printed[i] == (ordered[-1] - ordered[-2]) / 2 >= 0
        rest = max(xi[i, c] for c in range(4) if c != codes[i])
        assert signed[i] == (xi[i, codes[i]] - rest) / 2
    right = xi.argmax(axis=1) == codes
    np.testing.assert_array_equal(signed[right], printed[right])
    assert (signed[~right] <= 0).all()


@given(
    kappa=arrays(float, 12, elements=st.floats(-2, 2)),
    codes=CODES,
    limit=st.floats(-2, 2),
    least=st.integers(1, 5),
)
def test_marginal_rows_are_those_below_the_limit_and_enough_of_each_class(kappa, codes, limit, least):
    rows = marginal_rows(kappa, codes, limit, least)
    below = np.flatnonzero(kappa <= limit)
    if len(below) == 0:
        assert len(rows) == 0
        return
    assert set(below) <= set(rows)
    assert (np.diff(rows) > 0).all()
    for c in np.unique(codes):
        of_class, taken = np.flatnonzero(codes == c), rows[codes[rows] == c]
        certain = np.setdiff1d(of_class, taken)
        assert len(taken) >= min(least, len(of_class))
        if len(certain):
            assert kappa[taken].max() <= kappa[certain].min()
        if len(np.intersect1d(below, of_class)) >= least:
            assert (kappa[taken] <= limit).all()


def test_decision_values_of_two_classes_are_one_against_the_other():
    np.testing.assert_array_equal(decision_table([0.5, -2.0], 2, "x"), [[-0.5, 0.5], [2.0, -2.0]])
    np.testing.assert_array_equal(
        confidence(decision_table([0.5, -2.0], 2, "x"), [1, 1], "signed"), [0.5, -2]
    )
    two = np.array([[1.0, 2.0]])
    np.testing.assert_array_equal(decision_table(two, 2, "x"), two)
    with pytest.raises(ValueError, match=r"of SVC gives shape \(5, 6\), wanted one column for each of the 4"):
        decision_table(np.zeros((5, 6)), 4, "SVC")
    with pytest.raises(ValueError, match=r"shape \(5,\)"):
        decision_table(np.zeros(5), 3, "x")
    with pytest.raises(ValueError, match="not finite"):
        decision_table([np.nan, 1.0], 2, "x")


def test_signed_margins_keep_rows_that_are_wrong_with_certainty():
    X, y = _wine()
    y = y.copy()
    y[:3] = 2  # rows of class 0
    base = LSSVMClassifier(C=1e-2)
    options = {"kernels": KERNELS[1:2], "eps": 0.0, "marginal": 0.0, "base": base, "random_state": 0}
    signed = HierarchicalCLASMKClassifier(margin="signed", eta=1.0, **options)
    # with one kernel the weights never move
    assert signed.fit(X, y).stopped_ == "weights"
    options["kernels"] = KERNELS
    signed = HierarchicalCLASMKClassifier(margin="signed", eta=1.0, **options).fit(X, y)
    assert {0, 1, 2} <= set(signed.marginal_rows_[1])
    printed = HierarchicalCLASMKClassifier(margin="printed", eta=1.0, **options).fit(X, y)
    assert printed.stopped_ == "no marginal rows"
    assert printed.n_layers_ == 1


def test_a_class_that_is_certain_keeps_its_least_certain_rows():
    X, y = load_iris(return_X_y=True)
    model = HierarchicalCLASMKClassifier(
        KERNELS, base=LSSVMClassifier(C=100.0), marginal=0.2, min_marginal=12, eta=1.0, random_state=0
    ).fit(scale(X), y)
    counts = np.bincount(y[model.marginal_rows_[1]])
    assert counts[0] == 12
    assert (counts >= 12).all()
    np.testing.assert_array_equal(model.layers_[1].classes_, [0, 1, 2])


def test_a_later_layer_without_kernels_ends_it_and_a_first_one_is_an_error(monkeypatch):
    X, y = _wine()
    with pytest.raises(AllTruncated, match="all 4 kernels are truncated"):
        HierarchicalCLASMKClassifier(KERNELS, eta=3.1).fit(X, y)
    calls = []

    def second_fails(energy, eta, truncation):
        calls.append(eta)
        return representative(energy, eta if len(calls) == 1 else 3.1)

    monkeypatch.setattr(fitting, "representative", second_fails)
    with pytest.warns(UserWarning, match="no layer 2: all 4 kernels are truncated"):
        model = HierarchicalCLASMKClassifier(KERNELS, n_layers=4, eta=1.0, random_state=0).fit(X, y)
    assert model.n_layers_ == 1
    assert model.stopped_ == "all kernels truncated"
    assert len(model.marginal_rows_) == 1
    np.testing.assert_array_equal(model.predict(X), next(model.staged_predict(X)))


@pytest.mark.parametrize(
    "base",
    [
        LSSVMClassifier(C=[0.1, 1.0, 10.0]),
        LogisticRegression(),
        RidgeClassifier(),
        SVC(),
        make_pipeline(StandardScaler(), SVC(kernel="linear")),
        BaggingClassifier(LogisticRegression(), 3, random_state=0),
    ],
)
@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_any_base_with_decision_values(base, load):
    X, y = load(return_X_y=True)
    names = np.array(["zero", "one", "two"])[y]
    X, Z, names, expected = train_test_split(X, names, random_state=0, stratify=y)
    scaler = StandardScaler().fit(X)
    kernels = [("rbf", {"gamma": 0.01}), ("poly", {"degree": 1})]
    model = HierarchicalCLASMKClassifier(kernels, base=base, marginal=2.0, random_state=0)
    model.fit(scaler.transform(X), names)
    assert model.n_layers_ == 2
    assert model.score(scaler.transform(Z), expected) > 0.9
    assert hasattr(model, "predict_proba") == hasattr(base, "predict_proba")
    values = model.decision_function(scaler.transform(Z))
    if len(model.classes_) == 2:
        assert values.ndim == 1
        np.testing.assert_array_equal(
            model.predict(scaler.transform(Z)), model.classes_[(values > 0).astype(int)]
        )
    if hasattr(base, "predict_proba"):
        np.testing.assert_allclose(model.predict_proba(scaler.transform(Z)).sum(axis=1), 1.0)


@pytest.mark.parametrize("base", [GaussianNB(), RandomForestClassifier()])
def test_a_base_without_decision_values(base):
    X, y = _wine()
    with pytest.raises(TypeError, match=r"has no decision_function, .* take one that has"):
        HierarchicalCLASMKClassifier(base=base).fit(X, y)


def test_a_base_that_votes_over_pairs():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 10)
    X = rng.normal(size=(40, 3)) + 2 * y[:, None]
    with pytest.raises(ValueError, match="pairs of classes"):
        HierarchicalCLASMKClassifier(
            [("rbf", {"gamma": 0.1}), ("rbf", {"gamma": 0.01})], base=SVC(decision_function_shape="ovo")
        ).fit(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_layers": 0}, "n_layers must be a whole number >= 1, got 0"),
        ({"min_marginal": 0}, "min_marginal must be a whole number >= 1, got 0"),
        ({"margin": "kappa"}, "unknown margin 'kappa'; choose from printed, signed"),
        ({"marginal": np.inf}, "marginal must be a finite number, got inf"),
        ({"eps": -1}, "eps must be a number >= 0, got -1"),
        ({"combine": "max"}, "unknown combine 'max'"),
        ({"kernels": []}, "at least one kernel"),
    ],
)
def test_a_parameter_out_of_range_is_named_with_what_was_wanted(options, message):
    X, y = _wine()
    with pytest.raises(ValueError, match=re.escape(message)):
        HierarchicalCLASMKClassifier(**options).fit(X, y)


def test_one_class_and_what_is_not_fitted():
    X, _ = _wine()
    with pytest.raises(ValueError, match="HierarchicalCLASMKClassifier needs at least 2 classes, got one"):
        HierarchicalCLASMKClassifier().fit(X, np.zeros(178))
    for call in ("predict", "decision_function", "features"):
        with pytest.raises(NotFittedError):
            getattr(HierarchicalCLASMKClassifier(), call)(X)


def test_the_seed_decides_and_reaches_the_base():
    X, y = load_iris(return_X_y=True)
    X = scale(X)

    def values(seed, base=None):
        model = HierarchicalCLASMKClassifier(KERNELS[:3], base=base, eta=1.0, random_state=seed)
        return model.fit(X, y).decision_function(X)

    np.testing.assert_array_equal(values(1), values(1))
    assert not np.array_equal(values(1), values(2))
    base = make_pipeline(StandardScaler(), SGDClassifier())
    np.testing.assert_array_equal(values(1, base), values(1, base))
    assert base[1].random_state is None
    own = HierarchicalCLASMKClassifier(KERNELS[:1], base=SGDClassifier(random_state=9), random_state=1)
    assert own.fit(X, y).base_.random_state == 9


def test_layers_have_every_parameter_of_the_transformer():
    known = set(CLASMKTransformer().get_params())
    ours = HierarchicalCLASMKClassifier().get_params(deep=False)
    assert set(ours) - known == {"n_layers", "marginal", "base", "margin", "min_marginal", "eps"}
    assert known <= set(ours)
    assert {name: ours[name] for name in known} == CLASMKTransformer().get_params()


def test_in_pipelines_searches_clones_and_pickles():
    X, y = load_wine(return_X_y=True)
    model = HierarchicalCLASMKClassifier(KERNELS, eta=1.0, base=LSSVMClassifier(), random_state=0)
    grid = {
        "hierarchicalclasmkclassifier__n_layers": [1, 2],
        "hierarchicalclasmkclassifier__base__C": [0.1, 1.0],
    }
    search = GridSearchCV(make_pipeline(StandardScaler(), model), grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.95
    copy = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(copy.decision_function(X), search.decision_function(X))
    again = clone(search.best_estimator_).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), search.decision_function(X))


def test_a_class_of_one_row():
    X, y = _wine()
    y = np.where(y == 0, "rest", "some").astype(object)
    y[0] = "one"
    with pytest.warns(UserWarning, match="1 of 3 classes have one row"):
        model = HierarchicalCLASMKClassifier(KERNELS, eta=1.0, marginal=2.0, random_state=0).fit(X, y)
    assert model.n_layers_ == 2
    assert all(0 in rows for rows in model.marginal_rows_)
    assert model.score(X, y) > 0.95


def test_progress_is_printed_only_if_wanted(capsys):
    X, y = _wine()
    options = {"kernels": KERNELS, "eta": 1.0, "random_state": 0}
    HierarchicalCLASMKClassifier(**options).fit(X, y)
    assert capsys.readouterr().out == ""
    HierarchicalCLASMKClassifier(**options, verbose=1).fit(X, y)
    out = capsys.readouterr().out
    assert "[HierarchicalCLASMKClassifier] layer 1 of at most 2: learned on 178 rows" in out
    assert "ended because of n_layers" in out
    assert out.count("[CLASMKTransformer] objective") == 2
