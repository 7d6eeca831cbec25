"""The registry's reader: what it accepts, and the line that it answers to a wrong file."""

from __future__ import annotations

import os
import re

import pytest

from marginbook.datasets import UnknownDataset, registry
from marginbook.datasets.dataset import RegistryError
from marginbook.datasets.registry import entry

SHA = "a" * 64
GOOD = f"""
[prefix]
here = "https://example.org/data/"
[wheel.pack]
version = "1.0"
sha256 = "{SHA}"
bytes = 10
[citation]
me = "Me (2020)"
[set.toy]
title = "Toy"
n = 3
p = 2
classes = {{ a = 1, b = 2 }}
licence = "none"
citation = "me"
aliases = ["Toy One"]
[[set.toy.source]]
kind = "wheel"
wheel = "pack"
format = "keel"
member = "pack/toy.dat"
parts = [["all", "{SHA}", 5]]
[[set.toy.source]]
kind = "url"
format = "text"
url = "{{here}}toy-{{part}}.csv"
parts = [["train", "{SHA}", 5], ["test", "{SHA}", 6]]
"""


def test_prefixes_and_parts_are_expanded(write):
    toy = registry(write("r.toml", GOOD))["toy"]
    assert toy.classes == {"a": 1, "b": 2}
    assert [file.address for file in toy.sources[1].files] == [
        "https://example.org/data/toy-train.csv",
        "https://example.org/data/toy-test.csv",
    ]
    assert toy.sources[0].wheel.package == "pack"
    assert toy.sources[1].bytes == 11


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("licence =", "license =", "set toy: unknown key 'license'; known: .*"),
        ('licence = "none"', "", "set toy: licence is missing"),
        ('citation = "me"', 'citation = "you"', r"set toy: citation 'you' is not in \[citation\]"),
        ("b = 2", "b = 3", "set toy: the class counts sum to 4, n is 3"),
        ("p = 2", "p = 0", "set toy: n and p must be positive integers"),
        ('title = "Toy"', 'title = "Toy"\nstatus = "lost"', r"set toy: needs a source, .* 'lost'\)"),
        ('kind = "url"', 'kind = "url"\nsum = 1\nadress = ""', "set toy: unknown key 'adress' in a source"),
        ('kind = "url"', 'kind = "ftp"', "set toy: source kind 'ftp', wanted one of bundled, wheel, url"),
        ('wheel = "pack"', 'wheel = "sack"', r"set toy: wheel 'sack' is not in \[wheel\]"),
        ("{here}", "{there}", r"set toy: prefix 'there' is not in \[prefix\]"),
        (f'["all", "{SHA}"', '["all", "abc"', "set toy: sha256 'abc', wanted 64 hexadecimal digits"),
        (f'parts = [["all", "{SHA}", 5]]', "", "set toy: a wheel source needs files or parts"),
        ('title = "Toy"', 'title = "Toy"\nstatus = "unavailable"', "set toy: an unavailable set needs .*"),
        ("[prefix]", "[prefix", r".*r\.toml: .*line 2.*"),
    ],
)
def test_a_wrong_registry_is_one_line_that_names_the_place(write, old, new, message):
    assert old in GOOD
    with pytest.raises(RegistryError) as error:
        registry(write("r.toml", GOOD.replace(old, new, 1)))
    assert re.fullmatch(message, str(error.value)), str(error.value)


def test_a_name_is_given_once(write):
    twice = GOOD + GOOD[GOOD.index("[set.toy]") :].replace("set.toy", "set.toy-one").replace("Toy One", "x")
    with pytest.raises(RegistryError, match="set toy-one: the name 'toy-one' belongs to toy"):
        registry(write("r.toml", twice))


def test_no_registry(tmp_path):
    with pytest.raises(RegistryError, match=r"cannot read the registry .*: No such file"):
        registry(tmp_path / "none.toml")


def test_a_changed_registry_is_read_again(write):
    path = write("r.toml", GOOD)
    assert registry(path)["toy"].title == "Toy"
    path.write_text(GOOD.replace('"Toy"', '"Other"'))
    os.utime(path, ns=(1, 1))
    assert registry(path)["toy"].title == "Other"


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("page-blocks-1-3_vs_4", "page-blocks-13vs4"),
        ("page-blocks-13vs45", "page-blocks-13vs4"),
        ("New Thyroid 2", "new-thyroid2"),
        ("yeast-0-5-6-7-9_vs_4", "yeast-05679vs4"),
        ("GLASS2", "glass2"),
    ],
)
def test_the_spellings_of_paper_and_keel_find_the_set(alias, name):
    assert entry(alias).name == name


def test_an_unknown_name_suggests_near_ones():
    with pytest.raises(UnknownDataset, match=r"no data set 'glas2'; did you mean glass2.*\?"):
        entry("glas2")
    with pytest.raises(UnknownDataset, match="; `marginbook data list` shows all"):
        entry("qqqqqq")
