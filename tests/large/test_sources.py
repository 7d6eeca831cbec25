"""Chunks from pairs, LIBSVM text and Parquet: the rows of the data, and faults that are named."""

import gzip

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from marginbook.large import LibsvmFiles, Pairs, ParquetFiles, write_parquet

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def _data(n=500, p=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), rng.integers(3, size=n)


def _split(X, y, *bounds):
    return Pairs(lambda: zip(np.split(X, bounds), np.split(y, bounds), strict=True))


def _all(source):
    chunks = list(source)
    rows = [c.X.toarray() if sparse.issparse(c.X) else c.X for c in chunks]
    return np.vstack(rows), np.concatenate([c.y for c in chunks]), chunks


def _table(path, group=100, **columns):
    pq.write_table(pa.table(columns), path, row_group_size=group)
    return path


def test_every_source_gives_the_rows_in_their_order_as_often_as_asked(tmp_path):
    X, y = _data()
    pairs = _split(X, y, 10, 10, 300)  # one chunk is empty
    write_parquet(pairs, tmp_path / "rows.parquet", dtype="float64", group_rows=130)
    with gzip.open(tmp_path / "rows.libsvm.gz", "wb") as file:
        dump_svmlight_file(X[200:], y[200:], file, zero_based=False)
    dump_svmlight_file(X[:200], y[:200], str(tmp_path / "rows.libsvm"), zero_based=False)
    texts = [tmp_path / "rows.libsvm", tmp_path / "rows.libsvm.gz"]
    for source, rtol, most in (
        (pairs, 0, 290),
        (ParquetFiles(tmp_path / "rows.parquet", chunk_rows=64), 0, 64),
        (LibsvmFiles(texts, chunk_rows=64), 1e-14, 64),
    ):
        for _ in range(2):
            rows, labels, chunks = _all(source)
            np.testing.assert_allclose(rows, X, rtol=rtol)
            np.testing.assert_array_equal(labels, y)
            assert max(len(chunk.y) for chunk in chunks) == most
            assert all(len(chunk.y) for chunk in chunks)
    assert [chunk.first for chunk in pairs] == [1, 11, 301]
    assert ParquetFiles(tmp_path / "rows.parquet").n_rows == LibsvmFiles(texts).n_rows == 500
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_parquet_columns_labels_and_types(tmp_path):
    X, y = _data(60)
    names = pa.array(np.array(["no", "yes", "maybe"])[y])
    path = _table(
        tmp_path / "a.parquet", b=X[:, 0], cls=names.dictionary_encode(), a=X[:, 1].astype("f4"), k=y * 2
    )
    every = ParquetFiles(path, label="cls")
    assert every.features == ["b", "a", "k"]
    rows, labels, _ = _all(every)
    np.testing.assert_allclose(rows, np.column_stack([X[:, 0], X[:, 1], y * 2]), rtol=1e-6)
    assert labels.tolist() == names.to_pylist()
    assert ParquetFiles(path, label="cls", features=["a"]).features == ["a"]
    Xd, yd = ParquetFiles([path, path], label="cls").dask_arrays()
    assert Xd.shape == (120, 3)
    np.testing.assert_array_equal(Xd.compute(), np.vstack([rows, rows]))
    assert yd.compute().tolist() == labels.tolist() * 2


def test_what_a_parquet_file_cannot_be(tmp_path):
    X, y = _data(300, 2)
    good = _table(tmp_path / "good.parquet", f0=X[:, 0], f1=X[:, 1], label=y)
    with pytest.raises(FileNotFoundError, match=r"there is no file .*none\.parquet"):
        ParquetFiles(tmp_path / "none.parquet")
    with pytest.raises(FileNotFoundError, match="not of a folder"):
        ParquetFiles(tmp_path)
    with pytest.raises(ValueError, match="at least one file"):
        ParquetFiles([])
    with pytest.raises(ValueError, match=r"good\.parquet has no column 'class' for the labels"):
        ParquetFiles(good, label="class")
    fewer = _table(tmp_path / "fewer.parquet", f0=X[:, 0], label=y)
    with pytest.raises(ValueError, match=r"fewer\.parquet lacks the feature f1; it has 1, expected 2"):
        ParquetFiles([good, fewer])
    with pytest.raises(ValueError, match=r"good\.parquet has 2 features, those before it 1; f1 is new"):
        ParquetFiles([fewer, good])
    text = _table(tmp_path / "text.parquet", f0=[str(value) for value in y], label=y)
    with pytest.raises(ValueError, match=r"text\.parquet: column 'f0' holds .*string, expected numbers"):
        ParquetFiles(text)
    with pytest.raises(ValueError, match="no column besides the label"):
        ParquetFiles(_table(tmp_path / "bare.parquet", label=y))
    with pytest.raises(ValueError, match="chunk_rows must be an integer >= 1, got 0"):
        ParquetFiles(good, chunk_rows=0)
    with pytest.raises(ValueError, match="dtype must be float32 or float64"):
        write_parquet(ParquetFiles(good), tmp_path / "x.parquet", dtype="int8")
    with pytest.raises(ValueError, match="the source holds no rows; nothing was written"):
        write_parquet(Pairs(list), tmp_path / "x.parquet")
    assert not (tmp_path / "x.parquet").exists()


