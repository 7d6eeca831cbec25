"""Weights of rows and classes: k is k equal rows, 0 is none, and the sums are those of the docstrings."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from marginbook.kfda import KFDAClassifier, OLSKFDAClassifier, SparseKFDAClassifier
from marginbook.kfda.model.objective import Problem, targets
from marginbook.kfda.solvers.oracle import oracle

RBF = ("rbf", {"gamma": 0.4})


def _rows(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = X[:, 0] + 0.7 * rng.normal(size=n) > 0.3
    y[:2] = True, False
    return X, y, rng.integers(0, 4, size=n).astype(float)


MODELS = [
    KFDAClassifier(reg=0.3),
    KFDAClassifier(reg=0.3, route="fisher"),
    KFDAClassifier(reg=0.3, route="cg", threshold="means"),
    KFDAClassifier(reg=0.3, kernel="linear"),
    SparseKFDAClassifier(rho=0.01),
    SparseKFDAClassifier(rho=0.01, solver="mm", penalize_bias=False),
    SparseKFDAClassifier(q=1.5, rho=0.01),
    SparseKFDAClassifier(q=2, rho=0.01, penalize_bias=False, threshold="means"),
    SparseKFDAClassifier(q=2, rho=0.01, solver="plain"),
    OLSKFDAClassifier(n_terms=0.2),
    OLSKFDAClassifier(n_terms=6, intercept="candidate"),
]


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_row_of_weight_k_is_k_rows(model, as_sparse):
    X, y, weights = _rows()
    weights[:2] = 2, 1
    copies = np.repeat(np.arange(len(y)), weights.astype(int))
    new = _rows(30, 9)[0]
    kind = sparse.csr_matrix if as_sparse else np.asarray
    heavy = model.fit(kind(X), y, sample_weight=weights)
    decided, count, gamma = heavy.decision_function(new), heavy.class_count_, getattr(heavy, "gamma_", 0)
    again = model.fit(kind(X[copies]), y[copies])
    np.testing.assert_allclose(decided, again.decision_function(new), atol=2e-6)
    np.testing.assert_array_equal(count, again.class_count_)
    assert gamma == pytest.approx(getattr(again, "gamma_", 0))


@pytest.mark.parametrize("model", MODELS[3:], ids=str)
def test_a_precomputed_kernel_has_a_column_for_a_row_of_no_weight(model):
    X, y, weights = _rows(seed=3)
    weights[:2] = 1
    options = {**model.get_params(), "kernel": "precomputed"}
    K = rbf_kernel(X, gamma=0.4)
    given = type(model)(**options).fit(K, y, weights)
    same = type(model)(**{**options, "kernel": RBF}).fit(X, y, weights)
    np.testing.assert_allclose(given.decision_function(K), same.decision_function(X), atol=1e-7)
    assert len(given.dual_coef_) == len(y)
    assert not given.dual_coef_[weights == 0].any()


@pytest.mark.parametrize("q", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("penalize_bias", [False, True])
def test_the_weighted_objective_is_that_of_a_general_solver(q, penalize_bias):
    pytest.importorskip("cvxpy")
    X, y, _ = _rows(25, 5)
    weights = np.random.default_rng(1).uniform(0.2, 3.0, size=25)
    model = SparseKFDAClassifier(q, 0.02, kernel=RBF, penalize_bias=penalize_bias)
    model.fit(X, y, sample_weight=weights)
    # sum_j w_j^(1-q) |alpha_j|^q is that of other units of the columns
    root, units = np.sqrt(weights), weights ** ((1 - max(q, 1)) / q)
    K, yhat = rbf_kernel(X, gamma=0.4), targets(y, weights)
    assert weights @ yhat == pytest.approx(0, abs=1e-10)
    problem = Problem(root[:, None] * K / units, root * yhat, root)
    found = oracle(problem, q, 0.02 * weights.sum() / 25, penalize_bias=penalize_bias)
    assert model.objective_ == pytest.approx(found.objective, rel=1e-6)
    rest = yhat - model.intercept_ - K @ model.dual_coef_
    penalty = (weights ** (1 - max(q, 1)) * np.abs(model.dual_coef_) ** q).sum()
    penalty += penalize_bias * abs(model.intercept_) ** q
    assert model.objective_ == pytest.approx(0.5 * weights @ rest**2 + 0.02 * weights.sum() * penalty)
    assert model.dual_gap_ <= 1e-8 * model.objective_


def test_weights_of_classes_are_factors_of_the_loss():
    X, y, _ = _rows(60, 2)
    weights = np.where(y, 5.0, 1.0)
    models = [
        KFDAClassifier(1.0, RBF),
        SparseKFDAClassifier(0.5, 0.02, RBF),
        OLSKFDAClassifier(5, kernel=RBF),
    ]
    for model in models:
        plain = model.fit(X, y).predict(X).sum()
        heavy = model.set_params(class_weight={True: 5.0}).fit(X, y)
        assert heavy.predict(X).sum() > plain
        np.testing.assert_array_equal(heavy.class_count_, np.bincount(y))
    # the decision of least squares with the paper's targets, whose bias goes free
    K, yhat = rbf_kernel(X, gamma=0.4), targets(y)
    D = np.column_stack([np.ones(60), K])
    right = D.T @ (weights * yhat)
    alpha = np.linalg.solve(D.T @ (weights[:, None] * D) + np.diag(np.r_[0, 1 / weights]), right)
    np.testing.assert_allclose(np.r_[models[0].intercept_, models[0].dual_coef_], alpha, atol=1e-8)


def test_a_weight_for_all_changes_what_more_rows_would():
    X, y, _ = _rows()
    heavy = SparseKFDAClassifier(1, 0.02, RBF).fit(X, y, np.full(len(y), 3.0))
    plain = SparseKFDAClassifier(1, 0.02, RBF).fit(X, y)
    np.testing.assert_allclose(
        heavy.dual_coef_, plain.dual_coef_, atol=1e-9
    )  # q = 1: J is three times as large
    assert heavy.objective_ == pytest.approx(3 * plain.objective_)
    assert not hasattr(KFDAClassifier(1.0, RBF).fit(X, y, np.full(len(y), 3.0)), "loo_decision_")
