"""Table 4 with other weights: the global minimum is Table 4 itself, equal weights are equal."""

import json

import numpy as np
import pytest

from marginbook.clasmk.experiments.table_4 import measure_benchmark
from marginbook.clasmk.experiments.table_4_solvers import measure_layers_locally
from marginbook.experiments.fold import Fold

SETTINGS = {"tol": 1e-2, "eta": 0.1, "threshold": 0.1, "marginal": 1.0, "C_grid": [1.0], "choice_rows": 100}


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 3)), np.arange(80) % 2
    X += y[:, None]
    return X[:50], y[:50], X[50:], y[50:]


@pytest.mark.parametrize("name", ["CLASMK-ML", "2L-CLASMK-ML"])
def test_the_minimum_is_the_column_of_the_table(rows, name):
    stated = {**SETTINGS, "svm_C": [1.0]}
    mine = measure_layers_locally(Fold(*rows, "toy", 0), f"{name}: global minimum", stated)
    column = measure_benchmark(Fold(*rows, "toy", 0), name, stated)
    assert mine["accuracy"] == column["accuracy"]
    assert mine["n_features"] == column["n_features"]
    assert json.loads(mine["weights"]) == json.loads(column["chosen"])


def test_equal_weights_are_equal_over_the_kernels_kept(rows):
    found = measure_layers_locally(Fold(*rows, "toy", 0), "CLASMK-ML: equal weights", SETTINGS)
    weights = np.array(json.loads(found["weights"]))
    kept = weights[weights > 0]
    assert len(kept) > 2
    np.testing.assert_allclose(kept, kept[0])


def test_an_unknown_method_names_the_known(rows):
    with pytest.raises(ValueError, match="choose one of CLASMK-ML, 2L-CLASMK-ML"):
        measure_layers_locally(Fold(*rows, "toy", 0), "2L: SLSQP", SETTINGS)
