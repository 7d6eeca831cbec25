"""The rules of verdicts at their borders, where a comparison that is off by nothing else shows."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from marginbook.claims.contests import contest
from marginbook.claims.evidence import (
    Evidence,
    Kind,
    Verdict,
    at_most,
    decide_below,
    scoreboard,
    share,
    share_by_chance,
    share_open,
)


def test_evidence_names_its_parts_and_stays_what_was_computed() -> None:
    found = Evidence(verdict=Verdict.HOLDS, measured="1", claimed="1", slack=None, why="equal")
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.verdict = Verdict.FAILS  # type: ignore[misc]
    with pytest.raises(TypeError, match="positional"):
        Evidence(Verdict.HOLDS, "1", "1", None, "equal")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(0.4, 0.5, Verdict.HOLDS), (0.5, 0.6, Verdict.UNDECIDED), (0.5, 0.5, Verdict.HOLDS)],
)
def test_a_mean_is_at_most_a_margin_that_ends_its_interval(low: float, high: float, verdict: Verdict) -> None:
    """All of [0.4, 0.5] is at most 0.5; of [0.5, 0.6] that is one point only."""
    assert decide_below(low, high, 0.5) == verdict


@pytest.mark.parametrize(
    ("agreeing", "tested", "verdict"),
    [
        (0, 0, Verdict.NOT_TESTABLE),
        (0, 1, Verdict.NOT_REPRODUCED),
        (1, 1, Verdict.REPRODUCED),
        (1, 2, Verdict.NOT_REPRODUCED),
        (2, 5, Verdict.NOT_REPRODUCED),
        (3, 5, Verdict.PARTLY),
        (3, 7, Verdict.NOT_REPRODUCED),
    ],
)
def test_more_than_half_is_partly(agreeing: int, tested: int, verdict: Verdict) -> None:
    assert share(agreeing, tested) == verdict


def test_open_parts_are_those_that_may_turn_a_verdict() -> None:
    """Of five, three agree: with one more it is partly all the same, with two more it is reproduced."""
    assert share_open(3, 1, 5) == Verdict.PARTLY
    assert share_open(3, 2, 5) == Verdict.UNDECIDED
    assert share_open(2, 1, 5) == Verdict.UNDECIDED
    assert share_open(1, 1, 5) == Verdict.NOT_REPRODUCED


def test_chance_is_too_much_beyond_the_most_that_is_allowed() -> None:
    assert share_by_chance(4, 4, 0.05, 0.05) == Verdict.REPRODUCED
    assert share_by_chance(2, 4, 0.05, 0.05) == Verdict.PARTLY
    for agreeing in (2, 3, 4):
        assert share_by_chance(agreeing, 4, 0.051, 0.05) == Verdict.UNDECIDED
    assert share_by_chance(2, 5, 0.01, 0.05) == Verdict.NOT_REPRODUCED
    assert share_by_chance(1, 4, 0.051, 0.05) == Verdict.NOT_REPRODUCED
    assert share_by_chance(0, 0, 0.051, 0.05) == Verdict.NOT_TESTABLE


def test_a_hundredth_is_written_out() -> None:
    assert (at_most(0.01, 0.01), at_most(0.0, 0.009)) == ("0.01", "9e-3")


def test_the_scoreboard_counts_by_room_and_owner() -> None:
    def found(verdict: Verdict) -> Evidence:
        return Evidence(verdict=verdict, measured="", claimed="", slack=None, why="")

    kinds = {"a/1": Kind.PROOF, "a/2": Kind.EXPERIMENT, "a/3": Kind.OURS, "b/1/x": Kind.STATEMENT}
    verdicts = {"a/1": Verdict.HOLDS, "a/2": Verdict.HOLDS, "a/3": Verdict.FAILS, "b/1/x": Verdict.PARTLY}
    board = scoreboard(kinds, {name: found(verdict) for name, verdict in verdicts.items()})
    rows = {(room, own): counts for room in board for own, counts in board[room].items()}
    assert rows.keys() == {("a", False), ("a", True), ("b", False), ("b", True)}
    assert all(set(counts) == set(Verdict) for counts in rows.values())
    counted = {(*row, str(verdict)): n for row, counts in rows.items() for verdict, n in counts.items() if n}
    assert counted == {("a", False, "holds"): 2, ("a", True, "fails"): 1, ("b", False, "partly"): 1}


def test_two_splits_are_enough_for_a_contest() -> None:
    index = pd.MultiIndex.from_product([["iris", "wine"], [1, 2, 3]], names=["dataset", "split"])
    scores = pd.DataFrame({"a": [3.0, 4.0, np.nan, 1.0, np.nan, np.nan], "b": 1.0}, index=index)
    found = contest(scores, "a", "b", overlap=0)
    assert found["splits"].to_dict() == {"iris": 2}
    assert found.loc["iris", "difference"] == pytest.approx(2.5)
