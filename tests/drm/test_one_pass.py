"""The one-pass linear DRM: equal to the dense formula, additive over chunks, honest at its limits."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from marginbook.drm import DRMClassifier
from marginbook.drm.solvers import one_pass
from marginbook.drm.solvers.feature_forms import class_forms
from marginbook.drm.solvers.one_pass import CHUNK, ClassMoments, linear_maps


def _data(sizes, p, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    shuffle = rng.permutation(len(y))
    return rng.normal(size=(len(y), p))[shuffle], y[shuffle], rng.normal(size=(11, p))


@pytest.mark.parametrize(
    ("sizes", "p"), [([20, 15, 9], 5), ([3, 2, 5], 8), ([1, 4, 1], 3), ([4, 4], 20), ([5, 4], 1)]
)
@pytest.mark.parametrize("alpha", [0.0, 1e-6, 1.0, 1e4])
@pytest.mark.parametrize("beta", [1e-4, 1.0, 1e8])
def test_equals_the_closed_form(sizes, p, alpha, beta):
    X, y, Z = _data(sizes, p)
    one = DRMClassifier(alpha, beta, "linear", solver="one-pass").fit(X, y).dissimilarity(Z)
    dense = DRMClassifier(alpha, beta, "linear", solver="closed").fit(X, y).dissimilarity(Z)
    np.testing.assert_allclose(one, dense, atol=1e-7 * np.abs(dense).max())


def test_one_class_of_equal_points_keeps_its_digits():
    """alpha |x|^2 / beta = 1e14: the exact answer for one point is psi = x x'z / (beta + |x|^2)."""
    x = np.array([1.0, 0.5])
    moments = ClassMoments.empty(1, 2, 1e8, 1e-6).add(x[None], np.array([0]))
    expected = np.outer(x, x) / (1e-6 + x @ x)
    np.testing.assert_allclose(linear_maps(moments).T[0], expected, rtol=1e-9)


def test_chunks_sum_to_the_whole():
    X, y, Z = _data([2 * CHUNK + 17, 300], 4)
    whole = DRMClassifier(0.1, 1.0, "linear").fit(X, y)
    parts = DRMClassifier(0.1, 1.0, "linear")
    for rows in np.array_split(np.arange(len(y)), 7):
        parts.partial_fit(X[rows], y[rows], classes=[0, 1])
    np.testing.assert_allclose(parts.dissimilarity(Z), whole.dissimilarity(Z), rtol=1e-9)
    halves = [
        ClassMoments.empty(2, 4, 0.1, 1.0).add(X[half], y[half]) for half in (slice(0, 99), slice(99, None))
    ]
    np.testing.assert_allclose(linear_maps(halves[0] + halves[1]).T, whole.maps_.T, rtol=1e-9)


def test_many_test_points_go_in_chunks(monkeypatch):
    X, y, Z = _data([6, 5], 2)
    model = DRMClassifier(0.1, 1.0, "linear").fit(X, y)
    wanted = np.einsum("mp,gpq,mq->mg", Z, model.maps_.R, Z)
    monkeypatch.setattr(one_pass, "CHUNK", 3)
    np.testing.assert_allclose(model.maps_.dissimilarity(Z), wanted, rtol=1e-9)


def test_moments_of_different_models_do_not_add_up():
    with pytest.raises(ValueError, match="equal alpha, beta"):
        ClassMoments.empty(2, 3, 1.0, 1.0) + ClassMoments.empty(2, 3, 1.0, 2.0)


def test_sparse_rows_give_the_same_and_the_intercept_is_a_constant_feature():
    X, y, Z = _data([30, 20], 6)
    X[np.abs(X) < 1] = 0
    dense = DRMClassifier(1.0, 1.0, "linear", fit_intercept=True).fit(X, y)
    thin = DRMClassifier(1.0, 1.0, "linear", fit_intercept=True).fit(sparse.csr_matrix(X), y)
    by_hand = DRMClassifier(1.0, 1.0, "linear").fit(np.c_[X, np.ones(len(X))], y)
    np.testing.assert_allclose(thin.dissimilarity(sparse.csr_matrix(Z)), dense.dissimilarity(Z), rtol=1e-12)
    np.testing.assert_allclose(
        by_hand.dissimilarity(np.c_[Z, np.ones(len(Z))]), dense.dissimilarity(Z), rtol=1e-12
    )


