"""The claims about the tables: verdicts follow the printed numbers and the results."""

import numpy as np
import pytest
from scipy import stats

from marginbook.claims import Verdict
from marginbook.claims.printed_csv import read_printed
from marginbook.experiments import compare as comparing
from marginbook.ldm.claims import (
    side_by_side,
    tables,
    tables_overlap,
    tables_ranks,
    tables_readings,
    tables_wins,
)
from marginbook.ldm.paper import printed as table_cells
from marginbook.ldm.paper import readings
from marginbook.ldm.paper.printed import (
    PAPER_TABLES,
    other_versions,
    printed,
)

from ..made_files import results_of

RUNS = [
    tables.check_table_2, tables.check_table_3, tables.check_table_4, tables_wins.check_never_worse,
    tables_wins.check_wins, tables_overlap.check_overlap, tables_ranks.check_table_2_order,
    tables_ranks.check_table_3_order,
    tables_ranks.check_table_4_order, tables_ranks.check_intercept, tables_readings.check_margin_weight,
]  # fmt: skip


put = results_of("ldm")


def made(table, value, methods=None):
    """Make results: `value(dataset, method, split)` for each printed cell, or for the methods named."""
    page = printed(table)
    return [
        {"dataset": name, "method": method, "split": split, "accuracy": value(name, method, split)}
        for method in methods or [m for m in page.means if page.means[m].notna().any()]
        for name in page.means.index
        for split in range(1, table_cells.SPLITS[table] + 1)
    ]


def as_printed(table):
    means = printed(table).means.fillna(0.0).to_dict()
    return lambda name, method, split: means[method][name]


@pytest.mark.usefixtures("put")
@pytest.mark.parametrize("run", RUNS)
def test_without_results_nothing_is_testable(run):
    evidence = run()
    assert evidence.verdict == Verdict.NOT_TESTABLE
    assert "marginbook experiment run ldm/table-" in evidence.why


@pytest.mark.parametrize(
    ("check", "table"), [(tables.check_table_2, "table-2"), (tables.check_table_3, "table-3")]
)
def test_cells_agree_with_themselves_and_with_nothing_else(put, check, table):
    page = read_printed(PAPER_TABLES.paper / f"{table}.csv")
    number = int((page["mean"].ne("") & ~page["dataset"].isin(list(other_versions()))).sum())
    put(table, made(table, as_printed(table)))
    assert check().verdict == Verdict.REPRODUCED
    assert check().sizes["tested"] == number
    put(table, made(table, lambda *_: 2.0))
    evidence = check()
    assert evidence.verdict == Verdict.NOT_REPRODUCED
    assert evidence.measured.startswith(f"0 of {number} cells agree, 0 of 16 of the LDM")


def test_cells_of_sets_with_other_features_are_not_tested(put):
    assert list(other_versions()) == ["heart", "vehicle", "wdbc", "australian"]
    paper = as_printed("table-2")
    put("table-2", made("table-2", lambda n, m, s: 2.0 if n in ("heart", "sonar") else paper(n, m, s)))
    evidence = tables.check_table_2()
    assert evidence.measured.startswith("75 of 80 cells agree")
    assert "Not tested, as the data differ: heart, 9 features printed, 13 in the public set" in evidence.why


def test_guessed_constants_of_a_column_are_told_and_the_table_without_it(put):
    paper = as_printed("table-2")
    put("table-2", made("table-2", lambda n, m, s: 2.0 if m == "MDO" else paper(n, m, s)))
    evidence = tables.check_table_2()
    assert evidence.measured.startswith("64 of 80 cells agree")
    assert "MDO: a = 100, b = 10: the recommended constants could not be found" in evidence.why
    assert "KM-OMD: its weight" in evidence.why
    assert evidence.why.endswith("Without MDO 64 of 64 cells agree.")
    put("table-3", made("table-3", as_printed("table-3")))
    assert "rbf kernel: exp(" in tables.check_table_3().why


