"""Files that fuzzing found, and files damaged at random: right data or a clear error."""

import random
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from marginbook.datasets import CorruptData
from marginbook.datasets.parsers import parse_matlab, parse_npy

from .fuzzing import CORPUS, KINDS
from .parsing import PARSERS, parse
from .seeds import seeds

FOUND = sorted(CORPUS.glob("*--*"))


def test_every_format_is_fuzzed():
    assert {*KINDS} == {*PARSERS}
    assert FOUND


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name)
def test_what_fuzzing_found(path, tmp_path):
    said = parse(path.name.split("--")[0], path.read_bytes(), tmp_path)
    assert said == "right" or "\n" not in said


@pytest.mark.parametrize("kind", PARSERS)
def test_damaged_files(kind, tmp_path):
    generator = random.Random(0)
    for content in seeds(kind):
        parse(kind, content, tmp_path)
        for _ in range(60):
            parse(kind, _damaged(content, generator), tmp_path)


@pytest.mark.parametrize("kind", PARSERS)
def test_files_cut_short(kind, tmp_path):
    content = seeds(kind)[0]
    for end in range(0, len(content), max(1, len(content) // 40)):
        parse(kind, content[:end], tmp_path)


def _damaged(content: bytes, generator: random.Random) -> bytes:
    raw = bytearray(content)
    for _ in range(generator.randint(1, 3)):
        at = generator.randrange(len(raw) + 1)
        choice = generator.randrange(4)
        if choice == 0 and raw:
            raw[at % len(raw)] = generator.choice((0, 1, 9, 10, 34, 39, 44, 45, 63, 64, 127, 128, 255))
        elif choice == 1:
            raw[at:at] = generator.choice((b",", b"\n", b"'", b'"', b"nan", b"1e999", b"-1", b"\xff" * 4))
        elif choice == 2:
            del raw[at : at + generator.randint(1, 4)]
        else:
            raw[at:at] = raw[at : at + generator.randint(1, 8)]
    return bytes(raw)


def test_a_part_of_unknown_type_does_not_reach_scipy(tmp_path: Path):
    """SciPy 1.17 follows it out of its memory: the process dies."""
    path = tmp_path / "x.mat"
    for compressed in (False, True):
        savemat(path, {"x": np.arange(6.0)}, do_compression=compressed)
        assert parse_matlab(path, ["x"])["x"].size == 6
    savemat(path, {"x": np.arange(6.0)})
    raw = bytearray(path.read_bytes())
    at = raw.index(b"\x09\0\0\0\x30\0\0\0")  # miDOUBLE, 48 bytes
    raw[at : at + 4] = (1280).to_bytes(4, "little")
    path.write_bytes(raw)
    with pytest.raises(CorruptData, match="a part of type 1280, wanted numbers"):
        parse_matlab(path, ["x"])


def test_a_sparse_matrix_of_a_billion_rows_in_a_few_bytes(tmp_path: Path):
    path = tmp_path / "x.mat"
    savemat(path, {"x": sparse.csc_matrix((3, 3))})
    raw = bytearray(path.read_bytes())
    at = raw.index((3).to_bytes(4, "little") * 2)
    raw[at : at + 4] = (10**9).to_bytes(4, "little")
    path.write_bytes(raw)
    with pytest.raises(CorruptData, match="grow to more than"):
        parse_matlab(path, ["x"])


def test_a_variable_that_is_there_twice(tmp_path: Path):
    path = tmp_path / "x.mat"
    savemat(path, {"x": np.eye(2)})
    raw = path.read_bytes()
    path.write_bytes(raw + raw[128:])
    with pytest.raises(CorruptData, match="variable x: is there twice"):
        parse_matlab(path, ["x"])


def test_a_header_that_python_cannot_split(tmp_path: Path):
    path = tmp_path / "x.npy"
    np.save(path, np.eye(2))
    path.write_bytes(path.read_bytes().replace(b"}", b"("))
    with pytest.raises(CorruptData, match=r"x\.npy: "):
        parse_npy(path)
