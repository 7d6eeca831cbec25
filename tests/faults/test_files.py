"""Data files made to execute something, to fill the memory, or to lead a library out of its arrays."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat
from scipy.sparse import csc_matrix, csr_matrix, save_npz

from marginbook.datasets import cache as store
from marginbook.datasets.dataset import CorruptData
from marginbook.datasets.load import load_source
from marginbook.datasets.parsers import (
    limits,
    parse_idx,
    parse_libsvm,
    parse_matlab,
    parse_npy,
    parse_npz,
    parse_r,
    parse_text,
)
from marginbook.datasets.registry import File, Source, entry

from .conftest import refused

MEGABYTE = 1 << 20


def npy(shape: tuple[int, ...], body: bytes = b"") -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return file.getvalue() + body


def archive(*members: tuple[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, body in members:
            opened.writestr(name, body)
    return file.getvalue()


def matlab(**variables: object) -> bytes:
    file = io.BytesIO()
    savemat(file, variables, do_compression=True)
    return file.getvalue()


def astray(make: type) -> object:
    matrix = make(np.eye(3))
    matrix.indices[:] = 10**8
    return matrix


def sparse_npz(make: type) -> bytes:
    file = io.BytesIO()
    save_npz(file, astray(make))
    return file.getvalue()


def ints(*values: int) -> bytes:
    return struct.pack(f">{len(values)}i", *values)


def symbol(name: str) -> bytes:
    return ints(1, 9 | 64 << 12, len(name)) + name.encode()


def rdata(name: str, value: bytes) -> bytes:
    """Return R's binary format, version 3, with one named object."""
    head = b"RDX3\n" + b"X\n" + ints(3, 0x040201, 0x030500, 5) + b"UTF-8"
    return head + ints(2 | 1 << 10) + symbol(name) + value + ints(254)


def short_sequence(n: float) -> bytes:
    """``1:n`` as R writes it: its length, its first value, its step."""
    info = ints(2) + symbol("compact_intseq") + ints(2) + symbol("base") + ints(2, 13, 1, 13, 254)
    return ints(238) + info + ints(14, 3) + struct.pack(">3d", n, 1.0, 1.0) + ints(254)


#: the argument `x` of a function, without a default
FORMALS = ints(2 | 1 << 10) + symbol("x") + ints(251, 254)


def call(aim: Path) -> bytes:
    """``system("touch AIM")`` as a call that R would evaluate."""
    text = f"touch {aim}".encode()
    return ints(6) + symbol("system") + ints(2, 16, 1, 9 | 64 << 12, len(text)) + text + ints(254)


def exhausts(what: str, *values: object) -> object:
    return pytest.param(*values, marks=pytest.mark.fault("data file", what))


@pytest.mark.parametrize(
    ("name", "make", "parse", "says"),
    [
        exhausts(
            "npy that declares 8 TB",
            "a.npy",
            lambda: npy((10**12,)),
            parse_npy,
            "Unable to allocate|all data",
        ),
        exhausts(
            "npy whose size overflows", "a.npy", lambda: npy((2**62, 8)), parse_npy, "fetch the file again"
        ),
        exhausts(
            "npy that is an archive",
            "a.npy",
            lambda: archive(("x.npy", npy((1,), bytes(8)))),
            parse_npy,
            "is an archive of arrays",
        ),
        exhausts(
            "npz bomb",
            "a.npz",
            lambda: archive(("data.npy", npy((10**6,), bytes(8 * 10**6)))),
            parse_npz,
            "grow to more than",
        ),
        exhausts(
            "npz with indices outside (by rows)",
            "a.npz",
            lambda: sparse_npz(csr_matrix),
            parse_npz,
            "indices must be < 3",
        ),
        exhausts(
            "npz with indices outside (by columns)",
            "a.npz",
            lambda: sparse_npz(csc_matrix),
            parse_npz,
            "indices must be < 3",
        ),
        exhausts(
            "mat bomb",
            "a.mat",
            lambda: matlab(X=np.zeros(10**6)),
            lambda path: parse_matlab(path, ["X"]),
            "grow to more than",
        ),
        exhausts(
            "mat with indices outside",
            "a.mat",
            lambda: matlab(X=astray(csc_matrix)),
            lambda path: parse_matlab(path, ["X"]),
            "variable X: indices must be < 3",
        ),
        exhausts(
            "RData bomb, gzip",
            "a.rda",
            lambda: gzip.compress(b"RDX2\n" + bytes(5 * MEGABYTE)),
            parse_r,
            "grow to more than",
        ),
        exhausts(
            "RData bomb, xz",
            "a.rda",
            lambda: lzma.compress(b"RDX2\n" + bytes(5 * MEGABYTE)),
            parse_r,
            "grow to more than",
        ),
        exhausts(
            "RData compressed in layers",
            "a.rda",
            lambda: gzip.compress(bz2.compress(b"RDX2\n")),
            parse_r,
            "is compressed twice",
        ),
        exhausts(
            "RData with 1:2000000000",
            "a.rda",
            lambda: rdata("x", short_sequence(2e9)),
            parse_r,
            "grow to more than",
        ),
        exhausts(
            "gzip bomb of text",
            "a.gz",
            lambda: gzip.compress(b"1,2\n" * MEGABYTE),
            parse_text,
            "grow to more than",
        ),
        exhausts(
            "bzip2 bomb of text",
            "a.bz2",
            lambda: bz2.compress(b"1,2\n" * MEGABYTE),
            parse_text,
            "grow to more than",
        ),
        exhausts(
            "LIBSVM bomb in one line",
            "a.bz2",
            lambda: bz2.compress(b"1 1:" + b"0" * 4 * MEGABYTE),
            lambda path: parse_libsvm(path, 3),
            "grow to more than",
        ),
        exhausts(
            "IDX bomb", "a.gz", lambda: gzip.compress(bytes(4 * MEGABYTE)), parse_idx, "grow to more than"
        ),
        exhausts(
            "IDX whose size overflows",
            "a-idx",
            lambda: b"\0\0\x08\x04" + ints(*[2**16] * 4),
            parse_idx,
            "byte 20: got 20 bytes, wanted 18446744073709551636",
        ),
        exhausts(
            "IDX with 255 axes",
            "a-idx",
            lambda: b"\0\0\x08\xff" + ints(*[1] * 255) + b"x",
            parse_idx,
            "dimension",
        ),
    ],
)
def test_a_file_that_would_exhaust_or_crash(untouched, tmp_path, told, monkeypatch, name, make, parse, says):
    monkeypatch.setattr(limits, "FLOOR", MEGABYTE)
    path = tmp_path / name
    path.write_bytes(make())
    with refused(untouched, told, CorruptData, says):
        parse(path)


