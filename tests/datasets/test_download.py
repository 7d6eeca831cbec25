"""One URL: truncated, altered, redirected, stalled, resumed, fetched by several processes."""

from __future__ import annotations

import errno
import hashlib
import multiprocessing
from dataclasses import replace
from pathlib import Path

import pytest

from marginbook.datasets import cache as store
from marginbook.datasets import download
from marginbook.datasets.dataset import CorruptData, FetchError, HostUnreachable
from marginbook.datasets.registry import File

BODY = bytes(range(256)) * 4096  # 1 MB


def files_in(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir() if p.is_file()) if folder.exists() else []


def test_a_good_file_lands_under_its_hash(cache, site):
    site.add("/a.dat", BODY)
    file = site.file("/a.dat", BODY)
    counted = []
    path = download.fetch_url(file, counted.append)
    assert path.read_bytes() == BODY
    assert path.name == f"{hashlib.sha256(BODY).hexdigest()[:16]}-a.dat"
    assert sum(counted) == len(BODY)
    assert files_in(cache) == [path.name]


@pytest.mark.fault("download", "altered file")
def test_an_altered_file_names_both_hashes_and_leaves_the_cache_as_it_was(cache, site, told):
    good = site.file("/b.dat", b"other")
    site.add("/b.dat", b"other")
    download.fetch_url(good)
    before = files_in(cache)
    altered = BODY[:-1] + b"x"
    site.add("/a.dat", altered)
    with pytest.raises(CorruptData) as error:
        download.fetch_url(site.file("/a.dat", BODY))
    assert hashlib.sha256(altered).hexdigest() in str(error.value)
    assert hashlib.sha256(BODY).hexdigest() in str(error.value)
    assert files_in(cache) == before
    told(error.value)


@pytest.mark.fault("download", "file shorter than in the registry")
def test_a_shorter_file_than_promised_is_an_error_with_both_hashes(cache, site, told):
    short = BODY[:1000]
    site.add("/a.dat", short)
    with pytest.raises(CorruptData) as error:
        download.fetch_url(site.file("/a.dat", BODY))
    assert f"got sha256 {hashlib.sha256(short).hexdigest()} (1000 bytes)" in str(error.value)
    assert f"wanted sha256 {hashlib.sha256(BODY).hexdigest()} ({len(BODY)} bytes)" in str(error.value)
    assert files_in(cache) == []
    told(error.value)


def test_a_shorter_file_in_pieces_is_told_with_its_true_size_and_hash(cache, site):
    """The end of the last piece is the end of the file, although no length was announced."""
    short = BODY[:1000]
    site.add("/a.dat", short, "chunked")
    with pytest.raises(CorruptData) as error:
        download.fetch_url(site.file("/a.dat", BODY))
    assert f"got sha256 {hashlib.sha256(short).hexdigest()} (1000 bytes)" in str(error.value)
    assert site.hits == 1
    assert files_in(cache) == []


@pytest.mark.parametrize("cut", ["chunked, cut in a piece", "chunked, cut between pieces"])
def test_a_file_in_pieces_that_is_cut_is_continued(cache, site, cut):
    site.add("/a.dat", BODY, cut, "chunked")
    assert download.fetch_url(site.file("/a.dat", BODY)).read_bytes() == BODY
    assert site.ranges[0] is None
    assert site.ranges[1].startswith("bytes=")
    assert site.hits == 2


