"""KEEL, ARFF, delimited text, LIBSVM: what they read, and the line that they blame when it is damaged."""

from __future__ import annotations

import bz2
import gzip
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginbook.datasets.dataset import CorruptData
from marginbook.datasets.parsers import parse_arff, parse_keel, parse_libsvm, parse_text

KEEL = """@relation toy
@attribute Width real [0.0, 9.0]
@attribute Colour {red, blue}
@attribute Class {positive, negative}
@inputs Width, Colour
@outputs Class
@data
1.5, red, negative
2.5, <null>, positive
"""

ARFF = """% a comment
@RELATION 'horse colic'
@attribute 'body temp' REAL
@attribute pain { none, 'a lot', "don't know" }
@attribute Class {'yes', 'no'}

@data
38.5, 'a lot', yes
% another
?,"don't know",'no'
"""


def blames(parse, path, message, **options):
    with pytest.raises(CorruptData) as error:
        parse(path, **options)
    assert re.fullmatch(re.escape(path.name) + message, str(error.value)), str(error.value)


class TestKeel:
    def test_header_values_and_missing(self, write):
        table = parse_keel(write("toy.dat", KEEL))
        assert table.names == ["Width", "Colour", "Class"]
        assert table.levels == {"Colour": ("red", "blue"), "Class": ("positive", "negative")}
        np.testing.assert_array_equal(table.columns[0], [1.5, 2.5])
        assert table.columns[1].tolist() == ["red", None]

    def test_rows_without_header(self, write):
        table = parse_keel(write("toy.dat", "1.5, a, negative\n?, b, positive\n"))
        assert table.names == ["x1", "x2", "class"]
        np.testing.assert_array_equal(table.columns[0], [1.5, np.nan])
        assert table.columns[1].tolist() == ["a", "b"]

    def test_windows_line_ends(self, write):
        assert len(parse_keel(write("toy.dat", KEEL.replace("\n", "\r\n")))) == 2

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ("1.5, red, negative", "1.5, red", ", line 8: got 2 values, wanted 3; fetch the file again"),
            ("2.5,", "2x5,", ", line 9: Width is '2x5', wanted a finite number; fetch the file again"),
            ("2.5,", "inf,", ", line 9: Width is 'inf', wanted a finite number; fetch the file again"),
            (" red, neg", " rad, neg", ", line 8: Colour is 'rad', wanted one of red, blue; fetch .*"),
            (", positive\n", ", posit", ", line 9: Class is 'posit', wanted one of positive, negative; .*"),
            ("real [0.0, 9.0]", "complex", ", line 2: attribute type 'complex', wanted real, integer .*"),
            ("@attribute Colour {", "@attribute Colour [", ", line 3: cannot read '@attribute Colour .*"),
            ("@inputs", "inputs", ", line 5: got 'inputs Width, Colour', wanted a header line or @data; .*"),
            ("@data\n", "", ", line 7: got '1.5, red, negative', wanted a header line or @data; .*"),
        ],
    )
    def test_damage(self, write, old, new, message):
        assert old in KEEL
        blames(parse_keel, write("toy.dat", KEEL.replace(old, new)), message)

    def test_cut_short(self, write):
        blames(
            parse_keel,
            write("a.dat", KEEL.partition("@attribute C")[0]),
            ": no @data line; the file is cut short, fetch it again",
        )
        blames(
            parse_keel, write("e.dat", KEEL[:60]), ", line 3: cannot read '@attribute Co' as an attribute; .*"
        )
        blames(
            parse_keel, write("b.dat", KEEL.partition("1.5")[0]), ": no records; the file is cut short, .*"
        )
        blames(parse_keel, write("c.dat", ""), ": no records; the file is cut short, fetch it again")
        blames(parse_keel, write("d.dat", "@data\n1,2\n"), ", line 1: @data before any @attribute; .*")

    def test_bytes_that_are_no_text(self, write):
        blames(parse_keel, write("a.dat", b"1, 2, a\n\0\0\0"), ": byte 8 is zero, wanted text; .*")

    def test_rows_without_header_and_one_stray_text(self, write):
        text = "1.5, a, n\n2.5, b, p\nabc, b, p\n"
        blames(parse_keel, write("a.dat", text), ", line 3: x1 is 'abc', wanted a finite number; .*")

    def test_rows_without_header_of_other_width(self, write):
        blames(parse_keel, write("a.dat", "1,2,n\n\n1,2,3,n\n"), ", line 3: got 4 values, wanted 3; .*")


