"""The fit without H against the fit with H, and its certificate against a naive one."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler

from marginbook.ldm import LDMClassifier
from marginbook.ldm.estimators import class_solutions, training
from marginbook.ldm.estimators.training import solve_on_gram
from marginbook.ldm.model.whitening import WhitenedGram
from marginbook.ldm.solvers import active_set, decomposition, kernel_rows
from marginbook.ldm.solvers.active_set_gram import ENOUGH, MODERATE, alternate, pays
from marginbook.ldm.solvers.box_steps import newton_step
from marginbook.ldm.solvers.decomposition import decompose
from marginbook.ldm.solvers.kernel_rows import ComputedRows, StoredRows


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
        found = decompose(StoredRows(G), y, lambda1, lambda2, C, tol=1e-9, max_iter=10_000)
        H = WhitenedGram(G, y).hessian(lambda1)
        exact = active_set(H, y, lambda1, lambda2, C, tol=1e-10)
        scale = max(1.0, abs(exact.objective))
        assert found.converged == (found.dual_gap <= 1e-9 * max(1.0, abs(found.objective)))
        assert found.converged
        assert abs(found.objective - exact.objective) <= found.dual_gap + 1e-9 * scale
        primal, dual = certificate(G, y, found)
        assert abs(primal - found.objective) <= 1e-11 * scale
        assert abs(primal - dual - found.dual_gap) <= 1e-10 * scale
        # the objective is strongly convex in w: squared distance at most twice the sum of the gaps
        between = found.alpha - exact.alpha
        assert between @ G @ between <= 2 * (found.dual_gap + exact.dual_gap + 1e-12 * scale)


def test_one_class_only():
    G = rbf_kernel(np.random.default_rng(0).normal(size=(20, 2)))
    found = decompose(StoredRows(G), np.ones(20), 0.25, 0.1, 10.0, tol=1e-9, max_iter=1000)
    assert found.converged


def test_a_large_lambda1_still_descends():
    """No step of a block goes up: the bound on c decides about speed alone."""
    rng = np.random.default_rng(1)
    G, y = gram_of("rbf", 60, rng), rng.choice([-1.0, 1.0], 60)
    found = decompose(StoredRows(G), y, 20.0, 0.1, 10.0, tol=1e-4, max_iter=10_000)
    primal, dual = certificate(G, y, found)
    exact = active_set(WhitenedGram(G, y).hessian(20.0), y, 20.0, 0.1, 10.0, tol=1e-10)
    assert dual <= exact.objective * (1 + 1e-9)
    assert primal >= exact.objective * (1 - 1e-9)
    assert primal - dual == pytest.approx(found.dual_gap, rel=1e-6)


def test_where_exchanges_are_tried():
    G = np.eye(500)
    assert pays(G, MODERATE / 4, 10.0)
    assert not pays(G, 1.01 * MODERATE / 4, 10.0)
    assert not pays(G[:100, :100], 0.1, 10.0)
    assert not pays(G, 0.1, np.inf)


@pytest.mark.parametrize("lambda1", [0.0, 2.0**-8])
def test_exchanges_end_where_rounding_is_all_that_is_left(lambda1):
    """Long before their largest number: after 20 rounds for each row, each of at most 8 exchanges."""
    rng = np.random.default_rng(20)
    G, y = gram_of("duplicates", 20, rng), rng.choice([-1.0, 1.0], 20)
    found = alternate(G, y, lambda1, 8 * lambda1, 1e3, tol=0.0, max_iter=200_000, turns=200_000)
    assert found.n_iter <= 20 * 20 * 8


def test_the_estimators_route_takes_exchanges_and_falls_back(monkeypatch):
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
    chunks = decompose(StoredRows(G), y, 0.1, 0.1, 10.0, tol=1e-8)
    assert short.objective == pytest.approx(chunks.objective, rel=3e-8)


@pytest.mark.parametrize("kept", [0, 7, 100])
def test_rows_on_demand_are_those_of_the_matrix(monkeypatch, kept):
    """However few of them are kept, and in whatever order they are asked for."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3))
    kernel = ("rbf", {"gamma": 0.4})
    rows, G = ComputedRows(kernel, X, 1.0, kept=kept), rbf_kernel(X, gamma=0.4) + 1.0
    np.testing.assert_allclose(rows.diagonal(), np.diagonal(G))
    for _ in range(20):
        asked = rng.choice(60, rng.integers(1, 12), replace=False)
        v = rng.normal(size=len(asked))
        np.testing.assert_allclose(rows.combined(asked, v), v @ G[asked], atol=1e-12)
        np.testing.assert_allclose(rows.block(asked), G[np.ix_(asked, asked)], atol=1e-14)
    v = rng.normal(size=60)
    np.testing.assert_allclose(rows.times(v), G @ v, atol=1e-12)
    monkeypatch.setattr(kernel_rows, "BATCH", 300)  # blocks of 17 rows and columns
    np.testing.assert_allclose(rows.times(v), G @ v, atol=1e-12)
    np.testing.assert_allclose(rows.whole(), G, atol=1e-14)


