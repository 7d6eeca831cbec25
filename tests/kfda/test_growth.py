"""Many rows: the same results in blocks, by iteration and by runs, with candidates, and messages in time."""

import os
import signal
import threading
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import lapack
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from marginbook.base import memory
from marginbook.base.interruptible import interruptible
from marginbook.kernels import KernelOverflow
from marginbook.kfda import KFDAClassifier, OLSKFDAClassifier, SparseKFDAClassifier
from marginbook.kfda.estimators import training_gram
from marginbook.kfda.estimators.kernel_machine import SHARE
from marginbook.kfda.estimators.training_gram import candidate_design, refuse_indefinite, training_design
from marginbook.kfda.model import blocks
from marginbook.kfda.model.objective import Problem, targets
from marginbook.kfda.peers import ols_forward_selection, ridge
from marginbook.kfda.peers.ols_forward_selection import orthogonal_least_squares
from marginbook.kfda.peers.ridge_leave_one_out import leave_one_out
from marginbook.kfda.peers.ridge_path import KernelSpectrum
from marginbook.kfda.solvers import many_rows
from marginbook.kfda.solvers.majorise_minimise import shrinking_mm
from marginbook.kfda.solvers.ridge_iterative import ridge_by_iteration
from marginbook.quality.trust.conditioning import BEHIND, chosen, hard_problems, possible_digits
from marginbook.quality.trust.judging import judge


def _rows(n=300, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n) > 0


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "LARGE", 100)
    monkeypatch.setattr(blocks, "WIDTH", 64)
    monkeypatch.setattr(training_gram, "LARGE", 100)
    monkeypatch.setattr(training_gram, "HEIGHT", 64)


def test_products_and_factors_in_blocks(small_blocks):
    A = np.random.default_rng(0).normal(size=(301, 150))
    products = blocks.gram_of(A)
    np.testing.assert_allclose(products, A @ A.T, atol=1e-12)
    products.flat[::302] += 1.0
    factor, failed = blocks.blocked_cholesky(products.copy().T)
    assert not failed
    np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(products), atol=1e-11)
    products[200, 200] -= 1e6
    assert blocks.blocked_cholesky(products.T)[1] == 201