def test_a_class_that_has_not_come_yet_has_the_zero_map():
    X, y, Z = _data([30, 20], 3)
    model = DRMClassifier(1.0, 1.0, "linear").partial_fit(X, y, classes=[0, 1, 2])
    assert not model.maps_.T[2].any()
    assert set(model.predict(Z)) <= {0, 1, 2}


def test_partial_fit_needs_to_know_the_classes():
    X, y, _ = _data([3, 3], 2)
    with pytest.raises(ValueError, match="first call of partial_fit needs classes"):
        DRMClassifier(kernel="linear").partial_fit(X, y)
    with pytest.raises(ValueError, match="label 1 is not among the classes"):
        DRMClassifier(kernel="linear").partial_fit(X, y, classes=[0, 5])
    assert not hasattr(DRMClassifier(kernel="rbf"), "partial_fit")


def test_the_certificate_sees_a_wrong_class_step(monkeypatch):
    from marginbook.drm.solvers import one_pass

    X, y, _ = _data([20, 15], 4)
    moments = ClassMoments.empty(2, 4, 1.0, 0.1).add(X, y)
    assert linear_maps(moments).kkt_residual < 1e-12
    monkeypatch.setattr(one_pass, "_one_minus", lambda *_: (np.full(4, 17.0), 1e-16))
    assert linear_maps(moments).kkt_residual > 1e-3


def test_nearly_collinear_classes_warn_instead_of_promising():
    """alpha/beta = 1e14, directions that differ by 1e-6: no method has the digits, and the model says so."""
    X = np.ones((12, 3)) + 1e-6 * np.random.default_rng(0).normal(size=(12, 3))
    model = DRMClassifier(1e8, 1e-6, "linear", solver="one-pass")
    with pytest.warns(ConvergenceWarning, match="badly conditioned"):
        model.fit(X, np.repeat([0, 1], 6))
    assert model.kkt_residual_ > 1e-6


def test_forms_of_nearly_collinear_rows_say_what_rounding_may_hide():
    """A Cholesky factor, here with a pivot of 0.002, would not see it."""
    X = np.ones((60, 4)) + 1e-3 * np.random.default_rng(0).normal(size=(60, 4))
    moments = ClassMoments.empty(2, 4, 1e8, 1e-2).add(X, np.repeat([0, 1], 30))
    assert class_forms(moments)[1] == pytest.approx(linear_maps(moments).kkt_residual, rel=0.01)


def test_a_later_fit_forgets_what_partial_fit_had():
    X, y, Z = _data([40, 35], 3)
    model = DRMClassifier(1.0, 1.0, "linear").partial_fit(X, y, classes=[0, 1])
    few = np.r_[np.flatnonzero(y == 0)[:1], np.flatnonzero(y == 1)[:1]]
    model.fit(X[few], y[few]).partial_fit(X[:9], y[:9], classes=[0, 1])
    fresh = DRMClassifier(1.0, 1.0, "linear").partial_fit(X[:9], y[:9], classes=[0, 1])
    np.testing.assert_array_equal(model.dissimilarity(Z), fresh.dissimilarity(Z))


def test_partial_fit_refuses_what_changed_and_keeps_nothing_of_a_refused_call():
    X, y, Z = _data([10, 10], 3)
    model = DRMClassifier(1.0, 1.0, "linear")
    with pytest.raises(ValueError, match="label 1 is not among"):
        model.partial_fit(X, y, classes=[0, 5])
    model.partial_fit(X, y, classes=[0, 1])
    before = model.dissimilarity(Z)
    with pytest.raises(ValueError, match=r"classes \[0, 2\] differ from those of the first call: \[0, 1\]"):
        model.partial_fit(X, y, classes=[0, 2])
    for change in ({"alpha": 2.0}, {"fit_intercept": True}):
        model.set_params(**change)
        with pytest.raises(ValueError, match="changed since the first call of partial_fit"):
            model.partial_fit(X, y)
        model.set_params(alpha=1.0, fit_intercept=False)
    np.testing.assert_array_equal(model.dissimilarity(Z), before)


def test_lengths_beyond_double_precision_are_named():
    X, y, _ = _data([10, 10], 3)
    with pytest.raises(ValueError, match="leave the range of double precision; scale the features"):
        DRMClassifier(kernel="linear").fit(X * 1e160, y)