@given(
    rows=st.lists(
        st.tuples(
            st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)),
            st.one_of(st.none(), st.sampled_from(["red", "blue"])),
            st.sampled_from(["positive", "negative"]),
        ),
        min_size=1,
    )
)
def test_what_is_written_as_keel_or_arff_is_read_back(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("round")
    body = "".join(", ".join("?" if v is None else str(v) for v in row) + "\n" for row in rows)
    head = (
        "@relation r\n@attribute w real\n@attribute c {red, blue}\n@attribute y {positive, negative}\n@data\n"
    )
    for parse, name in ((parse_keel, "a.dat"), (parse_arff, "a.arff")):
        (folder / name).write_text(head + body)
        table = parse(folder / name)
        want = [
            [np.nan if v is None else v for v, _, _ in rows],
            [c for _, c, _ in rows],
            [y for *_, y in rows],
        ]
        np.testing.assert_array_equal(table.columns[0], want[0])
        assert [column.tolist() for column in table.columns[1:]] == want[1:]


class TestArff:
    def test_quotes_comments_and_missing(self, write):
        table = parse_arff(write("toy.arff", ARFF))
        assert table.names == ["body temp", "pain", "Class"]
        assert table.levels["pain"] == ("none", "a lot", "don't know")
        np.testing.assert_array_equal(table.columns[0], [38.5, np.nan])
        assert table.columns[1].tolist() == ["a lot", "don't know"]
        assert table.columns[2].tolist() == ["yes", "no"]

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ("38.5, 'a lot', yes", "38.5, yes", ", line 8: got 2 values, wanted 3; fetch the file again"),
            ("38.5", "38,5", ", line 8: got 4 values, wanted 3; fetch the file again"),
            ("38.5", "hot", ", line 8: body temp is 'hot', wanted a finite number; fetch the file again"),
            ("'a lot', yes", "'a lot, yes", ', line 8: cannot read " \'a lot, yes": a quote is open .*'),
            ("'a lot', yes", "'a bit', yes", ", line 8: pain is 'a bit', wanted one of none, a lot, .*"),
            ("REAL", "date", ", line 3: attribute type 'date', wanted numeric, string or {values}; .*"),
            ("@attribute pain", "@attrib pain", ", line 4: got '@attrib pain .*, wanted @relation, .*"),
            ("38.5, 'a lot', yes", "{0 38.5}", ", line 8: a sparse record, wanted a dense one; .*"),
            ("@data", "% data", ", line 8: got .*, wanted @relation, @attribute or @data; .*"),
        ],
    )
    def test_damage(self, write, old, new, message):
        assert old in ARFF
        blames(parse_arff, write("toy.arff", ARFF.replace(old, new)), message)

    def test_cut_short(self, write):
        head = ARFF.partition("@data")[0]
        blames(parse_arff, write("a.arff", head), ": no @data line; the file is cut short, fetch it again")
        blames(parse_arff, write("b.arff", head + "@data\n"), ": no records; the file is cut short, .*")
        blames(parse_arff, write("c.arff", "@data\n"), ", line 1: @data before any @attribute; .*")


