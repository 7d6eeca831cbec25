"""What the choice by leave-one-out takes, and what it certifies."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss, make_scorer, roc_auc_score
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from marginbook.drm import DRMClassifier, DRMClassifierCV
from marginbook.drm.estimators import left_out, selection


def _two_clouds(seed=0, n=30):
    rng = np.random.default_rng(seed)
    y = np.repeat(["no", "yes"], [2 * n // 3, n // 3])
    return rng.normal(size=(n, 4)) + (y == "yes")[:, None] * 1.5, y


def test_sparse_rows_give_the_choice_of_dense_ones():
    X, y = _two_clouds()
    X[np.abs(X) < 0.5] = 0
    grid = {"alphas": (0.1, 10.0), "betas": (0.1, 1.0), "kernels": ("linear", ("rbf", {"gamma": 0.2}))}
    for scaling in ("none", "max-abs"):
        dense = DRMClassifierCV(**grid, scaling=scaling).fit(X, y)
        thin = DRMClassifierCV(**grid, scaling=scaling).fit(sparse.csr_matrix(X), y)
        np.testing.assert_allclose(thin.cv_results_["mean_test_score"], dense.cv_results_["mean_test_score"])
        assert (thin.predict(sparse.csr_matrix(X)) == dense.predict(X)).all()


def test_the_constant_feature_takes_part_in_the_choice():
    """Two classes on one ray: no linear DRM tells them apart, the one with a constant does."""
    X, y = np.linspace(1, 2, 20)[:, None], np.repeat([0, 1], 10)
    grid = {"alphas": (0.1, 1.0), "betas": (1e-3, 0.1), "kernels": ("linear",)}
    plain, cured = DRMClassifierCV(**grid).fit(X, y), DRMClassifierCV(**grid, fit_intercept=True).fit(X, y)
    chosen = DRMClassifier(cured.alpha_, cured.beta_, "linear", solver="closed", fit_intercept=True)
    looped = cross_val_predict(chosen, X, y, cv=LeaveOneOut())
    assert cured.best_score_ == np.mean(looped == y) > plain.best_score_


def test_a_scorer_of_rankings_meets_a_vanished_class():
    X, y = _two_clouds(1, 15)
    X, y = X[:11], np.array(["no"] * 10 + ["yes"])
    cv = DRMClassifierCV(alphas=(1.0,), betas=(0.1,), scoring="roc_auc").fit(X, y)
    assert 0 <= cv.best_score_ <= 1


def test_a_scorer_of_rankings_ranks_two_classes_by_the_difference():
    X, y = _two_clouds(3)
    rbf = ("rbf", {"gamma": 0.2})
    cv = DRMClassifierCV((1.0,), (0.1,), (rbf,), scoring="roc_auc").fit(X, y)
    looped = cross_val_predict(
        DRMClassifier(1.0, 0.1, rbf), X, y, cv=LeaveOneOut(), method="decision_function"
    )
    assert cv.best_score_ == pytest.approx(roc_auc_score(y, looped), abs=1e-9)


@pytest.mark.parametrize(
    "scoring", ["neg_log_loss", "roc_auc_ovr", make_scorer(log_loss, response_method=("predict_proba",))]
)
def test_a_scorer_of_probabilities_is_refused_before_anything_is_solved(scoring):
    with pytest.raises(ValueError, match=r"scoring=.* needs probabilities, and the machine has only dec"):
        DRMClassifierCV(scoring=scoring).fit(*_two_clouds())
    either = make_scorer(roc_auc_score, response_method=("decision_function", "predict_proba"))
    found = DRMClassifierCV((1.0,), (0.1,), scoring=either).fit(*_two_clouds())
    assert found.best_score_ > 0.5


def test_the_chosen_point_is_certified_on_all_examples_and_the_next_is_taken_where_it_fails(monkeypatch):
    X, y = _two_clouds(2)
    real, refused = left_out.leave_one_out, []

    def doubtful(*args, probes, **options):
        alpha, beta = args[2:4]
        result = real(*args, probes=probes, **options)
        if probes is None and not refused:
            refused.append((alpha, beta))
            result.kkt_residual[3] = 1.0
        return result

    monkeypatch.setattr(left_out, "leave_one_out", doubtful)
    with pytest.warns(UserWarning, match="1 of 4 grid points"):
        cv = DRMClassifierCV(alphas=(0.1, 1.0), betas=(0.1, 1.0)).fit(X, y)
    assert (cv.alpha_, cv.beta_) != refused[0]
    assert np.isnan(cv.cv_results_["mean_test_score"]).sum() == 1


def test_the_first_of_equal_scores_wins():
    """Clouds so far apart that every grid point is right about all of them."""
    X, y = _two_clouds(4)
    X += 20.0 * (y == "yes")[:, None]
    kernels = [("rbf", {"gamma": gamma}) for gamma in (0.02, 0.01)]
    cv = DRMClassifierCV((0.1, 0.2), (0.2, 0.3), kernels, scaling=("none", "max-abs")).fit(X, y)
    assert (cv.cv_results_["mean_test_score"] == 1.0).all()
    assert (cv.scaling_, cv.kernel_, cv.alpha_, cv.beta_) == ("none", kernels[0], 0.1, 0.2)
    assert cv.cv_results_["param_beta"][:2].tolist() == [0.2, 0.3]


def test_kernels_with_the_same_gram_matrix_are_solved_once(monkeypatch):
    X, y = _two_clouds(3)
    X = np.hstack([X, 1e6 * np.arange(len(X))[:, None]])  # far apart for every one of the first two
    kernels = [("rbf", {"gamma": gamma}) for gamma in (1.0, 0.1, 1e-13)]
    real, solved = selection.score_kernel, []

    def counted(*arguments):
        solved.append(arguments[3])
        return real(*arguments)

    monkeypatch.setattr(selection, "score_kernel", counted)
    cv = DRMClassifierCV(alphas=(0.1, 1.0), betas=(0.1, 1.0), kernels=kernels).fit(X, y)
    assert solved == [kernels[0], kernels[2]]
    assert len(cv.cv_results_["mean_test_score"]) == 12
    np.testing.assert_array_equal(
        cv.cv_results_["mean_test_score"][:4], cv.cv_results_["mean_test_score"][4:8]
    )


@pytest.mark.parametrize("n_components", [None, 10])
def test_the_constant_feature_does_not_count_in_a_width_that_is_left_open(n_components):
    X, y = _two_clouds()
    given = {"fit_intercept": True, "n_components": n_components, "random_state": 0}
    left_open = DRMClassifier(gamma=None, **given).fit(X, y)
    said = DRMClassifier(gamma=1 / 4, **given).fit(X, y)
    assert left_open.gamma_ == 1 / 4
    np.testing.assert_array_equal(left_open.decision_function(X), said.decision_function(X))


def test_a_search_fits_the_width_that_it_has_scored():
    X, y = _two_clouds()
    found = DRMClassifierCV(gamma=None, fit_intercept=True).fit(X, y)
    assert found.kernel_ == ("rbf", {"gamma": 1 / 5})  # of what is scaled, with the constant feature
    assert found.best_estimator_.gamma_ == 1 / 5


@pytest.mark.parametrize("scoring", [None, "balanced_accuracy"])
def test_a_search_has_the_scorer_and_the_number_of_splits_of_scikit_learn(scoring):
    X, y = _two_clouds()
    found = DRMClassifierCV(alphas=(1.0,), betas=(1.0,), scoring=scoring).fit(X, y)
    assert found.n_splits_ == len(y)
    assert 0 <= found.scorer_(found, X, y) <= 1


@pytest.mark.parametrize("scoring", [None, "roc_auc", lambda model, X, y: -np.mean(model.predict(X) != y)])
@pytest.mark.parametrize("scaling", ["none", "max-abs"])
def test_the_score_of_new_rows_is_what_the_choice_was_made_by(scoring, scaling):
    X, y = _two_clouds(5, 60)
    X *= [1.0, 10.0, 0.1, 3.0]
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    model = DRMClassifierCV((0.1,), (0.1,), scaling=scaling, scoring=scoring)
    with pytest.raises(NotFittedError):
        model.score(X, y)
    model.fit(X[:40], y[:40])
    X, y, weights = X[40:], y[40:], np.arange(20.0)
    right = model.predict(X) == y
    for own in (None,) if callable(scoring) else (None, weights):
        if scoring == "roc_auc":
            expected = roc_auc_score(y, model.decision_function(X), sample_weight=own)
        else:
            expected = np.average(right, weights=own) - callable(scoring)
        assert model.score(X, y, own) == pytest.approx(expected)


@pytest.mark.parametrize("scaling", ["none", "max-abs"])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_best_parameters_and_the_best_machine_are_for_use(scaling, fit_intercept):
    X, y = _two_clouds(6)
    X *= [1.0, 50.0, 0.1, 3.0]
    grid = {"alphas": (0.1, 1.0), "betas": (0.1, 1.0), "kernels": ("rbf", "linear")}
    model = DRMClassifierCV(**grid, scaling=scaling, fit_intercept=fit_intercept).fit(X, y)
    assert model.best_params_ == {"alpha": model.alpha_, "beta": model.beta_, "kernel": model.kernel_}
    assert model.best_params_ == model.cv_results_["params"][model.best_index_]
    assert model.scaling_ == model.cv_results_["param_scaling"][model.best_index_] == scaling
    machine = DRMClassifier(**model.best_params_, solver="closed", fit_intercept=fit_intercept)
    decided = machine.fit(model.scaler_.transform(X), y).decision_function(model.scaler_.transform(X))
    assert model.kkt_residual_ == machine.kkt_residual_
    for rows in (X, sparse.csr_matrix(X)):
        given = model.best_estimator_.decision_function(rows)
        np.testing.assert_array_equal(given, model.decision_function(rows))
        np.testing.assert_allclose(given, decided, atol=1e-9 * np.abs(decided).max())
        np.testing.assert_array_equal(model.best_estimator_.predict(rows), model.predict(rows))


def test_the_last_fit_has_the_tol_of_the_search():
    assert DRMClassifierCV((1.0,), (1.0,), tol=1e-3).fit(*_two_clouds()).best_estimator_.tol == 1e-3


def test_a_search_shows_what_differs_from_the_defaults():
    found = DRMClassifierCV((1.0,), (1.0,)).fit(*_two_clouds())
    assert repr(found) == "DRMClassifierCV(alphas=(1.0,), betas=(1.0,))"
