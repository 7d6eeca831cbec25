"""MATLAB, R, npy, npz, IDX: what they read, what they refuse, and where they say the damage is."""

from __future__ import annotations

import gzip
import pickle
import re
import struct
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import rdata
from scipy.io import savemat
from scipy.sparse import csr_matrix, save_npz

from marginbook.datasets.dataset import CorruptData, DatasetError
from marginbook.datasets.parsers import limits, parse_idx, parse_matlab, parse_npy, parse_npz, parse_r
from marginbook.datasets.parsers.rfiles import as_array, as_table, pick


class Bomb:
    """Writes a file when unpickled: no parser may do that."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def blames(message, parse, *arguments):
    with pytest.raises(CorruptData) as error:
        parse(*arguments)
    assert re.fullmatch(message, str(error.value), re.DOTALL), str(error.value)


class TestMatlab:
    def test_numbers(self, tmp_path):
        path = tmp_path / "a.mat"
        savemat(path, {"X": np.arange(6).reshape(2, 3), "Y": csr_matrix(np.eye(2))})
        found = parse_matlab(path, ["X", "Y"])
        np.testing.assert_array_equal(found["X"], [[0, 1, 2], [3, 4, 5]])
        np.testing.assert_array_equal(found["Y"].toarray(), np.eye(2))

    @pytest.mark.parametrize(
        ("value", "kind"),
        [
            (np.array([[1, "a"]], dtype=object), "cell"),
            ({"f": 1.0}, "struct"),
            ("text", "char"),
        ],
    )
    def test_anything_but_numbers_is_refused(self, tmp_path, value, kind):
        path = tmp_path / "a.mat"
        savemat(path, {"X": value})
        blames(f"a.mat, variable X: is of class {kind}, wanted numbers", parse_matlab, path, ["X"])

    def test_a_missing_variable(self, tmp_path):
        path = tmp_path / "a.mat"
        savemat(path, {"fea": 1, "gnd": 2})
        blames(r"a.mat: no variable 'X'; it holds fea, gnd", parse_matlab, path, ["X"])

    def test_cut_short(self, tmp_path, write):
        path = tmp_path / "a.mat"
        savemat(path, {"X": np.random.default_rng(0).random((50, 40))}, do_compression=True)
        whole = path.read_bytes()
        blames("b.mat.*fetch the file again", parse_matlab, write("b.mat", whole[:5000]), ["X"])
        blames(r"c.mat: not a MATLAB v5 file \(.*", parse_matlab, write("c.mat", whole[:100]), ["X"])

    def test_altered_bytes(self, tmp_path, write):
        path = tmp_path / "a.mat"
        savemat(path, {"X": np.arange(2000.0)}, do_compression=True)
        whole = bytearray(path.read_bytes())
        whole[400:440] = b"\xff" * 40
        blames(
            "b.mat(, variable X)?: .*; fetch the file again",
            parse_matlab,
            write("b.mat", bytes(whole)),
            ["X"],
        )

    def test_a_variable_of_whole_pieces_and_a_byte_hides_no_bomb(self, tmp_path, monkeypatch):
        path = tmp_path / "a.mat"
        savemat(path, {"A": np.arange(9.0), "X": np.zeros(10**6)}, do_compression=True)
        size = int.from_bytes(path.read_bytes()[132:136], sys.byteorder)  # of the first variable, compressed
        monkeypatch.setattr(limits, "_CHUNK", size - 1)
        monkeypatch.setattr(limits, "FLOOR", 1 << 20)
        blames("a.mat: .* bytes grow to more than .*", parse_matlab, path, ["A"])

    def test_something_else(self, write):
        blames(r"a.mat: not a MATLAB v5 file .*", parse_matlab, write("a.mat", "<html>" * 100), ["X"])
        v73 = b"MATLAB 7.3 MAT-file".ljust(124) + b"\0\2IM" + b"\x89HDF\r\n" * 20
        blames("a.mat: a MATLAB v7.3 file, wanted v5 to v7", parse_matlab, write("a.mat", v73), ["X"])


class TestR:
    @pytest.fixture
    def rda(self, tmp_path):
        import pandas as pd

        frame = pd.DataFrame({"w": [1.5, 2.5, 0.5], "kind": pd.Categorical(["b", "b", "a"])})
        path = tmp_path / "a.rda"
        rdata.write_rda(path, {"frame": frame, "m": np.arange(6.0).reshape(2, 3)})
        return path

    def test_matrix_and_frame(self, rda):
        content = parse_r(rda)
        np.testing.assert_array_equal(as_array(pick(content, "m", "a")), [[0, 1, 2], [3, 4, 5]])
        table = as_table(pick(content, "frame", "a"), "a")
        assert table.names == ["w", "kind"]
        np.testing.assert_array_equal(table.columns[0], [1.5, 2.5, 0.5])
        assert table.columns[1].tolist() == ["b", "b", "a"]
        assert table.levels == {"kind": ("a", "b")}

    def test_missing_values_of_a_factor(self):
        import pandas as pd

        table = as_table(pd.DataFrame({"kind": pd.Categorical(["b", None])}), "a")
        assert table.columns[0].tolist() == ["b", None]

    def test_a_missing_variable(self, rda):
        blames("a.rda: no variable 'x'; at 'x' it holds frame, m", pick, parse_r(rda), "x", "a.rda")

    def test_an_address_leads_through_lists_and_slots(self):
        content = {"EEG": SimpleNamespace(y={"data": 3})}
        assert pick(content, "EEG/y/data", "a") == 3
        blames("a: no variable 'EEG/x'; at 'x' it holds y", pick, content, "EEG/x", "a")
        blames("a: no variable 'keys'; at 'keys' it holds EEG", pick, content, "keys", "a")

    def test_not_a_frame(self, rda):
        blames("a: is a ndarray, wanted a data frame", as_table, pick(parse_r(rda), "m", "a"), "a")

    def test_damage(self, rda, write):
        whole = rda.read_bytes()
        blames(r"b.rda: not an R data file \(.*\); fetch the file again", parse_r, write("b.rda", whole[:-9]))
        blames(
            r"c.rda: not an R data file \(.*\); fetch .*", parse_r, write("c.rda", whole[: len(whole) // 2])
        )
        blames(r"d.rda: not an R data file \(.*\); fetch .*", parse_r, write("d.rda", "<html>moved</html>"))
        blames(r"e.rda: not an R data file \(.*\); fetch .*", parse_r, write("e.rda", b""))


class TestNumpy:
    def test_npy(self, tmp_path):
        np.save(tmp_path / "a.npy", np.arange(4))
        np.testing.assert_array_equal(parse_npy(tmp_path / "a.npy"), np.arange(4))

    def test_npy_damage(self, tmp_path, write):
        np.save(tmp_path / "a.npy", np.arange(400))
        whole = (tmp_path / "a.npy").read_bytes()
        blames("b.npy: .*; fetch the file again", parse_npy, write("b.npy", whole[:500]))
        blames("c.npy: .*; fetch the file again", parse_npy, write("c.npy", "<html>"))
        blames("d.npy: .*; fetch the file again", parse_npy, write("d.npy", b""))

    @pytest.mark.fault("data file", "npy and npz with pickled code")
    def test_nothing_is_unpickled(self, tmp_path, write, told):
        bomb = tmp_path / "exploded"
        np.save(tmp_path / "a.npy", np.array([Bomb(bomb)], dtype=object), allow_pickle=True)
        np.savez(tmp_path / "b.npz", format=np.array([Bomb(bomb)], dtype=object), shape=(1, 1))
        blames("a.npy: .*allow_pickle.*", parse_npy, tmp_path / "a.npy")
        blames("b.npz: .*", parse_npz, tmp_path / "b.npz")
        blames("c.npy: .*", parse_npy, write("c.npy", pickle.dumps(Bomb(bomb))))
        assert not bomb.exists()
        with pytest.raises(CorruptData) as error:
            parse_npy(tmp_path / "a.npy")
        told(error.value)

    def test_npz(self, tmp_path, write):
        matrix = csr_matrix(np.eye(3))
        save_npz(tmp_path / "a.npz", matrix)
        np.testing.assert_array_equal(parse_npz(tmp_path / "a.npz").toarray(), np.eye(3))
        whole = (tmp_path / "a.npz").read_bytes()
        blames("b.npz: .*; fetch the file again", parse_npz, write("b.npz", whole[:-40]))
        np.savez(tmp_path / "c.npz", data=np.ones(2))
        blames("c.npz: .*; fetch the file again", parse_npz, tmp_path / "c.npz")


def idx(array):
    kind = {"u1": 8, "i4": 12, "f4": 13}[array.dtype.str[1:]]
    head = bytes([0, 0, kind, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.astype(array.dtype.newbyteorder(">")).tobytes()


class TestIdx:
    @pytest.mark.parametrize("kind", ["u1", "i4", "f4"])
    def test_round_trip(self, write, kind):
        array = np.arange(24).reshape(2, 3, 4).astype(kind)
        np.testing.assert_array_equal(parse_idx(write("a-idx3", idx(array))), array)
        np.testing.assert_array_equal(parse_idx(write("a-idx3.gz", gzip.compress(idx(array)))), array)

    def test_damage_is_placed(self, write):
        good = idx(np.arange(24, dtype="u1").reshape(2, 3, 4))
        blames("a, byte 30: got 30 bytes, wanted 40; fetch the file again", parse_idx, write("a", good[:30]))
        blames("a, byte 40: got 43 bytes, wanted 40; fetch .*", parse_idx, write("a", good + b"xyz"))
        blames("a, byte 10: the header ends early; fetch .*", parse_idx, write("a", good[:10]))
        blames("a, byte 0: got 3c68746d, wanted an IDX magic number", parse_idx, write("a", b"<html>"))
        blames("a, byte 0: got nothing, wanted an IDX magic number", parse_idx, write("a", b""))

    def test_compressed_file_cut_short(self, write):
        whole = gzip.compress(idx(np.arange(24, dtype="u1")))
        blames("a.gz: cannot decompress: .*; fetch .*", parse_idx, write("a.gz", whole[:-6]))
        altered = whole[:12] + b"\xff\xff\xff" + whole[15:]
        blames("b.gz: cannot decompress: .*; fetch .*", parse_idx, write("b.gz", altered))


def test_a_scipy_that_may_crash_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr("scipy.__version__", "1.16.2")
    message = r"a\.mat: SciPy 1\.16\.2 may crash on MATLAB files: pip install 'scipy>=1\.17'"
    with pytest.raises(DatasetError, match=message):
        parse_matlab(tmp_path / "a.mat", ["X"])
