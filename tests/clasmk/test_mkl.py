"""l1 MKL: the semidefinite and quadratic oracles, its certificate, one kernel, copies, extreme C."""

import warnings
from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import scale
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from marginbook.clasmk.model.normalised_kernels import normalised_gram
from marginbook.clasmk.peers.mkl import MKLClassifier
from marginbook.clasmk.peers.two_layer import TwoLayerMKLClassifier
from marginbook.clasmk.solvers import half_stored, mkl
from marginbook.clasmk.solvers.gram_blocks import GramBlocks
from marginbook.clasmk.solvers.mkl import combine, learn_weights
from marginbook.clasmk.solvers.svm_outputs import best_bias, best_scale, curvature, train

from .kernel_problem import KERNELS, problem, to_the_tolerance


@parametrize_with_checks(
    [MKLClassifier(), MKLClassifier([("poly", {"degree": 2})], C=10.0)],
    expected_failed_checks=to_the_tolerance,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def root(K):
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0))


def largest_form(grams, signs, C):
    """Maximise over the dual coefficients the sum less half the largest quadratic form: the saddle point."""
    n, m = signs.shape
    a, t = cp.Variable((n, m)), cp.Variable()
    forms = [
        sum(cp.sum_squares(root(K).T @ cp.multiply(signs[:, u], a[:, u])) for u in range(m)) for K in grams
    ]
    constraints = [a >= 0, a <= C, *[q <= t for q in forms]]
    constraints += [signs[:, u] @ a[:, u] == 0 for u in range(m)]
    cp.Problem(cp.Maximize(cp.sum(a) - t / 2), constraints).solve(solver="CLARABEL")
    weights = np.array([np.ravel(c.dual_value)[0] for c in constraints[2 : 2 + len(grams)]])
    return float(cp.sum(a).value - t.value / 2), weights / weights.sum()


def semidefinite(grams, y, C):
    """Lanckriet's programme: minimise over the weights the dual of the machine, by a Schur complement."""
    n = len(y)
    d, t, b = cp.Variable(len(grams), nonneg=True), cp.Variable(), cp.Variable()
    low, up = cp.Variable(n, nonneg=True), cp.Variable(n, nonneg=True)
    G = sum(d[k] * (np.outer(y, y) * grams[k]) for k in range(len(grams)))
    right = cp.reshape(1 + low - up + b * y, (n, 1), order="C")
    corner = cp.reshape(t - 2 * C * cp.sum(up), (1, 1), order="C")
    matrix = cp.bmat([[G, right], [right.T, corner]])
    cp.Problem(cp.Minimize(t / 2), [(matrix + matrix.T) / 2 >> 0, cp.sum(d) == 1]).solve(solver="CLARABEL")
    return float(t.value / 2), d.value


@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("classes", [2, 3])
def test_value_and_weights_are_those_of_the_quadratic_oracle(C, classes):
    grams, signs, _, _ = problem(classes=classes)
    value, weights = largest_form(grams, signs, C)
    found = learn_weights(grams, signs, C, tol=1e-6)
    assert found.gap <= 1e-6
    assert found.machines.value == pytest.approx(value, rel=2e-6)
    assert found.lower_bound <= value * (1 + 1e-7)
    assert value <= found.machines.value * (1 + 1e-7)
    np.testing.assert_allclose(found.weights, weights, atol=0.02)


def test_value_is_that_of_the_semidefinite_programme():
    grams, signs, _, _ = problem()
    value, weights = semidefinite(grams, signs[:, 0], 1.0)
    found = learn_weights(grams, signs, 1.0, tol=1e-6)
    assert found.machines.value == pytest.approx(value, rel=1e-5)
    np.testing.assert_allclose(found.weights, weights, atol=0.02)


def test_the_certificate_is_the_primal_less_a_dual_bound():
    grams, signs, _, _ = problem(n=40)
    found = learn_weights(grams, signs, 1.0, tol=1e-5)
    y, machines = signs[:, 0], found.machines
    total = sum(d * K for d, K in zip(found.weights, grams, strict=True))
    beta = machines.beta[:, 0]
    scaled = beta * machines.scale[0]
    f = total @ scaled + machines.bias[0]
    assert machines.value == pytest.approx(scaled @ total @ scaled / 2 + np.maximum(0, 1 - y * f).sum())
    assert ((y * beta >= 0) & (np.abs(beta) <= 1)).all()
    assert abs(beta.sum()) < 1e-6
    # the bound by one machine alone is SimpleMKL's; that by several is no worse
    alone = np.abs(beta).sum() - max(beta @ K @ beta for K in grams) / 2
    assert alone <= found.lower_bound * (1 + 1e-9) <= machines.value
    values, bounds = np.array(found.path).T
    assert (np.diff(values) <= 0).all()
    assert (np.diff(bounds) >= 0).all()


