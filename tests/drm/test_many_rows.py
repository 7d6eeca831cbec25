"""The DRM of many rows: exact, by landmarks, sparse; weights of rows; what pickles hold."""

import os
import pickle
import signal
import threading
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler, scale

from marginbook.base.interruptible import interruptible
from marginbook.drm import DRMClassifier, MixedNormDRMClassifier
from marginbook.drm.estimators.parameters import choose_solver
from marginbook.drm.estimators.prediction import require_matrices
from marginbook.drm.model.objective import class_products, dissimilarity, system_matrix
from marginbook.drm.model.operators import DenseSystem, LinearSystem
from marginbook.drm.solvers import NotPositiveDefinite, factored
from marginbook.drm.solvers import conjugate_gradients as conjugate
from marginbook.drm.solvers.conjugate_gradients import (
    bracketed_difference,
    conjugate_gradients,
    eigenvalue_floor,
    preconditioner,
)
from marginbook.drm.solvers.factored import FactoredSystem
from marginbook.drm.solvers.feature_forms import class_forms
from marginbook.drm.solvers.one_pass import ClassMoments, linear_maps
from marginbook.drm.solvers.upper_gram import upper_gram
from marginbook.kernels import gram

RBF = ("rbf", {"gamma": 0.3})
SIZES = [[20, 15], [3, 30], [1, 1], [1, 20], [10, 1, 25, 8], [5, 5, 5, 5, 9]]


def rows(sizes, m=11, p=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(sum(sizes), p)), rng.normal(size=(m, p))