def test_chunks_of_a_few_rows_reach_the_same_gap(monkeypatch):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 4))
    y = np.where(X[:, 0] + rng.normal(size=300) > 0, 1.0, -1.0)
    whole = decompose(StoredRows(rbf_kernel(X, gamma=0.3)), y, 0.1, 0.1, 5.0, tol=1e-8)
    for name, size in (("LEAST", 40), ("MOST", 40), ("FIRST", 30)):
        monkeypatch.setattr(decomposition, name, size)
    rows = ComputedRows(("rbf", {"gamma": 0.3}), X, kept=50)
    parts = decompose(rows, y, 0.1, 0.1, 5.0, tol=1e-6)
    assert parts.converged
    assert parts.n_iter > 5
    assert parts.objective == pytest.approx(whole.objective, rel=2e-6)


def test_a_gap_that_falls_is_progress_however_little_the_dual_rises(monkeypatch):
    """Small chunks lower it slowly, and what the dual lacks is near the optimum a small part of it."""
    for name in ("LEAST", "MOST", "FIRST"):
        monkeypatch.setattr(decomposition, name, 20)
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 4))
    y = np.where(X[:, 0] + rng.normal(size=300) > 0, 1.0, -1.0)
    assert decompose(StoredRows(rbf_kernel(X, gamma=0.3)), y, 0.1, 0.1, 5.0, tol=3e-5).converged


@pytest.mark.parametrize("lambda1", [0.0, 0.1, 5.0])
def test_the_dual_of_a_run_is_its_objective_less_the_gap(lambda1):
    rng = np.random.default_rng(5)
    G, y = gram_of("rbf", 40, rng), rng.choice([-1.0, 1.0], 40)
    run = decomposition._Run(StoredRows(G), y, lambda1, 0.7, 2.0, None, 1e-4)
    run.settle(100)
    objective, box, spread = run.measure()
    assert run.dual() == pytest.approx(objective - box - spread, rel=1e-9)


def test_no_chunk_is_solved_much_closer_than_the_tolerance_asks(monkeypatch):
    rng = np.random.default_rng(5)
    G, y = gram_of("rbf", 40, rng), rng.choice([-1.0, 1.0], 40)
    solve, asked = decomposition._Run.solve_chunk, []
    monkeypatch.setattr(
        decomposition._Run, "solve_chunk", lambda run, enough: asked.append(enough) or solve(run, enough)
    )
    assert decompose(StoredRows(G), y, 0.1, 0.1, 2.0, tol=1e-3).converged
    assert min(asked) > 0.1 * 1e-3