@pytest.mark.parametrize("n", [80, 100, 101, 150])
def test_only_what_is_large_is_divided(small_blocks, monkeypatch, n):
    products, factors = [], []  # the sizes of the calls, during which nobody hears Ctrl-C

    class Rows(np.ndarray):
        def __matmul__(self, other):
            products.append(len(self))
            return np.asarray(self) @ np.asarray(other)

    def dpotrf(matrix, **options):
        factors.append(len(matrix))
        return lapack.dpotrf(matrix, **options)

    gram = blocks.gram_of(np.random.default_rng(1).normal(size=(n, 200)).view(Rows))
    monkeypatch.setattr(blocks, "lapack", SimpleNamespace(dpotrf=dpotrf))
    overwritten = np.array(gram, order="F")
    factor, _ = blocks.blocked_cholesky(overwritten)
    assert np.shares_memory(factor, overwritten)
    assert products == factors == ([n] if n <= 100 else [64] * (n // 64) + [n % 64])


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(
    ("kernel", "naive"),
    [
        (("rbf", {"gamma": 0.3}), lambda X: rbf_kernel(X, gamma=0.3)),
        (
            ("poly", {"degree": 2, "gamma": 0.5, "coef0": 1.0}),
            lambda X: polynomial_kernel(X, degree=2, gamma=0.5, coef0=1.0),
        ),
        ("linear", lambda X: X @ X.T),
    ],
)
def test_the_kernel_matrix_in_blocks(small_blocks, kernel, naive, make):
    X, _ = _rows()
    design = training_design(kernel, make(X))
    np.testing.assert_allclose(design[:, 1:], naive(X), atol=1e-12)
    np.testing.assert_array_equal(design[:, 1:], design[:, 1:].T)
    assert (design[:, 0] == 1).all()
    with pytest.raises(KernelOverflow, match="scale the features"):
        training_design(kernel, make(X * 1e200))


def test_no_value_of_the_kernel_of_equal_rows_is_above_one(small_blocks):
    """The square of a distance is not zero to rounding, and times a large gamma that would be seen."""
    X = np.repeat(_rows(60, p=7)[0], 5, axis=0)
    assert training_design(("rbf", {"gamma": 1e9}), X)[:, 1:].max() == 1.0


@pytest.mark.parametrize("mu", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("nu", [0.0, 2.0])
def test_conjugate_gradients_reach_the_ridge_solution(mu, nu):
    X, y = _rows()
    K, yhat = rbf_kernel(X, gamma=0.2), targets(y)
    D = np.column_stack([np.ones(300), K])
    wanted = np.linalg.solve(D.T @ D + np.diag(np.r_[nu, np.full(300, mu)]), D.T @ yhat)
    for matrix in (K, np.asfortranarray(K), np.asfortranarray(np.c_[np.ones(300), K])[:, 1:]):
        found = ridge_by_iteration(matrix, yhat, mu, nu=nu)
        np.testing.assert_allclose(D @ np.r_[found.bias, found.coef], D @ wanted, atol=1e-6)
    rest = yhat - D @ wanted
    least = 0.5 * (rest @ rest + mu * wanted[1:] @ wanted[1:] + nu * wanted[0] ** 2)
    assert -1e-9 * least <= found.values[-1] - least <= found.gap + 1e-9 * least
    assert (np.diff(found.values) <= 0).all()
    assert ridge_by_iteration(np.zeros((4, 4)), np.array([2.0, 2, -2, -2]), 1.0).coef.tolist() == [0, 0, 0, 0]


def test_the_bound_of_the_gap_holds_where_the_iteration_is_cut_short():
    X, y = _rows()
    K, yhat = rbf_kernel(X, gamma=0.2), targets(y)
    best = ridge_by_iteration(K, yhat, 0.01)
    for steps in (1, 3, 8):
        early = ridge_by_iteration(K, yhat, 0.01, max_iter=steps)
        alpha, b = early.coef, early.bias
        value = 0.5 * np.sum((yhat - b - K @ alpha) ** 2) + 0.005 * alpha @ alpha
        assert 0 < value - best.values[-1] <= early.gap


def test_routes_agree_and_iteration_tells_where_it_fails():
    X, y = _rows()
    new = _rows(50, seed=1)[0]
    first, *others = (
        KFDAClassifier(0.5, gamma=0.2, route=route).fit(X, y) for route in ("least-squares", "fisher", "cg")
    )
    for other in others:
        np.testing.assert_allclose(other.decision_function(new), first.decision_function(new), atol=1e-7)
    assert others[-1].n_iter_ > 1
    assert others[-1].residual_ < 1e-10
    with pytest.warns(
        ConvergenceWarning, match=r"after \d+ iterations the objective is up to .* raise reg=1e-12"
    ):
        KFDAClassifier(1e-12, gamma=0.2, route="cg").fit(X, y)


@pytest.mark.parametrize("weighted", [False, True])
def test_what_iteration_leaves_unsolved_is_decomposed(monkeypatch, weighted):
    X, y = _rows(200)
    weights = np.random.default_rng(1).integers(1, 4, 200) if weighted else None
    exact = KFDAClassifier(reg=1e-8, gamma=0.2, route="least-squares").fit(X, y, weights)
    monkeypatch.setattr(ridge, "EIGEN", 20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KFDAClassifier(reg=1e-8, gamma=0.2).fit(X, y, weights)
    assert np.allclose(model.decision_function(X), exact.decision_function(X))
    assert not hasattr(model, "gap_")
    assert hasattr(model, "loo_decision_") is not weighted
    monkeypatch.setattr(ridge, "FALLBACK", 20)
    with pytest.warns(ConvergenceWarning, match="iterations the objective is up to") as caught:
        model.fit(X, y, weights)
    assert {each.filename for each in caught} == {__file__}  # they point at the user's line
    assert model.gap_ > 0


@pytest.mark.parametrize("threshold", ["midpoint", "means"])
def test_a_linear_kernel_of_few_features_needs_no_kernel_matrix(threshold):
    X, y = _rows()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KFDAClassifier(0.5, kernel="linear", threshold=threshold).fit(X, y)
    given = KFDAClassifier(0.5, kernel="precomputed", threshold=threshold).fit(X @ X.T, y)
    np.testing.assert_allclose(model.decision_function(X), given.decision_function(X @ X.T), atol=1e-10)
    np.testing.assert_allclose(model.loo_decision_, given.loo_decision_, atol=1e-8)
    for reg in (0.0, 1e-9, 1e6):
        K, yhat = X @ X.T, targets(y)
        one, other = KernelSpectrum.of_features(X, yhat), KernelSpectrum.of(K, yhat)
        np.testing.assert_allclose(one.solve(reg).fitted, other.solve(reg).fitted, atol=1e-6)
    np.testing.assert_allclose(leave_one_out(one, 0.5), leave_one_out(other, 0.5), atol=1e-8)


def test_linear_decisions_have_their_digits_whatever_the_features_units_are():
    """The coefficients of the rows cannot have them, as their sum cancels; those of the features do."""
    (subject,) = [one for one in chosen() if one.name == "KFDAClassifier least-squares"]
    problems = [one for one in hard_problems(subject) if one.suite == "feature scales"]
    assert [one.level for one in problems] == ["1e±4", "1e±8"]
    for one in problems:
        found = judge(subject, one.X, one.y, one.T, **one.changed)
        assert found.decision_digits >= possible_digits(subject, one) - BEHIND
        assert found.honest == "yes"


def test_a_kernel_matrix_of_rounding_alone_is_told_of():
    K = 1e16 * np.ones((12, 12))
    K.flat[::13] += np.linspace(0.0, 40.0, 12)
    y = np.arange(12) % 2
    with pytest.warns(ConvergenceWarning):
        KFDAClassifier(1.0, kernel="precomputed").fit(K, y)


@pytest.mark.parametrize("intercept", ["first", "candidate"])
@pytest.mark.parametrize(("p", "gamma", "terms"), [(6, 0.1, 90), (1, 3.0, None)])
def test_runs_choose_what_single_steps_choose(monkeypatch, intercept, p, gamma, terms):
    X, y = _rows(400, max(p, 3))
    X = X[:, :p]
    X[50:60] = X[:10]  # duplicates
    K, yhat = rbf_kernel(X, gamma=gamma), targets(y)
    one = orthogonal_least_squares(K, yhat, max_terms=terms, intercept=intercept)
    monkeypatch.setattr(ols_forward_selection, "LARGE", 10)
    many = orthogonal_least_squares(K, yhat, max_terms=terms, intercept=intercept)
    np.testing.assert_array_equal(many.order, one.order)
    np.testing.assert_array_equal(many.refused, one.refused)
    assert many.stopped == one.stopped
    np.testing.assert_allclose(many.err, one.err, atol=1e-7)
    enough = float(one.unexplained[len(one.order) // 2]) + 1e-6
    goal = orthogonal_least_squares(K, yhat, tolerance=enough, intercept=intercept)
    monkeypatch.setattr(ols_forward_selection, "LARGE", 10**6)
    again = orthogonal_least_squares(K, yhat, tolerance=enough, intercept=intercept)
    np.testing.assert_array_equal(goal.order, again.order)
    assert goal.unexplained[-1] < enough <= goal.unexplained[-2]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("penalize_bias", [False, True])
def test_a_guided_minimum_is_one_of_the_problem_itself(monkeypatch, weighted, penalize_bias):
    X, y = _rows(400)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 400) if weighted else None
    monkeypatch.setattr(many_rows, "LARGE", 100)
    for rho in (0.03, 0.003):
        model = SparseKFDAClassifier(0.5, rho, gamma=0.2, penalize_bias=penalize_bias)
        found = model.fit(X, y, weights)
        assert found.converged_
        assert found.is_local_minimum_
        guided = found.objective_
        monkeypatch.setattr(many_rows, "LARGE", 10**6)
        assert guided <= 1.03 * model.fit(X, y, weights).objective_
        monkeypatch.setattr(many_rows, "LARGE", 100)
    two = SparseKFDAClassifier(2, 0.01, gamma=0.2, penalize_bias=penalize_bias).fit(X, y, weights)
    assert two.dual_gap_ <= 1e-12 * two.objective_


def test_the_ridge_keeps_all_kernel_coefficients_from_its_first_step_on():
    X, y = _rows(60)
    found = many_rows.ridge(Problem(rbf_kernel(X, gamma=0.2), targets(y)), 0.01)
    assert found.retained_path[0] == 0
    assert (found.retained_path[1:] == np.count_nonzero(found.omega[1:])).all()


@pytest.mark.parametrize(("solve", "tol"), [(many_rows.ridge, 1e-8), (many_rows.minimise, 1e-5)])
def test_many_rows_have_converged_where_the_gap_is_small(monkeypatch, solve, tol):
    X, y = _rows(60)
    problem = Problem(rbf_kernel(X, gamma=0.2), targets(y))
    monkeypatch.setattr(many_rows, "LARGE", 20)
    for share, converged in ((0.5, True), (2.0, False)):
        gap = share * tol * many_rows.ridge(problem, 0.01).objective
        monkeypatch.setattr(many_rows, "duality_gap", lambda *_, gap=gap: gap)
        found = solve(problem, rho=0.01, **({} if solve is many_rows.ridge else {"q": 2.0}))
        assert (found.dual_gap, found.converged) == (gap, converged)


@pytest.mark.parametrize("penalize_bias", [False, True])
def test_what_an_approximation_cannot_fit_of_the_targets_is_lost(penalize_bias):
    X, y = _rows(60)
    problem = Problem(rbf_kernel(X, gamma=0.2), targets(y))
    found = many_rows.approximated(problem, penalize_bias, columns=10)
    assert found.lost > 0.1 * problem.energy
    assert found.lost + 0.5 * found.yhat @ found.yhat == pytest.approx(0.5 * problem.energy)


def test_what_cannot_be_approximated_is_solved_as_it_is(monkeypatch):
    monkeypatch.setattr(many_rows, "LARGE", 20)
    _, y = _rows(60)
    K = np.random.default_rng(0).normal(size=(60, 60))  # regressors, no kernel
    problem = Problem(K, targets(y))
    for q in (0.5, 2.0):
        found = many_rows.minimise(problem, q, 0.05)
        assert found.objective == pytest.approx(shrinking_mm(problem, q, 0.05).objective)


@pytest.mark.parametrize(
    "model",
    [
        KFDAClassifier(gamma=0.2, n_components=60, random_state=0),
        SparseKFDAClassifier(gamma=0.2, rho=0.003, n_components=60, random_state=0),
        SparseKFDAClassifier(0.5, gamma=0.2, rho=0.003, n_components=60, random_state=0),
        OLSKFDAClassifier(20, gamma=0.2, n_components=60, random_state=0),
    ],
    ids=str,
)
def test_candidates(model):
    X, y = _rows()
    new, labels = _rows(500, seed=1)
    found = model.fit(X, y)
    few, decided = found.retained_, found.decision_function(new)
    assert 0 < len(few) <= 60
    assert found.score(new, labels) > 0.75
    np.testing.assert_array_equal(model.fit(X, y).decision_function(new), decided)
    everything = type(model)(**{**model.get_params(), "n_components": 10**6}).fit(X, y)
    exact = type(model)(**{**model.get_params(), "n_components": None}).fit(X, y)
    atol = 1e-4 if isinstance(model, KFDAClassifier) else 1e-12  # landmarks lose what is rounding of K
    np.testing.assert_allclose(everything.decision_function(new), exact.decision_function(new), atol=atol)


@pytest.mark.parametrize("n", [2047, 2049])
def test_kernel_columns_in_blocks(n):
    X, columns = np.random.default_rng(0).normal(size=(n, 2)), np.array([3, n - 1])
    found = candidate_design(("rbf", {"gamma": 0.5}), X, columns)
    np.testing.assert_allclose(found, np.c_[np.ones(n), rbf_kernel(X, X[columns], gamma=0.5)], atol=1e-14)


def test_memory_is_asked_for_before_it_is_taken(monkeypatch):
    monkeypatch.setattr(memory, "machine_memory", lambda: 8e9)
    X, y = np.zeros((400_000, 1)), np.arange(400_000) % 2
    X[:, 0] = y
    for model in (KFDAClassifier(), SparseKFDAClassifier(), SparseKFDAClassifier(0.5), OLSKFDAClassifier()):
        with pytest.raises(MemoryError, match=r"of 400,000 rows takes 1280.0 GB, .*; give n_comp"):
            model.fit(X, y)


def test_a_matrix_of_all_pairs_of_rows_is_refused_where_one_of_some_columns_is_not(monkeypatch):
    X, y = _rows(60)
    monkeypatch.setattr(memory, "machine_memory", lambda: 8 * 59 * 60 / SHARE)
    with pytest.raises(MemoryError, match="the kernel matrix of 60 rows takes"):
        SparseKFDAClassifier().fit(X, y)
    SparseKFDAClassifier(n_components=58).fit(X, y)


@pytest.mark.parametrize("model", [KFDAClassifier(), OLSKFDAClassifier()], ids=str)
def test_indefinite_kernels_are_refused(model, monkeypatch):
    X, y = _rows(80)
    K = rbf_kernel(X, gamma=0.1)
    model = type(model)(kernel="precomputed")
    model.fit(K, y).predict(K)
    model.fit(K.astype(np.float32), y)
    for bad in (K - 0.5, np.tanh(X @ X.T - 1), -K):
        with pytest.raises(ValueError, match="needs a positive semidefinite kernel") as caught:
            model.fit((bad + bad.T) / 2, y)
        assert "\n" not in str(caught.value)
        monkeypatch.setattr(training_gram, "LARGE", 10)  # found by Lanczos, too
        with pytest.raises(ValueError, match="needs a positive semidefinite kernel"):
            refuse_indefinite((bad + bad.T) / 2, "KFDAClassifier")
        refuse_indefinite(K, "KFDAClassifier")
        monkeypatch.undo()
    monkeypatch.setattr(training_gram, "LARGE", 10)
    refuse_indefinite(2.0 * np.eye(80), "KFDAClassifier")  # of one eigenvalue only
    monkeypatch.undo()
    with pytest.raises(ValueError, match="K must be symmetric"):
        model.fit(np.triu(K), y)
    SparseKFDAClassifier(kernel="precomputed").fit(K - 0.5, y)  # its columns are regressors


def test_an_interrupt_does_not_wait_for_a_long_call():
    heard = signal.signal(signal.SIGINT, signal.default_int_handler)  # a worker of pytest ends at once
    over, ended = threading.Event(), threading.Event()
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            interruptible(lambda: (over.wait(60), ended.set()))
    finally:
        signal.signal(signal.SIGINT, heard)
    assert not ended.is_set()  # the call was left while it ran
    over.set()
    assert ended.wait(60)
    assert interruptible(max, 2, 3) == 3
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 // 0)


@pytest.mark.parametrize("model", [KFDAClassifier(), SparseKFDAClassifier(), OLSKFDAClassifier()], ids=str)
def test_the_width_suits_the_features(model):
    X, y = _rows(120)
    fitted = model.fit(X * 1000, y)
    assert fitted.gamma_ == pytest.approx(1 / (4 * (X * 1000).var()))
    far = fitted.decision_function(X * 1000)
    np.testing.assert_allclose(model.fit(X, y).decision_function(X), far, atol=1e-6)
    assert type(model)(gamma="auto").fit(X, y).gamma_ == type(model)(gamma=None).fit(X, y).gamma_ == 0.25
    with pytest.warns(UserWarning, match="scale the features"):
        type(model)(gamma=1.0).fit(X * 1000, y)
    linear = type(model)(kernel="linear").fit(X, y)
    assert not hasattr(linear, "gamma_")
    assert linear.decision_function(X.astype(np.float32)).dtype == np.float32
