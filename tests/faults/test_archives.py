"""Wheels with members that point elsewhere, that explode, or that cannot be read."""

from __future__ import annotations

import hashlib
import stat
import zipfile
from pathlib import Path

import pytest

from marginbook.datasets import wheels
from marginbook.datasets.dataset import CorruptData
from marginbook.datasets.registry import File

from .conftest import digest, refused

BODY = b"1,2,a\n3,4,b\n"


def pack(tmp_path: Path, *members: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    path = tmp_path / "pack-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in members:
            archive.writestr(name, body)
    return path


def wanted(address: str, body: bytes = BODY) -> File:
    return File("all", address, hashlib.sha256(body).hexdigest(), len(body))


@pytest.mark.fault("archive", "absolute name of a member")
def test_a_member_with_an_absolute_name_stays_inside_of_the_cache(cache, tmp_path, told):
    aim = tmp_path / "elsewhere" / "b.dat"
    path = pack(tmp_path, (str(aim), BODY))
    wheels.extract(path, [wanted(str(aim))])
    assert not aim.parent.exists()
    assert [found.read_bytes() for found in cache.iterdir() if found.is_file()] == [BODY]
    told("")


@pytest.mark.fault("archive", "symbolic link as a member")
def test_a_link_is_not_followed(untouched, tmp_path, told):
    (tmp_path / "secret").write_bytes(BODY)
    link = zipfile.ZipInfo("pack/a.dat")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    path = pack(tmp_path, (link, str(tmp_path / "secret").encode()))
    file = File("all", "pack/a.dat", hashlib.sha256(BODY).hexdigest(), 4096)
    with refused(untouched, told, CorruptData, "got sha256 .* wanted sha256"):
        wheels.extract(path, [file])


@pytest.mark.fault("archive", "zip bomb")
def test_a_bomb_is_not_unpacked_beyond_the_size_of_the_registry(untouched, tmp_path, told, monkeypatch):
    path = pack(tmp_path, ("pack/a.dat", bytes(50_000_000)))
    assert path.stat().st_size < 60_000
    taken = []
    pieces = wheels.cache.pieces

    def counted(stream):
        for piece in pieces(stream):
            taken.append(len(piece))
            yield piece

    monkeypatch.setattr(wheels.cache, "pieces", counted)
    with refused(untouched, told, CorruptData, rf"got \d+ bytes and more, wanted {len(BODY)}$"):
        wheels.extract(path, [wanted("pack/a.dat")])
    assert sum(taken) <= wheels.cache.AT_LEAST + wheels.cache.CHUNK


@pytest.mark.fault("archive", "member larger than the archive declares")
def test_a_member_that_is_larger_than_it_declares(untouched, tmp_path, told):
    path = pack(tmp_path, ("pack/a.dat", bytes(5_000_000)))
    raw = path.read_bytes()
    lie = raw.replace((5_000_000).to_bytes(4, "little"), len(BODY).to_bytes(4, "little"))
    assert lie != raw
    path.write_bytes(lie)
    with refused(untouched, told, CorruptData):
        wheels.extract(path, [wanted("pack/a.dat")])


def damaged(what: str, old: bytes, new: bytes) -> object:
    return pytest.param(old, new, marks=pytest.mark.fault("archive", what))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # flags and method stand in the local header and in the directory
        damaged("archive with a password", b"\x00\x00\x08\x00", b"\x01\x00\x08\x00"),
        damaged("unknown compression", b"\x00\x00\x08\x00", b"\x00\x00\x63\x00"),
        damaged("altered compressed bytes", b"KLJNIMK", b"\xff" * 7),
    ],
)
def test_a_member_that_cannot_be_read(untouched, tmp_path, told, old, new):
    path = tmp_path / "pack-1.0-py3-none-any.whl"
    body = b"abcdefghijklmnopqrstuvwxyz0123456789"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("pack/a.dat", body, compresslevel=9)
    raw = path.read_bytes()
    assert old in raw
    path.write_bytes(raw.replace(old, new))
    with refused(untouched, told, CorruptData, "pack-1.0-py3-none-any.whl: "):
        wheels.extract(path, [wanted("pack/a.dat", body)])


def test_the_look_at_the_cache_sees_a_change(untouched):
    before = digest(untouched)
    (untouched / "x").touch()
    assert digest(untouched) != before
    (untouched / "x").unlink()
