"""What the calibration of the rule for cells compares with what: each table that stands in for the print."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from marginbook.claims import calibration
from marginbook.claims.calibration import calibrate
from marginbook.claims.cell_verdicts import Scores, compare_cells

SETS = {"small": 3, "four": 4, "seven": 7}
METHODS = ("A", "B", "C")
#: of the shifts that are tried: all of them take most of the time
SOME = (0.125, 1.0, 6.0)


def tables(methods: Iterable[str] = METHODS) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a printed table, and results that tell method, data set and split: 100 of each step, and 1."""
    methods = list(methods)
    rows = [
        {"dataset": name, "method": method, "split": split, "score": 1000 * d + 100 * m + split}
        for d, (name, n) in enumerate(SETS.items())
        for m, method in enumerate(methods)
        for split in range(1, n + 1)
    ]
    cells = {"dataset": [name for name in SETS for _ in methods], "method": methods * len(SETS)}
    printed = pd.DataFrame(cells).assign(mean="70.00", std="1.00", note="")
    return printed, pd.DataFrame(rows)


class Watched:
    """The rule, and what it was asked: printed tables, results and splits."""

    def __init__(self) -> None:
        self.asked: list[tuple[pd.DataFrame, Scores, int]] = []

    def __call__(self, printed: pd.DataFrame, results: Scores, n: int) -> pd.DataFrame:
        self.asked.append((printed, results, n))
        return compare_cells(printed, results, metric="score", printed_splits=n)

    def splits(self, number: int, name: str, method: str = "A") -> set[int]:
        """Return the splits of a data set in the results of one question."""
        return {int(score) % 100 for score in self.asked[number][1].values(name, method, "score")}


@pytest.fixture(scope="module")
def watched() -> Watched:
    rule = Watched()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(calibration, "SHIFTS", SOME)
        calibrate(*tables(), rule)
    return rule


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four draws and one shift, where others would say the same."""
    monkeypatch.setattr(calibration, "SHIFTS", (1.0,))
    monkeypatch.setattr(calibration, "DRAWS", 4)


def test_halves_of_the_splits_meet_twelve_times(watched: Watched) -> None:
    """The first question of a pair makes the print of one half, the second compares the other with it."""
    drawn = []
    for pair in range(12):
        for name, n in SETS.items():
            first, second = (watched.splits(2 * pair + k, name) for k in (0, 1))
            if n < 4:
                assert not first | second
                continue
            assert (len(first), len(second)) == (n // 2, n - n // 2)
            assert first | second == set(range(1, n + 1))
            assert watched.splits(2 * pair, name, "C") == first  # the same splits of all methods
        drawn.append((watched.splits(2 * pair, "four"), watched.splits(2 * pair, "seven")))
        printed, _, n = watched.asked[2 * pair + 1]
        assert set(printed["dataset"]) == {"four", "seven"}
        assert n in (2, 3)  # in the median
        means = {(row["dataset"], row["method"]): float(row["mean"]) for row in printed.to_dict("records")}
        assert means["seven", "B"] == pytest.approx(2100 + np.mean(list(drawn[-1][1])), abs=0.005)
    assert len({frozenset(four) for four, _ in drawn}) > 3
    assert len(watched.splits(24, "small")) == 3  # all splits again


@pytest.mark.usefixtures("few")
def test_halves_of_a_data_set_are_the_same_whatever_others_there_are() -> None:
    printed, results = tables()
    drawn = []
    for others in (["small", "four"], ["four"], []):
        rule = Watched()
        calibrate(printed, results[results["dataset"].isin(["seven", *others])], rule)
        drawn.append([rule.splits(2 * draw, "seven") for draw in range(4)])
    assert drawn[0] == drawn[1] == drawn[2]
    assert len({frozenset(half) for half in drawn[0]}) > 1


def test_the_methods_of_a_wrong_run_are_turned_by_each_number_of_places(watched: Watched) -> None:
    own, *others = watched.asked[24:27]
    assert own[2] == 1
    for by, (printed, _, n) in enumerate(others, 1):
        assert n == 4  # the median of 3, 4 and 7
        for row in printed.to_dict("records"):
            d, m = list(SETS).index(row["dataset"]), METHODS.index(row["method"])
            assert (
                float(row["mean"])
                == 1000 * d + 100 * ((m - by) % 3) + np.arange(1, SETS[row["dataset"]] + 1).mean()
            )
            assert float(row["std"]) == pytest.approx(
                np.arange(1, SETS[row["dataset"]] + 1).std(ddof=1), rel=1e-9
            )


def shifted_means(rule: Watched, draws: int, shifts: int) -> np.ndarray:
    """Return the printed means of the shifted runs, (draws, shifts, cells); a draw asks for errors first."""
    asked = rule.asked[2 * draws + len(METHODS) :][: draws * (1 + shifts)]
    means = [[float(text) for text in printed["mean"]] for printed, _, _ in asked]
    assert {n for _, _, n in asked} == {4}  # the median of 3, 4 and 7
    return np.reshape(means, (draws, 1 + shifts, -1))[:, 1:]


#: of the scores 1 to n of a cell, n (n + 1) / 12
VARIANCES = np.repeat([1.0, 5 / 3, 14 / 3], 3)


def test_all_shifts_of_a_draw_have_the_same_noise(watched: Watched) -> None:
    found = shifted_means(watched, 12, len(SOME))
    steps = np.diff(SOME)[:, None] * np.sqrt(VARIANCES)
    np.testing.assert_allclose(np.diff(found, axis=1), np.broadcast_to(steps, (12, 2, 9)), atol=0.0101)
    assert len(np.unique(found[:, 0, 0])) == 12


def test_shifted_runs_have_the_noise_of_a_difference_of_two_means(monkeypatch: pytest.MonkeyPatch) -> None:
    """Student's with 2 * 4 - 2 degrees of freedom, times the error of a mean of 4 and of one of n splits."""
    draws = 40
    monkeypatch.setattr(calibration, "SHIFTS", (1.0,))
    monkeypatch.setattr(calibration, "DRAWS", draws)
    rule = Watched()
    calibrate(*tables(), rule)
    own = np.array([2, 102, 202, 1002.5, 1102.5, 1202.5, 2004, 2104, 2204])
    noise = shifted_means(rule, draws, 1)[:, 0] - own - np.sqrt(VARIANCES)
    noise /= np.sqrt(np.repeat([7 / 12, 5 / 6, 11 / 6], 3))  # of variance / 4 + variance / n
    assert stats.kstest(noise.ravel(), stats.t(6).cdf).pvalue > 0.05
    assert noise.var() == pytest.approx(6 / 4, rel=0.25)  # normal noise would have 1
    np.testing.assert_allclose(noise.reshape(draws, 3, 3).var(axis=(0, 2)), 6 / 4, rtol=0.5)
    assert abs(np.corrcoef(noise.T) - np.eye(9)).max() < 0.6


