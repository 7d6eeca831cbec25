"""DRMClassifier beside what goes well: fits that fail, pieces that it does not take, ways that cost too "
"much."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse

from marginbook.base import memory
from marginbook.drm import DRMClassifier, DRMClassifierCV
from marginbook.drm.estimators.parameters import choose_solver
from marginbook.drm.estimators.prediction import SPARE

rng = np.random.default_rng(5)
X = rng.normal(size=(40, 3))
y = (X[:, 0] + 0.3 * rng.normal(size=40) > 0).astype(int)


def test_a_fit_that_fails_leaves_nothing_that_predicts() -> None:
    from sklearn.exceptions import NotFittedError

    for model in (DRMClassifier(alpha=-1), DRMClassifier().fit(X, y).set_params(alpha=-1)):
        with pytest.raises(ValueError, match="alpha"):
            model.fit(X, y)
        for ask in (model.predict, model.decision_function, model.dissimilarity):
            with pytest.raises(NotFittedError):
                ask(X)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("bad", [{"X": np.full((40, 3), np.nan)}, {"sample_weight": -np.ones(40)}])
def test_a_first_pass_that_fails_leaves_a_machine_that_is_not_fitted(method: str, bad: dict) -> None:
    from sklearn.exceptions import NotFittedError

    model = DRMClassifier(kernel="linear")
    options = {"classes": [0, 1]} if method == "partial_fit" else {}
    with pytest.raises(ValueError, match=r"NaN|[Nn]egative"):
        getattr(model, method)(**{"X": X, "y": y, **options, **bad})
    for ask in (model.predict, model.decision_function, model.dissimilarity):
        with pytest.raises(NotFittedError):
            ask(X)
    getattr(model, method)(X, y, **options)
    np.testing.assert_array_equal(
        model.decision_function(X), DRMClassifier(kernel="linear").fit(X, y).decision_function(X)
    )


@pytest.mark.parametrize("between", [{"n_components": 10}, {"kernel": "rbf"}, {"solver": "closed"}])
def test_parts_go_on_from_no_fit_of_other_parameters(between: dict[str, object]) -> None:
    model = DRMClassifier(kernel="linear").fit(X[:20], y[:20])
    usual = {name: model.get_params()[name] for name in between}
    model.set_params(**between).fit(X[20:], y[20:])
    model.set_params(**usual).partial_fit(X, y, classes=[0, 1])
    whole = DRMClassifier(kernel="linear").fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), whole.decision_function(X))


def test_rows_that_are_refused_in_the_midst_leave_no_trace() -> None:
    model = DRMClassifier(kernel="linear").partial_fit(X, y, classes=[0, 1])
    before, sizes = model.moments_.G.copy(), model.moments_.sizes.copy()
    with pytest.raises(ValueError, match="leave the range of double precision"):
        model.partial_fit(X * np.where(y == 1, 1e200, 1.0)[:, None], y)
    np.testing.assert_array_equal(model.moments_.G, before)
    np.testing.assert_array_equal(model.moments_.sizes, sizes)


@pytest.mark.parametrize(
    "given", [{}, {"kernel": "linear", "solver": "cg"}, {"kernel": "linear", "n_components": 5}]
)
def test_partial_fit_says_what_it_needs(given: dict[str, object]) -> None:
    with pytest.raises(AttributeError) as found:
        _ = DRMClassifier(**given).partial_fit
    assert "kernel='linear', solver 'auto' or 'one-pass', and no n_components" in str(found.value.__cause__)


def test_features_that_one_pass_cannot_hold_are_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "machine_memory", lambda: 1e6)
    many = sparse.random(20, 3000, 0.01, format="csr", random_state=0)
    with pytest.raises(MemoryError, match=r"one pass over 3,000 features and 2 classes needs .*TruncatedSVD"):
        DRMClassifier(kernel="linear").partial_fit(many, np.arange(20) % 2, classes=[0, 1])


def test_a_solver_that_iterates_has_a_second_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "machine_memory", lambda: 1.5 * 8 * 40**2 / SPARE)
    DRMClassifier(solver="closed").fit(X, y)
    with pytest.raises(MemoryError, match="the exact DRM of 40 rows needs"):
        DRMClassifier(solver="apg").fit(X, y)


def test_no_row_of_weight_0_is_a_landmark() -> None:
    weights = np.arange(40) % 2
    few = DRMClassifier(gamma=0.5, n_components=8, random_state=0)
    found = few.fit(X, y, weights).decision_function(X)
    alone = few.fit(X[1::2], y[1::2]).decision_function(X)
    np.testing.assert_allclose(found, alone, atol=1e-8 * np.abs(alone).max())


@pytest.mark.parametrize("given", ["no", 2, None])
@pytest.mark.parametrize("kind", [DRMClassifier, DRMClassifierCV])
def test_an_intercept_is_true_or_false(kind: type, given: object) -> None:
    with pytest.raises(ValueError, match="fit_intercept must be True or False"):
        kind(fit_intercept=given).fit(X, y)


def test_a_matrix_that_is_not_symmetric_is_refused() -> None:
    G = X @ X.T + np.eye(40)
    DRMClassifier(kernel="precomputed").fit(G * (1 + 1e-9 * rng.random(G.shape)), y)
    G[3, 1] += 1.0
    with pytest.raises(ValueError, match=r"not symmetric: entry \((3, 1|1, 3)\)"):
        DRMClassifier(kernel="precomputed").fit(G, y)


@pytest.mark.parametrize(
    ("n", "p", "chosen"),
    [
        (50, 49, "one-pass"),
        (49, 50, "closed"),
        (1100, 1000, "closed"),
        (20_000, 1000, "one-pass"),
        (1100, 300, "closed"),
        (1200, 300, "one-pass"),
    ],
)
def test_auto_takes_the_cheaper_way(n: int, p: int, chosen: str) -> None:
    assert choose_solver("auto", "linear", np.empty((n, p)), 2) == chosen


def test_both_ways_of_a_wide_problem_agree() -> None:
    wide = rng.normal(size=(330, 300))
    labels = (wide[:, 0] > 0).astype(int)
    auto = DRMClassifier(kernel="linear").fit(wide, labels)
    other = DRMClassifier(kernel="linear", solver="one-pass").fit(wide, labels)
    assert (auto.solver_, other.solver_) == ("closed", "one-pass")
    f = other.decision_function(wide)
    np.testing.assert_allclose(auto.decision_function(wide), f, atol=1e-9 * np.abs(f).max())


def test_landmarks_predict_the_same_after_a_pickle_that_has_only_halves() -> None:
    model = DRMClassifier(n_components=10, random_state=0).fit(X, y)
    size = len(pickle.dumps(model))
    f = model.decision_function(X)
    again = pickle.dumps(model)
    assert len(again) == size  # what predictions keep for themselves stays out of it
    np.testing.assert_array_equal(pickle.loads(again).decision_function(X), f)
