"""Both solvers of the dual against cvxpy, scikit-learn and each other, on plain and on extreme problems."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import LinearSVC

from marginbook.ldm.model.objective import dual_gap, kkt_residual, primal_objective, squared_norm
from marginbook.ldm.model.whitening import WhitenedGram
from marginbook.ldm.solvers import active_set, active_sets, coordinate_descent
from marginbook.ldm.solvers.active_sets import Exchange, enter_worst, minimise
from marginbook.ldm.solvers.basic_factor import make_basic
from marginbook.ldm.solvers.box_qp import certify, sweep
from marginbook.ldm.solvers.dual import SWEEPS
from marginbook.ldm.solvers.hard_margin import gram_features
from marginbook.ldm.solvers.oracle import soft_margin_oracle

KINDS = ("gauss", "rbf", "integers", "duplicates", "constant", "zeros", "two", "one class", "poly")


def _problem(kind="gauss", m=30, d=4, seed=0):
    rng = np.random.default_rng(seed)
    m = 2 if kind == "two" else m
    X = rng.normal(size=(m, d))
    y = np.where(X[:, 0] + rng.normal(size=m) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    if kind == "integers":
        X = rng.integers(-1, 2, size=(m, d)).astype(float)
    if kind == "duplicates":
        X = X[rng.integers(0, m // 4, size=m)]
    if kind == "constant":
        X[:] = 1.0
    if kind == "zeros":
        X[::3] = 0.0
    if kind == "one class":
        y[:] = 1.0
    G = {"rbf": lambda: rbf_kernel(X, gamma=0.5), "poly": lambda: (X @ X.T + 1) ** 3}.get(
        kind, lambda: X @ X.T
    )()
    return G, y


def _agrees_with_itself(solution, G, y, *, tol):
    """Feasibility, stationarity and the meaning of every field, from the Gram matrix alone."""
    m, lower = len(y), solution.lambda2 / len(y)
    size = 1 + np.abs(solution.margins).max()
    assert solution.shifted.min() >= lower
    assert solution.shifted.max() <= solution.C + lower
    np.testing.assert_allclose(solution.beta + lower, solution.shifted, atol=1e-12 * (1 + solution.C + lower))
    assert solution.beta.min() >= 0
    assert solution.beta.max() <= solution.C
    # alpha has the rounding of the margins times 4 lambda1 / m
    rounding = 1e-7 + 1e-11 * solution.lambda1
    np.testing.assert_allclose(y * (G @ solution.alpha), solution.margins, atol=rounding * size)
    value = primal_objective(
        solution.margins, solution.alpha @ G @ solution.alpha, solution.lambda1, solution.lambda2, solution.C
    )
    assert solution.objective == pytest.approx(value, rel=1e-7, abs=1e-7 * m)
    assert solution.converged
    assert 0 <= solution.dual_gap <= tol * max(1, abs(solution.objective))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("lambda1", "lambda2", "C"), [(0.0, 0.0, 1.0), (0.25, 0.125, 10.0), (10.0, 3.0, 0.1)]
)
def test_both_reach_cvxpys_optimum(kind, lambda1, lambda2, C):
    G, y = _problem(kind)
    H = WhitenedGram(G, y).hessian(lambda1)
    oracle = soft_margin_oracle(gram_features(G), y, lambda1, lambda2, C)
    exact = active_set(H, y, lambda1, lambda2, C)
    _agrees_with_itself(exact, G, y, tol=1e-10)
    assert exact.objective == pytest.approx(oracle.objective, rel=1e-6, abs=1e-6)
    np.testing.assert_allclose(exact.margins, oracle.margins, atol=2e-3)
    assert kkt_residual(exact.shifted, exact.margins, lambda2, C) < 1e-7 * (1 + C)
    descended = coordinate_descent(H, y, lambda1, lambda2, C, tol=1e-5, max_iter=20_000)
    _agrees_with_itself(descended, G, y, tol=1e-5)
    assert descended.objective == pytest.approx(exact.objective, rel=2e-5, abs=2e-5)


@pytest.mark.parametrize("C", [0.05, 1.0, 30.0])
def test_without_margin_terms_it_is_the_svm_without_an_intercept(C):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 5))
    y = np.where(X[:, 0] + rng.normal(size=40) > 0, 1.0, -1.0)
    ldm = active_set(WhitenedGram(X @ X.T, y).hessian(0.0), y, 0.0, 0.0, C)
    svm = LinearSVC(C=C, loss="hinge", fit_intercept=False, tol=1e-10, max_iter=10**7, dual=True).fit(X, y)
    np.testing.assert_allclose(X.T @ ldm.alpha, svm.coef_[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(ldm.alpha, y * ldm.beta)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("lambda1", "lambda2", "C"),
    [
        (1e6, 0.1, 1.0),
        (1e-9, 0.1, 1.0),
        (0.25, 1e3, 1.0),
        (0.25, 0.1, 1e-6),
        (0.25, 0.1, 1e6),
        (1e6, 1e3, 1e-6),
        (0.0, 0.0, 1e6),
    ],
)
def test_extreme_parameters_end_in_a_certificate(kind, lambda1, lambda2, C):
    G, y = _problem(kind)
    solution = active_set(WhitenedGram(G, y).hessian(lambda1), y, lambda1, lambda2, C, tol=1e-7)
    _agrees_with_itself(solution, G, y, tol=1e-7)


@given(
    st.sampled_from(KINDS),
    st.integers(0, 10**6),
    st.sampled_from([0.0, 2.0**-8, 0.25, 100.0]),
    st.sampled_from([0.0, 0.1, 20.0]),
    st.sampled_from([0.01, 1.0, 100.0]),
    st.booleans(),
)
@settings(max_examples=150)
def test_any_start_leads_to_the_optimum(kind, seed, lambda1, lambda2, C, inside):
    G, y = _problem(kind, m=25, d=3, seed=seed)
    H = WhitenedGram(G, y).hessian(lambda1)
    rng = np.random.default_rng(seed)
    start = C * rng.random(len(y)) if inside else rng.normal(size=len(y)) * 10 * C
    warm = active_set(H, y, lambda1, lambda2, C, start=start, tol=1e-9)
    _agrees_with_itself(warm, G, y, tol=1e-9)
    cold = active_set(H, y, lambda1, lambda2, C, tol=1e-9)
    assert warm.objective == pytest.approx(cold.objective, rel=1e-8, abs=1e-8)


def test_a_start_at_the_optimum_needs_no_exchange():
    G, y = _problem("rbf")
    H = WhitenedGram(G, y).hessian(0.1)
    first = active_set(H, y, 0.1, 0.1, 1.0)
    assert first.n_iter > 0
    again = active_set(H, y, 0.1, 0.1, 1.0, start=first.shifted)
    assert again.n_iter == 0
    np.testing.assert_allclose(again.shifted, first.shifted)
    assert coordinate_descent(H, y, 0.1, 0.1, 1.0, start=first.shifted).n_iter == 0


def test_the_start_is_left_alone():
    G, y = _problem("rbf")
    H = WhitenedGram(G, y).hessian(0.1)
    start = np.full(30, 0.5)
    active_set(H, y, 0.1, 0.1, 1.0, start=start)
    coordinate_descent(H, y, 0.1, 0.1, 1.0, start=start)
    np.testing.assert_array_equal(start, 0.5)


def _printed_pass(H, beta, lambda2, C):
    """Algorithm 1 written out, with the gradient of (12) computed anew for every coordinate."""
    m = len(beta)
    for i in range(m):
        gradient = (H @ beta + lambda2 / m * H @ np.ones(m) - 1)[i]
        beta[i] = min(max(beta[i] - gradient / H[i, i], 0.0), C)
    return beta


def test_coordinate_descent_is_algorithm_1():
    G, y = _problem("rbf", m=12)
    H = WhitenedGram(G, y).hessian(0.5)
    beta = np.zeros(12)
    for passes in range(1, 5):
        beta = _printed_pass(H, beta, 0.7, 2.0)
        found = coordinate_descent(H, y, 0.5, 0.7, 2.0, tol=0.0, max_iter=passes)
        np.testing.assert_allclose(found.beta, beta, atol=1e-12)
        assert found.n_iter == passes
        assert not found.converged


def test_the_sweep_is_the_same_without_compilation():
    G, y = _problem("zeros", m=15)
    H = WhitenedGram(G, y).hessian(0.5)
    x, z = np.full(15, 0.1), np.full(15, 0.1)
    g, k = H @ x - 1, H @ z - 1
    plain = getattr(sweep, "py_func", sweep)
    assert sweep(H, x, g, 0.1, 1.1) == pytest.approx(plain(H, z, k, 0.1, 1.1))
    np.testing.assert_allclose(x, z)
    np.testing.assert_allclose(g, H @ x - 1, atol=1e-12)


def test_the_compiled_certificate_is_that_of_the_objective():
    G, y = _problem("rbf")
    H = WhitenedGram(G, y).hessian(0.4)
    x = 0.7 / 30 + 2.0 * np.random.default_rng(2).choice([0.0, 0.3, 1.0], size=30)
    margins = H @ x
    gap, primal = certify(x, margins - 1, 0.7 / 30, 2.0 + 0.7 / 30)
    assert gap == pytest.approx(dual_gap(x, margins, 0.7, 2.0))
    assert primal == pytest.approx(
        primal_objective(margins, squared_norm(x, margins, 0.4), 0.4, 0.7, 2.0), rel=1e-12
    )


@pytest.mark.parametrize("kind", ["rbf", "gauss", "duplicates"])
def test_the_derivative_for_lambda2_is_that_of_the_solution(kind):
    G, y = _problem(kind)
    H = WhitenedGram(G, y).hessian(0.4)
    lower, step, shift = 0.1 / 30, 1e-6, np.empty(30)
    x = np.full(30, lower)
    minimise(H, x, lower, lower + 2.0, 1e-12, 10**5, SWEEPS, shift)
    moved = active_set(H, y, 0.4, 0.1 + 30 * step, 2.0, tol=1e-12).margins
    np.testing.assert_allclose((moved - H @ x) / step, H @ shift, atol=1e-5)


@pytest.mark.parametrize(("upper", "end"), [(10.0, [0.9, 0.8, 0.0]), (0.7, [0.7, 0.6, 0.2])])
def test_along_a_null_direction_all_move_to_the_first_bound(upper, end):
    """The third feature is the sum of the others: it falls, and they rise as much."""
    features = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    H, x = features @ features.T, np.array([0.5, 0.4, 0.4])
    R, basis, is_basic = np.empty((3, 3)), np.empty(3, np.int64), np.zeros(3, np.bool_)
    assert make_basic(H, x, 0.0, upper, R, basis, is_basic) == 2
    on = Exchange(H, x, H @ x - 1.0, 0.0, upper, R, basis, is_basic)
    n, entered = enter_worst(on, 2, np.empty(3), np.array([0.0, 0.0, 1.0]), 1.0, 5)
    np.testing.assert_allclose(x, end, atol=1e-12)
    np.testing.assert_allclose(on.grad, H @ x - 1.0, atol=1e-12)
    assert (n, entered) == (2, 1)


def test_a_row_that_depends_on_those_just_entered_does_not_keep_the_next_one_out():
    """The second is a copy of the first."""
    features = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    H, x = features @ features.T, np.zeros(3)
    on = Exchange(H, x, H @ x - 1.0, 0.0, 1.0, np.empty((3, 3)), np.empty(3, np.int64), np.zeros(3, np.bool_))
    assert enter_worst(on, 0, np.empty(3), np.array([1.0, 0.9, 0.8]), 1.0, 10) == (2, 2)
    assert on.is_basic.tolist() == [True, False, True]


def test_the_recorded_dual_value_never_falls_and_ends_at_the_solution():
    G, y = _problem("rbf")
    found = coordinate_descent(WhitenedGram(G, y).hessian(0.3), y, 0.3, 0.2, 5.0, record=True)
    assert found.path.shape == (found.n_iter + 1, 2)
    assert np.all(np.diff(found.path[:, 0]) >= -1e-12)
    assert found.path[-1, 1] == pytest.approx(found.dual_gap, rel=1e-6, abs=1e-12)
    assert found.path[-1, 0] == pytest.approx(found.objective - found.dual_gap)
    assert coordinate_descent(WhitenedGram(G, y).hessian(0.3), y, 0.3, 0.2, 5.0).path is None


def test_a_zero_row_goes_to_the_upper_bound():
    G, y = _problem("zeros")
    H = WhitenedGram(G, y).hessian(0.5)
    for solution in (active_set(H, y, 0.5, 0.3, 2.0), coordinate_descent(H, y, 0.5, 0.3, 2.0)):
        np.testing.assert_array_equal(solution.beta[::3], 2.0)
        np.testing.assert_allclose(solution.margins[::3], 0.0, atol=1e-12)


def test_too_few_iterations_are_admitted():
    G, y = _problem("gauss", m=60)
    H = WhitenedGram(G, y).hessian(0.0)
    for solution in (
        coordinate_descent(H, y, 0.0, 0.0, 100.0, max_iter=2),
        active_set(H, y, 0.0, 0.0, 100.0, max_iter=2),
    ):
        assert not solution.converged
        assert solution.n_iter in (2, 2 + SWEEPS)
        assert solution.dual_gap > 1e-6 * max(1, abs(solution.objective))
        optimum = active_set(H, y, 0.0, 0.0, 100.0).objective
        assert solution.objective - solution.dual_gap <= optimum <= solution.objective


@pytest.mark.parametrize("solve", [active_set, coordinate_descent])
def test_bad_input_is_refused(solve):
    y = np.array([1.0, -1.0])
    with pytest.raises(ValueError, match="C must be a finite number > 0, got 0"):
        solve(np.eye(2), y, 0.0, 0.0, 0)
    with pytest.raises(ValueError, match=r"H must be square, got shape \(2, 3\)"):
        solve(np.ones((2, 3)), y, 0.0, 0.0, 1.0)
    with pytest.raises(ValueError, match=r"labels must be -1 or \+1, got \[0.0, 1.0\]"):
        solve(np.eye(2), np.array([0, 1]), 0.0, 0.0, 1.0)
    with pytest.raises(ValueError, match=r"start has shape \(3,\), H asks for \(2,\)"):
        solve(np.eye(2), y, 0.0, 0.0, 1.0, start=np.ones(3))


def test_where_rounding_is_all_that_is_left_three_sweeps_are_tried(monkeypatch):
    """As for a tolerance that no gap meets."""
    G, y = _problem()
    H, swept = WhitenedGram(G, y).hessian(1.0), []

    def counted(*arguments):
        swept.append(1)
        return sweep(*arguments)

    monkeypatch.setattr(active_sets, "sweep", counted)
    x = np.full(len(y), 0.1)
    _, gap, primal = minimise(H, x, 0.0, 1.0, -1.0, 10_000, 0, np.empty(0))
    assert len(swept) == 3
    assert gap <= 1e-9 * primal