def test_the_bound_is_the_least_maximum_of_affine_functions(monkeypatch):
    constants, slopes = np.array([0.0, 0.5]), np.array([[1.0, -1.0], [-1.0, 1.0]])
    # 2 w - 1 and 1.5 - 2 w meet in w = 0.625; alone they have no better bound than -0.5
    assert mkl._least_bound(constants, slopes) == pytest.approx(0.25)
    monkeypatch.setattr(mkl, "linprog", lambda *_, **__: SimpleNamespace(status=4))
    assert mkl._least_bound(constants, slopes) == -0.5


def test_learned_weights_print_without_their_path():
    grams, signs, _, _ = problem(n=20)
    shown = repr(learn_weights(grams, signs, 1.0, max_iter=1))
    assert "weights=" in shown
    assert "path=" not in shown


@pytest.mark.parametrize("end", [0.0, np.nan])
def test_a_failed_step_leads_to_equal_weights(monkeypatch, end):
    constants, slopes = np.array([0.0, 0.5]), np.array([[1.0, -1.0], [-1.0, 1.0]])
    monkeypatch.setattr(mkl, "minimize", lambda *_, **__: SimpleNamespace(x=np.full(3, end)))
    weights, bound = mkl._next(constants, slopes, np.array([1.0, 0.0]), 1.0, np.eye(2), 0.5)
    np.testing.assert_array_equal(weights, [0.5, 0.5])
    assert bound == 0.5


def test_curvature_is_the_difference_of_gradients():
    grams, signs, _, _ = problem(n=30)
    weights = np.array([0.3, 0.2, 0.4, 0.1])

    def gradient(d):
        machines = train(combine(grams, d), signs, 5.0, 1e-7)
        moves = np.stack([K @ machines.beta for K in grams])
        return machines, moves, -0.5 * np.einsum("knm,nm->k", moves, machines.beta)

    machines, moves, _ = gradient(weights)
    H = curvature(combine(grams, weights), machines, moves)
    step = 1e-3
    for k in range(4):
        shift = step * np.eye(4)[k]
        difference = (gradient(weights + shift)[2] - gradient(weights - shift)[2]) / (2 * step)
        np.testing.assert_allclose(H[:, k], difference, atol=0.02 * np.abs(H).max())


@settings(max_examples=50)
@given(seed=st.integers(0, 2**16), n=st.integers(2, 15), ties=st.booleans())
def test_the_bias_has_the_least_hinge_loss(seed, n, ties):
    rng = np.random.default_rng(seed)
    fitted, y = rng.standard_normal(n), rng.choice([-1.0, 1.0], n)
    if ties:
        fitted = fitted.round()
    y[:2] = -1, 1

    def loss(b):
        return np.maximum(0, 1 - y * (fitted + b)).sum()

    found = best_bias(fitted, y, float(rng.standard_normal()))
    assert loss(found) <= min(loss(b) for b in [*(y - fitted), found + 0.1, found - 0.1]) + 1e-12


@settings(max_examples=50)
@given(seed=st.integers(0, 2**16), n=st.integers(1, 15), energy=st.floats(1e-6, 1e3))
def test_the_scale_has_the_least_objective(seed, n, energy):
    rng = np.random.default_rng(seed)
    margins, wanted = rng.standard_normal(n) + 1, 1 - 0.3 * rng.choice([-1.0, 1.0], n)

    def objective(s):
        return s**2 * energy / 2 + np.maximum(0, wanted - s * margins).sum()

    found = best_scale(margins, wanted, energy)
    grid = np.append(np.linspace(1e-3, 5, 2000), found * np.array([0.999, 1.001]))
    assert found == 1 or objective(found) <= min(map(objective, grid)) + 1e-9


def test_where_no_scale_is_the_best_it_stays():
    """No example wants a positive one, or nothing holds it back, up to rounding."""
    for margin, energy in ((-1.0, 2.0), (0.5, 0.0), (0.5, -1e-18)):
        assert best_scale(np.array([margin]), np.ones(1), energy) == 1


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_one_kernel_is_the_support_vector_machine(C):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = scale(X)[::3], y[::3]
    model = MKLClassifier([("rbf", {"gamma": 0.05})], C=C, tol=1e-5).fit(X, y)
    machine = SVC(C=C, gamma=0.05, tol=1e-6).fit(X, y)
    np.testing.assert_array_equal(model.weights_, [1.0])
    np.testing.assert_allclose(model.decision_function(X), machine.decision_function(X), atol=2e-3)
    assert model.dual_gap_ <= 1e-5


