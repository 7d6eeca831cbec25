"""Tests of significance against scipy, naive formulas and Demšar's published example."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy import stats as scipy_stats

from marginbook.experiments import stats

METHODS = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
# Demšar (2006), Table 6: the ranks of four variants of C4.5 on 14 data sets
DEMSAR_RANKS = pd.DataFrame(
    [[4, 3, 2, 1], [1, 2, 3, 4], [4, 1, 2, 3], [4, 1, 3, 2], [4, 2, 3, 1], [1, 2.5, 4, 2.5], [3, 2, 4, 1],
     [2.5, 2.5, 4, 1], [4, 3, 2, 1], [2.5, 2.5, 2.5, 2.5], [4, 2.5, 1, 2.5], [3, 2, 4, 1], [4, 1, 2, 3],
     [3, 1, 4, 2]],
    columns=METHODS,
)  # fmt: skip


@pytest.fixture
def pairs() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    a = rng.normal(0.8, 0.05, 30)
    return a, a - rng.normal(0.02, 0.04, 30)


def test_paired_t_is_scipys(pairs):
    ours, theirs = stats.paired_t(*pairs), scipy_stats.ttest_rel(*pairs)
    assert (ours.statistic, ours.p_value) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-12)
    assert ours.df == theirs.df == 29
    assert ours.mean_difference == pytest.approx(np.mean(pairs[0] - pairs[1]))


def test_corrected_t_is_the_formula_written_out(pairs):
    a, b = pairs
    n, total = len(a), 0.0
    differences = [x - y for x, y in zip(a, b, strict=True)]
    mean = sum(differences) / n
    for d in differences:
        total += (d - mean) ** 2
    t = mean / ((1 / n + 25 / 75) * total / (n - 1)) ** 0.5
    found = stats.corrected_resampled_t(a, b, n_train=75, n_test=25)
    assert found.statistic == pytest.approx(t, rel=1e-12)
    assert found.p_value == pytest.approx(2 * scipy_stats.t.cdf(-abs(t), n - 1), rel=1e-12)


def test_corrected_t_tends_to_the_paired_t_as_the_test_part_vanishes(pairs):
    plain = stats.paired_t(*pairs)
    small = stats.corrected_resampled_t(*pairs, n_train=1e12, n_test=1)
    assert small.statistic == pytest.approx(plain.statistic, rel=1e-9)
    assert abs(stats.corrected_resampled_t(*pairs, n_train=1, n_test=1).statistic) < abs(plain.statistic)


def test_swapping_the_methods_flips_the_sign_only(pairs):
    a, b = pairs
    one, two = (stats.corrected_resampled_t(*p, n_train=9, n_test=1) for p in ((a, b), (b, a)))
    assert (one.statistic, one.p_value) == pytest.approx((-two.statistic, two.p_value))


def test_methods_that_never_differ():
    same = np.full(5, 0.7)
    assert stats.paired_t(same, same).p_value == 1
    assert stats.wilcoxon(same, same).p_value == 1
    always = stats.paired_t(np.full(4, 0.75), np.full(4, 0.5))
    assert (always.statistic, always.p_value) == (np.inf, 0)


def test_wilcoxon_is_scipys_and_exact_for_few_pairs():
    a, b = np.array([1.0, 2, 3, 4, 5, 6]), np.array([0.5, 1.0, 1.2, 1.1, 1.3, 1.4])
    assert stats.wilcoxon(a, b).p_value == pytest.approx(2 / 2**6)


def test_wilcoxon_ranks_differences_of_both_signs():
    """Ranks 1 and 2 are the second method's, 3 to 6 the first's: 5 of 64 signs say as much, 5 the reverse."""
    a, b = np.array([1.0, 2, 3, 4, 5, 6]), np.array([1.1, 2.2, 2.6, 3.4, 4.2, 5.0])
    found = stats.wilcoxon(a, b)
    assert (found.statistic, found.p_value) == pytest.approx((3, 10 / 64))


def test_friedman_is_scipys():
    scores = np.random.default_rng(1).random((12, 5))
    found, theirs = stats.friedman(scores), scipy_stats.friedmanchisquare(*scores.T)
    assert (found.statistic, found.p_value) == pytest.approx((theirs.statistic, theirs.pvalue))
    same = stats.friedman(np.ones((4, 3)))
    assert (same.statistic, same.p_value, same.df, same.n) == (0, 1, 2, 4)


def test_friedman_of_rows_that_agree_and_of_rows_without_ranks():
    agree = stats.friedman([[1.0, 2, 3]] * 4)
    assert (agree.statistic, agree.df) == (pytest.approx(8), 2)
    assert agree.p_value == pytest.approx(np.exp(-4))
    tied = stats.friedman([[1.0, 1, 1], [2, 2, 2]])
    assert (tied.statistic, tied.p_value, tied.df) == (0, 1, 2)


def test_average_ranks_of_demsars_example():
    # the smaller the rank the better: as scores they are losses
    ranks = stats.average_ranks(DEMSAR_RANKS, higher_is_better=False)
    assert ranks.round(3).to_dict() == {"C4.5": 3.143, "C4.5+m": 2.0, "C4.5+cf": 2.893, "C4.5+m+cf": 1.964}
    assert stats.average_ranks(-DEMSAR_RANKS).equals(ranks)


def test_rank_1_is_the_best():
    scores = pd.DataFrame({"good": [0.9, 0.8], "bad": [0.1, 0.2], "fair": [0.5, 0.5]})
    assert stats.average_ranks(scores).to_dict() == {"good": 1, "fair": 2, "bad": 3}
    assert stats.average_ranks(scores, higher_is_better=False).to_dict() == {"good": 3, "fair": 2, "bad": 1}


def test_friedman_of_demsars_example_once_ties_are_not_corrected_for():
    n, k = DEMSAR_RANKS.shape
    plain = 12 * n / (k * (k + 1)) * ((DEMSAR_RANKS.mean() ** 2).sum() - k * (k + 1) ** 2 / 4)
    assert plain == pytest.approx(9.28, abs=0.005)
    sizes = [(row == value).sum() for _, row in DEMSAR_RANKS.iterrows() for value in set(row)]
    correction = 1 - sum(t**3 - t for t in sizes) / (n * k * (k**2 - 1))
    chi2 = stats.friedman(-DEMSAR_RANKS).statistic
    assert chi2 == pytest.approx(plain / correction, rel=1e-12)
    f = stats.iman_davenport(-DEMSAR_RANKS)
    assert f.statistic == pytest.approx((n - 1) * chi2 / (n * (k - 1) - chi2))
    assert f.df == (3, 39)
    assert f.p_value < 0.05


def test_critical_difference_of_demsars_example():
    assert stats.critical_difference(14, 4) == pytest.approx(1.25, abs=0.005)
    assert stats.critical_difference(14, 4, alpha=0.10) == pytest.approx(1.12, abs=0.005)


def test_nemenyi_rejects_exactly_beyond_the_critical_difference():
    scores = pd.DataFrame(
        np.random.default_rng(3).random((20, 5)) + np.linspace(0, 0.8, 5), columns=list("abcde")
    )
    ranks, p = stats.average_ranks(scores), stats.nemenyi(scores)
    limit = stats.critical_difference(20, 5)
    apart = np.abs(np.subtract.outer(ranks.to_numpy(), ranks.to_numpy())) > limit
    assert np.array_equal(p.to_numpy() < 0.05, apart)
    assert apart.any()
    assert not apart[~np.eye(5, dtype=bool)].all()


def test_the_diagram_puts_the_best_at_the_left():
    ax = Figure().add_subplot()
    ranks = stats.critical_difference_diagram(DEMSAR_RANKS, ax=ax, higher_is_better=False)
    assert list(ranks.index) == ["C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"]
    assert {text.get_color() for text in ax.texts} == {"black"}
    names = {"3.1 C4.5": "C4.5", "C4.5+m+cf 2.0": "C4.5+m+cf"}
    shown = {text.get_text().strip(): text.get_position()[0] for text in ax.texts}
    place = {names[text]: at for text, at in shown.items() if text in names}
    assert set(place) == {"C4.5", "C4.5+m+cf"}
    left, right = ax.get_xlim()
    assert (place["C4.5+m+cf"] < place["C4.5"]) == (left < right)


def test_win_tie_loss_counts_rows():
    scores = pd.DataFrame({"ours": [0.9, 0.5, 0.7], "a": [0.8, 0.5, 0.9], "b": [0.1, 0.1, 0.69]})
    counts = stats.win_tie_loss(scores, "ours")
    assert counts.loc["a"].to_dict() == {"win": 1, "tie": 1, "loss": 1}
    assert counts.loc["b"].to_dict() == {"win": 3, "tie": 0, "loss": 0}
    assert stats.win_tie_loss(scores, "ours", higher_is_better=False).loc["b", "loss"] == 3
    assert stats.win_tie_loss(scores, "ours", margin=0.05).loc["b", "tie"] == 1
    with pytest.raises(ValueError, match="no method 'c'; there are ours, a, b"):
        stats.win_tie_loss(scores, "c")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stats.paired_t([1, 2], [1, 2, 3]), r"shapes \(2,\) and \(3,\)"),
        (lambda: stats.paired_t([[1, 2]], [[1, 2]]), "both must have the same"),
        (lambda: stats.paired_t([1], [2]), "1 pairs of scores, but at least 2"),
        (lambda: stats.wilcoxon([1, np.nan], [1, 2]), "1 scores are NaN"),
        (lambda: stats.corrected_resampled_t([1, 2], [2, 4], n_train=0, n_test=1), "both must be positive"),
        (lambda: stats.friedman(np.ones((3, 2))), r"shape \(3, 2\).*at least 3"),
        (lambda: stats.average_ranks(pd.DataFrame({"a": [1.0, np.nan], "b": [1, 2]})), "1 scores are NaN"),
    ],
)
def test_bad_scores_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stats.paired_t("abc", [1.0]), "scores must be numbers, got str"),
        (lambda: stats.paired_t([10**400, 1], [0, 1]), "scores must be numbers, got list"),
        (lambda: stats.friedman([["a", "b", "c"]] * 2), "scores must be numbers, got list"),
        (lambda: stats.corrected_resampled_t([1, 2], [2, 1], n_train="9", n_test=1), "n_train = '9' and"),
        (lambda: stats.critical_difference(0, 4), "n_rows must be a whole number >= 1, got 0"),
        (lambda: stats.critical_difference(4, 1), "n_methods must be a whole number >= 2, got 1"),
        (lambda: stats.critical_difference(4, 2.5), "n_methods must be a whole number >= 2, got 2.5"),
        (lambda: stats.critical_difference(4, 3, 1.0), r"alpha must be a number in \(0, 1\), got 1.0"),
        (lambda: stats.critical_difference(14, 1e300, 5e-324), "no quantile for n_methods = 1e"),
        (
            lambda: stats.win_tie_loss(pd.DataFrame(np.eye(2), columns=["a", "b"]), "a", margin=np.nan),
            "margin must be a number >= 0, got nan",
        ),
    ],
)
def test_what_is_no_table_of_scores(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("power", [-1074, -600, 1000])
def test_differences_whose_squares_leave_double_precision(power):
    a, b = np.array([1.0, 0.0, 3.0, 2.0]), np.array([0.0, 1.0, 1.0, 0.0])
    expected = stats.paired_t(a, b)
    found = stats.paired_t(np.ldexp(a, power), np.ldexp(b, power))
    assert (found.statistic, found.p_value) == (expected.statistic, expected.p_value)


def test_the_outcome_of_a_test_is_no_test_case_where_it_is_imported():
    assert not stats.TestResult.__test__
