"""The claims about the tables: verdicts follow the printed numbers and the results."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginbook.claims import Verdict, stored_tables
from marginbook.claims.open_parts import worst_of
from marginbook.experiments.compare import compare
from marginbook.kfda import experiments as tables
from marginbook.kfda.claims import (
    side_by_side,
    tables_calibration,
    tables_protocols,
    tables_ranks,
    tables_readings,
)
from marginbook.kfda.claims import tables as agreement
from marginbook.kfda.experiments import columns as chosen
from marginbook.kfda.paper import readings
from marginbook.kfda.paper.printed import (
    COLUMNS,
    HALF,
    HALF_SPARSE,
    K1,
    K1_SPARSE,
    KINDS,
    OWN,
    RIVAL,
    choice_spreads,
    count_of,
    printed,
    share_of_counts,
    sizes,
)
from marginbook.kfda.paper.readings import SHOWN

from .made_results import as_printed, constant, results_by_set, row

RUNS = [
    agreement.check_table_1, agreement.check_table_2, agreement.check_table_3,
    tables_protocols.check_one_classifier,
    tables_protocols.check_contamination,
    tables_ranks.check_accuracy,
    tables_ranks.check_half_sparser, tables_ranks.check_min_nrs, tables_ranks.check_peers,
]  # fmt: skip


put = results_by_set()


@pytest.mark.usefixtures("put")
@pytest.mark.parametrize("run", RUNS)
def test_without_results_nothing_is_testable(run):
    evidence = run()
    assert evidence.verdict == Verdict.NOT_TESTABLE
    assert "marginbook experiment run kfda/table-" in evidence.why


def test_the_choice_among_five_realisations():
    rows = pd.DataFrame(
        [
            row("heart", "kFDA-1", r, refit=e, fixed=f, kept=k, cv_error=c)
            for r, (e, f, k, c) in enumerate(
                [(10, 8, 30, 5.0), (11, 9, 20, 5.0), (12, 6, 5, 9.0), (13, 7, 5, 8.0), (14, 9, 40, 7.0)], 1
            )
        ]
    )
    rows = chosen.parsed(rows)
    # of equal cross-validation errors the sparser one, of equally sparse ones the one with the lower error
    assert chosen.pick(rows, "error")["realisation"] == 2
    assert chosen.pick(rows, "retained")["realisation"] == 4
    assert chosen.pick(rows, "test error")["realisation"] == 3
    with pytest.raises(ValueError, match="rule"):
        chosen.pick(rows, "nrs")


def test_expansion_by_a_naive_loop():
    rng = np.random.default_rng(0)
    stored = []
    for name, method in (("heart", "kFDA-1"), ("sonar", "SVM"), ("splice", "kFDA-0.5")):
        line = sizes().loc[name]
        for split in range(1, 6):
            found = row(name, method, split, refit=1, fixed=1, kept=1, cv_error=float(rng.random()))
            for list_ in ("errors_refit", "errors_fixed", "retained_refit"):
                found[list_] = json.dumps(rng.integers(0, 50, int(line["n_partitions"])).tolist())
            stored.append(found | {"retained_fixed": int(rng.integers(1, 9))})
    frame = chosen.parsed(pd.DataFrame(stored))
    wanted = {"refit": [], "fixed": []}
    for name, method, columns in (
        ("heart", "kFDA-1", {K1: "cv_error", K1_SPARSE: "retained_fixed"}),
        ("sonar", "SVM", {"SVM": "cv_error"}),
        ("splice", "kFDA-0.5", {HALF: "cv_error", HALF_SPARSE: "retained_fixed"}),
    ):
        for column, by in columns.items():
            best = min(
                (r for r in stored if r["dataset"] == name and r["method"] == method),
                key=lambda r: (r[by], r["retained_fixed"], r["cv_error"]),
            )
            if by == "retained_fixed":
                least = min(r["retained_fixed"] for r in stored if r["dataset"] == name)
                best = min(
                    (r for r in stored if r["dataset"] == name and r["retained_fixed"] == least),
                    key=lambda r: r["cv_error"],
                )
            for protocol in wanted:
                for split, wrong in enumerate(json.loads(best[f"errors_{protocol}"]), 1):
                    kept = json.loads(best["retained_refit"])[split - 1]
                    kept = kept if protocol == "refit" else best["retained_fixed"]
                    wanted[protocol].append(
                        (name, column, split, 100 * wrong / best["n_test"], 100 * kept / best["n_train"])
                    )
    for protocol, rows in wanted.items():
        found = chosen.expand(frame, protocol)[["dataset", "method", "split", "mcr", "nrs"]]
        wide = pd.DataFrame(sorted(rows), columns=found.columns)
        pd.testing.assert_frame_equal(found.sort_values([*found.columns]).reset_index(drop=True), wide)
    with pytest.raises(ValueError, match="protocol"):
        chosen.expand(frame, "bootstrap")


def test_a_method_without_five_realisations_is_left_out(put):
    rows = [r for r in as_printed(names=["heart", "sonar"]) if (r["dataset"], r["split"]) != ("heart", 4)]
    put(rows)
    assert set(chosen.columns_of()["dataset"]) == {"sonar"}
    put([r for r in rows if r["dataset"] == "heart"])
    (path,) = [p for p in [stored_tables.resource("results", "kfda", "table-2.csv")] if p.is_file()]
    path.unlink()
    assert chosen.columns_of() is None
    assert agreement.check_table_1().verdict == Verdict.NOT_TESTABLE


def test_drawn_sets_do_not_count(put):
    rows = as_printed(names=["twonorm"])
    put(rows + [{**r, "dataset": "twonorm-drawn"} for r in rows])
    assert set(chosen.columns_of()["dataset"]) == {"twonorm"}
    assert set(chosen.results(paper_sets=False)["dataset"]) == {"twonorm", "twonorm-drawn"}


def test_cells_agree_with_themselves_and_with_nothing_else(put):
    put(as_printed())
    for check, sets in ((agreement.check_table_1, 13), (agreement.check_table_2, 7)):
        evidence = check()
        assert evidence.verdict in (Verdict.REPRODUCED, Verdict.UNDECIDED), evidence.why
        assert evidence.sizes == {"sets": sets, "cells": 2 * 5 * sets}
        assert evidence.reading.startswith(
            "classifiers refitted on every partition, exact zeros. The others: "
        ), evidence.reading
        assert evidence.measured.startswith(f"{5 * sets} of {5 * sets} errors and {5 * sets} of {5 * sets}")
        frame = tables_readings.readings(f"table-{1 if sets == 13 else 2}").set_index("reading")
        exact = {name: frame.loc[readings.Reading(name)] for name in ("refit", "fixed")}
        assert exact["refit"]["off_errors"] == pytest.approx(0, abs=1e-9)
        assert exact["fixed"]["off_errors"] == pytest.approx(3.0)
        assert exact["fixed"]["errors"] < exact["refit"]["errors"]
    # the printed columns are too near to each other for intervals over the sets to show their order
    evidence = agreement.check_table_3()
    assert evidence.verdict == Verdict.UNDECIDED
    assert evidence.sizes["pairs"] == 20
    assert ", 0 refuted; the means are in order in 20" in evidence.measured
    put([{**r, "errors_refit": json.dumps([r["n_test"]] * r["n_partitions"])} for r in as_printed("table-1")])
    evidence = agreement.check_table_1(protocols=("refit",))
    assert evidence.verdict in (Verdict.PARTLY, Verdict.NOT_REPRODUCED)
    assert evidence.measured.startswith("0 of 65 errors and 65 of 65 retained shares agree")


def test_the_spread_of_the_choice_is_that_over_realisations(put):
    rng = np.random.default_rng(5)
    rows = as_printed(names=["heart"])
    for r in rows:
        r["errors_fixed"] = json.dumps((rng.normal(size=r["n_partitions"]) + 9 * r["split"]).tolist())
    put(rows)
    stored = chosen.results()
    part = stored[stored["method"] == "kFDA-1"]
    middles = [
        100 * np.mean(errors) / n for errors, n in zip(part["errors_fixed"], part["n_test"], strict=True)
    ]
    found = choice_spreads(stored, "fixed", "mcr")
    assert found["heart", K1] == found["heart", K1_SPARSE] == (pytest.approx(np.std(middles, ddof=1)), 5)
    assert found == choice_spreads(pd.DataFrame(rows), "fixed", "mcr")  # as JSON, too


def test_a_faithful_realisation_passes_and_another_method_need_not(put):
    """Choices that scatter by a point: nine in ten agree, and none with a method 40 points off."""
    rng = np.random.default_rng(6)
    rows = constant({"kFDA-1": 10.0, "kFDA-0.5": 50.0, RIVAL: 90.0})
    for r in rows:
        moved = np.array(json.loads(r["errors_fixed"])) + r["n_test"] / 100 * rng.normal()
        r["errors_fixed"] = json.dumps(moved.tolist())
    put(rows)
    _, alone = tables_calibration.calibration(tables_calibration.of_table("table-1"), ("fixed",))
    faithful, wrong, _ = alone["mcr"]
    assert 0.9 <= faithful <= 1
    assert wrong == 0


@pytest.mark.parametrize("table", ["table-1", "table-2"])
def test_the_rule_passes_our_own_realisations(table):
    for protocol in ("refit", "fixed"):
        both, alone = tables_calibration.rates(table, (protocol,))
        assert both.readings == len(readings.readings_of(tables_calibration.of_table(table), (protocol,))[0])
        assert both.faithful >= 0.9
        assert min(side[0] for side in alone.values()) >= 0.9


def with_counts(rows, counts):
    """Add to results of `made_results` what the measure stores of cuts: `counts(row, cut)` samples."""
    cuts = [1e-3, 1e-6]
    for r in rows:
        if r["method"] == RIVAL:
            continue
        kept = [float(counts(r, cut)) for cut in cuts]
        r |= {
            "cuts": json.dumps(cuts),
            "retained_cuts_refit": json.dumps([[count] * r["n_partitions"] for count in kept]),
            "retained_cuts_fixed": json.dumps(kept),
        }
    return rows


def test_what_a_cut_retains_is_what_is_stored(put):
    put(with_counts(as_printed(names=["heart"]), lambda r, cut: 2 * r["retained_fixed"] if cut < 1e-4 else 7))
    stored = chosen.results()
    assert readings.stored_cuts(stored) == {1e-3, 1e-6}
    own = stored["method"] != RIVAL
    found = readings.with_cut(stored, 1e-6)
    assert (found["retained_fixed"] == np.where(own, 2, 1) * stored["retained_fixed"]).all()
    assert all(np.ptp(counts) == 0 for counts in found["retained_refit"])
    assert set(readings.with_cut(stored, 1e-3).loc[own, "retained_fixed"]) == {7}
    assert readings.with_cut(stored, None) is stored


def test_cuts_that_are_not_stored_are_no_reading_and_are_named(put):
    rows = as_printed("table-1", reading="fixed", names=["banana", "heart"])
    put(rows)
    evidence = agreement.check_table_1()
    assert "Not stored: classifiers refitted on every partition, zero below 1e-03 of the" in evidence.reading
    assert evidence.reading.count("zero below") == 4
    shown = {row.reading: row for row in side_by_side.side_by_side()}
    absent = shown["one classifier, tested on all partitions, zero below 1e-06 of the largest"]
    assert (absent.agree, absent.tested, absent.verdict) == (0, 0, "not stored")
    put(with_counts(rows, lambda r, cut: r["retained_fixed"]))
    assert "ot stored" not in agreement.check_table_1().reading


def test_the_choice_among_readings_is_charged(put):
    """Two readings that differ by 20 points: the column of a neighbour is ours in the other one."""
    rng = np.random.default_rng(8)
    rows = constant({"kFDA-1": 10.0, "kFDA-0.5": 30.0, RIVAL: 50.0})
    for r in rows:
        errors = np.array(json.loads(r["errors_fixed"]))
        r["errors_fixed"] = json.dumps((errors + r["n_test"] / 100 * rng.normal(scale=0.5)).tolist())
        moved = errors + r["n_test"] / 100 * (20 + rng.normal(scale=0.5))
        r["errors_refit"] = json.dumps(moved.tolist())
    put(rows)
    stored = tables_calibration.of_table("table-1")
    one, _ = tables_calibration.calibration(stored, ("fixed",))
    both, alone = tables_calibration.calibration(stored)
    assert (one.readings, both.readings) == (1, 2)
    assert one.uncharged == (one.faithful, one.wrong, one.shifted)
    assert alone["mcr"][1] == 0
    # the column of the neighbour, 20 points off, is ours in the other reading
    assert both.wrong > one.wrong
    assert both.wrong > both.uncharged[1]
    assert "best of 2 readings (without that choice" in str(both)
    assert len(both.wrong_tables) == 2 * len(one.wrong_tables)


def test_order_of_the_averages_by_pairs(put):
    rows = as_printed()
    for r in rows:
        turned = json.dumps((r["n_test"] - np.array(json.loads(r["errors_refit"]))).tolist())
        r["errors_refit"] = r["errors_fixed"] = turned
    put(rows)
    evidence = agreement.check_table_3()
    # errors turned upside down, retained shares as printed: the most accurate column is refuted
    assert evidence.verdict == Verdict.NOT_REPRODUCED
    frame = agreement.averages(chosen.columns_of())
    order = agreement.orders(frame)
    assert {name[:3] for name, part in order.parts.items() if part == "refuted"} == {"MCR"}
    assert {name[:3] for name, part in order.parts.items() if part == "shown"} == {"NRS"}
    assert len(order.parts) == evidence.sizes["pairs"] <= 20
    assert order.agree == sum(name.startswith("NRS") for name in order.parts)
    assert order.least < 0
    assert "refuted" in order.named
    assert worst_of(order._replace(named=()).asked) == Verdict.NOT_REPRODUCED  # so is the row of errors
    assert len(frame) == 10
    assert frame.attrs["names"] == list(printed().errors.index)


def test_a_good_row_of_table_3_does_not_hide_the_other():
    """The verdict is that on the worse row; a refuted pair of a named column decides alone."""
    nine = {f"NRS {k}": "shown" for k in range(9)}
    for parts, named, verdict in (
        ({"MCR": "open"}, ("shown",), Verdict.UNDECIDED),
        ({"MCR": "refuted"}, ("shown",), Verdict.NOT_REPRODUCED),
        ({"MCR": "shown"}, ("shown",), Verdict.REPRODUCED),
        ({"MCR 1": "shown", "MCR 2": "shown", "MCR 3": "refuted"}, ("shown",), Verdict.PARTLY),
        ({"MCR 1": "shown", "MCR 2": "shown", "MCR 3": "refuted"}, ("refuted",), Verdict.NOT_REPRODUCED),
    ):
        assert worst_of(agreement.Orders(nine | parts, 0, 0.0, named).asked) == verdict


@pytest.mark.parametrize(("reading", "verdict"), [("refit", Verdict.FAILS), ("fixed", Verdict.HOLDS)])
def test_the_nearer_reading_decides_how_the_paper_tested(put, reading, verdict):
    put(as_printed(reading=reading))
    evidence = tables_protocols.check_one_classifier()
    assert evidence.verdict == verdict
    far = tables_protocols.distances()
    other = {"refit": "fixed", "fixed": "refit"}[reading]
    assert far[f"off {reading}"].max() == pytest.approx(0, abs=1e-9)
    assert far[f"off {other}"].min() == pytest.approx(3.0)
    assert (far[f"log {reading}"] < 1e-9).all()
    assert evidence.sizes == {"sets": 20, "cells": 80}


def test_contamination_compares_the_own_partition_with_all(put):
    """The own partition has the error of new rows; on the others the training rows make it smaller."""
    rows = []
    for name, line in sizes().iterrows():
        share = line["n_train"] / line["n_pool"]
        for split in range(1, 6):
            errors = np.full(int(line["n_partitions"]), 20.0 * (1 - share))
            errors[split - 1] = 20.0
            found = row(name, "kFDA-1", split, refit=20.0, fixed=1, kept=9, cv_error=split)
            rows.append(found | {"errors_fixed": json.dumps((errors / 100 * line["n_test"]).tolist())})
    put(rows)
    evidence = tables_protocols.check_contamination()
    assert evidence.verdict == Verdict.HOLDS
    found = tables_protocols.contamination()
    assert found["own"].tolist() == pytest.approx([20.0] * 20)
    assert found.loc["sonar", "all"] == pytest.approx(10.0 + 10.0 / 100)
    put([{**r, "errors_fixed": r["errors_refit"]} for r in rows])
    assert tables_protocols.check_contamination().verdict == Verdict.FAILS


def test_generic_pages_get_the_columns_of_the_paper():
    rows = as_printed(names=["heart"], reading=SHOWN)
    wide = tables.EXPANSIONS["table-1"](pd.DataFrame(rows).drop(columns=["mcr", "nrs"]))
    assert set(rows[0]) >= {f"errors_{SHOWN}", f"retained_{SHOWN}"}
    assert set(wide["method"]) == {*OWN, RIVAL} == set(COLUMNS) - {"published"}
    assert set(tables.EXPANSIONS) <= set(tables.EXPERIMENTS)
    found = wide.groupby("method")["mcr"].mean()
    for column in (*OWN, RIVAL):
        assert found[column] == pytest.approx(printed().errors.loc["heart", column])


@given(st.integers(1, 2000), st.data())
def test_every_rounded_count_is_found_and_is_near(n, data):
    count = data.draw(st.integers(0, n))
    shown = round(100 * count / n, 1)
    found = count_of(shown, n)
    assert found is not None
    assert abs(100 * found / n - shown) <= 0.05 + 1e-9
    if n < 1000:
        assert found == count


def test_the_share_of_counts_by_enumeration():
    for n in (7, 104, 200, 400, 999):
        texts = {f"{v:.1f}" for i in range(n + 1) for v in (100 * i / n - 1e-9, 100 * i / n + 1e-9)}
        assert share_of_counts(n) == pytest.approx(len(texts - {"-0.0"}) / 1001)
    assert share_of_counts(1000) == 1


def test_the_command_names_its_reading_and_counts_the_errors_of_each_as_the_ledger_does():
    for table in KINDS:
        told = compare(f"kfda/{table}").attrs["reading"]
        found = tables_readings.all_readings()
        for one in found[found["table"] == table].itertuples():
            assert f"{one.reading}: {one.errors} of {one.of}" in told
        for absent in found.attrs["absent"][table]:
            assert str(absent) in told.partition("Not stored: ")[2]