def test_the_verdict_is_of_the_reading_that_agrees_best(put):
    """The printed LDM under the name of LDM(4), the printed SVM under that of SVM-0: the fourth reading."""
    means = printed("table-2").means.fillna(0.0).to_dict()
    columns = {"LDM(4)": "LDM", "SVM-0": "SVM", "MDO": "MDO", "MAMC": "MAMC", "KM-OMD": "KM-OMD"}

    def value(name, method, split):
        return means[columns[method]][name] if method in columns else 0.2

    put("table-2", made("table-2", value, [*columns, "LDM", "SVM"]))
    evidence = tables.check_table_2()
    assert evidence.measured.startswith("80 of 80 cells agree")
    assert evidence.reading.startswith("the double sum of (4), an SVM without an intercept: 80 of 80 agree.")
    assert "the variance as in (6), an SVM with an intercept: 48 of 80" in evidence.reading
    assert "; the double sum of (4), an SVM with an intercept: 64 of 80" in evidence.reading
    page = tables_readings.side_by_side()
    assert page["linear cells"].to_list() == ["48 of 80", "64 of 80", "64 of 80", "80 of 80"]
    put("table-2", made("table-2", as_printed("table-2")))
    assert tables.check_table_2().reading == (
        "the variance as in (6), an SVM with an intercept: 80 of 80 agree. Not stored: the variance as in "
        "(6), an SVM without an intercept; the double sum of (4), an SVM with an intercept; the double sum "
        "of (4), an SVM without an intercept."
    )


def test_page_and_ledger_show_the_same_reading(put):
    """Both go through `compare`, so that the page cannot count other cells than the verdict."""
    means = printed("table-2").means.fillna(0.0).to_dict()
    columns = {"LDM(4)": "LDM", "SVM": "SVM", "MDO": "MDO", "MAMC": "MAMC", "KM-OMD": "KM-OMD"}

    def value(name, method, split):
        return means[columns[method]][name] if method in columns else 0.2

    put("table-2", made("table-2", value, [*columns, "LDM", "SVM-0"]))
    page = comparing("ldm/table-2")
    assert (page["verdict"] == "reproduced").sum() == 80
    assert page.attrs["reading"] == tables.check_table_2().reading
    assert "80 of 80" in tables.check_table_2().measured.replace(" cells", "")
    rows = {row.reading: row for row in side_by_side.side_by_side() if row.table == "table-2"}
    assert rows["the double sum of (4), an SVM with an intercept"].agree == 80


def test_large_sets_have_no_intercept_in_any_reading(put):
    methods = ["SVM", "MDO", "MAMC", "LDM"]
    put("table-4", made("table-4", as_printed("table-4"), methods))
    words = ("the variance as in (6), no intercept on either side", "the double sum of (4), no intercept")
    assert tables.check_table_4().reading.startswith(words[0])
    assert f"Not stored: {words[1]}" in tables.check_table_4().reading
    means = printed("table-4").means.fillna(0.0).to_dict()
    own = {"LDM(4)": "LDM", "LDM": "MDO"}
    value = lambda name, method, split: means[own.get(method, method)][name]  # noqa: E731
    put("table-4", made("table-4", value, [*methods, "LDM(4)"]))
    assert tables.check_table_4().reading.startswith(words[1])
    reading = readings.Reading("LDM(4)", "SVM-0")
    assert tables_wins.against_svm(reading)["table-4"]["difference"].abs().max() > 0


def test_the_best_reading_is_the_first_of_equals():
    scores = {readings.READINGS[0]: (1, 4), readings.READINGS[1]: (2, 4), readings.READINGS[2]: (4, 8)}
    assert readings.best(scores)[0] == readings.READINGS[1]


def test_a_large_set_that_cannot_be_had_is_named(put):
    put("table-4", [row for row in made("table-4", as_printed("table-4")) if row["dataset"] == "skin"])
    evidence = tables.check_table_4()
    assert evidence.verdict == Verdict.REPRODUCED
    assert evidence.sizes["tested"] == 4
    assert "rcv1 (https://" in evidence.why


def spread(name, split):
    """Noise that methods on the same split share."""
    return 0.01 * np.random.default_rng([split, *name.encode()]).standard_normal()


def lead(gaps, noise=0.002):
    """Return LDM above SVM by `gaps[dataset]` on average; everything else is equal to the SVM."""

    def value(name, method, split):
        own = noise * np.random.default_rng([7, split, *name.encode()]).standard_normal()
        return 0.8 + spread(name, split) + (own + gaps.get(name, 0.0) if method == "LDM" else 0.0)

    return value


