"""The fit without H against the fit with H, and its certificate against a naive one."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from marginbook.ldm.estimators import training
from marginbook.ldm.estimators.training import solve_on_gram
from marginbook.ldm.model.whitening import WhitenedGram
from marginbook.ldm.solvers import active_set
from marginbook.ldm.solvers.active_set_gram import MODERATE, alternate, pays


def gram_of(kind, m, rng):
    """A Gram matrix of `m` examples, of low rank or with equal rows for most kinds."""
    X = rng.normal(size=(m, 3))
    if kind == "duplicates":
        X = X[rng.integers(0, max(m // 3, 1), m)]
    if kind == "constant":
        X[:] = 1.0
    if kind == "zero":
        return np.zeros((m, m))
    return X @ X.T if kind == "linear" else rbf_kernel(X, gamma=0.3)


def certificate(G, y, found):
    """Primal and dual value by their definitions."""
    m, c = len(y), 4 * found.lambda1 / len(y)
    w2 = found.alpha @ G @ found.alpha
    margins = y * (G @ found.alpha)
    spread = found.lambda1 * 2 * np.var(margins)
    hinge = np.maximum(0, 1 - margins).sum()
    primal = w2 / 2 + spread - found.lambda2 * margins.mean() + found.C * hinge
    delta = found.beta + found.lambda2 / m - y * found.alpha
    assert abs(delta.sum()) <= 1e-9 * (1 + np.abs(delta).sum())
    assert found.beta.min() >= 0
    assert found.beta.max() <= found.C
    penalty = 0.0 if c == 0 else delta @ delta / (2 * c)
    return primal, found.beta.sum() - penalty - w2 / 2


@pytest.mark.parametrize("kind", ["rbf", "duplicates", "linear", "constant", "zero"])
@pytest.mark.parametrize("lambda1", [0.0, 2.0**-8, 0.25])
@pytest.mark.parametrize("lambda2", [0.0, 2.0**-5, 5.0])
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e3])
def test_equals_the_fit_with_h_and_certifies_itself(kind, lambda1, lambda2, C):
    rng = np.random.default_rng(int(C * 7) + len(kind))
    for m in (2, 7, 40):
        G, y = gram_of(kind, m, rng), rng.choice([-1.0, 1.0], m)
        found = alternate(G, y, lambda1, lambda2, C, tol=1e-9, max_iter=10_000)
        H = WhitenedGram(G, y).hessian(lambda1)
        exact = active_set(H, y, lambda1, lambda2, C, tol=1e-10)
        scale = max(1.0, abs(exact.objective))
        assert found.converged == (found.dual_gap <= 1e-9 * max(1.0, abs(found.objective)))
        assert found.converged or 4 * lambda1 / m * np.trace(G) > MODERATE
        assert abs(found.objective - exact.objective) <= found.dual_gap + 1e-9 * scale
        primal, dual = certificate(G, y, found)
        assert abs(primal - found.objective) <= 1e-11 * scale
        assert abs(primal - dual - found.dual_gap) <= 1e-10 * scale
        # the objective is strongly convex in w: squared distance at most twice the sum of the gaps
        between = found.alpha - exact.alpha
        assert between @ G @ between <= 2 * (found.dual_gap + exact.dual_gap + 1e-12 * scale)


def test_one_class_only():
    G = rbf_kernel(np.random.default_rng(0).normal(size=(20, 2)))
    found = alternate(G, np.ones(20), 0.25, 0.1, 10.0, tol=1e-9, max_iter=1000)
    assert found.converged


def test_a_large_lambda1_still_descends():
    """No step of a block goes up: the bound on c decides about speed alone."""
    rng = np.random.default_rng(1)
    G, y = gram_of("rbf", 60, rng), rng.choice([-1.0, 1.0], 60)
    found = alternate(G, y, 20.0, 0.1, 10.0, tol=1e-4, max_iter=10_000)
    primal, dual = certificate(G, y, found)
    exact = active_set(WhitenedGram(G, y).hessian(20.0), y, 20.0, 0.1, 10.0, tol=1e-10)
    assert dual <= exact.objective * (1 + 1e-9)
    assert primal >= exact.objective * (1 - 1e-9)
    assert primal - dual == pytest.approx(found.dual_gap, rel=1e-6)


def test_where_it_pays():
    G = np.eye(500)
    assert pays(G, MODERATE / 4, 10.0)
    assert not pays(G, 1.01 * MODERATE / 4, 10.0)
    assert not pays(G[:100, :100], 0.1, 10.0)
    assert not pays(G, 0.1, np.inf)


def test_the_estimators_route_takes_it_and_falls_back(monkeypatch):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(450, 4))
    G, y = rbf_kernel(X), np.where(X[:, 0] + 0.5 * rng.normal(size=450) > 0, 1.0, -1.0)
    calls = []
    monkeypatch.setattr(training, "active_set", lambda *a, **k: calls.append(1) or active_set(*a, **k))
    short = solve_on_gram(G, y, (0.1, 0.1, 10.0), "active-set", 1e-8, 100_000)
    assert not calls
    assert short.converged
    monkeypatch.setattr(training, "alternate", lambda *a, **k: alternate(*a, **{**k, "max_iter": 3}))
    long = solve_on_gram(G, y, (0.1, 0.1, 10.0), "active-set", 1e-8, 100_000)
    assert calls
    assert long.converged
    assert short.objective == pytest.approx(long.objective, rel=3e-8)
