"""Inputs that were found to break something: each test failed once."""

from __future__ import annotations

import numpy as np
import pytest

from marginbook.clasmk.solvers.dinkelbach import dinkelbach


def test_bound_where_all_forms_are_singular_and_one_node_does_not_close():
    """A search that was completed is worth a bound near the value; it was 0 for a third of these."""
    rng = np.random.default_rng(5)
    seen = 0
    for _ in range(30):
        N, D = (
            np.array([B @ B.T for B in (rng.normal(size=(7, rng.integers(2, 7))) for _ in range(2))])
            for _ in range(2)
        )
        found = dinkelbach(N, D)
        assert found.lower_bound <= found.objective
        if found.objective > 1e-6:
            seen += 1
            assert found.gap < 1e-6
    assert seen > 20
