"""Statements of which the data leave parts open: the verdict is undecided where these could turn it."""

from itertools import product

import pytest

from marginbook.claims import Verdict, share
from marginbook.claims.open_parts import (
    OPEN,
    REFUTED,
    SHOWN,
    above,
    all_of,
    at_least,
    best,
    judged,
    tally,
    told,
)


def test_an_interval_shows_refutes_or_leaves_open():
    for low, high in ((-2.0, -1.0), (-1.0, 1.0), (0.0, 0.0), (0.0, 1.0), (1.0, 2.0)):
        assert at_least(low, high, 0.0) == (SHOWN if low >= 0 else REFUTED if high < 0 else OPEN)
        assert above(low, high) == (SHOWN if low > 0 else REFUTED if high <= 0 else OPEN)
        assert above(low, high, 0.5) == above(low - 0.5, high - 0.5)


@pytest.mark.parametrize("parts", list(product((SHOWN, OPEN, REFUTED), repeat=3)))
def test_the_verdict_is_that_of_every_way_to_settle_what_is_open(parts):
    ways = product(*((SHOWN, REFUTED) if part == OPEN else (part,) for part in parts))
    verdicts = {share(way.count(SHOWN), 3) for way in ways}  # of three parts none is exactly half
    assert judged(parts) == (verdicts.pop() if len(verdicts) == 1 else Verdict.UNDECIDED)
    assert all_of(parts) == (REFUTED if REFUTED in parts else OPEN if OPEN in parts else SHOWN)


def test_nothing_is_not_testable_and_half_is_not_most():
    assert judged([]) == Verdict.NOT_TESTABLE
    assert judged([SHOWN, REFUTED]) == Verdict.NOT_REPRODUCED
    assert judged([SHOWN, SHOWN, REFUTED, OPEN]) == Verdict.UNDECIDED


def test_the_best_reading_has_most_shown_then_fewest_refuted_then_comes_first():
    parts = {"a": [SHOWN, REFUTED, OPEN], "b": [SHOWN, OPEN, OPEN], "c": [OPEN, SHOWN, OPEN]}
    assert best(parts) == "b"
    assert best({"a": [OPEN], "b": [SHOWN, REFUTED]}) == "b"
    assert told(parts, ["d"]) == (
        "b: 1 shown, 2 open, 0 refuted. The others: a: 1 shown, 1 open, 1 refuted; c: 1 shown, 2 open, 0 "
        "refuted. Not stored: d."
    )
    assert tally(parts["a"]) == "1 shown, 1 open, 1 refuted"