@pytest.mark.parametrize("longer", [1, 100, 700_000])
def test_of_a_longer_file_the_true_size_and_hash_are_told(cache, site, monkeypatch, longer):
    """So that a wrong count of bytes in the registry can be put right; no more is written than it allows."""
    body, written = BODY + b"x" * longer, []
    site.add("/a.dat", body)
    file = replace(site.file("/a.dat", body), bytes=len(BODY))
    look = download.cache.too_long

    def watched(*given):
        error = look(*given)
        written.extend(path.stat().st_size for path in cache.iterdir() if path.is_file())
        return error

    monkeypatch.setattr(download.cache, "too_long", watched)
    true = hashlib.sha256(body).hexdigest()
    told = f"got sha256 {true} ({len(body)} bytes), wanted sha256 {true} ({len(BODY)} bytes)"
    with pytest.raises(CorruptData) as error:
        download.fetch_url(file)
    assert told in str(error.value)
    with pytest.raises(CorruptData) as error:
        store.install(iter([BODY, b"x" * longer]), file, "a wheel")
    assert str(error.value) == f"a wheel: {told}"
    assert files_in(cache) == []
    assert max(written) <= len(BODY) + store.CHUNK


def test_what_has_no_end_is_not_read_for_ever(cache, monkeypatch):
    taken = []

    def endless():
        while True:
            taken.append(1)
            yield bytes(1 << 16)

    file = File("all", "x", "0" * 64, 5)
    monkeypatch.setattr(store, "AT_LEAST", 1 << 20)
    with pytest.raises(CorruptData, match=r"x: got \d+ bytes and more, wanted 5$"):
        store.install(endless(), file, "x")
    assert len(taken) <= 18
    monkeypatch.setattr(store, "AT_LEAST", 1 << 60)
    monkeypatch.setattr(store, "PATIENCE", 0.05)  # seconds, for a server that sends slowly
    with pytest.raises(CorruptData, match=r"and more, wanted 5$"):
        store.install(endless(), file, "x")
    assert files_in(cache) == []


@pytest.mark.parametrize(
    ("pieces", "told"), [(20, r"got sha256 \w+ \(100 bytes\)"), (21, "got 105 bytes and more")]
)
def test_the_true_size_is_told_up_to_twenty_times_the_stated_one(cache, monkeypatch, pieces, told):
    monkeypatch.setattr(store, "AT_LEAST", 0)
    with pytest.raises(CorruptData, match=told):
        store.install([bytes(5)] * pieces, File("all", "x", "0" * 64, 5), "x")


@pytest.mark.fault("download", "connection cut in the middle")
def test_a_cut_connection_is_continued_where_it_ended(cache, site, told):
    site.add("/a.dat", BODY, "truncate")
    assert download.fetch_url(site.file("/a.dat", BODY)).read_bytes() == BODY
    assert site.ranges[0] is None
    assert site.ranges[1] == f"bytes={len(BODY) // 2}-"
    told("")


def test_a_part_file_of_an_earlier_run_is_continued(cache, site):
    site.add("/a.dat", BODY)
    file = site.file("/a.dat", BODY)
    cache.mkdir(parents=True)
    (cache / f".{file.cache_name}.part").write_bytes(BODY[:1000])
    counted = []
    assert download.fetch_url(file, counted.append).read_bytes() == BODY
    assert site.ranges == ["bytes=1000-"]
    assert sum(counted) == len(BODY)
    assert files_in(cache) == [file.cache_name]


def test_what_came_before_a_failure_is_kept_for_the_next_run(cache, site):
    site.add("/a.dat", BODY, *["truncate"] * download.ATTEMPTS)
    file = site.file("/a.dat", BODY)
    with pytest.raises(FetchError, match=r"\(4 attempts\); what was received is kept, run"):
        download.fetch_url(file)
    kept = (cache / f".{file.cache_name}.part").stat().st_size
    assert 0 < kept < len(BODY)
    assert download.fetch_url(file).read_bytes() == BODY
    assert site.ranges[-1] == f"bytes={kept}-"


@pytest.mark.fault("download", "part of another version left behind")
def test_a_part_file_of_another_version_is_thrown_away(cache, site, told):
    site.add("/a.dat", BODY)
    file = site.file("/a.dat", BODY)
    cache.mkdir(parents=True)
    (cache / f".{file.cache_name}.part").write_bytes(b"z" * 1000)
    assert download.fetch_url(file).read_bytes() == BODY
    assert site.ranges == ["bytes=1000-", None]
    told("")


