"""A set of two exercises that takes no time, beside the five of the book."""

from __future__ import annotations

from pathlib import Path

import pytest

from marginbook.coursework import ProblemSet
from marginbook.coursework.exercises import read

TEXT = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
---

# Exercises

About the page.

The notation: $x$ is a number.

```{code-cell} ipython3
base = 2
```

(toy-exercise-double)=
## Double it

*Derivation, 2 points*

Find $2x$ after {cite:t}`peng_discriminative`.

```python starter
def double(x):
    raise NotImplementedError("twice")
```

```{dropdown} Hint
Add.
```

```{code-cell} ipython3
:tags: [solution]

def double(x):
    return base * x + 0
```

```{code-cell} ipython3
:tags: [check]

assert double(3) == 6, "3 is doubled to 6"
print("right: doubled")
```

```{dropdown} Solution: addition
It is the sum of two of them.
```

(toy-exercise-triple)=
## Triple it

*Programming, 3 points*

Find $3x$.

```python starter
def triple(x):
    return base * x
```

```{dropdown} Hint
Add twice.
```

```{code-cell} ipython3
:tags: [solution]

def triple(x):
    return (base + 1) * x
```

```{code-cell} ipython3
:tags: [check]

assert triple(3) == 9, "3 is tripled to 9"
```

```{code-cell} ipython3
:tags: [result]

print(triple(100))
```

```{dropdown} Solution: more addition
Of three of them.
```
"""


@pytest.fixture
def toy(tmp_path: Path) -> ProblemSet:
    path = tmp_path / "07_exercises.md"
    path.write_text(TEXT)
    return ProblemSet("toy", "Toys", "The notation: $x$ is a number.", tuple(read(path)))
