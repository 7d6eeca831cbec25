"""Quadratic forms over the nonnegative unit vectors: against all supports, a relaxation, and limits."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginbook.clasmk.solvers import sphere
from marginbook.clasmk.solvers.sphere import SphereMinimum, SphereSearch
from marginbook.clasmk.solvers.sphere_steps import descend, lower_bound, multiplier, smallest_eigenpair


def _all_supports(Q: np.ndarray) -> float:
    """The smallest eigenvalue of a principal block whose eigenvector is nonnegative."""
    best = np.inf
    for size in range(1, len(Q) + 1):
        for support in combinations(range(len(Q)), size):
            values, vectors = np.linalg.eigh(Q[np.ix_(support, support)])
            v = vectors[:, 0]
            v = v * np.sign(v[np.argmax(np.abs(v))])
            if (v >= -1e-12).all():
                best = min(best, values[0])
    return float(best)


def _form(seed: int, k: int, kind: str) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if kind == "symmetric":
        A = rng.normal(size=(k, k))
        return A + A.T
    if kind == "difference":  # what the weights lead to
        A, B = rng.normal(size=(2, k, 2 * k)) + 0.4
        return A @ A.T - 0.5 * B @ B.T
    if kind == "integers":  # ties
        A = rng.integers(-2, 3, size=(k, k)).astype(float)
        return A + A.T
    A = rng.normal(size=(k, k))  # repeated rows
    A[k // 2 :] = A[: k - k // 2]
    return A @ A.T - np.ones((k, k)) * rng.normal()


def _minimum(
    Q: np.ndarray, start: np.ndarray | None = None, max_nodes: int = 5000, restarts: int = 10
) -> SphereMinimum:
    """What a search finds in `max_nodes` nodes and, where it did not end, from so many random supports."""
    search = SphereSearch(Q, start=start)
    if not search.run(max_nodes):
        search.restart(restarts, np.random.default_rng(1))
    return search.result()


@settings(max_examples=150)
@given(
    seed=st.integers(0, 10**6),
    k=st.integers(1, 7),
    kind=st.sampled_from(["symmetric", "difference", "integers", "repeated"]),
    scale=st.sampled_from([1e-12, 1.0, 1e12]),
)
def test_search_is_all_supports(seed, k, kind, scale):
    Q = _form(seed, k, kind)
    size = max(np.abs(Q).max(), 1e-300)
    found, best = _minimum(scale * Q), _all_supports(Q)
    assert found.exact
    assert found.value / scale == pytest.approx(best, abs=1e-9 * size)
    assert best - 1e-9 * size <= found.lower_bound / scale <= best + 1e-12 * size
    assert (found.point >= 0).all()
    assert np.linalg.norm(found.point) == pytest.approx(1)
    assert found.point @ (scale * Q) @ found.point == pytest.approx(found.value, abs=1e-12 * scale * size)


@settings(max_examples=100)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 12), kind=st.sampled_from(["symmetric", "integers"]))
def test_local_minimum_is_stationary_and_not_above_its_start(seed, k, kind):
    Q = _form(seed, k, kind)
    Q /= max(np.abs(Q).max(), 1.0)
    start = np.random.default_rng(seed + 1).random(k)
    start /= np.linalg.norm(start)
    s, value = descend(Q, start)
    assert value <= start @ Q @ start + 1e-12
    slopes = Q @ s - value * s
    assert slopes[s > 0] == pytest.approx(0, abs=1e-8)
    assert (slopes >= -1e-8).all()
    inside = np.flatnonzero(s)
    assert value == pytest.approx(np.linalg.eigvalsh(Q[np.ix_(inside, inside)])[0], abs=1e-10)


@settings(max_examples=100)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 10))
def test_multiplier_makes_the_local_minimum_an_eigenvector(seed, k):
    Q = _form(seed, k, "symmetric")
    Q /= np.abs(Q).max()
    s, value = descend(Q, np.ones(k))
    M = multiplier(Q, s)
    assert (M >= 0).all()
    assert np.array_equal(M, M.T)
    assert (Q - M) @ s == pytest.approx(value * s, abs=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_bounds_against_the_relaxation(seed):
    """The doubly nonnegative relaxation is the best bound of this kind; the search comes to the value."""
    cp = pytest.importorskip("cvxpy")
    Q = _form(seed, 7, "symmetric")
    X = cp.Variable((7, 7), PSD=True)
    problem = cp.Problem(cp.Minimize(cp.trace(Q @ X)), [cp.trace(X) == 1, X >= 0])
    problem.solve(solver="CLARABEL")
    found = _minimum(Q)
    at_once = lower_bound(Q, found.point, found.value)
    assert at_once <= problem.value + 1e-6
    assert problem.value <= found.value + 1e-6
    assert found.lower_bound == pytest.approx(found.value, abs=1e-9)


@pytest.mark.parametrize("budget", [1, 3, 10])
def test_a_search_that_is_cut_off_keeps_a_true_bound(budget):
    for seed in range(10):
        Q = _form(seed, 9, "symmetric")
        cut, whole = _minimum(Q, max_nodes=budget, restarts=0), _minimum(Q)
        assert cut.lower_bound <= whole.value + 1e-10
        assert cut.value >= whole.value - 1e-10
        assert cut.n_nodes <= budget
        assert whole.exact


def test_a_search_can_be_resumed():
    Q = _form(0, 17, "symmetric")
    pieces = SphereSearch(Q)
    budget = 1
    while not pieces.run(budget):
        budget += 1
    whole = _minimum(Q)
    assert whole.n_nodes > 3  # else this shows nothing
    assert (pieces.value * pieces.size, pieces.n_nodes) == (pytest.approx(whole.value), whole.n_nodes)


@pytest.mark.parametrize("seed", range(4))
def test_seventeen_kernels_are_exact(seed):
    found = _minimum(_form(seed, 17, "symmetric"))
    assert found.exact
    assert found.value - found.lower_bound <= 1e-9


def test_restarts_do_not_raise_the_value():
    Q = _form(3, 30, "symmetric")
    alone = _minimum(Q, max_nodes=1, restarts=0)
    more = _minimum(Q, max_nodes=1, restarts=50)
    assert more.value <= alone.value
    assert more.value == _minimum(Q, max_nodes=1, restarts=50).value


def test_restarts_leave_a_local_minimum():
    search = SphereSearch(np.array([[-1.0, 10.0], [10.0, -2.0]]), start=np.array([1.0, 0.0]))
    assert search.result().value == pytest.approx(-1)
    search.restart(20, np.random.default_rng(0))
    assert search.result().value == pytest.approx(-2)


def test_a_tolerance_of_zero_is_that_of_rounding():
    search = SphereSearch(np.array([[0.0, -1.0], [-1.0, 0.0]]), tol=0.0)
    assert search.run(1)
    assert search.result().lower_bound == pytest.approx(-1, abs=1e-13)


def test_a_point_that_is_no_local_minimum_proves_nothing(monkeypatch):
    """Its supports cannot be left out: at the start the value is 1, and 0.5 is the least."""
    monkeypatch.setattr(sphere, "descend", lambda Q, s: (s, float(s @ Q @ s)))
    search = SphereSearch(np.array([[1.0, -0.5], [-0.5, 1.0]]), start=np.array([1.0, 0.0]))
    assert search.run(100)
    found = search.result()
    assert not found.exact
    assert found.lower_bound <= 0.5


def test_a_support_may_grow_to_all_coordinates_one_by_one():
    s, value = descend(-np.ones((40, 40)), np.eye(40)[0])
    assert value == pytest.approx(-40)
    assert s == pytest.approx(np.full(40, 40**-0.5))


def test_limits():
    # no positive entry off the diagonal: the smallest eigenvector is nonnegative
    A = -np.random.default_rng(0).random((8, 8))
    Q = A + A.T
    assert _minimum(Q).value == pytest.approx(np.linalg.eigvalsh(Q)[0])
    # no negative entry off the diagonal: the smallest diagonal entry
    assert _minimum(-Q).value == pytest.approx(np.diag(-Q).min())
    assert _minimum(np.eye(5)).value == pytest.approx(1)
    zero = _minimum(np.zeros((4, 4)))
    assert (zero.value, zero.lower_bound, zero.exact) == (0, 0, True)
    assert _minimum(np.array([[-3.0]])).value == -3
    assert _minimum(-np.ones((6, 6))).value == pytest.approx(-6)  # identical rows share


def test_a_start_is_not_made_worse():
    Q = _form(5, 12, "symmetric")
    s = np.random.default_rng(6).random(12)
    assert _minimum(Q, start=s, max_nodes=0).value <= s @ Q @ s / (s @ s)


@pytest.mark.parametrize("k", [1, 2, 3, 8])
def test_smallest_eigenpair(k):
    for seed in range(20):
        Q = _form(seed, k, "integers")
        value, v = smallest_eigenpair(Q)
        assert value == pytest.approx(np.linalg.eigvalsh(Q)[0], abs=1e-12)
        assert Q @ v == pytest.approx(value * v, abs=1e-12)
        assert np.linalg.norm(v) == pytest.approx(1)
    value, v = smallest_eigenpair(3 * np.eye(k))
    assert (value, np.linalg.norm(v)) == pytest.approx((3, 1))