def by_hand(sizes, alpha, beta, K, Kx):
    W = np.linalg.solve(system_matrix(K, sizes, alpha, beta), Kx)
    return W, dissimilarity(sizes, Kx, W, *class_products(K, sizes, W))


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Tiles so small that all paths between them are taken."""
    monkeypatch.setattr(factored, "TILE", 7)
    monkeypatch.setattr(factored, "PRODUCT", 100.0)
    monkeypatch.setattr("marginbook.drm.solvers.upper_gram.TILE", 7)
    monkeypatch.setattr("marginbook.drm.solvers.upper_gram.WHOLE", 3)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize(("alpha", "beta"), [(0.0, 1.0), (1.0, 0.1), (5.0, 0.01), (1e6, 1e-3)])
@pytest.mark.parametrize("refine", [0, 1])
def test_one_array_gives_what_the_equations_say(sizes, alpha, beta, refine):
    X, Z = rows(sizes)
    K, Kx = gram(RBF, X), gram(RBF, X, Z)
    W, delta = by_hand(sizes, alpha, beta, K, Kx)
    system = FactoredSystem(upper_gram(RBF, X), sizes, alpha, beta, refine=refine)
    scale = np.abs(delta).max()
    np.testing.assert_allclose(system.weights(Kx), W, atol=1e-10 * np.abs(W).max())
    np.testing.assert_allclose(system.dissimilarity(Kx), delta, atol=1e-10 * scale)
    np.testing.assert_allclose(
        system.multiply(W),
        system_matrix(K, sizes, alpha, beta) @ W,
        atol=1e-9 * np.abs(W).max() * alpha + 1e-9,
    )
    np.testing.assert_allclose(system.columns(np.arange(len(K))), K, atol=1e-15)
    assert system.certificate(K) < 1e-12
    if len(sizes) == 2:
        np.testing.assert_allclose(system.difference(Kx), delta[:, 0] - delta[:, 1], atol=1e-10 * scale)


def test_two_classes_score_by_forms_of_their_own_kernel_values():
    sizes = [12, 9]
    X, Z = rows(sizes)
    K, Kx = gram(RBF, X), gram(RBF, X, Z)
    P = np.linalg.inv(system_matrix(K, sizes, 2.0, 0.5))
    first, second = Kx[:12], Kx[12:]
    forms = [np.einsum("nm,nk,km->m", k, p, k) for k, p in ((first, P[:12, :12]), (second, P[12:, 12:]))]
    delta = by_hand(sizes, 2.0, 0.5, K, Kx)[1]
    np.testing.assert_allclose(2 * (forms[1] - forms[0]), delta[:, 0] - delta[:, 1], rtol=1e-9)


def test_an_indefinite_system_is_refused():
    X, _ = rows([20, 15])
    with pytest.raises(NotPositiveDefinite):
        FactoredSystem(-gram(RBF, X), [20, 15], 1.0, 1e-3)
    with pytest.raises(NotPositiveDefinite):
        FactoredSystem(gram(RBF, X) - 0.9, [20, 15], 0.0, 0.5)
    # also where the factor overflows before a pivot tells
    K = np.eye(15)
    K[:3, 13], K[:3, 14] = 0.5, 1.7e308
    with np.errstate(over="ignore", invalid="ignore"), pytest.raises(NotPositiveDefinite):
        FactoredSystem(K, [8, 6, 1], 0.0, 1e-6)


@pytest.mark.parametrize("length", [np.inf, np.nan])
@pytest.mark.parametrize("place", [0, 8, 34])
def test_a_row_without_a_finite_length_is_refused_without_a_warning(length, place):
    K = gram(RBF, rows([20, 15])[0])
    K[place, place] = length
    warnings.simplefilter("error")  # pytest takes it back after the test
    with pytest.raises(NotPositiveDefinite):
        FactoredSystem(K, [20, 15], 1.0, 1e-3)


def repeated(sizes, seed=0):
    """Return weights, and the rows that they stand for."""
    weights = np.random.default_rng(seed).integers(1, 4, sum(sizes))
    again = np.repeat(np.arange(sum(sizes)), weights)
    return weights.astype(float), again, np.bincount(np.repeat(np.arange(len(sizes)), sizes)[again])


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_a_weight_is_repeated_rows_in_every_form(sizes):
    X, Z = rows(sizes)
    weights, again, many = repeated(sizes)
    for kernel in (RBF, ("linear", {})):
        K, Kx = gram(kernel, X), gram(kernel, X, Z)
        W, delta = by_hand(many, 1.0, 0.1, K[np.ix_(again, again)], Kx[again])
        W = np.add.reduceat(W, np.searchsorted(again, np.arange(len(X))), axis=0)  # copies in sum
        scale = np.abs(delta).max()
        one = FactoredSystem(upper_gram(kernel, X), sizes, 1.0, 0.1, weights)
        np.testing.assert_allclose(one.weights(Kx), W, atol=1e-8 * np.abs(W).max())
        np.testing.assert_allclose(one.dissimilarity(Kx), delta, atol=1e-8 * scale)
        root = np.sqrt(weights)[:, None]
        systems = [DenseSystem(K, sizes, 1.0, 0.1, weights)]
        if kernel != RBF:
            systems += [LinearSystem(X, sizes, 1.0, 0.1, weights=weights)]
            systems += [LinearSystem(sparse.csr_matrix(X), sizes, 1.0, 0.1, weights=weights)]
        for system in systems:
            found = conjugate_gradients(system, root * Kx, max_iter=500, tol=1e-11)
            assert found.converged.all()
            np.testing.assert_allclose(root * found.weights, W, atol=1e-7 * np.abs(W).max())
            np.testing.assert_allclose(
                system.dissimilarity(root * Kx, found.weights), delta, atol=1e-7 * scale
            )
            assert system.trace_bound() >= system.largest_eigenvalue() * (1 - 1e-9)


@pytest.mark.parametrize(
    "model",
    [
        DRMClassifier(0.5, 0.1),
        DRMClassifier(0.5, 0.1, "poly", fit_intercept=True),
        DRMClassifier(0.5, 0.1, "linear", fit_intercept=True),
        DRMClassifier(0.5, 0.1, "linear", solver="cg", tol=1e-10, max_iter=500),
        DRMClassifier(0.5, 5.0, solver="apg", tol=1e-10, max_iter=5000),
        MixedNormDRMClassifier(0.5, 0.1),
        MixedNormDRMClassifier(0.5, 0.05, 1, 1, "identity", tol=1e-9, max_iter=50_000),
        MixedNormDRMClassifier(0.5, 0.05, 2, 1, "identity", tol=1e-9, max_iter=50_000),
    ],
    ids=str,
)
@pytest.mark.parametrize("g", [2, 3])
def test_weights_of_estimators(model, g):
    X, y = load_wine(return_X_y=True)
    X, y = StandardScaler().fit_transform(X)[y < g][::3], y[y < g][::3]
    given = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    again = np.repeat(np.arange(len(y)), given.astype(int))
    expected = model.fit(X[again], y[again]).dissimilarity(X)
    scale = np.abs(expected).max()
    found = model.fit(X, y, sample_weight=given).dissimilarity(X)
    np.testing.assert_allclose(found, expected, atol=1e-5 * scale)
    labels = model.predict(X)
    named = model.set_params(class_weight={0: 2.0})
    twice = named.fit(X, y, sample_weight=given).dissimilarity(X)
    model.set_params(class_weight=None).fit(X, y, sample_weight=np.where(y == 0, 2.0, 1.0) * given)
    np.testing.assert_allclose(twice, model.dissimilarity(X), atol=1e-9 * scale)
    assert np.abs(twice - found).max() > 1e-4 * scale
    assert set(labels) == set(range(g))


def test_parts_of_weighted_rows_add_up():
    X, y = load_wine(return_X_y=True)
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    whole = DRMClassifier(kernel="linear").fit(X, y, weights)
    parts = DRMClassifier(kernel="linear")
    for k in range(3):
        parts.partial_fit(X[k::3], y[k::3], classes=[0, 1, 2], sample_weight=weights[k::3])
    np.testing.assert_allclose(parts.dissimilarity(X), whole.dissimilarity(X), rtol=1e-6)
    with pytest.raises(ValueError, match="'balanced' needs all rows at once"):
        DRMClassifier(kernel="linear", class_weight="balanced").partial_fit(X, y, classes=[0, 1, 2])


@pytest.mark.parametrize(
    ("names", "class_weight"),
    [(False, None), (False, {1: 5.0}), (False, {0: 2.0, 1: 0.5, 2: 1.0}), (True, {"b": 5.0})],
)
def test_a_part_may_lack_a_class_or_weight_on_all_its_rows(names, class_weight):
    """Rows in order of their classes, so that a part has one or two; a class may have weight 0 in a part."""
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    weights[:20] = weights[100:125] = weights[150] = 0.0  # a part, all of one class in a part, a row
    labels = np.array(["a", "b", "c"])[y] if names else y
    whole = DRMClassifier(kernel="linear", class_weight=class_weight).fit(X, labels, weights)
    parts = DRMClassifier(kernel="linear", class_weight=class_weight)
    for part in np.split(np.arange(len(y)), [20, 50, 105, 140]):
        parts.partial_fit(X[part], labels[part], classes=np.unique(labels), sample_weight=weights[part])
    np.testing.assert_allclose(parts.dissimilarity(X), whole.dissimilarity(X), rtol=1e-6)
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))


@pytest.mark.parametrize(
    ("class_weight", "sample_weight", "message"),
    [
        ({0: 1.0, 7: 2.0}, None, "not in class_weight"),
        ({0: 0.0}, None, "every class needs a row of positive weight; 0 has none"),
        ({0: -1.0}, None, "class_weight must give finite numbers"),
        ("even", None, "class_weight must be a dictionary"),
        (None, np.full(9, -1.0), "[Nn]egative"),
        (None, np.ones(8), r"sample_weight.shape == \(8,\), expected \(9,\)"),
        ({0: 1e300}, np.full(9, 1e300), "sample_weight times class_weight must be finite"),
    ],
)
def test_weights_of_a_part_that_no_fit_would_take(class_weight, sample_weight, message):
    X, y = load_wine(return_X_y=True)
    model = DRMClassifier(kernel="linear", class_weight=class_weight)
    with pytest.raises(ValueError, match=message), np.errstate(over="ignore"):
        model.partial_fit(X[:9], y[:9], classes=[0, 1, 2], sample_weight=sample_weight)


def big(n=600, g=2, seed=0):
    X, y = make_classification(
        n, 20, n_informative=10, n_redundant=0, n_classes=g, n_clusters_per_class=2, random_state=seed
    )
    return X[: n // 2], y[: n // 2], X[n // 2 :], y[n // 2 :]


@pytest.mark.parametrize("g", [2, 3])
def test_landmarks_that_are_all_rows_are_the_exact_model(g):
    X, y, Z, _ = big(g=g)
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    for given in (None, weights):
        exact = DRMClassifier(0.5, 0.1).fit(X, y, given)
        few = DRMClassifier(0.5, 0.1, n_components=300, random_state=0).fit(X, y, given)
        expected = exact.dissimilarity(Z)
        np.testing.assert_allclose(few.dissimilarity(Z), expected, atol=1e-6 * np.abs(expected).max())
        np.testing.assert_allclose(few.decision_function(Z), exact.decision_function(Z), atol=1e-5)
        assert few.kkt_residual_ < 1e-6
    assert not hasattr(few, "partial_fit")
    assert not hasattr(few, "maps_")


def test_forms_of_many_features():
    X, _ = rows([40, 30, 1], p=6)
    codes = np.repeat([0, 1, 2], [40, 30, 1])
    for g in (2, 3):
        kept = codes < g
        for alpha, beta in ((1.0, 0.1), (0.0, 1.0), (30.0, 1e-2)):
            moments = ClassMoments.empty(g, 6, alpha, beta).add(X[kept], codes[kept])
            R, residual = class_forms(moments)
            maps = linear_maps(moments)
            np.testing.assert_allclose(R, maps.R, atol=1e-9 * np.abs(maps.R).max())
            assert residual < 1e-9


def test_few_landmarks_say_nearly_the_same():
    X, y, Z, _ = big(2000)
    exact, few = DRMClassifier().fit(X, y), DRMClassifier(n_components=200, random_state=0).fit(X, y)
    assert np.mean(exact.predict(Z) == few.predict(Z)) > 0.97
    same = DRMClassifier(n_components=200, random_state=0).fit(X, y)
    np.testing.assert_array_equal(few.decision_function(Z), same.decision_function(Z))
    stored = pickle.dumps(few)
    assert len(stored) < 8 * 200 * (20 + 200 + 201) + 20_000  # of two symmetric forms, one half each
    copy = pickle.loads(stored)
    np.testing.assert_array_equal(copy.decision_function(Z), few.decision_function(Z))
    np.testing.assert_array_equal(copy.dissimilarity(Z), few.dissimilarity(Z))


@pytest.mark.parametrize("g", [2, 3])
def test_predict_agrees_with_decision_function(g):
    X, y, Z, _ = big(g=g)
    for model in (
        DRMClassifier(),
        DRMClassifier(kernel="linear", solver="cg"),
        DRMClassifier(n_components=50, random_state=0),
    ):
        values = model.fit(X, y).decision_function(Z)
        chosen = (values > 0).astype(int) if g == 2 else values.argmax(axis=1)
        np.testing.assert_array_equal(model.predict(Z), chosen)


@pytest.mark.parametrize("model", [DRMClassifier(), MixedNormDRMClassifier(), DRMClassifier(solver="apg")])
def test_a_pickle_holds_the_rows_alone(model):
    X, y, Z, _ = big()
    stored = pickle.dumps(model.fit(X, y))
    assert len(stored) < 2 * X.nbytes
    copy = pickle.loads(stored)
    np.testing.assert_array_equal(copy.predict(Z), model.predict(Z))
    np.testing.assert_allclose(copy.decision_function(Z), model.decision_function(Z), rtol=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_copy_refines_as_the_original_does():
    X, y, Z, _ = big()
    model = DRMClassifier(1e-3, 1e-6, ("poly", {"degree": 3, "gamma": 1.0}), tol=1e-13)
    model.fit(X, y)
    assert model._point_solver.form.refine == 1
    copy = pickle.loads(pickle.dumps(model))
    assert copy._point_solver.form.refine == 1
    np.testing.assert_array_equal(copy.predict(Z), model.predict(Z))


def text(n=400, p=300, seed=0):
    X = sparse.random(n, p, density=0.05, format="csr", random_state=seed)
    y = (X @ np.random.default_rng(seed).normal(size=p) > 0).astype(int)
    return X[: n // 2], y[: n // 2], X[n // 2 :]


@pytest.mark.parametrize("weighted", [False, True])
def test_brackets_prove_the_labels_of_the_exact_model(weighted):
    X, y, Z = text()
    weights = np.random.default_rng(0).uniform(0.5, 3, len(y)) if weighted else None
    exact = DRMClassifier(1.0, 0.1, "linear", solver="closed").fit(X, y, weights)
    model = DRMClassifier(1.0, 0.1, "linear", solver="cg").fit(X, y, weights)
    assert model.kkt_residual_ <= 1e-6
    np.testing.assert_array_equal(model.predict(Z), exact.predict(Z))
    values = exact.decision_function(Z)
    np.testing.assert_allclose(model.decision_function(Z), values, atol=1e-5 * np.abs(values).max())
    machine = model._point_solver
    least = machine.least
    M = machine.system.apply_ridged(np.eye(len(y)))
    scale = 1 / np.sqrt(preconditioner(machine.system))
    true = np.linalg.eigvalsh(M * scale * scale[:, None])[0]
    assert 0 < least <= true
    Kx = machine._scaled(gram("linear", X[model._trained.rows.order], Z))
    rough, done, *_ = bracketed_difference(machine.system, Kx, least, max_iter=150, tol=0.0)
    assert done.all()
    np.testing.assert_array_equal(np.sign(rough), np.sign(values))


def test_brackets_prove_labels_long_before_the_weights_are_there():
    X, y, Z = text()
    machine = DRMClassifier(1.0, 0.1, "linear", solver="cg").fit(X, y)._point_solver
    assert conjugate._preconditioned(machine.system).heavy is not None
    Kx = machine._scaled(gram("linear", X[np.argsort(y, kind="stable")], Z))
    _, done, _, left = bracketed_difference(machine.system, Kx, machine.least, max_iter=1, tol=0.0)
    assert done.mean() >= 0.5
    assert np.median(left) >= 1e-3


def test_heavy_features_save_iterations_and_keep_the_labels(monkeypatch):
    """The frequent features make the large eigenvalues; taken exactly, they cost no iterations."""
    X, y, Z = text(600, 400)
    often = sparse.diags(np.r_[np.full(40, 6.0), np.ones(360)])
    X, Z = sparse.csr_matrix(X @ often), sparse.csr_matrix(Z @ often)
    exact = DRMClassifier(1.0, 0.1, "linear", solver="closed").fit(X, y)
    spent = []
    for heavy, largest in ((40, 1e7), (40, 0.0), (400, 1e7)):
        monkeypatch.setattr(conjugate, "HEAVY", heavy)
        monkeypatch.setattr(conjugate, "LARGEST", largest)
        model = DRMClassifier(1.0, 0.1, "linear", solver="cg").fit(X, y)
        assert (conjugate._preconditioned(model._point_solver.system).heavy is None) == (largest == 0)
        np.testing.assert_array_equal(model.predict(Z), exact.predict(Z))
        values = exact.decision_function(Z)
        np.testing.assert_allclose(model.decision_function(Z), values, atol=1e-5 * np.abs(values).max())
        spent.append(model.n_iter_)
    assert spent[0] < 0.6 * spent[1]
    assert spent[2] <= spent[0]


def test_the_eigenvalue_floor_in_limits():
    X, _, _ = text()
    assert eigenvalue_floor(LinearSystem(X, [100, 100], 0.0, 1.0)) == 1.0
    one = np.ones((8, 3))
    system = LinearSystem(one, [4, 3, 1], 1e3, 1e-3)  # classes of equal rows: next to nothing remains
    assert 0 < eigenvalue_floor(system) < 1e-5


def test_the_eigenvalue_floor_is_near_the_eigenvalue():
    """What Lanczos finds, not the trace: the margin is 5 % of what the eigenvalue lacks of 1."""
    X, y, _ = text()
    system = LinearSystem(X, np.bincount(y), 1.0, 0.1)
    M = np.diag(preconditioner(system))
    for block, part, total in zip(system.blocks, system.parts, system.totals, strict=True):
        M[block, block] -= (part @ part.T).toarray() / total
    unit = 1 / np.sqrt(preconditioner(system))
    wanted = np.linalg.eigvalsh(unit[:, np.newaxis] * M * unit)[0]
    assert 1 - 1.1 * (1 - wanted) <= eigenvalue_floor(system) <= wanted


def test_conjugate_gradients_that_stop_early_say_so():
    X, y, _ = text()
    with pytest.warns(
        ConvergenceWarning, match=r"misses tol=1.00e-06 after max_iter=2 iterations, the worst"
    ):
        DRMClassifier(1.0, 1e-3, "linear", solver="cg", max_iter=2).fit(X, y)


def test_auto_takes_the_smaller_side():
    def choice(n, p, thin=True):
        X = sparse.csr_matrix((n, p)) if thin else np.empty((n, p))
        return choose_solver("auto", "linear", X, 2)

    assert choice(90_000, 50_000) == "cg"
    assert choice(90_000, 100) == choice(90_000, 100, False) == "one-pass"
    assert choice(1_000, 50_000) == "closed"
    assert choose_solver("auto", "rbf", np.empty((9, 2)), 2) == "closed"


def test_more_rows_than_memory_is_one_sentence(monkeypatch):
    X, y, _, _ = big()
    monkeypatch.setattr(os, "sysconf", lambda name: 400)
    with pytest.raises(MemoryError, match=r"exact DRM of 300 rows needs .* take n_components"):
        DRMClassifier().fit(X, y)
    with pytest.raises(MemoryError, match="take DRMClassifier with n_components"):
        MixedNormDRMClassifier().fit(X, y)


def test_a_matrix_that_leaves_the_machine_no_room_is_refused(monkeypatch):
    """With 24 GiB, one matrix between 50,000 rows would leave nothing for the blocks of the fit."""
    monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": 24 * 2**18, "SC_PAGE_SIZE": 4096}.__getitem__)
    require_matrices(48_000, 1)
    with pytest.raises(MemoryError, match=r"50000 rows needs 20.0 GB, .* take n_components"):
        require_matrices(50_000, 1)


def test_gamma_in_words():
    X, y, Z, _ = big()
    model = DRMClassifier().fit(X, y)
    assert model.gamma_ == pytest.approx(1 / (20 * X.var()))
    number = DRMClassifier(gamma=model.gamma_).fit(X, y)
    np.testing.assert_allclose(number.decision_function(Z), model.decision_function(Z), rtol=1e-9)
    assert DRMClassifier(gamma=None).fit(X, y).gamma_ == DRMClassifier(gamma="auto").fit(X, y).gamma_ == 0.05
    assert not hasattr(model.set_params(kernel="linear").fit(X, y), "gamma_")
    with pytest.warns(UserWarning, match="gamma is too large for these features.*scale the features"):
        DRMClassifier(gamma=1.0).fit(1e3 * X, y)


def test_the_former_name_warns():
    from marginbook.drm import DiscriminativeRidgeClassifier

    X, y, Z, _ = big(60)
    with pytest.warns(FutureWarning, match="is now MixedNormDRMClassifier"):
        old = DiscriminativeRidgeClassifier().fit(X, y)
    np.testing.assert_array_equal(old.predict(Z), MixedNormDRMClassifier().fit(X, y).predict(Z))


def test_a_long_decomposition_can_be_left():
    leave, ended = threading.Event(), threading.Event()

    def decomposition():
        assert threading.current_thread() is not threading.main_thread()  # there it would hear nothing
        threading.Timer(0.1, signal.raise_signal, (signal.SIGINT,)).start()
        leave.wait(60)
        ended.set()

    with pytest.raises(KeyboardInterrupt):
        interruptible(decomposition)
    assert not ended.is_set()
    leave.set()
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 / 0)
