"""The rule for printed cells: what it passes, and must not, when our own results stand in for the print."""

import numpy as np
import pandas as pd
import pytest

from marginbook.claims import Verdict
from marginbook.claims.calibration import calibrate
from marginbook.claims.cell_verdicts import Scores, Spread, Term, compare_cells, quantile
from marginbook.claims.pass_rates import Calibration

METHODS = ("A", "B", "C")


def drawn(apart: float, splits: int, seed: int = 0, sets: int = 20) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a printed table of two decimals, and results; methods differ by `apart` deviations."""
    rng = np.random.default_rng(seed)
    rows = [
        {"dataset": f"set {d}", "method": method, "split": split, "score": 70 + apart * m + rng.normal()}
        for d in range(sets)
        for m, method in enumerate(METHODS)
        for split in range(1, splits + 1)
    ]
    cells = {"dataset": [f"set {d}" for d in range(sets) for _ in METHODS], "method": list(METHODS) * sets}
    printed = pd.DataFrame(cells).assign(mean="70.00", std="1.00", note="")
    return printed, pd.DataFrame(rows)


def rule(printed: pd.DataFrame, results: Scores, n: int) -> pd.DataFrame:
    return compare_cells(printed, results, metric="score", printed_splits=n)


@pytest.mark.parametrize("splits", [6, 30])
def test_a_faithful_run_passes_and_another_method_does_not(splits: int) -> None:
    found = calibrate(*drawn(apart=8.0, splits=splits), rule)
    assert found.measured
    assert found.faithful == pytest.approx(0.95, abs=0.03)
    assert found.wrong == 0.0
    # a cell agrees if a normal number around one deviation is within the range: 1.29 of them for 6 splits
    assert found.shifted == pytest.approx({6: 0.69, 30: 0.03}[splits], abs=0.04)
    assert found.judge(60, 60) == Verdict.REPRODUCED


def test_a_table_shows_a_shift_that_none_of_its_cells_can_tell() -> None:
    found = calibrate(*drawn(apart=8.0, splits=6), rule)
    assert found.shifts is not None
    assert list(found.shifts.rates.values()) == sorted(found.shifts.rates.values(), reverse=True)
    assert found.shifts.deviation == pytest.approx(1.0, abs=0.2)
    assert found.noticed(60) == 0.75
    assert found.noticed(3) == 2.0  # fewer cells, less power
    told = found.told(60)
    assert "69 % where the means are a standard deviation off" in told
    assert "with all means a standard deviation off, 0 % of the tables would pass" in told
    assert (
        "the smallest shift of all means that the table would show is 0.75 standard deviations (0.71" in told
    )


def test_a_table_that_would_pass_with_shifted_means_is_undecided() -> None:
    """Of three cells two must agree, and of those that are a deviation off 69 % do."""
    found = calibrate(*drawn(apart=8.0, splits=6), rule)
    assert found.needed(3) == 2
    assert found.slips(found.shifted, 3) == pytest.approx(0.69**3 + 3 * 0.69**2 * 0.31, abs=0.05)
    assert found.judge(3, 3) == Verdict.UNDECIDED
    assert found.judge(60, 60) == Verdict.REPRODUCED


def test_one_split_has_no_deviation_to_be_off_by() -> None:
    """What a shift is measured by is then the error of a share of the test rows."""
    printed, results = drawn(apart=8.0, splits=1)
    results = results.assign(score=results["score"] / 100, test_rows=1000)
    found = calibrate(printed.assign(mean="0.70", std=""), results, rule)
    assert found.shifted != found.shifted
    assert found.shifts is not None
    assert not found.shifts.of_splits
    assert found.shifts.deviation == pytest.approx(np.sqrt(0.78 * 0.22 / 1000), rel=0.1)
    assert found.judge(60, 60) == Verdict.REPRODUCED
    assert "standard errors" in found.told(60)
    assert "nan" not in found.told(60)


def test_where_methods_are_alike_the_wrong_column_passes_too() -> None:
    found = calibrate(*drawn(apart=0.0, splits=30, sets=60), rule)
    assert found.wrong == pytest.approx(0.95, abs=0.03)
    assert found.judge(60, 60) == Verdict.UNDECIDED


def test_too_few_splits_to_measure_are_said() -> None:
    found = calibrate(*drawn(apart=8.0, splits=3), rule)
    assert not found.measured
    assert found.faithful == 0.95
    assert "as the rule promises" in str(found)


def test_cells_that_are_not_printed_or_of_other_data_do_not_count() -> None:
    printed, results = drawn(apart=8.0, splits=10, sets=3)
    printed.loc[0, "mean"] = ""
    other = {"set 2": "it has other features"}

    def without(printed: pd.DataFrame, results: Scores, n: int) -> pd.DataFrame:
        return compare_cells(printed, results, metric="score", printed_splits=n, other_data=other)

    cells = without(printed, results, 10)
    assert cells["verdict"].value_counts()["not-testable"] == 3
    assert set(cells.loc[cells["dataset"] == "set 2", "note"]) == {"it has other features"}
    assert calibrate(printed, results, without).wrong == 0.0


@pytest.mark.parametrize(
    ("agreeing", "verdict"),
    [
        (60, Verdict.REPRODUCED),
        (54, Verdict.REPRODUCED),
        (53, Verdict.PARTLY),
        (37, Verdict.PARTLY),
        (36, Verdict.NOT_REPRODUCED),
    ],
)
def test_a_table_is_judged_by_what_faithful_and_wrong_runs_reach(agreeing: int, verdict: Verdict) -> None:
    found = Calibration(faithful=0.95, wrong=0.6, shifted=0.1)
    assert found.needed(60) == 54
    assert found.judge(agreeing, 60) == verdict
    assert found.judge(0, 0) == Verdict.NOT_TESTABLE


def test_the_shares_are_told_in_percent() -> None:
    assert str(Calibration(faithful=0.9, wrong=0.25, shifted=0.1)) == (
        "90 % of the cells of a faithful re-run, 25 % where another method's column stands for the printed "
        "one, 10 % where the means are a standard deviation off"
    )


def test_the_range_is_welchs() -> None:
    """Against SciPy's own test of two means, from their summaries."""
    from scipy.stats import ttest_ind_from_stats

    for other in (70.9, 71.0, 71.1, 71.2, 71.3):
        p = ttest_ind_from_stats(70, 1.2, 5, other, 0.4, 9, equal_var=False).pvalue
        terms = [Term(1.2**2 / 5, 4), Term(0.4**2 / 9, 8)]
        inside = other - 70 <= quantile(terms) * np.sqrt(sum(term.variance for term in terms))
        assert inside == (p >= 0.05)