class TestText:
    def test_numbers_and_trailing_delimiter(self, write):
        table = parse_text(write("a.csv", "1,2,3,\n4,5,6,\n"))
        np.testing.assert_array_equal(np.column_stack(table.columns), [[1, 2, 3], [4, 5, 6]])

    def test_blanks_and_tabs(self, write):
        table = parse_text(write("a.txt", " 1.0e+0\t 2\n3   4\n"), delimiter=None)
        np.testing.assert_array_equal(np.column_stack(table.columns), [[1, 2], [3, 4]])

    def test_header_quotes_and_words(self, write):
        table = parse_text(write("a.csv", '"width, mm",kind\n1.5,"a, b"\n?,c\n'), header=True)
        assert table.names == ["width, mm", "kind"]
        np.testing.assert_array_equal(table.columns[0], [1.5, np.nan])
        assert table.columns[1].tolist() == ["a, b", "c"]

    def test_gzip(self, write):
        assert len(parse_text(write("a.csv.gz", gzip.compress(b"1,2\n3,4\n")))) == 2

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("1,2,3\n4,5\n", ", line 2: got 2 values, wanted 3; fetch the file again"),
            ("1,2\n\n3,x\n", ", line 3: x2 is 'x', wanted a finite number; fetch the file again"),
            ("1,2\n3,nan\n", ", line 2: x2 is 'nan', wanted a finite number; fetch the file again"),
            ('1,a\n2,"b\n', ", line 2: unexpected end of data; fetch the file again"),
            ("", ": no records; the file is cut short, fetch it again"),
            ("\n \n", ": no records; the file is cut short, fetch it again"),
        ],
    )
    def test_damage(self, write, text, message):
        blames(parse_text, write("a.csv", text), message)

    def test_only_a_header(self, write):
        blames(parse_text, write("a.csv", "a,b\n"), ": no records; .*", header=True)

    @pytest.mark.parametrize("cut", [5, 12, 20])
    def test_gzip_cut_short(self, write, cut):
        whole = gzip.compress(b"1,2\n3,4\n" * 100)
        blames(parse_text, write("a.csv.gz", whole[:cut]), ": cannot decompress: .*; fetch the file again")


class TestLibsvm:
    GOOD = "-1 1:0.5 3:2\n+1 2:1e-3\n-1\n"

    def test_plain_and_bz2_agree(self, write):
        X, y = parse_libsvm(write("a.txt", self.GOOD), 4)
        Z, z = parse_libsvm(write("a.bz2", bz2.compress(self.GOOD.encode())), 4)
        np.testing.assert_array_equal(X.toarray(), [[0.5, 0, 2, 0], [0, 1e-3, 0, 0], [0, 0, 0, 0]])
        np.testing.assert_array_equal(X.toarray(), Z.toarray())
        assert y.tolist() == z.tolist() == [-1, 1, -1]

    def test_indices_from_zero(self, write):
        X, _ = parse_libsvm(write("a.txt", "1 0:2 2:3\n"), 3, zero_based=True)
        np.testing.assert_array_equal(X.toarray(), [[2, 0, 3]])

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ("2:1e-3", "2;1e-3", ", line 2: got '2;1e-3', wanted index:value; fetch the file again"),
            ("2:1e-3", "2:1e-", ", line 2: value '1e-' of feature 2, wanted a finite number; .*"),
            ("2:1e-3", "2:inf", ", line 2: value 'inf' of feature 2, wanted a finite number; .*"),
            ("+1 2", "spam 2", ", line 2: label 'spam', wanted a number; fetch the file again"),
            ("1:0.5 3:2", "3:2 1:0.5", ", line 1: index 1 after 3, wanted increasing indices from 1; .*"),
            ("1:0.5", "0:0.5", ", line 1: index 0 after 0, wanted increasing indices from 1; .*"),
            ("3:2", "9:2", ", line 1: index 9, wanted at most 4; fetch the file again"),
        ],
    )
    def test_damage(self, write, old, new, message):
        assert old in self.GOOD
        text = self.GOOD.replace(old, new)
        blames(parse_libsvm, write("a.txt", text), message, n_features=4)
        blames(parse_libsvm, write("a.bz2", bz2.compress(text.encode())), message, n_features=4)

    def test_compressed_file_cut_short(self, write):
        whole = bz2.compress(self.GOOD.encode() * 50)
        blames(
            parse_libsvm,
            write("a.bz2", whole[: len(whole) // 2]),
            ", after line 0: cannot decompress: .*; fetch the file again",
            n_features=4,
        )
        blames(parse_libsvm, write("b.bz2", b"<html>"), ", after line 0: cannot decompress: .*", n_features=4)

    def test_nothing(self, write):
        blames(parse_libsvm, write("a.txt", ""), ": .*", n_features=4)
