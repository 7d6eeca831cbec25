"""Facts of the cache: asked for by content, computed once, and never the worse for a damaged file."""

from __future__ import annotations

import os

import pytest

from marginbook import claims
from marginbook.base import fingerprint
from marginbook.base import remembered as module
from marginbook.base.remembered import Remembered, sha256
from marginbook.claims import catalogue

from .test_fingerprint import A, B, package

__all__ = ["package"]


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("MARGINBOOK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "code"


def no() -> object:
    raise AssertionError("computed again")


def test_another_process_knows_it_and_another_version_does_not(cache):
    facts = Remembered("toy", "1")
    assert facts.get("k", lambda: [1], list) == [1]
    facts.save()
    assert Remembered("toy", "1").get("k", no, list) == [1]
    assert Remembered("toy", "2").get("k", lambda: [2], list) == [2]
    assert Remembered("toy", "1").get("k", lambda: "new", str) == "new"  # not the kind that is wanted


def test_two_processes_keep_what_both_found():
    one, other = Remembered("toy", "1"), Remembered("toy", "1")
    one.get("a", lambda: "a", str)
    other.get("b", lambda: "b", str)
    one.save()
    other.save()
    assert [Remembered("toy", "1").get(key, no, str) for key in "ab"] == ["a", "b"]


@pytest.mark.parametrize("text", ["", "{", "[]", '["1", []]', "\0", '["1", {"k": 5}]'])
def test_a_damaged_file_costs_time_only(cache, text):
    cache.mkdir(parents=True)
    (cache / "toy.json").write_text(text)
    facts = Remembered("toy", "1")
    assert facts.get("k", lambda: "v", str) == "v"
    facts.save()
    assert Remembered("toy", "1").get("k", no, str) == "v"


def test_a_folder_that_cannot_be_written_costs_time_only(cache):
    cache.parent.mkdir(parents=True)
    cache.write_text("a file where the folder should be")
    facts = Remembered("toy", "1")
    assert facts.get("k", lambda: "v", str) == "v"
    facts.save()


def test_old_facts_are_forgotten_in_the_end(monkeypatch):
    monkeypatch.setattr(module, "MOST", 2)
    for number in range(3):
        facts = Remembered("toy", "1")
        facts._load()
        facts._facts.clear()
        facts.get(str(number), lambda: "v", str)
        facts.save()
    assert Remembered("toy", "1").get("2", no, str) == "v"
    assert Remembered("toy", "1").get("0", lambda: "new", str) == "new"


def test_where_one_part_ends_counts():
    assert sha256(b"ab", b"c") != sha256(b"a", b"bc")


def test_a_change_is_noticed_at_the_same_size_and_time(package, tmp_path):
    before = package(a=A, b=B)
    file = tmp_path / "toybook" / "b.py"
    times = file.stat().st_atime_ns, file.stat().st_mtime_ns
    changed = B.replace("1", "2")
    assert len(changed) == len(B)
    after = package(a=A, b=changed)
    os.utime(file, ns=times)
    assert after != before
    assert package(a=A, b=B) == before


def test_remembered_and_computed_fingerprints_are_the_same(monkeypatch):
    names = [f"marginbook.drm.{name}" for name in ("claims", "experiments", "solvers")]
    fingerprint._imports.cache_clear()
    first = [fingerprint.fingerprint(name) for name in names]
    for parsed in ("_tree", "_normalised", "_imports_of"):
        monkeypatch.setattr(fingerprint, parsed, lambda *given: no())
    fingerprint._imports.cache_clear()
    for facts in ("_IMPORTED", "_HASHES"):
        old = getattr(fingerprint, facts)
        monkeypatch.setattr(fingerprint, facts, Remembered(old._name, old._version))
    assert [fingerprint.fingerprint(name) for name in names] == first


def test_the_list_of_claims_is_the_ledger():
    names = (
        "id",
        "where",
        "statement",
        "notebook",
        "module",
        "function",
        "source",
        "depends",
        "slug",
        "paper",
    )
    (there, here) = (
        [[getattr(claim, name) for name in names] for claim in found]
        for found in (claims.listed(), claims.ledger().values())
    )
    assert here == there
    assert len(here) > 200


def test_a_claim_from_the_list_computes_what_its_check_does(monkeypatch):
    (real,) = claims.find(["drm/prop-III.1"])
    later = catalogue._Later(real.id, real.module, real.function)
    assert later() == real.check()
