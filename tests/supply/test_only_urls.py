"""`make online` fails where a mirror is set that gives nothing."""

from __future__ import annotations

import re

import pytest

from marginbook.datasets import registry

from .scripts import ROOT, script

MANY = [e.name for e in registry().values() if e.available and {s.kind for s in e.sources} == {"url"}]


@pytest.mark.parametrize(
    ("mirror", "here", "code"),
    [("/broken", [], 1), ("/whole", MANY[:1], 0), ("", [], 0)],
)
def test_a_mirror_that_gives_nothing_is_a_failure(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    mirror: str,
    here: list[str],
    code: int,
) -> None:
    module = script("only_urls")
    monkeypatch.setattr(module.sys, "argv", ["only_urls.py"])
    monkeypatch.setenv("MARGINBOOK_MIRROR", mirror)
    found = {id(source) for name in here for source in registry()[name].sources}
    # sets of a package registry are always here, and say nothing about the mirror
    monkeypatch.setattr(module, "is_here", lambda source: source.kind != "url" or id(source) in found)
    assert module.main() == code
    told = capsys.readouterr()
    assert told.out.startswith(f"{len(here)} of {len(MANY)} sets that only URLs give are here; ")
    assert ("the mirror /broken gave none of them" in told.err) == bool(code)


def test_make_online_asks_before_its_tests() -> None:
    (recipe,) = re.findall(r"^online: .+\n((?:\t.+\n)+)", (ROOT / "Makefile").read_text(), flags=re.M)
    assert 0 < recipe.index("supply/only_urls.py") < recipe.index("pytest")