@pytest.mark.parametrize("penalties", [(0.03, 0.03, 10.0), (5.0, 1.0, 1.0), (100.0, 0.1, 10.0)])
def test_a_weight_counts_rows(penalties):
    """Weights 1 to 3 equal so many rows, by exchanges, by chunks, and by chunks of rows on demand."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=60) > 0.3, 1.0, -1.0)
    counts = rng.integers(1, 4, 60)
    often, G = np.repeat(np.arange(60), counts), rbf_kernel(X, gamma=0.5)
    (lambda1, _, C), weights = penalties, counts.astype(float)
    H = WhitenedGram(G[np.ix_(often, often)], y[often]).hessian(lambda1)
    repeated = active_set(H, y[often], *penalties, tol=1e-11)
    on_demand = ComputedRows(("rbf", {"gamma": 0.5}), X, kept=20)
    for found in (
        alternate(G, y, *penalties, tol=1e-9, max_iter=10**5, weights=weights, turns=1000),
        decompose(StoredRows(G), y, *penalties, tol=1e-9, weights=weights),
        decompose(on_demand, y, *penalties, tol=1e-9, weights=weights),
    ):
        assert found.converged
        assert found.objective == pytest.approx(repeated.objective, rel=1e-8)
        np.testing.assert_allclose(found.margins[often], repeated.margins, atol=1e-4)
        assert (found.beta <= C * weights).all()


def test_a_newton_step_is_taken_however_little_it_gains():
    H, wanted = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([0.25, 0.5])
    for far in (0.1, 1e-4):
        x = wanted + far
        grad = H @ (x - wanted)
        assert newton_step(H, x, grad, np.ones(2))
        np.testing.assert_allclose(x, wanted, atol=1e-6 * far)


def test_a_newton_step_cut_off_by_the_box_never_goes_up():
    """What is left of a step where the box cuts it off may lead uphill, and is then halved."""
    rng = np.random.default_rng(0)
    taken = 0
    for _ in range(40):
        A, q = rng.normal(size=(6, 6)), 3 * rng.normal(size=6)
        H, before = A @ A.T + 0.01 * np.eye(6), rng.uniform(0.01, 0.99, 6)
        x, grad = before.copy(), H @ before + q
        taken += newton_step(H, x, grad, np.ones(6))
        values = [z @ (0.5 * (H @ z) + q) for z in (before, x)]
        assert values[1] <= values[0] + 1e-9
        np.testing.assert_allclose(grad, H @ x + q, atol=1e-9)
        assert 0 <= x.min() <= x.max() <= 1
    assert taken >= 20


def test_the_weight_of_the_spread_decides_whether_h_is_needed(monkeypatch):
    """However large that of the mean is."""
    y = np.where(np.arange(ENOUGH) % 2, 1.0, -1.0)
    monkeypatch.setattr(training, "WhitenedGram", None)
    found = solve_on_gram(np.eye(ENOUGH), y, (0.0, MODERATE, 1.0), "active-set", 1e-9, 1000)
    assert found.converged
    with pytest.raises(TypeError, match="NoneType"):
        solve_on_gram(np.eye(ENOUGH), y, (MODERATE, 0.0, 1.0), "active-set", 1e-9, 1000)


def test_a_hard_margin_of_many_rows_is_not_cut_into_chunks(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    X[:, 0] += y
    G, penalties = X @ X.T, (0.3, 0.2, np.inf)
    few = solve_on_gram(G, y, penalties, "active-set", 1e-9, 1000)
    monkeypatch.setattr(training, "STORED", 20)
    many = solve_on_gram(G, y, penalties, "active-set", 1e-9, 1000)
    assert many.converged
    assert many.objective == pytest.approx(few.objective, rel=1e-8)
    np.testing.assert_allclose(many.margins, few.margins, atol=1e-5)


@pytest.mark.parametrize(("m", "first"), [(3000, "training_gram"), (3001, "decompose")])
def test_up_to_3000_rows_there_is_one_gram_matrix(monkeypatch, m, first):
    class Called(Exception):
        pass

    def call(*_, **__):
        raise Called

    monkeypatch.setattr(class_solutions, first, call)
    X, y = np.random.default_rng(0).normal(size=(m, 1)), np.where(np.arange(m) % 2, 1.0, -1.0)
    kernel, penalties = ("rbf", {"gamma": 1.0}), (0.1, 0.1, 1.0)
    with pytest.raises(Called):
        class_solutions.solutions_on_kernel(kernel, X, y[None], penalties, "active-set", 1e-3, 10)


@pytest.mark.parametrize("penalties", [(0.03, 0.03, 10.0), (5.0, 1.0, 1.0)])
@pytest.mark.parametrize("weight", [1e-3, 0.1, 100.0])
def test_a_weight_of_all_rows_is_a_factor_of_c(penalties, weight):
    """Of rows that weigh the same only the hinge sees how much: the moments are means."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=60) > 0.3, 1.0, -1.0)
    rows, (lambda1, lambda2, C) = StoredRows(rbf_kernel(X, gamma=0.5)), penalties
    found = decompose(rows, y, lambda1, lambda2, C, tol=1e-8, weights=np.full(60, weight))
    plain = decompose(rows, y, lambda1, lambda2, C * weight, tol=1e-8)
    assert found.converged
    assert found.objective == pytest.approx(plain.objective, rel=1e-7, abs=1e-7)
    assert abs(found.objective - plain.objective) <= found.dual_gap + plain.dual_gap + 1e-9 * plain.objective


