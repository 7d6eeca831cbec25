"""The claims about simulated and real matrices: what they say follows made-up results."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t, ttest_1samp

from marginbook.claims import Verdict, printed_tables
from marginbook.claims.contests import holm
from marginbook.experiments.stats import corrected_resampled_t
from marginbook.smm.claims import as_good_as, figures_levels, figures_rank, tables_rules
from marginbook.smm.claims import stored_results as contests
from marginbook.smm.claims import tables_real_matrices as real_matrices
from marginbook.smm.claims.stored_results import (
    LOGISTIC,
    NUCLEAR,
    PATH,
    PLATT,
    RBF,
    ROWS,
    VECTOR_LOGISTIC,
    VECTOR_PATH,
    VECTOR_PLATT,
)  # fmt: skip
from marginbook.smm.experiments.real_pairs import PARITY

from ..made_files import results_of

RUNS = [
    value
    for module in (figures_levels, figures_rank, tables_rules, real_matrices)
    for name, value in vars(module).items()
    if name[:6] == "check_"
]
REAL = ("digits-3-8", "usps-4-9", "eeg")
ALL, NONE = Verdict.REPRODUCED, Verdict.NOT_REPRODUCED


def settings_of(table):
    return printed_tables.PaperTables("smm", own="").protocol(table).settings


put = results_of("smm")


def made(values, *, column="mae", splits=8, noise=0.01, **columns):
    """Return rows of {data set: {method: value}}; draws vary by a factor of all methods, and a bit."""
    rng = np.random.default_rng(0)
    shared, own = 1 + 0.05 * rng.standard_normal(splits), rng.standard_normal((splits, 40))
    return [
        {
            "dataset": dataset, "split": k + 1, "method": method,
            column: value * shared[k] * (1 + noise * own[k, m]), **columns,
        }
        for dataset, methods in values.items()
        for m, (method, value) in enumerate(methods.items())
        for k in range(splits)
    ]  # fmt: skip


def by_n(power, **others):
    sizes = (100, 200, 400, 800, 1600)
    return {
        f"logit-n{n}-d20-r2": {PATH: n**power, **{name: factor * n**power for name, factor in others.items()}}
        for n in sizes
    }


@pytest.mark.usefixtures("put")
@pytest.mark.parametrize("run", RUNS)
def test_without_results_nothing_is_testable(run):
    evidence = run()
    assert evidence.verdict == Verdict.NOT_TESTABLE
    assert "marginbook experiment run smm/" in evidence.why


@pytest.mark.parametrize(("power", "verdict"), [(-0.4, ALL), (0.1, NONE)])
def test_consistency(put, power, verdict):
    put("sample-size", made(by_n(power)))
    evidence = figures_levels.check_consistency()
    assert evidence.verdict == verdict
    assert (evidence.slack > 0) == (verdict == ALL)
    assert f"exponent of n {power:.2f}" in evidence.measured


def test_a_slope_has_the_interval_of_student():
    rng = np.random.default_rng(1)
    names, x = [f"logit-n{n}-d4-r1" for n in (100, 200, 400)], np.log([100, 200, 400])
    logs = -0.5 * x[:, None] + 0.1 * rng.standard_normal((3, 6))
    index = pd.MultiIndex.from_product([names, range(6)], names=["dataset", "split"])
    found = contests.slope(pd.DataFrame({"a": np.exp(logs).ravel()}, index=index), "a", "n")
    slopes = [np.polyfit(x, column, 1)[0] for column in logs.T]
    assert found.mean == pytest.approx(np.mean(slopes))
    assert found.high - found.mean == pytest.approx(2.5706 * np.std(slopes, ddof=1) / np.sqrt(6), rel=1e-3)
    assert found.draws == 6


@pytest.mark.parametrize(("factor", "verdict"), [(1.5, ALL), (0.7, NONE)])
def test_level_sets(put, factor, verdict):
    power = -0.3 if verdict == ALL else 0.2
    put("sample-size", made(by_n(power, **{VECTOR_PATH: factor}), column="level_error"))
    assert figures_levels.check_level_sets().verdict == verdict


def test_levels(put):
    sets = ("logit-n400-d20-r2", "step-n400-d20-r2")
    names = {4: 0.2, 10: 0.16, 20: 0.15, 50: 0.149}
    put("levels", made({name: {f"{PATH}, H={h}": v for h, v in names.items()} for name in sets}))
    evidence = figures_levels.check_levels()
    assert evidence.verdict == ALL
    assert evidence.sizes["H"] == [4, 10, 20, 50]
    names[50] = 0.10
    put("levels", made({name: {f"{PATH}, H={h}": v for h, v in names.items()} for name in sets}))
    assert figures_levels.check_levels().verdict == NONE  # half of the parts
    names[20] = 0.25
    put("levels", made({name: {f"{PATH}, H={h}": v for h, v in names.items()} for name in sets}))
    assert figures_levels.check_levels().verdict == NONE


def test_low_rank_helps(put):
    grown = {f"logit-n400-d{d}-r2": {PLATT: 20.0, VECTOR_PLATT: 20 + d / 2} for d in (5, 10, 20, 40)}
    put("dimension", made(grown, column="error"))
    assert figures_rank.check_low_rank_helps().verdict == ALL
    turned = {name: {PLATT: v[VECTOR_PLATT], VECTOR_PLATT: v[PLATT]} for name, v in grown.items()}
    put("dimension", made(turned, column="error"))
    assert figures_rank.check_low_rank_helps().verdict == NONE


def test_ranks(put):
    def results(best):
        return {
            f"logit-n400-d20-r{r}": {
                PATH: 0.205, VECTOR_PATH: 0.3,
                **{f"rank {k} SVM, levels": 0.2 + 0.02 * (k != best(r)) for k in (1, 2, 5, 10)},
            }
            for r in (1, 2, 5)
        }  # fmt: skip

    put("rank", made(results(lambda r: r)))
    evidence = figures_rank.check_rank()
    assert evidence.verdict == ALL
    assert "best ranks [1, 2, 5]" in evidence.measured
    put("rank", made(results(lambda r: 10)))
    assert figures_rank.check_rank().verdict == NONE  # half of the parts


@pytest.mark.parametrize(("factor", "verdict"), [(1.1, ALL), (0.8, NONE), (0.94, Verdict.UNDECIDED)])
def test_nuclear_norm_counts_the_centre_once(put, factor, verdict):
    methods = {PLATT: 20.0, NUCLEAR: 20 * factor}
    noise = 0.05 if verdict == Verdict.UNDECIDED else 0.01
    names = [f"logit-n400-d{d}-r2" for d in (5, 20)]
    put("dimension", made(dict.fromkeys(names, methods), column="error", noise=noise))
    names = [f"logit-n{n}-d20-r2" for n in (100, 400)]
    put("sample-size", made(dict.fromkeys(names, methods), column="error", noise=noise))
    evidence = figures_rank.check_nuclear_norm()
    assert evidence.verdict == verdict
    assert evidence.sizes["sets"] == 3
    assert (evidence.slack > 0) == (verdict == ALL)


def paths(crossed=0.01, isotonic=0.001):
    columns = {"mae_count": 0.2, "mae_interval": 0.201, "mae_isotonic": 0.2 + isotonic, "crossed": crossed}
    return made(by_n(-0.3), **columns, crossing_pairs=2 * crossed, level_error=0.5)


def test_rules_and_crossings(put):
    put("sample-size", paths())
    put("dimension", paths())
    evidence = tables_rules.check_rules()
    assert evidence.verdict == ALL
    assert evidence.sizes["sets"] == 5
    assert evidence.slack == pytest.approx(0.004)
    assert tables_rules.check_crossings().verdict == ALL
    put("sample-size", paths(crossed=0.0, isotonic=-0.02))
    put("dimension", paths(crossed=0.0, isotonic=-0.02))
    assert tables_rules.check_rules().verdict == tables_rules.check_crossings().verdict == NONE


@pytest.mark.parametrize(("factor", "verdict"), [(0.8, ALL), (1.3, NONE), (1.0, ALL)])
def test_one_link_against_level_paths(put, factor, verdict):
    scores = ("mae", "brier", "log_loss", "ece")

    def write(table, values):
        parts = [pd.DataFrame(made(values, column=score, noise=0.002)) for score in scores]
        frame = parts[0].assign(**{score: part[score] for score, part in zip(scores, parts, strict=True)})
        put(table, frame)

    write("sample-size", by_n(-0.3, **{LOGISTIC: factor, PLATT: 1.0}))
    write("step", {"step-n400-d20-r2": {PATH: 0.2, LOGISTIC: 0.2 * factor, PLATT: 0.2}})
    for check in (tables_rules.check_calibration, tables_rules.check_model_free):
        evidence = check()
        assert evidence.verdict == verdict
        assert (evidence.slack > 0) == (verdict == ALL)


def test_sets_of_a_nonlinear_truth(put):
    values = {f"bumps-n400-d6x2-r{r}": {ROWS: 0.1, PATH: 0.2, VECTOR_PATH: 0.2, RBF: 0.15} for r in (1, 2)}
    put("bumps", made(values, column="level_error"))
    evidence = tables_rules.check_nonlinear_sets()
    assert evidence.verdict == ALL
    assert evidence.slack > 0.04
    assert tables_rules.check_nonlinear_sets(RBF, (ROWS,)).verdict == NONE


@pytest.mark.parametrize(("factor", "verdict"), [(1.3, ALL), (0.7, NONE)])
def test_row_kernels(put, factor, verdict):
    values = {f"bumps-n400-d6x2-r{r}": {ROWS: 0.15, PATH: 0.15 * factor, RBF: 0.15 * factor} for r in (1, 2)}
    frame = pd.DataFrame(made(values))
    put("bumps", frame.assign(error=frame["mae"], log_loss=frame["mae"]))
    assert tables_rules.check_row_kernel().verdict == verdict


@pytest.mark.parametrize(("factor", "low", "nuclear"), [(1.0, ALL, ALL), (1.5, NONE, ALL), (0.5, ALL, NONE)])
def test_real_matrices(put, factor, low, nuclear):
    first = (PLATT, LOGISTIC, PATH)
    names = (*first, VECTOR_PLATT, VECTOR_LOGISTIC, NUCLEAR)
    values = {name: {m: 10.0 if m in first else 10 * factor for m in names} for name in REAL}
    frame = pd.DataFrame(made(values, column="error", n_train=60, n_test=30))
    put("matrices", frame.assign(brier=frame["error"] / 100))
    assert real_matrices.check_low_rank().verdict == low
    assert real_matrices.check_nuclear_norm().verdict == nuclear


@pytest.mark.parametrize(("factor", "verdict"), [(1.5, ALL), (1.05, NONE), (0.7, NONE)])
def test_a_set_with_a_target_of_rank_one(put, factor, verdict):
    names = (PLATT, LOGISTIC, VECTOR_PLATT, VECTOR_LOGISTIC)
    values = {name: 10 * factor if "vector" in name else 10.0 for name in names}
    put("matrices", made({PARITY: values, "eeg": values}, column="error", n_train=60, n_test=30))
    evidence = real_matrices.check_rank_one()
    assert evidence.verdict == verdict
    assert (evidence.slack > 0) == (verdict == ALL)
    assert evidence.claimed == "better by more than 1 (points of error)"
    assert list(evidence.sizes["power"]) == [PARITY]
    assert real_matrices.check_low_rank().sizes["sets"] == 1
    assert real_matrices.check_rank_one(name="usps-3-8").verdict == Verdict.NOT_TESTABLE


def test_more_splits_replace_those_of_the_first_run(put):
    names = (PLATT, LOGISTIC, VECTOR_PLATT, VECTOR_LOGISTIC)
    same = {name: dict.fromkeys(names, 10.0) for name in REAL}
    put("matrices", made(same, column="error", n_train=60, n_test=30))
    apart = {"eeg": {name: 15.0 if "vector" in name else 10.0 for name in names}}
    put("contest", made(apart, column="error", splits=30, n_train=60, n_test=30))
    evidence = real_matrices.check_low_rank()
    assert evidence.verdict == Verdict.PARTLY
    assert evidence.sizes["draws"] == {"digits-3-8": 8, "usps-4-9": 8, "eeg": 30}
    assert "0 within, 0 open, 1 beyond" not in evidence.measured
    assert "2 within, 0 open, 1 beyond" in evidence.measured


def test_a_method_that_the_second_run_lacks_is_that_of_the_first(put):
    """The nuclear norm of the first run is compared with the others of the first run."""
    names = (PLATT, NUCLEAR)
    same = {name: dict.fromkeys(names, 10.0) for name in REAL}
    put("matrices", made(same, column="error", n_train=60, n_test=30))
    put("contest", made({"eeg": {PLATT: 15.0}}, column="error", splits=30, n_train=60, n_test=30))
    assert real_matrices.check_nuclear_norm().sizes["draws"] == dict.fromkeys(REAL, 8)
    both = {"eeg": dict.fromkeys(names, 15.0)}
    put("contest", made(both, column="error", splits=30, n_train=60, n_test=30))
    assert real_matrices.check_nuclear_norm().sizes["draws"] == {"digits-3-8": 8, "usps-4-9": 8, "eeg": 30}


def test_sets_without_one_of_the_methods_are_named(put):
    values = {name: {PLATT: 10.0, NUCLEAR: 10.0} for name in REAL}
    del values["eeg"][NUCLEAR]
    put("matrices", made(values, column="error", n_train=60, n_test=30))
    evidence = real_matrices.check_nuclear_norm()
    assert "Missing: " in evidence.why
    assert "eeg" in evidence.why.partition("Missing: ")[2]


def test_power_is_told_and_grows_with_the_draws(put):
    names = (PLATT, NUCLEAR)
    values = {name: dict.fromkeys(names, 10.0) for name in REAL}
    found = []
    for splits in (8, 80):
        put("matrices", made(values, column="error", splits=splits, noise=0.2, n_train=60, n_test=30))
        found.append(real_matrices.check_nuclear_norm())
    few, many = (evidence.sizes["power"] for evidence in found)
    assert all(few[name] < 0.5 < 0.8 < many[name] for name in REAL)
    assert f"eeg {few['eeg']:.0%} with 8 (" in found[0].why
    assert f"eeg {many['eeg']:.0%} with 80" in found[1].why
    assert found[0].verdict == Verdict.UNDECIDED


@pytest.mark.parametrize(("deviation", "draws"), [(2.0, 30), (5.0, 12)])
def test_power_is_the_share_of_draws_that_see_the_margin(deviation, draws):
    rng = np.random.default_rng(3)
    apart = rng.normal(1.0, deviation, size=(20000, draws))
    seen = ttest_1samp(apart, 0.0, axis=1, alternative="greater").pvalue < 0.05
    assert as_good_as.power(deviation, draws, 1.0) == pytest.approx(seen.mean(), abs=0.01)
    needed = as_good_as.draws_needed(deviation, 1.0)
    assert as_good_as.power(deviation, needed, 1.0) >= 0.8 > as_good_as.power(deviation, needed - 1, 1.0)


def test_a_tie_counts_only_where_a_difference_would_have_been_seen(put):
    def results(noise):
        same = {f"logit-n400-d{d}-r2": {PLATT: 20.0, VECTOR_PLATT: 20.0} for d in (5, 10)}
        grown = {f"logit-n400-d{d}-r2": {PLATT: 20.0, VECTOR_PLATT: 20 + d} for d in (20, 40)}
        put("dimension", made(same | grown, column="error", noise=noise))
        return figures_rank.check_low_rank_helps()

    exact, noisy = results(0.001), results(0.2)
    assert exact.verdict == Verdict.PARTLY
    assert exact.sizes["power"]["logit-n400-d10-r2"] == 1
    assert noisy.verdict == Verdict.UNDECIDED
    assert noisy.sizes["power"]["logit-n400-d10-r2"] < 0.8


def test_real_probabilities(put):
    names = (PATH, PLATT, LOGISTIC, VECTOR_PATH, VECTOR_PLATT)
    values = {name: dict(zip(names, (0.1, 0.1, 0.2, 0.2, 0.1), strict=True)) for name in REAL}
    put("matrices", made(values, column="brier", n_train=60, n_test=30))
    evidence = real_matrices.check_probabilities()
    assert evidence.verdict == Verdict.PARTLY
    assert (evidence.sizes["sets"], evidence.sizes["comparisons"]) == (3, 9)
    assert "vector SVM, levels minus vector SVM, Platt: 0 within, 0 open, 3 beyond" in evidence.measured


def test_no_difference_found_is_no_agreement(put):
    """Noise hides any difference: an older rule called this reproduced."""
    names = (PATH, PLATT, LOGISTIC, VECTOR_PATH, VECTOR_PLATT)
    values = {name: dict.fromkeys(names, 0.1) for name in REAL}
    put("matrices", made(values, column="brier", noise=0.4, n_train=60, n_test=30))
    evidence = real_matrices.check_probabilities()
    assert evidence.verdict == Verdict.UNDECIDED
    assert evidence.slack < 0


@pytest.mark.parametrize(("factor", "verdict"), [(1.02, ALL), (1.5, NONE), (0.5, ALL)])
def test_ten_classes(put, factor, verdict):
    values = {name: {"low-rank SVM": 10.0, "vector SVM": 10 * factor} for name in ("digits-8x8", "usps")}
    put("classes", made(values, column="error", n_train=300, n_test=300))
    assert real_matrices.check_classes().verdict == verdict


def test_splits_that_were_added_after_a_look_are_charged_for_it(put):
    """One look would call these agreement: its interval ends below the margin."""
    rng = np.random.default_rng(0)
    apart = rng.normal(size=36)
    apart = 0.7 + (apart - apart.mean()) / apart.std(ddof=1)
    index = pd.MultiIndex.from_product([["usps"], range(36)], names=["dataset", "split"])
    frame = pd.DataFrame({"vector SVM": apart, "low-rank SVM": 0.0}, index=index)
    once, twice = (
        as_good_as.within(frame, "vector SVM", "low-rank SVM", 1.0, looks) for looks in ({}, {"usps": 2})
    )
    assert (once["outcome"].item(), twice["outcome"].item()) == ("within", "open")
    assert ttest_1samp(apart, twice["high"], alternative="less").pvalue == pytest.approx(0.025)
    assert twice["power"].item() < once["power"].item()
    same = {"low-rank SVM": 10.0, "vector SVM": 10.0}
    put("classes", made({"usps": same}, column="error", n_train=300, n_test=300))
    assert "usps was analysed 2 times, so its intervals have level 95%" in real_matrices.check_classes().why
    assert real_matrices.looks("matrices", "classes") == {"usps": 2}


def test_margins_are_those_of_the_protocol():
    tables = printed_tables.PaperTables("smm", own="")
    assert tables.protocol("matrices").thresholds["margins"] == {"brier": 0.01, "error": 1.0}
    assert tables.protocol("sample-size").thresholds["margins"]["mae"] == 0.005


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        (["within"] * 4, ALL),
        (["within", "open"], Verdict.UNDECIDED),
        (["within", "within", "within", "open", "beyond"], Verdict.PARTLY),
        (["within", "within", "open", "beyond"], Verdict.UNDECIDED),
        (["within", "open", "beyond"], Verdict.UNDECIDED),
        (["open", "beyond", "beyond"], NONE),
        (["beyond"], NONE),
    ],
)
def test_open_sets_leave_a_verdict_open_only_if_they_could_turn_it(outcomes, verdict):
    assert as_good_as.judged(outcomes) == verdict


def test_intervals_within_a_margin_are_one_sided_tests():
    rng = np.random.default_rng(5)
    index = pd.MultiIndex.from_product([["a"], range(12)], names=["dataset", "split"])
    frame = pd.DataFrame({"x": rng.normal(size=12), "y": rng.normal(size=12)}, index=index)
    high = as_good_as.within(frame, "x", "y", 0.1).loc["a", "high"]
    test = ttest_1samp(frame["x"] - frame["y"], high, alternative="less")
    assert test.pvalue == pytest.approx(0.05)


def test_the_draws_that_are_needed_give_the_power():
    rng = np.random.default_rng(6)
    k = as_good_as.draws_needed(0.02, 0.01)
    frame = 0.02 * rng.normal(size=(4000, k))
    high = frame.mean(axis=1) + t.ppf(0.95, k - 1) * frame.std(axis=1, ddof=1) / np.sqrt(k)
    assert np.mean(high < 0.01) == pytest.approx(0.8, abs=0.03)


def test_splits_that_overlap_are_tested_with_the_correction():
    rng = np.random.default_rng(2)
    index = pd.MultiIndex.from_product([["a", "b"], range(10)], names=["dataset", "split"])
    frame = pd.DataFrame({"x": rng.random(20), "y": rng.random(20) + 0.3}, index=index)
    sizes = pd.DataFrame({"n_train": [60, 90], "n_test": [30, 10]}, index=["a", "b"])
    found = contests.resampled_contest(frame, "x", "y", sizes)
    alone = [
        corrected_resampled_t(*frame.loc[name].to_numpy().T, n_train=n, n_test=m).p_value
        for name, n, m in (("a", 60, 30), ("b", 90, 10))
    ]
    np.testing.assert_allclose(found["p_corrected"], holm(alone))
    assert max(holm(alone)) == pytest.approx(min(max(2 * min(alone), max(alone)), 1))
    assert (contests.contest(frame, "x", "y")["p_paired"].to_numpy() < alone).all()


def test_one_draw_is_no_contest(put):
    put("sample-size", made(by_n(-0.4), splits=1))
    assert figures_levels.check_consistency().verdict == Verdict.NOT_TESTABLE


def test_holm_by_its_definition():
    rng = np.random.default_rng(0)
    for _ in range(50):
        p = rng.random(8) * 0.03
        rejected = 0
        for k, value in enumerate(sorted(p)):
            if value > 0.05 / (8 - k):
                break
            rejected += 1
        assert (holm(p) <= 0.05).sum() == rejected
    assert holm([]).size == 0