def test_contests_are_the_t_tests_of_scipy(put):
    put("table-2", made("table-2", lead({"heart": 0.001, "sonar": -0.05})))
    wide = tables_wins.scores("table-2")
    lines = tables_wins.contest(wide, "LDM", "SVM")
    for name, line in lines.iterrows():
        a, b = wide.loc[name, "LDM"], wide.loc[name, "SVM"]
        found = stats.ttest_rel(a, b)
        assert line["p_paired"] == pytest.approx(found.pvalue)
        # the variance of the mean is (1/n + 1) of that of a difference, in place of 1/n
        t = found.statistic / np.sqrt(1 + len(a))
        assert line["p_corrected"] == pytest.approx(2 * stats.t.sf(abs(t), len(a) - 1))
        assert line["splits"] == 30
    assert lines.loc["sonar", "paired"] == lines.loc["sonar", "corrected"] == "loss"
    turned = tables_wins.contest(wide, "SVM", "LDM")
    assert turned.loc["sonar", "paired"] == "win"
    assert tables_wins.contest(wide, "LDM", "absent").empty


def test_unpaired_splits_and_single_splits_are_left_out(put):
    rows = [row for row in made("table-2", lead({})) if row["method"] in ("SVM", "LDM")]
    rows = [r for r in rows if r["dataset"] in ("heart", "sonar", "colic")]
    rows = [r for r in rows if not (r["dataset"] == "heart" and r["split"] > 1)]
    rows = [r for r in rows if not (r["dataset"] == "sonar" and r["split"] % 2 and r["method"] == "LDM")]
    put("table-2", rows)
    lines = tables_wins.contest(tables_wins.scores("table-2"), "LDM", "SVM")
    assert lines["splits"].to_dict() == {"sonar": 15, "colic": 30}


EVERY = list(printed("table-2").means.index)


@pytest.mark.parametrize(
    ("gaps", "noise", "verdict", "tally"),
    [
        ({}, 0.0, Verdict.REPRODUCED, "20 shown, 0 open, 0 refuted"),
        (dict.fromkeys(EVERY, -0.005), 0.0, Verdict.REPRODUCED, "20 shown, 0 open, 0 refuted"),
        ({"heart": -0.1}, 0.0, Verdict.PARTLY, "19 shown, 0 open, 1 refuted"),
        (dict.fromkeys(EVERY, -0.1), 0.0, Verdict.NOT_REPRODUCED, "0 shown, 0 open, 20 refuted"),
        ({}, 0.05, Verdict.UNDECIDED, "0 shown, 20 open, 0 refuted"),
    ],
    ids=["equal", "half a point worse", "one loss", "all lost", "no significant difference"],
)
def test_never_worse_asks_for_an_interval_above_the_margin(put, gaps, noise, verdict, tally):
    put("table-2", made("table-2", lead(gaps, noise)))
    evidence = tables_wins.check_never_worse()
    assert evidence.verdict == verdict
    assert tally in evidence.measured
    assert (evidence.slack >= 0) == (verdict == Verdict.REPRODUCED)
    assert "Not run yet: rbf, large." in evidence.why
    if verdict == Verdict.UNDECIDED:
        assert tables_wins.check_never_worse(comparable=0.2).verdict == Verdict.REPRODUCED


def test_the_interval_of_a_contest_is_that_of_the_corrected_test(put):
    put("table-2", made("table-2", lead({"heart": 0.001})))
    wide = tables_wins.scores("table-2")
    line = tables_wins.contest(wide, "LDM", "SVM").loc["heart"]
    difference = (wide.loc["heart", "LDM"] - wide.loc["heart", "SVM"]).to_numpy()
    half = stats.t.ppf(0.95, 29) * difference.std(ddof=1) * np.sqrt(1 / 30 + 1)
    assert line["low"] == pytest.approx(difference.mean() - half)
    assert line["high"] == pytest.approx(difference.mean() + half)


def test_the_stand_ins_of_large_sets_do_not_count(put):
    rows = made("table-4", lead({}, noise=0.0), methods=["SVM", "LDM"])
    skin = [row for row in rows if row["dataset"] == "skin"]
    put(
        "table-4",
        rows + [{**r, "dataset": "like-rcv1", "accuracy": float(r["method"] == "SVM")} for r in skin],
    )
    assert "like-rcv1" in tables_wins.scores("table-4", paper_sets=False).index
    assert "on 12 sets: 12 shown" in tables_wins.check_never_worse().measured


