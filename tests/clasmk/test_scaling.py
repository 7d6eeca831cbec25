"""The claim about the cost in N: its verdict follows made-up times."""

import pytest

from marginbook.claims import Verdict
from marginbook.clasmk.claims import beyond_scaling as scaling
from marginbook.quality.benchmarking import goals

from ..made_files import times_of

put = times_of(scaling, "N", (4000, 16000, 32000, 64000))


def test_linear_times_hold_and_quadratic_ones_fail(put):
    put(dict.fromkeys(scaling.FIXED, 1.0) | {scaling.GROWING: 2.5, scaling.PAIRS: 2.0})
    found = scaling.check_no_pairwise()
    assert found.verdict == Verdict.HOLDS
    assert found.slack == pytest.approx(0.25)
    assert "basis that grows N^2.5" in found.why
    put(dict.fromkeys(scaling.FIXED, 1.0) | {scaling.FIXED[2]: 2.0})
    assert scaling.check_no_pairwise().verdict == Verdict.FAILS


def test_small_sizes_have_no_say(put):
    put(dict.fromkeys(scaling.FIXED, 1.0), early=100.0)
    assert scaling.check_no_pairwise().verdict == Verdict.HOLDS


def test_without_times_there_is_no_verdict(put):
    assert goals.measured(scaling.TABLE, "N") == {}
    assert scaling.check_no_pairwise().verdict not in (Verdict.HOLDS, Verdict.FAILS)
    put(dict.fromkeys(scaling.FIXED, 1.0), x="K")
    assert goals.measured(scaling.TABLE, "N") == {}


def test_a_fit_needs_two_large_sizes(put, monkeypatch):
    monkeypatch.setattr(scaling, "LARGE", 64000)
    put(dict.fromkeys(scaling.FIXED, 1.0))
    assert scaling.check_no_pairwise().verdict not in (Verdict.HOLDS, Verdict.FAILS)
