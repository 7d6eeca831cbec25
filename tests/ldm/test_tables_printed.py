"""The claims about what the tables print: their own numbers, marks and counts, and chance."""

import itertools

import numpy as np
import pytest
from scipy import stats

from marginbook.claims import Verdict, contests
from marginbook.ldm.claims import (
    printed_audit,
    printed_averages,
    tables,
    tables_wins,
)
from marginbook.ldm.claims import printed_counts as recounts
from marginbook.ldm.paper.printed import (
    KINDS,
    other_versions,
    possible_outcomes,
    printed,
    printed_counts,
)


def test_possible_outcomes_hold_every_outcome_that_happens():
    """Random pairs of columns, rounded as printed: the t-test's outcome is among the possible ones."""
    rng = np.random.default_rng(1)
    certain = 0
    for n, scale, gap in itertools.product((10, 30), (0.002, 0.02), (0.0, 0.004, 0.02)):
        for _ in range(20):
            common = rng.normal(0, 0.02, n)
            a, b = (0.8 + common * rng.choice([1, -1]) + rng.normal(0, scale, n) for _ in range(2))
            a += gap
            told = [(round(float(v.mean()), 3), round(float(v.std(ddof=1)), 3)) for v in (a, b)]
            found = possible_outcomes(*told, n)
            happened = contests.outcome(float((a - b).mean()), stats.ttest_rel(a, b).pvalue)
            assert happened in found
            t = stats.ttest_rel(a, b).statistic / np.sqrt(1 + n)
            corrected = contests.outcome(float((a - b).mean()), 2 * stats.t.sf(abs(t), n - 1))
            assert corrected in possible_outcomes(*told, n, overlap=1.0)
            assert {"win": "loss", "loss": "win", "tie": "tie"}[happened] in possible_outcomes(*told[::-1], n)
            certain += len(found) == 1
    assert certain > 20


def test_what_the_papers_own_numbers_say():
    """The recounts: a change here is news."""
    expected = {
        printed_audit.check_table_1: (
            Verdict.UNDECIDED,
            "of 26 sets that are available, 26 numbers of instances and 22 of features agree; 4 sets may be",
        ),
        printed_averages.check_averages: (Verdict.CORRECTED, "12 of 13 averages"),
        recounts.check_counts: (Verdict.HOLDS, "10 of 10 rows agree"),
        recounts.check_peers: (Verdict.UNDECIDED, "7 of 7 rows are possible, 1 certain"),
        recounts.check_best: (
            Verdict.UNDECIDED,
            "number of sets on which the LDM is best: linear 10 alone, 13 with ties; "
            "rbf 14 alone, 16 with ties; large 7 alone, 11 with ties",
        ),
        recounts.check_marks: (Verdict.UNDECIDED, "175 of 175 marks are possible, 82 of them certain"),
        printed_audit.check_majority: (Verdict.HOLDS, "41 of 46"),
    }
    for run, (verdict, measured) in expected.items():
        evidence = run()
        assert evidence.verdict == verdict, run
        assert evidence.measured.startswith(measured), run


def test_sets_with_other_features_are_not_tested_and_have_their_printed_names():
    evidence = printed_audit.check_table_1()
    assert "austra, 15 features printed, 14 in the public set" in evidence.why
    assert "in 4 of 4 cases" in evidence.why
    fewer = printed_audit.OTHER_FEATURES - {"wdbc"}
    assert printed_audit.check_table_1(other=fewer).verdict == Verdict.FAILS
    assert set(other_versions()) == printed_audit.OTHER_FEATURES
    why = tables.check_table_2().why
    assert "austra, 15 features printed" in why
    assert "australian" not in why


def test_the_chance_of_a_rounding_is_that_of_random_tables():
    rng = np.random.default_rng(2)
    exact = rng.uniform(0.7, 0.9, size=(200_000, 3))
    rounded = exact.round(3)
    off = np.abs(rounded.mean(axis=1) - exact.mean(axis=1))
    for distance in (0.0001, 0.0003):
        # a printed average that is half a unit and this distance away
        average = f"{0.8 + 0.0005 + distance:.4f}"
        chance = printed_averages.chance_by_rounding([0.8] * 3, average)
        assert chance == pytest.approx(np.mean(off >= distance), rel=0.05)
    # 12 cells must all but two units of rounding be up: (2^12 - 12) / 12!, and as much down
    cells = printed("table-4").means["LDM"].to_list()
    assert printed_averages.chance_by_rounding(cells, "0.919") == pytest.approx(
        2 * 4084 / 479001600, rel=0.05
    )


def test_right_averages_are_doubted_too_often_without_the_correction(monkeypatch):
    monkeypatch.setattr(printed_averages, "DRAWN", 100)
    with_it, without = (
        printed_averages.false_alarms([20] * 9 + [12, 11, 12, 12], p) for p in (0.05 / 13, 0.05)
    )
    assert with_it < 0.1 < 0.2 < without


def test_not_every_printed_win_can_outlast_the_correction():
    """By hand for clean1: 0.011 is less than 2.08 times the least deviation of the difference, 0.015."""
    assert [tables_wins.printed_wins_left(table) for table in KINDS] == [(12, 10, 0), (10, 7, 0), (6, 6, 3)]
    page = printed("table-2")
    clean1 = possible_outcomes(page.cell("clean1", "LDM"), page.cell("clean1", "SVM"), 30, overlap=1.0)
    assert clean1 == {"tie"}


def test_the_recounts_read_the_printed_numbers(monkeypatch):
    """With other numbers printed, the verdicts are other ones."""
    pages = {table: printed(table) for table in KINDS}
    for module in (printed_audit, printed_averages, recounts):
        monkeypatch.setattr(module, "printed", pages.__getitem__)
    assert recounts.check_marks().verdict == Verdict.UNDECIDED
    pages["table-2"].means.loc["fourclass", "LDM"] = 0.9
    assert printed_averages.check_averages().verdict == Verdict.FAILS
    assert recounts.check_marks().verdict == Verdict.FAILS  # a lead so large has no mark
    assert "fourclass, LDM (linear)" in recounts.check_marks().why
    pages["table-2"].marks.loc["fourclass", "LDM"] = "win"
    assert recounts.check_marks().verdict == Verdict.UNDECIDED
    assert recounts.check_counts().verdict == Verdict.FAILS  # 13 marks where 12 wins are printed
    pages["table-2"].means["LDM"] = 0.6
    assert printed_audit.check_majority().verdict == Verdict.FAILS


def test_the_marks_are_the_printed_counts():
    for table in KINDS:
        marks = printed(table).marks["LDM"]
        assert tuple((marks == o).sum() for o in ("win", "tie", "loss")) == printed_counts(table)["SVM"]
        assert (printed(table).marks["SVM"] == "").all()