def test_a_difference_that_the_overlap_explains_is_counted_out(put):
    """A clear lead outlasts the correction; one of 0.7 deviations is significant by the plain test alone."""
    put("table-2", made("table-2", lead({"heart": 0.1, "sonar": 0.0014})))
    wide = tables_wins.scores("table-2")
    lines = tables_wins.contest(wide, "LDM", "SVM")
    assert lines.loc["heart", ["paired", "corrected"]].tolist() == ["win", "win"]
    assert lines.loc["sonar", ["paired", "corrected"]].tolist() == ["win", "tie"]
    evidence = tables_overlap.check_overlap()
    found = int((lines["paired"] != "tie").sum())
    kept = int(((lines["paired"] != "tie") & (lines["corrected"] != "tie")).sum())
    assert evidence.measured == f"{kept} of {found} remain significant"
    assert evidence.verdict == (Verdict.HOLDS if 2 * kept <= found else Verdict.FAILS)
    assert tables_overlap.check_overlap(overlap=0.0).verdict == Verdict.FAILS


def test_wins_are_held_against_the_marks(put):
    marks = printed("table-2").marks["LDM"]
    put("table-2", made("table-2", lead(dict.fromkeys(marks.index[marks == "win"], 0.1), noise=0.0)))
    assert tables_wins.check_wins().verdict == Verdict.REPRODUCED
    put("table-2", made("table-2", lead(dict.fromkeys(marks.index[marks == "win"], -0.1), noise=0.0)))
    evidence = tables_wins.check_wins()
    assert evidence.verdict == Verdict.NOT_REPRODUCED
    assert evidence.measured == "the same outcome on 8 of 20 sets; a printed win is a loss on 12"


def test_order_asks_for_the_best_average_and_every_peer(put):
    def best(name, method, split):
        return 0.8 + spread(name, split) + {"LDM": 0.02, "KM-OMD": 0.01}.get(method, 0.0)

    put("table-2", made("table-2", best))
    evidence = tables_ranks.check_table_2_order()
    assert evidence.verdict == Verdict.REPRODUCED
    assert evidence.slack == pytest.approx(2.0)  # 1 point ahead of KM-OMD, 1 point of margin
    assert "SVM: +2.00 to +2.00 points, higher on 20, lower on 0 of 20 sets" in evidence.why
    assert "is the highest; superior or competitive within 1 point, against 4 peers: 4 shown" in (
        evidence.measured
    )
    put("table-2", made("table-2", lambda *a: 1 - best(*a)))
    assert tables_ranks.check_table_2_order().verdict == Verdict.NOT_REPRODUCED


def test_the_sign_of_a_mean_lead_decides_nothing(put):
    """An average that is shared is not the highest; one that is higher by less than its error is open."""
    put("table-3", made("table-3", lead({}, noise=0.0)))
    evidence = tables_ranks.check_table_3_order()
    assert evidence.verdict == Verdict.PARTLY
    assert "that of the LDM is not the highest" in evidence.measured
    one = {name: 0.03 * (-1) ** k + 0.0001 for k, name in enumerate(EVERY)}
    put("table-3", made("table-3", lead(one, noise=0.0)))
    evidence = tables_ranks.check_table_3_order()
    assert evidence.verdict == Verdict.UNDECIDED
    assert "may be the highest or not" in evidence.measured


def test_the_reading_of_one_table_is_told_in_its_words(put):
    put("table-4", made("table-4", lead({}, noise=0.0), methods=["SVM", "MDO", "MAMC", "LDM"]))
    assert tables_ranks.check_table_4_order().reading == (
        "the variance as in (6), no intercept on either side: 3 shown, 0 open, 1 refuted. Not stored: the "
        "double sum of (4), no intercept on either side."
    )


def test_of_equal_readings_the_one_with_fewer_refuted_parts_is_taken():
    first, second, third, _ = readings.READINGS
    parts = {first: ["shown", "refuted"], second: ["shown", "open"], third: ["open", "open"]}
    chosen, text = readings.best_parts(parts)
    assert chosen == second
    assert text.startswith(f"{second}: 1 shown, 1 open, 0 refuted. The others: {first}: 1 shown, 0 open")
    assert text.endswith(f"Not stored: {readings.READINGS[3]}.")


