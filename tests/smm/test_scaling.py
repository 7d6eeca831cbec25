"""The claim about the cost in n: its verdict follows made-up times."""

import numpy as np
import pytest

from marginbook.claims import Verdict
from marginbook.quality.benchmarking import goals
from marginbook.smm.claims import beyond_scaling as scaling

from ..made_files import times_of

put = times_of(scaling, "n", (500, 2000, 4000, 16000))


def test_linear_times_hold_and_quadratic_ones_fail(put):
    put(dict.fromkeys(scaling.FITS, 1.0) | dict.fromkeys(scaling.PAIRS, 2.0))
    found = scaling.check_linear_cost()
    assert found.verdict == Verdict.HOLDS
    assert found.slack == pytest.approx(0.25)
    assert "nuclear norm n^2.0" in found.why
    put(dict.fromkeys(scaling.FITS, 1.0) | {scaling.FITS[1]: 2.0})
    assert scaling.check_linear_cost().verdict == Verdict.FAILS


def test_small_sizes_have_no_say(put):
    put(dict.fromkeys(scaling.FITS, 1.0), early=100.0)
    assert scaling.check_linear_cost().verdict == Verdict.HOLDS
    assert np.isnan(goals.exponent(*goals.measured(scaling.TABLE, "n")[scaling.FITS[0]], (16000, np.inf)))


def test_without_times_there_is_no_verdict(put, monkeypatch):
    assert goals.measured(scaling.TABLE, "n") == {}
    assert scaling.check_linear_cost().verdict not in (Verdict.HOLDS, Verdict.FAILS)
    put(dict.fromkeys(scaling.FITS, 1.0), x="d")
    assert goals.measured(scaling.TABLE, "n") == {}
    assert goals.exponent(*goals.measured(scaling.TABLE, "d")[scaling.FITS[0]]) == pytest.approx(1.0)
    assert scaling.check_linear_cost().verdict not in (Verdict.HOLDS, Verdict.FAILS)
    put(dict.fromkeys(scaling.FITS, 1.0))
    monkeypatch.setattr(scaling, "LARGE", 16000)
    assert scaling.check_linear_cost().verdict not in (Verdict.HOLDS, Verdict.FAILS)
