"""Sparse discriminant analysis: discriminant analysis when nothing is sparse, the elastic net when it is."""

import itertools

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine, make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import ElasticNet
from sklearn.utils.estimator_checks import parametrize_with_checks

from marginbook.drm.peers.slda import SparseLDA, elastic_net


@parametrize_with_checks([SparseLDA(), SparseLDA(ridge=1.0, n_kept=2)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_everything_kept_is_discriminant_analysis(load):
    """Without ridge and sparsity the space of the directions and all predictions are those of LDA."""
    X, y = load(return_X_y=True)
    model = SparseLDA(ridge=0.0).fit(X, y)
    lda = LinearDiscriminantAnalysis().fit(X, y)
    ours, theirs = model.transform(X), lda.transform(X)
    fit = np.linalg.lstsq(ours, theirs, rcond=None)
    np.testing.assert_allclose(ours @ fit[0], theirs, atol=1e-6)
    np.testing.assert_array_equal(model.predict(X), lda.predict(X))


def test_two_classes_give_the_direction_of_lda():
    X, y = make_classification(80, 5, n_redundant=0, random_state=0)
    ours = SparseLDA(ridge=1e-10).fit(X, y).loadings_[:, 0]
    theirs = LinearDiscriminantAnalysis().fit(X, y).coef_[0]
    cosine = ours @ theirs / np.linalg.norm(ours) / np.linalg.norm(theirs)
    assert abs(cosine) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("ridge", [1e-3, 1.0, 30.0])
@pytest.mark.parametrize("shape", [(60, 8), (10, 15)])
def test_elastic_net_step(shape, ridge):
    """The point on the path is the minimiser, by cvxpy and by coordinate descent, at its lambda_1."""
    n, p = shape
    rng = np.random.default_rng(n)
    X = rng.normal(size=shape)
    X /= np.linalg.norm(X, axis=0)
    t = X[:, :4] @ [3.0, -2.0, 1.0, 0.5] + 0.1 * rng.normal(size=n)
    for kept in (1, 3, 5):
        beta = elastic_net(X, t, ridge, kept)
        assert np.count_nonzero(beta) == kept
        # stationarity gives lambda_1 at the kept variables; no other correlation may exceed it
        slope = 2 * (X.T @ (t - X @ beta) - ridge * beta)
        lambda_1 = np.abs(slope[beta != 0]).mean()
        np.testing.assert_allclose(slope[beta != 0], lambda_1 * np.sign(beta[beta != 0]), atol=1e-8)
        assert np.abs(slope).max() <= lambda_1 + 1e-8
        # one more variable is about to enter: the least shrunken point with so many
        assert np.sort(np.abs(slope[beta == 0]))[-1] == pytest.approx(lambda_1, abs=1e-8)
        variable = cp.Variable(p)
        loss = cp.sum_squares(t - X @ variable) + ridge * cp.sum_squares(variable)
        problem = cp.Problem(cp.Minimize(loss + lambda_1 * cp.norm1(variable)))
        problem.solve(solver=cp.CLARABEL)
        reached = ((t - X @ beta) ** 2).sum() + ridge * beta @ beta + lambda_1 * np.abs(beta).sum()
        # at the end of a piece of the path the solution is known to the root of the solver's precision
        assert reached == pytest.approx(problem.value, rel=1e-7)
        np.testing.assert_allclose(beta, variable.value, atol=1e-3)
        net = ElasticNet(
            alpha=(lambda_1 / 2 + ridge) / n,
            l1_ratio=lambda_1 / 2 / (lambda_1 / 2 + ridge),
            fit_intercept=False,
            tol=1e-12,
            max_iter=10**6,
        ).fit(X, t)
        np.testing.assert_allclose(beta, net.coef_, atol=1e-6)


def test_scores_of_the_classes_are_orthonormal():
    """The constraints of the paper hold for every direction, and against the vector of ones."""
    X, y = load_wine(return_X_y=True)
    model = SparseLDA(ridge=0.1, n_kept=5).fit(X, y)
    all_scores = np.column_stack([np.ones(3), model.theta_])
    weighted = all_scores.T @ np.diag(np.bincount(y) / len(y)) @ all_scores
    np.testing.assert_allclose(weighted, np.eye(3), atol=1e-8)
    assert ((model.loadings_ != 0).sum(axis=0) == 5).all()


def test_a_turn_does_not_raise_the_objective():
    """Alternating minimisation: more turns, no larger value of the first direction's problem."""
    X, y = load_wine(return_X_y=True)
    values = []
    for turns in (1, 2, 5, 50):
        model = SparseLDA(ridge=0.1, n_components=1, max_iter=turns, tol=0).fit(X, y)
        centred = X - model.mean_
        scaled = model.loadings_[:, 0] * np.linalg.norm(centred, axis=0)
        fitted = centred @ model.loadings_[:, 0]
        values.append(((np.eye(3)[y] @ model.theta_[:, 0] - fitted) ** 2).sum() + 0.1 * scaled @ scaled)
    assert all(later <= earlier + 1e-9 for earlier, later in itertools.pairwise(values))
    assert values[-1] < values[0]


def test_more_features_than_rows_and_constant_ones():
    X, y = make_classification(25, 40, n_informative=5, random_state=0)
    X[:, 3] = 7.0
    model = SparseLDA(ridge=1e-3, n_kept=6).fit(X, y)
    assert np.count_nonzero(model.loadings_) == 6
    assert model.loadings_[3, 0] == 0
    assert model.score(X, y) > 0.8


def test_nothing_to_tell_apart():
    """Constant rows: the larger class; a class of one does not disturb."""
    X, y = np.full((12, 3), 0.1), np.r_[np.zeros(8), np.ones(4)]
    assert (SparseLDA().fit(X, y).predict(X) == 0).all()
    X, y = load_iris(return_X_y=True)
    rows = np.r_[0:30, 50:80, 100]
    assert SparseLDA(n_kept=2).fit(X[rows], y[rows]).score(X[rows], y[rows]) > 0.95


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"ridge": -1}, "ridge must be a finite number >= 0, got -1"),
        ({"n_kept": 0}, "n_kept must be a whole number >= 1, got 0"),
        ({"max_iter": None}, "max_iter must be a whole number >= 1, got None"),
    ],
)
def test_errors_name_the_parameter(parameters, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        SparseLDA(**parameters).fit(X, y)
