"""Machines fitted chunk by chunk are those fitted to all rows, whatever the chunks and their order."""

import io
import warnings
from fractions import Fraction

import numpy as np
import pytest
from rich.console import Console
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from sklearn.exceptions import ConvergenceWarning

from marginbook.drm import DRMClassifier
from marginbook.large import LibsvmFiles, Pairs, ParquetFiles, fit_drm, fit_ldm, margins, near, write_parquet
from marginbook.large.statistics import Collector
from marginbook.large.sums import Sum
from marginbook.ldm import LDMClassifier
from marginbook.ldm.model.linear import linear_objective


def _data(n=3000, p=6, classes=3, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 0.3
    score = X @ rng.normal(size=p) + noise * rng.normal(size=n)
    return X, np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)


def _chunks(X, y, size, order=None):
    starts = np.arange(0, len(y), size)
    starts = starts if order is None else starts[np.random.default_rng(order).permutation(len(starts))]
    return Pairs(lambda: ((X[s : s + size], y[s : s + size]) for s in starts))


def test_a_sum_is_the_exact_one_rounded_in_every_order():
    rng = np.random.default_rng(0)
    terms = rng.normal(size=4000) * 10.0 ** rng.integers(-8, 8, size=4000)
    exact = float(sum(map(Fraction, terms)))
    for order in (np.arange(4000), rng.permutation(4000), np.argsort(terms)):
        total = Sum()
        for term in terms[order]:
            total.add(float(term))
        assert float(total.value) == exact


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("size", [1, 37, 5000])
def test_drm_is_that_of_all_rows(size, fit_intercept):
    X, y = _data(700 if size == 1 else 3000)
    names = np.array(["c", "a", "b"])[y]
    options = {"alpha": 0.3, "beta": 2.0, "kernel": "linear", "fit_intercept": fit_intercept}
    whole = DRMClassifier(**options, solver="one-pass").fit(X, names)
    model = fit_drm(DRMClassifier(**options), _chunks(X, names, size))
    np.testing.assert_allclose(model.maps_.R, whole.maps_.R, rtol=0, atol=1e-13 * abs(whole.maps_.R).max())
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert (model.n_features_in_, model.solver_, model.n_iter_) == (6, "one-pass", 1)
    assert (model.predict(X) == whole.predict(X)).all()
    assert model.kkt_residual_ < 1e-12


def test_drm_does_not_depend_on_the_order_of_chunks():
    X, y = _data(4000)
    found = [
        fit_drm(DRMClassifier(kernel="linear"), _chunks(X * 1e3, y, 16, order)).moments_.G for order in (1, 2)
    ]
    np.testing.assert_allclose(found[0], found[1], rtol=2.3e-16)


def test_drm_goes_on_and_refits():
    X, y = _data()
    model = fit_drm(DRMClassifier(kernel="linear"), _chunks(X[::2], y[::2], 100)).partial_fit(
        X[1::2], y[1::2]
    )
    whole = DRMClassifier(kernel="linear").fit(X, y)
    np.testing.assert_allclose(model.maps_.R, whole.maps_.R, rtol=1e-9, atol=1e-14)
    again = fit_drm(model, _chunks(X[:, :3], y, 100))
    assert again.n_features_in_ == 3
    assert again.moments_.sizes.sum() == 3000


@pytest.mark.parametrize(
    ("m", "options"),
    [
        (60, {"C": 1.0, "lambda1": 0.2, "lambda2": 0.1}),
        (3000, {"C": 10.0}),
        (3000, {"C": 1e-6, "lambda1": 5.0}),
        (3000, {"C": 0.1, "lambda1": 0.0, "lambda2": 0.0}),  # the SVM
        (3000, {"C": 1.0, "lambda1": 1e3, "fit_intercept": True}),
    ],
)
@pytest.mark.parametrize("kept", [300, 2**22])  # of all numbers, a few rows or all rows near the margin
def test_ldm_is_that_of_all_rows(monkeypatch, m, options, kept):
    monkeypatch.setattr(near, "KEPT", kept)
    monkeypatch.setattr(near, "LEAST", 50)
    X, y = _data(m, classes=2)
    names = np.array(["yes", "no"])[y]
    before = X.copy()
    whole = LDMClassifier(**options, kernel="linear", tol=1e-9).fit(X, names)
    model = fit_ldm(LDMClassifier(**options, kernel="linear", tol=1e-8), _chunks(X, names, 170))
    scale = max(abs(whole.objective_), min(1.0, m * options["C"]))
    assert -1e-9 * scale <= model.objective_ - whole.objective_ <= model.dual_gap_ + 1e-9 * scale
    assert 0 <= model.dual_gap_ <= 1e-8 * scale
    np.testing.assert_allclose(model.coef_, whole.coef_, atol=2e-4 * (1 + np.abs(whole.coef_).max()))
    assert model.intercept_ == pytest.approx(whole.intercept_, abs=1e-3)
    assert model.margin_mean_ == pytest.approx(whole.margin_mean_, rel=1e-3)
    assert model.margin_variance_ == pytest.approx(whole.margin_variance_, rel=1e-3)
    assert model.classes_.tolist() == ["no", "yes"]
    assert (model.solver_, model.n_features_in_) == ("newton", 6)
    assert (model.predict(X) == whole.predict(X)).mean() > 0.998
    np.testing.assert_array_equal(X, before)  # chunks are not written to