def test_shifts_are_tried_from_an_eighth_to_six_in_steps_of_half_at_most() -> None:
    shifts = calibration.SHIFTS
    assert (shifts[0], shifts[1], shifts[-1]) == (0.125, 0.25, 6.0)
    assert 1.0 in shifts  # of which the verdict is
    assert all(1 < after / before <= 1.5 for before, after in pairwise(shifts[1:]))


@pytest.mark.usefixtures("few")
def test_of_two_methods_that_are_alike_the_wrong_columns_agree_in_part() -> None:
    """A and B have the same scores: turned by one place, one column of three agrees, and by two another."""
    printed, results = tables()
    results.loc[results["method"] == "B", "score"] -= 100
    found = calibrate(printed, results, Watched())
    assert found.wrong_tables == pytest.approx((1 / 3, 1 / 3))
    assert found.wrong == pytest.approx(1 / 3)
    assert found.uncharged is not None
    assert found.uncharged[1] == pytest.approx(1 / 3)
    assert found.readings == 1


@pytest.mark.usefixtures("few")
def test_a_spread_is_one_of_splits_unless_all_their_scores_are_equal() -> None:
    printed, results = tables(["A"])
    small = results.assign(score=results["score"] % 100 / 1e6)
    found = calibrate(printed, small, Watched())
    assert found.shifts is not None
    assert found.shifts.of_splits
    assert found.shifts.deviation == pytest.approx(np.arange(1, 5).std(ddof=1) / 1e6)
    equal = calibrate(printed, results.assign(score=0.1), Watched())
    assert equal.shifts is not None
    assert not equal.shifts.of_splits
    assert np.isnan(equal.shifted)
    assert equal.uncharged is not None
    assert np.isnan(equal.uncharged[2])


@pytest.mark.usefixtures("few")
def test_cells_of_one_split_have_no_deviation_beside_others() -> None:
    printed, results = tables(["A"])
    found = calibrate(printed, results[(results["dataset"] == "seven") | (results["split"] == 1)], Watched())
    assert found.shifts is not None
    assert (found.shifts.of_splits, found.shifts.deviation) == (True, 0.0)


@pytest.mark.usefixtures("few")
def test_a_half_with_one_score_makes_no_print() -> None:
    """Of B, only one split of seven gave a number: where it is in the first half, that is no mean."""
    printed, results = tables(["A", "B"])
    results = results[(results["method"] == "A") | (results["split"] == 2)]
    rule = Watched()
    calibrate(printed, results, rule)
    for pair in range(4):
        assert set(rule.asked[2 * pair + 1][0]["method"]) == {"A"}


@pytest.mark.usefixtures("few")
def test_readings_stand_in_for_the_print_in_turn() -> None:
    printed, results = tables(["A"])
    readings = {"one": results, "other": results.assign(score=results["score"] + 50)}
    rule = Watched()
    found = calibrate(printed, readings, rule)
    assert found.readings == 2
    for draw in range(4):  # a print, and both readings that meet it
        theirs, one, other = (rule.asked[3 * draw + k][1].values("seven", "A", "score") for k in range(3))
        assert (theirs.min() > 2050) == bool(draw % 2)
        assert one.max() < 2050 < other.min()
    assert found.faithful > 0.5
    assert found.uncharged is not None
    assert found.faithful >= found.uncharged[0]


@pytest.mark.usefixtures("few")
def test_where_nothing_was_run_nothing_agrees() -> None:
    printed, results = tables(["A"])
    found = calibrate(printed.assign(method="Z"), results, Watched())
    assert (found.wrong, found.wrong_tables, found.measured) == (0.0, (), True)


def test_digits_are_those_of_the_cell_or_the_most_of_any() -> None:
    printed, results = tables(["A", "B"])
    printed["mean"] = ["1.5", "1.25", "7", "1.125", "2.5", "2.25"]
    cells = compare_cells(printed, results, metric="score", printed_splits=1)
    page, n = calibration._as_print(printed, cells.assign(method=["A", "B", "A", "B", "A", "Z"]))
    assert page["mean"].tolist() == ["2.0", "102.00", "1002", "1102.500", "2004.0", "2104.000"]
    assert n == 4
    assert calibration._as_print(printed, cells[:0])[1] == 1
