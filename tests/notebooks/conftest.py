"""A tiny checkout in a temporary folder, with notebooks of its own."""

from pathlib import Path

import pytest

from ..tiny_checkout import tiny_checkout

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
    return tiny_checkout(tmp_path, "drm/01_small", SMALL, monkeypatch)
