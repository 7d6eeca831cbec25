"""Parameters followed through a notebook's names."""

from __future__ import annotations

import pytest

from marginbook.notebooks.depends import dependencies

NAMES = ["dataset", "n", "seed"]


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        (["X, y = load(dataset)", "fit(X)", "plot(y, z)"], {"dataset"}),
        (["rng = make(seed)\nX = rng.normal(size=n)", "X"], {"seed", "n"}),
        (["rows = []", "for k in range(n):\n    rows.append(k)", "rows"], {"n"}),
        (["table = {}", "table['a'] = n", "plot(table)"], {"n"}),
        (["total = 0", "total += n", "total"], {"n"}),
        (["def f(x):\n    return x + n", "f(3)"], {"n"}),
        # a method of a module leaves the module as it was
        (["import numpy as np\nnp.random.seed(seed)", "np.ones(3)"], set()),
        # a name of their own is not the parameter
        (["def f(n):\n    return n", "f(3)"], set()),
        (["def f():\n    n = 3\n    return n", "f()"], set()),
        (["squares = [n * n for n in (1, 2)]", "squares"], set()),
        # what is assigned anew has lost its past
        (["x = n", "x = 3", "x"], set()),
        (["%matplotlib inline", "n"], {"n"}),
    ],
)
def test_the_last_cell_depends_on(cells: list[str], wanted: set[str]) -> None:
    assert dependencies(cells, NAMES)[-1] == wanted
