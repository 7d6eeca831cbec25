"""Weights of rows, several classes, and many rows in LDMClassifier."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import LinAlgError
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import scale
from sklearn.utils import compute_sample_weight

from marginbook.kernels import gram
from marginbook.ldm import KMOMDClassifier, LDMClassifier, MAMCClassifier, MDOClassifier
from marginbook.ldm.estimators import class_solutions, gram_checks, training
from marginbook.ldm.model.whitening import WhitenedGram
from marginbook.ldm.solvers.linear_cd import linear_coordinate_descent


def _rows(m=60, d=4, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(m) < 0.4, "yes", "no")
    return rng.normal(size=(m, d)) + 0.8 * (y == "yes")[:, None], y


MACHINES = [
    {},
    {"lambda1": 50.0, "fit_intercept": True},
    {"kernel": "poly", "degree": 2},
    {"kernel": "linear"},
    {"kernel": "linear", "solver": "interior-point", "fit_intercept": True},
    {"kernel": "linear", "solver": "dcd", "fit_intercept": True, "C": 0.5},
]


@pytest.mark.parametrize("options", MACHINES, ids=str)
def test_a_weight_counts_rows_and_zero_removes_them(options):
    X, y = _rows()
    counts = np.random.default_rng(1).integers(0, 4, len(y))
    often = np.repeat(np.arange(len(y)), counts)
    weighted = LDMClassifier(**options, tol=1e-10, random_state=0).fit(X, y, counts)
    repeated = LDMClassifier(**options, tol=1e-10, random_state=0).fit(X[often], y[often])
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-8)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=2e-4)
    assert weighted.margin_mean_ == pytest.approx(repeated.margin_mean_, abs=1e-4)
    assert weighted.margin_variance_ == pytest.approx(repeated.margin_variance_, abs=1e-4)
    assert weighted.dual_coef_.shape == weighted.beta_.shape == (60,)
    assert (weighted.beta_[counts == 0] == 0).all()
    thin = LDMClassifier(**options, tol=1e-10, random_state=0).fit(sparse.csr_matrix(X), y, counts)
    np.testing.assert_allclose(thin.decision_function(X), weighted.decision_function(X), atol=2e-4)


def test_weights_of_classes_are_weights_of_rows():
    X, y = _rows()
    by_row = LDMClassifier(tol=1e-10, gamma=0.3).fit(X, y, np.where(y == "yes", 3.0, 1.0))
    by_class = LDMClassifier(tol=1e-10, gamma=0.3, class_weight={"yes": 3.0}).fit(X, y)
    np.testing.assert_allclose(by_class.decision_function(X), by_row.decision_function(X), atol=1e-7)
    balanced = LDMClassifier(class_weight="balanced").fit(X, y)
    assert (balanced.predict(X) == "yes").sum() > (LDMClassifier().fit(X, y).predict(X) == "yes").sum() - 3
    G = gram(("rbf", {"gamma": 0.3}), X)
    some = np.where(np.arange(60) < 5, 0.0, 1.0)
    given = LDMClassifier(kernel="precomputed", tol=1e-10).fit(G, y, some)
    left = LDMClassifier(gamma=0.3, tol=1e-10).fit(X[5:], y[5:])
    np.testing.assert_allclose(given.decision_function(G), left.decision_function(X), atol=1e-4)


@pytest.mark.parametrize(
    "options", [{"C": np.inf}, {"solver": "dcd"}, {"solver": "cvxpy"}, {"solver": "asgd", "kernel": "linear"}]
)
def test_where_weights_have_no_place(options):
    X, y = _rows()
    with pytest.raises(ValueError, match="weights of rows"):
        LDMClassifier(**options).fit(X, y, np.arange(1.0, 61.0))
    with pytest.raises(ValueError, match="without weights of rows"):
        LDMClassifier().fit(X, y, np.arange(1.0, 61.0)).loo_bound()
    with pytest.raises(ValueError, match="takes no class_weight"):
        LDMClassifier(kernel="linear", solver="asgd", class_weight="balanced").partial_fit(
            X, y, ["no", "yes"]
        )


@pytest.mark.parametrize("model", [MAMCClassifier(), MAMCClassifier("linear")])
def test_weights_in_the_mean_margin(model):
    X, y = _rows()
    counts = np.random.default_rng(2).integers(0, 4, 60)
    often = np.repeat(np.arange(60), counts)
    weighted = model.fit(X, y, counts).decision_function(X)
    residual = model.optimality_residual_
    np.testing.assert_allclose(weighted, model.fit(X[often], y[often]).decision_function(X), atol=1e-10)
    assert residual < 1e-10


def test_weights_of_the_terms_of_mdo():
    X, y = _rows()
    twice = MDOClassifier().fit(np.vstack([X, X[:20]]), np.r_[y, y[:20]])
    weighted = MDOClassifier().fit(X, y, np.where(np.arange(60) < 20, 2.0, 1.0))
    assert weighted.objective_ == pytest.approx(twice.objective_, rel=1e-3)


@pytest.mark.parametrize("b", [1.0, 10.0])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix])
def test_mdo_from_its_learned_starts_counts_rows(convert, b):
    X, y = _rows()
    for seed in range(3):
        counts = np.random.default_rng(seed).integers(0, 4, 60)
        often = np.repeat(np.arange(60), counts)
        weighted = MDOClassifier(b=b, n_restarts=0).fit(convert(X), y, counts)
        repeated = MDOClassifier(b=b, n_restarts=0).fit(convert(X[often]), y[often])
        assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-8)
        np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-4)


PEERS = [MAMCClassifier(), MAMCClassifier("linear"), MDOClassifier(n_restarts=1), KMOMDClassifier()]


@pytest.mark.parametrize("model", [LDMClassifier(), *PEERS], ids=str)
def test_a_class_without_weight_is_named_as_the_user_names_it(model):
    X, y = _rows()
    with pytest.raises(ValueError, match="every class needs a row of positive weight; yes has none"):
        model.fit(X, y, y == "no")


@pytest.mark.parametrize("model", [LDMClassifier(), *PEERS[:3]], ids=str)
def test_a_class_that_the_rows_do_not_have_weighs_nothing(model):
    """It once stood for the first class."""
    X, y = _rows()
    plain = clone(model).set_params(class_weight={"no": 1.0, "yes": 3.0}).fit(X, y)
    more = clone(model).set_params(class_weight={"no": 1.0, "yes": 3.0, "other": 9.0}).fit(X, y)
    np.testing.assert_array_equal(more.decision_function(X), plain.decision_function(X))
    with pytest.raises(ValueError, match=r"\['no'\].* not in class_weight"):
        clone(model).set_params(class_weight={"yes": 3.0, "nope": 5.0}).fit(X, y)


@pytest.mark.parametrize("model", PEERS[:3], ids=str)
@pytest.mark.parametrize("given", ["balanced", {"yes": 2.5}], ids=str)
def test_weights_of_classes_are_weights_of_rows_in_the_peers(model, given):
    X, y = _rows()
    if hasattr(model, "gamma"):
        model = clone(model).set_params(gamma=0.3)  # "scale" counts what fit is given
    values = compute_sample_weight("balanced", y) if given == "balanced" else np.where(y == "yes", 2.5, 1.0)
    by_row = clone(model).fit(X, y, values).decision_function(X)
    by_class = clone(model).set_params(class_weight=given).fit(X, y).decision_function(X)
    np.testing.assert_allclose(by_class, by_row, atol=1e-12)


FAR = [
    *PEERS,
    MAMCClassifier("poly", degree=2),
    KMOMDClassifier(kernel="linear", n_components=3),
    KMOMDClassifier(gamma=0.3, n_components=20),
]


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("model", FAR, ids=str)
def test_a_row_of_weight_zero_is_absent_from_the_peers_however_long_it_is(model, convert):
    X, y = _rows()
    longer, labels = np.vstack([np.full(4, 1e9), X]), np.append("no", y)
    counts = np.append(0, np.random.default_rng(3).integers(1, 4, 60))
    whole = clone(model).fit(convert(longer), labels, counts)
    without = clone(model).fit(convert(X), y, counts[1:])
    np.testing.assert_array_equal(whole.decision_function(X), without.decision_function(X))
    assert whole.objective_ == without.objective_
    if hasattr(whole, "support_"):
        np.testing.assert_array_equal(whole.support_, without.support_ + 1)
        of_rows = getattr(model, "n_components", None) is None
        np.testing.assert_array_equal(whole.dual_coef_[int(of_rows) :], without.dual_coef_)


@pytest.mark.parametrize("model", [MAMCClassifier("precomputed"), KMOMDClassifier(kernel="precomputed")])
def test_the_kernel_values_of_absent_rows_are_not_looked_at(model):
    X, y = _rows()
    G = gram(("rbf", {"gamma": 0.3}), X)
    larger = np.full((61, 61), -5.0)
    larger[:60, :60] = G
    larger[3, 60] = 7.0
    whole = clone(model).fit(larger, np.append(y, "no"), np.append(np.ones(60), 0))
    np.testing.assert_allclose(
        whole.decision_function(larger[:60]), clone(model).fit(G, y).decision_function(G), atol=1e-12
    )
    assert whole.dual_coef_[60] == 0


@pytest.mark.parametrize("options", [*MACHINES, {"lambda1": 0.0}, {"solver": "dcd"}], ids=str)
def test_several_classes_are_one_against_the_rest(options):
    X, kinds = load_iris(return_X_y=True)
    X, names = scale(X)[::3], np.array(["a", "b", "c"])[kinds][::3]
    options = {"gamma": 0.4, "tol": 1e-9, "random_state": 0} | options
    model = LDMClassifier(**options).fit(X, names)
    apart = OneVsRestClassifier(LDMClassifier(**options)).fit(X, names)
    np.testing.assert_allclose(model.decision_function(X), apart.decision_function(X), atol=1e-3)
    assert model.dual_coef_.shape == (3, 50)
    assert model.objective_.shape == model.dual_gap_.shape == model.margin_mean_.shape == (3,)
    assert model.intercept_.shape == (3,)
    assert set(model.predict(X)) == {"a", "b", "c"}
    if options.get("kernel") == "linear":
        assert model.coef_.shape == (3, 4)
        assert model.decision_function(X.astype(np.float32)).dtype == np.float32
    with pytest.raises(ValueError, match="two classes"):
        model.loo_bound()


def test_other_labels_share_one_inverse():
    X, y = _rows()
    G, signs = gram(("rbf", {"gamma": 0.3}), X), np.where(y == "yes", 1.0, -1.0)
    shared = WhitenedGram(G, signs)
    first, second = shared.relabelled(signs), shared.relabelled(-np.roll(signs, 3))
    np.testing.assert_allclose(first.hessian(2.0), WhitenedGram(G, signs).hessian(2.0), atol=1e-13)
    alone = WhitenedGram(G, -np.roll(signs, 3)).hessian(2.0)
    np.testing.assert_allclose(second.hessian(2.0), alone, atol=1e-13)


def test_a_gamma_for_which_no_row_is_near_to_another_is_told():
    X, y = _rows()
    with pytest.warns(UserWarning, match="gamma is too large"):
        LDMClassifier(gamma=1e9, tol=1e-3).fit(X, y)


def test_many_rows_take_no_gram_matrix(monkeypatch):
    X, y = make_classification(700, 6, n_informative=4, flip_y=0.1, random_state=0)
    whole = LDMClassifier(tol=1e-8).fit(X, y)
    for module in (class_solutions, training):
        monkeypatch.setattr(module, "STORED", 100)
    monkeypatch.setattr(class_solutions, "training_gram", None)
    for options, rows in (({}, X), ({"fit_intercept": True}, X), ({}, sparse.csr_matrix(X))):
        model = LDMClassifier(tol=1e-8, **options).fit(rows, y)
        assert model.dual_gap_ <= 1e-8 * model.objective_
        if not options:
            assert model.objective_ == pytest.approx(whole.objective_, rel=2e-8)
    with pytest.warns(UserWarning, match="gamma is too large"):
        LDMClassifier(gamma=1e4, tol=1e-3).fit(X, y)


def test_rows_beyond_memory_are_told_before_anything_is_allocated(monkeypatch):
    X, y = _rows()
    monkeypatch.setattr(gram_checks, "MATRICES", 1e15)
    with pytest.raises(MemoryError, match=r"matrices between 60 rows need .* GB, more than this machine"):
        LDMClassifier(solver="dcd").fit(X, y)


def test_more_than_2000_rows_are_not_factorised_to_look_for_a_negative_eigenvalue(monkeypatch):
    """As the docstring says; a matrix of that size costs more to factorise than to fit on."""
    monkeypatch.setattr(gram_checks, "validate_positive", lambda G: pytest.fail("factorised"))
    indefinite = np.eye(2001)
    indefinite[7, 7] = -1.0
    with pytest.raises(ValueError, match=r"has the eigenvalue -1"):
        gram_checks.refuse_negative(indefinite)
    asked = []
    monkeypatch.setattr(gram_checks, "validate_positive", asked.append)
    gram_checks.refuse_negative(indefinite[:2000, :2000])
    assert len(asked) == 1


def test_eigenvalues_decide_where_the_factor_fails_by_rounding(monkeypatch):
    def fails(matrix):
        raise LinAlgError

    monkeypatch.setattr(gram_checks, "cholesky", fails)
    for least in (0.0, -0.5 * gram_checks.NEGATIVE):
        gram_checks.validate_positive(np.diag([1.0, least]))
    with pytest.raises(ValueError, match="has the eigenvalue -2e-07"):
        gram_checks.validate_positive(np.diag([1.0, -2 * gram_checks.NEGATIVE]))


def test_gamma_in_words():
    X, y = _rows()
    assert LDMClassifier().fit(X, y).gamma_ == pytest.approx(1 / (4 * X.var()))
    assert LDMClassifier(gamma="auto").fit(X, y).gamma_ == LDMClassifier(gamma=None).fit(X, y).gamma_ == 0.25
    assert not hasattr(LDMClassifier(kernel="linear").fit(X, y), "gamma_")
    with pytest.raises(NotFittedError):
        LDMClassifier().predict(X)


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_an_intercept_takes_about_as_many_passes_as_none(C):
    """In sparse rows of length 1 with positive entries, where a constant column took 20 times as many."""
    rng = np.random.default_rng(0)
    X = sparse.random(3000, 2000, 0.02, "csr", random_state=0)
    X = sparse.csr_matrix(X.multiply(1 / np.sqrt(X.multiply(X).sum(axis=1))))
    score = X @ rng.standard_t(3, 2000)
    y = np.where(score - score.mean() + 0.1 * score.std() * rng.normal(size=3000) > 0, 1.0, -1.0)
    plain = linear_coordinate_descent(X, y, 0.03, 0.03, C, max_iter=5000)
    shifted = linear_coordinate_descent(X, y, 0.03, 0.03, C, max_iter=5000, constant=True)
    assert shifted.converged
    assert shifted.n_iter <= 2 * plain.n_iter
    assert shifted.coef[-1] == pytest.approx(shifted.alpha.sum(), abs=0.05 * abs(shifted.coef).max())
    padded = sparse.csr_matrix(sparse.hstack([X, np.ones((3000, 1))]))
    exact = linear_coordinate_descent(padded, y, 0.03, 0.03, C, tol=1e-4, max_iter=5000)
    assert abs(shifted.objective - exact.objective) <= shifted.dual_gap + exact.dual_gap
