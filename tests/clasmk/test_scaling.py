"""The claim that nothing is computed for pairs: kernel values are counted; stored times are only told."""

import pytest

from marginbook.claims import Verdict
from marginbook.clasmk.claims import abstract as scaling
from marginbook.clasmk.model import normalised_kernels
from marginbook.quality.benchmarking import goals

from ..made_files import times_of

put = times_of(scaling, "N", (4000, 16000, 32000, 64000))


@pytest.mark.parametrize(
    ("change", "verdict"),
    [({}, Verdict.HOLDS), ({"keep": True}, Verdict.FAILS), ({"grow": True}, Verdict.FAILS)],
)
def test_counts_that_are_linear_hold_and_others_fail(put, change, verdict):
    put(dict.fromkeys(scaling.FIXED, 1.0) | {scaling.GROWING: 2.5, scaling.PAIRS: 2.0})
    found = scaling.check_no_pairwise(**change)
    assert found.verdict == verdict
    assert "basis that grows N^2.5" in found.why


def test_counting_leaves_the_library_as_it_was():
    before = normalised_kernels.KEPT_ENTRIES, normalised_kernels.SharedPairs._compute
    counts = scaling.kernel_values(200)
    assert set(counts) == set(scaling.FIXED)
    assert min(counts.values()) > 0
    assert (normalised_kernels.KEPT_ENTRIES, normalised_kernels.SharedPairs._compute) == before


def test_stored_times_are_told_from_large_sizes_on(put):
    assert goals.measured(scaling.TABLE, "N") == {}
    assert scaling.times() == ""
    put(dict.fromkeys(scaling.FIXED, 1.0), x="K")
    assert scaling.times() == ""
    put(dict.fromkeys(scaling.FIXED, 1.5))
    assert scaling.times().count("N^1.50") == len(scaling.FIXED)


def test_a_fit_needs_two_large_sizes(put, monkeypatch):
    monkeypatch.setattr(scaling, "LARGE", 64000)
    put(dict.fromkeys(scaling.FIXED, 1.0))
    assert scaling.times() == ""
