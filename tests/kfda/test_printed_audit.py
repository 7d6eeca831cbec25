"""What the printed numbers say by themselves: recounts, counts of samples, and the law of the ±."""

import numpy as np
import pytest

from marginbook.claims import Verdict
from marginbook.kfda.claims import (
    printed_audit,
    printed_deviations,
    printed_one_classifier,
    printed_retained,
    printed_sentences,
)
from marginbook.kfda.claims.printed_deviations import (
    LAWS,
    explained,
    implied_errors,
    log_likelihood,
    odds,
    own_errors,
    spreads,
)
from marginbook.kfda.paper.printed import (
    HALF_SPARSE,
    K1,
    K1_SPARSE,
    OWN,
    RIVAL,
    Printed,
    fixed_deviation,
    printed,
    sizes,
)


def test_what_the_papers_own_numbers_say():
    """The recounts: a change here is news."""
    expected = {
        printed_audit.check_means: (
            Verdict.CORRECTED,
            "31 of 34 printed values are the means, up to rounding",
        ),
        printed_audit.check_counts_1: (Verdict.HOLDS, "17 of 17"),
        printed_audit.check_counts_2: (Verdict.HOLDS, "9 of 9"),
        printed_audit.check_sizes: (Verdict.HOLDS, "7 of 7"),
        printed_retained.check_printed_nrs: (Verdict.HOLDS, "80 of 80"),
        printed_one_classifier.check_printed_spread: (Verdict.HOLDS, "odds 10^36"),
        printed_one_classifier.check_rows_in_training: (Verdict.HOLDS, "largest difference"),
    }
    for run, (verdict, measured) in expected.items():
        evidence = run()
        assert evidence.verdict == verdict, run
        assert evidence.measured.startswith(measured), (run, evidence.measured)


def test_rules_that_a_set_was_chosen_by():
    assert printed_audit.check_sizes(least_rows=208).verdict == Verdict.HOLDS  # Sonar has 208
    assert printed_audit.check_sizes(least_rows=209).verdict == Verdict.FAILS
    assert printed_audit.check_means(rows=("MCR",)).verdict == Verdict.HOLDS
    assert printed_audit.check_means(rows=("NRS",)).verdict == Verdict.CORRECTED


@pytest.fixture
def change(monkeypatch):
    """Return a function that sets one printed cell, for every module that reads them."""
    pages = {names: printed(*names) for names in ((), ("table-1",), ("table-2",), ("table-1", "table-2"))}
    copied = {
        names: Printed(page.errors.copy(), page.deviations.copy(), page.retained.copy())
        for names, page in pages.items()
    }
    for module in (printed_audit, printed_sentences, printed_retained, printed_deviations):
        monkeypatch.setattr(module, "printed", lambda *names: copied[names])

    def put(side, name, column, value):
        for page in copied.values():
            cells = getattr(page, side)
            if name in cells.index:
                cells.loc[name, column] = value

    return put


def test_the_recounts_read_the_printed_numbers(change):
    """With other numbers printed, the verdicts are other ones."""
    change("errors", "heart", K1, 10.0)  # the published best is no longer the best, and kFDA_1 in one more
    assert printed_audit.check_counts_1().verdict == Verdict.FAILS
    assert "kFDA_1 is most accurate: claimed 6/13, counted 7/13" in printed_audit.check_counts_1().why
    assert printed_audit.check_counts_2().verdict == Verdict.HOLDS
    change("errors", "heart", K1, 99.0)
    assert printed_audit.check_means().verdict == Verdict.FAILS
    change("retained", "wdbc", K1_SPARSE, 99.0)
    assert printed_audit.check_counts_2().verdict == Verdict.FAILS


def test_a_share_between_two_counts_is_noticed(change):
    change("retained", "sonar", K1, 94.0)  # 97.76 of 104 samples
    evidence = printed_retained.check_printed_nrs()
    assert evidence.verdict == Verdict.FAILS
    assert evidence.measured.startswith("79 of 80")


def test_equal_cells_of_one_exponent_count_once():
    frame = printed_retained.counts()
    assert len(frame) == 5 * 20
    assert frame.loc[frame["repeats"], "column"].isin([K1_SPARSE, HALF_SPARSE]).all()
    repeated = frame[frame["repeats"]][["dataset", "column"]].apply(tuple, axis=1).tolist()
    assert ("heart", K1_SPARSE) in repeated
    assert ("heart", HALF_SPARSE) not in repeated
    assert len(repeated) == len(frame) - 20 - len(spreads())


