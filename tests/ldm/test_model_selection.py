"""What LDMClassifierCV chooses, against a plain search with the same folds."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.metrics import f1_score, log_loss, make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.preprocessing import minmax_scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from marginbook.kernels import KernelOverflow, gram
from marginbook.ldm import LDMClassifier, LDMClassifierCV
from marginbook.ldm.estimators import parameters as ldm_settings
from marginbook.ldm.estimators import selection, selection_grid
from marginbook.ldm.estimators.selection_linear import linear_grid_decisions
from marginbook.ldm.solvers.linear_cd import solve_linear

SMALL = {"lambda1s": (2**-8, 0.5), "lambda2s": (2**-6, 20.0), "Cs": (0.1, 10.0)}


def _counts_rows(estimator):
    """Checks that give weights to the bound, which counts rows."""
    names = (
        "check_sample_weights_list",
        "check_sample_weights_not_overwritten",
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
        "check_class_weight_classifiers",
    )
    return dict.fromkeys(names, "it takes no weights") if estimator.scoring == "loo-bound" else {}


@parametrize_with_checks(
    [
        LDMClassifierCV(**SMALL),
        LDMClassifierCV(**SMALL, kernel="linear", fit_intercept=True, scoring="loo-bound"),
    ],
    expected_failed_checks=_counts_rows,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def _clouds(m=45, d=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(m) < 0.4, "yes", "no")
    return rng.normal(size=(m, d)) + 1.2 * (y == "yes")[:, None], y


def _searched(X, y, model, grid, folds, scoring="accuracy"):
    """Return the mean scores of GridSearchCV by (gamma, C, lambda1, lambda2)."""
    search = GridSearchCV(model, grid, cv=folds, scoring=scoring).fit(X, y)
    names = ("gamma", "C", "lambda1", "lambda2")
    scores = search.cv_results_["mean_test_score"]
    return {
        tuple(point.get(name) for name in names): score
        for point, score in zip(search.cv_results_["params"], scores, strict=True)
    }


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc"])
def test_it_is_the_grid_search_with_the_same_folds(kernel, scoring, fit_intercept):
    X, y = _clouds()
    gammas = (0.1, 1.0) if kernel == "rbf" else None
    folds = StratifiedKFold(4, shuffle=True, random_state=3)
    options = {"kernel": kernel, "fit_intercept": fit_intercept, "tol": 1e-9}
    cv = LDMClassifierCV(**SMALL, gammas=gammas, cv=folds, scoring=scoring, **options).fit(X, y)
    grid = {"lambda1": SMALL["lambda1s"], "lambda2": SMALL["lambda2s"], "C": SMALL["Cs"]}
    if gammas:
        grid["gamma"] = gammas
    expected = _searched(X, y, LDMClassifier(solver="active-set", **options), grid, folds, scoring)
    found = cv.cv_results_
    points = list(zip(found["gamma"], found["C"], found["lambda1"], found["lambda2"], strict=True))
    np.testing.assert_allclose(found["score"], [expected[point] for point in points], atol=1e-12)
    best = points[int(np.argmax(found["score"]))]
    assert (cv.gamma_, cv.C_, cv.lambda1_, cv.lambda2_) == best
    assert cv.best_score_ == max(found["score"])
    alone = LDMClassifier(cv.lambda1_, cv.lambda2_, cv.C_, gamma=cv.gamma_, **options).fit(X, y)
    np.testing.assert_allclose(cv.decision_function(X), alone.decision_function(X), atol=1e-4)
    assert cv.dual_gap_ <= 1e-9 * max(1.0, cv.best_estimator_.objective_)


@pytest.mark.parametrize("small", [True, False])
def test_many_rows_of_the_linear_kernel_are_searched_on_features(monkeypatch, small):
    X, y = _clouds(90)
    options = {**SMALL, "kernel": "linear", "fit_intercept": True, "scoring": "roc_auc", "tol": 1e-8}
    plain = LDMClassifierCV(**options).fit(X, y)
    monkeypatch.setattr(selection, "GRAM_ROWS", 80)
    monkeypatch.setattr(ldm_settings, "SMALL_STEP", 1e9 if small else 0.0)
    monkeypatch.setattr(selection, "WhitenedGram", None)  # not needed any more
    found = LDMClassifierCV(**options).fit(X, y)
    assert [found._on_features(X[:m]) for m in (79, 80, 81)] == [False, False, True]
    np.testing.assert_allclose(found.cv_results_["score"], plain.cv_results_["score"], atol=5e-3)
    assert found.cv_results_["dual_gap"].max() <= 1e-8
    assert found.best_estimator_.solver_ == ("interior-point" if small else "dcd")
    np.testing.assert_allclose(found.decision_function(X), plain.decision_function(X), atol=1e-2)


def test_the_bound_is_that_of_every_machine_and_needs_no_folds():
    X, y = _clouds(seed=1)
    cv = LDMClassifierCV(**SMALL, gammas=(0.2, 2.0), scoring="loo-bound", cv="none at all").fit(X, y)
    found = cv.cv_results_
    expected = [
        1 - LDMClassifier(l1, l2, C, gamma=gamma).fit(X, y).loo_bound()
        for gamma, C, l1, l2 in zip(
            found["gamma"], found["C"], found["lambda1"], found["lambda2"], strict=True
        )
    ]
    np.testing.assert_allclose(found["score"], expected, atol=1e-12)
    assert cv.best_score_ == pytest.approx(1 - cv.best_estimator_.loo_bound())


def test_the_widths_of_the_paper_are_multiples_of_the_mean_distance():
    X, y = _clouds()
    cv = LDMClassifierCV((0.1,), (0.1,), (1.0,)).fit(X, y)
    delta = pdist(X).mean()
    widths = delta * np.array([1.0, 0.5, 2.0, 0.25, 4.0])
    np.testing.assert_allclose(cv.cv_results_["gamma"], 1 / (2 * widths**2))
    assert len(LDMClassifierCV().lambda1s) == len(LDMClassifierCV().lambda2s) == 7
    assert LDMClassifierCV().lambda1s[0] == 2**-8
    assert LDMClassifierCV().lambda1s[-1] == 2**-2


def test_rows_that_are_all_the_same_have_a_width_too():
    cv = LDMClassifierCV((0.1,), (0.1,), (1.0,), cv=2).fit(np.ones((6, 2)), [0, 0, 0, 1, 1, 1])
    assert np.isfinite(cv.cv_results_["gamma"]).all()


def test_the_first_of_equal_scores_wins_with_lambda2_fastest():
    """Clouds so far apart that every grid point is right about all of them."""
    X, y = _clouds()
    X[y == "yes"] += 20.0
    cv = LDMClassifierCV((0.2, 0.1), (0.3, 0.4), (7.0, 5.0), gammas=(0.02, 0.01)).fit(X, y)
    assert (cv.cv_results_["score"] == 1.0).all()
    assert (cv.gamma_, cv.C_, cv.lambda1_, cv.lambda2_) == (0.02, 7.0, 0.2, 0.3)
    assert cv.cv_results_["lambda2"][:4].tolist() == [0.3, 0.4, 0.3, 0.4]
    assert cv.cv_results_["lambda1"][:4].tolist() == [0.2, 0.2, 0.1, 0.1]
    assert cv.cv_results_["C"][:8].tolist() == [7.0] * 4 + [5.0] * 4


def test_folds_are_those_of_scikit_learn_shuffled_on_request():
    X, y = _clouds()
    grid = {"lambda1s": (0.1,), "lambda2s": (0.1,), "Cs": (1.0,), "gammas": (0.5, 5.0)}

    def scores(**options):
        return LDMClassifierCV(**grid, **options).fit(X, y).cv_results_["score"]

    np.testing.assert_array_equal(scores(cv=3), scores(cv=StratifiedKFold(3)))
    shuffled = StratifiedKFold(3, shuffle=True, random_state=5)
    np.testing.assert_array_equal(scores(cv=3, random_state=5), scores(cv=shuffled))
    given = list(KFold(3).split(X))
    np.testing.assert_array_equal(scores(cv=given), scores(cv=KFold(3)))


def test_any_callable_scores():
    X, y = _clouds()
    grid = {**SMALL, "gammas": (0.5,)}
    named = LDMClassifierCV(**grid, scoring="roc_auc").fit(X, y)
    called = LDMClassifierCV(**grid, scoring=roc_auc_score).fit(X, y)
    np.testing.assert_allclose(called.cv_results_["score"], named.cv_results_["score"])
    loss = LDMClassifierCV(**grid, scoring=lambda y, f: -log_loss(y == "yes", 1 / (1 + np.exp(-f)))).fit(X, y)
    assert loss.best_score_ < 0


def test_no_scoring_is_accuracy_as_in_scikit_learn():
    X, y = _clouds()
    none, accuracy = (
        LDMClassifierCV(**SMALL, gammas=(0.5,), scoring=how).fit(X, y) for how in (None, "accuracy")
    )
    np.testing.assert_array_equal(none.cv_results_["score"], accuracy.cv_results_["score"])
    assert none.scorer_(none, X, y) == np.mean(none.predict(X) == y)


@pytest.mark.parametrize(
    "scorer",
    [
        make_scorer(roc_auc_score, response_method="decision_function"),
        make_scorer(f1_score, pos_label="yes"),
        lambda model, X, y: np.mean(model.predict(X) == y),
    ],
)
def test_a_scorer_is_called_as_scikit_learn_calls_it(scorer):
    X, y = _clouds()
    gamma, folds = (0.5,), StratifiedKFold(5)
    found = LDMClassifierCV(**SMALL, gammas=gamma, scoring=scorer).fit(X, y)
    grid = {"lambda1": SMALL["lambda1s"], "lambda2": SMALL["lambda2s"], "C": SMALL["Cs"], "gamma": gamma}
    expected = _searched(X, y, LDMClassifier(solver="active-set"), grid, folds, scorer)
    points = ((one["gamma"], one["C"], one["lambda1"], one["lambda2"]) for one in found.cv_results_["params"])
    np.testing.assert_allclose(found.cv_results_["score"], [expected[point] for point in points])
    assert found.scorer_ is scorer


def test_sparse_rows_and_a_gram_matrix_give_the_choice_of_dense_ones():
    X, y = _clouds()
    X[np.abs(X) < 0.5] = 0
    for kernel in ("linear", ("rbf", {"gamma": 0.3})):
        dense = LDMClassifierCV(**SMALL, kernel=kernel).fit(X, y)
        thin = LDMClassifierCV(**SMALL, kernel=kernel).fit(sparse.csr_matrix(X), y)
        G = gram(kernel, X)
        given = LDMClassifierCV(**SMALL, kernel="precomputed").fit(G, y)
        for other in (thin, given):
            np.testing.assert_allclose(other.cv_results_["score"], dense.cv_results_["score"])
        assert (thin.predict(sparse.csr_matrix(X)) == dense.predict(X)).all()
        assert (given.predict(G) == dense.predict(X)).all()
        assert dense.gamma_ is None


def test_one_eigendecomposition_for_each_width_and_fold(monkeypatch):
    X, y = _clouds()
    real, sizes = selection.WhitenedGram, []

    class Counted(real):
        def decompose(self):
            if self._eigen is None:
                sizes.append(self.m)
            return super().decompose()

    monkeypatch.setattr(selection, "WhitenedGram", Counted)
    LDMClassifierCV(cv=5, gammas=(0.1, 1.0, 3.0)).fit(X, y)
    assert sizes == [36] * 15  # for 147 solutions each
    sizes.clear()
    LDMClassifierCV(scoring="loo-bound", gammas=(0.1, 1.0)).fit(X, y)
    assert sizes == [45] * 2


def test_a_tolerance_out_of_reach_warns_with_the_count():
    X, y = _clouds()
    with pytest.warns(
        UserWarning, match=r"[1-8] of 8 grid points ha(ve|s) a relative .* tol=1\.00e-30, up to"
    ):
        LDMClassifierCV(**SMALL, gammas=(0.5,), tol=1e-30).fit(X, y)


def test_clones_and_pickles():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = minmax_scale(X)[::8], y[::8]
    cv = LDMClassifierCV(**SMALL).fit(X, y)
    assert clone(cv).fit(X, y).best_score_ == cv.best_score_ > 0.85
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(cv)).predict(X), cv.predict(X))


def test_a_fit_that_fails_leaves_nothing_of_the_one_before():
    X, y = _clouds()
    cv = LDMClassifierCV(**SMALL, gammas=(0.5,), cv=2).fit(X, y)
    with pytest.raises(ValueError, match="cv is empty, got"):
        cv.set_params(cv=[]).fit(X, y)
    with pytest.raises(NotFittedError):
        cv.predict(X)


def test_an_undefined_score_never_wins():
    X, y = _clouds()
    options = {**SMALL, "gammas": (0.5,), "cv": [(np.arange(30), np.arange(30, 45))]}
    spreads = []
    LDMClassifierCV(**options, scoring=lambda labels, values: spreads.append(values.std()) or 0.0).fit(X, y)

    def score(labels, values):
        return 0.5 if values.std() == max(spreads) else np.nan

    with pytest.warns(UserWarning, match="7 of 8 grid points have a fold whose score is undefined"):
        assert LDMClassifierCV(**options, scoring=score).fit(X, y).best_score_ == 0.5


def test_a_scorer_of_probabilities_is_refused_by_name():
    scorer = make_scorer(log_loss, response_method="predict_proba")
    for scoring, shown in (("neg_log_loss", "'neg_log_loss'"), (scorer, r"make_scorer\(log_loss, .*\)")):
        with pytest.raises(ValueError, match=f"scoring={shown} needs probabilities"):
            LDMClassifierCV(**SMALL, gammas=(0.5,), scoring=scoring).fit(*_clouds())


def test_features_whose_distances_overflow_are_refused_in_one_line(recwarn):
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(KernelOverflow, match="scale the features"):
        LDMClassifierCV().fit(1e200 * X[:60], y[:60])
    assert not recwarn


def test_the_scorer_and_the_number_of_splits_are_those_of_scikit_learn():
    X, y = _clouds()
    found = LDMClassifierCV(**SMALL, gammas=(0.5,), cv=3, scoring="roc_auc").fit(X, y)
    assert (found.n_splits_, found.scorer_(found, X, y)) == (3, roc_auc_score(y, found.decision_function(X)))
    bound = LDMClassifierCV(**SMALL, gammas=(0.5,), scoring="loo-bound").fit(X, y)
    assert (bound.n_splits_, bound.scorer_) == (0, "loo-bound")


@pytest.mark.parametrize(
    ("scoring", "metric"),
    [
        ("accuracy", None),
        (None, None),
        ("loo-bound", None),
        ("roc_auc", roc_auc_score),
        (roc_auc_score, roc_auc_score),
        (make_scorer(roc_auc_score, response_method="decision_function"), roc_auc_score),
    ],
)
def test_the_score_of_new_rows_is_what_the_choice_was_made_by(scoring, metric):
    X, y = _clouds()
    model = LDMClassifierCV(**SMALL, gammas=(0.5,), scoring=scoring)
    with pytest.raises(NotFittedError):
        model.score(X, y)
    model.fit(X[:30], y[:30])
    weights = np.arange(15.0)
    decided, right = model.decision_function(X[30:]), model.predict(X[30:]) == y[30:]
    for own in (None, weights):
        expected = (
            np.average(right, weights=own) if metric is None else metric(y[30:], decided, sample_weight=own)
        )
        assert model.score(X[30:], y[30:], own) == pytest.approx(expected)


@pytest.mark.parametrize(
    "kernel", ["rbf", "poly", "linear", ("poly", {"degree": 2}), ("rbf", {"gamma": 0.3})]
)
def test_the_best_parameters_are_those_of_the_best_estimator(kernel):
    X, y = _clouds()
    found = LDMClassifierCV((0.1,), (0.1,), (1.0,), kernel=kernel, tol=1e-9).fit(X, y)
    open_gamma = kernel in ("rbf", "poly", ("poly", {"degree": 2}))
    assert set(found.best_params_) == {"C", "lambda1", "lambda2"} | ({"gamma"} if open_gamma else set())
    assert found.gamma_ == found.best_params_.get("gamma")
    alone = LDMClassifier(kernel=kernel, solver="active-set", tol=1e-9, **found.best_params_).fit(X, y)
    np.testing.assert_allclose(alone.decision_function(X), found.decision_function(X), atol=1e-7)


@pytest.mark.parametrize("small", [True, False])
def test_a_grid_on_features_has_a_place_for_every_combination(small):
    X, y = _clouds()
    signs, grids = np.where(y == "yes", 1.0, -1.0), ((0.1,), (0.2, 5.0), (0.3, 1.0, 4.0))
    for grid in (grids, grids[::-1]):
        decisions, gaps = linear_grid_decisions(X, signs, X, *grid, small=small, tol=1e-7)
        assert (gaps <= 1e-7).all()
        for index in np.ndindex(gaps.shape):
            point = [values[i] for values, i in zip(grid, index, strict=True)]
            alone = solve_linear(X, signs, *point, tol=1e-9)
            np.testing.assert_allclose(decisions[index], X @ alone.coef, atol=5e-3)


def test_ranks_count_the_better_ones_and_undefined_scores_come_last():
    scores = np.array([0.5, np.nan, 0.9, 0.5, np.nan])
    found = selection_grid.results([(None, 1.0, 0.1, 0.1)] * 5, scores, np.zeros(5))
    assert found["rank_test_score"].tolist() == [2, 4, 1, 2, 4]


def test_it_is_printed_with_what_is_not_the_default():
    assert repr(LDMClassifierCV(tol=0.001, cv=3)) == "LDMClassifierCV(cv=3, tol=0.001)"
