"""Conjugate gradients with the heavy features apart: the matrices, the labels, and when it is not taken."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from marginbook.drm import DRMClassifier
from marginbook.drm.model.operators import LinearSystem
from marginbook.drm.solvers import conjugate_gradients as conjugate
from marginbook.drm.solvers import heavy_features
from marginbook.drm.solvers.conjugate_gradients import eigenvalue_floor
from marginbook.drm.solvers.heavy_features import HeavyFeatures


@pytest.fixture(autouse=True)
def few_heavy_features(monkeypatch):
    monkeypatch.setattr(conjugate, "HEAVY", 12)
    monkeypatch.setattr(heavy_features, "QUICK", np.inf)


def text(n=160, p=80, g=2, seed=0):
    """Return sparse rows some of whose features are frequent, and one that no row has; labels; test rows."""
    often = sparse.diags(np.r_[0.0, np.full(10, 5.0), np.ones(p - 11)])
    X = sparse.csr_matrix(sparse.random(n, p, density=0.1, format="csr", random_state=seed) @ often)
    values = X @ np.random.default_rng(seed).normal(size=p)
    return X[: n // 2], np.digitize(values, np.quantile(values, np.arange(1, g) / g))[: n // 2], X[n // 2 :]


@pytest.mark.parametrize("sizes", [[45, 35], [30, 49, 1], [1, 79]], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_parts_add_up_to_the_system(sizes, weighted):
    X, _, _ = text()
    weights = np.random.default_rng(1).uniform(0.5, 3, 80) if weighted else None
    system = LinearSystem(X, sizes, 1.5, 0.3, weights=weights)
    found = HeavyFeatures.of(system, eigenvalue_floor(system))
    assert found is not None
    M = found.scale * system.apply_ridged(np.diag(found.scale.ravel()))
    C = M - found.light_product(np.eye(80))
    np.testing.assert_allclose(found.precondition(C), np.eye(80), atol=1e-10)
    # the bound that the brackets rest on
    L = np.linalg.inv(np.linalg.cholesky(C))
    assert np.linalg.eigvalsh(L @ M @ L.T)[0] >= eigenvalue_floor(system)


@pytest.mark.parametrize("g", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 0.1), (0.0, 1.0), (100.0, 0.01)])
def test_it_says_what_the_closed_form_says(g, weighted, alpha, beta):
    X, y, Z = text(g=g)
    weights = np.random.default_rng(0).integers(0, 4, len(y)).astype(float) if weighted else None
    exact = DRMClassifier(alpha, beta, "linear", solver="closed").fit(X, y, weights)
    model = DRMClassifier(alpha, beta, "linear", solver="cg", max_iter=500).fit(X, y, weights)
    assert model._point_solver.heavy is not None
    assert model.kkt_residual_ <= 1e-6
    np.testing.assert_array_equal(model.predict(Z), exact.predict(Z))
    values = exact.decision_function(Z)
    np.testing.assert_allclose(model.decision_function(Z), values, atol=1e-5 * np.abs(values).max())
    np.testing.assert_array_equal(np.concatenate([model.predict(row) for row in Z]), exact.predict(Z))
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.decision_function(Z), model.decision_function(Z))


def test_brackets_alone_prove_the_labels():
    X, y, Z = text()
    model = DRMClassifier(1.0, 0.1, "linear", solver="cg", fit_intercept=True).fit(X, y)
    exact = DRMClassifier(1.0, 0.1, "linear", solver="closed", fit_intercept=True).fit(X, y)
    Kx = np.hstack(list(model._trained.batches(Z)))
    solver = model._point_solver
    rough, done, *_ = conjugate.bracketed_difference(
        solver.system, Kx, solver.least, max_iter=150, tol=0.0, form=solver.heavy
    )
    assert done.all()
    np.testing.assert_array_equal(np.sign(rough), np.sign(exact.decision_function(Z)))


@pytest.mark.parametrize("heavy", [True, False])
def test_the_room_for_rounding_costs_no_iterations(heavy):
    X, y, Z = text()
    model = DRMClassifier(1.0, 0.1, "linear", solver="cg", fit_intercept=True).fit(X, y)
    Kx = np.hstack(list(model._trained.batches(Z)))
    solver, spent = model._point_solver, []
    form = solver.heavy if heavy else conjugate._preconditioned(solver.system)
    for slack in (form.slack, 0.0):
        form.slack, before = slack, solver.system.multiplications
        conjugate.bracketed_difference(solver.system, Kx, solver.least, max_iter=150, tol=0.0, form=form)
        spent.append(solver.system.multiplications - before)
    assert spent[0] < 1.04 * spent[1]


def test_an_iteration_multiplies_by_each_entry_twice():
    X, y, _ = text()
    system = LinearSystem(X, np.bincount(y), 1.0, 0.1)
    found = HeavyFeatures.of(system, eigenvalue_floor(system))
    before = system.multiplications
    found.light_product(found.precondition(np.ones((80, 1))))
    assert system.multiplications - before == 2 * X.nnz + 4 * 12**2


def test_a_product_multiplies_by_each_entry_twice_for_each_column():
    X, y, _ = text()
    system = LinearSystem(X, np.bincount(y), 1.0, 0.1)
    form = conjugate._preconditioned(system)
    before = system.multiplications
    form.product(np.ones((80, 3)))
    assert system.multiplications - before == 2 * X.nnz * 3


def test_the_slack_grows_with_the_largest_sum_of_a_row():
    """Of I + F'F, by which the eigenvalues are bounded that rounding may take digits of."""
    X, y, _ = text()
    system = LinearSystem(X, np.bincount(y), 1.0, 0.1)
    least = eigenvalue_floor(system)
    found = HeavyFeatures.of(system, least)
    rows = found.scale * np.vstack([part.toarray() for part in system.parts])
    F = rows[:, np.argsort(-(rows**2).sum(axis=0), kind="stable")[:12]]
    largest = np.abs(np.eye(12) + F.T @ F).sum(axis=1).max()
    assert found.slack == pytest.approx(10 * largest / least * np.finfo(float).eps, abs=0)


@pytest.mark.parametrize(("name", "value"), [("QUICK", 0.0), ("LARGEST", 0.0)])
def test_where_it_does_not_pay_or_loses_digits_the_plain_iteration_is_taken(monkeypatch, name, value):
    X, y, Z = text()
    monkeypatch.setattr(heavy_features if name == "QUICK" else conjugate, name, value)
    model = DRMClassifier(1.0, 0.1, "linear", solver="cg").fit(X, y)
    assert model._point_solver.heavy is None
    exact = DRMClassifier(1.0, 0.1, "linear", solver="closed").fit(X, y)
    np.testing.assert_array_equal(model.predict(Z), exact.predict(Z))


def test_predict_stops_at_a_proof_of_the_labels():
    X, y, Z = text()
    model = DRMClassifier(1.0, 0.1, "linear", solver="cg", tol=1e-12).fit(X, y)
    system, spent = model._point_solver.system, []
    for answer in (model.predict, model.decision_function):
        answer(Z)  # what is computed once
        before = system.multiplications
        answer(Z)
        spent.append(system.multiplications - before)
    assert spent[0] < 0.5 * spent[1]
