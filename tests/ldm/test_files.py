"""Files in LIBSVM's format: chunks, what is wrong with a line, and fits that cycle blocks from disk."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, vstack
from sklearn.datasets import dump_svmlight_file

from marginbook.ldm.model.linear import linear_objective
from marginbook.ldm.solvers.asgd import AveragedSGD
from marginbook.ldm.solvers.libsvm_files import FileSize, MalformedLine, line_fault, read_libsvm, scan_libsvm
from marginbook.ldm.solvers.linear_cd import linear_coordinate_descent
from marginbook.ldm.solvers.linear_cd_disk import DiskRows, averaged_sgd_blocks, solve_blocks


@pytest.fixture
def data() -> tuple[csr_matrix, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(230, 12))
    X[rng.random(X.shape) < 0.6] = 0
    X[7] = 0
    y = np.where(X @ rng.normal(size=12) + 0.5 * rng.normal(size=230) > 0, 1.0, -1.0)
    return csr_matrix(X), y


def written(folder: Path, X: csr_matrix, y: np.ndarray, name: str = "data", zero_based: bool = False) -> Path:
    plain = folder / "plain"
    dump_svmlight_file(X, y, str(plain), zero_based=zero_based)
    path = folder / name
    pack = {".gz": gzip.compress, ".bz2": bz2.compress}.get(path.suffix, bytes)
    path.write_bytes(pack(plain.read_bytes()))
    return path


@pytest.mark.parametrize("name", ["data", "data.gz", "data.bz2"])
@pytest.mark.parametrize("chunk_rows", [1, 50, 1000])
def test_chunks_make_the_whole(tmp_path, data, name, chunk_rows):
    X, y = data
    path = written(tmp_path, X, y, name)
    parts = list(read_libsvm(path, n_features=12, chunk_rows=chunk_rows))
    assert len(parts) == -(-230 // chunk_rows)
    assert abs(vstack([part for part, _ in parts]) - X).max() < 1e-12
    np.testing.assert_array_equal(np.concatenate([labels for _, labels in parts]), y)
    assert scan_libsvm(path, chunk_rows=chunk_rows) == FileSize(230, 12, (-1.0, 1.0))


def test_comments_blank_lines_zero_based_and_empty_rows(tmp_path):
    path = tmp_path / "data"
    path.write_text("# about\n\n+1 0:2.5 3:1 # note\n-1\n\n# end\n")
    assert scan_libsvm(path, zero_based=True, chunk_rows=1) == FileSize(2, 4, (-1.0, 1.0))
    (X, y), (empty, _) = read_libsvm(path, zero_based=True, chunk_rows=3, n_features=4)
    assert (X.toarray().tolist(), y.tolist()) == ([[2.5, 0, 0, 1]], [1])
    assert empty.toarray().tolist() == [[0, 0, 0, 0]]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("one 1:2", "the label 'one' is not a finite number"),
        ("nan 1:2", "the label 'nan' is not a finite number"),
        ("1 1:2 2", "'2' is not a pair index:value"),
        ("1 a:2", "'a:2' is not a pair index:value"),
        ("1 0:2", "the index 0 is below 1"),
        ("1 -3:2", "the index -3 is below 1"),
        ("1 3:1 2:1", "the index 2 follows 3; indices must ascend"),
        ("1 3:1 3:1", "the index 3 follows 3; indices must ascend"),
        ("1 2:x", "the value 'x' of index 2 is not a finite number"),
        ("1 2:inf", "the value 'inf' of index 2 is not a finite number"),
        ("1 2:", "the value '' of index 2 is not a finite number"),
        ("1 2147483648:1", "the index 2147483648 is above 2147483647"),
        ("1 10:1", "the index 10 exceeds n_features=9"),
    ],
)
@pytest.mark.parametrize("chunk_rows", [2, 100])
def test_a_malformed_line_is_named(tmp_path, line, fault, chunk_rows):
    path = tmp_path / "data"
    path.write_text("1 1:1\n-1 2:1\n# remark\n" + line + "\n1 1:1\n")
    with pytest.raises(MalformedLine) as caught:
        list(read_libsvm(path, n_features=9, chunk_rows=chunk_rows))
    assert caught.value.number == 4
    assert str(caught.value) == f"{path}, line 4: {fault}; expected 'label index:value index:value ...'"


@given(st.lists(st.text("0123456789:.-+e #qidnaf", max_size=12), max_size=6))
@settings(max_examples=200)
def test_any_line_is_read_or_named(tmp_path_factory, lines):
    path = tmp_path_factory.mktemp("any") / "data"
    path.write_text("\n".join(lines))
    full = [line for line in lines if line.partition("#")[0].strip()]
    refusal = None
    try:
        rows = sum(len(y) for _, y in read_libsvm(path, chunk_rows=2))
    except ValueError as error:
        refusal = str(error)
    if refusal is None:
        assert rows == len(full)
    else:
        assert refusal.startswith(f"{path}, line")
    if not any(line_fault(line.encode()) for line in full):
        assert refusal is None


def test_damaged_and_empty_files(tmp_path, data):
    path = written(tmp_path, *data, "data.gz")
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(ValueError, match=r"damaged after line \d+ .*fetch the file again"):
        scan_libsvm(path, chunk_rows=10)
    path.write_bytes(b"no archive")
    with pytest.raises(ValueError, match="damaged after line 0"):
        scan_libsvm(path)
    path = tmp_path / "empty"
    path.write_text("\n")
    with pytest.raises(ValueError, match="holds no rows"):
        scan_libsvm(path)
    with pytest.raises(ValueError, match="chunk_rows must be at least 1"):
        next(read_libsvm(path, chunk_rows=0))
    with pytest.raises(FileNotFoundError):
        scan_libsvm(tmp_path / "nowhere")


def test_disk_rows_are_the_matrix(tmp_path, data):
    X, y = data
    path = written(tmp_path, X, y, zero_based=True)
    folder = tmp_path / "new" / "blocks"
    with DiskRows.from_libsvm(path, block_rows=40, zero_based=True, directory=folder) as rows:
        assert rows.shape == (230, 12)
        assert rows.n_shards == 24
        assert len(list(rows.blocks())) == 6
        once = np.concatenate([part for part, _ in rows.blocks(np.random.default_rng(0))])
        assert sorted(once) == list(range(230))
        assert list(once) != list(range(230))
        assert sorted(rows.rows) == list(range(230))
        np.testing.assert_array_equal(rows.y, y[rows.rows])
        w, v = np.arange(12.0), np.arange(230.0)
        np.testing.assert_allclose(rows @ w, (X @ w)[rows.rows])
        np.testing.assert_allclose(rows.T @ v[rows.rows], X.T @ v)
        assert any(folder.iterdir())
    assert not any(folder.iterdir())


@pytest.mark.parametrize(("lambda1", "lambda2", "C"), [(0.0, 0.0, 1.0), (0.25, 0.25, 1.0), (50.0, 1.0, 0.1)])
@pytest.mark.parametrize("block_rows", [10, 100, 1000])
def test_blocks_give_the_solution_in_memory(tmp_path, data, lambda1, lambda2, C, block_rows):
    X, y = data
    path = written(tmp_path, X, y)
    whole = linear_coordinate_descent(X, y, lambda1, lambda2, C, tol=1e-10, max_iter=50_000)
    with DiskRows.from_libsvm(path, block_rows=block_rows) as rows:
        found = solve_blocks(rows, lambda1, lambda2, C, tol=1e-5, max_iter=500)
    assert found.converged
    assert -1e-9 <= found.objective - whole.objective <= 1e-5 * abs(whole.objective)
    np.testing.assert_allclose(found.coef, whole.coef, atol=0.02)
    np.testing.assert_allclose(X.T @ found.alpha, found.coef, atol=1e-9)  # multipliers in the file's order


def test_blocks_give_the_solution_in_memory_however_small_the_losses(tmp_path, data):
    X, y = data
    whole = linear_coordinate_descent(X, y, 5.0, 0.0, 1e-4, tol=1e-10, max_iter=5000)
    with DiskRows.from_libsvm(written(tmp_path, X, y), block_rows=1000) as rows:
        found = solve_blocks(rows, 5.0, 0.0, 1e-4, max_iter=50)
    assert found.converged
    assert found.objective == pytest.approx(whole.objective, rel=2e-6)


def test_sgd_over_one_block_is_sgd_over_the_rows(tmp_path, data):
    X, y = data
    with DiskRows.from_libsvm(written(tmp_path, X, y), block_rows=1000) as rows:
        np.testing.assert_array_equal(rows.rows, np.arange(230))
        found = averaged_sgd_blocks(rows, lambda1=0.2, lambda2=0.1, C=0.5, gamma0=1e-3, random_state=1)
        with pytest.raises(TypeError, match="positional argument"):
            averaged_sgd_blocks(rows, 0.2, 0.1, 0.5, 5)  # 5 of what?
    rng = np.random.default_rng(1)
    state = AveragedSGD(12, 230, 0.2, 0.1, 0.5, gamma0=1e-3, random_state=rng)
    for _ in range(5):
        rng.permutation(1)  # the order of the one block
        state.partial_fit(X, y)
    np.testing.assert_allclose(found.coef, state.coef, atol=1e-12)
    assert found.n_steps == 5 * 230
    assert found.objective == pytest.approx(linear_objective(X, y, state.coef, 0.2, 0.1, 0.5))


def test_sgd_over_blocks_comes_close_to_the_optimum(tmp_path, data):
    X, y = data
    exact = linear_coordinate_descent(X, y, 0.2, 0.1, 0.05, tol=1e-8, max_iter=10_000)
    with DiskRows.from_libsvm(written(tmp_path, X, y), block_rows=50) as rows:
        found = averaged_sgd_blocks(rows, 0.2, 0.1, 0.05, n_passes=100)
    assert found.objective == pytest.approx(exact.objective, rel=0.01)


def test_labels_are_two(tmp_path, data):
    X, y = data
    with DiskRows.from_libsvm(written(tmp_path, X, np.where(y > 0, 2, 1))) as rows:
        np.testing.assert_array_equal(rows.y, y)
    with pytest.raises(ValueError, match=r"must hold two labels, got \[1.0\]"):
        DiskRows.from_libsvm(written(tmp_path, X, np.ones(230)))
    with pytest.raises(ValueError, match="block_rows must be"):
        DiskRows.from_libsvm(tmp_path / "data", block_rows=0)


def test_a_malformed_line_leaves_no_shards(tmp_path):
    path, folder = tmp_path / "data", tmp_path / "shards"
    path.write_text("1 1:1\n-1 12:1\n")
    with pytest.raises(MalformedLine, match="line 2: the index 12 exceeds n_features=9"):
        DiskRows.from_libsvm(path, n_features=9, block_rows=1, directory=folder)
    assert not any(folder.iterdir())