def test_a_server_without_ranges_sends_all_again(cache, site):
    site.add("/a.dat", BODY, "truncate", "no-range")
    assert download.fetch_url(site.file("/a.dat", BODY)).read_bytes() == BODY


def test_an_answer_from_another_place_than_asked_is_not_appended(cache, site):
    """A part of the file, says the server, but of its beginning."""
    site.add("/a.dat", BODY, "truncate", "from-start")
    counted = []
    assert download.fetch_url(site.file("/a.dat", BODY), counted.append).read_bytes() == BODY
    assert site.ranges == [None, f"bytes={len(BODY) // 2}-"]
    assert sum(counted) == len(BODY)


@pytest.mark.parametrize("body", [BODY, b"x"], ids=["long", "one byte"])
def test_a_part_file_that_is_whole_is_not_asked_for_again(cache, site, body):
    file = site.file("/gone.dat", body)
    cache.mkdir(parents=True)
    (cache / f".{file.cache_name}.part").write_bytes(body)
    assert download.fetch_url(file).read_bytes() == body
    assert site.hits == 0


@pytest.mark.fault("download", "redirect to a web page")
def test_a_redirect_to_a_web_page_is_recognised(cache, site, told):
    site.add("/a.dat", BODY, "to-html")
    site.add("/login.html", b"<!DOCTYPE html><title>log in</title>")
    with pytest.raises(
        FetchError, match=r"sent a web page \(HTML\) from .*/login.html, not the file"
    ) as error:
        download.fetch_url(site.file("/a.dat", BODY))
    assert files_in(cache) == []
    told(error.value)


@pytest.mark.fault("download", "web page under another content type")
def test_a_web_page_under_another_content_type_is_recognised(cache, site, told):
    site.add("/a.dat", b"\n<html><body>moved</body></html>" + b" " * 2000)
    with pytest.raises(FetchError, match=r"web page \(HTML\), not the file") as error:
        download.fetch_url(site.file("/a.dat", BODY))
    assert files_in(cache) == []
    told(error.value)


@pytest.mark.fault("download", "file not on the server")
def test_a_missing_file_is_not_tried_again(cache, site, told):
    with pytest.raises(FetchError, match="answered 404") as error:
        download.fetch_url(site.file("/nowhere", BODY))
    assert site.hits == 1
    told(error.value)


@pytest.mark.fault("download", "server busy")
def test_a_busy_server_is_tried_again(cache, site, told):
    site.add("/a.dat", BODY, "error", "error")
    assert download.fetch_url(site.file("/a.dat", BODY)).read_bytes() == BODY
    assert site.hits == 3
    told("")


def test_each_wait_for_a_busy_server_is_twice_the_one_before(cache, site, monkeypatch):
    waits = []
    monkeypatch.setattr(download.time, "sleep", waits.append)
    site.add("/a.dat", BODY, *["error"] * (download.ATTEMPTS - 1))
    assert download.fetch_url(site.file("/a.dat", BODY)).read_bytes() == BODY
    assert waits == [download.BACK_OFF * factor for factor in (1, 2, 4)]


@pytest.mark.fault("download", "server does not answer")
def test_a_stalled_server_times_out(cache, site, monkeypatch, told):
    monkeypatch.setattr(download, "ATTEMPTS", 1)
    site.add("/a.dat", BODY, "stall")
    with pytest.raises(FetchError, match="timed out") as error:
        download.fetch_url(site.file("/a.dat", BODY))
    told(error.value)


@pytest.mark.fault("download", "host not there")
def test_a_host_that_does_not_answer_is_named(cache, site, told):
    file = File("all", "http://127.0.0.1:9/a.dat", hashlib.sha256(BODY).hexdigest(), len(BODY))
    with pytest.raises(
        HostUnreachable, match=r"^127.0.0.1:9 cannot be reached: .*; check the network, or set MARG"
    ) as error:
        download.fetch_url(file)
    told(error.value)