def test_ldm_on_classes_that_are_apart(monkeypatch):
    monkeypatch.setattr(near, "KEPT", 300)
    monkeypatch.setattr(near, "LEAST", 50)
    X, y = _data(2000, classes=2, noise=0.0)
    whole = LDMClassifier(C=10.0, kernel="linear", tol=1e-9, fit_intercept=True).fit(X, y)
    model = fit_ldm(LDMClassifier(C=10.0, kernel="linear", fit_intercept=True), _chunks(X, y, 100))
    assert whole.objective_ <= model.objective_ * (1 + 1e-9) <= whole.objective_ * (1 + 1e-6)
    assert model.n_iter_ < 40


def test_the_gap_and_the_derivatives_are_what_they_say():
    X, y = _data(400, classes=2)
    signs, source = np.where(y == 1, 1.0, -1.0), _chunks(X, y, 90)
    collector = Collector(False)
    for chunk in source:
        collector.add(chunk)
    found = collector.total()
    signed = X * signs[:, None]
    np.testing.assert_allclose(found.mean, signed.mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(found.covariance, np.cov(signed.T, bias=True), rtol=1e-12)
    problem, optimum = (
        margins.LinearLDM(found, 0.3, 0.2, 0.05),
        LDMClassifier(0.3, 0.2, 0.05, "linear", tol=1e-10),
    )
    least = optimum.fit(X, y).objective_
    rng = np.random.default_rng(1)

    def at(w):
        return margins.one_pass(source, problem, w, (1.0, 0.25), constant=False)

    for w in rng.normal(size=(5, 6)) * 0.5:
        here, step = at(w), 1e-5 * rng.normal(size=6)
        assert here.objective == pytest.approx(linear_objective(X, signs, w, 0.3, 0.2, 0.05), rel=1e-12)
        assert here.gap >= here.objective - least > 0
        for before, after, each in zip(at(w - step).rounded, at(w + step).rounded, here.rounded, strict=True):
            assert after.value - before.value == pytest.approx(2 * each.gradient @ step, rel=1e-6, abs=1e-12)
            change = after.gradient - before.gradient
            np.testing.assert_allclose(change, 2 * each.hessian @ step, rtol=0.05, atol=1e-6)


def test_files_give_the_machines_of_their_rows(tmp_path):
    pytest.importorskip("pyarrow")
    X, y = _data(900, classes=2)
    X[np.abs(X) < 0.5] = 0.0
    dump_svmlight_file(X, y + 1, str(tmp_path / "rows.libsvm"), zero_based=False)
    text = LibsvmFiles(tmp_path / "rows.libsvm", chunk_rows=100)
    written = write_parquet(text, tmp_path / "rows.parquet", dtype="float64", group_rows=200)
    binary = ParquetFiles(written, chunk_rows=64)
    drm = DRMClassifier(kernel="linear").fit(X, y + 1)
    ldm = LDMClassifier(C=0.01, kernel="linear", tol=1e-9).fit(X, y + 1)
    for source in (text, binary):
        ours = fit_drm(DRMClassifier(kernel="linear"), source)
        np.testing.assert_allclose(ours.maps_.R, drm.maps_.R, rtol=1e-10, atol=1e-14)
        line = fit_ldm(LDMClassifier(C=0.01, kernel="linear"), source)
        assert line.objective_ == pytest.approx(ldm.objective_, rel=1e-6)
        assert line.classes_.tolist() == [1, 2]
    blocks = DRMClassifier(kernel="linear").fit(*binary.dask_arrays())
    np.testing.assert_allclose(blocks.maps_.R, drm.maps_.R, rtol=1e-10, atol=1e-14)


def test_sparse_chunks_and_a_bar():
    X, y = _data(600, classes=2)
    X[np.abs(X) < 0.8] = 0.0
    thin = Pairs(lambda: ((sparse.csr_matrix(X[k::4]), y[k::4]) for k in range(4)), n_rows=600)
    shown = Console(file=io.StringIO(), force_terminal=True, width=100)
    model = fit_drm(DRMClassifier(kernel="linear"), thin, console=shown)
    whole = DRMClassifier(kernel="linear").fit(X, y)
    np.testing.assert_allclose(model.maps_.R, whole.maps_.R, rtol=1e-10, atol=1e-14)
    fit_ldm(LDMClassifier(kernel="linear"), thin, console=shown)
    assert "600 rows" in shown.file.getvalue()
    assert "hinge" in shown.file.getvalue()


def test_what_is_refused():
    X, y = _data(300, classes=2)
    linear, nothing = LDMClassifier(kernel="linear"), Pairs(list)
    with pytest.raises(ValueError, match=r"fit_drm needs kernel='linear' .* got kernel='rbf'"):
        fit_drm(DRMClassifier(), _chunks(X, y, 100))
    with pytest.raises(ValueError, match="solver='gd'"):
        fit_drm(DRMClassifier(kernel="linear", solver="gd"), _chunks(X, y, 100))
    with pytest.raises(ValueError, match="fit_ldm needs kernel='linear', solver='auto' and a finite C"):
        fit_ldm(LDMClassifier(kernel="linear", solver="asgd"), _chunks(X, y, 100))
    with pytest.raises(ValueError, match="the source holds no rows"):
        fit_drm(DRMClassifier(kernel="linear"), nothing)
    with pytest.raises(ValueError, match="separates two classes, got no rows"):
        fit_ldm(linear, nothing)
    with pytest.raises(ValueError, match="at least 2 classes, got one class: 7"):
        fit_drm(DRMClassifier(kernel="linear"), _chunks(X, y * 0 + 7, 100))
    with pytest.raises(ValueError, match="two classes, got one class: 7"):
        fit_ldm(linear, _chunks(X, y * 0 + 7, 100))
    with pytest.raises(ValueError, match=r"chunk 3 holds the label 2 besides \[0, 1\]"):
        fit_ldm(linear, _chunks(X, np.where(np.arange(300) == 250, 2, y), 100))
    with pytest.raises(ValueError, match="Unknown label type"):
        fit_drm(DRMClassifier(kernel="linear"), _chunks(X, y + 0.5 * X[:, 0], 100))
    with pytest.raises(ValueError, match="leave the range of double precision; scale the features"):
        fit_drm(DRMClassifier(kernel="linear"), _chunks(X * 1e160, y, 100))
    with pytest.raises(ValueError, match="leave the range of double precision; scale the features"):
        fit_ldm(linear, _chunks(X * 1e160, y, 100))
    with pytest.raises(ValueError, match=r"up to 5000 features, got 5001; use LDMClassifier\.fit_file"):
        fit_ldm(linear, Pairs(lambda: [(sparse.csr_matrix((2, 5001)), [0, 1])]))


def test_a_gap_that_is_missed_is_told_with_both_numbers():
    X, y = _data(300, classes=2)
    with pytest.warns(
        ConvergenceWarning, match=r"after 1 pass at the relative duality gap .* > tol=1.00e-06"
    ):
        model = fit_ldm(LDMClassifier(kernel="linear", max_iter=1), _chunks(X, y, 100))
    assert model.dual_gap_ > 1e-6 * model.objective_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit_ldm(LDMClassifier(kernel="linear"), _chunks(X, y, 100))


def test_a_hessian_that_rounding_leaves_singular_ends_in_a_warning():
    X = np.random.default_rng(2).normal(size=(2, 12)) + 1e6
    with pytest.warns(ConvergenceWarning, match="fit_ldm stopped after"):
        model = fit_ldm(LDMClassifier(C=1e6, kernel="linear"), Pairs(lambda: [(X, [0, 1])]))
    assert np.isfinite(model.coef_).all()