def simulate(rng, wrong, n_train, times, own=None):
    """Return the tested errors of one classifier in percent: `own` rows train, or random ones."""
    n = len(wrong)
    errors = []
    for number in range(times):
        train = own if number == 0 and own is not None else rng.permutation(n)[:n_train]
        errors.append(100 * np.delete(wrong, train).mean())
    return np.array(errors)


def test_the_hypergeometric_deviation_by_simulation():
    rng = np.random.default_rng(0)
    wrong = np.arange(300) < 45
    found = simulate(rng, wrong, 120, 4000)
    assert found.std(ddof=1) == pytest.approx(fixed_deviation(15.0, 120, 180), rel=0.05)
    assert found.mean() == pytest.approx(15.0, abs=0.15)


@pytest.mark.parametrize(("outlier", "sigma"), [(0.0, 0.4), (3.0, 0.4), (1.0, 1.0)])
def test_the_likelihood_is_the_frequency_of_a_simulation(outlier, sigma):
    rng, times = np.random.default_rng(1), 20
    draws = rng.normal(0, sigma, (40000, times))
    if outlier:
        draws[:, 0] = draws[:, 1:].mean(axis=1) + outlier  # one value lies this far from the mean of the rest
    deviations = draws.std(axis=1, ddof=1)
    for shown in np.unique(np.round(deviations, 1))[:12]:
        happened = np.mean(np.abs(deviations - shown) <= 0.05)
        if happened > 0.01:
            found = log_likelihood(float(shown), sigma, times, outlier=outlier, uncertainty=1e-9)
            assert np.exp(found) == pytest.approx(happened, rel=0.12)


def test_the_likelihoods_of_all_prints_add_up_to_one():
    for outlier in (0.0, 1.5):
        total = sum(np.exp(log_likelihood(k / 10, 0.7, 100, outlier=outlier)) for k in range(60))
        assert total == pytest.approx(1.0, abs=1e-6)
    several = log_likelihood(0.7, np.array([0.6, 0.8]), 100)
    one_by_one = [np.exp(log_likelihood(0.7, sigma, 100)) for sigma in (0.6, 0.8)]
    assert np.exp(several) == pytest.approx(np.mean(one_by_one))


def test_the_error_on_new_rows_is_recovered_from_a_large_deviation(change):
    """One classifier, 12 % on new rows and 0 on its own, tested on 20 partitions: the ± tells the 12."""
    rng, n_train, n_test = np.random.default_rng(5), 1000, 2175
    own = np.arange(n_train)
    wrong = np.zeros(n_train + n_test, bool)
    wrong[n_train : n_train + round(0.12 * n_test)] = True
    found = simulate(rng, wrong, n_train, 20, own)
    change("errors", "splice", K1, round(float(found.mean()), 1))
    change("deviations", "splice", K1, round(float(found.std(ddof=1)), 1))
    line = implied_errors("splice").set_index("column").loc[K1]
    assert line["low"] - 0.3 <= 12.0 <= line["high"] + 0.3
    assert line["high"] - line["low"] < 2
    assert found.mean() < 9  # what such a table would print


def test_the_own_error_lies_between_the_mean_and_what_the_pool_allows():
    assert own_errors(4.0, 100, 100, 45.0)[[0, -1]].tolist() == [4.0, 8.0]
    assert own_errors(21.0, 700, 300, 30.0)[[0, -1]].tolist() == [21.0, 30.0]
    assert own_errors(33.0, 700, 300, 30.0)[[0, -1]].tolist() == [33.0, 33.0]


def test_the_spread_decides_on_large_pools_only():
    frame = spreads()
    assert set(frame["dataset"]) == set(sizes().index)
    assert (frame["fixed"] >= frame["others"] - 1e-9).all()
    ratios = odds(frame)
    # at least about 2000 tested rows for a hundred or more that train: only there do the laws differ
    pools = sizes()["n_pool"]
    assert set(ratios.index[ratios > 5]) == {"banana", "ringnorm", "titanic", "twonorm", "waveform"}
    assert pools[ratios.index[ratios > 5]].min() > 2000
    assert frame.loc[~explained(frame), ["dataset", "column"]].to_numpy().tolist() == [["diabetes", K1]]
    assert frame["log_refit"].isna().sum() == 25  # Table 2 has no column of another paper's machines
    assert next(iter(LAWS)) == "fixed"


def test_refitted_deviations_would_have_been_called_so(change):
    """Were the ± those of the column kFDA_OLS on the large pools, the verdict would be the other one."""
    page = printed("table-1")
    for name in page.errors.index:
        for column in OWN:
            change("deviations", name, column, page.deviations.loc[name, RIVAL])
    assert printed_one_classifier.check_printed_spread().verdict == Verdict.FAILS
