"""Disks that are full, read-only or broken, below the cache, the store and the results."""

from __future__ import annotations

import errno
import io
import os
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from marginbook.datasets import cache as store
from marginbook.datasets import command as data_command
from marginbook.datasets import download
from marginbook.datasets.dataset import FetchError
from marginbook.experiments.errors import ExperimentError, StoreError
from marginbook.experiments.export import export
from marginbook.experiments.runner import run
from marginbook.experiments.store import Store

from .conftest import refused

ID = "toyroom/folds"
BODY = b"1,2,a\n" * 1000


def quiet(path: Path) -> int:
    return run(ID, store=path, n_jobs=1, console=Console(file=io.StringIO())).done


def fill(disk: Path) -> Path:
    """Leave no byte free."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as stream:
        for size in (65536, 4096, 512, 1):
            with suppress(OSError):
                while stream.write(b"\1" * size) == size:
                    pass
    assert os.statvfs(disk).f_bavail == 0
    return ballast


@pytest.mark.fault("store", "disk full in the middle of a run")
def test_a_run_on_a_full_disk_keeps_what_was_finished(small_disk, tmp_path, told):
    path = tmp_path / "disk" / "s.sqlite"
    run(ID, store=path, n_jobs=1, splits=[1], console=Console(file=io.StringIO()))
    ballast = fill(tmp_path / "disk")
    with pytest.raises(StoreError, match=r"free some space and run again: finished tasks are kept") as error:
        quiet(path)
    told(error.value)
    ballast.unlink()
    with Store(path) as opened:
        opened.verify()
        assert len(opened.outcomes(ID)) == 2
    assert quiet(path) == 4


@pytest.mark.fault("store", "disk full from the start")
def test_a_store_on_a_full_disk(small_disk, tmp_path, told):
    fill(tmp_path / "disk")
    with pytest.raises(StoreError, match=r"cannot be written") as error:
        quiet(tmp_path / "disk" / "s.sqlite")
    told(error.value)


@pytest.mark.fault("export", "disk full below the results")
def test_results_on_a_full_disk_stay_as_they_were(small_disk, tmp_path, told):
    assert quiet(tmp_path / "s.sqlite") == 4
    out = tmp_path / "disk" / "out"
    export(ID, "quick", store=tmp_path / "s.sqlite", out=out)
    ballast = fill(tmp_path / "disk")
    with refused(out, told, ExperimentError, "No space left .*results stay in the store"):
        export(ID, "quick", store=tmp_path / "s.sqlite", out=out)
    ballast.unlink()
    assert len(export(ID, "quick", store=tmp_path / "s.sqlite", out=out)) == 3


@pytest.mark.fault("export", "results folder read-only")
def test_results_on_a_read_only_disk(small_disk, tmp_path, told):
    assert quiet(tmp_path / "s.sqlite") == 4
    small_disk("ro")
    with pytest.raises(ExperimentError, match=r"Read-only file system; results stay in the store") as error:
        export(ID, "quick", store=tmp_path / "s.sqlite", out=tmp_path / "disk")
    told(error.value)


@pytest.mark.fault("store", "store on a read-only disk")
def test_a_store_on_a_read_only_disk(small_disk, tmp_path, told):
    path = tmp_path / "disk" / "s.sqlite"
    assert quiet(path) == 4
    small_disk("ro")
    with pytest.raises(StoreError, match=r"cannot be written .*give another with --store PATH") as error:
        quiet(path)
    told(error.value)
    small_disk("rw")
    assert quiet(path) == 4


@pytest.mark.fault("cache", "cache on a read-only disk")
def test_a_fetch_into_a_read_only_cache(small_disk, tmp_path, told, monkeypatch, site):
    monkeypatch.setenv("MARGINBOOK_CACHE", str(tmp_path / "disk" / "cache"))
    monkeypatch.delenv("MARGINBOOK_MIRROR", raising=False)
    small_disk("ro")
    answer = CliRunner().invoke(data_command.data, ["fetch", "glass2"])
    assert answer.exit_code == 1
    assert answer.stderr.count("\n") == 1
    assert "cannot write there; set MARGINBOOK_CACHE to a folder of yours" in answer.stderr
    told(answer.stderr)


@pytest.mark.skipif(os.name != "posix", reason="needs a path below a file")
@pytest.mark.fault("cache", "cache below a file")
def test_a_cache_that_cannot_be_made(tmp_path, told, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("MARGINBOOK_CACHE", str(tmp_path / "file"))
    answer = CliRunner().invoke(data_command.data, ["fetch", "glass2"])
    assert answer.exit_code == 1
    assert "set MARGINBOOK_CACHE to another folder" in answer.stderr
    told(answer.stderr)


@pytest.mark.fault("cache", "disk full while a file arrives")
def test_a_file_that_does_not_fit(small_disk, tmp_path, told, monkeypatch, site):
    monkeypatch.setenv("MARGINBOOK_CACHE", str(tmp_path / "disk"))
    monkeypatch.delenv("MARGINBOOK_MIRROR", raising=False)
    body = bytes(2_000_000)
    site.add("/a.dat", body)
    with pytest.raises(FetchError, match="no space left; free some, or set MARGINBOOK_CACHE") as error:
        download.fetch_url(site.file("/a.dat", body))
    told(error.value)
    assert [path for path in (tmp_path / "disk" / "data").iterdir() if path.is_file()] == []


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(errno.EIO, marks=pytest.mark.fault("cache", "disk that fails")),
        pytest.param(errno.EFBIG, marks=pytest.mark.fault("cache", "file too large for the file system")),
    ],
)
def test_a_broken_disk_is_one_line(untouched, told, monkeypatch, code):
    file = store.File("all", "https://example.org/a.dat", "0" * 64, len(BODY))

    def broken(*names: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(store, "check", lambda *a: None)
    monkeypatch.setattr(store.os, "replace", broken)
    with refused(untouched, told, FetchError, "run again, or set MARGINBOOK_CACHE to another folder"):
        store.install([BODY], file, "a.dat")
