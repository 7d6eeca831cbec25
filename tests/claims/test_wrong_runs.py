"""The rate of wrong runs: against a count of every way, one by one."""

from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from marginbook.claims import Verdict, wrong_runs
from marginbook.claims.open_parts import OPEN, REFUTED, SHOWN
from marginbook.claims.wrong_runs import WrongRuns, all_ways, lows, percent, turned
from marginbook.experiments.equivalence import mean_interval


def test_all_ways_are_those_counted_one_by_one():
    rng = np.random.default_rng(1)
    options = [rng.integers(0, 3, size=(k, 2)) for k in (6, 2, 6, 1)] + [np.ones((4, 2), dtype=int)]
    sums = [np.sum(way, axis=0) for way in product(*options)]
    own = np.sum([option[0] for option in options], axis=0)
    ways = all_ways(options)
    assert ways.ours.tolist() == own.tolist()
    assert ways.shares.sum() == pytest.approx(1)
    assert len(ways.sums) < len(sums)
    for score in (lambda s: s[:, 0], lambda s: s.max(axis=1), lambda s: s[:, 0] - 2 * s[:, 1]):
        expected = np.mean(score(np.array(sums)) >= score(own[None])[0])
        assert ways.as_well(score) == pytest.approx(expected)


def test_names_of_three_are_exchanged_in_six_ways():
    options = [[order == ("a", "b", "c") for order in permutations("abc")]] * 2
    assert all_ways([np.array(option, dtype=int) for option in options]).as_well() == pytest.approx(1 / 36)


def test_lower_ends_are_those_of_the_interval_for_every_turn():
    rng = np.random.default_rng(2)
    gains = rng.normal(0.5, 1.0, size=(7, 2))
    gains[3, 1] = np.nan
    ways = all_ways(turned(gains))
    found = lows(gains)(ways.sums)
    signs = np.array(list(product((1, -1), repeat=7)))
    for column in range(2):
        there = ~np.isnan(gains[:, column])
        each = [mean_interval((sign * gains[:, column])[there])[0] for sign in signs]
        np.testing.assert_allclose(np.sort(found[:, column]), np.sort(each), atol=1e-12)
    own = lows(gains)(ways.ours[None])[0]
    np.testing.assert_allclose(
        own, [mean_interval(gains[:, 0])[0], mean_interval(np.delete(gains[:, 1], 3))[0]]
    )


def test_rounding_does_not_decide_what_is_as_well():
    """0.1 + 0.2 + 0.3 in another order is the same lead, not a smaller one."""
    leads = np.array([0.1, 0.2, 0.3, 0.6])
    ways = all_ways([np.array([value, leads[k - 1]]) for k, value in enumerate(leads)])
    expected = np.mean(
        [sum(way) >= leads.sum() - 1e-12 for way in product(*zip(leads, np.roll(leads, 1), strict=True))]
    )
    assert ways.as_well() == pytest.approx(expected)


def test_equal_differences_have_no_spread_in_spite_of_rounding():
    gains = np.full(7, 0.7)  # whose squares add up to less than 7 times the square of their mean
    assert lows(gains)(np.array([[gains.sum()]])) == pytest.approx(0.7)


def test_where_no_run_has_a_score_all_do_as_well():
    low = lows([0.1])  # one set has no interval
    assert all_ways(turned([0.1])).as_well(lambda sums: low(sums)[:, 0]) == 1.0


def test_a_verdict_that_wrong_runs_get_too_is_undecided():
    often, rarely = (WrongRuns(rate, "the names are exchanged", "as many agree") for rate in (0.06, 0.04))
    assert often.judge(4, 4) == often.judge(2, 4) == Verdict.UNDECIDED
    assert often.judge(1, 4) == rarely.judge(1, 4) == Verdict.NOT_REPRODUCED
    assert (rarely.judge(4, 4), rarely.judge(2, 4)) == (Verdict.REPRODUCED, Verdict.PARTLY)
    assert often.judge_open([SHOWN, SHOWN]) == rarely.judge_open([SHOWN, OPEN]) == Verdict.UNDECIDED
    assert rarely.judge_open([SHOWN, SHOWN]) == Verdict.REPRODUCED
    assert often.judge_open([REFUTED, REFUTED]) == Verdict.NOT_REPRODUCED
    assert "in 6 % of all exchanges, which is more than 5 %: the data cannot tell." in str(often)
    assert str(rarely) == "If the names are exchanged, as many agree in 4 % of all exchanges."


def test_small_shares_have_two_digits():
    assert [percent(rate) for rate in (0.125, 1 / 3, 2e-5)] == ["12 %", "33 %", "0.002 %"]


def test_what_is_true_or_false_adds_up() -> None:
    assert all_ways([[True, False]] * 3).as_well() == 1 / 8


def test_more_sums_than_fit_into_memory_are_refused(monkeypatch):
    monkeypatch.setattr(wrong_runs, "MOST", 2**10)
    rng = np.random.default_rng(3)
    leads = rng.normal(size=11)
    assert len(all_ways(turned(leads[:10])).sums) == 2**10
    with pytest.raises(ValueError, match=r"on 11 sets have more than 1024 sums; round .* integers"):
        all_ways(turned(leads))
    # whole numbers have few different sums, whatever the number of sets
    ways = all_ways([option.round().astype(int) for option in turned(leads)] * 20)
    assert len(ways.sums) < 2**10
    assert ways.shares.sum() == pytest.approx(1)


def test_a_coin_on_many_sets_is_a_binomial_law():
    ways = all_ways([[1, 0]] * 300)
    assert ways.as_well(lambda sums: np.minimum(sums[:, 0], 160)) == pytest.approx(
        stats.binom.sf(159, 300, 0.5), rel=1e-9
    )