@pytest.mark.parametrize("value", [None, np.nan, np.inf])
def test_a_value_that_is_none_is_named_with_file_row_and_column(tmp_path, value):
    X, y = _data(300, 2)
    column = X[:, 1].tolist()
    column[222] = value
    path = _table(tmp_path / "bad.parquet", f0=X[:, 0], speed=column, label=y)
    told = r"bad\.parquet, row 223: feature speed is (nan|inf); impute"
    with pytest.raises(ValueError, match=told):
        list(ParquetFiles(path, chunk_rows=50))
    with pytest.raises(ValueError, match=told):
        ParquetFiles(path).dask_arrays()[0].compute()
    labels = y.tolist()
    labels[7] = None
    with pytest.raises(ValueError, match=r"nolabel\.parquet, row 8: the label is empty"):
        list(ParquetFiles(_table(tmp_path / "nolabel.parquet", f0=X[:, 0], label=labels)))


def test_a_truncated_or_damaged_parquet_file_is_refused(tmp_path):
    X, y = _data(2000, 3)
    path = _table(tmp_path / "a.parquet", 500, **{f"f{j}": X[:, j] for j in range(3)}, label=y)
    whole = path.read_bytes()
    for size in (0, 3, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(
            ValueError, match=r"a\.parquet is no whole Parquet file \(.*write or fetch it again"
        ):
            ParquetFiles(path)
    path.write_bytes(whole)
    source = ParquetFiles(path)
    meta = pq.ParquetFile(path).metadata.row_group(2).column(0)
    start = meta.dictionary_page_offset or meta.data_page_offset
    path.write_bytes(whole[:start] + bytes(40) + whole[start + 40 :])  # the third row group
    with pytest.raises(ValueError, match=r"a\.parquet is no whole Parquet file from row 1001 on"):
        for _ in ParquetFiles(path, chunk_rows=500):
            pass
    with pytest.raises(ValueError, match="from row 1001 on"):
        source.dask_arrays()[0].compute()


def test_what_pairs_and_text_cannot_be(tmp_path):
    X, y = _data(30)
    with pytest.raises(
        ValueError, match=r"make must be a function .* got list; write Pairs\(lambda: pairs\)"
    ):
        Pairs([(X, y)])
    with pytest.raises(ValueError, match="chunk 2 has 3 features, those before it had 4"):
        list(Pairs(lambda: [(X, y), (X[:, :3], y)]))
    with pytest.raises(ValueError, match="chunk 1 has 30 rows and 29 labels"):
        list(Pairs(lambda: [(X, y[1:])]))
    with pytest.raises(ValueError, match=r"two dimensions, got shape \(30,\)"):
        list(Pairs(lambda: [(y, y)]))
    X[4, 2] = np.nan
    for convert in (np.asarray, sparse.csr_matrix):
        with pytest.raises(ValueError, match="chunk 2, row 35: feature 3 is nan"):
            list(Pairs(lambda convert=convert: [(convert(np.ones((30, 4))), y), (convert(X), y)]))
    path = tmp_path / "rows.libsvm"
    path.write_text("1 1:2 3:1\n2 1:nan\n")
    with pytest.raises(ValueError, match=r"rows\.libsvm, line 2: the value 'nan' of index 1"):
        list(LibsvmFiles(path, n_features=3))
    with pytest.raises(ValueError, match=r"rows\.libsvm, line 1: the index 3 exceeds n_features=2"):
        list(LibsvmFiles(path, n_features=2))
    with pytest.raises(FileNotFoundError, match="there is no file"):
        LibsvmFiles(tmp_path / "none.libsvm")
    with pytest.raises(ValueError, match=r"n_features must be an integer >= 1, got 1\.5"):
        LibsvmFiles(path, n_features=1.5)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (None, "make must return pairs .*, got NoneType"),
        ([3], "chunk 1 must be a pair .*, got int"),
        ([("rows", [1])], "chunk 1 must hold rows of real numbers, got str of others"),
        ([([[1.0], [1.0, 2.0]], [0, 1])], "chunk 1 must hold rows of real numbers, got list"),
        ([(np.ones((2, 1)) * 1j, [0, 1])], "chunk 1 must hold rows of real numbers, got ndarray of others"),
        ([(sparse.csr_matrix(np.ones((2, 1)) * 1j), [0, 1])], "chunk 1 must hold rows of real numbers"),
        ([(np.ones((2, 0)), [0, 1])], "chunk 1 has no features"),
        ([(np.ones((2, 1)), np.array([1, "a"], dtype=object))], "the labels have the types int, str"),
        (
            [(np.ones((1, 1)), [1]), (np.ones((1, 1)), ["a"])],
            "chunk 2 has text as labels, those before it had",
        ),
    ],
)
def test_chunks_that_are_none(pairs, message):
    with pytest.raises(ValueError, match=message):
        list(Pairs(lambda: pairs))


def test_more_rows_of_a_group_than_can_be_counted(tmp_path):
    source = Pairs(lambda: [_data(30)])
    with pytest.raises(ValueError, match="group_rows must be an integer >= 1, got 1000"):
        write_parquet(source, tmp_path / "rows.parquet", group_rows=10**400)