def test_several_outputs_of_one_kernel_are_one_against_the_rest():
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    model = MKLClassifier([("rbf", {"gamma": 0.5})], tol=1e-5).fit(X, y)
    for c in range(3):
        machine = SVC(gamma=0.5, tol=1e-6).fit(X, y == c)
        np.testing.assert_allclose(model.decision_function(X)[:, c], machine.decision_function(X), atol=5e-3)


def test_copies_of_a_kernel_change_nothing():
    grams, signs, X, codes = problem(n=30)
    once = learn_weights(grams, signs, 1.0, tol=1e-5)
    copied = learn_weights([*grams, *grams, grams[0]], signs, 1.0, tol=1e-5)
    assert copied.gap <= 1e-5
    assert copied.machines.value == pytest.approx(once.machines.value, rel=1e-5)
    same = MKLClassifier([KERNELS[0]] * 3, tol=1e-5).fit(X, codes)
    one = MKLClassifier([KERNELS[0]], tol=1e-5).fit(X, codes)
    np.testing.assert_allclose(same.decision_function(X), one.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("C", [1e-8, 1e-4, 1e5, 1e8])
def test_tiny_and_huge_weights_of_the_losses(C):
    _, signs, X, codes = problem()
    model = MKLClassifier(KERNELS, C=C).fit(X, codes)
    assert model.dual_gap_ <= 1e-3
    if C < 1e-3:  # balanced classes: every coefficient at its bound
        assert model.objective_ == pytest.approx(20 * C, rel=1e-2)
    else:  # hard margin
        assert (signs[:, 0] * model.decision_function(X)).min() > 0.9


def test_useless_kernels_get_no_weight():
    _, signs, X, _ = problem(n=40, seed=3)
    y = signs[:, 0]
    useful = np.outer(y, y)
    found = learn_weights(
        [normalised_gram(("rbf", {"gamma": 100.0}), X), useful, np.ones((40, 40))], signs, 1.0
    )
    assert found.weights[1] > 0.98


def test_weights_have_one_per_kernel_and_prediction_needs_the_used_rows_only():
    X, y = load_iris(return_X_y=True)
    names = np.array(["red", "green", "blue"])[y]
    model = MKLClassifier(C=10.0).fit(scale(X), names)
    assert model.weights_.shape == (13,)
    assert model.weights_.sum() == pytest.approx(1)
    assert model.dual_coef_.shape == (3, len(model.support_))
    assert len(model.support_) < len(y)
    assert model.score(scale(X), names) > 0.95
    assert len(model.objective_path_) == model.n_iter_ <= 12


def test_grid_search():
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(MKLClassifier(KERNELS[:2]), {"C": [0.1, 10.0]}, cv=3).fit(scale(X), y)
    assert search.best_score_ > 0.9


def test_too_few_iterations_are_told_with_both_numbers():
    _, _, X, codes = problem(n=30)
    with pytest.warns(ConvergenceWarning, match=r"gap is .* after 1 set of weights, wanted 1.0e-06"):
        MKLClassifier(KERNELS, tol=1e-6, max_iter=1).fit(X, codes)


def test_copied_rows_of_both_classes():
    X = np.repeat(np.arange(3.0), 4)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MKLClassifier(KERNELS[:3]).fit(X, [0, 1] * 6)
    decisions = model.decision_function(X)
    np.testing.assert_allclose(decisions, decisions[0], atol=1e-6)  # only the bias is left
    assert abs(decisions[0]) <= 1 + 1e-6


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernels": "rbf"}, "kernels must be None or a list of kernels"),
        ({"kernels": []}, "got an empty list"),
        ({"C": 0}, r"C must be a number in \[1e-08, 1e\+08\], got 0"),
        ({"tol": -1}, "tol must be a number >= 0, got -1"),
        ({"max_iter": 0}, "max_iter must be a whole number >= 1, got 0"),
        ({"normalised": None}, "normalised must be True or False, got None"),
    ],
)
def test_clear_errors(parameters, message):
    with pytest.raises(ValueError, match=message):
        MKLClassifier(**parameters).fit(np.eye(4), [0, 1, 0, 1])


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="MKLClassifier needs at least 2 classes, got one class: 1"):
        MKLClassifier().fit(np.eye(3), [1, 1, 1])


@pytest.mark.parametrize("cls", [MKLClassifier, TwoLayerMKLClassifier])
def test_weights_are_repeated_rows_and_zero_is_none(cls):
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    one = cls(KERNELS, tol=1e-6).fit(X, y, sample_weight=weights)
    many = cls(KERNELS, tol=1e-6).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert one.objective_ == pytest.approx(many.objective_, rel=1e-5)
    np.testing.assert_allclose(one.decision_function(X), many.decision_function(X), atol=0.02)
    assert (weights[one.support_] > 0).all()
    doubled = cls(KERNELS, tol=1e-6, class_weight={0: 2, 1: 2, 2: 2}).fit(X, y)
    twice = cls(KERNELS, C=2.0, tol=1e-6).fit(X, y)
    assert doubled.objective_ == pytest.approx(twice.objective_, rel=1e-5)


