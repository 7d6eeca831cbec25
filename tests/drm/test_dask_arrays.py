"""The one-pass DRM from Dask arrays: equal to the fit in memory, and never the whole array at once."""

import threading

import dask
import dask.array as da
import numpy as np
import pytest
from scipy import sparse

from marginbook.drm import DRMClassifier
from marginbook.drm.solvers.one_pass import ClassMoments
from marginbook.drm.solvers.one_pass_dask import dask_moments, join_moments


def _data(n=600, p=5, g=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.array(["a", "b", "c"])[np.sort(rng.integers(g, size=n))]  # sorted: most blocks lack a class
    return rng.normal(size=(n, p)) + (y == "b")[:, None], y


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("chunks", [(600, 5), (97, 5), (50, 2)])
def test_equals_the_fit_in_memory(chunks, fit_intercept):
    X, y = _data()
    model = DRMClassifier(0.3, 2.0, "linear", fit_intercept=fit_intercept)
    whole = model.fit(X, y).dissimilarity(X)
    labels = model.predict(X)
    Xd, yd = da.from_array(X, chunks=chunks), da.from_array(y, chunks=200)
    model.fit(Xd, yd)
    np.testing.assert_allclose(model.dissimilarity(X), whole, rtol=1e-9)
    lazy = model.predict(Xd)
    assert isinstance(lazy, da.Array)
    assert (lazy.compute() == labels).all()
    np.testing.assert_allclose(model.dissimilarity(Xd).compute(), whole, rtol=1e-9)
    np.testing.assert_allclose(model.decision_function(Xd).compute(), -whole, rtol=1e-9)
    assert model.n_features_in_ == 5
    assert model.solver_ == "one-pass"
    assert model.score(X, y) == np.mean(labels == y)


def test_blocks_of_unknown_sizes_and_empty_ones():
    """As boolean indexing and dataframes leave them."""
    X, y = _data()
    keep = X[:, 0] > 0
    keep[100:200] = False
    Xd, yd = da.from_array(X, chunks=(100, 5)), da.from_array(y, chunks=100)
    mask = da.from_array(keep, chunks=100)
    Xk, yk = Xd[mask], yd[mask]
    assert np.isnan(Xk.shape[0])
    model = DRMClassifier(kernel="linear").fit(Xk, yk)
    memory = DRMClassifier(kernel="linear").fit(X[keep], y[keep])
    np.testing.assert_allclose(model.maps_.R, memory.maps_.R, rtol=1e-9, atol=1e-14)
    assert (model.predict(Xk).compute() == memory.predict(X[keep])).all()
    assert (model.decision_function(Xk).compute().shape) == (keep.sum(), 3)


def test_the_array_is_never_in_memory_as_a_whole():
    """A source that counts the blocks alive: of 40, few at a time, each made once."""
    alive, most, made = set(), [0], [0]
    lock = threading.Lock()

    class Tracked(np.ndarray):
        def __array_finalize__(self, parent):
            self.token = getattr(parent, "token", None)

    def make(block_info=None):
        number = block_info[None]["chunk-location"][0]
        rows = np.random.default_rng(number).normal(size=(500, 4)).view(Tracked)
        rows.token = _Token(number)
        return rows

    class _Token:
        def __init__(self, number):
            self.number = number
            with lock:
                alive.add(number)
                made[0] += 1
                most[0] = max(most[0], len(alive))

        def __del__(self):
            with lock:
                alive.discard(self.number)

    X = da.map_blocks(make, chunks=((500,) * 40, (4,)), dtype=float, meta=np.empty((0, 4)))
    y = da.from_array(np.arange(20_000) % 2, chunks=500)
    with dask.config.set(scheduler="threads", num_workers=2):
        model = DRMClassifier(kernel="linear").fit(X, y)
    assert made[0] == 40
    assert most[0] <= 8
    assert model.moments_.sizes.tolist() == [10_000, 10_000]


def test_labels_in_memory_and_sparse_blocks():
    X, y = _data()
    X[np.abs(X) < 1] = 0
    thin = da.from_array(X, chunks=(150, 5)).map_blocks(sparse.csr_matrix)
    model = DRMClassifier(kernel="linear", fit_intercept=True).fit(thin, list(y))
    memory = DRMClassifier(kernel="linear", fit_intercept=True).fit(X, y)
    np.testing.assert_allclose(model.maps_.R, memory.maps_.R, rtol=1e-9, atol=1e-14)
    assert (model.predict(thin).compute() == memory.predict(X)).all()


def test_goes_on_with_partial_fit_and_forgets_at_the_next_fit():
    X, y = _data()
    model = DRMClassifier(kernel="linear").fit(X[:300] * 7, y[:300])  # to be forgotten
    model.fit(da.from_array(X[::2], chunks=(100, 5)), y[::2]).partial_fit(X[1::2], y[1::2])
    whole = DRMClassifier(kernel="linear").fit(X, y)
    np.testing.assert_allclose(model.maps_.R, whole.maps_.R, rtol=1e-9, atol=1e-14)


def test_moments_of_different_classes_join():
    X, y = _data(90)
    codes = np.unique(y, return_inverse=True)[1]
    parts = [
        (
            np.array([label]),
            ClassMoments.empty(1, 5, 1.0, 1.0).add(X[y == label], np.zeros(sum(y == label), int)),
        )
        for label in "cab"
    ]
    labels, moments = join_moments(*parts)
    whole = ClassMoments.empty(3, 5, 1.0, 1.0).add(X, codes)
    assert labels.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(moments.G, whole.G, rtol=1e-12)
    np.testing.assert_array_equal(moments.sizes, whole.sizes)


def test_any_fitted_model_predicts_a_dask_array_block_by_block():
    X, y = _data(120)
    model = DRMClassifier(kernel="rbf").fit(X, y)
    lazy = model.predict(da.from_array(X, chunks=(50, 5)))
    assert lazy.chunks == ((50, 50, 20),)
    assert (lazy.compute() == model.predict(X)).all()


def test_unusable_input_is_named():
    X, y = _data()
    Xd, yd = da.from_array(X, chunks=(100, 5)), da.from_array(y, chunks=100)
    with pytest.raises(ValueError, match=r"needs kernel='linear' .* got kernel='rbf'.*X\.compute\(\)"):
        DRMClassifier().fit(Xd, yd)
    with pytest.raises(ValueError, match="solver='gd'"):
        DRMClassifier(kernel="linear", solver="gd").fit(Xd, yd)
    linear = DRMClassifier(kernel="linear")
    with pytest.raises(ValueError, match="X has 600 rows, y has 500"):
        linear.fit(Xd, yd[:500])
    with pytest.raises(ValueError, match="y must be a Dask array with the same blocks"):
        linear.fit(Xd[Xd[:, 0] > 0], y)
    with pytest.raises(ValueError, match="X has 6 blocks of rows, y has 3"):
        linear.fit(Xd[Xd[:, 0] > 0], yd[:300])
    with pytest.raises(ValueError, match=r"a block of X has .* rows, that of y has 100 labels"):
        linear.fit(Xd[Xd[:, 0] > 0], yd)
    with pytest.raises(ValueError, match="at least 2 classes, got one class: a"):
        linear.fit(Xd[:100], yd[:100])
    with pytest.raises(ValueError, match="partial_fit takes no Dask array"):
        linear.partial_fit(Xd, yd, classes=["a", "b", "c"])
    for model, weights in (
        (linear, np.ones(600)),
        (DRMClassifier(kernel="linear", class_weight="balanced"), None),
    ):
        with pytest.raises(ValueError, match=r"rows of a Dask array take no weights: call X\.compute\(\)"):
            model.fit(Xd, yd, weights)
    with pytest.raises(ValueError, match="two dimensions, got 1"):
        linear.fit(yd, yd)
    with pytest.raises(ValueError, match=r"call X\.to_dask_array"):
        dask_moments(dask.delayed(X), yd, 1.0, 1.0)
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        linear.fit(da.from_array(X, chunks=(100, 5)), yd)
