"""Wilcoxon's test equals scipy's, which ranks for each choice of signs anew."""

import numpy as np
import pytest
from scipy import stats

from marginbook.experiments.signed_ranks import COUNTED, signed_rank_test


@pytest.mark.parametrize("n", [1, 2, 5, 8, COUNTED + 1, 40])
@pytest.mark.parametrize("ties", [True, False])
def test_it_is_what_scipy_computes(n, ties):
    rng = np.random.default_rng(n)
    for _ in range(3):
        difference = rng.integers(-3, 4, n).astype(float) if ties else rng.normal(0.3, 1, n)
        if not difference.any():
            difference[0] = 1.0
        wanted = stats.wilcoxon(difference, zero_method="zsplit")
        assert signed_rank_test(difference) == pytest.approx((wanted.statistic, wanted.pvalue), abs=1e-12)


def test_ties_of_so_many_pairs_are_counted_here(monkeypatch):
    """Where scipy counts, too, it takes seconds."""
    monkeypatch.setattr(stats, "wilcoxon", None)
    difference = np.ones(COUNTED)
    assert signed_rank_test(difference) == (0.0, pytest.approx(2 / 2**COUNTED))
