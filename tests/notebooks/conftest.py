"""A tiny checkout in a temporary folder, with notebooks of its own."""

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
SMALL = """# A small notebook

With maths, $x^2$, and a remark.

```{code-cell} ipython3
from typing import Literal
```

```{code-cell} ipython3
:tags: [parameters]

datasets: list[str] = ["a", "b"]  # names to print
n_jobs = 1  # worker processes
scale = 0.5  # a factor
mode: Literal["quick", "paper"] = "quick"  # how much to run
limit: int | None = None  # no more than this
```

```{code-cell} ipython3
print(datasets, n_jobs, mode)
```

```{code-cell} ipython3
assert n_jobs < 10, "too many jobs"
round(2 / scale, 3)
```
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: book/index\n")
    (tmp_path / "data_download").mkdir()
    shutil.copy(resource("data_download", "registry.toml"), tmp_path / "data_download")
    room = tmp_path / "notebooks" / "drm"
    room.mkdir(parents=True)
    (room / "01_small.md").write_text(HEADER + SMALL)
    monkeypatch.setenv("MARGINBOOK_HOME", str(tmp_path))
    return tmp_path
