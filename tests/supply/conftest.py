"""A checkout with a tiny package, and the script that makes mutants of it."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from ..git import git
from .scripts import ROOT, script
from .tiny_package import FILES


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with a room, and tests of which some fail."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    git(tmp_path, "init", "-q")  # mutants are made in copies of what git lists
    monkeypatch.setenv("MARGINBOOK_CACHE", str(tmp_path / "_build" / "cache"))
    (tmp_path / ".gitignore").write_text("_build/\n")
    return tmp_path


@pytest.fixture
def mutants(home: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module, for that checkout."""
    monkeypatch.syspath_prepend(str(ROOT / "supply"))
    module = script("mutants")
    monkeypatch.setattr(module, "ROOT", home)
    monkeypatch.setattr(module.check, "ROOT", home)
    return module
