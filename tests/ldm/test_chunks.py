"""LDMClassifier on data in pieces: chunks of rows, and files."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from marginbook.kernels import KernelOverflow
from marginbook.ldm import LDMClassifier
from marginbook.ldm.solvers.asgd import averaged_sgd

PENALTIES = {"lambda1": 0.2, "lambda2": 0.1, "C": 0.05}


def _rows(m=400, d=12, seed=0):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((m, d)) < 0.4, rng.random((m, d)), 0.0)
    return X, np.where(X[:, 0] + 0.3 * rng.normal(size=m) > 0.2, 2, 1)


def _stochastic(**options):
    return LDMClassifier(**{**PENALTIES, "random_state": 7, **options}, kernel="linear", solver="asgd")


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix])
def test_fit_is_algorithm_2_and_its_own_chunk_is_one_pass(convert):
    X, y = _rows()
    signs = np.where(y == 2, 1.0, -1.0)
    fitted = _stochastic(n_passes=3).fit(convert(X), y)
    seed = int(np.random.RandomState(7).randint(2**31 - 1))
    run = averaged_sgd(convert(X), signs, *PENALTIES.values(), n_passes=3, random_state=seed)
    np.testing.assert_allclose(fitted.coef_, run.coef)
    assert fitted.objective_ == pytest.approx(run.objective)
    assert fitted.n_iter_ == 3
    assert fitted.n_steps_ == run.n_steps == 3 * len(y)
    piecewise = _stochastic()
    for _ in range(3):
        piecewise.partial_fit(convert(X), y, classes=[2, 1], n_samples=len(y))
    np.testing.assert_allclose(piecewise.coef_, fitted.coef_)
    assert piecewise.n_steps_ == fitted.n_steps_
    assert not hasattr(piecewise, "objective_")


def test_chunks_come_close_to_the_exact_machine():
    X, y = _rows(4000)
    exact = LDMClassifier(**PENALTIES, kernel="linear").fit(X, y)
    model, padded = _stochastic(), _stochastic(fit_intercept=True)
    for _ in range(10):
        for chunk in np.array_split(np.arange(4000), 8):
            model.partial_fit(sparse.csr_matrix(X[chunk]), y[chunk], classes=[1, 2], n_samples=4000)
            padded.partial_fit(X[chunk], y[chunk], classes=[1, 2], n_samples=4000)
    margins = np.where(y == 2, 1, -1) * model.decision_function(X)
    hinge = PENALTIES["C"] * np.maximum(1 - margins, 0).sum()
    value = 0.5 * model.coef_ @ model.coef_ + 0.4 * margins.var() - 0.1 * margins.mean() + hinge
    assert exact.objective_ <= value <= 1.02 * exact.objective_
    assert padded.coef_.shape == (12,)
    assert padded.intercept_ != 0.0 == model.intercept_


def test_without_a_number_of_rows_those_that_came_are_counted():
    X, y = _rows()
    model = _stochastic()
    for chunk in np.array_split(np.arange(400), 4):
        model.partial_fit(X[chunk], y[chunk], classes=[1, 2])
    assert model._state.n_samples == 400


def test_a_fit_goes_on_where_it_stopped_also_after_a_pickle():
    X, y = _rows()
    one = _stochastic(n_passes=1).fit(X, y)
    copy = pickle.loads(pickle.dumps(one))
    for model in (one, copy):
        model.partial_fit(X, y)
    np.testing.assert_array_equal(one.coef_, copy.coef_)
    np.testing.assert_allclose(one.coef_, _stochastic(n_passes=2).fit(X, y).coef_)
    assert one.fit(X, y).n_steps_ == 400  # and fit begins anew


def test_a_chunk_may_hold_one_class_only():
    X, y = _rows()
    model = _stochastic().partial_fit(X[y == 2], y[y == 2], classes=[1, 2], n_samples=400)
    model.partial_fit(X[y == 1], y[y == 1])
    assert set(model.predict(X)) <= {1, 2}


def test_what_chunks_cannot_be():
    X, y = _rows()
    with pytest.raises(ValueError, match="the first call of partial_fit needs classes: both labels"):
        _stochastic().partial_fit(X, y)
    with pytest.raises(ValueError, match=r"label 3 is not among the classes \[1, 2\]"):
        _stochastic().partial_fit(X, y + 1, classes=[1, 2])
    with pytest.raises(ValueError, match=r"wrap LDMClassifier in OneVsRest"):
        _stochastic().partial_fit(X, y, classes=[1, 2, 3])
    for number in (0, -3, 2.5, True, "5"):
        told = rf"n_samples must be a whole number >= 1, .* all chunks together, got {number!r}; leave it out"
        with pytest.raises(ValueError, match=told):
            _stochastic().partial_fit(X, y, classes=[1, 2], n_samples=number)
    with pytest.raises(KernelOverflow, match="for 1 row, give squared margins"):
        _stochastic().partial_fit(np.full((1, 12), 1e200), [1], classes=[1, 2], n_samples=400)
    model = _stochastic().partial_fit(X, y, classes=[1, 2])
    with pytest.raises(ValueError, match=r"classes \[1, 3\] differ from those of the first call: \[1, 2\]"):
        model.partial_fit(X, y, classes=[1, 3])
    with pytest.raises(ValueError, match="lambda1, lambda2, C or fit_intercept changed since the first call"):
        model.set_params(C=3.0).partial_fit(X, y)
    with pytest.raises(ValueError, match="X has 11 features, but LDMClassifier is expecting 12"):
        model.partial_fit(X[:, 1:], y)
    for others in (LDMClassifier(kernel="linear"), LDMClassifier()):
        assert not hasattr(others, "partial_fit")
    assert not hasattr(LDMClassifier(), "fit_file")


@pytest.fixture
def file(tmp_path):
    X, y = _rows(700)
    path = tmp_path / "rows.libsvm"
    dump_svmlight_file(X, y, str(path), zero_based=False)
    return path, X, y


def test_a_file_gives_the_machine_of_its_rows(file):
    path, X, y = file
    options = {**PENALTIES, "kernel": "linear", "tol": 1e-9, "random_state": 0}
    exact = LDMClassifier(**options).fit(X, y)
    model = LDMClassifier(**options).fit_file(path, block_rows=100, n_features=12)
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=1e-4)
    np.testing.assert_allclose(X.T @ model.dual_coef_, model.coef_, atol=1e-8)  # in the order of the file
    assert model.objective_ == pytest.approx(exact.objective_, rel=1e-8)
    assert model.margin_mean_ == pytest.approx(exact.margin_mean_, rel=1e-3)
    assert model.margin_variance_ == pytest.approx(exact.margin_variance_, rel=1e-3)
    assert model.solver_ == "dcd"
    assert model.classes_.tolist() == [1.0, 2.0]
    assert model.n_features_in_ == 12
    assert (model.predict(X) == exact.predict(X)).mean() > 0.995
    with pytest.raises(ValueError, match="loo_bound needs the Gram matrix of all 700 rows"):
        model.loo_bound()


def test_a_file_by_algorithm_2(file, tmp_path):
    path, X, y = file
    blocks = tmp_path / "blocks"
    model = _stochastic(n_passes=60).fit_file(path=path, block_rows=200, directory=blocks)
    exact = LDMClassifier(**PENALTIES, kernel="linear").fit(X, y)
    assert exact.objective_ <= model.objective_ <= 1.05 * exact.objective_
    assert model.n_steps_ == 60 * 700
    assert list(blocks.iterdir()) == []


def test_what_a_file_cannot_be(file, tmp_path):
    path, X, _ = file
    with pytest.raises(ValueError, match="got fit_intercept=True; write a feature that is 1"):
        LDMClassifier(kernel="linear", fit_intercept=True).fit_file(path)
    with pytest.raises(ValueError, match="fit_file needs a finite C, got inf"):
        LDMClassifier(kernel="linear", C=np.inf).fit_file(path)
    with pytest.raises(ValueError, match="zero_based must be True or False, got 'auto'"):
        LDMClassifier(kernel="linear").fit_file(path, zero_based="auto")
    with pytest.raises(TypeError, match="positional argument"):
        LDMClassifier(kernel="linear").fit_file(path, 12)  # 12 of what?
    one = tmp_path / "one.libsvm"
    dump_svmlight_file(X, np.ones(len(X)), str(one), zero_based=False)
    with pytest.raises(ValueError, match="must hold two labels, got"):
        LDMClassifier(kernel="linear").fit_file(one)