def test_the_weighted_value_is_that_of_the_quadratic_oracle():
    grams, signs, _, _ = problem()
    weights = np.random.default_rng(0).uniform(0.2, 2.0, len(signs))
    a, t, y = cp.Variable(len(signs)), cp.Variable(), signs[:, 0]
    forms = [cp.sum_squares(root(K).T @ cp.multiply(y, a)) <= t for K in grams]
    program = cp.Problem(cp.Maximize(cp.sum(a) - t / 2), [a >= 0, a <= weights, y @ a == 0, *forms])
    program.solve(solver="CLARABEL")
    found = learn_weights(grams, signs, 1.0, tol=1e-6, row_weights=weights)
    assert found.machines.value == pytest.approx(program.value, rel=1e-5)


@settings(max_examples=50)
@given(seed=st.integers(0, 2**16), n=st.integers(2, 15), ties=st.booleans())
def test_the_weighted_bias_has_the_least_hinge_loss(seed, n, ties):
    rng = np.random.default_rng(seed)
    fitted, y, weights = rng.standard_normal(n), rng.choice([-1.0, 1.0], n), rng.integers(1, 4, n) / 2
    if ties:
        fitted = fitted.round()
    y[:2] = -1, 1

    def loss(b):
        return weights @ np.maximum(0, 1 - y * (fitted + b))

    found = best_bias(fitted, y, float(rng.standard_normal()), weights)
    assert loss(found) <= min(loss(b) for b in [*(y - fitted), found + 0.1, found - 0.1]) + 1e-12
    assert best_bias(fitted, y, 0.3, np.ones(n)) == best_bias(fitted, y, 0.3)


def test_matrices_in_blocks_are_the_matrices(monkeypatch):
    grams, signs, X, codes = problem(n=40)

    def values(rows, others, which):
        return [normalised_gram(KERNELS[k], rows, others) for k in which]

    monkeypatch.setattr(half_stored, "BLOCK", 16)
    blocks = GramBlocks(len(grams), X, values, "fewer")
    weights = np.array([0.3, 0.0, 0.6, 0.1])
    np.testing.assert_allclose(blocks.combine(weights), combine(grams, weights), atol=1e-14)
    beta = np.where(np.arange(40)[:, None] % 3, signs, 0.0)
    inside = beta[:, 0] != 0
    moves = np.stack([K @ beta for K in grams])
    np.testing.assert_allclose(blocks.moves(beta)[:, inside], moves[:, inside], atol=1e-12)
    assert not blocks.moves(beta)[:, ~inside].any()
    assert not blocks.moves(np.zeros_like(beta)).any()
    whole = MKLClassifier(KERNELS, tol=1e-5).fit(X, codes)
    monkeypatch.setattr("marginbook.clasmk.peers.mkl.KEPT_BYTES", 0)
    monkeypatch.setattr("marginbook.clasmk.peers.mkl.START_BEYOND", 20)
    monkeypatch.setattr("marginbook.clasmk.peers.mkl.START_WITH", 20)
    parts = MKLClassifier(KERNELS, tol=1e-5).fit(X, codes)
    assert parts.dual_gap_ <= 1e-5
    assert parts.objective_ == pytest.approx(whole.objective_, rel=2e-5)


@pytest.mark.parametrize("cls", [MKLClassifier, TwoLayerMKLClassifier])
def test_too_many_rows_are_refused_at_once(cls, monkeypatch):
    monkeypatch.setattr(half_stored, "SHARE", 1e-12)
    monkeypatch.setattr("marginbook.clasmk.peers.mkl.KEPT_BYTES", 0)
    with pytest.raises(MemoryError, match=r"all pairs of 4 rows need .* GB, .*; take fewer"):
        cls(KERNELS).fit(np.eye(4) + 1, [0, 1, 0, 1])


@pytest.mark.parametrize("machine", [MKLClassifier, TwoLayerMKLClassifier])
def test_kernels_that_tell_no_rows_apart_warn(machine):
    X, y = load_iris(return_X_y=True)
    model = machine([("rbf", {"gamma": gamma}) for gamma in (1.0, 10.0)])
    with pytest.warns(UserWarning, match="gamma is too large for these features"):
        model.fit(1e3 * X[::5], y[::5])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(scale(X[::5]), y[::5])