def test_a_choice_made_once_widens_the_range() -> None:
    printed, results = drawn(apart=0.0, splits=100, sets=1)
    printed["mean"] = "71.00"
    assert set(rule(printed, results, 100)["verdict"]) == {"not-reproduced"}
    choices = {("set 0", method): Spread(0.7, 5) for method in METHODS}
    wide = compare_cells(printed, results, metric="score", printed_splits=100, choices=choices)
    assert set(wide["verdict"]) == {"reproduced"}


def test_a_cell_is_judged_among_others_as_alone() -> None:
    """Some have no print, some no deviation on either side, some no result, some a choice or other data."""
    rng = np.random.default_rng(3)
    printed, results = drawn(apart=1.0, splits=4)
    results = results.assign(other=rng.normal(70, 2, len(results)), test_rows=50)
    results = results[rng.random(len(results)) < 0.4]  # down to one split, or none
    printed = printed.assign(
        mean=[["", "70", "70.1", "69.25"][k % 4] for k in range(len(printed))],
        std=[["1.00", "", "0.00"][k % 3] for k in rng.permutation(len(printed))],
    )
    splits = {f"set {d}": 1 + d % 5 for d in range(20)}

    def judged(rows: pd.DataFrame) -> pd.DataFrame:
        return compare_cells(
            rows,
            results,
            metric="score",
            better_of=("score", "other"),
            printed_splits=splits,
            choices={(f"set {d}", "B"): Spread(0.5, 4) for d in range(10)},
            other_data={"set 7": "differs"},
        )

    whole = judged(printed)
    alone = [judged(printed.iloc[[k]]) for k in range(len(printed))]
    pd.testing.assert_frame_equal(whole, pd.concat(alone, ignore_index=True), check_exact=True)
    assert whole["verdict"].nunique() == 4
    assert whole["ours_n"].min() == 0
    assert {"score", "other"} == set(whole["column"])
