"""MathJax comes from one wheel, known by its hash."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from marginbook.notebooks import mathjax


@pytest.fixture
def fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Replace the wheel by a small one that "pip" copies; return the list of downloads."""
    made = tmp_path / "made.whl"
    with zipfile.ZipFile(made, "w") as archive:
        for member in (
            "tex-svg.js",
            "startup.js",
            "core.js",
            "input/tex.js",
            "input/tex/extensions/cancel.js",
            "output/chtml.js",
            "output/chtml/fonts/tex.js",
            "output/chtml/fonts/woff-v2/a.woff",
            "a11y/assistive-mml.js",
            "ui/menu.js",
        ):
            archive.writestr(f"mathjax/static/mathjax/es5/{member}", member)
    wheel = replace(mathjax.WHEEL, sha256=hashlib.sha256(made.read_bytes()).hexdigest())
    calls: list[str] = []

    def download(wanted: object, scratch: Path) -> Path:
        calls.append(str(wanted))
        target = scratch / "w.whl"
        target.write_bytes(made.read_bytes())
        return target

    monkeypatch.setattr(mathjax, "WHEEL", wheel)
    monkeypatch.setattr(mathjax, "download", download)
    monkeypatch.setenv("MARGINBOOK_CACHE", str(tmp_path / "cache"))
    return calls


def test_the_wheel_is_fetched_once(fetched: list[str]) -> None:
    assert mathjax.mathjax("tex-svg.js") == b"tex-svg.js"
    assert mathjax.mathjax("core.js") == b"core.js"
    assert len(fetched) == 1


def test_a_damaged_wheel_in_the_cache_is_fetched_again(fetched: list[str]) -> None:
    mathjax.wheel().write_bytes(b"damaged")
    assert mathjax.mathjax("tex-svg.js") == b"tex-svg.js"
    assert len(fetched) == 2


@pytest.mark.usefixtures("fetched")
def test_only_what_the_pages_load_is_unpacked(tmp_path: Path) -> None:
    mathjax.unpack_mathjax(tmp_path / "out")
    names = {p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*") if p.is_file()}
    assert names == {
        mathjax.BUNDLE, "output/chtml/fonts/woff-v2/a.woff", "input/tex/extensions/cancel.js",
    }  # fmt: skip
    lines = (tmp_path / "out" / mathjax.BUNDLE).read_text().splitlines()
    assert lines[2] == "startup.js"
    assert lines[4:] == ["core.js", "input/tex.js", "output/chtml.js", "output/chtml/fonts/tex.js",
                         "a11y/assistive-mml.js"]  # fmt: skip