def test_order_averages_over_sets_that_all_methods_have(put):
    rows = made("table-2", as_printed("table-2"))
    put("table-2", [r for r in rows if r["method"] != "MDO" or r["dataset"] != "isolet"])
    evidence = tables_ranks.check_table_2_order()
    assert evidence.sizes["sets"] == 19
    assert evidence.measured.removeprefix("averages ").startswith(f"{evidence.claimed};")


def test_the_intercept_explains_a_lead_that_fair_contests_do_not_show(put):
    """LDM above SVM, but only because the intercept harms: with one on both sides nothing is left."""
    methods = ["SVM", "LDM", "SVM-0", "LDM+1"]

    def value(name, method, split):
        return 0.8 + spread(name, split) + (0.02 if method in ("LDM", "SVM-0") else 0.0)

    put("table-2", made("table-2", value, methods))
    evidence = tables_ranks.check_intercept()
    assert evidence.verdict == Verdict.HOLDS
    assert "LDM over SVM +2.00 points (+2.00 to +2.00), higher on 20" in evidence.why
    put("table-2", made("table-2", lambda n, m, s: value(n, m, s) + 0.05 * m.startswith("LDM"), methods))
    assert tables_ranks.check_intercept().verdict == Verdict.FAILS


def test_no_difference_is_shown_only_where_it_is_small_enough(put):
    """A lead that is not significant, since it varies much between the sets, is no equivalence."""
    methods = ["SVM", "LDM", "SVM-0", "LDM+1"]

    def value(name, method, split):
        wild = 0.05 * np.random.default_rng([9, *name.encode()]).standard_normal()
        return 0.8 + spread(name, split) + (wild if method.startswith("LDM") else 0.0)

    put("table-2", made("table-2", value, methods))
    assert tables_ranks.check_intercept().verdict == Verdict.FAILS


def test_the_weight_of_the_margin_terms_is_told_by_equal_accuracies(put):
    """It holds where LDM and SVM-0 are alike and LDM(4) is not, and fails where they differ."""
    marks = printed("table-2").marks["LDM"]
    wins = set(marks.index[marks == "win"])
    methods = ["SVM", "LDM", "SVM-0", "LDM(C/m)", "SVM-0(C/m)", "LDM(4)"]

    def value(ahead):
        return lambda name, method, split: (
            0.8 + spread(name, split) + 0.02 * (method in ahead and name in wins)
        )

    put("table-2", made("table-2", value(("LDM(C/m)", "LDM(4)")), methods))
    evidence = tables_readings.check_margin_weight()
    assert evidence.verdict == Verdict.HOLDS
    assert evidence.measured.endswith("linear 100 % and 40 % of the splits")
    assert "LDM(C/m) over SVM-0(C/m) +1.20 points (at most 2.00 on a set" in evidence.why
    found = tables_readings.weights("table-2")
    assert list(found.index) == ["C", "C/m", "(4)"]
    assert found["equal"].tolist() == [1.0, 0.4, 0.4]
    assert found["win_tie_loss"].tolist() == ["0/20/0", "12/8/0", "12/8/0"]
    put("table-2", made("table-2", value(("LDM", "LDM(4)")), methods))
    assert tables_readings.check_margin_weight().verdict == Verdict.FAILS
    put("table-2", made("table-2", value(()), methods))
    assert tables_readings.check_margin_weight().verdict == Verdict.FAILS


def test_a_reading_is_held_against_the_printed_column_of_its_name(put):
    """A method of ours with the printed numbers of the LDM reproduces that column, and no other does."""
    means = printed("table-2").means

    def value(name, method, split):
        return means["LDM"][name] if method == "LDM(C/m)" else 0.2

    put("table-2", made("table-2", value, ["SVM", "SVM-0", "LDM", "LDM(C/m)"]))
    found = tables_readings.readings("table-2").set_index("method")
    assert found["agree"].to_dict() == {"SVM": 0, "SVM-0": 0, "LDM": 0, "LDM(C/m)": 16}
    assert found.loc["LDM(C/m)", "distance"] == pytest.approx(0, abs=1e-9)
    assert found["column"].to_dict() == {"SVM": "SVM", "SVM-0": "SVM", "LDM": "LDM", "LDM(C/m)": "LDM"}