def test_where_no_other_labels_share_it_there_is_no_second_matrix(monkeypatch):
    monkeypatch.setattr(class_solutions, "WhitenedGram", None)
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.where(np.arange(20) % 2, 1.0, -1.0)
    kernel, penalties = ("rbf", {"gamma": 1.0}), (0.1, 0.1, 1.0)
    (found,) = class_solutions.solutions_on_kernel(kernel, X, y[None], penalties, "active-set", 1e-6, 1000)
    assert found.converged


def test_more_free_rows_than_a_chunk_stop_it_early_and_a_lower_C_helps(monkeypatch):
    for name, size in (("LEAST", 100), ("MOST", 100), ("FIRST", 60)):
        monkeypatch.setattr(decomposition, name, size)
    monkeypatch.setattr(class_solutions, "STORED", 100)
    monkeypatch.setattr(class_solutions, "FACTORISED", 100)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = X[:, 0] + 0.8 * rng.normal(size=600) > 0
    with pytest.warns(ConvergenceWarning, match=r"more would not help: raise tol, lower C, or scale"):
        LDMClassifier(lambda1=0.1, lambda2=0.1, C=1e4, gamma=0.1).fit(X, y)
    fine = LDMClassifier(lambda1=0.1, lambda2=0.1, C=100.0, gamma=0.1).fit(X, y)
    assert fine.dual_gap_ <= 1e-6 * fine.objective_


@pytest.mark.parametrize("gamma", [0.02, 0.005])
def test_a_gap_that_goes_up_and_down_is_progress_while_the_dual_rises(monkeypatch, gamma):
    """With a small gamma every kernel value is far from 0, and the worst rows are of one class at a time."""
    for name, size in (("LEAST", 600), ("MOST", 600), ("FIRST", 300)):
        monkeypatch.setattr(decomposition, name, size)
    X, y = make_classification(
        5000, 20, n_informative=10, n_redundant=4, n_clusters_per_class=2, flip_y=0.05, random_state=0
    )
    X, y = StandardScaler().fit_transform(X[:3000]), np.where(y[:3000] == 1, 1.0, -1.0)
    rows = StoredRows(rbf_kernel(X, gamma=gamma))
    found = decompose(rows, y, 2**-5, 2**-5, 1.0, tol=1e-6)
    assert found.converged
    assert found.n_iter < 100
    primal, dual = certificate(rows.G, y, found)
    assert primal - dual <= 1e-6 * primal
    run = decomposition._Run(rows, y, 2**-5, 2**-5, 1.0, None, 1e-6)
    before = run.dual()
    for _ in range(5):  # no chunk lowers it, by its definition
        run.chunks += 1
        run.solve_chunk(1e-6)
        a = y * run.beta
        assert run.dual() == pytest.approx(run.beta.sum() - 0.5 * a @ rows.G @ a, rel=1e-9)
        assert run.dual() >= before
        before = run.dual()
