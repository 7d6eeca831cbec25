"""A tiny checkout in a temporary folder, with one notebook."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from marginbook.base.project import resource

HEADER = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

"""


def tiny_checkout(folder: Path, notebook: str, text: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make `folder` the checkout, with a notebook such as ``drm/01_small``; return it."""
    data = resource("data_download", "registry.toml")
    (folder / "pyproject.toml").write_text("[project]\n")
    (folder / "_toc.yml").write_text("format: jb-book\nroot: book/index\n")
    (folder / "data_download").mkdir()
    shutil.copy(data, folder / "data_download")
    path = folder / "notebooks" / f"{notebook}.md"
    path.parent.mkdir(parents=True)
    path.write_text(HEADER + text)
    monkeypatch.setenv("MARGINBOOK_HOME", str(folder))
    return folder