def test_an_interrupt_keeps_the_part_and_damages_nothing(cache, site):
    site.add("/a.dat", BODY)
    file = site.file("/a.dat", BODY)

    def interrupt(count: int) -> None:
        if count:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download.fetch_url(file, interrupt)
    assert files_in(cache) == [f".{file.cache_name}.part"]
    assert download.fetch_url(file).read_bytes() == BODY
    assert files_in(cache) == [file.cache_name]


def test_a_full_disk_is_said_and_leaves_nothing(cache, site):
    site.add("/a.dat", BODY)

    def full(count: int) -> None:
        if count:
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(FetchError, match="no space left; free some, or set MARGINBOOK_CACHE"):
        download.fetch_url(site.file("/a.dat", BODY), full)
    assert files_in(cache) == []


def test_a_part_file_that_cannot_be_made_is_told_with_the_reason(cache, site, monkeypatch):
    site.add("/a.dat", BODY)
    opened = Path.open

    def refused(path: Path, *given, **named):
        if path.suffix == ".part":
            raise OSError(errno.EACCES, "Permission denied")
        return opened(path, *given, **named)

    monkeypatch.setattr(Path, "open", refused)
    with pytest.raises(FetchError, match="cannot write there; set MARGINBOOK_CACHE to a folder of yours"):
        download.fetch_url(site.file("/a.dat", BODY))
    assert files_in(cache) == []


@pytest.fixture
def mirror(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "mirror"
    (folder / "example.org" / "a b").mkdir(parents=True)
    monkeypatch.setenv("MARGINBOOK_MIRROR", str(folder))
    return folder


def test_the_mirror_comes_first_and_its_path_is_decoded(cache, mirror):
    (mirror / "example.org" / "a b" / "c.dat").write_bytes(BODY)
    file = File("all", "https://example.org/a%20b/c.dat", hashlib.sha256(BODY).hexdigest(), len(BODY))
    assert download.fetch_url(file).read_bytes() == BODY


def test_an_altered_mirror_is_an_error_with_both_hashes(cache, mirror):
    (mirror / "example.org" / "c.dat").write_bytes(b"altered")
    file = File("all", "https://example.org/c.dat", hashlib.sha256(BODY).hexdigest(), len(BODY))
    with pytest.raises(CorruptData, match=hashlib.sha256(b"altered").hexdigest()):
        download.fetch_url(file)
    assert files_in(cache) == []


def test_a_url_cannot_leave_the_mirror(cache, mirror):
    (mirror.parent / "secret").write_bytes(BODY)
    assert download.mirrored("https://example.org/../../secret") is None
    assert download.mirrored("https://example.org/%2e%2e/%2e%2e/secret") is None


@pytest.mark.fault("cache", "file in the cache altered")
def test_an_altered_file_in_the_cache_is_named(cache, site, told):
    site.add("/a.dat", BODY)
    file = site.file("/a.dat", BODY)
    path = download.fetch_url(file)
    path.write_bytes(BODY[:-1] + b"x")
    with pytest.raises(
        CorruptData, match=r"damaged \(run `marginbook data fetch` again\): got sha256"
    ) as error:
        store.verified(file)
    assert download.fetch_url(file).read_bytes() == BODY
    told(error.value)


def _fetch_in_child(file: File, queue: multiprocessing.Queue) -> None:
    from marginbook.datasets.fetch import fetch_source
    from marginbook.datasets.registry import Source

    try:
        fetch_source(Source("url", "text", (file,)))
        queue.put(store.sha256_of(store.path_of(file)))
    except BaseException as error:
        queue.put(repr(error))


def test_processes_that_fetch_the_same_file_wait_for_each_other(cache, site):
    site.add("/a.dat", BODY)
    file = site.file("/a.dat", BODY)
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    children = [context.Process(target=_fetch_in_child, args=(file, queue)) for _ in range(3)]
    for child in children:
        child.start()
    answers = [queue.get(timeout=60) for _ in children]
    for child in children:
        child.join(30)
    assert answers == [file.sha256] * 3
    assert site.hits == 1
    assert files_in(cache) == [file.cache_name]