def test_what_real_files_grow_to_is_allowed(tmp_path):
    rng = np.random.default_rng(0)
    text = "\n".join(",".join(f"{value:.3f}" for value in row) for row in rng.random((20_000, 10)))
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    assert limits.allowed(path) >= 50 * len(text)
    assert len(parse_text(path)) == 20_000
    (tmp_path / "a.rda").write_bytes(rdata("x", short_sequence(5.0)))
    np.testing.assert_array_equal(parse_r(tmp_path / "a.rda")["x"], [1, 2, 3, 4, 5])


@pytest.mark.parametrize(
    ("what", "build"),
    [
        exhausts("RData with a promise", "promise", lambda code: ints(5) + code + ints(254)),
        exhausts(
            "RData with a closure", "closure", lambda code: ints(3 | 1 << 10) + ints(253) + FORMALS + code
        ),
        exhausts("RData with a call", "call", lambda code: code),
    ],
)
def test_code_of_r_is_not_run(untouched, tmp_path, told, what: str, build: Callable[[bytes], bytes]):
    """The set that names such an object is refused; the code that it holds never runs."""
    aim = tmp_path / "exploded"
    raw = rdata("x", build(call(aim)))
    file = File("all", f"https://example.org/{what}.rda", hashlib.sha256(raw).hexdigest(), len(raw))
    hostile = untouched / file.cache_name
    hostile.write_bytes(raw)
    source = Source("url", "r", (file,), {"frame": "x"})
    try:
        with refused(untouched, told, CorruptData):
            load_source(replace(entry("iris"), name=what, sources=(source,)), source)
    finally:
        hostile.unlink()
    assert not aim.exists()


@pytest.mark.fault("data file", "sparse matrix that crashed the interpreter")
def test_a_matrix_that_leads_out_of_its_arrays_ends_no_process(tmp_path, told):
    (tmp_path / "a.npz").write_bytes(sparse_npz(csc_matrix))
    code = "import sys; from pathlib import Path; from marginbook.datasets.parsers import parse_npz as p; "
    code += "p(Path(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "a.npz"], capture_output=True, text=True)
    assert done.returncode == 1
    told(done.stderr.strip().rpartition("\n")[2].partition(": ")[2])


def test_the_hash_is_looked_at_before_anything_is_parsed(cache, monkeypatch):
    cache.mkdir(parents=True)
    file = File("all", "https://example.org/a.npy", "0" * 64, 3)
    (cache / file.cache_name).write_bytes(b"xyz")
    # marginbook.datasets.load is the function; the module of that name is only in sys.modules
    loading = sys.modules["marginbook.datasets.load"]
    monkeypatch.setattr(loading, "build", lambda *a: pytest.fail("was parsed"))
    source = Source("url", "arrays", (file,))
    with pytest.raises(CorruptData, match="damaged"):
        load_source(replace(entry("iris"), name="a", sources=(source,)), source)
    assert store.path_of(file).read_bytes() == b"xyz"
