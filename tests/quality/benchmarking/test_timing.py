"""Medians, turns, and which way a ratio is meant. No test looks at how long something took."""

from __future__ import annotations

import numpy as np
import pytest

from marginbook.quality.benchmarking import (
    CPU,
    WALL,
    Ratio,
    clock,
    compare,
    in_turns,
    peak_of_fit,
    sampled,
    timing,
)
from marginbook.quality.benchmarking.memory import resident


@pytest.fixture
def seconds(monkeypatch):
    """Let every call take the CPU seconds that are listed for it, and half of them on the wall."""

    def given(**listed):
        calls = []

        def fake(action):
            name = action()
            calls.append(name)
            took = listed[name][min(calls.count(name), len(listed[name])) - 1]
            return (took / 2, took), name

        monkeypatch.setattr(timing, "clock", fake)
        return calls

    return given


def test_ratios_are_of_medians_and_point_upwards_or_down():
    ours, peer = np.array([[1, 1], [1, 2], [1, 9]]), np.array([[3, 10], [3, 30], [3, 20]])
    assert Ratio("fit against peer", ours, peer).ratio() == 10
    assert Ratio("fit against peer", ours, peer).ratio(WALL) == 3
    assert Ratio("fit over peer (at most)", ours, peer).ratio() == 0.1
    assert Ratio("F over F (at most)", value=0.5).ratio() == 0.5


def test_the_range_is_that_of_turns_and_a_tired_peer_keeps_its_last_time():
    ours, peer = np.array([[0, 1], [0, 2], [0, 4]]), np.array([[0, 10], [0, 12]])
    assert Ratio("fit against peer", ours, peer).span() == (3, 10)
    assert Ratio("F", value=0.5).span() == (0.5, 0.5)


def test_peers_take_turns_after_a_call_that_does_not_count(seconds):
    calls = seconds(ours=[0.5, 0.1], peer=[0.9, 0.2])
    ours, peer = in_turns(lambda: "ours", lambda: "peer", runs=3)
    assert calls == ["ours", "peer"] * 4
    assert ours[:, CPU].tolist() == [0.1] * 3
    assert peer[:, CPU].tolist() == [0.2] * 3


def test_a_slow_first_call_counts_and_a_slow_peer_is_called_twice(seconds):
    calls = seconds(ours=[0.1], peer=[2.0])
    found = compare("fit against peer", lambda: "ours", lambda: "peer", runs=5)
    assert calls.count("peer") == 2
    assert len(found.ours) == 5
    assert found.peer[:, CPU].tolist() == [2.0, 2.0]
    assert found.ratio() == pytest.approx(20)


def test_what_is_prepared_reaches_the_action():
    seen: list[int] = []
    in_turns(seen.append, runs=2, prepare=lambda: len(seen))
    assert seen == [0, 1, 2]


def test_a_slow_call_is_sampled_once(seconds):
    calls = seconds(quick=[9, 0.1, 0.3, 0.2][1:], slow=[0.7])
    assert sampled(lambda: "slow")[0].tolist() == [[0.35, 0.7]]
    times, result = sampled(lambda: "quick", runs=3)
    assert (len(times), result, calls.count("slow")) == (3, "quick", 1)


def test_a_clock_returns_both_seconds_and_the_result():
    (wall, cpu), result = clock(lambda: sum(range(1000)))
    assert wall > 0
    assert cpu >= 0
    assert result == 499500


MANY = 40 * 2**20


def _fill(count):
    """Prepare a fit that writes `count` bytes, in a process that held twice as many before."""
    np.ones(2 * count, dtype=np.uint8).sum()
    return lambda: np.ones(count, dtype=np.uint8).sum()


def test_the_peak_is_that_of_the_fit_alone():
    found = peak_of_fit(_fill, MANY)
    assert 0.9 * MANY < found.peak - found.before < 1.5 * MANY
    now, most = resident()
    assert most >= now > 0
